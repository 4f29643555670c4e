#[cfg(doc)]
use consilience_core::ErrorKind;
use consilience_core::{Result, SparseRows, room};

use crate::Float;
use crate::reduce::each_chunk;

/// Rows that one task looks at.
const CHUNK: usize = 1 << 10;

/// Rows of a sparse matrix, scaled so that squares are in range, or to unit length.
#[derive(Clone, Debug)]
pub struct ScaledRows<'a, F> {
    rows: SparseRows<'a, F>,
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

impl<'a, F: Float> ScaledRows<'a, F> {
    /// The rows of a matrix.
    ///
    /// # Errors
    /// As [`SparseRows::check`].
    pub fn new(matrix: impl Into<SparseRows<'a, F>>) -> Result<Self> {
        let rows = matrix.into();
        rows.check()?;
        let mut rows = ScaledRows { rows, scales: Scales::Common(1.0), squares: Vec::new() };
        let largest = rows.each(|i| {
            let (_, values) = rows.rows.row(i);
            values.iter().fold(0.0, |most: f64, v| most.max(v.to_f64().abs()))
        })?;
        rows.scales = Scales::Common(unit(largest.into_iter().fold(0.0, f64::max)));
        rows.squares = rows.lengths()?;
        Ok(rows)
    }

    /// The rows at unit length; those without entries stay as they are. Default the rows as they
    /// are given.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] where there is no memory for a number of each row.
    pub fn unit_length(mut self) -> Result<Self> {
        let lengths = self.each(|i| {
            let (_, values) = self.rows.row(i);
            let largest = values.iter().fold(0.0f64, |most, v| most.max(v.to_f64().abs()));
            let (unit, first) = (unit(largest), |v: &F| v.to_f64());
            let length = values.iter().map(|v| (first(v) * unit).powi(2)).sum::<f64>().sqrt();
            if length > 0.0 { unit / length } else { 0.0 }
        })?;
        self.scales = Scales::Unit(lengths);
        self.squares = self.lengths()?;
        Ok(self)
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.rows.n_columns()
    }

    /// The rows times a number, as others were scaled. Default: what keeps squares in range;
    /// above 0.
    ///
    /// # Errors
    /// As [`unit_length`](ScaledRows::unit_length).
    pub fn scaled_by(mut self, scale: f64) -> Result<Self> {
        self.scales = Scales::Common(scale);
        self.squares = self.lengths()?;
        Ok(self)
    }

    /// Whether the scale keeps all squares in range.
    pub fn squares_are_finite(&self) -> bool {
        self.squares.iter().all(|v| v.is_finite())
    }

    /// The rows as they were given.
    pub fn unscaled(&self) -> SparseRows<'a, F> {
        self.rows
    }

    pub(super) fn is_unit(&self) -> bool {
        matches!(self.scales, Scales::Unit(_))
    }

    /// What entries are multiplied by in all rows alike.
    pub fn scale(&self) -> f64 {
        match self.scales {
            Scales::Common(scale) => scale,
            Scales::Unit(_) => 1.0,
        }
    }

    /// Columns and values of a row, scaled.
    #[inline(always)]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + use<'_, 'a, F> {
        let (columns, values) = self.rows.row(i);
        let scale = match &self.scales {
            Scales::Common(scale) => *scale,
            Scales::Unit(scales) => scales[i],
        };
        columns.iter().zip(values).map(move |(&j, v)| (j as u32, v.to_f64() * scale))
    }

    /// Squared length of a row, scaled.
    #[inline(always)]
    pub fn square(&self, i: usize) -> f64 {
        self.squares[i]
    }

    /// Squared distance of two rows, scaled, by their differences.
    pub fn distance(&self, a: usize, b: usize) -> f64 {
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
    fn lengths(&self) -> Result<Vec<f64>> {
        self.each(|i| self.row(i).fold(0.0, |sum, (_, v)| v.mul_add(v, sum)))
    }

    /// One number for each row.
    fn each(&self, of: impl Fn(usize) -> f64 + Sync + Send) -> Result<Vec<f64>> {
        let mut all = room::zeros(self.n_rows())?;
        each_chunk(&mut all, CHUNK, &|c, places| {
            for (i, place) in (c * CHUNK..).zip(places) {
                *place = of(i);
            }
        });
        Ok(all)
    }
}

/// A power of two that brings the largest entry near 1, where its square would be out of range.
fn unit(largest: f64) -> f64 {
    if largest == 0.0 || (1e-100..1e100).contains(&largest) {
        return 1.0;
    }
    (-largest.log2().round().clamp(-1000.0, 1000.0)).exp2()
}
