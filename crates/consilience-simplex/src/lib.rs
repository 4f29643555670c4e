//! Clusterings that change: constraints as they come, new objects, new base clusterings.
//!
//! An [`Updater`] holds an ensemble, aligned to common clusters, and one weight per member. Batches
//! of must-links and cannot-links move the weights in milliseconds, whatever the number of objects;
//! objects are read out when somebody asks for them:
//!
//! ```
//! use consilience_core::{Ensemble, Link};
//! use consilience_simplex::Updater;
//! use ndarray::array;
//!
//! let ensemble = Ensemble::from_array(array![
//!     [0, 0, 0],
//!     [0, 0, 1],
//!     [1, 1, 0],
//!     [1, 1, 1],
//! ].view())?;
//! let mut updater = Updater::new(ensemble, 2)?;
//! let question = updater.next_questions(1, Default::default())?.pairs[0];
//! let report = updater.update(&[(question.i, question.j, Link::Must)])?;
//! assert_eq!(report.new_constraints, 1);
//!
//! // Stored and resumed elsewhere, over the same ensemble.
//! let bytes = updater.to_bytes();
//! let resumed = Updater::from_bytes(&bytes, updater.ensemble().clone())?;
//! assert_eq!(resumed.gamma(), updater.gamma());
//! # Ok::<(), consilience_core::Error>(())
//! ```
//!
//! [`Updater::read_out`] is the default way to a clustering: it learns a metric on the ensemble's
//! own embedding ([`MetricRule`]) and judges it on links that it has not seen.
//!
//! The lower road: [`UpdaterSetup`] chooses reference, start and [`UpdateRule`]; [`ExactUpdate`],
//! [`AdditiveUpdate`] and [`MultiplicativeUpdate`] are the rules; [`relabelled`] tells what changed
//! between two clusterings.

mod align;
mod embedding;
mod growth;
mod kernel;
mod members;
mod metric;
mod mirror;
mod questions;
mod readout;
#[cfg(test)]
mod reference;
mod rules;
mod setup;
mod snapshot;
mod tally;
#[cfg(test)]
mod tests;
mod tiles;
mod updater;
mod weights;
mod winners;

pub use align::AlignmentReference;
pub use embedding::{
    ConsensusEmbedding, ConsensusMetric, Embedding, Judgement, LinkEvidence, MetricReadOut,
    MetricReport, MetricRule, Reading,
};
pub use growth::{GrownMembers, HullGrowth};
pub use questions::{PairQuestion, Questions, UncertainObject};
pub use readout::relabelled;
pub use rules::{
    AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, PairLoss, UpdateRule, Violations,
};
pub use setup::{InitialWeights, UpdaterSetup};
pub use updater::{UpdateReport, Updater};
