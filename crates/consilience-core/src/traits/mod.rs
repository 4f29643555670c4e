//! The traits where methods plug in.

mod base;
mod consensus;
mod constrained;
mod features;
mod similarity;

pub use base::BaseClusterer;
pub use consensus::{ConsensusFunction, Hierarchy, NodeConsensus, NodeMemberships, NodeOutput};
pub use constrained::{Assign, Clustering, ConstrainedClusterer, FeatureMap};
pub use features::Features;
pub use similarity::{GraphPartitioner, Similarity};
