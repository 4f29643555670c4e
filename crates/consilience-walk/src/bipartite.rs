use ndarray::Array2;

/// The weights that [`Ptgp`](crate::Ptgp) cuts, microclusters in rows and the clusters of all
/// members in columns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BipartiteGraph {
    /// B = PTS B0 diag(1 / |C|): mean similarity of a microcluster to those in a cluster.
    pub weights: Array2<f64>,
    /// Relative error of the similarities behind it where they were not computed exactly: four
    /// standard errors of the sampled norms and what is thought to be left of the walks, at the
    /// worst microcluster. A statistical bound, not a proof; 0 where nothing was sampled and single
    /// precision alone is left. `None` where there was a matrix.
    pub error_bound: Option<f64>,
}
