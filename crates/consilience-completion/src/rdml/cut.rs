//! What divides the objects, given the rows whose inner products are their similarities.

use consilience_core::{FeatureMap, Features, Observer, Result, Seed};
use consilience_num::svd::{Rows, SvdOptions, try_truncated_svd};
use ndarray::{Array1, Array2, Axis};

use super::regression::Projection;
use crate::product::product;

/// Up to this share of what the entries of a column add up to without their signs, their sum is
/// rounding: so it is where features are centred.
const ROUNDING: f64 = 1e-10;

/// How [`Rdml`](crate::Rdml) divides the objects by the learned similarity.
///
/// ```
/// use consilience::completion::{Rdml, SimilarityCut};
///
/// assert_eq!(SimilarityCut::default(), SimilarityCut::KMeans);
/// assert_ne!(Rdml::new(3).cut(SimilarityCut::ShiMalik), Rdml::new(3));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SimilarityCut {
    /// k-means on `L' x`, whose inner products are the similarities.
    #[default]
    KMeans,
    /// The normalised cut of the similarities `X' M X`, as in the thesis (J. Shi, J. Malik, 2000):
    /// k-means on the first k generalised eigenvectors of `(S, D)`, D holding the row sums of S. An
    /// object whose row sum is not above 0, for which the cut is not defined, gets the mean of the
    /// others' and a note says how many there are. Those of standardized features, which are
    /// centred, are all 0: k-means divides the objects then, and a note says so. Nothing is N x N;
    /// clusterings of it cannot be stored.
    ShiMalik,
}

consilience_core::names! {
    name "cut" SimilarityCut: "k-means" => KMeans, "shi-malik" => ShiMalik
}

/// `x -> y`: the generalised eigenvectors at an object.
#[derive(Debug)]
pub(super) struct Normalized {
    projection: Projection,
    /// The sum of all rows `L' x`.
    total: Array1<f64>,
    /// r x k.
    turn: Array2<f64>,
    /// The row sum of objects that have none above 0.
    mean: f64,
}

impl Normalized {
    /// The eigenvectors for rows that are projected already, N x k, and the number of objects whose
    /// row sum is not above 0; nothing where all row sums are 0 but for rounding.
    pub(super) fn new(
        projection: &Projection,
        rows: &Array2<f64>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Option<(Self, Array2<f64>, usize)>> {
        let (n, r) = rows.dim();
        let mut total = vec![0.0; r];
        Rows::multiply_transposed(rows, &vec![1.0; n], &mut total, 1);
        let total = Array1::from(total);
        let sizes = rows.map_axis(Axis(0), |column| column.iter().map(|x| x.abs()).sum::<f64>());
        if total.iter().zip(&sizes).all(|(sum, size)| sum.abs() <= ROUNDING * size) {
            return Ok(None);
        }
        let sums: Vec<f64> = rows.rows().into_iter().map(|row| row.dot(&total)).collect();
        let above: Vec<f64> = sums.iter().copied().filter(|&s| s > 0.0).collect();
        let mean = above.iter().sum::<f64>() / above.len() as f64;
        if !(mean > 0.0) {
            return Ok(None);
        }
        let mut own =
            Normalized { projection: projection.clone(), total, turn: Array2::zeros((r, 0)), mean };
        let mut scaled = rows.clone();
        for (mut row, &sum) in scaled.rows_mut().into_iter().zip(&sums) {
            row /= own.degree(sum).sqrt();
        }
        // Left singular vectors of D^-1/2 E are the eigenvectors of D^-1/2 E E' D^-1/2.
        let options = SvdOptions::new(clusters).seed(seed);
        own.turn = try_truncated_svd(&scaled, &options, observer)?.map;
        Ok((own.turn.ncols() > 0).then(|| {
            let found = own.eigenvectors(rows);
            (own, found, n - above.len())
        }))
    }

    fn degree(&self, sum: f64) -> f64 {
        if sum > 0.0 { sum } else { self.mean }
    }

    fn eigenvectors(&self, rows: &Array2<f64>) -> Array2<f64> {
        let mut out = product(rows.view(), self.turn.view());
        for (mut row, from) in out.rows_mut().into_iter().zip(rows.rows()) {
            row /= self.degree(from.dot(&self.total));
        }
        out
    }
}

impl FeatureMap for Normalized {
    fn n_features(&self) -> usize {
        self.projection.n_features()
    }

    fn n_outputs(&self) -> usize {
        self.turn.ncols()
    }

    fn apply(&self, features: Features<'_>) -> Result<Array2<f64>> {
        Ok(self.eigenvectors(&self.projection.apply(features)?))
    }
}
