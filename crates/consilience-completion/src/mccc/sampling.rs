//! The products of the k x k problem with the constrained pairs.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2, Axis};

use crate::known_pairs::KnownPairs;
use crate::product::product;

/// The linear map `M -> (z_i' M z_j)` over the pairs, on the rows of the constrained objects only.
pub(super) struct Sampling {
    /// m x k, row-major: the rows of the constrained objects.
    rows: Array2<f64>,
    /// For every pair its two rows.
    ends: Vec<(u32, u32)>,
    /// For every row its pairs, as (other row, pair).
    offsets: Vec<usize>,
    incident: Vec<(u32, u32)>,
    /// What the similarity of every pair must be.
    target: Vec<f64>,
}

impl Sampling {
    /// Rows of `z` (N x k) for the objects that occur, times `scale`.
    pub(super) fn new(z: ArrayView2<'_, f64>, scale: f64, pairs: &KnownPairs) -> Self {
        let mut objects: Vec<usize> = pairs.links().iter().flat_map(|l| [l.0, l.1]).collect();
        objects.sort_unstable();
        objects.dedup();
        let place = |i: usize| objects.binary_search(&i).unwrap_or(0) as u32;
        let ends: Vec<(u32, u32)> =
            pairs.links().iter().map(|l| (place(l.0), place(l.1))).collect();
        let mut offsets = vec![0usize; objects.len() + 1];
        for &(a, b) in &ends {
            offsets[a as usize + 1] += 1;
            offsets[b as usize + 1] += 1;
        }
        for at in 1..offsets.len() {
            offsets[at] += offsets[at - 1];
        }
        let mut next = offsets.clone();
        let mut incident = vec![(0, 0); 2 * ends.len()];
        for (pair, &(a, b)) in ends.iter().enumerate() {
            for (from, to) in [(a, b), (b, a)] {
                incident[next[from as usize]] = (to, pair as u32);
                next[from as usize] += 1;
            }
        }
        let rows = (z.select(Axis(0), &objects) * scale).as_standard_layout().to_owned();
        let target = pairs.links().iter().map(|l| l.2).collect();
        Sampling { rows, ends, offsets, incident, target }
    }

    pub(super) fn order(&self) -> usize {
        self.rows.ncols()
    }

    pub(super) fn target(&self) -> &[f64] {
        &self.target
    }

    /// `sum_p w_p (z_i z_j' + z_j z_i') / 2`, the adjoint on symmetric matrices.
    pub(super) fn adjoint(&self, weights: &[f64]) -> Array2<f64> {
        let (m, k) = self.rows.dim();
        let z = self.rows.as_slice().unwrap_or_default();
        let mut sums = vec![0.0; m * k];
        for (i, sum) in sums.chunks_exact_mut(k.max(1)).enumerate() {
            for &(other, pair) in &self.incident[self.offsets[i]..self.offsets[i + 1]] {
                let w = 0.5 * weights[pair as usize];
                let row = &z[other as usize * k..][..k];
                sum.iter_mut().zip(row).for_each(|(s, v)| *s += w * v);
            }
        }
        let mut out = Array2::zeros((k, k));
        gram(z, &sums, m, k, k, &mut out);
        // Equal up to rounding on both sides already.
        (&out + &out.t()) * 0.5
    }

    /// The similarities of the pairs under `M = W diag(sigma) W'`, W being k x rank.
    pub(super) fn forward(&self, w: ArrayView2<'_, f64>, sigma: &[f64]) -> Vec<f64> {
        let rank = w.ncols();
        if rank == 0 {
            return vec![0.0; self.ends.len()];
        }
        let e = product(self.rows.view(), w);
        let e = e.as_slice().unwrap_or_default();
        let row = |i: u32| &e[i as usize * rank..][..rank];
        self.ends
            .iter()
            .map(|&(a, b)| row(a).iter().zip(row(b)).zip(sigma).map(|((x, y), s)| x * y * s).sum())
            .collect()
    }

    /// The similarities of the pairs under `M = U V'` (both k x rank), each pair both ways round.
    pub(super) fn both_ways(
        &self,
        u: ArrayView2<'_, f64>,
        v: ArrayView2<'_, f64>,
    ) -> [Vec<f64>; 2] {
        let (left, right) = (product(self.rows.view(), u), product(self.rows.view(), v));
        let dot = |a: u32, b: u32| left.row(a as usize).dot(&right.row(b as usize));
        [
            self.ends.iter().map(|&(a, b)| dot(a, b)).collect(),
            self.ends.iter().map(|&(a, b)| dot(b, a)).collect(),
        ]
    }

    /// `Z' R Z H` (k x r): R holds half of `weights` at every pair, one way round and the other. A
    /// matrix of k x k is never formed.
    pub(super) fn probe(&self, weights: &[Vec<f64>; 2], h: ArrayView2<'_, f64>) -> Array2<f64> {
        let ((m, k), r) = (self.rows.dim(), h.ncols());
        let probed = product(self.rows.view(), h);
        let mut sums = Array2::zeros((m, r));
        for (pair, &(a, b)) in self.ends.iter().enumerate() {
            for (to, from, weights) in [(a, b, &weights[0]), (b, a, &weights[1])] {
                let row = probed.row(from as usize);
                sums.row_mut(to as usize).scaled_add(0.5 * weights[pair], &row);
            }
        }
        let mut out = Array2::zeros((k, r));
        if let (Some(z), Some(sums)) = (self.rows.as_slice(), sums.as_slice()) {
            gram(z, sums, m, k, r, &mut out);
        }
        out
    }
}

/// `A' B` of two row-major tables with m rows.
fn gram(a: &[f64], b: &[f64], m: usize, ka: usize, kb: usize, out: &mut Array2<f64>) {
    if m == 0 || ka == 0 || kb == 0 {
        return;
    }
    if let Some(out) = out.as_slice_mut() {
        let (a, b) =
            (MatRef::from_row_major_slice(a, m, ka), MatRef::from_row_major_slice(b, m, kb));
        let out = MatMut::from_row_major_slice_mut(out, ka, kb);
        matmul(out, Accum::Replace, a.transpose(), b, 1.0, Par::Seq);
    }
}
