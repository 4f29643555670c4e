use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A table of numbers as it is stored: shape, and values row by row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Table {
    /// A table of one row.
    pub fn from_row(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        Table { rows: 1, columns: values.len(), values }
    }
}

impl From<&Array2<f64>> for Table {
    fn from(table: &Array2<f64>) -> Self {
        let (rows, columns) = table.dim();
        Table { rows, columns, values: table.iter().copied().collect() }
    }
}

impl TryFrom<Table> for Array2<f64> {
    type Error = Error;

    fn try_from(table: Table) -> Result<Self> {
        let Table { rows, columns, values } = table;
        let count = values.len();
        let wrong = || Error::shape(format!("{count} values for a {rows} x {columns} table"));
        // Before ndarray sees the shape: a product that overflows fits nothing.
        if rows.checked_mul(columns) != Some(count) {
            return Err(wrong());
        }
        Array2::from_shape_vec((rows, columns), values).map_err(|_| wrong())
    }
}
