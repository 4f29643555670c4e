//! Parts of the tree, and single cells, that go over to another cluster.

use std::collections::BTreeMap;

use ndarray::Array2;

use super::cells::Cells;
use super::tree::{Odds, Tree, likeness};

/// Sweeps over all nodes, and over all cells, at most.
const SWEEPS: usize = 20;
/// What a move gains at least beyond rounding, in logarithms of the number of clusters: by chance
/// some of so many pairs of clusters fit better, all the more with many and with wrong answers.
const LEAST_GAIN: f64 = 2.0;

/// Cells by cell, with the log-odds of being together.
type Links = Vec<Vec<(usize, f64)>>;

/// What labels of cells are weighed by.
pub(super) struct Moves<'a> {
    /// The tree by distance alone.
    pub(super) near: &'a Tree,
    pub(super) between: &'a BTreeMap<(usize, usize), f64>,
    pub(super) odds: Odds,
}

impl Moves<'_> {
    /// Gives nodes of the tree by distance the label that gains most until none gains, and tells
    /// how well the labels do then. No label is lost. O(m depth degree) time for each sweep and
    /// label nearby.
    pub(super) fn parts(&self, mut labels: Vec<u32>) -> (f64, Vec<u32>) {
        let mut counts = counts(&labels);
        let (mut value, mut links) = self.links(&labels, counts.len());
        let mut taken = vec![false; labels.len()];
        let least = least_gain(counts.len());
        for _ in 0..SWEEPS {
            let mut moved = false;
            // The largest first: a group that was cut across comes together as a whole.
            for cells in self.near.cells.iter().rev() {
                let mut best = (least, None);
                for label in linked(cells, &links, &labels) {
                    let gain = gain(cells, label, &links, &labels, &counts, &mut taken);
                    if gain > best.0 {
                        best = (gain, Some(label));
                    }
                }
                let Some(label) = best.1 else { continue };
                moved = true;
                for &c in cells {
                    counts[labels[c] as usize] -= 1;
                    counts[label as usize] += 1;
                    labels[c] = label;
                }
            }
            if !moved {
                break;
            }
            (value, links) = self.links(&labels, counts.len());
        }
        (value, numbered(labels))
    }

    /// The sum that labels are weighed by, and links whose sum it is for these labels. For others
    /// it is at least that of the links, so that what gains by them gains.
    fn links(&self, labels: &[u32], k: usize) -> (f64, Links) {
        let mut links: Links = vec![Vec::new(); labels.len()];
        let (mut value, joins) = self.joins(labels, k);
        let said = self.between.iter().map(|(&(a, b), &e)| (a, b, e));
        value += said.clone().filter(|&(a, b, _)| labels[a] == labels[b]).map(|s| s.2).sum::<f64>();
        for (a, b, odds) in joins.into_iter().chain(said) {
            links[a].push((b, odds));
            links[b].push((a, odds));
        }
        (value, links)
    }

    /// For each join of the tree by distance the cells that stand for its sides, and its log-odds.
    /// A side may be represented by any of the labels in it; those are taken for which the joins of
    /// one label have the largest sum, which is returned: one cell of another label costs one join,
    /// wherever it is in the tree.
    pub(super) fn joins(&self, labels: &[u32], k: usize) -> (f64, Vec<(usize, usize, f64)>) {
        let (near, m) = (self.near, self.near.n_cells());
        let mut values = Array2::from_elem((near.cells.len(), k), f64::NEG_INFINITY);
        labels.iter().enumerate().for_each(|(c, &l)| values[[c, l as usize]] = 0.0);
        let odds: Vec<f64> = near.merges.iter().map(|m| self.odds.of(m.likeness)).collect();
        // The best label of each node, and the best but that.
        let mut two: Vec<[usize; 2]> =
            (0..m).map(|c| best_two(values.row(c).as_slice().unwrap_or(&[]))).collect();
        for (t, merge) in near.merges.iter().enumerate() {
            for x in 0..k {
                let of = choices(&values, &two, merge.nodes, x, odds[t]);
                values[[m + t, x]] = of.iter().fold(f64::NEG_INFINITY, |a, c| a.max(c.0));
            }
            two.push(best_two(values.row(m + t).as_slice().unwrap_or(&[])));
        }
        let root = near.cells.len() - 1;
        let mut want = vec![two[root][0]; near.cells.len()];
        for (t, merge) in near.merges.iter().enumerate().rev() {
            let [of, left, right] = choices(&values, &two, merge.nodes, want[m + t], odds[t]);
            let mut best = if left.0 > of.0 { left } else { of };
            best = if right.0 > best.0 { right } else { best };
            (want[merge.nodes[0]], want[merge.nodes[1]]) = (best.1, best.2);
        }
        let mut stands: Vec<usize> = (0..m).collect();
        let mut joins = Vec::with_capacity(near.merges.len());
        for (t, merge) in near.merges.iter().enumerate() {
            let [a, b] = merge.nodes;
            joins.push((stands[a], stands[b], odds[t]));
            let larger = near.sizes[a] >= near.sizes[b];
            let first = want[a] == want[m + t] && (want[b] != want[m + t] || larger);
            stands.push(if first { stands[a] } else { stands[b] });
        }
        (values[[root, want[root]]], joins)
    }

    /// Gives single cells whose answers fit another cluster better the label that has the highest
    /// log-odds, by distance from the mean of the other cells and by answers. No label is lost.
    /// O(m k r) time for each sweep.
    pub(super) fn cells(&self, cells: &Cells, mut labels: Vec<u32>) -> Vec<u32> {
        let mut counts = counts(&labels);
        let k = counts.len();
        let least = least_gain(k);
        let mut sums = Array2::<f64>::zeros((k, cells.centres.ncols()));
        let mut sizes = vec![0.0; k];
        for (c, &l) in labels.iter().enumerate() {
            sums.row_mut(l as usize).scaled_add(cells.size(c), &cells.centres.row(c));
            sizes[l as usize] += cells.size(c);
        }
        let mut near: Links = vec![Vec::new(); cells.len()];
        for (&(a, b), &e) in self.between {
            near[a].push((b, e));
            near[b].push((a, e));
        }
        let mean = cells.of.len() as f64 / cells.len() as f64;
        for _ in 0..SWEEPS {
            let mut moved = false;
            for c in 0..cells.len() {
                let (from, size, row) = (labels[c] as usize, cells.size(c), cells.centres.row(c));
                let mut said = vec![0.0; k];
                near[c].iter().for_each(|&(d, e)| said[labels[d] as usize] += e);
                if counts[from] == 1 || said.iter().all(|&s| s <= said[from]) {
                    continue;
                }
                let odds = |l: usize| {
                    let own = if l == from { size } else { 0.0 };
                    let others = sizes[l] - own;
                    let far = |(&sum, &x): (&f64, &f64)| ((sum - own * x) / others - x).powi(2);
                    let squared = sums.row(l).iter().zip(row).map(far).sum();
                    self.odds.of(likeness(squared, size, others, mean)) + said[l]
                };
                let mut best = (odds(from) + least, from);
                for l in (0..k).filter(|&l| l != from) {
                    let there = odds(l);
                    if there > best.0 {
                        best = (there, l);
                    }
                }
                let to = best.1;
                if to != from {
                    moved = true;
                    for (l, sign) in [(from, -1.0), (to, 1.0)] {
                        sums.row_mut(l).scaled_add(sign * size, &row);
                        sizes[l] += sign * size;
                    }
                    counts[from] -= 1;
                    counts[to] += 1;
                    labels[c] = to as u32;
                }
            }
            if !moved {
                break;
            }
        }
        numbered(labels)
    }
}

fn least_gain(k: usize) -> f64 {
    1e-6 + LEAST_GAIN * (k as f64).ln()
}

/// Cells of each label.
fn counts(labels: &[u32]) -> Vec<usize> {
    let k = labels.iter().max().map_or(1, |&most| most as usize + 1);
    let mut counts = vec![0; k];
    labels.iter().for_each(|&l| counts[l as usize] += 1);
    counts
}

/// Labels that cells are linked with, in order.
fn linked(cells: &[usize], links: &Links, labels: &[u32]) -> Vec<u32> {
    let links = cells.iter().flat_map(|&c| &links[c]).filter(|link| link.1 > 0.0);
    let mut seen: Vec<u32> = links.map(|&(d, _)| labels[d]).collect();
    seen.sort_unstable();
    seen.dedup();
    seen
}

/// What all the cells having a label gains; minus infinity where another label would be lost.
fn gain(
    cells: &[usize],
    label: u32,
    links: &Links,
    labels: &[u32],
    counts: &[usize],
    taken: &mut [bool],
) -> f64 {
    let moved: Vec<usize> = cells.iter().copied().filter(|&c| labels[c] != label).collect();
    let mut left: BTreeMap<u32, usize> = BTreeMap::new();
    moved.iter().for_each(|&c| *left.entry(labels[c]).or_insert(0) += 1);
    if left.iter().any(|(&l, &count)| count == counts[l as usize]) {
        return f64::NEG_INFINITY;
    }
    moved.iter().for_each(|&c| taken[c] = true);
    let mut gain = 0.0;
    for &c in &moved {
        for &(d, odds) in &links[c] {
            let same = |l: u32| if labels[d] == l { odds } else { 0.0 };
            gain += match (taken[d], d < c) {
                (true, true) => odds - same(labels[c]),
                (true, false) => 0.0,
                (false, _) => same(label) - same(labels[c]),
            };
        }
    }
    moved.iter().for_each(|&c| taken[c] = false);
    gain
}

/// The place of the largest value, and of the largest of the others.
fn best_two(values: &[f64]) -> [usize; 2] {
    let mut best = [0, usize::MAX];
    for x in 1..values.len() {
        if values[x] > values[best[0]] {
            best = [x, best[0]];
        } else if best[1] == usize::MAX || values[x] > values[best[1]] {
            best[1] = x;
        }
    }
    best
}

/// The ways in which two nodes leave a label to their join: both have it, the first, the second.
/// Each with its value and the labels of both.
fn choices(
    values: &Array2<f64>,
    two: &[[usize; 2]],
    nodes: [usize; 2],
    x: usize,
    odds: f64,
) -> [(f64, usize, usize); 3] {
    let [a, b] = nodes;
    let of = |node: usize, x: usize| values.get([node, x]).copied().unwrap_or(f64::NEG_INFINITY);
    let other = |node: usize| if two[node][0] == x { two[node][1] } else { two[node][0] };
    let (oa, ob) = (other(a), other(b));
    [
        (of(a, x) + of(b, x) + odds, x, x),
        (of(a, x) + of(b, ob), x, ob),
        (of(a, oa) + of(b, x), oa, x),
    ]
}

/// The labels numbered by first cell.
pub(super) fn numbered(mut labels: Vec<u32>) -> Vec<u32> {
    let mut number = BTreeMap::new();
    for label in &mut labels {
        let next = number.len() as u32;
        *label = *number.entry(*label).or_insert(next);
    }
    labels
}
