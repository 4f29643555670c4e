//! Rows of features from a table.

use std::ops::Range;

use consilience::generate::Scale;
use consilience::ndarray::Array2;
use consilience::num::Float;
use consilience::{Error, Observer, Result};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};

use super::scale::Scaling;
use crate::engine::Engine;
use crate::fault::{arrow, within};
use crate::table::{Piece, Table};

/// Objects of a stretch: a multiple of what sums are grouped by.
const STRETCH: u64 = 1 << 18;

/// Refuses columns of anything but numbers.
pub(super) fn check(table: &Table) -> Result<()> {
    for field in table.fields() {
        let kind = field.data_type();
        if !kind.is_numeric() && *kind != DataType::Boolean {
            let place = table.files()[0].path.display();
            let what = format!("column {:?} holds {kind}; expected numbers", field.name());
            return Err(within(place)(super::no_numbers(what)));
        }
    }
    Ok(())
}

/// Whether every column is of single precision.
pub(super) fn single(table: &Table) -> bool {
    table.fields().all(|field| *field.data_type() == DataType::Float32)
}

/// The rows of a batch, whose first one has that number in the table.
fn raw<F: Float>(columns: &[ArrayRef], first: u64) -> Result<Array2<F>> {
    let n = columns.first().map_or(0, |column| column.len());
    let mut rows = Array2::default((n, columns.len()));
    for (j, column) in columns.iter().enumerate() {
        let column = cast(column, &DataType::Float64).map_err(arrow)?;
        let values = column.as_primitive::<Float64Type>();
        for (i, x) in rows.column_mut(j).iter_mut().enumerate() {
            let value = if values.is_null(i) { f64::NAN } else { values.value(i) };
            if !value.is_finite() {
                return Err(Error::non_finite("features", first as usize + i, j, value));
            }
            *x = F::from_f64(value);
        }
    }
    Ok(rows)
}

/// The features of a table on their common scale.
pub(super) struct Source<'a> {
    pub(super) engine: &'a Engine,
    pub(super) table: &'a Table,
    pub(super) observer: &'a dyn Observer,
    scaling: Scaling,
}

impl<'a> Source<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        table: &'a Table,
        scale: Scale,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let scaling = Scaling::of(engine, table, scale, observer)?;
        Ok(Source { engine, table, observer, scaling })
    }

    /// Number of features.
    pub(super) fn width(&self) -> usize {
        self.table.positions().len()
    }

    /// Hands out the rows of a piece, with the number of the first one.
    pub(super) fn read<F: Float>(
        &self,
        piece: &Piece,
        mut each: impl FnMut(Array2<F>, u64) -> Result<()>,
    ) -> Result<()> {
        let mut first = piece.first;
        self.table.read(piece, self.table.positions(), |columns| {
            self.observer.check()?;
            let rows = self.scaled(columns, first)?;
            let next = first + rows.nrows() as u64;
            each(rows, first)?;
            first = next;
            Ok(())
        })
    }

    /// The same for a stretch of objects, whatever files they are in.
    pub(super) fn read_stretch<F: Float>(
        &self,
        stretch: &Range<u64>,
        mut each: impl FnMut(Array2<F>, u64) -> Result<()>,
    ) -> Result<()> {
        let mut first = stretch.start;
        self.table.read_rows(stretch.clone(), |columns| {
            self.observer.check()?;
            let rows = self.scaled(columns, first)?;
            let next = first + rows.nrows() as u64;
            each(rows, first)?;
            first = next;
            Ok(())
        })
    }

    fn scaled<F: Float>(&self, columns: &[ArrayRef], first: u64) -> Result<Array2<F>> {
        let mut rows = raw(columns, first)?;
        self.scaling.apply(&mut rows);
        Ok(rows)
    }

    /// All objects in stretches, which do not depend on the files.
    pub(super) fn stretches(&self) -> Vec<Range<u64>> {
        let n = self.table.n_rows();
        (0..n).step_by(STRETCH as usize).map(|first| first..n.min(first + STRETCH)).collect()
    }

    /// Reads all objects and keeps those with these numbers, which are given in ascending order;
    /// all of them without.
    pub(super) fn fetch<F: Float>(&self, wanted: Option<Vec<u64>>) -> Result<Fetched<F>> {
        let (d, n) = (self.width(), self.table.n_rows() as usize);
        let count = wanted.as_ref().map_or(n, Vec::len);
        let mut all: Vec<F> = Vec::with_capacity(count * d);
        let mut largest = vec![0.0f64; d];
        let pieces = self.table.pieces(0..self.table.n_files());
        let work = |piece: &Piece| {
            let (mut kept, mut largest) = (Vec::<F>::new(), vec![0.0f64; d]);
            self.read::<F>(piece, |rows, first| {
                for (most, column) in largest.iter_mut().zip(rows.columns()) {
                    *most = column.iter().fold(*most, |most, x| most.max(x.to_f64().abs()));
                }
                let end = first + rows.nrows() as u64;
                match &wanted {
                    None => kept.extend(rows.iter()),
                    Some(wanted) => {
                        let from = wanted.partition_point(|&i| i < first);
                        let to = wanted.partition_point(|&i| i < end);
                        for &i in &wanted[from..to] {
                            kept.extend(rows.row((i - first) as usize).iter());
                        }
                    }
                }
                Ok(())
            })?;
            Ok((kept, largest))
        };
        self.engine.in_order(&pieces, self.observer, work, |piece, (kept, part)| {
            self.observer.progress("reading", (piece.first + piece.rows) as usize, n);
            all.extend(kept);
            largest.iter_mut().zip(part).for_each(|(most, part)| *most = most.max(part));
            Ok(())
        })?;
        let rows = Array2::from_shape_vec((count, d), all)
            .map_err(|error| Error::shape(error.to_string()))?;
        Ok(Fetched { numbers: wanted.unwrap_or_default(), rows, largest })
    }
}

/// Some objects of a table.
pub(super) struct Fetched<F> {
    /// Their numbers; none where all are there.
    numbers: Vec<u64>,
    pub(super) rows: Array2<F>,
    /// The largest magnitude of each feature among all objects, fetched or not.
    pub(super) largest: Vec<f64>,
}

impl<F: Float> Fetched<F> {
    /// The places of objects among the rows.
    pub(super) fn places(&self, objects: &[u64]) -> Vec<usize> {
        let place = |&i: &u64| match self.numbers.is_empty() {
            true => i as usize,
            false => self.numbers.partition_point(|&other| other < i),
        };
        objects.iter().map(place).collect()
    }
}
