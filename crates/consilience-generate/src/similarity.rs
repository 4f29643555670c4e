//! Gaussian similarities and what is made from a few landmarks.

use std::ops::Range;

use consilience_core::{Observer, Result, Seed, room};
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
    square: impl Fn(usize, usize) -> f64,
) -> Result<f64> {
    let rows = seed.derive("bandwidth", 0).stream().sample(n, SAMPLE);
    let mut squares: Vec<f64> = room::with_capacity(rows.len() * rows.len() / 2)?;
    for (p, &i) in rows.iter().enumerate() {
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
) -> Result<Option<Array2<f64>>> {
    let marks = x.select(Axis(0), landmarks);
    let p = marks.nrows();
    let kernel = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| (-square(a, b) / width).exp();
    let gram = Array2::from_shape_fn((p, p), |(i, j)| kernel(marks.row(i), marks.row(j)));
    nystroem_of(x.nrows(), &gram, |rows| {
        Array2::from_shape_fn((rows.len(), p), |(i, j)| kernel(x.row(rows.start + i), marks.row(j)))
    })
}

/// As [`nystroem`], from the kernel among p landmarks and that between rows and landmarks.
pub(crate) fn nystroem_of(
    n: usize,
    gram: &Array2<f64>,
    near: impl Fn(Range<usize>) -> Array2<f64> + Sync,
) -> Result<Option<Array2<f64>>> {
    let Some(eigen) = try_symmetric_eigen(gram.view())? else { return Ok(None) };
    // Directions below this carry rounding only.
    let floor = eigen.values.first().copied().unwrap_or(0.0) * 1e-10;
    let rank = eigen.values.iter().take_while(|&&v| v > floor).count().max(1);
    let mut root = eigen.vectors.slice(s![.., ..rank]).to_owned();
    for (mut column, value) in root.columns_mut().into_iter().zip(&eigen.values) {
        column /= value.sqrt();
    }
    let mut out = room::zeros(n * rank)?;
    out.par_chunks_mut(CHUNK * rank).enumerate().for_each(|(c, out)| {
        let near = near(c * CHUNK..c * CHUNK + out.len() / rank);
        for (o, &v) in out.iter_mut().zip(near.dot(&root).iter()) {
            *o = v;
        }
    });
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
) -> Vec<(usize, f64)> {
    let p = marks.nrows();
    let mut out = vec![(0, 0.0); x.nrows() * count];
    out.par_chunks_mut(count * CHUNK).enumerate().for_each(|(c, out)| {
        let mut all = Vec::with_capacity(p);
        for (r, out) in out.chunks_mut(count).enumerate() {
            all.clear();
            all.extend((0..p).map(|j| (j, square(x.row(c * CHUNK + r), marks.row(j)))));
            keep_nearest(&mut all, count);
            out.copy_from_slice(&all);
        }
    });
    out
}
