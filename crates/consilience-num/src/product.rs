//! Products of matrices that can be stopped, in memory that the system may refuse.
//!
//! They have the bits of [`ndarray`]'s own products: those are sums over blocks of 256 terms, one
//! block after the other, and here a question to the observer comes between some of the blocks.

use std::ops::Range;

use consilience_core::{Observer, Result, room};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, s};

/// Terms that are summed together.
const BLOCK: usize = 256;
/// Multiplications between two questions, where one block of rows has not more.
const WORK: usize = 1 << 28;

/// Calls `with` for the rows of a product, some at a time, and asks before each call.
fn chunks(
    rows: usize,
    work_of_row: usize,
    observer: &dyn Observer,
    mut with: impl FnMut(Range<usize>),
) -> Result<()> {
    let blocks = WORK / BLOCK / work_of_row.max(1);
    let chunk = blocks.clamp(1, 1 << 20) * BLOCK;
    for first in (0..rows).step_by(chunk) {
        observer.check()?;
        with(first..rows.min(first + chunk));
    }
    observer.check()
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
/// One multiplication for each row, column and term, on one thread.
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
    chunks(a.nrows(), b.len(), observer, |rows| {
        let part = a.slice(s![rows.clone(), ..]);
        general_mat_mul(1.0, &part, &b, 0.0, &mut out.slice_mut(s![rows, ..]));
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
    let work = a.ncols().saturating_mul(b.ncols());
    chunks(a.nrows().min(b.nrows()), work, observer, |rows| {
        let more = f64::from(u8::from(rows.start > 0));
        let (a, b) = (a.slice(s![rows.clone(), ..]), b.slice(s![rows, ..]));
        general_mat_mul(1.0, &a.t(), &b, more, &mut out);
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
        // The last ones in more than one chunk.
        for (n, d, q) in [(1, 1, 1), (7, 300, 5), (700, 9, 13), (1300, 1024, 1030)] {
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
