use consilience_completion::{ObservedPairs, Thresholds};
use consilience_core::{Error, ErrorKind, MemoryBudget, Result, room};

use crate::answers::Answers;

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
/// O(a log a) for a pair answers; 24 bytes per distinct pair at rest.
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
    /// [`ErrorKind::TooLarge`] where the pair answers or a number per object do not fit
    /// the budget.
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
        let mut said: Vec<(u32, u32, bool)> = room::with_capacity(2 * total)?;
        said.extend(answers.pairs().map(|p| (p.i as u32, p.j as u32, p.same)));
        said.extend_from_within(..);
        for pair in &mut said[total..] {
            (pair.0, pair.1) = (pair.1, pair.0);
        }
        said.sort_unstable();
        let mut out = AnswerCounts {
            offsets: vec![0],
            columns: Vec::new(),
            together: Vec::new(),
            both: Vec::new(),
        };
        for pair in said.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            while out.offsets.len() <= pair[0].0 as usize {
                out.offsets.push(out.columns.len());
            }
            room::push(&mut out.columns, pair[0].1)?;
            room::push(&mut out.together, pair.iter().filter(|p| p.2).count() as u32)?;
            room::push(&mut out.both, pair.len() as u32)?;
        }
        out.offsets.resize(answers.n_objects() + 1, out.columns.len());
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

    /// The answers on a pair; none where nobody answered. Panics for an object that does not exist,
    /// as indexing does.
    pub fn get(&self, i: usize, j: usize) -> PairCount {
        let range = self.offsets[i]..self.offsets[i + 1];
        match self.columns[range.clone()].binary_search(&(j as u32)) {
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

    /// Share of "same" among all answers; 0 where there are none.
    pub fn mean(&self) -> f64 {
        let total = |v: &[u32]| v.iter().map(|&x| f64::from(x)).sum::<f64>();
        let both = total(&self.both);
        if both > 0.0 { total(&self.together) / both } else { 0.0 }
    }
}
