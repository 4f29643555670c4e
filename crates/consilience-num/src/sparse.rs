//! Sparse matrices, rows compressed, and their products with panels of dense vectors.

use consilience_core::{Result, room};
use ndarray::Array2;

use crate::Float;
use crate::compiled::compiled;
use crate::eigen::end;
use crate::reduce::each_chunk;

/// A sparse matrix: rows compressed, columns ascending within a row.
///
/// ```
/// use consilience::num::sparse::Csr;
///
/// // [[0, 2], [3, 0]]
/// let a = Csr::from_rows(2, [vec![(1, 2.0)], vec![(0, 3.0)]]);
/// let x = [10.0, 1.0]; // one column
/// let mut y = [0.0; 2];
/// a.multiply(&x, &mut y, 1);
/// assert_eq!(y, [2.0, 30.0]);
/// // The same where the system may refuse the memory: an error then.
/// let b = Csr::try_from_rows(2, [vec![(1, 1.0)], vec![(0, 1.5)]])?;
/// assert_eq!(b.copied()?.map(|_, _, v| 2.0 * v), a);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    columns: usize,
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

compiled! {
    Multiply(&Csr, &[F], &mut [F], usize) -> () = Csr::product::<_, false>;
    MultiplyAdd(&Csr, &[F], &mut [F], usize) -> () = Csr::product::<_, true>;
}

/// Rows that one task multiplies.
const ROWS: usize = 256;

impl Csr {
    /// A matrix from its rows of (column, value).
    ///
    /// Panics if a column is out of range or columns do not ascend: rows come from our own code.
    /// Where the system refuses the memory the process ends, and [`Csr::try_from_rows`] returns an
    /// error.
    pub fn from_rows(columns: usize, rows: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Self {
        Self::try_from_rows(columns, rows).unwrap_or_else(end)
    }

    /// [`Csr::from_rows`] that returns an error where the system refuses the memory.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge).
    pub fn try_from_rows(
        columns: usize,
        rows: impl IntoIterator<Item = Vec<(u32, f64)>>,
    ) -> Result<Self> {
        let mut out = Self::with_room(columns, 0)?;
        rows.into_iter().try_for_each(|row| out.push_row(row))?;
        Ok(out)
    }

    /// No rows, and room for so many entries.
    #[doc(hidden)]
    pub fn with_room(columns: usize, entries: usize) -> Result<Self> {
        let (indices, values) = (room::with_capacity(entries)?, room::with_capacity(entries)?);
        Ok(Csr { columns, offsets: vec![0], indices, values })
    }

    /// One more row, as those of [`Csr::from_rows`].
    #[doc(hidden)]
    pub fn push_row(&mut self, row: Vec<(u32, f64)>) -> Result<()> {
        assert!(row.windows(2).all(|w| w[0].0 < w[1].0), "columns must ascend");
        let in_range = |&(c, _): &(u32, f64)| (c as usize) < self.columns;
        assert!(row.last().is_none_or(in_range), "column out of range");
        for (c, v) in row {
            room::push(&mut self.indices, c)?;
            room::push(&mut self.values, v)?;
        }
        room::push(&mut self.offsets, self.indices.len())
    }

    /// Gives back what room is left.
    #[doc(hidden)]
    pub fn shrink_to_fit(&mut self) {
        self.indices.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// A copy.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the system refuses the
    /// memory.
    pub fn copied(&self) -> Result<Self> {
        Ok(Csr {
            columns: self.columns,
            offsets: room::copied(&self.offsets)?,
            indices: room::copied(&self.indices)?,
            values: room::copied(&self.values)?,
        })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.columns
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// Columns and values of one row.
    #[inline(always)]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The entries of one row, as (column, value).
    #[doc(hidden)]
    #[inline(always)]
    pub fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, values) = self.row(i);
        columns.iter().zip(values).map(|(&j, &v)| (j as usize, v))
    }

    /// The matrix with its zeros.
    #[doc(hidden)]
    pub fn to_dense(&self) -> Result<Array2<f64>> {
        let mut dense = room::table(self.n_rows(), self.columns)?;
        for i in 0..self.n_rows() {
            self.entries(i).for_each(|(j, v)| dense[[i, j]] = v);
        }
        Ok(dense)
    }

    /// Sum of each row, in column order.
    pub fn row_sums(&self) -> Vec<f64> {
        (0..self.n_rows()).map(|i| self.row(i).1.iter().sum()).collect()
    }

    /// The same pattern with every value replaced by `f(row, column, value)`.
    pub fn map(self, f: impl Fn(usize, usize, f64) -> f64) -> Self {
        let mut out = self;
        for i in 0..out.n_rows() {
            for at in out.offsets[i]..out.offsets[i + 1] {
                out.values[at] = f(i, out.indices[at] as usize, out.values[at]);
            }
        }
        out
    }

    /// Rows and columns of a square matrix in another order: entry (a, b) of the result is entry
    /// (`order[a]`, `order[b]`) of this one. `order` must be a permutation.
    pub fn permuted(&self, order: &[u32]) -> Self {
        let mut place = vec![0u32; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        let mut row: Vec<(u32, f64)> = Vec::new();
        let mut out = Csr {
            columns: self.columns,
            offsets: vec![0],
            indices: Vec::with_capacity(self.nnz()),
            values: Vec::with_capacity(self.nnz()),
        };
        for &old in order {
            let (columns, values) = self.row(old as usize);
            row.clear();
            row.extend(columns.iter().zip(values).map(|(&c, &v)| (place[c as usize], v)));
            row.sort_unstable_by_key(|e| e.0);
            out.indices.extend(row.iter().map(|e| e.0));
            out.values.extend(row.iter().map(|e| e.1));
            out.offsets.push(out.indices.len());
        }
        out
    }

    /// `y = A x` for a panel of `width` vectors stored row by row (`x[row * width + vector]`), in
    /// parallel over rows and with the same bits at any number of threads. With vectors in single
    /// precision the values are rounded to it, and half as much memory is read.
    ///
    /// # Complexity
    /// O(nnz width).
    pub fn multiply<X: Float>(&self, x: &[X], y: &mut [X], width: usize) {
        Multiply::of::<X>()(self, x, y, width);
    }

    /// `y += A x`; otherwise as [`Csr::multiply`].
    pub fn multiply_add<X: Float>(&self, x: &[X], y: &mut [X], width: usize) {
        MultiplyAdd::of::<X>()(self, x, y, width);
    }

    fn product<X: Float, const ADD: bool>(&self, x: &[X], y: &mut [X], width: usize) {
        assert_eq!(x.len(), self.columns * width);
        assert_eq!(y.len(), self.n_rows() * width);
        multiply_by_rows::<_, _, ADD>(|i| self.narrow(i), x, y, width);
    }

    /// The rows `first..` of `A x`, as many as fit `y`, on this thread.
    pub fn multiply_rows(&self, first: usize, x: &[f64], y: &mut [f64], width: usize) {
        let row = |i: usize| self.narrow(i);
        pulp::Arch::new().dispatch(Rows::<_, _, false> { row, first, x, y, width });
    }

    /// The entries of one row with columns as they are stored.
    #[inline(always)]
    fn narrow(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let (indices, values) = self.row(i);
        indices.iter().copied().zip(values.iter().copied())
    }
}

/// `y = A x` for a matrix A of ones at the listed columns, `indices[offsets[i]..offsets[i + 1]]` in
/// row i; otherwise as [`Csr::multiply`].
///
/// ```
/// use consilience::num::sparse::sum_listed;
///
/// let mut y = [0.0; 2];
/// sum_listed(&[0, 2, 3], &[0, 2, 1], &[1.0, 10.0, 100.0], &mut y, 1);
/// assert_eq!(y, [101.0, 10.0]);
/// ```
///
/// # Complexity
/// O(entries width).
pub fn sum_listed(offsets: &[usize], indices: &[u32], x: &[f64], y: &mut [f64], width: usize) {
    assert_eq!(y.len(), offsets.len().saturating_sub(1) * width);
    let row = |i: usize| indices[offsets[i]..offsets[i + 1]].iter().map(|&j| (j, 1.0));
    multiply_by_rows::<_, _, false>(row, x, y, width);
}

/// As [`sum_listed`], with `values[at]` in the column `indices[at]` instead of ones.
///
/// ```
/// use consilience::num::sparse::multiply_listed;
///
/// let mut y = [0.0; 2];
/// multiply_listed(&[0, 2, 3], &[0, 2, 1], &[1.0, 0.5, 2.0], &[1.0, 10.0, 100.0], &mut y, 1);
/// assert_eq!(y, [51.0, 20.0]);
/// ```
///
/// # Complexity
/// O(entries width).
pub fn multiply_listed(
    offsets: &[usize],
    indices: &[u32],
    values: &[f64],
    x: &[f64],
    y: &mut [f64],
    width: usize,
) {
    assert_eq!(y.len(), offsets.len().saturating_sub(1) * width);
    let row = |i: usize| {
        let at = offsets[i]..offsets[i + 1];
        indices[at.clone()].iter().copied().zip(values[at].iter().copied())
    };
    multiply_by_rows::<_, _, false>(row, x, y, width);
}

/// `y = A x`, or `y += A x`, for the matrix with these rows; otherwise as [`Csr::multiply`].
pub(crate) fn multiply_by_rows<X: Float, I: Iterator<Item = (u32, f64)>, const ADD: bool>(
    row: impl Fn(usize) -> I + Sync,
    x: &[X],
    y: &mut [X],
    width: usize,
) {
    if width > 0 {
        each_chunk(y, ROWS * width, &|c, y| {
            let (row, first) = (&row, c * ROWS);
            pulp::Arch::new().dispatch(Rows::<_, _, ADD> { row, first, x, y, width });
        });
    }
}

/// Some rows of a product, added to what is there or in its place. A closure would not be inlined
/// into the function that has the vector instructions, and every fused multiply-add would become a
/// call.
pub(crate) struct Rows<'a, X, R, const ADD: bool> {
    /// Columns and values of a row.
    pub(crate) row: R,
    /// The row that the first of `y` belongs to.
    pub(crate) first: usize,
    pub(crate) x: &'a [X],
    pub(crate) y: &'a mut [X],
    pub(crate) width: usize,
}

impl<X, I, R, const ADD: bool> Rows<'_, X, R, ADD>
where
    X: Float,
    I: Iterator<Item = (u32, f64)>,
    R: Fn(usize) -> I,
{
    /// The columns `at..at + W` of the panel.
    #[inline(always)]
    fn strip<const W: usize>(&mut self, at: usize) -> usize {
        for (r, y) in self.y.chunks_exact_mut(self.width).enumerate() {
            let y = &mut y[at..at + W];
            let mut sum = [X::default(); W];
            if ADD {
                sum.copy_from_slice(y);
            }
            for (j, v) in (self.row)(self.first + r) {
                let v = X::from_f64(v);
                let x = &self.x[j as usize * self.width + at..][..W];
                for w in 0..W {
                    sum[w] = v.add_product(x[w], sum[w]);
                }
            }
            y.copy_from_slice(&sum);
        }
        W
    }
}

impl<X, I, R, const ADD: bool> pulp::NullaryFnOnce for Rows<'_, X, R, ADD>
where
    X: Float,
    I: Iterator<Item = (u32, f64)>,
    R: Fn(usize) -> I,
{
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        // Strips of fixed width, whose sums stay in vector registers.
        let mut at = 0;
        while at < self.width {
            at += match self.width - at {
                64.. => self.strip::<64>(at),
                32.. => self.strip::<32>(at),
                16.. => self.strip::<16>(at),
                8.. => self.strip::<8>(at),
                4.. => self.strip::<4>(at),
                _ => self.strip::<1>(at),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wheel(n: usize) -> Csr {
        Csr::from_rows(
            n,
            (0..n).map(|i| {
                let mut row: Vec<(u32, f64)> = [1, 7, 13]
                    .iter()
                    .map(|s| (((i * s + s) % n) as u32, 1.0 + (i % 5) as f64 / s.to_owned() as f64))
                    .collect();
                row.sort_by_key(|e| e.0);
                row.dedup_by_key(|e| e.0);
                row
            }),
        )
    }

    #[test]
    fn products_equal_the_definition_at_every_width() {
        let n = 700;
        let a = wheel(n);
        for width in [1, 3, 8, 16, 32, 64, 65] {
            let x: Vec<f64> = (0..n * width).map(|i| ((i * 37) % 101) as f64 / 7.0).collect();
            let mut y = vec![f64::NAN; n * width];
            a.multiply(&x, &mut y, width);
            for i in 0..n {
                for w in 0..width {
                    let (c, v) = a.row(i);
                    let exact: f64 =
                        c.iter().zip(v).map(|(&j, v)| v * x[j as usize * width + w]).sum();
                    assert!((y[i * width + w] - exact).abs() <= 1e-12 * exact.abs());
                }
            }
        }
    }

    #[test]
    fn single_precision_and_sums_equal_the_definition() {
        let n = 300;
        let a = wheel(n);
        for width in [1, 5, 64, 70] {
            let x: Vec<f32> = (0..n * width).map(|i| ((i * 37) % 101) as f32).collect();
            let wide: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
            let (mut y, mut exact) = (vec![2.0f32; n * width], vec![0.0f64; n * width]);
            a.multiply_add(&x, &mut y, width);
            a.multiply(&wide, &mut exact, width);
            for (y, exact) in y.iter().zip(&exact) {
                assert!((f64::from(*y) - 2.0 - exact).abs() <= 1e-6 * (2.0 + exact), "{y} {exact}");
            }
        }
    }

    #[test]
    fn another_order_and_back() {
        let a = wheel(9);
        let order = [3, 1, 4, 0, 5, 8, 2, 6, 7];
        let mut back = [0u32; 9];
        for (new, &old) in order.iter().enumerate() {
            back[old as usize] = new as u32;
        }
        let b = a.permuted(&order);
        assert_ne!(a, b);
        assert_eq!(b.permuted(&back), a);
    }

    #[test]
    fn sums_and_maps() {
        let a = wheel(5);
        let doubled = a.clone().map(|_, _, v| 2.0 * v);
        for (s, d) in a.row_sums().iter().zip(doubled.row_sums()) {
            assert_eq!(2.0 * s, d);
        }
    }

    /// More rows than one task takes.
    #[test]
    fn listed_entries_are_multiplied_in_every_row() {
        let n = 3 * ROWS + 7;
        let a = wheel(n);
        let x: Vec<f64> = (0..2 * n).map(|i| ((i * 13) % 31) as f64).collect();
        let (mut whole, mut listed) = (vec![0.0; 2 * n], vec![f64::NAN; 2 * n]);
        a.multiply(&x, &mut whole, 2);
        multiply_listed(&a.offsets, &a.indices, &a.values, &x, &mut listed, 2);
        assert_eq!(listed, whole);
        a.clone().map(|_, _, _| 1.0).multiply(&x, &mut whole, 2);
        sum_listed(&a.offsets, &a.indices, &x, &mut listed, 2);
        assert_eq!(listed, whole);
    }
}
