//! All eigenpairs of a stored matrix.

use consilience_core::{Error, Observer, Result, room};
use faer::{Mat, MatRef};
use ndarray::{Array2, ArrayView2};

#[cfg(not(feature = "lapack"))]
use super::by_faer::{Entry, ascending};
#[cfg(feature = "lapack")]
use super::by_lapack::{Entry, ascending};
use super::mats;
use crate::Float;

/// Magnitudes that squares do not take out of the range of a precision.
pub(super) const ORDINARY: (f64, f64) = (1e-100, 1e100);
const ORDINARY_SINGLE: (f64, f64) = (1e-12, 1e12);

/// All eigenpairs of a symmetric matrix, from [`symmetric_eigen`].
///
/// ```
/// use consilience::num::eigen::symmetric_eigen;
/// use consilience::ndarray::array;
///
/// let eigen = symmetric_eigen(array![[2.0, 0.0], [0.0, 5.0]].view()).unwrap();
/// assert!((eigen.values[0] - 5.0).abs() < 1e-14 && (eigen.values[1] - 2.0).abs() < 1e-14);
/// // The second unit vector belongs to the first value.
/// assert!((eigen.vectors[[1, 0]].abs() - 1.0).abs() < 1e-14);
/// ```
#[derive(Clone, Debug)]
pub struct SymmetricEigen {
    /// The n eigenvalues in descending order.
    pub values: Vec<f64>,
    /// Orthonormal eigenvectors as columns, n x n, in the order of the values.
    pub vectors: Array2<f64>,
}

/// Decomposes a symmetric matrix, `A = V diag(values) V^T` with `V^T V = I`.
///
/// For matrices that fit in memory and of which most eigenpairs are wanted; for a few pairs of a
/// large one use [`truncated_eigen`](super::truncated_eigen). Only the lower triangle is read. It
/// runs on one thread, so its bits are the same on any pool. With the feature `lapack`, LAPACK
/// computes the pairs, on the threads that its backend takes.
///
/// Returns `None` if the matrix is not square, if an entry of it is NaN or infinite, or if the
/// iteration does not converge (never seen on finite input). The signs of the vectors, and the
/// basis of a multiple eigenvalue's space, are arbitrary but reproducible.
///
/// ```
/// use consilience::num::eigen::symmetric_eigen;
/// use consilience::ndarray::array;
///
/// let eigen = symmetric_eigen(array![[2.0, 1.0], [1.0, 2.0]].view()).unwrap();
/// assert!((eigen.values[0] - 3.0).abs() < 1e-14 && (eigen.values[1] - 1.0).abs() < 1e-14);
/// assert!((eigen.vectors[[0, 0]] - eigen.vectors[[1, 0]]).abs() < 1e-14);
/// assert!(symmetric_eigen(array![[f64::NAN]].view()).is_none());
/// ```
///
/// # Complexity
/// `O(n^3)` time, `O(n^2)` memory; where the system refuses that the process ends, and
/// [`try_symmetric_eigen`] returns an error.
pub fn symmetric_eigen(a: ArrayView2<f64>) -> Option<SymmetricEigen> {
    try_symmetric_eigen(a).unwrap_or_else(mats::end)
}

/// [`symmetric_eigen`] that returns an error where the system refuses the memory.
///
/// ```
/// use consilience::num::eigen::try_symmetric_eigen;
/// use consilience::ndarray::array;
///
/// let eigen = try_symmetric_eigen(array![[2.0, 1.0], [1.0, 2.0]].view())?.unwrap();
/// assert!((eigen.values[0] - 3.0).abs() < 1e-14);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge).
///
/// # Complexity
/// `O(n^3)` time, `O(n^2)` memory.
pub fn try_symmetric_eigen(a: ArrayView2<f64>) -> Result<Option<SymmetricEigen>> {
    decomposed::<f64>(a, ORDINARY)
}

/// [`try_symmetric_eigen`] in single precision, in half the time: for methods that take many steps
/// and need exact ones only at their end. Values are right to about 1e-6 of the largest magnitude,
/// and so are products of the vectors.
///
/// ```
/// use consilience::num::eigen::rough_symmetric_eigen;
/// use consilience::ndarray::array;
///
/// let eigen = rough_symmetric_eigen(array![[2.0, 1.0], [1.0, 2.0]].view())?.unwrap();
/// assert!((eigen.values[0] - 3.0).abs() < 1e-5);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge).
///
/// # Complexity
/// `O(n^3)` time, `O(n^2)` memory.
pub fn rough_symmetric_eigen(a: ArrayView2<f64>) -> Result<Option<SymmetricEigen>> {
    decomposed::<f32>(a, ORDINARY_SINGLE)
}

fn decomposed<T: Entry>(
    a: ArrayView2<f64>,
    ordinary: (f64, f64),
) -> Result<Option<SymmetricEigen>> {
    let n = a.nrows();
    if a.ncols() != n || a.iter().any(|x| !x.is_finite()) {
        return Ok(None);
    }
    let (down, up) = balance(a.iter().fold(0.0, |m: f64, x| m.max(x.abs())), ordinary);
    let scaled = |i: usize, j: usize| if i >= j { a[[i, j]] * down.0 * down.1 } else { 0.0 };
    let lower = mats::from_fn(n, n, |i, j| <T as Float>::from_f64(scaled(i, j)))?;
    let Some((values, vectors)) = eigen_descending(lower.as_ref())? else { return Ok(None) };
    Ok(Some(SymmetricEigen {
        values: values.iter().map(|x| Float::to_f64(*x) * up.0 * up.1).collect(),
        vectors: room::table_of(n, n, |(i, j)| Float::to_f64(vectors[(i, j)]))?,
    }))
}

/// Square matrices that are held while [`scatter_eigen`] works: the one that is given, and what
/// the decomposition takes.
#[doc(hidden)]
pub const EIGEN_SQUARES: usize = 7;

/// All eigenpairs of a scatter of features, asked about before and after, or the error that there
/// are none.
#[doc(hidden)]
pub fn scatter_eigen(s: ArrayView2<'_, f64>, observer: &dyn Observer) -> Result<SymmetricEigen> {
    observer.check()?;
    let found = try_symmetric_eigen(s)?
        .ok_or_else(|| Error::invalid("a scatter matrix of the features has no eigenpairs"))?;
    observer.check()?;
    Ok(found)
}

/// Factors that bring entries of magnitude up to `largest` to about 1, and back again. They are
/// powers of two, hence exact, and come as pairs, since the factor for 1e-320 is itself too large
/// for an f64. Squares of entries beyond 1e154 would overflow inside the decomposition; ordinary
/// sizes are left alone.
pub(super) fn balance(largest: f64, (least, most): (f64, f64)) -> ((f64, f64), (f64, f64)) {
    if largest == 0.0 || (least..=most).contains(&largest) {
        return ((1.0, 1.0), (1.0, 1.0));
    }
    let half = (largest.log2() / 2.0) as i32;
    let (down, up) = (2f64.powi(-half), 2f64.powi(half));
    ((down, down), (up, up))
}

/// Eigenvalues in descending order and the matrix of eigenvectors; the lower triangle of `a` is
/// read and must be finite.
pub(super) fn eigen_descending<T: Entry>(a: MatRef<'_, T>) -> Result<Option<(Vec<T>, Mat<T>)>> {
    let n = a.nrows();
    match n {
        0 => return Ok(Some((Vec::new(), Mat::zeros(0, 0)))),
        1 => return Ok(Some((vec![a[(0, 0)]], Mat::full(1, 1, <T as Float>::from_f64(1.0))))),
        _ => {}
    }
    let Some((values, vectors)) = ascending(a)? else { return Ok(None) };
    // Reversing columns is cheaper than decomposing -A.
    let values: Vec<T> = values.into_iter().rev().collect();
    let vectors = mats::from_fn(n, n, |i, j| vectors[(i, n - 1 - j)])?;
    let finite = values.iter().all(|x| Float::to_f64(*x).is_finite()) && vectors.is_all_finite();
    Ok(finite.then_some((values, vectors)))
}
