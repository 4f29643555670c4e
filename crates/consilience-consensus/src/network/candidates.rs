use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

/// Ranges of shares that are ordered one at a time.
const RANGES: usize = 1 << 12;

/// A link that may be the next merge: the largest share first, then the first nodes.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub(super) share: f64,
    pub(super) ends: [u32; 2],
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.share.total_cmp(&other.share).then_with(|| other.ends.cmp(&self.ends))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A queue of candidates, the best first.
///
/// The links of single nodes are sorted once. Those that merges change are seldom better than the
/// next one, so each waits, unordered, with others of about its share: a heap of all of them would
/// miss the cache at every level.
pub(super) struct Candidates {
    /// The best last.
    first: Vec<Candidate>,
    /// Of the range `at` and all better ones.
    later: BinaryHeap<Candidate>,
    at: usize,
    waiting: Vec<Vec<Candidate>>,
}

impl Candidates {
    pub(super) fn new(mut first: Vec<Candidate>) -> Self {
        first.par_sort_unstable();
        let waiting = vec![Vec::new(); RANGES];
        Candidates { first, later: BinaryHeap::new(), at: 0, waiting }
    }

    pub(super) fn push(&mut self, candidate: Candidate) {
        match range(candidate.share) {
            range if range <= self.at => self.later.push(candidate),
            range => self.waiting[range].push(candidate),
        }
    }

    pub(super) fn pop(&mut self) -> Option<Candidate> {
        let until = self.first.last().map_or(RANGES - 1, |best| range(best.share));
        while self.later.is_empty() && self.at < until {
            self.at += 1;
            self.later = std::mem::take(&mut self.waiting[self.at]).into();
        }
        match (self.first.last(), self.later.peek()) {
            (Some(first), Some(later)) if later > first => self.later.pop(),
            (Some(_), _) => self.first.pop(),
            (None, _) => self.later.pop(),
        }
    }
}

/// The range of a share in `0..=1`; 0 is the best.
fn range(share: f64) -> usize {
    ((1.0 - share) * RANGES as f64).clamp(0.0, (RANGES - 1) as f64) as usize
}
