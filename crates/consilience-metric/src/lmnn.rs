use consilience_core::{
    Features, Fit, MemoryBudget, Observer, Report, Result, SideInformation, Status, Watch,
    at_least_one, ensure,
};
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

use crate::scatter::{check_loop, check_square, checked};
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
/// does. A labelled set of a single object has no targets and serves as impostor. Without targets
/// or without impostors there is nothing to separate: the result is L_0, and a note says so.
///
/// # Complexity
/// O(p^2 (d + targets) + p d^2) time per iteration, O(n d + p^2 + d^2) memory; p is all that
/// matters, not n.
///
/// # Errors
/// As [`MetricLearner::fit`]; [`neighbours`](Lmnn::neighbours) at least 1, [`pull`](Lmnn::pull)
/// within 0..1, [`regularization`](Lmnn::regularization) at least 0;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where p^2 distances, or matrices
/// of d^2 numbers, exceed the memory budget.
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

        /// Stops once ten iterations lower the objective by no more than this share of it. Default
        /// 1e-4; above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Most iterations. Default 500; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// How much memory the distances of the labelled objects may take, and the square matrices
        /// of the features. Default 8 GiB.
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
        let standard = Standard::new(&features, self.standardize)?;
        let labelled = side.labelled_objects();
        let objects: Vec<usize> = labelled.iter().map(|l| l.0).collect();
        self.budget.check_square("distances of the labelled objects", objects.len(), 24)?;
        let mut z = standard.z.select(Axis(0), &objects);
        let start = squares(z.view());
        let around = Around::new(&start, labelled, side, self.neighbours);
        if around.is_empty() {
            let note = "no labelled object has both targets and impostors: the features are \
                        standardized, nothing is learned";
            report.notes.push(note.into());
            return Ok(Fit::new(standard.alone()?, report));
        }
        let margin = around.margin(&start);
        drop(start);
        check_square(self.budget, &features)?;
        let unit = if margin > 0.0 { 1.0 / margin.sqrt() } else { 1.0 };
        z *= unit;
        let l = self.descend(&z, &around, &mut report, observer)?;
        Ok(Fit::new(standard.map(l * unit)?, report))
    }
}

/// Value and gradient at one L.
struct Step {
    objective: f64,
    gradient: Array2<f64>,
}

impl Lmnn {
    /// The L of least objective, by steps along the gradient from the identity.
    fn descend(
        &self,
        z: &Array2<f64>,
        around: &Around,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Array2<f64>> {
        let mut watch = Watch::new(observer, "lmnn", self.max_iterations);
        let mut l = Array2::<f64>::eye(z.ncols());
        let mut here = self.step(z, &l, around);
        let mut rate = 1.0 / here.gradient.iter().map(|v| v * v).sum::<f64>().sqrt().max(1.0);
        let mut before = here.objective;
        report.status = Status::MaxIterations;
        for iteration in 0..self.max_iterations {
            watch.step(iteration)?;
            report.iterations = iteration + 1;
            let next = loop {
                let candidate = &l - &(&here.gradient * rate);
                let there = self.step(z, &candidate, around);
                if there.objective < here.objective {
                    break Some((candidate, there));
                }
                rate *= 0.5;
                if rate * here.gradient.iter().fold(0.0f64, |m, v| m.max(v.abs())) < 1e-12 {
                    break None;
                }
            };
            let Some((candidate, there)) = next else {
                report.status = Status::Solved;
                break;
            };
            (l, here) = (candidate, there);
            rate *= 1.2;
            if iteration % 10 == 9 {
                if before - here.objective <= self.tolerance * before {
                    report.status = Status::Solved;
                    break;
                }
                before = here.objective;
            }
        }
        report.objective = Some(here.objective);
        Ok(l)
    }

    fn step(&self, z: &Array2<f64>, l: &Array2<f64>, around: &Around) -> Step {
        let p = z.nrows();
        let y = z.dot(&l.t());
        let squares = squares(y.view());
        // Weight of |L(x_i - x_j)|^2 in the objective, row by row; rows do not touch each other.
        let mut weights = Array2::<f64>::zeros((p, p));
        let mu = 1.0 - self.pull;
        let values: Vec<f64> = weights
            .as_slice_mut()
            .unwrap_or_default()
            .par_chunks_mut(p)
            .enumerate()
            .map(|(i, weights)| {
                let row = squares.row(i);
                let mut value = 0.0;
                for &j in &around.targets[i] {
                    value += self.pull * row[j];
                    weights[j] += self.pull;
                    let reach = 1.0 + row[j];
                    for &k in &around.impostors[around.kind[i]] {
                        let gap = reach - row[k];
                        if gap > 0.0 {
                            value += mu * gap;
                            weights[j] += mu;
                            weights[k] -= mu;
                        }
                    }
                }
                value
            })
            .collect();
        let mut objective: f64 = values.iter().sum();
        // sum w_ij (z_i - z_j)(z_i - z_j)' = Z' (D - W - W') Z.
        let mut laplace = &weights + &weights.t();
        let degree = laplace.sum_axis(Axis(1));
        laplace.mapv_inplace(|v| -v);
        for i in 0..p {
            laplace[[i, i]] += degree[i];
        }
        let mut gradient = y.t().dot(&laplace).dot(z) * 2.0;
        if self.regularization > 0.0 {
            let rho = self.regularization * p as f64;
            let away = l - &Array2::<f64>::eye(l.ncols());
            objective += rho * away.iter().map(|v| v * v).sum::<f64>();
            gradient.scaled_add(2.0 * rho, &away);
        }
        Step { objective, gradient }
    }
}

/// Squared distances between all rows.
fn squares(y: ArrayView2<'_, f64>) -> Array2<f64> {
    let norms: Vec<f64> = y.rows().into_iter().map(|r| r.dot(&r)).collect();
    let mut out = y.dot(&y.t());
    for ((i, j), v) in out.indexed_iter_mut() {
        *v = if i == j { 0.0 } else { (norms[i] + norms[j] - 2.0 * *v).max(0.0) };
    }
    out
}

/// Targets of every labelled object; impostors of every set.
struct Around {
    targets: Vec<Vec<usize>>,
    kind: Vec<usize>,
    impostors: Vec<Vec<usize>>,
}

impl Around {
    fn new(
        squares: &Array2<f64>,
        labelled: &[(usize, usize)],
        side: &SideInformation,
        count: usize,
    ) -> Self {
        let sets = side.labelled_sets().len();
        let mut of = vec![Vec::new(); sets];
        labelled.iter().enumerate().for_each(|(i, &(_, s))| of[s].push(i));
        let mut impostors = vec![Vec::new(); sets];
        for (a, b) in side.sets_apart() {
            impostors[a].extend_from_slice(&of[b]);
            impostors[b].extend_from_slice(&of[a]);
        }
        impostors.iter_mut().for_each(|l| l.sort_unstable());
        let kind: Vec<usize> = labelled.iter().map(|l| l.1).collect();
        let targets = (0..labelled.len())
            .map(|i| {
                if impostors[kind[i]].is_empty() {
                    return Vec::new();
                }
                let mut near: Vec<usize> =
                    of[kind[i]].iter().copied().filter(|&j| j != i).collect();
                near.sort_by(|&a, &b| squares[[i, a]].total_cmp(&squares[[i, b]]).then(a.cmp(&b)));
                near.truncate(count);
                near
            })
            .collect();
        Around { targets, kind, impostors }
    }

    fn is_empty(&self) -> bool {
        self.targets.iter().all(Vec::is_empty)
    }

    /// Mean squared distance from an object with targets to its nearest impostor.
    fn margin(&self, squares: &Array2<f64>) -> f64 {
        let nearest: Vec<f64> = (0..self.targets.len())
            .filter(|&i| !self.targets[i].is_empty())
            .map(|i| {
                self.impostors[self.kind[i]]
                    .iter()
                    .map(|&k| squares[[i, k]])
                    .fold(f64::INFINITY, f64::min)
            })
            .collect();
        nearest.iter().sum::<f64>() / nearest.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;

    /// The objective, triple by triple.
    fn reference(z: &Array2<f64>, l: &Array2<f64>, around: &Around, method: &Lmnn) -> f64 {
        let far = |i: usize, j: usize| (l.dot(&(&z.row(i) - &z.row(j)))).mapv(|v| v * v).sum();
        let mut sum = 0.0;
        for i in 0..z.nrows() {
            for &j in &around.targets[i] {
                sum += method.pull * far(i, j);
                for &k in &around.impostors[around.kind[i]] {
                    sum += (1.0 - method.pull) * (1.0 + far(i, j) - far(i, k)).max(0.0);
                }
            }
        }
        let away = l - &Array2::<f64>::eye(l.ncols());
        sum + method.regularization * z.nrows() as f64 * away.mapv(|v| v * v).sum()
    }

    #[test]
    fn value_and_gradient_are_those_of_the_formula() {
        for seed in 0..20 {
            let mut s = Seed(seed).stream();
            let (n, d) = (12, 1 + s.below(4));
            let z = Array2::from_shape_fn((n, d), |_| s.normal());
            let labels: Vec<i32> = (0..n).map(|_| s.below(3) as i32).collect();
            let side = SideInformation::from_labels(&labels).unwrap();
            let around = Around::new(&squares(z.view()), side.labelled_objects(), &side, 2);
            let method = Lmnn::new().regularization(0.1);
            let l = Array2::from_shape_fn((d, d), |_| s.normal());
            let step = method.step(&z, &l, &around);
            let expected = reference(&z, &l, &around, &method);
            assert!((step.objective - expected).abs() < 1e-9 * (1.0 + expected));
            let direction = Array2::from_shape_fn((d, d), |_| s.normal());
            let h = 1e-6;
            let at = |t: f64| reference(&z, &(&l + &(&direction * t)), &around, &method);
            let slope = (at(h) - at(-h)) / (2.0 * h);
            let found = (&step.gradient * &direction).sum();
            assert!(
                (slope - found).abs() < 1e-4 * (1.0 + slope.abs()),
                "seed {seed}: {slope} {found}"
            );
        }
    }
}
