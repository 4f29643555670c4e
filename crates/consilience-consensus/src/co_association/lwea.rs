use consilience_core::{
    Accepts, Clusters, Dendrogram, Linkage, MemoryBudget, Microclusters, Observer, Report, Result,
    Similarity, SimilarityGraph,
};
use consilience_graph::{
    ClusterIncidence, EvidenceWeights, Lifespan, Linked, check_entropy_scale,
    ensemble_driven_cluster_index, linked_method,
};

/// The published default of theta.
pub(crate) const ENTROPY_SCALE: f64 = 0.4;

/// The locally weighted co-association: how reliable the clusters are that two objects share,
/// `a_ij = 1/N_ij sum of ECI_c over the clusters c that hold both`, 0 where no member labels both.
///
/// The diagonal is by the same formula: the similarity of two objects inside one microcluster.
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::consensus::LocallyWeighted;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 2])?,
/// ])?;
/// let graph = LocallyWeighted::default().similarity(&ensemble)?;
/// assert_eq!(graph.weights()[[0, 0]], 1.0); // objects 0 and 1: no member separates them
/// assert!((graph.weights()[[1, 2]] - 0.5 * (-0.5f64 / 0.4).exp()).abs() < 1e-12);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// One addition for each two microclusters that share a cluster, n~^2 M at most, in parallel; 8
/// n~^2 bytes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for an entropy
/// scale that is not positive and finite,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Huang, Wang, Lai 2018, Definition 5 (LWCA). Missing labels are ours.
#[doc(alias = "LWCA")]
#[derive(Clone, Copy, Debug)]
pub struct LocallyWeighted {
    entropy_scale: f64,
    budget: MemoryBudget,
}

impl Default for LocallyWeighted {
    fn default() -> Self {
        LocallyWeighted { entropy_scale: ENTROPY_SCALE, budget: MemoryBudget::default() }
    }
}

impl LocallyWeighted {
    consilience_core::setters! {
        /// How slowly reliability falls with the entropy of a cluster. Default 0.4; above 0. The
        /// paper finds 0.2 to 1 good.
        #[doc(alias = "theta")]
        pub fn entropy_scale(mut self, scale: f64) { self.entropy_scale = scale }

        /// How large the matrix may become. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    fn weights(
        &self,
        incidence: &ClusterIncidence,
        observer: &dyn Observer,
    ) -> Result<EvidenceWeights> {
        incidence.check_overlaps(self.budget)?;
        let clusters = ensemble_driven_cluster_index(incidence, self.entropy_scale, observer)?;
        EvidenceWeights::of_clusters(clusters, incidence)
    }
}

impl Similarity for LocallyWeighted {
    fn name(&self) -> &str {
        "lwea"
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self) -> Result<()> {
        check_entropy_scale(self.entropy_scale)
    }

    fn between(
        &self,
        nodes: &Microclusters,
        _report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        self.check()?;
        self.budget.check_square("weighted co-association", nodes.n_nodes(), 8)?;
        let nodes = &*nodes.in_lowest_terms();
        let incidence = ClusterIncidence::of_observed(nodes, observer)?;
        let weights = self.weights(&incidence, observer)?;
        weights.co_association(nodes, &incidence, self.budget, observer)
    }

    fn linkage_tree(
        &self,
        linkage: Linkage,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Option<Dendrogram>> {
        if linkage != Linkage::Average {
            return Ok(None);
        }
        let nodes = &*nodes.in_lowest_terms();
        EvidenceWeights::average_tree(nodes, self.budget, report, observer, |incidence| {
            self.weights(incidence, observer)
        })
    }
}

/// Locally weighted evidence accumulation (LWEA): average linkage on the locally weighted
/// co-association.
///
/// Often the best of the evidence accumulation family, and deterministic. Complete ensembles need
/// no matrix; where labels are missing it is dense over microclusters, and beyond some 30,000 of
/// them use [`Lwgp`](crate::Lwgp).
///
/// ```
/// use consilience::{Clusters, ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::Lwea;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = Lwea::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// assert_eq!(Lwea::new(Clusters::Lifetime).consensus(&ensemble)?, consensus);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// As [`EvidenceAccumulation`](crate::EvidenceAccumulation) with average linkage; with missing
/// labels as [`LocallyWeighted`] and O(n~^2) for the tree.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or an entropy scale that is not positive and finite,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where labels are missing and the
/// matrix is beyond the memory budget.
///
/// # References
/// Huang, Wang, Lai 2018, Section III-D. Average linkage of the objects by default, which on
/// microclusters is exact with their sizes as weights: nothing is as similar to an object as those
/// in its own microcluster.
#[doc(alias = "LWEA")]
#[derive(Clone, Debug)]
pub struct Lwea(Linked<LocallyWeighted>);

impl Lwea {
    /// LWEA with average linkage; [`Clusters::Auto`] is the longest lifetime in the dendrogram.
    /// Even the nearest microclusters are seldom very similar, so lifetimes count from the first
    /// merge.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let linked = Linked::new(LocallyWeighted::default(), clusters);
        Lwea(linked.lifespan(Lifespan::FromFirstMerge))
    }

    consilience_core::setters! { through map_similarity:
        /// As [`LocallyWeighted::entropy_scale`]. Default 0.4; above 0.
        #[doc(alias = "theta")]
        pub fn entropy_scale(mut self, scale: f64);
    }
}

linked_method!(Lwea, "lwea");
