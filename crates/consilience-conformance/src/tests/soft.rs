use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::Array2;

use super::*;
use crate::soft::{LAWS, soft_consensus_function};
use crate::worlds::{heard, row};
use consilience_core::{Accepts, Error, Report};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    ClampsClusters,
    LooksAtTheSilentFirst,
    TrustsTheSilent,
    PointsTheSilentSomewhere,
    ObjectiveNaN,
    TellsNothing,
    GoesByPosition,
    ChangesItsMind,
    CountsThreads,
    NeverSure,
    Lumps,
    RefusesOneWorld,
}

/// Leaders by position in the row of labels: the first k distinct rows found are the clusters, and
/// each object belongs to them by how many labels it shares, sharpened.
struct Toy {
    clusters: usize,
    flaw: Flaw,
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

impl ConsensusFunction for Toy {
    type Output = Memberships;

    fn name(&self) -> &str {
        "toy"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Memberships>> {
        let (n, flaw) = (ensemble.n_objects(), self.flaw);
        let mut k = self.clusters;
        match flaw {
            Flaw::ClampsClusters => k = k.clamp(1, n),
            Flaw::LooksAtTheSilentFirst if (0..n).all(|i| !heard(ensemble, i)) => k = k.clamp(1, n),
            _ => ensemble.check_clusters(k)?,
        }
        ensemble.check_accepted("toy", Accepts::LABELS)?;
        observer.check()?;
        let sizes: Vec<usize> = ensemble.members().iter().map(Partition::n_clusters).collect();
        if flaw == Flaw::RefusesOneWorld && sizes == [1, 3] && n == 4 {
            return Err(Error::empty("not this one"));
        }
        let mut leaders: Vec<Vec<Option<usize>>> = Vec::new();
        for i in (0..n).filter(|&i| heard(ensemble, i)) {
            let r = row(ensemble, i);
            if !leaders.contains(&r) {
                leaders.push(r);
            }
        }
        let distinct = leaders.len();
        leaders.truncate(if flaw == Flaw::Lumps { 1 } else { k });
        let odd = flaw == Flaw::ChangesItsMind && CALLS.fetch_add(1, Ordering::Relaxed) % 2 == 1
            || flaw == Flaw::CountsThreads && rayon::current_num_threads() == 3;
        let mut evidence = vec![1.0; n];
        let mut y = Array2::from_shape_fn((n, k), |(i, c)| {
            let shared = |l: &Vec<Option<usize>>| {
                row(ensemble, i).iter().zip(l).filter(|(a, b)| a.is_some() && a == b).count()
            };
            let weight = leaders.get(c).map_or(0.0, |l| 100f64.powi(shared(l) as i32));
            if odd && i == 0 { 1.0 + c as f64 } else { weight }
        });
        for (i, mut r) in y.rows_mut().into_iter().enumerate() {
            if !heard(ensemble, i) {
                r.fill(1.0);
                evidence[i] = f64::from(u8::from(flaw == Flaw::TrustsTheSilent));
                if flaw == Flaw::PointsTheSilentSomewhere {
                    r[0] = 2.0;
                }
            } else if flaw == Flaw::NeverSure {
                r += r.sum() * 0.1;
            } else if flaw == Flaw::GoesByPosition {
                r[0] += 1e-3 * (i + 1) as f64;
            }
            let sum = r.sum();
            r /= sum;
        }
        let mut report = Report::default();
        report.objective = Some(0.0);
        if flaw == Flaw::ObjectiveNaN {
            report.objective = Some(f64::NAN);
        }
        if flaw != Flaw::TellsNothing && k > distinct {
            report.clusters_missing = Some(1);
        }
        let output = Memberships::with_evidence(y, evidence)?;
        Ok(Fit::new(output, report))
    }
}

fn profile() -> Profile {
    Profile {
        member_permutation: false,
        object_permutation: false,
        object_ties: false,
        duplication: false,
        planted: false,
        exact_clusters: false,
        thread_objects: 40,
        small_worlds: (4, 2),
        ..Profile::default()
    }
}

#[test]
fn an_honest_toy_obeys_every_law() {
    soft_consensus_function(&|clusters| Box::new(Toy { clusters, flaw: Flaw::None }), &profile());
}

#[test]
fn every_law_catches_what_breaks_it() {
    let cases = [
        (LAWS[0].0, Flaw::ClampsClusters, "accepted k = 0"),
        (LAWS[0].0, Flaw::LooksAtTheSilentFirst, "accepted k = 0"),
        ("rows are distributions", Flaw::TrustsTheSilent, "evidence 1 of the silent"),
        ("rows are distributions", Flaw::PointsTheSilentSomewhere, "not uniform"),
        ("rows are distributions", Flaw::ObjectiveNaN, "objective NaN"),
        ("rows are distributions", Flaw::TellsNothing, "clusters missing None"),
        ("alike objects have equal rows", Flaw::GoesByPosition, "rows"),
        ("rows that stand for many objects", Flaw::GoesByPosition, "with counts"),
        (LAWS[4].0, Flaw::ChangesItsMind, "another result"),
        (LAWS[4].0, Flaw::CountsThreads, "with 3 threads"),
        ("certain where all members agree", Flaw::NeverSure, "though all members say"),
        ("certain where all members agree", Flaw::Lumps, "out came"),
        ("rows of small worlds are distributions", Flaw::RefusesOneWorld, "not this one"),
    ];
    must_catch_all(&LAWS, &cases, |law, name, flaw| {
        law(name, &|clusters| Box::new(Toy { clusters, flaw }), &profile())
    });
}

#[test]
fn the_hard_laws_are_tried_as_well() {
    let loose = Profile { planted: true, unanimous: false, ..profile() };
    must_catch("planted structure is found", &Flaw::Lumps, "adjusted Rand index", || {
        soft_consensus_function(&|clusters| Box::new(Toy { clusters, flaw: Flaw::Lumps }), &loose);
    });
}
