//! The traits where methods plug in.

mod base;
mod consensus;
mod constrained;
mod dense;
mod features;
mod similarity;
mod sparse_rows;
#[cfg(test)]
mod tests;

pub use base::BaseClusterer;
pub use consensus::{ConsensusFunction, Hierarchy, NodeConsensus, NodeMemberships, NodeOutput};
pub use constrained::{Assign, Clustering, ConstrainedClusterer, FeatureMap};
pub use dense::Dense;
pub use features::Features;
pub use similarity::{GraphPartitioner, Similarity};
pub use sparse_rows::SparseRows;
