use consilience_core::{
    BaseClusterer, Features, Fit, Member, MemoryBudget, Observer, Partition, Report, Result, Seed,
    SparseMemberships, Status, ensure,
};
use ndarray::{Array2, Axis};

use crate::expectation::{Start, Sums, memberships, soft_clusterer, start, sums};
use crate::input::check_loop;

/// A mixture of Gaussians with diagonal covariances, fitted by expectation and maximisation:
/// memberships that say how sure the model is of each object.
///
/// Use it where clusters overlap and differ in spread, feature by feature; as members of an
/// ensemble the memberships keep what labels round away. Not for clusters that are correlated
/// ellipses, curved, or of more features than objects.
///
/// ```text
/// p_ic proportional to pi_c prod_j N(x_ij; mu_cj, s_cj)
/// ```
///
/// It starts from k-means. Variances are raised by a floor, so that a cluster of equal objects does
/// not collapse. With it a step may lower the likelihood: the iteration goes on then, and the
/// likeliest mixture that it met is returned. The report's objective is the mean log-likelihood of
/// an object under that mixture, in the unit of the features. A constant feature is left out, since
/// its likelihood has no bound.
///
/// ```
/// use consilience::generate::{GaussianMixture, Generator};
/// use consilience::ndarray::array;
/// use consilience::prelude::*;
/// use consilience::{Features, Seed, consensus::Lwea};
///
/// let x = array![[0.0], [1.0], [2.0], [4.2], [8.0], [9.0], [10.0]];
/// let soft = GaussianMixture::new().fit_soft(Features::from(&x), 2, Seed(0), &())?.output;
/// assert_eq!(soft.hard()?.label(0), Some(0));
/// assert!(soft.row(0).1[0] > 0.999);
/// // Members of an ensemble give their memberships.
/// let ensemble = Generator::new(GaussianMixture::new()).members(5).clusters(2..=3).generate(&x)?;
/// assert!(ensemble.is_soft());
/// assert_eq!(Lwea::new(2).consensus(&ensemble)?.n_clusters(), 2);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// As [`KMeans`](crate::KMeans) and O(iterations x n d k) time in parallel; 8 n (d + k) bytes.
///
/// # Errors
/// As [`BaseClusterer::fit`];
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a setting
/// outside its range, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the
/// memory budget.
///
/// # References
/// A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum likelihood from incomplete data via the EM
/// algorithm", 1977. The floor of the variances is ours: a share of the mean variance of the
/// features. Memberships below 1e-6 are taken for 0.
#[doc(alias = "GMM")]
#[doc(alias = "EM")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianMixture {
    max_iterations: usize,
    tolerance: f64,
    variance_floor: f64,
    budget: MemoryBudget,
}

impl Default for GaussianMixture {
    fn default() -> Self {
        GaussianMixture {
            max_iterations: 100,
            tolerance: 1e-4,
            variance_floor: 1e-4,
            budget: MemoryBudget::default(),
        }
    }
}

/// Means and variances of the clusters, and the logarithms of their shares.
struct Mixture {
    shares: Vec<f64>,
    means: Array2<f64>,
    variances: Array2<f64>,
}

impl Mixture {
    /// The likeliest mixture where objects have these sums.
    fn of(sums: &Sums, floor: f64) -> Self {
        let all: f64 = sums.weights.iter().sum();
        let (mut means, mut variances) = (sums.first.clone(), sums.second.clone());
        for (c, &weight) in sums.weights.iter().enumerate() {
            // A cluster that lost all objects stays where nobody is.
            let weight = weight.max(f64::MIN_POSITIVE);
            means.row_mut(c).mapv_inplace(|v| v / weight);
            let row = variances.row_mut(c);
            for (v, m) in row.into_iter().zip(means.row(c)) {
                *v = (*v / weight - m * m).max(0.0) + floor;
            }
        }
        // Half the logarithm of the variances belongs to every object alike.
        let shares = sums
            .weights
            .iter()
            .zip(variances.rows())
            .map(|(w, v)| (w / all).ln() - 0.5 * v.iter().map(|v| v.ln()).sum::<f64>());
        Mixture { shares: shares.collect(), means, variances }
    }

    /// Writes the memberships of an object; its log-likelihood up to a constant.
    fn expect(&self, x: &[f64], out: &mut [f64]) -> f64 {
        for (c, out) in out.iter_mut().enumerate() {
            let parts = x.iter().zip(self.means.row(c)).zip(self.variances.row(c));
            let square: f64 = parts.map(|((x, m), v)| (x - m) * (x - m) / v).sum();
            *out = self.shares[c] - 0.5 * square;
        }
        let most = out.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
        out.iter_mut().for_each(|v| *v = (*v - most).exp());
        let sum: f64 = out.iter().sum();
        out.iter_mut().for_each(|v| *v /= sum);
        most + sum.ln()
    }
}

impl GaussianMixture {
    /// At most 100 iterations, tolerance 1e-4, variances of at least 1e-4 of the mean.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// Most iterations. Default 100; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Stops where the mean log-likelihood of an object changes by no more than this. Default
        /// 1e-4; at least 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// What is added to every variance, as a share of the mean variance of the features.
        /// Default 1e-4; above 0.
        pub fn variance_floor(mut self, share: f64) { self.variance_floor = share }

        /// How much memory the memberships may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The memberships of the objects.
    ///
    /// # Errors
    /// As [`BaseClusterer::fit`]; for settings out of range, and
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
    pub fn fit_soft(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<SparseMemberships>> {
        let Self { max_iterations, tolerance, variance_floor: floor, .. } = *self;
        check_loop(max_iterations, tolerance)?;
        ensure!(
            floor > 0.0 && floor.is_finite(),
            invalid("variance floor {floor}; expected above 0")
        );
        let Start { x, unit, sums: found } = start(features, clusters, seed, observer)?;
        let (n, k) = (x.nrows(), found.weights.len());
        self.budget.check_table("memberships", n, k, 8)?;
        let mean = x.var_axis(Axis(0), 0.0).mean().unwrap_or(0.0);
        let floor = if mean > 0.0 { floor * mean } else { 1.0 };
        let mut mixture = Mixture::of(&found, floor);
        let mut report = Report::default();
        report.status = Status::MaxIterations;
        // Variances above the likeliest by the floor may lower the likelihood.
        let (mut last, mut best) = (f64::NEG_INFINITY, None::<(f64, Mixture)>);
        for iteration in 0..max_iterations {
            let found = sums(x.view(), k, observer, |_, x, out| mixture.expect(x, out))?;
            report.iterations = iteration + 1;
            let before = std::mem::replace(&mut mixture, Mixture::of(&found, floor));
            if best.as_ref().is_none_or(|best| found.objective > best.0) {
                best = Some((found.objective, before));
            }
            let likelihood = found.objective / n as f64;
            if !((likelihood - last).abs() > tolerance) {
                report.status = Status::Solved;
                break;
            }
            last = likelihood;
        }
        let soft = |mixture: &Mixture| {
            let share = |x: &[f64], out: &mut [f64]| mixture.expect(x, out);
            memberships(x.view(), k, self.budget, observer, share)
        };
        let mut found = soft(&mixture)?;
        if let Some((_, best)) = best.filter(|best| best.0 > found.1) {
            // There is room for the memberships of one mixture.
            drop(found);
            found = soft(&best)?;
        }
        let (soft, likelihood) = found;
        // What was left out of every object: the density in the unit of the features.
        let density = x.ncols() as f64 * (unit.ln() - 0.5 * std::f64::consts::TAU.ln());
        report.objective = Some(likelihood / n as f64 + density);
        report.expect_clusters(clusters, soft.n_clusters(), "the others lost all objects");
        Ok(Fit::new(soft, report))
    }
}

soft_clusterer!(GaussianMixture, "gaussian-mixture");
