use crate::{Error, Observer, Result};

/// Steps of a stage, reported to an [`Observer`]; remembers that it asked to stop, also where it
/// later takes that back.
///
/// ```
/// use consilience::{ErrorKind, Observer};
/// use consilience::core::Watch;
///
/// struct Impatient;
/// impl Observer for Impatient {
///     fn cancelled(&self) -> bool {
///         true
///     }
/// }
///
/// let mut watch = Watch::new(&(), "sweeps", 10);
/// watch.step(0)?;
/// let mut stopped = Watch::new(&Impatient, "sweeps", 10);
/// assert!(!stopped.go_on(0));
/// assert_eq!(stopped.finish().unwrap_err().kind(), ErrorKind::Cancelled);
/// # Ok::<(), consilience::Error>(())
/// ```
pub struct Watch<'a> {
    observer: &'a dyn Observer,
    stage: &'static str,
    total: usize,
    stopped: bool,
}

impl<'a> Watch<'a> {
    /// Watches a stage of `total` steps.
    pub fn new(observer: &'a dyn Observer, stage: &'static str, total: usize) -> Self {
        Watch { observer, stage, total, stopped: false }
    }

    /// The observer, for a step that watches by itself.
    pub fn observer(&self) -> &'a dyn Observer {
        self.observer
    }

    /// Reports progress.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) where the observer asked to stop, now
    /// or before.
    pub fn step(&mut self, done: usize) -> Result<()> {
        if self.go_on(done) { Ok(()) } else { Err(Error::cancelled()) }
    }

    /// Reports progress; whether to go on.
    pub fn go_on(&mut self, done: usize) -> bool {
        self.stopped = self.stopped || self.observer.cancelled();
        if !self.stopped {
            self.observer.progress(self.stage, done.min(self.total), self.total);
        }
        !self.stopped
    }

    /// The end of the stage.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) where the observer asked to stop.
    pub fn finish(self) -> Result<()> {
        if self.stopped { Err(Error::cancelled()) } else { Ok(()) }
    }
}
