//! The method straight from the paper: all distances, the whole bipartite graph, all its
//! eigenpairs.

use consilience_num::eigen::symmetric_eigen;
use ndarray::{Array2, ArrayView2, Axis};

/// Weights between objects and representatives, dense.
pub(super) fn affinities(
    x: ArrayView2<'_, f64>,
    marks: ArrayView2<'_, f64>,
    near: usize,
) -> Array2<f64> {
    let (n, p) = (x.nrows(), marks.nrows());
    let far = Array2::from_shape_fn((n, p), |(i, j)| {
        x.row(i).iter().zip(marks.row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    });
    let mut chosen = Vec::new();
    for i in 0..n {
        let mut order: Vec<usize> = (0..p).collect();
        order.sort_by(|&a, &b| far[[i, a]].total_cmp(&far[[i, b]]));
        chosen.extend(order[..near.min(p)].iter().map(|&j| (i, j)));
    }
    let sigma = chosen.iter().map(|&at| far[at]).sum::<f64>() / chosen.len() as f64;
    let mut b = Array2::zeros((n, p));
    for at in chosen {
        b[at] = if sigma > 0.0 { (-far[at] * far[at] / (2.0 * sigma * sigma)).exp() } else { 1.0 };
    }
    b
}

/// Inner products of the objects' rows, each scaled to norm 1, from the eigenvectors of the whole
/// graph of n + p nodes. An eigenvalue of the graph is the root of that of the small side, and the
/// transfer to the objects' side scales by it.
pub(super) fn inner_products(b: &Array2<f64>, k: usize) -> Array2<f64> {
    let (n, p) = b.dim();
    let (left, right) = (b.sum_axis(Axis(1)), b.sum_axis(Axis(0)));
    let mut graph = Array2::zeros((n + p, n + p));
    for ((i, j), &w) in b.indexed_iter() {
        if w > 0.0 {
            graph[[i, n + j]] = w / (left[i] * right[j]).sqrt();
            graph[[n + j, i]] = graph[[i, n + j]];
        }
    }
    let eigen = symmetric_eigen(graph.view()).unwrap();
    let mut rows = Array2::from_shape_fn((n, k), |(i, c)| {
        eigen.values[c] * eigen.vectors[[i, c]] / left[i].sqrt()
    });
    for mut row in rows.rows_mut() {
        let norm = row.dot(&row).sqrt();
        row /= norm;
    }
    rows.dot(&rows.t())
}
