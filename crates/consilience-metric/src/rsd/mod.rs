//! The metric under which the given pairs have the largest ratio of split to diameter.

mod barrier;
mod diagonal;
mod dictionary;
mod full;
mod pairs;
mod solution;
#[cfg(test)]
mod tests;

use consilience_core::{
    Dense, Features, Fit, MemoryBudget, Observer, Report, Result, SideInformation, Status, Watch,
    ensure,
};

use consilience_num::product::times;

use crate::scatter::{EIGEN, checked};
use crate::{LinearMap, MetricLearner};
use pairs::{Pairs, Room, Scales, Whitened};
use solution::{Solution, gap};

/// What can be gained by rounding at most, for a result to count as solved.
const SOLVED: f64 = 1e-8;

/// The same for the semidefinite programme, where rounding leaves less.
const SOLVED_FULL: f64 = 5e-5;

/// A metric of largest RSD, with the proof of how good it is.
///
/// From [`RsdDiagonal::fit_metric`] and [`RsdFull::fit_metric`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RsdMetric {
    /// The metric, scaled so that the farthest must-link has length 1 at most.
    pub map: LinearMap,
    /// Smallest squared length of a cannot-link: the objective s. Its root is the RSD of the given
    /// pairs.
    pub split: f64,
    /// No metric of this kind has a larger s.
    pub upper: f64,
    /// Whether the bound on the trace, and not the pairs alone, limits s.
    pub bounded: bool,
    /// Pairs that the solver had to look at one by one.
    pub generated: usize,
}

impl RsdMetric {
    /// What is missing to the best at most, relative to it.
    pub fn gap(&self) -> f64 {
        gap(self.split, self.upper)
    }

    fn new<T>(map: LinearMap, found: &Solution<T>) -> Self {
        let &Solution { split, upper, bounded, generated, .. } = found;
        RsdMetric { map, split, upper, bounded, generated }
    }
}

/// Weights of the features under which the given pairs have the largest ratio of split to diameter
/// (RSD): a linear programme.
///
/// For a few labels per class or a few hundred pairs; before `Nnc`, for which it is
/// made, or any other clusterer. It has no parameter that needs tuning, is exact, and picks few
/// features. Not for thousands of labels or for wrong ones: one wrong pair decides the optimum, as
/// one outlier does a diameter.
///
/// ```text
/// maximise s   subject to   sum_j z_j (x_j - y_j)^2 <= 1   for must-links (x, y),
///                           sum_j z_j (x_j - y_j)^2 >= s   for cannot-links (x, y),   z >= 0
/// ```
///
/// Where some features are constant within all classes and separate all of them, s can grow without
/// bound. The rule: two objects drawn at random may have a mean squared distance of at most
/// [`bound`](RsdDiagonal::bound), in units of the farthest must-link. It does not depend on the
/// units of the features. Where it is what limits s, [`RsdMetric::bounded`] and a note in the
/// report say so; else the result is that of the plain programme. Without must-links the rule alone
/// sets the scale; without cannot-links the mean over all pairs of objects takes the place of s.
/// Cannot-links between equal objects are left out, and constant features get weight 0.
///
/// ```
/// use consilience::{Features, Fit, SideInformation};
/// use consilience::metric::RsdDiagonal;
/// use consilience::ndarray::array;
///
/// // The second feature is noise.
/// let x = array![[0.0, 0.0], [1.0, 4.0], [6.0, 1.0], [7.0, 3.0]];
/// let side = SideInformation::from_labels(&[0, 0, 1, 1])?;
/// let found = RsdDiagonal::new().fit_metric(x.view().into(), &side, &())?.output;
/// assert!((found.split - 25.0).abs() < 1e-9 && !found.bounded);
/// assert!((found.map.metric()[[0, 0]] - 1.0).abs() < 1e-9 && found.map.metric()[[1, 1]] == 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n d) for the units, then rounds of a dual simplex method on the pairs that matter: O(d) per
/// such pair and pivot, and O(pairs x features chosen) per round. 1,225 pairs of 240 features took
/// 0.2 s on a busy machine.
///
/// # Errors
/// As [`MetricLearner::fit`];
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a bound that
/// is not positive; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the pairs
/// exceed the memory budget.
///
/// # References
/// J. Yang et al., "A fast clustering algorithm for data with a few labeled instances", 2015, Eqs.
/// 21 to 26. The distances there are printed with roots; squaring 1 and s gives the linear
/// programme. The bound is ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RsdDiagonal {
    bound: f64,
    max_iterations: usize,
    budget: MemoryBudget,
}

impl Default for RsdDiagonal {
    fn default() -> Self {
        RsdDiagonal { bound: 100.0, max_iterations: 10_000, budget: MemoryBudget::default() }
    }
}

impl RsdDiagonal {
    /// With the bound 100.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// Largest mean squared distance of two random objects, in units of the farthest must-link.
        /// Default 100; above 0.
        pub fn bound(mut self, bound: f64) { self.bound = bound }

        /// Most rounds in which pairs are generated. Default 10,000; at least 1.
        pub fn max_iterations(mut self, rounds: usize) { self.max_iterations = rounds }

        /// How much memory features, pairs and what is made of them may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// As [`MetricLearner::fit`], with the split, its upper bound and whether the rule was needed.
    ///
    /// # Errors
    /// As [`MetricLearner::fit`].
    pub fn fit_metric(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<RsdMetric>> {
        let features = check(features, side, self.bound, self.max_iterations)?;
        let mut watch = Watch::new(observer, "RSD metric", self.max_iterations);
        watch.step(0)?;
        let room = Room::new(&features, side, 2, self.budget);
        room.check(&[(features.n_objects(), features.n_features())])?;
        let scales = Scales::new(features, side, observer)?;
        let mut report = Report::default();
        let d = features.n_features();
        if scales.kept.is_empty() || nothing_said(&scales.pairs) {
            return euclidean(d, report);
        }
        let found =
            diagonal::solve(&scales.pairs, self.bound, self.max_iterations, &room, &mut watch)?;
        let mut roots = vec![0.0; d];
        for ((&j, &z), inverse) in scales.kept.iter().zip(&found.point).zip(&scales.inverse) {
            roots[j] = z.sqrt() * inverse;
        }
        let metric = RsdMetric::new(LinearMap::learned_diagonal(&roots)?, &found);
        report.iterations = found.iterations;
        tell(&mut report, &metric, &scales.pairs, self.bound, SOLVED);
        Ok(Fit::new(metric, report))
    }
}

/// The metric, of any orientation, under which the given pairs have the largest ratio of split to
/// diameter (RSD): a semidefinite programme.
///
/// As [`RsdDiagonal`], for features that are correlated; take it for tens of features, or for many
/// more where few objects are labelled, since only the directions in which labelled objects differ
/// count. It fits the given pairs more closely than a diagonal one and needs more of them to do so
/// on new objects.
///
/// ```text
/// maximise s   subject to   (x - y)' M (x - y) <= 1   for must-links,
///                           (x - y)' M (x - y) >= s   for cannot-links,   M positive semidefinite
/// ```
///
/// With more directions than must-links some direction is free of them and s grows without bound;
/// the rule of [`RsdDiagonal`] bounds it: two random objects have a mean squared distance of at
/// most [`bound`](RsdFull::bound). The metric does not depend on any linear map applied to the
/// features before. Without cannot-links the principal directions of the labelled objects take
/// their place.
///
/// ```
/// use consilience::SideInformation;
/// use consilience::metric::RsdFull;
/// use consilience::ndarray::array;
///
/// // Classes lie along the diagonal and differ across it.
/// let x = array![[0.0, 0.0], [3.0, 3.0], [1.0, 0.0], [4.0, 3.2]];
/// let side = SideInformation::from_labels(&[0, 0, 1, 1])?;
/// let found = RsdFull::new().fit_metric(x.view().into(), &side, &())?.output;
/// let d = |i: usize, j: usize| found.map.distance(x.row(i), x.row(j));
/// assert!(d(0, 1)? <= 1.0 + 1e-9 && d(2, 3)? <= 1.0 + 1e-9 && d(0, 2)? > 2.0);
/// assert!(found.gap() <= 1e-6);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n d^2 + d^3) to whiten; then some 50 Newton steps of O(p^2 (p + r)) for p pairs that matter
/// and r directions, and O(pairs x r) to find them, in a few rounds. O(d^2 + p^2) memory.
///
/// # Errors
/// As [`MetricLearner::fit`];
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a bound or
/// tolerance that is not positive; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge)
/// where pairs or covariance exceed the memory budget.
///
/// # References
/// J. Yang et al., "A fast clustering algorithm for data with a few labeled instances", 2015, Eqs.
/// 16 to 20, squared. S. Benson, Y. Ye, X. Zhang, "Solving large-scale sparse semidefinite programs
/// for combinatorial optimization", 2000 (dual scaling). The bound and the generation of pairs are
/// ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RsdFull {
    bound: f64,
    tolerance: f64,
    max_iterations: usize,
    budget: MemoryBudget,
}

impl Default for RsdFull {
    fn default() -> Self {
        RsdFull {
            bound: 100.0,
            tolerance: 1e-6,
            max_iterations: 2000,
            budget: MemoryBudget::default(),
        }
    }
}

impl RsdFull {
    /// With the bound 100, to a relative gap of 1e-6.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// Largest mean squared distance of two random objects, in units of the farthest must-link.
        /// Default 100; above 0.
        pub fn bound(mut self, bound: f64) { self.bound = bound }

        /// Relative gap between s and its upper bound at which to stop. Rounding may end it before;
        /// the report tells the gap that was reached, and counts 5e-5 as solved. Default 1e-6;
        /// above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Most centres of the barrier method, over all rounds. Default 2000; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// How much memory features, pairs and what is made of them may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// As [`MetricLearner::fit`], with the split, its upper bound and whether the rule was needed.
    ///
    /// # Errors
    /// As [`MetricLearner::fit`].
    pub fn fit_metric(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<RsdMetric>> {
        let features = check(features, side, self.bound, self.max_iterations)?;
        ensure!(
            self.tolerance > 0.0 && self.tolerance.is_finite(),
            invalid("tolerance {}; expected a positive number", self.tolerance)
        );
        let mut watch = Watch::new(observer, "RSD metric", self.max_iterations);
        watch.step(0)?;
        let (n, d) = (features.n_objects(), features.n_features());
        let mut room = Room::new(&features, side, 4, self.budget);
        room.check(&[(n, d), (d.saturating_mul(EIGEN + 1), d)])?;
        let Whitened { mut pairs, map } = Whitened::new(features, side, observer)?;
        let mut report = Report::default();
        if map.nrows() == 0 || nothing_said(&pairs) {
            return euclidean(features.n_features(), report);
        }
        let without = pairs.cannot.is_empty();
        if without {
            pairs.stand_in();
        }
        let Self { bound, tolerance, max_iterations, .. } = *self;
        room.held.push(map.dim());
        let rules = full::Rules { room, bound, tolerance, max_iterations };
        let found = full::solve(&pairs, &rules, &mut watch)?;
        let metric = RsdMetric::new(
            LinearMap::learned(times(found.point.view(), map.view(), observer)?)?,
            &found,
        );
        if without {
            pairs.cannot.clear();
        }
        report.iterations = found.iterations;
        tell(&mut report, &metric, &pairs, bound, tolerance.max(SOLVED_FULL));
        Ok(Fit::new(metric, report))
    }
}

/// A learner with `fit_metric`.
macro_rules! learner {
    ($learner:ident, $name:literal) => {
        impl MetricLearner for $learner {
            fn name(&self) -> &'static str {
                $name
            }

            fn fit(
                &self,
                features: Features<'_>,
                side: &SideInformation,
                observer: &dyn Observer,
            ) -> Result<Fit<LinearMap>> {
                let found = self.fit_metric(features, side, observer)?;
                Ok(Fit::new(found.output.map, found.report))
            }
        }
    };
}

learner!(RsdDiagonal, "rsd-diagonal");
learner!(RsdFull, "rsd-full");

fn check<'a>(
    features: Features<'a>,
    side: &SideInformation,
    bound: f64,
    rounds: usize,
) -> Result<Dense<'a>> {
    let features = checked(features, side)?;
    ensure!(bound > 0.0 && bound.is_finite(), invalid("bound {bound}; expected a positive number"));
    ensure!(rounds > 0, invalid("max_iterations is 0; expected at least 1"));
    Ok(features)
}

fn nothing_said(pairs: &Pairs) -> bool {
    pairs.must.is_empty() && pairs.cannot.is_empty()
}

fn euclidean(d: usize, mut report: Report) -> Result<Fit<RsdMetric>> {
    report
        .notes
        .push("no pair of different objects is given: the metric is the Euclidean one".into());
    let map = LinearMap::identity(d)?;
    Ok(Fit::new(RsdMetric { map, split: 0.0, upper: 0.0, bounded: false, generated: 0 }, report))
}

/// Writes down what the user should know of the result, which is solved at so small a gap.
fn tell(report: &mut Report, metric: &RsdMetric, pairs: &Pairs, bound: f64, small: f64) {
    report.objective = Some(metric.split);
    report.error_bound = Some(metric.gap());
    if !(metric.gap() <= small) {
        report.status = Status::MaxIterations;
    }
    if pairs.equal > 0 {
        report
            .notes
            .push(format!("{} cannot-links between equal objects were left out", pairs.equal));
    }
    if pairs.must.is_empty() {
        report.notes.push(
            "no must-links: the scale of the metric is that of the bound on random pairs".into(),
        );
    }
    if pairs.cannot.is_empty() {
        report
            .notes
            .push("no cannot-links: all pairs of objects, on average, took their place".into());
    } else if metric.bounded && !pairs.must.is_empty() {
        report.notes.push(format!(
            "the pairs alone would let the ratio grow beyond all bounds or far: two random \
             objects were held to a \
             mean squared distance of {bound} farthest must-links"
        ));
    }
}
