//! What every base clusterer does with its input first.

use consilience_core::{
    Dense, Fit, Partition, Report, Result, Seed, Status, at_least_one, ensure, with_rows,
};
use consilience_num::kmeans::{KMeansFit, KMeansOptions};
use consilience_num::place::Place;
use ndarray::Array2;

/// Why a clustering of features has fewer clusters than asked for.
pub(crate) const FEWER: &str = "the features distinguish no more objects";

/// Refuses loops without an iteration, and tolerances below 0.
pub(crate) fn check_loop(max_iterations: usize, tolerance: f64) -> Result<()> {
    at_least_one("max_iterations", max_iterations)?;
    ensure!(tolerance >= 0.0, invalid("tolerance {tolerance}; expected at least 0"));
    Ok(())
}

/// The table in double precision, in its [`Place`].
pub(crate) fn unit_table(features: &Dense<'_>) -> Array2<f64> {
    with_rows!(features, |x| Place::of(x.view()).rows(x.view()))
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
