#[cfg(feature = "serde")]
use consilience_core::stored::Parts;
use consilience_core::{Error, FeatureMap, Features, Observer, Result, SparseRows, ensure, room};
use consilience_num::Float;
use consilience_num::eigen::symmetric_eigen;
use consilience_num::kmeans::sparse::ScaledRows;
use consilience_num::product::times;
use consilience_num::svd::Rows;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

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
/// use consilience::metric::LinearMap;
/// use consilience::ndarray::array;
///
/// let map = LinearMap::from_weights(&[4.0, 0.0])?;
/// let x = array![[1.0, 7.0], [2.0, 9.0]];
/// assert_eq!(map.apply(x.view())?, array![[2.0, 0.0], [4.0, 0.0]]);
/// assert_eq!(map.distance(x.row(0), x.row(1))?, 2.0);
/// # Ok::<(), consilience::Error>(())
/// ```
#[doc(alias = "Mahalanobis")]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::LinearMapFields", into = "crate::stored::LinearMapFields")
)]
pub struct LinearMap(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Diagonal(Array1<f64>),
    Matrix(Array2<f64>),
}

/// The error of a feature whose differences no finite factor brings to scale.
fn too_small(feature: usize) -> Error {
    Error::new(
        consilience_core::ErrorKind::NonFinite,
        format!(
            "feature {feature}: its differences are too small for a metric with finite entries; \
             expected features multiplied by a power of ten"
        ),
    )
}

impl LinearMap {
    /// The Euclidean metric on d features.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) for `d = 0`.
    pub fn identity(d: usize) -> Result<Self> {
        Self::from_weights(&vec![1.0; d])
    }

    /// The diagonal metric `sum_j z_j (x_j - y_j)^2` with weights `z >= 0`; L has their roots.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) without weights,
    /// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite), and
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a
    /// negative one.
    pub fn from_weights(weights: &[f64]) -> Result<Self> {
        ensure!(!weights.is_empty(), empty("a metric on no features"));
        for (j, &z) in weights.iter().enumerate() {
            if !z.is_finite() {
                return Err(Error::non_finite("weights of a metric", 0, j, z));
            }
            ensure!(z >= 0.0, invalid("weight {z} of feature {j}; expected at least 0"));
        }
        Ok(LinearMap(Kind::Diagonal(weights.iter().map(|z| z.sqrt()).collect())))
    }

    /// The diagonal of L: feature j is multiplied by `factors[j]`.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) without factors,
    /// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite).
    pub fn from_diagonal(factors: &[f64]) -> Result<Self> {
        ensure!(!factors.is_empty(), empty("a metric on no features"));
        if let Some((j, &l)) = factors.iter().enumerate().find(|(_, l)| !l.is_finite()) {
            return Err(Error::non_finite("diagonal of a linear map", 0, j, l));
        }
        Ok(LinearMap(Kind::Diagonal(factors.iter().copied().collect())))
    }

    /// The map itself, k x d.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) for an empty matrix,
    /// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) with row and column.
    pub fn from_matrix(matrix: Array2<f64>) -> Result<Self> {
        Features::from(matrix.view()).check().map_err(|e| named("matrix of a linear map", &e))?;
        Ok(LinearMap(Kind::Matrix(matrix)))
    }

    /// The map that a learner found. Where its entries leave the range of numbers the features are
    /// to blame, and the message speaks of them.
    pub(crate) fn learned(matrix: Array2<f64>) -> Result<Self> {
        let beyond = |column: ndarray::ArrayView1<'_, f64>| column.iter().any(|v| !v.is_finite());
        if let Some(j) = matrix.columns().into_iter().position(beyond) {
            return Err(too_small(j));
        }
        Self::from_matrix(matrix)
    }

    /// The same for the factors of a diagonal map.
    pub(crate) fn learned_diagonal(factors: &[f64]) -> Result<Self> {
        match factors.iter().position(|v| !v.is_finite()) {
            Some(j) => Err(too_small(j)),
            None => Self::from_diagonal(factors),
        }
    }

    /// A map for the symmetric positive semidefinite metric M (d x d), by its eigenpairs: row i of
    /// L is `sqrt(lambda_i) v_i'`, for the eigenvalues that are not 0, descending.
    ///
    /// The symmetric part of M is taken. Eigenvalues within 1e-9 of the largest below 0 are
    /// rounding and read as 0. L is as long as the rank; at least one row.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) where M is not
    /// square, [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty),
    /// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite), and
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) with the
    /// eigenvalue for an M that is not positive semidefinite.
    pub fn from_metric(metric: ArrayView2<'_, f64>) -> Result<Self> {
        let (rows, d) = metric.dim();
        ensure!(rows == d, shape("a metric of {rows} x {d} entries is not square"));
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
    /// As [`Features::check`], and
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another number
    /// of features.
    ///
    /// # Complexity
    /// O(n d) for a diagonal map, O(n d k) else, O(entries k) for sparse features. Sparse features
    /// under a diagonal map are refused: the result would not be a table that fits.
    #[doc(alias = "transform")]
    pub fn apply<'a>(&self, features: impl Into<Features<'a>>) -> Result<Array2<f64>> {
        self.apply_observed(features, &())
    }

    /// [`apply`](LinearMap::apply) with cancellation.
    ///
    /// # Errors
    /// As [`apply`](LinearMap::apply);
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    ///
    /// # Complexity
    /// As [`apply`](LinearMap::apply).
    pub fn apply_observed<'a>(
        &self,
        features: impl Into<Features<'a>>,
        observer: &dyn Observer,
    ) -> Result<Array2<f64>> {
        let features = features.into();
        features.check()?;
        ensure!(
            features.n_features() == self.n_features(),
            shape("{} features, the metric is one of {}", features.n_features(), self.n_features())
        );
        observer.check()?;
        Ok(match (&self.0, features) {
            (Kind::Matrix(l), Features::Sparse32(x)) => sparse_product(x, l)?,
            (Kind::Matrix(l), Features::Sparse64(x)) => sparse_product(x, l)?,
            (Kind::Matrix(l), _) => {
                let x = features.dense()?.to_f64()?;
                times(x.view(), l.t(), observer)?
            }
            (Kind::Diagonal(l), _) => features.dense()?.to_f64()? * l,
        })
    }

    /// Distance of two objects under the metric.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another number
    /// of features.
    pub fn distance(&self, x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>) -> Result<f64> {
        for v in [&x, &y] {
            ensure!(
                v.len() == self.n_features(),
                shape("{} features, the metric is one of {}", v.len(), self.n_features())
            );
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

/// `X L'` of sparse rows.
fn sparse_product<F: Float>(x: SparseRows<'_, F>, l: &Array2<f64>) -> Result<Array2<f64>> {
    let rows = ScaledRows::new(x)?;
    let mut out = room::table(x.n_rows(), l.nrows())?;
    let columns = l.t().as_standard_layout().into_owned();
    if let (Some(columns), Some(out)) = (columns.as_slice(), out.as_slice_mut()) {
        Rows::multiply(&rows, columns, out, l.nrows());
    }
    out /= rows.scale();
    Ok(out)
}

impl FeatureMap for LinearMap {
    fn n_features(&self) -> usize {
        self.n_features()
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs()
    }

    fn apply(&self, features: Features<'_>) -> Result<Array2<f64>> {
        self.apply(features)
    }

    #[cfg(feature = "serde")]
    fn stored(&self) -> Option<Parts> {
        let parts = Parts::new(crate::stored::LINEAR_MAP);
        Some(match &self.0 {
            Kind::Diagonal(l) => parts.row("diagonal", l.iter().copied()),
            Kind::Matrix(l) => parts.table("matrix", l),
        })
    }
}

#[cfg(feature = "approx")]
consilience_core::approximate!(
    LinearMap,
    |a, b| match (&a.0, &b.0) {
        (Kind::Diagonal(a), Kind::Diagonal(b)) => a.len() == b.len(),
        (Kind::Matrix(a), Kind::Matrix(b)) => a.dim() == b.dim(),
        _ => false,
    },
    |map| match &map.0 {
        Kind::Diagonal(l) => l.to_vec(),
        Kind::Matrix(l) => l.iter().copied().collect(),
    }
);

#[cfg(feature = "serde")]
impl LinearMap {
    pub(crate) fn into_diagonal(self) -> std::result::Result<Vec<f64>, Array2<f64>> {
        match self.0 {
            Kind::Diagonal(l) => Ok(l.to_vec()),
            Kind::Matrix(l) => Err(l),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use consilience_core::ErrorKind;
    use ndarray::{Axis, array};

    #[test]
    fn metric_and_map_agree() {
        let m = array![[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]];
        let map = LinearMap::from_metric(m.view()).unwrap();
        assert_eq!((map.n_outputs(), map.n_features()), (2, 3));
        assert_abs_diff_eq!(map.metric(), m, epsilon = 1e-14);
        let (x, y) = (array![1.0, -2.0, 5.0], array![0.5, 1.0, -4.0]);
        let diff = &x - &y;
        let expected = diff.dot(&m.dot(&diff)).sqrt();
        assert_abs_diff_eq!(map.distance(x.view(), y.view()).unwrap(), expected, epsilon = 1e-14);
        let both = ndarray::stack(Axis(0), &[x.view(), y.view()]).unwrap();
        let mapped = map.apply(both.view()).unwrap();
        let d = (&mapped.row(0) - &mapped.row(1)).mapv(|v| v * v).sum().sqrt();
        assert_abs_diff_eq!(d, expected, epsilon = 1e-14);
    }

    #[test]
    fn bad_metrics_are_refused() {
        let kind = |r: Result<LinearMap>| r.unwrap_err().kind();
        assert_eq!(kind(LinearMap::identity(0)), ErrorKind::Empty);
        assert_eq!(kind(LinearMap::from_weights(&[1.0, f64::NAN])), ErrorKind::NonFinite);
        assert_eq!(kind(LinearMap::from_weights(&[-1.0])), ErrorKind::InvalidParameter);
        assert_eq!(kind(LinearMap::from_matrix(Array2::zeros((0, 3)))), ErrorKind::Empty);
        let wide = array![[1.0, 2.0]];
        assert_eq!(kind(LinearMap::from_metric(wide.view())), ErrorKind::ShapeMismatch);
        let indefinite = array![[1.0, 2.0], [2.0, 1.0]];
        assert_eq!(kind(LinearMap::from_metric(indefinite.view())), ErrorKind::InvalidParameter);
        let infinite = array![[1.0, 0.0], [0.0, f64::INFINITY]];
        let error = LinearMap::from_metric(infinite.view()).unwrap_err();
        assert!(error.message().starts_with("metric: inf at row 1, column 1"), "{error}");
        let map = LinearMap::identity(2).unwrap();
        assert_eq!(map.apply(array![[1.0]].view()).unwrap_err().kind(), ErrorKind::ShapeMismatch);
        let one = array![1.0];
        let error = map.distance(one.view(), one.view()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ShapeMismatch);
        let zeros = Array2::<f64>::zeros((2, 2));
        assert_eq!(LinearMap::from_metric(zeros.view()).unwrap().metric(), zeros);
    }
}
