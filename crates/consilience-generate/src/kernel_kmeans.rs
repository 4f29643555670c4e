use consilience_core::{
    BaseClusterer, Error, ErrorKind, Features, Fit, MemoryBudget, Observer, Partition, Report,
    Result, Seed,
};
use consilience_num::kmeans::fit;

use crate::distinct::Distinct;
use crate::input::{at_least_one, check, finish, last_kmeans, tell, unit_table};
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
/// use consilience_core::{BaseClusterer, Seed};
/// use consilience_generate::KernelKMeans;
/// use ndarray::array;
///
/// let x = array![[0.0], [1.0], [20.0], [21.0]];
/// let found = KernelKMeans::new().fit(x.view().into(), 2, Seed(1), &())?.output;
/// assert_eq!(found.to_signed(), vec![0, 0, 1, 1]);
/// # Ok::<(), consilience_core::Error>(())
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
    width: Option<f64>,
    restarts: usize,
}

impl Default for KernelKMeans {
    fn default() -> Self {
        KernelKMeans { landmarks: 100, width: None, restarts: 1 }
    }
}

impl KernelKMeans {
    /// 100 landmarks, or twice the number of clusters where that is more; median bandwidth; one
    /// start.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of sampled objects p; raised to twice the number of clusters.
    pub fn landmarks(mut self, landmarks: usize) -> Self {
        self.landmarks = landmarks;
        self
    }

    /// Kernel width w as a multiple of the median squared distance.
    pub fn width(mut self, multiple: f64) -> Self {
        self.width = Some(multiple);
        self
    }

    /// Independent starts of the k-means.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }
}

impl BaseClusterer for KernelKMeans {
    fn name(&self) -> &'static str {
        "kernel-kmeans"
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        check(&features, clusters)?;
        at_least_one("landmarks", self.landmarks)?;
        at_least_one("restarts", self.restarts)?;
        let multiple = self.width.unwrap_or(1.0);
        if !(multiple > 0.0 && multiple.is_finite()) {
            return Err(Error::invalid(format!(
                "kernel width {multiple}; expected above 0 and finite"
            )));
        }
        observer.check()?;
        let distinct = Distinct::new(unit_table(&features));
        let mut report = Report::default();
        if clusters >= distinct.len() {
            return finish(&distinct.kind, clusters, report);
        }
        let x = distinct.rows.view();
        let count = self.landmarks.max(clusters.saturating_mul(2)).min(x.nrows());
        // The kernel between all objects and the landmarks, which holds that among the landmarks.
        MemoryBudget::default().check_table("kernel", x.nrows(), count, size_of::<f64>())?;
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
