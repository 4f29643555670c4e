//! Nearest centres of a block of rows: one row per lane, two vectors of rows by up to six centres
//! in registers.
//!
//! Each score adds the columns up in order with fused multiply-adds, so its bits do not depend on
//! the width of the vectors; and where the two best scores are closer than rounding can tell, the
//! row is decided by differences. The nearest centre is therefore exactly that of the naive loop.

use pulp::{Simd, WithSimd};

use super::centres::{Centres, TILE, tiles};
use super::rows::Rows;
use crate::Float;

/// Vectors of rows per panel.
const DEEP: usize = 2;
/// Multiply-adds between two questions whether to stop: some milliseconds.
const WORK: usize = 1 << 24;

/// What one block of rows adds to the next centres.
#[derive(Clone, Default)]
pub(super) struct Partial {
    /// k x d weighted sums of rows.
    pub sums: Vec<f64>,
    /// Weight of each cluster.
    pub weights: Vec<f64>,
    /// Rows of each cluster.
    pub counts: Vec<usize>,
    /// Rows whose cluster changed.
    pub changed: usize,
}

impl Partial {
    pub(super) fn reset(&mut self, k: usize, d: usize) {
        self.sums.clear();
        self.sums.resize(k * d, 0.0);
        self.weights.clear();
        self.weights.resize(k, 0.0);
        self.counts.clear();
        self.counts.resize(k, 0);
        self.changed = 0;
    }

    pub(super) fn add(&mut self, other: &Partial) {
        for (a, b) in self.sums.iter_mut().zip(&other.sums) {
            *a += b;
        }
        for (a, b) in self.weights.iter_mut().zip(&other.weights) {
            *a += b;
        }
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
        self.changed += other.changed;
    }
}

/// Gives rows `first..first + labels.len()` their nearest centre and, where asked, sums them up;
/// leaves off where somebody asks to stop.
pub(super) struct AssignBlock<'a, 'r, F> {
    pub rows: &'a Rows<'r, F>,
    pub centres: &'a Centres<F>,
    pub weights: Option<&'a [f64]>,
    pub norms: &'a [f32],
    pub first: usize,
    pub labels: &'a mut [u32],
    pub partial: Option<&'a mut Partial>,
}

impl<F: Float> WithSimd for AssignBlock<'_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let AssignBlock { rows, centres, weights, norms, first, labels, mut partial } = self;
        let width = DEEP * F::lanes::<S>();
        let mut panel = vec![F::default(); width * rows.d];
        let mut index = [0u32; 64];
        let mut gap = [F::default(); 64];
        // Rounding of the score and of the direct distance, for a row of norm 0.
        let rate = (2 * rows.d + 16) as f64 * F::EPSILON;
        let often = WORK / (width * rows.d).saturating_mul(centres.k).max(1);
        for (p, labels) in labels.chunks_mut(width).enumerate() {
            if p % often.max(1) == 0 && rows.stop.asked() {
                return;
            }
            let at = first + p * width;
            rows.pack(at, labels.len(), width, &mut panel);
            nearest::<S, F>(simd, &panel, centres, &mut index[..width], &mut gap[..width]);
            for (r, label) in labels.iter_mut().enumerate() {
                let i = at + r;
                let reach = f64::from(norms[i]) + centres.norm;
                let mut best = index[r];
                // Written so that a NaN is decided by differences, too.
                if !(gap[r].to_f64() > rate * reach * reach) {
                    best = nearest_by_differences(rows, centres, i).0;
                }
                if let Some(partial) = partial.as_deref_mut() {
                    let weight = weights.map_or(1.0, |w| w[i]);
                    let c = best as usize;
                    rows.add_to(i, weight, &mut partial.sums[c * rows.d..]);
                    partial.weights[c] += weight;
                    partial.counts[c] += 1;
                    partial.changed += usize::from(*label != best);
                }
                *label = best;
            }
        }
    }
}

/// The nearest centre of one row and its squared distance; ties go to the lowest centre.
pub(super) fn nearest_by_differences<F: Float>(
    rows: &Rows<'_, F>,
    centres: &Centres<F>,
    i: usize,
) -> (u32, f64) {
    let mut best = (0, f64::INFINITY);
    for c in 0..centres.k {
        let distance = rows.distance(i, centres.row(c));
        if distance < best.1 {
            best = (c as u32, distance);
        }
    }
    best
}

/// Lane by lane the centre of the best score `|c|^2 / 2 - y.c`, and by how much it beats the
/// second.
#[inline(always)]
fn nearest<S: Simd, F: Float>(
    simd: S,
    panel: &[F],
    centres: &Centres<F>,
    index: &mut [u32],
    gap: &mut [F],
) {
    let panel = F::vectors::<S>(panel);
    let d = centres.d;
    let mut state = Best::<S, F> {
        score: [F::splat(simd, F::infinity()); DEEP],
        second: [F::splat(simd, F::infinity()); DEEP],
        index: [F::splat_index(simd, 0); DEEP],
    };
    for (first, width) in tiles(centres.k) {
        let tile = &centres.tiles[first * d..(first + width) * d];
        let half = &centres.half[first..first + width];
        match width {
            1 => score::<S, F, 1>(simd, panel, tile, half, first as u32, &mut state),
            2 => score::<S, F, 2>(simd, panel, tile, half, first as u32, &mut state),
            3 => score::<S, F, 3>(simd, panel, tile, half, first as u32, &mut state),
            4 => score::<S, F, 4>(simd, panel, tile, half, first as u32, &mut state),
            5 => score::<S, F, 5>(simd, panel, tile, half, first as u32, &mut state),
            _ => score::<S, F, TILE>(simd, panel, tile, half, first as u32, &mut state),
        }
    }
    let mut margin = state.second;
    for v in 0..DEEP {
        margin[v] = F::sub(simd, state.second[v], state.score[v]);
    }
    F::store::<S>(&margin, gap);
    F::store_index::<S>(&state.index, index);
}

struct Best<S: Simd, F: Float> {
    score: [F::Vector<S>; DEEP],
    second: [F::Vector<S>; DEEP],
    index: [F::Index<S>; DEEP],
}

#[inline(always)]
fn score<S: Simd, F: Float, const C: usize>(
    simd: S,
    panel: &[F::Vector<S>],
    tile: &[F],
    half: &[F],
    first: u32,
    best: &mut Best<S, F>,
) {
    let zero = F::splat(simd, F::default());
    let mut sums = [[zero; DEEP]; C];
    for c in 0..C {
        sums[c] = [F::splat(simd, half[c]); DEEP];
    }
    for (y, tile) in panel.as_chunks::<DEEP>().0.iter().zip(tile.as_chunks::<C>().0) {
        for c in 0..C {
            let x = F::splat(simd, tile[c]);
            for v in 0..DEEP {
                sums[c][v] = F::mul_add(simd, x, y[v], sums[c][v]);
            }
        }
    }
    for c in 0..C {
        let i = F::splat_index(simd, first + c as u32);
        for v in 0..DEEP {
            let s = sums[c][v];
            best.second[v] = F::min(simd, best.second[v], F::max(simd, best.score[v], s));
            best.index[v] = F::pick(simd, s, best.score[v], i, best.index[v]);
            best.score[v] = F::min(simd, best.score[v], s);
        }
    }
}

/// Squared distances of a block of rows to one centre, kept where smaller than before; or, without
/// a centre to compare with, to the origin.
pub(super) struct ClosestBlock<'a, 'r, F> {
    pub rows: &'a Rows<'r, F>,
    pub centre: &'a [F],
    pub first: usize,
    pub closest: &'a mut [F],
}

impl<F: Float> WithSimd for ClosestBlock<'_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ClosestBlock { rows, centre, first, closest } = self;
        let width = DEEP * F::lanes::<S>();
        let mut panel = vec![F::default(); width * rows.d];
        let mut out = [F::default(); 64];
        for (p, closest) in closest.chunks_mut(width).enumerate() {
            rows.pack(first + p * width, closest.len(), width, &mut panel);
            let mut sums = [F::splat(simd, F::default()); DEEP];
            for (y, &c) in F::vectors::<S>(&panel).as_chunks::<DEEP>().0.iter().zip(centre) {
                let c = F::splat(simd, c);
                for v in 0..DEEP {
                    let diff = F::sub(simd, y[v], c);
                    sums[v] = F::mul_add(simd, diff, diff, sums[v]);
                }
            }
            F::store::<S>(&sums, &mut out);
            for (best, &now) in closest.iter_mut().zip(&out) {
                if now < *best {
                    *best = now;
                }
            }
        }
    }
}
