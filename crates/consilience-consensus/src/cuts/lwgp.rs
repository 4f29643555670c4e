use consilience_core::{
    Accepts, Clusters, Ensemble, MemoryBudget, Microclusters, NodeConsensus, Observer, Partition,
    Report, Result, Seed,
};
use consilience_graph::{TransferCut, check_entropy_scale, ensemble_driven_cluster_index};

use super::incidence_cut::cut_incidence;
use crate::co_association::ENTROPY_SCALE;

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
    clusters: Clusters,
    entropy_scale: f64,
    cut: TransferCut,
}

impl Lwgp {
    /// LWGP; [`Clusters::Auto`] is the widest gap between eigenvalues.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        Lwgp { clusters, entropy_scale: ENTROPY_SCALE, cut: TransferCut::new(clusters) }
    }

    consilience_core::setters! {
        /// As [`LocallyWeighted::entropy_scale`](crate::LocallyWeighted::entropy_scale). Default
        /// 0.4; above 0.
        #[doc(alias = "theta")]
        pub fn entropy_scale(mut self, scale: f64) { self.entropy_scale = scale }

        /// k-means starts on the embedding, of which the one of least inertia is kept. Default 3; 1
        /// to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.cut = self.cut.restarts(restarts) }

        /// Seed of the k-means starts. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.cut = self.cut.seed(seed) }

        /// How much memory the matrices of all clusters of the members, the vectors of these and
        /// those of the microclusters may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) {
            self.cut = self.cut.memory_budget(budget)
        }
    }
}

impl NodeConsensus for Lwgp {
    type Output = Partition;

    fn name(&self) -> &str {
        "lwgp"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self, _ensemble: &Ensemble) -> Result<()> {
        check_entropy_scale(self.entropy_scale)?;
        // Not the number of clusters: rows may stand for several objects.
        self.cut.check_parameters()
    }

    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        Microclusters::observed(ensemble, observer)?.canonical()
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        cut_incidence(self.cut, self.clusters, nodes, report, observer, |incidence| {
            incidence.check_overlaps(self.cut.budget())?;
            incidence.weighed(ensemble_driven_cluster_index(
                incidence,
                self.entropy_scale,
                observer,
            )?)
        })
    }
}
