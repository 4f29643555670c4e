//! A consensus metric in bytes.

use std::sync::Arc;

use consilience_core::{Ensemble, MemoryBudget, Observer, Pace, Pair, Result};
use consilience_simplex::stored::{Reader, Writer, corrupt};
use ndarray::Array2;

use crate::consensus_metric::ConsensusMetric;
use crate::coordinates::Coordinates;
use crate::grown_metrics::GrownMetrics;
use crate::metric_rule::MetricRule;
use crate::space_metric;

impl ConsensusMetric {
    /// The metrics in bytes; not the rule, the ensemble or the links, from which
    /// [`from_bytes`](ConsensusMetric::from_bytes) computes the embedding anew, to the same bits.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        let left_out = self.grown.as_ref().map_or(&[][..], |g| &g.left_out);
        let capped = usize::from(self.capped[0]) + 2 * usize::from(self.capped[1]);
        let head = [self.n_members(), self.n_links(), capped, left_out.len()];
        head.iter().chain(left_out).for_each(|&v| out.u64(v as u64));
        if let Some(grown) = &self.grown {
            out.u64(grown.features.ncols() as u64);
            grown.features.iter().for_each(|v| out.bytes(&v.to_le_bytes()));
        }
        let grown = self.grown.iter().flat_map(GrownMetrics::metrics);
        std::iter::once(&self.base.metric)
            .chain(&self.folds)
            .chain(grown)
            .for_each(|metric| space_metric::write(metric, &mut out));
        out.into_bytes()
    }

    /// The state that [`to_bytes`](ConsensusMetric::to_bytes) was called on, over the same rule,
    /// ensemble and links: continuing gives the same bits as never having stopped.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](consilience_core::ErrorKind::Corrupt) for bytes that do not fit them,
    /// and as [`MetricRule::open`].
    pub(crate) fn from_bytes(
        bytes: &[u8],
        rule: &MetricRule,
        ensemble: &Ensemble,
        told: &[Pair],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut rest = Reader::new(bytes);
        let (members, links) = (rest.size()?, rest.size()?);
        let (capped, grown) = (rest.size()?, rest.size()?);
        if capped > 3 {
            return Err(corrupt(format!("a metric that stopped by number {capped}")));
        }
        if members == 0
            || members.checked_add(grown) != Some(ensemble.n_members())
            || links != told.len()
        {
            return Err(corrupt(format!(
                "a metric of {members} and {grown} members and {links} links, for {} members and \
                 {} links",
                ensemble.n_members(),
                told.len()
            )));
        }
        let left_out: Vec<usize> = (0..grown).map(|_| rest.size()).collect::<Result<_>>()?;
        if let Some(f) = left_out.iter().find(|f| **f >= rule.folds) {
            return Err(corrupt(format!("fold {f} of {}", rule.folds)));
        }
        let mut state = open_with_members(rule, members, ensemble, observer)?;
        if grown > 0 {
            let features = stored_features(&mut rest, ensemble.n_objects())?;
            let with = (rule, state.budget);
            let open = GrownMetrics::open(with, members, &left_out, features, ensemble, observer)?;
            state.grown = Some(open);
        }
        let mut pace = Pace::new(observer);
        for &pair in told {
            pace.work(state.of_a_link(ensemble))?;
            state.add(ensemble, pair);
        }
        let grown = state.grown.iter_mut().flat_map(GrownMetrics::metrics_mut);
        for metric in std::iter::once(&mut state.base.metric).chain(&mut state.folds).chain(grown) {
            space_metric::read(metric, &mut rest)?;
        }
        if rest.left() > 0 {
            return Err(corrupt(format!("{} bytes after the metrics", rest.left())));
        }
        state.capped = [capped % 2 == 1, capped / 2 == 1];
        if state.capped[1] && state.grown.is_none() {
            return Err(corrupt("a metric of grown members, of which there are none"));
        }
        state.budget = MemoryBudget::default();
        Ok(state)
    }
}

/// A metric that was opened on the first members of an ensemble, for all of them.
fn open_with_members(
    rule: &MetricRule,
    members: usize,
    ensemble: &Ensemble,
    observer: &dyn Observer,
) -> Result<ConsensusMetric> {
    let base: Vec<usize> = (0..members).collect();
    // There was room when it was stored; the caller's budget comes later, and is for what follows.
    let all = MemoryBudget::bytes(u64::MAX);
    let mut state = rule.open_within(&ensemble.select(&base)?, all, observer)?;
    let wide = state.embedding().with_members(ensemble, members)?;
    state.base.coordinates = Coordinates::new(Arc::new(wide));
    state.plain = Arc::new(state.plain.with_members(ensemble, members)?);
    Ok(state)
}

/// n rows of as many features as the bytes say.
fn stored_features(bytes: &mut Reader<'_>, n: usize) -> Result<Array2<f32>> {
    let columns = bytes.size()?;
    if columns.checked_mul(n).is_none_or(|count| count > bytes.left() / 4) {
        let left = bytes.left();
        return Err(corrupt(format!("{columns} features of {n} objects in {left} bytes")));
    }
    let mut features = Array2::zeros((n, columns));
    for value in &mut features {
        *value = f32::from_le_bytes(bytes.take()?);
        if !value.is_finite() {
            return Err(corrupt(format!("a feature of {value}")));
        }
    }
    Ok(features)
}
