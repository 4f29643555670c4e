//! Eigenvectors of the graph of nearest neighbours.

use consilience_core::{Observer, Result, Seed};
use consilience_num::eigen::{TruncatedOptions, try_truncated_eigen};
use consilience_num::near::{SelfTuned, SelfTunedGraph};
use ndarray::{Array2, ArrayView2, s};

/// Neighbours of an object; the last sets its scale.
const NEIGHBOURS: usize = 10;
/// Eigenvalues below this cannot be divided by.
const LEAST: f64 = 1e-3;
/// Residual of an eigenpair: enough for coordinates.
const TOLERANCE: f64 = 1e-6;

/// The graph behind the coordinates, for objects that come later.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    pub(super) graph: SelfTunedGraph,
    /// N x k, orthonormal but where objects are equal: they share their mean.
    pub(super) z: Array2<f64>,
    pub(super) values: Vec<f64>,
}

impl Graph {
    /// The `k` leading eigenvectors, and whether they converged.
    pub(super) fn new(
        x: Array2<f64>,
        k: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<(Self, bool)> {
        let n = x.nrows();
        let mut graph = SelfTuned::new(NEIGHBOURS).graph(x, observer)?;
        let options = TruncatedOptions::new(k)
            .tolerance(TOLERANCE)
            .max_iterations(60)
            .seed(seed.derive("eigenvectors", 0));
        let top = try_truncated_eigen(graph.matrix(), &options, observer)?;
        graph.forget_matrix();
        let kept = top.values.iter().take_while(|&&v| v > LEAST).count();
        let mut z = top.vectors.slice(s![.., ..kept]).as_standard_layout().into_owned();
        let mut values = top.values[..kept].to_vec();
        if kept == 0 {
            // One object has no neighbours.
            (z, values) = (Array2::from_elem((n, 1), 1.0 / (n as f64).sqrt()), vec![1.0]);
        }
        graph.level(&mut z);
        Ok((Graph { graph, z, values }, top.converged))
    }

    pub(super) fn coordinates(&self) -> ArrayView2<'_, f64> {
        self.z.view()
    }

    /// Coordinates of rows: of those of the fit their own, else by the eigenvectors' own equation.
    pub(super) fn extend(&self, new: &Array2<f64>) -> Result<Array2<f64>> {
        self.graph.extend(new.view(), self.z.view(), &self.values, &())
    }
}
