//! k-means on rows that are computed when they are needed.

use std::ops::Range;

#[cfg(doc)]
use consilience_core::ErrorKind;
use consilience_core::{Observer, Result, Seed, Stop, ensure, room};
use ndarray::{Array2, ArrayView2};

use super::{KMeansFit, KMeansOptions, fit, try_assign};
use crate::eigen::end;
use crate::reduce::each_chunk_if;

/// Rows of a block: rows are independent of each other, so it has no influence on the bits.
const BLOCK: usize = 4096;
/// Objects that all rows may stand for: whole numbers up to here are exact in `f64`.
const MOST_OBJECTS: u128 = 1 << 53;

/// Rows that need not be stored: each can be written down at any time, always with the same bits.
pub trait RowSource: Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;
    /// Number of columns.
    fn n_columns(&self) -> usize;
    /// Writes some rows, one after the other.
    fn write(&self, rows: Range<usize>, out: &mut [f32]);
    /// How many equal rows each stands for; `None`, the default, where each stands for itself.
    fn counts(&self) -> Option<&[u64]> {
        None
    }
}

/// k-means on the rows of a source, in memory for `most` rows and one number per row.
///
/// Up to `most` rows this is [`fit`](super::fit) on all, weighted by their counts. With more,
/// centres come from `most` rows drawn evenly over the source, and every row goes to the nearest of
/// them; the inertia is then that of the drawn rows, and a centre may be nobody's nearest. A row
/// that stands for several is drawn as often as they would be, were they written one after the
/// other.
///
/// ```
/// use consilience::num::kmeans::{KMeansOptions, RowSource, fit_source};
///
/// /// A million points in two heaps.
/// struct Heaps;
/// impl RowSource for Heaps {
///     fn n_rows(&self) -> usize {
///         1_000_000
///     }
///     fn n_columns(&self) -> usize {
///         1
///     }
///     fn write(&self, rows: std::ops::Range<usize>, out: &mut [f32]) {
///         for (i, out) in rows.zip(out) {
///             *out = (i % 2 * 10) as f32 + (i % 7) as f32 / 7.0;
///         }
///     }
/// }
/// let found = fit_source(&Heaps, &KMeansOptions::new(2), 1000, &())?;
/// assert_eq!(found.assignment.len(), 1_000_000);
/// assert!(found.assignment.iter().enumerate().all(|(i, &c)| c == found.assignment[i % 2]));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(most k d) time per iteration and O(n k d) once.
///
/// # Errors
/// [`ErrorKind::Empty`] without rows or columns, [`ErrorKind::InvalidParameter`] for no clusters
/// and for counts that are all 0, of fewer rows in all than are drawn, or of more than 2^53,
/// [`ErrorKind::ShapeMismatch`] where there is not one count per row, [`ErrorKind::Cancelled`].
pub fn fit_source(
    source: &dyn RowSource,
    options: &KMeansOptions,
    most: usize,
    observer: &dyn Observer,
) -> Result<KMeansFit<f32>> {
    let (n, d) = (source.n_rows(), source.n_columns());
    let most = most.max(options.clusters).max(1);
    if n <= most || d == 0 {
        let counts = source.counts().map(|counts| counts.iter().map(|&count| count as f64));
        let weights = counts.map(room::collected).transpose()?;
        return fit(
            written(source, std::slice::from_ref(&(0..n)), options.parallel, observer)?.view(),
            weights.as_deref(),
            options,
            observer,
        );
    }
    let drawn = drawn_evenly(n, source.counts(), most, options.seed)?;
    fit_drawn(source, &drawn, options, observer)
}

/// k-means on the drawn rows of a source, in the order given; then every row of the source goes to
/// the nearest centre.
///
/// What [`fit_source`] does with more rows than it keeps, for callers who draw by themselves. A row
/// counts as often as it is drawn, whatever it stands for: who draws, draws by counts.
///
/// ```
/// use consilience::num::kmeans::{KMeansOptions, RowSource, fit_drawn};
///
/// /// The numbers 0 to 999.
/// struct Numbers;
/// impl RowSource for Numbers {
///     fn n_rows(&self) -> usize {
///         1000
///     }
///     fn n_columns(&self) -> usize {
///         1
///     }
///     fn write(&self, rows: std::ops::Range<usize>, out: &mut [f32]) {
///         rows.zip(out).for_each(|(i, out)| *out = i as f32);
///     }
/// }
/// let found = fit_drawn(&Numbers, &[0, 999], &KMeansOptions::new(2), &())?;
/// assert_eq!(found.assignment.iter().filter(|&&c| c == found.assignment[0]).count(), 500);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(r k d) time per iteration for r drawn rows, and O(n k d) once; 4 r d bytes beside one number
/// per row.
///
/// # Errors
/// [`ErrorKind::Empty`] without drawn rows or columns, [`ErrorKind::ShapeMismatch`] for a drawn row
/// that is not there, [`ErrorKind::InvalidParameter`] for no clusters, [`ErrorKind::Cancelled`].
pub fn fit_drawn(
    source: &dyn RowSource,
    drawn: &[usize],
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<KMeansFit<f32>> {
    let (n, d) = (source.n_rows(), source.n_columns());
    for &i in drawn {
        ensure!(i < n, shape("row {i} is drawn from a source of {n} rows"));
    }
    let drawn = room::collected(drawn.iter().map(|&i| i..i + 1))?;
    let sample = written(source, &drawn, options.parallel, observer)?;
    let mut found = fit(sample.view(), None, options, observer)?;
    drop(sample);
    let mut labels = room::zeros(n)?;
    let stop = Stop::new(observer);
    each_chunk_if(options.parallel, &mut labels, BLOCK, &|b, labels| {
        if stop.asked() {
            return;
        }
        let mut rows = vec![0.0; labels.len() * d];
        source.write(b * BLOCK..b * BLOCK + labels.len(), &mut rows);
        if let Ok(rows) = ArrayView2::from_shape((labels.len(), d), &rows) {
            let near = try_assign(rows, found.centres.view(), false, &stop);
            if !stop.asked() {
                labels.copy_from_slice(&near.unwrap_or_else(end));
            }
        }
    });
    stop.check()?;
    found.assignment = labels;
    Ok(found)
}

/// One row of each of `most` equal stretches of `n` rows. With counts the stretches are of what the
/// rows stand for, so that the same is drawn as from those rows written one by one.
fn drawn_evenly(n: usize, counts: Option<&[u64]>, most: usize, seed: Seed) -> Result<Vec<usize>> {
    let objects = match counts {
        None => n as u128,
        Some(counts) => {
            ensure!(counts.len() == n, shape("{} counts for {n} rows", counts.len()));
            let sum: u128 = counts.iter().map(|&count| u128::from(count)).sum();
            ensure!(
                (most as u128..=MOST_OBJECTS).contains(&sum),
                invalid("{most} rows drawn of {sum}; expected no fewer, and 2^53 at most")
            );
            sum
        }
    };
    let mut stream = seed.derive("rows", 0).stream();
    let mut drawn = room::with_capacity(most)?;
    // The row that the last one drawn belongs to, and the first object behind it.
    let (mut row, mut end) = (0, counts.map_or(0, |counts| u128::from(counts[0])));
    for s in 0..most {
        let low = (s as u128 * objects / most as u128) as usize;
        let high = ((s + 1) as u128 * objects / most as u128) as usize;
        let object = low + stream.below(high - low);
        let Some(counts) = counts else {
            drawn.push(object);
            continue;
        };
        // Objects are drawn in ascending order, and the last is below the sum of the counts.
        while end <= object as u128 {
            row += 1;
            end += u128::from(counts[row]);
        }
        drawn.push(row);
    }
    Ok(drawn)
}

/// The rows of some ranges, one after the other.
fn written(
    source: &dyn RowSource,
    ranges: &[Range<usize>],
    parallel: bool,
    observer: &dyn Observer,
) -> Result<Array2<f32>> {
    let d = source.n_columns();
    let n = ranges.iter().map(Range::len).sum();
    let mut out = room::table(n, d)?;
    let Some(flat) = out.as_slice_mut().filter(|_| d > 0) else {
        return Ok(out);
    };
    let (mut rest, stop) = (flat, Stop::new(observer));
    for range in ranges {
        let (now, later) = rest.split_at_mut(range.len() * d);
        each_chunk_if(parallel, now, BLOCK * d, &|b, out| {
            let first = range.start + b * BLOCK;
            if !stop.asked() {
                source.write(first..first + out.len() / d, out);
            }
        });
        rest = later;
    }
    stop.check()?;
    Ok(out)
}
