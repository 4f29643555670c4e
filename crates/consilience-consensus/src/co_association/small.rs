//! Products with the small matrices of groups of components, which are 0 between components.

use std::ops::Range;

use ndarray::{Array2, ArrayView1};
use pulp::{Arch, NullaryFnOnce};

use super::lanes::{LANES, Lanes};

/// Nodes of a group at most for which a product in plain loops is faster than a general one.
pub(super) const FEW: usize = 32;
/// Blocks whose sums run side by side.
const SIDE: usize = 4;

/// Which terms of the sums of a product are not 0.
#[derive(Clone, Copy)]
pub(super) enum Terms<'a> {
    /// Of each row of what comes out.
    OfRows(&'a [Range<usize>]),
    /// Of each block of its columns.
    OfBlocks(&'a [Range<usize>]),
}

impl Terms<'_> {
    /// Of some blocks of one row.
    #[inline(always)]
    fn of(self, row: usize, blocks: Range<usize>) -> Range<usize> {
        match self {
            Terms::OfRows(of) => of[row].clone(),
            Terms::OfBlocks(of) => {
                let join =
                    |a: Range<usize>, b: &Range<usize>| a.start.min(b.start)..a.end.max(b.end);
                of[blocks.start + 1..blocks.end].iter().fold(of[blocks.start].clone(), join)
            }
        }
    }
}

/// Of each row, from where to where it is not 0: an inverse over small components that stand side
/// by side has nothing outside its component.
pub(super) fn row_extents(table: &Array2<f64>) -> Vec<Range<usize>> {
    let of = |row: ArrayView1<'_, f64>| {
        let first = row.iter().position(|&x| x != 0.0).unwrap_or(0);
        first..row.iter().rposition(|&x| x != 0.0).map_or(first, |last| last + 1)
    };
    table.rows().into_iter().map(of).collect()
}

/// Of each block of columns, the rows that are not all 0.
pub(super) fn block_extents(table: &[f64], width: usize) -> Vec<Range<usize>> {
    let of = |block: usize| {
        let columns = block * LANES..width.min((block + 1) * LANES);
        let live = |row: &[f64]| row[columns.clone()].iter().any(|&x| x != 0.0);
        let first = table.chunks_exact(width).position(live).unwrap_or(0);
        first..table.chunks_exact(width).rposition(live).map_or(first, |last| last + 1)
    };
    if table.is_empty() { Vec::new() } else { (0..width.div_ceil(LANES)).map(of).collect() }
}

/// `out = a b` for tables so small that a general product spends its time on copying them; rows of
/// `width` values. Terms that are 0 are left out.
pub(super) struct Small<'a> {
    pub(super) a: &'a [f64],
    pub(super) inner: usize,
    pub(super) b: &'a [f64],
    pub(super) width: usize,
    pub(super) terms: Terms<'a>,
}

impl Small<'_> {
    /// Computes it.
    pub(super) fn put_into(self, out: &mut [f64]) {
        Arch::new().dispatch(Task { product: self, out });
    }

    /// Adjacent blocks of a row.
    #[inline(always)]
    fn blocks<const N: usize>(&self, row: usize, first: usize) -> [[f64; LANES]; N] {
        let terms = self.terms.of(row, first..first + N);
        let a = &self.a[row * self.inner..][terms.clone()];
        let b = self.b[terms.start * self.width..].chunks_exact(self.width);
        let mut sums = [Lanes::ZERO; N];
        for (&a, b) in a.iter().zip(b) {
            let b = b[first * LANES..][..N * LANES].as_chunks::<LANES>().0;
            sums = std::array::from_fn(|n| sums[n] + Lanes::all(a) * Lanes(b[n]));
        }
        sums.map(|sum| sum.0)
    }

    /// What is left of a row behind its whole blocks.
    #[inline(always)]
    fn rest(&self, row: usize, block: usize, out: &mut [f64]) {
        let a = &self.a[row * self.inner..][..self.inner];
        let terms = self.terms.of(row, block..block + 1);
        out.fill(0.0);
        for (at, &a) in a.iter().enumerate().take(terms.end).skip(terms.start) {
            let b = &self.b[at * self.width + block * LANES..(at + 1) * self.width];
            out.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
    }
}

struct Task<'a> {
    product: Small<'a>,
    out: &'a mut [f64],
}

impl NullaryFnOnce for Task<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Task { product, out } = self;
        for (row, out) in out.chunks_exact_mut(product.width).enumerate() {
            let (out, rest) = out.as_chunks_mut::<LANES>();
            let (blocks, whole) = (out.len(), out.len() / SIDE * SIDE);
            for first in (0..whole).step_by(SIDE) {
                out[first..first + SIDE].copy_from_slice(&product.blocks::<SIDE>(row, first));
            }
            for first in whole..blocks {
                out[first..=first].copy_from_slice(&product.blocks::<1>(row, first));
            }
            if !rest.is_empty() {
                product.rest(row, blocks, rest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_all_widths() {
        for (rows, inner, width) in [(1, 1, 1), (3, 5, 4), (2, 7, 19), (5, 32, 32), (4, 9, 23)] {
            let a = Array2::from_shape_fn((rows, inner), |(i, j)| (i * 7 + j) as f64 % 5.0 - 2.0);
            // Components of three.
            let b = Array2::from_shape_fn((inner, width), |(i, j)| {
                if i / 3 == j / 3 { (i + 2 * j) as f64 - 3.5 } else { 0.0 }
            });
            let extents = block_extents(b.as_slice().unwrap(), width);
            let product = Small {
                a: a.as_slice().unwrap(),
                inner,
                b: b.as_slice().unwrap(),
                width,
                terms: Terms::OfBlocks(&extents),
            };
            let mut out = vec![9.0; rows * width];
            product.put_into(&mut out);
            assert_eq!(out, a.dot(&b).iter().copied().collect::<Vec<_>>());
            let (left, right) = (b.t().as_standard_layout().into_owned(), a.t());
            let right = right.as_standard_layout().into_owned();
            let mut out = vec![9.0; width * rows];
            Small {
                a: left.as_slice().unwrap(),
                inner,
                b: right.as_slice().unwrap(),
                width: rows,
                terms: Terms::OfRows(&row_extents(&left)),
            }
            .put_into(&mut out);
            assert_eq!(out, left.dot(&right).iter().copied().collect::<Vec<_>>());
        }
    }
}
