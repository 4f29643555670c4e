//! The starts and the loop.

use consilience_core::{Error, Observer, Report, Result, Seed, Status};
use ndarray::{Array2, ArrayView2};

use super::sweep::{Occurrences, Weights, sweep};
use super::{BlockModel, growth};
use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::best::{best_fits, each_of};
use crate::dawid_skene::Turned;
use crate::expected_counts::ExpectedCounts;
use crate::latent_class::LatentClasses;
use crate::memberships::{ln_share, most_probable, soft};
use crate::rates::{Rates, per_task};
use crate::{dawid_skene, latent_class, spectral};

/// Starts that are computed; others are these, perturbed.
pub(super) const COMPUTED_STARTS: usize = 4;
/// Iterations after which starts are compared; a third of them goes on.
const TRIAL: usize = 20;
/// Crowds whose sweeps cost more than this, rows times clusters squared, get the computed starts
/// alone, and these a shorter trial.
const LARGE: usize = 20_000_000;
const SHORT_TRIAL: usize = 5;
/// With more pair answers no start is added: what it needs goes through all of them many times.
const MANY: usize = 1_000_000;
/// Weight of random memberships in a perturbed start.
const PERTURBATION: f64 = 0.3;
/// Share of answers from workers who contradict the others from which on the computed starts, which
/// take all answers at their word, are not enough.
const CONTRARY: f64 = 0.25;
/// Nats by which the added start has to be better: what is found another way as well, to within the
/// tolerance, stays as it is.
const BETTER: f64 = 0.01;

/// A fitted start, over the answered objects.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) q: Array2<f64>,
    pub(crate) counts: ExpectedCounts,
    pub(crate) bound: f64,
    pub(crate) iterations: usize,
    pub(crate) converged: bool,
    /// Starts that were asked for and left out.
    pub(crate) left_out: usize,
}

/// A start on its way.
struct Trial {
    q: Array2<f64>,
    bound: f64,
    iterations: usize,
    converged: bool,
}

impl Fitted {
    pub(crate) fn describe(&self, report: &mut Report) {
        report.iterations = self.iterations;
        report.objective = Some(self.bound);
        if !self.converged {
            report.status = Status::MaxIterations;
        }
        if self.left_out > 0 {
            let left_out = self.left_out;
            report.notes.push(format!("a crowd so large is fitted from {left_out} starts fewer"));
        }
    }

    /// The most probable cluster of each answered object, the first of equals.
    pub(crate) fn labels(&self) -> Vec<u32> {
        most_probable(self.q.view())
    }
}

/// Labels that fits begin from: spectral clusterings of the mean answers, the residual, the
/// residual's rows of norm 1 and Dawid and Skene's posteriors.
pub(crate) fn computed_starts(
    k: usize,
    seed: Seed,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<[Vec<u32>; COMPUTED_STARTS]> {
    let latent = || {
        let latent = dawid_skene::posterior(answers, k, observer)?.matrix();
        spectral::cluster(&latent, k, seed, observer)
    };
    let (latent, (residual, mean)) = rayon::join(latent, || {
        rayon::join(
            || spectral::residual(answers, counts, k, seed, observer),
            || spectral::mean_answers(answers, counts, k, seed, observer),
        )
    });
    let [residual, unit] = residual?;
    Ok([mean?, residual, unit, latent?])
}

/// Memberships that fits begin from: those that are computed, then perturbations of these. A
/// cluster of one object has no pair within, so where clusters are so many that some have one,
/// those of two objects or more are starts as well.
fn starts(
    model: &BlockModel,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<Vec<Array2<f64>>> {
    let k = model.clusters.min(answers.answered().len()).max(1);
    let mut computed = computed_starts(k, model.seed, answers, counts, observer)?.to_vec();
    let pairs = (answers.answered().len() / 2).max(1);
    if k > pairs {
        computed.extend(computed_starts(pairs, model.seed, answers, counts, observer)?);
    }
    let computed: Vec<_> = computed.iter().map(|labels| soft(labels, k)).collect();
    let few = if is_large(answers, k) { computed.len() } else { usize::MAX };
    Ok((0..model.restarts.min(few))
        .map(|s| {
            let mut q = computed[s % computed.len()].clone();
            if s >= computed.len() {
                perturb(&mut q, model.seed.derive("crowd start", s as u64));
            }
            q
        })
        .collect())
}

/// A start beside the others, for the crowds whose spectral clusterings do not show the clusters:
/// where objects were compared with neighbours only, or much was answered the wrong way round. All
/// others are left as they are, and so are fits from the computed starts alone.
fn added_start(
    model: &BlockModel,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<Option<Array2<f64>>> {
    let k = model.clusters.min(answers.answered().len()).max(1);
    let large = is_large(answers, k) || answers.n_pair_answers() > MANY;
    if k < 2 || model.restarts <= COMPUTED_STARTS || large {
        return Ok(None);
    }
    let turned = Turned::of(answers, observer)?;
    if turned.share < CONTRARY && !spectral::is_local(answers, counts, model.seed, observer)? {
        return Ok(None);
    }
    let odds = turned.log_odds(k, observer)?;
    Ok(Some(soft(&growth::labels(&odds, k, model.seed, observer)?, k)))
}

/// The starts that a fit begins with at most: of a large crowd only the computed ones.
pub(super) fn most_starts(model: &BlockModel, answers: &Answers) -> usize {
    let (k, seen) = (model.clusters, answers.answered().len());
    let computed = if k > seen / 2 { 2 * COMPUTED_STARTS } else { COMPUTED_STARTS };
    if is_large(answers, k.min(seen)) { model.restarts.min(computed) } else { model.restarts }
}

fn is_large(answers: &Answers, k: usize) -> bool {
    answers.n_rows().saturating_mul(k.saturating_mul(k)) > LARGE
}

/// The best of all starts.
pub(crate) fn best(
    model: &BlockModel,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<Fitted> {
    if model.shrinkage.by_worker {
        let [_, own] = with_own_rates(model, answers, counts, observer)?;
        return Ok(own);
    }
    let starts = starts(model, answers, counts, observer)?;
    let added = added_start(model, answers, counts, observer)?;
    best_of(model, answers, &starts, added, observer)
}

/// The best fits without and with rates between clusters of each worker. Those have many optima,
/// and two more starts: the fit without them, and latent classes.
pub(crate) fn with_own_rates(
    model: &BlockModel,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<[Fitted; 2]> {
    let mut starts = starts(model, answers, counts, observer)?;
    let added = added_start(model, answers, counts, observer)?;
    let plain = best_of(&model.rates_between_by_worker(false), answers, &starts, added, observer)?;
    let latent = latent_class::best(model, answers, &starts, observer)?;
    starts.extend([latent.q, plain.q.clone()]);
    let own = best_of(&model.rates_between_by_worker(true), answers, &starts, None, observer)?;
    Ok([plain, own])
}

/// Latent classes, the best of all starts.
pub(crate) fn latent_classes(
    model: &BlockModel,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<LatentClasses> {
    latent_class::best(model, answers, &starts(model, answers, counts, observer)?, observer)
}

/// The best of the given starts: all run for a while, those of highest bound go on until they
/// converge. The added start takes nobody's place: it goes on beside them where it is ahead of the
/// last of them.
fn best_of(
    model: &BlockModel,
    answers: &Answers,
    starts: &[Array2<f64>],
    added: Option<Array2<f64>>,
    observer: &dyn Observer,
) -> Result<Fitted> {
    let occurrences = Occurrences::of(answers)?;
    let trial = if is_large(answers, model.clusters) { SHORT_TRIAL } else { TRIAL };
    let run = |q, most| fit_from(model, answers, &occurrences, q, most, observer);
    let start = |s: usize| run(starts[s].clone(), trial);
    let (usual, abreast) = (starts.len().div_ceil(3), model.abreast(answers));
    let (tried, added) = rayon::join(
        || best_fits(starts.len(), (usual, abreast), |trial: &Trial| trial.bound, start),
        || added.map(|start| run(start, trial)).transpose(),
    );
    let mut tried = tried?;
    let last = tried.last().map_or(f64::NEG_INFINITY, |last| last.bound);
    tried.extend(added?.filter(|added| added.bound > last));
    let mut finished = each_of(tried, abreast, |trial: Trial| {
        let left = model.max_iterations.saturating_sub(trial.iterations);
        if trial.converged || left == 0 {
            return Ok(trial);
        }
        let rest = run(trial.q, left)?;
        Ok(Trial { iterations: trial.iterations + rest.iterations, ..rest })
    })?;
    let added = finished.split_off(usual);
    let best = finished.into_iter().reduce(|best, f| if f.bound > best.bound { f } else { best });
    let best = best.ok_or_else(|| Error::invalid("0 starts; expected at least 1"))?;
    let best = added
        .into_iter()
        .fold(best, |best, f| if f.bound > best.bound + BETTER { f } else { best });
    let Trial { q, bound, iterations, converged } = best;
    // Those of every trial would be k^2 for each worker.
    let (counts, _) = ExpectedCounts::of(answers, q.view(), model.shrinkage);
    let left_out = model.restarts.saturating_sub(starts.len());
    Ok(Fitted { q, counts, bound, iterations, converged, left_out })
}

fn perturb(q: &mut Array2<f64>, seed: Seed) {
    let mut stream = seed.stream();
    for mut row in q.rows_mut() {
        // Exponential variates, normalized, are uniform on the simplex.
        let draws: Vec<f64> = row.iter().map(|_| -(1.0 - stream.uniform()).ln()).collect();
        let sum: f64 = draws.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        for (x, d) in row.iter_mut().zip(draws) {
            *x = (1.0 - PERTURBATION) * *x + PERTURBATION * d / sum;
        }
    }
}

/// Sweeps from the given memberships until they converge, at most `most` times.
fn fit_from(
    model: &BlockModel,
    answers: &Answers,
    occurrences: &Occurrences,
    mut q: Array2<f64>,
    most: usize,
    observer: &dyn Observer,
) -> Result<Trial> {
    let (mut iterations, mut converged) = (0, false);
    while iterations < most.min(model.max_iterations) && !converged {
        observer.check()?;
        let (counts, mut sums) = ExpectedCounts::of(answers, q.view(), model.shrinkage);
        let weights = Weights::of(&Rates::of(&counts, model.shrinkage));
        let share = ln_share(q.view());
        let change = sweep(&mut q, &mut sums, occurrences, &weights, &share);
        iterations += 1;
        converged = change < model.tolerance;
    }
    observer.progress("start", iterations, iterations);
    let (counts, _) = ExpectedCounts::of(answers, q.view(), model.shrinkage);
    let bound = bound(answers, &Rates::of(&counts, model.shrinkage), q.view());
    Ok(Trial { q, bound, iterations, converged })
}

/// Expected log-likelihood of answers and clusters, plus the entropy of Q.
fn bound(answers: &Answers, rates: &Rates, q: ArrayView2<'_, f64>) -> f64 {
    let share = ln_share(q);
    let mut total: f64 = per_task(answers, q, rates).iter().sum();
    for row in q.rows() {
        for (&x, s) in row.iter().zip(&share) {
            if x > 0.0 {
                total += x * (s - x.ln());
            }
        }
    }
    total
}
