use consilience_core::{
    Clustering, Clusters, ConstrainedClusterer, Features, Fit, MemoryBudget, Observer, Pace,
    Report, Result, Seed, SideInformation, Status, Watch, at_least_one, room,
};
use ndarray::{Array2, ArrayView2};

use crate::frame::{
    Begun, Frame, NearestCentre, best_start, drop_empty, inertia, nearest, refill, square,
    take_means,
};
use crate::number::{FEWER, checked_number};
use crate::prices::{SWEEPS, cheapest, check_room, check_weight, pays};
use crate::tallies::Tallies;

/// Pairwise constrained k-means: k-means with a price on every violated link.
///
/// For pairs or labels of which some may be wrong: a link is broken where that pays. With a high
/// [`weight`](PckMeans::weight) it behaves like [`CopKMeans`](crate::CopKMeans) without its
/// guarantee. [`MpckMeans`](crate::MpckMeans) also learns which features matter.
///
/// ```text
/// minimise  sum_i |x_i - mu_a(i)|^2 / 2  +  w #{must-links broken}  +  w #{cannot-links broken}
/// ```
///
/// ```
/// use consilience::{Constraints, Link, Seed, SideInformation};
/// use consilience::constrained::PckMeans;
/// use consilience::core::ConstrainedClusterer;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]];
/// let mut pairs = Constraints::new(6)?;
/// pairs.add(0, 1, Link::Must)?;
/// pairs.add(2, 4, Link::Cannot)?;
/// let side = SideInformation::from_constraints(&pairs);
/// let fit = PckMeans::new(2).fit(x.view().into(), &side, &())?;
/// assert_eq!(fit.output.partition.to_signed(), [0, 0, 0, 1, 1, 1]);
/// assert_eq!(fit.report.objective, Some(2.0));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// All links count that follow from those stated. Free objects go to the nearest centre, all at
/// once; the objects of labelled sets, and whole sets, move one after the other while that lowers
/// the objective, which therefore never rises. First centres are the means of labelled sets. Of
/// more sets than clusters those by weighted farthest-first are taken, and as these may all lie in
/// one large class, a second run starts from objects by k-means++: it is kept where its objective
/// is more than 7 % lower. New objects go to the nearest centre.
///
/// # Complexity
/// O(iterations (n d k + p k a)) time for p objects in sets that are apart from a others, O(n d)
/// memory.
///
/// # Errors
/// As [`ConstrainedClusterer::fit`]; [`weight`](PckMeans::weight) negative or not finite,
/// `max_iterations` of 0; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where
/// features and counts exceed the memory budget.
///
/// # References
/// S. Basu, A. Banerjee, R. Mooney, "Active semi-supervision for pairwise constrained clustering",
/// 2004, Fig. 1. They start missing centres from a perturbed mean of all; here they are drawn as in
/// k-means++.
#[doc(alias = "PCKMeans")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PckMeans {
    clusters: Clusters,
    weight: Option<f64>,
    max_iterations: usize,
    budget: MemoryBudget,
    seed: Seed,
}

impl PckMeans {
    /// Into so many clusters; [`Clusters::Auto`] for as many as the labels have classes.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        PckMeans {
            clusters: clusters.into(),
            weight: None,
            max_iterations: 100,
            budget: MemoryBudget::default(),
            seed: Seed(0),
        }
    }

    consilience_core::setters! {
        /// The price w of a violated link, in squared units of the features. Default: the mean
        /// squared distance of the objects to their overall mean; at least 0.
        pub fn weight(mut self, weight: f64) { self.weight = Some(weight) }

        /// Most iterations. Default 100; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// How much memory the features, the means of labelled sets and their counts in all
        /// clusters may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }

        /// Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }

    /// The fit in the frame, where the weight is known; the objective after every step goes to
    /// `trace`.
    fn run(
        &self,
        x: ArrayView2<'_, f64>,
        side: &SideInformation,
        centres: &mut Array2<f64>,
        report: &mut Report,
        watch: &mut Watch<'_>,
        trace: &mut dyn FnMut(f64),
    ) -> Result<Vec<u32>> {
        let weight = self.weight.unwrap_or(0.0);
        let observer = watch.observer();
        let mut placed = Placed::new(x, side, weight, centres.view(), observer)?;
        report.status = Status::MaxIterations;
        let mut before = Vec::new();
        for iteration in 0..self.max_iterations {
            watch.step(iteration)?;
            report.iterations = iteration + 1;
            let near = nearest(x, centres.view(), observer)?;
            for (i, &h) in near.iter().enumerate() {
                if placed.set[i] == FREE {
                    placed.labels[i] = h;
                }
            }
            placed.improve(centres.view(), observer)?;
            let set = &placed.set;
            refill(x, &mut placed.labels, centres, |i| set[i] == FREE, observer)?;
            trace(placed.objective(centres.view(), observer)?);
            if placed.labels == before {
                report.status = Status::Solved;
                break;
            }
            before.clone_from(&placed.labels);
            take_means(x, &placed.labels, centres, observer)?;
            trace(placed.objective(centres.view(), observer)?);
        }
        report.objective = Some(placed.objective(centres.view(), observer)?);
        let (must, cannot) = placed.tallies.violated(&mut Pace::new(observer))?;
        if must + cannot > 0.0 {
            report.notes.push(format!("{must} must-links and {cannot} cannot-links are violated"));
        }
        Ok(placed.labels)
    }
}

/// Mark of an object in no set.
const FREE: u32 = u32::MAX;

/// Labels of all objects, with the links that they violate.
struct Placed<'a> {
    x: ArrayView2<'a, f64>,
    sets: &'a [Vec<usize>],
    set: Vec<u32>,
    labels: Vec<u32>,
    tallies: Tallies<'a>,
    weight: f64,
    k: usize,
}

impl<'a> Placed<'a> {
    /// Every set goes, as a whole and the largest first, where it costs least beside those before.
    fn new(
        x: ArrayView2<'a, f64>,
        side: &'a SideInformation,
        weight: f64,
        centres: ArrayView2<'_, f64>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let k = centres.nrows();
        let mut set = room::filled(x.nrows(), FREE)?;
        side.labelled_objects().iter().for_each(|&(i, s)| set[i] = s as u32);
        let sets = side.labelled_sets();
        let (labels, tallies) = (room::zeros(x.nrows())?, Tallies::new(side, k)?);
        let mut placed = Placed { x, sets, set, labels, tallies, weight, k };
        let mut pace = Pace::new(observer);
        let mut order: Vec<usize> = (0..sets.len()).collect();
        order.sort_by_key(|&s| std::cmp::Reverse(sets[s].len()));
        for s in order {
            let h = cheapest(&placed.wholes(s, centres, &mut pace)?, 0);
            for &i in &sets[s] {
                placed.labels[i] = h as u32;
                placed.tallies.add(s, h, 1.0);
            }
        }
        Ok(placed)
    }

    /// What set s costs as a whole in every cluster.
    fn wholes(
        &self,
        s: usize,
        centres: ArrayView2<'_, f64>,
        pace: &mut Pace<'_>,
    ) -> Result<Vec<f64>> {
        let work = (self.sets[s].len() * self.x.ncols()).saturating_add(self.tallies.work(s));
        let cost = |h| pace.work(work).map(|()| self.whole(s, h, centres));
        (0..self.k).map(cost).collect()
    }

    /// What set s costs when all of it is in cluster h.
    fn whole(&self, s: usize, h: usize, centres: ArrayView2<'_, f64>) -> f64 {
        let near: f64 = self.sets[s].iter().map(|&i| 0.5 * square(self.x, i, centres, h)).sum();
        near + self.weight * self.sets[s].len() as f64 * self.tallies.apart(s, h)
    }

    /// Moves sets and objects while that pays.
    fn improve(&mut self, centres: ArrayView2<'_, f64>, observer: &dyn Observer) -> Result<()> {
        let mut pace = Pace::new(observer);
        for _ in 0..SWEEPS {
            let mut moved = false;
            for s in 0..self.sets.len() {
                moved |= self.move_set(s, centres, &mut pace)?;
                if self.sets[s].len() > 1 {
                    for at in 0..self.sets[s].len() {
                        let work = self.x.ncols() + self.tallies.work(s);
                        pace.work(self.k.saturating_mul(work))?;
                        moved |= self.move_object(s, self.sets[s][at], centres);
                    }
                }
            }
            if !moved {
                break;
            }
        }
        Ok(())
    }

    fn move_set(
        &mut self,
        s: usize,
        centres: ArrayView2<'_, f64>,
        pace: &mut Pace<'_>,
    ) -> Result<bool> {
        let mut now = self.weight * self.tallies.split(s);
        for &i in &self.sets[s] {
            pace.work(self.x.ncols() + self.tallies.work(s))?;
            let h = self.labels[i] as usize;
            now += 0.5 * square(self.x, i, centres, h) + self.weight * self.tallies.apart(s, h);
        }
        let first = self.labels[self.sets[s][0]] as usize;
        let costs = self.wholes(s, centres, pace)?;
        let h = cheapest(&costs, first);
        if !pays(costs[h], now) {
            return Ok(false);
        }
        for &i in &self.sets[s] {
            self.tallies.add(s, self.labels[i] as usize, -1.0);
            self.tallies.add(s, h, 1.0);
            self.labels[i] = h as u32;
        }
        Ok(true)
    }

    fn move_object(&mut self, s: usize, i: usize, centres: ArrayView2<'_, f64>) -> bool {
        let from = self.labels[i] as usize;
        self.tallies.add(s, from, -1.0);
        let others = (self.sets[s].len() - 1) as f64;
        let costs: Vec<f64> = (0..self.k)
            .map(|h| {
                let broken = others - self.tallies.of(s, h) + self.tallies.apart(s, h);
                0.5 * square(self.x, i, centres, h) + self.weight * broken
            })
            .collect();
        let mut h = cheapest(&costs, from);
        if !pays(costs[h], costs[from]) {
            h = from;
        }
        self.tallies.add(s, h, 1.0);
        self.labels[i] = h as u32;
        h != from
    }

    fn objective(&self, centres: ArrayView2<'_, f64>, observer: &dyn Observer) -> Result<f64> {
        let (must, cannot) = self.tallies.violated(&mut Pace::new(observer))?;
        let own = 0.5 * inertia(self.x, &self.labels, centres, observer)?;
        Ok(own + self.weight * (must + cannot))
    }
}

impl ConstrainedClusterer for PckMeans {
    fn name(&self) -> &'static str {
        "pck-means"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let features = features.dense()?;
        let clusters = checked_number(self.name(), self.clusters, features.into(), side)?;
        at_least_one("max_iterations", self.max_iterations)?;
        check_weight(self.weight.unwrap_or(0.0))?;
        let apart = if side.are_classes() { 0 } else { side.sets_apart().count() };
        check_room(self.budget, &features, side, clusters, 1, apart)?;
        observer.check()?;
        let (frame, x) = Frame::new(&features, observer)?;
        let weight = match self.weight {
            Some(w) => frame.square_in(w),
            None => x.iter().map(|v| v * v).sum::<f64>() / x.nrows() as f64,
        };
        let method = PckMeans { weight: Some(weight), ..*self };
        let run = |mut centres: Array2<f64>, observer: &dyn Observer| {
            let mut report = Report::default();
            let mut watch = Watch::new(observer, self.name(), self.max_iterations);
            let x = x.view();
            let labels = method.run(x, side, &mut centres, &mut report, &mut watch, &mut |_| {})?;
            let objective = report.objective.unwrap_or(f64::INFINITY);
            Ok(Begun { objective, unit: objective, found: (labels, centres, report) })
        };
        let (mut labels, mut centres, mut report) =
            best_start(x.view(), side, clusters, self.seed, observer, run)?;
        drop_empty(&mut labels, &mut centres);
        report.objective = report.objective.map(|o| frame.square_out(o));
        report.expect_clusters(clusters, centres.nrows(), FEWER);
        let k = centres.nrows();
        Ok(Fit::new(Clustering::new(&labels, k, NearestCentre { frame, centres })?, report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::first_centres;
    use consilience_conformance::partly_known;

    #[test]
    fn the_objective_never_rises_and_is_what_it_says() {
        for seed in 0..60 {
            let (x, side, k) = partly_known(seed);
            let (_, x) = Frame::new(&x.view().into(), &()).unwrap();
            for weight in [0.0, 0.05, 10.0] {
                let mut centres = first_centres(x.view(), &side, k, Seed(seed), &()).unwrap();
                let mut seen = Vec::new();
                let mut report = Report::default();
                let mut watch = Watch::new(&(), "", 100);
                let labels = PckMeans::new(k)
                    .weight(weight)
                    .run(x.view(), &side, &mut centres, &mut report, &mut watch, &mut |o| {
                        seen.push(o)
                    })
                    .unwrap();
                for pair in seen.windows(2) {
                    assert!(pair[1] <= pair[0] * (1.0 + 1e-12) + 1e-300, "seed {seed} {seen:?}");
                }
                // Straight from the formula.
                let mut expected = 0.5 * inertia(x.view(), &labels, centres.view(), &()).unwrap();
                expected += weight
                    * side.must_links().filter(|&(i, j)| labels[i] != labels[j]).count() as f64;
                expected += weight
                    * side.cannot_links().filter(|&(i, j)| labels[i] == labels[j]).count() as f64;
                let found = report.objective.unwrap();
                assert!(
                    (found - expected).abs() <= 1e-9 * (1.0 + expected),
                    "seed {seed}: {found} {expected}"
                );
            }
        }
    }
}
