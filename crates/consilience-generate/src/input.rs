//! What every base clusterer does with its input first.

use consilience_core::{
    Error, ErrorKind, Features, Fit, Observer, Partition, Report, Result, Seed, Status,
};
use consilience_num::Float;
use consilience_num::kmeans::{KMeansFit, KMeansOptions};
use ndarray::Array2;

/// Runs one expression with the table in whatever precision it comes.
macro_rules! with_rows {
    ($features:expr, |$x:ident| $body:expr) => {
        match $features {
            consilience_core::Features::F32($x) => $body,
            consilience_core::Features::F64($x) => $body,
        }
    };
}
pub(crate) use with_rows;

/// Refuses bad features, and `clusters` outside `1..=n`.
pub(crate) fn check(features: &Features<'_>, clusters: usize) -> Result<()> {
    features.check()?;
    let n = features.n_objects();
    if clusters == 0 || clusters > n {
        return Err(Error::invalid(format!(
            "{clusters} clusters of {n} objects; expected 1..={n}"
        )));
    }
    if n >= u32::MAX as usize {
        return Err(Error::new(
            ErrorKind::TooLarge,
            format!("{n} objects; at most {} are supported", u32::MAX - 1),
        ));
    }
    Ok(())
}

/// Refuses a count of 0.
pub(crate) fn at_least_one(name: &str, value: usize) -> Result<()> {
    if value == 0 {
        return Err(Error::invalid(format!("{name} is 0; expected at least 1")));
    }
    Ok(())
}

/// Remembers that the observer asked to stop, also where it later takes that back.
pub(crate) struct Watch<'a> {
    observer: &'a dyn Observer,
    stage: &'static str,
    total: usize,
    stopped: bool,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(observer: &'a dyn Observer, stage: &'static str, total: usize) -> Self {
        Watch { observer, stage, total, stopped: false }
    }

    /// Reports progress; whether to go on.
    pub(crate) fn go_on(&mut self, done: usize) -> bool {
        self.stopped = self.stopped || self.observer.cancelled();
        if !self.stopped {
            self.observer.progress(self.stage, done.min(self.total), self.total);
        }
        !self.stopped
    }

    pub(crate) fn finish(self) -> Result<()> {
        if self.stopped { Err(Error::cancelled()) } else { Ok(()) }
    }
}

/// The power of two that brings the largest entry just to 1 or below, so that squares neither
/// overflow nor vanish; 1 where all entries are 0. Partitions do not depend on the unit.
pub(crate) fn unit(features: &Features<'_>) -> f64 {
    let largest = with_rows!(features, |x| x.iter().fold(0.0f64, |m, v| m.max(v.to_f64().abs())));
    if largest > 0.0 {
        2f64.powi((-largest.log2().ceil()).clamp(-1022.0, 1022.0) as i32)
    } else {
        1.0
    }
}

/// The table in double precision, times its [`unit`].
pub(crate) fn unit_table(features: &Features<'_>) -> Array2<f64> {
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
    report.expect_clusters(
        clusters,
        partition.n_clusters(),
        "the features distinguish no more objects",
    );
    Ok(Fit::new(partition, report))
}

/// A partition from the numbers of the kernel.
pub(crate) fn partition(labels: &[u32]) -> Result<Partition> {
    Partition::from_fn(labels.len(), |i| Some(u64::from(labels[i])))
}
