use crate::scatter::{EIGEN, check_loop, check_room, checked};
use consilience_core::{
    Error, Features, Fit, Link, MemoryBudget, Observer, Pace, Report, Result, SideInformation,
    Status, Watch, room,
};
use consilience_num::logdet::LogDet;
use ndarray::{ArrayView1, ArrayView2, Axis};

use crate::standard::Standard;
use crate::{LinearMap, MetricLearner};

/// Information-theoretic metric learning: the metric nearest to the prior under which must-links
/// are short and cannot-links long.
///
/// The default choice for pairs: it stays near the prior where nothing is said, so few pairs or
/// more features than pairs do no harm, and no eigenproblem is solved until the end.
///
/// ```text
/// minimise  tr(M) - log det M  +  slack (violations)    subject to   |x_i - x_j|_M^2 <= u + slack  (must),
///                                                                |x_i - x_j|_M^2 >= l - slack  (cannot)
/// ```
///
/// u and l are the 5 % and 95 % quantiles of the squared distances among the objects of the pairs.
///
/// ```
/// use consilience::SideInformation;
/// use consilience::metric::{Itml, MetricLearner};
/// use consilience::ndarray::array;
///
/// let x = array![[0.0, 1.0], [0.1, 9.0], [0.0, 5.0], [4.0, 2.0], [4.1, 8.0], [4.0, 5.0]];
/// let side = SideInformation::from_labels(&[0, 0, 0, 1, 1, 1])?;
/// let metric = Itml::new().fit(x.view().into(), &side, &())?.output.metric();
/// assert!(metric[[0, 0]] > 4.0 * metric[[1, 1]]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// The prior is the identity on features divided by their deviations
/// ([`standardize`](Itml::standardize)), so that the unit of a feature does not decide. A constant
/// feature gets weight 0. Pairs of equal objects say nothing and are passed over. Without any pair
/// the result is the prior, and a note says so; one kind alone is enough.
///
/// # Complexity
/// O(sweeps c d^2 + d^3) time for c pairs, O(n d + c d + d^2) memory. One thread, as every
/// projection needs the one before.
///
/// # Errors
/// As [`MetricLearner::fit`]; [`slack`](Itml::slack) and [`tolerance`](Itml::tolerance) must be
/// positive, [`bounds`](Itml::bounds) and [`quantiles`](Itml::quantiles) ascending.
///
/// # References
/// J. Davis, B. Kulis, P. Jain, S. Sra, I. Dhillon, "Information-theoretic metric learning", 2007,
/// Algorithm 1. Must-links are visited first, each kind by ascending objects; for another slack
/// than 1 the step is the one that follows from the projection, which is not as it is printed.
#[doc(alias = "information-theoretic metric learning")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Itml {
    slack: f64,
    bounds: Bounds,
    standardize: bool,
    tolerance: f64,
    max_iterations: usize,
    max_pairs: usize,
    budget: MemoryBudget,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bounds {
    Quantiles(f64, f64),
    Squared(f64, f64),
}

impl Default for Itml {
    fn default() -> Self {
        Itml {
            slack: 1.0,
            bounds: Bounds::Quantiles(0.05, 0.95),
            standardize: true,
            tolerance: 1e-3,
            max_iterations: 1000,
            max_pairs: 20_000,
            budget: MemoryBudget::default(),
        }
    }
}

impl Itml {
    /// gamma 1, bounds at the 5 % and 95 % quantiles, features standardized, tolerance 1e-3, at
    /// most 1000 sweeps, at most 20,000 pairs of either kind.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// How much a violated pair counts against the distance from the prior. Default 1; above 0.
        #[doc(alias = "gamma")]
        pub fn slack(mut self, slack: f64) { self.slack = slack }

        /// The bounds u and l themselves: squared distances, in the unit of the standardized
        /// features. Default: [`quantiles`](Itml::quantiles); `0 < near < far`.
        pub fn bounds(mut self, near: f64, far: f64) { self.bounds = Bounds::Squared(near, far) }

        /// The bounds u and l as quantiles of the squared distances among the objects of the pairs.
        /// Default 0.05 and 0.95; `0 <= near < far <= 1`.
        pub fn quantiles(mut self, near: f64, far: f64) {
            self.bounds = Bounds::Quantiles(near, far)
        }

        /// Whether each feature is divided by its own deviation first, or all by one number.
        /// Default yes.
        pub fn standardize(mut self, each: bool) { self.standardize = each }

        /// Stops once a sweep changes the dual variables by at most this share of their sum.
        /// Default 1e-3; above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Most sweeps over the pairs. Default 1000; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Most pairs of either kind; of more, as many are taken at even distances. Default 20,000;
        /// at least 1.
        pub fn max_pairs(mut self, max_pairs: usize) { self.max_pairs = max_pairs }

        /// How much memory the features, differences of the pairs and square matrices of the
        /// features may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    fn check(&self) -> Result<()> {
        check_loop(self.tolerance, self.max_iterations, self.max_pairs)?;
        if !(self.slack > 0.0 && self.slack.is_finite()) {
            return Err(Error::invalid(format!("slack {}; expected more than 0", self.slack)));
        }
        match self.bounds {
            Bounds::Quantiles(a, b) if !(a >= 0.0 && a < b && b <= 1.0) => {
                Err(Error::invalid(format!("quantiles {a}, {b}; expected 0 <= near < far <= 1")))
            }
            Bounds::Squared(a, b) if !(a > 0.0 && a < b && b.is_finite()) => {
                Err(Error::invalid(format!("bounds {a}, {b}; expected 0 < near < far")))
            }
            _ => Ok(()),
        }
    }

    /// u and l.
    fn limits(
        &self,
        z: ArrayView2<'_, f64>,
        pairs: &[&[(usize, usize)]],
        observer: &dyn Observer,
    ) -> Result<(f64, f64)> {
        let (near, far) = match self.bounds {
            Bounds::Squared(near, far) => return Ok((near, far)),
            Bounds::Quantiles(near, far) => (near, far),
        };
        let mut objects: Vec<usize> =
            pairs.iter().flat_map(|p| p.iter()).flat_map(|&(i, j)| [i, j]).collect();
        objects.sort_unstable();
        objects.dedup();
        let step = objects.len().div_ceil(MOST_OBJECTS);
        let some = z.select(Axis(0), &objects.into_iter().step_by(step.max(1)).collect::<Vec<_>>());
        let mut squares = Vec::with_capacity(some.nrows() * some.nrows().saturating_sub(1) / 2);
        let square = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| {
            let diff = &a - &b;
            diff.dot(&diff)
        };
        let mut pace = Pace::new(observer);
        for i in 0..some.nrows() {
            pace.work(i.saturating_mul(some.ncols()))?;
            squares.extend((0..i).map(|j| square(some.row(i), some.row(j))));
        }
        // Where those looked at are all equal, the linked ones may still differ.
        if squares.iter().all(|s| *s == 0.0) {
            let linked = pairs.iter().flat_map(|p| p.iter());
            squares = linked.map(|&(i, j)| square(z.row(i), z.row(j))).collect();
        }
        squares.sort_unstable_by(f64::total_cmp);
        let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
        let at =
            |q: f64| squares.get((q * (squares.len().max(1) - 1) as f64).round() as usize).copied();
        // Many equal objects must not ask for distance 0.
        let near = at(near).unwrap_or(0.0).max(1e-3 * mean).max(f64::MIN_POSITIVE);
        Ok((near, at(far).unwrap_or(0.0).max(near)))
    }
}

/// Objects that the quantiles are taken over.
const MOST_OBJECTS: usize = 1000;
const NOTHING: &str =
    "no pairs of different objects: the features are standardized, nothing is learned";

impl MetricLearner for Itml {
    fn name(&self) -> &'static str {
        "itml"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<LinearMap>> {
        let features = checked(features, side)?;
        self.check()?;
        let (must, cannot) = side.links_up_to(self.max_pairs);
        let linked = !(must.is_empty() && cannot.is_empty());
        if linked {
            // Beside the objects and the differences stand those objects that quantiles are of.
            let links = must.len() + cannot.len();
            let rows = features.n_objects() + links + MOST_OBJECTS.min(2 * links);
            check_room(self.budget, &features, rows, EIGEN + 1)?;
        }
        observer.check()?;
        let mut report = Report::default();
        let standard = Standard::new(&features, self.standardize, observer)?;
        if !linked {
            report.notes.push(NOTHING.into());
            return Ok(Fit::new(standard.alone()?, report));
        }
        let z = standard.z.view();
        side.tell_thinned(self.max_pairs, &mut report);
        let (near, far) = self.limits(z, &[&must, &cannot], observer)?;
        let mut metric = LogDet::new(z.ncols(), self.slack, near, far);
        let mut pace = Pace::new(observer);
        for (pairs, link) in [(&must, Link::Must), (&cannot, Link::Cannot)] {
            for &(i, j) in pairs {
                pace.work(z.ncols())?;
                let mut row = room::with_capacity(z.ncols())?;
                row.extend(z.row(i).iter().zip(z.row(j)).map(|(a, b)| a - b));
                metric.add(row, link);
            }
        }
        if metric.n_links() == 0 {
            report.notes.push(NOTHING.into());
            return Ok(Fit::new(standard.alone()?, report));
        }
        let mut watch = Watch::new(observer, "itml", self.max_iterations);
        let (sweeps, solved) =
            metric.settle(self.tolerance, self.max_iterations, |sweep| watch.step(sweep))?;
        report.iterations = sweeps;
        report.status = if solved { Status::Solved } else { Status::MaxIterations };
        Ok(Fit::new(standard.map(metric.root()?.reversed_axes())?, report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use consilience_core::{Constraints, Seed};
    use consilience_num::rows::differences;
    use ndarray::{Array1, Array2};

    /// Algorithm 1 as it stands, with matrices.
    fn reference(
        near: &Array2<f64>,
        far: &Array2<f64>,
        u: f64,
        l: f64,
        gamma: f64,
        sweeps: usize,
    ) -> Array2<f64> {
        let d = near.ncols();
        let mut a = Array2::<f64>::eye(d);
        let mut rows: Vec<(Array1<f64>, f64, f64, f64)> = Vec::new();
        rows.extend(near.rows().into_iter().map(|r| (r.to_owned(), 1.0, u, 0.0)));
        rows.extend(far.rows().into_iter().map(|r| (r.to_owned(), -1.0, l, 0.0)));
        for _ in 0..sweeps {
            for (v, delta, xi, lambda) in &mut rows {
                let av = a.dot(v);
                let p = v.dot(&av);
                let alpha = lambda.min(*delta * gamma / (gamma + 1.0) * (1.0 / p - 1.0 / *xi));
                let beta = *delta * alpha / (1.0 - *delta * alpha * p);
                *xi = gamma * *xi / (gamma + *delta * alpha * *xi);
                *lambda -= alpha;
                let outer = Array2::from_shape_fn((d, d), |(i, j)| av[i] * av[j]);
                a = a + outer * beta;
            }
        }
        a
    }

    /// Of so many linked objects every second is looked at, and these are all equal.
    #[test]
    fn equal_objects_ask_for_no_distance_of_0() {
        let n = 1500;
        let x = Array2::from_shape_fn((n, 2), |(i, j)| (i % 2 * (i + j * 7) % 101) as f64);
        let mut links = Constraints::new(n).unwrap();
        for i in (1..n - 2).step_by(2) {
            links.add(i, i + 2, Link::Must).unwrap();
            links.add(i - 1, i + 1, Link::Must).unwrap();
        }
        links.add(0, 1, Link::Cannot).unwrap();
        let side = SideInformation::from_constraints(&links);
        assert!(Itml::new().fit(x.view().into(), &side, &()).is_ok());
        // And where all linked objects are.
        let equal = Array2::from_shape_fn((6, 2), |(i, _)| (i / 4) as f64);
        let mut links = Constraints::new(6).unwrap();
        links.add(0, 1, Link::Must).unwrap();
        links.add(2, 3, Link::Cannot).unwrap();
        let side = SideInformation::from_constraints(&links);
        assert!(Itml::new().fit(equal.view().into(), &side, &()).is_ok());
    }

    #[test]
    fn equals_the_algorithm_of_the_paper() {
        for seed in 0..20 {
            let mut s = Seed(seed).stream();
            let (n, d) = (20, 1 + s.below(11));
            let x = Array2::from_shape_fn((n, d), |_| s.normal());
            let mut c = Constraints::new(n).unwrap();
            for _ in 0..25 {
                let link = if s.below(2) == 0 { Link::Must } else { Link::Cannot };
                let _ = c.add(s.below(n), s.below(n), link);
            }
            let side = SideInformation::from_constraints(&c);
            let itml = Itml::new().bounds(0.5, 4.0).max_iterations(7).tolerance(1e-300);
            let found = itml.fit(x.view().into(), &side, &()).unwrap().output.metric();
            let standard = Standard::new(&x.view().into(), true, &()).unwrap();
            let (must, cannot) = side.links_up_to(usize::MAX);
            let z = standard.z.view();
            let of = |pairs: &[(usize, usize)]| differences(z, pairs, &()).unwrap();
            let a = reference(&of(&must), &of(&cannot), 0.5, 4.0, 1.0, 7);
            let l = standard.map(Array2::eye(d)).unwrap().matrix();
            let expected = l.t().dot(&a).dot(&l);
            let size = expected.iter().fold(1.0f64, |m, v| m.max(v.abs()));
            assert_abs_diff_eq!(found, expected, epsilon = 1e-9 * size);
        }
    }
}
