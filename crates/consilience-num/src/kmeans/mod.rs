//! k-means on rows: k-means++ starts, Lloyd's iterations, restarts.
//!
//! Finds k centres and gives each row to one of them so that the inertia is small:
//!
//! ```text
//! sum_i w_i |x_i - c_a(i)|^2,   a(i) = argmin_c |x_i - c|^2  (ties: lowest centre)
//! ```
//!
//! [`fit`] starts by itself, [`from_centres`] from given centres, [`assign`] only looks the nearest
//! centres up, [`fit_source`] takes rows that are never stored, [`sparse`] those of a sparse
//! matrix. The result has the same bits at any number of threads, and no more than O(n + k d)
//! memory is allocated: no copy of the rows, no n x k distances.
//!
//! ```
//! use consilience::num::kmeans::{fit, KMeansOptions};
//! use consilience::ndarray::array;
//!
//! let rows = array![[0.0, 0.0], [0.0, 1.0], [10.0, 10.0], [10.0, 11.0]];
//! let found = fit(rows.view(), None, &KMeansOptions::new(2), &())?;
//! assert_eq!(found.assignment[0], found.assignment[1]);
//! assert_ne!(found.assignment[0], found.assignment[2]);
//! assert_eq!(found.inertia, 1.0);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Complexity
//! O(n k d) time per iteration on vector instructions chosen at run time.
//!
//! # References
//! S. Lloyd, "Least squares quantization in PCM", 1982; D. Arthur, S. Vassilvitskii, "k-means++:
//! the advantages of careful seeding", 2007. Beyond them: a cluster that becomes empty takes the
//! row that fits worst, and where the fast score cannot distinguish two centres the row is decided
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
pub mod sparse;
mod step;
mod streamed;
#[cfg(test)]
mod tests;

#[cfg(doc)]
use consilience_core::ErrorKind;
use consilience_core::{Error, Observer, Result, Seed, ensure};
use ndarray::{Array2, ArrayView2};

use crate::Float;
use crate::compiled::compiled;
use crate::eigen::end;
pub use streamed::{RowSource, fit_drawn, fit_source};

compiled! {
    Fit(ArrayView2<'_, F>, Option<&[f64]>, &KMeansOptions, &dyn Observer)
        -> Result<KMeansFit<F>> = fit::restarts;
    FromCentres(
        ArrayView2<'_, F>, Option<&[f64]>, ArrayView2<'_, F>, &KMeansOptions, &dyn Observer,
    ) -> Result<KMeansFit<F>> = fit::from_centres;
    Assign(ArrayView2<'_, F>, ArrayView2<'_, F>, bool, &dyn Observer)
        -> Result<Vec<u32>> = fit::assign;
    SpreadRows(ArrayView2<'_, F>, Option<&[f64]>, usize, Seed, bool, &dyn Observer)
        -> Result<Vec<usize>> = seeding::spread_rows;
}

/// How to run k-means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KMeansOptions {
    clusters: usize,
    restarts: usize,
    max_iterations: usize,
    tolerance: f64,
    seed: Seed,
    parallel: bool,
}

impl KMeansOptions {
    /// k-means with so many centres; fewer come out where fewer rows are distinct.
    pub fn new(clusters: usize) -> Self {
        KMeansOptions {
            clusters,
            restarts: 1,
            max_iterations: 100,
            tolerance: 0.0,
            seed: Seed(0),
            parallel: true,
        }
    }

    consilience_core::setters! {
        /// Independent starts, of which the one of least inertia is kept. Default 1; any
        /// number, and 0 is read as 1.
        #[doc(alias = "n_init")]
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts.max(1) }

        /// Most iterations per start. Default 100; any number, and with 0 the rows go to
        /// the nearest starts.
        #[doc(alias = "max_iter")]
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Stops where the summed squared movement of the centres is at most this times the mean
        /// variance of the columns. Default 0, which stops only where no row changes its
        /// centre; 0 or more.
        #[doc(alias = "tol")]
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Seed of the starts. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// Whether to spread the rows over the current rayon pool; the bits are equal either way.
        /// Default true.
        pub fn parallel(mut self, parallel: bool) { self.parallel = parallel }
    }

    fn check(&self) -> Result<()> {
        ensure!(self.clusters > 0, invalid("k-means with 0 clusters; expected at least 1"));
        Ok(())
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

/// What one start led to, in the frame of the rows.
struct Run<C> {
    labels: Vec<u32>,
    centres: C,
    inertia: f64,
    iterations: usize,
    converged: bool,
}

impl<C> Run<C> {
    /// The one of less inertia, the earlier of equals.
    fn or_better(self, earlier: Option<Self>) -> Self {
        match earlier {
            Some(earlier) if !(self.inertia < earlier.inertia) => earlier,
            _ => self,
        }
    }

    /// The result, with the centres as they were before all rows were multiplied by `scale`.
    fn found<F>(self, centres: Array2<F>, scale: f64) -> KMeansFit<F> {
        KMeansFit {
            assignment: self.labels,
            centres,
            inertia: self.inertia / scale / scale,
            iterations: self.iterations,
            converged: self.converged,
        }
    }
}

/// The error of rows that no start can be drawn from.
fn no_weight() -> Error {
    Error::invalid("k-means of rows whose weights are all 0 or not finite")
}

/// k-means from k-means++ starts.
///
/// `weights` are one non-negative number per row, all 1 where `None`. Entries must be finite, which
/// the caller checks. The observer hears of every iteration, as stage "k-means".
///
/// # Errors
/// [`ErrorKind::Empty`] without rows or columns, [`ErrorKind::InvalidParameter`] for no clusters,
/// [`ErrorKind::ShapeMismatch`] where there is not one weight per row, [`ErrorKind::Cancelled`].
pub fn fit<F: Float>(
    rows: ArrayView2<'_, F>,
    weights: Option<&[f64]>,
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<KMeansFit<F>> {
    check(rows, weights)?;
    options.check()?;
    Fit::of::<F>()(rows, weights, options, observer)
}

/// k-means from given centres; as [`fit`], but the numbers of clusters and restarts and the seed
/// are not used.
///
/// # Errors
/// As [`fit`]; [`ErrorKind::Empty`] without centres, [`ErrorKind::ShapeMismatch`] where rows and
/// centres differ in their number of columns.
pub fn from_centres<F: Float>(
    rows: ArrayView2<'_, F>,
    weights: Option<&[f64]>,
    centres: ArrayView2<'_, F>,
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<KMeansFit<F>> {
    check(rows, weights)?;
    check_centres(rows.ncols(), centres)?;
    FromCentres::of::<F>()(rows, weights, centres, options, observer)
}

fn check<F>(rows: ArrayView2<'_, F>, weights: Option<&[f64]>) -> Result<()> {
    let (n, d) = rows.dim();
    ensure!(
        !rows.is_empty(),
        empty("k-means of {n} x {d} rows; expected at least one row and one column")
    );
    check_weights(n, weights)
}

fn check_weights(rows: usize, weights: Option<&[f64]>) -> Result<()> {
    let weights = weights.map_or(rows, <[f64]>::len);
    ensure!(weights == rows, shape("{weights} weights for {rows} rows; expected one per row"));
    Ok(())
}

fn check_centres<F>(columns: usize, centres: ArrayView2<'_, F>) -> Result<()> {
    ensure!(!centres.is_empty(), empty("k-means from no centres; expected at least one"));
    ensure!(
        columns == centres.ncols(),
        shape("centres of {} columns for rows of {columns}", centres.ncols())
    );
    Ok(())
}

/// The nearest centre of each row, ties to the lowest; empty where there are no rows or no centres,
/// or the columns differ in number.
///
/// ```
/// use consilience::ndarray::array;
///
/// let centres = array![[0.0f32], [4.0]];
/// let near = consilience::num::kmeans::assign(array![[3.0f32], [1.0], [2.0]].view(), centres.view(), false);
/// assert_eq!(near, vec![1, 0, 0]);
/// ```
pub fn assign<F: Float>(
    rows: ArrayView2<'_, F>,
    centres: ArrayView2<'_, F>,
    parallel: bool,
) -> Vec<u32> {
    try_assign(rows, centres, parallel, &()).unwrap_or_else(end)
}

/// As [`assign`], but can be cancelled.
///
/// # Errors
/// [`ErrorKind::TooLarge`] where there is no memory for a few numbers per row,
/// [`ErrorKind::Cancelled`].
pub fn try_assign<F: Float>(
    rows: ArrayView2<'_, F>,
    centres: ArrayView2<'_, F>,
    parallel: bool,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    if rows.is_empty() || centres.is_empty() || rows.ncols() != centres.ncols() {
        return Ok(Vec::new());
    }
    Assign::of::<F>()(rows, centres, parallel, observer)
}

/// Row numbers of k-means++ starts: spread out, distinct, at most `count`. Empty where there are no
/// rows, or not one weight for each.
///
/// # Errors
/// [`ErrorKind::TooLarge`] where there is no memory for a few numbers per row,
/// [`ErrorKind::Cancelled`].
pub fn spread_rows<F: Float>(
    rows: ArrayView2<'_, F>,
    weights: Option<&[f64]>,
    count: usize,
    seed: Seed,
    parallel: bool,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    if rows.is_empty() || count == 0 || weights.is_some_and(|w| w.len() != rows.nrows()) {
        return Ok(Vec::new());
    }
    SpreadRows::of::<F>()(rows, weights, count, seed, parallel, observer)
}
