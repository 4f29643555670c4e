//! k-means on sparse rows, which are never made dense; and spherical k-means.
//!
//! As [`kmeans`](super) on dense rows; the centres are dense. Rows of unit length
//! ([`ScaledRows::unit_length`]) get centres of unit length, which is spherical k-means: each row
//! goes to the centre with the largest cosine.
//!
//! ```
//! use consilience::num::kmeans::KMeansOptions;
//! use consilience::num::kmeans::sparse::{ScaledRows, fit};
//! use consilience::sprs::TriMat;
//!
//! // Words of four texts.
//! let mut words = TriMat::new((4, 5));
//! for (text, word) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 3), (2, 4), (3, 3), (3, 4)] {
//!     words.add_triplet(text, word, 1.0);
//! }
//! let words = words.to_csr::<usize>();
//! let rows = ScaledRows::new(words.view())?;
//! let found = fit(&rows, None, &KMeansOptions::new(2), &())?;
//! assert_eq!(found.assignment[0], found.assignment[1]);
//! assert_ne!(found.assignment[0], found.assignment[2]);
//! assert_eq!(found.inertia, 0.0);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Complexity
//! O(nonzeros k) time per iteration, O(n + k d) memory. Ties, and what rounding makes of them, go
//! to the lowest centre.
//!
//! # References
//! I. S. Dhillon, D. S. Modha, "Concept decompositions for large sparse text data using
//! clustering", Machine Learning 42 (2001).

mod centres;
mod lloyd;
mod rows;
mod seeding;
#[cfg(test)]
mod tests;

#[cfg(doc)]
use consilience_core::ErrorKind;
use consilience_core::{Observer, Result, Seed};
use ndarray::ArrayView2;

use super::{KMeansFit, KMeansOptions, check_centres, check_weights};
use crate::Float;
use crate::compiled::compiled;
pub use centres::Centres;
pub use rows::ScaledRows;

compiled! {
    Fit(&ScaledRows<'_, F>, Option<&[f64]>, &KMeansOptions, &dyn Observer)
        -> Result<KMeansFit<F>> = lloyd::restarts;
    FromCentres(
        &ScaledRows<'_, F>, Option<&[f64]>, ArrayView2<'_, F>, &KMeansOptions, &dyn Observer,
    ) -> Result<KMeansFit<F>> = lloyd::from_centres;
    Assign(&ScaledRows<'_, F>, ArrayView2<'_, F>, bool, &dyn Observer)
        -> Result<Vec<u32>> = lloyd::assign;
    SpreadRows(&ScaledRows<'_, F>, usize, Seed, bool, &dyn Observer)
        -> Result<Vec<usize>> = seeding::spread_rows;
}

/// k-means from k-means++ starts: as [`kmeans::fit`](super::fit).
///
/// # Errors
/// As [`kmeans::fit`](super::fit).
pub fn fit<F: Float>(
    rows: &ScaledRows<'_, F>,
    weights: Option<&[f64]>,
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<KMeansFit<F>> {
    options.check()?;
    check_weights(rows.n_rows(), weights)?;
    Fit::of::<F>()(rows, weights, options, observer)
}

/// k-means from given centres: as [`kmeans::from_centres`](super::from_centres).
///
/// # Errors
/// As [`kmeans::from_centres`](super::from_centres).
pub fn from_centres<F: Float>(
    rows: &ScaledRows<'_, F>,
    weights: Option<&[f64]>,
    centres: ArrayView2<'_, F>,
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<KMeansFit<F>> {
    check_weights(rows.n_rows(), weights)?;
    check_centres(rows.n_columns(), centres)?;
    FromCentres::of::<F>()(rows, weights, centres, options, observer)
}

/// The nearest centre of each row: as [`kmeans::assign`](super::assign).
///
/// # Errors
/// [`ErrorKind::Empty`] without centres, [`ErrorKind::ShapeMismatch`] where rows and centres differ
/// in their number of columns, [`ErrorKind::Cancelled`].
pub fn assign<F: Float>(
    rows: &ScaledRows<'_, F>,
    centres: ArrayView2<'_, F>,
    parallel: bool,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    check_centres(rows.n_columns(), centres)?;
    Assign::of::<F>()(rows, centres, parallel, observer)
}

/// As many rows as asked for, far from each other: the starts of [`fit`]. Fewer where fewer rows
/// are distinct.
///
/// # Errors
/// [`ErrorKind::TooLarge`] where there is no memory for a number of each row and each column,
/// [`ErrorKind::Cancelled`].
pub fn spread_rows<F: Float>(
    rows: &ScaledRows<'_, F>,
    count: usize,
    seed: Seed,
    parallel: bool,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    SpreadRows::of::<F>()(rows, count, seed, parallel, observer)
}
