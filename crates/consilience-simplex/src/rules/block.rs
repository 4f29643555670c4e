use std::ops::Range;

use consilience_core::{Ensemble, Link, Pair};
use consilience_num::reduce::{each_chunk, map_each};

use super::by_kind::by_kind;
use super::loss::PairLoss;
use super::violations::{Evaluation, Violations};
use crate::alignment::Alignment;
use crate::tally::count_aligned;
use crate::weights::Weights;

/// Pairs per block: fixed, so that sums over blocks have the same bits on any number of threads,
/// and small enough that a block's tables stay in the nearest cache.
pub(super) const PAIRS: usize = 256;

/// Members whose labels one task copies out.
const MEMBERS: usize = 16;

/// The aligned labels of a few objects, copied out once so that an update never goes back to the
/// columns.
pub(crate) struct Labels {
    n: usize,
    /// One row per member.
    values: Vec<u16>,
}

impl Labels {
    pub(crate) fn of(ensemble: &Ensemble, alignment: &Alignment, objects: &[u32]) -> Self {
        let (n, m) = (objects.len(), ensemble.n_members());
        let mut values = vec![0; n * m];
        // Column by column, so that each is looked up while it is near.
        each_chunk(&mut values, (n * MEMBERS).max(1), &|chunk, rows| {
            for (u, out) in rows.chunks_mut(n).enumerate() {
                alignment.gather(ensemble, chunk * MEMBERS + u, objects, out);
            }
        });
        Labels { n, values }
    }

    /// Labels that are known already: one row of n per member.
    pub(super) fn known(n: usize, values: Vec<u16>) -> Self {
        Labels { n, values }
    }

    /// Number of objects.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    pub(crate) fn of_member(&self, member: usize) -> &[u16] {
        &self.values[member * self.n..(member + 1) * self.n]
    }
}

/// Some of these objects, with what the others say where a member is unlabelled.
#[derive(Clone)]
pub(crate) struct Rows<'a> {
    labels: &'a Labels,
    first: usize,
    n: usize,
    clusters: usize,
    /// r x n: the memberships under the weights before the update. A member that does not label an
    /// object is taken to say this of it.
    prior: Vec<f64>,
    /// Whether any weight labelled the object before the update.
    known: Vec<bool>,
    /// Whether some member does not label some object.
    gaps: bool,
}

impl<'a> Rows<'a> {
    pub(crate) fn of(
        labels: &'a Labels,
        range: Range<usize>,
        clusters: usize,
        weights: &Weights,
    ) -> Self {
        let (first, n) = (range.start, range.len());
        let mut rows =
            Rows { labels, first, n, clusters, prior: Vec::new(), known: Vec::new(), gaps: false };
        let unlabelled = clusters as u16;
        rows.gaps = (0..weights.units().len()).any(|u| rows.labels_of(u).contains(&unlabelled));
        let before = rows.memberships(weights);
        (rows.prior, rows.known) = (before.values, before.known);
        rows
    }

    /// Number of objects.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// The memberships of one object before the update.
    pub(crate) fn prior_of(&self, t: usize) -> Vec<f64> {
        self.prior.iter().skip(t).step_by(self.n).copied().collect()
    }

    /// The derivative by gamma of something that depends on one object, from that by its row of F.
    pub(crate) fn gradient_of<'b>(
        &'b self,
        t: usize,
        by_f: &'b [f64],
    ) -> impl Iterator<Item = f64> + 'b {
        let unlabelled: f64 =
            by_f.iter().zip(self.prior.iter().skip(t).step_by(self.n)).map(|(g, p)| g * p).sum();
        let labels = self.labels.values.iter().skip(self.first + t).step_by(self.labels.n);
        labels.map(move |&l| by_f.get(l as usize).copied().unwrap_or(unlabelled))
    }

    pub(crate) fn labels_of(&self, member: usize) -> &'a [u16] {
        &self.labels.of_member(member)[self.first..self.first + self.n]
    }

    /// Adds up weights by cluster, r + 1 rows of which the last is of the members that do
    /// not label the object.
    fn tally(&self, weights: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![0.0; (self.clusters + 1) * self.n];
        for (u, weight) in weights.enumerate() {
            if weight != 0.0 {
                for (t, &l) in self.labels_of(u).iter().enumerate() {
                    sums[l as usize * self.n + t] += weight;
                }
            }
        }
        sums
    }

    /// What the members say, each object over those that label it.
    fn memberships(&self, weights: &Weights) -> Soft {
        // In units: sums of whole numbers are exact.
        let (r, n) = (self.clusters, self.n);
        let votes = count_aligned(|u| self.labels_of(u), weights.units(), r, n);
        let mut labelled = vec![0u64; n];
        for row in votes.chunks(n.max(1)) {
            labelled.iter_mut().zip(row).for_each(|(h, &v)| *h += u64::from(v));
        }
        let mut values = Vec::with_capacity(r * n);
        for row in votes.chunks(n.max(1)) {
            let share = |(&v, &h): (&u32, &u64)| {
                if h > 0 { f64::from(v) / h as f64 } else { 1.0 / r as f64 }
            };
            values.extend(row.iter().zip(&labelled).map(share));
        }
        let unlabelled = labelled.iter().map(|h| (weights.total() - h) as f64).collect();
        let known = labelled.iter().map(|&h| h > 0).collect();
        Soft { n: self.n, values, unlabelled, known }
    }

    /// What was said before the update.
    fn before(&self) -> Soft {
        Soft {
            n: self.n,
            values: self.prior.clone(),
            unlabelled: Vec::new(),
            known: self.known.clone(),
        }
    }

    /// F(gamma) as [`Rows::forward`] has it, from the memberships under gamma.
    fn f_of(&self, soft: &Soft, total: f64) -> Vec<f64> {
        let mut f = soft.values.clone();
        if self.gaps {
            for (row, prior) in f.chunks_mut(self.n.max(1)).zip(self.prior.chunks(self.n.max(1))) {
                for (((f, p), s), &known) in
                    row.iter_mut().zip(prior).zip(&soft.unlabelled).zip(&soft.known)
                {
                    let s = s / total;
                    *f = if known { *f + s * (p - *f) } else { *p };
                }
            }
        }
        f
    }

    /// F(gamma), r x n: linear in gamma, and the memberships themselves at the weights before.
    pub(crate) fn forward(&self, gamma: &[f64]) -> Vec<f64> {
        let mut f = self.tally(gamma.iter().copied());
        let unlabelled = f.split_off(self.clusters * self.n);
        if self.gaps {
            for (row, prior) in f.chunks_mut(self.n.max(1)).zip(self.prior.chunks(self.n.max(1))) {
                for ((f, p), s) in row.iter_mut().zip(prior).zip(&unlabelled) {
                    *f += s * p;
                }
            }
        }
        f
    }

    /// Adds the derivative by gamma to `out`, from that by F.
    pub(crate) fn backward(&self, mut by_f: Vec<f64>, out: &mut [f64]) {
        // What a member without a label adds: one more row.
        by_f.resize((self.clusters + 1) * self.n, 0.0);
        if self.gaps {
            let (by_f, unlabelled) = by_f.split_at_mut(self.clusters * self.n);
            for (row, prior) in by_f.chunks(self.n).zip(self.prior.chunks(self.n)) {
                for ((g, p), s) in row.iter().zip(prior).zip(unlabelled.iter_mut()) {
                    *s += g * p;
                }
            }
        }
        for (u, out) in out.iter_mut().enumerate() {
            let at = |t: usize, l: u16| by_f[l as usize * self.n + t];
            // Four sums at a time: additions wait for each other otherwise.
            let mut sums = [0.0; 4];
            let (fours, rest) = self.labels_of(u).as_chunks::<4>();
            for (c, four) in fours.iter().enumerate() {
                for (lane, sum) in sums.iter_mut().enumerate() {
                    *sum += at(4 * c + lane, four[lane]);
                }
            }
            for (t, &l) in rest.iter().enumerate() {
                sums[0] += at(4 * fours.len() + t, l);
            }
            *out += (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
    }
}

/// Memberships of a few objects, r x n.
struct Soft {
    n: usize,
    values: Vec<f64>,
    /// Units that do not label the object.
    unlabelled: Vec<f64>,
    /// Whether any weight labels the object.
    known: Vec<bool>,
}

impl Soft {
    /// The largest membership, the first of equals; `None` without evidence.
    fn label(&self, t: usize) -> Option<usize> {
        let at = |c: usize| self.values[c * self.n + t];
        let best =
            || (1..self.values.len() / self.n).fold(0, |b, c| if at(c) > at(b) { c } else { b });
        self.known[t].then(best)
    }
}

/// Pairs of one kind and weight: the first half of the rows are the `i`, the second the `j`.
#[derive(Clone)]
pub(crate) struct Block<'a> {
    pub(crate) rows: Rows<'a>,
    pub(crate) link: Link,
    pub(crate) weight: f64,
}

impl Block<'_> {
    pub(crate) fn pairs(&self) -> usize {
        self.rows.n / 2
    }

    fn violations(&self, soft: &Soft) -> Violations {
        let pairs = self.pairs();
        let together: f64 = soft
            .values
            .chunks(self.rows.n)
            .map(|row| row[..pairs].iter().zip(&row[pairs..]).map(|(a, b)| a * b).sum::<f64>())
            .sum();
        let wrong = |t: &usize| match (soft.label(*t), soft.label(t + pairs)) {
            (Some(a), Some(b)) => (a != b) == (self.link == Link::Must),
            _ => false,
        };
        Violations::of(self.link, pairs, (0..pairs).filter(wrong).count(), together)
    }

    /// Adds each member's errors to `out`: 1 for a pair that it puts wrong. Where it labels
    /// no object, the memberships before stand in for it: the error is their probability to be
    /// wrong.
    pub(crate) fn errors(&self, out: &mut [f64]) {
        let (pairs, n) = (self.pairs(), self.rows.n);
        let unlabelled = self.rows.clusters as u16;
        let row = |l: u16, t: usize, c: usize| {
            if l == unlabelled {
                self.rows.prior[c * n + t]
            } else {
                f64::from(u8::from(l as usize == c))
            }
        };
        for (u, out) in out.iter_mut().enumerate() {
            let (a, b) = self.rows.labels_of(u).split_at(pairs);
            let together = if self.rows.gaps {
                let pair = |t: usize| match (a[t] == unlabelled, b[t] == unlabelled) {
                    (false, false) => f64::from(u8::from(a[t] == b[t])),
                    (true, false) => row(a[t], t, b[t] as usize),
                    (false, true) => row(b[t], pairs + t, a[t] as usize),
                    (true, true) => (0..self.rows.clusters)
                        .map(|c| row(a[t], t, c) * row(b[t], pairs + t, c))
                        .sum(),
                };
                (0..pairs).map(pair).sum()
            } else {
                f64::from(a.iter().zip(b).map(|(a, b)| u32::from(a == b)).sum::<u32>())
            };
            *out += match self.link {
                Link::Must => pairs as f64 - together,
                Link::Cannot => together,
            };
        }
    }
}

/// A batch of constraints, must-links first, in chunks of one kind.
pub(crate) struct Batch {
    labels: Labels,
    /// Where a chunk begins among the objects, its pairs, kind and weight.
    chunks: Vec<(usize, usize, Link, f64)>,
}

impl Batch {
    /// Weighted as in [`by_kind`].
    pub(crate) fn of(
        ensemble: &Ensemble,
        alignment: &Alignment,
        constraints: impl Iterator<Item = Pair>,
        balance: bool,
    ) -> Self {
        let (mut objects, mut chunks) = (Vec::new(), Vec::new());
        for (link, pairs, weight) in by_kind(constraints, balance) {
            for chunk in pairs.chunks(PAIRS) {
                chunks.push((objects.len(), chunk.len(), link, weight));
                objects.extend(chunk.iter().map(|p| p.i as u32));
                objects.extend(chunk.iter().map(|p| p.j as u32));
            }
        }
        Batch { labels: Labels::of(ensemble, alignment, &objects), chunks }
    }

    /// The same from labels that are copied out already: where a chunk begins among them, its
    /// pairs, kind and weight.
    pub(super) fn known(labels: Labels, chunks: Vec<(usize, usize, Link, f64)>) -> Self {
        Batch { labels, chunks }
    }

    /// The blocks, with the memberships under the weights before the update.
    pub(crate) fn blocks(&self, clusters: usize, weights: &Weights) -> Vec<Block<'_>> {
        map_each(self.chunks.len(), &|at| {
            let (first, pairs, link, weight) = self.chunks[at];
            let rows = Rows::of(&self.labels, first..first + 2 * pairs, clusters, weights);
            Block { rows, link, weight }
        })
    }
}

/// Evaluates the weights that the blocks were made with, or others.
pub(crate) fn evaluate(
    blocks: &[Block<'_>],
    weights: Option<&Weights>,
    loss: PairLoss,
) -> Evaluation {
    let of_block = |at: usize| {
        let b = &blocks[at];
        let soft = weights.map_or_else(|| b.rows.before(), |w| b.rows.memberships(w));
        let f = match weights {
            Some(w) => b.rows.f_of(&soft, w.total() as f64),
            None => b.rows.prior.clone(),
        };
        Evaluation {
            violations: b.violations(&soft),
            loss: b.weight * loss.value(b.link, &f, b.pairs()),
        }
    };
    let mut sum = Evaluation::default();
    map_each(blocks.len(), &of_block).into_iter().for_each(|part| sum.add(part));
    sum
}

/// Each member's share of errors, weighted: 0 where it puts every pair right, 1 where none.
pub(crate) fn mean_errors(blocks: &[Block<'_>], members: usize) -> Vec<f64> {
    let parts = map_each(blocks.len(), &|at| {
        let mut errors = vec![0.0; members];
        blocks[at].errors(&mut errors);
        errors
    });
    let mut mean = vec![0.0; members];
    let total: f64 = blocks.iter().map(|b| b.weight * b.pairs() as f64).sum();
    for (part, block) in parts.iter().zip(blocks) {
        mean.iter_mut().zip(part).for_each(|(m, e)| *m += block.weight * e / total);
    }
    mean
}
