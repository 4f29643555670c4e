use consilience_core::Link;
use rayon::prelude::*;

use super::loss::PairLoss;
use super::pairs::{Kind, Pairs};
use crate::kernel::{ACROSS, APART, Kernel, TILE, TOGETHER, Work, dispatch};

/// Up to this many members the matrix repays its p m^2 comparisons of bytes, 64 at a time, since
/// each of the dozens of gradients then costs m^2 instead of 4 p m.
pub(crate) const MEMBERS: usize = 512;

/// The loss of a batch without gaps as `gamma' A gamma` and a constant, since it depends on the
/// labels only by which of them are equal.
pub(crate) struct Gram {
    members: usize,
    matrix: Vec<f64>,
    constant: f64,
    convex: bool,
}

impl Gram {
    pub(crate) fn of(pairs: &Pairs, loss: PairLoss) -> Self {
        let m = pairs.n_members();
        let mut gram = Gram {
            members: m,
            matrix: vec![0.0; m * m],
            constant: 0.0,
            convex: loss == PairLoss::Squared,
        };
        for kind in pairs.kinds().iter().filter(|k| k.pairs > 0) {
            gram.add(pairs, kind, loss);
        }
        for u in 0..m {
            for v in 0..u {
                gram.matrix[v * m + u] = gram.matrix[u * m + v];
            }
        }
        gram
    }

    /// Adds pairs of one kind to the lower half of the matrix.
    fn add(&mut self, pairs: &Pairs, kind: &Kind, loss: PairLoss) {
        let Kind { link, weight, .. } = *kind;
        let all = (kind.tiles.len() / 2 * TILE) as f64;
        let filled = all - kind.pairs as f64;
        // What the counts have in excess, and what a count weighs.
        let (count, excess, weight) = match (loss, link) {
            (PairLoss::Squared, Link::Must) => (APART, 2.0 * all + 2.0 * filled, weight),
            (PairLoss::Squared, Link::Cannot) => (TOGETHER, 2.0 * filled, weight),
            (PairLoss::Probability, Link::Must) => (ACROSS, 0.0, -0.5 * weight),
            (PairLoss::Probability, Link::Cannot) => (ACROSS, 0.0, 0.5 * weight),
        };
        if (loss, link) == (PairLoss::Probability, Link::Must) {
            self.constant += kind.weight * kind.pairs as f64;
        }
        self.matrix.par_chunks_mut(self.members).enumerate().for_each(|(u, out)| {
            let mut counts = vec![0u32; u + 1];
            dispatch(Count { count, pairs, kind, member: u, counts: &mut counts });
            for (out, &count) in out.iter_mut().zip(&counts) {
                *out += weight * (f64::from(count) - excess);
            }
        });
    }

    pub(super) fn times(&self, gamma: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.members];
        dispatch(Times { matrix: &self.matrix, gamma, out: &mut out });
        out
    }

    pub(super) fn constant(&self) -> f64 {
        self.constant
    }

    pub(super) fn convex(&self) -> bool {
        self.convex
    }
}

/// The rows of a matrix, weighted, in the order of the rows.
struct Times<'a> {
    matrix: &'a [f64],
    gamma: &'a [f64],
    out: &'a mut [f64],
}

impl Work for Times<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let Times { matrix, gamma, out } = self;
        for (row, &g) in matrix.chunks_exact(out.len()).zip(gamma) {
            if g != 0.0 {
                out.iter_mut().zip(row).for_each(|(o, a)| *o += g * a);
            }
        }
    }
}

/// Counts between one member and each of the others up to it.
struct Count<'a> {
    count: u8,
    pairs: &'a Pairs,
    kind: &'a Kind,
    member: usize,
    counts: &'a mut [u32],
}

impl Work for Count<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Count { count, pairs, kind, member, counts } = self;
        let mine = pairs.sides(member, kind);
        for (v, out) in counts.iter_mut().enumerate() {
            let other = pairs.sides(v, kind);
            *out = match count {
                APART => kernel.between::<APART>(mine, other),
                TOGETHER => kernel.between::<TOGETHER>(mine, other),
                _ => kernel.between::<ACROSS>(mine, other),
            };
        }
    }
}
