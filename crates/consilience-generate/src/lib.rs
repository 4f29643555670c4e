//! Features to a clustering ensemble: base clusterers, and ways to make them differ.
//!
//! A [`Generator`] runs one base clusterer many times and varies what it sees: the number of
//! clusters, the features, the objects, the projection, the random start.
//!
//! ```
//! use consilience::Seed;
//! use consilience::generate::{Generator, KMeans, Scale};
//! use consilience::ndarray::Array2;
//!
//! // Two groups of ten objects.
//! let x = Array2::from_shape_fn((20, 2), |(i, j)| (i / 10 * 8) as f64 + (i * (j + 3) % 7) as f64 * 0.1);
//! let ensemble = Generator::new(KMeans::new())
//!     .members(10)
//!     .clusters(2..=4)
//!     .scale(Scale::ZScore)
//!     .seed(Seed(1))
//!     .generate(x.view())?;
//! assert_eq!((ensemble.n_objects(), ensemble.n_members()), (20, 10));
//! // No member puts objects of different groups together.
//! assert!(ensemble.members().iter().all(|m| m.label(0) != m.label(19)));
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! Building blocks: every clusterer is a [`BaseClusterer`](consilience_core::BaseClusterer) and can
//! be called by itself, and so can yours, given to [`Generator::new`].

mod agglomerative;
mod categories;
mod chain;
mod columns;
mod distinct;
mod expectation;
mod fuzzy_c_means;
mod gaussian_mixture;
mod generator;
mod input;
mod kernel_kmeans;
mod kmeans;
mod merges;
mod mini_batch;
mod pages;
mod rpcl;
mod silhouettes;
mod similarity;
#[cfg(test)]
mod soft_tests;
mod sparse_kernel;
mod spectral;
mod spherical_kmeans;
#[cfg(feature = "serde")]
mod stored;
#[cfg(test)]
mod tests;
mod uspec;
mod ward;

pub use agglomerative::Agglomerative;
pub use categories::{CategoricalDistance, CategoryEmbedding};
pub use consilience_core::Linkage;
pub use fuzzy_c_means::FuzzyCMeans;
pub use gaussian_mixture::GaussianMixture;
pub use generator::{Generator, Missing, Scale, View};
pub use kernel_kmeans::KernelKMeans;
pub use kmeans::{KMeans, KMeansClusters};
pub use mini_batch::MiniBatchKMeans;
pub use rpcl::Rpcl;
pub use silhouettes::{SilhouetteNumber, SilhouetteRow, SilhouetteTable};
pub use spectral::Spectral;
pub use spherical_kmeans::SphericalKMeans;
pub use uspec::USpec;
