use ndarray::ArrayView2;

use crate::{Error, Result};

/// Features of n objects in rows, d columns, in either precision.
///
/// ```
/// use consilience_core::Features;
/// use ndarray::array;
///
/// let x = array![[0.0f32, 1.0], [2.0, 3.0]];
/// let features = Features::from(x.view());
/// assert_eq!((features.n_objects(), features.n_features()), (2, 2));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Features<'a> {
    /// Single precision.
    F32(ArrayView2<'a, f32>),
    /// Double precision.
    F64(ArrayView2<'a, f64>),
}

impl Features<'_> {
    /// Number of objects (rows).
    pub fn n_objects(&self) -> usize {
        match self {
            Features::F32(x) => x.nrows(),
            Features::F64(x) => x.nrows(),
        }
    }

    /// Number of features (columns).
    pub fn n_features(&self) -> usize {
        match self {
            Features::F32(x) => x.ncols(),
            Features::F64(x) => x.ncols(),
        }
    }

    /// Refuses empty tables and entries that are not finite: the check that every method on
    /// features begins with.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty), or
    /// [`ErrorKind::NonFinite`](crate::ErrorKind::NonFinite) with row and column.
    pub fn check(&self) -> Result<()> {
        let (n, d) = (self.n_objects(), self.n_features());
        if n == 0 || d == 0 {
            return Err(Error::empty(format!("features of {n} objects and {d} columns")));
        }
        let bad = match self {
            Features::F32(x) => {
                x.indexed_iter().find(|(_, v)| !v.is_finite()).map(|(at, &v)| (at, f64::from(v)))
            }
            Features::F64(x) => {
                x.indexed_iter().find(|(_, v)| !v.is_finite()).map(|(at, &v)| (at, v))
            }
        };
        match bad {
            Some(((row, column), value)) => Err(Error::non_finite("features", row, column, value)),
            None => Ok(()),
        }
    }
}

impl<'a> From<ArrayView2<'a, f32>> for Features<'a> {
    fn from(x: ArrayView2<'a, f32>) -> Self {
        Features::F32(x)
    }
}

impl<'a> From<ArrayView2<'a, f64>> for Features<'a> {
    fn from(x: ArrayView2<'a, f64>) -> Self {
        Features::F64(x)
    }
}
