//! New members, made under a metric that was learned from the links so far.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

use consilience_core::{
    BaseClusterer, Constraints, Dense, Error, Features, Fit, MemoryBudget, Objects, Observer, Pair,
    Partition, Report, Result, Seed, SideInformation, at_least_one, check_answer, ensure,
    with_rows,
};
use consilience_metric::{Itml, LinearMap, MetricLearner};
use consilience_num::reduce::{try_map_each, try_map_few};
use consilience_num::svd::{SvdOptions, try_truncated_svd};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};

use crate::disputed::agrees;
use crate::linked_objects::linked;

/// Larger numbers of members are refused as mistakes.
const MAX_MEMBERS: usize = 100_000;
/// Objects that members are made from by default.
pub(crate) const SAMPLE: usize = 10_000;
/// Fewest of them per cluster by default.
const PER_CLUSTER: usize = 3;
/// Sweeps of ITML over the links by default: beyond these the clusterings hardly change, and many
/// features are slow.
const SWEEPS: usize = 30;
/// Principal components beside the positions, at most.
pub(crate) const COMPONENTS: usize = 30;
/// Features that the learner sees by default, at most: a sweep of ITML costs their square for every
/// link.
const LEARNED: usize = 60;
/// Objects that one task labels.
const CHUNK: usize = 4_096;

/// Makes new members from features, under a metric that is learned from all links so far.
///
/// For an updater whose objects have features, between two batches. The first members were made
/// without any link; no weights and no metric on them can find a distinction that none of them
/// makes.
///
/// The links fall into folds by their places; an [`Updater`](crate::Updater) sorts those of a
/// batch. Each new member is made by the base clusterer, for a random number of clusters, under the
/// metric of all links outside one fold. So the members differ, and for each link there are some
/// that were made without it, which cross-validation needs
/// ([`ConsensusMetric::grow`](crate::ConsensusMetric::grow)). Rows that stand for many objects
/// count as these ([`grow_counted`](MemberGrowth::grow_counted)).
///
/// ```
/// use consilience::{Constraints, Fit, Link, Partition, Seed};
/// # use consilience::{Features, Observer, Result};
/// # use consilience::core::BaseClusterer;
/// use consilience::follow::MemberGrowth;
/// use consilience::ndarray::Array2;
///
/// # struct Median;
/// # impl BaseClusterer for Median {
/// #     fn name(&self) -> &'static str { "median" }
/// #     fn fit(&self, x: Features<'_>, _: usize, _: Seed, _: &dyn Observer)
/// #         -> Result<Fit<Partition>> {
/// #         let Features::F64(x) = x else { unreachable!() };
/// #         // Splits along the axis of largest variance.
/// #         let variance = |j: usize| x.column(j).var(0.0);
/// #         let widest = |a: &usize, b: &usize| variance(*a).total_cmp(&variance(*b));
/// #         let axis = (0..x.ncols()).max_by(widest).unwrap();
/// #         let split = x.column(axis).mean().unwrap();
/// #         let found = Partition::from_fn(x.nrows(), |i| Some(u64::from(x[[i, axis]] > split)))?;
/// #         Ok(Fit::new(found, Default::default()))
/// #     }
/// # }
/// // Classes differ in the first feature; the second is wider and random.
/// let mut draw = Seed(3).stream();
/// let x = Array2::from_shape_fn((80, 2), |(i, j)| match j {
///     0 => (i % 2) as f64 + 0.1 * draw.normal(),
///     _ => draw.normal(),
/// });
/// let mut links = Constraints::new(80)?;
/// for _ in 0..40 {
///     let (i, j) = (draw.below(80), draw.below(80));
///     let link = if i % 2 == j % 2 { Link::Must } else { Link::Cannot };
///     links.add(i, j, link)?;
/// }
/// let grown = MemberGrowth::new(Median).members(5).grow(x.view().into(), 2, &links, &())?.output;
/// assert_eq!(grown.left_out, [0, 1, 2, 3, 4]);
/// assert_eq!(grown.members[0].to_signed()[..4], [0, 1, 0, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// With d features, or their 60 leading components where there are more
/// ([`components`](MemberGrowth::components)): `folds` fits of the learner, one fit of the
/// clusterer per member over at most 10,000 objects ([`sample`](MemberGrowth::sample)), and O(n d
/// (d + M k)) to label the others by the nearest mean; folds run in parallel. ITML copies the
/// features once per thread; nothing else is in proportion to n but components and labels. Rows
/// with counts are repeated in each fold for learner and clusterer, as many objects as the sample
/// has; the components take each row once.
///
/// # References
/// Ours; the open question of Yi 2014, Section 7.2. The default learner is ITML (Davis et al.
/// 2007).
#[doc(alias = "HullGrowth")]
pub struct MemberGrowth {
    clusterer: Box<dyn BaseClusterer>,
    /// `None` for the default.
    learner: Option<Box<dyn MetricLearner>>,
    components: usize,
    members: usize,
    clusters: Option<RangeInclusive<usize>>,
    pub(crate) folds: usize,
    sample: Option<usize>,
    seed: Seed,
}

/// What the members of every fold are made from.
#[derive(Clone, Copy)]
struct Source<'a, 'b> {
    features: Dense<'a>,
    objects: Objects<'b>,
    learner: &'b dyn MetricLearner,
}

/// Members made by [`MemberGrowth`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GrownMembers {
    /// The members.
    pub members: Vec<Partition>,
    /// For each the fold of links that it was made without: link t is in fold `t % folds`.
    pub left_out: Vec<usize>,
    /// The leading principal components of the standardized features, at most 30, n x f:
    /// coordinates of the objects beside those of the embedding.
    pub features: Array2<f32>,
}

impl fmt::Debug for MemberGrowth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberGrowth")
            .field("clusterer", &self.clusterer.name())
            .field("learner", &self.learner.as_ref().map_or(Itml::new().name(), |l| l.name()))
            .field("components", &self.components)
            .field("members", &self.members)
            .field("clusters", &self.clusters)
            .field("folds", &self.folds)
            .field("sample", &self.sample)
            .field("seed", &self.seed)
            .finish()
    }
}

impl MemberGrowth {
    /// New members by the given clusterer, with every default.
    pub fn new(clusterer: impl BaseClusterer + 'static) -> Self {
        MemberGrowth {
            clusterer: Box::new(clusterer),
            learner: None,
            components: LEARNED,
            members: 25,
            clusters: None,
            folds: 5,
            sample: None,
            seed: Seed(0),
        }
    }

    consilience_core::setters! {
        /// What learns the metric of the features. Default [`Itml`] of 30 sweeps, which leaves
        /// components in their proportions.
        pub fn learner(mut self, learner: impl MetricLearner + 'static) {
            self.learner = Some(Box::new(learner))
        }

        /// Features that the learner and the clusterer see at most: of more, so many leading
        /// principal components of the standardized features. Default 60; at least 1.
        pub fn components(mut self, components: usize) { self.components = components }

        /// Number of members. Default 25; 1 to 100,000.
        pub fn members(mut self, members: usize) { self.members = members }

        /// The numbers of clusters that a member may have. Default k to 3k; within 1 to n.
        pub fn clusters(mut self, clusters: RangeInclusive<usize>) {
            self.clusters = Some(clusters)
        }

        /// Folds of the links. Default 5; at least 2, and as many as those of the
        /// [`MetricRule`](crate::MetricRule).
        pub fn folds(mut self, folds: usize) { self.folds = folds }

        /// Objects that a member is made from at most, drawn anew for each fold; it labels the
        /// others by the nearest mean of its clusters under the metric. Default 10,000, or three
        /// per cluster where that is more; at least the largest number of clusters of a member.
        pub fn sample(mut self, objects: usize) { self.sample = Some(objects) }

        /// Seed of the members. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }

    /// New members for k clusters, from the features of all objects and the links so far.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k or
    /// numbers of clusters outside `1..=n`, fewer than 2 folds, no members, a sample smaller than
    /// the largest number of clusters;
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for constraints
    /// over another number of objects; as [`MetricLearner::fit`] and [`BaseClusterer::fit`].
    pub fn grow(
        &self,
        features: Features<'_>,
        clusters: usize,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<GrownMembers>> {
        self.grow_rows(features, None, clusters, constraints, observer)
    }

    /// As [`MemberGrowth::grow`], where row i stands for `counts[i]` identical objects, as
    /// [`Ensemble::counts`](consilience_core::Ensemble::counts) says: what it gives on the rows
    /// repeated one behind the other, where the clusterer gives equal objects equal labels; the
    /// features but for rounding and signs. Members and features are of the rows, as are the
    /// constraints.
    ///
    /// Of more objects than the [`sample`](MemberGrowth::sample) the learner sees as many at even
    /// distances, and the linked ones.
    ///
    /// # Errors
    /// As [`MemberGrowth::grow`], n being the number of objects that all rows stand for, and those
    /// of [`Ensemble::with_counts`](consilience_core::Ensemble::with_counts);
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) for a sample of more than
    /// 8 GiB.
    pub fn grow_counted(
        &self,
        features: Features<'_>,
        counts: &[u64],
        clusters: usize,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<GrownMembers>> {
        self.grow_rows(features, Some(counts), clusters, constraints, observer)
    }

    fn grow_rows(
        &self,
        features: Features<'_>,
        counts: Option<&[u64]>,
        clusters: usize,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<GrownMembers>> {
        let (rows, n) = (features.n_objects(), constraints.n_objects());
        ensure!(n == rows, shape("constraints over {n} objects, features of {rows}"));
        let (budget, links) = (MemoryBudget::default(), constraints.iter().collect::<Vec<_>>());
        self.grow_objects(features, counts, clusters, &links, budget, observer)
    }

    /// As [`MemberGrowth::grow_counted`], within this budget, from links of objects that exist, of
    /// which one may contradict others before it: it is left out where these are not. Each row
    /// stands for itself where there are no counts.
    pub(crate) fn grow_objects(
        &self,
        features: Features<'_>,
        counts: Option<&[u64]>,
        clusters: usize,
        links: &[Pair],
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Fit<GrownMembers>> {
        let features = features.dense()?;
        let objects = Objects::of(features.n_objects(), counts)?;
        let (range, abreast) = self.checked(features, &objects, clusters, budget)?;
        let asked = features.n_features() > self.components;
        let count = if asked { COMPONENTS.max(self.components) } else { COMPONENTS };
        let sample = self.sample_for(*range.end());
        let components = principal_components(features, &objects, sample, count, observer)?;
        // Constant features have none.
        let many = asked && components.ncols() > 0;
        let leading =
            |count: usize| components.slice(s![.., ..count.min(components.ncols())]).to_owned();
        let own = Itml::new().max_iterations(SWEEPS).standardize(!many).memory_budget(budget);
        let learner = self.learner.as_deref().unwrap_or(&own);
        let folds = if many {
            let seen = leading(self.components);
            let source = Source { features: seen.view().into(), objects, learner };
            self.grow_folds(source, (&range, abreast), links, observer)?
        } else {
            let source = Source { features, objects, learner };
            self.grow_folds(source, (&range, abreast), links, observer)?
        };
        let features = leading(COMPONENTS);
        let mut grown = GrownMembers { members: Vec::new(), left_out: Vec::new(), features };
        let mut report = Report::default();
        for (fold, made) in folds.into_iter().enumerate() {
            grown.left_out.extend(made.output.iter().map(|_| fold));
            grown.members.extend(made.output);
            report.notes.extend(made.report.notes);
        }
        report.notes.dedup();
        if sample < objects.total() {
            report.notes.push(format!(
                "members made from {sample} of {} objects; sample sets their number",
                objects.total()
            ));
        }
        Ok(Fit::new(grown, report))
    }

    /// The numbers of clusters of members, and how many folds are made at the same time, after
    /// everything has been checked.
    fn checked(
        &self,
        features: Dense<'_>,
        objects: &Objects<'_>,
        clusters: usize,
        budget: MemoryBudget,
    ) -> Result<(RangeInclusive<usize>, usize)> {
        let (rows, n) = (features.n_objects(), objects.total());
        ensure!(
            (1..=n).contains(&clusters),
            invalid("{clusters} clusters of {n} objects; expected 1..={n}")
        );
        features.check()?;
        let range = self.clusters.clone().unwrap_or(clusters..=clusters.saturating_mul(3).min(n));
        if *range.start() == 0 || range.is_empty() || *range.end() > n {
            return Err(Error::invalid(format!(
                "members of {}..={} clusters of {n} objects; expected numbers within 1..={n}",
                range.start(),
                range.end()
            )));
        }
        at_least_one("components", self.components)?;
        if self.folds < 2 || self.members == 0 || self.members > MAX_MEMBERS {
            return Err(Error::invalid(format!(
                "{} members in {} folds; expected 1..={MAX_MEMBERS} members in 2 folds or more",
                self.members, self.folds
            )));
        }
        let sample = self.sample_for(*range.end());
        ensure!(
            sample >= *range.end(),
            invalid("members of up to {} clusters made from {sample} objects", range.end())
        );
        let abreast = self.abreast((rows, features.n_features()), objects, sample, budget)?;
        Ok((range, abreast))
    }

    /// How many folds are made at the same time: all of them, or as many as fit. Refuses growth
    /// from so many rows of so many features, members being made from `sample` objects, of which
    /// not one fold fits.
    fn abreast(
        &self,
        (rows, d): (usize, usize),
        objects: &Objects<'_>,
        sample: usize,
        budget: MemoryBudget,
    ) -> Result<usize> {
        let drawn = sample.min(objects.total());
        let (width, most) = (d.min(self.components), d.min(COMPONENTS.max(self.components)));
        // Rows stand for more objects than there may be room for.
        let seen = if objects.counted() { drawn } else { rows };
        // Of each fold what its learner sees, and what its members are made from; and the
        // components, those of a sample while they are found, and of all rows in single precision,
        // twice.
        let of_fold = seen.saturating_add(2 * drawn).saturating_mul(width).saturating_add(drawn);
        let components = d.saturating_mul(2).saturating_add(most);
        let tables = |folds| [(of_fold, folds), (drawn.min(rows), components), (rows, most)];
        budget.check_tables("objects that members are made from", &tables(1), 8)?;
        let fits = |&folds: &usize| budget.allows_tables(&tables(folds), 8);
        Ok((1..=self.folds.min(self.members)).rev().find(fits).unwrap_or(1))
    }

    /// Objects to make members of up to so many clusters from.
    pub(crate) fn sample_for(&self, clusters: usize) -> usize {
        self.sample.unwrap_or(SAMPLE.max(clusters.saturating_mul(PER_CLUSTER)))
    }

    /// The members that are made without each fold of the links.
    fn grow_folds(
        &self,
        source: Source<'_, '_>,
        (range, abreast): (&RangeInclusive<usize>, usize),
        links: &[Pair],
        observer: &dyn Observer,
    ) -> Result<Vec<Fit<Vec<Partition>>>> {
        let done = AtomicUsize::new(0);
        let one = |fold| self.grow_without(fold, &source, range, links, (&done, observer));
        try_map_few(self.folds.min(self.members), abreast, &one)
    }

    /// The members that are made without one fold of the links.
    fn grow_without(
        &self,
        fold: usize,
        source: &Source<'_, '_>,
        range: &RangeInclusive<usize>,
        links: &[Pair],
        (done, observer): (&AtomicUsize, &dyn Observer),
    ) -> Result<Fit<Vec<Partition>>> {
        let Source { features, objects, .. } = *source;
        let (n, sample) = (objects.total(), self.sample_for(*range.end()));
        let learned = self.learn_without(fold, source, sample, links, observer)?;
        let (taken, d) = (learned.output.n_features(), features.n_features());
        check_answer(source.learner.name(), "features of a metric", taken, d)?;
        let drawn = self.seed.derive("objects", fold as u64).stream().sample(n, sample);
        let all = drawn.len() == n;
        let rows = objects.rows_of(drawn.into_iter().map(|i| i as u64));
        let mapped = if all && !objects.counted() {
            learned.output.apply(features)?
        } else {
            apply_to(&learned.output, features, &rows)?
        };
        let mut members = Vec::new();
        for u in (fold..self.members).step_by(self.folds) {
            observer.check()?;
            let seed = self.seed.derive("growth", u as u64);
            let k = range.start()
                + seed.derive("clusters", 0).stream().below(range.end() - range.start() + 1);
            let made = self.clusterer.fit(mapped.view().into(), k, seed, observer)?.output;
            check_answer(self.clusterer.name(), "labels", made.n_objects(), mapped.nrows())?;
            let member = match (all, objects.counted()) {
                (true, false) => made,
                (true, true) => made.select(&first_of_each(&rows))?,
                _ => label_all(&made, mapped.view(), features, &learned.output, observer)?,
            };
            members.push(member);
            observer.progress(
                "grown members",
                1 + done.fetch_add(1, Ordering::Relaxed),
                self.members,
            );
        }
        let mut report = Report::default();
        report.notes = learned.report.notes;
        Ok(Fit::new(members, report))
    }

    /// What the learner makes of the links outside one fold. Where rows have counts it sees their
    /// objects, in the order that these would have one by one: all, or so many at even distances
    /// and the linked ones.
    fn learn_without(
        &self,
        fold: usize,
        source: &Source<'_, '_>,
        sample: usize,
        links: &[Pair],
        observer: &dyn Observer,
    ) -> Result<Fit<LinearMap>> {
        let Source { features, objects, learner } = *source;
        let outside = links.iter().enumerate().filter(|(t, _)| t % self.folds != fold);
        if !objects.counted() {
            let mut known = Constraints::new(features.n_objects())?;
            for (_, &link) in outside {
                agrees(&mut known, link)?;
            }
            let side = SideInformation::from_constraints(&known);
            return learner.fit(features.into(), &side, observer);
        }
        let rows = objects.evenly_and(sample, &linked(links));
        let mut known = Constraints::new(rows.len())?;
        let first = |row: usize| rows.partition_point(|&r| r < row);
        for (_, &Pair { i, j, link }) in outside {
            agrees(&mut known, Pair::new(first(i), first(j), link))?;
        }
        let side = SideInformation::from_constraints(&known);
        with_rows!(features, |x| {
            learner.fit(x.select(Axis(0), &rows).view().into(), &side, observer)
        })
    }
}

/// Where each of ascending rows comes first.
fn first_of_each(rows: &[usize]) -> Vec<usize> {
    (0..rows.len()).filter(|&t| t == 0 || rows[t] != rows[t - 1]).collect()
}

/// The `most` leading principal components of standardized features, of the rows; directions are
/// those of some objects at even distances.
pub(crate) fn principal_components(
    features: Dense<'_>,
    objects: &Objects<'_>,
    sample: usize,
    most: usize,
    observer: &dyn Observer,
) -> Result<Array2<f32>> {
    let (n, d) = (features.n_objects(), features.n_features());
    let mut rows = objects.evenly(sample);
    let drawn = rows.len();
    // A row that comes several times is kept once, and counts as often.
    let times: Vec<f64> = rows.chunk_by(|a, b| a == b).map(|same| same.len() as f64).collect();
    rows.dedup();
    let times = (rows.len() < drawn).then_some(times);
    let mut x = apply_to(&LinearMap::identity(d)?, features, &rows)?;
    let mut means = vec![0.0; d];
    let mut scales = vec![0.0; d];
    for ((mut column, mean), scale) in x.columns_mut().into_iter().zip(&mut means).zip(&mut scales)
    {
        let largest = column.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        // By a power of two, so that neither sums nor squares overflow.
        let unit = 2f64.powi(-(largest.log2() as i32).clamp(-1022, 1022));
        column *= unit;
        let (middle, deviation) = mean_and_deviation(column.view(), times.as_deref());
        // A constant feature is left out, and one so small that its scale is no number.
        if deviation > 0.0 && (unit / deviation).is_finite() {
            (*mean, *scale) = (middle / unit, unit / deviation);
        }
        let factor = if *scale > 0.0 { deviation.recip() } else { 0.0 };
        column.mapv_inplace(|v| (v - middle) * factor);
        if let Some(times) = &times {
            column.iter_mut().zip(times).for_each(|(v, t)| *v *= t.sqrt());
        }
    }
    let svd = try_truncated_svd(&x, &SvdOptions::new(most), observer)?;
    let mut map = svd.map;
    map.columns_mut().into_iter().zip(&svd.values).for_each(|(mut column, &value)| column *= value);
    for (mut row, &scale) in map.rows_mut().into_iter().zip(&scales) {
        row *= scale;
    }
    let shift = ndarray::Array1::from(means).dot(&map);
    let of_chunk = |c: usize| -> Result<Array2<f32>> {
        observer.check()?;
        let mapped = match chunk(&features, c) {
            Dense::F32(x) => x.mapv(f64::from).dot(&map),
            Dense::F64(x) => x.dot(&map),
        };
        Ok((mapped - &shift).mapv(|v| if v.is_finite() { v as f32 } else { 0.0 }))
    };
    let chunks = try_map_each(n.div_ceil(CHUNK), &of_chunk)?;
    let views: Vec<_> = chunks.iter().map(|c| c.view()).collect();
    ndarray::concatenate(Axis(0), &views).map_err(|e| Error::shape(e.to_string()))
}

/// Mean and standard deviation of a feature, over rows that come so many times each, or once.
fn mean_and_deviation(column: ArrayView1<'_, f64>, times: Option<&[f64]>) -> (f64, f64) {
    let Some(times) = times else { return (column.mean().unwrap_or(0.0), column.std(0.0)) };
    // Value by value: a sum of equal values over their number is not quite that value, and the
    // deviation of a constant feature must be 0.
    let (mut total, mut mean, mut squares) = (0.0f64, 0.0f64, 0.0f64);
    for (&v, &t) in column.iter().zip(times) {
        total += t;
        let before = v - mean;
        mean += before * (t / total);
        squares += t * before * (v - mean);
    }
    (mean, (squares / total).sqrt())
}

/// Some rows under a map.
fn apply_to(map: &LinearMap, features: Dense<'_>, rows: &[usize]) -> Result<Array2<f64>> {
    with_rows!(features, |x| map.apply(x.select(Axis(0), rows).view()))
}

/// The rows that one task labels.
fn chunk<'a>(features: &'a Dense<'_>, c: usize) -> Dense<'a> {
    let (from, to) = (c * CHUNK, features.n_objects().min((c + 1) * CHUNK));
    with_rows!(features, |x| x.slice(s![from..to, ..]).into())
}

/// Labels all objects by the nearest mean of the clusters that were made of some of them, whose
/// mapped features are `positions`.
fn label_all(
    made: &Partition,
    positions: ArrayView2<'_, f64>,
    features: Dense<'_>,
    map: &LinearMap,
    observer: &dyn Observer,
) -> Result<Partition> {
    // Products of positions far from 0 would drown how far apart these are: the middle of those
    // that members are made from goes from all.
    let middle = positions.sum_axis(Axis(0)) / positions.nrows().max(1) as f64;
    let positions = &positions - &middle;
    let mut means = Array2::<f64>::zeros((made.n_clusters(), positions.ncols()));
    for (row, label) in positions.axis_iter(Axis(0)).zip(made.iter()) {
        if let Some(h) = label {
            means.row_mut(h).scaled_add(1.0, &row);
        }
    }
    for (mut mean, size) in means.axis_iter_mut(Axis(0)).zip(made.sizes()) {
        mean /= size as f64;
    }
    let half: Vec<f64> = means.axis_iter(Axis(0)).map(|c| 0.5 * c.dot(&c)).collect();
    let n = features.n_objects();
    let nearest = |row: ArrayView1<'_, f64>| {
        let mut best = None;
        for (h, (x, half)) in row.iter().zip(&half).enumerate() {
            if best.is_none_or(|(value, _)| x - half > value) {
                best = Some((x - half, h as u32));
            }
        }
        best.map(|b| b.1)
    };
    let of_chunk = |c: usize| -> Result<Vec<Option<u32>>> {
        observer.check()?;
        let score = (map.apply(chunk(&features, c))? - &middle).dot(&means.t());
        Ok(score.axis_iter(Axis(0)).map(nearest).collect())
    };
    let chunks = try_map_each(n.div_ceil(CHUNK), &of_chunk)?;
    Partition::from_fn(n, |i| chunks[i / CHUNK][i % CHUNK].map(u64::from))
}
