use consilience_core::{
    Error, ErrorKind, Features, Fit, Observer, Report, Result, Seed, Status, at_least_one, ensure,
};
use consilience_num::kmeans::sparse::ScaledRows;
use consilience_num::svd::{Rows, SvdOptions, try_truncated_svd};
use ndarray::Array2;

use crate::LinearMap;

/// The leading singular directions of the features: a small table that keeps the inner products of
/// the rows as well as any of its width can.
///
/// What makes sparse features a table that every method takes, which is known as latent semantic
/// analysis on texts. Nothing is centred, so that sparse rows stay sparse; centre a dense table
/// first and these are its principal components.
///
/// ```text
/// X ~ U S V',   the map is x -> V' x,   so that the rows become U S
/// ```
///
/// ```
/// use consilience::metric::TruncatedSvd;
///
/// // Two topics of three words each, in four texts.
/// let mut words = consilience::sprs::TriMat::new((4, 6));
/// for (text, word) in [(0, 0), (0, 1), (1, 1), (1, 2), (2, 3), (2, 4), (3, 4), (3, 5)] {
///     words.add_triplet(text, word, 1.0);
/// }
/// let words = words.to_csr::<usize>();
/// let map = TruncatedSvd::new(2).learn(&words)?;
/// let x = map.apply(&words)?;
/// assert_eq!(x.dim(), (4, 2));
/// // Texts of different topics are at right angles.
/// assert!(x.row(0).dot(&x.row(2)).abs() < 1e-9 && x.row(0).dot(&x.row(1)) > 0.9);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// Some tens of products of the features with 2 r vectors: O(entries r) each for sparse features,
/// O(n d r) for a table; O((n + d) r) memory, and a copy of a table.
///
/// # References
/// S. Deerwester, S. T. Dumais, G. W. Furnas, T. K. Landauer, R. Harshman, "Indexing by latent
/// semantic analysis", 1990; N. Halko, P.-G. Martinsson, J. A. Tropp, "Finding structure with
/// randomness", 2011.
#[doc(alias = "latent_semantic_analysis")]
#[doc(alias = "pca")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruncatedSvd {
    dimensions: usize,
    tolerance: f64,
    seed: Seed,
}

impl TruncatedSvd {
    /// To so many dimensions r; fewer come out where the features have a lower rank.
    pub fn new(dimensions: usize) -> Self {
        TruncatedSvd { dimensions, tolerance: 1e-2, seed: Seed(0) }
    }

    consilience_core::setters! {
        /// Residual of a squared singular value, relative to the largest. Default 1e-2, at which
        /// the directions that tell clusters apart have converged; above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Where the iterations start. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }

    /// The map alone.
    ///
    /// # Errors
    /// As [`TruncatedSvd::fit`].
    pub fn learn<'a>(&self, features: impl Into<Features<'a>>) -> Result<LinearMap> {
        Ok(self.fit(features, &())?.output)
    }

    /// The map, with cancellation and a report on whether the directions have converged.
    ///
    /// # Errors
    /// As [`Features::check`]; [`ErrorKind::InvalidParameter`] for no dimensions or a tolerance
    /// that is not above 0, and for features that are all 0; [`ErrorKind::Cancelled`].
    pub fn fit<'a>(
        &self,
        features: impl Into<Features<'a>>,
        observer: &dyn Observer,
    ) -> Result<Fit<LinearMap>> {
        let features = features.into();
        features.check()?;
        at_least_one("dimensions", self.dimensions)?;
        ensure!(
            self.tolerance > 0.0 && self.tolerance.is_finite(),
            invalid("tolerance {}; expected a number above 0", self.tolerance)
        );
        observer.check()?;
        let options = SvdOptions::new(self.dimensions).tolerance(self.tolerance).seed(self.seed);
        let svd = |rows: &dyn Rows| try_truncated_svd(rows, &options, observer);
        let found = match features {
            Features::Sparse32(x) => svd(&ScaledRows::new(x)?)?,
            Features::Sparse64(x) => svd(&ScaledRows::new(x)?)?,
            _ => svd(&unit_table(features.dense()?.to_f64()?))?,
        };
        let mut report = Report::default();
        if !found.converged {
            report.status = Status::MaxIterations;
        }
        // The map of the decomposition leads to U: without the singular values to U S.
        let mut directions = found.map.reversed_axes();
        for mut direction in directions.rows_mut() {
            let length = direction.dot(&direction).sqrt();
            direction /= length;
        }
        if directions.is_empty() {
            return Err(Error::new(
                ErrorKind::InvalidParameter,
                "features that are all 0 have no directions",
            ));
        }
        Ok(Fit::new(LinearMap::from_matrix(directions)?, report))
    }
}

/// With the largest entry near 1, so that squares neither overflow nor vanish.
fn unit_table(mut x: Array2<f64>) -> Array2<f64> {
    let largest = x.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    if largest > 0.0 {
        let unit = (-largest.log2().round().clamp(-1000.0, 1000.0)).exp2();
        x.mapv_inplace(|v| v * unit);
    }
    x
}
