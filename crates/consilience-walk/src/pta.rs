use consilience_core::{
    ConsensusFunction, Ensemble, Fit, GraphPartitioner, MemoryBudget, Observer, Partition, Report,
    Result, SimilarityGraph,
};
use consilience_graph::{
    Agglomeration, CountRow, Cut, Dendrogram, LeafWeights, Linkage, Microclusters,
};

use rayon::prelude::*;

use crate::ProbabilityTrajectories;

/// Probability trajectory accumulation (PTA): linkage on the similarity of random walks.
///
/// A good first choice: deterministic, no parameter needs tuning, and the tree can be cut anywhere.
/// The similarity is a dense matrix over microclusters; beyond some 20,000 of them use
/// [`Ptgp`](crate::Ptgp).
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_walk::Pta;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2, 2, 2, 2])?,
/// ])?;
/// let consensus = Pta::new(2).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 0, 1, 1, 1, 1]);
/// # Ok::<(), consilience_core::Error>(())
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
#[derive(Clone, Copy, Debug)]
pub struct Pta {
    cut: Cut,
    linkage: Linkage,
    similarity: ProbabilityTrajectories,
}

/// Weight of the co-association where PTS is 0: far below any similarity that a walk can produce,
/// and nothing beside 1 in a height.
const STRANGER: f64 = 1e-100;

impl Pta {
    /// PTA with average linkage into k clusters.
    pub fn new(clusters: usize) -> Self {
        Pta {
            cut: Cut::Clusters(clusters),
            linkage: Linkage::Average,
            similarity: ProbabilityTrajectories::default(),
        }
    }

    /// PTA with average linkage; the longest lifetime in the dendrogram chooses the number of
    /// clusters.
    pub fn by_lifetime() -> Self {
        Pta { cut: Cut::LongestLifetime, ..Self::new(1) }
    }

    /// The linkage; average unless said otherwise.
    pub fn linkage(mut self, linkage: Linkage) -> Self {
        self.linkage = linkage;
        self
    }

    /// K, the elite neighbours of a microcluster.
    pub fn elite_neighbours(mut self, k: usize) -> Self {
        self.similarity = self.similarity.elite_neighbours(k);
        self
    }

    /// T, the steps of a walk.
    pub fn walk_length(mut self, t: usize) -> Self {
        self.similarity = self.similarity.walk_length(t);
        self
    }

    /// How much memory the dense matrices may take.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.similarity = self.similarity.memory_budget(budget);
        self
    }

    /// The whole tree, with the microclusters that are its leaves; heights are 1 - PTS.
    ///
    /// # Errors
    /// As [`Pta`]; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where no object is
    /// labelled.
    pub fn dendrogram(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<(Microclusters, Dendrogram)> {
        let microclusters = Microclusters::observed(ensemble, observer)?;
        let graph = self.similarity(&microclusters, observer)?;
        let tree = self.cutter().dendrogram(graph, observer)?;
        Ok((microclusters, tree))
    }

    /// PTS, with the strangers (similarity exactly 0) ranked below everybody else by their
    /// co-association: what the walks cannot tell, the members' votes may.
    fn similarity(
        &self,
        microclusters: &Microclusters,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        let graph = self.similarity.between(microclusters, observer)?;
        let n = microclusters.n_nodes();
        let scratch = CountRow::new(microclusters)?;
        let (grouping, mut s) = graph.into_parts();
        if let Some(entries) = s.as_slice_mut() {
            entries.par_chunks_mut(n.max(1)).enumerate().for_each_init(
                || scratch.clone(),
                |counts, (i, row)| {
                    if row.contains(&0.0) {
                        counts.fill(microclusters, i);
                        for (j, s) in row.iter_mut().enumerate() {
                            if *s == 0.0 {
                                *s = STRANGER * counts.ratio(j);
                            }
                        }
                    }
                },
            );
        }
        SimilarityGraph::new(grouping, s)
    }

    fn cutter(&self) -> Agglomeration {
        Agglomeration::new(self.linkage, self.cut).weights(LeafWeights::Nodes)
    }
}

impl ConsensusFunction for Pta {
    type Output = Partition;

    fn name(&self) -> &str {
        "pta"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        if let Cut::Clusters(k) = self.cut {
            ensemble.check_clusters(k)?;
        }
        self.similarity.parameters.check()?;
        let mut report = Report::default();
        let microclusters =
            report.stage("microclusters", || Microclusters::observed(ensemble, observer))?;
        report.microclusters = Some(microclusters.n_nodes());
        let graph = report.stage("similarity", || self.similarity(&microclusters, observer))?;
        let fit = report.stage("partition", || self.cutter().fit(graph, observer))?;
        report.status = fit.report.status;
        report.notes.extend(fit.report.notes);
        Ok(Fit::new(fit.output, report))
    }
}
