use crate::{Error, Result};

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
    if value == 0 {
        return Err(Error::invalid(format!("{name} is 0; expected at least 1")));
    }
    Ok(())
}
