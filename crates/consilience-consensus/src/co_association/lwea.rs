/// The locally weighted co-association: how reliable the clusters are that two objects share,
/// `a_ij = 1/N_ij sum of ECI_c over the clusters c that hold both`, 0 where no member labels both.
///
/// The diagonal is by the same formula: the similarity of two objects inside one microcluster.
///
/// ```
/// use consilience_core::{Ensemble, Partition, Similarity};
/// use consilience_graph::LocallyWeighted;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 2])?,
/// ])?;
/// let graph = LocallyWeighted::default().similarity(&ensemble, &())?.output;
/// assert_eq!(graph.weights()[[0, 0]], 1.0); // objects 0 and 1: no member parts them
/// assert!((graph.weights()[[1, 2]] - 0.5 * (-0.5f64 / 0.4).exp()).abs() < 1e-12);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// One addition for each two microclusters that share a cluster, n~^2 M at most, in parallel; 8
/// n~^2 bytes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a theta that
/// is not positive and finite, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge)
/// beyond the memory budget.
///
/// # References
/// Huang, Wang, Lai 2018, Definition 5 (LWCA). Missing labels are ours.
#[doc(alias = "LWCA")]
#[derive(Clone, Copy, Debug)]
pub struct LocallyWeighted {
    theta: f64,
    budget: MemoryBudget,
}

impl Default for LocallyWeighted {
    /// Theta 0.4.
    fn default() -> Self {
        LocallyWeighted { theta: THETA, budget: MemoryBudget::default() }
    }
}

impl LocallyWeighted {
    /// How fast reliability falls with entropy; 0.4 unless said otherwise, 0.2 to 1 are published
    /// as good.
    pub fn theta(mut self, theta: f64) -> Self {
        self.theta = theta;
        self
    }

    /// How large the matrix may become.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// The locally weighted co-association of given microclusters.
    ///
    /// # Errors
    /// As [`LocallyWeighted`].
    pub fn between(
        &self,
        microclusters: &Microclusters,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        check_theta(self.theta)?;
        self.budget.check_square("weighted co-association", microclusters.n_nodes(), 8)?;
        let incidence = ClusterIncidence::of(microclusters);
        let eci = ensemble_driven_cluster_index(&incidence, self.theta, observer)?;
        let members = vec![1.0; incidence.n_members()];
        co_association(microclusters, &incidence, eci, members, self.budget, observer)
    }
}

impl Similarity for LocallyWeighted {
    fn name(&self) -> &str {
        "lwea"
    }

    fn check(&self) -> Result<()> {
        check_theta(self.theta)
    }

    fn between(
        &self,
        nodes: &Microclusters,
        _report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        self.between(nodes, observer)
    }
}

/// Locally weighted evidence accumulation (LWEA): average linkage on the locally weighted
/// co-association.
///
/// Often the best of the evidence accumulation family, and deterministic. Complete ensembles need
/// no matrix; where labels are missing it is dense over microclusters, and beyond some 30,000 of
/// them [`Lwgp`] is the one.
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_graph::Lwea;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = Lwea::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// assert_eq!(Lwea::by_lifetime().consensus(&ensemble)?, consensus);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// As [`EvidenceAccumulation`](crate::EvidenceAccumulation) with average linkage; with missing
/// labels as [`LocallyWeighted`] and O(n~^2) for the tree.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or a theta that is not positive and finite,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where labels are missing and the
/// matrix is beyond the memory budget.
///
/// # References
/// Huang, Wang, Lai 2018, Section III-D. Average linkage of the objects, which on microclusters is
/// exact with their sizes as weights: nothing is as similar to an object as those in its own
/// microcluster.
#[doc(alias = "LWEA")]
#[derive(Clone, Copy, Debug)]
pub struct Lwea {
    clusters: Option<usize>,
    similarity: LocallyWeighted,
}

impl Lwea {
    /// LWEA into k clusters.
    pub fn new(clusters: usize) -> Self {
        Lwea { clusters: Some(clusters), similarity: LocallyWeighted::default() }
    }

    /// LWEA; the longest lifetime in the dendrogram chooses the number of clusters. Even the
    /// nearest microclusters are seldom very similar, so lifetimes count from the first merge.
    pub fn by_lifetime() -> Self {
        Lwea { clusters: None, similarity: LocallyWeighted::default() }
    }

    /// As [`LocallyWeighted::theta`].
    pub fn theta(mut self, theta: f64) -> Self {
        self.similarity = self.similarity.theta(theta);
        self
    }

    /// How large the similarity matrix may become.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.similarity = self.similarity.memory_budget(budget);
        self
    }

    /// The whole tree, with the microclusters that are its leaves; heights are 1 - similarity.
    ///
    /// # Errors
    /// As [`Lwea`]; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where no object is
    /// labelled.
    pub fn dendrogram(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<(Microclusters, Dendrogram)> {
        check_theta(self.similarity.theta)?;
        let microclusters = Microclusters::observed(ensemble, observer)?;
        let tree = self.tree(&microclusters, &mut Report::default(), observer)?;
        Ok((microclusters, tree))
    }

    fn tree(
        &self,
        microclusters: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Dendrogram> {
        if is_complete(microclusters) {
            return average_tree(microclusters, report, observer, |incidence| {
                let eci =
                    ensemble_driven_cluster_index(incidence, self.similarity.theta, observer)?;
                Ok((eci, vec![1.0; incidence.n_members()]))
            });
        }
        let graph =
            report.stage("similarity", || self.similarity.between(microclusters, observer))?;
        let cutter = Agglomeration::new(Linkage::Average, Cut::Clusters(1));
        report.stage("partition", || cutter.dendrogram(graph, observer))
    }
}

/// The number of clusters of the longest lifetime, counted from the first merge; all leaves where
/// none are linked.
fn longest_lived(tree: &Dendrogram) -> usize {
    match tree.merges().first() {
        Some(first) if first.height < 1.0 => {
            let start = first.height;
            tree.clone().map_heights(|h| h - start).longest_lifetime(1.0 - start)
        }
        _ => tree.n_leaves(),
    }
}

impl ConsensusFunction for Lwea {
    type Output = Partition;

    fn name(&self) -> &str {
        "lwea"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        if let Some(k) = self.clusters {
            ensemble.check_clusters(k)?;
        }
        check_theta(self.similarity.theta)?;
        collapsed(ensemble, self.clusters, observer, |microclusters, report| {
            let tree = self.tree(microclusters, report, observer)?;
            tree.cut(self.clusters.unwrap_or_else(|| longest_lived(&tree)))
        })
    }
}

/// Locally weighted graph partitioning (LWGP): objects and clusters are the nodes of one graph, a
/// link weighs as much as its cluster is reliable, and a transfer cut partitions both.
///
/// Linear in the objects and about as good as [`Lwea`]; the one for large ensembles. Fewer than
/// k clusters come out where the graph tells fewer microclusters apart; the report says so.
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_graph::Lwgp;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = Lwgp::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then as [`IncidenceSpectrum`](crate::IncidenceSpectrum) and O(n~
/// k^2) per iteration of k-means; no memory of order n^2.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, a theta that is not positive and finite, or no restarts.
///
/// # References
/// Huang, Wang, Lai 2018, Section III-E. Microclusters weigh as many objects as they hold.
#[doc(alias = "LWGP")]
#[derive(Clone, Copy, Debug)]
pub struct Lwgp {
    clusters: Clusters,
    theta: f64,
    cut: TransferCut,
}

impl Lwgp {
    /// LWGP into k clusters.
    pub fn new(clusters: usize) -> Self {
        Self::with(Clusters::Fixed(clusters))
    }

    /// LWGP; the widest gap between eigenvalues chooses the number of clusters.
    pub fn by_eigengap() -> Self {
        Self::with(Clusters::Eigengap)
    }

    fn with(clusters: Clusters) -> Self {
        Lwgp { clusters, theta: THETA, cut: TransferCut::with(clusters) }
    }

    /// As [`LocallyWeighted::theta`].
    pub fn theta(mut self, theta: f64) -> Self {
        self.theta = theta;
        self
    }

    /// k-means starts on the embedding, of which the one of least inertia is kept; 3 unless said
    /// otherwise.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.cut = self.cut.restarts(restarts);
        self
    }

    /// Seed of the k-means starts.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.cut = self.cut.seed(seed);
        self
    }
}

impl ConsensusFunction for Lwgp {
    type Output = Partition;

    fn name(&self) -> &str {
        "lwgp"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        crate::weighted::asked(ensemble, self.clusters)?;
        check_theta(self.theta)?;
        cut_incidence(ensemble, self.clusters, self.cut, observer, |incidence| {
            ensemble_driven_cluster_index(incidence, self.theta, observer)
        })
    }
}
