use consilience_core::{
    Clusters, MemoryBudget, Microclusters, Observer, Report, Result, Similarity, SimilarityGraph,
};
use consilience_graph::{Lifespan, Linked, linked_method};

use super::{ApproximateSimRank, ConnectedTriples, SimRank};

/// How [`LinkBased`] compares objects.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
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

    fn iterations(self, iterations: usize) -> Self {
        match self {
            Self::SimRank(s) => Self::SimRank(s.iterations(iterations)),
            other => other,
        }
    }

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
/// Use it where [`EvidenceAccumulation`](crate::EvidenceAccumulation) has too few members,
/// so that many pairs are never or always together: the links between clusters distinguish those.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::LinkBased;
///
/// // Four pairs, two of which the second member joins: pairs 0 and 1 belong together most.
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1, 2, 2, 3, 3])?,
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 2])?,
/// ])?;
/// let found = LinkBased::wct(2).consensus(&ensemble)?;
/// assert_eq!(found.to_signed(), vec![0, 0, 0, 0, 1, 1, 1, 1]);
/// assert_eq!(LinkBased::srs(2).consensus(&ensemble)?, found);
/// # Ok::<(), consilience::Error>(())
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
#[derive(Clone, Debug)]
pub struct LinkBased(Linked<LinkSimilarity>);

impl LinkBased {
    /// Average linkage on any of the similarities; [`Clusters::Auto`] is the longest lifetime in
    /// the dendrogram. No two microclusters come near similarity 1 by SimRank, whatever its decay,
    /// so that its lifetimes count from the first merge; by connected triples even unlike clusters
    /// share neighbours, so that no two objects come near 0 and lifetimes count to the last merge.
    pub fn new(similarity: LinkSimilarity, clusters: impl Into<Clusters>) -> Self {
        let lifespan = match similarity {
            LinkSimilarity::ConnectedTriples(_) => Lifespan::ToLastMerge,
            LinkSimilarity::SimRank(_) | LinkSimilarity::ApproximateSimRank(_) => {
                Lifespan::FromFirstMerge
            }
        };
        LinkBased(Linked::new(similarity, clusters).lifespan(lifespan))
    }

    /// Weighted connected triples.
    #[doc(alias = "WCT-AL")]
    pub fn wct(clusters: impl Into<Clusters>) -> Self {
        Self::new(LinkSimilarity::ConnectedTriples(ConnectedTriples::new()), clusters)
    }

    /// SimRank-based similarity.
    #[doc(alias = "SRS-AL")]
    pub fn srs(clusters: impl Into<Clusters>) -> Self {
        Self::new(LinkSimilarity::SimRank(SimRank::new()), clusters)
    }

    /// Approximate SimRank-based similarity.
    #[doc(alias = "ASRS-AL")]
    pub fn asrs(clusters: impl Into<Clusters>) -> Self {
        Self::new(LinkSimilarity::ApproximateSimRank(ApproximateSimRank::new()), clusters)
    }

    consilience_core::setters! { through map_similarity:
        /// The decay of the similarity. Default 0.9 for connected triples, else 0.8; 0 to 1.
        pub fn decay(mut self, decay: f64);

        /// R, the rounds of SimRank; the other similarities have none. Default 5; 1 to 1000.
        pub fn iterations(mut self, iterations: usize);
    }
}

linked_method!(LinkBased, "link-based linkage (wct, srs, asrs)");
