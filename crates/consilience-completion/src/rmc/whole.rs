//! Steps on the whole matrix, where thin factors and known entries alone save nothing.

use consilience_core::Result;
use consilience_num::eigen::{rough_symmetric_eigen, try_symmetric_eigen};
use ndarray::{Array2, Axis};

use super::entries::Entries;
use super::tall;

/// Largest order that is decomposed whole: a decomposition cannot be interrupted and takes about a
/// second there.
const LARGEST: usize = 1_200;
/// A step on thin factors takes about so many operations for each known entry and column of the
/// basis, in units in which a decomposition takes the cube of the order.
const OPERATIONS: usize = 10;
/// Ranks on the way to the optimum are at least this share of the order.
const ON_THE_WAY: usize = 5;
/// Over-relaxation; below 2.
const RELAXED: f64 = 1.85;
/// The step of A in units of |A~| / |Y|, over the square of the scaled penalty: the weaker the
/// errors, the lower the rank and the longer the way of A. It decides about time alone.
const STEP: f64 = 3.4;
/// The step is looked at after so many iterations, then after half as many again, and so on, ...
const LOOK: usize = 12;
/// ... and shortened where A misses the known entries by more than it still moves: by so much at
/// most at a time, ...
const SHORTEST: f64 = 1.0 / 3.0;
/// ... and to this share of the first. A long way to go takes long steps; what is left of it, many
/// small eigenvalues of A, takes short ones. It decides about time alone.
const LEAST: f64 = 0.3;

/// Steps in single precision at most, and the scaled penalty beyond which there are none: what is
/// known is believed there to a precision that it may not reach.
const MOST_ROUGH: usize = 150;
const BELIEVED: f64 = 10.0;

/// Whether a step on the whole matrix costs less than one on thin factors with a basis of that
/// width.
pub(super) fn pays(n: usize, entries: usize, width: usize) -> bool {
    n <= LARGEST && OPERATIONS * entries * width.max(n / ON_THE_WAY) > n * n * n
}

/// Over-relaxed Douglas-Rachford splitting. With a table Z, A is Z with its eigenvalues shrunk by
/// tau, and the tables that agree with the known entries but for errors, each at its price, are
/// reached from the reflection of Z at A. In the limit `Z = A + tau Y`.
pub(super) struct Whole {
    z: Array2<f64>,
    pub(super) tau: f64,
    /// The least step.
    least: f64,
    steps: usize,
    /// Steps after which the step's length is looked at next.
    due: usize,
    /// Whether Z is decomposed in double precision: half as fast, and needed at the end alone.
    pub(super) exact: bool,
}

impl Whole {
    /// From `A = U diag(values) U'` and Y, its values on the pattern.
    pub(super) fn new(
        entries: &Entries<'_>,
        values: &[f64],
        vectors: &Array2<f64>,
        y: &[f64],
    ) -> Self {
        let norm = |x: &[f64]| entries.sum(|e| x[e] * x[e]).sqrt();
        // Y has a spectral norm of 1 and entries of at most their weights.
        let root = entries.objects().sqrt();
        let scaled = norm(&entries.weights) / root;
        let tau = STEP / (scaled * scaled) * norm(&entries.data) / (root * scaled.min(1.0));
        let mut z = table(values, vectors);
        entries.each_row(&mut z, |row, known| {
            for (e, j) in known {
                // A start from nothing is one from the known entries.
                row[j] += if values.is_empty() { entries.data[e] } else { tau * y[e] };
            }
        });
        Whole { z, tau, least: LEAST * tau, steps: 0, due: LOOK, exact: scaled > BELIEVED }
    }

    /// One step: eigenvalues and eigenvectors of A; its entries on the pattern go from `a` into
    /// `before`, the new ones into `a`, and Y into `y`. `None` where Z is not finite.
    pub(super) fn step(
        &mut self,
        entries: &Entries<'_>,
        (a, before): (&mut Vec<f64>, &mut Vec<f64>),
        y: &mut [f64],
    ) -> Result<Option<(Vec<f64>, Array2<f64>)>> {
        let tau = self.tau;
        self.exact |= self.steps >= MOST_ROUGH;
        // In full: what a basis carried along misses next to tau adds up in Z, and A never settles.
        let rough = if self.exact { None } else { rough_symmetric_eigen(self.z.view())? };
        let eigen = match rough {
            Some(eigen) => eigen,
            None => {
                self.exact = true;
                let Some(eigen) = try_symmetric_eigen(self.z.view())? else { return Ok(None) };
                eigen
            }
        };
        let beyond: Vec<usize> =
            (0..eigen.values.len()).filter(|&c| eigen.values[c].abs() > tau).collect();
        let shrunk = |v: f64| v.signum() * (v.abs() - tau);
        let values: Vec<f64> = beyond.iter().map(|&c| shrunk(eigen.values[c])).collect();
        let vectors = eigen.vectors.select(Axis(1), &beyond);
        let x = table(&values, &vectors);
        let z = &self.z;
        std::mem::swap(a, before);
        entries.each_entry(a, |i, j, _| x[[i, j]]);
        entries.each_entry(y, |i, j, e| {
            let (reflected, w) = (2.0 * x[[i, j]] - z[[i, j]], entries.weights[e]);
            ((entries.data[e] - reflected) / tau).clamp(-w, w)
        });
        self.steps += 1;
        let shorter =
            if self.steps == self.due { self.shorter(entries, &x, (a, before), y) } else { 1.0 };
        self.tau *= shorter;
        // Z moves towards the reflection, to which A + tau Y is added on the pattern; what it is
        // away from there is tau times the multipliers, which stay while tau falls.
        let gain = 1.0 + shorter * (RELAXED - 1.0);
        ndarray::Zip::from(&mut self.z).and(&x).for_each(|z, x| {
            *z = gain * (2.0 * x - *z) + shorter * (*z - RELAXED * x);
        });
        let y = &*y;
        entries.each_row(&mut self.z, |row, known| {
            for (e, j) in known {
                row[j] += gain * tau * y[e];
            }
        });
        Ok(Some((values, vectors)))
    }

    /// By how much the step is shortened: as in the residual balancing of the alternating direction
    /// method (He, Yang, Wang 2000), but never made longer. `before` is overwritten.
    fn shorter(
        &mut self,
        entries: &Entries<'_>,
        x: &Array2<f64>,
        (a, before): (&[f64], &mut [f64]),
        y: &[f64],
    ) -> f64 {
        self.due += self.due / 2;
        let (tau, z) = (self.tau, &self.z);
        let norm = |of: &[f64]| entries.sum(|e| of[e] * of[e]).sqrt();
        let moved = entries.sum(|e| (a[e] - before[e]).powi(2)).sqrt() / (tau * norm(y));
        entries.each_entry(before, |i, j, e| x[[i, j]] - z[[i, j]] + tau * y[e]);
        let ratio = moved * norm(a) / norm(before);
        // Nothing is known where A or Y is 0.
        if ratio.is_finite() {
            ratio.clamp(SHORTEST, 1.0).max(self.least / tau).min(1.0)
        } else {
            1.0
        }
    }
}

/// `U diag(values) U'`.
fn table(values: &[f64], vectors: &Array2<f64>) -> Array2<f64> {
    let scaled = vectors * &ndarray::ArrayView1::from(values);
    tall::product(&scaled, &vectors.t().as_standard_layout().into_owned())
}
