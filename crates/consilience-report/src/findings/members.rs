use consilience_core::{Partition, Result};
use consilience_trust::Diagnostics;
use consilience_trust::common::{adjusted_rand, count};
use rayon::prelude::*;
use serde::Serialize;

use super::name;
use super::sample::Sample;
use crate::ClusteringReport;

/// Most members that are compared two by two.
const MOST_COMPARED: usize = 60;
/// Most clusters whose coverage is listed.
const MOST_CLUSTERS: usize = 60;

/// The members beside each other. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MembersFindings {
    /// Every member, in order.
    pub members: Vec<MemberFindings>,
    /// 1 - the mean agreement among the members, each as often as it counts; `None` for a single
    /// one.
    pub diversity: Option<f64>,
    /// Those that agree with the others less than half as much as the median member does.
    pub dissenters: Vec<usize>,
    /// The members that are compared two by two: all but those of weight 0, or some of these evenly
    /// spread.
    pub compared: Vec<usize>,
    /// Their adjusted Rand indices; `None` where two label no object in common.
    pub agreement: Vec<Vec<Option<f64>>>,
    /// Whether those are of a sample of the objects.
    pub sampled: bool,
    /// What is missing where; `None` where nothing is.
    pub coverage: Option<CoverageFindings>,
}

/// One member. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MemberFindings {
    /// Its name, or its number.
    pub name: String,
    /// Its number of clusters.
    pub clusters: usize,
    /// Share of the objects that it labels; a row counts as often as the ensemble's counts say.
    pub labelled: f64,
    /// Normalized mutual information with the result; `None` for a member of weight 0.
    pub with_result: Option<f64>,
    /// The mean with the other members; `None` for a member of weight 0.
    pub with_others: Option<f64>,
    /// Whether it agrees with the others far less than is usual.
    pub dissents: bool,
}

/// What members label of the clusters. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CoverageFindings {
    /// The members, those of [`MembersFindings::compared`].
    pub members: Vec<usize>,
    /// Of each the share of the objects of each cluster that it labels; the first 60 clusters.
    pub labelled: Vec<Vec<Option<f64>>>,
}

pub(super) fn findings(
    report: &ClusteringReport<'_>,
    partition: &Partition,
    trust: &Diagnostics,
    sample: &Sample,
) -> Result<MembersFindings> {
    let ensemble = report.ensemble;
    // In the order of the rows of the sample, in which members of weight 0 are left out.
    let weight = |u: usize| ensemble.weights().map_or(1.0, |weights| weights[u]);
    let heard: Vec<usize> = (0..ensemble.n_members()).filter(|&u| weight(u) > 0.0).collect();
    let m = heard.len();
    let counts = |i: usize| ensemble.counts().map_or(1, |counts| counts[i]);
    let labelled = |member: &Partition| count(ensemble, |i| member.label(i).is_some());
    let members = trust.members.iter().zip(ensemble.members()).enumerate();
    let members = members.map(|(u, (of, member))| MemberFindings {
        name: name(&report.member_names, u),
        clusters: member.n_clusters(),
        labelled: labelled(member) as f64 / ensemble.total_count() as f64,
        with_result: of.agreement,
        with_others: of.agreement_with_others,
        dissents: trust.dissenters.contains(&u),
    });
    let chosen: Vec<usize> = if m <= MOST_COMPARED {
        (0..m).collect()
    } else {
        (0..MOST_COMPARED).map(|at| at * m / MOST_COMPARED).collect()
    };
    let (rows, weights) = (sample.rows.members(), sample.rows.counts());
    let agreement = chosen
        .par_iter()
        .map(|&u| chosen.iter().map(|&v| adjusted_rand(&rows[u], &rows[v], weights)).collect())
        .collect::<Result<_>>()?;
    let compared: Vec<usize> = chosen.into_iter().map(|at| heard[at]).collect();
    let coverage = (!ensemble.is_complete()).then(|| CoverageFindings {
        labelled: compared
            .par_iter()
            .map(|&u| coverage(&ensemble.members()[u], partition, counts))
            .collect(),
        members: compared.clone(),
    });
    Ok(MembersFindings {
        members: members.collect(),
        diversity: trust.diversity,
        dissenters: trust.dissenters.clone(),
        compared,
        agreement,
        sampled: sample.drawn,
        coverage,
    })
}

/// Share of each cluster that a member labels.
fn coverage(
    member: &Partition,
    partition: &Partition,
    count: impl Fn(usize) -> u64,
) -> Vec<Option<f64>> {
    let k = partition.n_clusters().min(MOST_CLUSTERS);
    let (mut known, mut all) = (vec![0u64; k], vec![0u64; k]);
    for (i, (label, cluster)) in member.iter().zip(partition.iter()).enumerate() {
        if let Some(c) = cluster.filter(|&c| c < k) {
            all[c] += count(i);
            known[c] += if label.is_some() { count(i) } else { 0 };
        }
    }
    known.iter().zip(&all).map(|(&a, &b)| (b > 0).then(|| a as f64 / b as f64)).collect()
}
