//! What every method does with its input first.

use consilience_core::{Error, ErrorKind, Features, Observer, Result};
use ndarray::Array2;

use crate::SideInformation;

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
pub(crate) fn check_clusters(features: &Features<'_>, clusters: usize) -> Result<()> {
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

/// Refuses side information about another number of objects than there are rows.
pub(crate) fn check_side(features: &Features<'_>, side: &SideInformation) -> Result<()> {
    if side.n_objects() != features.n_objects() {
        return Err(Error::shape(format!(
            "side information about {} objects, features of {}",
            side.n_objects(),
            features.n_objects()
        )));
    }
    Ok(())
}

/// Refuses new objects whose number of features is another than at the fit.
pub(crate) fn check_width(features: &Features<'_>, expected: usize) -> Result<()> {
    if features.n_features() != expected {
        return Err(Error::shape(format!(
            "{} features, {expected} at the fit",
            features.n_features()
        )));
    }
    Ok(())
}

/// The table in double precision.
pub(crate) fn table(features: &Features<'_>) -> Array2<f64> {
    with_rows!(features, |x| x.mapv(f64::from))
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

    /// Reports progress; the error where the observer asked to stop.
    pub(crate) fn step(&mut self, done: usize) -> Result<()> {
        self.stopped = self.stopped || self.observer.cancelled();
        if self.stopped {
            return Err(Error::cancelled());
        }
        self.observer.progress(self.stage, done.min(self.total), self.total);
        Ok(())
    }
}
