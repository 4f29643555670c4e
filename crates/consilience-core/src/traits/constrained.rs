use std::fmt;
use std::sync::Arc;

use ndarray::Array2;

#[cfg(feature = "serde")]
use crate::stored::Parts;
use crate::{
    Error, ErrorKind, Features, Fit, Observer, Partition, Result, SideInformation, check_answer,
    ensure, room,
};

/// Features and a few labels or pairs to a clustering that can label new objects.
///
/// The number of clusters and the seed are settings of the method.
///
/// ```
/// use consilience::constrained::{PckMeans, SeededKMeans};
/// use consilience::ndarray::array;
/// use consilience::prelude::*;
/// use consilience::{Features, SideInformation};
///
/// let x = array![[0.0], [0.2], [0.9], [5.0], [5.1], [6.0]];
/// let side = SideInformation::from_labels(&[0, -1, -1, 1, -1, -1])?;
/// // Methods of one trait go into one list.
/// let methods: [Box<dyn ConstrainedClusterer>; 2] =
///     [Box::new(SeededKMeans::new(2)), Box::new(PckMeans::new(2))];
/// for method in methods {
///     let found = method.cluster(Features::from(&x), &side)?;
///     assert_eq!(found.partition.to_signed(), [0, 0, 0, 1, 1, 1]);
///     assert_eq!(found.assign(&array![[4.5]])?, [1]);
/// }
/// # Ok::<(), consilience::Error>(())
/// ```
pub trait ConstrainedClusterer: Send + Sync {
    /// The name that the program uses, for instance `nnc`.
    fn name(&self) -> &'static str;

    /// Clusters the rows, with a report; progress goes to the observer, which may also cancel.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] and [`ErrorKind::NonFinite`] for bad features,
    /// [`ErrorKind::InvalidParameter`] for a number of clusters outside `1..=n`,
    /// [`ErrorKind::ShapeMismatch`] where the side information is about another number of objects,
    /// [`ErrorKind::Cancelled`].
    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>>;

    /// The clustering alone.
    ///
    /// # Errors
    /// As [`ConstrainedClusterer::fit`].
    #[doc(alias = "fit_predict")]
    fn cluster(&self, features: Features<'_>, side: &SideInformation) -> Result<Clustering> {
        Ok(self.fit(features, side, &())?.output)
    }
}

impl<T: ConstrainedClusterer + ?Sized> ConstrainedClusterer for Box<T> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        (**self).fit(features, side, observer)
    }
}

/// Features to other features: what may come before an [`Assign`].
///
/// [`Clustering::behind`] puts one in front of a [`Clustering`]; a learned metric is one.
pub trait FeatureMap: Send + Sync + fmt::Debug {
    /// Number of features that it takes.
    fn n_features(&self) -> usize;

    /// Number of features that it gives.
    fn n_outputs(&self) -> usize;

    /// The mapped rows.
    ///
    /// # Errors
    /// As [`Features::check`], and [`ErrorKind::ShapeMismatch`] for another number of features.
    fn apply(&self, features: Features<'_>) -> Result<Array2<f64>>;

    /// What a stored [`Clustering`] keeps of it; `None` where it cannot be stored.
    #[cfg(feature = "serde")]
    #[doc(hidden)]
    fn stored(&self) -> Option<Parts> {
        None
    }
}

/// How a clusterer assigns objects that it has not seen: what [`Clustering`] predicts with.
pub trait Assign: Send + Sync + fmt::Debug {
    /// Number of features at the fit.
    fn n_features(&self) -> usize;

    /// The cluster of every row, in the numbering of the labels given to [`Clustering::new`]. The
    /// features are checked: finite, and as many as [`Assign::n_features`].
    ///
    /// # Errors
    /// As the method says.
    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>>;

    /// What a stored [`Clustering`] keeps of it: the maps before it, and itself at the end; `None`
    /// where it cannot be stored.
    #[cfg(feature = "serde")]
    #[doc(hidden)]
    fn stored(&self) -> Option<Vec<Parts>> {
        None
    }
}

/// A clustering that can also label new objects.
///
/// With the feature `serde` the clusterings of our own methods can be stored and label new objects
/// after that; those with an [`Assign`] or a [`FeatureMap`] of yours refuse to be written.
///
/// ```
/// use consilience::{Clustering, Features, Result};
/// use consilience::core::Assign;
/// use consilience::ndarray::array;
///
/// /// Cluster 1 where the only feature is above a limit, else 0.
/// #[derive(Debug)]
/// struct Above(f64);
///
/// impl Assign for Above {
///     fn n_features(&self) -> usize {
///         1
///     }
///
///     fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
///         let Features::F64(x) = features else { return Ok(vec![0; features.n_objects()]) };
///         Ok(x.column(0).iter().map(|&v| usize::from(v > self.0)).collect())
///     }
/// }
///
/// let x = array![[9.0], [8.0], [0.0], [1.0]];
/// let found = Clustering::new(&[1, 1, 0, 0], 2, Above(4.5))?;
/// assert_eq!(found.partition.to_signed(), [0, 0, 1, 1]);
/// let new = array![[3.0], [7.0]];
/// // In the numbering of the clustering, and as a partition of the new objects alone.
/// assert_eq!(found.assign(new.view())?, [1, 0]);
/// assert_eq!(found.predict(new.view())?.to_signed(), [0, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Clustering {
    /// The clustering of the objects at the fit.
    pub partition: Partition,
    /// Number in the partition of each cluster of the assigner; those without an object come last.
    pub(crate) number: Vec<usize>,
    pub(crate) assigner: Arc<dyn Assign>,
}

impl Clustering {
    /// A clustering from labels `0..clusters` and what assigns new objects to the same clusters.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without labels, [`ErrorKind::OutOfRange`] for a label beyond
    /// `clusters`, [`ErrorKind::TooLarge`] for more clusters than there is memory for.
    pub fn new(labels: &[u32], clusters: usize, assigner: impl Assign + 'static) -> Result<Self> {
        if let Some((i, &l)) = labels.iter().enumerate().find(|&(_, &l)| l as usize >= clusters) {
            return Err(Error::out_of_range(format!(
                "cluster {l} of object {i}; there are {clusters}"
            )));
        }
        let partition = Partition::from_labels(labels)?;
        let mut number = room::filled(clusters, usize::MAX)?;
        for (i, &l) in labels.iter().enumerate() {
            if let Some(c) = partition.label(i) {
                number[l as usize] = c;
            }
        }
        let empty = number.iter_mut().filter(|n| **n == usize::MAX);
        for (next, n) in (partition.n_clusters()..).zip(empty) {
            *n = next;
        }
        Ok(Clustering { partition, number, assigner: Arc::new(assigner) })
    }

    /// The cluster of every new object, in the numbering of [`partition`](Clustering::partition).
    ///
    /// # Errors
    /// As [`Features::check`]; [`ErrorKind::ShapeMismatch`] for another number of features than at
    /// the fit, and where the [`Assign`] or a map before it returns another number of rows.
    #[doc(alias = "predict")]
    pub fn assign<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<usize>> {
        let features = features.into();
        features.check()?;
        ensure!(
            features.n_features() == self.assigner.n_features(),
            shape("{} features, {} at the fit", features.n_features(), self.assigner.n_features())
        );
        let mut labels = self.assigner.assign(features)?;
        check_answer("the assigner", "clusters of rows", labels.len(), features.n_objects())?;
        for label in &mut labels {
            *label = *self.number.get(*label).ok_or_else(|| {
                Error::new(
                    ErrorKind::OutOfRange,
                    format!("cluster {label} of {}", self.number.len()),
                )
            })?;
        }
        Ok(labels)
    }

    /// The new objects as a partition of their own. Its clusters are numbered by the new objects;
    /// [`assign`](Clustering::assign) keeps the numbers of the fit.
    ///
    /// # Errors
    /// As [`Clustering::assign`].
    pub fn predict<'a>(&self, features: impl Into<Features<'a>>) -> Result<Partition> {
        let labels = self.assign(features)?;
        Partition::from_fn(labels.len(), |i| Some(labels[i] as u64))
    }

    /// The same clustering for features before `map`: what was learned behind the map then takes
    /// features as they were before it.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] where the map does not give as many features as the clustering
    /// takes.
    pub fn behind(self, map: impl FeatureMap + 'static) -> Result<Self> {
        self.behind_shared(Arc::new(map))
    }

    pub(crate) fn behind_shared(self, map: Arc<dyn FeatureMap>) -> Result<Self> {
        let (to, of) = (map.n_outputs(), self.assigner.n_features());
        ensure!(to == of, shape("a map to {to} features before a clustering of {of}"));
        Ok(Clustering { assigner: Arc::new(Behind { map, then: self.assigner }), ..self })
    }
}

#[derive(Debug)]
struct Behind {
    map: Arc<dyn FeatureMap>,
    then: Arc<dyn Assign>,
}

impl Assign for Behind {
    fn n_features(&self) -> usize {
        self.map.n_features()
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        let mapped = self.map.apply(features)?;
        check_answer("the map", "rows", mapped.nrows(), features.n_objects())?;
        check_answer("the map", "columns", mapped.ncols(), self.then.n_features())?;
        let mapped = Features::from(mapped.view());
        mapped.check()?;
        self.then.assign(mapped)
    }

    #[cfg(feature = "serde")]
    fn stored(&self) -> Option<Vec<Parts>> {
        let map = self.map.stored()?;
        let mut steps = self.then.stored()?;
        steps.insert(0, map);
        Some(steps)
    }
}
