//! How far to trust a consensus: diagnostics of a result, the number of clusters, the method.
//!
//! [`Recommended`] chooses the method by evidence in the ensemble, [`ClusterNumber`] the number of
//! clusters, and [`Diagnostics`] says how well the ensemble supports any result:
//!
//! ```
//! use consilience::{ConsensusFunction, Ensemble, Partition};
//! use consilience::trust::{Diagnostics, Recommended};
//!
//! let ensemble = Ensemble::new(vec![
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
//!     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
//! ])?;
//! let consensus = Recommended::new(3).consensus(&ensemble)?;
//! let trust = Diagnostics::of(&ensemble, &consensus)?;
//! assert!(trust.anmi > 0.8);
//! println!("{}", trust.sentences.join("\n"));
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! All of them take members that give memberships and weights of members. What is counted in labels
//! takes the most probable clusters, and says so.
//!
//! Building block: [`ConsensusCdf`] is the distribution of the co-association over pairs of
//! objects, with its area and its proportion of ambiguous pairs, for any ensemble; [`RowSample`] is
//! a sample of the objects for what is costly on all.

mod cdf;
#[doc(hidden)]
pub mod common;
mod diagnostics;
mod members;
mod number;
mod number_table;
mod recommended;
mod sample;
#[cfg(feature = "serde")]
mod stored;
mod support;
#[cfg(test)]
mod tests;

pub use cdf::ConsensusCdf;
pub use diagnostics::{ClusterDiagnostics, Diagnostics, MemberDiagnostics};
pub use number::ClusterNumber;
pub use number_table::{Criterion, NumberRow, NumberTable};
pub use recommended::Recommended;
pub use sample::RowSample;
