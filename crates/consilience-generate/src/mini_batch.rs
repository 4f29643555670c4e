use consilience_core::{
    BaseClusterer, Features, Fit, Observer, Partition, Report, Result, Seed, Watch, at_least_one,
    with_rows,
};
use consilience_num::Float;
use consilience_num::kmeans::{KMeansOptions, assign, from_centres, spread_rows};
use ndarray::{Array2, ArrayView2, Axis};

use crate::input::finish;

/// Mini-batch k-means: centres follow small random samples, and all objects are looked at only
/// once, at the end.
///
/// For very many objects where a slightly worse inertia is no harm; for up to some 100,000 objects
/// [`KMeans`](crate::KMeans) is about as fast and better.
///
/// ```text
/// for x in batch:  c = nearest centre;  v_c += 1;  c += (x - c) / v_c
/// ```
///
/// ```
/// use consilience::Seed;
/// use consilience::core::BaseClusterer;
/// use consilience::generate::MiniBatchKMeans;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [1.0], [20.0], [21.0]];
/// let found = MiniBatchKMeans::new().batch(4).fit(x.view().into(), 2, Seed(1), &())?.output;
/// assert_eq!(found.to_signed(), vec![0, 0, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(batches x batch x k d + n k d) time.
///
/// # References
/// D. Sculley, "Web-scale k-means clustering", 2010, Algorithm 1. Starts are k-means++ on a sample,
/// and a cluster that no object chooses at the end takes the object that fits worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MiniBatchKMeans {
    batch: usize,
    batches: usize,
}

impl Default for MiniBatchKMeans {
    fn default() -> Self {
        MiniBatchKMeans { batch: 1024, batches: 100 }
    }
}

impl MiniBatchKMeans {
    /// 100 batches of 1024 objects.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// Objects per batch. Default 1024; at least 1.
        pub fn batch(mut self, batch: usize) { self.batch = batch }

        /// Number of batches. Default 100; at least 1.
        pub fn batches(mut self, batches: usize) { self.batches = batches }
    }

    fn run<F: Float>(
        &self,
        x: ArrayView2<'_, F>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let n = x.nrows();
        let parallel = rayon::current_num_threads() > 1;
        let mut stream = seed.derive("mini-batch", 0).stream();
        let chosen =
            stream.sample(n, self.batch.saturating_mul(3).max(clusters.saturating_mul(10)));
        let sample = x.select(Axis(0), &chosen);
        let starts = spread_rows(sample.view(), None, clusters, seed, parallel);
        let mut centres = sample.select(Axis(0), &starts);
        if starts.len() < clusters && chosen.len() < n {
            // The sample has too few distinct rows; the whole table may have more.
            centres = x.select(Axis(0), &spread_rows(x, None, clusters, seed, parallel));
        }
        drop(sample);
        let mut seen = vec![0.0; centres.nrows()];
        let mut exact: Array2<f64> = centres.mapv(F::to_f64);
        let mut watch = Watch::new(observer, "mini-batches", self.batches);
        for b in 0..self.batches {
            if !watch.go_on(b) {
                break;
            }
            let drawn: Vec<usize> = (0..self.batch.min(n)).map(|_| stream.below(n)).collect();
            let rows = x.select(Axis(0), &drawn);
            for (row, c) in
                rows.rows().into_iter().zip(assign(rows.view(), centres.view(), parallel))
            {
                seen[c as usize] += 1.0;
                let rate = 1.0 / seen[c as usize];
                for (c, x) in exact.row_mut(c as usize).iter_mut().zip(row) {
                    // Not c + rate (x - c): the difference may overflow.
                    *c = (1.0 - rate) * *c + rate * x.to_f64();
                }
            }
            centres = exact.mapv(F::from_f64);
        }
        watch.finish()?;
        let options = KMeansOptions::new(clusters).max_iterations(0).parallel(parallel);
        let found = from_centres(x, None, centres.view(), &options, &())?;
        let mut report = Report::default();
        report.iterations = self.batches;
        report.objective = Some(found.inertia);
        finish(&found.assignment, clusters, report)
    }
}

impl BaseClusterer for MiniBatchKMeans {
    fn name(&self) -> &'static str {
        "mini-batch-kmeans"
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        features.check_clusters(clusters)?;
        at_least_one("batch", self.batch)?;
        at_least_one("batches", self.batches)?;
        with_rows!(features, |x| self.run(x, clusters, seed, observer))
    }
}
