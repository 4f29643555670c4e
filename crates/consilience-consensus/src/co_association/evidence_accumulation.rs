use consilience_core::Clusters;
use consilience_graph::{CoAssociation, Linked, linked_method};

/// Evidence accumulation clustering (EAC): linkage on the co-association.
///
/// The plain classic: no parameters but the linkage, and exact on microclusters, which count with
/// their sizes. Use it as the yardstick; where local links mislead, `Pta` of the same ensemble does
/// better. Average linkage of a complete ensemble needs no matrix; where labels are missing, or
/// members are so many that it is faster, similarities are computed a row at a time, of no more
/// microclusters than a matrix would fit for: some 30,000. Complete and single linkage keep a byte
/// for each pair, two where there are more than 255 different similarities. The other linkages
/// need the matrix; so do complete and single linkage of memberships, of unequal weights and of
/// more than 400 members of which labels are missing, and average linkage of memberships or
/// unequal weights where labels are missing.
///
/// Two objects that no member labels together count as never agreeing, similarity 0. Complete
/// linkage joins no clusters with such a pair before all others, so where labels are missing it may
/// tear classes that all members agree on; average linkage goes by the mean of all pairs.
///
/// ```
/// use consilience::{Clusters, ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::EvidenceAccumulation;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = EvidenceAccumulation::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// // The number of clusters can be left to the lifetime criterion.
/// let found = EvidenceAccumulation::new(Clusters::Lifetime).consensus(&ensemble)?;
/// assert_eq!(found, consensus);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters. Average linkage of a complete ensemble: O(n~ M) memory; each of
/// some 3 n~ searches for a nearest neighbour reads the microclusters that share the smaller
/// clusters of one, O(n~ M) at worst. Otherwise O(n~^2 M) byte operations and O(n~^2) for the tree;
/// n~^2 or 2 n~^2 bytes under complete and single linkage, else 8 n~^2 at most, which under average
/// linkage is asked of the budget, of which a tenth is taken where members agree, two fifths where
/// they do not.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or a criterion that no tree has,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Fred, Jain 2005, "Combining Multiple Clusterings Using Evidence Accumulation".
#[doc(alias = "evidence accumulation")]
#[doc(alias = "consensus matrix")]
#[doc(alias = "EAC")]
#[derive(Clone, Debug)]
pub struct EvidenceAccumulation(Linked<CoAssociation>);

impl EvidenceAccumulation {
    /// EAC with average linkage; [`Clusters::Auto`] is the longest lifetime in the dendrogram.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        EvidenceAccumulation(Linked::new(CoAssociation::default(), clusters))
    }

    consilience_core::setters! {
        /// Whether to work on microclusters or on every object by itself. Default true. Both find
        /// the same where members are labels, except for ties. By memberships two objects of one
        /// microcluster may be together less than always.
        pub fn collapse(mut self, collapse: bool) { self.0 = self.0.collapse(collapse) }
    }
}

linked_method!(EvidenceAccumulation, "eac");
