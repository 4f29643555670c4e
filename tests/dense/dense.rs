//! Eigenpairs and linear systems: what every result must satisfy, whichever library computes the
//! dense ones (the feature `lapack` takes LAPACK).

mod nasty;
mod random;
mod solve;

use consilience_core::{Seed, Stream};
use consilience_num::eigen::{
    SymmetricOperator, Truncated, TruncatedOptions, Which, symmetric_eigen, truncated_eigen,
    try_truncated_eigen,
};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;

/// A symmetric matrix by rows of (column, value).
struct Sparse(Vec<Vec<(usize, f64)>>);

impl SymmetricOperator for Sparse {
    fn dim(&self) -> usize {
        self.0.len()
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>) {
        let b = x.ncols();
        let x = x.as_slice().expect("x must be contiguous");
        let y = y.as_slice_mut().expect("y must be contiguous");
        y.par_chunks_mut(b).with_min_len(256).zip(&self.0).for_each(|(y, row)| {
            y.fill(0.0);
            for &(j, v) in row {
                y.iter_mut().zip(&x[j * b..(j + 1) * b]).for_each(|(y, x)| *y += v * x);
            }
        });
    }
}

impl Sparse {
    fn diagonal(values: &[f64]) -> Self {
        Self(values.iter().enumerate().map(|(i, &v)| vec![(i, v)]).collect())
    }

    /// Random walk on `rings` disjoint rings of `length` nodes.
    fn rings(rings: usize, length: usize) -> Self {
        let row = |i: usize| {
            let (ring, k) = (i / length * length, i % length);
            vec![(ring + (k + 1) % length, 0.5), (ring + (k + length - 1) % length, 0.5)]
        };
        Self((0..rings * length).map(row).collect())
    }

    /// `D^(-1/2) W D^(-1/2)` of a random graph with clusters of equal size, `degree` neighbours a
    /// node, a share `outside` of the edges going anywhere.
    fn clustered(n: usize, clusters: usize, degree: usize, outside: f64, seed: u64) -> Self {
        let mut stream = Seed(seed).stream();
        let size = n / clusters;
        let mut rows = vec![Vec::with_capacity(2 * degree); n];
        for i in 0..n {
            for _ in 0..degree.div_ceil(2) {
                let first = (i / size * size).min(n - size);
                let inside = uniform(&mut stream) >= outside;
                let j =
                    if inside { first + below(&mut stream, size) } else { below(&mut stream, n) };
                rows[i].push((j, 1.0));
                rows[j].push((i, 1.0));
            }
        }
        let degrees: Vec<f64> = rows.iter().map(|r| r.iter().map(|e| e.1).sum()).collect();
        for i in 0..n {
            for (j, v) in &mut rows[i] {
                *v /= (degrees[i] * degrees[*j]).sqrt();
            }
        }
        Self(rows)
    }
}

fn uniform(stream: &mut Stream) -> f64 {
    stream.uniform()
}

fn below(stream: &mut Stream, n: usize) -> usize {
    stream.below(n)
}

/// `Q diag(values) Q^T` with a random orthogonal Q.
fn with_spectrum(values: &[f64], seed: u64) -> Array2<f64> {
    let n = values.len();
    let q = symmetric_eigen(random_symmetric(n, seed).view()).unwrap().vectors;
    let a = (&q * &Array2::from_shape_fn((1, n), |(_, j)| values[j])).dot(&q.t());
    (&a + &a.t()) * 0.5
}

fn random_symmetric(n: usize, seed: u64) -> Array2<f64> {
    let mut stream = Seed(seed).stream();
    let a = Array2::from_shape_simple_fn((n, n), || 2.0 * uniform(&mut stream) - 1.0);
    &a + &a.t()
}

fn options(count: usize) -> TruncatedOptions {
    TruncatedOptions::new(count).seed(Seed(3)).max_iterations(1000)
}

/// Orthonormal vectors, true residuals, descending values, honest status. Returns the largest
/// residual.
fn check(op: &dyn SymmetricOperator, count: usize, top: &Truncated) -> f64 {
    let n = op.dim();
    assert_eq!((top.values.len(), top.residuals.len()), (count, count));
    assert_eq!(top.vectors.dim(), (n, count));
    assert!(top.values.windows(2).all(|w| w[0] >= w[1]), "{:?}", top.values);
    let gram = top.vectors.t().dot(&top.vectors);
    for ((i, j), &g) in gram.indexed_iter() {
        let expected = if i == j { 1.0 } else { 0.0 };
        assert!((g - expected).abs() < 1e-12, "gram[{i}, {j}] = {g}");
    }
    let mut y = Array2::zeros((n, count));
    op.apply(top.vectors.view(), y.view_mut());
    let norm = top.values.iter().fold(1e-300, |m: f64, v| m.max(v.abs()));
    let mut worst = 0.0f64;
    for j in 0..count {
        let r: f64 = (0..n)
            .map(|i| (y[[i, j]] / norm - top.values[j] / norm * top.vectors[[i, j]]).powi(2))
            .sum::<f64>()
            .sqrt();
        let r = r * norm;
        assert!(
            (r - top.residuals[j]).abs() <= 1e-13 * norm,
            "{r} reported as {}",
            top.residuals[j]
        );
        worst = worst.max(r);
    }
    worst
}

/// Finds the pairs, checks them, and compares the values with the expected ones.
fn expect_values(op: &dyn SymmetricOperator, options: &TruncatedOptions, expected: &[f64]) {
    let top = truncated_eigen(op, options);
    check(op, expected.len(), &top);
    assert!(top.converged, "{} iterations, residuals {:?}", top.iterations, top.residuals);
    let norm = expected.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    assert_eq!(top.values.len(), expected.len());
    for (found, expected) in top.values.iter().zip(expected) {
        assert!((found - expected).abs() <= 2e-9 * norm, "{found} instead of {expected}");
    }
}
