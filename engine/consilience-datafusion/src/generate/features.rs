//! Rows of features from a table.

use std::marker::PhantomData;
use std::ops::Range;

use consilience::generate::Scale;
use consilience::ndarray::Array2;
use consilience::num::Float;
use consilience::num::place::{NOTHING, widen};
use consilience::{Error, Observer, Result};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};

use serde::{Deserialize, Serialize};

use super::scale::Scaling;
use crate::engine::Engine;
use crate::fault::{arrow, within};
use crate::table::{Piece, Table};
use crate::work::Fold;

/// Objects of a stretch: a multiple of what sums are grouped by.
const STRETCH: u64 = 1 << 18;

/// Refuses columns of anything but numbers.
pub(super) fn check(table: &Table) -> Result<()> {
    for field in table.fields() {
        let kind = field.data_type();
        if !kind.is_numeric() && *kind != DataType::Boolean {
            let place = &table.files()[0].place;
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

impl Scaling {
    /// Hands out the rows of a piece on the scale, with the number of the first one.
    pub(super) fn read<F: Float>(
        &self,
        table: &Table,
        piece: &Piece,
        observer: &dyn Observer,
        mut each: impl FnMut(Array2<F>, u64) -> Result<()>,
    ) -> Result<()> {
        let mut first = piece.first;
        table.read(piece, table.positions(), |columns| {
            observer.check()?;
            let rows = self.rows(columns, first)?;
            let next = first + rows.nrows() as u64;
            each(rows, first)?;
            first = next;
            Ok(())
        })
    }

    fn rows<F: Float>(&self, columns: &[ArrayRef], first: u64) -> Result<Array2<F>> {
        let mut rows = raw(columns, first)?;
        self.apply(&mut rows);
        Ok(rows)
    }
}

/// The features of a table on their common scale.
pub(super) struct Source<'a> {
    pub(super) engine: &'a Engine,
    pub(super) table: &'a Table,
    pub(super) observer: &'a dyn Observer,
    pub(super) scaling: Scaling,
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

    /// Hands out the rows of a stretch of objects, whatever files they are in, with the number of
    /// the first one.
    pub(super) fn read_stretch<F: Float>(
        &self,
        stretch: &Range<u64>,
        mut each: impl FnMut(Array2<F>, u64) -> Result<()>,
    ) -> Result<()> {
        let mut first = stretch.start;
        self.table.read_rows(stretch.clone(), |columns| {
            self.observer.check()?;
            let rows = self.scaling.rows(columns, first)?;
            let next = first + rows.nrows() as u64;
            each(rows, first)?;
            first = next;
            Ok(())
        })
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
        let mut ranges = vec![NOTHING; d];
        let work = Fetch::<F> { scaling: self.scaling.clone(), wanted, precision: PhantomData };
        self.engine.fold(self.table, &work, "reading", self.observer, |(kept, part)| {
            all.extend(kept.into_iter().map(F::from_f64));
            for (range, (low, high)) in ranges.iter_mut().zip(part) {
                *range = (range.0.min(low), range.1.max(high));
            }
            Ok(())
        })?;
        let wanted = work.wanted;
        let rows = Array2::from_shape_vec((count, d), all)
            .map_err(|error| Error::shape(error.to_string()))?;
        Ok(Fetched { numbers: wanted.unwrap_or_default(), rows, ranges })
    }
}

/// Reading the objects with these numbers, which are in ascending order; all of them without.
#[derive(Deserialize, Serialize)]
#[serde(bound = "")]
pub(crate) struct Fetch<F> {
    scaling: Scaling,
    wanted: Option<Vec<u64>>,
    precision: PhantomData<F>,
}

impl<F: Float> Fold for Fetch<F> {
    const NAME: &'static str = if size_of::<F>() == 4 { "fetch-f32" } else { "fetch-f64" };
    /// Features of the wanted objects, row by row, and the smallest and largest number of each
    /// feature among all objects.
    type Part = (Vec<f64>, Vec<(f64, f64)>);

    fn part(&self, table: &Table, piece: &Piece, observer: &dyn Observer) -> Result<Self::Part> {
        let (mut kept, mut ranges) = (Vec::new(), vec![NOTHING; table.positions().len()]);
        self.scaling.read::<F>(table, piece, observer, |rows, first| {
            for (range, column) in ranges.iter_mut().zip(rows.columns()) {
                column.iter().for_each(|x| widen(range, x.to_f64()));
            }
            let end = first + rows.nrows() as u64;
            match &self.wanted {
                None => kept.extend(rows.iter().map(|x| x.to_f64())),
                Some(wanted) => {
                    let from = wanted.partition_point(|&i| i < first);
                    let to = wanted.partition_point(|&i| i < end);
                    for &i in &wanted[from..to] {
                        kept.extend(rows.row((i - first) as usize).iter().map(|x| x.to_f64()));
                    }
                }
            }
            Ok(())
        })?;
        Ok((kept, ranges))
    }
}

/// Some objects of a table.
pub(super) struct Fetched<F> {
    /// Their numbers; none where all are there.
    numbers: Vec<u64>,
    pub(super) rows: Array2<F>,
    /// The smallest and largest number of each feature among all objects, fetched or not.
    pub(super) ranges: Vec<(f64, f64)>,
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
