use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

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

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("stage", &self.stage)
            .field("total", &self.total)
            .field("stopped", &self.stopped)
            .finish_non_exhaustive()
    }
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

/// Whether to stop, asked from many threads inside of long steps; remembers that an [`Observer`]
/// asked for it, also where it later takes that back.
///
/// ```
/// use consilience::core::Stop;
///
/// let stop = Stop::new(&());
/// let sum: u64 = (0..1_000_000).take_while(|i| i % 4096 != 0 || !stop.asked()).sum();
/// stop.check()?;
/// assert_eq!(sum, 499_999_500_000);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// One call of [`Observer::cancelled`] per question.
pub struct Stop<'a> {
    observer: &'a dyn Observer,
    asked: AtomicBool,
}

impl fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl<'a> Stop<'a> {
    /// Asks this observer.
    pub fn new(observer: &'a dyn Observer) -> Self {
        Stop { observer, asked: AtomicBool::new(false) }
    }

    /// Whether to leave the step at once; what it has found is thrown away.
    pub fn asked(&self) -> bool {
        // No other memory hangs on the flag: `check` comes after the threads have joined.
        if !self.asked.load(Ordering::Relaxed) && self.observer.cancelled() {
            self.asked.store(true, Ordering::Relaxed);
        }
        self.asked.load(Ordering::Relaxed)
    }

    /// The end of the step.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) where the observer asked to stop, now
    /// or before.
    pub fn check(&self) -> Result<()> {
        if self.asked() { Err(Error::cancelled()) } else { Ok(()) }
    }
}

/// Hears no progress, and remembers that it was asked to stop.
impl Observer for Stop<'_> {
    fn cancelled(&self) -> bool {
        self.asked()
    }
}

/// Asks an [`Observer`] now and then inside of a long step: at the first work that is told, and
/// again whenever some 2^24 units have been done since, which takes a core a few hundredths of a
/// second where a unit is a multiplication and an addition.
///
/// ```
/// use consilience::core::Pace;
///
/// let (mut pace, mut sum) = (Pace::new(&()), 0.0);
/// for row in [[1.0, 2.0], [3.0, 4.0]] {
///     pace.work(row.len())?;
///     sum += row[0] * row[1];
/// }
/// assert_eq!(sum, 14.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// One call of [`Observer::cancelled`] for every 2^24 units.
pub struct Pace<'a> {
    observer: &'a dyn Observer,
    left: usize,
}

impl fmt::Debug for Pace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pace").field("left", &self.left).finish_non_exhaustive()
    }
}

/// Units of work between two questions.
const WORK: usize = 1 << 24;

impl<'a> Pace<'a> {
    /// Asks this observer.
    pub fn new(observer: &'a dyn Observer) -> Self {
        Pace { observer, left: 0 }
    }

    /// So many units of work come next.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) where the observer was asked now and
    /// wants to stop.
    #[inline]
    pub fn work(&mut self, units: usize) -> Result<()> {
        if units < self.left {
            self.left -= units;
            return Ok(());
        }
        self.left = WORK;
        self.observer.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    /// Asks to stop once, at the question of this number, and takes that back.
    #[derive(Default)]
    struct Hesitant {
        at: usize,
        questions: AtomicUsize,
        told: Mutex<Vec<(String, usize, usize)>>,
    }

    impl Observer for Hesitant {
        fn progress(&self, stage: &str, done: usize, total: usize) {
            self.told.lock().unwrap().push((stage.to_owned(), done, total));
        }

        fn cancelled(&self) -> bool {
            self.questions.fetch_add(1, Ordering::Relaxed) == self.at
        }
    }

    #[test]
    fn steps_are_told_until_somebody_asked_to_stop() {
        let observer = Hesitant { at: 2, ..Hesitant::default() };
        let mut watch = Watch::new(&observer, "sweeps", 5);
        assert!(watch.step(1).is_ok() && watch.go_on(9));
        // Asked once: that it is taken back changes nothing.
        assert_eq!(watch.step(3).unwrap_err().kind(), ErrorKind::Cancelled);
        assert!(!watch.go_on(4) && watch.step(4).is_err());
        assert_eq!(watch.finish().unwrap_err().kind(), ErrorKind::Cancelled);
        let told = observer.told.into_inner().unwrap();
        assert_eq!(told, [("sweeps".to_owned(), 1, 5), ("sweeps".to_owned(), 5, 5)]);
        let mut watch = Watch::new(&(), "sweeps", 5);
        assert!(watch.go_on(5) && !watch.observer().cancelled());
        assert!(watch.finish().is_ok());
    }

    #[test]
    fn a_question_in_the_middle_of_a_step_is_remembered() {
        let observer = Hesitant { at: 1, ..Hesitant::default() };
        let stop = Stop::new(&observer);
        assert!(!stop.asked() && stop.asked() && stop.asked());
        assert_eq!(stop.check().unwrap_err().kind(), ErrorKind::Cancelled);
        // Who has the answer does not ask again.
        assert_eq!(observer.questions.load(Ordering::Relaxed), 2);
        assert!(Stop::new(&()).check().is_ok());
    }

    #[test]
    fn little_work_is_not_asked_about() {
        let never = Hesitant { at: usize::MAX, ..Hesitant::default() };
        let mut pace = Pace::new(&never);
        (0..3 * (WORK >> 10)).for_each(|_| pace.work(1 << 10).unwrap());
        assert_eq!(never.questions.into_inner(), 3);
        let observer = Hesitant { at: 1, ..Hesitant::default() };
        let mut pace = Pace::new(&observer);
        assert!(pace.work(5).is_ok() && pace.work(5).is_ok());
        assert_eq!(pace.work(usize::MAX).unwrap_err().kind(), ErrorKind::Cancelled);
    }
}
