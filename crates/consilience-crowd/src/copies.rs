//! Workers whose answers are all the same.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use consilience_core::{Error, MemoryBudget, Result, ensure, room};

use crate::answer_counts::AnswerCounts;
use crate::answers::{Answers, GroupAnswer, Task};

/// Nats that equal answers must be improbable by for workers who do not know of each other, at the
/// rate at which answers about the same pairs differ: once in a million.
const IMPROBABLE: f64 = 14.0;

/// What a worker said, whatever the order of the tasks.
#[derive(Clone, Copy, Default)]
struct Said {
    /// Sum of the tasks' hashes.
    hash: u64,
    /// Answers that do not follow from others of the same task.
    answers: usize,
    same: bool,
    apart: bool,
}

impl Said {
    fn add(&mut self, task: Task<'_>) {
        let mut hasher = DefaultHasher::new();
        task.groups().for_each(|items| items.hash(&mut hasher));
        self.hash = self.hash.wrapping_add(hasher.finish());
        self.answers += task.n_items() - 1;
        self.same |= task.groups().any(|items| items.len() > 1);
        self.apart |= task.groups().count() > 1;
    }

    /// Who says the same of every pair is no copy of others who do.
    fn tells(&self) -> bool {
        self.same && self.apart
    }
}

/// Sets of workers, by their own numbers, who gave equal answers to equal questions, so many that
/// they hardly came to them each alone: at the rate at which two answers about the same pair
/// contradict each other, where each set counts once. A crowd without contradictions has none:
/// there everybody may be right.
///
/// O(items + w log w) for w workers where all answers differ, else as [`AnswerCounts::of`].
pub(crate) fn sets(answers: &Answers, budget: MemoryBudget) -> Result<Vec<Vec<usize>>> {
    let mut said = room::filled(answers.n_workers(), Said::default())?;
    answers.tasks().for_each(|task| said[task.worker].add(task));
    let mut sets = BTreeMap::<(u64, usize), Vec<usize>>::new();
    for (s, &worker) in said.iter().zip(answers.workers()).filter(|(s, _)| s.tells()) {
        sets.entry((s.hash, s.answers)).or_default().push(worker);
    }
    sets.retain(|_, set| set.len() > 1);
    if sets.is_empty() {
        return Ok(Vec::new());
    }
    let others: Vec<usize> = sets.values().flat_map(|set| &set[1..]).copied().collect();
    let once = AnswerCounts::of(&answers.without_workers(&others)?, budget)?;
    let [differ, pairs] = once.contradictions();
    let nats = -(1.0 - differ / pairs.max(1.0)).ln();
    sets.retain(|&(_, answers), _| answers as f64 * nats > IMPROBABLE);
    let mut sets: Vec<_> = sets.into_values().collect();
    sets.sort_unstable();
    Ok(sets)
}

/// What there is to say of these sets, and of answers given again.
pub(crate) fn notes(
    answers: &Answers,
    counts: &AnswerCounts,
    sets: &[Vec<usize>],
) -> impl Iterator<Item = String> {
    note(sets).into_iter().chain(repeats(answers, counts))
}

/// A sentence about these sets.
fn note(sets: &[Vec<usize>]) -> Option<String> {
    let workers: usize = sets.iter().map(Vec::len).sum();
    let sets = match sets.len() {
        0 => return None,
        1 => String::new(),
        more => format!(" in {more} sets"),
    };
    Some(format!(
        "{workers} workers{sets} gave the same answers to the same questions: if some copied, \
         count one of each, for every worker is a witness"
    ))
}

/// A sentence about workers who were asked about the same pairs again and repeat their errors: they
/// contradict themselves less than half as often as different workers contradict each other. Only
/// where a tenth of all answers on single pairs at least are given again.
fn repeats(answers: &Answers, counts: &AnswerCounts) -> Option<String> {
    let mut tasks = answers.tasks().filter(|task| task.n_items() == 2).peekable();
    let (mut asked, mut all, mut repeated) = (Vec::new(), 0, 0);
    let mut own = [0.0, 0.0];
    // Tasks are in the order of the workers.
    while let Some(task) = tasks.next() {
        let mut items = task.groups().flatten().copied();
        asked.push((items.next(), items.next(), task.groups().count() == 1));
        if tasks.peek().is_some_and(|next| next.worker == task.worker) {
            continue;
        }
        asked.sort_unstable();
        for pair in asked.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (count, same) = (pair.len(), pair.iter().filter(|answer| answer.2).count());
            all += count;
            repeated += count - 1;
            own[0] += (same * (count - same)) as f64;
            own[1] += (count * (count - 1)) as f64 / 2.0;
        }
        asked.clear();
    }
    let [differ, pairs] = counts.contradictions();
    let others = (differ - own[0]) / (pairs - own[1]).max(1.0);
    let like_others = own[0] >= others * own[1] / 2.0;
    (repeated * 10 >= all && !like_others).then(|| {
        format!(
            "{repeated} of {all} answers on pairs were given again by the same worker, with hardly \
             a contradiction where different workers contradict each other: all are counted, and \
             repeated errors with them; keep one answer of a worker on a pair"
        )
    })
}

impl Answers {
    /// Workers who may have copied: sets of those, by their own numbers, who gave equal answers to
    /// equal questions, so many that this would happen to workers who do not know of each other
    /// once in a million times, at the rate at which answers about the same pair differ, each set
    /// counted once. A crowd that does not contradict itself has none: there everybody may be
    /// right.
    ///
    /// To count one of each set, leave the others out:
    ///
    /// ```
    /// use consilience::MemoryBudget;
    /// use consilience::crowd::{Answers, PairAnswer};
    ///
    /// // Three workers compare all pairs of twelve objects, each wrong on every fifth pair; the
    /// // fourth says what the second says.
    /// let mut rows = Vec::new();
    /// for (p, (i, j)) in (0..12).flat_map(|j| (0..j).map(move |i| (i, j))).enumerate() {
    ///     for worker in 0..4 {
    ///         let wrong = (p + worker.min(3 - worker % 2 * 2)) % 5 == 0;
    ///         rows.push(PairAnswer { worker, i, j, same: (i % 2 == j % 2) != wrong });
    ///     }
    /// }
    /// let answers = Answers::from_pairs(12, &rows)?;
    /// let copies = answers.copies(MemoryBudget::default())?;
    /// assert_eq!(copies, [[1, 3]]);
    /// let others: Vec<usize> = copies.iter().flat_map(|set| &set[1..]).copied().collect();
    /// assert_eq!(answers.without_workers(&others)?.workers(), [0, 1, 2]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// Who changed a few of the answers is not found, nor are answers of a model that was asked
    /// several times: give all that one mind said to one worker.
    ///
    /// # Complexity
    /// That of [`AnswerCounts::of`](crate::AnswerCounts::of).
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
    pub fn copies(&self, budget: MemoryBudget) -> Result<Vec<Vec<usize>>> {
        sets(self, budget)
    }

    /// The answers of all workers but these, who are named by their own numbers.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for a worker who is none
    /// of this crowd, [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where none is left.
    ///
    /// # Complexity
    /// Sorting the rows that are left, O(m log m).
    pub fn without_workers(&self, workers: &[usize]) -> Result<Self> {
        let mut kept = room::filled(self.n_workers(), true)?;
        for worker in workers {
            let place = self.workers().binary_search(worker);
            let place = place.map_err(|_| Error::out_of_range(format!("no worker {worker}")))?;
            kept[place] = false;
        }
        ensure!(kept.contains(&true), empty("all {} workers are left out", self.n_workers()));
        // Who compared nothing is a worker too.
        let left = self.workers().iter().zip(&kept).filter(|(_, kept)| **kept);
        let alone = |&worker| GroupAnswer { worker, task: self.n_tasks(), item: 0, group: 0 };
        let mut rows: Vec<GroupAnswer> = left.map(|(worker, _)| alone(worker)).collect();
        for (t, task) in self.tasks().enumerate().filter(|(_, task)| kept[task.worker]) {
            let worker = self.workers()[task.worker];
            for (group, items) in task.groups().enumerate() {
                let objects = items.iter().map(|&i| self.answered()[i as usize] as usize);
                rows.extend(objects.map(|item| GroupAnswer { worker, task: t, item, group }));
            }
        }
        Answers::from_groupings(self.n_objects(), &rows)
    }
}

#[cfg(test)]
mod tests {
    use consilience_core::{Clusters, ErrorKind, MemoryBudget, Seed};

    use crate::{AnswerCounts, Answers, CrowdClustering, GroupAnswer, PairAnswer};

    /// Six workers, each right in `accuracy`, about all pairs of 16 objects, and `copies` more who
    /// say what the first says, in another order.
    fn crowd(accuracy: f64, copies: usize) -> Answers {
        let mut draw = Seed(4).stream();
        let pairs = (0..16).flat_map(|j| (0..j).map(move |i| (i, j)));
        let mut rows: Vec<PairAnswer> = (0..6)
            .flat_map(|worker| pairs.clone().map(move |(i, j)| (worker, i, j)))
            .map(|(worker, i, j)| {
                let right = draw.uniform() < accuracy;
                PairAnswer { worker, i, j, same: (i % 3 == j % 3) == right }
            })
            .collect();
        let first: Vec<PairAnswer> = rows.iter().rev().filter(|a| a.worker == 0).copied().collect();
        for worker in 6..6 + copies {
            rows.extend(first.iter().map(|&answer| PairAnswer { worker, ..answer }));
        }
        Answers::from_pairs(16, &rows).unwrap()
    }

    fn notes(accuracy: f64, copies: usize) -> Vec<String> {
        let answers = crowd(accuracy, copies);
        CrowdClustering::new(Clusters::Fixed(3)).fit(&answers, &()).unwrap().report.notes
    }

    #[test]
    fn copies_are_told_and_those_who_are_all_right_are_not() {
        let told = |notes: &[String]| notes.iter().any(|n| n.contains("gave the same answers"));
        let copied = notes(0.8, 2);
        assert!(copied.iter().any(|n| n.starts_with("3 workers gave the same")), "{copied:?}");
        assert!(!told(&notes(0.8, 0)));
        assert!(!told(&notes(1.0, 2)));
    }

    /// The first of six workers is asked again, and errs as before or anew.
    #[test]
    fn repeated_errors_are_told() {
        let once: Vec<PairAnswer> = crowd(0.8, 0).pairs().collect();
        let again = |times: usize, alike: bool| {
            let first = once.iter().filter(|a| a.worker == 0).cycle().take(120 * times);
            let mut draw = Seed(9).stream();
            let repeated = first.map(|a| {
                let same =
                    if alike { a.same } else { (a.i % 3 == a.j % 3) == (draw.uniform() < 0.8) };
                PairAnswer { same, i: a.j, j: a.i, ..*a }
            });
            let rows: Vec<_> = once.iter().copied().chain(repeated).collect();
            let answers = Answers::from_pairs(16, &rows).unwrap();
            let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
            super::repeats(&answers, &counts)
        };
        assert_eq!(again(0, true), None);
        for times in [1, 5, 20] {
            assert_eq!(again(times, false), None);
            assert!(again(times, true).is_some());
        }
        let told = again(5, true).unwrap();
        assert!(told.starts_with("600 of 1320 answers on pairs were given again"), "{told}");
    }

    #[test]
    fn left_out_workers_leave_no_trace() {
        let copied = crowd(0.8, 2);
        assert_eq!(copied.copies(MemoryBudget::default()).unwrap(), [[0, 6, 7]]);
        assert!(crowd(1.0, 2).copies(MemoryBudget::default()).unwrap().is_empty());
        assert_eq!(copied.without_workers(&[7, 6, 7]).unwrap(), crowd(0.8, 0));
        assert_eq!(copied.without_workers(&[]).unwrap(), copied);
        let fails = |workers: &[usize]| copied.without_workers(workers).unwrap_err().kind();
        assert_eq!(fails(&[8]), ErrorKind::OutOfRange);
        assert_eq!(fails(&[0, 1, 2, 3, 4, 5, 6, 7]), ErrorKind::Empty);

        // Who compared nothing stays a worker, and objects that nobody else saw are not answered.
        let group = |worker, item| GroupAnswer { worker, task: 0, item, group: item };
        let rows = [group(3, 0), group(4, 1), group(4, 2), group(5, 0), group(5, 1)];
        let answers = Answers::from_groupings(3, &rows).unwrap();
        let left = answers.without_workers(&[4]).unwrap();
        assert_eq!((left.workers(), left.answered()), (&[3, 5][..], &[0, 1][..]));
    }
}
