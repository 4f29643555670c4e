//! Memory that the system may refuse: an error, where a plain allocation ends the process.

use bytemuck::allocation::try_zeroed_vec;
use ndarray::{Array2, ArrayView2};

use crate::{Error, Result};

/// What is zero where all its bytes are.
pub trait Zero: Sized {
    /// As [`zeros`]; `None` where the system refuses.
    fn zeros(len: usize) -> Option<Vec<Self>>;
}

macro_rules! zero {
    ($($number:ty),*) => {
        $(impl Zero for $number {
            fn zeros(len: usize) -> Option<Vec<Self>> {
                try_zeroed_vec(len).ok()
            }
        })*
    };
}

zero!(u8, u16, u32, u64, usize, f32, f64, (u32, u32));

/// There is no memory for so many values.
pub fn no_room<T>(len: usize) -> Error {
    let bytes = size_of::<T>();
    Error::too_large(format!("{len} values of {bytes} bytes do not fit in memory"))
}

/// Room for `len` values.
///
/// ```
/// use consilience::core::room;
///
/// let mut values = room::with_capacity(3)?;
/// values.extend([1, 2, 3]);
/// assert!(room::with_capacity::<u64>(usize::MAX / 16).is_err());
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge), as all functions here.
pub fn with_capacity<T>(len: usize) -> Result<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(len).map_err(|_| no_room::<T>(len))?;
    Ok(room)
}

/// `len` zeros, which the system makes when they are first looked at.
///
/// ```
/// use consilience::core::room;
///
/// assert_eq!(room::zeros::<u32>(3)?, [0, 0, 0]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
pub fn zeros<T: Zero>(len: usize) -> Result<Vec<T>> {
    T::zeros(len).ok_or_else(|| no_room::<T>(len))
}

/// `len` times a value.
///
/// ```
/// use consilience::core::room;
///
/// assert_eq!(room::filled(2, f64::INFINITY)?, [f64::INFINITY; 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
pub fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>> {
    let mut values = with_capacity(len)?;
    values.resize(len, value);
    Ok(values)
}

/// A copy.
///
/// ```
/// use consilience::core::room;
///
/// assert_eq!(room::copied(&[1, 2])?, [1, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
pub fn copied<T: Clone>(values: &[T]) -> Result<Vec<T>> {
    let mut copy = with_capacity(values.len())?;
    copy.extend_from_slice(values);
    Ok(copy)
}

/// All values; as many as the iterator says at least are asked for at once, and more as they come.
///
/// ```
/// use consilience::core::room;
///
/// assert_eq!(room::collected((0..9).filter(|i| i % 4 == 0))?, [0, 4, 8]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
pub fn collected<T>(values: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let values = values.into_iter();
    let mut all = with_capacity(values.size_hint().0)?;
    for value in values {
        push(&mut all, value)?;
    }
    Ok(all)
}

/// Adds a value, with twice the room where there is none left.
///
/// ```
/// use consilience::core::room;
///
/// let mut values = vec![1];
/// room::push(&mut values, 2)?;
/// assert_eq!(values, [1, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge); nothing has changed then.
#[inline]
pub fn push<T>(values: &mut Vec<T>, value: T) -> Result<()> {
    if values.len() == values.capacity() {
        values.try_reserve(1).map_err(|_| no_room::<T>(values.len() + 1))?;
    }
    values.push(value);
    Ok(())
}

/// A table of zeros.
///
/// ```
/// use consilience::core::room;
///
/// assert_eq!(room::table::<f64>(2, 3)?.dim(), (2, 3));
/// assert!(room::table::<f64>(usize::MAX, 3).is_err());
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
pub fn table<T: Zero>(rows: usize, columns: usize) -> Result<Array2<T>> {
    shaped(rows, columns, zeros(rows.saturating_mul(columns))?)
}

/// A copy of a table, its rows one after the other.
///
/// ```
/// use consilience::core::room;
/// use consilience::ndarray::array;
///
/// let table = array![[1.0, 2.0], [3.0, 4.0]];
/// assert_eq!(room::copied_table(table.t())?, table.t());
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
pub fn copied_table<T: Clone>(table: ArrayView2<'_, T>) -> Result<Array2<T>> {
    let mut values = with_capacity(table.len())?;
    match table.as_slice() {
        Some(all) => values.extend_from_slice(all),
        None => values.extend(table.iter().cloned()),
    }
    shaped(table.nrows(), table.ncols(), values)
}

/// A table of what a function says of each place.
///
/// ```
/// use consilience::core::room;
/// use consilience::ndarray::array;
///
/// assert_eq!(room::table_of(2, 2, |(i, j)| 2 * i + j)?, array![[0, 1], [2, 3]]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
pub fn table_of<T>(
    rows: usize,
    columns: usize,
    mut value: impl FnMut((usize, usize)) -> T,
) -> Result<Array2<T>> {
    let mut values = with_capacity(rows.saturating_mul(columns))?;
    for i in 0..rows {
        values.extend((0..columns).map(|j| value((i, j))));
    }
    shaped(rows, columns, values)
}

fn shaped<T>(rows: usize, columns: usize, values: Vec<T>) -> Result<Array2<T>> {
    Array2::from_shape_vec((rows, columns), values).map_err(|e| Error::shape(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn what_no_system_gives_is_an_error() {
        let most = usize::MAX / 16;
        let errors = [
            zeros::<u64>(most).unwrap_err(),
            filled(most, 1u64).unwrap_err(),
            collected(std::iter::repeat_n(1u64, most)).unwrap_err(),
            table::<u64>(most, 1).unwrap_err(),
            table::<u64>(most, most).unwrap_err(),
            table_of(most, most, |_| 1u64).unwrap_err(),
        ];
        assert!(errors.iter().all(|e| e.kind() == ErrorKind::TooLarge));
        assert_eq!(table::<u64>(0, 3).unwrap().dim(), (0, 3));
        assert_eq!(collected(std::iter::empty::<u64>()).unwrap(), []);
    }
}
