//! How well a clustering predicts answers that it has not seen.

use consilience_core::Seed;
use ndarray::{Array2, ArrayView2};

use crate::answers::Answers;
use crate::expected_counts::{ExpectedCounts, Shrinkage};
use crate::memberships::hard;
use crate::rates::{Rates, per_task};

/// The fold of each task.
pub(crate) fn folds(answers: &Answers, folds: usize, seed: Seed) -> Vec<usize> {
    let mut fold: Vec<usize> = (0..answers.n_tasks()).map(|t| t % folds).collect();
    seed.derive("crowd folds", 0).stream().shuffle(&mut fold);
    fold
}

/// Log-likelihood (nats) of each unseen task under a clustering of the seen objects, with rates
/// learned from the seen answers. Objects that no seen answer is about are in every cluster alike.
pub(crate) fn score(
    seen: &Answers,
    labels: &[u32],
    k: usize,
    shrinkage: Shrinkage,
    unseen: &Answers,
) -> Vec<f64> {
    let q = hard(labels, k);
    let rates = Rates::of(&ExpectedCounts::of(seen, q.view(), shrinkage).0, shrinkage);
    let carried = carry(seen, q.view(), unseen);
    per_task(unseen, carried.view(), &rates)
}

/// Memberships of the answered objects of `from` for those of `to`; uniform where there are none.
pub(crate) fn carry(from: &Answers, q: ArrayView2<'_, f64>, to: &Answers) -> Array2<f64> {
    let k = q.ncols();
    let mut out = Array2::from_elem((to.answered().len(), k), 1.0 / k as f64);
    for (mut row, object) in out.rows_mut().into_iter().zip(to.answered()) {
        if let Ok(at) = from.answered().binary_search(object) {
            row.assign(&q.row(at));
        }
    }
    out
}
