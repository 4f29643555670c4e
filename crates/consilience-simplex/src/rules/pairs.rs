use std::ops::Range;

use consilience_core::{Link, Pair};
use consilience_num::reduce::{map_each, ordered_chunks};

use super::block::{Batch, Labels, PAIRS};
use super::by_kind::by_kind;
use super::loss::{PairLoss, sign};
use super::violations::{Evaluation, Violations};
use crate::kernel::{Kernel, PART, TILE, Work, dispatch, passes};
use crate::parallel::PARALLEL_FROM;
use crate::tiles::{Tiles, UNLABELLED};
use crate::weights::Weights;

/// With more common clusters no two bytes are left that no cluster has.
pub(crate) const MAX_CLUSTERS: usize = FILL[0] as usize;
/// Members whose errors one task counts.
const AGREEING: usize = 150;
/// Fill up the last tile on either side of pairs: no two of them agree, and no cluster has them.
const FILL: [u8; 2] = [254, 255];

/// A batch of constraints by the bytes of the members, must-links first: 64 objects `i` in one tile
/// and their 64 `j` in the next.
pub(crate) struct Pairs {
    tiles: Tiles,
    kinds: [Kind; 2],
    clusters: usize,
}

/// Pairs of one kind.
pub(crate) struct Kind {
    pub(crate) link: Link,
    pub(crate) pairs: usize,
    pub(crate) weight: f64,
    /// Tiles of each member.
    pub(crate) tiles: Range<usize>,
}

impl Pairs {
    /// Weighted as in [`by_kind`]; for at most [`MAX_CLUSTERS`] common clusters. `labels` gathers
    /// those of some objects by all members.
    pub(crate) fn of(
        labels: impl FnOnce(&[u32]) -> Tiles,
        clusters: usize,
        constraints: impl Iterator<Item = Pair>,
        balance: bool,
    ) -> Self {
        let mut objects: Vec<u32> = Vec::new();
        let kinds = by_kind(constraints, balance).map(|(link, pairs, weight)| {
            let first = objects.len() / TILE;
            for chunk in pairs.chunks(TILE) {
                // Filled up with objects whose columns are read anyway.
                objects.extend(chunk.iter().map(|p| p.i as u32));
                objects.resize(objects.len().next_multiple_of(TILE), chunk[0].i as u32);
                objects.extend(chunk.iter().map(|p| p.j as u32));
                objects.resize(objects.len().next_multiple_of(TILE), chunk[0].j as u32);
            }
            Kind { link, pairs: pairs.len(), weight, tiles: first..objects.len() / TILE }
        });
        Pairs { tiles: labels(&objects), kinds, clusters }
    }

    /// Whether some member does not label some object.
    pub(crate) fn gaps(&self) -> bool {
        self.tiles.gaps()
    }

    /// Ends the last tiles of each kind, which are gathered in full.
    pub(crate) fn filled(mut self) -> Self {
        for kind in &self.kinds {
            let real = kind.pairs % TILE;
            if real == 0 {
                continue;
            }
            for u in 0..self.tiles.members() {
                let row = self.tiles.row_mut(u);
                for (side, fill) in FILL.into_iter().enumerate() {
                    row[kind.tiles.end - 2 + side].0[real..].fill(fill);
                }
            }
        }
        self
    }

    /// The same as a batch of blocks, from the labels that are copied out already.
    pub(crate) fn batch(&self) -> Batch {
        let (mut chunks, mut first) = (Vec::new(), 0);
        for kind in &self.kinds {
            for at in (0..kind.pairs).step_by(PAIRS) {
                let count = PAIRS.min(kind.pairs - at);
                chunks.push((first, count, kind.link, kind.weight));
                first += 2 * count;
            }
        }
        Batch::known(self.labels(), chunks)
    }

    /// The labels as blocks have them: for each block the first objects of its pairs, then the
    /// second.
    fn labels(&self) -> Labels {
        let n = 2 * self.kinds.iter().map(|k| k.pairs).sum::<usize>();
        let mut values = Vec::with_capacity(n * self.n_members());
        for u in 0..self.n_members() {
            for kind in &self.kinds {
                for (block, sides) in self.sides(u, kind).chunks(PAIRS / TILE).enumerate() {
                    let real = PAIRS.min(kind.pairs - block * PAIRS);
                    for side in 0..2 {
                        let labels = sides.iter().flat_map(|s| &s[side].0).take(real);
                        let wide =
                            |&l: &u8| if l == UNLABELLED { self.clusters as u16 } else { l.into() };
                        values.extend(labels.map(wide));
                    }
                }
            }
        }
        Labels::known(n, values)
    }

    pub(crate) fn kinds(&self) -> &[Kind; 2] {
        &self.kinds
    }

    pub(crate) fn n_members(&self) -> usize {
        self.tiles.members()
    }

    /// The pairs of one kind as one member labels them, both sides of 64 pairs at a time.
    pub(crate) fn sides(&self, member: usize, kind: &Kind) -> &[[crate::kernel::Tile; 2]] {
        self.tiles.row(member)[kind.tiles.clone()].as_chunks().0
    }

    /// Each member's share of errors, weighted: 0 where it puts every pair right, 1 where none.
    pub(crate) fn mean_errors(&self) -> Vec<f64> {
        let count = |members: Range<usize>| dispatch(Agreements { pairs: self, members });
        let agreements =
            ordered_chunks(self.n_members(), AGREEING, count, Vec::new(), |mut all, some| {
                all.extend(some);
                all
            });
        share_of_errors(self.kinds.each_ref().map(|k| (k.pairs, k.weight)), agreements)
    }

    /// Evaluates two sets of weights on the constraints.
    pub(crate) fn evaluations(&self, weights: [&Weights; 2], loss: PairLoss) -> [Evaluation; 2] {
        let of_chunk = |chunk: usize| dispatch(Evaluate { pairs: self, weights, loss, chunk });
        let chunks = self.tiles.per_member() / 2;
        add_up(if self.n_members() * self.tiles.per_member() * TILE < PARALLEL_FROM {
            (0..chunks).map(of_chunk).collect()
        } else {
            map_each(chunks, &of_chunk)
        })
    }

    /// The kind of a pair of tiles, and how many of its pairs are real.
    fn chunk(&self, chunk: usize) -> (&Kind, usize) {
        let kind = &self.kinds[usize::from(2 * chunk >= self.kinds[0].tiles.end)];
        (kind, (kind.pairs - (2 * chunk - kind.tiles.start) / 2 * TILE).min(TILE))
    }
}

/// Pairs of each kind that members put together.
struct Agreements<'a> {
    pairs: &'a Pairs,
    members: Range<usize>,
}

impl Work for Agreements<'_> {
    type Output = Vec<[u32; 2]>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Vec<[u32; 2]> {
        let Agreements { pairs, members } = self;
        let mut counts = Vec::with_capacity(members.len());
        for u in members {
            let mut of_kind = [0; 2];
            for (count, kind) in of_kind.iter_mut().zip(&pairs.kinds) {
                for [a, b] in pairs.sides(u, kind) {
                    *count += kernel.agreements(a, b);
                }
            }
            counts.push(of_kind);
        }
        counts
    }
}

/// Evaluates two sets of weights on at most 64 pairs of one kind.
struct Evaluate<'a> {
    pairs: &'a Pairs,
    weights: [&'a Weights; 2],
    loss: PairLoss,
    chunk: usize,
}

impl Work for Evaluate<'_> {
    type Output = [Evaluation; 2];

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> [Evaluation; 2] {
        let Evaluate { pairs, weights, loss, chunk } = self;
        let [before, after] = weights.map(Weights::units);
        let r = pairs.clusters;
        let mut votes: Votes = vec![[[[0; TILE]; 2]; 2]; r];
        for side in 0..2 {
            let tile = 2 * chunk + side;
            for part in 0..TILE / PART {
                passes!(r, |first, R| {
                    let units = before.iter().zip(after).map(|(&b, &a)| [b, a]);
                    let weighted = pairs.tiles.column(tile).zip(units);
                    let sums = kernel.count_32::<R, 2>(weighted, part, first);
                    for (w, sums) in sums.iter().enumerate() {
                        for (votes, sums) in votes[first..].iter_mut().zip(sums) {
                            votes[w][side].as_chunks_mut::<PART>().0[part] = *sums;
                        }
                    }
                });
            }
        }
        let (kind, real) = pairs.chunk(chunk);
        evaluate_votes(&votes, weights, kind.link, real, kind.weight, loss)
    }
}

/// For each cluster the votes by each of two sets of weights on both objects of at most 64 pairs,
/// side by side.
pub(super) type Votes = Vec<[[[u32; TILE]; 2]; 2]>;

/// Each member's share of errors, from the numbers of must-links and cannot-links that it puts
/// together, of so many, at such a weight each.
pub(super) fn share_of_errors(
    kinds: [(usize, f64); 2],
    agreements: impl IntoIterator<Item = [u32; 2]>,
) -> Vec<f64> {
    let total: f64 = kinds.iter().map(|&(pairs, weight)| weight * pairs as f64).sum();
    let [(musts, must_weight), (_, cannot_weight)] = kinds;
    let error = |[must, cannot]: [u32; 2]| {
        (must_weight * (musts as f64 - f64::from(must)) + cannot_weight * f64::from(cannot)) / total
    };
    agreements.into_iter().map(error).collect()
}

/// The evaluations on all pairs, from those on some.
pub(super) fn add_up(parts: Vec<[Evaluation; 2]>) -> [Evaluation; 2] {
    let mut sums = [Evaluation::default(); 2];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, part)| sum.add(part));
    }
    sums
}

/// Evaluates both sets of weights on `real` pairs of one kind; the votes on others are 0.
#[inline(always)]
pub(super) fn evaluate_votes(
    votes: &Votes,
    weights: [&Weights; 2],
    link: Link,
    real: usize,
    weight: f64,
    loss: PairLoss,
) -> [Evaluation; 2] {
    std::array::from_fn(|w| {
        let total = weights[w].total() as f64;
        let (violations, loss) = evaluate_by(votes.iter().map(|v| &v[w]), link, real, total, loss);
        Evaluation { violations, loss: weight * loss }
    })
}

/// What is violated, and the loss, from the votes by one set of weights.
#[inline(always)]
fn evaluate_by<'a>(
    votes: impl Iterator<Item = &'a [[u32; TILE]; 2]>,
    link: Link,
    real: usize,
    total: f64,
    loss: PairLoss,
) -> (Violations, f64) {
    let sign = sign(link);
    let (mut products, mut squares) = ([0.0f64; TILE], [0.0f64; TILE]);
    let mut best = [[0u32; TILE]; 2];
    let mut label = [[0u32; TILE]; 2];
    for (c, sides) in (0u32..).zip(votes) {
        for t in 0..TILE {
            let (a, b) = (f64::from(sides[0][t]), f64::from(sides[1][t]));
            products[t] += a * b;
            squares[t] += (a + sign * b) * (a + sign * b);
        }
        for side in 0..2 {
            for t in 0..TILE {
                let vote = sides[side][t];
                label[side][t] = if vote > best[side][t] { c } else { label[side][t] };
                best[side][t] = best[side][t].max(vote);
            }
        }
    }
    let together = products.iter().sum::<f64>() / (total * total);
    let wrong = |t: &usize| (label[0][*t] != label[1][*t]) == (link == Link::Must);
    let wrong = (0..real).filter(wrong).count();
    let violations = Violations::of(link, real, wrong, together);
    let loss = match loss {
        PairLoss::Squared => squares.iter().sum::<f64>() / (total * total),
        PairLoss::Probability => violations.expected,
    };
    (violations, loss)
}
