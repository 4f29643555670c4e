//! What the feature `serde` reads, before it is checked.

use consilience_core::{Error, Memberships, Partition, Result};
use serde::Deserialize;

use crate::{
    AlternativeClustering, ClusterCount, CompletedRank, CrowdMethod, CrowdRates, CrowdResult,
    WorkerRates,
};

fn probability(value: f64, what: &str) -> Result<f64> {
    if !(0.0..=1.0).contains(&value) {
        return Err(Error::invalid(format!("{what} is {value}; expected a probability")));
    }
    Ok(value)
}

fn finite(value: f64, what: &str) -> Result<f64> {
    if !value.is_finite() {
        return Err(Error::invalid(format!("{what} is {value}; expected a finite number")));
    }
    Ok(value)
}

fn check_lengths(partition: &Partition, memberships: &Memberships) -> Result<()> {
    if partition.n_objects() != memberships.n_objects() {
        return Err(Error::shape(format!(
            "a partition of {} objects, memberships of {}",
            partition.n_objects(),
            memberships.n_objects()
        )));
    }
    Ok(())
}

#[derive(Deserialize)]
pub(crate) struct CrowdRatesFields {
    same_together: f64,
    same_apart: f64,
}

impl TryFrom<CrowdRatesFields> for CrowdRates {
    type Error = Error;

    fn try_from(fields: CrowdRatesFields) -> Result<Self> {
        Ok(CrowdRates {
            same_together: probability(fields.same_together, "same_together")?,
            same_apart: probability(fields.same_apart, "same_apart")?,
        })
    }
}

#[derive(Deserialize)]
pub(crate) struct WorkerRatesFields {
    worker: usize,
    answers: usize,
    same_together: f64,
    same_apart: f64,
    evidence: f64,
    own_information: f64,
}

impl TryFrom<WorkerRatesFields> for WorkerRates {
    type Error = Error;

    fn try_from(fields: WorkerRatesFields) -> Result<Self> {
        Ok(WorkerRates {
            worker: fields.worker,
            answers: fields.answers,
            same_together: probability(fields.same_together, "same_together")?,
            same_apart: probability(fields.same_apart, "same_apart")?,
            evidence: finite(fields.evidence, "evidence")?,
            own_information: finite(fields.own_information, "own_information")?,
        })
    }
}

#[derive(Deserialize)]
pub(crate) struct AlternativeClusteringFields {
    partition: Partition,
    memberships: Memberships,
    workers: Vec<usize>,
    gain: f64,
    significance: f64,
}

impl TryFrom<AlternativeClusteringFields> for AlternativeClustering {
    type Error = Error;

    fn try_from(fields: AlternativeClusteringFields) -> Result<Self> {
        check_lengths(&fields.partition, &fields.memberships)?;
        Ok(AlternativeClustering {
            partition: fields.partition,
            memberships: fields.memberships,
            workers: fields.workers,
            gain: finite(fields.gain, "gain")?,
            significance: fields.significance,
        })
    }
}

#[derive(Deserialize)]
pub(crate) struct ClusterCountFields {
    expected: f64,
    probabilities: Vec<f64>,
}

impl TryFrom<ClusterCountFields> for ClusterCount {
    type Error = Error;

    fn try_from(fields: ClusterCountFields) -> Result<Self> {
        let ClusterCountFields { expected, probabilities } = fields;
        probabilities.iter().try_for_each(|&p| probability(p, "a probability").map(|_| ()))?;
        Ok(ClusterCount { expected: finite(expected, "expected")?, probabilities })
    }
}

#[derive(Deserialize)]
pub(crate) struct CompletedRankFields {
    rank: usize,
    eigenvalues: Vec<f64>,
    noise_floor: f64,
}

impl TryFrom<CompletedRankFields> for CompletedRank {
    type Error = Error;

    fn try_from(fields: CompletedRankFields) -> Result<Self> {
        let CompletedRankFields { rank, eigenvalues, noise_floor } = fields;
        eigenvalues.iter().try_for_each(|&x| finite(x, "an eigenvalue").map(|_| ()))?;
        Ok(CompletedRank { rank, eigenvalues, noise_floor: finite(noise_floor, "noise_floor")? })
    }
}

#[derive(Deserialize)]
pub(crate) struct CrowdResultFields {
    partition: Partition,
    memberships: Memberships,
    method: CrowdMethod,
    workers: Vec<WorkerRates>,
    crowd_rates: CrowdRates,
    alternative: Option<AlternativeClustering>,
    #[serde(default)]
    evidence: Vec<(String, f64)>,
    held_out: Vec<(String, f64)>,
    penalty_factor: Option<f64>,
    #[serde(default)]
    cluster_count: Option<ClusterCount>,
    #[serde(default)]
    completed_rank: Option<CompletedRank>,
    #[serde(default)]
    copies: Vec<Vec<usize>>,
}

impl TryFrom<CrowdResultFields> for CrowdResult {
    type Error = Error;

    fn try_from(fields: CrowdResultFields) -> Result<Self> {
        check_lengths(&fields.partition, &fields.memberships)?;
        if let Some(other) = &fields.alternative
            && other.partition.n_objects() != fields.partition.n_objects()
        {
            return Err(Error::shape(format!(
                "an alternative of {} objects beside a partition of {}",
                other.partition.n_objects(),
                fields.partition.n_objects()
            )));
        }
        Ok(CrowdResult {
            partition: fields.partition,
            memberships: fields.memberships,
            method: fields.method,
            workers: fields.workers,
            crowd_rates: fields.crowd_rates,
            alternative: fields.alternative,
            evidence: fields.evidence,
            held_out: fields.held_out,
            penalty_factor: fields.penalty_factor,
            cluster_count: fields.cluster_count,
            completed_rank: fields.completed_rank,
            copies: fields.copies,
        })
    }
}
