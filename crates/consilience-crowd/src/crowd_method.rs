/// How [`CrowdClustering`](crate::CrowdClustering) goes from answers to clusters.
///
/// ```
/// use consilience::crowd::CrowdMethod;
///
/// assert_eq!(CrowdMethod::default(), CrowdMethod::Auto);
/// assert_eq!(CrowdMethod::DawidSkene.name(), "dawid-skene");
/// assert_eq!("dawid-skene".parse(), Ok(CrowdMethod::DawidSkene));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CrowdMethod {
    /// `BlockByWorker` where its [evidence](crate::CrowdResult::evidence) is higher than that of
    /// `Block` by more than 3 nats, else `Block`; `Block` alone where there are too many rows and
    /// clusters for both. `PlantedPartition` where up to 200,000 pairs were answered and the
    /// answers are more probable under it, every worker having an own rate inside clusters and one
    /// between them (of tasks of more than two items only where block models find fewer clusters
    /// than were asked for), or these find too few and more than the root of the objects were asked
    /// for, or the objects were compared less often than there are clusters; `Pairs` where more
    /// pairs were answered, and where answers that agree leave more clusters than were asked for.
    #[default]
    Auto,
    /// The worker-aware block model, [`BlockModel`](crate::BlockModel).
    Block,
    /// The block model in which every worker confuses clusters in their own way: for workers who
    /// sort into fewer groups than there are clusters, each by what they know.
    BlockByWorker,
    /// Latent class analysis: in each task, an object of a cluster goes to a group with the task's
    /// own probability. For workers who sort many objects at once, each into groups of their own;
    /// next to blind where tasks are pairs.
    #[doc(alias = "latent class analysis")]
    LatentClass,
    /// Bayesian crowdclustering, [`PositionModel`](crate::PositionModel): objects have positions
    /// that each worker compares in their own way. It has a posterior of the number of clusters.
    /// Its time is in proportion to the pair answers: half a million may take a minute where the
    /// number of clusters is not given. Beyond three million, long tasks are read in part.
    #[doc(alias = "Bayesian crowdclustering")]
    Bayesian,
    /// Eigenvectors of the log-odds that the block model gives every pair; up to as many clusters
    /// as `Spectral`.
    LogOdds,
    /// Robust completion of the pairs that the crowd agrees on, then eigenvectors. For up to some
    /// 3,000 objects where few pairs are answered: the rank that it goes through rises with them,
    /// and 10,000 take minutes.
    #[doc(alias = "RMC")]
    #[doc(alias = "robust matrix completion")]
    #[doc(alias = "crowdclustering")]
    Rmc,
    /// Eigenvectors of the mean answers, the crowd's mean where nobody answered. Time grows as the
    /// objects times the square of the clusters, so that it is for up to some hundred clusters.
    Spectral,
    /// Dawid and Skene's model with pairs as independent items, then eigenvectors of the
    /// posteriors; up to as many clusters as `Spectral`.
    #[doc(alias = "Dawid-Skene")]
    #[doc(alias = "expectation maximization")]
    DawidSkene,
    /// Dawid and Skene's log-odds of the answered pairs, whose clusters are merged greedily down to
    /// k; a pair that nobody answered counts as one of objects drawn from k clusters of like size.
    /// For clusters that are many and small, as in entity resolution: O(m log^2 m) for m answered
    /// pairs, and O(n) more for each merge that goes against the answers; and the memberships, n
    /// times k numbers of 24 bytes while they are found: 8 GiB are enough for 33,000 objects in
    /// 10,000 clusters. The report notes how many clusters the answers would leave where one pair
    /// in k is together.
    #[doc(alias = "entity resolution")]
    #[doc(alias = "correlation clustering")]
    Pairs,
    /// The planted partition model: one rate of "same" inside clusters and one between them, both
    /// integrated out, and the partition of highest posterior probability that is found. For many
    /// small clusters and answers on single pairs; workers who differ much, and clusters that are
    /// confused with each other, are better understood by `Block`. O(m log^2 m) for m answered
    /// pairs, and O(m) for each sweep in which objects move to where they are more probable.
    #[doc(alias = "stochastic block model")]
    #[doc(alias = "correlation clustering")]
    PlantedPartition,
}

consilience_core::names! {
    name "crowd method" CrowdMethod:
    "auto" => Auto,
    "block" => Block,
    "block-by-worker" => BlockByWorker,
    "latent-class" => LatentClass,
    "bayesian" => Bayesian,
    "log-odds" => LogOdds,
    "rmc" => Rmc,
    "spectral" => Spectral,
    "dawid-skene" => DawidSkene,
    "pairs" => Pairs,
    "planted-partition" => PlantedPartition,
}
