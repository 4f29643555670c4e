//! The starts, and the loop.

use consilience_core::{Error, Observer, Report, Result, Seed, Status};
use ndarray::Array2;
use rayon::prelude::*;

use super::PositionModel;
use super::layout::Layout;
use super::prior::Prior;
use super::search::{Seen, search};
use super::small::Shape;
use super::state::{Fixed, State};
use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::block_model::{computed_starts, most_probable};
use crate::cluster_count::ClusterCount;
use crate::spectral;

/// Rounds after which starts are compared; a third of them goes on.
const TRIAL: usize = 12;
/// Crowds of more pair answers get fewer starts and a shorter trial.
const LARGE: usize = 1_000_000;
const SHORT_TRIAL: usize = 4;
/// With more pair answers than this, long tasks are read in part: a few workers who sort thousands
/// of objects each give more than a round can go through, and these depend on each other.
const TOO_MANY: usize = 3_000_000;
/// Items of a part at most, and how often a task is cut into parts: with one cut, the parts of a
/// single task have nothing in common.
const PART: usize = 30;
const CUTS: usize = 3;
/// Numbers of clusters of the starts where none is given.
const LADDER: [usize; 11] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20];
const SHORT_LADDER: [usize; 4] = [2, 5, 10, 20];
/// Share of labels that a perturbed start draws anew.
const PERTURBED: f64 = 0.2;

/// A fit, over the answered objects.
#[derive(Clone, Debug)]
pub(crate) struct FittedPositions {
    /// Probabilities of components: n x T.
    pub(crate) q: Array2<f64>,
    /// Expected positions: n x D.
    pub(crate) positions: Array2<f64>,
    pub(crate) count: ClusterCount,
    pub(crate) bound: f64,
    pub(crate) iterations: usize,
    pub(crate) converged: bool,
    /// Pair answers that were read, and all of them, where tasks were too long to read all.
    pub(crate) read: Option<[usize; 2]>,
}

impl FittedPositions {
    pub(crate) fn describe(&self, report: &mut Report) {
        report.iterations = self.iterations;
        report.objective = Some(self.bound);
        if !self.converged {
            report.status = Status::MaxIterations;
        }
        if let Some([read, all]) = self.read {
            report.notes.push(format!(
                "tasks of more than {} items were read in random parts: {read} of {all} pair \
                 answers",
                PART * CUTS
            ));
        }
    }

    /// The same without components that are no object's likeliest.
    pub(crate) fn without_empty(mut self) -> Self {
        let mut likeliest = vec![false; self.q.ncols()];
        most_probable(self.q.view()).iter().for_each(|&c| likeliest[c as usize] = true);
        let kept: Vec<usize> = (0..likeliest.len()).filter(|&c| likeliest[c]).collect();
        if !kept.is_empty() {
            self.q = self.q.select(ndarray::Axis(1), &kept);
            for mut row in self.q.rows_mut() {
                let sum = row.sum();
                row /= sum;
            }
        }
        self
    }
}

/// A start on its way.
pub(super) struct Tried {
    pub(super) state: State,
    pub(super) bound: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

/// The best of all starts; `clusters` components at most, or as many as the answers ask for.
pub(crate) fn fit(
    model: &PositionModel,
    clusters: Option<usize>,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<FittedPositions> {
    let n = answers.answered().len();
    let truncation = clusters.unwrap_or(model.components).min(n).max(1);
    let shape = Shape::new(model.dimensions);
    if n == 0 {
        return Ok(FittedPositions {
            q: Array2::zeros((0, truncation)),
            positions: Array2::zeros((0, shape.d)),
            count: ClusterCount::none(),
            bound: 0.0,
            iterations: 0,
            converged: true,
            read: None,
        });
    }
    let all = answers.n_pair_answers();
    let parts = if all > TOO_MANY { answers.cut(PART, CUTS, model.seed) } else { None };
    let answers = parts.as_ref().unwrap_or(answers);
    let read = answers.n_pair_answers();
    let large = read > LARGE;
    let starts = match clusters {
        Some(_) => given(model, truncation, large, answers, counts, observer)?,
        None => ladder(model, truncation, large, answers, counts, observer)?,
    };
    let layout = Layout::of(answers);
    let fixed = Fixed { layout: &layout, shape, prior: Prior::default(), truncation };
    let trial = if large { SHORT_TRIAL } else { TRIAL };
    let fits = finished(model, &fixed, &starts, trial, observer)?;
    let (best, seen) = match clusters {
        Some(_) => (highest(fits)?, Seen::default()),
        None => search(model, &fixed, fits, (answers, counts), (trial, large), observer)?,
    };
    let Tried { state, bound, iterations, converged } = best;
    let q = table(n, truncation, &state.mixture.q);
    let seed = model.seed.derive("crowd cluster count", 0);
    let count = seen.count(n, truncation, seed);
    let count = count.unwrap_or_else(|| ClusterCount::of(q.view(), seed));
    let positions = table(n, model.dimensions, &state.objects.mean);
    let read = (read < all).then_some([read, all]);
    Ok(FittedPositions { q, positions, count, bound, iterations, converged, read })
}

/// Row by row.
pub(super) fn table(n: usize, columns: usize, values: &[f64]) -> Array2<f64> {
    Array2::from_shape_fn((n, columns), |(i, c)| values[i * columns + c])
}

/// Labels to start from where the number of clusters is given.
fn given(
    model: &PositionModel,
    k: usize,
    large: bool,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<Vec<Vec<u32>>> {
    let computed = computed_starts(k, model.seed, answers, counts, observer)?;
    let most = if large { computed.len() } else { usize::MAX };
    let start = |s: usize| {
        let mut labels = computed[s % computed.len()].clone();
        if s >= computed.len() {
            perturb(&mut labels, k, model.seed.derive("crowd position start", s as u64));
        }
        labels
    };
    Ok((0..model.restarts.min(most)).map(start).collect())
}

/// Labels of several numbers of clusters.
fn ladder(
    model: &PositionModel,
    truncation: usize,
    large: bool,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<Vec<Vec<u32>>> {
    let steps: &[usize] = if large { &SHORT_LADDER } else { &LADDER };
    let mut steps: Vec<usize> = steps.iter().map(|&k| k.min(truncation)).collect();
    steps.dedup();
    let found: Vec<Vec<Vec<u32>>> = steps
        .into_par_iter()
        .map(|k| {
            let [plain, unit] = spectral::residual(answers, counts, k, model.seed, observer)?;
            Ok(if k == 1 || large { vec![unit] } else { vec![plain, unit] })
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
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
    let mut tried: Vec<Tried> = starts
        .par_iter()
        .map(|labels| run(model, fixed, State::start(fixed, labels), trial, observer))
        .collect::<Result<_>>()?;
    // Stable, so that of equals the first goes on and no choice depends on the order of arrival.
    tried.sort_by(|a, b| b.bound.total_cmp(&a.bound));
    tried.truncate(starts.len().div_ceil(3));
    tried
        .into_par_iter()
        .map(|trial| {
            let left = model.max_iterations.saturating_sub(trial.iterations);
            if trial.converged || left == 0 {
                return Ok(trial);
            }
            let rest = run(model, fixed, trial.state, left, observer)?;
            observer.progress("start", rest.iterations, rest.iterations);
            Ok(Tried { iterations: trial.iterations + rest.iterations, ..rest })
        })
        .collect()
}

/// That of highest bound, the first of equals.
pub(super) fn highest(fits: Vec<Tried>) -> Result<Tried> {
    let best = fits.into_iter().reduce(|best, f| if f.bound > best.bound { f } else { best });
    best.ok_or_else(|| Error::invalid("0 starts; expected at least 1"))
}
