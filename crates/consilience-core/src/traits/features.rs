use ndarray::{Array2, ArrayView2};
use sprs::{CsMat, CsMatView};

#[cfg(doc)]
use crate::ErrorKind;
use crate::{Dense, Error, Result, SparseRows, checks};

/// Features of n objects in rows, d columns, in either precision: a table, or the rows of a sparse
/// matrix that are never made dense.
///
/// ```
/// use consilience::Features;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0f32, 1.0], [2.0, 3.0]];
/// let features = Features::from(&x); // or a view: x.view(), x.slice(..)
/// assert_eq!((features.n_objects(), features.n_features()), (2, 2));
///
/// // Words of three texts, as a sparse matrix of sprs.
/// let mut words = consilience::sprs::TriMat::new((3, 1000));
/// words.add_triplet(0, 17, 2.0);
/// words.add_triplet(2, 999, 1.0);
/// let words = words.to_csr::<usize>();
/// let features = Features::from(&words);
/// assert_eq!((features.n_objects(), features.n_features()), (3, 1000));
/// assert!(features.is_sparse() && features.dense().is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Features<'a> {
    /// A table in single precision.
    F32(ArrayView2<'a, f32>),
    /// A table in double precision.
    F64(ArrayView2<'a, f64>),
    /// Sparse rows in single precision.
    Sparse32(SparseRows<'a, f32>),
    /// Sparse rows in double precision.
    Sparse64(SparseRows<'a, f64>),
}

impl<'a> Features<'a> {
    /// Number of objects (rows).
    pub fn n_objects(&self) -> usize {
        match self {
            Features::F32(x) => x.nrows(),
            Features::F64(x) => x.nrows(),
            Features::Sparse32(x) => x.n_rows(),
            Features::Sparse64(x) => x.n_rows(),
        }
    }

    /// Number of features (columns).
    pub fn n_features(&self) -> usize {
        match self {
            Features::F32(x) => x.ncols(),
            Features::F64(x) => x.ncols(),
            Features::Sparse32(x) => x.n_columns(),
            Features::Sparse64(x) => x.n_columns(),
        }
    }

    /// The same features, for a shorter time.
    pub fn reborrow(&self) -> Features<'_> {
        match self {
            Features::F32(x) => Features::F32(x.reborrow()),
            Features::F64(x) => Features::F64(x.reborrow()),
            Features::Sparse32(x) => Features::Sparse32(*x),
            Features::Sparse64(x) => Features::Sparse64(*x),
        }
    }

    /// Whether these are rows of a sparse matrix.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Features::Sparse32(_) | Features::Sparse64(_))
    }

    /// The table, for methods that need every entry.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) for sparse features,
    /// which would take n x d numbers; the message names what takes them.
    pub fn dense(self) -> Result<Dense<'a>> {
        match self {
            Features::F32(x) => Ok(Dense::F32(x)),
            Features::F64(x) => Ok(Dense::F64(x)),
            Features::Sparse32(_) | Features::Sparse64(_) => Err(Error::invalid(format!(
                "sparse features ({} x {}) where a table is needed; expected them reduced first \
                 (a truncated SVD, a random projection), or a method that takes them: k-means, \
                 mini-batch and spherical k-means, kernel k-means, U-SPEC, nearest neighbours",
                self.n_objects(),
                self.n_features()
            ))),
        }
    }

    /// Refuses empty features and entries that are not finite: the check that every method on
    /// features begins with.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty), or
    /// [`ErrorKind::NonFinite`](crate::ErrorKind::NonFinite) with row and column; for sparse
    /// features also [`SparseRows::check`].
    pub fn check(&self) -> Result<()> {
        match self {
            Features::F32(x) => Dense::F32(*x).check(),
            Features::F64(x) => Dense::F64(*x).check(),
            Features::Sparse32(x) => x.check(),
            Features::Sparse64(x) => x.check(),
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
        checks::clusters(clusters, n as u64)?;
        checks::numbered(n)
    }
}

macro_rules! from {
    ($float:ty, $table:ident, $sparse:ident) => {
        impl<'a> From<ArrayView2<'a, $float>> for Features<'a> {
            fn from(x: ArrayView2<'a, $float>) -> Self {
                Features::$table(x)
            }
        }

        impl<'a> From<&'a Array2<$float>> for Features<'a> {
            fn from(x: &'a Array2<$float>) -> Self {
                Features::$table(x.view())
            }
        }

        impl<'a> From<CsMatView<'a, $float>> for Features<'a> {
            fn from(x: CsMatView<'a, $float>) -> Self {
                Features::$sparse(SparseRows::from(x))
            }
        }

        impl<'a> From<&'a CsMat<$float>> for Features<'a> {
            fn from(x: &'a CsMat<$float>) -> Self {
                x.view().into()
            }
        }

        impl<'a> From<SparseRows<'a, $float>> for Features<'a> {
            fn from(x: SparseRows<'a, $float>) -> Self {
                Features::$sparse(x)
            }
        }
    };
}

from!(f32, F32, Sparse32);
from!(f64, F64, Sparse64);

impl<'a> From<Dense<'a>> for Features<'a> {
    fn from(x: Dense<'a>) -> Self {
        match x {
            Dense::F32(x) => Features::F32(x),
            Dense::F64(x) => Features::F64(x),
        }
    }
}
