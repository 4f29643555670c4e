//! Clustering of features that respects a few labels or pairs.
//!
//! Labels of some objects, or pairs that belong together or apart, become a
//! [`SideInformation`](consilience_core::SideInformation). A
//! [`ConstrainedClusterer`](consilience_core::ConstrainedClusterer) turns features and that into a
//! [`Clustering`](consilience_core::Clustering), which also labels new objects; [`UnderMetric`]
//! learns a metric first:
//!
//! ```
//! use consilience::SideInformation;
//! use consilience::constrained::{Nnc, UnderMetric};
//! use consilience::core::ConstrainedClusterer;
//! use consilience::metric::RsdDiagonal;
//! use consilience::ndarray::array;
//!
//! // The first feature distinguishes the classes, the second is larger and does not.
//! let x = array![[0.0, 9.0], [1.0, -7.0], [0.5, 30.0], [5.0, 8.0], [6.0, -9.0], [5.5, -30.0]];
//! let side = SideInformation::from_labels(&[0, 0, -1, 1, 1, -1])?;
//! let found = UnderMetric::new(RsdDiagonal::new(), Nnc::new(2)).cluster(x.view().into(), &side)?;
//! assert_eq!(found.partition.to_signed(), [0, 0, 0, 1, 1, 1]);
//! assert_eq!(found.assign(array![[4.0, 100.0]].view())?, [1]);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! Every method takes the number of clusters where it is built, and the seed by a setter. With
//! [`Clusters::Auto`](consilience_core::Clusters::Auto) there are as many clusters as the labels
//! have classes.

mod ccskl;
mod colouring;
mod cop;
mod fpc;
mod frame;
mod merge;
mod metrics;
mod mpck;
mod nnc;
mod number;
mod pck;
mod pmmc;
mod points;
mod prices;
mod seeded;
mod sets;
mod sparse_points;
#[cfg(feature = "serde")]
mod stored;
mod tallies;
#[cfg(test)]
mod tests;
mod under_metric;

pub use ccskl::Ccskl;
pub use cop::CopKMeans;
pub use fpc::Fpc;
pub use mpck::MpckMeans;
pub use nnc::Nnc;
pub use pck::PckMeans;
pub use pmmc::Pmmc;
pub use seeded::SeededKMeans;
pub use under_metric::UnderMetric;
