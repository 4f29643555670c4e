//! The known entries of the matrix, as the solver needs them.

use std::cell::Cell;

use consilience_num::dot;
use consilience_num::reduce::ordered_sum;
use consilience_num::sparse::Csr;
use ndarray::Array2;
use rayon::prelude::*;

use super::ObservedPairs;

/// Entries that one task adds up.
const CHUNK: usize = 1 << 14;
/// Rows whose entries one task computes.
const ROWS: usize = 64;

/// The known entries and their weights, scaled by sizes.
pub(super) struct Entries<'a> {
    pattern: Csr,
    pub(super) observed: &'a ObservedPairs,
    pub(super) data: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

impl<'a> Entries<'a> {
    pub(super) fn of(observed: &'a ObservedPairs, penalty: f64) -> Self {
        let n = observed.n_objects();
        let root = |i: usize| observed.sizes.as_ref().map_or(1.0, |s| s[i].sqrt());
        let mut data = Vec::with_capacity(observed.n_entries());
        let mut weights = Vec::with_capacity(observed.n_entries());
        for i in 0..n {
            for (j, value) in observed.row(i) {
                data.push(root(i) * root(j) * value);
                weights.push(root(i) * root(j) * penalty);
            }
        }
        let rows = (0..n).map(|i| observed.row(i).map(|(j, _)| (j as u32, 0.0)).collect());
        Entries { pattern: Csr::from_rows(n, rows), observed, data, weights }
    }

    /// Number of objects that the rows represent.
    pub(super) fn objects(&self) -> f64 {
        self.observed.weight()
    }

    /// A sum over the known entries, the same at any number of threads.
    pub(super) fn sum(&self, f: impl Fn(usize) -> f64 + Sync) -> f64 {
        ordered_sum(self.data.len(), CHUNK, |r| r.map(&f).sum())
    }

    /// The pattern with these values.
    pub(super) fn matrix(&self, values: impl Fn(usize) -> f64) -> Csr {
        let at = Cell::new(0);
        self.pattern.clone().map(|_, _, _| {
            let here = at.get();
            at.set(here + 1);
            values(here)
        })
    }

    /// Each row of a whole table with the known entries in it: their numbers and columns.
    pub(super) fn each_row(
        &self,
        table: &mut Array2<f64>,
        f: impl Fn(&mut [f64], &mut dyn Iterator<Item = (usize, usize)>) + Sync,
    ) {
        let n = table.ncols();
        let Some(rows) = table.as_slice_mut() else { return };
        rows.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
            let known = self.observed.offsets[i]..self.observed.offsets[i + 1];
            f(row, &mut known.map(|e| (e, self.observed.columns[e] as usize)));
        });
    }

    /// A number for each known entry, from its row, its column and its own number.
    pub(super) fn each_entry(
        &self,
        out: &mut [f64],
        f: impl Fn(usize, usize, usize) -> f64 + Sync,
    ) {
        // The pattern's rows have unequal lengths: cut the entries first, then share them out.
        let n = self.observed.n_objects();
        let offsets = &self.observed.offsets;
        let mut jobs = Vec::with_capacity(n / ROWS + 1);
        let mut rest = out;
        for first in (0..n).step_by(ROWS) {
            let last = n.min(first + ROWS);
            let (head, tail) = rest.split_at_mut(offsets[last] - offsets[first]);
            jobs.push((first..last, head));
            rest = tail;
        }
        jobs.into_par_iter().for_each(|(rows, out)| {
            let first = offsets[rows.start];
            for i in rows {
                for e in offsets[i]..offsets[i + 1] {
                    out[e - first] = f(i, self.observed.columns[e] as usize, e);
                }
            }
        });
    }

    /// Entries of `U diag(values) U'` on the pattern.
    pub(super) fn low_rank(&self, vectors: &Array2<f64>, values: &[f64], out: &mut [f64]) {
        let r = vectors.ncols();
        if r == 0 {
            out.fill(0.0);
            return;
        }
        let scaled = vectors * &ndarray::ArrayView1::from(values);
        let (left, right) = (scaled.as_standard_layout(), vectors.as_standard_layout());
        let (Some(left), Some(right)) = (left.as_slice(), right.as_slice()) else { return };
        self.each_entry(out, |i, j, _| dot(&left[i * r..][..r], &right[j * r..][..r]));
    }
}
