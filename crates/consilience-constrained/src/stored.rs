//! What a stored clustering keeps of an assigner of this crate: each registers its own kind.

use consilience_core::stored::Parts;
use consilience_core::{Result, ensure};

/// Names an assigner's kind and registers it; `restored` checks the parts.
macro_rules! assigner {
    ($name:literal, $assigner:ty) => {
        const KIND: &str = $name;

        inventory::submit! {
            consilience_core::stored::Kind {
                name: KIND,
                restore: |parts| {
                    let restored = std::sync::Arc::new(<$assigner>::restored(parts)?);
                    Ok(consilience_core::stored::Restored::Assigner(restored))
                },
            }
        }
    };
}

pub(crate) use assigner;

/// Refuses a table without rows, or of another width.
pub(crate) fn check_table(name: &str, dim: (usize, usize), columns: usize) -> Result<()> {
    ensure!(dim.0 > 0 && dim.1 > 0, empty("`{name}` of {} x {} numbers", dim.0, dim.1));
    check_length(name, dim.1, columns)
}

/// The numbers of features that were learned from; all of them where nothing is said.
pub(crate) fn take_features(parts: &mut Parts, of: usize) -> Result<Vec<usize>> {
    if !parts.has("features") {
        return Ok((0..of).collect());
    }
    let numbers = parts.take_row("features")?;
    let whole = |&j: &f64| j >= 0.0 && j < of as f64 && j.fract() == 0.0;
    let ascend = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    ensure!(
        !numbers.is_empty() && ascend && numbers.iter().all(whole),
        invalid("`features` are not whole numbers below {of} that ascend")
    );
    Ok(numbers.into_iter().map(|j| j as usize).collect())
}

/// Refuses another length.
pub(crate) fn check_length(name: &str, length: usize, expected: usize) -> Result<()> {
    ensure!(length == expected, shape("`{name}` of {length} columns; expected {expected}"));
    Ok(())
}
