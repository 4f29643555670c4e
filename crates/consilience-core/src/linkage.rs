/// How far two clusters are apart, given how far their parts are.
///
/// Not to be confused with [`Link`](crate::Link), a must-link or cannot-link.
///
/// ```
/// use consilience::consensus::EvidenceAccumulation;
/// use consilience::prelude::*;
/// use consilience::{Ensemble, Linkage, Partition};
///
/// // A chain 0 - 1 - 2 - 3, and object 4, which is now and then with 2 and 3.
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2])?,
///     Partition::from_labels(&[0, 1, 1, 2, 3])?,
///     Partition::from_labels(&[0, 1, 1, 2, 3])?,
///     Partition::from_labels(&[0, 1, 2, 2, 2])?,
/// ])?;
/// let by = |linkage| EvidenceAccumulation::new(2).linkage(linkage).consensus(&ensemble);
/// // Single linkage follows the chain, complete linkage does not.
/// assert_eq!(by(Linkage::Single)?.to_signed(), [0, 0, 0, 0, 1]);
/// assert_eq!(by(Linkage::Complete)?.to_signed(), [0, 0, 1, 1, 1]);
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
    /// The distance of the means, as if the dissimilarities were Euclidean distances between points
    /// (UPGMC). A merge may be lower than the one before it; the tree has it at the height of that
    /// one.
    Centroid,
    /// As [`Linkage::Centroid`], but a merge lies in the middle of its two parts whatever their
    /// sizes (WPGMC).
    Median,
}

// The first three are all that there is for networks.
crate::names! {
    name "linkage" Linkage:
    "single" => Single,
    "average" => Average,
    "complete" => Complete,
    "ward" => Ward,
    "centroid" => Centroid,
    "median" => Median,
}
