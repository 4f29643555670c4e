use consilience_core::{
    BaseClusterer, Features, Fit, Observer, Partition, Result, Seed, SparseRows, with_rows,
};
use consilience_num::Float;
use consilience_num::kmeans::KMeansOptions;
use consilience_num::kmeans::sparse::{ScaledRows, fit};
use ndarray::ArrayView2;
use sprs::CsMat;

use crate::kmeans::{KMeans, KMeansClusters, centres_clusterer, finished};

/// Spherical k-means: k-means by directions, where each object goes to the centre with the largest
/// cosine.
///
/// For texts and other counts, where long and short objects of one topic point the same way. Best
/// on sparse features; a dense table is taken too. Objects without any entry have no direction;
/// they are as far from every centre.
///
/// ```text
/// maximise sum_i cos(x_i, c_a(i)),   c_a = the sum of x_i / |x_i| of its objects, at length 1
/// ```
///
/// ```
/// use consilience::Seed;
/// use consilience::core::BaseClusterer;
/// use consilience::generate::SphericalKMeans;
/// use consilience::ndarray::array;
///
/// let x = array![[1.0, 0.0], [90.0, 1.0], [0.0, 2.0], [1.0, 70.0]];
/// let found = SphericalKMeans::new().restarts(3).fit(x.view().into(), 2, Seed(1), &())?.output;
/// assert_eq!(found.to_signed(), vec![0, 0, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(restarts x iterations x k (entries + d)) time, O(n + k d) memory beside sparse features; a
/// dense table is copied.
///
/// # Errors
/// As [`BaseClusterer::fit`];
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a setting
/// outside its range.
///
/// # References
/// I. S. Dhillon, D. S. Modha, "Concept decompositions for large sparse text data using
/// clustering", Machine Learning 42 (2001).
#[doc(alias = "cosine")]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SphericalKMeans(KMeans);

impl SphericalKMeans {
    /// One start, at most 100 iterations, tolerance 1e-4.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// Independent runs, of which the best is kept. Default 1; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.0 = self.0.restarts(restarts) }

        /// Most iterations per run. Default 100; at least 1.
        pub fn max_iterations(mut self, iterations: usize) {
            self.0 = self.0.max_iterations(iterations)
        }

        /// Stops where the summed squared movement of the centres is at most this times the mean
        /// variance of the features at length 1; 0 goes on until no object changes its cluster.
        /// Default 1e-4; at least 0.
        pub fn tolerance(mut self, tolerance: f64) { self.0 = self.0.tolerance(tolerance) }
    }

    /// As [`BaseClusterer::fit`], with the centres, which have length 1, and the inertia, which is
    /// twice the sum of one less the cosine.
    ///
    /// # Errors
    /// As [`BaseClusterer::fit`].
    pub fn fit_centres<'a>(
        &self,
        features: impl Into<Features<'a>>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<KMeansClusters>> {
        let features = features.into();
        let options = self.0.options(features, clusters, seed)?;
        match features {
            Features::Sparse32(x) => run(x, clusters, &options, observer),
            Features::Sparse64(x) => run(x, clusters, &options, observer),
            _ => with_rows!(features.dense()?, |x| {
                run(SparseRows::from(&compressed(x)), clusters, &options, observer)
            }),
        }
    }
}

fn run<F: Float>(
    x: SparseRows<'_, F>,
    clusters: usize,
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<Fit<KMeansClusters>> {
    let rows = ScaledRows::new(x)?.unit_length()?;
    finished(&fit(&rows, None, options, observer)?, clusters)
}

/// The entries of a table that are not 0.
pub(crate) fn compressed<F: Float>(x: ArrayView2<'_, F>) -> CsMat<F> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.rows() {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != F::default()) {
            indices.push(j);
            values.push(v);
        }
        starts.push(indices.len());
    }
    CsMat::new(x.dim(), starts, indices, values)
}

centres_clusterer!(SphericalKMeans, "spherical-kmeans");
