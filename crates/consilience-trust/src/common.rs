//! What is counted here and in the report alike.

use consilience_core::scores::Contingency;
use consilience_core::{Ensemble, ErrorKind, Partition, Result};

/// How many objects the rows of this kind stand for.
pub fn count(ensemble: &Ensemble, kind: impl Fn(usize) -> bool) -> u64 {
    let rows = (0..ensemble.n_objects()).filter(|&i| kind(i));
    rows.map(|i| ensemble.counts().map_or(1, |counts| counts[i])).sum()
}

/// The mean of what there is, each as often as its weight says where there are weights.
pub fn mean(values: &[Option<f64>], weights: Option<&[f64]>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for (u, value) in values.iter().enumerate() {
        if let Some(value) = *value {
            let weight = weights.map_or(1.0, |weights| weights[u]);
            sum += weight * value;
            count += weight;
        }
    }
    (count > 0.0).then(|| sum / count)
}

/// How the clusters of two clusterings of rows, which may stand for many objects, overlap; `None`
/// where no object is labelled in both.
pub fn overlap(
    a: &Partition,
    b: &Partition,
    counts: Option<&[u64]>,
) -> Result<Option<Contingency>> {
    match Contingency::with_counts(a, b, counts) {
        Err(e) if e.kind() == ErrorKind::Empty => Ok(None),
        table => table.map(Some),
    }
}

/// Their adjusted Rand index, likewise.
pub fn adjusted_rand(a: &Partition, b: &Partition, counts: Option<&[u64]>) -> Result<Option<f64>> {
    Ok(overlap(a, b, counts)?.map(|table| table.adjusted_rand()))
}
