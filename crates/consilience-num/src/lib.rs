//! Numerical kernels without clustering words: symmetric eigenpairs, k-means on rows, nearest rows,
//! sparse products, ordered parallel reductions, projection onto the simplex, the assignment
//! problem.
//!
//! Dense eigenpairs and Cholesky factors are computed by faer, or with the feature `lapack` by
//! LAPACK, whose backend your program links: the system's OpenBLAS with `openblas-system`, or any
//! other that provides the symbols.

pub mod cholesky;
mod compiled;
mod dot;
pub mod eigen;
mod exp;
mod float;
pub mod kmeans;
pub mod logdet;
pub mod near;
#[doc(hidden)]
pub mod place;
pub mod product;
pub mod reduce;
pub mod rows;
pub mod sets;
pub mod simplex;
pub mod sparse;
pub mod svd;
pub mod tally;
#[cfg(test)]
mod testing;
pub mod transfer;

// Its library is what the symbols of LAPACK are taken from.
#[cfg(feature = "openblas-system")]
extern crate openblas_src as _;

pub use consilience_core::assignment;
pub use dot::dot;
pub use exp::exp_all;
pub use float::Float;
