//! Clusterings by matrix completion.
//!
//! A clustering is a matrix of rank k: 1 for two objects of a cluster, else 0. Where a few entries
//! are known and some of those are wrong, [`RobustCompletion`] finds the low-rank matrix behind
//! them:
//!
//! ```
//! use consilience::completion::{ObservedPairs, Penalty, RobustCompletion};
//!
//! // Two clusters of eight; a third of the pairs is known.
//! let mut known = Vec::new();
//! for i in 0..16 {
//!     known.push((i, i, 1.0));
//!     for j in 0..i {
//!         if (i * 5 + j * 3) % 3 != 0 {
//!             known.push((i, j, f64::from(u8::from((i < 8) == (j < 8)))));
//!         }
//!     }
//! }
//! let completed = RobustCompletion::new()
//!     .penalty(Penalty::Scaled(2.0))
//!     .complete(&ObservedPairs::new(16, &known)?)?;
//! assert_eq!(completed.rank(), 2);
//! // Pairs of which nothing was known.
//! assert!(completed.entry(3, 0) > 0.9 && completed.entry(15, 0).abs() < 0.1);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! [`EcmcAl`] completes the pairs on which the base clusterings of an ensemble agree. With features
//! and a few known labels or pairs, [`Mccc`] and [`Rdml`] complete the similarity of all objects.

mod basis;
mod completed;
mod ecmc;
mod frame;
mod known_pairs;
mod mccc;
mod product;
mod qr;
mod rdml;
mod rmc;

pub use basis::Basis;
pub use completed::{CompletedClustering, CompletedPartition, CompletedSimilarity};
pub use ecmc::{CompletedCoAssociation, EcmcAl};
pub use mccc::{CompletedMap, CompletionBasis, CompletionSolver, Eigenvectors, LossWeight, Mccc};
pub use rdml::{Rdml, SampleSimilarity, SimilarityCut, Smoothing};
pub use rmc::{Completion, ObservedPairs, Penalty, RobustCompletion, Thresholds};
