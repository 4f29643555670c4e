use consilience_core::{
    Accepts, Clusters, Ensemble, Error, MemoryBudget, Microclusters, NodeConsensus, Observer,
    Partition, Report, Result, Seed,
};
use consilience_graph::{ClusterIncidence, TransferCut};

/// Links of equal weight leave k-means several optima close together: more starts pay.
const RESTARTS: usize = 10;

/// Hybrid bipartite graph formulation (HBGF): objects and clusters are the nodes of one graph, an
/// object is linked to the clusters it lies in, and a normalised cut partitions both.
///
/// Linear in the objects, so it is the plain choice for very large ensembles; where member clusters
/// are of unequal reliability, [`Lwgp`](crate::Lwgp) weighs them. Fewer than k clusters come out
/// where the graph distinguishes fewer microclusters; the report says so. Of more components than
/// clusters the largest are clusters and all others together are the last; those of equal size go
/// by the order of [`Microclusters::canonical`], not by that of the objects.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::Hbgf;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = Hbgf::new(3).consensus(&ensemble)?;
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
/// `1..=n` or no restarts; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond
/// the memory budget.
///
/// # References
/// Fern, Brodley 2004, "Solving Cluster Ensemble Problems by Bipartite Graph Partitioning". The cut
/// is found on the clusters' side (Li, Wu, Chang 2012), which gives the same eigenvectors;
/// microclusters weigh as many objects as they hold.
#[doc(alias = "HBGF")]
#[derive(Clone, Copy, Debug)]
pub struct Hbgf {
    clusters: Clusters,
    cut: TransferCut,
}

impl Hbgf {
    /// HBGF; [`Clusters::Auto`] is the widest gap between eigenvalues.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        Hbgf { clusters, cut: TransferCut::new(clusters).restarts(RESTARTS) }
    }

    consilience_core::setters! {
        /// k-means starts on the embedding, of which the one of least inertia is kept. Default 10;
        /// 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.cut = self.cut.restarts(restarts) }

        /// Seed of the k-means starts. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.cut = self.cut.seed(seed) }

        /// How much memory the matrices of all clusters of the members, the vectors of these and
        /// those of the microclusters may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) {
            self.cut = self.cut.memory_budget(budget)
        }
    }

    pub(super) fn budget(&self) -> MemoryBudget {
        self.cut.budget()
    }

    /// The cut under weights of the clusters; a fixed number is at most that of the microclusters.
    pub(super) fn cut_by(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
        weights: impl FnOnce(&ClusterIncidence) -> Result<Vec<f64>>,
    ) -> Result<Vec<usize>> {
        let (incidence, weights) = report.stage("similarity", || {
            let incidence = ClusterIncidence::of_observed(nodes, observer)?;
            let weights = weights(&incidence)?;
            Ok::<_, Error>((incidence, weights))
        })?;
        let cut = match self.clusters {
            Clusters::Fixed(k) => self.cut.clusters(k.min(nodes.n_nodes())),
            _ => self.cut,
        };
        let fit = || cut.fit_incidence(&incidence, &weights, observer);
        let found = report.stage("partition", fit)?;
        report.adopt(found.report);
        Ok(found.output)
    }
}

impl NodeConsensus for Hbgf {
    type Output = Partition;

    fn name(&self) -> &str {
        "hbgf"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self, _ensemble: &Ensemble) -> Result<()> {
        // Not the number of clusters: rows may stand for several objects.
        self.cut.check_parameters()
    }

    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        Microclusters::observed(ensemble, observer)?.canonical_observed(observer)
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        self.cut_by(nodes, report, observer, |incidence| Ok(incidence.cluster_weights()))
    }
}
