//! The leading singular vectors of rows that are stored dense or sparse.
//!
//! [`truncated_svd`] needs nothing but products with the rows, and works on their smaller side: the
//! squares of the singular values are the leading eigenvalues of `X'X` (or `X X'` where there are
//! fewer rows than columns), found by the block method of [`eigen`](crate::eigen), which starts
//! from random vectors.
//!
//! ```
//! use consilience::num::svd::{truncated_svd, SvdOptions};
//! use consilience::ndarray::array;
//!
//! let x = array![[3.0, 0.0], [0.0, 1.0], [4.0, 0.0]];
//! let top = truncated_svd(&x, &SvdOptions::new(1));
//! assert!((top.values[0] - 5.0).abs() < 1e-12);
//! assert!((top.left[[2, 0]].abs() - 0.8).abs() < 1e-12 && (top.left[[0, 0]].abs() - 0.6).abs() < 1e-12);
//! // The map takes any row, new ones too, to its left singular coordinates.
//! assert!((x.dot(&top.map) - &top.left).iter().all(|e| e.abs() < 1e-12));
//! ```
//!
//! # References
//! N. Halko, P.-G. Martinsson, J. A. Tropp, "Finding structure with randomness", 2011: random
//! starts and products with blocks. Ours keeps the whole block Krylov space of the smaller side
//! until the residuals are small, instead of a fixed number of power steps.

use std::ops::Range;

use consilience_core::{Observer, Result, Seed, Stop};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

use crate::Float;
use crate::eigen::{SymmetricOperator, TruncatedOptions, symmetric_eigen, truncated_eigen};
use crate::kmeans::sparse::ScaledRows;
use crate::reduce::{each_chunk, ordered_chunks};
use crate::sparse::{Csr, multiply_by_rows};

/// Rows of a chunk; sums over rows are taken chunk by chunk, in order.
const ROWS: usize = 1024;
/// Singular values below this share of the largest cannot be told from rounding of their squares.
const RANK: f64 = 1e-6;
/// Up to this order a small side is assembled from products of whole chunks.
const ASSEMBLED: usize = 600;
/// Numbers of a table of the other side while it is: 64 MiB.
const ASSEMBLED_NUMBERS: usize = 1 << 23;
/// Numbers of all parts of a sum over rows together: 256 MiB.
const PARTS_NUMBERS: usize = 1 << 25;

/// A table that can be multiplied from both sides; the blocks are row-major, `width` numbers per
/// row.
pub trait Rows: Sync {
    /// Number of rows and columns.
    fn dim(&self) -> (usize, usize);

    /// `X v`: `v` has one row per column of X, `out` one per row of X. Equal bits at any number of
    /// threads.
    fn multiply(&self, v: &[f64], out: &mut [f64], width: usize);

    /// `X' u`: `u` has one row per row of X, `out` one per column of X. Equal bits at any number of
    /// threads.
    fn multiply_transposed(&self, u: &[f64], out: &mut [f64], width: usize);
}

impl Rows for Array2<f64> {
    fn dim(&self) -> (usize, usize) {
        (self.nrows(), self.ncols())
    }

    fn multiply(&self, v: &[f64], out: &mut [f64], width: usize) {
        let (d, x) = (self.ncols(), self.as_standard_layout());
        let (Some(x), true) = (x.as_slice(), width > 0 && d > 0) else {
            return out.fill(0.0);
        };
        let v = MatRef::from_row_major_slice(v, d, width);
        each_chunk(out, ROWS * width, &|c, out| {
            let rows = out.len() / width;
            let x = MatRef::from_row_major_slice(&x[c * ROWS * d..][..rows * d], rows, d);
            let out = MatMut::from_row_major_slice_mut(out, rows, width);
            matmul(out, Accum::Replace, x, v, 1.0, Par::Seq);
        });
    }

    fn multiply_transposed(&self, u: &[f64], out: &mut [f64], width: usize) {
        let ((n, d), x) = (Rows::dim(self), self.as_standard_layout());
        let (Some(x), true) = (x.as_slice(), width > 0 && d > 0) else {
            return out.fill(0.0);
        };
        let part = |rows: Range<usize>| {
            let mut part = vec![0.0; d * width];
            let x = MatRef::from_row_major_slice(&x[rows.start * d..rows.end * d], rows.len(), d);
            let u = MatRef::from_row_major_slice(
                &u[rows.start * width..rows.end * width],
                rows.len(),
                width,
            );
            let to = MatMut::from_row_major_slice_mut(&mut part, d, width);
            matmul(to, Accum::Replace, x.transpose(), u, 1.0, Par::Seq);
            part
        };
        let sum = ordered_chunks(n, ROWS, part, vec![0.0; d * width], |mut total, part| {
            total.iter_mut().zip(&part).for_each(|(t, p)| *t += p);
            total
        });
        out.copy_from_slice(&sum);
    }
}

impl Rows for Csr {
    fn dim(&self) -> (usize, usize) {
        (self.n_rows(), self.n_columns())
    }

    fn multiply(&self, v: &[f64], out: &mut [f64], width: usize) {
        Csr::multiply(self, v, out, width);
    }

    fn multiply_transposed(&self, u: &[f64], out: &mut [f64], width: usize) {
        transposed(self.n_rows(), out, width, |i, add| {
            let (columns, values) = self.row(i);
            for (&c, &value) in columns.iter().zip(values) {
                add(c as usize, value, &u[i * width..][..width]);
            }
        });
    }
}

impl<F: Float> Rows for ScaledRows<'_, F> {
    fn dim(&self) -> (usize, usize) {
        (self.n_rows(), self.n_columns())
    }

    fn multiply(&self, v: &[f64], out: &mut [f64], width: usize) {
        multiply_by_rows::<_, _, false>(|i| self.row(i), v, out, width);
    }

    fn multiply_transposed(&self, u: &[f64], out: &mut [f64], width: usize) {
        transposed(self.n_rows(), out, width, |i, add| {
            self.row(i).for_each(|(j, value)| add(j as usize, value, &u[i * width..][..width]));
        });
    }
}

/// Sums of rows of `u` into rows of `out`, as `each` says for every row.
fn transposed(
    n: usize,
    out: &mut [f64],
    width: usize,
    each: impl Fn(usize, &mut dyn FnMut(usize, f64, &[f64])) + Sync,
) {
    // As few parts as keep some cores busy, and fewer of very wide tables: each is d x width.
    let parts = (PARTS_NUMBERS / out.len().max(1)).clamp(1, 8);
    let chunk = n.div_ceil(parts).max(ROWS);
    let add = |rows: Range<usize>, sums: &mut [f64]| {
        for i in rows {
            each(i, &mut |c, value, u| {
                let to = &mut sums[c * width..(c + 1) * width];
                to.iter_mut().zip(u).for_each(|(t, u)| *t += value * u);
            });
        }
    };
    if chunk >= n {
        out.fill(0.0);
        return add(0..n, out);
    }
    let part = |rows| {
        let mut part = vec![0.0; out.len()];
        add(rows, &mut part);
        part
    };
    let sum = ordered_chunks(n, chunk, part, vec![0.0; out.len()], |mut total, part| {
        total.iter_mut().zip(&part).for_each(|(t, p)| *t += p);
        total
    });
    out.copy_from_slice(&sum);
}

/// What [`truncated_svd`] is to find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SvdOptions {
    count: usize,
    tolerance: f64,
    max_iterations: usize,
    seed: Seed,
}

impl SvdOptions {
    /// So many singular values; fewer come out where the rank is lower.
    pub fn new(count: usize) -> Self {
        SvdOptions { count, tolerance: 1e-9, max_iterations: 300, seed: Seed(0) }
    }

    consilience_core::setters! {
        /// Residual of the eigenpairs of the smaller side, relative to the square of the largest
        /// singular value. Default 1e-9; above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Limit on products with a block. Default 300; any number.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Seed of the random start block. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }
}

/// Leading singular vectors, from [`truncated_svd`].
#[derive(Clone, Debug)]
pub struct Svd {
    /// Orthonormal left singular vectors as columns, n x r.
    pub left: Array2<f64>,
    /// The singular values in descending order, r of them, each above a millionth of the largest.
    pub values: Vec<f64>,
    /// `left = X map`, d x r: the right singular vectors over the singular values.
    pub map: Array2<f64>,
    /// Whether the eigenpairs behind them reached the tolerance.
    pub converged: bool,
}

/// The `count` leading singular values and vectors, or fewer where the rank is lower.
///
/// Singular values below a millionth of the largest count as 0. Nothing (r = 0) comes out for a
/// table without rows or columns, of zeros, or with an entry that is not finite. The signs of the
/// vectors, and the basis for a multiple value, are arbitrary but reproducible; the bits do not
/// depend on the number of threads.
///
/// # Complexity
/// With s = min(n, d): O(n d s) up to s = 600, beyond O(nnz count) per product, some tens of them.
/// O((n + d) count) memory, and 256 MiB at most for sums over sparse rows in parts; in the first
/// case up to 64 MiB, or 8 numbers for each row of the larger side, beside an s x s table.
pub fn truncated_svd(rows: &dyn Rows, options: &SvdOptions) -> Svd {
    let (n, d) = rows.dim();
    let tall = n >= d;
    let small = n.min(d);
    let nothing = |converged| Svd {
        left: Array2::zeros((n, 0)),
        values: Vec::new(),
        map: Array2::zeros((d, 0)),
        converged,
    };
    let count = options.count.min(small);
    if count == 0 {
        return nothing(true);
    }
    let side = Side { rows, tall };
    let (values, vectors, converged) = if small <= ASSEMBLED {
        let Some(all) = side.assemble().and_then(|a| symmetric_eigen(a.view())) else {
            return nothing(false);
        };
        (all.values, all.vectors, true)
    } else {
        let SvdOptions { tolerance, max_iterations, seed, .. } = *options;
        let eigen = TruncatedOptions::new(count).tolerance(tolerance);
        let top = truncated_eigen(&side, &eigen.max_iterations(max_iterations).seed(seed));
        (top.values, top.vectors, top.converged)
    };
    let first = values.first().copied().unwrap_or(0.0);
    let rank =
        values.iter().take(count).take_while(|&&v| v > RANK * RANK * first && v > 0.0).count();
    if rank == 0 {
        return nothing(converged);
    }
    let values: Vec<f64> = values[..rank].iter().map(|v| v.sqrt()).collect();
    let vectors = vectors.slice(s![.., ..rank]).as_standard_layout().to_owned();
    // Right singular vectors over the values: X (V / s) = U, and X' (U / s^2) = V / s.
    let mut map = if tall {
        vectors
    } else {
        let mut map = Array2::zeros((d, rank));
        product(&mut map, |out| {
            rows.multiply_transposed(vectors.as_slice().unwrap_or_default(), out, rank)
        });
        map
    };
    for (mut column, value) in map.columns_mut().into_iter().zip(&values) {
        column /= if tall { *value } else { value * value };
    }
    let mut left = Array2::zeros((n, rank));
    product(&mut left, |out| rows.multiply(map.as_slice().unwrap_or_default(), out, rank));
    // Where values differ by orders of magnitude the small ones lean on the large: one polar step.
    let Some(turn) = inverse_root(&left) else {
        return nothing(false);
    };
    let mut straight = Array2::zeros((n, rank));
    product(&mut straight, |out| left.multiply(turn.as_slice().unwrap_or_default(), out, rank));
    Svd { left: straight, values, map: map.dot(&turn), converged }
}

/// As [`truncated_svd`], and can be cancelled before each product with the rows.
///
/// # Errors
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # Complexity
/// As [`truncated_svd`].
pub fn try_truncated_svd(
    rows: &dyn Rows,
    options: &SvdOptions,
    observer: &dyn Observer,
) -> Result<Svd> {
    let stop = Stop::new(observer);
    stop.check()?;
    let found = truncated_svd(&Watched { rows, stop: &stop }, options);
    stop.check()?;
    Ok(found)
}

/// Rows whose products are 0 once somebody asked to stop: what comes out is thrown away.
struct Watched<'a> {
    rows: &'a dyn Rows,
    stop: &'a Stop<'a>,
}

impl Rows for Watched<'_> {
    fn dim(&self) -> (usize, usize) {
        self.rows.dim()
    }

    fn multiply(&self, v: &[f64], out: &mut [f64], width: usize) {
        if self.stop.asked() { out.fill(0.0) } else { self.rows.multiply(v, out, width) }
    }

    fn multiply_transposed(&self, u: &[f64], out: &mut [f64], width: usize) {
        if self.stop.asked() { out.fill(0.0) } else { self.rows.multiply_transposed(u, out, width) }
    }
}

/// Lets `f` fill a row-major table.
fn product(out: &mut Array2<f64>, f: impl FnOnce(&mut [f64])) {
    if let Some(out) = out.as_slice_mut() {
        f(out);
    }
}

/// `(U'U)^(-1/2)`.
fn inverse_root(u: &Array2<f64>) -> Option<Array2<f64>> {
    let r = u.ncols();
    let mut gram = Array2::zeros((r, r));
    product(&mut gram, |out| u.multiply_transposed(u.as_slice().unwrap_or_default(), out, r));
    let eigen = symmetric_eigen(gram.view())?;
    if !(eigen.values.last().copied()? > 0.0) {
        return None;
    }
    let mut scaled = eigen.vectors.clone();
    for (mut column, value) in scaled.columns_mut().into_iter().zip(&eigen.values) {
        column /= value.sqrt();
    }
    Some(scaled.dot(&eigen.vectors.t()).as_standard_layout().to_owned())
}

/// `X'X` of a tall table, `X X'` of a wide one.
struct Side<'a> {
    rows: &'a dyn Rows,
    tall: bool,
}

impl Side<'_> {
    /// The whole matrix, from products with blocks of unit vectors: as many at a time as make no
    /// large tables of the other side.
    fn assemble(&self) -> Option<Array2<f64>> {
        let s = self.dim();
        let (n, d) = self.rows.dim();
        let width = (ASSEMBLED_NUMBERS / n.max(d)).clamp(8, s.max(8));
        let mut out = Array2::zeros((s, s));
        for first in (0..s).step_by(width) {
            let width = width.min(s - first);
            let unit = |(i, c): (usize, usize)| f64::from(u8::from(i == first + c));
            let unit = Array2::from_shape_fn((s, width), unit);
            let mut part = Array2::zeros((s, width));
            self.apply(unit.view(), part.view_mut());
            out.slice_mut(s![.., first..first + width]).assign(&part);
        }
        out.iter().all(|v| v.is_finite()).then(|| (&out + &out.t()) * 0.5)
    }
}

impl SymmetricOperator for Side<'_> {
    fn dim(&self) -> usize {
        let (n, d) = self.rows.dim();
        n.min(d)
    }

    fn apply(&self, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        let width = x.ncols();
        let (n, d) = self.rows.dim();
        let (Some(x), Some(y)) = (x.as_slice(), y.as_slice_mut()) else {
            return y.fill(f64::NAN);
        };
        let mut between = vec![0.0; n.max(d) * width];
        if self.tall {
            self.rows.multiply(x, &mut between, width);
            self.rows.multiply_transposed(&between, y, width);
        } else {
            self.rows.multiply_transposed(x, &mut between, width);
            self.rows.multiply(&between, y, width);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{noise, on_pool};

    /// Asks to stop at a question of its number, and goes on asking.
    struct Stops {
        at: usize,
        asked: std::sync::atomic::AtomicUsize,
    }

    impl Observer for Stops {
        fn cancelled(&self) -> bool {
            self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= self.at
        }
    }

    #[test]
    fn whoever_watches_can_stop_it_at_any_product() {
        let mut draw = noise(5);
        // The smaller side is assembled, or met by products alone.
        for (n, d) in [(700, 40), (40, 700), (1_400, 700)] {
            let x = Array2::from_shape_fn((n, d), |_| draw() - 0.5);
            let options = SvdOptions::new(3).tolerance(1e-2);
            let found = try_truncated_svd(&x, &options, &()).unwrap();
            assert_eq!(found.values, truncated_svd(&x, &options).values);
            for at in [0, 1, 2, 4] {
                let stops = Stops { at, asked: 0.into() };
                let error = try_truncated_svd(&x, &options, &stops).unwrap_err();
                assert_eq!(error.kind(), consilience_core::ErrorKind::Cancelled);
            }
        }
    }

    /// Random rows whose column scales fall by `fall` each.
    fn table(n: usize, d: usize, fall: f64, seed: u64) -> Array2<f64> {
        let mut next = noise(seed);
        Array2::from_shape_fn((n, d), |(_, j)| (next() - 0.5) * fall.powi(j as i32))
    }

    /// `|X v - s u|`, `|X'u - s v|` and orthonormality, all that makes singular vectors.
    fn holds(rows: &dyn Rows, dense: &Array2<f64>, count: usize, tolerance: f64) -> Svd {
        let found = truncated_svd(rows, &SvdOptions::new(count));
        let r = found.values.len();
        assert!(found.converged && found.values.windows(2).all(|w| w[0] >= w[1]));
        let gram = found.left.t().dot(&found.left);
        assert!((&gram - &Array2::<f64>::eye(r)).iter().all(|e| e.abs() < 1e-9), "orthonormal");
        assert!((dense.dot(&found.map) - &found.left).iter().all(|e| e.abs() < 1e-9), "map");
        let back = dense.dot(&dense.t().dot(&found.left));
        for j in 0..r {
            let s2 = found.values[j] * found.values[j];
            let residual =
                (&back.column(j) - &(&found.left.column(j) * s2)).mapv(|v| v * v).sum().sqrt();
            assert!(residual <= tolerance * found.values[0].powi(2), "vector {j}: {residual}");
        }
        found
    }

    fn sparse(x: &Array2<f64>) -> Csr {
        Csr::from_rows(
            x.ncols(),
            x.rows().into_iter().map(|row| {
                row.iter()
                    .enumerate()
                    .filter(|e| *e.1 != 0.0)
                    .map(|(j, &v)| (j as u32, v))
                    .collect()
            }),
        )
    }

    #[test]
    fn dense_and_sparse_tall_and_wide_satisfy_their_equations() {
        for (n, d, fall) in
            [(50, 8, 1.0), (8, 50, 0.9), (2000, 30, 0.8), (40, 40, 0.5), (700, 650, 0.98)]
        {
            let x = table(n, d, fall, n as u64).mapv(|v: f64| if v.abs() < 1e-3 { 0.0 } else { v });
            for count in [1, 5] {
                let a = holds(&x, &x, count, 1e-8);
                let b = holds(&sparse(&x), &x, count, 1e-8);
                let listed = sprs::CsMat::csr_from_dense(x.view(), 0.0);
                let c = holds(&ScaledRows::new(listed.view()).unwrap(), &x, count, 1e-8);
                assert!(a.values.iter().zip(&c.values).all(|(a, c)| (a - c).abs() < 1e-8 * a));
                assert!(a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-8 * a));
            }
        }
    }

    #[test]
    fn low_ranks_are_seen() {
        let (a, b) = (table(300, 3, 1.0, 1), table(3, 20, 1.0, 2));
        let x = a.dot(&b);
        assert_eq!(holds(&x, &x, 15, 1e-9).values.len(), 3);
        let mut doubled = Array2::zeros((300, 40));
        doubled.slice_mut(s![.., ..20]).assign(&x);
        doubled.slice_mut(s![.., 20..]).assign(&x);
        assert_eq!(holds(&doubled, &doubled, 15, 1e-9).values.len(), 3);
        let zero = truncated_svd(&Array2::<f64>::zeros((5, 4)), &SvdOptions::new(1));
        assert!(zero.values.is_empty());
        let bad = truncated_svd(&Array2::from_elem((5, 4), f64::NAN), &SvdOptions::new(1));
        assert!(bad.values.is_empty() && !bad.converged);
        assert!(
            truncated_svd(&Array2::<f64>::zeros((0, 4)), &SvdOptions::new(1)).values.is_empty()
        );
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let x = table(5000, 12, 0.9, 3);
        let on = |threads| {
            let options = SvdOptions::new(7);
            let run = || (truncated_svd(&x, &options), truncated_svd(&sparse(&x), &options));
            on_pool(threads, run)
        };
        let one = on(1);
        for threads in [2, 3] {
            let more = on(threads);
            assert_eq!((one.0.left == more.0.left, one.1.left == more.1.left), (true, true));
        }
    }
}
