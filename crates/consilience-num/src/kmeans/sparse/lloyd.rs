use consilience_core::{Observer, Result, Stop, room};
use ndarray::ArrayView2;

use super::centres::Centres;
use super::seeding::plus_plus;
use super::{KMeansFit, KMeansOptions, ScaledRows};
use crate::Float;
use crate::kmeans::{Run, no_weight};

/// A squared distance that is no more than rounding of the squared length of the row.
const ROUNDING: f64 = 1e-12;

pub(super) fn restarts<F: Float>(
    rows: &ScaledRows<'_, F>,
    weights: Option<&[f64]>,
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<KMeansFit<F>> {
    let k = options.clusters.min(rows.n_rows());
    let (stop, mut best) = (Stop::new(observer), None);
    for restart in 0..options.restarts {
        let mut stream = options.seed.derive("restart", restart as u64).stream();
        let chosen = plus_plus(rows, weights, k, options.parallel, &mut stream, &stop)?;
        if chosen.is_empty() {
            return Err(no_weight());
        }
        let centres = Centres::of_rows(rows, &chosen)?;
        let run = lloyd(rows, weights, centres, options, restart, observer)?;
        best = Some(run.or_better(best));
    }
    finish(rows, best.ok_or_else(no_weight)?)
}

pub(super) fn from_centres<F: Float>(
    rows: &ScaledRows<'_, F>,
    weights: Option<&[f64]>,
    centres: ArrayView2<'_, F>,
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<KMeansFit<F>> {
    let centres = Centres::given(rows, centres)?;
    finish(rows, lloyd(rows, weights, centres, options, 0, observer)?)
}

pub(super) fn assign<F: Float>(
    rows: &ScaledRows<'_, F>,
    centres: ArrayView2<'_, F>,
    parallel: bool,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let mut labels = room::zeros(rows.n_rows())?;
    let mut distances = room::zeros(rows.n_rows())?;
    let (centres, stop) = (Centres::given(rows, centres)?, Stop::new(observer));
    centres.nearest(rows, parallel, &mut labels, &mut distances, &stop)?;
    Ok(labels)
}

fn lloyd<F: Float>(
    rows: &ScaledRows<'_, F>,
    weights: Option<&[f64]>,
    mut centres: Centres,
    options: &KMeansOptions,
    restart: usize,
    observer: &dyn Observer,
) -> Result<Run<Centres>> {
    let (n, stop) = (rows.n_rows(), Stop::new(observer));
    let mut labels = room::filled(n, u32::MAX)?;
    let mut distances = room::zeros(n)?;
    let still = match options.tolerance {
        tolerance if tolerance > 0.0 => tolerance * variance(rows)?,
        _ => 0.0,
    };
    let nearest = |centres: &Centres, labels: &mut [u32], distances: &mut [f64]| {
        centres.nearest(rows, options.parallel, labels, distances, &stop)
    };
    let total = options.restarts.saturating_mul(options.max_iterations);
    let before = restart.saturating_mul(options.max_iterations);
    let (mut iterations, mut converged, mut settled) = (0, false, false);
    while iterations < options.max_iterations && !converged {
        stop.check()?;
        observer.progress("k-means", before.saturating_add(iterations), total);
        iterations += 1;
        let changed = nearest(&centres, &mut labels, &mut distances)?;
        let refilled = fill_empty(rows, centres.k, &mut labels, &mut distances, &stop)?;
        if !changed && !refilled {
            (converged, settled) = (true, true);
            break;
        }
        let moved = centres.take_means(rows, weights, &labels, options.parallel, &stop)?;
        converged = moved <= still && options.tolerance > 0.0 && !refilled;
    }
    if !settled {
        // The centres moved after the last assignment: let the labels follow.
        nearest(&centres, &mut labels, &mut distances)?;
        if fill_empty(rows, centres.k, &mut labels, &mut distances, &stop)? {
            centres.take_means(rows, weights, &labels, options.parallel, &stop)?;
            nearest(&centres, &mut labels, &mut distances)?;
        }
    }
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let inertia = distances.iter().enumerate().map(|(i, v)| weight(i) * v).sum();
    Ok(Run { labels, centres, inertia, iterations, converged })
}

/// Gives each empty cluster the row that fits its own centre worst, if some row does not coincide
/// with it and is not alone there; returns whether it did. Rows equal to it follow in the next
/// assignment.
fn fill_empty<F: Float>(
    rows: &ScaledRows<'_, F>,
    k: usize,
    labels: &mut [u32],
    distances: &mut [f64],
    stop: &Stop<'_>,
) -> Result<bool> {
    let mut counts = vec![0usize; k];
    for &label in labels.iter() {
        counts[label as usize] += 1;
    }
    let mut filled = false;
    for empty in 0..k {
        if counts[empty] > 0 {
            continue;
        }
        stop.check()?;
        let mut worst: Option<usize> = None;
        for i in 0..labels.len() {
            let fits = distances[i] <= ROUNDING * rows.square(i).max(f64::MIN_POSITIVE);
            if !fits
                && counts[labels[i] as usize] > 1
                && worst.is_none_or(|w| distances[i] > distances[w])
            {
                worst = Some(i);
            }
        }
        let Some(worst) = worst else {
            break;
        };
        counts[labels[worst] as usize] -= 1;
        counts[empty] = 1;
        labels[worst] = empty as u32;
        distances[worst] = 0.0;
        filled = true;
    }
    Ok(filled)
}

/// Variance of the rows, averaged over the columns: the unit of the tolerance.
fn variance<F: Float>(rows: &ScaledRows<'_, F>) -> Result<f64> {
    let n = rows.n_rows() as f64;
    let mut mean: Vec<f64> = room::zeros(rows.n_columns())?;
    let mut squares = 0.0;
    for i in 0..rows.n_rows() {
        squares += rows.square(i) / n;
        for (j, v) in rows.row(i) {
            mean[j as usize] += v / n;
        }
    }
    let centre: f64 = mean.iter().map(|m| m * m).sum();
    Ok(((squares - centre) / rows.n_columns() as f64).max(0.0))
}

fn finish<F: Float>(rows: &ScaledRows<'_, F>, mut run: Run<Centres>) -> Result<KMeansFit<F>> {
    let centres = run.centres.finish(rows, &mut run.labels)?;
    Ok(run.found(centres, rows.scale()))
}
