//! Products of tall matrices with small ones, on chunks of fixed length: equal bits on any number
//! of threads.

use consilience_num::reduce::ordered_chunks;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

/// Rows of a product that one task computes.
const ROWS: usize = 128;
/// Rows that one task sums over.
const SUMMED: usize = 512;
/// Pivots below this share of a column's squared norm are not trusted.
const PIVOT: f64 = 1e-2;

/// `A B`; B is small.
pub(super) fn product(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    let (k, width) = b.dim();
    let mut out = Array2::zeros((a.nrows(), width));
    if k == 0 || width == 0 {
        return out;
    }
    let (a, b) = (a.as_standard_layout(), b.as_standard_layout());
    let (Some(a), Some(b), Some(slice)) = (a.as_slice(), b.as_slice(), out.as_slice_mut()) else {
        return out;
    };
    let b = MatRef::from_row_major_slice(b, k, width);
    slice.par_chunks_mut(ROWS * width).zip(a.par_chunks(ROWS * k)).for_each(|(out, a)| {
        let rows = a.len() / k;
        let a = MatRef::from_row_major_slice(a, rows, k);
        let out = MatMut::from_row_major_slice_mut(out, rows, width);
        matmul(out, Accum::Replace, a, b, 1.0, Par::Seq);
    });
    out
}

/// `A' B`; both are tall.
pub(super) fn gram(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    let (n, left) = a.dim();
    let right = b.ncols();
    let zero = Array2::zeros((left, right));
    let (a, b) = (a.as_standard_layout(), b.as_standard_layout());
    let (Some(a), Some(b)) = (a.as_slice(), b.as_slice()) else { return zero };
    if left == 0 || right == 0 {
        return zero;
    }
    let part = |rows: std::ops::Range<usize>| {
        let mut out = Array2::zeros((left, right));
        if let Some(out) = out.as_slice_mut() {
            let part = |x, width| MatRef::from_row_major_slice(x, rows.len(), width);
            let a = part(&a[rows.start * left..rows.end * left], left);
            let b = part(&b[rows.start * right..rows.end * right], right);
            let out = MatMut::from_row_major_slice_mut(out, left, right);
            matmul(out, Accum::Replace, a.transpose(), b, 1.0, Par::Seq);
        }
        out
    };
    ordered_chunks(n, SUMMED, part, zero, |mut total, part| {
        total += &part;
        total
    })
}

/// Orthonormal columns of the same span by a Cholesky factor of the Gram matrix; `None` where they
/// are too far from orthogonal for that to be accurate.
pub(super) fn by_cholesky(mut columns: Array2<f64>) -> Option<Array2<f64>> {
    let width = columns.ncols();
    let lengths = columns.fold_axis(ndarray::Axis(0), 0.0, |sum, x| sum + x * x).mapv(f64::sqrt);
    if lengths.iter().any(|l| !(*l > 0.0) || l.is_infinite()) {
        return None;
    }
    columns /= &lengths;
    let mut l = gram(columns.view(), columns.view());
    // Rows of L in place, then of its inverse.
    for j in 0..width {
        for i in 0..=j {
            let sum = l.slice(s![j, ..i]).dot(&l.slice(s![i, ..i]));
            let rest = l[[j, i]] - sum;
            if i < j {
                l[[j, i]] = rest / l[[i, i]];
            } else if rest > PIVOT {
                l[[j, j]] = rest.sqrt();
            } else {
                return None;
            }
        }
    }
    let mut inverse = Array2::<f64>::zeros((width, width));
    for i in 0..width {
        let mut row = inverse.row(i).to_owned();
        for j in 0..i {
            row.scaled_add(-l[[i, j]], &inverse.row(j));
        }
        row[i] = 1.0;
        row /= l[[i, i]];
        inverse.row_mut(i).assign(&row);
    }
    Some(product(&columns, &inverse.reversed_axes()))
}
