//! What the feature `serde` reads, before it is checked.

use consilience_core::{Error, Result, ensure};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::{
    ClusterDiagnostics, ConsensusCdf, Criterion, Diagnostics, MemberDiagnostics, NumberRow,
    NumberTable,
};

/// The names that a criterion may have.
const CRITERIA: [&str; 5] = ["eigengap", "pac", "lifetime", "delta-area", "directions"];

fn share(value: f64, what: &str) -> Result<f64> {
    // Sums of shares may be off by rounding.
    ensure!((-1e-9..=1.0 + 1e-9).contains(&value), invalid("{what} is {value}; expected 0 to 1"));
    Ok(value)
}

fn finite(value: f64, what: &str) -> Result<f64> {
    ensure!(value.is_finite(), invalid("{what} is {value}; expected a finite number"));
    Ok(value)
}

/// A value that may be missing, checked where it is there.
fn maybe(
    value: Option<f64>,
    what: &str,
    check: fn(f64, &str) -> Result<f64>,
) -> Result<Option<f64>> {
    value.map(|value| check(value, what)).transpose()
}

#[derive(Deserialize)]
pub(crate) struct MemberDiagnosticsFields {
    clusters: usize,
    agreement: Option<f64>,
    agreement_with_others: Option<f64>,
}

impl TryFrom<MemberDiagnosticsFields> for MemberDiagnostics {
    type Error = Error;

    fn try_from(fields: MemberDiagnosticsFields) -> Result<Self> {
        Ok(MemberDiagnostics {
            clusters: fields.clusters,
            agreement: maybe(fields.agreement, "agreement", share)?,
            agreement_with_others: maybe(
                fields.agreement_with_others,
                "agreement_with_others",
                share,
            )?,
        })
    }
}

#[derive(Deserialize)]
pub(crate) struct ClusterDiagnosticsFields {
    objects: u64,
    density: f64,
    nearest: Option<(usize, f64)>,
    stability: Option<f64>,
    confidence: f64,
}

impl TryFrom<ClusterDiagnosticsFields> for ClusterDiagnostics {
    type Error = Error;

    fn try_from(fields: ClusterDiagnosticsFields) -> Result<Self> {
        if let Some((_, density)) = fields.nearest {
            share(density, "the density with the nearest cluster")?;
        }
        Ok(ClusterDiagnostics {
            objects: fields.objects,
            density: share(fields.density, "density")?,
            nearest: fields.nearest,
            stability: maybe(fields.stability, "stability", share)?,
            confidence: share(fields.confidence, "confidence")?,
        })
    }
}

#[derive(Deserialize)]
pub(crate) struct DiagnosticsFields {
    anmi: f64,
    diversity: Option<f64>,
    members: Vec<MemberDiagnostics>,
    confidence: Vec<f64>,
    second: Vec<Option<usize>>,
    clusters: Vec<ClusterDiagnostics>,
    dissenters: Vec<usize>,
    sentences: Vec<String>,
}

impl TryFrom<DiagnosticsFields> for Diagnostics {
    type Error = Error;

    fn try_from(fields: DiagnosticsFields) -> Result<Self> {
        let (n, k, m) = (fields.confidence.len(), fields.clusters.len(), fields.members.len());
        ensure!(
            fields.second.len() == n,
            shape("{} second clusters, confidence of {n} objects", fields.second.len())
        );
        fields.confidence.iter().try_for_each(|&c| share(c, "confidence").map(drop))?;
        let nearest = fields.clusters.iter().filter_map(|c| c.nearest).map(|(c, _)| c);
        if let Some(c) = fields.second.iter().flatten().copied().chain(nearest).find(|&c| c >= k) {
            return Err(Error::out_of_range(format!("cluster {c} of {k}")));
        }
        if let Some(u) = fields.dissenters.iter().find(|&&u| u >= m) {
            return Err(Error::out_of_range(format!("member {u} of {m}")));
        }
        Ok(Diagnostics {
            anmi: share(fields.anmi, "anmi")?,
            diversity: maybe(fields.diversity, "diversity", share)?,
            members: fields.members,
            confidence: fields.confidence,
            second: fields.second,
            clusters: fields.clusters,
            dissenters: fields.dissenters,
            sentences: fields.sentences,
        })
    }
}

#[derive(Deserialize)]
pub(crate) struct ConsensusCdfFields {
    values: Vec<f64>,
    cumulative: Vec<f64>,
}

impl TryFrom<ConsensusCdfFields> for ConsensusCdf {
    type Error = Error;

    fn try_from(fields: ConsensusCdfFields) -> Result<Self> {
        ConsensusCdf::from_steps(fields.values, fields.cumulative)
    }
}

#[derive(Deserialize)]
struct CriterionFields {
    name: String,
    clusters: usize,
    warning: Option<String>,
}

// By hand: the name is one of ours, not text of the bytes.
impl<'de> Deserialize<'de> for Criterion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let CriterionFields { name, clusters, warning } = Deserialize::deserialize(deserializer)?;
        match CRITERIA.iter().find(|known| **known == name) {
            Some(name) => Ok(Criterion { name, clusters, warning }),
            None => Err(D::Error::custom(format!(
                "criterion {name:?}; expected one of {}",
                CRITERIA.join(", ")
            ))),
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct NumberRowFields {
    clusters: usize,
    members: usize,
    cdf: ConsensusCdf,
    area: f64,
    delta_area: f64,
    pac: f64,
    stability: Option<f64>,
    lifetime: Option<f64>,
    eigengap: Option<f64>,
}

impl TryFrom<NumberRowFields> for NumberRow {
    type Error = Error;

    fn try_from(fields: NumberRowFields) -> Result<Self> {
        Ok(NumberRow {
            clusters: fields.clusters,
            members: fields.members,
            cdf: fields.cdf,
            area: share(fields.area, "area")?,
            delta_area: finite(fields.delta_area, "delta_area")?,
            pac: share(fields.pac, "pac")?,
            stability: maybe(fields.stability, "stability", finite)?,
            lifetime: maybe(fields.lifetime, "lifetime", finite)?,
            eigengap: maybe(fields.eigengap, "eigengap", finite)?,
        })
    }
}

#[derive(Deserialize)]
pub(crate) struct NumberTableFields {
    rows: Vec<NumberRow>,
    criteria: Vec<Criterion>,
    recommended: usize,
    range: (usize, usize),
    notes: Vec<String>,
}

impl TryFrom<NumberTableFields> for NumberTable {
    type Error = Error;

    fn try_from(fields: NumberTableFields) -> Result<Self> {
        let NumberTableFields { rows, criteria, recommended, range, notes } = fields;
        ensure!(
            rows.is_sorted_by(|a, b| a.clusters < b.clusters),
            invalid("rows whose numbers of clusters do not ascend")
        );
        ensure!(recommended > 0, invalid("0 clusters recommended; expected at least 1"));
        ensure!(range.0 <= range.1, invalid("a range from {} to {}", range.0, range.1));
        Ok(NumberTable { rows, criteria, recommended, range, notes })
    }
}
