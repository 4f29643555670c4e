//! Accelerated proximal gradient for the k x k problem, with a certificate.

use consilience_core::{Observer, Result, Status};
use consilience_num::eigen::symmetric_eigen;
use ndarray::{Array2, s};

use super::sampling::Sampling;
use crate::product::product;

/// Iterations between two looks at the duality gap, each of which costs an eigendecomposition.
const LOOK: usize = 5;
/// Products of the power iteration that starts the search for a step length.
const POWER: usize = 12;
/// Squared moves below this share of the squared size are rounding.
const STILL: f64 = 1e-24;
/// Eigenvalues below this share of the largest are rounding.
const ROUNDING: f64 = 1e-13;

/// What the iteration obeys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// C, for rows of the sampling as they are.
    pub c: f64,
    /// Whether M must be positive semidefinite.
    pub semidefinite: bool,
    /// Relative duality gap at which it stops.
    pub tolerance: f64,
    pub max_iterations: usize,
}

/// A symmetric matrix of order k by its eigenpairs other than 0.
#[derive(Clone, Debug)]
pub(super) struct Spectrum {
    /// k x rank, orthonormal.
    pub vectors: Array2<f64>,
    /// Descending.
    pub values: Vec<f64>,
}

impl Spectrum {
    pub(super) fn zero(k: usize) -> Self {
        Spectrum { vectors: Array2::zeros((k, 0)), values: Vec::new() }
    }

    pub(super) fn matrix(&self) -> Array2<f64> {
        product((&self.vectors * &ndarray::ArrayView1::from(&self.values)).view(), self.vectors.t())
    }

    fn nuclear(&self) -> f64 {
        self.values.iter().map(|v| v.abs()).sum()
    }
}

/// Where the iteration ended.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    pub m: Spectrum,
    pub objective: f64,
    /// (objective - dual bound) / objective.
    pub gap: f64,
    pub iterations: usize,
    pub status: Status,
}

/// `1 / |A*(S)|`: at this C and below M = 0 is the solution. Infinite where no pair is a must-link,
/// or all have rows of 0.
pub(super) fn least_weight(sampling: &Sampling, semidefinite: bool) -> f64 {
    let size = dual_norm(&sampling.adjoint(sampling.target()), semidefinite);
    if size > 0.0 { 1.0 / size } else { f64::INFINITY }
}

/// The norm that the dual point must keep within 1: largest eigenvalue, of either sign where M is
/// free.
fn dual_norm(g: &Array2<f64>, semidefinite: bool) -> f64 {
    let Some(eigen) = symmetric_eigen(g.view()) else { return f64::INFINITY };
    let (first, last) = (eigen.values.first(), eigen.values.last());
    let (first, last) = (first.copied().unwrap_or(0.0), last.copied().unwrap_or(0.0));
    if semidefinite { first.max(0.0) } else { first.max(-last) }
}

/// Soft thresholding of the eigenvalues of `v` by `by`.
pub(super) fn shrink(v: &Array2<f64>, by: f64, semidefinite: bool) -> Option<Spectrum> {
    let eigen = symmetric_eigen(v.view())?;
    let k = eigen.values.len();
    let low = by.max(ROUNDING * eigen.values.first().map_or(0.0, |f| f.abs()));
    let kept: Vec<usize> = (0..k)
        .filter(|&l| eigen.values[l] > low || (!semidefinite && -eigen.values[l] > low))
        .collect();
    let values = kept.iter().map(|&l| eigen.values[l] - by.copysign(eigen.values[l])).collect();
    Some(Spectrum { vectors: eigen.vectors.select(ndarray::Axis(1), &kept), values })
}

/// Largest factor by which the map stretches a symmetric matrix, squared, from below.
pub(super) fn stretch(sampling: &Sampling, observer: &dyn Observer) -> Result<f64> {
    let mut weights: Vec<f64> = sampling.target().iter().map(|t| 0.25 + t).collect();
    let mut square = 0.0;
    for _ in 0..POWER {
        observer.check()?;
        let g = sampling.adjoint(&weights);
        let norm = g.iter().map(|v| v * v).sum::<f64>().sqrt();
        if !(norm > 0.0) {
            break;
        }
        let Some(eigen) = symmetric_eigen((g / norm).view()) else { break };
        weights = sampling.forward(eigen.vectors.view(), &eigen.values);
        square = weights.iter().map(|w| w * w).sum();
    }
    Ok(square)
}

/// Minimises `|M|_* + C/2 sum (z_i' M z_j - s_ij)^2` from `start`.
pub(super) fn solve(
    sampling: &Sampling,
    rules: &Rules,
    start: Spectrum,
    observer: &dyn Observer,
) -> Result<Solved> {
    let target = sampling.target();
    let c = rules.c;
    let mut length = c * stretch(sampling, observer)?.max(f64::MIN_POSITIVE);
    let mut m = start.matrix();
    let mut spectrum = start;
    let mut seen = sampling.forward(spectrum.vectors.view(), &spectrum.values);
    let (mut before, mut seen_before) = (m.clone(), seen.clone());
    let mut momentum = 1.0f64;
    let mut bound = f64::NEG_INFINITY;
    let objective = |spectrum: &Spectrum, seen: &[f64]| {
        spectrum.nuclear()
            + 0.5 * c * seen.iter().zip(target).map(|(f, s)| (f - s) * (f - s)).sum::<f64>()
    };
    let mut best = (objective(&spectrum, &seen), spectrum.clone());
    let mut iterations = 0;
    while iterations < rules.max_iterations {
        observer.check()?;
        let next = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let beta = (momentum - 1.0) / next;
        let y = &m + &((&m - &before) * beta);
        let seen_y: Vec<f64> =
            seen.iter().zip(&seen_before).map(|(a, b)| a + beta * (a - b)).collect();
        let pull: Vec<f64> = target.iter().zip(&seen_y).map(|(s, f)| c * (s - f)).collect();
        let g = sampling.adjoint(&pull);
        if iterations.is_multiple_of(LOOK) {
            bound = bound.max(dual_value(&pull, &g, target, rules));
            if best.0 - bound <= rules.tolerance * best.0.abs() {
                break;
            }
        }
        let Some((found, new, seen_new)) = step(sampling, rules, (&y, &seen_y), &g, &mut length)
        else {
            // Only where C is so large that numbers overflow: what is there stays.
            break;
        };
        iterations += 1;
        let against: f64 = y.iter().zip(&new).zip(&m).map(|((y, n), m)| (y - n) * (n - m)).sum();
        momentum = if against > 0.0 { 1.0 } else { next };
        (before, seen_before) = (m, seen);
        (m, seen, spectrum) = (new, seen_new, found);
        let value = objective(&spectrum, &seen);
        if value < best.0 {
            best = (value, spectrum.clone());
        }
    }
    Ok(finish(sampling, rules, best, bound, iterations))
}

/// A proximal step from a matrix and what is seen of it, as short as its curvature demands: the
/// `length`, which may grow, is the inverse of it. Nothing where numbers overflow.
fn step(
    sampling: &Sampling,
    rules: &Rules,
    (y, seen_y): (&Array2<f64>, &[f64]),
    g: &Array2<f64>,
    length: &mut f64,
) -> Option<(Spectrum, Array2<f64>, Vec<f64>)> {
    loop {
        let found = shrink(&(y + &(g / *length)), 1.0 / *length, rules.semidefinite)?;
        let new = found.matrix();
        let seen = sampling.forward(found.vectors.view(), &found.values);
        let moved: f64 = new.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum();
        let bent: f64 = seen.iter().zip(seen_y).map(|(a, b)| (a - b) * (a - b)).sum();
        // Moves as short as rounding say nothing about the length.
        let size: f64 = new.iter().chain(y).map(|v| v * v).sum();
        if !(rules.c * bent > *length * moved * (1.0 + 1e-9)) || moved <= STILL * size {
            return Some((found, new, seen));
        }
        *length = (1.5 * *length).max(rules.c * bent / moved);
        if !length.is_finite() {
            return None;
        }
    }
}

/// Objective at M, and how far it may be above the least, as a share of it: the residuals,
/// shortened until their matrix is within the unit ball of the dual norm, bound the least from
/// below.
pub(super) fn certificate(sampling: &Sampling, rules: &Rules, m: &Spectrum) -> (f64, f64) {
    let seen = sampling.forward(m.vectors.view(), &m.values);
    let pull: Vec<f64> =
        sampling.target().iter().zip(&seen).map(|(s, f)| rules.c * (s - f)).collect();
    let twice = 2.0 * rules.c;
    let squares = pull.iter().map(|p| p * p).sum::<f64>();
    // Where C is very large they overflow long before the objective does.
    let loss = if squares.is_finite() {
        squares / twice
    } else {
        pull.iter().map(|p| p * (p / twice)).sum()
    };
    let objective = m.nuclear() + loss;
    let dual = dual_value(&pull, &sampling.adjoint(&pull), sampling.target(), rules);
    (objective, share_above(objective, dual))
}

/// How far an objective is above a bound, as a share of it; infinite where numbers have overflown
/// and nothing is known.
fn share_above(objective: f64, bound: f64) -> f64 {
    if objective == 0.0 {
        return 0.0;
    }
    let share = (objective - bound) / objective;
    if share.is_nan() { f64::INFINITY } else { share.max(0.0) }
}

/// Lower bound on the objective from the weights `pull` of the pairs and their matrix `g`.
fn dual_value(pull: &[f64], g: &Array2<f64>, target: &[f64], rules: &Rules) -> f64 {
    let short = 1.0 / dual_norm(g, rules.semidefinite).max(1.0);
    pull.iter()
        .zip(target)
        .map(|(p, s)| short * p * s - short * p * short * p / (2.0 * rules.c))
        .sum()
}

fn finish(
    sampling: &Sampling,
    rules: &Rules,
    best: (f64, Spectrum),
    bound: f64,
    iterations: usize,
) -> Solved {
    let (objective, last) = certificate(sampling, rules, &best.1);
    let gap = last.min(share_above(objective, bound));
    let status = if gap <= rules.tolerance { Status::Solved } else { Status::MaxIterations };
    Solved { m: best.1, objective, gap, iterations, status }
}

/// The eigenpairs of M above 0, scaled so that `L L'` is the positive part of M: k x rank.
pub(super) fn positive_root(m: &Spectrum) -> Array2<f64> {
    let rank = m.values.iter().take_while(|&&v| v > 0.0).count();
    let mut root = m.vectors.slice(s![.., ..rank]).to_owned();
    for (mut column, value) in root.columns_mut().into_iter().zip(&m.values) {
        column *= value.sqrt();
    }
    root
}
