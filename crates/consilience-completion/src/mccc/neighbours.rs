//! Eigenvectors of the graph of nearest neighbours.

use consilience_core::{Observer, Result, Seed};
use consilience_num::eigen::{TruncatedOptions, try_truncated_eigen};
use consilience_num::near::{SelfTuned, SelfTunedGraph};
use ndarray::{Array2, ArrayView2, Axis};

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
        // Where all are neighbours of all, the first eigenvalue alone is above 0, and what tells
        // the objects apart is below. By its size new objects lie among those that they are near
        // to.
        let complete = n <= NEIGHBOURS + 1;
        let is_kept = |&l: &usize| {
            let value = top.values[l];
            value > LEAST || (complete && value < -LEAST)
        };
        let kept: Vec<usize> = (0..top.values.len()).filter(is_kept).collect();
        let mut z = top.vectors.select(Axis(1), &kept).as_standard_layout().into_owned();
        let mut values: Vec<f64> = kept.iter().map(|&l| top.values[l].abs()).collect();
        if kept.is_empty() {
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

#[cfg(test)]
mod tests {
    use consilience_core::{Constraints, Link, Partition, SideInformation};
    use ndarray::Array2;

    use crate::Mccc;

    /// So few objects that each has all others for neighbours are told apart, and new ones go with
    /// the nearest.
    #[test]
    fn a_handful_of_objects_is_clustered_by_distance() {
        for (x, k, groups) in [
            (vec![1.0, 2.0], 2, vec![0, 1]),
            (vec![1.0, 2.0, 4.0], 3, vec![0, 1, 2]),
            (vec![1.0, 5.0, 9.0, 14.0], 2, vec![0, 0, 1, 1]),
            (vec![1.0, 2.0, 1.5, 9.0, 10.0, 9.5, 8.8], 2, vec![0, 0, 0, 1, 1, 1, 1]),
        ] {
            let n = x.len();
            let x = Array2::from_shape_vec((n, 1), x).unwrap();
            let mut known = Constraints::new(n).unwrap();
            known.add(0, n - 1, Link::Cannot).unwrap();
            let side = SideInformation::from_constraints(&known);
            let found = Mccc::new(k).fit_completed(x.view(), &side, &()).unwrap();
            assert_eq!(found.report.clusters_missing, None, "{x}");
            let found = found.output.clustering;
            assert_eq!(found.partition, Partition::from_labels(&groups).unwrap(), "{x}");
            let near = x.mapv(|v| v + 0.1);
            let again = found.assign(near.view()).unwrap();
            assert!((0..n).all(|i| found.partition.label(i) == Some(again[i])), "{x}");
        }
    }
}
