use consilience_core::{
    Dense, Features, Fit, MemoryBudget, Observer, Pace, Report, Result, SideInformation, Status,
    Stop, Watch, at_least_one, ensure, room,
};
use consilience_num::product::{across, times};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rayon::prelude::*;

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

        /// Stops once ten iterations lower the objective by no more than this share of it, which
        /// counts as solved. Where features nearly repeat each other, the objective may then still
        /// be some hundredths above the least. Default 1e-4; above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Most iterations. Default 500; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// How much memory the features, the distances of the labelled objects and square matrices
        /// of the features may take. Default 8 GiB.
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

    /// For p labelled objects: features, their distances with weights and Laplacian, the impostors
    /// of every set, and so many square matrices of the features.
    fn check_room(
        &self,
        features: &Dense<'_>,
        p: usize,
        sets: usize,
        squares: usize,
    ) -> Result<()> {
        let (n, d) = (features.n_objects(), features.n_features());
        let tables = [(n + 3 * p, d), (3 * p, p), (sets, p), (d.saturating_mul(squares), d)];
        self.budget.check_tables("distances of the labelled objects", &tables, 8)
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
        let labelled = side.labelled_objects();
        let sets = side.labelled_sets().len();
        self.check_room(&features, labelled.len(), sets, 0)?;
        let standard = Standard::new(&features, self.standardize, observer)?;
        let objects: Vec<usize> = labelled.iter().map(|l| l.0).collect();
        let mut z = standard.z.select(Axis(0), &objects);
        let start = squares(z.view(), observer)?;
        let around = Around::new(&start, side, self.neighbours, observer)?;
        if around.is_empty() {
            let note = "no labelled object has both targets and impostors: the features are \
                        standardized, nothing is learned";
            report.notes.push(note.into());
            return Ok(Fit::new(standard.alone()?, report));
        }
        let margin = around.margin(&start);
        drop(start);
        self.check_room(&features, labelled.len(), sets, SQUARES)?;
        let unit = if margin > 0.0 { 1.0 / margin.sqrt() } else { 1.0 };
        z *= unit;
        let l = self.descend(&z, &around, &mut report, observer)?;
        Ok(Fit::new(standard.map(l * unit)?, report))
    }
}

/// Two L with their gradients, beside what becomes the next.
const SQUARES: usize = 6;

/// Value and gradient at one L.
struct Step {
    objective: f64,
    gradient: Array2<f64>,
}

impl Lmnn {
    /// The L of least objective, by steps along the gradient from the identity, or from
    /// standardized features if these are better, whose proportions the steps then have.
    fn descend(
        &self,
        z: &Array2<f64>,
        around: &Around,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Array2<f64>> {
        let mut watch = Watch::new(observer, "lmnn", self.max_iterations);
        let ratios = if self.standardize { None } else { Some(ratios(z)) };
        let step = |l: &Array2<f64>| -> Result<Step> {
            let mut step = self.step(z, l, around, observer)?;
            if let Some(ratios) = &ratios {
                step.gradient *= &(ratios * ratios);
            }
            Ok(step)
        };
        let mut l = identity(z.ncols())?;
        let mut here = step(&l)?;
        if let Some(ratios) = &ratios {
            let other = standardized(z, ratios, around, observer)?;
            let there = step(&other)?;
            if there.objective < here.objective {
                (l, here) = (other, there);
            }
        }
        let mut rate = 1.0 / here.gradient.iter().map(|v| v * v).sum::<f64>().sqrt().max(1.0);
        let mut before = here.objective;
        report.status = Status::MaxIterations;
        for iteration in 0..self.max_iterations {
            watch.step(iteration)?;
            report.iterations = iteration + 1;
            let next = loop {
                let candidate = &l - &(&here.gradient * rate);
                let there = step(&candidate)?;
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

    fn step(
        &self,
        z: &Array2<f64>,
        l: &Array2<f64>,
        around: &Around,
        observer: &dyn Observer,
    ) -> Result<Step> {
        let p = z.nrows();
        let y = times(z.view(), l.t(), observer)?;
        let squares = squares(y.view(), observer)?;
        // Weight of |L(x_i - x_j)|^2 in the objective, row by row; rows do not touch each other.
        let mut weights = room::table::<f64>(p, p)?;
        let (mu, stop) = (1.0 - self.pull, Stop::new(observer));
        let values: Vec<f64> = weights
            .as_slice_mut()
            .unwrap_or_default()
            .par_chunks_mut(p)
            .enumerate()
            .map(|(i, weights)| {
                let row = squares.row(i);
                let mut value = 0.0;
                if stop.asked() {
                    return value;
                }
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
        stop.check()?;
        drop(squares);
        let mut objective: f64 = values.iter().sum();
        // sum w_ij (z_i - z_j)(z_i - z_j)' = Z' (D - W - W') Z.
        let laplace = laplacian(&weights, observer)?;
        drop(weights);
        let half = across(y.view(), laplace.view(), observer)?;
        let mut gradient = times(half.view(), z.view(), observer)?;
        gradient *= 2.0;
        if self.regularization > 0.0 {
            let rho = self.regularization * p as f64;
            let mut away = l.clone();
            away.diag_mut().mapv_inplace(|v| v - 1.0);
            objective += rho * away.iter().map(|v| v * v).sum::<f64>();
            gradient.scaled_add(2.0 * rho, &away);
        }
        Ok(Step { objective, gradient })
    }
}

/// By what each column's deviation is less than the largest; 1 where the column is constant.
fn ratios(z: &Array2<f64>) -> Array1<f64> {
    let deviations = z.std_axis(Axis(0), 0.0);
    let largest = deviations.iter().fold(0.0f64, |m, &v| m.max(v));
    // The squares of the ratios are factors of steps.
    deviations.mapv(|v| if v > largest * 1e-150 { largest / v } else { 1.0 })
}

/// The L that gives the columns one deviation, and the nearest impostors the mean squared distance
/// 1.
fn standardized(
    z: &Array2<f64>,
    ratios: &Array1<f64>,
    around: &Around,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let mut even = room::copied_table(z.view())?;
    even *= ratios;
    let margin = around.margin(&squares(even.view(), observer)?);
    let mut l = identity(z.ncols())?;
    l *= ratios;
    if margin > 0.0 {
        l /= margin.sqrt();
    }
    Ok(l)
}

/// D - W - W', D the sums of the rows of W + W'.
fn laplacian(weights: &Array2<f64>, observer: &dyn Observer) -> Result<Array2<f64>> {
    let p = weights.nrows();
    let (mut out, mut pace) = (room::copied_table(weights.view())?, Pace::new(observer));
    for i in 0..p {
        pace.work(p)?;
        for j in 0..i {
            let both = weights[[i, j]] + weights[[j, i]];
            (out[[i, j]], out[[j, i]]) = (both, both);
        }
        out[[i, i]] *= 2.0;
    }
    let degree = out.sum_axis(Axis(1));
    pace.work(p.saturating_mul(p))?;
    out.mapv_inplace(|v| -v);
    for i in 0..p {
        out[[i, i]] += degree[i];
    }
    Ok(out)
}

/// Squared distances between all rows.
fn squares(y: ArrayView2<'_, f64>, observer: &dyn Observer) -> Result<Array2<f64>> {
    let norms: Vec<f64> = y.rows().into_iter().map(|r| r.dot(&r)).collect();
    let mut out = times(y, y.t(), observer)?;
    let mut pace = Pace::new(observer);
    for (i, mut row) in out.rows_mut().into_iter().enumerate() {
        pace.work(row.len())?;
        for (j, v) in row.indexed_iter_mut() {
            *v = if i == j { 0.0 } else { (norms[i] + norms[j] - 2.0 * *v).max(0.0) };
        }
    }
    Ok(out)
}

/// What sorting takes for each entry, in multiplications.
const SORTING: usize = 32;

/// Targets of every labelled object; impostors of every set.
struct Around {
    targets: Vec<Vec<usize>>,
    kind: Vec<usize>,
    impostors: Vec<Vec<usize>>,
}

impl Around {
    fn new(
        squares: &Array2<f64>,
        side: &SideInformation,
        count: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (sets, labelled) = (side.labelled_sets().len(), side.labelled_objects());
        let mut of = vec![Vec::new(); sets];
        labelled.iter().enumerate().for_each(|(i, &(_, s))| of[s].push(i));
        let mut pace = Pace::new(observer);
        let mut impostors = vec![Vec::new(); sets];
        let mut add = |to: &mut Vec<usize>, more: &[usize]| -> Result<()> {
            pace.work(1 + more.len())?;
            to.try_reserve(more.len()).map_err(|_| room::no_room::<usize>(more.len()))?;
            to.extend_from_slice(more);
            Ok(())
        };
        for (a, b) in side.sets_apart() {
            add(&mut impostors[a], &of[b])?;
            add(&mut impostors[b], &of[a])?;
        }
        let mut pace = Pace::new(observer);
        for impostors in &mut impostors {
            pace.work(impostors.len().saturating_mul(SORTING))?;
            impostors.sort_unstable();
        }
        let kind: Vec<usize> = labelled.iter().map(|l| l.1).collect();
        let mut targets = Vec::with_capacity(labelled.len());
        for i in 0..labelled.len() {
            let own = if impostors[kind[i]].is_empty() { &[] } else { &of[kind[i]][..] };
            pace.work(own.len().saturating_mul(SORTING))?;
            let mut near: Vec<usize> = own.iter().copied().filter(|&j| j != i).collect();
            near.sort_by(|&a, &b| squares[[i, a]].total_cmp(&squares[[i, b]]).then(a.cmp(&b)));
            near.truncate(count);
            near.shrink_to_fit();
            targets.push(near);
        }
        Ok(Around { targets, kind, impostors })
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
            let apart = squares(z.view(), &()).unwrap();
            let around = Around::new(&apart, &side, 2, &()).unwrap();
            let method = Lmnn::new().regularization(0.1);
            let l = Array2::from_shape_fn((d, d), |_| s.normal());
            let step = method.step(&z, &l, &around, &()).unwrap();
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

    /// A feature of large numbers once kept the others from being learned, and all was told solved.
    #[test]
    fn features_of_any_unit_are_learned() {
        for (seed, times) in [(0, 50.0), (1, 200.0), (2, 1e4), (3, 1e6), (4, 0.02), (5, 1e-4)] {
            let mut s = Seed(seed).stream();
            let labels: Vec<i32> = (0..60).map(|i| i % 3).collect();
            let mut z = Array2::from_shape_fn((60, 4), |(i, j)| {
                s.normal() + if j < 2 { 3.0 * f64::from(u8::from(i % 3 == j)) } else { 0.0 }
            });
            z.column_mut(seed as usize % 4).mapv_inplace(|v| v * times);
            let side = SideInformation::from_labels(&labels).unwrap();
            let apart = squares(z.view(), &()).unwrap();
            let around = Around::new(&apart, &side, 3, &()).unwrap();
            z /= around.margin(&apart).sqrt();
            let least = |method: Lmnn, z: &Array2<f64>| {
                let mut report = Report::default();
                method.descend(z, &around, &mut report, &()).unwrap();
                (report.status, report.objective.unwrap())
            };
            // Maps of features with one deviation are those of the features, column by column.
            let mut even = &z * &ratios(&z);
            even /= around.margin(&squares(even.view(), &()).unwrap()).sqrt();
            let (_, reachable) = least(Lmnn::new(), &even);
            let (status, found) = least(Lmnn::new().standardize(false), &z);
            assert!(found <= 1.01 * reachable, "{times:e}: {found}, not {reachable}");
            assert_eq!(status, Status::Solved, "{times:e}");
        }
    }
}
