//! From features to a consensus clustering in one call, and new objects placed into it later.
//!
//! [`ConsensusClustering`] makes an ensemble, combines it and keeps how each member places objects:
//! a [`ConsensusModel`], which labels objects that it has not seen and says how sure it is of each.
//!
//! ```
//! use consilience::model::ConsensusClustering;
//! use consilience::ndarray::{Array2, array};
//!
//! // Two groups of thirty objects.
//! let x = Array2::from_shape_fn((60, 2), |(i, j)| (i / 30 * 8) as f64 + (i * (j + 3) % 29) as f64 * 0.1);
//! let model = ConsensusClustering::new(2).cluster(&x)?;
//! assert_eq!(model.partition().sizes(), [30, 30]);
//!
//! let new = array![[1.3, 1.2], [9.4, 9.3], [900.0, 900.0]];
//! let placed = model.place(&new)?;
//! assert_eq!(placed.labels[..2], [0, 1]);
//! assert!(placed.confidence[0] > 0.9);
//! // The last lies outside of everything seen.
//! assert_eq!(placed.outside(), [2]);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! With a few labels or pairs [`LinkedClustering`] chooses among the methods that use them, and
//! plain k-means, by what each keeps of links that it has not seen.
//!
//! Where nobody has labelled anything yet, a [`Questioner`] asks people or language models about
//! the pairs whose answers tell most, weighs what they say, and stops where an answer costs more
//! than it brings.
//!
//! Building blocks: any [`Generator`](consilience_generate::Generator) and any
//! [`ConsensusFunction`](consilience_core::ConsensusFunction) go in, yours too.

#[cfg(feature = "serde")]
mod bytes;
mod clustering;
mod links;
mod model;
mod placement;
mod prototypes;
mod questions;
#[cfg(feature = "serde")]
mod stored;
mod table;
#[cfg(test)]
mod tests;
mod votes;

pub use clustering::ConsensusClustering;
pub use links::{JudgedCandidate, LinkJudgement, LinkedClustering, LinkedFit};
pub use model::ConsensusModel;
pub use placement::Placement;
pub use questions::{Answer, Question, Questioner, QuestionerOptions, StopReason, WorkerAccuracy};
