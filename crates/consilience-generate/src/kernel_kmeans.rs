use consilience_core::{
    BaseClusterer, Error, ErrorKind, Features, Fit, MemoryBudget, Observer, Partition, Report,
    Result, Seed, at_least_one, ensure,
};
use consilience_num::kmeans::fit;

use crate::distinct::Distinct;
use crate::input::{finish, last_kmeans, tell, unit_table};
use crate::similarity::{median_square, nystroem};

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

        /// Independent runs of the k-means, of which the best is kept. Default 1; at least 1.
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
        at_least_one("restarts", self.restarts)?;
        let multiple = self.width;
        ensure!(
            multiple > 0.0 && multiple.is_finite(),
            invalid("kernel width {multiple}; expected above 0 and finite")
        );
        observer.check()?;
        let distinct = Distinct::new(unit_table(&features));
        let mut report = Report::default();
        if clusters >= distinct.len() {
            return finish(&distinct.kind, clusters, report);
        }
        let x = distinct.rows.view();
        let count = self.landmarks.max(clusters.saturating_mul(2)).min(x.nrows());
        // The kernel between all objects and the landmarks, which holds that among the landmarks.
        self.budget.check_table("kernel", x.nrows(), count, size_of::<f64>())?;
        let marks = seed.derive("landmarks", 0).stream().sample(x.nrows(), count);
        let width = multiple * median_square(x, seed);
        let mapped = report.stage("landmarks", || nystroem(x, &marks, width)).ok_or_else(|| {
            Error::new(ErrorKind::NonFinite, "the kernel of the landmarks has no eigenpairs")
        })?;
        let options = last_kmeans(clusters, self.restarts, seed);
        let found = report
            .stage("k-means", || fit(mapped.view(), Some(&distinct.weights), &options, observer))?;
        tell(&mut report, &found);
        finish(&distinct.spread(&found.assignment), clusters, report)
    }
}
