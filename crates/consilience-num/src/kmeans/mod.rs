//! k-means on rows: k-means++ starts, Lloyd's iterations, restarts.
//!
//! Finds k centres and gives each row to one of them so that the inertia is small:
//!
//! ```text
//! sum_i w_i |x_i - c_a(i)|^2,   a(i) = argmin_c |x_i - c|^2  (ties: lowest centre)
//! ```
//!
//! [`fit`] starts by itself, [`from_centres`] from given centres, [`assign`] only looks the nearest
//! centres up, [`fit_source`] takes rows that are never stored. The result has the same bits at any
//! number of threads, and no more than O(n + k d) memory is allocated: no copy of the rows, no n x
//! k distances.
//!
//! ```
//! use consilience_num::kmeans::{fit, KMeansOptions};
//! use ndarray::array;
//!
//! let rows = array![[0.0, 0.0], [0.0, 1.0], [10.0, 10.0], [10.0, 11.0]];
//! let found = fit(rows.view(), None, &KMeansOptions::new(2), &mut |_| true);
//! assert_eq!(found.assignment[0], found.assignment[1]);
//! assert_ne!(found.assignment[0], found.assignment[2]);
//! assert_eq!(found.inertia, 1.0);
//! ```
//!
//! # Complexity
//! O(n k d) time per iteration on vector instructions chosen at run time.
//!
//! # References
//! S. Lloyd, "Least squares quantization in PCM", 1982; D. Arthur, S. Vassilvitskii, "k-means++:
//! the advantages of careful seeding", 2007. Beyond them: a cluster that becomes empty takes the
//! row that fits worst, and where the fast score cannot tell two centres apart the row is decided
//! by exact differences, so that the assignment is always that of the naive loop.

mod centres;
mod fit;
mod kernel;
pub(crate) mod lanes;
#[cfg(test)]
mod reference;
mod repair;
mod rows;
mod seeding;
mod step;
mod streamed;
#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView2};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::Float;
pub use streamed::{RowSource, fit_source};

/// How to run k-means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KMeansOptions {
    /// Number of centres, k; fewer come out where fewer rows are distinct.
    pub clusters: usize,
    /// Independent starts, of which the one of least inertia is kept.
    pub restarts: usize,
    /// Most iterations per start.
    pub max_iterations: usize,
    /// Stops where the summed squared movement of the centres is at most this times the mean
    /// variance of the columns; 0 stops only where no row changes its centre.
    pub tolerance: f64,
    /// Seed of the starts.
    pub seed: u64,
    /// Whether to spread the rows over the current rayon pool; the bits are equal either way.
    pub parallel: bool,
}

impl KMeansOptions {
    /// One start, at most 100 iterations, tolerance 0, seed 0, parallel.
    pub fn new(clusters: usize) -> Self {
        KMeansOptions {
            clusters,
            restarts: 1,
            max_iterations: 100,
            tolerance: 0.0,
            seed: 0,
            parallel: true,
        }
    }
}

/// The result of k-means.
#[derive(Clone, Debug, PartialEq)]
pub struct KMeansFit<F> {
    /// Centre of each row.
    pub assignment: Vec<u32>,
    /// The centres, each of which has at least one row.
    pub centres: Array2<F>,
    /// Weighted sum of squared distances of the rows to their centres.
    pub inertia: f64,
    /// Iterations of the start that was kept.
    pub iterations: usize,
    /// Whether it stopped by itself rather than at the cap.
    pub converged: bool,
}

/// k-means from k-means++ starts.
///
/// `weights` are one non-negative number per row, all 1 where `None`. `keep_going` is called with
/// the number of iterations done before each; once it returns `false` the best start finished so
/// far is returned, or nothing (no rows assigned, no centres). Nothing is also what comes out for
/// no rows, no columns, `clusters = 0` or weights of another length. Entries must be finite, which
/// the caller checks.
pub fn fit<F: Float>(
    rows: ArrayView2<'_, F>,
    weights: Option<&[f64]>,
    options: &KMeansOptions,
    keep_going: &mut dyn FnMut(usize) -> bool,
) -> KMeansFit<F> {
    if rows.is_empty() || options.clusters == 0 || weights.is_some_and(|w| w.len() != rows.nrows())
    {
        return nothing(rows.ncols());
    }
    fit::restarts(rows, weights, options, keep_going)
}

/// k-means from given centres; as [`fit`], and nothing comes out where the columns differ in
/// number. `clusters`, `restarts` and `seed` are not used.
pub fn from_centres<F: Float>(
    rows: ArrayView2<'_, F>,
    weights: Option<&[f64]>,
    centres: ArrayView2<'_, F>,
    options: &KMeansOptions,
    keep_going: &mut dyn FnMut(usize) -> bool,
) -> KMeansFit<F> {
    let unequal =
        weights.is_some_and(|w| w.len() != rows.nrows()) || rows.ncols() != centres.ncols();
    if rows.is_empty() || centres.is_empty() || unequal {
        return nothing(rows.ncols());
    }
    fit::from_centres(rows, weights, centres, options, keep_going)
}

/// The nearest centre of each row, ties to the lowest; empty where there are no rows or no centres,
/// or the columns differ in number.
///
/// ```
/// use ndarray::array;
///
/// let centres = array![[0.0f32], [4.0]];
/// let near = consilience_num::kmeans::assign(array![[3.0f32], [1.0], [2.0]].view(), centres.view(), false);
/// assert_eq!(near, vec![1, 0, 0]);
/// ```
pub fn assign<F: Float>(
    rows: ArrayView2<'_, F>,
    centres: ArrayView2<'_, F>,
    parallel: bool,
) -> Vec<u32> {
    if rows.is_empty() || centres.is_empty() || rows.ncols() != centres.ncols() {
        return Vec::new();
    }
    fit::assign(rows, centres, parallel)
}

/// Row numbers of k-means++ starts: spread out, distinct, at most `count`.
pub fn spread_rows<F: Float>(
    rows: ArrayView2<'_, F>,
    weights: Option<&[f64]>,
    count: usize,
    seed: u64,
    parallel: bool,
) -> Vec<usize> {
    if rows.is_empty() || count == 0 || weights.is_some_and(|w| w.len() != rows.nrows()) {
        return Vec::new();
    }
    let rows = rows::Rows::new(rows, count, parallel);
    seeding::plus_plus(&rows, weights, count, &mut ChaCha8Rng::seed_from_u64(seed))
}

fn nothing<F: Float>(columns: usize) -> KMeansFit<F> {
    KMeansFit {
        assignment: Vec::new(),
        centres: Array2::default((0, columns)),
        inertia: 0.0,
        iterations: 0,
        converged: false,
    }
}
