//! Consensus by votes on labels, without any graph between objects.
//!
//! [`Voting`] matches the labels of all members and counts; [`LeastSquares`] does so softly. [`Qmi`]
//! and [`MixtureModel`] need no matching: they cluster the label rows themselves, by distance and by
//! likelihood.
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
//! Building blocks: [`Ballots`] are the members over microclusters, sorted so that no result depends
//! on the order in which they came, and [`Ballots::align`] matches their clusters to a reference.

mod ballots;
mod least_squares;
mod mixture;
mod qmi;
mod voting;

pub use ballots::Ballots;
pub use least_squares::LeastSquares;
pub use mixture::{MixtureModel, SoftMixtureModel};
pub use qmi::Qmi;
pub use voting::Voting;

use consilience_core::{Clusters, Result};

/// The number of clusters, which is all that these methods take.
fn number(clusters: Clusters, method: &str) -> Result<usize> {
    clusters.fixed().ok_or_else(|| clusters.refuse(method, "a number"))
}
