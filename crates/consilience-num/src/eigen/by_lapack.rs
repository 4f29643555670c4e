//! Eigenpairs of a stored matrix by LAPACK.

use consilience_core::Result;
use faer::{Mat, MatRef};
use ndarray::{Array2, ShapeBuilder};
use ndarray_linalg::{EighInto, UPLO};

/// Eigenvalues in ascending order and the matrix of eigenvectors, from the lower triangle.
pub(super) fn ascending(a: MatRef<'_, f64>) -> Result<Option<(Vec<f64>, Mat<f64>)>> {
    let n = a.nrows();
    // LAPACK works on columns; any other layout would be read as the transpose.
    let lower = Array2::from_shape_fn((n, n).f(), |(i, j)| if i >= j { a[(i, j)] } else { 0.0 });
    let Ok((values, vectors)) = lower.eigh_into(UPLO::Lower) else { return Ok(None) };
    Ok(Some((values.to_vec(), super::mats::from_fn(n, n, |i, j| vectors[[i, j]])?)))
}
