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
    /// depend on each other.
    pub evidence: f64,
    /// Log-likelihood ratio (nats) of the worker's own two rates against one rate for all pairs:
    /// how much the answers say at all, the right way round or not.
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
    let mut independent = vec![0usize; answers.n_workers()];
    for task in answers.tasks() {
        let s = task.n_items();
        pairs[task.worker] += s * (s - 1) / 2;
        independent[task.worker] += s - 1;
    }
    (0..answers.n_workers())
        .map(|w| {
            let [same, within, same_apart, n_apart] = counts.of_worker(w);
            // Every answer weighs so much that a task of s items counts as s - 1.
            let weight = if pairs[w] > 0 { independent[w] as f64 / pairs[w] as f64 } else { 0.0 };
            let at =
                |p: f64, r: f64| bernoulli(same, within, p) + bernoulli(same_apart, n_apart, r);
            // Sums of soft counts are rounded: none is negative.
            let differ = [(within - same).max(0.0), (n_apart - same_apart).max(0.0)];
            let nothing = highest(same + same_apart, differ[0] + differ[1]);
            WorkerRates {
                worker: answers.workers()[w],
                answers: pairs[w],
                same_together: (same + pseudo * together) / (within + pseudo),
                same_apart: (same_apart + pseudo * apart) / (n_apart + pseudo),
                evidence: weight * (at(together, apart) - nothing),
                own_information: weight
                    * (highest(same, differ[0]) + highest(same_apart, differ[1]) - nothing)
                        .max(0.0),
            }
        })
        .collect()
}

/// The highest log-likelihood that any rate gives so many answers "same" and others.
fn highest(same: f64, differ: f64) -> f64 {
    let part = |count: f64| if count > 0.0 { count * (count / (same + differ)).ln() } else { 0.0 };
    part(same) + part(differ)
}
