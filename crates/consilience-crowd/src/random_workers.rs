//! Workers who answer at random, found before the number of clusters is known.

use std::collections::BTreeSet;

use consilience_core::{Observer, Result};

use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::block_model::{self, BlockModel};
use crate::expected_counts::ExpectedCounts;
use crate::worker_rates;

/// Clusters of the model that tells who answers at random. With 4 or with 14 the same workers are
/// named, since only what is inside a cluster and what is not has to be right on the whole.
const CLUSTERS: usize = 8;
/// How often the others are looked at anew: without the first that are named, the rates of the
/// crowd tell more of the next.
const ROUNDS: usize = 5;

/// What is said where the look is left out for its memory.
pub(crate) const LEFT_OUT: &str = "the number of clusters is by the answers of all workers: who \
     answers at random is not looked for within the memory budget";

/// The answers of the other workers, and the workers who were left out.
pub(crate) struct Others {
    pub(crate) answers: Answers,
    pub(crate) counts: AnswerCounts,
    pub(crate) random: BTreeSet<usize>,
}

/// Whether the look, and the answers of the others beside all, fit the budget.
pub(crate) fn is_allowed(model: BlockModel, answers: &Answers, counts: &AnswerCounts) -> bool {
    let model = of_look(model, answers, counts);
    let total = answers.n_pair_answers();
    let again = model.budget().check_table("pair answers", total, 2, 24);
    again.is_ok() && model.check_memory(answers).is_ok()
}

/// These fits are only compared, and the counts of all answers are held beside them.
fn of_look(model: BlockModel, answers: &Answers, counts: &AnswerCounts) -> BlockModel {
    let model = model.of(CLUSTERS.min(answers.answered().len()).max(1));
    model.memory_budget(model.budget().beside(counts.bytes())).without_perturbations()
}

/// The answers without those of workers who answer at random under a block model; none where
/// nobody does. At most [`ROUNDS`] fits. The caller has seen that it [is
/// allowed](is_allowed).
pub(crate) fn left_out(
    model: BlockModel,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<Option<Others>> {
    let model = of_look(model, answers, counts);
    let mut others: Option<Others> = None;
    for _ in 0..ROUNDS {
        let (heard, counts) =
            others.as_ref().map_or((answers, counts), |others| (&others.answers, &others.counts));
        let found = named(&model, heard, counts, observer)?;
        if found.is_empty() || found.len() == heard.n_workers() {
            break;
        }
        let left = heard.without_workers(&found)?;
        // Nothing is left to compare where nobody else saw two objects.
        if left.n_pair_answers() == 0 {
            break;
        }
        let mut random = others.take().map(|others| others.random).unwrap_or_default();
        random.extend(found);
        let counts = AnswerCounts::of(&left, model.budget())?;
        others = Some(Others { answers: left, counts, random });
    }
    Ok(others)
}

/// Workers who seem to answer at random, by their own numbers.
fn named(
    model: &BlockModel,
    answers: &Answers,
    counts: &AnswerCounts,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    let fitted = block_model::best(model, answers, counts, observer)?;
    let expected = ExpectedCounts::of(answers, fitted.q.view(), model.shrinkage()).0;
    let workers = worker_rates::table(answers, &expected, model.shrinkage().pseudo);
    Ok(workers.iter().filter(|w| w.is_spammer()).map(|w| w.worker).collect())
}

#[cfg(test)]
mod tests {
    use consilience_core::{Clusters, MemoryBudget, Seed};

    use super::*;
    use crate::{CrowdClustering, PairAnswer};

    /// Twenty workers on random pairs of 120 objects in five classes, one answer in twenty wrong;
    /// the first `constant` say "same" of all.
    fn crowd(constant: usize) -> Answers {
        let mut draw = Seed(3).stream();
        let mut object = || (draw.uniform() * 120.0) as usize;
        let mut rows = Vec::new();
        for at in 0..3_000usize {
            let (i, j, worker) = (object(), object(), at % 20);
            let right = !at.is_multiple_of(17);
            let same = worker < constant || (i % 5 == j % 5) == right;
            if i != j {
                rows.push(PairAnswer { worker, i, j, same });
            }
        }
        Answers::from_pairs(120, &rows).unwrap()
    }

    #[test]
    fn who_says_same_of_all_is_left_out_and_nobody_else() {
        for constant in [0, 1, 10] {
            let answers = crowd(constant);
            let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
            let model = BlockModel::new(5);
            let found = left_out(model, &answers, &counts, &()).unwrap();
            let random = found.map(|others| others.random).unwrap_or_default();
            assert_eq!(random, (0..constant).collect());
        }
    }

    #[test]
    fn the_number_of_clusters_is_by_the_others() {
        let fit = CrowdClustering::new(Clusters::Auto).fit(&crowd(10), &()).unwrap();
        let count = fit.output.cluster_count.as_ref().map(|count| count.most_probable());
        assert_eq!(count, Some(5));
        let note = "10 workers seem to answer at random, and the number of clusters is by the \
             answers of the other 10";
        assert!(fit.report.notes.iter().any(|n| n == note), "{:?}", fit.report.notes);
        // They are workers of the crowd all the same.
        assert_eq!(fit.output.workers.len(), 20);
        assert_eq!(fit.output.spammers().count(), 10);
    }

    /// With too little memory for the look all workers count, and the report says so.
    #[test]
    fn the_look_fits_the_budget_or_is_left_out() {
        let answers = crowd(1);
        let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
        let allowed = |bytes: u64| {
            let model = BlockModel::new(5).memory_budget(MemoryBudget::bytes(bytes));
            is_allowed(model, &answers, &counts)
        };
        let least = (10..).map(|power| 1u64 << power).find(|&bytes| allowed(bytes)).unwrap();
        assert!(!allowed(least / 8));
    }
}
