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
