//! What a stored clustering keeps of the assigners of this crate.

use std::sync::Arc;

use consilience_core::stored::{Kind, Parts, Restored};
use consilience_core::{Assign, Error, Result};

/// Registers an assigner's kind; `restored` checks the parts.
macro_rules! assigner {
    ($name:expr, $assigner:ty) => {
        inventory::submit! {
            Kind {
                name: $name,
                restore: |parts| {
                    let restored = <$assigner as Stored>::restored(parts)?;
                    Ok(Restored::Assigner(Arc::new(restored)))
                },
            }
        }
    };
}

pub(crate) const NEAREST_CENTRE: &str = "nearest-centre";
pub(crate) const NEAREST_UNDER: &str = "nearest-under-metrics";
pub(crate) const SCORES: &str = "highest-score";
pub(crate) const FARTHEST_MEMBER: &str = "farthest-member";
pub(crate) const EMBEDDING: &str = "self-tuned-embedding";

assigner!(NEAREST_CENTRE, crate::frame::NearestCentre);
assigner!(NEAREST_UNDER, crate::mpck::NearestUnder);
assigner!(SCORES, crate::pmmc::Scores);
assigner!(FARTHEST_MEMBER, crate::sets::FarthestMember);
assigner!(EMBEDDING, crate::ccskl::Embedding);

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
