use std::fmt;

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
    /// `done` of `total` units of the named stage are finished. The total is an upper bound: what
    /// settles early ends before it, as k-means may after 201 of 300 iterations. Stages may come
    /// again, one for each part or start, and then begin anew.
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

/// Hears no progress of a part, but stops it when the whole is stopped: for parts that run side by
/// side, whose progress would come in turns.
///
/// ```
/// use consilience::Observer;
/// use consilience::core::OnlyCancels;
///
/// struct Stopped;
/// impl Observer for Stopped {
///     fn progress(&self, stage: &str, _: usize, _: usize) {
///         unreachable!("{stage}");
///     }
///     fn cancelled(&self) -> bool {
///         true
///     }
/// }
/// let part = OnlyCancels(&Stopped);
/// part.progress("half", 1, 2);
/// assert!(part.check().is_err());
/// ```
pub struct OnlyCancels<'a>(pub &'a dyn Observer);

impl fmt::Debug for OnlyCancels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnlyCancels").finish_non_exhaustive()
    }
}

impl Observer for OnlyCancels<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }

    fn check(&self) -> Result<()> {
        self.0.check()
    }
}
