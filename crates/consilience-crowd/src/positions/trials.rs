//! Starts, and the rounds from them.

use consilience_core::{Error, Observer, Result, Seed};
use ndarray::Array2;

use super::PositionModel;
use super::state::{Fixed, State};
use crate::best::{best_fits, each_of};

/// Share of labels that a perturbed start draws anew.
const PERTURBED: f64 = 0.2;

/// A start on its way.
pub(super) struct Tried {
    pub(super) state: State,
    pub(super) bound: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

/// Row by row.
pub(super) fn table(n: usize, columns: usize, values: &[f64]) -> Array2<f64> {
    Array2::from_shape_fn((n, columns), |(i, c)| values[i * columns + c])
}

pub(super) fn perturb(labels: &mut [u32], k: usize, seed: Seed) {
    let mut stream = seed.stream();
    for label in labels {
        if stream.uniform() < PERTURBED {
            *label = stream.below(k) as u32;
        }
    }
}

pub(super) fn run(
    model: &PositionModel,
    fixed: &Fixed<'_>,
    mut state: State,
    most: usize,
    observer: &dyn Observer,
) -> Result<Tried> {
    let (mut iterations, mut converged) = (0, false);
    while iterations < most.min(model.max_iterations) && !converged {
        observer.check()?;
        converged = state.round(fixed) < model.tolerance;
        iterations += 1;
    }
    let bound = state.bound(fixed);
    Ok(Tried { state, bound, iterations, converged })
}

/// All run for a while, those of highest bound go on until they converge; these, best first after
/// the trial.
pub(super) fn finished(
    model: &PositionModel,
    fixed: &Fixed<'_>,
    starts: &[Vec<u32>],
    trial: usize,
    observer: &dyn Observer,
) -> Result<Vec<Tried>> {
    let (most, abreast) = (starts.len().div_ceil(3), fixed.abreast);
    let start = |s: usize| run(model, fixed, State::start(fixed, &starts[s]), trial, observer);
    let tried = best_fits(starts.len(), (most, abreast), |tried: &Tried| tried.bound, start)?;
    each_of(tried, abreast, |trial: Tried| {
        let left = model.max_iterations.saturating_sub(trial.iterations);
        if trial.converged || left == 0 {
            return Ok(trial);
        }
        let rest = run(model, fixed, trial.state, left, observer)?;
        observer.progress("start", rest.iterations, rest.iterations);
        Ok(Tried { iterations: trial.iterations + rest.iterations, ..rest })
    })
}

/// That of highest bound, the first of equals.
pub(super) fn highest(fits: Vec<Tried>) -> Result<Tried> {
    let best = fits.into_iter().reduce(|best, f| if f.bound > best.bound { f } else { best });
    best.ok_or_else(|| Error::invalid("0 starts; expected at least 1"))
}
