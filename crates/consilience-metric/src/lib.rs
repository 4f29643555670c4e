//! Clustering from a few labels or pairs: metrics learned from them, and clusterers that respect
//! them.
//!
//! Labels of some objects, or pairs that belong together or apart, become a [`SideInformation`]. A
//! [`MetricLearner`] turns it into a [`LinearMap`] of the features, a [`ConstrainedClusterer`] into
//! a [`Clustering`], which also labels new objects; [`cluster_under`] does both:
//!
//! ```
//! use consilience_core::Seed;
//! use consilience_metric::{cluster_under, Nnc, RsdDiagonal, SideInformation};
//! use ndarray::array;
//!
//! // The first feature tells the classes apart, the second is larger and says nothing.
//! let x = array![[0.0, 9.0], [1.0, -7.0], [0.5, 30.0], [5.0, 8.0], [6.0, -9.0], [5.5, -30.0]];
//! let side = SideInformation::from_labels(&[0, 0, -1, 1, 1, -1])?;
//! let found = cluster_under(&RsdDiagonal::new(), &Nnc::new(), x.view().into(), 2, &side, Seed(0), &())?.output;
//! assert_eq!(found.partition.to_signed(), [0, 0, 0, 1, 1, 1]);
//! assert_eq!(found.assign(array![[4.0, 100.0]].view().into())?, [1]);
//! # Ok::<(), consilience_core::Error>(())
//! ```
//!
//! The lower road: [`LinearMap::apply`] gives features for any other clusterer or generator, and
//! [`Separation`] says how clearly a partition separates the objects, and when nothing can be
//! better.

mod ccskl;
mod constrained;
mod dca;
mod fpc;
mod input;
mod itml;
mod learned;
#[cfg(test)]
mod learner_tests;
mod lmnn;
mod merge;
mod mmc;
mod nnc;
mod pmmc;
mod rca;
mod rows;
mod rsd;
mod scatter;
mod separation;
mod standard;

pub use ccskl::Ccskl;
pub use consilience_core::SideInformation;
pub use constrained::{CopKMeans, MpckMeans, PckMeans, SeededKMeans};
pub use dca::Dca;
pub use fpc::Fpc;
pub use itml::Itml;
pub use learned::{
    Assign, Clustering, ConstrainedClusterer, LinearMap, MetricLearner, cluster_under,
};
pub use lmnn::Lmnn;
pub use mmc::Mmc;
pub use nnc::Nnc;
pub use pmmc::Pmmc;
pub use rca::Rca;
pub use rsd::{RsdDiagonal, RsdFull, RsdMetric};
pub use separation::Separation;
