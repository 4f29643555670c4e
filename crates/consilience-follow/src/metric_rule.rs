use consilience_core::{Error, MemoryBudget, Result, Seed, ensure};
use consilience_simplex::stored::{Reader, Writer, corrupt};

use crate::embedding::Embedding;
use crate::link_trust::LinkTrust;
use crate::map_learner::MapLearner;

/// Fewest dimensions of the embedding by default: two classes may need many more directions than
/// two.
const MIN_DIMENSIONS: usize = 30;
/// The same for completion, which takes no harm from more.
const MIN_COMPLETED: usize = 50;
/// Scale by which clusters count in the plain consensus, as in LWGP.
const ENTROPY_SCALE: f64 = 0.4;
/// Standard errors of a gain over the plain consensus that do not count.
const CAUTION: f64 = 0.25;
/// Larger counts are refused as mistakes.
const MAX_COUNT: usize = 10_000;

/// Refuses more metrics of so many dimensions than there is room for: all twice, as they are kept
/// while links are followed, and so many links' vectors. A link is in every metric but that of its
/// fold.
pub(crate) fn check_metrics(
    budget: MemoryBudget,
    folds: usize,
    dimensions: usize,
    links: usize,
) -> Result<()> {
    let squares = folds.saturating_add(1).saturating_mul(2).saturating_mul(dimensions);
    let rows = squares.saturating_add(folds.saturating_mul(links));
    budget.check_table("metrics of the folds", rows, dimensions, 8)
}

/// How a metric on the consensus embedding is learned from links and used: the default of the
/// updater.
///
/// For any stream of must-links and cannot-links. The weights of members
/// ([`WeightUpdater`](consilience_simplex::WeightUpdater)) are for comparisons with the papers and
/// for those who want the weights. `docs/notes/updater.md` compares both.
///
/// Objects have positions in an [`Embedding`]. Every link between objects at x and y asks that
/// `|x - y|_M^2` be small (must-link) or large (cannot-link). M is the metric nearest to the
/// identity that satisfies the links, up to a slack:
///
/// ```text
/// minimise    tr(M) - log det M + gamma (slack)
/// subject to  |x - y|_M^2 <= u + slack  (must),   |x - y|_M^2 >= l - slack  (cannot)
/// ```
///
/// [`MapLearner::Completion`] completes a similarity instead.
///
/// u and l are the 5 % and 95 % quantiles of the squared distances of the objects. A read-out is
/// k-means under M, in which each microcluster counts with its number of objects. Then the linked
/// objects are assigned as groups: each group of must-linked objects gets the centre that fits it
/// best as a whole, where every cannot-link that would be violated costs the total variance. Where
/// held-out links are better kept so, every linked object is placed by itself instead, and each
/// broken link has a price: half of the mean margin of the linked objects between their two nearest
/// centres. Links that contradict the distances and the other links are set aside then;
/// [`LinkTrust::Hold`] of [`links`](MetricRule::links) keeps to the groups.
///
/// ```
/// use consilience::{Constraints, Ensemble, Link, Seed};
/// use consilience::follow::MetricRule;
/// use consilience::ndarray::Array2;
///
/// // Three members group by i % 2, two by whether i % 4 > 1; the links mean the latter.
/// let meant = |i: usize| i % 4 / 2;
/// let label = |(i, u)| if u < 3 { i % 2 } else { meant(i) } as u32;
/// let labels = Array2::from_shape_fn((64, 5), label);
/// let ensemble = Ensemble::from_array(labels.view())?;
/// let (mut links, mut draw) = (Constraints::new(64)?, Seed(1).stream());
/// for _ in 0..40 {
///     let (i, j) = (draw.below(64), draw.below(64));
///     links.add(i, j, if meant(i) == meant(j) { Link::Must } else { Link::Cannot })?;
/// }
/// let mut metric = MetricRule::new(2).open(&ensemble, &())?;
/// metric.follow(&ensemble, &links.iter().collect::<Vec<_>>(), &())?;
/// assert_eq!(metric.partition(&ensemble, &links, &())?.output, ensemble.members()[3]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// Per link O(q^2) per sweep over all links so far, for 1 + folds metrics; nothing in the number of
/// objects. A read-out costs k-means over at most 65,536 microclusters and O(n M
/// k) for the labels.
///
/// # References
/// Ours. Metric: Davis et al. 2007, Algorithm 1. Placing objects at a cost per violated link:
/// Basu, Banerjee, Mooney 2004.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricRule {
    pub(crate) clusters: usize,
    pub(crate) dimensions: Option<usize>,
    pub(crate) power: f64,
    pub(crate) slack: f64,
    pub(crate) folds: usize,
    pub(crate) restarts: usize,
    pub(crate) cross_validated: bool,
    pub(crate) learner: MapLearner,
    pub(crate) links: LinkTrust,
    pub(crate) caution: f64,
    pub(crate) tolerance: f64,
    pub(crate) max_iterations: usize,
    pub(crate) seed: Seed,
}

impl MetricRule {
    /// k clusters, with every default.
    pub fn new(clusters: usize) -> Self {
        MetricRule {
            clusters,
            dimensions: None,
            power: 1.0,
            slack: 1.0,
            folds: 5,
            restarts: 5,
            cross_validated: true,
            learner: MapLearner::LogDet,
            links: LinkTrust::Weigh,
            caution: CAUTION,
            tolerance: 1e-3,
            max_iterations: 100,
            seed: Seed(0),
        }
    }

    consilience_core::setters! {
        /// What is learned from links, the metric above or a completed similarity. Default
        /// [`MapLearner::LogDet`].
        pub fn learner(mut self, learner: MapLearner) { self.learner = learner }

        /// Dimensions q of the embedding, beside the constant one. Default the larger of 30 (50 for
        /// [`MapLearner::Completion`]) and 2k; 1 to 10,000.
        pub fn dimensions(mut self, dimensions: usize) { self.dimensions = Some(dimensions) }

        /// The power p of the singular values; see [`Embedding::power`]. Default 1; above 0, at
        /// most 100.
        pub fn power(mut self, power: f64) { self.power = power }

        /// How much a violated link costs against a metric far from the identity. Default 1; above
        /// 0.
        #[doc(alias = "gamma")]
        pub fn slack(mut self, slack: f64) { self.slack = slack }

        /// Folds of the links in cross-validation. Default 5; 2 to 10,000.
        pub fn folds(mut self, folds: usize) { self.folds = folds }

        /// Starts of k-means for a read-out. Default 5; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Whether a read-out compares the metric with the plain consensus on held-out links and
        /// takes the better one. Default true; with false the metric is always used once there are
        /// links.
        #[doc(alias = "guarded")]
        pub fn cross_validated(mut self, cross_validated: bool) {
            self.cross_validated = cross_validated
        }

        /// Whether must-links hold in any case, or links that contradict members, features and the
        /// other links are set aside. Default [`LinkTrust::Weigh`].
        pub fn links(mut self, links: LinkTrust) { self.links = links }

        /// How many standard errors better than the plain consensus something learned must be on
        /// held-out links to be read out. Default 0.25; 0 or more.
        pub fn caution(mut self, standard_errors: f64) { self.caution = standard_errors }

        /// A batch is solved when a sweep over the links changes the dual variables by at most this
        /// share of their sum. Default 1e-3; above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Most sweeps over the links for a batch. Default 100; 1 to 10,000.
        #[doc(alias = "sweeps")]
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Seed of the starts of k-means. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }

    /// Folds of the links that are judged by.
    pub fn n_folds(&self) -> usize {
        self.folds
    }

    /// Number of clusters, k.
    pub fn n_clusters(&self) -> usize {
        self.clusters
    }

    /// What is learned from links.
    pub fn map_learner(&self) -> MapLearner {
        self.learner
    }

    /// Fold of a link by its number.
    pub(crate) fn fold(&self, link: usize) -> usize {
        link % self.folds
    }

    /// Refuses parameters out of range.
    pub(crate) fn check(&self) -> Result<()> {
        self.embedding(&[], MemoryBudget::default()).check()?;
        if !(self.slack > 0.0 && self.slack.is_finite()) {
            return Err(Error::invalid(format!("slack {}; expected more than 0", self.slack)));
        }
        ensure!(
            self.tolerance > 0.0 && self.tolerance.is_finite(),
            invalid("tolerance {}; expected more than 0", self.tolerance)
        );
        ensure!(
            self.caution >= 0.0 && self.caution.is_finite(),
            invalid("caution of {} standard errors; expected 0 or more", self.caution)
        );
        if self.folds < 2 || self.folds > MAX_COUNT {
            return Err(Error::invalid(format!("{} folds; expected 2..={MAX_COUNT}", self.folds)));
        }
        for (what, value) in
            [("starts of k-means", self.restarts), ("iterations", self.max_iterations)]
        {
            if value == 0 || value > MAX_COUNT {
                return Err(Error::invalid(format!("{value} {what}; expected 1..={MAX_COUNT}")));
            }
        }
        ensure!(
            self.dimensions.is_none_or(|q| q <= MAX_COUNT),
            invalid("{} dimensions; expected 1..={MAX_COUNT}", self.dimensions.unwrap_or(0))
        );
        Ok(())
    }

    /// The rule in bytes.
    pub(crate) fn write(&self, out: &mut Writer) {
        let whole = [
            self.clusters,
            self.dimensions.unwrap_or(0),
            self.folds,
            self.restarts,
            self.max_iterations,
            usize::from(self.cross_validated) + 2 * usize::from(self.links == LinkTrust::Hold),
            usize::from(self.learner == MapLearner::Completion),
        ];
        whole.iter().for_each(|&v| out.u64(v as u64));
        out.u64(self.seed.0);
        [self.power, self.slack, self.tolerance, self.caution].iter().for_each(|&v| out.f64(v));
    }

    /// The rule that [`write`](MetricRule::write) wrote.
    pub(crate) fn read(bytes: &mut Reader<'_>) -> Result<Self> {
        let (clusters, dimensions) = (bytes.size()?, bytes.size()?);
        let (folds, restarts, max_iterations) = (bytes.size()?, bytes.size()?, bytes.size()?);
        let flags = bytes.size()?;
        if flags > 3 {
            return Err(corrupt(format!("a read-out of number {flags}")));
        }
        let rule = MetricRule {
            clusters,
            dimensions: (dimensions > 0).then_some(dimensions),
            folds,
            restarts,
            max_iterations,
            cross_validated: flags & 1 != 0,
            learner: match bytes.size()? {
                0 => MapLearner::LogDet,
                1 => MapLearner::Completion,
                other => return Err(corrupt(format!("a learner of number {other}"))),
            },
            // Behind the flag: states from before links were weighed are those of the default.
            links: if flags & 2 == 0 { LinkTrust::Weigh } else { LinkTrust::Hold },
            seed: Seed(bytes.u64()?),
            power: bytes.f64()?,
            slack: bytes.f64()?,
            tolerance: bytes.f64()?,
            caution: bytes.f64()?,
        };
        rule.check().map_err(|e| corrupt(e.message()))?;
        Ok(rule)
    }

    /// The embedding of the plain consensus.
    pub(crate) fn plain_embedding(&self, budget: MemoryBudget) -> Embedding {
        Embedding::new(self.clusters).entropy_scale(ENTROPY_SCALE).memory_budget(budget)
    }

    /// The embedding for members of the given weights.
    pub(crate) fn embedding(&self, weights: &[f64], budget: MemoryBudget) -> Embedding {
        let least = match self.learner {
            MapLearner::LogDet => MIN_DIMENSIONS,
            MapLearner::Completion => MIN_COMPLETED,
        };
        let wanted = self.dimensions.unwrap_or_else(|| least.max(self.clusters.saturating_mul(2)));
        // The first dimension of a connected ensemble is constant. 0 is refused later.
        let q = if wanted == 0 { 0 } else { wanted.saturating_add(1) };
        Embedding::new(q).power(self.power).weights(weights).memory_budget(budget)
    }
}
