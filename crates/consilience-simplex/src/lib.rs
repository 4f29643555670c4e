//! Weights of the members of an ensemble that follow must-links and cannot-links as they come.
//!
//! A [`WeightUpdater`] holds an ensemble, aligned to common clusters, and one weight per member.
//! Batches of links move the weights in milliseconds, for a thousand objects as for millions;
//! objects get their labels when somebody asks for them:
//!
//! ```
//! use consilience::{Ensemble, Pair};
//! use consilience::simplex::WeightUpdater;
//! use consilience::ndarray::array;
//!
//! let ensemble = Ensemble::from_array(array![
//!     [0, 0, 0],
//!     [0, 0, 1],
//!     [1, 1, 0],
//!     [1, 1, 1],
//! ].view())?;
//! let mut updater = WeightUpdater::new(ensemble, 2)?;
//! let question = updater.next_questions(1, Default::default())?.pairs[0];
//! let report = updater.update(&[Pair::must_link(question.i, question.j)])?;
//! assert_eq!(report.new_constraints, 1);
//! let clustering = updater.partition()?;
//!
//! // Stored and resumed elsewhere, over the same ensemble.
//! let bytes = updater.to_bytes();
//! let resumed = WeightUpdater::from_bytes(&bytes, updater.ensemble().clone())?;
//! assert_eq!(resumed.partition()?, clustering);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! [`WeightUpdaterSetup`] chooses reference, start and [`UpdateRule`]; [`ExactUpdate`],
//! [`AdditiveUpdate`] and [`MultiplicativeUpdate`] are the rules; [`relabelled`] finds what changed
//! between two clusterings. Building block: [`stored`] has the parts of a stored state.

mod alignment;
mod kernel;
mod members;
mod mirror;
mod parallel;
mod questions;
mod read_out;
#[cfg(test)]
mod reference;
mod relabelled;
mod rules;
mod snapshot;
pub mod stored;
mod tally;
#[cfg(test)]
mod tests;
mod tiles;
mod transpose;
mod update;
mod weight_setup;
mod weight_updater;
mod weighted_members;
mod weights;
mod winners;

pub use alignment::{AlignmentReference, evenly, evenly_within};
pub use questions::{PairQuestion, Questions, UncertainObject};
pub use relabelled::{relabelled, relabelled_within};
pub use rules::{
    AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, PairLoss, UpdateRule, Violations,
};
pub use update::UpdateReport;
pub use weight_setup::{InitialWeights, WeightUpdaterSetup};
pub use weight_updater::WeightUpdater;
