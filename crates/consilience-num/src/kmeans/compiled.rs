//! The functions of this module for `f32` and for `f64`, compiled once and not again in every crate
//! that calls them: generic functions are compiled where they are called.

use consilience_core::{Observer, Result, Seed};
use ndarray::ArrayView2;

use super::rows::Rows;
use super::{KMeansFit, KMeansOptions, fit, seeding};

/// k-means on rows of one precision. A part of [`Float`](crate::Float).
pub trait Compiled: Sized {
    /// From k-means++ starts.
    fn restarts(
        rows: ArrayView2<'_, Self>,
        weights: Option<&[f64]>,
        options: &KMeansOptions,
        observer: &dyn Observer,
    ) -> Result<KMeansFit<Self>>;
    /// From given centres.
    fn from_centres(
        rows: ArrayView2<'_, Self>,
        weights: Option<&[f64]>,
        centres: ArrayView2<'_, Self>,
        options: &KMeansOptions,
        observer: &dyn Observer,
    ) -> Result<KMeansFit<Self>>;
    /// The nearest centre of each row.
    fn assign(
        rows: ArrayView2<'_, Self>,
        centres: ArrayView2<'_, Self>,
        parallel: bool,
    ) -> Result<Vec<u32>>;
    /// Row numbers of k-means++ starts.
    fn spread_rows(
        rows: ArrayView2<'_, Self>,
        weights: Option<&[f64]>,
        count: usize,
        seed: Seed,
        parallel: bool,
    ) -> Result<Vec<usize>>;
}

macro_rules! compiled {
    ($($F:ty),*) => {$(
        impl Compiled for $F {
            fn restarts(
                rows: ArrayView2<'_, Self>,
                weights: Option<&[f64]>,
                options: &KMeansOptions,
                observer: &dyn Observer,
            ) -> Result<KMeansFit<Self>> {
                fit::restarts(rows, weights, options, observer)
            }

            fn from_centres(
                rows: ArrayView2<'_, Self>,
                weights: Option<&[f64]>,
                centres: ArrayView2<'_, Self>,
                options: &KMeansOptions,
                observer: &dyn Observer,
            ) -> Result<KMeansFit<Self>> {
                fit::from_centres(rows, weights, centres, options, observer)
            }

            fn assign(
                rows: ArrayView2<'_, Self>,
                centres: ArrayView2<'_, Self>,
                parallel: bool,
            ) -> Result<Vec<u32>> {
                fit::assign(rows, centres, parallel)
            }

            fn spread_rows(
                rows: ArrayView2<'_, Self>,
                weights: Option<&[f64]>,
                count: usize,
                seed: Seed,
                parallel: bool,
            ) -> Result<Vec<usize>> {
                let rows = Rows::new(rows, count, parallel);
                seeding::plus_plus(&rows, weights, count, &mut seed.stream())
            }
        }
    )*};
}

compiled!(f32, f64);
