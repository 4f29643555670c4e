//! Steps on the whole matrix, where thin factors and known entries alone save nothing.

use consilience_core::Result;
use consilience_num::eigen::try_symmetric_eigen;
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
        Whole { z, tau }
    }

    /// One step: eigenvalues and eigenvectors of A; its entries on the pattern go into `a`, and Y
    /// into `y`. `None` where Z is not finite.
    pub(super) fn step(
        &mut self,
        entries: &Entries<'_>,
        a: &mut [f64],
        y: &mut [f64],
    ) -> Result<Option<(Vec<f64>, Array2<f64>)>> {
        let tau = self.tau;
        // In full: what a basis carried along misses next to tau adds up in Z, and A never settles.
        let Some(eigen) = try_symmetric_eigen(self.z.view())? else { return Ok(None) };
        let beyond: Vec<usize> =
            (0..eigen.values.len()).filter(|&c| eigen.values[c].abs() > tau).collect();
        let shrunk = |v: f64| v.signum() * (v.abs() - tau);
        let values: Vec<f64> = beyond.iter().map(|&c| shrunk(eigen.values[c])).collect();
        let vectors = eigen.vectors.select(Axis(1), &beyond);
        let x = table(&values, &vectors);
        let z = &self.z;
        entries.each_entry(a, |i, j, _| x[[i, j]]);
        entries.each_entry(y, |i, j, e| {
            let (reflected, w) = (2.0 * x[[i, j]] - z[[i, j]], entries.weights[e]);
            ((entries.data[e] - reflected) / tau).clamp(-w, w)
        });
        let y = &*y;
        ndarray::Zip::from(&mut self.z).and(&x).for_each(|z, x| *z += RELAXED * (x - *z));
        entries.each_row(&mut self.z, |row, known| {
            for (e, j) in known {
                row[j] += RELAXED * tau * y[e];
            }
        });
        Ok(Some((values, vectors)))
    }
}

/// `U diag(values) U'`.
fn table(values: &[f64], vectors: &Array2<f64>) -> Array2<f64> {
    let scaled = vectors * &ndarray::ArrayView1::from(values);
    tall::product(&scaled, &vectors.t().as_standard_layout().into_owned())
}
