use std::fmt;
use std::sync::Arc;

use consilience_core::{Error, ErrorKind, Features, Fit, Observer, Partition, Result, Seed};
use consilience_num::eigen::symmetric_eigen;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

use crate::SideInformation;
use crate::input::{check_width, with_rows};

/// Eigenvalues of a metric below this share of the largest are rounding, above its negative an
/// error.
const ROUNDING: f64 = 1e-9;

/// A learned metric, as the linear map `x -> L x` after which it is the Euclidean one.
///
/// Apply it to the features, and every clusterer and generator works under the metric. L is k x d,
/// or diagonal; k may be smaller than d.
///
/// ```text
/// d(x, y)^2 = |L x - L y|^2 = (x - y)' M (x - y),    M = L' L
/// ```
///
/// ```
/// use consilience_metric::LinearMap;
/// use ndarray::array;
///
/// let map = LinearMap::from_weights(&[4.0, 0.0])?;
/// let x = array![[1.0, 7.0], [2.0, 9.0]];
/// assert_eq!(map.apply(x.view().into())?, array![[2.0, 0.0], [4.0, 0.0]]);
/// assert_eq!(map.distance(x.row(0), x.row(1))?, 2.0);
/// # Ok::<(), consilience_core::Error>(())
/// ```
#[doc(alias = "Mahalanobis")]
#[derive(Clone, Debug, PartialEq)]
pub struct LinearMap(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Diagonal(Array1<f64>),
    Matrix(Array2<f64>),
}

impl LinearMap {
    /// The Euclidean metric on d features.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] for `d = 0`.
    pub fn identity(d: usize) -> Result<Self> {
        Self::from_weights(&vec![1.0; d])
    }

    /// The diagonal metric `sum_j z_j (x_j - y_j)^2` with weights `z >= 0`; L has their roots.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without weights, [`ErrorKind::NonFinite`], and
    /// [`ErrorKind::InvalidParameter`] for a negative one.
    pub fn from_weights(weights: &[f64]) -> Result<Self> {
        if weights.is_empty() {
            return Err(Error::empty("a metric on no features"));
        }
        for (j, &z) in weights.iter().enumerate() {
            if !z.is_finite() {
                return Err(Error::non_finite("weights of a metric", 0, j, z));
            }
            if z < 0.0 {
                return Err(Error::invalid(format!(
                    "weight {z} of feature {j}; expected at least 0"
                )));
            }
        }
        Ok(LinearMap(Kind::Diagonal(weights.iter().map(|z| z.sqrt()).collect())))
    }

    /// The diagonal of L: feature j is multiplied by `factors[j]`.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without factors, [`ErrorKind::NonFinite`].
    pub fn from_diagonal(factors: &[f64]) -> Result<Self> {
        if factors.is_empty() {
            return Err(Error::empty("a metric on no features"));
        }
        if let Some((j, &l)) = factors.iter().enumerate().find(|(_, l)| !l.is_finite()) {
            return Err(Error::non_finite("diagonal of a linear map", 0, j, l));
        }
        Ok(LinearMap(Kind::Diagonal(factors.iter().copied().collect())))
    }

    /// The map itself, k x d.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] for an empty matrix, [`ErrorKind::NonFinite`] with row and column.
    pub fn from_matrix(matrix: Array2<f64>) -> Result<Self> {
        Features::from(matrix.view()).check().map_err(|e| named("matrix of a linear map", &e))?;
        Ok(LinearMap(Kind::Matrix(matrix)))
    }

    /// A map for the symmetric positive semidefinite metric M (d x d), by its eigenpairs: row i of
    /// L is `sqrt(lambda_i) v_i'`, for the eigenvalues that are not 0, descending.
    ///
    /// The symmetric part of M is taken. Eigenvalues within 1e-9 of the largest below 0 are
    /// rounding and read as 0. L is as long as the rank; at least one row.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] where M is not square, [`ErrorKind::Empty`],
    /// [`ErrorKind::NonFinite`], and [`ErrorKind::InvalidParameter`] with the eigenvalue for an M
    /// that is not positive semidefinite.
    pub fn from_metric(metric: ArrayView2<'_, f64>) -> Result<Self> {
        let (rows, d) = metric.dim();
        if rows != d {
            return Err(Error::shape(format!("a metric of {rows} x {d} entries is not square")));
        }
        Features::from(metric).check().map_err(|e| named("metric", &e))?;
        let symmetric =
            Array2::from_shape_fn((d, d), |(i, j)| 0.5 * metric[[i, j]] + 0.5 * metric[[j, i]]);
        let Some(eigen) = symmetric_eigen(symmetric.view()) else {
            return Err(Error::invalid("the eigenvalues of the metric could not be found"));
        };
        let largest = eigen.values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if let Some(&bad) = eigen.values.last().filter(|&&v| v < -ROUNDING * largest) {
            return Err(Error::invalid(format!(
                "a metric with the eigenvalue {bad}; expected at least 0"
            )));
        }
        let rank = eigen.values.iter().filter(|&&v| v > 1e-15 * largest).count().max(1);
        let matrix = Array2::from_shape_fn((rank, d), |(i, j)| {
            eigen.values[i].max(0.0).sqrt() * eigen.vectors[[j, i]]
        });
        Ok(LinearMap(Kind::Matrix(matrix)))
    }

    /// Number of features d that it takes.
    pub fn n_features(&self) -> usize {
        match &self.0 {
            Kind::Diagonal(l) => l.len(),
            Kind::Matrix(l) => l.ncols(),
        }
    }

    /// Number of features k that it gives.
    pub fn n_outputs(&self) -> usize {
        match &self.0 {
            Kind::Diagonal(l) => l.len(),
            Kind::Matrix(l) => l.nrows(),
        }
    }

    /// L, k x d.
    pub fn matrix(&self) -> Array2<f64> {
        match &self.0 {
            Kind::Diagonal(l) => Array2::from_diag(l),
            Kind::Matrix(l) => l.clone(),
        }
    }

    /// M = L' L, d x d.
    pub fn metric(&self) -> Array2<f64> {
        match &self.0 {
            Kind::Diagonal(l) => Array2::from_diag(&l.mapv(|v| v * v)),
            Kind::Matrix(l) => l.t().dot(l),
        }
    }

    /// The diagonal of L, where it is diagonal: roots of the weights.
    pub fn diagonal(&self) -> Option<ArrayView1<'_, f64>> {
        match &self.0 {
            Kind::Diagonal(l) => Some(l.view()),
            Kind::Matrix(_) => None,
        }
    }

    /// `L x` for every row, n x k.
    ///
    /// # Errors
    /// As [`Features::check`], and [`ErrorKind::ShapeMismatch`] for another number of features.
    ///
    /// # Complexity
    /// O(n d) for a diagonal map, O(n d k) else.
    pub fn apply(&self, features: Features<'_>) -> Result<Array2<f64>> {
        features.check()?;
        if features.n_features() != self.n_features() {
            return Err(Error::shape(format!(
                "{} features, the metric is one of {}",
                features.n_features(),
                self.n_features()
            )));
        }
        let x = with_rows!(features, |x| x.mapv(f64::from));
        Ok(match &self.0 {
            Kind::Diagonal(l) => x * l,
            Kind::Matrix(l) => x.dot(&l.t()),
        })
    }

    /// Distance of two objects under the metric.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] for another number of features.
    pub fn distance(&self, x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>) -> Result<f64> {
        for v in [&x, &y] {
            if v.len() != self.n_features() {
                return Err(Error::shape(format!(
                    "{} features, the metric is one of {}",
                    v.len(),
                    self.n_features()
                )));
            }
        }
        let diff = &x - &y;
        let mapped = match &self.0 {
            Kind::Diagonal(l) => diff * l,
            Kind::Matrix(l) => l.dot(&diff),
        };
        Ok(mapped.dot(&mapped).sqrt())
    }
}

fn named(what: &str, error: &Error) -> Error {
    Error::new(error.kind(), error.message().replacen("features", what, 1))
}

/// A few labels or pairs to a metric.
pub trait MetricLearner: Send + Sync {
    /// The name that the program uses, for instance `rsd-diagonal`.
    fn name(&self) -> &'static str;

    /// Learns a metric that brings must-linked objects together and drives cannot-linked ones
    /// apart.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] and [`ErrorKind::NonFinite`] for bad features,
    /// [`ErrorKind::ShapeMismatch`] where the side information speaks of another number of objects,
    /// [`ErrorKind::InvalidParameter`] as the method says, [`ErrorKind::Cancelled`].
    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<LinearMap>>;
}

/// Features and a few labels or pairs to a clustering.
pub trait ConstrainedClusterer: Send + Sync {
    /// The name that the program uses, for instance `nnc`.
    fn name(&self) -> &'static str;

    /// Clusters the rows into at most `clusters` clusters.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] and [`ErrorKind::NonFinite`] for bad features,
    /// [`ErrorKind::InvalidParameter`] for `clusters` outside `1..=n`, [`ErrorKind::ShapeMismatch`]
    /// where the side information speaks of another number of objects, [`ErrorKind::Cancelled`].
    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        side: &SideInformation,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>>;
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
}

/// A clustering that can also label new objects.
///
/// ```
/// use consilience_core::Seed;
/// use consilience_metric::{ConstrainedClusterer, Nnc, SideInformation};
/// use ndarray::array;
///
/// let x = array![[0.0], [1.0], [8.0], [9.0]];
/// let side = SideInformation::from_labels(&[0, -1, -1, 1])?;
/// let found = Nnc::new().fit(x.view().into(), 2, &side, Seed(0), &())?.output;
/// assert_eq!(found.partition.to_signed(), [0, 0, 1, 1]);
/// let new = array![[7.0], [3.0]];
/// // In the numbering of the clustering, and as a partition of the new objects alone.
/// assert_eq!(found.assign(new.view().into())?, [1, 0]);
/// assert_eq!(found.predict(new.view().into())?.to_signed(), [0, 1]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Clustering {
    /// The clustering of the objects at the fit.
    pub partition: Partition,
    /// Number in the partition of each cluster of the assigner; those without an object come last.
    number: Vec<usize>,
    assigner: Arc<dyn Assign>,
}

impl Clustering {
    /// A clustering from labels `0..clusters` and what assigns new objects to the same clusters.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without labels, [`ErrorKind::OutOfRange`] for a label beyond
    /// `clusters`.
    pub fn new(labels: &[u32], clusters: usize, assigner: impl Assign + 'static) -> Result<Self> {
        if let Some((i, &l)) = labels.iter().enumerate().find(|&(_, &l)| l as usize >= clusters) {
            return Err(Error::out_of_range(format!(
                "cluster {l} of object {i}; there are {clusters}"
            )));
        }
        let partition = Partition::from_labels(labels)?;
        let mut number = vec![usize::MAX; clusters];
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
    /// As [`Features::check`], and [`ErrorKind::ShapeMismatch`] for another number of features than
    /// at the fit.
    pub fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        features.check()?;
        check_width(&features, self.assigner.n_features())?;
        let mut labels = self.assigner.assign(features)?;
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
    pub fn predict(&self, features: Features<'_>) -> Result<Partition> {
        let labels = self.assign(features)?;
        Partition::from_fn(labels.len(), |i| Some(labels[i] as u64))
    }

    /// The same clustering for features before `map`: what was learned behind the metric then takes
    /// features as they were before it.
    ///
    /// ```
    /// use consilience_core::{Features, Seed};
    /// use consilience_metric::{ConstrainedClusterer, LinearMap, Nnc, SideInformation};
    /// use ndarray::array;
    ///
    /// let x = array![[0.0, 5.0], [1.0, -5.0], [8.0, 5.0], [9.0, -5.0]];
    /// let side = SideInformation::from_labels(&[0, -1, -1, 1])?;
    /// let map = LinearMap::from_weights(&[1.0, 0.0])?;
    /// let mapped = map.apply(x.view().into())?;
    /// let found = Nnc::new().fit(mapped.view().into(), 2, &side, Seed(0), &())?.output.behind(map)?;
    /// assert_eq!(found.assign(array![[7.0, -99.0]].view().into())?, [1]);
    /// # Ok::<(), consilience_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] where the map does not give as many features as the clustering
    /// takes.
    pub fn behind(self, map: LinearMap) -> Result<Self> {
        if map.n_outputs() != self.assigner.n_features() {
            return Err(Error::shape(format!(
                "a map to {} features before a clustering of {}",
                map.n_outputs(),
                self.assigner.n_features()
            )));
        }
        Ok(Clustering { assigner: Arc::new(Behind { map, then: self.assigner }), ..self })
    }
}

#[derive(Debug)]
struct Behind {
    map: LinearMap,
    then: Arc<dyn Assign>,
}

impl Assign for Behind {
    fn n_features(&self) -> usize {
        self.map.n_features()
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        let mapped = self.map.apply(features)?;
        let mapped = Features::from(mapped.view());
        mapped.check()?;
        self.then.assign(mapped)
    }
}

/// Learns a metric and clusters under it: the two as one method, whose prediction takes plain
/// features.
///
/// The reports are joined: status and objective of the clusterer, notes of both.
///
/// # Errors
/// As [`MetricLearner::fit`] and [`ConstrainedClusterer::fit`].
pub fn cluster_under(
    metric: &dyn MetricLearner,
    clusterer: &dyn ConstrainedClusterer,
    features: Features<'_>,
    clusters: usize,
    side: &SideInformation,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Fit<Clustering>> {
    let learned = metric.fit(features, side, observer)?;
    let mapped = learned.output.apply(features)?;
    let mut found = clusterer.fit(mapped.view().into(), clusters, side, seed, observer)?;
    let mut notes = learned.report.notes;
    notes.append(&mut found.report.notes);
    found.report.notes = notes;
    Ok(Fit::new(found.output.behind(learned.output)?, found.report))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Axis, array};

    #[test]
    fn metric_and_map_agree() {
        let m = array![[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]];
        let map = LinearMap::from_metric(m.view()).unwrap();
        assert_eq!((map.n_outputs(), map.n_features()), (2, 3));
        assert!((&map.metric() - &m).iter().all(|e| e.abs() < 1e-14));
        let (x, y) = (array![1.0, -2.0, 5.0], array![0.5, 1.0, -4.0]);
        let diff = &x - &y;
        let expected = diff.dot(&m.dot(&diff)).sqrt();
        assert!((map.distance(x.view(), y.view()).unwrap() - expected).abs() < 1e-14);
        let both = ndarray::stack(Axis(0), &[x.view(), y.view()]).unwrap();
        let mapped = map.apply(both.view().into()).unwrap();
        let d = (&mapped.row(0) - &mapped.row(1)).mapv(|v| v * v).sum().sqrt();
        assert!((d - expected).abs() < 1e-14);
    }

    #[test]
    fn bad_metrics_are_refused() {
        let kind = |r: Result<LinearMap>| r.unwrap_err().kind();
        assert_eq!(kind(LinearMap::identity(0)), ErrorKind::Empty);
        assert_eq!(kind(LinearMap::from_weights(&[1.0, f64::NAN])), ErrorKind::NonFinite);
        assert_eq!(kind(LinearMap::from_weights(&[-1.0])), ErrorKind::InvalidParameter);
        assert_eq!(kind(LinearMap::from_matrix(Array2::zeros((0, 3)))), ErrorKind::Empty);
        assert_eq!(
            kind(LinearMap::from_metric(array![[1.0, 2.0]].view())),
            ErrorKind::ShapeMismatch
        );
        let indefinite = array![[1.0, 2.0], [2.0, 1.0]];
        assert_eq!(kind(LinearMap::from_metric(indefinite.view())), ErrorKind::InvalidParameter);
        let infinite = array![[1.0, 0.0], [0.0, f64::INFINITY]];
        let error = LinearMap::from_metric(infinite.view()).unwrap_err();
        assert!(error.message().starts_with("metric: inf at row 1, column 1"), "{error}");
        let map = LinearMap::identity(2).unwrap();
        assert_eq!(
            map.apply(array![[1.0]].view().into()).unwrap_err().kind(),
            ErrorKind::ShapeMismatch
        );
        assert_eq!(
            map.distance(array![1.0].view(), array![1.0].view()).unwrap_err().kind(),
            ErrorKind::ShapeMismatch
        );
        assert_eq!(
            LinearMap::from_metric(Array2::zeros((2, 2)).view()).unwrap().metric(),
            Array2::<f64>::zeros((2, 2))
        );
    }
}
