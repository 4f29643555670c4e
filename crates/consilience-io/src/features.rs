use consilience_core::{Error, ErrorKind, Features, Result, SparseRows};
use ndarray::{Array2, Axis};
use sprs::CsMat;

use crate::allowance::Allowance;
use crate::fault::malformed;

/// Features of n objects in the precision that their file has.
///
/// ```
/// use consilience::io::{Format, Input};
///
/// let text = "x,y\n1,2.5\n3,4\n";
/// let table = Input::in_memory(text.as_bytes(), Format::Csv).features(&())?.output;
/// // What every method takes.
/// assert_eq!(table.view().n_features(), 2);
/// assert_eq!(table.into_f64()?[[0, 1]], 2.5);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FeatureTable {
    /// Single precision stays single.
    F32(Array2<f32>),
    /// Doubles, and whatever whole numbers there were.
    F64(Array2<f64>),
    /// A sparse matrix in single precision.
    Sparse32(CsMat<f32>),
    /// A sparse matrix in double precision.
    Sparse64(CsMat<f64>),
}

impl FeatureTable {
    /// The form that the library's methods take.
    pub fn view(&self) -> Features<'_> {
        match self {
            FeatureTable::F32(x) => Features::from(x.view()),
            FeatureTable::F64(x) => Features::from(x.view()),
            FeatureTable::Sparse32(x) => Features::from(x),
            FeatureTable::Sparse64(x) => Features::from(x),
        }
    }

    /// The table in double precision.
    ///
    /// # Errors
    /// As [`Features::dense`] for a sparse matrix; [`ErrorKind::TooLarge`] where single precision
    /// does not fit in memory as double.
    pub fn into_f64(self) -> Result<Array2<f64>> {
        match self {
            FeatureTable::F64(x) => Ok(x),
            FeatureTable::F32(x) if x.is_standard_layout() => {
                let mut wide = Allowance::unlimited().room(x.len())?;
                wide.extend(x.iter().map(|&v| f64::from(v)));
                Array2::from_shape_vec(x.dim(), wide).map_err(|e| malformed(e.to_string()))
            }
            other => other.view().dense()?.to_f64(),
        }
    }

    /// Some rows, in the order given.
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            FeatureTable::F32(x) => FeatureTable::F32(x.select(Axis(0), rows)),
            FeatureTable::F64(x) => FeatureTable::F64(x.select(Axis(0), rows)),
            FeatureTable::Sparse32(x) => {
                FeatureTable::Sparse32(SparseRows::from(x).select(Some(rows), None))
            }
            FeatureTable::Sparse64(x) => {
                FeatureTable::Sparse64(SparseRows::from(x).select(Some(rows), None))
            }
        }
    }

    /// Columns as rows.
    pub(crate) fn transposed(self) -> Self {
        match self {
            FeatureTable::F32(x) => FeatureTable::F32(x.reversed_axes()),
            FeatureTable::F64(x) => FeatureTable::F64(x.reversed_axes()),
            FeatureTable::Sparse32(x) => FeatureTable::Sparse32(x.transpose_into().to_csr()),
            FeatureTable::Sparse64(x) => FeatureTable::Sparse64(x.transpose_into().to_csr()),
        }
    }

    /// Refuses infinities; NaN is a missing value.
    pub(crate) fn check_finite_or_missing(&self) -> Result<()> {
        let place = match self {
            FeatureTable::F32(x) => x.indexed_iter().find(|(_, v)| v.is_infinite()).map(|(p, _)| p),
            FeatureTable::F64(x) => x.indexed_iter().find(|(_, v)| v.is_infinite()).map(|(p, _)| p),
            // What a sparse matrix does not store is 0, so it has no missing values.
            FeatureTable::Sparse32(_) | FeatureTable::Sparse64(_) => return self.view().check(),
        };
        match place {
            Some((row, column)) => {
                let message = format!("row {row}, column {column} is infinite");
                Err(Error::new(ErrorKind::NonFinite, message))
            }
            None => Ok(()),
        }
    }
}
