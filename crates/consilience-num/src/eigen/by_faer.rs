//! Eigenpairs of a stored matrix by faer.

use consilience_core::Result;
use consilience_core::room::no_room;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::traits::RealField;
use faer::{Mat, MatRef, Par, Spec};

use super::mats;
use crate::Float;

/// The two precisions that a matrix is decomposed in.
pub(super) trait Entry: Float + RealField {}

impl Entry for f32 {}
impl Entry for f64 {}

/// Eigenvalues in ascending order and the matrix of eigenvectors, from the lower triangle.
pub(super) fn ascending<T: Entry>(a: MatRef<'_, T>) -> Result<Option<(Vec<T>, Mat<T>)>> {
    let n = a.nrows();
    // faer's own choice of threads would let the grouping of sums, and with it the bits, follow the
    // pool.
    let par = Par::Seq;
    let params = Spec::default();
    let mut vectors = mats::from_fn(n, n, |_, _| T::default())?;
    let mut values = Diag::<T>::zeros(n);
    let scratch = self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, par, params);
    let mut memory =
        MemBuffer::try_new(scratch).map_err(|_| no_room::<u8>(scratch.size_bytes()))?;
    let found = self_adjoint_evd(
        a,
        values.as_mut(),
        Some(vectors.as_mut()),
        par,
        MemStack::new(&mut memory),
        params,
    );
    Ok(found.is_ok().then(|| (values.column_vector().iter().copied().collect(), vectors)))
}
