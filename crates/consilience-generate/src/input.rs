//! What every base clusterer does with its input first.

use consilience_core::{Dense, Fit, Partition, Report, Result, Seed, Status, with_rows};
use consilience_num::Float;
use consilience_num::kmeans::{KMeansFit, KMeansOptions};
use ndarray::Array2;

/// Why a clustering of features has fewer clusters than asked for.
pub(crate) const FEWER: &str = "the features distinguish no more objects";

/// The power of two that brings the largest entry just to 1 or below, so that squares neither
/// overflow nor vanish; 1 where all entries are 0. Partitions do not depend on the unit.
pub(crate) fn unit(features: &Dense<'_>) -> f64 {
    let largest = with_rows!(features, |x| x.iter().fold(0.0f64, |m, v| m.max(v.to_f64().abs())));
    if largest > 0.0 {
        2f64.powi((-largest.log2().ceil()).clamp(-1022.0, 1022.0) as i32)
    } else {
        1.0
    }
}

/// The table in double precision, times its [`unit`].
pub(crate) fn unit_table(features: &Dense<'_>) -> Array2<f64> {
    let unit = unit(features);
    with_rows!(features, |x| x.mapv(|v| v.to_f64() * unit))
}

/// The k-means that ends a spectral or kernel method.
pub(crate) fn last_kmeans(clusters: usize, restarts: usize, seed: Seed) -> KMeansOptions {
    KMeansOptions::new(clusters)
        .restarts(restarts)
        .seed(seed)
        .tolerance(1e-4)
        .parallel(rayon::current_num_threads() > 1)
}

/// What a k-means says about itself.
pub(crate) fn tell<F>(report: &mut Report, found: &KMeansFit<F>) {
    report.iterations = found.iterations;
    report.objective = Some(found.inertia);
    if !found.converged {
        report.status = Status::MaxIterations;
    }
}

/// The end of a fit: the partition that the numbers mean, and whether it has the clusters that were
/// asked for.
pub(crate) fn finish(
    labels: &[u32],
    clusters: usize,
    mut report: Report,
) -> Result<Fit<Partition>> {
    let partition = partition(labels)?;
    report.expect_clusters(clusters, partition.n_clusters(), FEWER);
    Ok(Fit::new(partition, report))
}

/// A partition from the numbers of the kernel.
pub(crate) fn partition(labels: &[u32]) -> Result<Partition> {
    Partition::from_fn(labels.len(), |i| Some(u64::from(labels[i])))
}
