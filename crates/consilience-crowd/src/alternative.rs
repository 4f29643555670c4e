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

/// Standard errors by which the alternative must predict unseen tasks better than the first answer
/// does, and than answers at random (docs/notes/crowds.md).
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
    /// Log-likelihood (nats) of their unseen tasks above that under the main clustering: those of
    /// each half of their tasks, predicted from the other half.
    pub gain: f64,
    /// The gain in standard errors, `gain / sqrt(n v)` for a variance v over the n tasks. Above 4,
    /// or there is no alternative; so is what these tasks gain over answers at random, which may be
    /// less.
    #[doc(alias = "z-score")]
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
        let [over_first, over_blind] = gains(answers, &some, first, model, observer)?;
        if !(over_first.significance.min(over_blind.significance) > SIGNIFICANT) {
            return Ok(None);
        }
        let fitted = fit(&some, model, observer)?;
        let better = explained_better(answers, first, &some, &fitted, model);
        let done = better == members;
        found = Some((some, fitted, over_first));
        if done {
            break;
        }
        members = better;
    }
    let Some((some, fitted, Gain { gain, significance })) = found else { return Ok(None) };
    let rates = worker_rates::table(&some, &fitted.counts, model.shrinkage().pseudo);
    let explained: Vec<usize> =
        rates.iter().filter(|w| w.answers > 0 && w.evidence > 0.0).map(|w| w.worker).collect();
    if explained.len() < 2 {
        return Ok(None);
    }
    let (memberships, _) = memberships::of_all(&some, memberships::weighed(&some, fitted.q)?)?;
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

/// A gain in nats, and in standard errors.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gain {
    gain: f64,
    significance: f64,
}

impl Gain {
    fn of(tasks: &[f64]) -> Self {
        let n = tasks.len() as f64;
        let gain: f64 = tasks.iter().sum();
        let off: f64 = tasks.iter().map(|g| (g - gain / n) * (g - gain / n)).sum();
        // Of gains that are all alike rounding is left: no less than that.
        let least = f64::EPSILON * tasks.iter().map(|g| g * g).sum::<f64>();
        let error = (n * off.max(least) / (n - 1.0)).sqrt();
        Gain { gain, significance: if error > 0.0 { gain / error } else { 0.0 } }
    }
}

/// What the alternative, learned from one half of the tasks, gains on the other half over each of
/// its rivals, the first answer and answering at random; both ways.
fn gains(
    answers: &Answers,
    some: &Answers,
    first: ArrayView2<'_, f64>,
    model: &BlockModel,
    observer: &dyn Observer,
) -> Result<[Gain; 2]> {
    let half = held_out::folds(some, 2, model.own_seed());
    // At random at each worker's own rate, as if all were in one cluster.
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
    Ok(gains.map(|tasks| Gain::of(&tasks)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_model::crowd;

    #[test]
    fn standard_errors_are_about_the_mean() {
        let found = Gain::of(&[1.0, 2.0, 3.0, 4.0]);
        // A variance of 5 / 3 over four tasks.
        assert_eq!(found.gain, 10.0);
        assert!((found.significance - 10.0 / (20.0f64 / 3.0).sqrt()).abs() < 1e-12, "{found:?}");
        // About 0 it would be 5 at most.
        let clear: Vec<f64> = (0..25).map(|t| 3.0 + f64::from(t % 2)).collect();
        assert!((20.0..40.0).contains(&Gain::of(&clear).significance));
        let loss: Vec<f64> = clear.iter().map(|g| -g).collect();
        assert_eq!(Gain::of(&loss).significance, -Gain::of(&clear).significance);
        // Nothing to divide by.
        let alike = Gain::of(&[0.1; 30]);
        assert!(alike.significance > 1e6 && alike.significance.is_finite(), "{alike:?}");
        for tasks in [&[0.0; 30][..], &[], &[2.0]] {
            assert_eq!(Gain::of(tasks).significance, 0.0);
        }
    }

    /// Where random answers came nearer to the alternative, the gain over them was told.
    #[test]
    fn what_is_told_is_the_gain_over_the_main_clustering() {
        let mut rows = crowd(3, 60, 42, (4, 8), 0.05, 0, 6);
        for row in rows.iter_mut().filter(|r| r.worker >= 30) {
            row.group = row.item / 20;
        }
        let answers = Answers::from_groupings(60, &rows).unwrap();
        let model = BlockModel::new(3).restarts(4);
        let labels: Vec<u32> = (0..60).map(|i| i % 3).collect();
        let first = memberships::hard(&labels, 3);
        let counts = ExpectedCounts::of(&answers, first.view(), model.shrinkage()).0;
        let table = worker_rates::table(&answers, &counts, model.shrinkage().pseudo);
        let found = find(&answers, first.view(), &table, &model, &()).unwrap().unwrap();
        assert_eq!(found.workers, (30..42).collect::<Vec<_>>());
        let some = answers.filter(|_, w| w >= 30);
        let [over_first, over_blind] = gains(&answers, &some, first.view(), &model, &()).unwrap();
        assert_eq!((found.gain, found.significance), (over_first.gain, over_first.significance));
        let [first, blind] = [over_first, over_blind].map(|g| g.significance);
        assert!(SIGNIFICANT < blind && blind < first, "{blind} {first}");
    }
}
