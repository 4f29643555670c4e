//! When work is worth other threads.

/// Fewer labels than this are not worth waking another thread.
pub(crate) const PARALLEL_FROM: usize = 1 << 16;

/// Runs work within the thread pool as a whole, so that its steps wake other threads only once.
pub(crate) fn in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::join(work, || ()).0
}
