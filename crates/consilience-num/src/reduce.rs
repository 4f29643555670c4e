//! Parallel reductions whose bits do not depend on the number of threads.
//!
//! Floating-point sums change with their grouping, so a reduction that splits by thread gives other
//! bits on another machine. Here the grouping is fixed by a chunk length: every chunk is computed
//! on its own, and the results are folded in the order of the chunks.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
        let parts = map_each(last - first, &|at| map(range(first + at)));
        total = parts.into_iter().fold(total, &mut fold);
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
    match n {
        // Nothing to share out: skip the trip through the thread pool.
        0 | 1 => (0..n).for_each(f),
        _ => (0..n).into_par_iter().with_max_len(1).for_each(f),
    }
}

/// `f(0)`, ..., `f(n - 1)` in this order, computed as [`each`] does.
///
/// ```
/// assert_eq!(consilience::num::reduce::map_each(4, &|i| i * i), [0, 1, 4, 9]);
/// ```
///
/// # Complexity
/// One call of `f` for each number.
pub fn map_each<T: Send>(n: usize, f: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let places: Vec<Mutex<Option<T>>> = (0..n).map(|_| Mutex::new(None)).collect();
    each(n, &|i| {
        let value = f(i);
        *places[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    });
    places.into_iter().filter_map(|place| place.into_inner().ok().flatten()).collect()
}

/// As [`map_each`], for what may fail: after a failure no more is begun, and it is returned, that
/// of the lowest number where there are several.
///
/// ```
/// use consilience::num::reduce::try_map_each;
///
/// let below = |limit: usize| move |i: usize| if i < limit { Ok(i) } else { Err("too large") };
/// assert_eq!(try_map_each(4, &below(9)), Ok(vec![0, 1, 2, 3]));
/// assert_eq!(try_map_each(4, &below(2)), Err("too large"));
/// ```
///
/// # Complexity
/// At most one call of `f` for each number.
///
/// # Errors
/// Those of `f`.
pub fn try_map_each<T: Send, E: Send>(
    n: usize,
    f: &(dyn Fn(usize) -> Result<T, E> + Sync),
) -> Result<Vec<T>, E> {
    try_map_few(n, n, f)
}

/// As [`try_map_each`], with no more than `abreast` of them (or one) on their way at the same time:
/// for what takes much memory, also where a thread that waits inside of one would begin another.
///
/// ```
/// use consilience::num::reduce::try_map_few;
///
/// let squares = try_map_few(4, 2, &|i| Ok::<usize, ()>(i * i));
/// assert_eq!(squares, Ok(vec![0, 1, 4, 9]));
/// ```
///
/// # Complexity
/// At most one call of `f` for each number.
///
/// # Errors
/// Those of `f`.
pub fn try_map_few<T: Send, E: Send>(
    n: usize,
    abreast: usize,
    f: &(dyn Fn(usize) -> Result<T, E> + Sync),
) -> Result<Vec<T>, E> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let places: Vec<Mutex<Option<Result<T, E>>>> = (0..n).map(|_| Mutex::new(None)).collect();
    let workers = abreast.clamp(1, n.max(1));
    each(workers, &|_| {
        while !failed.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = places.get(i) else { break };
            let value = f(i);
            failed.fetch_or(value.is_err(), Ordering::Relaxed);
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            if workers == n {
                // A thread that waits inside of another number goes back to it.
                break;
            }
        }
    });
    places.into_iter().filter_map(|place| place.into_inner().ok().flatten()).collect()
}

/// As [`map_each`], for what takes less than a virtual call is worth: `together` of them are one
/// task.
///
/// ```
/// assert_eq!(consilience::num::reduce::map_together(4, 3, |i| i * i), [0, 1, 4, 9]);
/// ```
///
/// # Complexity
/// One call of `f` for each number.
///
/// # Panics
/// With 0 of them together.
pub fn map_together<T: Send>(n: usize, together: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let some = |c: usize| -> Vec<T> { (c * together..n.min((c + 1) * together)).map(&f).collect() };
    map_each(n.div_ceil(together), &some).into_iter().flatten().collect()
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

/// As [`each_chunk`], or without `parallel` one chunk after the other on this thread.
///
/// ```
/// let mut x = [0; 5];
/// consilience::num::reduce::each_chunk_if(false, &mut x, 2, &|c, x| x.fill(c));
/// assert_eq!(x, [0, 0, 1, 1, 2]);
/// ```
///
/// # Complexity
/// As [`each_chunk`].
///
/// # Panics
/// As [`each_chunk`].
pub fn each_chunk_if<T: Send>(
    parallel: bool,
    x: &mut [T],
    chunk: usize,
    f: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    if parallel {
        each_chunk(x, chunk, f);
    } else {
        x.chunks_mut(chunk).enumerate().for_each(|(c, x)| f(c, x));
    }
}

/// What is done with a chunk of each of two slices.
type OnPair<'a, T, U> = dyn Fn(usize, &mut [T], &mut [U]) + Sync + 'a;

/// Calls `f(c, c-th chunk of x, c-th chunk of y)`, as [`each_chunk`] does for one slice; chunks
/// that the other slice does not have are left out.
///
/// ```
/// let (mut x, mut y) = ([0; 4], [0; 2]);
/// consilience::num::reduce::each_chunk_pair(&mut x, 2, &mut y, 1, &|c, x, y| {
///     x.fill(c);
///     y.fill(10 * c);
/// });
/// assert_eq!((x, y), ([0, 0, 1, 1], [0, 10]));
/// ```
///
/// # Complexity
/// As [`each_chunk`].
///
/// # Panics
/// As [`each_chunk`].
pub fn each_chunk_pair<T: Send, U: Send>(
    x: &mut [T],
    of_x: usize,
    y: &mut [U],
    of_y: usize,
    f: &OnPair<'_, T, U>,
) {
    let chunks = x.chunks_mut(of_x).zip(y.chunks_mut(of_y));
    let pairs: Vec<Mutex<(&mut [T], &mut [U])>> = chunks.map(Mutex::new).collect();
    each(pairs.len(), &|c| {
        let (x, y) = &mut *pairs[c].lock().unwrap_or_else(PoisonError::into_inner);
        f(c, x, y);
    });
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
    use crate::testing::on_pool;

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

    /// Also where those on their way wait for tasks of their own, and threads look for work.
    #[test]
    fn no_more_are_on_their_way_than_may_be() {
        for abreast in [0, 1, 3, 40] {
            let [now, most] = [const { AtomicUsize::new(0) }; 2];
            let task = |i: usize| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let sum: usize = map_each(50, &|j| i * j).into_iter().sum();
                now.fetch_sub(1, Ordering::SeqCst);
                if sum == 1225 * 29 { Err(i) } else { Ok(sum) }
            };
            let found = on_pool(4, || try_map_few(29, abreast, &task));
            assert_eq!(found, Ok((0..29).map(|i| 1225 * i).collect()));
            assert!(most.load(Ordering::SeqCst) <= abreast.max(1));
            assert_eq!(on_pool(4, || try_map_few(60, abreast, &task)), Err(29));
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
        use std::sync::atomic::AtomicUsize;
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
