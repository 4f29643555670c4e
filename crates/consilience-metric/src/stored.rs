//! What the feature `serde` writes.

use std::sync::Arc;

use consilience_core::stored::{Kind, Parts, Restored, Table};
use consilience_core::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::LinearMap;

pub(crate) const LINEAR_MAP: &str = "linear-map";

inventory::submit! {
    Kind { name: LINEAR_MAP, restore: |parts| Ok(Restored::Map(Arc::new(restored(parts)?))) }
}

fn restored(parts: &mut Parts) -> Result<LinearMap> {
    if parts.has("diagonal") {
        return LinearMap::from_diagonal(&parts.take_row("diagonal")?);
    }
    LinearMap::from_matrix(parts.take_table("matrix")?)
}

/// A [`LinearMap`].
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LinearMapFields {
    Diagonal(Vec<f64>),
    Matrix(Table),
}

impl From<LinearMap> for LinearMapFields {
    fn from(map: LinearMap) -> Self {
        match map.into_diagonal() {
            Ok(diagonal) => LinearMapFields::Diagonal(diagonal),
            Err(matrix) => LinearMapFields::Matrix(Table::from(&matrix)),
        }
    }
}

impl TryFrom<LinearMapFields> for LinearMap {
    type Error = Error;

    fn try_from(fields: LinearMapFields) -> Result<Self> {
        match fields {
            LinearMapFields::Diagonal(factors) => LinearMap::from_diagonal(&factors),
            LinearMapFields::Matrix(table) => LinearMap::from_matrix(Array2::try_from(table)?),
        }
    }
}
