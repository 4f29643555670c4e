use consilience_core::{
    BaseClusterer, Error, ErrorKind, Features, Fit, MemoryBudget, Observer, Partition, Report,
    Result, Seed, SparseRows, at_least_one, check_restarts, ensure,
};
use consilience_num::Float;
use consilience_num::kmeans::fit;
use consilience_num::kmeans::sparse::ScaledRows;
use consilience_num::place::near_rows;
use ndarray::Array2;

use crate::distinct::{Distinct, spread};
use crate::input::{finish, last_kmeans, tell, unit_table};
use crate::similarity::{median_square, nystroem, square};
use crate::sparse_kernel::{self, Kinds};

/// Approximate kernel k-means: k-means in the space of a Gaussian kernel, its centres held in the
/// span of a few sampled objects.
///
/// For clusters that are not balls and too many objects for [`Spectral`](crate::Spectral) or an n x
/// n kernel. Not where plain k-means does: it costs about p/d times as much.
///
/// ```text
/// minimise sum_i |phi(x_i) - c_a(i)|^2,   c in span(phi(landmarks)),
/// phi(x).phi(y) = exp(-|x - y|^2 / w),    w = median squared distance
/// ```
///
/// ```
/// use consilience::Seed;
/// use consilience::core::BaseClusterer;
/// use consilience::generate::KernelKMeans;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [1.0], [20.0], [21.0]];
/// let found = KernelKMeans::new().fit(x.view().into(), 2, Seed(1), &())?.output;
/// assert_eq!(found.to_signed(), vec![0, 0, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(p^3 + n p (d + p) + iterations n k p) time and O(n p) memory for p landmarks.
///
/// # Errors
/// As [`BaseClusterer::fit`]; [`ErrorKind::InvalidParameter`] for a setting outside its range,
/// [`ErrorKind::TooLarge`] beyond the memory budget.
///
/// # References
/// R. Chitta, R. Jin, T. C. Havens, A. K. Jain, "Approximate kernel k-means", 2011. Its restricted
/// centres are k-means on the Nystroem features of the landmarks, which is how it is computed here.
/// Equal objects are collapsed first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelKMeans {
    landmarks: usize,
    width: f64,
    restarts: usize,
    budget: MemoryBudget,
}

impl Default for KernelKMeans {
    fn default() -> Self {
        KernelKMeans { landmarks: 100, width: 1.0, restarts: 1, budget: MemoryBudget::default() }
    }
}

impl KernelKMeans {
    /// 100 landmarks, or twice the number of clusters where that is more; median bandwidth; one
    /// start.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// Sampled objects p; raised to twice the number of clusters. Default 100; at least 1.
        pub fn landmarks(mut self, landmarks: usize) { self.landmarks = landmarks }

        /// Kernel width w as a multiple of the median squared distance. Default 1; above 0.
        pub fn width(mut self, multiple: f64) { self.width = multiple }

        /// Independent runs of the k-means, of which the best is kept. Default 1; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// How much memory the kernel between objects and landmarks may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }
}

impl BaseClusterer for KernelKMeans {
    fn name(&self) -> &'static str {
        "kernel-kmeans"
    }

    fn set_memory_budget(&mut self, budget: MemoryBudget) {
        self.budget = budget;
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        features.check_clusters(clusters)?;
        at_least_one("landmarks", self.landmarks)?;
        check_restarts(self.restarts)?;
        let multiple = self.width;
        ensure!(
            multiple > 0.0 && multiple.is_finite(),
            invalid("kernel width {multiple}; expected above 0 and finite")
        );
        observer.check()?;
        let run = Run { clusters, seed, observer };
        match features {
            Features::Sparse32(x) => self.run_sparse(x, &run),
            Features::Sparse64(x) => self.run_sparse(x, &run),
            _ => {
                let distinct = Distinct::new(unit_table(&features.dense()?));
                let x = distinct.rows.view();
                self.run(&run, distinct.len(), &distinct.kind, &distinct.weights, |marks| {
                    let far = |i: usize, j: usize| square(x.row(i), x.row(j));
                    let width = multiple * median_square(x.nrows(), seed, observer, far)?;
                    nystroem(x, marks, width, observer)
                })
            }
        }
    }
}

/// What is asked for.
struct Run<'a> {
    clusters: usize,
    seed: Seed,
    observer: &'a dyn Observer,
}

impl KernelKMeans {
    fn run_sparse<F: Float>(&self, x: SparseRows<'_, F>, run: &Run<'_>) -> Result<Fit<Partition>> {
        let kinds = Kinds::new(x)?;
        let own;
        let x = if kinds.first.len() == x.n_rows() {
            x
        } else {
            own = x.select(Some(&kinds.first), None);
            SparseRows::from(&own)
        };
        let near = near_rows(x)?;
        let rows = ScaledRows::new(near.as_ref().map_or(x, |(near, _)| SparseRows::from(near)))?;
        self.budget.check_table("landmarks", rows.n_columns(), self.count(run, x.n_rows()), 8)?;
        self.run(run, x.n_rows(), &kinds.kind, &kinds.weights, |marks| {
            let far = |i: usize, j: usize| rows.distance(i, j);
            let median = median_square(rows.n_rows(), run.seed, run.observer, far)?;
            sparse_kernel::nystroem(&rows, marks, self.width * median, run.observer)
        })
    }

    fn count(&self, run: &Run<'_>, rows: usize) -> usize {
        self.landmarks.max(run.clusters.saturating_mul(2)).min(rows)
    }

    /// k-means on the distinct rows, mapped from their distances to landmarks.
    fn run(
        &self,
        run: &Run<'_>,
        rows: usize,
        kind: &[u32],
        weights: &[f64],
        mapped: impl FnOnce(&[usize]) -> Result<Option<Array2<f64>>>,
    ) -> Result<Fit<Partition>> {
        let mut report = Report::default();
        let &Run { clusters, seed, observer } = run;
        if clusters >= rows {
            return finish(kind, clusters, report);
        }
        let count = self.count(run, rows);
        // The kernel between all objects and the landmarks, which holds that among the landmarks.
        self.budget.check_table("kernel", rows, count, size_of::<f64>())?;
        let marks = seed.derive("landmarks", 0).stream().sample(rows, count);
        let mapped = report.stage("landmarks", || mapped(&marks))?.ok_or_else(|| {
            Error::new(ErrorKind::NonFinite, "the kernel of the landmarks has no eigenpairs")
        })?;
        let options = last_kmeans(clusters, self.restarts, seed);
        let found =
            report.stage("k-means", || fit(mapped.view(), Some(weights), &options, observer))?;
        tell(&mut report, &found);
        finish(&spread(kind, &found.assignment), clusters, report)
    }
}
