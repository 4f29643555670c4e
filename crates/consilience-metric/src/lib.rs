//! Metrics learned from a few labels or pairs.
//!
//! Labels of some objects, or pairs that belong together or apart
//! ([`SideInformation`](consilience_core::SideInformation)), become a [`LinearMap`] of the
//! features, under which the usual distance is the learned one. Each [`MetricLearner`] is one
//! method; [`Itml`] is the default for pairs, [`RsdDiagonal`] for a few labels per class.
//!
//! ```
//! use consilience::SideInformation;
//! use consilience::metric::{Itml, MetricLearner};
//! use consilience::ndarray::array;
//!
//! // The first feature distinguishes the classes, the second is larger and does not.
//! let x = array![[0.0, 9.0], [1.0, -7.0], [0.5, 30.0], [5.0, 8.0], [6.0, -9.0], [5.5, -30.0]];
//! let side = SideInformation::from_labels(&[0, 0, -1, 1, 1, -1])?;
//! let map = Itml::new().learn(x.view().into(), &side)?;
//! let near = map.distance(x.row(0), x.row(2))?;
//! let far = map.distance(x.row(0), x.row(3))?;
//! assert!(far > near);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! [`LinearMap::apply`] gives features for any clusterer or generator. [`Separation`] says how
//! clearly a partition separates the objects, and when no other can be better.

mod dca;
mod itml;
#[cfg(test)]
mod learner_tests;
mod linear_map;
mod lmnn;
mod metric_learner;
mod mmc;
mod rca;
mod rsd;
mod scatter;
mod separation;
mod standard;
#[cfg(feature = "serde")]
mod stored;
mod truncated_svd;

pub use dca::Dca;
pub use itml::Itml;
pub use linear_map::LinearMap;
pub use lmnn::Lmnn;
pub use metric_learner::MetricLearner;
pub use mmc::Mmc;
pub use rca::Rca;
pub use rsd::{RsdDiagonal, RsdFull, RsdMetric};
pub use separation::Separation;
pub use truncated_svd::TruncatedSvd;
