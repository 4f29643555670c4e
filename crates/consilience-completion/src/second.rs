//! Workers who group by another criterion.

use consilience_core::{Memberships, Observer, Partition, Result};
use ndarray::{Array2, ArrayView2};

use crate::blocks::{Counts, Fitted, WorkerBlocks, memberships, per_task};
use crate::held_out::{self, carry};
use crate::workers::{self, WorkerRates};
use crate::{AnswerCounts, Answers};

/// Standard errors by which the second answer must foretell unseen tasks better.
const SIGNIFICANT: f64 = 4.0;
/// Fewest tasks that such a comparison is made on.
const FEWEST_TASKS: usize = 20;
/// Times that workers are shared out anew between the two answers.
const ROUNDS: usize = 3;

/// A clustering by another criterion, which some of the workers follow.
#[derive(Clone, Debug)]
pub struct SecondAnswer {
    /// The clustering; unlabelled where none of these workers compared an object.
    pub partition: Partition,
    /// Its memberships.
    pub memberships: Memberships,
    /// The workers that it explains better, by their own numbers.
    pub workers: Vec<usize>,
    /// Log-likelihood (nats) of their unseen tasks above that under the first answer.
    pub gain: f64,
    /// The gain in standard errors over tasks.
    pub significance: f64,
}

/// Looks for a second answer among the workers whom the first one does not explain; `None` unless
/// it foretells their unseen tasks significantly better.
pub(crate) fn find(
    answers: &Answers,
    first: ArrayView2<'_, f64>,
    table: &[WorkerRates],
    blocks: &WorkerBlocks,
    observer: &dyn Observer,
) -> Result<Option<SecondAnswer>> {
    let mut members: Vec<bool> = table.iter().map(|w| w.evidence < 0.0 && w.answers > 0).collect();
    let mut found = None;
    for _ in 0..ROUNDS {
        let some = answers.filter(|_, w| members[w]);
        if members.iter().filter(|&&m| m).count() < 2 || some.n_tasks() < FEWEST_TASKS {
            return Ok(None);
        }
        let (gain, significance) = gain(answers, &some, first, blocks, observer)?;
        if !(significance > SIGNIFICANT) {
            return Ok(None);
        }
        let fitted = fit(&some, blocks, observer)?;
        let better = explained_better(answers, first, &some, &fitted, blocks);
        let done = better == members;
        found = Some((some, fitted, gain, significance));
        if done {
            break;
        }
        members = better;
    }
    let Some((some, fitted, gain, significance)) = found else { return Ok(None) };
    let memberships = memberships(&some, fitted.q.view())?;
    let rates = workers::table(&some, &fitted.counts, blocks.shrinkage().pseudo);
    let explained: Vec<usize> =
        rates.iter().filter(|w| w.answers > 0 && w.evidence > 0.0).map(|w| w.worker).collect();
    if explained.len() < 2 {
        return Ok(None);
    }
    let partition = memberships.hard()?;
    Ok(Some(SecondAnswer { partition, memberships, workers: explained, gain, significance }))
}

fn fit(answers: &Answers, blocks: &WorkerBlocks, observer: &dyn Observer) -> Result<Fitted> {
    let counts = AnswerCounts::of(answers, blocks.budget())?;
    blocks.best(answers, &counts, observer)
}

/// What the second answer, learnt from one half of the tasks, gains on the other half over the
/// better of its rivals; both ways.
fn gain(
    answers: &Answers,
    some: &Answers,
    first: ArrayView2<'_, f64>,
    blocks: &WorkerBlocks,
    observer: &dyn Observer,
) -> Result<(f64, f64)> {
    let half = held_out::folds(some, 2, blocks.own_seed());
    // Rivals: the first answer, and answering without looking, at each worker's own rate.
    let mut gains = [Vec::new(), Vec::new()];
    for unseen_half in 0..2 {
        let seen = some.filter(|t, _| half[t] != unseen_half);
        let unseen = some.filter(|t, _| half[t] == unseen_half);
        let fitted = fit(&seen, &blocks.without_perturbations(), observer)?;
        let rates = fitted.counts.rates(blocks.shrinkage());
        let second = per_task(&unseen, carry(&seen, fitted.q.view(), &unseen).view(), &rates);
        let all = Array2::ones((answers.answered().len(), 1));
        for (rival, gains) in [first, all.view()].into_iter().zip(&mut gains) {
            let rival_seen = carry(answers, rival, &seen);
            let shrinkage = blocks.shrinkage();
            let rates = Counts::of(&seen, rival_seen.view(), shrinkage).0.rates(shrinkage);
            let theirs = per_task(&unseen, carry(answers, rival, &unseen).view(), &rates);
            gains.extend(second.iter().zip(theirs).map(|(a, b)| a - b));
        }
    }
    let [over_first, over_blind] = gains.map(|gains| {
        let sum: f64 = gains.iter().sum();
        let squares: f64 = gains.iter().map(|g| g * g).sum();
        (sum, if squares > 0.0 { sum / squares.sqrt() } else { 0.0 })
    });
    Ok(if over_first.1 < over_blind.1 { over_first } else { over_blind })
}

/// Which workers the second answer explains better than the first.
fn explained_better(
    answers: &Answers,
    first: ArrayView2<'_, f64>,
    some: &Answers,
    fitted: &Fitted,
    blocks: &WorkerBlocks,
) -> Vec<bool> {
    let total = |q: ArrayView2<'_, f64>| {
        let rates = Counts::of(answers, q, blocks.shrinkage()).0.rates(blocks.shrinkage());
        let mut of_worker = vec![0.0; answers.n_workers()];
        for (task, l) in answers.tasks().zip(per_task(answers, q, &rates)) {
            of_worker[task.worker] += l;
        }
        of_worker
    };
    let second = total(carry(some, fitted.q.view(), answers).view());
    second.iter().zip(total(first)).map(|(&s, f)| s > f).collect()
}
