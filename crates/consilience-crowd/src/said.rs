//! Every pair answer, those on a pair side by side.

use std::ops::Range;

use consilience_core::{Result, room};
use consilience_num::reduce::ordered_chunks;
use consilience_num::sparse::Csr;

use crate::answers::Answers;
use crate::places::Places;

/// Parts in which answers are put in their places, and objects of one at least.
const PARTS: usize = 64;
const OBJECTS: usize = 64;

/// Every pair answer, those on a pair side by side. One is twice the worker's place, and one more
/// for "same".
#[derive(Debug, PartialEq)]
pub(crate) struct Said {
    /// Places in the answered objects, ascending.
    pub(crate) pairs: Vec<(u32, u32)>,
    starts: Vec<usize>,
    /// Ascending on every pair.
    pub(crate) answers: Vec<u32>,
}

impl Said {
    /// Object by object, so that nothing is sorted but an object's partners: O(a) for a answers,
    /// and no list of them beside this one.
    pub(crate) fn of(answers: &Answers) -> Result<Self> {
        let places = Places::of(answers)?;
        let n = answers.answered().len();
        // As many parts on any machine.
        let length = n.div_ceil(PARTS).max(OBJECTS);
        let part = |objects: Range<usize>| -> Result<Said> {
            let mut said = Said::none();
            let mut next = room::zeros::<u32>(n)?;
            for i in objects {
                said.add(answers, &places, i, &mut next)?;
            }
            Ok(said)
        };
        let join = |all: Result<Said>, part: Result<Said>| -> Result<Said> {
            let mut all = all?;
            all.append(part?)?;
            Ok(all)
        };
        ordered_chunks(n, length, part, Ok(Said::none()), join)
    }

    fn none() -> Self {
        Said { pairs: Vec::new(), starts: vec![0], answers: Vec::new() }
    }

    /// Adds the answers on one object and those after it. `next`, one number for each object, is 0
    /// before and after.
    fn add(
        &mut self,
        answers: &Answers,
        places: &Places,
        i: usize,
        next: &mut [u32],
    ) -> Result<()> {
        let mut others: Vec<u32> = Vec::new();
        for (j, ..) in places.later(answers, i) {
            if next[j as usize] == 0 {
                room::push(&mut others, j)?;
            }
            next[j as usize] += 1;
        }
        others.sort_unstable();
        let (first, pair) = (self.answers.len(), self.pairs.len());
        let mut end = first;
        for &j in &others {
            room::push(&mut self.pairs, (i as u32, j))?;
            let count = std::mem::replace(&mut next[j as usize], (end - first) as u32);
            end += count as usize;
            room::push(&mut self.starts, end)?;
        }
        self.answers.try_reserve(end - first).map_err(|_| room::no_room::<u32>(end))?;
        self.answers.resize(end, 0);
        for (j, worker, same) in places.later(answers, i) {
            let at = &mut next[j as usize];
            self.answers[first + *at as usize] = 2 * worker as u32 + u32::from(same);
            *at += 1;
        }
        others.iter().for_each(|&j| next[j as usize] = 0);
        // Tasks are in the order of their workers; one worker may have answered in several.
        for ends in self.starts[pair..].windows(2) {
            self.answers[ends[0]..ends[1]].sort_unstable();
        }
        Ok(())
    }

    fn append(&mut self, other: Said) -> Result<()> {
        let before = self.answers.len();
        for pair in other.pairs {
            room::push(&mut self.pairs, pair)?;
        }
        for start in &other.starts[1..] {
            room::push(&mut self.starts, before + start)?;
        }
        let all = before + other.answers.len();
        self.answers.try_reserve(other.answers.len()).map_err(|_| room::no_room::<u32>(all))?;
        self.answers.extend_from_slice(&other.answers);
        Ok(())
    }

    /// The answers on a pair.
    pub(crate) fn on(&self, pair: usize) -> &[u32] {
        &self.answers[self.starts[pair]..self.starts[pair + 1]]
    }

    /// The answers on every pair.
    pub(crate) fn each(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.pairs.len()).map(|pair| self.on(pair))
    }
}

/// A symmetric n x n matrix from what is above its diagonal, pairs ascending.
pub(crate) fn symmetric(n: usize, pairs: impl Iterator<Item = (u32, u32, f64)>) -> Result<Csr> {
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
    // Pairs ascend, so that every row's columns do.
    for (i, j, value) in pairs {
        rows[i as usize].push((j, value));
        rows[j as usize].push((i, value));
    }
    Csr::try_from_rows(n, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_model::crowd;
    use crate::{GroupAnswer, PairAnswer};
    use consilience_core::Seed;

    /// From a sorted list of all pair answers.
    fn naive(answers: &Answers) -> Said {
        let place = |i: usize| answers.answered().binary_search(&(i as u32)).unwrap() as u32;
        let worker = |w: usize| answers.workers().binary_search(&w).unwrap() as u32;
        let mut all: Vec<(u32, u32, u32)> = answers
            .pairs()
            .map(|p| (place(p.i), place(p.j), 2 * worker(p.worker) + u32::from(p.same)))
            .collect();
        all.sort_unstable();
        let mut said = Said::none();
        for pair in all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            said.pairs.push((pair[0].0, pair[0].1));
            said.answers.extend(pair.iter().map(|answer| answer.2));
            said.starts.push(said.answers.len());
        }
        said
    }

    #[test]
    fn answers_stand_where_a_sorted_list_has_them() {
        // Objects enough for several parts; tasks of many, of few and of two.
        for (objects, shape) in [(150, (3, 40)), (150, (20, 2)), (200, (2, 9)), (9, (1, 9))] {
            let answers =
                Answers::from_groupings(objects, &crowd(4, objects, 7, shape, 0.3, 1, 5)).unwrap();
            assert_eq!(Said::of(&answers).unwrap(), naive(&answers));
        }
        // Workers who answer again, and contradict themselves, in any order.
        let mut stream = Seed(6).stream();
        let rows: Vec<PairAnswer> = (0..400)
            .map(|_| (stream.below(3), stream.below(12), stream.below(12), stream.below(2)))
            .filter(|&(_, i, j, _)| i != j)
            .map(|(worker, i, j, same)| PairAnswer { worker, i, j, same: same == 1 })
            .collect();
        let answers = Answers::from_pairs(14, &rows).unwrap();
        let said = Said::of(&answers).unwrap();
        assert_eq!(said, naive(&answers));
        assert!(said.each().any(|on| on.windows(2).any(|w| w[0] / 2 == w[1] / 2 && w[0] != w[1])));
        let alone = [GroupAnswer { worker: 0, task: 0, item: 3, group: 0 }];
        let answers = Answers::from_groupings(5, &alone).unwrap();
        assert_eq!(Said::of(&answers).unwrap(), Said::none());
    }
}
