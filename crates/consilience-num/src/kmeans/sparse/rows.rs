use consilience_core::{Error, Result, ensure};
use rayon::prelude::*;
use sprs::CsMatView;

use crate::Float;

/// Rows of a sparse matrix, borrowed.
#[derive(Clone, Debug)]
pub struct SparseRows<'a, F> {
    columns: usize,
    /// Places in the other two, from the first of these numbers on.
    starts: &'a [usize],
    indices: &'a [usize],
    values: &'a [F],
    /// What the entries of each row are multiplied by.
    scales: Scales,
    squares: Vec<f64>,
}

/// Factors of the rows.
#[derive(Clone, Debug)]
enum Scales {
    /// One for all: a power of two that keeps squares in range.
    Common(f64),
    /// To unit length.
    Unit(Vec<f64>),
}

impl<'a, F: Float> SparseRows<'a, F> {
    /// The rows of a matrix.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) without rows or columns,
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a matrix
    /// that is compressed by columns,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where 32 bits cannot number
    /// rows or columns,
    /// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite).
    pub fn new(matrix: CsMatView<'a, F>) -> Result<Self> {
        let (n, d) = matrix.shape();
        ensure!(n > 0 && d > 0, empty("sparse features of {n} objects and {d} columns"));
        ensure!(
            matrix.is_csr(),
            invalid("a sparse matrix compressed by columns; expected rows: see sprs' `to_csr`")
        );
        if n.max(d) >= u32::MAX as usize {
            return Err(Error::too_large(format!(
                "sparse features of {n} objects and {d} columns; at most {} of each",
                u32::MAX - 1
            )));
        }
        let (starts, indices, values) = matrix.into_raw_storage();
        let scales = Scales::Common(1.0);
        let mut rows =
            SparseRows { columns: d, starts, indices, values, scales, squares: Vec::new() };
        let largest: Vec<f64> = rows.each(|i| {
            let (_, values) = rows.entries(i);
            // A NaN stays one.
            values.iter().fold(0.0, |most: f64, v| {
                let v = v.to_f64().abs();
                if v > most || v.is_nan() { v } else { most }
            })
        });
        if let Some(row) = largest.iter().position(|v| !v.is_finite()) {
            let (columns, values) = rows.entries(row);
            let at = values.iter().position(|v| !v.to_f64().is_finite()).unwrap_or(0);
            return Err(Error::non_finite("features", row, columns[at], values[at].to_f64()));
        }
        rows.scales = Scales::Common(unit(largest.iter().fold(0.0, |a, &b| a.max(b))));
        rows.squares = rows.lengths();
        Ok(rows)
    }

    /// The rows at unit length; those without entries stay as they are. Default the rows as they
    /// are given.
    pub fn unit_length(mut self) -> Self {
        let lengths: Vec<f64> = self.each(|i| {
            let (_, values) = self.entries(i);
            let largest = values.iter().fold(0.0f64, |most, v| most.max(v.to_f64().abs()));
            let (unit, first) = (unit(largest), |v: &F| v.to_f64());
            let length = values.iter().map(|v| (first(v) * unit).powi(2)).sum::<f64>().sqrt();
            if length > 0.0 { unit / length } else { 0.0 }
        });
        self.scales = Scales::Unit(lengths);
        self.squares = self.lengths();
        self
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.columns
    }

    pub(super) fn is_unit(&self) -> bool {
        matches!(self.scales, Scales::Unit(_))
    }

    /// What entries are multiplied by in all rows alike.
    pub(super) fn scale(&self) -> f64 {
        match self.scales {
            Scales::Common(scale) => scale,
            Scales::Unit(_) => 1.0,
        }
    }

    #[inline(always)]
    fn entries(&self, i: usize) -> (&'a [usize], &'a [F]) {
        let first = self.starts[0];
        let range = self.starts[i] - first..self.starts[i + 1] - first;
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Columns and values of a row, scaled.
    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + use<'_, 'a, F> {
        let (columns, values) = self.entries(i);
        let scale = match &self.scales {
            Scales::Common(scale) => *scale,
            Scales::Unit(scales) => scales[i],
        };
        columns.iter().zip(values).map(move |(&j, v)| (j as u32, v.to_f64() * scale))
    }

    /// Squared length of a row, scaled.
    #[inline(always)]
    pub(super) fn square(&self, i: usize) -> f64 {
        self.squares[i]
    }

    /// Squared distance of two rows, by their differences.
    pub(super) fn distance(&self, a: usize, b: usize) -> f64 {
        let (mut a, mut b) = (self.row(a).peekable(), self.row(b).peekable());
        let mut sum = 0.0;
        loop {
            let difference = match (a.peek(), b.peek()) {
                (None, None) => return sum,
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let difference = x.1 - y.1;
                    a.next();
                    b.next();
                    difference
                }
                (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                    let x = x.1;
                    a.next();
                    x
                }
                _ => b.next().map_or(0.0, |y| y.1),
            };
            sum += difference * difference;
        }
    }

    /// Squared lengths of all rows, scaled.
    fn lengths(&self) -> Vec<f64> {
        self.each(|i| self.row(i).fold(0.0, |sum, (_, v)| v.mul_add(v, sum)))
    }

    /// One number for each row.
    fn each(&self, of: impl Fn(usize) -> f64 + Sync + Send) -> Vec<f64> {
        (0..self.n_rows()).into_par_iter().with_min_len(1 << 10).map(of).collect()
    }
}

/// A power of two that brings the largest entry near 1, where its square would be out of range.
fn unit(largest: f64) -> f64 {
    if largest == 0.0 || (1e-100..1e100).contains(&largest) {
        return 1.0;
    }
    (-largest.log2().round().clamp(-1000.0, 1000.0)).exp2()
}
