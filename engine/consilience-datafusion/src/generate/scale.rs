//! A common scale of features, as the library's, to the same bits at any size.

use consilience::generate::Scale;
use consilience::ndarray::Array2;
use consilience::num::Float;
use consilience::{Observer, Result};
use datafusion::arrow::array::AsArray;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::fault::arrow;
use crate::table::Table;

/// `(x unit - centre) factor` of one feature; the unit is a power of two that keeps squares in
/// range.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
struct Affine {
    unit: f64,
    centre: f64,
    factor: f64,
}

/// One map for each feature; none where features stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(super) struct Scaling(Vec<Affine>);

impl Scaling {
    /// From all objects of a table. Every column is read by itself from its beginning to its end,
    /// so that its sums are those of the library, which adds objects in their order. What is
    /// missing is left out; readers of rows refuse it.
    pub(super) fn of(
        engine: &Engine,
        table: &Table,
        scale: Scale,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut maps = Vec::new();
        if scale != Scale::None {
            let (columns, total) = (table.positions(), table.positions().len());
            let work = |&column: &usize| map(table, column, scale, observer);
            engine.in_order(columns, observer, work, |_, map| {
                maps.push(map);
                observer.progress("scaling", maps.len(), total);
                Ok(())
            })?;
        }
        Ok(Scaling(maps))
    }

    /// Brings rows to the scale.
    pub(super) fn apply<F: Float>(&self, rows: &mut Array2<F>) {
        for (map, mut column) in self.0.iter().zip(rows.columns_mut()) {
            column.mapv_inplace(|x| F::from_f64((x.to_f64() * map.unit - map.centre) * map.factor));
        }
    }
}

/// The map of the column at that position.
fn map(table: &Table, column: usize, scale: Scale, observer: &dyn Observer) -> Result<Affine> {
    let n = table.n_rows() as f64;
    let (mut low, mut high, mut mean) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
    each(table, column, observer, |x| {
        (low, high) = (low.min(x), high.max(x));
        mean += x / n;
    })?;
    let unit = match low.abs().max(high.abs()) {
        0.0 => 1.0,
        largest => 2f64.powi((-largest.log2().ceil()).clamp(-1022.0, 1022.0) as i32),
    };
    // A sum of numbers times a power of two is the sum times that.
    let (low, high, mean) = (low * unit, high * unit, mean * unit);
    let (centre, spread) = if scale == Scale::ZScore {
        let mut square = 0.0;
        each(table, column, observer, |x| square += (x * unit - mean).powi(2) / n)?;
        (mean, square.sqrt())
    } else {
        (low, high - low)
    };
    let varies = high > low && spread > 0.0;
    Ok(Affine { unit, centre, factor: if varies { 1.0 / spread } else { 0.0 } })
}

/// Hands out the values of a column in their order.
fn each(
    table: &Table,
    column: usize,
    observer: &dyn Observer,
    mut with: impl FnMut(f64),
) -> Result<()> {
    for piece in table.pieces(0..table.n_files()) {
        observer.check()?;
        table.read(&piece, &[column], |columns| {
            let values = cast(&columns[0], &DataType::Float64).map_err(arrow)?;
            values.as_primitive::<Float64Type>().iter().flatten().for_each(&mut with);
            Ok(())
        })?;
    }
    Ok(())
}
