//! Eigenpairs of symmetric matrices: all of them (dense), or a few of the largest (by products
//! only).
//!
//! [`symmetric_eigen`] decomposes a matrix that is stored; [`truncated_eigen`] needs nothing but a
//! product with a block of vectors, [`SymmetricOperator::apply`], and suits sparse graphs of any
//! size. The truncated method finds eigenvalues of high multiplicity, so it can be trusted on
//! disconnected graphs, where each connected component adds one more copy of the same eigenvalue.
//!
//! ```
//! use consilience_num::eigen::{truncated_eigen, TruncatedOptions};
//! use ndarray::Array2;
//!
//! // Five disconnected pairs of nodes: the eigenvalue 1 five times, and -1 five times.
//! let mut pairs = Array2::<f64>::zeros((10, 10));
//! for i in 0..10 {
//!     pairs[[i, i ^ 1]] = 1.0;
//! }
//! let top = truncated_eigen(&pairs, &TruncatedOptions { count: 6, ..Default::default() });
//! assert!(top.converged);
//! assert!(top.values[..5].iter().all(|v| (v - 1.0).abs() < 1e-12));
//! assert!((top.values[5] + 1.0).abs() < 1e-12);
//! ```

mod basis;
mod dense;
mod lanczos;
mod operator;
mod shifted;
mod tall;
#[cfg(test)]
mod tests;

pub use dense::{SymmetricEigen, symmetric_eigen};
pub use lanczos::truncated_eigen;
pub use operator::SymmetricOperator;
pub use shifted::Shifted;

use ndarray::Array2;

/// Which end of the spectrum [`truncated_eigen`] looks for.
///
/// ```
/// use consilience_num::eigen::{truncated_eigen, TruncatedOptions, Which};
/// use ndarray::{array, Array2};
///
/// let a = Array2::from_diag(&array![3.0, -5.0, 1.0]);
/// let options = TruncatedOptions { count: 1, ..Default::default() };
/// assert!((truncated_eigen(&a, &options).values[0] - 3.0).abs() < 1e-14);
/// let options = TruncatedOptions { which: Which::LargestMagnitude, ..options };
/// assert!((truncated_eigen(&a, &options).values[0] + 5.0).abs() < 1e-14);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// The algebraically largest eigenvalues.
    #[default]
    Largest,
    /// The eigenvalues of largest magnitude, of either sign.
    LargestMagnitude,
}

/// What [`truncated_eigen`] is to find, and how hard it may try.
///
/// ```
/// use consilience_num::eigen::TruncatedOptions;
///
/// let options = TruncatedOptions { count: 12, seed: 7, ..Default::default() };
/// assert_eq!((options.tolerance, options.max_iterations, options.block), (1e-9, 300, 0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TruncatedOptions {
    /// Number of eigenpairs; more than the dimension is read as the dimension.
    pub count: usize,
    /// A pair has converged once `|A v - lambda v| <= tolerance * |A|`, where `|A|` is the largest
    /// magnitude of an eigenvalue seen. Values below `1e-13`, and NaN, are read as `1e-13`.
    pub tolerance: f64,
    /// Limit on the products of the operator with a block; at least as many are made as `count`
    /// vectors need.
    pub max_iterations: usize,
    /// Number of vectors in a block; 0 chooses `count` and a few more. Eigenvalues of multiplicity
    /// up to the block length are found with certainty, so a block shorter than `count` saves work
    /// only where eigenvalues are known to be simple.
    pub block: usize,
    /// Seed of the random start block.
    pub seed: u64,
    /// The end of the spectrum that is wanted.
    pub which: Which,
}

impl Default for TruncatedOptions {
    fn default() -> Self {
        Self {
            count: 1,
            tolerance: 1e-9,
            max_iterations: 300,
            block: 0,
            seed: 0,
            which: Which::Largest,
        }
    }
}

/// A few eigenpairs of a symmetric operator, with how well they satisfy their equation.
///
/// ```
/// use consilience_num::eigen::{truncated_eigen, TruncatedOptions};
/// use ndarray::array;
///
/// let top = truncated_eigen(&array![[2.0, 1.0], [1.0, 2.0]], &TruncatedOptions::default());
/// assert!((top.values[0] - 3.0).abs() < 1e-14 && top.residuals[0] < 1e-14 && top.converged);
/// assert_eq!(top.vectors.dim(), (2, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Truncated {
    /// Eigenvalues in descending order (also for [`Which::LargestMagnitude`]); `min(count, n)` of
    /// them.
    pub values: Vec<f64>,
    /// Orthonormal eigenvectors as columns, n x `values.len()`.
    pub vectors: Array2<f64>,
    /// `|A v - lambda v|` of each pair, from a product computed for the purpose.
    pub residuals: Vec<f64>,
    /// Whether every residual is within the tolerance. Where the operator returns a NaN or an
    /// infinity this is false, the values and residuals are NaN and the vectors zero.
    pub converged: bool,
    /// Products of the operator with a block that the iteration used (0 where the dense solver did
    /// the work).
    pub iterations: usize,
}
