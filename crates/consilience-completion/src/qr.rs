//! A thin orthogonal factor.

use ndarray::{Array2, Axis, s};

/// Columns shorter than this share of what they were are rounding.
pub(crate) const ROUNDING: f64 = 1e-13;

/// `A = Q R`, by Gram and Schmidt twice; columns of Q are 0 where those of A depend on others.
pub(crate) fn qr(mut a: Array2<f64>) -> (Array2<f64>, Array2<f64>) {
    let m = a.ncols();
    let mut r = Array2::zeros((m, m));
    for j in 0..m {
        let (done, mut rest) = a.view_mut().split_at(Axis(1), j);
        let mut own = rest.column_mut(0);
        let before = own.dot(&own).sqrt();
        for _ in 0..2 {
            let along = done.t().dot(&own);
            own -= &done.dot(&along);
            r.slice_mut(s![..j, j]).scaled_add(1.0, &along);
        }
        let norm = own.dot(&own).sqrt();
        if norm > ROUNDING * before {
            own /= norm;
            r[[j, j]] = norm;
        } else {
            own.fill(0.0);
        }
    }
    (a, r)
}
