use crate::{Error, Result};

/// Watches a long computation: progress goes out, cancellation comes in.
///
/// Every method has a default, and `()` observes nothing. Observers are called from worker threads.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use consilience::Observer;
///
/// struct StopButton(AtomicBool);
/// impl Observer for StopButton {
///     fn cancelled(&self) -> bool {
///         self.0.load(Ordering::Relaxed)
///     }
/// }
/// let button = StopButton(AtomicBool::new(true));
/// assert!(button.check().is_err());
/// ```
#[doc(alias = "Progress")]
pub trait Observer: Sync {
    /// `done` of `total` units of the named stage are finished.
    fn progress(&self, stage: &str, done: usize, total: usize) {
        let _ = (stage, done, total);
    }

    /// Whether to stop as soon as possible with
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    fn cancelled(&self) -> bool {
        false
    }

    /// The error to return where [`Observer::cancelled`] says so.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    fn check(&self) -> Result<()> {
        if self.cancelled() { Err(Error::cancelled()) } else { Ok(()) }
    }
}

impl Observer for () {}
