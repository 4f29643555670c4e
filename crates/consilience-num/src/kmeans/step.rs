//! Passes over all rows, block by block, combined in the order of the blocks.

use consilience_core::{Result, room};
use pulp::Arch;

use super::centres::Centres;
use super::kernel::{AssignBlock, ClosestBlock, Partial};
use super::rows::Rows;
use crate::Float;
use crate::reduce::{each_chunk_if, each_chunk_pair};

/// Norms of the rows, rounded up: they bound the rounding of the scores.
pub(super) fn norms<F: Float>(rows: &Rows<'_, F>) -> Result<Vec<f32>> {
    let mut norms = room::zeros::<f32>(rows.n)?;
    let origin = vec![F::default(); rows.d];
    each_block(rows, &mut norms, |first, norms| {
        let mut squares = vec![F::infinity(); norms.len()];
        Arch::new().dispatch(ClosestBlock { rows, centre: &origin, first, closest: &mut squares });
        for (norm, square) in norms.iter_mut().zip(squares) {
            *norm = (square.to_f64().sqrt() * (1.0 + 1e-6)) as f32;
        }
    })?;
    Ok(norms)
}

/// Gives every row its nearest centre.
pub(super) fn assign<F: Float>(
    rows: &Rows<'_, F>,
    centres: &Centres<F>,
    norms: &[f32],
    labels: &mut [u32],
) -> Result<()> {
    each_block(rows, labels, |first, labels| {
        Arch::new().dispatch(AssignBlock {
            rows,
            centres,
            weights: None,
            norms,
            first,
            labels,
            partial: None,
        });
    })
}

/// Buffers of one fit.
pub(super) struct Sums {
    pub total: Partial,
    parts: Vec<Partial>,
}

impl Sums {
    pub(super) fn new() -> Self {
        Sums { total: Partial::default(), parts: Vec::new() }
    }

    /// Gives every row its nearest centre and sums the rows of each.
    pub(super) fn assign<F: Float>(
        &mut self,
        rows: &Rows<'_, F>,
        weights: Option<&[f64]>,
        centres: &Centres<F>,
        norms: &[f32],
        labels: &mut [u32],
    ) -> Result<()> {
        let (k, d) = (centres.k, centres.d);
        let arch = Arch::new();
        let one = |first: usize, labels: &mut [u32], partial: &mut Partial| {
            partial.reset(k, d);
            let partial = Some(partial);
            arch.dispatch(AssignBlock { rows, centres, weights, norms, first, labels, partial });
        };
        self.total.reset(k, d);
        if rows.parallel {
            self.parts.resize_with(rows.blocks(), Partial::default);
            each_chunk_pair(&mut self.parts, 1, labels, rows.block, &|b, part, labels| {
                one(b * rows.block, labels, &mut part[0]);
            });
            for part in &self.parts {
                self.total.add(part);
            }
        } else {
            self.parts.resize_with(1, Partial::default);
            for (b, labels) in labels.chunks_mut(rows.block).enumerate() {
                one(b * rows.block, labels, &mut self.parts[0]);
                self.total.add(&self.parts[0]);
            }
        }
        rows.stop.check()
    }
}

/// Squared distance of every row to its own centre, in the moved frame.
pub(super) fn distances<F: Float>(
    rows: &Rows<'_, F>,
    centres: &Centres<F>,
    labels: &[u32],
) -> Result<Vec<f64>> {
    let mut out = room::zeros(rows.n)?;
    each_block(rows, &mut out, |first, out| {
        for (r, out) in out.iter_mut().enumerate() {
            *out = rows.distance(first + r, centres.row(labels[first + r] as usize));
        }
    })?;
    Ok(out)
}

/// Weighted sum, grouped by block.
pub(super) fn total<F: Float>(rows: &Rows<'_, F>, weights: Option<&[f64]>, values: &[f64]) -> f64 {
    values
        .chunks(rows.block)
        .enumerate()
        .map(|(b, chunk)| {
            let weight = |r: usize| weights.map_or(1.0, |w| w[b * rows.block + r]);
            chunk.iter().enumerate().map(|(r, v)| weight(r) * v).sum::<f64>()
        })
        .sum()
}

/// Calls `with(first row, part of out)` for every block, until somebody asks to stop.
pub(super) fn each_block<F: Float, T: Send>(
    rows: &Rows<'_, F>,
    out: &mut [T],
    with: impl Fn(usize, &mut [T]) + Sync,
) -> Result<()> {
    each_chunk_if(rows.parallel, out, rows.block, &|b, out| {
        if !rows.stop.asked() {
            with(b * rows.block, out);
        }
    });
    rows.stop.check()
}
