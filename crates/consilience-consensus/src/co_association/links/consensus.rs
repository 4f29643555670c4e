use consilience_core::{
    ConsensusFunction, Ensemble, Fit, GraphPartitioner, MemoryBudget, Microclusters, Observer,
    Partition, Report, Result, Similarity, SimilarityGraph,
};

use super::{ApproximateSimRank, ConnectedTriples, SimRank};
use crate::{Agglomeration, Cut, Linkage};

/// How [`LinkBased`] compares objects.
#[derive(Clone, Copy, Debug)]
pub enum LinkSimilarity {
    /// Weighted connected triples.
    ConnectedTriples(ConnectedTriples),
    /// SimRank.
    SimRank(SimRank),
    /// Approximate SimRank.
    ApproximateSimRank(ApproximateSimRank),
}

impl LinkSimilarity {
    fn memory_budget(self, budget: MemoryBudget) -> Self {
        match self {
            Self::ConnectedTriples(s) => Self::ConnectedTriples(s.memory_budget(budget)),
            Self::SimRank(s) => Self::SimRank(s.memory_budget(budget)),
            Self::ApproximateSimRank(s) => Self::ApproximateSimRank(s.memory_budget(budget)),
        }
    }

    fn decay(self, decay: f64) -> Self {
        match self {
            Self::ConnectedTriples(s) => Self::ConnectedTriples(s.decay(decay)),
            Self::SimRank(s) => Self::SimRank(s.decay(decay)),
            Self::ApproximateSimRank(s) => Self::ApproximateSimRank(s.decay(decay)),
        }
    }
}

impl LinkSimilarity {
    fn get(&self) -> &dyn Similarity {
        match self {
            Self::ConnectedTriples(s) => s,
            Self::SimRank(s) => s,
            Self::ApproximateSimRank(s) => s,
        }
    }
}

impl Similarity for LinkSimilarity {
    fn name(&self) -> &str {
        self.get().name()
    }

    fn check(&self) -> Result<()> {
        self.get().check()
    }

    fn between(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        self.get().between(nodes, report, observer)
    }
}

/// Link-based clustering ensembles (WCT, SRS, ASRS): linkage on a similarity that looks at what
/// clusters have in common.
///
/// Use it where [`EvidenceAccumulation`](crate::EvidenceAccumulation) has too few members to go by,
/// so that many pairs are never or always together: the links between clusters tell those apart.
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_graph::{LinkBased, Linkage};
///
/// // Four piles, of which the second member sees two: piles 0 and 1 belong together more than any others.
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1, 2, 2, 3, 3])?,
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 2])?,
/// ])?;
/// let found = LinkBased::wct(2).linkage(Linkage::Average).consensus(&ensemble)?;
/// assert_eq!(found.to_signed(), vec![0, 0, 0, 0, 1, 1, 1, 1]);
/// assert_eq!(LinkBased::srs(2).consensus(&ensemble)?, found);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// As the similarity, plus O(n~^2) for the tree.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or a decay outside `0..=1`,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// See [`ConnectedTriples`], [`SimRank`] and [`ApproximateSimRank`]. Microclusters count with their
/// sizes.
#[doc(alias = "LCE")]
#[doc(alias = "LinkCluE")]
#[derive(Clone, Copy, Debug)]
pub struct LinkBased {
    cut: Cut,
    linkage: Linkage,
    similarity: LinkSimilarity,
}

impl LinkBased {
    /// Average linkage on any of the similarities, with the tree cut where asked.
    pub fn with(similarity: LinkSimilarity, cut: Cut) -> Self {
        LinkBased { cut, linkage: Linkage::Average, similarity }
    }

    /// Weighted connected triples, average linkage, k clusters.
    #[doc(alias = "WCT-AL")]
    pub fn wct(clusters: usize) -> Self {
        Self::with(
            LinkSimilarity::ConnectedTriples(ConnectedTriples::new()),
            Cut::Clusters(clusters),
        )
    }

    /// SimRank-based similarity, average linkage, k clusters.
    #[doc(alias = "SRS-AL")]
    pub fn srs(clusters: usize) -> Self {
        Self::with(LinkSimilarity::SimRank(SimRank::new()), Cut::Clusters(clusters))
    }

    /// Approximate SimRank-based similarity, average linkage, k clusters.
    #[doc(alias = "ASRS-AL")]
    pub fn asrs(clusters: usize) -> Self {
        Self::with(
            LinkSimilarity::ApproximateSimRank(ApproximateSimRank::new()),
            Cut::Clusters(clusters),
        )
    }

    /// The lifetime criterion chooses the number of clusters.
    pub fn by_lifetime(mut self) -> Self {
        self.cut = Cut::LongestLifetime;
        self
    }

    /// The linkage; average unless said otherwise.
    pub fn linkage(mut self, linkage: Linkage) -> Self {
        self.linkage = linkage;
        self
    }

    /// The decay of the similarity.
    pub fn decay(mut self, decay: f64) -> Self {
        self.similarity = self.similarity.decay(decay);
        self
    }

    /// How much memory each matrix may take.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.similarity = self.similarity.memory_budget(budget);
        self
    }
}

impl ConsensusFunction for LinkBased {
    type Output = Partition;

    fn name(&self) -> &str {
        "links"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        if let Cut::Clusters(k) = self.cut {
            ensemble.check_clusters(k)?;
        }
        let Fit { output: graph, mut report } = self.similarity.fit(ensemble, observer)?;
        let cutter = Agglomeration::new(self.linkage, self.cut);
        let fit = report.stage("partition", || cutter.fit(graph, observer))?;
        if let Cut::Clusters(k) = self.cut {
            report.expect_clusters(
                k,
                fit.output.n_clusters(),
                "the ensemble distinguishes no more objects",
            );
        }
        Ok(Fit::new(fit.output, report))
    }
}
