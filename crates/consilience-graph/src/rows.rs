use consilience_core::{Observer, Result};
use rayon::prelude::*;

/// Fills the rows of a matrix in parallel, with a copy of `scratch` for each task, as long as the
/// observer does not ask to stop.
///
/// # Errors
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
#[doc(hidden)]
pub fn each_row<T: Send, S: Clone + Sync>(
    matrix: &mut [T],
    width: usize,
    scratch: &S,
    observer: &dyn Observer,
    fill: impl Fn(&mut S, usize, &mut [T]) + Sync,
) -> Result<()> {
    matrix.par_chunks_mut(width.max(1)).enumerate().try_for_each_init(
        || scratch.clone(),
        |scratch, (i, row)| {
            if i.is_multiple_of(8) {
                observer.check()?;
            }
            fill(scratch, i, row);
            Ok(())
        },
    )
}
