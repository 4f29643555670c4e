use consilience_core::{Clusters, ErrorKind, Observer, Partition, Result};
use consilience_trust::NumberTable;
use consilience_trust::common::overlap;
use serde::Serialize;

use super::sample::Sample;
use crate::Candidate;

/// Numbers of clusters below and above the chosen one that the flow shows.
const AROUND: usize = 2;
/// With more clusters than these the flow would be a blur.
const MOST_FLOWING: usize = 40;

/// How many clusters. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NumberFindings {
    /// Whether the number was given.
    pub fixed: bool,
    /// The number asked of the method.
    pub clusters: usize,
    /// The number that the criteria recommend.
    pub recommended: usize,
    /// From how many clusters to how many are possible; the number of the members where
    /// these are all alike.
    pub range: (usize, usize),
    /// The criteria.
    pub criteria: Vec<CriterionFindings>,
    /// Why, in sentences.
    pub notes: Vec<String>,
    /// Every number that was tried.
    pub rows: Vec<NumberRowFindings>,
    /// How clusters split and merge around the chosen number.
    pub flow: Vec<FlowFindings>,
}

/// What a criterion says. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CriterionFindings {
    /// Its name.
    pub name: &'static str,
    /// The number that it chooses.
    pub clusters: usize,
    /// Why not to trust it here.
    pub warning: Option<String>,
}

/// One number of clusters. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NumberRowFindings {
    /// The number.
    pub clusters: usize,
    /// Area under the consensus CDF.
    pub area: f64,
    /// By what share it grew from the row before; the area itself in the first row.
    pub delta_area: f64,
    /// Proportion of ambiguous pairs.
    pub pac: f64,
    /// Mean adjusted Rand index between consensus results on halves of the members.
    pub stability: Option<f64>,
    /// Range of heights over which so many clusters persist.
    pub lifetime: Option<f64>,
    /// Gap behind the eigenvalue of that number.
    pub eigengap: Option<f64>,
    /// Where the consensus CDF steps, and the share of pairs up to there.
    pub cdf: Vec<(f64, f64)>,
}

/// One number of clusters, and where its objects were with the number before. Part of
/// [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlowFindings {
    /// The number of clusters asked for.
    pub clusters: usize,
    /// Share of the objects in each cluster.
    pub shares: Vec<f64>,
    /// Cluster of the layer before, cluster, share of all objects in both.
    pub links: Vec<(usize, usize, f64)>,
}

pub(super) fn findings(
    fixed: Option<usize>,
    table: NumberTable,
    method: &Candidate<'_>,
    (sample, chosen): (&Sample, Clusters),
    observer: &dyn Observer,
) -> Result<NumberFindings> {
    let clusters = chosen.fixed().unwrap_or(table.recommended);
    let rows = table.rows.into_iter().map(|row| NumberRowFindings {
        clusters: row.clusters,
        area: row.area,
        delta_area: row.delta_area,
        pac: row.pac,
        stability: row.stability,
        lifetime: row.lifetime,
        eigengap: row.eigengap,
        cdf: row.cdf.values().iter().copied().zip(row.cdf.cumulative().iter().copied()).collect(),
    });
    let criteria = table.criteria.into_iter().map(|c| CriterionFindings {
        name: c.name,
        clusters: c.clusters,
        warning: c.warning,
    });
    Ok(NumberFindings {
        fixed: fixed.is_some(),
        clusters,
        recommended: table.recommended,
        range: table.range,
        criteria: criteria.collect(),
        notes: table.notes,
        rows: rows.collect(),
        flow: flow(method, sample, clusters, observer)?,
    })
}

/// The results around the chosen number: that number itself from all objects, the others on the
/// sample.
fn flow(
    method: &Candidate<'_>,
    sample: &Sample,
    chosen: usize,
    observer: &dyn Observer,
) -> Result<Vec<FlowFindings>> {
    let most = sample.rows.n_objects();
    let first = chosen.saturating_sub(AROUND).max(2);
    let last = (chosen + AROUND).min(most).min(MOST_FLOWING);
    let mut layers: Vec<FlowFindings> = Vec::new();
    let mut before: Option<Partition> = None;
    for k in first..=last {
        let partition = if k == chosen {
            sample.result.clone()
        } else {
            match method.fit(Clusters::Fixed(k), &sample.rows, observer) {
                Ok(fit) => fit.output,
                Err(e) if e.kind() == ErrorKind::Cancelled => return Err(e),
                // A number that the method cannot make is left out of the picture.
                Err(_) => continue,
            }
        };
        if let Some(layer) = layer(k, &partition, before.as_ref(), sample)? {
            layers.push(layer);
            before = Some(partition);
        }
    }
    Ok(if layers.len() > 1 { layers } else { Vec::new() })
}

fn layer(
    k: usize,
    own: &Partition,
    before: Option<&Partition>,
    sample: &Sample,
) -> Result<Option<FlowFindings>> {
    let table = overlap(before.unwrap_or(own), own, sample.rows.counts())?;
    let Some(table) = table else { return Ok(None) };
    let all = table.n_objects() as f64;
    let shares = table.column_sums().iter().map(|&s| s as f64 / all).collect();
    let links = match before {
        Some(_) => table.cells().map(|(a, b, both)| (a, b, both as f64 / all)).collect(),
        None => Vec::new(),
    };
    Ok(Some(FlowFindings { clusters: k, shares, links }))
}
