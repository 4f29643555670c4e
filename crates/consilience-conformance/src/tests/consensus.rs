use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::consensus::{LAWS, consensus_function};
use crate::worlds::{heard, row};
use consilience_core::{Accepts, Error, Report};

const SMALL_ORDER: &str = "permuting members and objects of small worlds";

/// One way of being wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    RefusesOneObject,
    ClampsClusters,
    HidesNumbers,
    DividesByZero,
    TellsNothing,
    RefusesGaps,
    LabelsTheSilent,
    DropsSomeLabelled,
    StumblesOverSilentMembers,
    StopsAtSimilarityZero,
    StumblesOverSingletons,
    ChangesItsMind,
    BelievesTheFirstMember,
    GoesByPosition,
    GoesByPositionIfMany,
    CountsThreads,
    ReportsThreads,
    MissesByThreads,
    IgnoresTheObserver,
    HearsAndGoesOn,
    ReturnsHalfDone,
    ChangesUnderWatch,
    Boasts,
    PanicsOnOneWorld,
    StumblesOverNoise,
    StumblesOverMemberships,
    HearsEveryMember,
    IgnoresCounts,
}

/// Average linkage on the co-association of distinct rows, as naive as can be; ties go to the first
/// pair.
struct Toy {
    clusters: usize,
    flaw: Flaw,
}

/// Counts calls, for a method that depends on its history.
static CALLS: AtomicUsize = AtomicUsize::new(0);

impl ConsensusFunction for Toy {
    type Output = Partition;

    fn name(&self) -> &str {
        "toy"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let n = ensemble.n_objects();
        let mut k = self.clusters;
        match self.flaw {
            Flaw::ClampsClusters => k = k.clamp(1, n),
            Flaw::HidesNumbers if k == 0 || k > n => return Err(Error::invalid("bad k")),
            _ => ensemble.check_clusters(k)?,
        }
        if self.flaw == Flaw::StumblesOverMemberships && ensemble.is_soft() {
            return Err(Error::empty("stumbled"));
        }
        if self.flaw != Flaw::HearsEveryMember {
            ensemble.check_accepted("toy", Accepts::LABELS)?;
        }
        let nobody: &dyn Observer = &();
        let observer = if self.flaw == Flaw::IgnoresTheObserver { nobody } else { observer };
        observer.check()?;
        self.stumble(ensemble)?;

        let (groups, mut report) = (distinct_groups(ensemble), Report::default());
        let mut leader: Vec<usize> = (0..groups.len()).collect();
        let mut clusters: Vec<Vec<usize>> = (0..groups.len()).map(|g| vec![g]).collect();
        let steps = clusters.len().saturating_sub(k);
        for step in 0..steps {
            if self.flaw == Flaw::ReturnsHalfDone && observer.cancelled() {
                break;
            }
            // Asked in every step, by the one that goes on as well.
            if observer.cancelled() && self.flaw != Flaw::HearsAndGoesOn {
                return Err(Error::cancelled());
            }
            let closest = closest(ensemble, &groups, &self.sizes(ensemble, &groups), &clusters);
            let Some((weight, a, b)) = closest else { break };
            if weight == 0.0 && self.flaw == Flaw::StopsAtSimilarityZero {
                break;
            }
            let gone = clusters.remove(b);
            clusters[a].extend(gone);
            observer.progress("merge", step + 1 + usize::from(self.flaw == Flaw::Boasts), steps);
        }
        for (c, cluster) in clusters.iter().enumerate() {
            cluster.iter().for_each(|&g| leader[g] = c);
        }
        let mut label: Vec<Option<u64>> = vec![None; n];
        for (g, group) in groups.iter().enumerate() {
            group.iter().for_each(|&i| label[i] = Some(leader[g] as u64));
        }
        self.spoil(ensemble, observer, k, &mut label, &mut report);
        let output = Partition::from_fn(n, |i| label[i])?;
        if self.flaw != Flaw::TellsNothing {
            report.expect_clusters(
                k,
                output.n_clusters(),
                "the ensemble distinguishes no more objects",
            );
        }
        Ok(Fit::new(output, report))
    }
}

impl Toy {
    /// How many objects the groups stand for.
    fn sizes(&self, ensemble: &Ensemble, groups: &[Vec<usize>]) -> Vec<u64> {
        let counts = ensemble.counts().filter(|_| self.flaw != Flaw::IgnoresCounts);
        let count = |&i: &usize| counts.map_or(1, |counts| counts[i]);
        groups.iter().map(|group| group.iter().map(count).sum()).collect()
    }

    /// Flaws on the way in.
    fn stumble(&self, ensemble: &Ensemble) -> Result<()> {
        let n = ensemble.n_objects();
        let members = ensemble.members();
        let hit = match self.flaw {
            Flaw::RefusesOneObject => n == 1,
            Flaw::RefusesGaps => !ensemble.is_complete() && n > 1,
            Flaw::StumblesOverSilentMembers => n > 1 && members.iter().any(|m| m.n_clusters() == 0),
            Flaw::StumblesOverSingletons => n > 5 && members.iter().any(|m| m.n_clusters() == n),
            Flaw::StumblesOverNoise => members.len() == 10 && n < 12,
            _ => false,
        };
        if hit {
            return Err(Error::empty("stumbled"));
        }
        let clusters: Vec<usize> = members.iter().map(Partition::n_clusters).collect();
        assert!(
            self.flaw != Flaw::PanicsOnOneWorld || clusters != [4, 2] || n != 5,
            "one world too many"
        );
        assert!(
            self.flaw != Flaw::DividesByZero || clusters.iter().any(|&c| c > 1) || n == 1,
            "0/0"
        );
        Ok(())
    }

    /// Flaws on the way out.
    fn spoil(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
        k: usize,
        label: &mut [Option<u64>],
        report: &mut Report,
    ) {
        let n = label.len();
        let by_position = match self.flaw {
            Flaw::ChangesItsMind => CALLS.fetch_add(1, Ordering::Relaxed) % 2 == 1,
            Flaw::GoesByPosition => true,
            Flaw::GoesByPositionIfMany => n > 100,
            Flaw::CountsThreads => rayon::current_num_threads() == 3,
            // The suite's progress observer is not the unit type.
            Flaw::ChangesUnderWatch => size_of_val(observer) > 0,
            _ => false,
        };
        if self.flaw == Flaw::ReportsThreads {
            report.iterations = rayon::current_num_threads();
        }
        if self.flaw == Flaw::MissesByThreads {
            report.clusters_missing = Some(rayon::current_num_threads());
        }
        for i in 0..n {
            if by_position {
                label[i] = label[i].map(|_| (i % k) as u64);
            }
            match self.flaw {
                Flaw::LabelsTheSilent => label[i] = label[i].or(Some(0)),
                Flaw::DropsSomeLabelled if i > 0 && ensemble.members()[0].label(i).is_none() => {
                    label[i] = None
                }
                Flaw::BelievesTheFirstMember => {
                    label[i] =
                        ensemble.members()[0].label(i).map(|l| l as u64).or(label[i].map(|_| 99));
                }
                _ => {}
            }
        }
    }
}

/// Labelled objects by equal rows, in the order of their first.
fn distinct_groups(ensemble: &Ensemble) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in (0..ensemble.n_objects()).filter(|&i| heard(ensemble, i)) {
        match groups.iter_mut().find(|g| row(ensemble, g[0]) == row(ensemble, i)) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    groups
}

/// The two clusters of groups with the largest average co-association, over objects.
fn closest(
    ensemble: &Ensemble,
    groups: &[Vec<usize>],
    sizes: &[u64],
    clusters: &[Vec<usize>],
) -> Option<(f64, usize, usize)> {
    let rows: Vec<_> = groups.iter().map(|g| row(ensemble, g[0])).collect();
    let pair = |g: usize, h: usize| {
        let both = rows[g].iter().zip(&rows[h]).filter(|(x, y)| x.is_some() && y.is_some());
        let (seen, same) = both.fold((0, 0), |(s, t), (x, y)| (s + 1, t + usize::from(x == y)));
        if seen == 0 { 0.0 } else { same as f64 / seen as f64 }
    };
    let mut best: Option<(f64, usize, usize)> = None;
    for b in 1..clusters.len() {
        for a in 0..b {
            let (mut sum, mut weight) = (0.0, 0.0);
            for &g in &clusters[a] {
                for &h in &clusters[b] {
                    let pairs = sizes[g] as f64 * sizes[h] as f64;
                    sum += pairs * pair(g, h);
                    weight += pairs;
                }
            }
            if best.is_none_or(|(w, _, _)| sum / weight > w) {
                best = Some((sum / weight, a, b));
            }
        }
    }
    best
}

fn profile() -> Profile {
    Profile { thread_objects: 40, small_worlds: (4, 2), ..Profile::default() }
}

#[test]
fn an_honest_toy_obeys_every_law() {
    let full = Profile { thread_objects: 60, object_ties: false, ..Profile::default() };
    consensus_function(&|clusters| Box::new(Toy { clusters, flaw: Flaw::None }), &full);
}

#[test]
fn every_law_catches_what_breaks_it() {
    let loose = Profile { exact_clusters: false, checks_clusters: false, ..profile() };
    let exact = profile();
    let five = Profile { small_worlds: (5, 2), ..profile() };
    let cases: [(&str, Flaw, &str, &Profile); 37] = [
        ("one object", Flaw::RefusesOneObject, "stumbled", &exact),
        (
            "k outside 1..=n is refused with both numbers",
            Flaw::ClampsClusters,
            "accepted k = 0",
            &exact,
        ),
        (
            "k outside 1..=n is refused with both numbers",
            Flaw::HidesNumbers,
            "does not hold 0",
            &exact,
        ),
        ("all objects equal", Flaw::DividesByZero, "panicked (0/0)", &exact),
        ("all objects equal", Flaw::TellsNothing, "clusters missing None", &exact),
        (
            "k above the number of distinct objects",
            Flaw::TellsNothing,
            "clusters missing None",
            &exact,
        ),
        ("objects unlabelled in some members", Flaw::RefusesGaps, "stumbled", &exact),
        ("objects unlabelled in some members", Flaw::DropsSomeLabelled, "is unlabelled", &exact),
        (
            "objects unlabelled everywhere stay unlabelled",
            Flaw::LabelsTheSilent,
            "is labelled",
            &exact,
        ),
        ("members that say nothing", Flaw::StumblesOverSilentMembers, "stumbled", &exact),
        (
            "disconnected graphs and isolated objects",
            Flaw::StopsAtSimilarityZero,
            "expected 1 on",
            &exact,
        ),
        (
            "single-cluster and all-singleton members",
            Flaw::StumblesOverSingletons,
            "stumbled",
            &exact,
        ),
        ("label gaps and huge labels", Flaw::ChangesItsMind, "another partition", &loose),
        ("permuting members", Flaw::BelievesTheFirstMember, "another partition", &loose),
        ("permuting objects", Flaw::GoesByPosition, "another partition", &exact),
        ("a unanimous ensemble", Flaw::GoesByPosition, "members say", &exact),
        ("doubling every object", Flaw::GoesByPositionIfMany, "doubled", &exact),
        ("rows that stand for many objects", Flaw::GoesByPosition, "rows repeated", &exact),
        ("rows that stand for many objects", Flaw::IgnoresCounts, "rows repeated", &exact),
        ("weights of members", Flaw::HearsEveryMember, "weight 0 are heard", &exact),
        ("members that give memberships", Flaw::StumblesOverMemberships, "stumbled", &exact),
        ("planted structure is found", Flaw::GoesByPosition, "adjusted Rand index", &exact),
        ("same bits at any number of threads", Flaw::CountsThreads, "with 3 threads", &exact),
        ("same bits at any number of threads", Flaw::ReportsThreads, "another report", &exact),
        ("same bits at any number of threads", Flaw::MissesByThreads, "another report", &exact),
        ("same bits at any number of threads", Flaw::ChangesItsMind, "another result", &exact),
        ("cancellation", Flaw::IgnoresTheObserver, "finished although cancelled", &exact),
        ("cancellation", Flaw::ReturnsHalfDone, "a different result", &exact),
        ("cancellation", Flaw::HearsAndGoesOn, "and went on", &exact),
        ("progress", Flaw::Boasts, "done", &exact),
        ("progress", Flaw::ChangesUnderWatch, "an observer changes", &exact),
        ("small worlds", Flaw::PanicsOnOneWorld, "one world too many", &five),
        ("small worlds", Flaw::StopsAtSimilarityZero, "clusters, expected", &exact),
        ("small worlds", Flaw::LabelsTheSilent, "is labelled", &exact),
        ("many members that agree on nothing", Flaw::StumblesOverNoise, "stumbled", &exact),
        (SMALL_ORDER, Flaw::BelievesTheFirstMember, "became", &loose),
        // Ties go to the first pair.
        (SMALL_ORDER, Flaw::None, "no symmetry", &exact),
    ];
    let cases = cases.map(|(name, flaw, says, profile)| (name, (flaw, profile), says));
    must_catch_all(&LAWS, &cases, |law, name, (flaw, profile)| {
        law(name, &|clusters| Box::new(Toy { clusters, flaw }), profile)
    });
}

#[test]
fn the_whole_suite_stops_at_a_broken_law_and_switches_are_heard() {
    let flawed = |flaw| {
        move |clusters| Box::new(Toy { clusters, flaw }) as Box<dyn ConsensusFunction<Output = _>>
    };
    must_catch("doubling every object", &Flaw::GoesByPositionIfMany, "doubled", || {
        consensus_function(&flawed(Flaw::GoesByPositionIfMany), &profile());
    });
    let lenient = Profile {
        member_permutation: false,
        object_permutation: false,
        object_ties: false,
        counts: false,
        unanimous: false,
        duplication: false,
        planted: false,
        exact_clusters: false,
        checks_clusters: false,
        ..profile()
    };
    consensus_function(&flawed(Flaw::GoesByPosition), &lenient);
}
