//! Soft consensus under Bregman divergences: probabilistic consensus clustering (PCC).
//!
//! Every object gets a distribution over at most K clusters, such that the inner product of two of
//! them predicts how often the ensemble puts the two together. Clusters that do not improve the
//! prediction lose their objects:
//!
//! ```
//! use consilience::{ConsensusFunction, Ensemble, Partition};
//! use consilience::bregman::{Pcc, cluster_relations, surviving_clusters};
//!
//! let ensemble = Ensemble::new(vec![
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
//!     Partition::from_labels(&[0, 0, 0, 0, 1, 2, 2])?,
//!     Partition::from_labels(&[1, 1, 1, 0, 0, 2, 2])?,
//! ])?;
//! let fit = Pcc::new(5).fit(&ensemble, &())?;
//! let soft = fit.output;
//! assert_eq!(surviving_clusters(&soft).len(), 3);
//! assert_eq!(soft.hard()?.to_signed(), [0, 0, 0, 1, 1, 2, 2]);
//! // One member of three puts object 3 with the first three.
//! assert!(soft.entropy()[3] > 0.5);
//! let m = cluster_relations(&soft, 0.01)?;
//! assert!((m.row(surviving_clusters(&soft)[0]).sum() - 1.0).abs() < 1e-12);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! Building blocks: [`PairEvidence`] holds the counts that everything is fitted to, from an
//! ensemble or from anywhere else, and [`Pcc::solution`] works on it; a [`Divergence`] of your own
//! is another cost; [`Solver`] is how the optimum is found.

mod divergence;
mod evidence;
mod heap;
mod inside;
mod kernel;
mod line_search;
mod newton;
mod pcc;
mod point;
mod quadratic;
#[cfg(test)]
mod reference;
mod rounding;
mod start;
#[cfg(feature = "serde")]
mod stored;
mod summary;
#[cfg(test)]
mod tests;

pub use divergence::{Divergence, KullbackLeibler, Line, SquaredEuclidean, check_divergence};
pub use evidence::PairEvidence;
pub use pcc::{Pairs, Pcc, Solution, Solver};
pub use start::Start;
pub use summary::{centroids, cluster_relations, surviving_clusters};
