use consilience_core::{
    BaseClusterer, Features, Fit, Member, MemoryBudget, Observer, Partition, Report, Result, Seed,
    SparseMemberships, Status, ensure,
};
use ndarray::Array2;

use crate::expectation::{Start, Sums, memberships, soft_clusterer, start, sums};
use crate::input::{FEWER, check_loop};

/// Fuzzy c-means: k-means in which every object belongs to all clusters, more to those that are
/// nearer.
///
/// Use it where clusters are of about equal spread and run into each other. All memberships are
/// above 0, so an ensemble of them has no zeros to save memory by.
///
/// ```text
/// minimise sum_ic p_ic^m |x_i - v_c|^2,   p_ic proportional to |x_i - v_c|^(-2 / (m - 1))
/// ```
///
/// The report's objective is this sum, in the square of the features' unit.
///
/// ```
/// use consilience::generate::FuzzyCMeans;
/// use consilience::ndarray::array;
/// use consilience::{Features, Seed};
///
/// let x = array![[0.0], [0.1], [5.0], [9.9], [10.0]];
/// let soft = FuzzyCMeans::new().fit_soft(Features::from(&x), 2, Seed(0), &())?.output;
/// assert!(soft.row(0).1[0] > 0.99);
/// assert!((soft.row(2).1[0] - 0.5).abs() < 0.01); // half way
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
/// J. C. Bezdek, "Pattern Recognition with Fuzzy Objective Function Algorithms", 1981. Starts from
/// k-means; an object on several centres is shared out evenly among those. Memberships below 1e-6
/// are taken for 0.
#[doc(alias = "FCM")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FuzzyCMeans {
    fuzzifier: f64,
    max_iterations: usize,
    tolerance: f64,
    budget: MemoryBudget,
}

impl Default for FuzzyCMeans {
    fn default() -> Self {
        FuzzyCMeans {
            fuzzifier: 2.0,
            max_iterations: 100,
            tolerance: 1e-4,
            budget: MemoryBudget::default(),
        }
    }
}

fn centres(sums: &Sums) -> Array2<f64> {
    let mut centres = sums.first.clone();
    for (mut row, weight) in centres.rows_mut().into_iter().zip(&sums.weights) {
        row /= weight.max(f64::MIN_POSITIVE);
    }
    centres
}

impl FuzzyCMeans {
    /// m = 2, at most 100 iterations, tolerance 1e-4.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// m: memberships are the softer the larger it is. Default 2; above 1, at most 100.
        #[doc(alias = "m")]
        pub fn fuzzifier(mut self, fuzzifier: f64) { self.fuzzifier = fuzzifier }

        /// Most iterations. Default 100; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Stops where the objective falls by less than this share of it. Default 1e-4; at least 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// How much memory the memberships may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// Writes the memberships of an object; its part of the objective.
    fn expect(&self, centres: &Array2<f64>, x: &[f64], out: &mut [f64]) -> f64 {
        for (out, centre) in out.iter_mut().zip(centres.rows()) {
            *out = x.iter().zip(centre).map(|(a, b)| (a - b) * (a - b)).sum();
        }
        let least = out.iter().fold(f64::INFINITY, |m, &v| m.min(v));
        if least == 0.0 {
            let on = out.iter().filter(|&&v| v == 0.0).count() as f64;
            out.iter_mut().for_each(|v| *v = if *v == 0.0 { 1.0 / on } else { 0.0 });
            return 0.0;
        }
        let power = 1.0 / (self.fuzzifier - 1.0);
        // Against the nearest, so that no power overflows.
        out.iter_mut().for_each(|v| *v = (least / *v).powf(power));
        let sum: f64 = out.iter().sum();
        out.iter_mut().for_each(|v| *v /= sum);
        // sum_c p_c^m d_c with p_c = (least / d_c)^power / sum.
        least * sum.powf(1.0 - self.fuzzifier)
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
        let Self { max_iterations, tolerance, fuzzifier, .. } = *self;
        check_loop(max_iterations, tolerance)?;
        ensure!(
            fuzzifier > 1.0 && fuzzifier <= 100.0,
            invalid("fuzzifier {fuzzifier}; expected above 1, at most 100")
        );
        let Start { x, unit, sums: found } = start(features, clusters, seed, observer)?;
        let k = found.weights.len();
        self.budget.check_table("memberships", x.nrows(), k, 8)?;
        let mut at = centres(&found);
        let (mut report, mut best) = (Report::default(), f64::INFINITY);
        report.status = Status::MaxIterations;
        for iteration in 0..max_iterations {
            let found = sums(x.view(), k, observer, |_, x, out| {
                let part = self.expect(&at, x, out);
                out.iter_mut().for_each(|v| *v = v.powf(fuzzifier));
                part
            })?;
            at = centres(&found);
            report.iterations = iteration + 1;
            if !(best - found.objective > tolerance * found.objective) {
                report.status = Status::Solved;
                break;
            }
            best = found.objective;
        }
        let share = |x: &[f64], out: &mut [f64]| self.expect(&at, x, out);
        let (soft, objective) = memberships(x.view(), k, self.budget, observer, share)?;
        report.objective = Some(objective / unit / unit);
        report.expect_clusters(clusters, soft.n_clusters(), FEWER);
        Ok(Fit::new(soft, report))
    }
}

soft_clusterer!(FuzzyCMeans, "fuzzy-c-means");
