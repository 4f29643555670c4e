use consilience_core::Link;
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::PairLoss;
use super::block::Block;

/// Up to this many members the matrix is worth its p m^2 comparisons of bytes, 64 at a time, since each of the
/// dozens of gradients then costs m^2 instead of 4 p m.
const MEMBERS: usize = 512;
/// Pairs at a time; chunks of as many, of at most 4 each, are added up in bytes.
const LANES: usize = 64;
const CHUNKS: usize = 60;
/// No label: fills up the last chunk on either side of the pairs.
const FILL: [u8; 2] = [254, 255];

/// The loss of a batch without gaps as `gamma' A gamma` and a constant, since it depends on the labels only by
/// which of them are equal.
pub(crate) struct Gram {
    members: usize,
    matrix: Vec<f64>,
    constant: f64,
    convex: bool,
}

impl Gram {
    /// `None` where some member is silent, or members or clusters are too many.
    pub(super) fn of(blocks: &[Block<'_>], members: usize, loss: PairLoss) -> Option<Self> {
        let clusters = blocks.iter().map(|b| b.rows.clusters()).max().unwrap_or(0);
        if members > MEMBERS || clusters >= usize::from(FILL[0]) || blocks.iter().any(|b| b.rows.gaps()) {
            return None;
        }
        let mut gram = Gram {
            members,
            matrix: vec![0.0; members * members],
            constant: 0.0,
            convex: loss == PairLoss::Squared,
        };
        for link in [Link::Must, Link::Cannot] {
            let kind: Vec<&Block<'_>> = blocks.iter().filter(|b| b.link == link).collect();
            if let Some(first) = kind.first() {
                gram.add(&kind, members, link, first.weight, loss);
            }
        }
        let m = members;
        for u in 0..m {
            for v in 0..u {
                gram.matrix[v * m + u] = gram.matrix[u * m + v];
            }
        }
        Some(gram)
    }

    /// Adds pairs of one kind to the lower half of the matrix.
    fn add(&mut self, blocks: &[&Block<'_>], members: usize, link: Link, weight: f64, loss: PairLoss) {
        let pairs: usize = blocks.iter().map(|b| b.pairs()).sum();
        let chunks = pairs.div_ceil(LANES);
        let mut sides = vec![[[FILL[0]; LANES], [FILL[1]; LANES]]; chunks * members];
        for (u, row) in sides.chunks_mut(chunks).enumerate() {
            let mut at = 0;
            for b in blocks {
                let (first, second) = b.rows.labels_of(u).split_at(b.pairs());
                for (&i, &j) in first.iter().zip(second) {
                    row[at / LANES][0][at % LANES] = i as u8;
                    row[at / LANES][1][at % LANES] = j as u8;
                    at += 1;
                }
            }
        }
        let filled = (chunks * LANES - pairs) as f64;
        let all = (chunks * LANES) as f64;
        // What the counts have in excess, and what a count weighs.
        let (kind, excess, weight) = match (loss, link) {
            (PairLoss::Squared, Link::Must) => (APART, 2.0 * all + 2.0 * filled, weight),
            (PairLoss::Squared, Link::Cannot) => (TOGETHER, 2.0 * filled, weight),
            (PairLoss::Probability, Link::Must) => (ACROSS, 0.0, -0.5 * weight),
            (PairLoss::Probability, Link::Cannot) => (ACROSS, 0.0, 0.5 * weight),
        };
        if (loss, link) == (PairLoss::Probability, Link::Must) {
            self.constant += weight.abs() * 2.0 * pairs as f64;
        }
        self.matrix.par_chunks_mut(members).enumerate().for_each(|(u, out)| {
            let mut counts = vec![0u32; u + 1];
            let mine = &sides[chunks * u..][..chunks];
            Arch::new().dispatch(Count { kind, mine, others: &sides, counts: &mut counts });
            for (out, &count) in out.iter_mut().zip(&counts) {
                *out += weight * (f64::from(count) - excess);
            }
        });
    }

    pub(super) fn times(&self, gamma: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.members];
        for (row, &g) in self.matrix.chunks(self.members).zip(gamma) {
            if g != 0.0 {
                out.iter_mut().zip(row).for_each(|(o, a)| *o += g * a);
            }
        }
        out
    }

    pub(super) fn constant(&self) -> f64 {
        self.constant
    }

    pub(super) fn convex(&self) -> bool {
        self.convex
    }
}

/// What is counted of two members' labels (a, b) and (c, d) of a pair: `2 + [a = c] + [b = d] - [a = d] - [b = c]`,
/// the sum of all four, or the last two alone. Never negative, so that bytes can be added up.
const APART: u8 = 0;
const TOGETHER: u8 = 1;
const ACROSS: u8 = 2;

/// Both sides of some pairs as one member labels them.
type Sides = [[u8; LANES]; 2];

/// Counts between one member and each of the others.
struct Count<'a> {
    kind: u8,
    mine: &'a [Sides],
    others: &'a [Sides],
    counts: &'a mut [u32],
}

impl NullaryFnOnce for Count<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Count { kind, mine, others, counts } = self;
        for (count, other) in counts.iter_mut().zip(others.chunks(mine.len())) {
            *count = match kind {
                APART => between::<APART>(mine, other),
                TOGETHER => between::<TOGETHER>(mine, other),
                _ => between::<ACROSS>(mine, other),
            };
        }
    }
}

#[inline(always)]
fn between<const KIND: u8>(mine: &[Sides], other: &[Sides]) -> u32 {
    let mut total = 0;
    for (mine, other) in mine.chunks(CHUNKS).zip(other.chunks(CHUNKS)) {
        let mut sums = [0u8; LANES];
        for ([a, b], [c, d]) in mine.iter().zip(other) {
            for t in 0..LANES {
                let same = u8::from(a[t] == c[t]) + u8::from(b[t] == d[t]);
                let across = u8::from(a[t] == d[t]) + u8::from(b[t] == c[t]);
                sums[t] += match KIND {
                    APART => 2 + same - across,
                    TOGETHER => same + across,
                    _ => across,
                };
            }
        }
        total += byte_sum(&sums);
    }
    total
}

/// The sum of all bytes, by sums of every second one within words: compilers make a long detour of the loop.
#[inline(always)]
fn byte_sum(bytes: &[u8; LANES]) -> u32 {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    let mut quarters = 0u64;
    for &word in bytes.as_chunks::<8>().0 {
        let word = u64::from_le_bytes(word);
        quarters += (word & EVEN) + (word >> 8 & EVEN);
    }
    (quarters.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32
}
