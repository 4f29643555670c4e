use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(doc)]
use consilience_core::ErrorKind;
use consilience_core::{Result, Stop, ensure, room};
use ndarray::{Array2, ArrayView2};
use pulp::Arch;

use super::ScaledRows;
use crate::Float;
use crate::reduce::{each_chunk_pair, map_each};
use crate::sparse::Rows;

/// Rows per parallel chunk, at least and at most; fewer would read the centres anew too often. The
/// bits of no result depend on it.
const FEWEST: usize = 1 << 6;
const CHUNK: usize = 1 << 8;
/// Multiply-adds of a chunk of more rows, at most: somebody may ask to stop between two of them.
const WORK: usize = 1 << 24;
/// Pieces that the rows are summed in, at most so many more than there are centres. It decides the
/// bits of the sums, so it does not follow the number of threads.
const PIECES: usize = 16;

/// A few dense rows, such as centres, that sparse rows are compared with.
///
/// ```
/// use consilience::num::kmeans::sparse::{Centres, ScaledRows};
///
/// let words = consilience::sprs::CsMat::new((2, 3), vec![0, 1, 2], vec![0, 2], vec![3.0, 4.0]);
/// let rows = ScaledRows::new(&words)?;
/// let mut squares = [0.0; 2];
/// Centres::of_rows(&rows, &[1])?.squared_distances(&rows, 0..2, &mut squares);
/// assert_eq!(squares, [25.0, 0.0]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Centres {
    pub(super) k: usize,
    d: usize,
    /// Columns in rows, `width` entries each: one for each centre, and zeros.
    table: Vec<f64>,
    width: usize,
    squares: Vec<f64>,
}

impl Centres {
    fn empty(k: usize, d: usize) -> Result<Self> {
        // Whole vectors of eight, where they are not most of the table.
        let width = if k < 4 { k.max(1) } else { k.next_multiple_of(4) };
        let table = room::zeros(d.saturating_mul(width))?;
        Ok(Centres { k, d, table, width, squares: room::zeros(k)? })
    }

    /// Rows that serve as centres.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] where there is no memory for them: they are dense.
    pub fn of_rows<F: Float>(rows: &ScaledRows<'_, F>, chosen: &[usize]) -> Result<Self> {
        let mut centres = Self::empty(chosen.len(), rows.n_columns())?;
        for (c, &i) in chosen.iter().enumerate() {
            for (j, v) in rows.row(i) {
                centres.table[j as usize * centres.width + c] = v;
            }
        }
        centres.square();
        Ok(centres)
    }

    /// Given centres, as long as the rows were before they were scaled.
    ///
    /// # Errors
    /// As [`of_rows`](Centres::of_rows); [`ErrorKind::ShapeMismatch`] for centres of another number
    /// of columns.
    pub fn given<F: Float>(rows: &ScaledRows<'_, F>, given: ArrayView2<'_, F>) -> Result<Self> {
        ensure!(
            given.ncols() == rows.n_columns(),
            shape("centres of {} columns, rows of {}", given.ncols(), rows.n_columns())
        );
        let mut centres = Self::empty(given.nrows(), given.ncols())?;
        for ((c, j), v) in given.indexed_iter() {
            centres.table[j * centres.width + c] = v.to_f64() * rows.scale();
        }
        centres.square();
        Ok(centres)
    }

    fn square(&mut self) {
        self.squares.fill(0.0);
        for entries in self.table.chunks_exact(self.width) {
            for (square, v) in self.squares.iter_mut().zip(entries) {
                *square = v.mul_add(*v, *square);
            }
        }
    }

    /// The nearest centre of every row and the squared distance to it; returns whether a label
    /// changed.
    pub(super) fn nearest<F: Float>(
        &self,
        rows: &ScaledRows<'_, F>,
        parallel: bool,
        labels: &mut [u32],
        distances: &mut [f64],
        stop: &Stop<'_>,
    ) -> Result<bool> {
        let entries = rows.unscaled().n_entries() / rows.n_rows().max(1);
        let rows_at_once = WORK / entries.saturating_mul(self.width).max(1);
        let size = rows_at_once.clamp(FEWEST, CHUNK);
        let changed = AtomicBool::new(false);
        let chunk = |c: usize, labels: &mut [u32], distances: &mut [f64]| {
            if !stop.asked() && self.nearest_of(rows, c * size, labels, distances) {
                changed.store(true, Ordering::Relaxed);
            }
        };
        if parallel {
            each_chunk_pair(labels, size, distances, size, &chunk);
        } else {
            let chunks = labels.chunks_mut(size).zip(distances.chunks_mut(size));
            chunks.enumerate().for_each(|(c, (labels, distances))| chunk(c, labels, distances));
        }
        stop.check()?;
        Ok(changed.into_inner())
    }

    /// Number of centres.
    pub fn len(&self) -> usize {
        self.k
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.k == 0
    }

    /// Squared distances of some rows to every centre, row by row, in the scale of the rows. From
    /// lengths and products, so that those far below the lengths are rounded.
    pub fn squared_distances<F: Float>(
        &self,
        rows: &ScaledRows<'_, F>,
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let mut products = vec![0.0; range.len() * self.width];
        self.multiply(rows, range.start, &mut products);
        let all = products.chunks_exact(self.width).zip(out.chunks_exact_mut(self.k.max(1)));
        for (i, (products, out)) in range.zip(all) {
            for ((out, square), product) in out.iter_mut().zip(&self.squares).zip(products) {
                *out = (rows.square(i) + square - 2.0 * product).max(0.0);
            }
        }
    }

    /// Products of the rows `first..` with every centre, as many as fit `products`.
    fn multiply<F: Float>(&self, rows: &ScaledRows<'_, F>, first: usize, products: &mut [f64]) {
        let (row, x, width) = (|i: usize| rows.row(i), &self.table[..], self.width);
        Arch::new().dispatch(Rows::<_, _, false> { row, first, x, y: products, width });
    }

    fn nearest_of<F: Float>(
        &self,
        rows: &ScaledRows<'_, F>,
        first: usize,
        labels: &mut [u32],
        distances: &mut [f64],
    ) -> bool {
        let mut products = vec![0.0; labels.len() * self.width];
        self.multiply(rows, first, &mut products);
        let mut changed = false;
        let outputs = labels.iter_mut().zip(distances);
        for (r, (products, (label, distance))) in
            products.chunks_exact(self.width).zip(outputs).enumerate()
        {
            let mut best = (f64::INFINITY, 0);
            for (c, (square, product)) in self.squares.iter().zip(products).enumerate() {
                let score = square - 2.0 * product;
                if score < best.0 {
                    best = (score, c as u32);
                }
            }
            changed |= *label != best.1;
            *label = best.1;
            *distance = (rows.square(first + r) + best.0).max(0.0);
        }
        changed
    }

    /// Means of the rows with each label, of unit length where the rows are; returns the summed
    /// squared movement. Centres without rows stay where they are.
    pub(super) fn take_means<F: Float>(
        &mut self,
        rows: &ScaledRows<'_, F>,
        weights: Option<&[f64]>,
        labels: &[u32],
        parallel: bool,
        stop: &Stop<'_>,
    ) -> Result<f64> {
        let groups = Groups::new(labels, self.k)?;
        let d = self.d;
        let sum = |piece: &[u32]| -> Result<(Vec<f64>, f64)> {
            let mut sum = room::zeros(d)?;
            let mut mass = 0.0;
            for &i in piece {
                let weight = weights.map_or(1.0, |w| w[i as usize]);
                mass += weight;
                for (j, v) in rows.row(i as usize) {
                    sum[j as usize] += weight * v;
                }
            }
            Ok((sum, mass))
        };
        let mut moved = 0.0;
        // As many sums at a time as are summed at once, not one for every centre.
        let pieces = groups.pieces();
        let at_once = if parallel { rayon::current_num_threads().max(1) } else { 1 };
        let mut mean: Option<(usize, Vec<f64>, f64)> = None;
        for pieces in pieces.chunks(at_once) {
            stop.check()?;
            let sums = map_each(pieces.len(), &|at| sum(pieces[at].1));
            for (&(c, _), sum) in pieces.iter().zip(sums) {
                let (sum, mass) = sum?;
                match &mut mean {
                    Some((of, total, all)) if *of == c => {
                        total.iter_mut().zip(&sum).for_each(|(t, s)| *t += s);
                        *all += mass;
                    }
                    _ => {
                        let done = mean.replace((c, sum, mass));
                        moved += done.map_or(0.0, |(c, sum, mass)| self.put(rows, c, sum, mass));
                    }
                }
            }
        }
        moved += mean.map_or(0.0, |(c, sum, mass)| self.put(rows, c, sum, mass));
        self.square();
        Ok(moved)
    }

    /// A centre from the sum of its rows and their weight; returns its squared movement.
    fn put<F: Float>(
        &mut self,
        rows: &ScaledRows<'_, F>,
        c: usize,
        sum: Vec<f64>,
        mass: f64,
    ) -> f64 {
        let length = || sum.iter().map(|v| v * v).sum::<f64>().sqrt();
        let divisor = if rows.is_unit() { length() } else { mass };
        if !(divisor > 0.0) {
            return 0.0;
        }
        let mut moved = 0.0;
        for (entries, v) in self.table.chunks_exact_mut(self.width).zip(sum) {
            let (old, new) = (entries[c], v / divisor);
            moved += (new - old) * (new - old);
            entries[c] = new;
        }
        moved
    }

    /// Those with rows, without the scale of the rows, and the labels in their numbering.
    pub(super) fn finish<F: Float>(
        &self,
        rows: &ScaledRows<'_, F>,
        labels: &mut [u32],
    ) -> Result<Array2<F>> {
        let mut number = vec![u32::MAX; self.k];
        for &label in labels.iter() {
            number[label as usize] = 0;
        }
        let kept: Vec<usize> = (0..self.k).filter(|&c| number[c] == 0).collect();
        for (new, &c) in kept.iter().enumerate() {
            number[c] = new as u32;
        }
        for label in labels.iter_mut() {
            *label = number[*label as usize];
        }
        room::table_of(kept.len(), self.d, |(c, j)| {
            F::from_f64(self.table[j * self.width + kept[c]] / rows.scale())
        })
    }
}

/// Rows grouped by label.
struct Groups {
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl Groups {
    fn new(labels: &[u32], k: usize) -> Result<Self> {
        let mut starts = room::zeros(k + 1)?;
        for &label in labels {
            starts[label as usize + 1] += 1;
        }
        for c in 0..k {
            starts[c + 1] += starts[c];
        }
        let mut next = room::copied(&starts)?;
        let mut rows = room::zeros(labels.len())?;
        for (i, &label) in labels.iter().enumerate() {
            let at = &mut next[label as usize];
            rows[*at] = i as u32;
            *at += 1;
        }
        Ok(Groups { starts, rows })
    }

    /// Label and rows of pieces of about equal length, label by label.
    fn pieces(&self) -> Vec<(usize, &[u32])> {
        let most = self.rows.len().div_ceil(PIECES).max(1);
        let of = |c: usize| self.rows[self.starts[c]..self.starts[c + 1]].chunks(most);
        (0..self.starts.len() - 1).flat_map(|c| of(c).map(move |rows| (c, rows))).collect()
    }
}
