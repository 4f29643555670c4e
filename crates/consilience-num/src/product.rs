//! Products of matrices that can be stopped, in memory that the system may refuse.
//!
//! They have the bits of [`ndarray`]'s own products: those are sums over blocks of 256 terms, one
//! block after the other, and here a question to the observer comes between some of the blocks.
//! Rows of the result do not hang on each other, and large products share them out among threads.

use std::ops::Range;

use consilience_core::{Observer, Result, Stop, room};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

/// Terms that are summed together.
const BLOCK: usize = 256;
/// Multiplications between two questions, where one block of rows has not more.
const WORK: usize = 1 << 28;
/// Multiplications that are worth a thread.
const SHARE: usize = 1 << 22;
/// Least rows of the result for a thread, for each of which the second matrix is copied once.
const ROWS: usize = 64;

/// Calls `with` for rows of the table, each time a range of them and their part of it, on all
/// threads where that is worth it.
fn shared(
    out: &mut Array2<f64>,
    work_of_row: usize,
    observer: &dyn Observer,
    with: impl Fn(Range<usize>, ArrayViewMut2<'_, f64>, &Stop<'_>) + Sync,
) -> Result<()> {
    let columns = out.ncols();
    let rows = (SHARE / work_of_row.max(1)).max(ROWS);
    let stop = Stop::new(observer);
    let values = out.as_slice_mut().unwrap_or_default();
    values.par_chunks_mut(rows.saturating_mul(columns).max(1)).enumerate().for_each(|(c, part)| {
        let (first, len) = (c * rows, part.len() / columns.max(1));
        if let Ok(part) = ArrayViewMut2::from_shape((len, columns), part) {
            with(first..first + len, part, &stop);
        }
    });
    stop.check()
}

/// Blocks of so many terms, between which it is asked whether to go on.
fn steps(work_of_term: usize) -> usize {
    (WORK / BLOCK / work_of_term.max(1)).clamp(1, 1 << 20) * BLOCK
}

/// `A B`.
///
/// ```
/// use consilience::ndarray::array;
/// use consilience::num::product::times;
///
/// let (a, b) = (array![[1.0, 2.0]], array![[3.0], [4.0]]);
/// assert_eq!(times(a.view(), b.view(), &())?, array![[11.0]]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// One multiplication for each row, column and term.
///
/// # Errors
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge),
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
pub fn times(
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let mut out = room::table(a.nrows(), b.ncols())?;
    shared(&mut out, b.len(), observer, |rows, mut part, stop| {
        if !stop.asked() {
            general_mat_mul(1.0, &a.slice(s![rows, ..]), &b, 0.0, &mut part);
        }
    })?;
    Ok(out)
}

/// `A' B`, both by rows.
///
/// ```
/// use consilience::ndarray::array;
/// use consilience::num::product::across;
///
/// let (a, b) = (array![[1.0], [2.0]], array![[3.0], [4.0]]);
/// assert_eq!(across(a.view(), b.view(), &())?, array![[11.0]]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// As [`times`].
///
/// # Errors
/// As [`times`].
pub fn across(
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let mut out = room::table(a.ncols(), b.ncols())?;
    let terms = a.nrows().min(b.nrows());
    shared(&mut out, terms.saturating_mul(b.ncols()), observer, |rows, mut part, stop| {
        let step = steps(part.len());
        for first in (0..terms).step_by(step).take_while(|_| !stop.asked()) {
            let some = first..terms.min(first + step);
            let more = f64::from(u8::from(first > 0));
            let (a, b) = (a.slice(s![some.clone(), rows.clone()]), b.slice(s![some, ..]));
            general_mat_mul(1.0, &a.t(), &b, more, &mut part);
        }
    })?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use consilience_core::ErrorKind;

    /// Asks to stop.
    struct Stops;

    impl Observer for Stops {
        fn cancelled(&self) -> bool {
            true
        }
    }

    #[test]
    fn bits_are_those_of_the_whole_product() {
        let mut draw = noise(3);
        // The last ones in more than one part.
        for (n, d, q) in [(1, 1, 1), (7, 300, 5), (700, 9, 13), (1300, 1027, 1030)] {
            let a = Array2::from_shape_fn((n, d), |_| draw() - 0.5);
            let b = Array2::from_shape_fn((n, q), |_| draw() - 0.5);
            assert_eq!(across(a.view(), b.view(), &()).unwrap(), a.t().dot(&b), "{n} {d} {q}");
            let p = Array2::from_shape_fn((q, d), |_| draw() - 0.5);
            assert_eq!(times(a.view(), p.t(), &()).unwrap(), a.dot(&p.t()), "{n} {d} {q}");
        }
    }

    #[test]
    fn can_be_stopped() {
        let a = Array2::<f64>::zeros((3, 3));
        for error in [times(a.view(), a.view(), &Stops), across(a.view(), a.view(), &Stops)] {
            assert_eq!(error.unwrap_err().kind(), ErrorKind::Cancelled);
        }
    }
}
