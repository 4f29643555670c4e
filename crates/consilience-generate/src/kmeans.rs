use consilience_core::{
    BaseClusterer, Features, Fit, Observer, Partition, Report, Result, Seed, SparseRows,
    check_restarts, room,
};
use consilience_num::Float;
use consilience_num::kmeans::sparse::{self, ScaledRows};
use consilience_num::kmeans::{KMeansFit, KMeansOptions, fit};
use consilience_num::place::near_rows;
use ndarray::Array2;

use crate::input::{FEWER, check_loop, partition, tell};

/// k-means: splits the objects so that squared distances to the cluster means are small.
///
/// The first choice for making ensembles: fast, in linear time, and its random starts differ. Not
/// for clusters that are elongated, nested or of very unequal spread; a consensus over many members
/// repairs part of that, [`Spectral`](crate::Spectral) more.
///
/// ```text
/// minimise sum_i |x_i - c_a(i)|^2
/// ```
///
/// ```
/// use consilience::Seed;
/// use consilience::core::BaseClusterer;
/// use consilience::generate::KMeans;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]];
/// let found = KMeans::new().restarts(3).fit_centres(x.view(), 2, Seed(1), &())?.output;
/// assert_eq!(found.partition.to_signed(), vec![0, 0, 1, 1]);
/// assert_eq!(found.inertia, 1.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(restarts x iterations x n d k) time, O(n + k d) memory beside the features; of sparse features
/// O(restarts x iterations x k (entries + d)) time, and a copy of them where a feature is, in all
/// objects, beyond 1024 times what the widest one spreads over.
///
/// # Errors
/// As [`BaseClusterer::fit`];
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a setting
/// outside its range.
///
/// # References
/// S. Lloyd, "Least squares quantization in PCM", 1982;
/// D. Arthur, S. Vassilvitskii, "k-means++", 2007.
/// An emptied cluster takes the object that fits worst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KMeans {
    restarts: usize,
    max_iterations: usize,
    tolerance: f64,
}

/// A k-means clustering with its centres.
///
/// From [`KMeans::fit_centres`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(
        try_from = "crate::stored::KMeansClustersFields",
        into = "crate::stored::KMeansClustersFields"
    )
)]
#[non_exhaustive]
pub struct KMeansClusters {
    /// The clustering.
    pub partition: Partition,
    /// Clusters in rows, in the numbering of the partition; features in columns.
    pub centres: Array2<f64>,
    /// Sum of squared distances to the centres.
    pub inertia: f64,
}

#[cfg(feature = "approx")]
consilience_core::approximate!(
    KMeansClusters,
    |a, b| a.partition == b.partition && a.centres.dim() == b.centres.dim(),
    |found| found.centres.iter().copied().chain([found.inertia]).collect()
);

impl Default for KMeans {
    fn default() -> Self {
        KMeans { restarts: 1, max_iterations: 100, tolerance: 1e-4 }
    }
}

impl KMeans {
    /// One start, at most 100 iterations, tolerance 1e-4.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// Independent runs, of which the best is kept. Default 1; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Most iterations per run. Default 100; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Stops where the summed squared movement of the centres is at most this times the mean
        /// variance of the features; 0 goes on until no object changes its cluster. Default 1e-4;
        /// at least 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }
    }

    /// What is asked of the kernel, after the checks of features and settings.
    pub(crate) fn options(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
    ) -> Result<KMeansOptions> {
        features.check_clusters(clusters)?;
        check_restarts(self.restarts)?;
        check_loop(self.max_iterations, self.tolerance)?;
        Ok(KMeansOptions::new(clusters)
            .restarts(self.restarts)
            .max_iterations(self.max_iterations)
            .tolerance(self.tolerance)
            .seed(seed)
            .parallel(rayon::current_num_threads() > 1))
    }

    /// As [`BaseClusterer::fit`], with the centres and the inertia.
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
        let options = self.options(features, clusters, seed)?;
        match features {
            Features::F32(x) => finished(&fit(x, None, &options, observer)?, clusters),
            Features::F64(x) => finished(&fit(x, None, &options, observer)?, clusters),
            Features::Sparse32(x) => of_sparse(x, clusters, &options, observer),
            Features::Sparse64(x) => of_sparse(x, clusters, &options, observer),
        }
    }
}

fn of_sparse<F: Float>(
    x: SparseRows<'_, F>,
    clusters: usize,
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<Fit<KMeansClusters>> {
    let near = near_rows(x)?;
    let rows = ScaledRows::new(near.as_ref().map_or(x, |(near, _)| SparseRows::from(near)))?;
    let mut found = finished(&sparse::fit(&rows, None, options, observer)?, clusters)?;
    if let Some((_, off)) = &near {
        for &(j, off) in off {
            found.output.centres.column_mut(j).mapv_inplace(|c| c + off);
        }
    }
    Ok(found)
}

/// The clusters that the kernel found, in the numbering of the partition.
pub(crate) fn finished<F: Float>(
    found: &KMeansFit<F>,
    clusters: usize,
) -> Result<Fit<KMeansClusters>> {
    let partition = partition(&found.assignment)?;
    // The partition numbers clusters by first object, the kernel by start.
    let mut from = vec![0; partition.n_clusters()];
    for (i, &c) in found.assignment.iter().enumerate() {
        if let Some(to) = partition.label(i) {
            from[to] = c as usize;
        }
    }
    let centres = room::table_of(from.len(), found.centres.ncols(), |(c, j)| {
        found.centres[[from[c], j]].to_f64()
    })?;
    let mut report = Report::default();
    tell(&mut report, found);
    report.expect_clusters(clusters, partition.n_clusters(), FEWER);
    Ok(Fit::new(KMeansClusters { partition, centres, inertia: found.inertia }, report))
}

/// A base clusterer of a method with `fit_centres`.
macro_rules! centres_clusterer {
    ($method:ident, $name:literal) => {
        impl BaseClusterer for $method {
            fn name(&self) -> &'static str {
                $name
            }

            fn takes_little_memory(&self) -> bool {
                true
            }

            fn fit(
                &self,
                features: Features<'_>,
                clusters: usize,
                seed: Seed,
                observer: &dyn Observer,
            ) -> Result<Fit<Partition>> {
                let found = self.fit_centres(features, clusters, seed, observer)?;
                Ok(Fit::new(found.output.partition, found.report))
            }
        }
    };
}

pub(crate) use centres_clusterer;

centres_clusterer!(KMeans, "kmeans");
