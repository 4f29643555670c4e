//! What may belong together: joins of the tree that are made because they rather do, and all pairs
//! of the nodes that these leave.

use std::collections::BTreeMap;

use ndarray::{Array2, Axis};

use super::cells::Cells;
use super::tree::{Merge, Odds, Tree, likeness, squared_distance};

/// Pairs of lower log-odds than this are not kept: nobody would ask about them.
const LEAST: f64 = -7.0;

/// Joins, and what is needed to look others up.
#[derive(Clone, Debug, Default)]
pub(super) struct Joins {
    /// Those of the tree first.
    pub(super) all: Vec<Merge>,
    /// Merges of the tree that are sound.
    sound: usize,
    /// Means of all nodes that the sound merges leave, by node.
    means: BTreeMap<usize, Vec<f64>>,
    /// Log-odds by answers between these nodes, the lower number first.
    evidence: BTreeMap<(usize, usize), f64>,
    /// Objects of a cell on the mean.
    mean: f64,
}

impl Joins {
    pub(super) fn new(
        tree: &Tree,
        cells: &Cells,
        between: &BTreeMap<(usize, usize), f64>,
        odds: Odds,
    ) -> Self {
        let sound = tree.sound();
        let tops = tree.tops(sound);
        let mut joins = Joins {
            all: tree.merges[..sound].to_vec(),
            sound,
            mean: cells.of.len() as f64 / cells.len().max(1) as f64,
            ..Joins::default()
        };
        for &node in &tops {
            joins.means.insert(node, mean(tree, cells, node));
        }
        for (&(a, b), &e) in between {
            let (a, b) = (tree.top(a, sound), tree.top(b, sound));
            *joins.evidence.entry((a.min(b), a.max(b))).or_insert(0.0) += e;
        }
        // All squared distances at once.
        let width = cells.centres.ncols();
        let mut means = Array2::<f64>::zeros((tops.len(), width));
        for (mut row, node) in means.axis_iter_mut(Axis(0)).zip(&tops) {
            row.iter_mut().zip(&joins.means[node]).for_each(|(to, from)| *to = *from);
        }
        let products = means.dot(&means.t());
        for (u, &a) in tops.iter().enumerate() {
            for (v, &b) in tops.iter().enumerate().take(u) {
                let squared = squared_distance(&means, &products, u, v);
                let likeness = likeness(squared, tree.sizes[a], tree.sizes[b], joins.mean);
                let evidence = joins.between(a, b);
                let odds = odds.of(likeness) + evidence;
                if odds > LEAST {
                    let nodes = [a.min(b), a.max(b)];
                    joins.all.push(Merge { nodes, likeness, evidence, odds });
                }
            }
        }
        joins
    }

    fn between(&self, a: usize, b: usize) -> f64 {
        self.evidence.get(&(a.min(b), a.max(b))).copied().unwrap_or(0.0)
    }

    /// How alike the nodes are that would bring two different cells together, and log-odds by all
    /// answers between them.
    pub(super) fn of(&self, tree: &Tree, a: usize, b: usize) -> (f64, f64) {
        let (u, v) = (tree.top(a, self.sound), tree.top(b, self.sound));
        if let (true, Some(t)) = (u == v, tree.joining(a, b)) {
            return (tree.merges[t].likeness, tree.merges[t].evidence);
        }
        let squared = match (self.means.get(&u), self.means.get(&v)) {
            (Some(x), Some(y)) => x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum(),
            _ => 0.0,
        };
        (likeness(squared, tree.sizes[u], tree.sizes[v], self.mean), self.between(u, v))
    }
}

/// The mean place of the objects of a node.
pub(super) fn mean(tree: &Tree, cells: &Cells, node: usize) -> Vec<f64> {
    let mut mean = vec![0.0; cells.centres.ncols()];
    for &c in &tree.cells[node] {
        let share = cells.size(c) / tree.sizes[node];
        mean.iter_mut().zip(cells.centres.row(c)).for_each(|(m, x)| *m += share * x);
    }
    mean
}
