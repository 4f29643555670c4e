//! Consensus by votes on labels, without any graph between objects.
//!
//! [`Voting`] makes the labels of all members mean the same and counts; [`LeastSquares`] does so
//! softly, and [`Qmi`] and [`MixtureModel`] need no common meaning: they cluster the label rows
//! themselves, by distance and by likelihood.
//!
//! ```
//! use consilience_core::{ConsensusFunction, Ensemble, Partition};
//! use consilience_vote::{LeastSquares, Voting};
//!
//! let ensemble = Ensemble::new(vec![
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
//!     Partition::from_labels(&[1, 1, 1, 0, 0, 1])?,
//!     Partition::from_labels(&[5, 5, 8, 8, 8, 8])?,
//! ])?;
//! assert_eq!(Voting::new(2).consensus(&ensemble)?.to_signed(), vec![0, 0, 0, 1, 1, 1]);
//!
//! // Two of three members put the third object with the first.
//! let soft = LeastSquares::new(2).consensus(&ensemble)?;
//! assert!((soft.values()[[2, 0]] - 2.0 / 3.0).abs() < 1e-12);
//! # Ok::<(), consilience_core::Error>(())
//! ```
//!
//! The lower road: [`Ballots`] are the members over microclusters, in an order of their own so that
//! the order in which they came leaves no trace, and [`Ballots::align`] matches their clusters to a
//! reference.

mod agreement;
mod ballots;
mod least_squares;
mod mixture;
mod qmi;
mod voting;

pub use agreement::weighted_nmi;
pub use ballots::Ballots;
pub use least_squares::LeastSquares;
pub use mixture::{MixtureModel, SoftMixtureModel};
pub use qmi::Qmi;
pub use voting::Voting;
