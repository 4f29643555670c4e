//! Products of tall and skinny row-major matrices: n rows in the tens of thousands or more, columns
//! in the tens.
//!
//! Rows are cut into chunks of a fixed length. A task owns a chunk, so that products with a small
//! matrix need no sum across tasks, and Gram products add the chunks' parts in order: equal bits at
//! any number of threads.

use consilience_core::{Result, room};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::reduce::{each_chunk, ordered_chunks};

/// Rows of a chunk: long enough for the product kernel, short enough for the chunk of a block of 64
/// vectors to stay in the second-level cache between the steps of an update.
const ROWS: usize = 1024;

/// Some adjacent columns of a row-major matrix.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    values: &'a [f64],
    stride: usize,
    first: usize,
    count: usize,
}

impl<'a> Columns<'a> {
    /// Columns `first..first + count` of a matrix whose rows are `stride` long.
    pub(super) fn new(values: &'a [f64], stride: usize, first: usize, count: usize) -> Self {
        debug_assert!(stride > 0 && first + count <= stride && values.len().is_multiple_of(stride));
        Self { values, stride, first, count }
    }

    /// A whole matrix with `count` columns.
    pub(super) fn whole(values: &'a [f64], count: usize) -> Self {
        Self::new(values, count, 0, count)
    }

    fn chunk(&self, chunk: usize) -> MatRef<'a, f64> {
        let end = self.values.len().min((chunk + 1) * ROWS * self.stride);
        let values = &self.values[chunk * ROWS * self.stride..end];
        let rows = values.len() / self.stride;
        MatRef::from_row_major_slice(values, rows, self.stride).subcols(self.first, self.count)
    }
}

/// `A B` of two small matrices on one thread (faer's operator `*` would follow the pool).
pub(super) fn small_product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// `L^T W` for each of the left factors, with the chunks of `W` read once.
pub(super) fn gram<const N: usize>(left: [Columns<'_>; N], right: Columns<'_>) -> [Mat<f64>; N] {
    let n = right.values.len() / right.stride;
    let part = |rows: std::ops::Range<usize>| {
        let w = right.chunk(rows.start / ROWS);
        left.map(|left| {
            let mut part = Mat::zeros(left.count, right.count);
            let left = left.chunk(rows.start / ROWS);
            matmul(part.as_mut(), Accum::Replace, left.transpose(), w, 1.0, Par::Seq);
            part
        })
    };
    let zero = left.map(|left| Mat::zeros(left.count, right.count));
    ordered_chunks(n, ROWS, part, zero, |mut total, part| {
        for (total, part) in total.iter_mut().zip(&part) {
            *total += part;
        }
        total
    })
}

/// `W <- W - V C`; `w` holds `c.ncols()` columns.
pub(super) fn subtract(w: &mut [f64], v: Columns<'_>, c: MatRef<'_, f64>) {
    let b = c.ncols();
    each_chunk(w, ROWS * b, &|chunk, w| {
        let rows = w.len() / b;
        let w = MatMut::from_row_major_slice_mut(w, rows, b);
        matmul(w, Accum::Add, v.chunk(chunk), c, -1.0, Par::Seq);
    });
}

/// `W <- (W - V C) Z` in one pass; `w` holds `z.ncols()` columns, `z` is square.
pub(super) fn subtract_and_rotate(
    w: &mut [f64],
    v: Columns<'_>,
    c: MatRef<'_, f64>,
    z: MatRef<'_, f64>,
) {
    let b = z.ncols();
    each_chunk(w, ROWS * b, &|chunk, w| {
        let rows = w.len() / b;
        if v.count > 0 {
            let w = MatMut::from_row_major_slice_mut(w, rows, b);
            matmul(w, Accum::Add, v.chunk(chunk), c, -1.0, Par::Seq);
        }
        let old = w.to_vec();
        let old = MatRef::from_row_major_slice(&old, rows, b);
        let w = MatMut::from_row_major_slice_mut(w, rows, b);
        matmul(w, Accum::Replace, old, z, 1.0, Par::Seq);
    });
}

/// Replaces the first columns of V by `V[:, ..s.nrows()] S`, in place: rows of V are `stride` long.
pub(super) fn rotate_basis(v: &mut [f64], stride: usize, s: MatRef<'_, f64>) {
    let (m, keep) = s.shape();
    each_chunk(v, ROWS * stride, &|_, v| {
        let rows = v.len() / stride;
        let mut new = vec![0.0; rows * keep];
        let old = MatRef::from_row_major_slice(&*v, rows, stride).subcols(0, m);
        let product = MatMut::from_row_major_slice_mut(&mut new, rows, keep);
        matmul(product, Accum::Replace, old, s, 1.0, Par::Seq);
        for (v, new) in v.chunks_exact_mut(stride).zip(new.chunks_exact(keep)) {
            v[..keep].copy_from_slice(new);
        }
    });
}

/// `V S` as a new row-major matrix.
pub(super) fn product(v: Columns<'_>, s: MatRef<'_, f64>) -> Result<Vec<f64>> {
    let b = s.ncols();
    let mut out = room::zeros(v.values.len() / v.stride * b)?;
    each_chunk(&mut out, ROWS * b, &|chunk, out| {
        let rows = out.len() / b;
        let out = MatMut::from_row_major_slice_mut(out, rows, b);
        matmul(out, Accum::Replace, v.chunk(chunk), s, 1.0, Par::Seq);
    });
    Ok(out)
}

/// Copies the `b` columns of `w` into the columns from `first` of V, whose rows are `stride` long.
pub(super) fn copy_columns(v: &mut [f64], stride: usize, first: usize, w: &[f64], b: usize) {
    each_chunk(v, ROWS * stride, &|chunk, v| {
        let w = w[chunk * ROWS * b..].chunks_exact(b);
        for (v, w) in v.chunks_exact_mut(stride).zip(w) {
            v[first..first + b].copy_from_slice(w);
        }
    });
}

/// Multiplies column j of `w` by `factors[j]`.
pub(super) fn scale_columns(w: &mut [f64], factors: &[f64]) {
    let b = factors.len();
    each_chunk(w, ROWS * b, &|_, w| {
        for row in w.chunks_exact_mut(b) {
            for (x, f) in row.iter_mut().zip(factors) {
                *x *= f;
            }
        }
    });
}

/// Norms of the columns of `y - x diag(shift)`; both have `shift.len()` columns.
pub(super) fn shifted_norms(y: &[f64], x: &[f64], shift: &[f64]) -> Vec<f64> {
    let b = shift.len();
    let part = |rows: std::ops::Range<usize>| {
        let mut sums = vec![0.0; b];
        let range = rows.start * b..rows.end * b;
        for (y, x) in y[range.clone()].chunks_exact(b).zip(x[range].chunks_exact(b)) {
            for j in 0..b {
                let r = y[j] - x[j] * shift[j];
                sums[j] += r * r;
            }
        }
        sums
    };
    let add = |mut total: Vec<f64>, part: Vec<f64>| {
        total.iter_mut().zip(&part).for_each(|(t, p)| *t += p);
        total
    };
    let mut norms = ordered_chunks(y.len() / b.max(1), ROWS, part, vec![0.0; b], add);
    norms.iter_mut().for_each(|x| *x = x.sqrt());
    norms
}

/// Norms of the columns of `w`, which has `b` of them.
pub(super) fn column_norms(w: &[f64], b: usize) -> Vec<f64> {
    shifted_norms(w, w, &vec![0.0; b])
}
