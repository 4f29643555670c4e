//! What the feature `serde` writes of a view.

use consilience_core::stored::Table;
use consilience_core::{Error, Result, ensure};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::scale::Affine;
use super::view::View;

#[derive(Serialize, Deserialize)]
pub(crate) struct ViewFields {
    features: usize,
    columns: Option<Vec<usize>>,
    maps: Option<Vec<Affine>>,
    projection: Option<Table>,
}

impl From<View> for ViewFields {
    fn from(view: View) -> Self {
        ViewFields {
            features: view.features,
            columns: view.columns,
            maps: view.maps.map(|maps| maps.to_vec()),
            projection: view.projection.as_ref().map(Table::from),
        }
    }
}

impl TryFrom<ViewFields> for View {
    type Error = Error;

    fn try_from(fields: ViewFields) -> Result<Self> {
        let ViewFields { features: d, columns, maps, projection } = fields;
        ensure!(d > 0, empty("a view of 0 features"));
        if let Some(columns) = &columns {
            ensure!(!columns.is_empty(), empty("a view that sees no feature"));
            if let Some(j) = columns.iter().find(|&&j| j >= d) {
                return Err(Error::out_of_range(format!("feature {j} of {d}")));
            }
        }
        if let Some(maps) = &maps {
            ensure!(maps.len() == d, shape("{} scales of {d} features", maps.len()));
            ensure!(maps.iter().all(Affine::is_finite), invalid("a scale that is not finite"));
        }
        let seen = columns.as_ref().map_or(d, Vec::len);
        let projection = projection.map(Array2::try_from).transpose()?;
        if let Some(table) = &projection {
            ensure!(
                table.nrows() == seen && table.ncols() > 0,
                shape("a projection of {} features of {seen}", table.nrows())
            );
            ensure!(
                table.iter().all(|v| v.is_finite()),
                invalid("a projection that is not finite")
            );
        }
        Ok(View { features: d, columns, maps: maps.map(Into::into), projection })
    }
}
