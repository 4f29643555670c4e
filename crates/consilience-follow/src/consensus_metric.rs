use std::sync::Arc;

use consilience_core::{
    Constraints, Ensemble, Error, Features, MemoryBudget, Objects, Observer, Pace, Pair, Report,
    Result, Status, ensure,
};
use consilience_num::logdet::LogDet;
use consilience_num::reduce::each_chunk;
use ndarray::Array2;

use crate::consensus_embedding::{ConsensusEmbedding, tell};
use crate::coordinates::Coordinates;
use crate::grown_metrics::GrownMetrics;
use crate::map_learner::MapLearner;
use crate::member_growth::{COMPONENTS, SAMPLE as COMPONENT_SAMPLE, principal_components};
use crate::metric_rule::{MetricRule, check_metrics};
use crate::space_metric::SpaceMetric;

/// Sweeps over a batch for the metric of a fold at most: what it judges hardly changes any more.
const FOLD_SWEEPS: usize = 30;

/// A metric on the embedding of an ensemble that is learned from links batch by batch, and what
/// cross-validation needs.
///
/// [`MetricRule::open`] makes it. The ensemble is not kept: every call takes it, and refuses
/// another.
///
/// ```
/// use consilience::{Constraints, Ensemble};
/// use consilience::follow::{MetricRule, ReadOutMethod};
/// use consilience::ndarray::array;
///
/// let labels = array![[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 2], [1, 1, 2]];
/// let ensemble = Ensemble::from_array(labels.view())?;
/// let metric = MetricRule::new(2).open(&ensemble, &())?;
/// let links = Constraints::new(6)?;
/// let read = metric.read_out(&ensemble, &links, &())?.output;
/// assert_eq!(read.method(), ReadOutMethod::Plain); // without links
/// assert_eq!(read.partition(&ensemble, &())?.to_signed(), [0, 0, 0, 1, 1, 1]);
/// let labels = read.labels(&ensemble, &[0, 2, 5])?;
/// assert!(labels[0] == labels[1] && labels[1] != labels[2]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ConsensusMetric {
    pub(crate) rule: MetricRule,
    /// Members that the embedding was opened with; those after them were grown.
    members: usize,
    /// Links followed so far.
    pub(crate) links: Vec<Pair>,
    /// The embedding of the plain consensus.
    pub(crate) plain: Arc<ConsensusEmbedding>,
    /// The given members, and the metric of all links.
    pub(crate) base: SpaceMetric,
    /// For each fold the metric of all links outside it.
    pub(crate) folds: Vec<LogDet>,
    pub(crate) grown: Option<GrownMetrics>,
    /// How the embeddings of the given members were found.
    pub(crate) opened: Report,
    /// How much memory all metrics together may take.
    pub(crate) budget: MemoryBudget,
    /// Whether the metric of all links last stopped before it was solved: that of the given
    /// members, and that of all.
    pub(crate) capped: [bool; 2],
}

/// What following a batch did.
///
/// From [`ConsensusMetric::follow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetricReport {
    /// Whether every metric was solved within the most iterations.
    pub status: Status,
    /// Most sweeps over the links that a metric took.
    #[doc(alias = "sweeps")]
    pub iterations: usize,
    /// Links that were followed.
    pub links: usize,
    /// Those among them whose objects the ensemble distinguishes; others cannot change a metric.
    #[doc(alias = "telling")]
    pub informative: usize,
    /// Objects, at even distances, whose principal components were taken of features, where these
    /// were not all: [`ConsensusMetric::lay_beside`] takes 10,000 at most.
    pub sampled: Option<usize>,
}

impl MetricReport {
    fn new(links: usize) -> Self {
        MetricReport { status: Status::Solved, iterations: 0, links, informative: 0, sampled: None }
    }
}

impl MetricRule {
    /// Embeds an ensemble; no link is known yet.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
    /// `1..=n` or a parameter out of range,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) for metrics or an embedding
    /// that take more than 8 GiB (an [`Updater`](crate::Updater) has its own budget),
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn open(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<ConsensusMetric> {
        self.open_within(ensemble, MemoryBudget::default(), observer)
    }

    /// As [`MetricRule::open`], with another budget for all metrics together: for methods that
    /// have one.
    #[doc(hidden)]
    pub fn open_within(
        &self,
        ensemble: &Ensemble,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<ConsensusMetric> {
        self.open_bounded(ensemble, None, budget, observer)
    }

    /// As [`MetricRule::open`], with the bounds of links from these objects, which exist.
    pub(crate) fn open_bounded(
        &self,
        ensemble: &Ensemble,
        objects: Option<&[usize]>,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<ConsensusMetric> {
        ensemble.check_clusters(self.clusters)?;
        self.check()?;
        let mut opened = Report::default();
        let embedding = self.embedding(&[], budget).fit(ensemble, observer)?;
        tell(&mut opened, embedding.report);
        let coordinates = Coordinates::new(Arc::new(embedding.output));
        check_metrics(budget, self.folds, coordinates.n_dimensions(), 0)?;
        let base = match objects {
            Some(objects) => SpaceMetric::bounded(self, coordinates, ensemble, objects)?,
            None => SpaceMetric::new(self, coordinates, ensemble)?,
        };
        let folds = vec![base.metric.clone(); self.folds];
        let plain = self.plain_embedding(budget).fit(ensemble, observer)?;
        tell(&mut opened, plain.report);
        Ok(ConsensusMetric {
            rule: self.clone(),
            members: ensemble.n_members(),
            links: Vec::new(),
            plain: Arc::new(plain.output),
            base,
            folds,
            grown: None,
            opened,
            budget,
            capped: [false; 2],
        })
    }
}

impl ConsensusMetric {
    /// The rule that it was opened by.
    pub fn rule(&self) -> &MetricRule {
        &self.rule
    }

    /// Members that it was opened on; those after them were grown.
    pub fn n_members(&self) -> usize {
        self.members
    }

    /// Links followed so far.
    pub fn n_links(&self) -> usize {
        self.links.len()
    }

    /// The embedding that it was opened on.
    pub fn embedding(&self) -> &ConsensusEmbedding {
        &self.base.coordinates.embedding
    }

    /// M, q x q: the squared distance of positions x and y is `(x - y)' M (x - y)`. The identity
    /// under [`MapLearner::Completion`], which learns at every read-out.
    pub fn metric(&self) -> Array2<f64> {
        self.base.metric.metric()
    }

    /// Follows new links, each told once. Some may contradict those before them, as long as
    /// [`Constraints`] hold the others in this order. On an error nothing has changed.
    ///
    /// # Complexity
    /// O(q^2) per link so far and sweep, for 1 + folds metrics (twice that with grown members);
    /// nothing in n.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist, [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for
    /// another ensemble, which it is with other objects too where features lie beside the
    /// positions, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory
    /// budget, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn follow(
        &mut self,
        ensemble: &Ensemble,
        links: &[Pair],
        observer: &dyn Observer,
    ) -> Result<MetricReport> {
        self.check(ensemble)?;
        let n = ensemble.n_objects();
        if let Some(o) = links.iter().flat_map(|l| [l.i, l.j]).find(|&o| o >= n) {
            return Err(Error::out_of_range(format!("object {o} of {n}")));
        }
        let mut report = MetricReport::new(links.len());
        if links.is_empty() {
            return Ok(report);
        }
        self.check_room(links.len())?;
        let mut next = self.clone();
        let mut pace = Pace::new(observer);
        for &pair in links {
            pace.work(self.of_a_link(ensemble))?;
            report.informative += usize::from(next.add(ensemble, pair));
        }
        next.settle(false, &mut report, observer)?;
        *self = next;
        Ok(report)
    }

    /// Multiplications that the coordinates of a link take.
    pub(crate) fn of_a_link(&self, ensemble: &Ensemble) -> usize {
        let coordinates = self.base.metric.n_dimensions().saturating_mul(ensemble.n_members());
        let spaces = if self.grown.is_some() { self.rule.folds + 2 } else { 1 };
        coordinates.saturating_mul(2 * spaces)
    }

    /// Adds a link to every metric that may use it; whether it can change the one of all links.
    pub(crate) fn add(&mut self, ensemble: &Ensemble, pair: Pair) -> bool {
        let fold = self.rule.fold(self.links.len());
        self.links.push(pair);
        if let Some(grown) = &mut self.grown {
            grown.add(ensemble, pair, fold);
        }
        let Some(v) = self.base.coordinates.difference(ensemble, pair.i, pair.j) else {
            return false;
        };
        let others = self.folds.iter_mut().enumerate().filter(|&(f, _)| f != fold);
        others.for_each(|(_, metric)| {
            metric.add(v.clone(), pair.link);
        });
        self.base.metric.add(v, pair.link)
    }

    /// Solves every metric, or only those of grown members.
    fn settle(
        &mut self,
        grown_only: bool,
        report: &mut MetricReport,
        observer: &dyn Observer,
    ) -> Result<()> {
        if self.rule.learner == MapLearner::Completion {
            // A read-out completes the similarity anew: it has no use for what was before.
            return Ok(());
        }
        let (tolerance, iterations) = (self.rule.tolerance, self.rule.max_iterations);
        let grown = self.grown.iter_mut().flat_map(GrownMetrics::metrics_mut);
        // The one of all links comes before those of the folds, in both places.
        let own = std::iter::once(&mut self.base.metric).chain(&mut self.folds);
        let own = own.enumerate().map(|(at, metric)| ((at == 0).then_some(0), metric));
        let grown = grown.enumerate().map(|(at, metric)| ((at == 0).then_some(1), metric));
        let metrics = own.filter(|_| !grown_only).chain(grown);
        let mut metrics: Vec<(_, &mut LogDet, Result<(usize, bool)>)> =
            metrics.map(|(all, metric)| (all, metric, Ok((0, true)))).collect();
        each_chunk(&mut metrics, 1, &|_, one| {
            for (all, metric, end) in one {
                let most = if all.is_some() { iterations } else { iterations.min(FOLD_SWEEPS) };
                *end = metric.settle(tolerance, most, |_| observer.check());
            }
        });
        let ends = metrics.into_iter().map(|(all, _, end)| end.map(|end| (all, end)));
        for (all, (done, converged)) in ends.collect::<Result<Vec<_>>>()? {
            report.iterations = report.iterations.max(done);
            // Those of the folds are good enough to judge by where they stop.
            if let Some(at) = all {
                self.capped[at] = !converged;
                if !converged {
                    report.status = Status::MaxIterations;
                }
            }
        }
        Ok(())
    }

    /// Adds members that were grown from the links so far: `ensemble` has them after the members
    /// that the metric was opened on, `left_out` says for each which fold of the links it was made
    /// without, and `features` (one row per object, perhaps no columns) are coordinates beside the
    /// positions. Members grown before are dropped. On an error nothing has changed.
    ///
    /// [`MemberGrowth`](crate::MemberGrowth) makes all three. A read-out uses them only where
    /// cross-validation chooses them.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another
    /// ensemble or number of members,
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for a fold that does not
    /// exist, [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) unless
    /// `constraints` are the links followed, in the same order, but for those that contradict them,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn grow(
        &mut self,
        ensemble: &Ensemble,
        left_out: &[usize],
        features: Array2<f32>,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<MetricReport> {
        self.check_links(constraints)?;
        self.check_grown(ensemble, left_out, &features)?;
        let members = self.members;
        let base = self.embedding().with_members(ensemble, members)?;
        let mut next = ConsensusMetric {
            plain: Arc::new(self.plain.with_members(ensemble, members)?),
            base: SpaceMetric {
                coordinates: Coordinates::new(Arc::new(base)),
                metric: self.base.metric.clone(),
            },
            grown: None,
            capped: [self.capped[0], false],
            ..self.clone()
        };
        let mut report = MetricReport::new(self.links.len());
        if !left_out.is_empty() || features.ncols() > 0 {
            let with = (&self.rule, self.budget);
            let mut grown =
                GrownMetrics::open(with, members, left_out, features, ensemble, observer)?;
            // Those grown before are kept until these are there.
            let copies = 1 + usize::from(self.grown.is_some());
            check_metrics(
                self.budget,
                self.rule.folds,
                grown.all.metric.n_dimensions(),
                self.links.len().saturating_mul(copies),
            )?;
            let mut pace = Pace::new(observer);
            let work = (self.rule.folds + 1).saturating_mul(self.of_a_link(ensemble));
            for (t, &pair) in self.links.iter().enumerate() {
                pace.work(work)?;
                grown.add(ensemble, pair, self.rule.fold(t));
            }
            next.grown = Some(grown);
            next.settle(true, &mut report, observer)?;
        }
        *self = next;
        Ok(report)
    }

    /// Lays features of the objects beside their positions, and grows no members: their leading
    /// principal components, standardized, at most 30. A read-out then is by the metric on both.
    /// Members grown before are dropped. This costs no more than the components, and takes neither
    /// a learner nor a clusterer.
    ///
    /// ```
    /// use consilience::follow::{MetricRule, ReadOutMethod};
    /// use consilience::ndarray::Array2;
    /// use consilience::{Constraints, Ensemble, Pair};
    ///
    /// // The members group by halves; the links, and the only feature, by i % 2.
    /// let halves = Array2::from_shape_fn((40, 4), |(i, _)| i / 20);
    /// let ensemble = Ensemble::from_array(halves.view())?;
    /// let x = Array2::from_shape_fn((40, 1), |(i, _)| (i % 2) as f64);
    /// let mut links = Constraints::new(40)?;
    /// for i in 0..38 {
    ///     links.extend(&[Pair::must_link(i, i + 2), Pair::cannot_link(i, i + 1)])?;
    /// }
    /// let mut metric = MetricRule::new(2).cross_validated(false).open(&ensemble, &())?;
    /// metric.lay_beside(&ensemble, x.view().into(), &Constraints::new(40)?, &())?;
    /// metric.follow(&ensemble, &links.iter().collect::<Vec<_>>(), &())?;
    /// let read = metric.read_out(&ensemble, &links, &())?.output;
    /// assert_eq!(read.method(), ReadOutMethod::MetricGrown);
    /// let found = read.partition(&ensemble, &())?;
    /// assert!((0..40).all(|i| found.label(i) == Some(i % 2)));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Features::check`], and as [`ConsensusMetric::grow`].
    pub fn lay_beside(
        &mut self,
        ensemble: &Ensemble,
        features: Features<'_>,
        constraints: &Constraints,
        observer: &dyn Observer,
    ) -> Result<MetricReport> {
        let features = features.dense()?;
        features.check()?;
        // Rows of another number are refused later.
        let counts = ensemble.counts().filter(|counts| counts.len() == features.n_objects());
        let objects = Objects::of(features.n_objects(), counts)?;
        let sample = COMPONENT_SAMPLE;
        let components = principal_components(features, &objects, sample, COMPONENTS, observer)?;
        let mut report = self.grow(ensemble, &[], components, constraints, observer)?;
        report.sampled = (objects.total() > sample).then_some(sample);
        Ok(report)
    }

    /// Refuses another ensemble than the one that it was opened on.
    pub(crate) fn check(&self, ensemble: &Ensemble) -> Result<()> {
        self.embedding().check(ensemble)?;
        self.grown.as_ref().map_or(Ok(()), |grown| grown.all.coordinates.check(ensemble))
    }

    /// Refuses new links for which there is no room, beside those before them, which are there
    /// twice.
    fn check_room(&self, new: usize) -> Result<()> {
        let (folds, links) = (self.rule.folds, 2 * self.links.len() + new);
        let grown = self.grown.as_ref().map_or(0, |g| g.all.metric.n_dimensions());
        let q = self.base.metric.n_dimensions().saturating_add(grown);
        check_metrics(self.budget, folds, q, links)
    }

    fn check_grown(
        &self,
        ensemble: &Ensemble,
        left_out: &[usize],
        features: &Array2<f32>,
    ) -> Result<()> {
        let n = ensemble.n_objects();
        ensure!(
            features.nrows() == n && !features.iter().any(|x| !x.is_finite()),
            shape("features of {} objects; expected finite ones of {n}", features.nrows())
        );
        let (m, folds) = (self.members, self.rule.folds);
        ensure!(
            ensemble.n_members() == m + left_out.len(),
            shape("{} members; expected {m} and {} grown", ensemble.n_members(), left_out.len())
        );
        if let Some(f) = left_out.iter().find(|f| **f >= folds) {
            return Err(Error::out_of_range(format!("fold {f} of {folds}")));
        }
        Ok(())
    }

    /// Refuses other constraints than those followed, or these in another order, by which they are
    /// in other folds; links that contradict them may have been followed beside.
    pub(crate) fn check_links(&self, constraints: &Constraints) -> Result<()> {
        let mut known = constraints.iter().peekable();
        let same = |a: &Pair, b: &Pair| {
            (a.i.min(a.j), a.i.max(a.j), a.link) == (b.i.min(b.j), b.i.max(b.j), b.link)
        };
        let contradict = |l: &Pair| constraints.relation(l.i, l.j).is_some_and(|r| r != l.link);
        let told = |l: &Pair| known.next_if(|next| same(next, l)).is_some() || contradict(l);
        let followed = self.links.iter().all(told) && known.next().is_none();
        ensure!(
            followed,
            invalid("other constraints than the metric has followed, or these in another order")
        );
        Ok(())
    }
}
