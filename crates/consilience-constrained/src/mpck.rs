#[cfg(feature = "serde")]
use consilience_core::stored::Parts;
use consilience_core::{
    Assign, Clustering, Clusters, ConstrainedClusterer, Features, Fit, Link, MemoryBudget,
    Observer, Pace, Pair, Report, Result, Seed, SideInformation, Status, Watch, at_least_one,
    ensure, room,
};
use consilience_num::rows::narrowed;
use ndarray::{Array1, Array2, ArrayView2};

use crate::frame::{
    Begun, CHUNK, Frame, Varying, begins_twice, best_start, drop_empty, refill, take_means,
};
use crate::metrics::{EIGEN, Metric, Scatter, costs, far_pairs, scatter};
use crate::number::{checked_number, expect_clusters};
use crate::prices::{SWEEPS, cheapest, check_weight, linked_pairs, pays};

/// Metric pairwise constrained k-means: k-means that pays for violated links and learns, from links
/// and clusters alike, which features matter.
///
/// For pairs together with many unlabelled objects, where some features matter more than others. On
/// few objects or very many features keep the single diagonal metric, the default; a metric [per
/// cluster](MpckMeans::per_cluster) or a [full](MpckMeans::full) one needs many objects per
/// cluster.
///
/// ```text
/// minimise  sum_i ( |x_i - mu_h|^2_(A_h) - log det A_h ),  h = a(i)
///         + w sum_(i,j must, broken)   ( |x_i - x_j|^2_(A_a(i)) + |x_i - x_j|^2_(A_a(j)) ) / 2
///         + w sum_(i,j cannot, broken) [ D_h^2 - |x_i - x_j|^2_(A_h) ]_+
///         + prior sum_h ( tr(A_h V) - log det A_h )
/// ```
///
/// D_h is the distance of a farthest pair of objects under A_h, so that a broken must-link costs
/// the more the farther its objects are, a broken cannot-link the nearer they are. V are the
/// variances of the features, in whose unit the objective is told. One that is constant is left
/// out, of new objects too. Neither it nor the common unit of the features has a say in the
/// clusters.
///
/// ```
/// use consilience::{Constraints, Link, Seed, SideInformation};
/// use consilience::constrained::MpckMeans;
/// use consilience::core::ConstrainedClusterer;
/// use consilience::ndarray::Array2;
///
/// // Clusters differ in the first feature, the second is wide noise.
/// let mut noise = Seed(1).stream();
/// let x = Array2::from_shape_fn((60, 2), |(i, j)| {
///     if j == 0 { (i / 30) as f64 + 0.1 * noise.normal() } else { 2.0 * noise.normal() }
/// });
/// let mut pairs = Constraints::new(60)?;
/// for i in 0..6 {
///     pairs.add(i, i + 6, Link::Must)?;
///     pairs.add(i, i + 30, Link::Cannot)?;
///     pairs.add(i + 30, i + 40, Link::Must)?;
/// }
/// let side = SideInformation::from_constraints(&pairs);
/// let found = MpckMeans::new(2).cluster(x.view().into(), &side)?;
/// assert!(found.partition.sizes().iter().all(|size| (27..=33).contains(size)));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// Links are those stated; of labels, all that follow, up to [`max_pairs`](MpckMeans::max_pairs).
/// The objective never rises: objects move one by one, or a labelled set as a whole, where that
/// pays, and a metric is taken only where it lowers the objective. First centres are the means of
/// labelled sets. Of more sets than clusters those by weighted farthest-first are taken, and as
/// these may all lie in one large class, a second run starts from objects by k-means++: it is kept
/// where its objective is lower by more than .07 for every object and feature. New objects go to
/// the nearest centre under the clusters' metrics.
///
/// # Complexity
/// O(iterations (n d k + c d k)) time for c links, d^2 in place of d and O(k d^3) more for full
/// metrics; O(n (d + k) + c (d + k)) memory.
///
/// # Errors
/// As [`ConstrainedClusterer::fit`]; [`weight`](MpckMeans::weight) negative or not finite,
/// [`prior`](MpckMeans::prior) not positive, `max_iterations` or `max_pairs` of 0.
///
/// # References
/// M. Bilenko, S. Basu, R. Mooney, "Integrating constraints and metric learning in semi-supervised
/// clustering", 2004, Eq. 4-7 and Fig. 1. The last line of the objective is ours: it keeps metrics
/// of small clusters regular, where they add a multiple of the identity without a place in the
/// objective. D_h is sought among d + 1 pairs (the extremes of every feature, and two far apart),
/// not all n^2.
#[doc(alias = "MPCKMeans")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MpckMeans {
    clusters: Clusters,
    per_cluster: bool,
    full: bool,
    weight: f64,
    prior: f64,
    max_iterations: usize,
    max_pairs: usize,
    budget: MemoryBudget,
    seed: Seed,
}

impl MpckMeans {
    /// Into so many clusters; [`Clusters::Auto`] for as many as the labels have classes.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        MpckMeans {
            clusters: clusters.into(),
            per_cluster: false,
            full: false,
            weight: 1.0,
            prior: 10.0,
            max_iterations: 100,
            max_pairs: 20_000,
            budget: MemoryBudget::default(),
            seed: Seed(0),
        }
    }

    consilience_core::setters! {
        /// Whether every cluster has a metric of its own. Default no: one for all.
        pub fn per_cluster(mut self, each: bool) { self.per_cluster = each }

        /// Whether metrics are full matrices. Default no: one weight per feature.
        pub fn full(mut self, full: bool) { self.full = full }

        /// The price w of a violated link, relative to its squared length. Default 1; at least 0.
        pub fn weight(mut self, weight: f64) { self.weight = weight }

        /// How many objects the variances of all features count as in every metric. Default 10;
        /// above 0.
        #[doc(alias = "nu")]
        pub fn prior(mut self, objects: f64) { self.prior = objects }

        /// Most iterations. Default 100; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Most links of either kind; of more, as many are taken at even distances. Default 20,000;
        /// at least 1.
        pub fn max_pairs(mut self, max_pairs: usize) { self.max_pairs = max_pairs }

        /// How much memory the features, the costs of objects in clusters and metrics may take.
        /// Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }

        /// Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }

    fn check(&self) -> Result<()> {
        at_least_one("max_iterations", self.max_iterations)?;
        check_weight(self.weight)?;
        let prior = self.prior;
        ensure!(prior > 0.0 && prior.is_finite(), invalid("prior {prior}; expected more than 0"));
        at_least_one("max_pairs", self.max_pairs)
    }

    /// Refuses what is held at the same time at most.
    fn check_room(
        &self,
        n: usize,
        d: usize,
        clusters: usize,
        side: &SideInformation,
    ) -> Result<()> {
        let count = |all: usize| all.min(self.max_pairs);
        let stated = side.stated().map_or(usize::MAX, <[Pair]>::len);
        let links = count(side.n_must_links().min(stated))
            .saturating_add(count(side.n_cannot_links().min(stated)));
        let metrics = if self.per_cluster { clusters } else { 1 };
        // What the first start found is kept beside the second.
        let kept = usize::from(begins_twice(side, clusters));
        // Metrics, the best so far, two scatters, and what eigenpairs of one of them take.
        let full = if self.full { d.saturating_mul((1 + kept) * metrics + EIGEN + 3) } else { 0 };
        let threads = rayon::current_num_threads();
        let tables = [
            (n.saturating_mul(2) + side.labelled_sets().len(), d),
            // Differences from centres and what metrics make of them, in every thread.
            (n.min(threads.saturating_mul(CHUNK)), if self.full { 2 * d } else { d }),
            ((3 + kept) * clusters + (2 + kept) * metrics, d),
            (n + 1, clusters),
            (n, 8 + kept),
            (links, metrics + 12),
            (far_count(n, d), 2 + metrics),
            (full, d),
        ];
        self.budget.check_tables("costs of objects in clusters, and metrics", &tables, 8)
    }
}

/// Pairs that may be the farthest, at most.
fn far_count(n: usize, d: usize) -> usize {
    n.saturating_mul(n).min(d) + 1
}

/// One link of an object.
#[derive(Clone, Copy)]
struct LinkOf {
    other: usize,
    pair: usize,
    link: Link,
}

/// Everything that moves during the fit.
struct State<'a> {
    x: ArrayView2<'a, f64>,
    side: &'a SideInformation,
    pairs: Vec<Pair>,
    ends: Vec<(usize, usize)>,
    ties: Vec<Vec<LinkOf>>,
    tied: Vec<usize>,
    /// Pairs that may be the farthest.
    far: Vec<(usize, usize)>,
    observer: &'a dyn Observer,
    variance: &'a Array1<f64>,
    weight: f64,
    prior: f64,
    full: bool,
    labels: Vec<u32>,
    centres: Array2<f64>,
    metrics: Vec<Metric>,
    // Under the present centres and metrics:
    cost: Array2<f64>,
    square: Vec<Vec<f64>>,
    farthest: Vec<f64>,
}

impl<'a> State<'a> {
    fn new(
        method: &MpckMeans,
        table: &'a Varying,
        side: &'a SideInformation,
        centres: Array2<f64>,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let Varying { x, variance, .. } = table;
        let (x, n) = (x.view(), x.nrows());
        let pairs = linked_pairs(side, method.max_pairs);
        let mut ties = room::filled(n, Vec::new())?;
        for (pair, &Pair { i, j, link }) in pairs.iter().enumerate() {
            ties[i].push(LinkOf { other: j, pair, link });
            ties[j].push(LinkOf { other: i, pair, link });
        }
        let ends: Vec<(usize, usize)> = pairs.iter().map(|p| (p.i, p.j)).collect();
        let mean = variance.iter().sum::<f64>() / variance.len() as f64;
        let start = Metric::diagonal(Array1::from_elem(x.ncols(), 1.0 / mean));
        let count = if method.per_cluster { centres.nrows() } else { 1 };
        let tied = (0..n).filter(|&i| !ties[i].is_empty()).collect();
        let mut state = State {
            x,
            side,
            pairs,
            ends,
            ties,
            tied,
            far: far_pairs(x, observer)?,
            observer,
            variance,
            weight: method.weight,
            prior: method.prior,
            full: method.full,
            labels: room::zeros(n)?,
            metrics: vec![start; count],
            cost: room::table(n, centres.nrows())?,
            square: Vec::new(),
            farthest: Vec::new(),
            centres,
        };
        state.update()?;
        Ok(state)
    }

    fn metric(&self, h: usize) -> usize {
        h.min(self.metrics.len() - 1)
    }

    /// Costs of all objects in all clusters.
    fn update_costs(&mut self) -> Result<()> {
        costs(self.x, self.centres.view(), &self.metrics, &mut self.cost, self.observer)
    }

    /// Costs of all objects in all clusters, lengths of all pairs.
    fn update(&mut self) -> Result<()> {
        self.update_costs()?;
        self.square.clear();
        self.farthest.clear();
        for metric in &self.metrics {
            self.square.push(metric.squares_between(self.x, &self.ends, self.observer)?);
            self.farthest.push(self.farthest_under(metric)?.1);
        }
        Ok(())
    }

    /// The pair that is farthest, the first of several, and its squared length.
    fn farthest_under(&self, metric: &Metric) -> Result<((usize, usize), f64)> {
        let lengths = metric.squares_between(self.x, &self.far, self.observer)?;
        let at = (0..lengths.len()).fold(0, |b, p| if lengths[p] > lengths[b] { p } else { b });
        Ok((self.far[at], lengths[at]))
    }

    /// `x_i - x_j`.
    fn apart(&self, (i, j): (usize, usize)) -> Array1<f64> {
        &self.x.row(i) - &self.x.row(j)
    }

    /// Price of a broken must-link between clusters g and h.
    fn split(&self, pair: usize, g: usize, h: usize) -> f64 {
        0.5 * self.weight * (self.square[self.metric(g)][pair] + self.square[self.metric(h)][pair])
    }

    /// Price of a broken cannot-link in cluster h.
    fn joined(&self, pair: usize, h: usize) -> f64 {
        let m = self.metric(h);
        self.weight * (self.farthest[m] - self.square[m][pair]).max(0.0)
    }

    /// What object i costs in cluster h with all others where they are.
    fn price(&self, i: usize, h: usize) -> f64 {
        let mut sum = self.cost[[i, h]];
        for tie in &self.ties[i] {
            let g = self.labels[tie.other] as usize;
            match tie.link {
                Link::Must if g != h => sum += self.split(tie.pair, g, h),
                Link::Cannot if g == h => sum += self.joined(tie.pair, h),
                _ => {}
            }
        }
        sum
    }

    /// Moves objects, and labelled sets as a whole, while that pays.
    fn improve(&mut self) -> Result<()> {
        let k = self.centres.nrows();
        let mut pace = Pace::new(self.observer);
        for i in 0..self.x.nrows() {
            pace.work(k)?;
            if self.ties[i].is_empty() {
                let row = self.cost.row(i).to_vec();
                self.labels[i] = cheapest(&row, self.labels[i] as usize) as u32;
            }
        }
        for _ in 0..SWEEPS {
            let mut moved = false;
            for set in self.side.labelled_sets().iter().filter(|s| s.len() > 1) {
                moved |= self.move_set(set, &mut pace)?;
            }
            for at in 0..self.tied.len() {
                let i = self.tied[at];
                pace.work(k.saturating_mul(1 + self.ties[i].len()))?;
                let from = self.labels[i] as usize;
                let prices: Vec<f64> = (0..k).map(|h| self.price(i, h)).collect();
                let h = cheapest(&prices, from);
                if pays(prices[h], prices[from]) {
                    self.labels[i] = h as u32;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        Ok(())
    }

    fn move_set(&mut self, set: &[usize], pace: &mut Pace<'_>) -> Result<bool> {
        let (k, mut now) = (self.centres.nrows(), 0.0);
        for &i in set {
            pace.work((k + 1).saturating_mul(1 + self.ties[i].len()))?;
            let h = self.labels[i] as usize;
            now += self.cost[[i, h]];
            for tie in &self.ties[i] {
                let g = self.labels[tie.other] as usize;
                match tie.link {
                    // Both ends are in the set: half each.
                    Link::Must if g != h => now += 0.5 * self.split(tie.pair, g, h),
                    Link::Cannot if g == h => now += self.joined(tie.pair, h),
                    _ => {}
                }
            }
        }
        let whole: Vec<f64> = (0..k).map(|h| self.whole(set, h)).collect();
        let h = cheapest(&whole, self.labels[set[0]] as usize);
        if !pays(whole[h], now) {
            return Ok(false);
        }
        set.iter().for_each(|&i| self.labels[i] = h as u32);
        Ok(true)
    }

    /// What a set costs when all of it is in cluster h.
    fn whole(&self, set: &[usize], h: usize) -> f64 {
        let mut sum = 0.0;
        for &i in set {
            sum += self.cost[[i, h]];
            for tie in self.ties[i].iter().filter(|t| t.link == Link::Cannot) {
                if self.labels[tie.other] as usize == h {
                    sum += self.joined(tie.pair, h);
                }
            }
        }
        sum
    }

    /// Gives empty clusters an object each, where that pays.
    fn refill(&mut self) -> Result<()> {
        let old = (self.labels.clone(), self.centres.clone(), self.objective());
        let free = |i: usize| self.ties[i].is_empty();
        if refill(self.x, &mut self.labels, &mut self.centres, free, self.observer)? {
            self.update()?;
            if !(self.objective() < old.2) {
                (self.labels, self.centres) = (old.0, old.1);
                self.update()?;
            }
        }
        Ok(())
    }

    /// What all broken links cost.
    fn broken(&self) -> f64 {
        let mut sum = 0.0;
        for (pair, &Pair { i, j, link }) in self.pairs.iter().enumerate() {
            let (g, h) = (self.labels[i] as usize, self.labels[j] as usize);
            match link {
                Link::Must if g != h => sum += self.split(pair, g, h),
                Link::Cannot if g == h => sum += self.joined(pair, h),
                _ => {}
            }
        }
        sum
    }

    fn objective(&self) -> f64 {
        let own = self.labels.iter().enumerate().map(|(i, &h)| self.cost[[i, h as usize]]);
        let held = self.metrics.iter().map(|m| self.prior * (m.trace(self.variance) - m.log_det));
        own.sum::<f64>() + self.broken() + held.sum::<f64>()
    }

    /// What the gain of an iteration is measured by. Not the objective, which log dets make large,
    /// small or 0 by the unit of the features alone. Under the metrics that are best where all
    /// links hold, the squares come to some 1 for every object and every feature, in any unit.
    fn yardstick(&self) -> f64 {
        self.x.len() as f64
    }

    /// The best metrics for the present clusters; each only where it lowers its part of the
    /// objective.
    fn learn(&mut self) -> Result<()> {
        let k = self.centres.nrows();
        let mut members = vec![Vec::new(); k];
        for (i, &label) in (0..).zip(&self.labels) {
            room::push(&mut members[label as usize], i)?;
        }
        let mut pace = Pace::new(self.observer);
        for m in 0..self.metrics.len() {
            let own = (0..k).filter(|&h| self.metric(h) == m);
            let size: usize = own.clone().map(|h| members[h].len()).sum();
            let objects = size as f64 + self.prior;
            let mut base =
                scatter(self.x, &members, self.centres.view(), own, self.full, self.observer)?;
            let mut broken = Vec::new();
            for (pair, &Pair { i, j, link }) in self.pairs.iter().enumerate() {
                pace.work(1)?;
                let (g, h) = (self.labels[i] as usize, self.labels[j] as usize);
                match link {
                    Link::Must if g != h => {
                        for _ in [g, h].iter().filter(|&&c| self.metric(c) == m) {
                            pace.work(base.work())?;
                            base.add(self.apart((i, j)).view(), 0.5 * self.weight);
                        }
                    }
                    Link::Cannot if g == h && self.metric(h) == m => broken.push(pair),
                    _ => {}
                }
            }
            base.plus_diagonal(self.variance, self.prior);
            let best = self.best_metric(m, &base, &broken, objects)?;
            if let Some(metric) = best {
                self.metrics[m] = metric;
            }
        }
        self.update()
    }

    /// The metric that lowers the part of the objective that depends on metric m, where one does; S
    /// holds all that is linear in it.
    fn best_metric(
        &self,
        m: usize,
        base: &Scatter,
        broken: &[usize],
        objects: f64,
    ) -> Result<Option<Metric>> {
        let mut best = (self.part(&self.metrics[m], base, broken, objects)?, None);
        if !broken.is_empty() {
            let mut with_links = base.copied()?;
            let (farthest, length) = self.farthest_under(&self.metrics[m])?;
            let far = self.apart(farthest);
            let mut pace = Pace::new(self.observer);
            for &pair in broken.iter().filter(|&&pair| length > self.square[m][pair]) {
                pace.work(base.work().saturating_mul(2))?;
                with_links.add(far.view(), self.weight);
                with_links.add(self.apart(self.ends[pair]).view(), -self.weight);
            }
            let metric = with_links.inverse(objects, self.variance, 1e-6, self.observer)?;
            drop(with_links);
            let value = self.part(&metric, base, broken, objects)?;
            if value < best.0 {
                best = (value, Some(metric));
            }
        }
        let metric = base.inverse(objects, self.variance, 1e-6, self.observer)?;
        let value = self.part(&metric, base, broken, objects)?;
        Ok(if value < best.0 { Some(metric) } else { best.1 })
    }

    /// The part of the objective that depends on one metric; S holds all that is linear in it.
    fn part(&self, metric: &Metric, s: &Scatter, broken: &[usize], objects: f64) -> Result<f64> {
        let linear = metric.inner(s, self.observer)?;
        let far = self.farthest_under(metric)?.1;
        let (mut links, mut pace) = (0.0, Pace::new(self.observer));
        for &p in broken {
            pace.work(metric.work())?;
            links += self.weight * (far - metric.square(self.apart(self.ends[p]).view())).max(0.0);
        }
        Ok(linear - objects * metric.log_det + links)
    }
}

impl MpckMeans {
    fn run(
        &self,
        state: &mut State<'_>,
        report: &mut Report,
        watch: &mut Watch<'_>,
        trace: &mut dyn FnMut(f64),
    ) -> Result<()> {
        report.status = Status::MaxIterations;
        // Every set begins at its own centre: prices of links mean nothing before the others are
        // placed, and a set that starts in the wrong cluster is held there by the cannot-links of
        // those that follow.
        for set in state.side.labelled_sets() {
            let near: Vec<f64> = (0..state.centres.nrows())
                .map(|h| set.iter().map(|&i| state.cost[[i, h]]).sum())
                .collect();
            let h = cheapest(&near, 0) as u32;
            set.iter().for_each(|&i| state.labels[i] = h);
        }
        let mut before = f64::INFINITY;
        for iteration in 0..self.max_iterations {
            watch.step(iteration)?;
            report.iterations = iteration + 1;
            state.improve()?;
            state.refill()?;
            trace(state.objective());
            take_means(state.x, &state.labels, &mut state.centres, state.observer)?;
            state.update_costs()?;
            trace(state.objective());
            state.learn()?;
            let now = state.objective();
            trace(now);
            if before - now <= TOLERANCE * state.yardstick() {
                report.status = Status::Solved;
                break;
            }
            before = now;
        }
        // The labels that belong to the last metrics.
        state.improve()?;
        report.objective = Some(state.objective());
        Ok(())
    }
}

/// Share of the [yardstick](State::yardstick) that an iteration has to gain.
const TOLERANCE: f64 = 1e-5;

impl ConstrainedClusterer for MpckMeans {
    fn name(&self) -> &'static str {
        "mpck-means"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let features = features.dense()?;
        let clusters = checked_number(self.name(), self.clusters, features.into(), side)?;
        self.check()?;
        self.check_room(features.n_objects(), features.n_features(), clusters, side)?;
        observer.check()?;
        let (frame, x) = Frame::new(&features, observer)?;
        let table = frame.varying(x, observer)?;
        let run = |centres: Array2<f64>, observer: &dyn Observer| {
            let (mut report, begun) = (Report::default(), centres.nrows());
            let mut state = State::new(self, &table, side, centres, observer)?;
            let mut watch = Watch::new(observer, self.name(), self.max_iterations);
            self.run(&mut state, &mut report, &mut watch, &mut |_| {})?;
            let objective = report.objective.unwrap_or(f64::INFINITY);
            let unit = state.yardstick();
            let State { labels, centres, metrics, .. } = state;
            Ok(Begun { objective, unit, found: (labels, centres, metrics, begun, report) })
        };
        let (mut labels, mut centres, mut metrics, begun, mut report) =
            best_start(table.x.view(), side, clusters, self.seed, observer, run)?;
        side.tell_thinned(self.max_pairs, &mut report);
        let counted = table.x.nrows() as f64 + self.prior * metrics.len() as f64;
        let log_det = frame.log_det_out(table.features.len());
        report.objective = report.objective.map(|o| o - counted * log_det);
        let kept = drop_empty(&mut labels, &mut centres);
        if metrics.len() > 1 {
            metrics = kept.iter().map(|&h| metrics[h].clone()).collect();
        }
        let why = "no free object in a cluster of its own lowers the objective";
        expect_clusters(&mut report, clusters, begun, centres.nrows(), why);
        let k = centres.nrows();
        let nearest = NearestUnder { frame, features: table.features, centres, metrics };
        Ok(Fit::new(Clustering::new(&labels, k, nearest)?, report))
    }
}

/// Nearest centre under the metrics of the clusters, their volumes counted.
#[derive(Debug)]
pub(crate) struct NearestUnder {
    frame: Frame,
    /// Those that varied, which centres and metrics are of.
    features: Vec<usize>,
    centres: Array2<f64>,
    metrics: Vec<Metric>,
}

impl Assign for NearestUnder {
    fn n_features(&self) -> usize {
        self.frame.n_features()
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        let features = features.dense()?;
        let x = narrowed(self.frame.apply(&features)?, &self.features);
        let mut cost = room::table(x.nrows(), self.centres.nrows())?;
        costs(x.view(), self.centres.view(), &self.metrics, &mut cost, &())?;
        Ok(cost.rows().into_iter().map(|row| cheapest(&row.to_vec(), 0)).collect())
    }

    #[cfg(feature = "serde")]
    fn stored(&self) -> Option<Vec<Parts>> {
        let parts = Parts::new(KIND)
            .table("centres", &self.centres)
            .row("features", self.features.iter().map(|&j| j as f64))
            .row("log determinants", self.metrics.iter().map(|m| m.log_det));
        let numbered = self.metrics.iter().enumerate();
        let parts = numbered.fold(parts, |parts, (h, metric)| metric.stored(h, parts));
        Some(vec![self.frame.stored(parts)])
    }
}

#[cfg(feature = "serde")]
crate::stored::assigner!("nearest-under-metrics", NearestUnder);

#[cfg(feature = "serde")]
impl NearestUnder {
    fn restored(parts: &mut Parts) -> Result<Self> {
        let (frame, centres) = (Frame::restored(parts)?, parts.take_table("centres")?);
        let features = crate::stored::take_features(parts, frame.n_features())?;
        let d = features.len();
        crate::stored::check_table("centres", centres.dim(), d)?;
        let logs = parts.take_row("log determinants")?;
        let (count, k) = (logs.len(), centres.nrows());
        ensure!(
            count == 1 || count == k,
            shape("{count} metrics of {k} clusters; expected one, or one for each")
        );
        let metrics = logs.into_iter().enumerate();
        let metrics = metrics.map(|(h, log_det)| Metric::restored(h, log_det, d, parts));
        Ok(NearestUnder { frame, features, centres, metrics: metrics.collect::<Result<_>>()? })
    }
}

#[cfg(test)]
mod tests;
