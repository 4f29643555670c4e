use crate::Result;

/// Returns an [`Error`](crate::Error), by the name of its constructor, unless a condition holds.
///
/// ```text
/// ensure!(k <= n, invalid("{k} clusters of {n} objects"));
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $kind:ident($($message:tt)+)) => {
        if !$condition {
            return Err($crate::Error::$kind(format!($($message)+)));
        }
    };
}

/// Refuses a count of 0, by the name of the setting.
///
/// ```
/// use consilience::core::at_least_one;
///
/// assert!(at_least_one("restarts", 1).is_ok());
/// let error = at_least_one("restarts", 0).unwrap_err();
/// assert_eq!(error.message(), "restarts is 0; expected at least 1");
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter).
pub fn at_least_one(name: &str, value: usize) -> Result<()> {
    ensure!(value > 0, invalid("{name} is 0; expected at least 1"));
    Ok(())
}

/// Objects that all counts together may stand for: whole numbers up to here are exact in `f64`.
pub(crate) const MOST_OBJECTS: u64 = 1 << 53;

/// Refuses counts that are not one per object, a count of 0, and more than 2^53 objects in all.
pub(crate) fn counts(counts: &[u64], objects: usize) -> Result<()> {
    ensure!(counts.len() == objects, shape("{} counts for {objects} objects", counts.len()));
    let mut total = 0u64;
    for (i, &count) in counts.iter().enumerate() {
        ensure!(count > 0, out_of_range("the count of object {i} is 0; expected at least 1"));
        total = total.saturating_add(count);
        ensure!(
            total <= MOST_OBJECTS,
            out_of_range("counts up to object {i} stand for more than 2^53 objects")
        );
    }
    Ok(())
}
