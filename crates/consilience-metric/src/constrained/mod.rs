//! Clusterers of the k-means family that respect labels and links.

mod colouring;
mod cop;
pub(crate) mod frame;
mod metrics;
mod mpck;
mod pck;
mod seeded;
mod tallies;
#[cfg(test)]
pub(crate) mod tests;

pub use cop::CopKMeans;
pub use mpck::MpckMeans;
pub use pck::PckMeans;
pub(crate) use pck::cheapest;
pub use seeded::SeededKMeans;
pub(crate) use seeded::check_iterations;
