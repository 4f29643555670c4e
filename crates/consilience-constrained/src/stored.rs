//! What a stored clustering keeps of an assigner of this crate: each registers its own kind.

use consilience_core::stored::Parts;
use consilience_core::{Assign, Error, Result};

/// Registers an assigner's kind; `restored` checks the parts.
macro_rules! assigner {
    ($name:expr, $assigner:ty) => {
        inventory::submit! {
            consilience_core::stored::Kind {
                name: $name,
                restore: |parts| {
                    let restored = <$assigner as $crate::stored::Stored>::restored(parts)?;
                    let restored = std::sync::Arc::new(restored);
                    Ok(consilience_core::stored::Restored::Assigner(restored))
                },
            }
        }
    };
}

pub(crate) use assigner;

/// An assigner whose parts can be checked.
pub(crate) trait Stored: Assign + Sized {
    fn restored(parts: &mut Parts) -> Result<Self>;
}

/// Refuses a table without rows, or of another width.
pub(crate) fn check_table(name: &str, dim: (usize, usize), columns: usize) -> Result<()> {
    if dim.0 == 0 || dim.1 == 0 {
        return Err(Error::empty(format!("`{name}` of {} x {} numbers", dim.0, dim.1)));
    }
    check_length(name, dim.1, columns)
}

/// Refuses another length.
pub(crate) fn check_length(name: &str, length: usize, expected: usize) -> Result<()> {
    if length != expected {
        return Err(Error::shape(format!("`{name}` of {length} columns; expected {expected}")));
    }
    Ok(())
}
