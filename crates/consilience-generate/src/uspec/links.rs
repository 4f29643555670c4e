//! The bipartite graph between objects and representatives.

use std::ops::Range;

use consilience_core::{MemoryBudget, Observer, Result, Stop, room};
use consilience_num::Float;
use consilience_num::kmeans::RowSource;
use consilience_num::near::NearRows;
use consilience_num::place::Place;
use consilience_num::reduce::ordered_sum;
use consilience_num::transfer::link_sums_within;
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

/// Objects of a task at most: objects are independent, so it has no influence on the bits.
const CHUNK: usize = 1024;
/// Objects between two questions to the observer.
const WINDOW: usize = 256 * CHUNK;
/// Least weight of an object among the representatives: one so far out that all its links vanish
/// keeps this.
const FLOOR: f64 = 1e-6;

/// For every object its nearest representatives, and how it is shared out among them.
pub(super) struct Links {
    /// Representatives per object.
    near: usize,
    representatives: usize,
    index: Vec<u16>,
    /// Squared distances to them, nearest first.
    square: Vec<f32>,
    /// Twice the square of the width of the kernel.
    width: f64,
}

impl Links {
    /// The links of the rows of `x`, each put where the representatives are. There are at most 2^16
    /// of them.
    pub(super) fn find<F: Float>(
        x: ArrayView2<'_, F>,
        place: &Place,
        table: &NearRows<F>,
        near: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let near = near.min(table.most());
        Self::searched(x.nrows(), table.n_rows(), near, CHUNK, observer, |objects, found| {
            let rows: Array2<F> = place.rows(x.slice(s![objects, ..]));
            table.search(rows.view(), near, found);
        })
    }

    /// The links of `n` objects, whose nearest representatives, so many of each, a search finds of
    /// `at_once` objects.
    pub(super) fn searched<F: Float>(
        n: usize,
        representatives: usize,
        near: usize,
        at_once: usize,
        observer: &dyn Observer,
        search: impl Fn(Range<usize>, &mut Vec<(u32, F)>) + Sync,
    ) -> Result<Self> {
        let (stop, at_once) = (Stop::new(observer), at_once.clamp(1, CHUNK));
        let mut index: Vec<u16> = room::zeros(n * near)?;
        let mut square: Vec<f32> = room::zeros(n * near)?;
        let windows = index.chunks_mut(WINDOW * near).zip(square.chunks_mut(WINDOW * near));
        for (w, (index, square)) in windows.enumerate() {
            stop.check()?;
            let first = w * WINDOW;
            observer.progress("nearest representatives", first, n);
            let chunks =
                index.par_chunks_mut(at_once * near).zip(square.par_chunks_mut(at_once * near));
            chunks.enumerate().for_each_init(Vec::new, |found, (c, (index, square))| {
                if stop.asked() {
                    return;
                }
                let start = first + c * at_once;
                search(start..start + index.len() / near, found);
                for ((index, square), &(i, s)) in index.iter_mut().zip(square).zip(&*found) {
                    *index = i as u16;
                    *square = s.to_f64() as f32;
                }
            });
        }
        stop.check()?;
        let roots = |r: Range<usize>| square[r].iter().map(|&v| f64::from(v).sqrt()).sum();
        let mean = ordered_sum(square.len(), CHUNK * near, roots) / square.len() as f64;
        // Of no consequence where all objects are representatives.
        let width = if mean > 0.0 { 2.0 * mean * mean } else { 1.0 };
        Ok(Links { near, representatives, index, square, width })
    }

    /// The weights `B' D_x^-1 B` between representatives, unless stopped; the sums of threads take
    /// half of the budget at most, or one table.
    pub(super) fn weigh(&self, budget: MemoryBudget, stop: &Stop<'_>) -> Array2<f64> {
        let near = self.near;
        link_sums_within(self.n_objects(), self.representatives, budget, |objects, sums| {
            if stop.asked() {
                return;
            }
            let mut share = vec![0.0; near];
            for i in objects {
                let index = &self.index[i * near..(i + 1) * near];
                // A link weighs at most 1, so the mass of an object is at most `near`, and no
                // product exceeds 1.
                let mass = self.shares(i, &mut share);
                for (a, &i) in index.iter().enumerate() {
                    let weight = share[a] * mass;
                    for (b, &j) in index[..=a].iter().enumerate() {
                        sums.add(usize::from(i), usize::from(j), weight * share[b]);
                    }
                }
            }
        })
    }

    pub(super) fn n_objects(&self) -> usize {
        self.index.len() / self.near
    }

    /// Writes how an object is shared out among its representatives, adding up to 1, and returns
    /// its weight `D_x`.
    fn shares(&self, object: usize, share: &mut [f64]) -> f64 {
        let squares = &self.square[object * self.near..][..self.near];
        let nearest = f64::from(squares[0]);
        let mut sum = 0.0;
        for (s, &v) in share.iter_mut().zip(squares) {
            // Relative to the nearest, so that the sum cannot vanish.
            *s = ((nearest - f64::from(v)) / self.width).exp();
            sum += *s;
        }
        share.iter_mut().for_each(|s| *s /= sum);
        ((-nearest / self.width).exp() * sum).max(FLOOR)
    }
}

/// Objects by the coordinates of their representatives, in shares, scaled to norm 1; written when
/// needed.
pub(super) struct Embedding<'a> {
    links: &'a Links,
    columns: usize,
    /// Representatives in rows.
    table: Vec<f32>,
}

impl<'a> Embedding<'a> {
    pub(super) fn new(links: &'a Links, coordinates: &Array2<f64>) -> Self {
        let table = coordinates.iter().map(|&v| v as f32).collect();
        Embedding { links, columns: coordinates.ncols(), table }
    }
}

impl RowSource for Embedding<'_> {
    fn n_rows(&self) -> usize {
        self.links.n_objects()
    }

    fn n_columns(&self) -> usize {
        self.columns
    }

    fn write(&self, rows: Range<usize>, out: &mut [f32]) {
        let near = self.links.near;
        let mut share = vec![0.0; near];
        for (i, out) in rows.zip(out.chunks_exact_mut(self.columns)) {
            self.links.shares(i, &mut share);
            out.fill(0.0);
            for (&j, &share) in self.links.index[i * near..].iter().zip(&share) {
                let share = share as f32;
                let row = &self.table[usize::from(j) * self.columns..][..self.columns];
                for (o, &v) in out.iter_mut().zip(row) {
                    *o += share * v;
                }
            }
            let norm = out.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
            if norm > 0.0 {
                let factor = (1.0 / norm) as f32;
                out.iter_mut().for_each(|v| *v *= factor);
            }
        }
    }
}
