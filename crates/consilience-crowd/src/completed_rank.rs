//! How many clusters a crowd has, as the rank of the completed similarity.

use std::collections::BTreeMap;

use consilience_completion::{Penalty, RobustCompletion};
use consilience_core::{MemoryBudget, Observer, Result, Seed, room};

use crate::answer_counts::AnswerCounts;
use crate::answers::{Answers, GroupAnswer};

/// Weight of the errors: the one at which completions of real crowds are clustered best.
const FACTOR: f64 = 2.0;
/// Relative duality gap.
const TOLERANCE: f64 = 1e-3;
/// Bytes for each row of the answers while they are put in random order.
const SHUFFLED: usize = 150;
/// And afterwards.
const ROW: usize = 16;
/// Bytes of a counted pair, and for each pair answer while it is counted.
const PAIR: usize = 24;
const COUNTED: usize = 48;
/// Bytes for each known entry of a completion, and for each entry of a matrix that it makes.
const KNOWN: usize = 72;
const ENTRY: usize = 56;
/// Eigenvalues that are told.
const TOLD: usize = 30;
/// Most answered objects for which the rank is looked at unasked: beyond, a completion takes
/// minutes.
pub(crate) const MOST_OBJECTS: usize = 1_200;
/// What is told where it is not.
pub(crate) const LEFT_OUT: &str =
    "the rank of the completed similarity was not looked at: the memory budget does not allow it";

/// The numerical rank of a crowd's completed similarity, and what it is judged by.
///
/// With enough answers that are right, the completed similarity of k clusters has rank k. Answers
/// that err leave further eigenvalues; those count which are above the largest that answers without
/// clusters leave: every task keeps its items and takes the groups of another task of as many
/// items. Read it beside [`ClusterCount`](crate::ClusterCount).
///
/// ```
/// use consilience::Clusters;
/// use consilience::crowd::{Answers, CrowdClustering, GroupAnswer};
///
/// // Twenty workers sort 12 of 36 objects each by what remains after division by three, and one by
/// // nothing.
/// let row = |r: usize| (r / 12, (r * 7 + r / 12) % 36);
/// let rows: Vec<GroupAnswer> = (0..240)
///     .map(row)
///     .map(|(worker, item)| (worker, item, if worker == 0 { item / 12 } else { item % 3 }))
///     .map(|(worker, item, group)| GroupAnswer { worker, task: 0, item, group })
///     .collect();
/// let answers = Answers::from_groupings(36, &rows)?;
/// let result = CrowdClustering::new(Clusters::Auto).fit(&answers, &())?.output;
/// let rank = result.completed_rank.expect("answers contradict each other");
/// let above = rank.eigenvalues.iter().filter(|&&x| x > rank.noise_floor).count();
/// assert_eq!(rank.rank, above.max(1));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # References
/// Yi 2014, footnotes of Chapters 3 and 4: the number of clusters may be the rank of the completed
/// matrix. The noise floor is ours.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::CompletedRankFields")
)]
#[non_exhaustive]
pub struct CompletedRank {
    /// Eigenvalues above the noise floor; at least 1.
    pub rank: usize,
    /// The largest eigenvalues of the completed similarity, descending, at most 30.
    pub eigenvalues: Vec<f64>,
    /// The second largest eigenvalue of the completion of answers without clusters; the largest is
    /// how often the crowd says "same" at all.
    pub noise_floor: f64,
}

/// Whether the budget allows the completions, and the answers in random order with their counts,
/// beside the pair counts.
pub(crate) fn is_allowed(answers: &Answers, counts: &AnswerCounts, budget: MemoryBudget) -> bool {
    let (n, pairs) = (answers.answered().len(), answers.most_pairs());
    let (own, rows) = ((counts.bytes(), 1), (answers.n_rows(), ROW));
    let both = [(pairs, PAIR), (answers.n_objects(), size_of::<usize>())];
    // Pairs are known from either side, and objects as the same as themselves.
    let completed = [(2 * pairs + n, KNOWN), (n * n, ENTRY)];
    let shuffled = [own, (answers.n_rows(), SHUFFLED)];
    let counted = [own, rows, (answers.n_pair_answers(), COUNTED)];
    budget.allows_tables(&shuffled, 1)
        && budget.allows_tables(&counted, 1)
        && budget.allows_tables(&[own, rows, both[0], both[1], completed[0], completed[1]], 1)
}

/// Completes the answers, and answers without clusters.
pub(crate) fn of(
    answers: &Answers,
    counts: &AnswerCounts,
    thresholds: [f64; 2],
    seed: Seed,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<CompletedRank> {
    let eigenvalues = |counts: &AnswerCounts, budget| -> Result<Vec<f64>> {
        let observed = counts.reliable_pairs(thresholds[0], thresholds[1])?;
        let completion = RobustCompletion::new()
            .penalty(Penalty::Scaled(FACTOR))
            .tolerance(TOLERANCE)
            .seed(seed)
            .memory_budget(budget);
        let mut values = completion.fit(&observed, observer)?.output.values;
        values.sort_by(|a, b| b.total_cmp(a));
        Ok(values)
    };
    let budget = budget.beside(counts.bytes());
    let mut own = eigenvalues(counts, budget)?;
    let shuffled = shuffled(answers, seed.derive("crowd without clusters", 0))?;
    let without = match shuffled {
        Some(answers) => {
            let counts = AnswerCounts::of(&answers, budget)?;
            eigenvalues(&counts, budget.beside(counts.bytes() + answers.n_rows() * ROW))?
        }
        None => Vec::new(),
    };
    let noise_floor = without.get(1).copied().unwrap_or(0.0).max(0.0);
    let rank = own.iter().filter(|&&x| x > noise_floor).count().max(1);
    own.truncate(TOLD);
    Ok(CompletedRank { rank, eigenvalues: own, noise_floor })
}

/// The same tasks, each with the groups of another of as many items, its own items in any order;
/// `None` without tasks.
fn shuffled(answers: &Answers, seed: Seed) -> Result<Option<Answers>> {
    let mut groupings: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
    for task in answers.tasks() {
        let groups = task.groups().enumerate();
        let grouping = groups.flat_map(|(g, items)| items.iter().map(move |_| g)).collect();
        groupings.entry(task.n_items()).or_default().push(grouping);
    }
    let mut stream = seed.stream();
    groupings.values_mut().for_each(|groupings| stream.shuffle(groupings));
    let mut rows = room::with_capacity(answers.n_rows())?;
    for (t, task) in answers.tasks().enumerate() {
        let mut items: Vec<u32> = task.groups().flatten().copied().collect();
        stream.shuffle(&mut items);
        let grouping = groupings.get_mut(&items.len()).and_then(Vec::pop).unwrap_or_default();
        for (i, group) in items.into_iter().zip(grouping) {
            let item = answers.answered()[i as usize] as usize;
            rows.push(GroupAnswer { worker: task.worker, task: t, item, group });
        }
    }
    if rows.is_empty() {
        return Ok(None);
    }
    Answers::from_groupings(answers.n_objects(), &rows).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_model::crowd;
    use crate::{CrowdClustering, CrowdMethod, PositionModel};
    use consilience_core::Clusters;

    #[test]
    fn shuffled_answers_have_the_same_shapes() {
        let rows = crowd(3, 40, 9, (3, 7), 0.1, 0, 1);
        let answers = Answers::from_groupings(40, &rows).unwrap();
        let other = shuffled(&answers, Seed(2)).unwrap().unwrap();
        let shape = |answers: &Answers| {
            let said = answers.pairs().filter(|p| p.same).count();
            let mut tasks: Vec<Vec<u32>> = answers
                .tasks()
                .map(|t| t.groups().flatten().copied().collect::<Vec<u32>>())
                .collect();
            tasks.iter_mut().for_each(|t| t.sort_unstable());
            tasks.sort();
            (said, tasks, answers.n_pair_answers())
        };
        assert_eq!(shape(&answers), shape(&other));
        assert_ne!(answers, other);
    }

    /// And where it is, nothing is refused on the way.
    #[test]
    fn a_rank_beyond_the_budget_is_left_out_and_told() {
        let rows = crowd(3, 40, 30, (2, 12), 0.1, 0, 3);
        let answers = Answers::from_groupings(40, &rows).unwrap();
        let default = MemoryBudget::default();
        let counts = AnswerCounts::of(&answers, default).unwrap();
        let least = (1..).map(|kib| MemoryBudget::bytes(kib << 10));
        let least = least.clone().find(|&b| is_allowed(&answers, &counts, b)).unwrap();
        let rank = |budget| of(&answers, &counts, [0.0, 0.9], Seed(0), budget, &()).unwrap();
        assert_eq!(rank(least), rank(default));
        // A matrix of so many objects takes more than all else.
        let rows = crowd(3, 1_000, 30, (2, 30), 0.1, 0, 3);
        let answers = Answers::from_groupings(1_000, &rows).unwrap();
        let model = PositionModel::new(Clusters::Auto).restarts(1).max_iterations(1);
        let small = CrowdClustering::new(Clusters::Auto).method(CrowdMethod::Pairs);
        let small = small.alternative(false).position_model(model);
        let fit = small.memory_budget(MemoryBudget::bytes(32 << 20)).fit(&answers, &()).unwrap();
        assert!(fit.output.completed_rank.is_none());
        assert!(fit.report.notes.iter().any(|note| note == LEFT_OUT));
    }

    #[test]
    fn a_planted_rank_is_found() {
        let rows = crowd(4, 80, 40, (2, 20), 0.05, 0, 3);
        let answers = Answers::from_groupings(80, &rows).unwrap();
        let budget = MemoryBudget::default();
        let counts = AnswerCounts::of(&answers, budget).unwrap();
        let found = of(&answers, &counts, [0.0, 0.9], Seed(0), budget, &()).unwrap();
        assert_eq!(found.rank, 4, "{found:?}");
    }
}
