/// How far two clusters are apart, given how far their parts are.
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
