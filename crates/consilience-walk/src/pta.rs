use consilience_core::{
    Accepts, Clusters, MemoryBudget, Microclusters, Observer, Report, Result, Similarity,
    SimilarityGraph,
};
use consilience_graph::{AgreementRow, LeafWeights, Linked, each_row, linked_method};

use crate::{ProbabilityTrajectories, PtsSolver, TrajectoryMeasure};

/// Probability trajectory accumulation (PTA): linkage on the similarity of random walks.
///
/// Take it to compare with its paper. It is deterministic, no parameter needs tuning, and the tree
/// ([`Hierarchy`]) can be cut anywhere. On our benchmark `Lwea` and `Recommended` are better and
/// faster (`docs/choosing.md`).
///
/// [`Hierarchy`]: consilience_core::Hierarchy
///
/// The similarity is a dense matrix over microclusters; beyond some 20,000 of them use
/// [`Ptgp`](crate::Ptgp).
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Hierarchy, Partition};
/// use consilience::walk::Pta;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2, 2, 2, 2])?,
/// ])?;
/// let consensus = Pta::new(2).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 0, 1, 1, 1, 1]);
///
/// // The tree that is cut.
/// let (nodes, tree) = Pta::new(2).dendrogram(&ensemble, &())?;
/// assert_eq!((nodes.n_nodes(), tree.n_leaves()), (5, 5));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then as [`ProbabilityTrajectories`], then O(n~^2) for the tree.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, K = 0 or T outside 1..=1000,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Huang, Lai, Wang 2016, Section 4.4.1. Regions weigh by their number of microclusters, as
/// published. Complete linkage takes the least similar pair; the text's Eq. 14 shows a sum, a
/// misprint. Beyond the paper: where elite links fall into more pieces than clusters are wanted,
/// all similarities across are 0 and the published program joins pieces in order of their number;
/// here those join first that the members put together most often.
#[doc(alias = "PTA")]
#[derive(Clone, Debug)]
pub struct Pta(Linked<RankedTrajectories>);

impl Pta {
    /// PTA with average linkage; the longest lifetime in the tree chooses the number of clusters
    /// where it is not given.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let similarity = RankedTrajectories::default();
        Pta(Linked::new(similarity, clusters).leaf_weights(LeafWeights::Nodes))
    }

    /// K, the elite neighbours of a microcluster. Default `floor(sqrt(n~) / 2)` for n~
    /// microclusters, from 1 to 20; at least 1.
    #[doc(alias = "K")]
    pub fn elite_neighbours(self, k: usize) -> Self {
        self.with(|pts| pts.elite_neighbours(k))
    }

    /// T, the steps of a walk. Default `floor(sqrt(n~) / 2)` for n~ microclusters, from 1 to 20; 1
    /// to 1000.
    #[doc(alias = "T")]
    pub fn walk_length(self, t: usize) -> Self {
        self.with(|pts| pts.walk_length(t))
    }

    /// K and T as in the text of the paper: `floor(sqrt(n~) / 2)` however many microclusters there
    /// are (T at most 1000). Default: at most 20, as in the published program; equal up to 1,763
    /// microclusters.
    #[must_use]
    pub fn published(self) -> Self {
        self.with(ProbabilityTrajectories::published)
    }

    /// How like each other two trajectories are. Default [`TrajectoryMeasure::Cosine`].
    pub fn measure(self, measure: TrajectoryMeasure) -> Self {
        self.with(|pts| pts.measure(measure))
    }

    /// How the sum over the walks is computed. Default [`PtsSolver::Cheapest`].
    pub fn solver(self, solver: PtsSolver) -> Self {
        self.with(|pts| pts.solver(solver))
    }

    fn with(self, change: impl FnOnce(ProbabilityTrajectories) -> ProbabilityTrajectories) -> Self {
        Pta(self.0.map_similarity(|s| RankedTrajectories(change(s.0))))
    }
}

linked_method!(Pta, "pta");

/// Weight of the co-association where PTS is 0: far below any similarity that a walk can produce,
/// and nothing beside 1 in a height.
const UNCONNECTED: f64 = 1e-100;

/// PTS, with the pairs that no walk connects (similarity exactly 0) ranked below all others by
/// their co-association: linkage has to join them in some order.
#[derive(Clone, Copy, Debug, Default)]
struct RankedTrajectories(ProbabilityTrajectories);

impl RankedTrajectories {
    fn memory_budget(self, budget: MemoryBudget) -> Self {
        RankedTrajectories(self.0.memory_budget(budget))
    }
}

impl Similarity for RankedTrajectories {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self) -> Result<()> {
        self.0.check()
    }

    fn between(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        let (grouping, mut s) = self.0.between(nodes, report, observer)?.into_parts();
        if let Some(entries) = s.as_slice_mut() {
            let scratch = AgreementRow::new(nodes)?;
            each_row(entries, nodes.n_nodes(), &scratch, observer, |counts, i, row| {
                if row.contains(&0.0) {
                    counts.fill(i);
                    let unconnected = row.iter_mut().enumerate().filter(|(_, s)| **s == 0.0);
                    unconnected.for_each(|(j, s)| *s = UNCONNECTED * counts.ratio(j));
                }
            })?;
        }
        SimilarityGraph::new(grouping, s)
    }
}
