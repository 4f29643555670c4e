//! How many components, where no number is given: starts near the number that the ladder ended
//! with, components that are merged, and the best fit of every number.

use std::collections::BTreeMap;

use consilience_core::{Observer, Result, Seed};
use ndarray::Array2;
use rayon::prelude::*;

use super::PositionModel;
use super::state::{Fixed, State};
use super::trials::{Tried, finished, highest, perturb, run, table};
use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::cluster_count::ClusterCount;
use crate::spectral;

/// Crowds of more pair answers get no starts beside the ladder: there a round takes long, and the
/// ladder alone takes hundreds.
const WIDE: usize = 100_000;
/// Numbers of clusters that share the further starts: one fewer than was found, as many, one more.
pub(super) const NEAR: usize = 3;
/// Pairs of components that are tried to be merged, and rounds after which that has to pay.
pub(super) const MERGES: usize = 3;
const MERGED_ROUNDS: usize = 10;

/// The fit of highest bound for every number of components that are some object's likeliest: its
/// bound and memberships, n x T row by row.
#[derive(Default)]
pub(super) struct Seen(BTreeMap<usize, (f64, Vec<f64>)>);

impl Seen {
    fn add(&mut self, tried: &Tried) {
        let mixture = &tried.state.mixture;
        let clusters = mixture.held();
        let known = self.0.get(&clusters).map_or(f64::NEG_INFINITY, |fit| fit.0);
        if tried.bound > known {
            self.0.insert(clusters, (tried.bound, mixture.q.clone()));
        }
    }

    /// Over all of them; `None` of nothing.
    pub(super) fn count(&self, n: usize, truncation: usize, seed: Seed) -> Option<ClusterCount> {
        let fits: Vec<(f64, Array2<f64>)> =
            self.0.values().map(|(bound, q)| (*bound, table(n, truncation, q))).collect();
        ClusterCount::over(&fits, seed)
    }
}

/// Goes on from the fits of the ladder, given the rounds of a trial: the best of all, and the best
/// of every number.
pub(super) fn search(
    model: &PositionModel,
    fixed: &Fixed<'_>,
    ladder: Vec<Tried>,
    (answers, counts): (&Answers, &AnswerCounts),
    (trial, large): (usize, bool),
    observer: &dyn Observer,
) -> Result<(Tried, Seen)> {
    let mut seen = Seen::default();
    ladder.iter().for_each(|tried| seen.add(tried));
    let mut best = highest(ladder)?;
    if !large && answers.n_pair_answers() <= WIDE {
        let clusters = best.state.mixture.held();
        let starts = near(model, clusters, fixed.truncation, answers, counts, observer)?;
        let mut all = finished(model, fixed, &starts, trial, observer)?;
        all.iter().for_each(|tried| seen.add(tried));
        // First, as it is kept where others are no better.
        all.insert(0, best);
        best = highest(all)?;
    }
    if !large {
        best = merged(model, fixed, best, &mut seen, observer)?;
    }
    Ok((best, seen))
}

/// Starts of about as many clusters as were found, for each number a third of `restarts`, rounded
/// up: the clustering of the mean answers, which the ladder has not, then perturbations.
fn near(
    model: &PositionModel,
    clusters: usize,
    truncation: usize,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<Vec<Vec<u32>>> {
    // One cluster has one start, which is the ladder's.
    let fewest = clusters.saturating_sub(1).max(2);
    let numbers: Vec<usize> = (fewest..=(clusters + 1).min(truncation)).collect();
    let found: Vec<Vec<Vec<u32>>> = numbers
        .into_par_iter()
        .map(|k| -> Result<Vec<Vec<u32>>> {
            let mean = spectral::mean_answers(answers, counts, k, model.seed, observer)?;
            let [plain, unit] = spectral::residual(answers, counts, k, model.seed, observer)?;
            let computed = [mean, plain, unit];
            let start = |s: usize| {
                if s == 0 {
                    return computed[0].clone();
                }
                let mut labels = computed[(s - 1) % computed.len()].clone();
                let seed = model.seed.derive("crowd position start", s as u64);
                perturb(&mut labels, k, seed.derive("crowd clusters", k as u64));
                labels
            };
            Ok((0..model.restarts.div_ceil(NEAR)).map(start).collect())
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// A few rounds, also beyond those after which the memberships stay.
fn go_on(
    model: &PositionModel,
    fixed: &Fixed<'_>,
    mut state: State,
    observer: &dyn Observer,
) -> Result<Tried> {
    let iterations = MERGED_ROUNDS.min(model.max_iterations);
    let mut converged = false;
    for _ in 0..iterations {
        observer.check()?;
        converged = state.round(fixed) < model.tolerance;
    }
    let bound = state.bound(fixed);
    Ok(Tried { state, bound, iterations, converged })
}

/// Merges two components as long as the bound rises: what starts with too many keeps them.
///
/// A bound rises for long after the memberships stay, so that what is merged is compared with the
/// same fit unmerged after as many rounds more.
fn merged(
    model: &PositionModel,
    fixed: &Fixed<'_>,
    mut best: Tried,
    seen: &mut Seen,
    observer: &dyn Observer,
) -> Result<Tried> {
    loop {
        observer.check()?;
        let pairs = best.state.mixture.closest(MERGES);
        if pairs.is_empty() {
            break;
        }
        let merges = pairs.into_iter().map(Some);
        let tried: Vec<Tried> = std::iter::once(None)
            .chain(merges)
            .collect::<Vec<Option<(usize, usize)>>>()
            .into_par_iter()
            .map(|pair| {
                let mut state = best.state.clone();
                if let Some((a, b)) = pair {
                    state.merge(fixed, a, b);
                }
                go_on(model, fixed, state, observer)
            })
            .collect::<Result<_>>()?;
        tried.iter().for_each(|tried| seen.add(tried));
        let unmerged = tried[0].bound;
        // Of equals the first, which is unmerged.
        let better = highest(tried)?;
        let before = best.iterations + better.iterations;
        if !(better.bound > unmerged) {
            best = Tried { iterations: before, ..better };
            break;
        }
        let left = model.max_iterations.saturating_sub(before);
        best = if better.converged || left == 0 {
            Tried { iterations: before, ..better }
        } else {
            let rest = run(model, fixed, better.state, left, observer)?;
            Tried { iterations: before + rest.iterations, ..rest }
        };
        seen.add(&best);
    }
    Ok(best)
}
