//! Whether workers and distances are better understood from another start.

use std::collections::BTreeMap;

use consilience_core::Observer;

use super::Questioner;
use super::cells::Cells;
use super::moves::Moves;
use super::tree::{Places, Tree, sigmoid};

/// Answers are understood anew where they have become so many times as many.
const GROWTH: f64 = 1.25;
/// What answers are understood from beside the estimates so far, how much more probable the
/// clusters from there must be, and how much more of each answer they must foresee from the others;
/// both in logarithms. Few answers fit the distances by chance, and a metric fits them too.
const STARTS: [(Start, f64, f64); 4] = [
    (Start::Workers, 5.0, f64::NEG_INFINITY),
    (Start::Distances, 15.0, f64::NEG_INFINITY),
    (Start::Features, f64::NEG_INFINITY, 0.0),
    (Start::Answers, 10.0, 7.0),
];
/// Pairs that answers put together at least, for a metric to be learned from them alone.
const LEAST_TOGETHER: f64 = 10.0;
/// Turns of estimation and tree from another start.
const TURNS: usize = 2;

#[derive(Clone, Copy)]
enum Start {
    /// Workers who answer as expected.
    Workers,
    /// Distances, which say who errs.
    Distances,
    /// The metric of before, where one has been learned from answers.
    Features,
    /// A metric by the answers.
    Answers,
}

impl Questioner {
    /// Whether so many answers are to be understood anew.
    pub(super) fn revises(&self, spent: usize) -> bool {
        spent as f64 >= GROWTH * self.revised_at as f64
    }

    /// Estimates go by the clusters and clusters by the estimates, so that an error may keep itself
    /// alive: workers who flip coins made the tree and are right by it, or those who know the
    /// classes contradict distances and are taken to guess. So answers are also understood from
    /// other starts, and what is clearly more probable is kept. An observer who cancels leaves out
    /// the start that takes long.
    pub(super) fn revise(&mut self, observer: &dyn Observer) {
        self.revised_at = self.spent;
        for (start, margin, foreseen) in STARTS {
            let other = match start {
                Start::Workers => Some(self.again()),
                Start::Distances => Some(self.by_distances()),
                Start::Features => self.by_features(observer),
                Start::Answers => self.by_answers(observer),
            };
            let Some(mut other) = other else { continue };
            other.join();
            for _ in 0..TURNS {
                other.evidence.estimate();
                other.join();
            }
            if other.log_posterior(self) > self.log_posterior(&other) + margin
                && other.evidence.foreseen() > self.evidence.foreseen() + foreseen
            {
                *self = other;
            }
        }
    }

    fn again(&self) -> Questioner {
        let mut other = self.clone();
        other.evidence.begin_again();
        other
    }

    fn by_distances(&self) -> Questioner {
        let mut other = self.again();
        other.evidence.estimate();
        other
    }

    /// Under a metric that is learned from the answers alone: objects that workers call the same
    /// differ in directions that do not matter to them. `None` where few are called so, and where
    /// the metric is learned again from clusters, which know the answers.
    fn by_answers(&self, observer: &dyn Observer) -> Option<Questioner> {
        if self.groups == self.clusters {
            return None;
        }
        let mut other = self.again();
        let apart = ((self.clusters.max(2) - 1) as f64).ln();
        let together = |asked| sigmoid(other.evidence.of(asked, 1.0) - apart);
        let asked = other.evidence.asked.iter();
        let pairs: Vec<(usize, usize, f64)> =
            asked.map(|(&(i, j), asked)| (i, j, together(asked))).collect();
        if pairs.iter().map(|pair| pair.2).sum::<f64>() < LEAST_TOGETHER {
            return None;
        }
        other.space.learn_pairs(&pairs);
        other.in_place(observer)
    }

    /// Under the metric that was there before one of answers. What that leaves of the features may
    /// be nothing but noise: all answers are fitted, none follows from others, and it is not to
    /// stay.
    fn by_features(&self, observer: &dyn Observer) -> Option<Questioner> {
        if !self.space.by_answers {
            return None;
        }
        let mut other = self.again();
        other.space.forget_answers();
        other.in_place(observer)
    }

    /// With cells where the objects lie now. `None` of cancelled ones.
    fn in_place(mut self, observer: &dyn Observer) -> Option<Questioner> {
        let (z, seed, most) = (self.space.z.view(), self.options.seed, self.cells.len());
        if most < self.n_objects() {
            self.cells = Cells::new(z, self.clusters, most, seed, observer).ok()?;
        } else {
            self.cells.move_to(z);
        }
        self.begin();
        Some(self)
    }

    /// How probable clusters, answers, rates and odds are together, but for a constant that is the
    /// same for the rival: every join of the tree by distance is one of equal labels or not, every
    /// answer by its worker's rates.
    fn log_posterior(&self, rival: &Questioner) -> f64 {
        let labels = self.tree.labels(self.tree.made_for(self.clusters));
        let k = labels.iter().max().map_or(1, |&most| most as usize + 1);
        let (sizes, odds) = (self.cell_sizes(), self.evidence.odds);
        let places = Places::new(&self.cells.centres, &sizes, odds);
        let near = Tree::new(&places, &BTreeMap::new());
        let apart = near.merges.iter().map(|m| -odds.of(m.likeness).exp().ln_1p()).sum::<f64>();
        let together = Moves { near: &near, between: &self.between, odds }.joins(&labels, k).0;
        let of = |i: usize, j: usize| match self.cells_of(i, j) {
            Some(((a, b), purity)) => (labels[a] == labels[b], purity),
            None => (true, 1.0),
        };
        apart + together + self.evidence.log_posterior(&rival.evidence, of)
    }
}
