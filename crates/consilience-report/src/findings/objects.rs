use consilience_core::Partition;
use consilience_trust::Diagnostics;
use serde::Serialize;

use super::name;
use crate::ClusteringReport;

/// How many of the least certain objects are listed.
const LISTED: usize = 30;
/// Steps of the confidence from 0 to 1.
const STEPS: usize = 20;

/// How clearly objects belong to their clusters. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ObjectsFindings {
    /// Share of the labelled objects by confidence, in twenty steps from 0 to 1.
    pub confidence: Vec<f64>,
    /// The thirty least certain ones.
    pub least_certain: Vec<ObjectFindings>,
}

/// One object. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ObjectFindings {
    /// Its number.
    pub object: usize,
    /// Its name, or its number.
    pub name: String,
    /// How many objects its row stands for.
    pub count: u64,
    /// Its cluster.
    pub cluster: usize,
    /// The other cluster that it is closest to.
    pub second: Option<usize>,
    /// Its confidence: 1 is certain, 0.5 undecided, below it the other cluster is closer.
    pub confidence: f64,
}

pub(super) fn findings(
    report: &ClusteringReport<'_>,
    partition: &Partition,
    trust: &Diagnostics,
) -> ObjectsFindings {
    let counts = report.ensemble.counts();
    let count = |i: usize| counts.map_or(1, |c| c[i]);
    let mut steps = vec![0.0; STEPS];
    let mut total = 0.0;
    let mut known: Vec<(f64, usize, usize)> = Vec::new();
    for (i, label) in partition.iter().enumerate() {
        let Some(cluster) = label else { continue };
        let confidence = trust.confidence[i];
        let step = ((confidence * STEPS as f64) as usize).min(STEPS - 1);
        steps[step] += count(i) as f64;
        total += count(i) as f64;
        known.push((confidence, i, cluster));
    }
    let order =
        |a: &(f64, usize, usize), b: &(f64, usize, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if known.len() > LISTED {
        known.select_nth_unstable_by(LISTED - 1, order);
        known.truncate(LISTED);
    }
    known.sort_by(order);
    let least_certain = known
        .into_iter()
        .map(|(confidence, object, cluster)| ObjectFindings {
            object,
            name: name(&report.object_names, object),
            count: count(object),
            cluster,
            second: trust.second[object],
            confidence,
        })
        .collect();
    steps.iter_mut().for_each(|s| *s /= f64::max(total, 1.0));
    ObjectsFindings { confidence: steps, least_certain }
}
