//! Parallel reductions whose bits do not depend on the number of threads.
//!
//! Floating-point sums change with their grouping, so a reduction that splits by thread gives other
//! bits on another machine. Here the grouping is fixed by a chunk length: every chunk is computed
//! on its own, and the results are folded in the order of the chunks.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Chunks in flight per thread: enough that one slow chunk does not leave the other threads idle,
/// few enough that the partial results stay small beside the input.
const WINDOW_PER_THREAD: usize = 8;

/// Maps fixed-size chunks of `0..n` in parallel and folds the results in chunk order.
///
/// With chunks `C_0, C_1, ...` of length `chunk` (the last one shorter, `chunk = 0` read as 1) the
/// result is
///
/// ```text
/// fold(... fold(fold(init, map(C_0)), map(C_1)) ..., map(C_last))
/// ```
///
/// whatever the number of threads, so the bits are equal on any rayon pool. No more than a window
/// of partial results (8 per thread) is alive at once. `map` runs on the current rayon pool, `fold`
/// on the calling thread.
///
/// ```
/// use consilience::num::reduce::ordered_chunks;
///
/// // Length and sum of each chunk, in order.
/// let chunks = ordered_chunks(
///     7,
///     3,
///     |rows| (rows.len(), rows.sum::<usize>()),
///     Vec::new(),
///     |mut seen, part| {
///         seen.push(part);
///         seen
///     },
/// );
/// assert_eq!(chunks, vec![(3, 3), (3, 12), (1, 6)]);
/// ```
///
/// # Complexity
/// One call of `map` and one of `fold` for each of the `ceil(n / chunk)` chunks; memory for
/// `8 * threads` partial results.
pub fn ordered_chunks<T, A, M, F>(n: usize, chunk: usize, map: M, init: A, mut fold: F) -> A
where
    T: Send,
    M: Fn(Range<usize>) -> T + Sync,
    F: FnMut(A, T) -> A,
{
    let chunk = chunk.max(1);
    let chunks = n.div_ceil(chunk);
    let range = |c: usize| c * chunk..n.min(c.saturating_add(1).saturating_mul(chunk));
    let mut total = init;
    if chunks <= 1 {
        // Nothing to share out: skip the trip through the thread pool.
        return if chunks == 1 { fold(total, map(range(0))) } else { total };
    }
    let window = rayon::current_num_threads().saturating_mul(WINDOW_PER_THREAD).max(1);
    let mut first = 0;
    while first < chunks {
        let last = chunks.min(first.saturating_add(window));
        let parts: Vec<Mutex<Option<T>>> = (first..last).map(|_| Mutex::new(None)).collect();
        each(parts.len(), &|at| {
            let part = map(range(first + at));
            *parts[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(part);
        });
        for part in parts.into_iter().filter_map(|p| p.into_inner().ok().flatten()) {
            total = fold(total, part);
        }
        first = last;
    }
    total
}

/// Calls `f(0)`, ..., `f(n - 1)`, in any order, on the threads of the current rayon pool.
///
/// For tasks that are worth a virtual call each. What is shared out is compiled here once: a
/// parallel iterator is some two thousand lines of intermediate code wherever one is written.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let sum = AtomicUsize::new(0);
/// consilience::num::reduce::each(5, &|i| {
///     sum.fetch_add(i, Ordering::Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 10);
/// ```
///
/// # Complexity
/// One call of `f` for each number.
pub fn each(n: usize, f: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().with_max_len(1).for_each(f);
}

/// Calls `f(c, c-th chunk)` for the chunks of a slice, as [`each`] does for numbers.
///
/// ```
/// let mut x = [0; 5];
/// consilience::num::reduce::each_chunk(&mut x, 2, &|c, x| x.fill(c));
/// assert_eq!(x, [0, 0, 1, 1, 2]);
/// ```
///
/// # Complexity
/// One call of `f` for each chunk; some 32 bytes for each of them meanwhile.
///
/// # Panics
/// With chunks of length 0.
pub fn each_chunk<T: Send>(x: &mut [T], chunk: usize, f: &(dyn Fn(usize, &mut [T]) + Sync)) {
    if x.len() <= chunk && !x.is_empty() {
        // Nothing to share out.
        return f(0, x);
    }
    let chunks: Vec<Mutex<&mut [T]>> = x.chunks_mut(chunk).map(Mutex::new).collect();
    each(chunks.len(), &|c| f(c, &mut chunks[c].lock().unwrap_or_else(PoisonError::into_inner)));
}

/// Sums `f` over fixed-size chunks of `0..n`: `f(C_0) + f(C_1) + ...`, added from left to right.
///
/// `f` gets the range of one chunk and returns its sum. The bits are equal at any number of
/// threads, since neither the chunks nor the order of the additions depend on it.
///
/// ```
/// use consilience::num::reduce::ordered_sum;
///
/// let x: Vec<f64> = (1..=1000).map(f64::from).collect();
/// let sum = ordered_sum(x.len(), 64, |rows| x[rows].iter().sum());
/// assert_eq!(sum, 500_500.0);
/// ```
///
/// # Complexity
/// One call of `f` for each of the `ceil(n / chunk)` chunks; constant memory beside them.
pub fn ordered_sum<F>(n: usize, chunk: usize, f: F) -> f64
where
    F: Fn(Range<usize>) -> f64 + Sync,
{
    ordered_chunks(n, chunk, f, 0.0, |total, part| total + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_pool<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
    }

    /// Values of very different size, so that another grouping shows in the bits.
    fn rough(i: usize) -> f64 {
        let wave = ((i as f64) * 0.731).sin();
        wave * 10f64.powi((i % 17) as i32 - 8)
    }

    #[test]
    fn bits_are_equal_at_any_thread_count() {
        for (n, chunk) in [(0, 4), (1, 4), (10_007, 1), (10_007, 13), (10_007, 100_000), (64, 0)] {
            let sum = || ordered_sum(n, chunk, |r| r.map(rough).sum());
            let expected = on_pool(1, sum).to_bits();
            for threads in [2, 3, 8] {
                assert_eq!(
                    on_pool(threads, sum).to_bits(),
                    expected,
                    "n {n} chunk {chunk} at {threads}"
                );
            }
        }
    }

    #[test]
    fn grouping_is_the_documented_one() {
        let chunk = 7;
        let mut expected = 0.0;
        for first in (0..1000).step_by(chunk) {
            expected += (first..1000.min(first + chunk)).map(rough).sum::<f64>();
        }
        assert_eq!(
            ordered_sum(1000, chunk, |r| r.map(rough).sum()).to_bits(),
            f64::to_bits(expected)
        );
    }

    #[test]
    fn every_index_is_seen_once_and_in_order() {
        for threads in [1, 2, 3, 8] {
            for n in [0, 1, 2, 99, 100, 101, 1000] {
                let seen = on_pool(threads, || {
                    ordered_chunks(
                        n,
                        10,
                        |r| r.collect::<Vec<_>>(),
                        Vec::new(),
                        |mut all, part| {
                            all.extend(part);
                            all
                        },
                    )
                });
                assert_eq!(seen, (0..n).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn no_more_than_a_window_is_alive() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let alive = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        on_pool(2, || {
            ordered_chunks(
                1000,
                1,
                |_| {
                    let now = alive.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                },
                (),
                |(), ()| {
                    alive.fetch_sub(1, Ordering::SeqCst);
                },
            );
        });
        assert!(most.load(Ordering::SeqCst) <= 2 * WINDOW_PER_THREAD);
    }
}
