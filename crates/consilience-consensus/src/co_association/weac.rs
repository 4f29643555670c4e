use consilience_core::{
    Accepts, Clusters, Dendrogram, Linkage, MemoryBudget, Microclusters, Observer, Report, Result,
    Similarity, SimilarityGraph, ensure,
};
use consilience_graph::{
    ClusterIncidence, EvidenceWeights, Linked, linked_method, normalized_crowd_agreement,
};

/// The published default of the exponent.
pub(crate) const EXPONENT: f64 = 2.0;
/// Far beyond this every member but the best counts for nothing.
const LARGEST_EXPONENT: f64 = 1000.0;

pub(crate) fn check_exponent(exponent: f64) -> Result<()> {
    ensure!(
        (0.0..=LARGEST_EXPONENT).contains(&exponent),
        invalid("agreement exponent {exponent}; expected 0..={LARGEST_EXPONENT}")
    );
    Ok(())
}

/// The co-association weighted by crowd agreement: of the members that label both objects, the
/// share that puts them together, each member counted with weight `NCAI^exponent`. The diagonal is
/// 1.
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::consensus::WeightedCoAssociation;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 1, 0, 1])?, // independent of the others: no weight
/// ])?;
/// let graph = WeightedCoAssociation::default().similarity(&ensemble)?;
/// assert_eq!(graph.weights()[[0, 1]], 1.0);
/// assert_eq!(graph.weights()[[0, 2]], 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// One addition for each two microclusters that share a cluster, n~^2 M at most, in parallel; 8
/// n~^2 bytes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for an exponent
/// outside 0..=1000, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the
/// memory budget.
///
/// # References
/// Huang, Lai, Wang 2015, Section 3.2 (the exponent is their beta). Over members that label both
/// where labels are missing.
#[derive(Clone, Copy, Debug)]
pub struct WeightedCoAssociation {
    exponent: f64,
    budget: MemoryBudget,
}

impl Default for WeightedCoAssociation {
    fn default() -> Self {
        WeightedCoAssociation { exponent: EXPONENT, budget: MemoryBudget::default() }
    }
}

impl WeightedCoAssociation {
    consilience_core::setters! {
        /// How much agreement counts: the power that it is raised to. Default 2; 0 to 1000, where 0
        /// gives equal weights.
        #[doc(alias = "beta")]
        pub fn agreement_exponent(mut self, exponent: f64) { self.exponent = exponent }

        /// How large the matrix may become. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    fn weights(
        &self,
        incidence: &ClusterIncidence,
        observer: &dyn Observer,
    ) -> Result<EvidenceWeights> {
        incidence.check_overlaps(self.budget)?;
        let agreement = normalized_crowd_agreement(incidence, observer)?;
        let members = agreement.into_iter().map(|c| c.powf(self.exponent)).collect();
        Ok(EvidenceWeights::of_members(members, incidence))
    }
}

impl Similarity for WeightedCoAssociation {
    fn name(&self) -> &str {
        "weac"
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self) -> Result<()> {
        check_exponent(self.exponent)
    }

    fn between(
        &self,
        nodes: &Microclusters,
        _report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        self.check()?;
        self.budget.check_square("weighted co-association", nodes.n_nodes(), 8)?;
        let incidence = ClusterIncidence::of_observed(nodes, observer)?;
        let weights = self.weights(&incidence, observer)?;
        let graph = weights.co_association(nodes, &incidence, self.budget, observer)?;
        let (grouping, mut s) = graph.into_parts();
        // Microclusters that only members without weight label.
        s.diag_mut().fill(1.0);
        SimilarityGraph::new_observed(grouping, s, observer)
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
        EvidenceWeights::average_tree(nodes, self.budget, report, observer, |incidence| {
            self.weights(incidence, observer)
        })
    }
}

/// Weighted evidence accumulation clustering (WEAC): linkage on the co-association weighted by
/// crowd agreement.
///
/// Use it in place of [`EvidenceAccumulation`](crate::EvidenceAccumulation) where some members may
/// be bad; where members are good in some clusters and bad in others, [`Lwea`](crate::Lwea).
///
/// Weights of members count copies, so that their unit matters: weights that are all 4 put three
/// copies of each member among the others that it is compared with.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::Weac;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = Weac::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// As [`EvidenceAccumulation`](crate::EvidenceAccumulation), which needs no matrix for average
/// linkage of a complete ensemble; otherwise as [`WeightedCoAssociation`] and O(n~^2) for the tree.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or an exponent outside 0..=1000,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Huang, Lai, Wang 2015, Section 3.2.
#[doc(alias = "WEAC")]
#[derive(Clone, Debug)]
pub struct Weac(Linked<WeightedCoAssociation>);

impl Weac {
    /// WEAC with average linkage; [`Clusters::Auto`] is the longest lifetime in the dendrogram.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Weac(Linked::new(WeightedCoAssociation::default(), clusters))
    }

    consilience_core::setters! { through map_similarity:
        /// As [`WeightedCoAssociation::agreement_exponent`]. Default 2; 0 to 1000.
        #[doc(alias = "beta")]
        pub fn agreement_exponent(mut self, exponent: f64);
    }
}

linked_method!(Weac, "weac");
