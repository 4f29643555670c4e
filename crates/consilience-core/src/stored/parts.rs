use std::collections::BTreeMap;
use std::sync::Arc;

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::Table;
use crate::{Assign, Error, ErrorKind, FeatureMap, Result, ensure};

/// An [`Assign`] or a [`FeatureMap`] as it is stored: which kind it is, and its numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parts {
    kind: String,
    tables: BTreeMap<String, Table>,
}

/// What parts become.
#[derive(Clone, Debug)]
pub enum Restored {
    /// Assigns objects.
    Assigner(Arc<dyn Assign>),
    /// Comes before what assigns them.
    Map(Arc<dyn FeatureMap>),
}

/// How one kind is made of its parts. Crates make theirs known with `inventory::submit!`.
#[derive(Debug)]
pub struct Kind {
    /// The name in [`Parts`].
    pub name: &'static str,
    /// Checks the parts.
    pub restore: fn(&mut Parts) -> Result<Restored>,
}

inventory::collect!(Kind);

impl Parts {
    /// No numbers yet.
    pub fn new(kind: &str) -> Self {
        Parts { kind: kind.to_string(), tables: BTreeMap::new() }
    }

    /// With a table of this name.
    pub fn table(self, name: &str, table: &Array2<f64>) -> Self {
        self.with(name, Table::from(table))
    }

    /// With a table of one row.
    pub fn row(self, name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        self.with(name, Table::from_row(values))
    }

    fn with(self, name: &str, table: Table) -> Self {
        let Parts { kind, mut tables } = self;
        tables.insert(name.to_string(), table);
        Parts { kind, tables }
    }

    /// With a single number.
    pub fn number(self, name: &str, value: f64) -> Self {
        self.row(name, [value])
    }

    /// Whether there is a table of this name.
    pub fn has(&self, name: &str) -> bool {
        self.tables.contains_key(name)
    }

    /// The table of this name, whose numbers are finite.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] where there is none, [`ErrorKind::ShapeMismatch`] where values and
    /// shape disagree, [`ErrorKind::NonFinite`].
    pub fn take_table(&mut self, name: &str) -> Result<Array2<f64>> {
        let Some(table) = self.tables.remove(name) else {
            return Err(Error::new(
                ErrorKind::Corrupt,
                format!("stored parts of `{}` without `{name}`", self.kind),
            ));
        };
        let table = Array2::try_from(table)?;
        match table.indexed_iter().find(|(_, v)| !v.is_finite()) {
            Some(((i, j), &v)) => Err(Error::non_finite(name, i, j, v)),
            None => Ok(table),
        }
    }

    /// The table of this name, which has one row.
    ///
    /// # Errors
    /// As [`take_table`](Parts::take_table).
    pub fn take_row(&mut self, name: &str) -> Result<Vec<f64>> {
        let table = self.take_table(name)?;
        ensure!(table.nrows() == 1, shape("{} rows of `{name}`; expected 1", table.nrows()));
        Ok(table.into_iter().collect())
    }

    /// The number of this name.
    ///
    /// # Errors
    /// As [`take_table`](Parts::take_table).
    pub fn take_number(&mut self, name: &str) -> Result<f64> {
        match self.take_row(name)?[..] {
            [value] => Ok(value),
            ref values => {
                Err(Error::shape(format!("{} values of `{name}`; expected 1", values.len())))
            }
        }
    }

    /// The number of this name, which is above 0.
    ///
    /// # Errors
    /// As [`take_table`](Parts::take_table), and [`ErrorKind::InvalidParameter`].
    pub fn take_positive(&mut self, name: &str) -> Result<f64> {
        let value = self.take_number(name)?;
        ensure!(value > 0.0, invalid("`{name}` is {value}; expected above 0"));
        Ok(value)
    }

    /// What the kind makes of the parts.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for a kind that nobody registered; else as the kind says.
    pub fn restore(self) -> Result<Restored> {
        let mut parts = self;
        let known = inventory::iter::<Kind>.into_iter().find(|kind| kind.name == parts.kind);
        let Some(kind) = known else {
            return Err(Error::new(
                ErrorKind::Corrupt,
                format!("stored parts of an unknown kind, `{}`", parts.kind),
            ));
        };
        (kind.restore)(&mut parts)
    }
}
