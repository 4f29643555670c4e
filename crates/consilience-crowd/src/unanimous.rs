//! Crowds whose answers need no model: they say the same of every pair, that all are apart or all
//! together, or no answer contradicts another.

use std::collections::BTreeSet;

use consilience_core::{Joined, MemoryBudget, Observer, Pace, Result};

use crate::answer_counts::{AnswerCounts, Verdict};
use crate::answers::Answers;

const NO_MEMORY: &str = "there is no memory for the memberships of as many clusters";

/// What follows from answers that are all alike or consistent, without a model.
pub(crate) struct Unanimous {
    /// Clusters of the answered objects; `None` where these are not as many as may be.
    pub(crate) labels: Option<Vec<u32>>,
    /// What the answers have in common.
    pub(crate) why: &'static str,
    /// What that comes to, for the report.
    pub(crate) note: String,
}

impl Unanimous {
    /// How many clusters the answers leave, where that is known.
    pub(crate) fn clusters(&self) -> Option<usize> {
        self.labels.as_deref().map(clusters)
    }
}

/// How many clusters there are of these labels, at least one.
pub(crate) fn clusters(labels: &[u32]) -> usize {
    labels.iter().max().map_or(1, |&c| c as usize + 1)
}

/// How many of them hold objects.
pub(crate) fn held(labels: &[u32]) -> usize {
    labels.iter().collect::<BTreeSet<_>>().len()
}

/// What the answers ask for where they are all alike: `given` is how many clusters were asked for,
/// and `k` that or the number of the posterior.
///
/// Objects that are all apart, and one cluster whose objects nobody calls the same, explain such
/// answers equally well, and models, to which every further cluster has a price, end in one. Here
/// the answers are taken at their word. Objects that are all together are one cluster, but for
/// those that no chain of comparisons connects: nobody put these together.
pub(crate) fn of(
    answers: &Answers,
    counts: &AnswerCounts,
    given: Option<usize>,
    k: usize,
    budget: MemoryBudget,
) -> Option<Unanimous> {
    let verdict = counts.verdict()?;
    if given == Some(1) || (verdict == Verdict::MostlyApart && (given.is_some() || k > 1)) {
        return None;
    }
    let why = match verdict {
        Verdict::Same => "no two objects were called apart",
        Verdict::Apart => "no two objects were called the same",
        Verdict::MostlyApart => "most answers on every pair say that it is apart",
    };
    let (labels, found) = match verdict {
        Verdict::Same => components(answers),
        _ => {
            let n = answers.answered().len();
            ((0..n as u32).collect(), n)
        }
    };
    // The memberships of a cluster for each object may be too many to write down.
    let fits = budget.allows_table(answers.n_objects(), found, 24);
    let then = match (verdict, given) {
        (_, None) if !fits => NO_MEMORY,
        (_, Some(k)) if found > k => "which of them share a cluster is not in the answers",
        (Verdict::Same, _) if found == 1 => "they are one cluster",
        (Verdict::Same, _) => {
            "clusters are what comparisons connect, and nobody compared one with another"
        }
        (_, None) if k == 1 => {
            "every object is a cluster of its own, which the posterior cannot tell from one cluster"
        }
        _ => "every object is a cluster of its own",
    };
    let allowed = fits && given.is_none_or(|k| found <= k);
    Some(Unanimous { labels: allowed.then_some(labels), why, note: format!("{why}: {then}") })
}

/// What the answers ask for where they are not all alike and yet none contradicts another: the sets
/// of objects that were called the same are the clusters, if no two of them may be one or they are
/// no more than were asked for. A model, which takes every answer for uncertain, would find fewer
/// clusters where these are small.
pub(crate) fn consistent(
    answers: &Answers,
    counts: &AnswerCounts,
    given: Option<usize>,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<Option<Unanimous>> {
    let pace = &mut Pace::new(observer);
    if counts.verdict().is_some() || given == Some(1) {
        return Ok(None);
    }
    let Some((labels, found)) = counts.consistent(answers, pace)? else { return Ok(None) };
    let few = given.is_some_and(|k| found <= k);
    if !few && !counts.compares_all(answers, (&labels, found), pace)? {
        return Ok(None);
    }
    let then = match given {
        Some(k) if found > k => "which of them share a cluster is not in the answers",
        None if !budget.allows_table(answers.n_objects(), found, 24) => NO_MEMORY,
        _ => "clusters are the objects that were called the same",
    };
    let why = "no answer contradicts another";
    let taken = few || (given.is_none() && then != NO_MEMORY);
    let labels = taken.then_some(labels);
    Ok(Some(Unanimous { labels, why, note: format!("{why}: {then}") }))
}

/// Which answered objects a chain of comparisons connects, numbered by the first, and how many sets
/// that are.
pub(crate) fn components(answers: &Answers) -> (Vec<u32>, usize) {
    let mut joined = Joined::new(answers.answered().len());
    for task in answers.tasks() {
        let mut items = task.groups().flatten().map(|&i| i as usize);
        let Some(first) = items.next() else { continue };
        items.for_each(|i| {
            joined.join(first, i);
        });
    }
    joined.numbers(|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::ALL;
    use crate::{CrowdClustering, CrowdMethod, CrowdResult, GroupAnswer, PairAnswer};
    use consilience_core::{Clusters, Fit};

    const AUTO: Clusters = Clusters::Auto;

    /// Three workers who say of all pairs of eight objects what they are asked to say.
    fn eight(say: impl Fn(usize, usize, usize) -> Option<bool>) -> Answers {
        let pairs = |worker| (0..8).flat_map(move |j| (0..j).map(move |i| (worker, i, j)));
        let row = |(worker, i, j)| say(worker, i, j).map(|same| PairAnswer { worker, i, j, same });
        let rows: Vec<PairAnswer> = (0..3).flat_map(pairs).filter_map(row).collect();
        Answers::from_pairs(8, &rows).unwrap()
    }

    fn fit(
        answers: &Answers,
        clusters: impl Into<Clusters>,
        method: CrowdMethod,
    ) -> Fit<CrowdResult> {
        CrowdClustering::new(clusters).method(method).fit(answers, &()).unwrap()
    }

    fn told(fit: &Fit<CrowdResult>, note: &str) -> bool {
        fit.report.notes.iter().any(|told| told.contains(note))
    }

    /// As pairs, and as groups of one object each in two tasks that share two objects.
    #[test]
    fn objects_that_all_are_apart_are_clusters_of_their_own() {
        let row = |r: usize| {
            let (worker, task, at) = (r / 10, r / 5 % 2, r % 5);
            GroupAnswer { worker, task, item: 3 * task + at, group: at }
        };
        let rows: Vec<GroupAnswer> = (0..30).map(row).collect();
        let groups = Answers::from_groupings(8, &rows).unwrap();
        for answers in [eight(|_, _, _| Some(false)), groups] {
            for method in ALL {
                for clusters in [AUTO, Clusters::Fixed(8)] {
                    let found = fit(&answers, clusters, method);
                    let partition = &found.output.partition;
                    assert_eq!(partition.n_clusters(), 8, "{method:?} {clusters:?}");
                    assert_eq!(found.report.clusters_missing, None);
                    let why = "no two objects were called the same: every object is a cluster";
                    assert!(told(&found, why), "{:?}", found.report.notes);
                    assert_ne!(found.output.method, CrowdMethod::Auto);
                }
                let few = fit(&answers, 3, method);
                let why = "which of them share a cluster is not in the answers";
                assert!(told(&few, why), "{method:?}: {:?}", few.report.notes);
            }
        }
    }

    /// One answer of three on one pair; and a worker of three who calls everything the same.
    #[test]
    fn mistakes_among_answers_that_all_are_apart_change_nothing() {
        let once = eight(|worker, i, j| Some((worker, i, j) == (1, 2, 5)));
        let always = eight(|worker, _, _| Some(worker == 0));
        for answers in [once, always] {
            for method in ALL {
                let found = fit(&answers, AUTO, method);
                assert_eq!(found.output.partition.n_clusters(), 8, "{method:?}");
                let why = "most answers on every pair say that it is apart: every object";
                assert!(told(&found, why), "{:?}", found.report.notes);
            }
            // So many were asked for, and one is left: that it is one is not in the answers.
            let few = fit(&answers, 3, CrowdMethod::Block);
            assert_eq!(few.output.partition.n_clusters(), 1);
            assert!(told(&few, "objects that are all apart explain"), "{:?}", few.report.notes);
            assert!(!told(&fit(&answers, 1, CrowdMethod::Block), "all apart"));
        }
        // Two answers of three on one pair are an answer.
        let pair = eight(|worker, i, j| Some(worker < 2 && (i, j) == (2, 5)));
        assert_eq!(pair_verdict(&pair), None);
    }

    fn pair_verdict(answers: &Answers) -> Option<Verdict> {
        AnswerCounts::of(answers, MemoryBudget::default()).unwrap().verdict()
    }

    #[test]
    fn objects_that_all_are_together_are_one_cluster() {
        let answers = eight(|_, _, _| Some(true));
        for method in ALL {
            for clusters in [AUTO, Clusters::Fixed(1), Clusters::Fixed(3), Clusters::Fixed(8)] {
                let found = fit(&answers, clusters, method);
                assert_eq!(found.output.partition.n_clusters(), 1, "{method:?} {clusters:?}");
                let soft = found.output.memberships.values();
                let sure = soft.column(0).iter().all(|&x| x > 0.999);
                assert!(sure, "{method:?} {clusters:?}");
                let asked = clusters.fixed().unwrap_or(1);
                assert_eq!(found.report.clusters_missing, (asked > 1).then(|| asked - 1));
                let why = "no two objects were called apart";
                assert_eq!(told(&found, why), clusters != Clusters::Fixed(1), "{clusters:?}");
            }
        }
    }

    /// However small the clusters: the posterior had one, and was sure of it.
    #[test]
    fn answers_of_which_none_contradicts_another_are_taken_at_their_word() {
        for (size, sets) in [(3, 3), (2, 5), (5, 10)] {
            let n = size * sets;
            let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
            let said = |(i, j)| PairAnswer { worker: 0, i, j, same: i % sets == j % sets };
            let mut rows: Vec<PairAnswer> = pairs.map(said).collect();
            let answers = Answers::from_pairs(n, &rows).unwrap();
            let expected: Vec<i64> = (0..n as i64).map(|i| i % sets as i64).collect();
            for method in ALL {
                for clusters in [AUTO, Clusters::Fixed(sets), Clusters::Fixed(sets + 1)] {
                    let found = fit(&answers, clusters, method);
                    let labels = found.output.partition.to_signed();
                    assert_eq!(labels, expected, "{method:?} {clusters:?}");
                    assert!(told(&found, "no answer contradicts another: clusters are"));
                    assert!(found.output.cluster_count.is_none());
                }
            }
            let few = fit(&answers, 2, CrowdMethod::Auto);
            assert_eq!(few.output.partition.n_clusters(), 2);
            assert!(told(&few, "which of them share a cluster"), "{:?}", few.report.notes);
            rows.push(PairAnswer { worker: 1, i: 0, j: 1, same: true });
            let doubted = Answers::from_pairs(n, &rows).unwrap();
            assert!(!told(&fit(&doubted, sets, CrowdMethod::Auto), "contradicts"));
            // Nobody contradicts that alone: others do, of the first two and the third.
            rows.retain(|row| row.worker == 1 || (row.i, row.j) != (0, 1));
            let doubted = Answers::from_pairs(n, &rows).unwrap();
            assert!(!told(&fit(&doubted, sets, CrowdMethod::Auto), "contradicts"));
        }
    }

    /// Three workers sort six objects each, which nobody else saw.
    #[test]
    fn sets_that_nobody_compared_are_clusters_where_they_are_as_many_as_asked_for() {
        let row = |r: usize| GroupAnswer { worker: r / 6, task: 0, item: r, group: r % 2 };
        let answers = Answers::from_groupings(18, &(0..18).map(row).collect::<Vec<_>>()).unwrap();
        let expected: Vec<i64> = (0..18).map(|i| i / 6 * 2 + i % 2).collect();
        for method in ALL {
            assert_eq!(fit(&answers, 6, method).output.partition.to_signed(), expected);
        }
        let more = fit(&answers, 7, CrowdMethod::Auto);
        assert_eq!(more.output.partition.to_signed(), expected);
        // Others that nobody compared are left out.
        let spread: Vec<GroupAnswer> =
            (0..18).map(row).map(|r| GroupAnswer { item: 2 * r.item + 1, ..r }).collect();
        let apart = fit(&Answers::from_groupings(36, &spread).unwrap(), 6, CrowdMethod::Auto);
        let odd: Vec<i64> =
            apart.output.partition.to_signed().into_iter().skip(1).step_by(2).collect();
        assert_eq!(odd, expected);
        // Any two of different workers may be one.
        assert!(!told(&fit(&answers, AUTO, CrowdMethod::Auto), "contradicts"));
        assert!(!told(&fit(&answers, 3, CrowdMethod::Auto), "contradicts"));
    }

    /// Nobody compared one half with the other.
    #[test]
    fn what_nobody_compared_is_not_one_cluster() {
        let halves = eight(|_, i, j| ((i < 4) == (j < 4)).then_some(true));
        assert_eq!(components(&halves), (vec![0, 0, 0, 0, 1, 1, 1, 1], 2));
        for method in ALL {
            for clusters in [AUTO, Clusters::Fixed(2), Clusters::Fixed(5)] {
                let found = fit(&halves, clusters, method);
                let labels = found.output.partition.to_signed();
                assert_eq!(labels, [0, 0, 0, 0, 1, 1, 1, 1], "{method:?} {clusters:?}");
                assert!(told(&found, "nobody compared one with another"));
                assert!(!told(&found, "chain of comparisons"));
            }
        }
        // Where clusters are in the answers, those of one half may be any of the other.
        let four = eight(|_, i, j| ((i < 4) == (j < 4)).then_some(i % 2 == j % 2));
        let found = fit(&four, 2, CrowdMethod::Block);
        assert_eq!(found.output.partition.n_clusters(), 2);
        let note = "2 clusters hold objects that no chain of comparisons connects";
        assert!(told(&found, note), "{:?}", found.report.notes);
    }

    #[test]
    fn a_cluster_for_each_object_that_memory_has_no_room_for_is_not_made() {
        let n = 4_000;
        let ring: Vec<PairAnswer> =
            (0..n).map(|i| PairAnswer { worker: 0, i, j: (i + 1) % n, same: false }).collect();
        let answers = Answers::from_pairs(n, &ring).unwrap();
        let budget = MemoryBudget::bytes(100_000_000);
        let counts = AnswerCounts::of(&answers, budget).unwrap();
        let found = of(&answers, &counts, None, 1, budget).unwrap();
        assert!(found.labels.is_none() && found.note.contains("no memory"), "{}", found.note);
        let told = |k: usize| {
            let found = of(&answers, &counts, None, k, MemoryBudget::default()).unwrap();
            assert!(found.labels.is_some());
            found.note.contains("cannot tell from one cluster")
        };
        assert!(told(1) && !told(2));
    }
}
