//! What every base clusterer does with its input first.

use consilience_core::{Error, ErrorKind, Features, Observer, Partition, Result};
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
        return Err(Error::invalid(format!("{clusters} clusters of {n} objects; expected 1..={n}")));
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

/// The table in double precision, multiplied by a power of two so that no entry exceeds 1 and squares
/// neither overflow nor vanish. Partitions do not depend on the unit.
pub(crate) fn unit_table(features: &Features<'_>) -> Array2<f64> {
    let mut x = with_rows!(features, |x| x.mapv(f64::from));
    let largest = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest > 0.0 {
        let scale = 2f64.powi((-largest.log2().ceil()).clamp(-1022.0, 1022.0) as i32);
        x.mapv_inplace(|v| v * scale);
    }
    x
}

/// A partition from the numbers of the kernel.
pub(crate) fn partition(labels: &[u32]) -> Result<Partition> {
    Partition::from_fn(labels.len(), |i| Some(u64::from(labels[i])))
}
