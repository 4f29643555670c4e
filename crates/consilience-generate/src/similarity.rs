//! Gaussian similarities and what is made from a few landmarks.

use std::ops::Range;

use consilience_core::{Observer, Pace, Result, Seed, Stop, room};
use consilience_num::Float;
use consilience_num::eigen::try_symmetric_eigen;
use consilience_num::kmeans::{KMeansOptions, fit};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use rayon::prelude::*;

/// Rows of a chunk: rows are independent, so it has no influence on the bits.
const CHUNK: usize = 512;
/// Rows that are drawn for each landmark.
const CANDIDATES: usize = 10;
/// Iterations of the k-means that makes landmarks.
const ROUNDS: usize = 5;
/// Rows that the median distance is taken over.
const SAMPLE: usize = 300;

pub(crate) fn square(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Median squared distance of distinct rows in a sample of n; 1 where there are no two.
pub(crate) fn median_square(
    n: usize,
    seed: Seed,
    observer: &dyn Observer,
    square: impl Fn(usize, usize) -> f64,
) -> Result<f64> {
    let rows = seed.derive("bandwidth", 0).stream().sample(n, SAMPLE);
    let mut squares: Vec<f64> = room::with_capacity(rows.len() * rows.len() / 2)?;
    for (p, &i) in rows.iter().enumerate() {
        observer.check()?;
        squares.extend(rows[..p].iter().map(|&j| square(i, j)).filter(|&s| s > 0.0));
    }
    if squares.is_empty() {
        return Ok(1.0);
    }
    let middle = squares.len() / 2;
    Ok(*squares.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Rows whose inner products approximate the kernel `exp(-|x - y|^2 / width)`: the kernel between
/// rows and landmarks times the inverse root of that among the landmarks (Nystroem).
pub(crate) fn nystroem(
    x: ArrayView2<'_, f64>,
    landmarks: &[usize],
    width: f64,
    observer: &dyn Observer,
) -> Result<Option<Array2<f64>>> {
    let marks = x.select(Axis(0), landmarks);
    let stop = Stop::new(observer);
    let kernel = |x: ArrayView2<'_, f64>, rows: Range<usize>| {
        let mut near = Array2::zeros((rows.len(), marks.nrows()));
        let (mut pace, all) = (Pace::new(&stop), near.rows_mut().into_iter().zip(rows));
        for (mut near, i) in all.take_while(|_| pace.work(marks.len()).is_ok()) {
            for (v, mark) in near.iter_mut().zip(marks.rows()) {
                *v = (-square(x.row(i), mark) / width).exp();
            }
        }
        near
    };
    let gram = kernel(marks.view(), 0..marks.nrows());
    nystroem_of(x.nrows(), &gram, &stop, |rows| kernel(x, rows))
}

/// As [`nystroem`], from the kernel among p landmarks and that between rows and landmarks, which
/// may be anything once somebody asked to stop.
pub(crate) fn nystroem_of(
    n: usize,
    gram: &Array2<f64>,
    stop: &Stop<'_>,
    near: impl Fn(Range<usize>) -> Array2<f64> + Sync,
) -> Result<Option<Array2<f64>>> {
    stop.check()?;
    let Some(eigen) = try_symmetric_eigen(gram.view())? else { return Ok(None) };
    stop.check()?;
    // Directions below this carry rounding only.
    let floor = eigen.values.first().copied().unwrap_or(0.0) * 1e-10;
    let rank = eigen.values.iter().take_while(|&&v| v > floor).count().max(1);
    let mut root = eigen.vectors.slice(s![.., ..rank]).to_owned();
    for (mut column, value) in root.columns_mut().into_iter().zip(&eigen.values) {
        column /= value.sqrt();
    }
    let mut out = room::zeros(n * rank)?;
    out.par_chunks_mut(CHUNK * rank).enumerate().for_each(|(c, out)| {
        if stop.asked() {
            return;
        }
        let near = near(c * CHUNK..c * CHUNK + out.len() / rank);
        for (o, &v) in out.iter_mut().zip(near.dot(&root).iter()) {
            *o = v;
        }
    });
    stop.check()?;
    Ok(Array2::from_shape_vec((n, rank), out).ok())
}

/// `count` rows that stand for the others, or as many as there are: centres of a short k-means on
/// ten times as many rows drawn at random.
pub(crate) fn landmarks<F: Float>(
    x: ArrayView2<'_, F>,
    count: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Array2<F>> {
    let (drawn, options) = landmark_sample(x.nrows(), count, seed);
    Ok(fit(x.select(Axis(0), &drawn).view(), None, &options, observer)?.centres)
}

/// Rows of n to make so many landmarks from, and the k-means that does.
pub(crate) fn landmark_sample(n: usize, count: usize, seed: Seed) -> (Vec<usize>, KMeansOptions) {
    let mut stream = seed.derive("landmarks", 0).stream();
    let options = KMeansOptions::new(count)
        .max_iterations(ROUNDS)
        .seed(seed)
        .parallel(rayon::current_num_threads() > 1);
    (stream.sample(n, count.saturating_mul(CANDIDATES)), options)
}

/// The so many nearest, nearest first; of equals the first.
pub(crate) fn keep_nearest<I: Ord>(all: &mut Vec<(I, f64)>, count: usize) {
    let order = |a: &(I, f64), b: &(I, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
    if count < all.len() {
        all.select_nth_unstable_by(count, order);
        all.truncate(count);
    }
    all.sort_unstable_by(order);
}

/// For every row its `count` nearest landmarks with their squared distances, nearest first.
pub(crate) fn nearest_marks(
    x: ArrayView2<'_, f64>,
    marks: ArrayView2<'_, f64>,
    count: usize,
    observer: &dyn Observer,
) -> Result<Vec<(usize, f64)>> {
    let (p, stop) = (marks.nrows(), Stop::new(observer));
    let mut out = vec![(0, 0.0); x.nrows() * count];
    out.par_chunks_mut(count * CHUNK).enumerate().for_each(|(c, out)| {
        let (mut all, mut pace) = (Vec::with_capacity(p), Pace::new(&stop));
        let rows = out.chunks_mut(count).enumerate();
        for (r, out) in rows.take_while(|_| pace.work(marks.len()).is_ok()) {
            all.clear();
            all.extend((0..p).map(|j| (j, square(x.row(c * CHUNK + r), marks.row(j)))));
            keep_nearest(&mut all, count);
            out.copy_from_slice(&all);
        }
    });
    stop.check()?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::CancelFrom;

    /// Whoever locks to answer would let threads wait for each other.
    #[test]
    fn cancellation_is_asked_for_by_the_work_that_is_done() {
        let questions = |n: usize, d: usize, marks: usize| {
            let x = Array2::from_shape_fn((n, d), |(i, j)| ((i * 31 + j * 17) % 23) as f64);
            let asked = CancelFrom::new(usize::MAX);
            nearest_marks(x.view(), x.slice(s![..marks, ..]), 3, &asked).unwrap();
            let near = asked.asked();
            nystroem(x.view(), &(0..marks).collect::<Vec<_>>(), 9.0, &asked).unwrap();
            (near, asked.asked() - near)
        };
        // Once for each chunk of little work, and at the end.
        let (near, rows) = questions(2500, 4, 40);
        assert_eq!(near, 2500usize.div_ceil(CHUNK) + 1);
        assert!(rows < 30, "{rows}");
        // 2^26 units in a single chunk.
        let (near, rows) = questions(512, 1024, 128);
        assert!(near >= 5 && rows >= 8, "{near} {rows}");
    }
}
