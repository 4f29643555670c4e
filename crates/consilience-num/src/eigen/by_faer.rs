//! Eigenpairs of a stored matrix by faer.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par, Spec};

/// Eigenvalues in ascending order and the matrix of eigenvectors, from the lower triangle.
pub(super) fn ascending(a: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let n = a.nrows();
    // faer's own choice of threads would let the grouping of sums, and with it the bits, follow the
    // pool.
    let par = Par::Seq;
    let params = Spec::default();
    let mut vectors = Mat::zeros(n, n);
    let mut values = Diag::<f64>::zeros(n);
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, par, params);
    let mut memory = MemBuffer::new(scratch);
    self_adjoint_evd(
        a,
        values.as_mut(),
        Some(vectors.as_mut()),
        par,
        MemStack::new(&mut memory),
        params,
    )
    .ok()?;
    Some((values.column_vector().iter().copied().collect(), vectors))
}
