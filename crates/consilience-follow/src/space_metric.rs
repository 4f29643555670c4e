use consilience_core::{Ensemble, Link, Result, room};
use consilience_num::logdet::LogDet;
use consilience_simplex::evenly;
use consilience_simplex::stored::{Reader, Writer, corrupt};

use crate::coordinates::Coordinates;
use crate::metric_rule::MetricRule;

/// Quantiles of the squared distances that must-links should be below, and cannot-links above.
const QUANTILES: (f64, f64) = (0.05, 0.95);
/// Objects that the quantiles are taken over, at most: evenly spaced ones, of which a row with a
/// count is so many.
const SAMPLE: usize = 1_000;

/// The coordinates of the objects and a metric on them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpaceMetric {
    pub(crate) coordinates: Coordinates,
    pub(crate) metric: LogDet,
}

impl SpaceMetric {
    /// The metric without links: the identity.
    pub(crate) fn new(
        rule: &MetricRule,
        coordinates: Coordinates,
        ensemble: &Ensemble,
    ) -> Result<Self> {
        Self::bounded(rule, coordinates, ensemble, &evenly(ensemble, SAMPLE))
    }

    /// The same with bounds from these objects.
    pub(crate) fn bounded(
        rule: &MetricRule,
        coordinates: Coordinates,
        ensemble: &Ensemble,
        objects: &[usize],
    ) -> Result<Self> {
        let (near, far) = bounds(&coordinates, ensemble, objects)?;
        let metric = LogDet::new(coordinates.n_dimensions(), rule.slack, near, far);
        Ok(SpaceMetric { coordinates, metric })
    }

    /// Adds a link. `false`, and nothing is added, where its objects have no or equal coordinates.
    pub(crate) fn add(&mut self, ensemble: &Ensemble, i: usize, j: usize, link: Link) -> bool {
        let difference = self.coordinates.difference(ensemble, i, j);
        difference.is_some_and(|v| self.metric.add(v, link))
    }
}

/// The quantiles of the squared distances of some objects.
fn bounds(coordinates: &Coordinates, ensemble: &Ensemble, objects: &[usize]) -> Result<(f64, f64)> {
    let objects: Vec<u32> = objects
        .iter()
        .copied()
        .filter(|&i| coordinates.embedding.position(ensemble, i).is_ok_and(|p| p.is_some()))
        .map(|i| i as u32)
        .collect();
    let rows = coordinates.rows(ensemble, &objects);
    let mut squares = room::with_capacity(objects.len() * objects.len().saturating_sub(1) / 2)?;
    for i in 0..rows.nrows() {
        for j in 0..i {
            let differences = rows.row(i).into_iter().zip(rows.row(j)).map(|(x, y)| x - y);
            squares.push(differences.map(|d| d * d).sum::<f64>());
        }
    }
    let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    let mut at = |q: f64| match squares.len() {
        0 => 0.0,
        count => {
            let rank = (q * (count - 1) as f64).round() as usize;
            *squares.select_nth_unstable_by(rank, f64::total_cmp).1
        }
    };
    // Where many objects are equal, or all, the bound must not be 0.
    let near = at(QUANTILES.0).max(1e-3 * mean).max(f64::MIN_POSITIVE);
    Ok((near, at(QUANTILES.1).max(near)))
}

/// The number of links, then the metric.
pub(crate) fn write(metric: &LogDet, out: &mut Writer) {
    out.u64(metric.n_links() as u64);
    metric.values().for_each(|v| out.f64(v));
}

/// Restores what [`write`] wrote; the same links were added before.
pub(crate) fn read(metric: &mut LogDet, bytes: &mut Reader<'_>) -> Result<()> {
    let links = bytes.u64()?;
    if links != metric.n_links() as u64 {
        let known = metric.n_links();
        return Err(corrupt(format!("{links} links of a metric that has {known}")));
    }
    metric.restore(|| bytes.finite())
}
