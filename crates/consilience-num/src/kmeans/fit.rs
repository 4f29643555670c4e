//! Lloyd's iterations and their restarts.

use std::sync::Mutex;

use consilience_core::{Observer, Result, room};
use ndarray::{Array2, ArrayView2, s};

use super::centres::Centres;
use super::repair::{fill_empty, take_mean};
use super::rows::Rows;
use super::seeding::plus_plus;
use super::step::{self, Sums};
use super::{KMeansFit, KMeansOptions, Run, no_weight};
use crate::Float;
use crate::reduce::try_map_each;

/// Up to so many rows starts run side by side; with more the rows of one start are shared out.
const FEW: usize = 8192;
/// Rows that are so many times as large as the largest centre are placed apart from the others; a
/// power of two (2^300).
const FAR: f64 = 2.037035976334486e90;
/// Where they are taken to instead, in the same unit.
const NEARER: f64 = 1048576.0;
/// Starts that run side by side: each has a number per row of its own.
const ABREAST: usize = 16;

/// Tells the observer how many iterations of all starts are done. Starts that run side by side
/// share it, so that what is told never falls.
struct Watch<'a> {
    observer: &'a dyn Observer,
    done: Mutex<usize>,
    total: usize,
}

impl<'a> Watch<'a> {
    fn new(observer: &'a dyn Observer, starts: usize, options: &KMeansOptions) -> Self {
        let total = starts.saturating_mul(options.max_iterations);
        Watch { observer, done: Mutex::new(0), total }
    }

    /// One iteration begins.
    fn step(&self) {
        let mut done = self.done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.observer.progress("k-means", *done, self.total);
        *done = done.saturating_add(1);
    }

    /// One start needs so many iterations less than it might have.
    fn spared(&self, iterations: usize) {
        let mut done = self.done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *done = done.saturating_add(iterations);
    }
}

pub(super) fn restarts<F: Float>(
    view: ArrayView2<'_, F>,
    weights: Option<&[f64]>,
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<KMeansFit<F>> {
    let k = options.clusters.min(view.nrows());
    let abreast = options.parallel && options.restarts > 1 && view.nrows() <= FEW;
    let rows = Rows::new(view, k, options.parallel && !abreast, observer);
    let norms = step::norms(&rows)?;
    let watch = Watch::new(observer, options.restarts, options);
    let start = |restart: usize| {
        let mut stream = options.seed.derive("restart", restart as u64).stream();
        let first = plus_plus(&rows, weights, k, &mut stream)?;
        if first.is_empty() {
            return Err(no_weight());
        }
        let exact: Vec<f64> = first.iter().flat_map(|&i| rows.row(i)).collect();
        lloyd(&rows, weights, &norms, exact, options, &watch)
    };
    let together = if abreast { ABREAST } else { 1 };
    let mut best = None;
    for first in (0..options.restarts).step_by(together) {
        let count = together.min(options.restarts - first);
        for run in try_map_each(count, &|at| start(first + at))? {
            best = Some(run.or_better(best));
        }
    }
    Ok(finish(&rows, best.ok_or_else(no_weight)?))
}

pub(super) fn from_centres<F: Float>(
    view: ArrayView2<'_, F>,
    weights: Option<&[f64]>,
    centres: ArrayView2<'_, F>,
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<KMeansFit<F>> {
    let rows = Rows::new(view, centres.nrows(), options.parallel, observer);
    let norms = step::norms(&rows)?;
    let exact = moved(&rows, centres);
    let watch = Watch::new(observer, 1, options);
    let run = lloyd(&rows, weights, &norms, exact, options, &watch)?;
    Ok(finish(&rows, run))
}

pub(super) fn assign<F: Float>(
    view: ArrayView2<'_, F>,
    centres: ArrayView2<'_, F>,
    parallel: bool,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let rows = Rows::new(view, centres.nrows(), parallel, observer);
    let largest = |v: ArrayView2<'_, F>| v.iter().fold(0.0f64, |m, x| m.max(x.to_f64().abs()));
    let reach = largest(centres);
    // What is so large gives the rows a scale, and none is so large without one.
    if rows.scale < 1.0 && reach > 0.0 && largest(view) > reach * FAR {
        return assign_apart(view, centres, reach, parallel, observer);
    }
    let norms = step::norms(&rows)?;
    let exact = moved(&rows, centres);
    let centres = Centres::new(exact, centres.nrows(), rows.d);
    let mut labels = room::zeros(rows.n)?;
    step::assign(&rows, &centres, &norms, &mut labels)?;
    Ok(labels)
}

/// The nearest centre of each row, where some are very far from all centres, which are within
/// `reach`. The others are taken without them: on a common scale their squared distances would
/// vanish. The nearest centre of a row that is so far is that of its direction, and so the same
/// from nearer by, where distances differ by more than their rounding.
fn assign_apart<F: Float>(
    view: ArrayView2<'_, F>,
    centres: ArrayView2<'_, F>,
    reach: f64,
    parallel: bool,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let size = |i: usize| view.row(i).iter().fold(0.0f64, |m, x| m.max(x.to_f64().abs()));
    let n = view.nrows();
    let mut labels = room::zeros(n)?;
    let mut first = 0;
    while first < n {
        let end = (first..n).find(|&i| size(i) > reach * FAR).unwrap_or(n);
        if first < end {
            let near = assign(view.slice(s![first..end, ..]), centres, parallel, observer)?;
            labels[first..end].copy_from_slice(&near);
        }
        if end < n {
            let size = size(end).min(f64::MAX);
            let nearer = |x: &F| F::from_f64(x.to_f64().clamp(-size, size) / size * reach * NEARER);
            let row = view.slice(s![end..=end, ..]).map(nearer);
            labels[end] = assign(row.view(), centres, false, observer)?[0];
        }
        first = end + 1;
    }
    Ok(labels)
}

fn moved<F: Float>(rows: &Rows<'_, F>, centres: ArrayView2<'_, F>) -> Vec<f64> {
    centres.indexed_iter().map(|((_, j), x)| x.to_f64() * rows.scale - rows.shift[j]).collect()
}

fn lloyd<F: Float>(
    rows: &Rows<'_, F>,
    weights: Option<&[f64]>,
    norms: &[f32],
    exact: Vec<f64>,
    options: &KMeansOptions,
    watch: &Watch<'_>,
) -> Result<Run<Vec<f64>>> {
    let k = exact.len() / rows.d;
    let mut centres = Centres::new(exact, k, rows.d);
    let mut labels = room::filled(rows.n, u32::MAX)?;
    let mut sums = Sums::new();
    let still = if options.tolerance > 0.0 { options.tolerance * variance(rows)? } else { 0.0 };
    let (mut iterations, mut converged) = (0, false);
    while iterations < options.max_iterations && !converged {
        rows.stop.check()?;
        watch.step();
        iterations += 1;
        sums.assign(rows, weights, &centres, norms, &mut labels)?;
        let refilled = fill_empty(rows, weights, &mut centres, &mut sums.total, &mut labels)?;
        if sums.total.changed == 0 && !refilled {
            converged = true;
            break;
        }
        let before = centres.exact.clone();
        for c in 0..k {
            take_mean(&mut centres, &sums.total, c);
        }
        centres.refresh();
        let shift: f64 = before.iter().zip(&centres.exact).map(|(a, b)| (a - b) * (a - b)).sum();
        converged = shift <= still && options.tolerance > 0.0 && !refilled;
    }
    watch.spared(options.max_iterations - iterations);
    if sums.total.changed != 0 || iterations == 0 {
        // The centres moved after the last assignment: let the labels follow.
        sums.assign(rows, weights, &centres, norms, &mut labels)?;
        if fill_empty(rows, weights, &mut centres, &mut sums.total, &mut labels)? {
            for c in 0..k {
                take_mean(&mut centres, &sums.total, c);
            }
        }
    }
    drop_empty(&mut centres, &sums.total.counts, &mut labels);
    let inertia = step::total(rows, weights, &step::distances(rows, &centres, &labels)?);
    Ok(Run { labels, centres: centres.exact, inertia, iterations, converged })
}

/// Variance of the rows, averaged over the columns: the unit of the tolerance.
fn variance<F: Float>(rows: &Rows<'_, F>) -> Result<f64> {
    let n = rows.n as f64;
    let mut mean = vec![0.0; rows.d];
    let mut part = vec![0.0; rows.d];
    for first in (0..rows.n).step_by(rows.block) {
        rows.stop.check()?;
        part.fill(0.0);
        for i in first..rows.n.min(first + rows.block) {
            rows.add_to(i, 1.0, &mut part);
        }
        for (m, p) in mean.iter_mut().zip(&part) {
            *m += p / n;
        }
    }
    let mut squares = room::zeros(rows.n)?;
    step::each_block(rows, &mut squares, |first, out| {
        for (r, out) in out.iter_mut().enumerate() {
            *out = rows.distance(first + r, &mean);
        }
    })?;
    Ok(step::total(rows, None, &squares) / n / rows.d as f64)
}

fn drop_empty<F: Float>(centres: &mut Centres<F>, counts: &[usize], labels: &mut [u32]) {
    if counts.iter().all(|&c| c > 0) {
        return;
    }
    let mut number = vec![0u32; centres.k];
    let mut kept = 0;
    let mut exact = Vec::with_capacity(centres.exact.len());
    for c in 0..centres.k {
        if counts[c] > 0 {
            number[c] = kept;
            kept += 1;
            exact.extend_from_slice(centres.row(c));
        }
    }
    for label in labels.iter_mut() {
        *label = number[*label as usize];
    }
    *centres = Centres::new(exact, kept as usize, centres.d);
}

fn finish<F: Float>(rows: &Rows<'_, F>, run: Run<Vec<f64>>) -> KMeansFit<F> {
    let k = run.centres.len() / rows.d;
    let centres = Array2::from_shape_fn((k, rows.d), |(c, j)| {
        F::from_f64((run.centres[c * rows.d + j] + rows.shift[j]) / rows.scale)
    });
    run.found(centres, rows.scale)
}
