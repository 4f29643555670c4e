use std::sync::Arc;

use consilience_core::{Ensemble, MemoryBudget, Observer, Pair, Report, Result};
use consilience_num::logdet::LogDet;
use consilience_num::reduce::try_map_few;
use ndarray::Array2;

use crate::consensus_embedding::{ConsensusEmbedding, tell};
use crate::coordinates::Coordinates;
use crate::metric_rule::{MetricRule, check_metrics};
use crate::space_metric::SpaceMetric;

/// Bytes of the overlap of two clusters.
const OVERLAP: usize = 12;
/// The weight of all grown members together, in units of that of all given ones.
const GROWN_SHARE: f64 = 0.5;

/// What a [`ConsensusMetric`](crate::ConsensusMetric) has more where members were grown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GrownMetrics {
    /// For each grown member the fold of links that it was made without.
    pub(crate) left_out: Vec<usize>,
    /// Features of the objects, n x f.
    pub(crate) features: Arc<Array2<f32>>,
    /// All members, and the metric of all links.
    pub(crate) all: SpaceMetric,
    /// For each fold the members that were made without it, and the metric of all links outside it.
    pub(crate) folds: Vec<SpaceMetric>,
    /// The embedding of the plain consensus of all members, and for each fold of those made without
    /// it.
    pub(crate) plain: Arc<ConsensusEmbedding>,
    pub(crate) plain_folds: Vec<Arc<ConsensusEmbedding>>,
    /// How the embeddings of all members were found.
    pub(crate) opened: Report,
}

impl GrownMetrics {
    /// Without links. The ensemble has `members` given ones, then those grown.
    pub(crate) fn open(
        (rule, budget): (&MetricRule, MemoryBudget),
        members: usize,
        left_out: &[usize],
        features: Array2<f32>,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let features = Arc::new(features);
        let space = |fold| -> Result<(SpaceMetric, Report)> {
            let weights = member_weights(members, left_out, fold);
            let embedding = rule.embedding(&weights, budget).fit(ensemble, observer)?;
            let coordinates = Coordinates::with_features(embedding.output, ensemble, &features);
            Ok((SpaceMetric::new(rule, coordinates, ensemble)?, embedding.report))
        };
        let plain = |fold| -> Result<(Arc<ConsensusEmbedding>, Report)> {
            let weights = member_weights(members, left_out, fold);
            let found = rule.plain_embedding(budget).weights(&weights).fit(ensemble, observer)?;
            Ok((Arc::new(found.output), found.report))
        };
        let mut opened = Report::default();
        let (all, found) = space(None)?;
        tell(&mut opened, found);
        let q = all.metric.n_dimensions();
        check_metrics(budget, rule.folds, q, 0)?;
        let positions = "positions of the clusters for the folds";
        let rows = ensemble.n_clusters().saturating_mul(rule.folds + 1);
        budget.check_table(positions, rows, q.saturating_add(rule.clusters), 8)?;
        // What is told of the folds would be the same.
        let one = |fold| space(Some(fold)).map(|made| made.0);
        let folds = each_fold(rule, ensemble, budget, &one)?;
        let (plain_all, found) = plain(None)?;
        tell(&mut opened, found);
        let one = |fold| plain(Some(fold)).map(|made| made.0);
        let plain_folds = each_fold(rule, ensemble, budget, &one)?;
        Ok(GrownMetrics {
            left_out: left_out.to_vec(),
            all,
            folds,
            plain: plain_all,
            plain_folds,
            features,
            opened,
        })
    }

    /// Adds a link of this fold to every metric that may use it.
    pub(crate) fn add(&mut self, ensemble: &Ensemble, pair: Pair, fold: usize) {
        let others = self.folds.iter_mut().enumerate().filter(|&(f, _)| f != fold);
        for space in std::iter::once(&mut self.all).chain(others.map(|(_, space)| space)) {
            space.add(ensemble, pair.i, pair.j, pair.link);
        }
    }

    /// The metric of all links, then those of the folds.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = &LogDet> {
        std::iter::once(&self.all).chain(&self.folds).map(|space| &space.metric)
    }

    /// The same to be changed.
    pub(crate) fn metrics_mut(&mut self) -> impl Iterator<Item = &mut LogDet> {
        let spaces = std::iter::once(&mut self.all).chain(&mut self.folds);
        spaces.map(|space| &mut space.metric)
    }
}

/// What is made for every fold, for as many at a time as the overlaps of all clusters fit the
/// budget.
fn each_fold<T: Send>(
    rule: &MetricRule,
    ensemble: &Ensemble,
    budget: MemoryBudget,
    make: &(dyn Fn(usize) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let clusters = ensemble.n_clusters();
    let fits =
        |&folds: &usize| budget.allows_table(folds.saturating_mul(clusters), clusters, OVERLAP);
    let abreast = (1..=rule.folds).rev().find(fits).unwrap_or(1);
    try_map_few(rule.folds, abreast, make)
}

/// Weights of all members, or of those that were made without a fold; the other grown ones get 0.
///
/// Each given member has weight 1. The grown members that count share half of the sum of these,
/// whatever their number: those of one fold together have the same weight as all of them together.
fn member_weights(members: usize, left_out: &[usize], fold: Option<usize>) -> Vec<f64> {
    let counts = |f: usize| fold.is_none_or(|fold| f == fold);
    let count = left_out.iter().filter(|&&f| counts(f)).count();
    let each = GROWN_SHARE * members as f64 / count.max(1) as f64;
    let grown = left_out.iter().map(|&f| if counts(f) { each } else { 0.0 });
    (0..members).map(|_| 1.0).chain(grown).collect()
}
