//! Whether workers and distances are better understood from another start.

use std::collections::BTreeMap;

use super::Questioner;
use super::moves::Moves;
use super::tree::Tree;

/// Answers are understood anew where they have become so many times as many.
const GROWTH: f64 = 1.25;
/// How much more probable, in logarithms, the clusters from another start must be: workers taken to
/// answer as expected, and distances alone saying who errs. Few answers fit the second by chance.
const MARGIN: (f64, f64) = (5.0, 15.0);
/// Turns of estimation and tree from another start.
const TURNS: usize = 2;

impl Questioner {
    /// Whether so many answers are to be understood anew.
    pub(super) fn revises(&self, spent: usize) -> bool {
        spent as f64 >= GROWTH * self.revised_at as f64
    }

    /// Estimates go by the clusters and clusters by the estimates, so that an error may keep itself
    /// alive: workers who flip coins made the tree and are right by it, or those who know the
    /// classes contradict distances and are taken to guess. So answers are also understood from two
    /// other starts, and what is clearly more probable is kept.
    pub(super) fn revise(&mut self) {
        self.revised_at = self.spent;
        for (by_distance, margin) in [(false, MARGIN.0), (true, MARGIN.1)] {
            let mut other = self.clone();
            other.evidence.begin_again();
            if by_distance {
                other.evidence.estimate();
            }
            other.join();
            for _ in 0..TURNS {
                other.evidence.estimate();
                other.join();
            }
            if other.log_posterior(self) > self.log_posterior(&other) + margin {
                *self = other;
            }
        }
    }

    /// How probable clusters, answers, rates and odds are together, but for a constant that is the
    /// same for the rival: every join of the tree by distance is one of equal labels or not, every
    /// answer by its worker's rates.
    fn log_posterior(&self, rival: &Questioner) -> f64 {
        let labels = self.tree.labels(self.tree.made_for(self.clusters));
        let k = labels.iter().max().map_or(1, |&most| most as usize + 1);
        let (sizes, odds) = (self.cell_sizes(), self.evidence.odds);
        let near = Tree::new(&self.cells.centres, &sizes, &BTreeMap::new(), odds);
        let apart = near.merges.iter().map(|m| -odds.of(m.likeness).exp().ln_1p()).sum::<f64>();
        let together = Moves { near: &near, between: &self.between, odds }.joins(&labels, k).0;
        let of = |i: usize, j: usize| match self.cells_of(i, j) {
            Some(((a, b), purity)) => (labels[a] == labels[b], purity),
            None => (true, 1.0),
        };
        apart + together + self.evidence.log_posterior(&rival.evidence, of)
    }
}
