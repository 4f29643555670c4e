use ndarray::ArrayView2;

use crate::{Ensemble, Error, Fit, Observer, Partition, Result, Seed, SimilarityGraph};

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

/// Features to one base clustering.
pub trait BaseClusterer: Send + Sync {
    /// The name that the program uses, for instance `kmeans`.
    fn name(&self) -> &'static str;

    /// Clusters the rows into at most `clusters` clusters. Fewer come out where fewer rows are
    /// distinct (the report says so), or where the method finds their number itself.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) and
    /// [`ErrorKind::NonFinite`](crate::ErrorKind::NonFinite) for bad features,
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) for `clusters` outside
    /// `1..=n`, [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>>;
}

/// An ensemble to one clustering: hard ([`Partition`]) or soft
/// ([`Memberships`](crate::Memberships)).
pub trait ConsensusFunction: Send + Sync {
    /// What comes out.
    type Output;

    /// The consensus, with a report of how it came about; progress goes to the observer, which may
    /// also cancel.
    ///
    /// # Errors
    /// As the method says; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) where the observer
    /// asked for it.
    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Self::Output>>;

    /// The consensus alone.
    ///
    /// # Errors
    /// As [`ConsensusFunction::fit`].
    fn consensus(&self, ensemble: &Ensemble) -> Result<Self::Output> {
        Ok(self.fit(ensemble, &())?.output)
    }
}

/// An ensemble to a weighted graph whose nodes are groups of alike objects.
pub trait Similarity: Send + Sync {
    /// The similarity graph.
    ///
    /// # Errors
    /// As the method says; [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) where a dense matrix
    /// would exceed the memory budget.
    fn similarity(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Fit<SimilarityGraph>>;
}

/// A weighted graph to a partition of its objects.
pub trait GraphPartitioner: Send + Sync {
    /// Partitions the objects behind the graph. The graph is taken by value, since partitioners
    /// work in its memory.
    ///
    /// # Errors
    /// As the method says.
    fn partition(&self, graph: SimilarityGraph, observer: &dyn Observer) -> Result<Fit<Partition>>;
}
