//! Eigenpairs of symmetric matrices: all of them (dense), or a few of the largest (by products
//! only).
//!
//! [`symmetric_eigen`] decomposes a matrix that is stored; [`truncated_eigen`] needs nothing but a
//! product with a block of vectors, [`SymmetricOperator::apply`], and suits sparse graphs of any
//! size. The truncated method finds eigenvalues of high multiplicity, so it can be trusted on
//! disconnected graphs, where each connected component adds one more copy of the same eigenvalue.
//!
//! ```
//! use consilience::num::eigen::{truncated_eigen, TruncatedOptions};
//! use consilience::ndarray::Array2;
//!
//! // Five disconnected pairs of nodes: the eigenvalue 1 five times, and -1 five times.
//! let mut pairs = Array2::<f64>::zeros((10, 10));
//! for i in 0..10 {
//!     pairs[[i, i ^ 1]] = 1.0;
//! }
//! let top = truncated_eigen(&pairs, &TruncatedOptions::new(6));
//! assert!(top.converged);
//! assert!(top.values[..5].iter().all(|v| (v - 1.0).abs() < 1e-12));
//! assert!((top.values[5] + 1.0).abs() < 1e-12);
//! ```

mod basis;
#[cfg(not(feature = "lapack"))]
mod by_faer;
#[cfg(feature = "lapack")]
mod by_lapack;
mod dense;
mod lanczos;
mod mats;
mod operator;
mod shifted;
mod tall;

pub use dense::{
    EIGEN_SQUARES, SymmetricEigen, rough_symmetric_eigen, scatter_eigen, symmetric_eigen,
    try_symmetric_eigen,
};
pub use lanczos::{truncated_eigen, try_truncated_eigen};
pub(crate) use mats::end;
pub use operator::SymmetricOperator;
pub use shifted::Shifted;

use consilience_core::Seed;
use ndarray::Array2;

/// Which end of the spectrum [`truncated_eigen`] looks for.
///
/// ```
/// use consilience::num::eigen::{truncated_eigen, TruncatedOptions, Which};
/// use consilience::ndarray::{array, Array2};
///
/// let a = Array2::from_diag(&array![3.0, -5.0, 1.0]);
/// let options = TruncatedOptions::new(1);
/// assert!((truncated_eigen(&a, &options).values[0] - 3.0).abs() < 1e-14);
/// let options = options.which(Which::LargestMagnitude);
/// assert!((truncated_eigen(&a, &options).values[0] + 5.0).abs() < 1e-14);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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
/// use consilience::Seed;
/// use consilience::num::eigen::{truncated_eigen, TruncatedOptions};
/// use consilience::ndarray::{array, Array2};
///
/// let a = Array2::from_diag(&array![3.0, -5.0, 1.0]);
/// let top = truncated_eigen(&a, &TruncatedOptions::new(2).tolerance(1e-12).seed(Seed(7)));
/// assert!((top.values[1] - 1.0).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruncatedOptions {
    count: usize,
    tolerance: f64,
    max_iterations: usize,
    block: usize,
    seed: Seed,
    which: Which,
}

impl TruncatedOptions {
    /// So many eigenpairs; more than the dimension is read as the dimension.
    pub fn new(count: usize) -> Self {
        Self {
            count,
            tolerance: 1e-9,
            max_iterations: 300,
            block: 0,
            seed: Seed(0),
            which: Which::Largest,
        }
    }

    consilience_core::setters! {
        /// A pair has converged once `|A v - lambda v| <= tolerance * |A|`, where `|A|` is the
        /// largest magnitude of an eigenvalue seen. Default 1e-9; values below 1e-13, and NaN, are
        /// read as 1e-13.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Limit on the products of the operator with a block. Default 300; at least as many are
        /// made as `count` vectors need.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Number of vectors in a block. Default 0, which chooses `count` and a few more; any
        /// number. Eigenvalues of multiplicity up to the block length are found with certainty, so
        /// a block shorter than `count` saves work only where eigenvalues are known to be simple.
        pub fn block(mut self, block: usize) { self.block = block }

        /// Seed of the random start block. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// The end of the spectrum that is wanted. Default [`Which::Largest`].
        pub fn which(mut self, which: Which) { self.which = which }
    }
}

/// A few eigenpairs of a symmetric operator, with how well they satisfy their equation.
///
/// ```
/// use consilience::num::eigen::{truncated_eigen, TruncatedOptions};
/// use consilience::ndarray::array;
///
/// let top = truncated_eigen(&array![[2.0, 1.0], [1.0, 2.0]], &TruncatedOptions::new(1));
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
