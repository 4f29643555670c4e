//! Votes on labels, without any graph between objects.

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
