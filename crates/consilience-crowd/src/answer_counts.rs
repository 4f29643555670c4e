use std::ops::Range;

use consilience_completion::{ObservedPairs, Thresholds};
use consilience_core::{Error, ErrorKind, Joined, MemoryBudget, Pace, Result, room};
use consilience_num::reduce::ordered_chunks;

use crate::answers::Answers;
use crate::places::Places;

/// Parts in which objects are counted, and objects of one at least.
const PARTS: usize = 64;
const OBJECTS: usize = 64;
/// An object that was compared with this share of the others has them looked through in order,
/// where fewer are sorted.
const MANY: usize = 8;

/// How often a pair was called the same, and how often it was answered.
///
/// From [`AnswerCounts::get`] and [`AnswerCounts::row`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PairCount {
    /// Answers "same", c.
    pub same: usize,
    /// All answers, N.
    pub answers: usize,
}

/// What a crowd says of every pair alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Same,
    Apart,
    /// Most answers on every pair.
    MostlyApart,
}

/// How often each answered pair was called the same (c) and answered at all (N), over all workers.
///
/// Sparse: pairs that nobody answered are not stored. Rows and columns are all objects.
///
/// ```
/// use consilience::MemoryBudget;
/// use consilience::crowd::{AnswerCounts, Answers, PairAnswer};
///
/// let said = |worker, i, j, same| PairAnswer { worker, i, j, same };
/// let rows = [said(0, 0, 1, true), said(1, 1, 0, false), said(1, 1, 2, false)];
/// let answers = Answers::from_pairs(4, &rows)?;
/// let counts = AnswerCounts::of(&answers, MemoryBudget::default())?;
/// let pair = counts.get(1, 0);
/// assert_eq!((pair.same, pair.answers), (1, 2));
/// assert_eq!(counts.get(0, 3).answers, 0);
/// assert_eq!(counts.n_pairs(), 2);
/// // Nobody contradicts the second pair.
/// let reliable = counts.reliable_pairs(0.0, 0.9)?;
/// assert_eq!(reliable.row(2).collect::<Vec<_>>(), [(1, 0.0), (2, 1.0)]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(a) for a pair answers, and sorting each object's distinct partners; 24 bytes per distinct pair
/// at rest, twice that while they are counted.
#[doc(alias = "pair counts")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerCounts {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    together: Vec<u32>,
    both: Vec<u32>,
}

impl AnswerCounts {
    /// Counts over all workers.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] where 48 bytes for each pair answer, which the methods that read
    /// them one by one take, or a number per object do not fit the budget.
    pub fn of(answers: &Answers, budget: MemoryBudget) -> Result<Self> {
        let total = answers.n_pair_answers();
        budget.check_table("pair answers", total, 2, 24)?;
        budget.check_table("places of objects", answers.n_objects(), 1, 8)?;
        if total > u32::MAX as usize {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("{total} pair answers; at most {}", u32::MAX),
            ));
        }
        let places = Places::of(answers)?;
        let n = answers.answered().len();
        // As many parts on any machine.
        let length = n.div_ceil(PARTS).max(OBJECTS);
        let part = |objects: Range<usize>| Rows::of(answers, &places, objects);
        let join = |all: Result<Rows>, part: Result<Rows>| -> Result<Rows> {
            let mut all = all?;
            all.append(part?)?;
            Ok(all)
        };
        let all = ordered_chunks(n, length, part, Ok(Rows::default()), join)?;
        let mut out = AnswerCounts {
            offsets: room::with_capacity(answers.n_objects() + 1)?,
            columns: all.columns,
            together: all.together,
            both: all.both,
        };
        let mut end = 0;
        for (&object, &length) in answers.answered().iter().zip(&all.lengths) {
            // Objects before this one that nobody compared have no pairs.
            out.offsets.resize(object as usize + 1, end);
            end += length as usize;
        }
        out.offsets.resize(answers.n_objects() + 1, end);
        Ok(out)
    }

    /// Number of objects.
    pub fn n_objects(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of distinct pairs that somebody answered.
    pub fn n_pairs(&self) -> usize {
        self.columns.len() / 2
    }

    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.len() * 12 + self.offsets.len() * 8
    }

    /// Share of all pairs that somebody answered; 0 for a single object.
    pub fn density(&self) -> f64 {
        let n = self.n_objects() as f64;
        if n < 2.0 { 0.0 } else { self.columns.len() as f64 / (n * (n - 1.0)) }
    }

    /// The other objects that one object was compared with, ascending, and the answers on each
    /// pair.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, PairCount)> + '_ {
        (self.offsets[i]..self.offsets[i + 1]).map(|at| (self.columns[at] as usize, self.at(at)))
    }

    fn at(&self, at: usize) -> PairCount {
        PairCount { same: self.together[at] as usize, answers: self.both[at] as usize }
    }

    /// The answers on a pair; none where nobody answered, or where there is no object `j`. Panics
    /// where there is no object `i`, as indexing does.
    pub fn get(&self, i: usize, j: usize) -> PairCount {
        let range = self.offsets[i]..self.offsets[i + 1];
        match self.columns[range.clone()].binary_search_by(|&other| (other as usize).cmp(&j)) {
            Ok(at) => self.at(range.start + at),
            Err(_) => PairCount::default(),
        }
    }

    /// The pairs that the crowd agrees on: 1 where at least the share `together` of the answers
    /// says "same", 0 where at most `apart` does, the others unknown. An object that was answered
    /// is the same as itself.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] unless `0 <= apart < together <= 1`.
    ///
    /// # References
    /// Yi 2014, Eq. 3.2; the set there reads "not in (d0, d1)", so both thresholds themselves count
    /// as agreed.
    #[doc(alias = "d0")]
    #[doc(alias = "d1")]
    pub fn reliable_pairs(&self, apart: f64, together: f64) -> Result<ObservedPairs> {
        let thresholds = Thresholds::new(apart, together)?;
        let shares = (0..self.n_objects()).flat_map(|i| {
            let later = self.row(i).filter(move |&(j, _)| j > i);
            later.map(move |(j, count)| (i, j, count.same as f64 / count.answers as f64))
        });
        ObservedPairs::from_shares(self.n_objects(), shares, thresholds)
    }

    /// How many pairs of answers about the same two objects contradict each other, and how many
    /// pairs there are.
    pub(crate) fn contradictions(&self) -> [f64; 2] {
        let (mut differ, mut all) = (0.0, 0.0);
        for (&same, &answers) in self.together.iter().zip(&self.both) {
            let (same, answers) = (f64::from(same), f64::from(answers));
            differ += same * (answers - same);
            all += answers * (answers - 1.0) / 2.0;
        }
        // Every pair of objects is there from both sides.
        [differ / 2.0, all / 2.0]
    }

    /// What the answers say of every pair; `None` where pairs differ, or there are none.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        let every = |holds: fn(u32, u32) -> bool| {
            self.together.iter().zip(&self.both).all(|(&same, &all)| holds(same, all))
        };
        if self.both.is_empty() {
            None
        } else if every(|same, all| same == all) {
            Some(Verdict::Same)
        } else if every(|same, _| same == 0) {
            Some(Verdict::Apart)
        } else if every(|same, all| same < all - same) {
            Some(Verdict::MostlyApart)
        } else {
            None
        }
    }

    /// The set of each answered object, of those that were called the same, one with another or by
    /// way of others, numbered by their first objects, and how many sets there are; `None` where
    /// any answer contradicts that.
    pub(crate) fn consistent(
        &self,
        answers: &Answers,
        pace: &mut Pace<'_>,
    ) -> Result<Option<(Vec<u32>, usize)>> {
        let alike = |(same, all): (&u32, &u32)| *same == 0 || same == all;
        if self.both.is_empty() || !self.together.iter().zip(&self.both).all(alike) {
            return Ok(None);
        }
        let mut joined = Joined::new(answers.answered().len());
        self.each_pair(answers, pace, |i, j, same| {
            if same {
                joined.join(i, j);
            }
        })?;
        let (labels, found) = joined.numbers(|_| true);
        let mut contradicted = false;
        self.each_pair(answers, pace, |i, j, same| {
            contradicted |= (labels[i] == labels[j]) != same;
        })?;
        Ok((!contradicted).then_some((labels, found)))
    }

    /// Whether somebody compared every two of these sets of the answered objects.
    pub(crate) fn compares_all(
        &self,
        answers: &Answers,
        (labels, sets): (&[u32], usize),
        pace: &mut Pace<'_>,
    ) -> Result<bool> {
        let between = sets.saturating_mul(sets.saturating_sub(1)) / 2;
        // Each takes an answered pair.
        if between > self.n_pairs() {
            return Ok(false);
        }
        let mut seen = room::filled(between, false)?;
        self.each_pair(answers, pace, |i, j, _| {
            let (a, b) = (labels[i].min(labels[j]) as usize, labels[i].max(labels[j]) as usize);
            if a < b {
                seen[b * (b - 1) / 2 + a] = true;
            }
        })?;
        Ok(seen.iter().all(|&seen| seen))
    }

    /// The answered pairs, as places in the answered objects, and whether anybody called them the
    /// same.
    fn each_pair(
        &self,
        answers: &Answers,
        pace: &mut Pace<'_>,
        mut with: impl FnMut(usize, usize, bool),
    ) -> Result<()> {
        let answered = answers.answered();
        for (at, &i) in answered.iter().enumerate() {
            let i = i as usize;
            pace.work(self.offsets[i + 1] - self.offsets[i])?;
            for (j, count) in self.row(i).filter(|&(j, _)| j > i) {
                if let Ok(place) = answered.binary_search(&(j as u32)) {
                    with(at, place, count.same > 0);
                }
            }
        }
        Ok(())
    }

    /// Share of "same" among all answers; 0 where there are none.
    pub fn mean(&self) -> f64 {
        let total = |v: &[u32]| v.iter().map(|&x| f64::from(x)).sum::<f64>();
        let both = total(&self.both);
        if both > 0.0 { total(&self.together) / both } else { 0.0 }
    }
}

/// The counts of some answered objects, one after the other.
#[derive(Default)]
struct Rows {
    /// How many others each was compared with.
    lengths: Vec<u32>,
    /// The others, by their own numbers.
    columns: Vec<u32>,
    together: Vec<u32>,
    both: Vec<u32>,
}

impl Rows {
    /// Counted object by object: a table of one number per pair answer would be many times larger
    /// than what comes out where workers sort many objects.
    fn of(answers: &Answers, places: &Places, objects: Range<usize>) -> Result<Self> {
        let mut out = Rows::default();
        // "Same" and all answers of the object at hand with every other.
        let mut counts = room::zeros::<(u32, u32)>(answers.answered().len())?;
        let mut others: Vec<u32> = Vec::new();
        for i in objects {
            others.clear();
            for &(t, own) in places.of_object(i) {
                for (g, items) in (0..).zip(answers.task(t as usize).groups()) {
                    let same = u32::from(g == own);
                    for &j in items {
                        let count = &mut counts[j as usize];
                        if count.1 == 0 {
                            others.push(j);
                        }
                        *count = (count.0 + same, count.1 + 1);
                    }
                }
            }
            // It was not compared with itself.
            counts[i] = (0, 0);
            let before = out.columns.len();
            if others.len() > counts.len() / MANY {
                for j in 0..counts.len() {
                    out.take(answers, j, &mut counts)?;
                }
            } else {
                others.sort_unstable();
                for &j in &others {
                    out.take(answers, j as usize, &mut counts)?;
                }
            }
            room::push(&mut out.lengths, (out.columns.len() - before) as u32)?;
        }
        Ok(out)
    }

    /// Adds the count with one other object, if there is any, and resets it.
    fn take(&mut self, answers: &Answers, j: usize, counts: &mut [(u32, u32)]) -> Result<()> {
        let (same, all) = std::mem::take(&mut counts[j]);
        if all > 0 {
            room::push(&mut self.columns, answers.answered()[j])?;
            room::push(&mut self.together, same)?;
            room::push(&mut self.both, all)?;
        }
        Ok(())
    }

    fn append(&mut self, other: Rows) -> Result<()> {
        for (to, from) in [
            (&mut self.lengths, other.lengths),
            (&mut self.columns, other.columns),
            (&mut self.together, other.together),
            (&mut self.both, other.both),
        ] {
            to.try_reserve(from.len()).map_err(|_| room::no_room::<u32>(to.len() + from.len()))?;
            to.extend_from_slice(&from);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_model::crowd;
    use crate::{GroupAnswer, PairAnswer};

    /// From a list of all pair answers.
    fn naive(answers: &Answers) -> AnswerCounts {
        let n = answers.n_objects();
        let mut table = vec![PairCount::default(); n * n];
        for pair in answers.pairs() {
            for at in [pair.i * n + pair.j, pair.j * n + pair.i] {
                table[at].same += usize::from(pair.same);
                table[at].answers += 1;
            }
        }
        let mut out = AnswerCounts {
            offsets: vec![0],
            columns: Vec::new(),
            together: Vec::new(),
            both: Vec::new(),
        };
        for row in table.chunks_exact(n) {
            for (j, count) in row.iter().enumerate().filter(|(_, count)| count.answers > 0) {
                out.columns.push(j as u32);
                out.together.push(count.same as u32);
                out.both.push(count.answers as u32);
            }
            out.offsets.push(out.columns.len());
        }
        out
    }

    #[test]
    fn objects_that_do_not_exist_have_no_answers() {
        let said = [PairAnswer { worker: 0, i: 0, j: 1, same: true }];
        let answers = Answers::from_pairs(3, &said).unwrap();
        let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
        assert_eq!(counts.get(0, 1).answers, 1);
        // The second is 1 in its last 32 bits.
        for j in [2, (1usize << 32) + 1, usize::MAX] {
            assert_eq!(counts.get(0, j), PairCount::default());
        }
    }

    #[test]
    fn equals_a_table_of_all_pairs() {
        let budget = MemoryBudget::default();
        // Objects enough for several parts, compared with most of the others and with few; the last
        // ones with nobody.
        for (objects, shape) in [(150, (6, 70)), (150, (20, 2)), (300, (3, 5)), (9, (1, 9))] {
            let mut rows = crowd(4, objects, 7, shape, 0.3, 1, 5);
            rows.iter_mut().for_each(|row| row.item += row.item / 4);
            let n = 2 * objects;
            let answers = Answers::from_groupings(n, &rows).unwrap();
            assert_eq!(AnswerCounts::of(&answers, budget).unwrap(), naive(&answers));
        }
        let said = |worker, i, j, same| PairAnswer { worker, i, j, same };
        let pairs = [said(0, 7, 2, true), said(0, 2, 7, false), said(3, 4, 2, true)];
        let answers = Answers::from_pairs(9, &pairs).unwrap();
        assert_eq!(AnswerCounts::of(&answers, budget).unwrap(), naive(&answers));
        let nobody = [GroupAnswer { worker: 0, task: 0, item: 3, group: 0 }];
        let answers = Answers::from_groupings(5, &nobody).unwrap();
        assert_eq!(AnswerCounts::of(&answers, budget).unwrap(), naive(&answers));
    }
}
