use ndarray::{Array2, ArrayView2};

use crate::{Error, ErrorKind, Result, ensure};

/// Runs one expression with the table of some [`Features`](crate::Features) in whatever precision
/// it comes.
#[doc(hidden)]
#[macro_export]
macro_rules! with_rows {
    ($features:expr, |$x:ident| $body:expr) => {
        match $features {
            $crate::Features::F32($x) => $body,
            $crate::Features::F64($x) => $body,
        }
    };
}

/// Features of n objects in rows, d columns, in either precision.
///
/// ```
/// use consilience::Features;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0f32, 1.0], [2.0, 3.0]];
/// let features = Features::from(&x); // or a view: x.view(), x.slice(..)
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
        ensure!(n > 0 && d > 0, empty("features of {n} objects and {d} columns"));
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

    /// [`check`](Features::check), and that the rows can fall into so many clusters.
    ///
    /// # Errors
    /// As [`check`](Features::check); [`ErrorKind::InvalidParameter`] for `clusters` outside
    /// `1..=n`; [`ErrorKind::TooLarge`] for as many objects as 32 bits cannot number.
    pub fn check_clusters(&self, clusters: usize) -> Result<()> {
        self.check()?;
        let n = self.n_objects();
        ensure!(
            (1..=n).contains(&clusters),
            invalid("{clusters} clusters of {n} objects; expected 1..={n}")
        );
        if n >= u32::MAX as usize {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("{n} objects; at most {} are supported", u32::MAX - 1),
            ));
        }
        Ok(())
    }

    /// A copy in double precision.
    pub fn to_f64(&self) -> Array2<f64> {
        with_rows!(self, |x| x.mapv(f64::from))
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

impl<'a> From<&'a Array2<f32>> for Features<'a> {
    fn from(x: &'a Array2<f32>) -> Self {
        Features::F32(x.view())
    }
}

impl<'a> From<&'a Array2<f64>> for Features<'a> {
    fn from(x: &'a Array2<f64>) -> Self {
        Features::F64(x.view())
    }
}
