use consilience_core::{
    Accepts, Clusters, Ensemble, MemoryBudget, Microclusters, NodeConsensus, Observer, Partition,
    Report, Result, Seed,
};
use consilience_graph::{check_entropy_scale, ensemble_driven_cluster_index};

use super::Hbgf;
use crate::co_association::ENTROPY_SCALE;

const RESTARTS: usize = 3;

/// Locally weighted graph partitioning (LWGP): objects and clusters are the nodes of one graph, a
/// link weighs as much as its cluster is reliable, and a transfer cut partitions both.
///
/// Linear in the objects and about as good as [`Lwea`](crate::Lwea); the one for large ensembles.
/// Fewer than k clusters come out where the graph distinguishes fewer microclusters; the report
/// says so.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::Lwgp;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = Lwgp::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then as
/// [`IncidenceSpectrum`](consilience_graph::IncidenceSpectrum) and O(n~ k^2) per iteration of
/// k-means; no memory of order n^2.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, an entropy scale that is not positive and finite, or no restarts;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Huang, Wang, Lai 2018, Section III-E. Microclusters weigh as many objects as they hold.
#[doc(alias = "LWGP")]
#[derive(Clone, Copy, Debug)]
pub struct Lwgp {
    graph: Hbgf,
    entropy_scale: f64,
}

impl Lwgp {
    /// LWGP; [`Clusters::Auto`] is the widest gap between eigenvalues.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Lwgp { graph: Hbgf::new(clusters).restarts(RESTARTS), entropy_scale: ENTROPY_SCALE }
    }

    consilience_core::setters! {
        /// As [`LocallyWeighted::entropy_scale`](crate::LocallyWeighted::entropy_scale). Default
        /// 0.4; above 0.
        #[doc(alias = "theta")]
        pub fn entropy_scale(mut self, scale: f64) { self.entropy_scale = scale }

        /// k-means starts on the embedding, of which the one of least inertia is kept. Default 3; 1
        /// to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.graph = self.graph.restarts(restarts) }

        /// Seed of the k-means starts. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.graph = self.graph.seed(seed) }

        /// How much memory the matrices of all clusters of the members, the vectors of these and
        /// those of the microclusters may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) {
            self.graph = self.graph.memory_budget(budget)
        }
    }
}

impl NodeConsensus for Lwgp {
    type Output = Partition;

    fn name(&self) -> &str {
        "lwgp"
    }

    fn clusters(&self) -> Clusters {
        self.graph.clusters()
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self, ensemble: &Ensemble) -> Result<()> {
        check_entropy_scale(self.entropy_scale)?;
        NodeConsensus::check(&self.graph, ensemble)
    }

    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        self.graph.nodes(ensemble, observer)
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        self.graph.cut_by(nodes, report, observer, |incidence| {
            incidence.check_overlaps(self.graph.budget())?;
            let index = ensemble_driven_cluster_index(incidence, self.entropy_scale, observer)?;
            incidence.weighed(index)
        })
    }
}
