use consilience_core::{Ensemble, Error, Observer, Result, Seed};

use super::logdet::{corrupt, take};
use super::place::Embedding;
use super::state::ConsensusMetric;

/// Fewest dimensions of the embedding, unless said otherwise: two classes may need many more
/// directions than two.
const FEWEST: usize = 30;
/// More than this is a slip of the keyboard.
const MOST: usize = 10_000;

/// How a metric on the consensus embedding follows links: the default rule of the updater.
///
/// For any stream of must-links and cannot-links; the rules on the weights of members are for
/// parity with the papers, and where somebody wants the weights. It is read out only where links
/// that it has not seen do not speak against it; `docs/updater.md` has what that is worth.
///
/// Every link between objects at the places x and y asks that `|x - y|_M^2` be small or large, and
/// M is the metric nearest to the identity that grants it, up to a slack ([`Embedding`] for the
/// places):
///
/// ```text
/// minimise  tr(M) - log det M + gamma (slack)    subject to   |x - y|_M^2 <= u + slack  (must),   >= l - slack  (cannot)
/// ```
///
/// u and l are the 5 % and 95 % quantiles of the squared distances of the objects. Reading out is
/// k-means under M, each microcluster weighing its objects; then the objects that links speak of
/// are placed as wholes: a set of must-linked objects where it lies best, at the price of the total
/// variance for each cannot-link that would break.
///
/// ```
/// use consilience_core::{Constraints, Ensemble, Link, Seed};
/// use consilience_simplex::MetricRule;
/// use ndarray::Array2;
///
/// // Three members group by i % 2, two by whether i % 4 > 1; the links mean the latter.
/// let meant = |i: usize| i % 4 / 2;
/// let labels = Array2::from_shape_fn((64, 5), |(i, u)| if u < 3 { i % 2 } else { meant(i) } as u32);
/// let ensemble = Ensemble::from_array(labels.view())?;
/// let (mut links, mut draw) = (Constraints::new(64)?, Seed(1).stream());
/// for _ in 0..40 {
///     let (i, j) = (draw.below(64), draw.below(64));
///     links.add(i, j, if meant(i) == meant(j) { Link::Must } else { Link::Cannot })?;
/// }
/// let mut metric = MetricRule::new(2).open(&ensemble, &())?;
/// metric.follow(&ensemble, &links.iter().collect::<Vec<_>>(), &())?;
/// assert_eq!(metric.partition(&ensemble, &links, &())?.output, ensemble.members()[3]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// Per link O(q^2) per sweep over all links so far, with 1 + folds metrics; nothing in the number
/// of objects before reading out, which costs k-means over at most 65,536 microclusters and O(n M
/// k) for the labels.
///
/// # References
/// Ours. Metric: Davis et al. 2007, Algorithm 1. Placing sets at a price: Basu, Banerjee, Mooney 2004.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricRule {
    pub(super) clusters: usize,
    pub(super) dimensions: Option<usize>,
    pub(super) power: f64,
    pub(super) slack: f64,
    pub(super) folds: usize,
    pub(super) restarts: usize,
    pub(super) guarded: bool,
    pub(super) tolerance: f64,
    pub(super) sweeps: usize,
    pub(super) seed: Seed,
}

impl MetricRule {
    /// k clusters, from at least 30 or 2k dimensions, power 1, slack 1, judged in five folds, five
    /// starts of k-means.
    pub fn new(clusters: usize) -> Self {
        MetricRule {
            clusters,
            dimensions: None,
            power: 1.0,
            slack: 1.0,
            folds: 5,
            restarts: 5,
            guarded: true,
            tolerance: 1e-3,
            sweeps: 100,
            seed: Seed(0),
        }
    }

    /// q, beside the constant dimension; the larger of 30 and 2k where not set.
    pub fn dimensions(mut self, dimensions: usize) -> Self {
        self.dimensions = Some(dimensions);
        self
    }

    /// p, the power of the singular values.
    pub fn power(mut self, power: f64) -> Self {
        self.power = power;
        self
    }

    /// gamma: how much a violated link weighs against the distance from the identity.
    pub fn slack(mut self, gamma: f64) -> Self {
        self.slack = gamma;
        self
    }

    /// In how many folds the links are judged.
    pub fn folds(mut self, folds: usize) -> Self {
        self.folds = folds;
        self
    }

    /// Starts of k-means at reading out.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Whether the metric must prove itself on links that it has not seen (the default), or is read
    /// out always.
    pub fn guarded(mut self, guarded: bool) -> Self {
        self.guarded = guarded;
        self
    }

    /// A batch is followed until a sweep changes the dual variables by at most this share of their
    /// sum, or for this many sweeps.
    pub fn until(mut self, tolerance: f64, sweeps: usize) -> Self {
        self.tolerance = tolerance;
        self.sweeps = sweeps;
        self
    }

    /// Seed of the starts of k-means.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Number of clusters, k.
    pub fn n_clusters(&self) -> usize {
        self.clusters
    }

    /// Refuses parameters out of range.
    pub(crate) fn check(&self) -> Result<()> {
        self.embedding(&[]).check()?;
        if !(self.slack > 0.0 && self.slack.is_finite()) {
            return Err(Error::invalid(format!("slack {}; expected more than 0", self.slack)));
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(Error::invalid(format!(
                "tolerance {}; expected more than 0",
                self.tolerance
            )));
        }
        if self.folds < 2 || self.folds > MOST {
            return Err(Error::invalid(format!("{} folds; expected 2..={MOST}", self.folds)));
        }
        for (what, value) in [("starts of k-means", self.restarts), ("sweeps", self.sweeps)] {
            if value == 0 || value > MOST {
                return Err(Error::invalid(format!("{value} {what}; expected 1..={MOST}")));
            }
        }
        if self.dimensions.is_some_and(|q| q > MOST) {
            return Err(Error::invalid(format!(
                "{} dimensions; expected 1..={MOST}",
                self.dimensions.unwrap_or(0)
            )));
        }
        Ok(())
    }

    /// The rule in bytes, little-endian.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let whole = [
            self.clusters,
            self.dimensions.unwrap_or(0),
            self.folds,
            self.restarts,
            self.sweeps,
            usize::from(self.guarded),
        ];
        whole.iter().for_each(|&v| out.extend((v as u64).to_le_bytes()));
        out.extend(self.seed.0.to_le_bytes());
        [self.power, self.slack, self.tolerance].iter().for_each(|v| out.extend(v.to_le_bytes()));
    }

    /// The rule that [`write`](MetricRule::write) wrote.
    pub(crate) fn read(bytes: &mut &[u8]) -> Result<Self> {
        let [clusters, dimensions, folds, restarts, sweeps, guarded] = {
            let mut whole = [0usize; 6];
            for value in &mut whole {
                *value = usize::try_from(u64::from_le_bytes(take(bytes)?))
                    .map_err(|_| corrupt("a number beyond this machine's"))?;
            }
            whole
        };
        let seed = Seed(u64::from_le_bytes(take(bytes)?));
        let [power, slack, tolerance] =
            [take(bytes)?, take(bytes)?, take(bytes)?].map(f64::from_le_bytes);
        let rule = MetricRule {
            clusters,
            dimensions: (dimensions > 0).then_some(dimensions),
            power,
            slack,
            folds,
            restarts,
            guarded: guarded != 0,
            tolerance,
            sweeps,
            seed,
        };
        rule.check().map_err(|e| corrupt(e.message()))?;
        Ok(rule)
    }

    /// The embedding for members of the given weights.
    pub(super) fn embedding(&self, weights: &[f64]) -> Embedding {
        let wanted = self.dimensions.unwrap_or_else(|| FEWEST.max(self.clusters.saturating_mul(2)));
        // The first dimension of a connected ensemble is constant. 0 is refused later.
        let q = if wanted == 0 { 0 } else { wanted.saturating_add(1) };
        Embedding::new(q).power(self.power).member_weights(weights)
    }

    /// Places the clusters of an ensemble; no link is known yet.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
    /// `1..=n` or a parameter out of range,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn open(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<ConsensusMetric> {
        ensemble.check_clusters(self.clusters)?;
        self.check()?;
        ConsensusMetric::open(self.clone(), ensemble, observer)
    }
}
