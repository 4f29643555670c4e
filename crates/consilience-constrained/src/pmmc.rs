use std::ops::Range;

#[cfg(feature = "serde")]
use consilience_core::stored::Parts;
use consilience_core::{
    Assign, Clustering, Clusters, ConstrainedClusterer, Dense, Features, Fit, Link, MemoryBudget,
    Observer, Pace, Pair, Report, Result, Seed, SideInformation, Status, Stop, Watch, at_least_one,
    ensure, room,
};
use consilience_num::product::{across, times};
use consilience_num::reduce::ordered_chunks;
use consilience_num::rows::narrowed;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, Zip, s};

use crate::PckMeans;
use crate::frame::{CHUNK, Frame, Varying, drop_empty, largest};
use crate::metrics::{EIGEN, eigenpairs};
use crate::number::{checked_number, expect_clusters};
use crate::prices::{cheapest, linked_pairs};

/// Pairwise constrained maximum margin clustering: linear cluster scores such that objects lie far
/// from every boundary and linked objects clearly on the right side.
///
/// For clusters of similar size that planes can separate; many links help it much. For round or
/// nested clusters [`PckMeans`](crate::PckMeans) and [`Ccskl`](crate::Ccskl) are better.
///
/// ```text
/// minimise  lambda (|W|^2 + |b|^2) / 2  +  mean_i [1 - (s_i(1) - s_i(2))]_+^2
///                                       +  c mean_links [1 - (right - wrong)]_+^2
/// s_i = W x_i + b;   s_i(1), s_i(2) the highest two scores of object i
/// must i,j:   right = max_p s_ip + s_jp,       wrong = max_(p != q) s_ip + s_jq
/// cannot i,j: right = max_(p != q),            wrong = max_p
/// ```
///
/// ```
/// use consilience::{Constraints, Link, Seed, SideInformation};
/// use consilience::constrained::Pmmc;
/// use consilience::core::ConstrainedClusterer;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0, 1.0], [0.5, -1.0], [0.2, 0.0], [4.0, 1.0], [4.5, 0.0], [4.1, -1.0]];
/// let mut pairs = Constraints::new(6)?;
/// pairs.add(0, 1, Link::Must)?;
/// pairs.add(1, 4, Link::Cannot)?;
/// let side = SideInformation::from_constraints(&pairs);
/// let found = Pmmc::new(2).cluster(x.view().into(), &side)?;
/// assert_eq!(found.partition.to_signed(), [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// Features are centred, so that without the offsets b all clusters have the same mean score: that
/// is the balance which keeps everything from falling into one cluster; offsets may differ by at
/// most [`balance`](Pmmc::balance). A constant feature is left out. It starts from
/// [`PckMeans`](crate::PckMeans) and goes downhill only. New objects get the cluster of the highest
/// score.
///
/// Balance keeps no cluster from being merged with others: where fewer clusters have wider margins
/// some are left without objects, and the report says so. That is frequent in few features, where
/// planes separate few clusters by wide margins. Of four normal blobs of ten objects in two
/// features, their centres drawn with three times the deviation of the objects, and ten links, some
/// were merged in 40 of 60 draws; in 34 of these none of eleven other starts ended in four clusters
/// of a lower objective. In five features it was 8 of 60. A larger
/// [`link_weight`](Pmmc::link_weight) holds clusters that links are about apart;
/// [`PckMeans`](crate::PckMeans) keeps all.
///
/// # Complexity
/// O(iterations (n d k + c k)) time for c links, O(n (d + k)) memory; the start takes
/// O(n d m + m^3) time and O(m^2) memory for m = min(n, d).
///
/// # Errors
/// As [`ConstrainedClusterer::fit`]; parameters that are negative or not finite, `max_iterations`
/// of 0; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where features, scores and
/// start exceed the memory budget.
///
/// # References
/// H. Zeng, Y. Cheung, "Semi-supervised maximum margin clustering with pairwise constraints", IEEE
/// TKDE 24(5), 2012. The form is restored from descriptions of the method and has not been compared
/// with the paper's own formulas or program. Losses and balance as described, but squared, so that
/// gradients are continuous: one descent replaces the nested convex problems, whose linearisation
/// is the gradient taken here.
#[doc(alias = "maximum margin clustering")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pmmc {
    clusters: Clusters,
    decay: f64,
    link_weight: f64,
    balance: f64,
    max_iterations: usize,
    max_pairs: usize,
    budget: MemoryBudget,
    seed: Seed,
}

impl Pmmc {
    /// Into so many clusters; [`Clusters::Auto`] for as many as the labels have classes.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Pmmc {
            clusters: clusters.into(),
            decay: 0.01,
            link_weight: 1.0,
            balance: 0.5,
            max_iterations: 200,
            max_pairs: 20_000,
            budget: MemoryBudget::default(),
            seed: Seed(0),
        }
    }

    consilience_core::setters! {
        /// How strongly scores are kept small, features in the unit of their mean deviation.
        /// Default 0.01; at least 0.
        #[doc(alias = "lambda")]
        pub fn decay(mut self, decay: f64) { self.decay = decay }

        /// What all links together count beside all objects. Default 1; at least 0.
        pub fn link_weight(mut self, weight: f64) { self.link_weight = weight }

        /// The largest difference between two offsets. Default 0.5; at least 0.
        pub fn balance(mut self, balance: f64) { self.balance = balance }

        /// Most iterations. Default 200; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Most links of either kind; of more, as many are taken at even distances. Default 20,000;
        /// at least 1.
        pub fn max_pairs(mut self, max_pairs: usize) { self.max_pairs = max_pairs }

        /// How much memory the features, the scores and the start may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }

        /// Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }
}

/// Why clusters of the start may end without an object.
const MERGED: &str = "no object has its highest score in another; where fewer clusters have wider \
                      margins, some are left without objects";

/// Steps that change weights by less than this share of the largest lead nowhere.
const LEAST_STEP: f64 = 1e-12;
/// The first step changes weights by so many times the largest at most.
const FIRST_STEP: f64 = 1e3;

/// Value and gradient at one W.
struct Slope {
    value: f64,
    gradient: Array2<f64>,
}

/// The highest score and the highest of the others.
fn top(scores: ArrayView1<'_, f64>) -> (usize, usize) {
    let mut best = (0, usize::from(scores.len() > 1));
    if scores[best.1] > scores[best.0] {
        best = (best.1, best.0);
    }
    for p in 2..scores.len() {
        if scores[p] > scores[best.0] {
            best = (p, best.0);
        } else if scores[p] > scores[best.1] {
            best.1 = p;
        }
    }
    best
}

/// Best clusters of a pair together, and apart.
fn joint(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> (usize, (usize, usize)) {
    let same = (1..a.len()).fold(0, |m, p| if a[p] + b[p] > a[m] + b[m] { p } else { m });
    let ((a1, a2), (b1, b2)) = (top(a), top(b));
    let apart = if a1 != b1 {
        (a1, b1)
    } else if a[a1] + b[b2] >= a[a2] + b[b1] {
        (a1, b2)
    } else {
        (a2, b1)
    };
    (same, apart)
}

impl Pmmc {
    /// Objective and gradient; x has a last column of ones.
    fn slope(
        &self,
        x: ArrayView2<'_, f64>,
        links: &[Pair],
        w: &Array2<f64>,
        observer: &dyn Observer,
    ) -> Result<Slope> {
        let (n, k) = (x.nrows(), w.nrows());
        let mut pace = Pace::new(observer);
        let scores = times(x, w.t(), observer)?;
        let mut pull = room::table::<f64>(n, k)?;
        let mut value = 0.5 * self.decay * w.iter().map(|v| v * v).sum::<f64>();
        let by = 1.0 / n as f64;
        for (row, mut pull) in scores.rows().into_iter().zip(pull.rows_mut()) {
            pace.work(k)?;
            let (p, q) = top(row);
            let short = (1.0 - row[p] + row[q]).max(0.0);
            value += by * short * short;
            pull[p] -= 2.0 * by * short;
            pull[q] += 2.0 * by * short;
        }
        let by = self.link_weight / links.len().max(1) as f64;
        for &Pair { i, j, link } in links {
            pace.work(3 * k)?;
            let (a, b) = (scores.row(i), scores.row(j));
            let (same, apart) = joint(a, b);
            let same = (same, same);
            let (right, wrong) = if link == Link::Must { (same, apart) } else { (apart, same) };
            let short = (1.0 - a[right.0] - b[right.1] + a[wrong.0] + b[wrong.1]).max(0.0);
            value += by * short * short;
            let g = 2.0 * by * short;
            pull[[i, right.0]] -= g;
            pull[[j, right.1]] -= g;
            pull[[i, wrong.0]] += g;
            pull[[j, wrong.1]] += g;
        }
        let mut gradient = across(pull.view(), x, observer)?;
        gradient.scaled_add(self.decay, w);
        Ok(Slope { value, gradient })
    }

    /// Offsets centred and within the balance.
    fn hold(&self, w: &mut Array2<f64>) {
        let d = w.ncols() - 1;
        let mut offsets = w.column_mut(d);
        let mean = offsets.sum() / offsets.len() as f64;
        offsets.mapv_inplace(|b| (b - mean).clamp(-0.5 * self.balance, 0.5 * self.balance));
    }

    /// Goes downhill from w; the objective there.
    fn descend(
        &self,
        x: ArrayView2<'_, f64>,
        links: &[Pair],
        w: &mut Array2<f64>,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<f64> {
        let mut here = self.slope(x, links, w, observer)?;
        let mut watch = Watch::new(observer, "pmmc", self.max_iterations);
        // Of ordinary parameters 1: where terms count 1e12 times as much it would be far too long.
        let mut rate = match largest(w, &())? {
            span if span > 0.0 => 1.0f64.min(FIRST_STEP * span / largest(&here.gradient, &())?),
            _ => 1.0,
        };
        report.status = Status::MaxIterations;
        for iteration in 0..self.max_iterations {
            watch.step(iteration)?;
            report.iterations = iteration + 1;
            let Some((candidate, there)) =
                self.downhill(x, links, w, &here, &mut rate, observer)?
            else {
                if here.value.is_finite() {
                    report.status = Status::Solved;
                }
                break;
            };
            // Barzilai and Borwein: the step that the last change of the gradient suggests.
            let (moved, turned) = (&candidate - &*w, &there.gradient - &here.gradient);
            let product = Zip::from(&moved).and(&turned).fold(0.0, |s, a, b| s + a * b);
            let gain = here.value - there.value;
            if product > 0.0 {
                let square = moved.iter().map(|v| v * v).sum::<f64>();
                rate = (square / product).clamp(f64::MIN_POSITIVE, 1e6);
            } else {
                rate *= 2.0;
            }
            (*w, here) = (candidate, there);
            if gain <= 1e-7 * here.value {
                report.status = Status::Solved;
                break;
            }
        }
        Ok(here.value)
    }

    /// The first of ever smaller steps that goes downhill.
    fn downhill(
        &self,
        x: ArrayView2<'_, f64>,
        links: &[Pair],
        w: &Array2<f64>,
        here: &Slope,
        rate: &mut f64,
        observer: &dyn Observer,
    ) -> Result<Option<(Array2<f64>, Slope)>> {
        let (span, steep) = (largest(w, &())?, largest(&here.gradient, &())?);
        loop {
            let mut candidate = w - &(&here.gradient * *rate);
            self.hold(&mut candidate);
            let there = self.slope(x, links, &candidate, observer)?;
            if there.value < here.value {
                return Ok(Some((candidate, there)));
            }
            *rate *= 0.5;
            // By the size of the step, not that of the rate: very steep slopes need small rates.
            // What is not a number ends here too.
            let moves = span > 0.0 && *rate * steep > LEAST_STEP * span;
            if !(*rate >= 1e-10 || moves) {
                return Ok(None);
            }
        }
    }

    /// Refuses what is held at the same time at most: the features, twice, scores and their pull,
    /// weights with gradients, and the smaller Gram matrix with its eigenpairs.
    fn check_room(
        &self,
        features: &Dense<'_>,
        side: &SideInformation,
        clusters: usize,
    ) -> Result<()> {
        let (n, d) = (features.n_objects(), features.n_features() + 1);
        let (least, links) = (n.min(d), side.n_must_links().saturating_add(side.n_cannot_links()));
        let tables = [
            (n.saturating_mul(2), d),
            (n.saturating_mul(2) + 1, clusters),
            (clusters.saturating_mul(8), d),
            (least.saturating_mul(EIGEN), least),
            (links.min(self.max_pairs.saturating_mul(2)), 8),
        ];
        self.budget.check_tables("scores, and the Gram matrix of the start", &tables, 8)
    }

    fn check(&self) -> Result<()> {
        at_least_one("max_iterations", self.max_iterations)?;
        at_least_one("max_pairs", self.max_pairs)?;
        for (name, value) in
            [("decay", self.decay), ("link_weight", self.link_weight), ("balance", self.balance)]
        {
            let fits = value >= 0.0 && value.is_finite();
            ensure!(fits, invalid("{name} {value}; expected at least 0"));
        }
        Ok(())
    }
}

/// The table with a last column of ones, in the unit of the mean deviation.
fn widened(x: &Array2<f64>, deviation: f64) -> Result<Array2<f64>> {
    let d = x.ncols();
    let value = |(i, j)| if j < d { x[[i, j]] / deviation } else { 1.0 };
    room::table_of(x.nrows(), d + 1, value)
}

/// Features in the frame that vary, widened; with their numbers and their mean deviation.
fn prepared(
    features: &Dense<'_>,
    observer: &dyn Observer,
) -> Result<(Frame, Vec<usize>, f64, Array2<f64>)> {
    let (frame, x) = Frame::new(features, observer)?;
    let Varying { x, features, .. } = frame.varying(x, observer)?;
    let mut pace = Pace::new(observer);
    pace.work(x.len())?;
    let deviation = (x.iter().map(|v| v * v).sum::<f64>() / x.len() as f64).sqrt();
    let deviation = if deviation > 0.0 { deviation } else { 1.0 };
    pace.work(x.len())?;
    let x = widened(&x, deviation)?;
    Ok((frame, features, deviation, x))
}

impl ConstrainedClusterer for Pmmc {
    fn name(&self) -> &'static str {
        "pmmc"
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
        self.check_room(&features, side, clusters)?;
        let start = PckMeans::new(clusters).memory_budget(self.budget).seed(self.seed);
        let start = start.fit(features.into(), side, observer)?;
        let mut report = Report::default();
        let k = start.output.partition.n_clusters();
        if k == 1 {
            expect_clusters(&mut report, clusters, k, k, MERGED);
            return Ok(Fit::new(start.output, report));
        }
        let (frame, features, deviation, x) = prepared(&features, observer)?;
        let links = linked_pairs(side, self.max_pairs);
        side.tell_thinned(self.max_pairs, &mut report);
        let mut w = regression(x.view(), &start.output, k, observer)?;
        self.hold(&mut w);
        let value = self.descend(x.view(), &links, &mut w, &mut report, observer)?;
        report.objective = Some(value);
        let mut labels = highest(x.view(), w.view(), observer)?;
        // Scores serve as centres here: those of clusters without an object are left out.
        drop_empty(&mut labels, &mut w);
        expect_clusters(&mut report, clusters, k, w.nrows(), MERGED);
        let k = w.nrows();
        let scores = Scores { frame, features, deviation, w };
        Ok(Fit::new(Clustering::new(&labels, k, scores)?, report))
    }
}

/// Ridge regression of the clusters of a first answer. Of fewer objects than features it is in the
/// span of the objects, `X' (X X' + r)^-1 T` in place of `(X' X + r)^-1 X' T`.
fn regression(
    x: ArrayView2<'_, f64>,
    start: &Clustering,
    k: usize,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let (rows, d) = x.dim();
    let n = rows as f64;
    let wide = rows < d;
    let mut gram = if wide { times(x, x.t(), observer)? } else { across(x, x, observer)? };
    gram /= n;
    let ridge = 0.1 * gram.diag().sum() / d as f64;
    gram.diag_mut().mapv_inplace(|v| v + ridge);
    let eigen = eigenpairs(gram.view(), observer)?;
    drop(gram);
    let target = room::table_of(rows, k, |(i, h)| {
        f64::from(u8::from(start.partition.label(i) == Some(h))) - 1.0 / k as f64
    })?;
    let right = if wide { target } else { across(x, target.view(), observer)? } / n;
    let mut inner = across(eigen.vectors.view(), right.view(), observer)?;
    for (mut row, v) in inner.axis_iter_mut(Axis(0)).zip(&eigen.values) {
        row /= v.max(ridge);
    }
    let mut weights = times(eigen.vectors.view(), inner.view(), observer)?;
    if wide {
        weights = across(x, weights.view(), observer)?;
    }
    // Targets differ by 1 between clusters, margins should by about 2.
    Ok(weights.t().to_owned() * 2.0)
}

fn highest(
    x: ArrayView2<'_, f64>,
    w: ArrayView2<'_, f64>,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let stop = Stop::new(observer);
    let best = |rows: Range<usize>| -> Result<Vec<u32>> {
        let scores = times(x.slice(s![rows, ..]), w.t(), &stop)?;
        let best = |row: ArrayView1<'_, f64>| cheapest(&row.mapv(|v| -v).to_vec(), 0) as u32;
        Ok(scores.rows().into_iter().map(best).collect())
    };
    let all = room::with_capacity(x.nrows())?;
    ordered_chunks(x.nrows(), CHUNK, best, Ok(all), |all: Result<Vec<u32>>, part| {
        let mut all = all?;
        all.extend(part?);
        Ok(all)
    })
}

/// The cluster of the highest score.
#[derive(Debug)]
pub(crate) struct Scores {
    frame: Frame,
    /// Those that varied, which the scores are made of.
    features: Vec<usize>,
    deviation: f64,
    w: Array2<f64>,
}

impl Assign for Scores {
    fn n_features(&self) -> usize {
        self.frame.n_features()
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        let features = features.dense()?;
        let x = narrowed(self.frame.apply(&features)?, &self.features);
        let x = widened(&x, self.deviation)?;
        Ok(highest(x.view(), self.w.view(), &())?.into_iter().map(|l| l as usize).collect())
    }

    #[cfg(feature = "serde")]
    fn stored(&self) -> Option<Vec<Parts>> {
        let parts = Parts::new(KIND).number("deviation", self.deviation).table("weights", &self.w);
        let parts = parts.row("features", self.features.iter().map(|&j| j as f64));
        Some(vec![self.frame.stored(parts)])
    }
}

#[cfg(feature = "serde")]
crate::stored::assigner!("highest-score", Scores);

#[cfg(feature = "serde")]
impl Scores {
    fn restored(parts: &mut Parts) -> Result<Self> {
        let frame = Frame::restored(parts)?;
        let features = crate::stored::take_features(parts, frame.n_features())?;
        let (deviation, w) = (parts.take_positive("deviation")?, parts.take_table("weights")?);
        // The last weight is that of the constant.
        crate::stored::check_table("weights", w.dim(), features.len() + 1)?;
        Ok(Scores { frame, features, deviation, w })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The objective as its formula has it, over all pairs of clusters.
    fn value(x: &Array2<f64>, links: &[Pair], w: &Array2<f64>, decay: f64, weight: f64) -> f64 {
        let (f, k) = (x.dot(&w.t()), w.nrows());
        let short = |right: f64, wrong: f64| (1.0 - right + wrong).max(0.0).powi(2);
        let own = |i: usize| {
            let mut row = f.row(i).to_vec();
            row.sort_by(|a, b| b.total_cmp(a));
            short(row[0], row[1])
        };
        let linked = |p: &Pair| {
            let best = |same: bool| {
                let pairs = (0..k * k).map(|e| (e / k, e % k)).filter(|(a, b)| (a == b) == same);
                pairs.map(|(a, b)| f[[p.i, a]] + f[[p.j, b]]).fold(f64::NEG_INFINITY, f64::max)
            };
            let (same, apart) = (best(true), best(false));
            if p.link == Link::Must { short(same, apart) } else { short(apart, same) }
        };
        let n = x.nrows();
        0.5 * decay * w.iter().map(|v| v * v).sum::<f64>()
            + (0..n).map(own).sum::<f64>() / n as f64
            + weight * links.iter().map(linked).sum::<f64>() / links.len() as f64
    }

    #[test]
    fn value_and_gradient_are_those_of_the_formula() {
        for seed in 0..20 {
            let mut s = Seed(seed).stream();
            let (n, d, k) = (9, 1 + s.below(3), 2 + s.below(3));
            let x = widened(&Array2::from_shape_simple_fn((n, d), || s.normal()), 1.0).unwrap();
            let links: Vec<Pair> = (0..6)
                .map(|t| {
                    let (i, link) = (s.below(n), [Link::Must, Link::Cannot][t % 2]);
                    Pair::new(i, (i + 1 + s.below(n - 1)) % n, link)
                })
                .collect();
            let w = Array2::from_shape_simple_fn((k, d + 1), || s.normal());
            let found = Pmmc::new(k).decay(0.3).link_weight(0.7).slope(x.view(), &links, &w, &());
            let found = found.unwrap();
            let own = value(&x, &links, &w, 0.3, 0.7);
            let error = (found.value - own).abs();
            assert!(error < 1e-9 * (1.0 + own), "{seed}: {} {own}", found.value);
            let v = Array2::from_shape_simple_fn(w.dim(), || s.normal());
            let at = |t: f64| value(&x, &links, &(&w + &(&v * t)), 0.3, 0.7);
            let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
            let own = (&found.gradient * &v).sum();
            assert!((slope - own).abs() < 1e-4 * (1.0 + slope.abs()), "{seed}: {slope} {own}");
        }
    }
}
