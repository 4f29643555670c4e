//! New members, made under a metric that was learned from the links so far.

use std::ops::RangeInclusive;

use consilience_core::{
    BaseClusterer, Constraints, Error, Features, Fit, Observer, Partition, Report, Result, Seed,
};
use consilience_metric::{Itml, MetricLearner, SideInformation};

/// More members than this are a slip of the keyboard.
const MOST: usize = 100_000;

/// Makes members from features under a metric learned from all links so far, so that the answer is not limited to
/// what the first ensemble contained.
///
/// For an updater whose objects have features, between two batches. Members of the first ensemble were made
/// without any link; no weights and no metric on them can find a distinction that none of them makes. Growing costs
/// as much as the members themselves.
///
/// The links fall into folds by the order in which they came. Each member is made by the base clusterer, for a
/// random number of clusters, under the metric of all links outside one fold: the members differ the more,
/// and those that have not seen a link can testify about it ([`ConsensusMetric::grow`](crate::ConsensusMetric::grow)).
///
/// ```
/// use consilience_core::{Constraints, Fit, Link, Partition, Seed};
/// use consilience_simplex::HullGrowth;
/// use ndarray::Array2;
///
/// # struct Median;
/// # impl consilience_core::BaseClusterer for Median {
/// #     fn name(&self) -> &'static str { "median" }
/// #     fn fit(&self, x: consilience_core::Features<'_>, _: usize, _: Seed, _: &dyn consilience_core::Observer)
/// #         -> consilience_core::Result<Fit<Partition>> {
/// #         let consilience_core::Features::F64(x) = x else { unreachable!() };
/// #         // Splits along the axis of largest variance.
/// #         let axis = (0..x.ncols()).max_by(|&a, &b| x.column(a).var(0.0).total_cmp(&x.column(b).var(0.0))).unwrap();
/// #         let split = x.column(axis).mean().unwrap();
/// #         let found = Partition::from_fn(x.nrows(), |i| Some(u64::from(x[[i, axis]] > split)))?;
/// #         Ok(Fit::new(found, Default::default()))
/// #     }
/// # }
/// // Classes differ in the first feature; the second is wider and says nothing.
/// let mut draw = Seed(3).stream();
/// let x = Array2::from_shape_fn((80, 2), |(i, j)| if j == 0 { (i % 2) as f64 + 0.1 * draw.normal() } else { draw.normal() });
/// let mut links = Constraints::new(80)?;
/// for _ in 0..40 {
///     let (i, j) = (draw.below(80), draw.below(80));
///     links.add(i, j, if i % 2 == j % 2 { Link::Must } else { Link::Cannot })?;
/// }
/// let grown = HullGrowth::new(Median).members(5).grow(x.view().into(), 2, &links, &())?.output;
/// assert_eq!(grown.left_out, [0, 1, 2, 3, 4]);
/// assert_eq!(grown.members[0].to_signed()[..4], [0, 1, 0, 1]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// `folds` fits of the learner, one fit of the clusterer per member.
///
/// # References
/// Ours; the open question of Yi 2014, Section 7.2. The learner is ITML (Davis et al. 2007) unless said otherwise.
pub struct HullGrowth {
    clusterer: Box<dyn BaseClusterer>,
    learner: Box<dyn MetricLearner>,
    members: usize,
    clusters: Option<RangeInclusive<usize>>,
    folds: usize,
    seed: Seed,
}

/// Members grown by [`HullGrowth`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GrownMembers {
    /// The members.
    pub members: Vec<Partition>,
    /// For each the fold of links that it has not seen: link t is in fold `t % folds`.
    pub left_out: Vec<usize>,
}

impl HullGrowth {
    /// 25 members by the given clusterer under ITML, of k to 3k clusters, in 5 folds.
    pub fn new(clusterer: impl BaseClusterer + 'static) -> Self {
        HullGrowth {
            clusterer: Box::new(clusterer),
            learner: Box::new(Itml::new()),
            members: 25,
            clusters: None,
            folds: 5,
            seed: Seed(0),
        }
    }

    /// What learns the metric.
    pub fn learner(mut self, learner: impl MetricLearner + 'static) -> Self {
        self.learner = Box::new(learner);
        self
    }

    /// Number of members.
    pub fn members(mut self, members: usize) -> Self {
        self.members = members;
        self
    }

    /// The numbers of clusters that a member may have.
    pub fn clusters(mut self, clusters: RangeInclusive<usize>) -> Self {
        self.clusters = Some(clusters);
        self
    }

    /// Folds of the links; as many as those of the [`MetricRule`](crate::MetricRule).
    pub fn folds(mut self, folds: usize) -> Self {
        self.folds = folds;
        self
    }

    /// Seed of the members.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// New members for k clusters, from the features of all objects and the links so far.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k or numbers of clusters
    /// outside `1..=n`, fewer than 2 folds, no members; [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch)
    /// for constraints over another number of objects; as [`MetricLearner::fit`] and [`BaseClusterer::fit`].
    pub fn grow(
        &self,
        features: Features<'_>,
        clusters: usize,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<Fit<GrownMembers>> {
        let n = features.n_objects();
        if clusters == 0 || clusters > n {
            return Err(Error::invalid(format!("{clusters} clusters of {n} objects; expected 1..={n}")));
        }
        features.check()?;
        let range = self.clusters.clone().unwrap_or(clusters..=clusters.saturating_mul(3).min(n));
        if *range.start() == 0 || range.is_empty() || *range.end() > n {
            return Err(Error::invalid(format!(
                "members of {}..={} clusters of {n} objects; expected numbers within 1..={n}",
                range.start(),
                range.end()
            )));
        }
        if self.folds < 2 || self.members == 0 || self.members > MOST {
            return Err(Error::invalid(format!(
                "{} members in {} folds; expected 1..={MOST} members in 2 folds or more",
                self.members, self.folds
            )));
        }
        if constraints.n_objects() != n {
            return Err(Error::shape(format!(
                "constraints over {} objects, features of {n}",
                constraints.n_objects()
            )));
        }
        let mut grown = GrownMembers { members: Vec::new(), left_out: Vec::new() };
        let mut report = Report::default();
        for fold in 0..self.folds.min(self.members) {
            let mut links = Constraints::new(n)?;
            for (t, (i, j, link)) in constraints.iter().enumerate() {
                if t % self.folds != fold {
                    links.add(i, j, link)?;
                }
            }
            let learned = self.learner.fit(features, &SideInformation::from_constraints(&links), observer)?;
            report.notes.extend(learned.report.notes);
            let mapped = learned.output.apply(features)?;
            for u in (fold..self.members).step_by(self.folds) {
                observer.check()?;
                let seed = self.seed.derive("growth", u as u64);
                let k = range.start()
                    + seed.derive("clusters", 0).stream().below(range.end() - range.start() + 1);
                let member = self.clusterer.fit(mapped.view().into(), k, seed, observer)?;
                grown.members.push(member.output);
                grown.left_out.push(fold);
                observer.progress("grown members", grown.members.len(), self.members);
            }
        }
        report.notes.dedup();
        Ok(Fit::new(grown, report))
    }
}

#[cfg(test)]
mod tests {
    use consilience_core::scores::adjusted_rand;
    use consilience_core::{Ensemble, ErrorKind, Link};
    use consilience_num::kmeans::{self, KMeansOptions};
    use ndarray::Array2;

    use super::*;
    use crate::{MetricRule, Reading};

    struct Means;

    impl BaseClusterer for Means {
        fn name(&self) -> &'static str {
            "means"
        }

        fn fit(&self, x: Features<'_>, k: usize, seed: Seed, _: &dyn Observer) -> Result<Fit<Partition>> {
            let Features::F64(x) = x else { return Err(Error::invalid("double precision is wanted")) };
            let options = KMeansOptions { seed: seed.0, ..KMeansOptions::new(k) };
            let fit = kmeans::fit(x, None, &options, &mut |_| true);
            Ok(Fit::new(Partition::from_labels(&fit.assignment)?, Report::default()))
        }
    }

    /// Three classes that only small features tell apart, beside four wide ones that say nothing.
    fn world(n: usize, seed: u64) -> (Array2<f64>, Partition, Constraints) {
        let mut draw = Seed(seed).stream();
        let truth: Vec<usize> = (0..n).map(|_| draw.below(3)).collect();
        let x = Array2::from_shape_fn((n, 6), |(i, j)| match j {
            0 => f64::from(u8::from(truth[i] == 1)) + 0.15 * draw.normal(),
            1 => f64::from(u8::from(truth[i] == 2)) + 0.15 * draw.normal(),
            _ => 3.0 * draw.normal(),
        });
        let mut links = Constraints::new(n).unwrap();
        for _ in 0..150 {
            let (i, j) = (draw.below(n), draw.below(n));
            links.add(i, j, if truth[i] == truth[j] { Link::Must } else { Link::Cannot }).unwrap();
        }
        (x, Partition::from_labels(&truth).unwrap(), links)
    }

    #[test]
    fn growth_finds_what_no_member_knew() {
        let (x, truth, links) = world(300, 1);
        let blind: Vec<Partition> =
            (0..12).map(|u| Means.fit(x.view().into(), 4, Seed(u), &()).unwrap().output).collect();
        let base = Ensemble::new(blind).unwrap();
        let mut metric = MetricRule::new(3).open(&base, &()).unwrap();
        metric.follow(&base, &links.iter().collect::<Vec<_>>(), &()).unwrap();
        let before = metric.partition(&base, &links, &()).unwrap().output;
        let growth = HullGrowth::new(Means).members(15).seed(Seed(5));
        let grown = growth.grow(x.view().into(), 3, &links, &()).unwrap().output;
        assert_eq!(grown.left_out, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
        assert!(grown.members.iter().all(|m| (1..=9).contains(&m.n_clusters())));
        let mut all = base.members().to_vec();
        all.extend(grown.members.iter().cloned());
        let joined = Ensemble::new(all).unwrap();
        metric.grow(&joined, &grown.left_out, &links, &()).unwrap();
        let read = metric.read_out(&joined, &links, &()).unwrap().output;
        assert_eq!(read.reading(), Reading::Grown);
        let after = read.partition(&joined, &()).unwrap();
        let score = |p: &Partition| adjusted_rand(p, &truth).unwrap();
        assert!(score(&before) < 0.6 && score(&after) > 0.85, "{} {}", score(&before), score(&after));
        // The same members at any number of threads.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let again = pool.install(|| growth.grow(x.view().into(), 3, &links, &()).unwrap().output);
        assert_eq!(again, grown);
    }

    #[test]
    fn bad_input_is_refused() {
        let (x, _, links) = world(30, 2);
        let grow = |g: HullGrowth, k| g.grow(x.view().into(), k, &links, &()).map(drop);
        let new = || HullGrowth::new(Means);
        for bad in [
            grow(new(), 0),
            grow(new(), 31),
            grow(new().members(0), 3),
            grow(new().folds(1), 3),
            grow(new().clusters(0..=3), 3),
            grow(new().clusters(3..=31), 3),
            grow(new().learner(Itml::new().slack(-1.0)), 3),
        ] {
            assert_eq!(bad.unwrap_err().kind(), ErrorKind::InvalidParameter);
        }
        let short = Constraints::new(29).unwrap();
        let kind = new().grow(x.view().into(), 3, &short, &()).unwrap_err().kind();
        assert_eq!(kind, ErrorKind::ShapeMismatch);
        let mut odd = x.clone();
        odd[[4, 2]] = f64::NAN;
        assert_eq!(new().grow(odd.view().into(), 3, &links, &()).unwrap_err().kind(), ErrorKind::NonFinite);
        // Without links, and with one object, there is still something to make.
        let none = Constraints::new(1).unwrap();
        let one = new().members(2).grow(x.slice(ndarray::s![..1, ..]).into(), 1, &none, &()).unwrap();
        assert_eq!(one.output.members.len(), 2);
    }
}
