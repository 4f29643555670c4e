//! Workers whose answers are all the same.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use consilience_core::{Result, room};

use crate::answers::{Answers, Task};

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

/// A sentence about workers who gave equal answers to equal questions, so many that they hardly
/// came to them each alone. A crowd without contradictions has none: there everybody may be right.
///
/// `contradictions` is the share of the pairs of answers about the same two objects that contradict
/// each other. O(items + w log w) for w workers.
pub(crate) fn note(answers: &Answers, contradictions: f64) -> Result<Option<String>> {
    let nats = -(1.0 - contradictions).ln();
    let mut said = room::filled(answers.n_workers(), Said::default())?;
    answers.tasks().for_each(|task| said[task.worker].add(task));
    let improbable = |s: &&Said| s.answers as f64 * nats > IMPROBABLE;
    let mut sets = BTreeMap::<(u64, usize), usize>::new();
    for s in said.iter().filter(|s| s.tells()).filter(improbable) {
        *sets.entry((s.hash, s.answers)).or_default() += 1;
    }
    let equal: Vec<usize> = sets.into_values().filter(|&workers| workers > 1).collect();
    let workers: usize = equal.iter().sum();
    let sets = match equal.len() {
        0 => return Ok(None),
        1 => String::new(),
        more => format!(" in {more} sets"),
    };
    Ok(Some(format!(
        "{workers} workers{sets} gave the same answers to the same questions: if some copied, keep \
         one of each, for every worker counts as a witness"
    )))
}

#[cfg(test)]
mod tests {
    use consilience_core::{Clusters, Seed};

    use crate::{Answers, CrowdClustering, PairAnswer};

    /// Six workers, each right in `accuracy`, about all pairs of 16 objects, and `copies` more who
    /// say what the first says, in another order.
    fn notes(accuracy: f64, copies: usize) -> Vec<String> {
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
        let answers = Answers::from_pairs(16, &rows).unwrap();
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
}
