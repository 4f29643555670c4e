//! faer's matrices, of memory that the system may refuse: faer itself panics there.

use std::alloc::{Layout, handle_alloc_error};

use consilience_core::room::no_room;
use consilience_core::{Error, Result};
use faer::Mat;

/// The matrix of what a function says of each place.
pub(super) fn from_fn<T>(
    rows: usize,
    columns: usize,
    value: impl FnMut(usize, usize) -> T,
) -> Result<Mat<T>> {
    let mut out = Mat::new();
    out.try_reserve(rows, columns).map_err(|_| no_room::<T>(rows.saturating_mul(columns)))?;
    out.resize_with(rows, columns, value);
    Ok(out)
}

/// Ends the process, as every plain request for memory does that is refused.
pub(crate) fn end<T>(_: Error) -> T {
    handle_alloc_error(Layout::new::<[f64; 1 << 16]>())
}
