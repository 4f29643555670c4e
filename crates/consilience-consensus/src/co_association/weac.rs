/// The co-association weighted by crowd agreement: of the members that label both objects, the
/// share that puts them together, each member counted with weight `NCAI^beta`. The diagonal is 1.
///
/// ```
/// use consilience_core::{Ensemble, Partition, Similarity};
/// use consilience_graph::WeightedCoAssociation;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 1, 0, 1])?, // independent of the others: no weight
/// ])?;
/// let graph = WeightedCoAssociation::default().similarity(&ensemble, &())?.output;
/// assert_eq!(graph.weights()[[0, 1]], 1.0);
/// assert_eq!(graph.weights()[[0, 2]], 0.0);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// One addition for each two microclusters that share a cluster, n~^2 M at most, in parallel; 8
/// n~^2 bytes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a beta
/// outside 0..=1000, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the
/// memory budget.
///
/// # References
/// Huang, Lai, Wang 2015, Section 3.2. Over members that label both where labels are missing.
#[derive(Clone, Copy, Debug)]
pub struct WeightedCoAssociation {
    beta: f64,
    budget: MemoryBudget,
}

impl Default for WeightedCoAssociation {
    /// Beta 2.
    fn default() -> Self {
        WeightedCoAssociation { beta: BETA, budget: MemoryBudget::default() }
    }
}

impl WeightedCoAssociation {
    /// How much agreement counts; 2 unless said otherwise, 0 for equal weights.
    pub fn beta(mut self, beta: f64) -> Self {
        self.beta = beta;
        self
    }

    /// How large the matrix may become.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// What each cluster and each member weighs.
    fn weights(
        &self,
        incidence: &ClusterIncidence,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let ncai = normalized_crowd_agreement(incidence, observer)?;
        let members: Vec<f64> = ncai.into_iter().map(|c| c.powf(self.beta)).collect();
        let clusters = incidence.member_of_cluster().into_iter().map(|u| members[u]).collect();
        Ok((clusters, members))
    }

    /// The weighted co-association of given microclusters.
    ///
    /// # Errors
    /// As [`WeightedCoAssociation`].
    pub fn between(
        &self,
        microclusters: &Microclusters,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        check_beta(self.beta)?;
        let n = microclusters.n_nodes();
        self.budget.check_square("weighted co-association", n, 8)?;
        let incidence = ClusterIncidence::of(microclusters);
        let (clusters, members) = self.weights(&incidence, observer)?;
        let graph =
            co_association(microclusters, &incidence, clusters, members, self.budget, observer)?;
        let (grouping, mut s) = graph.into_parts();
        // Microclusters that only members without weight label.
        s.diag_mut().fill(1.0);
        SimilarityGraph::new(grouping, s)
    }
}

impl Similarity for WeightedCoAssociation {
    fn name(&self) -> &str {
        "weac"
    }

    fn check(&self) -> Result<()> {
        check_beta(self.beta)
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

/// Weighted evidence accumulation clustering (WEAC): linkage on the co-association weighted by
/// crowd agreement.
///
/// Use it in place of [`EvidenceAccumulation`](crate::EvidenceAccumulation) where some members may
/// be bad; where members are good in some clusters and bad in others, [`Lwea`](crate::Lwea).
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_graph::{Linkage, Weac};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = Weac::new(3).linkage(Linkage::Average).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// As [`EvidenceAccumulation`](crate::EvidenceAccumulation), which needs no matrix for average
/// linkage of a complete ensemble; otherwise as [`WeightedCoAssociation`] and O(n~^2) for the tree.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or a beta outside 0..=1000,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Huang, Lai, Wang 2015, Section 3.2.
#[doc(alias = "WEAC")]
#[derive(Clone, Copy, Debug)]
pub struct Weac {
    clusters: Option<usize>,
    linkage: Linkage,
    similarity: WeightedCoAssociation,
}

impl Weac {
    /// WEAC with average linkage into k clusters.
    pub fn new(clusters: usize) -> Self {
        Weac {
            clusters: Some(clusters),
            linkage: Linkage::Average,
            similarity: WeightedCoAssociation::default(),
        }
    }

    /// WEAC with average linkage; the longest lifetime in the dendrogram chooses the number of
    /// clusters.
    pub fn by_lifetime() -> Self {
        Weac { clusters: None, ..Self::new(1) }
    }

    /// The linkage; average unless said otherwise.
    pub fn linkage(mut self, linkage: Linkage) -> Self {
        self.linkage = linkage;
        self
    }

    /// As [`WeightedCoAssociation::beta`].
    pub fn beta(mut self, beta: f64) -> Self {
        self.similarity = self.similarity.beta(beta);
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
    /// As [`Weac`]; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where no object is
    /// labelled.
    pub fn dendrogram(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<(Microclusters, Dendrogram)> {
        check_beta(self.similarity.beta)?;
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
        if self.linkage == Linkage::Average && is_complete(microclusters) {
            return average_tree(microclusters, report, observer, |incidence| {
                self.similarity.weights(incidence, observer)
            });
        }
        let graph =
            report.stage("similarity", || self.similarity.between(microclusters, observer))?;
        let cutter = Agglomeration::new(self.linkage, Cut::Clusters(1));
        report.stage("partition", || cutter.dendrogram(graph, observer))
    }
}

impl ConsensusFunction for Weac {
    type Output = Partition;

    fn name(&self) -> &str {
        "weac"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        if let Some(k) = self.clusters {
            ensemble.check_clusters(k)?;
        }
        check_beta(self.similarity.beta)?;
        collapsed(ensemble, self.clusters, observer, |microclusters, report| {
            let tree = self.tree(microclusters, report, observer)?;
            tree.cut(self.clusters.unwrap_or_else(|| tree.longest_lifetime(1.0)))
        })
    }
}
