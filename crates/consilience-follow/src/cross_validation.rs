use crate::link_evidence::{LinkEvidence, ScoredLinks};

/// Links at random have a score of 0. Where neither the plain consensus nor a learned clustering is
/// this many standard errors above it, the links have nothing to do with the ensemble, and the
/// plain consensus is used.
const CHANCE: f64 = 1.5;
/// A clustering with grown members may be worse than the best so far by this many standard errors
/// of the difference. Its score is pessimistic: for each link it has only the few grown members
/// that were made without it, and these were made from fewer links.
const TOLERATED: f64 = 1.0;

/// Which clustering is read out: where its centres come from. Whichever it is, the read-out of an
/// update assigns must-linked objects together, to the centre that is best for all of them, and a
/// centre costs more that a cannot-linked group has; or it sets links aside
/// ([`LinkTrust`](crate::LinkTrust)).
///
/// From [`MetricReadOut::method`](crate::MetricReadOut::method) of an [`Updater`](crate::Updater).
#[doc(alias = "Reading")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadOutMethod {
    /// The plain consensus: k-means on the directions of the first k dimensions under cluster
    /// weights, nearly that of `Lwgp`, which the links do not change.
    #[default]
    Plain,
    /// The plain consensus of all members, with those that were grown from the links.
    #[doc(alias = "Joined")]
    PlainGrown,
    /// k-means under the learned metric.
    Metric,
    /// k-means under the learned metric, with the grown members.
    #[doc(alias = "Grown")]
    MetricGrown,
}

impl ReadOutMethod {
    /// The name that the program prints: `plain`, `joined`, `metric` or `grown`.
    pub fn name(self) -> &'static str {
        match self {
            ReadOutMethod::Plain => "plain",
            ReadOutMethod::PlainGrown => "joined",
            ReadOutMethod::Metric => "metric",
            ReadOutMethod::MetricGrown => "grown",
        }
    }
}

/// Cross-validation of the possible read-outs on the links, and the one that is chosen.
///
/// The links fall into folds. Each link is held out once: metrics, and grown members, are judged by
/// it only where they were learned without it. Then the read-outs are compared in the order plain,
/// plain with grown members, metric, metric with grown members. A later one replaces the best so
/// far where its [`score`](LinkEvidence::score) is better; one with grown members already where it
/// is not worse by more than a standard error. One that is not better than the plain consensus by a
/// share of the standard error of the difference ([`MetricRule::caution`](crate::MetricRule)) is
/// passed over, and so is a score that is not well above chance (0), unless that of the plain
/// consensus is. In the end a metric that breaks more of the given links than the plain consensus
/// gives way to it; see [`ConsensusMetric::read_out`](crate::ConsensusMetric::read_out).
///
/// ```
/// use consilience::follow::{ReadOutMethod, Updater};
/// use consilience::ndarray::array;
/// use consilience::{Ensemble, Pair};
///
/// let labels = array![[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 2], [1, 1, 2]];
/// let mut updater = Updater::new(Ensemble::from_array(labels.view())?, 2)?;
/// updater.update(&[Pair::must_link(0, 1), Pair::cannot_link(0, 5)])?;
/// let read = updater.read_out(&())?.output;
/// // Two links are too few to choose anything but the plain consensus by.
/// assert_eq!(read.cross_validation().chosen, ReadOutMethod::Plain);
/// # Ok::<(), consilience::Error>(())
/// ```
#[doc(alias = "Judgement")]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CrossValidation {
    /// The read-out that is chosen.
    #[doc(alias = "reading")]
    pub chosen: ReadOutMethod,
    /// The plain consensus, before linked objects are assigned together.
    pub plain: LinkEvidence,
    /// The plain consensus with grown members; `None` where there are none.
    #[doc(alias = "joined")]
    pub plain_grown: Option<LinkEvidence>,
    /// Standard error of the difference of its score to the plain one.
    pub plain_grown_error: f64,
    /// The metric.
    pub metric: LinkEvidence,
    /// Standard error of the difference of its score to the best so far.
    pub metric_error: f64,
    /// The metric with grown members; `None` where there are none.
    #[doc(alias = "grown")]
    pub metric_grown: Option<LinkEvidence>,
    /// Standard error of the difference of its score to the best so far.
    pub metric_grown_error: f64,
}

impl CrossValidation {
    /// `grown` has the scores of the plain consensus and of the metric with grown members; gains
    /// over plain must be above `caution` of their standard errors.
    pub(crate) fn of(
        plain: &ScoredLinks,
        metric: &ScoredLinks,
        grown: Option<(&ScoredLinks, &ScoredLinks)>,
        caution: f64,
    ) -> Self {
        let beyond_chance = |e: &ScoredLinks| e.evidence.score() > CHANCE * e.chance;
        let (mut chosen, mut best) = (ReadOutMethod::Plain, plain);
        let mut compare = |method, learned, tolerated| {
            let error = ScoredLinks::error(learned, best);
            let gain = learned.evidence.score() - plain.evidence.score();
            let sure = gain > caution * ScoredLinks::error(learned, plain);
            let sensible = beyond_chance(learned) || beyond_chance(plain);
            if sensible
                && sure
                && learned.evidence.score() > best.evidence.score() - tolerated * error
            {
                (chosen, best) = (method, learned);
            }
            error
        };
        let plain_grown_error =
            grown.map_or(0.0, |(joined, _)| compare(ReadOutMethod::PlainGrown, joined, TOLERATED));
        let metric_error = compare(ReadOutMethod::Metric, metric, 0.0);
        let metric_grown_error =
            grown.map_or(0.0, |(_, both)| compare(ReadOutMethod::MetricGrown, both, TOLERATED));
        CrossValidation {
            chosen,
            plain: plain.evidence,
            plain_grown: grown.map(|(joined, _)| joined.evidence),
            plain_grown_error,
            metric: metric.evidence,
            metric_error,
            metric_grown: grown.map(|(_, both)| both.evidence),
            metric_grown_error,
        }
    }
}
