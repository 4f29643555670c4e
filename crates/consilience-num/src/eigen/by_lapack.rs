//! Eigenpairs of a stored matrix by LAPACK.

use consilience_core::Result;
use faer::traits::RealField;
use faer::{Mat, MatRef};
use ndarray::{Array2, ShapeBuilder};
use ndarray_linalg::{EighInto, Lapack, UPLO};

use crate::Float;

/// The two precisions that a matrix is decomposed in.
pub(super) trait Entry: Float + RealField + Lapack<Real = Self> {}

impl Entry for f32 {}
impl Entry for f64 {}

/// Eigenvalues in ascending order and the matrix of eigenvectors, from the lower triangle.
pub(super) fn ascending<T: Entry>(a: MatRef<'_, T>) -> Result<Option<(Vec<T>, Mat<T>)>> {
    let n = a.nrows();
    // LAPACK works on columns; any other layout would be read as the transpose.
    let entry = |(i, j)| if i >= j { a[(i, j)] } else { T::default() };
    let lower = Array2::from_shape_fn((n, n).f(), entry);
    let Ok((values, vectors)) = lower.eigh_into(UPLO::Lower) else { return Ok(None) };
    Ok(Some((values.to_vec(), super::mats::from_fn(n, n, |i, j| vectors[[i, j]])?)))
}
