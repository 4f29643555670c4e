use consilience_core::{Memberships, Partition};

use crate::alternative::AlternativeClustering;
use crate::cluster_count::ClusterCount;
use crate::completed_rank::CompletedRank;
use crate::crowd_method::CrowdMethod;
use crate::crowd_rates::CrowdRates;
use crate::question::{self, Question};
use crate::worker_rates::WorkerRates;

/// What [`CrowdClustering`](crate::CrowdClustering) found. Label j of the partition and column j of
/// the memberships are the same cluster.
///
/// ```
/// use consilience::crowd::{Answers, CrowdClustering, GroupAnswer};
///
/// // Three workers sort eight objects; nobody agrees on the last.
/// let said = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 0], [1, 1, 1, 1, 0, 0, 0, 2]];
/// let mut rows = Vec::new();
/// for (worker, groups) in said.iter().enumerate() {
///     for (item, &group) in groups.iter().enumerate() {
///         rows.push(GroupAnswer { worker, task: 0, item, group });
///     }
/// }
/// let result = CrowdClustering::new(2).fit(&Answers::from_groupings(8, &rows)?, &())?.output;
/// for (i, label) in result.partition.iter().enumerate() {
///     let probability = result.memberships.row(i)[label.unwrap_or(0)];
///     assert!(probability >= 0.5);
/// }
/// assert_eq!(result.spammers().count(), 0);
/// assert_eq!(result.ask_objects(1).len(), 1);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::CrowdResultFields")
)]
#[non_exhaustive]
pub struct CrowdResult {
    /// The cluster of each object; unlabelled where nobody compared it.
    pub partition: Partition,
    /// Probabilities of clusters. Where the method gives labels alone, they are those of the
    /// object's answers at the workers' rates, all other objects being where their labels say and
    /// the object's own label remaining the likeliest. Evidence is the number of pair answers on
    /// the object, and the row uniform where there are none.
    ///
    /// Answers depend on each other: those of a task, and those on an object that is unlike its
    /// cluster. What all answers say of an object, the shares of the clusters apart, is taken to
    /// the power of the mean of 2 / (s + 2) over them, s being the items of their tasks; but for
    /// latent classes, where a task is one judgement of each of its objects. A probability below
    /// 1e-308 by the model itself, as may be where hundreds of items are sorted at a time, stays 0.
    /// All are surer than they should be where people err alike, and those of Bayesian
    /// crowdclustering by far.
    pub memberships: Memberships,
    /// The method that was used: never `Auto`. Answers that are all alike, or of which none
    /// contradicts another, may need none; then it is the one that was asked for, or `Pairs` for
    /// `Auto`, and nothing was fitted by it.
    pub method: CrowdMethod,
    /// Every worker's rates under this clustering, in the order of
    /// [`Answers::workers`](crate::Answers::workers).
    pub workers: Vec<WorkerRates>,
    /// How often the crowd calls two objects the same that are together, and that are apart.
    pub crowd_rates: CrowdRates,
    /// What else some of the workers may have grouped by, where the answers show it significantly.
    pub alternative: Option<AlternativeClustering>,
    /// Evidence (nats) for the methods that `Auto` compared: expected log-probability of the
    /// answers and of the clusters, plus the entropy of the memberships. Of `block-by-worker` the
    /// rates of each worker between clusters are integrated out; all other rates, and all of
    /// `block`, are put in as fitted.
    pub evidence: Vec<(String, f64)>,
    /// Log-likelihood per unseen pair answer (nats) of the penalty factors c that `Rmc` compared.
    pub held_out: Vec<(String, f64)>,
    /// The penalty factor c of `Rmc`.
    pub penalty_factor: Option<f64>,
    /// How many clusters there are by the posterior: of `Bayesian`, and where the number of
    /// clusters was automatic. Where answers are all alike the partition may have others; where
    /// none contradicts another, and for `Bayesian` into a given number, there is none.
    pub cluster_count: Option<ClusterCount>,
    /// The rank of the completed similarity, where the number of clusters was automatic, answers
    /// contradict each other, at most 1,200 objects were compared and the memory budget allows it.
    pub completed_rank: Option<CompletedRank>,
}

impl CrowdResult {
    /// Workers who seem to answer at random, as [`WorkerRates::is_spammer`] says, and whom no
    /// [`alternative`](Self::alternative) explains.
    pub fn spammers(&self) -> impl Iterator<Item = &WorkerRates> {
        let explained = self.alternative.as_ref().map_or(&[][..], |other| &other.workers);
        self.workers.iter().filter(|w| w.is_spammer() && !explained.contains(&w.worker))
    }

    /// The objects most in doubt, at most `count`: show them to the crowd next.
    #[doc(alias = "active learning")]
    pub fn ask_objects(&self, count: usize) -> Vec<usize> {
        question::objects(&self.memberships, count)
    }

    /// The pairs whose answer would be most informative, at most `count`: each object in doubt with
    /// the surest object of its likeliest clusters. Where no pair is in doubt, pairs come all the
    /// same, and their [`Question::information`] is 0: an answer would tell nothing.
    #[doc(alias = "active learning")]
    pub fn ask_pairs(&self, count: usize) -> Vec<Question> {
        question::pairs(&self.memberships, self.crowd_rates, count)
    }
}
