//! The embedding straight from its definition, on dense matrices.

use consilience_core::Ensemble;
use consilience_num::eigen::symmetric_eigen;
use ndarray::Array2;

/// Inner products of the positions of all objects, all dimensions: with `X X' = U sigma^2 U'` over
/// the objects one by one, `D_r^-1/2 U sigma^2p U' D_r^-1/2` times what makes the constant
/// direction 1. 0 for unlabelled objects.
pub(crate) fn inner_products(ensemble: &Ensemble, weights: &[f64], power: f64) -> Array2<f64> {
    let n = ensemble.n_objects();
    let mut columns: Vec<(f64, Vec<usize>)> = Vec::new();
    for (m, &w) in ensemble.members().iter().zip(weights) {
        if w > 0.0 {
            columns.extend(
                (0..m.n_clusters())
                    .map(|c| (w, (0..n).filter(|&i| m.label(i) == Some(c)).collect::<Vec<_>>())),
            );
        }
    }
    let b = Array2::from_shape_fn((n, columns.len()), |(i, j)| {
        if columns[j].1.contains(&i) { columns[j].0 } else { 0.0 }
    });
    let rows: Vec<f64> = b.rows().into_iter().map(|r| r.sum()).collect();
    let sums: Vec<f64> = b.columns().into_iter().map(|c| c.sum()).collect();
    let safe = |v: f64| if v > 0.0 { v } else { 1.0 };
    let x =
        Array2::from_shape_fn(b.dim(), |(i, j)| b[[i, j]] / (safe(rows[i]) * safe(sums[j])).sqrt());
    let eigen = symmetric_eigen(x.dot(&x.t()).view()).unwrap();
    let mut powered = eigen.vectors.clone();
    for (mut column, &value) in powered.columns_mut().into_iter().zip(&eigen.values) {
        column *= if value > 1e-10 { value.powf(power) } else { 0.0 };
    }
    let g = powered.dot(&eigen.vectors.t());
    let labelled = rows.iter().filter(|r| **r > 0.0).count() as f64;
    let total = labelled * weights.iter().sum::<f64>();
    Array2::from_shape_fn((n, n), |(i, j)| {
        total * g[[i, j]] / (safe(rows[i]) * safe(rows[j])).sqrt()
    })
}
