//! Lists of rows, laid out for distances to all rows of a list.

use crate::Float;

/// Rows side by side in a block: one vector of f64 on the widest machines, two on common ones.
const LANES: usize = 8;
/// Up to so many columns a list holds its rows' entries column by column; with more, copies of rows
/// in many lists would outgrow the caches, and one row alone fills the vectors.
const NARROW: usize = 16;

/// Some lists of rows of a table; a row may be in several.
#[derive(Clone, Debug)]
pub(super) struct Lists<F> {
    columns: usize,
    /// Where each list begins in `items`.
    offsets: Vec<usize>,
    items: Vec<u32>,
    /// Where each list begins in `blocks`, in blocks.
    starts: Vec<usize>,
    /// Narrow tables: blocks of [`LANES`] rows, column by column, filled up with infinity. Wide
    /// ones: the table, row by row.
    blocks: Vec<F>,
}

impl<F: Float> Lists<F> {
    /// The lists, from a flat table of `columns` columns.
    pub(super) fn new(lists: &[Vec<u32>], table: &[F], columns: usize) -> Self {
        let mut out = Lists {
            columns,
            offsets: vec![0],
            items: Vec::with_capacity(lists.iter().map(Vec::len).sum()),
            starts: Vec::with_capacity(lists.len()),
            blocks: Vec::new(),
        };
        let mut blocks = 0;
        for list in lists {
            out.items.extend_from_slice(list);
            out.offsets.push(out.items.len());
            out.starts.push(blocks);
            blocks += list.len().div_ceil(LANES);
        }
        if columns > NARROW {
            out.blocks = table.to_vec();
            return out;
        }
        out.blocks = vec![F::infinity(); blocks * LANES * columns];
        for (list, &start) in lists.iter().zip(&out.starts) {
            for (t, &item) in list.iter().enumerate() {
                for j in 0..columns {
                    out.blocks[((start + t / LANES) * columns + j) * LANES + t % LANES] =
                        table[item as usize * columns + j];
                }
            }
        }
        out
    }

    /// The rows of a list.
    #[inline(always)]
    pub(super) fn items(&self, list: usize) -> &[u32] {
        &self.items[self.offsets[list]..self.offsets[list + 1]]
    }

    /// Squared distances of a row to the rows of a list.
    #[inline(always)]
    pub(super) fn squares(&self, list: usize, row: &[F], out: &mut Vec<F>) {
        out.clear();
        let items = self.items(list);
        if self.columns > NARROW {
            for &item in items {
                out.push(square(row, &self.blocks[item as usize * self.columns..][..self.columns]));
            }
            return;
        }
        let count = items.len().div_ceil(LANES);
        let size = LANES * self.columns;
        let blocks = &self.blocks[self.starts[list] * size..][..count * size];
        for block in blocks.chunks_exact(size) {
            let mut sums = [F::default(); LANES];
            for (column, &x) in block.as_chunks::<LANES>().0.iter().zip(row) {
                for l in 0..LANES {
                    sums[l] = x.add_square(column[l], sums[l]);
                }
            }
            out.extend_from_slice(&sums);
        }
        out.truncate(items.len());
    }
}

/// Squared distance of two rows, in running sums whose number does not depend on the machine.
#[inline(always)]
fn square<F: Float>(a: &[F], b: &[F]) -> F {
    const WIDE: usize = 32;
    let mut sums = [F::default(); WIDE];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<WIDE>(), b.as_chunks::<WIDE>());
    for (a, b) in a.iter().zip(b) {
        for l in 0..WIDE {
            sums[l] = a[l].add_square(b[l], sums[l]);
        }
    }
    for (l, (&a, &b)) in a_rest.iter().zip(b_rest).enumerate() {
        sums[l] = a.add_square(b, sums[l]);
    }
    let mut half = WIDE / 2;
    while half > 0 {
        for l in 0..half {
            sums[l] = sums[l] + sums[l + half];
        }
        half /= 2;
    }
    sums[0]
}
