//! Linear systems with a symmetric positive definite matrix.
//!
//! ```
//! use consilience::num::cholesky::solve_positive_definite;
//! use ndarray::array;
//!
//! let a = array![[4.0, 2.0], [2.0, 3.0]];
//! let x = solve_positive_definite(a.view(), array![[2.0], [-1.0]]).unwrap();
//! assert!((x[[0, 0]] - 1.0).abs() < 1e-14 && (x[[1, 0]] + 1.0).abs() < 1e-14);
//! // Not positive definite.
//! assert!(solve_positive_definite(array![[-1.0]].view(), array![[1.0]]).is_none());
//! ```

use ndarray::{Array2, ArrayView2};

/// `A^-1 B` by a Cholesky factor of A (s x s), of which only the lower triangle is read; B is
/// s x r.
///
/// Runs on one thread, so its bits are the same on any pool; with the feature `lapack`, on the
/// threads that the backend takes. `None` where A is not positive definite in floating-point
/// numbers, or the shapes do not fit.
///
/// # Complexity
/// `O(s^3 + s^2 r)` time, `O(s^2)` memory.
pub fn solve_positive_definite(a: ArrayView2<f64>, b: Array2<f64>) -> Option<Array2<f64>> {
    let s = a.nrows();
    if a.ncols() != s || b.nrows() != s {
        return None;
    }
    solve(a, b.as_standard_layout().into_owned())
}

#[cfg(not(feature = "lapack"))]
fn solve(a: ArrayView2<f64>, mut b: Array2<f64>) -> Option<Array2<f64>> {
    use faer::dyn_stack::{MemBuffer, MemStack};
    use faer::linalg::cholesky::llt::factor::{
        LltParams, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
    };
    use faer::linalg::cholesky::llt::solve::{solve_in_place, solve_in_place_scratch};
    use faer::{Mat, MatMut, Par, Spec};

    let (s, r) = b.dim();
    let mut factor = Mat::from_fn(s, s, |i, j| a[[i, j]]);
    let params: Spec<LltParams, f64> = Spec::default();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(s, Par::Seq, params));
    cholesky_in_place(
        factor.as_mut(),
        LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        params,
    )
    .ok()?;
    let mut memory = MemBuffer::new(solve_in_place_scratch::<f64>(s, r, Par::Seq));
    let to = MatMut::from_row_major_slice_mut(b.as_slice_mut()?, s, r);
    solve_in_place(factor.as_ref(), to, Par::Seq, MemStack::new(&mut memory));
    Some(b)
}

#[cfg(feature = "lapack")]
fn solve(a: ArrayView2<f64>, mut b: Array2<f64>) -> Option<Array2<f64>> {
    use ndarray::{Array1, ShapeBuilder};
    use ndarray_linalg::{FactorizeCInto, SolveC, UPLO};

    let s = a.nrows();
    if s == 0 {
        return Some(b);
    }
    // LAPACK works on columns.
    let mut lower = Array2::zeros((s, s).f());
    lower.assign(&a);
    let factor = lower.factorizec_into(UPLO::Lower).ok()?;
    for mut column in b.columns_mut() {
        let solved: Array1<f64> = factor.solvec_into(column.to_owned()).ok()?;
        column.assign(&solved);
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;

    #[test]
    fn solutions_solve() {
        let mut stream = Seed(1).stream();
        for (s, r) in [(1, 1), (2, 3), (7, 2), (40, 5), (90, 1)] {
            let g = Array2::from_shape_simple_fn((s, s), || stream.uniform() - 0.5);
            let a = g.dot(&g.t()) + Array2::<f64>::eye(s);
            let b = Array2::from_shape_simple_fn((s, r), || stream.uniform() - 0.5);
            // What is above the diagonal is not read.
            let lower = Array2::from_shape_fn((s, s), |(i, j)| if i < j { 7.0 } else { a[[i, j]] });
            let x = solve_positive_definite(lower.view(), b.clone()).unwrap();
            assert!((a.dot(&x) - &b).iter().all(|e| e.abs() < 1e-12 * (1 + s) as f64), "{s}");
            assert!(solve_positive_definite((-&a).view(), b.clone()).is_none());
            assert!(solve_positive_definite(a.slice(ndarray::s![.., 1..]), b).is_none());
            assert!(solve_positive_definite(a.view(), Array2::zeros((s + 1, r))).is_none());
        }
    }
}
