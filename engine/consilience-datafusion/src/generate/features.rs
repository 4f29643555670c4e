//! Rows of features from a table.

use std::marker::PhantomData;

use consilience::ndarray::Array2;
use consilience::num::Float;
use consilience::{Error, Observer, Result, Seed};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::fault::{arrow, within};
use crate::table::{Piece, Table};
use crate::work::Fold;

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
pub(super) fn rows<F: Float>(columns: &[ArrayRef], first: u64) -> Result<Array2<F>> {
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

/// Some objects of a table, or all of them.
pub(super) struct Sampled<F> {
    pub(super) rows: Array2<F>,
}

impl<F: Float> Sampled<F> {
    /// So many objects drawn at random, in the order of the table.
    pub(super) fn read(
        engine: &Engine,
        table: &Table,
        objects: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let n = table.n_rows();
        let drawn = (objects as u64 != n).then(|| {
            let mut stream = seed.derive("sampled objects", 0).stream();
            let mut drawn = stream.sample(n as usize, objects);
            drawn.sort_unstable();
            drawn
        });
        let mut all: Vec<F> = Vec::with_capacity(objects * table.positions().len());
        let work = Sampling::<F> { drawn, precision: PhantomData };
        engine.fold(table, &work, "reading", observer, |kept| {
            all.extend(kept.into_iter().map(F::from_f64));
            Ok(())
        })?;
        let rows = Array2::from_shape_vec((objects, table.positions().len()), all)
            .map_err(|error| Error::shape(error.to_string()))?;
        Ok(Sampled { rows })
    }
}

/// Reading the drawn objects.
#[derive(Deserialize, Serialize)]
#[serde(bound = "")]
pub(crate) struct Sampling<F> {
    /// In ascending order; all without.
    drawn: Option<Vec<usize>>,
    precision: PhantomData<F>,
}

impl<F: Float> Fold for Sampling<F> {
    const NAME: &'static str = if size_of::<F>() == 4 { "sample-f32" } else { "sample-f64" };
    /// Features of the drawn objects, row by row.
    type Part = Vec<f64>;

    fn part(&self, table: &Table, piece: &Piece, _observer: &dyn Observer) -> Result<Vec<f64>> {
        let mut kept = Vec::new();
        let mut first = piece.first;
        table.read(piece, table.positions(), |columns| {
            let rows = rows::<F>(columns, first)?;
            let end = first + rows.nrows() as u64;
            match &self.drawn {
                None => kept.extend(rows.iter().map(|x| x.to_f64())),
                Some(drawn) => {
                    let from = drawn.partition_point(|&i| (i as u64) < first);
                    let to = drawn.partition_point(|&i| (i as u64) < end);
                    for &i in &drawn[from..to] {
                        kept.extend(rows.row(i - first as usize).iter().map(|x| x.to_f64()));
                    }
                }
            }
            first = end;
            Ok(())
        })?;
        Ok(kept)
    }
}
