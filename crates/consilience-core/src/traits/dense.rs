use ndarray::{Array2, ArrayView2};

use crate::{Error, Features, Result, ensure, room};

/// Runs one expression with a table ([`Dense`](crate::Dense)) in whatever precision it comes.
#[doc(hidden)]
#[macro_export]
macro_rules! with_rows {
    ($table:expr, |$x:ident| $body:expr) => {
        match $table {
            $crate::Dense::F32($x) => $body,
            $crate::Dense::F64($x) => $body,
        }
    };
}

/// A table of features, n x d, in either precision: what methods that need every entry take.
///
/// From [`Features::dense`], or from an array.
///
/// ```
/// use consilience::core::Dense;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0f32, 1.0], [2.0, 3.0]];
/// assert_eq!(Dense::from(x.view()).to_f64()?, array![[0.0, 1.0], [2.0, 3.0]]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Dense<'a> {
    /// Single precision.
    F32(ArrayView2<'a, f32>),
    /// Double precision.
    F64(ArrayView2<'a, f64>),
}

impl Dense<'_> {
    /// Number of objects (rows).
    pub fn n_objects(&self) -> usize {
        with_rows!(self, |x| x.nrows())
    }

    /// Number of features (columns).
    pub fn n_features(&self) -> usize {
        with_rows!(self, |x| x.ncols())
    }

    /// As [`Features::check`].
    ///
    /// # Errors
    /// As there.
    pub fn check(&self) -> Result<()> {
        let (n, d) = (self.n_objects(), self.n_features());
        ensure!(n > 0 && d > 0, empty("features of {n} objects and {d} columns"));
        let bad = match self {
            Dense::F32(x) => {
                x.indexed_iter().find(|(_, v)| !v.is_finite()).map(|(at, &v)| (at, f64::from(v)))
            }
            Dense::F64(x) => x.indexed_iter().find(|(_, v)| !v.is_finite()).map(|(at, &v)| (at, v)),
        };
        match bad {
            Some(((row, column), value)) => Err(Error::non_finite("features", row, column, value)),
            None => Ok(()),
        }
    }

    /// As [`Features::check_clusters`].
    ///
    /// # Errors
    /// As there.
    pub fn check_clusters(&self, clusters: usize) -> Result<()> {
        Features::from(*self).check_clusters(clusters)
    }

    /// A copy in double precision.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) where there is no memory for it.
    pub fn to_f64(&self) -> Result<Array2<f64>> {
        match self {
            Dense::F32(x) => room::table_of(x.nrows(), x.ncols(), |at| f64::from(x[at])),
            Dense::F64(x) => room::copied_table(x.view()),
        }
    }
}

impl<'a> From<ArrayView2<'a, f32>> for Dense<'a> {
    fn from(x: ArrayView2<'a, f32>) -> Self {
        Dense::F32(x)
    }
}

impl<'a> From<ArrayView2<'a, f64>> for Dense<'a> {
    fn from(x: ArrayView2<'a, f64>) -> Self {
        Dense::F64(x)
    }
}

impl<'a> From<&'a Array2<f64>> for Dense<'a> {
    fn from(x: &'a Array2<f64>) -> Self {
        Dense::F64(x.view())
    }
}
