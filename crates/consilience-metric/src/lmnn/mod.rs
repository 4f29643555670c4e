mod triples;

use consilience_core::{
    Features, Fit, MemoryBudget, Observer, Report, Result, SideInformation, Status, Watch,
    at_least_one, ensure, room,
};
use consilience_num::product::times;
use ndarray::{Array1, Array2, Axis};

use self::triples::{Pulls, Triples};
use crate::scatter::{check_loop, checked, identity};
use crate::standard::Standard;
use crate::{LinearMap, MetricLearner};

/// Large margin nearest neighbour: every labelled object's nearest ones of its own set come closer,
/// those of sets apart are pushed beyond them by a margin.
///
/// For labels, and where neighbours matter: nearest-neighbour assignment, or classes of several
/// lumps. For a handful of pairs [`Itml`](crate::Itml) is the safer choice.
///
/// ```text
/// minimise (1 - mu) sum_(i, target j) |L(x_i - x_j)|^2
///          + mu sum_(i, target j, impostor l) [1 + |L(x_i - x_j)|^2 - |L(x_i - x_l)|^2]_+
///          + rho p |L - L_0|_F^2
/// ```
///
/// Targets of i are its nearest objects of the same labelled set, impostors all labelled objects of
/// sets apart, p the labelled objects.
///
/// ```
/// use consilience::SideInformation;
/// use consilience::metric::{Lmnn, MetricLearner};
/// use consilience::ndarray::array;
///
/// let x = array![[0.0, 1.0], [0.1, 9.0], [0.0, 5.0], [4.0, 2.0], [4.1, 8.0], [4.0, 5.0]];
/// let side = SideInformation::from_labels(&[0, 0, 0, 1, 1, 1])?;
/// let metric = Lmnn::new().fit(x.view().into(), &side, &())?.output.metric();
/// assert!(metric[[0, 0]] > 4.0 * metric[[1, 1]]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// L_0 is the identity on features divided by their deviations and then by one number, so that the
/// margin 1 is the mean squared distance from an object to its nearest impostor. The steps of the
/// gradient descent grow while the objective falls and are halved where it would rise: it never
/// does. Where features keep their proportions, each column of a step is in the unit of its
/// feature's deviation, and the descent begins at standardized features if these are better than
/// L_0: features of small numbers would hardly be learned otherwise. A labelled set of a single
/// object has no targets and serves as impostor. Without targets or without impostors there is
/// nothing to separate: the result is L_0, and a note says so.
///
/// # Complexity
/// O(q d + p d^2) time per iteration, q the pairs of a target or an impostor and its object: of
/// classes nearly p^2, of links a few for each object. O(n d + p d + a + d^2) memory, a the pairs
/// that a triple within the margin has: the targets and the impostors that are near.
///
/// # Errors
/// As [`MetricLearner::fit`]; [`neighbours`](Lmnn::neighbours) at least 1, [`pull`](Lmnn::pull)
/// within 0..1, [`regularization`](Lmnn::regularization) at least 0;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the features, the impostors
/// that are near, or matrices of d^2 numbers, exceed the memory budget.
///
/// # References
/// K. Weinberger, L. Saul, "Distance metric learning for large margin nearest neighbor
/// classification", 2009, Eq. 11-13. There without the last term and with a margin in whatever unit
/// the features have.
#[doc(alias = "large margin nearest neighbor")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lmnn {
    neighbours: usize,
    pull: f64,
    regularization: f64,
    standardize: bool,
    tolerance: f64,
    max_iterations: usize,
    budget: MemoryBudget,
}

impl Default for Lmnn {
    fn default() -> Self {
        Lmnn {
            neighbours: 3,
            pull: 0.5,
            regularization: 0.0,
            standardize: true,
            tolerance: 1e-4,
            max_iterations: 500,
            budget: MemoryBudget::default(),
        }
    }
}

impl Lmnn {
    /// 3 targets, mu 1/2, features standardized, relative tolerance 1e-4, at most 500 iterations.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// Targets per object; an object of a smaller set has all there are. Default 3; at least 1.
        pub fn neighbours(mut self, neighbours: usize) { self.neighbours = neighbours }

        /// 1 - mu: the share of pulling targets closer, against pushing impostors away. Default
        /// 0.5; between 0 and 1.
        pub fn pull(mut self, share: f64) { self.pull = share }

        /// How strongly L is held at L_0. Default 0; at least 0.
        #[doc(alias = "rho")]
        pub fn regularization(mut self, rho: f64) { self.regularization = rho }

        /// Whether each feature is divided by its own deviation first, or all by one number.
        /// Default yes.
        pub fn standardize(mut self, each: bool) { self.standardize = each }

        /// Stops once ten iterations lower the objective by no more than this share of it, which
        /// counts as solved. Where features nearly repeat each other, the objective may then still
        /// be some hundredths above the least. Default 1e-4; above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Most iterations. Default 500; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// How much memory the features, the impostors that are near and square matrices of the
        /// features may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    fn check(&self) -> Result<()> {
        check_loop(self.tolerance, self.max_iterations, 1)?;
        at_least_one("neighbours", self.neighbours)?;
        ensure!(
            self.pull > 0.0 && self.pull < 1.0,
            invalid("pull {}; expected more than 0 and less than 1", self.pull)
        );
        ensure!(
            self.regularization >= 0.0 && self.regularization.is_finite(),
            invalid("regularization {}; expected at least 0", self.regularization)
        );
        Ok(())
    }

    /// Refuses labelled objects, weights of pairs and square matrices of the features that do not
    /// fit.
    fn check_room(&self, tables: &[(usize, usize)]) -> Result<()> {
        self.budget.check_tables("labelled objects, and impostors that are near", tables, 8)
    }
}

impl MetricLearner for Lmnn {
    fn name(&self) -> &'static str {
        "lmnn"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<LinearMap>> {
        let features = checked(features, side)?;
        self.check()?;
        observer.check()?;
        let mut report = Report::default();
        let objects = side.labelled_sets().concat();
        // The features of the labelled objects, with what becomes of them.
        let (n, d) = (features.n_objects(), features.n_features());
        let rows = (n + 3 * objects.len(), d);
        self.check_room(&[rows])?;
        let standard = Standard::new(&features, self.standardize, observer)?;
        let mut z = standard.z.select(Axis(0), &objects);
        let triples = Triples::new(z.view(), side, self.neighbours, observer)?;
        if triples.is_empty() {
            let note = "no labelled object has both targets and impostors: the features are \
                        standardized, nothing is learned";
            report.notes.push(note.into());
            return Ok(Fit::new(standard.alone()?, report));
        }
        let margin = triples.margin(z.view(), observer)?;
        let tables = [rows, (d.saturating_mul(SQUARES), d)];
        self.check_room(&tables)?;
        let unit = if margin > 0.0 { 1.0 / margin.sqrt() } else { 1.0 };
        z *= unit;
        let problem = Problem { method: self, z, triples, tables, observer };
        let l = problem.descend(&mut report)?;
        Ok(Fit::new(standard.map(l * unit)?, report))
    }
}

/// Two L with their gradients, beside what becomes the next.
const SQUARES: usize = 6;

/// What is minimised.
struct Problem<'a> {
    method: &'a Lmnn,
    /// The labelled objects, set by set, in the unit of the margin.
    z: Array2<f64>,
    triples: Triples,
    /// What is held beside the weights.
    tables: [(usize, usize); 2],
    observer: &'a dyn Observer,
}

/// The objective at one L, and what its gradient is made of.
struct Value {
    objective: f64,
    pulls: Pulls,
}

impl Problem<'_> {
    /// The L of least objective, by steps along the gradient from the identity, or from
    /// standardized features if these are better, whose proportions the steps then have.
    fn descend(&self, report: &mut Report) -> Result<Array2<f64>> {
        let most = self.method.max_iterations;
        let mut watch = Watch::new(self.observer, "lmnn", most);
        let mut l = identity(self.z.ncols())?;
        let mut here = self.value(&l)?;
        let ratios = if self.method.standardize { None } else { Some(ratios(&self.z)) };
        if let Some(ratios) = &ratios {
            let other = self.standardized(ratios)?;
            let there = self.value(&other)?;
            if there.objective < here.objective {
                (l, here) = (other, there);
            }
        }
        let mut rate = None;
        let mut before = here.objective;
        report.status = Status::MaxIterations;
        for iteration in 0..most {
            watch.step(iteration)?;
            report.iterations = iteration + 1;
            let mut gradient = self.gradient(&l, &here.pulls)?;
            if let Some(ratios) = &ratios {
                gradient *= &(ratios * ratios);
            }
            let first = || 1.0 / gradient.iter().map(|v| v * v).sum::<f64>().sqrt().max(1.0);
            let from = rate.unwrap_or_else(first);
            let Some((candidate, there, taken)) = self.lower(&l, &here, &gradient, from)? else {
                report.status = Status::Solved;
                break;
            };
            (l, here) = (candidate, there);
            rate = Some(taken * 1.2);
            if iteration % 10 == 9 {
                if before - here.objective <= self.method.tolerance * before {
                    report.status = Status::Solved;
                    break;
                }
                before = here.objective;
            }
        }
        report.objective = Some(here.objective);
        Ok(l)
    }

    /// A lower place along the gradient, with its value and the rate; `None` where there is none.
    fn lower(
        &self,
        l: &Array2<f64>,
        here: &Value,
        gradient: &Array2<f64>,
        mut rate: f64,
    ) -> Result<Option<(Array2<f64>, Value, f64)>> {
        let steepest = gradient.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        loop {
            let candidate = l - &(gradient * rate);
            let there = self.value(&candidate)?;
            if there.objective < here.objective {
                return Ok(Some((candidate, there, rate)));
            }
            rate *= 0.5;
            if rate * steepest < 1e-12 {
                return Ok(None);
            }
        }
    }

    fn value(&self, l: &Array2<f64>) -> Result<Value> {
        let (y, pull) = (times(self.z.view(), l.t(), self.observer)?, self.method.pull);
        // Those of the place before are held too.
        let held = self.tables.iter().map(|t| 8 * t.0 * t.1).sum();
        let most = self.method.budget.beside(held).n_bytes() / 2;
        let Some(pulls) = self.triples.pulls(y.view(), pull, most, self.observer)? else {
            let weights = 2 * self.triples.n_weights(y.view(), pull, self.observer)?;
            self.method.check_room(&[self.tables[0], self.tables[1], (weights, 2)])?;
            return Err(room::no_room::<(usize, f64)>(weights));
        };
        let mut objective = pulls.value;
        if self.method.regularization > 0.0 {
            objective += self.weight() * self.away(l).iter().map(|v| v * v).sum::<f64>();
        }
        Ok(Value { objective, pulls })
    }

    fn gradient(&self, l: &Array2<f64>, pulls: &Pulls) -> Result<Array2<f64>> {
        let scatter = self.triples.scatter(self.z.view(), pulls, self.observer)?;
        let mut gradient = times(l.view(), scatter.view(), self.observer)?;
        gradient *= 2.0;
        if self.method.regularization > 0.0 {
            gradient.scaled_add(2.0 * self.weight(), &self.away(l));
        }
        Ok(gradient)
    }

    /// rho p.
    fn weight(&self) -> f64 {
        self.method.regularization * self.z.nrows() as f64
    }

    /// L - L_0.
    fn away(&self, l: &Array2<f64>) -> Array2<f64> {
        let mut away = l.clone();
        away.diag_mut().mapv_inplace(|v| v - 1.0);
        away
    }

    /// The L that gives the columns one deviation, and the nearest impostors the mean squared
    /// distance 1.
    fn standardized(&self, ratios: &Array1<f64>) -> Result<Array2<f64>> {
        let mut even = room::copied_table(self.z.view())?;
        even *= ratios;
        let margin = self.triples.margin(even.view(), self.observer)?;
        let mut l = identity(self.z.ncols())?;
        l *= ratios;
        if margin > 0.0 {
            l /= margin.sqrt();
        }
        Ok(l)
    }
}

/// By what each column's deviation is less than the largest; 1 where the column is constant.
fn ratios(z: &Array2<f64>) -> Array1<f64> {
    let deviations = z.std_axis(Axis(0), 0.0);
    let largest = deviations.iter().fold(0.0f64, |m, &v| m.max(v));
    // The squares of the ratios are factors of steps.
    deviations.mapv(|v| if v > largest * 1e-150 { largest / v } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Constraints, ErrorKind, Link, Seed};

    /// The objective, triple by triple, over all objects.
    fn reference(
        x: &Array2<f64>,
        start: &Array2<f64>,
        l: &Array2<f64>,
        side: &SideInformation,
        method: &Lmnn,
    ) -> f64 {
        let far = |x: &Array2<f64>, i: usize, j: usize| -> f64 {
            (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum()
        };
        let y = x.dot(&l.t());
        let mut sum = 0.0;
        for set in side.labelled_sets() {
            for &i in set {
                let apart = |k: &usize| match (side.set_of(i), side.set_of(*k)) {
                    (Some(a), Some(b)) => side.are_apart(a, b),
                    _ => false,
                };
                let impostors: Vec<usize> = (0..x.nrows()).filter(apart).collect();
                let mut near: Vec<usize> = set.iter().copied().filter(|&j| j != i).collect();
                near.sort_by(|&a, &b| far(start, i, a).total_cmp(&far(start, i, b)));
                near.truncate(if impostors.is_empty() { 0 } else { method.neighbours });
                for &j in &near {
                    sum += method.pull * far(&y, i, j);
                    for &k in &impostors {
                        let lacks = 1.0 + far(&y, i, j) - far(&y, i, k);
                        sum += (1.0 - method.pull) * lacks.max(0.0);
                    }
                }
            }
        }
        let away = l - &Array2::<f64>::eye(l.ncols());
        sum + method.regularization
            * side.labelled_objects().len() as f64
            * away.mapv(|v| v * v).sum()
    }

    fn problem<'a>(method: &'a Lmnn, x: &Array2<f64>, side: &SideInformation) -> Problem<'a> {
        let z = x.select(Axis(0), &side.labelled_sets().concat());
        let triples = Triples::new(z.view(), side, method.neighbours, &()).unwrap();
        Problem { method, z, triples, tables: [(0, 0); 2], observer: &() }
    }

    /// Labels of sets both below and above what products of matrices are taken for, and links.
    #[test]
    fn value_and_gradient_are_those_of_the_formula() {
        for seed in 0..30 {
            let mut s = Seed(seed).stream();
            let (n, d) = (if seed % 3 == 0 { 180 } else { 12 }, 1 + s.below(4));
            let x = Array2::from_shape_fn((n, d), |_| s.normal());
            let labels: Vec<i32> = (0..n).map(|_| s.below(4) as i32 - 1).collect();
            let side = if seed % 2 == 0 {
                SideInformation::from_labels(&labels).unwrap()
            } else {
                let mut links = Constraints::new(n).unwrap();
                for _ in 0..2 * n {
                    let (i, j) = (s.below(n), s.below(n));
                    if i != j {
                        let same = labels[i] == labels[j];
                        links.add(i, j, if same { Link::Must } else { Link::Cannot }).unwrap();
                    }
                }
                SideInformation::from_constraints(&links)
            };
            let method = Lmnn::new().neighbours(2).regularization(0.1);
            let problem = problem(&method, &x, &side);
            let l = Array2::from_shape_fn((d, d), |_| s.normal());
            let value = problem.value(&l).unwrap();
            let at = |l: &Array2<f64>| reference(&x, &x, l, &side, &method);
            let expected = at(&l);
            assert!((value.objective - expected).abs() < 1e-9 * (1.0 + expected), "seed {seed}");
            let gradient = problem.gradient(&l, &value.pulls).unwrap();
            let direction = Array2::from_shape_fn((d, d), |_| s.normal());
            let h = 1e-6;
            let slope = (at(&(&l + &(&direction * h))) - at(&(&l - &(&direction * h)))) / (2.0 * h);
            let found = (&gradient * &direction).sum();
            // Triples at the margin bend the slope between its two ends.
            let close = 1e-4 * (1.0 + slope.abs());
            assert!((slope - found).abs() < close, "seed {seed}: {slope} {found}");
        }
    }

    /// A feature of large numbers once kept the others from being learned, and all was told solved.
    #[test]
    fn features_of_any_unit_are_learned() {
        for (seed, times) in [(0, 50.0), (1, 200.0), (2, 1e4), (3, 1e6), (4, 0.02), (5, 1e-4)] {
            let mut s = Seed(seed).stream();
            let labels: Vec<i32> = (0..60).map(|i| i % 3).collect();
            let mut x = Array2::from_shape_fn((60, 4), |(i, j)| {
                s.normal() + if j < 2 { 3.0 * f64::from(u8::from(i % 3 == j)) } else { 0.0 }
            });
            x.column_mut(seed as usize % 4).mapv_inplace(|v| v * times);
            let side = SideInformation::from_labels(&labels).unwrap();
            let least = |method: Lmnn, features: &Array2<f64>| {
                let mut problem = problem(&method, &x, &side);
                problem.z = features.select(Axis(0), &side.labelled_sets().concat());
                let margin = problem.triples.margin(problem.z.view(), &()).unwrap();
                problem.z /= margin.sqrt();
                let mut report = Report::default();
                problem.descend(&mut report).unwrap();
                (report.status, report.objective.unwrap())
            };
            // Maps of features with one deviation are those of the features, column by column.
            let even = &x * &ratios(&x);
            let (_, reachable) = least(Lmnn::new(), &even);
            let (status, found) = least(Lmnn::new().standardize(false), &x);
            assert!(found <= 1.01 * reachable, "{times:e}: {found}, not {reachable}");
            assert_eq!(status, Status::Solved, "{times:e}");
        }
    }

    /// What counts are the impostors that are near, not all there are.
    #[test]
    fn weights_keep_to_the_budget() {
        let mut s = Seed(3).stream();
        let labels: Vec<i32> = (0..2_000).map(|i| i % 2).collect();
        let x = Array2::from_shape_fn((2_000, 2), |(i, j)| {
            s.normal() + if j == 0 { 9.0 * f64::from(labels[i]) } else { 0.0 }
        });
        let side = SideInformation::from_labels(&labels).unwrap();
        let learn = |bytes| {
            let lmnn = Lmnn::new().max_iterations(1).memory_budget(MemoryBudget::bytes(bytes));
            lmnn.learn((&x).into(), &side)
        };
        // The distances alone would take 32 MB.
        assert!(learn(8 << 20).is_ok());
        assert_eq!(learn(200 << 10).unwrap_err().kind(), ErrorKind::TooLarge);
    }
}
