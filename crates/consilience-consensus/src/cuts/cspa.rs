use consilience_graph::CliqueCut;

use super::clique_method::clique_method;

/// Cluster-based similarity partitioning (CSPA): objects are linked by the number of members that
/// put them together, and that graph is cut.
///
/// The first of the three classics by Strehl and Ghosh. Use it for a global view of the same
/// evidence that [`EvidenceAccumulation`](crate::EvidenceAccumulation) merges pair by pair: every
/// link counts, so chains do no harm, but clusters that are small beside the others may be joined.
/// [`Mcla`](crate::Mcla) and [`Hgpa`](crate::Hgpa) were better on the ensembles that we measured.
///
/// ```text
/// w_ij = c_ij   (members that put i and j in one cluster)
/// ```
///
/// The published method divides by M, which changes no cut, and gives the graph to METIS, which
/// makes clusters of nearly equal size. The default here is the normalised cut by eigenvectors
/// ([`CutMethod::Spectral`](consilience_graph::CutMethod::Spectral)), which leaves sizes free and
/// was better on the ensembles that we measured; with the feature `metis` the published cut is
/// there as `CutMethod::Metis`.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::Cspa;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, -1])?,
/// ])?;
/// assert_eq!(Cspa::new(3).consensus(&ensemble)?.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters; with C clusters in the ensemble the spectral cut takes O(n~ M^2)
/// for the overlaps of clusters that share objects, then O(C^3) up to 400 clusters and products of
/// O(overlaps k) beyond: the n~ x n~ graph is never made. METIS needs it: 8 n~^2 bytes and O(n~^2
/// M) time.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or restarts outside `1..=10000`,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Strehl, Ghosh 2002, "Cluster Ensembles - A Knowledge Reuse Framework for Combining Multiple
/// Partitions", Section 3.2. An unlabelled object has no links under that member, as there.
/// Microclusters count with their sizes, which is exact under the spectral cut; METIS cannot divide
/// one, and so may miss its balance.
#[doc(alias = "CSPA")]
#[derive(Clone, Copy, Debug)]
pub struct Cspa(CliqueCut);

clique_method!(Cspa, "cspa", ALL, |_| 1.0);
