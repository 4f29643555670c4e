//! Matrices known by their products.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use crate::reduce::each_chunk;
use crate::sparse::Csr;

/// Rows of the product that one task computes.
const ROWS: usize = 256;

/// A symmetric matrix of order n that can be multiplied with a block of vectors.
///
/// ```
/// use consilience::num::eigen::{truncated_eigen, SymmetricOperator, TruncatedOptions};
/// use consilience::ndarray::{ArrayView2, ArrayViewMut2, Zip};
///
/// /// diag(0, 1, ..., n - 1)
/// struct Ramp(usize);
///
/// impl SymmetricOperator for Ramp {
///     fn dim(&self) -> usize {
///         self.0
///     }
///     fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>) {
///         for (i, (mut y, x)) in y.rows_mut().into_iter().zip(x.rows()).enumerate() {
///             Zip::from(&mut y).and(&x).for_each(|y, x| *y = i as f64 * x);
///         }
///     }
/// }
///
/// let top = truncated_eigen(&Ramp(1000), &TruncatedOptions::new(2));
/// assert!((top.values[0] - 999.0).abs() < 1e-9 && (top.values[1] - 998.0).abs() < 1e-9);
/// ```
pub trait SymmetricOperator: Sync {
    /// The order n of the matrix.
    fn dim(&self) -> usize;

    /// Writes `A x` to `y`; both are n x b, row-major and contiguous, and b varies from call to
    /// call.
    ///
    /// Every entry of `y` must be written: it holds old numbers. The caller's bits are independent
    /// of the number of threads only if those of this product are.
    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>);
}

/// A stored matrix, as its view.
impl SymmetricOperator for Array2<f64> {
    fn dim(&self) -> usize {
        SymmetricOperator::dim(&self.view())
    }

    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>) {
        self.view().apply(x, y);
    }
}

/// A stored matrix, symmetric; products with one that is not square are NaN. In a product one task
/// owns some rows of the result, so its bits do not depend on the number of threads.
///
/// # Complexity
/// A product with b vectors takes `O(n^2 b)` time.
impl SymmetricOperator for ArrayView2<'_, f64> {
    fn dim(&self) -> usize {
        self.nrows().min(self.ncols())
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>) {
        let (n, b) = x.dim();
        if self.shape() != [n, n] {
            y.fill(f64::NAN);
            return;
        }
        let a = self.as_standard_layout();
        if let (Some(a), Some(x), Some(y)) = (a.as_slice(), x.as_slice(), y.as_slice_mut())
            && n > 0
            && b > 0
        {
            let x = MatRef::from_row_major_slice(x, n, b);
            each_chunk(y, ROWS * b, &|c, y| {
                let rows = y.len() / b;
                let a = MatRef::from_row_major_slice(&a[c * ROWS * n..][..rows * n], rows, n);
                let y = MatMut::from_row_major_slice_mut(y, rows, b);
                matmul(y, Accum::Replace, a, x, 1.0, Par::Seq);
            });
        } else {
            y.assign(&self.dot(&x));
        }
    }
}

/// A sparse matrix, symmetric; products with one that is not square are NaN.
impl SymmetricOperator for Csr {
    fn dim(&self) -> usize {
        self.n_rows()
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>) {
        let square = self.n_rows() == self.n_columns();
        match (x.as_slice(), y.as_slice_mut()) {
            (Some(x), Some(out)) if square => {
                self.multiply(x, out, x.len() / self.n_rows().max(1));
            }
            _ => y.fill(f64::NAN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::{Shifted, TruncatedOptions, symmetric_eigen, truncated_eigen};

    #[test]
    fn products_of_stored_matrices_and_none_of_those_that_are_not_square() {
        let n = 2 * ROWS + 5;
        let entry = |i: usize, j: usize| {
            ((i * j + i + j) % 5) as f64 * f64::from((i + j).is_multiple_of(7))
        };
        let a = Array2::from_shape_fn((n, n), |(i, j)| entry(i, j));
        let entries = |i: usize| {
            let row = (0..n).map(|j| (j as u32, entry(i, j)));
            row.filter(|e| e.1 != 0.0).collect::<Vec<_>>()
        };
        let sparse = Csr::from_rows(n, (0..n).map(entries));
        let x = Array2::from_shape_fn((n, 3), |(i, c)| ((i + 2 * c) % 9) as f64);
        let expected = Array2::from_shape_fn((n, 3), |(i, c)| {
            (0..n).map(|j| entry(i, j) * x[[j, c]]).sum::<f64>()
        });
        let turned = a.t().as_standard_layout().into_owned().reversed_axes();
        let all: [&dyn SymmetricOperator; 3] = [&a, &turned, &sparse];
        for operator in all {
            assert_eq!(operator.dim(), n);
            let mut y = Array2::from_elem((n, 3), f64::NAN);
            operator.apply(x.view(), y.view_mut());
            assert_eq!(y, expected);
            operator.apply(x.slice(ndarray::s![.., ..0]), y.slice_mut(ndarray::s![.., ..0]));
        }
        let (wide, listed) = (Array2::ones((2, 3)), Csr::from_rows(3, [vec![], vec![(2, 1.0)]]));
        let bad: [&dyn SymmetricOperator; 2] = [&wide, &listed];
        for operator in bad {
            let mut y = Array2::zeros((2, 1));
            operator.apply(Array2::ones((2, 1)).view(), y.view_mut());
            assert!(y.iter().all(|v: &f64| v.is_nan()));
        }
    }

    /// A symmetric matrix of random entries.
    fn random(n: usize, seed: u64) -> Array2<f64> {
        let mut stream = consilience_core::Seed(seed).stream();
        let a = Array2::from_shape_simple_fn((n, n), || stream.uniform() - 0.5);
        &a + &a.t()
    }

    #[test]
    fn leading_pairs_are_those_of_the_whole_matrix_in_any_unit() {
        let a = random(150, 3);
        let whole = symmetric_eigen(a.view()).unwrap().values;
        let options = TruncatedOptions::new(6).tolerance(1e-10);
        for unit in [1.0, 2f64.powi(700), 2f64.powi(-700)] {
            let scaled = &a * unit;
            let all = symmetric_eigen(scaled.view()).unwrap().values;
            let found = truncated_eigen(&scaled, &options);
            assert!(found.converged && found.values.len() == 6, "{unit:e}");
            for (l, value) in whole.iter().enumerate() {
                assert!((all[l] / unit - value).abs() < 1e-10, "{unit:e}, {l}");
                assert!(l >= 6 || (found.values[l] / unit - value).abs() < 1e-9, "{unit:e}, {l}");
            }
        }
        let stored =
            Csr::from_rows(150, a.rows().into_iter().map(|row| (0..).zip(row.to_vec()).collect()));
        let whole = symmetric_eigen((&a + 0.25).view()).unwrap().values;
        let found = truncated_eigen(&Shifted::new(stored, 0.25), &options);
        assert!(found.values.iter().zip(&whole).all(|(f, w)| (f - w).abs() < 1e-9));
    }

    #[test]
    fn close_eigenvalues_of_a_large_matrix_are_found() {
        // A diagonal whose largest entries lie close together: the basis is full before they are
        // apart.
        let n = 3000;
        let value = |i: usize| 1.0 - (i as f64 / n as f64).sqrt();
        for unit in [1.0, 2f64.powi(-600)] {
            let diagonal = Csr::from_rows(n, (0..n).map(|i| vec![(i as u32, value(i) * unit)]));
            let options = TruncatedOptions::new(3).tolerance(1e-8).max_iterations(500);
            let found = truncated_eigen(&diagonal, &options);
            assert!(found.converged && found.iterations > 5, "{}", found.iterations);
            for (l, own) in found.values.iter().enumerate() {
                assert!((own / unit - value(l)).abs() < 1e-7, "{l}: {own}");
            }
        }
    }

    /// Residuals are not looked at after every product; the end must not be missed by much.
    #[test]
    fn iterations_are_hardly_more_than_it_takes() {
        let n = 2000;
        let shapes: [&dyn Fn(f64) -> f64; 4] =
            [&|x| 1.0 - x.sqrt(), &|x| 1.0 - x, &|x| 0.5f64.powf(40.0 * x), &|x| {
                1.0 / (1.0 + 99.0 * x)
            }];
        for (s, shape) in shapes.iter().enumerate() {
            let value = |i: usize| shape(i as f64 / n as f64);
            let diagonal = Csr::from_rows(n, (0..n).map(|i| vec![(i as u32, value(i))]));
            for count in [2, 8, 30] {
                let options = TruncatedOptions::new(count).tolerance(1e-9).max_iterations(500);
                let found = truncated_eigen(&diagonal, &options);
                assert!(found.converged);
                let most = found.iterations;
                let stopped = |&most: &usize| {
                    truncated_eigen(&diagonal, &options.max_iterations(most)).converged
                };
                let least = (1..=most).rev().take_while(stopped).last().unwrap();
                assert!(most <= least + 1 + least / 8, "{s}, {count}: {most}, not {least}");
            }
        }
    }
}
