//! A product of two tables.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2};

/// `A B` on one thread, so that its bits never depend on the pool.
pub(crate) fn product(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    let ((m, k), r) = (a.dim(), b.ncols());
    let mut out = Array2::zeros((m, r));
    let (a, b) = (a.as_standard_layout(), b.as_standard_layout());
    if let (Some(a), Some(b), Some(out), true) =
        (a.as_slice(), b.as_slice(), out.as_slice_mut(), m > 0 && k > 0 && r > 0)
    {
        let (a, b) = (MatRef::from_row_major_slice(a, m, k), MatRef::from_row_major_slice(b, k, r));
        matmul(MatMut::from_row_major_slice_mut(out, m, r), Accum::Replace, a, b, 1.0, Par::Seq);
    }
    out
}
