//! Combine clusterings: several clusterings in, one out (hard or soft), with a measure of how far
//! to trust it.
//!
//! Change the algorithm, the seed, the features or the annotator, and the same data give a
//! different clustering. All of them are evidence. An [`Ensemble`] holds them, a
//! [`ConsensusFunction`] turns it into one [`Partition`] or into soft [`Memberships`]:
//!
//! ```
//! use consilience::prelude::*;
//! use consilience::trust::Recommended;
//! use consilience::{Ensemble, Partition, scores};
//!
//! let ensemble = Ensemble::new(vec![
//!     Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1])?,
//!     Partition::from_labels(&[7, 7, 7, 9, 9, 9, 5, 5])?, // any numbers, with gaps
//!     Partition::from_labels(&[0, 0, -1, 1, 2, 2, 2, 2])?, // -1: unlabelled here
//! ])?;
//! let consensus = Recommended::new(2).consensus(&ensemble)?;
//! assert_eq!(consensus.to_signed(), [0, 0, 0, 0, 1, 1, 1, 1]);
//! assert!(scores::adjusted_rand(&consensus, &ensemble.members()[1])? > 0.2);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Where to go
//!
//! The [`guide`] has a page for each kind of input, and explains the words used here. Each module
//! is named after its input or output:
//!
//! | you have | module |
//! |---|---|
//! | several clusterings of the same objects | [`consensus`], [`walk`] and [`bregman`] (cluster probabilities); by name in the [`catalogue`] |
//! | clusterings of the nodes of a network | [`consensus::NetworkPropagation`] and its like, on a [`graph::Network`] |
//! | the question which method, how many clusters, or how far to trust a result | [`trust`] |
//! | a result to show: one page with what was found, how far to trust it, and pictures | `report` (feature) |
//! | features, and no clusterings yet | [`model`] in one call, with new objects later (tables only); [`generate`] for the ensemble alone, also of sparse features |
//! | features and a few labels or pairs | [`model::LinkedClustering`], which chooses among [`constrained`], [`metric`], [`completion`] and [`follow`] |
//! | pairs that keep coming | [`follow`]; [`simplex`] for weights of members alone |
//! | answers of people or models | [`crowd`] |
//! | features, and people or models to be asked at a price | [`model::Questioner`] |
//! | two clusterings to compare | [`scores`] |
//! | a method of your own | [`core`](mod@core) for the traits, [`graph`] for composition, `conformance` (feature) for the laws |
//! | files | `io` (feature); `files` makes answers for [`crowd`] of them |
//!
//! # Features of the crate
//!
//! None is on by default.
//!
//! | feature | what it adds |
//! |---|---|
//! | `approx` | comparisons up to rounding, by the traits `AbsDiffEq` and `RelativeEq` of `approx` 0.5, of [`Memberships`], [`Dendrogram`], [`metric::LinearMap`] and [`generate::KMeansClusters`] |
//! | `conformance` | the test suite for implementations of the traits |
//! | `io` | readers and writers of CSV, npy, npz, Parquet and Arrow, and readers of sparse features; it needs a C compiler, for zstd |
//! | `lapack` | dense eigenpairs and Cholesky factors by LAPACK instead of faer; your program links the backend |
//! | `metis` | the published cut of CSPA, HGPA and MCLA; it needs a C compiler |
//! | `openblas-system` | `lapack` with the OpenBLAS of the system |
//! | `report` | one page of HTML about a consensus, and its pictures one by one |
//! | `serde` | `Serialize` and `Deserialize` for results, see below |
//!
//! **`serde`.** Stored and read back are [`Partition`], [`Ensemble`], [`Memberships`],
//! [`Dendrogram`], [`Constraints`] and [`Pair`], [`metric::LinearMap`],
//! [`generate::KMeansClusters`], [`crowd::CrowdResult`] with its workers, [`scores::Scores`],
//! [`Seed`], [`SideInformation`], [`trust::Diagnostics`], [`trust::NumberTable`],
//! [`bregman::Solution`], [`model::ConsensusModel`], and the [`Clustering`] of every constrained
//! clusterer of the library but [`crowd::SemiCrowd::published`], whose cut of a similarity labels
//! new objects only while it is in memory; the last two label new objects after that as before. A
//! [`Report`] can only be written. Values come back equal to the bit; in JSON that takes
//! `serde_json`'s feature `float_roundtrip`. Damaged data are rejected with the same error as the
//! constructor's. An updater has a format of its own, see [`follow`].
//!
//! **`lapack`.** The bits of results then depend on the backend, and on its number of threads: with
//! `OPENBLAS_NUM_THREADS=1` in the environment they are again the same on every run. Signs of
//! eigenvectors and bases of multiple eigenvalues are arbitrary with either; they affect results
//! only through rounding.
//!
//! # Speed of debug builds
//!
//! Without optimisation the numerical work is some forty times slower. In the `Cargo.toml` of your
//! program, write:
//!
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 2
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod catalogue;
#[cfg(feature = "io")]
pub mod files;
pub mod guide;

#[doc(inline)]
pub use consilience_bregman as bregman;
#[doc(inline)]
pub use consilience_completion as completion;
#[cfg(feature = "conformance")]
#[doc(inline)]
pub use consilience_conformance as conformance;
#[doc(inline)]
pub use consilience_consensus as consensus;
#[doc(inline)]
pub use consilience_constrained as constrained;
#[doc(inline)]
pub use consilience_core as core;
#[doc(inline)]
pub use consilience_crowd as crowd;
#[doc(inline)]
pub use consilience_follow as follow;
#[doc(inline)]
pub use consilience_generate as generate;
#[doc(inline)]
pub use consilience_graph as graph;
#[cfg(feature = "io")]
#[doc(inline)]
pub use consilience_io as io;
#[doc(inline)]
pub use consilience_metric as metric;
#[doc(inline)]
pub use consilience_model as model;
/// Numerical kernels without clustering words. They may change in any version.
#[doc(inline)]
pub use consilience_num as num;
#[cfg(feature = "report")]
#[doc(inline)]
pub use consilience_report as report;
#[doc(inline)]
pub use consilience_simplex as simplex;
#[doc(inline)]
pub use consilience_trust as trust;
#[doc(inline)]
pub use consilience_walk as walk;

pub use consilience_core::{
    Accepts, Clustering, Clusters, ConsensusFunction, Constraints, Dendrogram, Ensemble, Error,
    ErrorKind, Features, Fit, Grouping, Hierarchy, Link, Linkage, Member, Memberships,
    MemoryBudget, Microclusters, Observer, Pair, Partition, Report, Result, Seed, SideInformation,
    Similarity, SimilarityGraph, SparseMemberships, Status, Stream, scores,
};
pub use ndarray;
pub use sprs;

/// The traits whose methods you call: `use consilience::prelude::*`.
///
/// ```
/// use consilience::prelude::*;
/// use consilience::{Ensemble, Partition, consensus::Lwea};
///
/// let ensemble = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1])?])?;
/// assert_eq!(Lwea::new(2).consensus(&ensemble)?.n_clusters(), 2);
/// # Ok::<(), consilience::Error>(())
/// ```
pub mod prelude {
    pub use consilience_core::{
        BaseClusterer, ConsensusFunction, ConstrainedClusterer, GraphPartitioner, Hierarchy,
        Similarity,
    };
    pub use consilience_metric::MetricLearner;
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
