use sprs::{CsMat, CsMatView};

use crate::{Error, Result, ensure};

/// Rows of a sparse matrix in either precision, borrowed: columns ascend within a row, and what is
/// not stored is 0.
///
/// From a matrix of `sprs` that is compressed by rows.
///
/// ```
/// use consilience::core::SparseRows;
///
/// let mut words = consilience::sprs::TriMat::new((3, 5));
/// for (text, word, count) in [(0, 1, 2.0), (0, 4, 1.0), (2, 0, 3.0)] {
///     words.add_triplet(text, word, count);
/// }
/// let words = words.to_csr::<usize>();
/// let rows = SparseRows::from(words.view());
/// assert_eq!((rows.n_rows(), rows.n_columns(), rows.n_entries()), (3, 5, 3));
/// assert_eq!(rows.row(0), (&[1, 4][..], &[2.0, 1.0][..]));
/// // Rows 2 and 0 of columns 4 and 1.
/// let part = rows.select(Some(&[2, 0]), Some(&[4, 1]));
/// assert_eq!((part.shape(), part.get(1, 0), part.get(1, 1)), ((2, 2), Some(&1.0), Some(&2.0)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SparseRows<'a, F> {
    rows: usize,
    columns: usize,
    by_rows: bool,
    /// Places in the other two, counted from the first of these numbers.
    starts: &'a [usize],
    indices: &'a [usize],
    values: &'a [F],
}

impl<'a, F> From<CsMatView<'a, F>> for SparseRows<'a, F> {
    fn from(matrix: CsMatView<'a, F>) -> Self {
        let ((rows, columns), by_rows) = (matrix.shape(), matrix.is_csr());
        let (starts, indices, values) = matrix.into_raw_storage();
        SparseRows { rows, columns, by_rows, starts, indices, values }
    }
}

impl<'a, F> From<&'a CsMat<F>> for SparseRows<'a, F> {
    fn from(matrix: &'a CsMat<F>) -> Self {
        matrix.view().into()
    }
}

impl<'a, F: Copy + Default + Into<f64>> SparseRows<'a, F> {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.columns
    }

    /// Number of entries that are stored.
    pub fn n_entries(&self) -> usize {
        self.values.len()
    }

    /// Columns and values of a row.
    #[inline(always)]
    pub fn row(&self, i: usize) -> (&'a [usize], &'a [F]) {
        let first = self.starts[0];
        let range = self.starts[i] - first..self.starts[i + 1] - first;
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Refuses what no method takes.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) without rows or columns,
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) for a matrix that is
    /// compressed by columns, [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) where 32 bits
    /// cannot number rows or columns, [`ErrorKind::NonFinite`](crate::ErrorKind::NonFinite).
    pub fn check(&self) -> Result<()> {
        let (n, d) = (self.rows, self.columns);
        ensure!(n > 0 && d > 0, empty("sparse features of {n} objects and {d} columns"));
        ensure!(
            self.by_rows,
            invalid("a sparse matrix compressed by columns; expected rows: see sprs' `to_csr`")
        );
        let most = u32::MAX - 1;
        ensure!(
            n.max(d) <= most as usize,
            too_large("sparse features of {n} objects and {d} columns; at most {most} of each")
        );
        let bad = |v: &F| !Into::<f64>::into(*v).is_finite();
        if !self.values.iter().any(bad) {
            return Ok(());
        }
        let mut rows = (0..n).map(|i| (i, self.row(i)));
        let at = rows.find_map(|(i, (columns, values))| {
            values.iter().position(bad).map(|at| (i, columns[at], values[at].into()))
        });
        at.map_or(Ok(()), |(i, j, v)| Err(Error::non_finite("features", i, j, v)))
    }

    /// Some rows and some columns, each in the order given; all where none are named.
    ///
    /// # Complexity
    /// O(entries of the rows x log of those that remain), and O(d) memory where columns are named.
    pub fn select(&self, rows: Option<&[usize]>, columns: Option<&[usize]>) -> CsMat<F> {
        let n = rows.map_or(self.rows, <[_]>::len);
        let d = columns.map_or(self.columns, <[_]>::len);
        let place = columns.map(|columns| {
            let mut place = vec![usize::MAX; self.columns];
            columns.iter().enumerate().for_each(|(p, &j)| place[j] = p);
            place
        });
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut row: Vec<(usize, F)> = Vec::new();
        for r in 0..n {
            let (from, of) = self.row(rows.map_or(r, |rows| rows[r]));
            match &place {
                None => {
                    indices.extend_from_slice(from);
                    values.extend_from_slice(of);
                }
                Some(place) => {
                    row.clear();
                    let seen = from.iter().zip(of).map(|(&j, &v)| (place[j], v));
                    row.extend(seen.filter(|e| e.0 != usize::MAX));
                    row.sort_unstable_by_key(|e| e.0);
                    indices.extend(row.iter().map(|e| e.0));
                    values.extend(row.iter().map(|e| e.1));
                }
            }
            starts.push(indices.len());
        }
        CsMat::new((n, d), starts, indices, values)
    }
}
