//! The ridge regression behind the metric, on whichever side of the linear system is smaller.

#[cfg(feature = "serde")]
use consilience_core::{
    Error,
    stored::{Kind, Parts, Restored},
};
use consilience_core::{FeatureMap, Features, Result};
use consilience_num::cholesky::solve_positive_definite;
use consilience_num::eigen::{TruncatedOptions, symmetric_eigen, truncated_eigen};
use consilience_num::reduce::ordered_chunks;
use consilience_num::svd::Rows;
use ndarray::{Array2, ArrayView2, Axis, s};
#[cfg(feature = "serde")]
use std::sync::Arc;

use crate::frame::Frame;
use crate::known_pairs::KnownPairs;
use crate::product::product;

/// Eigenvalues of A below this share of its norm are rounding.
const RANK: f64 = 1e-10;
/// Constraints whose outer products are summed together.
const PAIRS: usize = 1024;

/// `x -> L' x` for features in their frame.
#[derive(Clone, Debug)]
pub(super) struct Projection {
    frame: Frame,
    /// d x r; the features as they are where there is none.
    map: Option<Array2<f64>>,
}

impl Projection {
    pub(super) fn new(frame: Frame, map: Array2<f64>) -> Self {
        Projection { frame, map: Some(map) }
    }

    pub(super) fn identity(frame: Frame) -> Self {
        Projection { frame, map: None }
    }

    /// Rows that are in the frame already.
    pub(super) fn project(&self, x: Array2<f64>) -> Array2<f64> {
        match &self.map {
            Some(map) => rows_times(&x, map),
            None => x,
        }
    }
}

impl FeatureMap for Projection {
    fn n_features(&self) -> usize {
        self.frame.n_features()
    }

    fn n_outputs(&self) -> usize {
        self.map.as_ref().map_or(self.frame.n_features(), |map| map.ncols())
    }

    fn apply(&self, features: Features<'_>) -> Result<Array2<f64>> {
        let features = features.dense()?;
        Ok(self.project(self.frame.apply(&features)))
    }

    #[cfg(feature = "serde")]
    fn stored(&self) -> Option<Parts> {
        let parts = self.frame.stored(Parts::new(PROJECTION));
        Some(match &self.map {
            Some(map) => parts.table("map", map),
            None => parts,
        })
    }
}

#[cfg(feature = "serde")]
const PROJECTION: &str = "standardized-projection";

#[cfg(feature = "serde")]
inventory::submit! {
    Kind { name: PROJECTION, restore: restored }
}

#[cfg(feature = "serde")]
fn restored(parts: &mut Parts) -> Result<Restored> {
    let frame = Frame::restored(parts)?;
    let map = if parts.has("map") { Some(parts.take_table("map")?) } else { None };
    if let Some(map) = &map
        && (map.nrows() != frame.n_features() || map.ncols() == 0)
    {
        return Err(Error::shape(format!(
            "a map of {} x {} numbers for {} features",
            map.nrows(),
            map.ncols(),
            frame.n_features()
        )));
    }
    Ok(Restored::Map(Arc::new(Projection { frame, map })))
}

/// `X B`, rows in parallel.
fn rows_times(x: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    let mut out = Array2::zeros((x.nrows(), b.ncols()));
    let b = b.as_standard_layout();
    if let (Some(v), Some(to)) = (b.as_slice(), out.as_slice_mut()) {
        Rows::multiply(x, v, to, b.ncols());
    }
    out
}

/// `X' B`.
fn rows_transposed_times(x: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    let mut out = Array2::zeros((x.ncols(), b.ncols()));
    let b = b.as_standard_layout();
    if let (Some(v), Some(to)) = (b.as_slice(), out.as_slice_mut()) {
        Rows::multiply_transposed(x, v, to, b.ncols());
    }
    out
}

/// F with `F F'` the best approximation of A by `rank` positive eigenpairs, and whether they
/// converged.
pub(super) fn leading_factors(a: ArrayView2<'_, f64>, rank: usize) -> (Array2<f64>, bool) {
    let own = a.as_standard_layout().into_owned();
    let options = TruncatedOptions::new(rank).tolerance(1e-9);
    let top = truncated_eigen(&own, &options);
    // No eigenvalue is larger than the Frobenius norm.
    let floor = RANK * own.iter().map(|v| v * v).sum::<f64>().sqrt();
    let kept = top.values.iter().take_while(|&&v| v > floor).count();
    let mut factors = top.vectors.slice(s![.., ..kept]).to_owned();
    for (mut column, value) in factors.columns_mut().into_iter().zip(&top.values) {
        column *= value.sqrt();
    }
    if kept == 0 {
        // Nothing positive in A: nothing is distinguished.
        factors = Array2::zeros((a.nrows(), 1));
    }
    (factors, top.converged)
}

/// `L = (X X' + lambda t I)^-1 X F` (d x r) for the sample's columns of X, so that `M = L L'` is
/// Eq. 4.5 with `A = F F'`; t is the trace of `X X'`.
pub(super) fn from_factors(
    x: &Array2<f64>,
    sample: &[usize],
    factors: &Array2<f64>,
    smoothing: f64,
) -> Array2<f64> {
    let rows = x.select(Axis(0), sample);
    let (n, d) = rows.dim();
    let ridge = smoothing * rows.iter().map(|v| v * v).sum::<f64>();
    if d <= n {
        let right = rows_transposed_times(&rows, factors);
        solve(rows_transposed_times(&rows, &rows), ridge, right)
    } else {
        // The same, pushed through: X (X'X + lambda t I)^-1 F.
        let across = rows.t().as_standard_layout().into_owned();
        let gram = rows_transposed_times(&across, &across);
        rows_transposed_times(&rows, &solve(gram, ridge, factors.to_owned()))
    }
}

/// L (d x r) from random pairs; `None` where either kind is missing or nothing is learned.
pub(super) fn from_pairs(
    x: &Array2<f64>,
    pairs: &KnownPairs,
    smoothing: f64,
    rank: usize,
) -> Option<Array2<f64>> {
    let (n, links) = (x.nrows(), pairs.links());
    let share = links.iter().map(|l| l.2).sum::<f64>() / links.len().max(1) as f64;
    if !(share > 0.0 && share < 1.0) {
        return None;
    }
    let middle = mean_similarity(x, links, share);
    let covariance = rows_transposed_times(x, x) / n as f64;
    let ridge = smoothing * covariance.diag().sum();
    // (C + lambda t I)^-1 (X A X' / n^2) (C + lambda t I)^-1, from the left and, transposed, from
    // the right.
    let half = solve(covariance.clone(), ridge, middle);
    let metric = solve(covariance, ridge, half.t().as_standard_layout().into_owned());
    let metric = (&metric + &metric.t()) * 0.5;
    let eigen = symmetric_eigen(metric.view())?;
    let kept = eigen.values.iter().take(rank).take_while(|&&v| v > 0.0).count();
    let mut map = eigen.vectors.slice(s![.., ..kept]).to_owned();
    for (mut column, value) in map.columns_mut().into_iter().zip(&eigen.values) {
        column *= value.sqrt();
    }
    (kept > 0).then_some(map)
}

/// `X A X' / n^2` for the expected A: both sides of every pair, and the features' mean for the
/// constant part.
fn mean_similarity(x: &Array2<f64>, links: &[(usize, usize, f64)], share: f64) -> Array2<f64> {
    let d = x.ncols();
    let weight = 1.0 / (2.0 * links.len() as f64);
    let outer = |range: std::ops::Range<usize>| {
        let part = &links[range];
        let left: Vec<usize> = part.iter().map(|l| l.0).collect();
        let right: Vec<usize> = part.iter().map(|l| l.1).collect();
        let mut scaled = x.select(Axis(0), &right);
        for (mut row, link) in scaled.rows_mut().into_iter().zip(part) {
            row *= (link.2 - share) * weight;
        }
        product(x.select(Axis(0), &left).t(), scaled.view())
    };
    let sum = ordered_chunks(links.len(), PAIRS, outer, Array2::zeros((d, d)), |total, part| {
        total + part
    });
    let mut middle = &sum + &sum.t();
    let mean = column_means(x);
    for i in 0..d {
        for j in 0..d {
            middle[[i, j]] += share * mean[i] * mean[j];
        }
    }
    middle
}

fn column_means(x: &Array2<f64>) -> Vec<f64> {
    let n = x.nrows();
    let sum = rows_transposed_times(x, &Array2::from_elem((n, 1), 1.0));
    sum.iter().map(|s| s / n as f64).collect()
}

/// `(G + ridge I)^-1 B` for a positive semidefinite G.
fn solve(mut gram: Array2<f64>, ridge: f64, right: Array2<f64>) -> Array2<f64> {
    let (s, r) = right.dim();
    if !(ridge > 0.0) {
        // All features are 0.
        return Array2::zeros((s, r));
    }
    gram.diag_mut().iter_mut().for_each(|v| *v += ridge);
    // Where the ridge is lost in the rounding of G: the pseudo-inverse.
    solve_positive_definite(gram.view(), right.clone())
        .unwrap_or_else(|| pseudo_inverse(&gram, ridge, &right))
}

fn pseudo_inverse(gram: &Array2<f64>, ridge: f64, right: &Array2<f64>) -> Array2<f64> {
    let Some(eigen) = symmetric_eigen(gram.view()) else { return Array2::zeros(right.dim()) };
    let mut turned = eigen.vectors.t().dot(right);
    for (mut row, value) in turned.rows_mut().into_iter().zip(&eigen.values) {
        row /= value.max(ridge);
    }
    eigen.vectors.dot(&turned)
}
