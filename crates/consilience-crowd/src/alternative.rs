//! Workers who group by another criterion.

use consilience_core::{Memberships, Observer, Partition, Result};
use ndarray::{Array2, ArrayView2};

use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::block_model::{BlockModel, Fitted, best};
use crate::expected_counts::ExpectedCounts;
use crate::held_out::{self, carry};
use crate::memberships;
use crate::rates::{Rates, per_task};
use crate::worker_rates::{self, WorkerRates};

/// Standard errors by which the alternative must predict unseen tasks better.
const SIGNIFICANT: f64 = 4.0;
/// Fewest tasks that such a comparison is made on.
const FEWEST_TASKS: usize = 20;
/// Times that workers are assigned again to one of the two clusterings.
const ROUNDS: usize = 3;

/// A clustering by another criterion, which some of the workers follow: some sort birds by species,
/// others by the colour of the sky.
///
/// ```
/// use consilience::crowd::{Answers, CrowdClustering, CrowdMethod, GroupAnswer};
///
/// // Twenty workers sort 24 objects by one criterion, twelve by another; two tasks each.
/// let mut rows = Vec::new();
/// for worker in 0..32 {
///     for task in 0..2 {
///         for item in (0..24).filter(|i| (i * 7 + worker + task) % 3 > 0) {
///             let group = if worker < 20 { item % 2 } else { item / 12 };
///             rows.push(GroupAnswer { worker, task, item, group });
///         }
///     }
/// }
/// let answers = Answers::from_groupings(24, &rows)?;
/// let result = CrowdClustering::new(2).method(CrowdMethod::Block).fit(&answers, &())?.output;
/// let other = result.alternative.expect("the answers show it");
/// assert_eq!(other.workers, (20..32).collect::<Vec<_>>());
/// assert!(other.partition.iter().enumerate().all(|(i, c)| c == Some(i / 12)));
/// # Ok::<(), consilience::Error>(())
/// ```
#[doc(alias = "multiple clusterings")]
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::AlternativeClusteringFields")
)]
#[non_exhaustive]
pub struct AlternativeClustering {
    /// The clustering; unlabelled where none of these workers compared an object.
    pub partition: Partition,
    /// Its memberships; column j is label j of the partition.
    pub memberships: Memberships,
    /// The workers that it explains better, by their own numbers.
    pub workers: Vec<usize>,
    /// Log-likelihood (nats) of their unseen tasks above that under the main clustering.
    pub gain: f64,
    /// The gain in standard errors over tasks.
    pub significance: f64,
}

/// Looks for an alternative among the workers whom the first clustering does not explain; `None`
/// unless it predicts their unseen tasks significantly better.
pub(crate) fn find(
    answers: &Answers,
    first: ArrayView2<'_, f64>,
    table: &[WorkerRates],
    model: &BlockModel,
    observer: &dyn Observer,
) -> Result<Option<AlternativeClustering>> {
    let mut members: Vec<bool> = table.iter().map(|w| w.evidence < 0.0 && w.answers > 0).collect();
    let mut found = None;
    for _ in 0..ROUNDS {
        let some = answers.filter(|_, w| members[w]);
        if members.iter().filter(|&&m| m).count() < 2 || some.n_tasks() < FEWEST_TASKS {
            return Ok(None);
        }
        let (gain, significance) = gain(answers, &some, first, model, observer)?;
        if !(significance > SIGNIFICANT) {
            return Ok(None);
        }
        let fitted = fit(&some, model, observer)?;
        let better = explained_better(answers, first, &some, &fitted, model);
        let done = better == members;
        found = Some((some, fitted, gain, significance));
        if done {
            break;
        }
        members = better;
    }
    let Some((some, fitted, gain, significance)) = found else { return Ok(None) };
    let rates = worker_rates::table(&some, &fitted.counts, model.shrinkage().pseudo);
    let explained: Vec<usize> =
        rates.iter().filter(|w| w.answers > 0 && w.evidence > 0.0).map(|w| w.worker).collect();
    if explained.len() < 2 {
        return Ok(None);
    }
    let (memberships, _) = memberships::of_all(&some, fitted.q)?;
    let partition = memberships.hard()?;
    Ok(Some(AlternativeClustering {
        partition,
        memberships,
        workers: explained,
        gain,
        significance,
    }))
}

fn fit(answers: &Answers, model: &BlockModel, observer: &dyn Observer) -> Result<Fitted> {
    let counts = AnswerCounts::of(answers, model.budget())?;
    best(model, answers, &counts, observer)
}

/// What the alternative, learned from one half of the tasks, gains on the other half over the
/// better of its rivals; both ways.
fn gain(
    answers: &Answers,
    some: &Answers,
    first: ArrayView2<'_, f64>,
    model: &BlockModel,
    observer: &dyn Observer,
) -> Result<(f64, f64)> {
    let half = held_out::folds(some, 2, model.own_seed());
    // Rivals: the first answer, and answering at random, at each worker's own rate.
    let mut gains = [Vec::new(), Vec::new()];
    for unseen_half in 0..2 {
        let seen = some.filter(|t, _| half[t] != unseen_half);
        let unseen = some.filter(|t, _| half[t] == unseen_half);
        let fitted = fit(&seen, &model.without_perturbations(), observer)?;
        let rates = Rates::of(&fitted.counts, model.shrinkage());
        let second = per_task(&unseen, carry(&seen, fitted.q.view(), &unseen).view(), &rates);
        let all = Array2::ones((answers.answered().len(), 1));
        for (rival, gains) in [first, all.view()].into_iter().zip(&mut gains) {
            let rival_seen = carry(answers, rival, &seen);
            let shrinkage = model.shrinkage();
            let rates =
                Rates::of(&ExpectedCounts::of(&seen, rival_seen.view(), shrinkage).0, shrinkage);
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
    model: &BlockModel,
) -> Vec<bool> {
    let total = |q: ArrayView2<'_, f64>| {
        let rates =
            Rates::of(&ExpectedCounts::of(answers, q, model.shrinkage()).0, model.shrinkage());
        let mut of_worker = vec![0.0; answers.n_workers()];
        for (task, l) in answers.tasks().zip(per_task(answers, q, &rates)) {
            of_worker[task.worker] += l;
        }
        of_worker
    };
    let second = total(carry(some, fitted.q.view(), answers).view());
    second.iter().zip(total(first)).map(|(&s, f)| s > f).collect()
}
