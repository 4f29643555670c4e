use crate::scatter::{
    EIGEN, check_loop, check_room, check_share, checked, eigenpairs, identity, inverse_root, shrunk,
};
use consilience_core::{
    Features, Fit, MemoryBudget, Observer, Report, Result, SideInformation, Status, Watch, room,
};
use consilience_num::product::{across, times};
use consilience_num::rows::differences;
use ndarray::{Array1, Array2, ArrayView2, s};

use crate::standard::Standard;
use crate::{LinearMap, MetricLearner};

/// Mahalanobis metric for clustering: drives cannot-linked objects apart while must-linked ones
/// stay within a bound.
///
/// For pairs of both kinds, with the full matrix or, where pairs are fewer than features,
/// [diagonal](Mmc::diagonal). It has no margin: far cannot-links pull as well as near ones, which
/// [`Itml`](crate::Itml) and [`Lmnn`](crate::Lmnn) avoid.
///
/// ```text
/// maximise sum_(i,j cannot) |x_i - x_j|_M    subject to  sum_(i,j must) |x_i - x_j|_M^2 <= 1,  M psd
/// ```
///
/// ```
/// use consilience::SideInformation;
/// use consilience::metric::{MetricLearner, Mmc};
/// use consilience::ndarray::array;
///
/// let x = array![[0.0, 1.0], [0.1, 9.0], [0.0, 5.0], [4.0, 2.0], [4.1, 8.0], [4.0, 5.0]];
/// let side = SideInformation::from_labels(&[0, 0, 0, 1, 1, 1])?;
/// let learned = Mmc::new().fit(x.view().into(), &side, &())?;
/// let metric = learned.output.metric();
/// assert!(metric[[0, 0]] > 10.0 * metric[[1, 1]]);
/// // How far the objective may be from its maximum, relative to it.
/// assert!(learned.report.error_bound.unwrap() < 1e-3);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// With S the (shrunk) scatter of the must-links and u = S^(-1/2)(x_i - x_j), B = S^(1/2) M S^(1/2)
/// = P'P ranges over the matrices of trace at most 1, and the convex function sum |P u| of P grows
/// monotonically under
///
/// ```text
/// P <- P G / |P G|_F,    G = sum u u' / (2 |P u|)
/// ```
///
/// whose fixed points from a full-rank start are the maxima, since the problem is concave in B.
/// What is left to gain is at most `lambda_max(G) - sum |P u| / 2`: the `error_bound`, certain,
/// relative to the objective.
///
/// Features are standardized as in [`Rca`](crate::Rca). Without must-links, S is the identity on
/// standardized features. Without cannot-links, every object is driven from the mean of all; both
/// with a note.
///
/// # Complexity
/// O(c d^2 + d^3) time per iteration for c cannot-links (O(c d) diagonal), O((n + c) d + d^2)
/// memory.
///
/// # Errors
/// As [`MetricLearner::fit`]; [`shrinkage`](Mmc::shrinkage) must lie in 0..=1,
/// [`tolerance`](Mmc::tolerance) must be positive, [`max_iterations`](Mmc::max_iterations) and
/// [`max_pairs`](Mmc::max_pairs) at least 1.
///
/// # References
/// E. Xing, A. Ng, M. Jordan, S. Russell, "Distance metric learning, with application to clustering
/// with side-information", 2003, Eq. 3-5 (full) and 6 (diagonal; there as a penalty, whose
/// minimiser is the same up to a factor). They alternate projections onto the two constraints;
/// whitening by S turns both into one, and no step size is needed.
#[doc(alias = "PGDM")]
#[doc(alias = "Xing")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mmc {
    diagonal: bool,
    shrinkage: f64,
    standardize: bool,
    tolerance: f64,
    max_iterations: usize,
    max_pairs: usize,
    budget: MemoryBudget,
}

impl Default for Mmc {
    fn default() -> Self {
        Mmc {
            diagonal: false,
            shrinkage: 0.1,
            standardize: true,
            tolerance: 1e-3,
            max_iterations: 1000,
            max_pairs: 20_000,
            budget: MemoryBudget::default(),
        }
    }
}

impl Mmc {
    /// Full matrix, shrinkage 0.1, features standardized, relative tolerance 1e-3, at most 1000
    /// iterations, at most 20,000 pairs of either kind.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// Whether one weight per feature is learned instead of a matrix. Default no.
        pub fn diagonal(mut self, diagonal: bool) { self.diagonal = diagonal }

        /// The share of the identity in S, of which at least 0.001 is taken. Default 0.1; 0 to 1.
        pub fn shrinkage(mut self, share: f64) { self.shrinkage = share }

        /// Whether each feature is divided by its own deviation first, or all by one number.
        /// Default yes.
        pub fn standardize(mut self, each: bool) { self.standardize = each }

        /// Stops once at most this share of the objective is left to gain. Default 1e-3; above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Most iterations. Default 1000; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Most pairs of either kind; of more, as many are taken at even distances. Default 20,000;
        /// at least 1.
        pub fn max_pairs(mut self, max_pairs: usize) { self.max_pairs = max_pairs }

        /// How much memory the features, differences of the pairs and square matrices of the
        /// features may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }
}

impl MetricLearner for Mmc {
    fn name(&self) -> &'static str {
        "mmc"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<LinearMap>> {
        let features = checked(features, side)?;
        check_share(Some(self.shrinkage))?;
        check_loop(self.tolerance, self.max_iterations, self.max_pairs)?;
        let n = features.n_objects();
        let (must, cannot) = side.links_up_to(self.max_pairs);
        let most = if cannot.is_empty() { n.min(self.max_pairs) } else { cannot.len() };
        let (tables, squares) = if self.diagonal { (1, 1) } else { (2, EIGEN + 2) };
        check_room(self.budget, &features, n + must.len() + tables * most, squares)?;
        observer.check()?;
        let mut report = Report::default();
        let standard = Standard::new(&features, self.standardize, observer)?;
        let z = standard.z.view();
        side.tell_thinned(self.max_pairs, &mut report);
        let far = if cannot.is_empty() {
            self.objects(z, &mut report)?
        } else {
            differences(z, &cannot, observer)?
        };
        let inner = if must.is_empty() {
            let note = "no must-links: the features' spread bounds the metric instead";
            report.notes.push(note.into());
            identity(z.ncols())?
        } else {
            let near = differences(z, &must, observer)?;
            shrunk(near.view(), 0, Some(self.shrinkage), observer)?
        };
        let mut watch = Watch::new(observer, "mmc", self.max_iterations);
        let map = if self.diagonal {
            let w = self.weights(far, &inner, &mut report, &mut watch)?;
            standard.weights(&w)?
        } else {
            let root = inverse_root(inner, observer)?;
            let u = times(far.view(), root.view(), observer)?;
            drop(far);
            let p = self.full(&u, &mut report, &mut watch)?;
            drop(u);
            standard.map(times(p.view(), root.view(), observer)?)?
        };
        Ok(Fit::new(map, report))
    }
}

impl Mmc {
    /// Objects in place of cannot-links: the rows are centred; as many as the limit on pairs
    /// allows.
    fn objects(&self, z: ArrayView2<'_, f64>, report: &mut Report) -> Result<Array2<f64>> {
        report.notes.push("no cannot-links: objects are driven from the mean of all".into());
        let step = z.nrows().div_ceil(self.max_pairs);
        if step > 1 {
            report.notes.push(format!(
                "{} of {} objects stand for all of them, at even distances; max_pairs sets the \
                 limit",
                z.nrows().div_ceil(step),
                z.nrows()
            ));
        }
        room::copied_table(z.slice(s![..;step, ..]))
    }

    /// P with |P|_F = 1 and sum |P u| largest.
    fn full(
        &self,
        u: &Array2<f64>,
        report: &mut Report,
        watch: &mut Watch<'_>,
    ) -> Result<Array2<f64>> {
        let (d, observer) = (u.ncols(), watch.observer());
        let mut p = identity(d)?;
        p /= (d as f64).sqrt();
        for iteration in 0..self.max_iterations {
            watch.step(iteration)?;
            let mut objective = 0.0;
            let norms: Vec<f64> = {
                let scaled = times(u.view(), p.t(), observer)?;
                scaled.rows().into_iter().map(|row| row.dot(&row).sqrt()).collect()
            };
            let mut weighted = room::copied_table(u.view())?;
            for (mut u, norm) in weighted.rows_mut().into_iter().zip(norms) {
                objective += norm;
                u *= if norm > 0.0 { 0.5 / norm } else { 0.0 };
            }
            let g = across(u.view(), weighted.view(), observer)?;
            drop(weighted);
            report.iterations = iteration + 1;
            report.objective = Some(objective);
            if !(objective > 0.0) {
                report.error_bound = Some(0.0);
                return Ok(p);
            }
            // The bound costs an eigenproblem: asked for now and then.
            if iteration % GAP_EVERY == GAP_EVERY - 1 || iteration + 1 == self.max_iterations {
                let top = eigenpairs(g.view(), observer)?.values[0];
                let gap = ((top - 0.5 * objective) / objective).max(0.0);
                report.error_bound = Some(gap);
                report.status =
                    if gap <= self.tolerance { Status::Solved } else { Status::MaxIterations };
                if gap <= self.tolerance {
                    return Ok(p);
                }
            }
            p = times(p.view(), g.view(), observer)?;
            let norm = p.iter().map(|v| v * v).sum::<f64>().sqrt();
            p /= norm;
        }
        Ok(p)
    }

    /// The weights w with sum_j w_j s_j = 1 and sum sqrt(w' x^2) largest.
    fn weights(
        &self,
        far: Array2<f64>,
        inner: &Array2<f64>,
        report: &mut Report,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<f64>> {
        let d = far.ncols();
        let unit: Array1<f64> = inner.diag().to_owned();
        let mut squares = far;
        squares.mapv_inplace(|v| v * v);
        squares /= &unit;
        let mut b = Array1::from_elem(d, 1.0 / d as f64);
        for iteration in 0..self.max_iterations {
            watch.step(iteration)?;
            let norms = squares.dot(&b).mapv(f64::sqrt);
            let objective = norms.sum();
            let g = squares.t().dot(&norms.mapv(|n| if n > 0.0 { 0.5 / n } else { 0.0 }));
            report.iterations = iteration + 1;
            report.objective = Some(objective);
            let top = g.iter().fold(0.0f64, |m, v| m.max(*v));
            let gap =
                if objective > 0.0 { ((top - 0.5 * objective) / objective).max(0.0) } else { 0.0 };
            report.error_bound = Some(gap);
            report.status =
                if gap <= self.tolerance { Status::Solved } else { Status::MaxIterations };
            if gap <= self.tolerance || iteration + 1 == self.max_iterations {
                break;
            }
            b = b * g.mapv(|v| v * v);
            let sum = b.sum();
            b /= sum;
        }
        Ok((b / unit).to_vec())
    }
}

/// Iterations between two looks at the bound.
const GAP_EVERY: usize = 8;
