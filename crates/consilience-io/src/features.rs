use consilience_core::{Error, ErrorKind, Features, Result};
use ndarray::Array2;

/// Features of n objects in the precision that their file has.
///
/// ```
/// use consilience::io::{Format, Input};
///
/// let text = "x,y\n1,2.5\n3,4\n";
/// let table = Input::in_memory(text.as_bytes(), Format::Csv).features(&())?.output;
/// // What every method takes.
/// assert_eq!(table.view().n_features(), 2);
/// assert_eq!(table.into_f64()[[0, 1]], 2.5);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FeatureTable {
    /// Single precision stays single.
    F32(Array2<f32>),
    /// Doubles, and whatever whole numbers there were.
    F64(Array2<f64>),
}

impl FeatureTable {
    /// The form that the library's methods take.
    pub fn view(&self) -> Features<'_> {
        match self {
            FeatureTable::F32(x) => Features::from(x.view()),
            FeatureTable::F64(x) => Features::from(x.view()),
        }
    }

    /// The table in double precision.
    pub fn into_f64(self) -> Array2<f64> {
        match self {
            FeatureTable::F32(x) => x.mapv(f64::from),
            FeatureTable::F64(x) => x,
        }
    }

    /// Refuses infinities; NaN is a missing value.
    pub(crate) fn check_finite_or_missing(&self) -> Result<()> {
        let place = match self {
            FeatureTable::F32(x) => x.indexed_iter().find(|(_, v)| v.is_infinite()).map(|(p, _)| p),
            FeatureTable::F64(x) => x.indexed_iter().find(|(_, v)| v.is_infinite()).map(|(p, _)| p),
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
