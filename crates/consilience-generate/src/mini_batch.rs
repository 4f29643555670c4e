use consilience_core::{
    BaseClusterer, Features, Fit, Observer, Partition, Report, Result, Seed, SparseRows, Watch,
    at_least_one, ensure, room,
};
use consilience_num::Float;
use consilience_num::kmeans::sparse::{self, ScaledRows};
use consilience_num::kmeans::{
    self, KMeansFit, KMeansOptions, from_centres, spread_rows, try_assign,
};
use consilience_num::place::near_rows;
use ndarray::{Array2, ArrayView2, ArrayViewMut1, Axis};

use crate::input::finish;

/// More would take days and hardly move a centre.
const MOST_BATCHES: usize = 1_000_000;

/// Iterations of each k-means on the sample.
const ROUNDS: usize = 10;

/// Most starts on the sample.
const MOST_RESTARTS: usize = 10;

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
/// # Errors
/// As [`BaseClusterer::fit`];
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a setting
/// outside its range.
///
/// # References
/// D. Sculley, "Web-scale k-means clustering", 2010, Algorithm 1. It starts from the best of up to
/// ten short k-means on a sample of `max(3 batch, 10 k)` objects, and a cluster that no object
/// chooses at the end takes the object that fits worst.
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

        /// Number of batches. Default 100; 1 to 1,000,000.
        pub fn batches(mut self, batches: usize) { self.batches = batches }
    }

    /// The short k-means on a sample of so many objects, the best of which gives the first centres:
    /// together about three times the steps of the batches. From k-means++ alone two clusters often
    /// share a centre to the end.
    ///
    /// ```
    /// use consilience::Seed;
    /// use consilience::generate::MiniBatchKMeans;
    /// use consilience::num::kmeans::KMeansOptions;
    ///
    /// let options = MiniBatchKMeans::new().start_options(20, 3072, Seed(7));
    /// let ten = KMeansOptions::new(20).restarts(10).max_iterations(10).seed(Seed(7));
    /// assert_eq!(options, ten);
    /// ```
    pub fn start_options(&self, clusters: usize, sample: usize, seed: Seed) -> KMeansOptions {
        let steps = self.batches.saturating_mul(self.batch).saturating_mul(3);
        let restarts = steps / sample.saturating_mul(ROUNDS).max(1);
        KMeansOptions::new(clusters)
            .restarts(restarts.clamp(1, MOST_RESTARTS))
            .max_iterations(ROUNDS)
            .seed(seed)
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
        let options = self.start_options(clusters, chosen.len(), seed).parallel(parallel);
        let mut centres = kmeans::fit(sample.view(), None, &options, observer)?.centres;
        if centres.nrows() < clusters && chosen.len() < n {
            // The sample has too few distinct rows; the whole table may have more.
            let starts = spread_rows(x, None, clusters, seed, parallel, observer)?;
            centres = x.select(Axis(0), &starts);
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
            let labels = try_assign(rows.view(), centres.view(), parallel, observer)?;
            for (row, c) in rows.rows().into_iter().zip(labels) {
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
        self.finished(&from_centres(x, None, centres.view(), &options, observer)?, clusters)
    }

    /// The same on sparse rows. A centre takes all its rows of a batch at once, which is the mean
    /// that one after another would lead to, and touches its d entries once.
    fn run_sparse<F: Float>(
        &self,
        x: SparseRows<'_, F>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let near = near_rows(x)?;
        let x = near.as_ref().map_or(x, |(near, _)| SparseRows::from(near));
        let all = ScaledRows::new(x)?;
        let (n, parallel) = (x.n_rows(), rayon::current_num_threads() > 1);
        let mut stream = seed.derive("mini-batch", 0).stream();
        let chosen =
            stream.sample(n, self.batch.saturating_mul(3).max(clusters.saturating_mul(10)));
        let sample = x.select(Some(&chosen), None);
        let options = self.start_options(clusters, chosen.len(), seed).parallel(parallel);
        let found = sparse::fit(&ScaledRows::new(&sample)?, None, &options, observer)?.centres;
        drop(sample);
        let mut exact = if found.nrows() < clusters && chosen.len() < n {
            let starts = sparse::spread_rows(&all, clusters, seed, parallel, observer)?;
            let mut exact = room::table::<f64>(starts.len(), x.n_columns())?;
            for (mut centre, &i) in exact.rows_mut().into_iter().zip(&starts) {
                add(x, i, 1.0, &mut centre);
            }
            exact
        } else {
            let (k, d) = found.dim();
            room::table_of(k, d, |at| found[at].to_f64())?
        };
        drop(found);
        let (k, d) = exact.dim();
        let mut centres = room::table_of(k, d, |at| F::from_f64(exact[at]))?;
        let mut seen = vec![0.0; k];
        let mut watch = Watch::new(observer, "mini-batches", self.batches);
        for b in 0..self.batches {
            if !watch.go_on(b) {
                break;
            }
            let drawn: Vec<usize> = (0..self.batch.min(n)).map(|_| stream.below(n)).collect();
            let batch = x.select(Some(&drawn), None);
            let rows = ScaledRows::new(&batch)?;
            let labels = sparse::assign(&rows, centres.view(), parallel, observer)?;
            let mut taken = vec![0.0; k];
            labels.iter().for_each(|&c| taken[c as usize] += 1.0);
            for (c, mut centre) in exact.rows_mut().into_iter().enumerate() {
                seen[c] += taken[c];
                if taken[c] > 0.0 {
                    centre *= 1.0 - taken[c] / seen[c];
                }
            }
            for (&i, &c) in drawn.iter().zip(&labels) {
                add(x, i, 1.0 / seen[c as usize], &mut exact.row_mut(c as usize));
            }
            centres.zip_mut_with(&exact, |c, &v| *c = F::from_f64(v));
        }
        watch.finish()?;
        let options = KMeansOptions::new(clusters).max_iterations(0).parallel(parallel);
        let found = sparse::from_centres(&all, None, centres.view(), &options, observer)?;
        self.finished(&found, clusters)
    }

    fn finished<F>(&self, found: &KMeansFit<F>, clusters: usize) -> Result<Fit<Partition>> {
        let mut report = Report::default();
        report.iterations = self.batches;
        report.objective = Some(found.inertia);
        finish(&found.assignment, clusters, report)
    }
}

/// Adds so many times a row.
fn add<F: Float>(x: SparseRows<'_, F>, i: usize, times: f64, to: &mut ArrayViewMut1<'_, f64>) {
    let (columns, values) = x.row(i);
    columns.iter().zip(values).for_each(|(&j, v)| to[j] += times * v.to_f64());
}

impl BaseClusterer for MiniBatchKMeans {
    fn name(&self) -> &'static str {
        "mini-batch-kmeans"
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
        features.check_clusters(clusters)?;
        at_least_one("batch", self.batch)?;
        ensure!(
            (1..=MOST_BATCHES).contains(&self.batches),
            invalid("{} batches; expected 1..={MOST_BATCHES}", self.batches)
        );
        match features {
            Features::F32(x) => self.run(x, clusters, seed, observer),
            Features::F64(x) => self.run(x, clusters, seed, observer),
            Features::Sparse32(x) => self.run_sparse(x, clusters, seed, observer),
            Features::Sparse64(x) => self.run_sparse(x, clusters, seed, observer),
        }
    }
}
