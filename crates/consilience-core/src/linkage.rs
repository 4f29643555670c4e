/// How far two clusters are apart, given how far their parts are.
///
/// Not to be confused with [`Link`](crate::Link), a must-link or cannot-link.
///
/// ```
/// use consilience::consensus::EvidenceAccumulation;
/// use consilience::prelude::*;
/// use consilience::{Ensemble, Linkage, Partition};
///
/// // A chain: neighbours are together once each.
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1, 2])?,
///     Partition::from_labels(&[0, 1, 1, 2, 2])?,
/// ])?;
/// let sizes = |linkage| {
///     let found = EvidenceAccumulation::new(2).linkage(linkage).consensus(&ensemble)?;
///     Ok::<_, consilience::Error>(found.sizes())
/// };
/// // Complete linkage does not follow the chain to its end.
/// assert!(sizes(Linkage::Complete)?.iter().all(|&size| size < 4));
/// assert_eq!(sizes(Linkage::Single)?.iter().sum::<usize>(), 5);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Linkage {
    /// The nearest pair.
    Single,
    /// The mean over all pairs, weighted by the leaves' weights (UPGMA).
    #[default]
    Average,
    /// The farthest pair.
    Complete,
    /// The increase of the within-cluster sum of squares, as if the dissimilarities were Euclidean
    /// distances between points.
    Ward,
}
