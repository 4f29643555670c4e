//! Numerical kernels without clustering words: symmetric eigenpairs, k-means on rows, nearest rows,
//! sparse products, ordered parallel reductions, projection onto the simplex, the assignment
//! problem.

mod dot;
pub mod eigen;
mod float;
pub mod kmeans;
pub mod logdet;
pub mod near;
pub mod reduce;
pub mod rows;
pub mod simplex;
pub mod sparse;
pub mod svd;
pub mod tally;
pub mod transfer;

pub use consilience_core::assignment;
pub use dot::dot;
pub use float::Float;
