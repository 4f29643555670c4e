use crate::answers::Answers;
use crate::crowd_rates::CrowdRates;
use crate::expected_counts::ExpectedCounts;
use crate::likelihood::bernoulli;

/// Evidence, in nats, from which on a worker is named a spammer.
const NAMED: f64 = 3.0;
/// Own information, in nats, that still counts as none: the 95 % point of chance.
const CHANCE: f64 = 1.92;

/// How one worker answers, given a clustering.
///
/// ```
/// use consilience::crowd::{Answers, CrowdClustering, GroupAnswer};
///
/// // Six workers group ten objects by parity, the seventh at random.
/// let random = [0, 1, 1, 0, 0, 1, 1, 0, 0, 1];
/// let rows: Vec<GroupAnswer> = (0..70)
///     .map(|r| (r / 10, r % 10))
///     .map(|(worker, item)| {
///         let group = if worker < 6 { item % 2 } else { random[item] };
///         GroupAnswer { worker, task: 0, item, group }
///     })
///     .collect();
/// let result = CrowdClustering::new(2).fit(&Answers::from_groupings(10, &rows)?, &())?.output;
/// assert_eq!(result.spammers().map(|w| w.worker).collect::<Vec<_>>(), vec![6]);
/// assert!(result.workers[0].evidence > 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
#[doc(alias = "worker quality")]
#[doc(alias = "annotator")]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::WorkerRatesFields")
)]
#[non_exhaustive]
pub struct WorkerRates {
    /// The worker's own number.
    pub worker: usize,
    /// Pair answers of the worker.
    pub answers: usize,
    /// Probability of calling two objects of one cluster the same, shrunk to the crowd's.
    pub same_together: f64,
    /// Probability of calling two objects apart the same, shrunk to the crowd's.
    pub same_apart: f64,
    /// Log-likelihood ratio (nats) of answering as the crowd does against answering at random, at
    /// the worker's own share of "same". A task of s items counts as s - 1 answers, since its pairs
    /// depend on each other: each weighs 2 / s.
    pub evidence: f64,
    /// Log-likelihood ratio (nats) of the worker's own two rates against one rate for all pairs,
    /// which weigh as in the evidence: how much the answers say at all, the right way round or not.
    pub own_information: f64,
}

impl WorkerRates {
    /// Youden's index, `same_together - same_apart`, -1 to 1: 1 for perfect answers, 0 for answers
    /// that tell nothing; negative where a worker answers the wrong way round.
    #[doc(alias = "information")]
    #[doc(alias = "Youden")]
    pub fn informedness(&self) -> f64 {
        self.same_together - self.same_apart
    }

    /// Whether the worker seems to answer at random under this clustering: evidence below -3 and no
    /// more own information than chance gives.
    pub fn is_spammer(&self) -> bool {
        self.evidence < -NAMED && self.own_information < CHANCE
    }
}

/// Every worker's rates under the expected counts.
pub(crate) fn table(answers: &Answers, counts: &ExpectedCounts, pseudo: f64) -> Vec<WorkerRates> {
    let CrowdRates { same_together: together, same_apart: apart } = counts.crowd();
    let mut pairs = vec![0usize; answers.n_workers()];
    for task in answers.tasks() {
        let s = task.n_items();
        pairs[task.worker] += s * (s - 1) / 2;
    }
    (0..answers.n_workers())
        .map(|w| {
            let [same, within, same_apart, n_apart] = counts.of_worker(w);
            let (evidence, own_information) = information(counts.independent[w], together, apart);
            WorkerRates {
                worker: answers.workers()[w],
                answers: pairs[w],
                same_together: (same + pseudo * together) / (within + pseudo),
                same_apart: (same_apart + pseudo * apart) / (n_apart + pseudo),
                evidence,
                own_information,
            }
        })
        .collect()
}

/// How much better the crowd's two rates, and the worker's own, explain the answers than one rate
/// of the worker for all pairs does.
fn information(answers: [f64; 4], together: f64, apart: f64) -> (f64, f64) {
    let [same, within, same_apart, n_apart] = answers;
    // Sums of soft counts are rounded: none is negative.
    let differ = [(within - same).max(0.0), (n_apart - same_apart).max(0.0)];
    let nothing = highest(same + same_apart, differ[0] + differ[1]);
    let crowd = bernoulli(same, within, together) + bernoulli(same_apart, n_apart, apart);
    let own = highest(same, differ[0]) + highest(same_apart, differ[1]);
    (crowd - nothing, (own - nothing).max(0.0))
}

/// The highest log-likelihood that any rate gives so many answers "same" and others.
fn highest(same: f64, differ: f64) -> f64 {
    let part = |count: f64| if count > 0.0 { count * (count / (same + differ)).ln() } else { 0.0 };
    part(same) + part(differ)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroupAnswer;
    use crate::expected_counts::Shrinkage;
    use ndarray::Array2;

    /// Pair by pair, for a worker's tasks of two, five and twelve items: labels that are certain,
    /// counted by either way of counting.
    #[test]
    fn a_task_counts_as_one_answer_less_than_its_items() {
        let mut rows = Vec::new();
        for (worker, task) in (0..6).flat_map(|worker| (0..3).map(move |task| (worker, task))) {
            rows.extend((0..[2, 5, 12][task]).map(|at| {
                let item = (7 * at + 5 * worker + 3 * task) % 24;
                let group = if worker < 5 { item % 3 } else { at % 2 };
                GroupAnswer { worker, task, item, group }
            }));
        }
        let answers = Answers::from_groupings(24, &rows).unwrap();
        let label = |item: usize| if item.is_multiple_of(5) { 0 } else { item as u32 % 3 };
        let labels: Vec<u32> = answers.answered().iter().map(|&i| label(i as usize)).collect();
        let q = Array2::from_shape_fn((labels.len(), 3), |(i, c)| {
            f64::from(u8::from(labels[i] as usize == c))
        });
        let shrinkage =
            Shrinkage { pseudo: 20.0, by_cluster: false, between: false, by_worker: false };
        let pooled = ExpectedCounts::pooled(&answers, &labels);
        for counts in [pooled, ExpectedCounts::of(&answers, q.view(), shrinkage).0] {
            let crowd = counts.crowd();
            for (w, found) in table(&answers, &counts, 20.0).iter().enumerate() {
                let mut sums = [0.0; 4];
                for task in 0..3 {
                    let of_task = |r: &&GroupAnswer| (r.worker, r.task) == (w, task);
                    let own: Vec<&GroupAnswer> = rows.iter().filter(of_task).collect();
                    for (a, b) in (0..own.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
                        let together = label(own[a].item) == label(own[b].item);
                        let first = if together { 0 } else { 2 };
                        let weight = 2.0 / own.len() as f64;
                        sums[first] += if own[a].group == own[b].group { weight } else { 0.0 };
                        sums[first + 1] += weight;
                    }
                }
                let [same, within, same_apart, apart] = sums;
                assert!((within + apart - 16.0).abs() < 1e-12);
                let (said, all) = (same + same_apart, within + apart);
                let blind = bernoulli(said, all, said / all);
                let by = |p: f64, r: f64| {
                    bernoulli(same, within, p) + bernoulli(same_apart, apart, r) - blind
                };
                let evidence = by(crowd.same_together, crowd.same_apart);
                assert!((found.evidence - evidence).abs() < 1e-9, "{found:?} {evidence}");
                let own = by(same / within, same_apart / apart);
                assert!((found.own_information - own).abs() < 1e-9, "{found:?} {own}");
            }
        }
    }
}
