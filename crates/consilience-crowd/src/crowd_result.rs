use consilience_core::{Error, Memberships, MemoryBudget, Observer, Partition, Result};

use crate::alternative::AlternativeClustering;
use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
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
    /// Sets of workers who may have copied from each other, as [`Answers::copies`] finds them. All
    /// are counted, and outvote others: leave them out by [`Answers::without_workers`].
    pub copies: Vec<Vec<usize>>,
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

    /// The pairs whose next answer would be most informative, at most `count`, after these answers,
    /// of which this is the result: objects in doubt, each with sure objects of its likeliest
    /// clusters.
    ///
    /// A pair may lie otherwise than the clusters say, with the larger probability the more pairs
    /// within its cluster, or between its two, have answers that contradict the clusters; the fewer
    /// of them were compared, the less is known of that. So pairs that nobody compared come first
    /// where clusters should be divided or joined. Answers on a pair leave less to learn by another
    /// one, which is correlated with them by 1/3. A pair counts by 1 / (1 + u / 4) where its
    /// objects are in u of the questions before, so that questions that are asked together are
    /// about many objects; among equals those of the fewest answers go first, on the pair and then
    /// on its objects. Questions are returned in the order of their information.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for answers about
    /// another number of objects, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge)
    /// where [`AnswerCounts`] of them and the pairs that are looked at do not fit 8 GiB.
    ///
    /// # Complexity
    /// That of [`AnswerCounts::of`], O(n k + n log n), O(k) for each of max(2 count, 64) objects in
    /// doubt, and O(m (k + log m + log d)) for m of at most 96 pairs with each of these, of objects
    /// that were compared with d others each. 112 bytes for each of these, 72 for each pair that
    /// was answered and 40 for each object.
    #[doc(alias = "active learning")]
    pub fn ask_pairs(&self, answers: &Answers, count: usize) -> Result<Vec<Question>> {
        self.ask_pairs_within(answers, count, MemoryBudget::default(), &())
    }

    /// The same within another memory budget, with an observer that may cancel.
    ///
    /// ```
    /// use consilience::MemoryBudget;
    /// use consilience::crowd::{Answers, CrowdClustering, PairAnswer};
    ///
    /// let said = |worker, i, j, same| PairAnswer { worker, i, j, same };
    /// let rows = [said(0, 0, 1, true), said(1, 0, 1, false), said(1, 1, 2, false)];
    /// let answers = Answers::from_pairs(3, &rows)?;
    /// let result = CrowdClustering::new(2).fit(&answers, &())?.output;
    /// let asked = result.ask_pairs_within(&answers, 2, MemoryBudget::bytes(1 << 20), &())?;
    /// assert_eq!(asked, result.ask_pairs(&answers, 2)?);
    /// assert!(result.ask_pairs_within(&answers, 2, MemoryBudget::bytes(100), &()).is_err());
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CrowdResult::ask_pairs`], and
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn ask_pairs_within(
        &self,
        answers: &Answers,
        count: usize,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Vec<Question>> {
        let (n, about) = (self.memberships.n_objects(), answers.n_objects());
        if n != about {
            return Err(Error::shape(format!("answers about {about} objects, a result of {n}")));
        }
        let counts = AnswerCounts::of(answers, budget)?;
        question::pairs(&self.memberships, self.crowd_rates, &counts, count, budget, observer)
    }
}
