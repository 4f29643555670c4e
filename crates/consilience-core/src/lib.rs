//! The types, traits, errors and scores that every part of consilience speaks in.
//!
//! Several clusterings of the same objects are an [`Ensemble`] of [`Partition`]s. A
//! [`ConsensusFunction`] turns it into one [`Partition`], or into soft [`Memberships`]; [`scores`]
//! says how well that agrees with anything else:
//!
//! ```
//! use consilience::{Ensemble, Partition, scores};
//!
//! let truth = Partition::from_labels(&[0, 0, 0, 1, 1, 1])?;
//! let ensemble = Ensemble::new(vec![
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
//!     Partition::from_labels(&[1, 1, 0, 0, 0, 0])?,
//! ])?;
//! let ari: Vec<f64> = ensemble
//!     .members()
//!     .iter()
//!     .map(|member| scores::adjusted_rand(member, &truth))
//!     .collect::<Result<_, _>>()?;
//! assert_eq!(ari[0], 1.0);
//! assert!(ari[1] < 1.0);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! Building blocks for a method of your own: [`NodeConsensus`], [`BaseClusterer`], [`Similarity`]
//! and [`GraphPartitioner`] are the places to plug in, [`Observer`] carries progress out and
//! cancellation in, [`Seed`] is the only source of randomness, and the crate
//! `consilience-conformance` (feature `conformance` of `consilience`) puts an implementation
//! through every law that ours obey.

#[cfg(feature = "approx")]
mod approximate;
pub mod assignment;
mod canonical;
mod checks;
mod clusters;
mod constraints;
mod dendrogram;
mod ensemble;
mod error;
mod joined;
mod labels;
mod linkage;
mod lowest_terms;
mod members;
mod memberships;
mod memory;
mod microclusters;
mod names;
mod objects;
mod observer;
mod partition;
mod report;
#[doc(hidden)]
pub mod room;
pub mod scores;
mod seed;
mod setters;
mod side_information;
mod similarity_graph;
mod sparse_memberships;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod stored;
#[doc(hidden)]
pub mod ties;
mod traits;
mod watch;

pub use checks::{at_least_one, check_answer, check_restarts, number_of};
pub use clusters::Clusters;
pub use constraints::{Constraints, Link, Pair};
pub use dendrogram::{Dendrogram, Merge};
pub use ensemble::Ensemble;
pub use error::{Error, ErrorKind, Result};
pub use joined::Joined;
pub use labels::{LabelInt, LabelSlice, RawLabel};
pub use linkage::Linkage;
pub use lowest_terms::sizes_in_lowest_terms;
pub use members::{Accepts, Member};
pub use memberships::Memberships;
pub use memory::MemoryBudget;
pub use microclusters::Microclusters;
pub use names::{Named, expected_one_of, named};
pub use objects::Objects;
pub use observer::{Observer, OnlyCancels};
pub use partition::Partition;
pub use report::{Fit, Report, Status};
pub use seed::{Seed, Stream, mix};
pub use side_information::SideInformation;
pub use similarity_graph::{Grouping, SimilarityGraph, check_symmetric, check_symmetric_observed};
pub use sparse_memberships::SparseMemberships;
pub use traits::{
    Assign, BaseClusterer, Clustering, ConsensusFunction, ConstrainedClusterer, Dense, FeatureMap,
    Features, GraphPartitioner, Hierarchy, NodeConsensus, NodeMemberships, NodeOutput, Similarity,
    SparseRows,
};
pub use watch::{Pace, Stop, Watch};
