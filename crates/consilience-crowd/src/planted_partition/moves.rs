//! Where nodes are, and their moves from cluster to cluster.

use consilience_core::{Observer, Pace, Result, room, ties};

use super::nodes::{Nodes, Sums, minus, plus};
use super::{Model, SWEEPS};

/// Where the nodes are.
pub(super) struct State<'a> {
    pub(super) model: &'a Model,
    pub(super) nodes: &'a Nodes,
    pub(super) labels: Vec<u32>,
    /// Objects of each cluster.
    pub(super) sizes: Vec<usize>,
    empty: Vec<usize>,
    inside: [u64; 2],
    sums: Sums,
    /// Of the node at hand: clusters to choose among, and their log-probabilities.
    pub(super) candidates: Vec<usize>,
    pub(super) values: Vec<f64>,
}

/// A node that was taken out of its cluster.
pub(super) struct Leaving {
    pub(super) own: usize,
    size: usize,
    /// Whether its cluster is empty now.
    alone: bool,
    /// An empty cluster that it may go to.
    fresh: Option<usize>,
    /// Answers inside clusters without it.
    pub(super) without: [u64; 2],
    /// Clusters that hold others.
    pub(super) others: usize,
}

impl<'a> State<'a> {
    pub(super) fn of(model: &'a Model, nodes: &'a Nodes, labels: Vec<u32>) -> Result<Self> {
        // As many clusters as nodes, and one more to move to.
        let mut sizes = room::filled(nodes.len() + 1, 0)?;
        let own = labels.iter().zip(&nodes.sizes);
        own.for_each(|(&c, &size)| sizes[c as usize] += size as usize);
        let inside = Model::inside(nodes, &labels);
        let empty = room::collected((0..sizes.len()).rev().filter(|&c| sizes[c] == 0))?;
        let sums = Sums::new(sizes.len())?;
        let (candidates, values) = (Vec::new(), Vec::new());
        Ok(State { model, nodes, labels, sizes, empty, inside, sums, candidates, values })
    }

    pub(super) fn clusters(&self) -> usize {
        self.sizes.len() - self.empty.len()
    }

    /// What a move of a node looks at: its answers, and the clusters that they are with.
    pub(super) fn work(&self, i: usize) -> usize {
        2 * (self.nodes.offsets[i + 1] - self.nodes.offsets[i]) + 2
    }

    /// Sweeps until no node moves; whether any did.
    pub(super) fn settle(&mut self, observer: &dyn Observer) -> Result<bool> {
        let mut pace = Pace::new(observer);
        let mut moved = false;
        for _ in 0..SWEEPS {
            let mut now = false;
            for i in 0..self.nodes.len() {
                pace.work(self.work(i))?;
                let Some(node) = self.leave(i, false) else { continue };
                let best = ties::first_largest(self.values.iter().copied(), self.model.scale());
                let to = self.candidates[best];
                now |= self.enter(i, &node, to);
            }
            if !now {
                break;
            }
            moved = true;
        }
        Ok(moved)
    }

    /// Takes a node out of its cluster, which has to be followed by [`State::enter`], and computes
    /// the log-probabilities of clusters for it, its own first: of those with which it has answers
    /// and of one of its own, or of all. `None` where the number of clusters is given and it is
    /// alone in its own.
    pub(super) fn leave(&mut self, i: usize, everywhere: bool) -> Option<Leaving> {
        let (own, size) = (self.labels[i] as usize, self.nodes.sizes[i] as usize);
        let alone = self.sizes[own] == size;
        let fixed = self.model.fixed.is_some();
        if fixed && alone {
            return None;
        }
        self.sums.clear();
        self.nodes.row(i).for_each(|(j, counts)| self.sums.add(self.labels[j] as usize, counts));
        let fresh = (!fixed && !alone).then(|| self.empty.last().copied()).flatten();
        self.candidates.clear();
        self.candidates.push(own);
        if everywhere {
            let open = (0..self.sizes.len()).filter(|&c| c != own && self.sizes[c] > 0);
            self.candidates.extend(open);
        } else {
            self.candidates.extend(self.sums.touched.iter().copied().filter(|&c| c != own));
        }
        self.candidates.extend(fresh);
        let without = minus(self.inside, self.sums.of[own]);
        self.sizes[own] -= size;
        let others = self.clusters() - usize::from(alone);
        let f = &self.model.partitions.factorials;
        let value = |&c: &usize| {
            let number = others + usize::from(self.sizes[c] == 0);
            let number = if fixed { 0.0 } else { self.model.partitions.number(number) };
            let answers = self.model.answers(plus(without, self.sums.of[c]));
            answers + f[self.sizes[c] + size] - f[self.sizes[c]] + number
        };
        self.values.clear();
        self.values.extend(self.candidates.iter().map(value));
        Some(Leaving { own, size, alone, fresh, without, others })
    }

    /// Puts a node that left into a cluster; whether that is another one than before.
    pub(super) fn enter(&mut self, i: usize, node: &Leaving, to: usize) -> bool {
        self.sizes[to] += node.size;
        self.inside = plus(node.without, self.sums.of[to]);
        if to == node.own {
            return false;
        }
        self.labels[i] = to as u32;
        if node.fresh == Some(to) {
            self.empty.pop();
        }
        if node.alone {
            self.empty.push(node.own);
        }
        true
    }

    /// Labels from 0 on, by first node.
    pub(super) fn compact(&self) -> Vec<u32> {
        let mut number = vec![u32::MAX; self.sizes.len()];
        let mut next = 0;
        let label = |&c: &u32| {
            let number = &mut number[c as usize];
            if *number == u32::MAX {
                *number = next;
                next += 1;
            }
            *number
        };
        self.labels.iter().map(label).collect()
    }
}
