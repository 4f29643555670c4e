//! Some objects in place of all.

use consilience_core::{Ensemble, Microclusters, Partition, Result, Seed, ensure};
use consilience_trust::RowSample;

/// Up to so many microclusters pictures and comparisons are about all of them.
const MOST: usize = 2_000;
/// Beyond, so many objects are drawn.
const DRAWN: usize = 1_000;

/// Rows with counts, and the result on them.
pub(super) struct Sample {
    /// The members that count, those of weight 0 left out.
    pub(super) rows: Ensemble,
    /// The result.
    pub(super) result: Partition,
    /// The cluster of each row, as the result numbers it.
    pub(super) clusters: Vec<usize>,
    /// Objects of the sample.
    pub(super) objects: u64,
    /// Whether it is only some of the objects.
    pub(super) drawn: bool,
}

impl Sample {
    /// Of the objects that the result and some member label.
    pub(super) fn of(ensemble: &Ensemble, result: &Partition, seed: Seed) -> Result<Self> {
        // The result as one more member: a row then lies in one of its clusters.
        let mut with_result = ensemble.clone();
        with_result.push(result.clone())?;
        let nodes = Microclusters::of(&with_result)?;
        let objects = if nodes.n_nodes() <= MOST { MOST } else { DRAWN };
        let sample = RowSample::of(&nodes, objects, seed)?;
        let labelled = |row: usize| {
            let (own, members) = sample.rows.members().split_last()?;
            own.label(row)?;
            members.iter().any(|m| m.label(row).is_some()).then_some(row)
        };
        let kept: Vec<usize> = (0..sample.rows.n_objects()).filter_map(labelled).collect();
        ensure!(
            !kept.is_empty(),
            empty("no object is labelled both by a member and in the result")
        );
        let mut rows = sample.rows.select_objects(&kept)?;
        let clusters = kept.iter().filter_map(|&row| result.label(sample.objects[row])).collect();
        let objects = rows.total_count();
        // Members of weight 0 are not among the rows.
        let result = rows.remove(rows.n_members() - 1)?;
        Ok(Sample { rows, result, clusters, objects, drawn: sample.drawn })
    }

    /// How many objects each row stands for.
    pub(super) fn weights(&self) -> Vec<f64> {
        match self.rows.counts() {
            Some(counts) => counts.iter().map(|&c| c as f64).collect(),
            None => vec![1.0; self.rows.n_objects()],
        }
    }
}
