//! The starts, and the loop.

use consilience_core::{Observer, Report, Result, Status};
use consilience_num::reduce::try_map_few;
use ndarray::Array2;

use super::PositionModel;
use super::layout::Layout;
use super::prior::Prior;
use super::search::{MERGES, NEAR, Seen, search};
use super::small::Shape;
use super::state::Fixed;
use super::trials::{Tried, finished, highest, perturb, table};
use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::block_model::computed_starts;
use crate::cluster_count::ClusterCount;
use crate::memberships::most_probable;
use crate::spectral;

/// Rounds after which starts are compared; a third of them goes on.
const TRIAL: usize = 12;
/// Crowds of more pair answers get fewer starts and a shorter trial.
const LARGE: usize = 1_000_000;
const SHORT_TRIAL: usize = 4;
/// With more pair answers than this, long tasks are read in part: a few workers who sort thousands
/// of objects each give more than a round can go through, and these depend on each other.
pub(crate) const TOO_MANY: usize = 3_000_000;
/// Items of a part at most, and how often a task is cut into parts: with one cut, the parts of a
/// single task have nothing in common.
const PART: usize = 30;
const CUTS: usize = 3;
/// Where one more round would raise the bound by so many nats or more, that is told.
const TOLD: f64 = 1.0;
/// Numbers of clusters of the starts where none is given.
const LADDER: [usize; 11] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20];
const SHORT_LADDER: [usize; 4] = [2, 5, 10, 20];

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
    /// By how much one more round would raise the bound.
    pub(crate) rising: f64,
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
        if !self.converged || self.rising >= TOLD {
            let ended = if self.converged { "ended with" } else { "was stopped before" };
            report.notes.push(format!(
                "the fit of positions {ended} memberships at rest; one more round would raise its \
                 evidence bound by {:.1} nats",
                self.rising
            ));
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

/// The best of all starts; `clusters` components at most, or as many as the answers ask for.
pub(crate) fn fit(
    model: &PositionModel,
    clusters: Option<usize>,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<FittedPositions> {
    let (all, abreast) = (answers.n_pair_answers(), model.abreast(answers));
    let parts = if all > TOO_MANY { answers.cut(PART, CUTS, model.seed)? } else { None };
    let read = parts.as_ref().unwrap_or(answers);
    let large = read.n_pair_answers() > LARGE;
    let mut found = from_starts(model, clusters, (read, counts), (large, abreast), observer)?;
    let read = read.n_pair_answers();
    found.read = (read < all).then_some([read, all]);
    Ok(found)
}

/// About the bound of a fit, from few starts with a short trial, as large crowds get.
pub(crate) fn about(
    model: &PositionModel,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<f64> {
    let abreast = model.abreast(answers);
    Ok(from_starts(model, None, (answers, counts), (true, abreast), observer)?.bound)
}

/// The best of all starts; of few for `large` crowds.
fn from_starts(
    model: &PositionModel,
    clusters: Option<usize>,
    (answers, counts): (&Answers, &AnswerCounts),
    (large, abreast): (bool, usize),
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
            rising: 0.0,
            read: None,
        });
    }
    let starts = match clusters {
        Some(_) => given(model, truncation, large, answers, counts, observer)?,
        None => ladder(model, truncation, large, answers, counts, observer)?,
    };
    let layout = Layout::of(answers);
    let fixed = Fixed { layout: &layout, shape, prior: Prior::default(), truncation, abreast };
    let trial = if large { SHORT_TRIAL } else { TRIAL };
    let fits = finished(model, &fixed, &starts, trial, observer)?;
    let (best, seen) = match clusters {
        Some(_) => (highest(fits)?, Seen::default()),
        None => search(model, &fixed, fits, (answers, counts), (trial, large), observer)?,
    };
    let Tried { mut state, bound, iterations, converged } = best;
    let q = table(n, truncation, &state.mixture.q);
    let seed = model.seed.derive("crowd cluster count", 0);
    let count = seen.count(n, truncation, seed);
    let count = count.unwrap_or_else(|| ClusterCount::of(q.view(), seed));
    let positions = table(n, model.dimensions, &state.objects.mean);
    state.round(&fixed);
    let rising = state.bound(&fixed) - bound;
    Ok(FittedPositions { q, positions, count, bound, iterations, converged, rising, read: None })
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

/// The numbers of clusters of the ladder.
fn steps(truncation: usize, large: bool) -> Vec<usize> {
    let steps: &[usize] = if large { &SHORT_LADDER } else { &LADDER };
    let mut steps: Vec<usize> = steps.iter().map(|&k| k.min(truncation)).collect();
    steps.dedup();
    steps
}

/// Rows of the tasks that are read: those of every part where long tasks are cut.
pub(super) fn rows_read(answers: &Answers) -> usize {
    let cut = answers.n_pair_answers() > TOO_MANY;
    answers.n_rows().saturating_mul(if cut { CUTS } else { 1 })
}

/// States that a fit holds at most beside those on their way: a third of the starts goes on, beside
/// the best of those before; then one is compared with itself and with what is merged of it.
pub(super) fn states_kept(model: &PositionModel, given: bool, truncation: usize) -> usize {
    if given {
        return model.restarts.div_ceil(3);
    }
    let starts = 2 * steps(truncation, false).len();
    let near = NEAR * model.restarts.div_ceil(NEAR);
    1 + starts.max(near).div_ceil(3).max(1 + MERGES)
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
    let steps = steps(truncation, large);
    let found = try_map_few(steps.len(), model.spectral_abreast(answers), &|at| {
        let k = steps[at];
        let [plain, unit] = spectral::residual(answers, counts, k, model.seed, observer)?;
        Result::Ok(if k == 1 || large { vec![unit] } else { vec![plain, unit] })
    })?;
    Ok(found.into_iter().flatten().collect())
}
