//! When other threads take part.

/// With fewer labels than this one thread is faster.
pub(crate) const PARALLEL_FROM: usize = 1 << 16;

/// Runs work within the thread pool as a whole, so that its steps wake other threads only once.
pub(crate) fn in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::join(work, || ()).0
}
