use consilience_core::{Error, MemoryBudget, Observer, Result, Stop, ensure, room};
use consilience_num::eigen::{
    EIGEN_SQUARES, SymmetricOperator, TruncatedOptions, try_symmetric_eigen, try_truncated_eigen,
};
use consilience_num::reduce::ordered_sum;
use consilience_num::transfer::DENSE;
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use crate::ClusterIncidence;
use crate::incidence::LowestTerms;

/// Up to this order all eigenpairs are computed where the wanted ones do not converge.
const LARGEST_DENSE: usize = 3_000;
/// Up to this many entries of the matrix of overlaps for each one of the incidence it is stored.
const STORED: usize = 2;
/// Vectors that an iteration for eigenpairs takes beside those wanted, and what is in its basis at
/// least, as in [`try_truncated_eigen`].
const GUARDS: usize = 4;
const VECTORS: &str = "eigenvectors of clusters";
const BASIS: usize = 128;
/// Clusters whose overlaps one task squares.
const CLUSTERS: usize = 32;
/// Weights beyond these overflow or vanish when multiplied.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// The leading singular triplets of the degree-normalised incidence of microclusters and clusters.
///
/// With `B = B0 diag(w)`, sizes `S` of the microclusters, `D_r` the row sums of B and `D_c` its
/// column sums weighted by size, this is the singular value decomposition of
///
/// ```text
/// X = S^1/2 D_r^-1/2 B D_c^-1/2,
/// ```
///
/// found as eigenpairs of `X'X`. It is the same for microclusters with their sizes and for
/// the objects one by one. A transfer cut, HBGF, LWGP and diffusion embeddings all start here.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition};
/// use consilience::graph::{ClusterIncidence, IncidenceSpectrum};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2])?,
/// ])?;
/// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?)?;
/// let spectrum = IncidenceSpectrum::of(&incidence, &[1.0; 5], 5, &())?;
/// // Two components: the value 1 twice.
/// assert!(spectrum.values[..2].iter().all(|v| (v - 1.0).abs() < 1e-12));
/// assert!(spectrum.values[2] < 0.9);
/// assert_eq!(spectrum.rows(&incidence, 2)?.dim(), (3, 2));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// Up to 400 clusters O(n~ M^2) for `X'X` and O(C^3) for all its eigenpairs; beyond, O(n~ M q) per
/// iteration for q pairs, or O(nnz q) where `X'X` is so sparse that it pays to store it. Memory for
/// 11 q + 44 numbers per cluster, 153 at least, and q + 4 per microcluster.
///
/// # References
/// Li, Wu, Chang 2012, "Segmentation Using Superpixels", Section 3.2. Sizes as weights are ours:
/// they make collapsing equal objects exact.
#[derive(Clone, Debug)]
pub struct IncidenceSpectrum {
    /// Squared singular values, descending, from 1 down to 0.
    pub values: Vec<f64>,
    /// Right singular vectors (clusters) as columns.
    pub vectors: Array2<f64>,
    /// Whether all of them are as exact as was asked for.
    pub converged: bool,
    /// diag(w) D_c^-1/2 V.
    projection: Array2<f64>,
    /// D_r^-1/2.
    row_scale: Vec<f64>,
    /// What divides all sizes, by which they were divided.
    unit: f64,
}

impl IncidenceSpectrum {
    /// The first `count` triplets, or as many as there are clusters; `weights` has one positive
    /// number per cluster.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) for no microclusters,
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for weights of
    /// another number,
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a weight
    /// outside 1e-100..=1e100, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where
    /// nearly all pairs of very many clusters are wanted or the vectors of so many do not fit,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn of(
        incidence: &ClusterIncidence,
        weights: &[f64],
        count: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        Self::within(incidence, weights, count, MemoryBudget::default(), observer)
    }

    /// As [`IncidenceSpectrum::of`], for a given memory budget: up to 400 clusters, and where about
    /// a sixth of all pairs is wanted, matrices of all pairs of clusters are made, else a basis of
    /// vectors.
    ///
    /// ```
    /// use consilience::graph::{ClusterIncidence, IncidenceSpectrum};
    /// use consilience::{Ensemble, ErrorKind, MemoryBudget, Microclusters, Partition};
    ///
    /// let ensemble = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1, 2])?])?;
    /// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?)?;
    /// let (weights, small) = ([1.0; 3], MemoryBudget::bytes(100));
    /// let refused = IncidenceSpectrum::within(&incidence, &weights, 2, small, &());
    /// assert_eq!(refused.unwrap_err().kind(), ErrorKind::TooLarge);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IncidenceSpectrum::of`].
    pub fn within(
        incidence: &ClusterIncidence,
        weights: &[f64],
        count: usize,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let c = incidence.n_clusters();
        let Normalized { shares, scale: a, degree, unit } =
            Normalized::of(incidence, weights, observer)?;
        let Eigenpairs { values, vectors, converged } =
            leading(incidence, &shares, &a, count.min(c), budget, observer)?;
        observer.check()?;
        let mut projection = vectors.clone();
        for (mut row, &a) in projection.rows_mut().into_iter().zip(&a) {
            row *= a;
        }
        let row_scale = degree.iter().map(|d| d.sqrt().recip()).collect();
        Ok(IncidenceSpectrum { values, vectors, converged, projection, row_scale, unit })
    }

    /// The sum of the squares of all values, `|X'X|_F^2`, without finding them: where members
    /// agree, the number of their clusters.
    ///
    /// ```
    /// use consilience::{Ensemble, Microclusters, Partition};
    /// use consilience::graph::{ClusterIncidence, IncidenceSpectrum};
    ///
    /// let ensemble = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1, 2, 2])?; 4])?;
    /// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?)?;
    /// let squares = IncidenceSpectrum::sum_of_squares(&incidence, &[1.0; 12], &())?;
    /// assert!((squares - 3.0).abs() < 1e-12);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(n~ M^2 + C^2) in parallel, memory for C numbers on each thread.
    ///
    /// # Errors
    /// As [`IncidenceSpectrum::of`], but for the vectors.
    pub fn sum_of_squares(
        incidence: &ClusterIncidence,
        weights: &[f64],
        observer: &dyn Observer,
    ) -> Result<f64> {
        let Normalized { shares, scale, .. } = Normalized::of(incidence, weights, observer)?;
        let (c, stop) = (incidence.n_clusters(), Stop::new(observer));
        let sum = ordered_sum(c, CLUSTERS, |clusters| {
            let mut overlaps = vec![0.0; c];
            let mut total = 0.0;
            for cluster in clusters.take_while(|_| !stop.asked()) {
                incidence.add_overlaps(cluster, &shares, &mut overlaps);
                for (overlap, a) in overlaps.iter_mut().zip(&scale) {
                    total += (std::mem::take(overlap) * scale[cluster] * a).powi(2);
                }
            }
            total
        });
        stop.check()?;
        Ok(sum)
    }

    /// `S^-1/2 X V`, one row per microcluster and the first `count` columns: left singular vectors
    /// times singular values, free of the sizes.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another
    /// incidence than the spectrum's.
    ///
    /// # Complexity
    /// O(entries count).
    pub fn rows(&self, incidence: &ClusterIncidence, count: usize) -> Result<Array2<f64>> {
        let mut rows = self.rows_in_lowest_terms(incidence, count)?;
        if self.unit != 1.0 {
            rows /= self.unit.sqrt();
        }
        Ok(rows)
    }

    /// [`rows`](IncidenceSpectrum::rows) with sizes divided by what divides all of them: for those
    /// who take directions alone, without another rounding for another unit.
    #[doc(hidden)]
    pub fn rows_in_lowest_terms(
        &self,
        incidence: &ClusterIncidence,
        count: usize,
    ) -> Result<Array2<f64>> {
        let (rows, own) = (incidence.n_rows(), self.row_scale.len());
        ensure!(
            rows == own,
            shape("an incidence of {rows} microclusters, the spectrum is of {own}")
        );
        let count = count.min(self.values.len());
        let mut rows = incidence.times(self.projection.slice(s![.., ..count]))?;
        for (mut row, &scale) in rows.rows_mut().into_iter().zip(&self.row_scale) {
            row *= scale;
        }
        Ok(rows)
    }
}

/// X'X is `diag(scale) B0' diag(shares) B0 diag(scale)`.
struct Normalized {
    /// `S D_r^-1`, of the microclusters.
    shares: Vec<f64>,
    /// `w D_c^-1/2`, of the clusters.
    scale: Vec<f64>,
    /// `D_r`.
    degree: Vec<f64>,
    /// What divides all sizes, by which they were divided.
    unit: f64,
}

impl Normalized {
    fn of(incidence: &ClusterIncidence, weights: &[f64], observer: &dyn Observer) -> Result<Self> {
        let c = incidence.n_clusters();
        ensure!(weights.len() == c, shape("{} weights for {c} clusters", weights.len()));
        if let Some((j, w)) = weights.iter().enumerate().find(|(_, w)| !WEIGHTS.contains(w)) {
            return Err(Error::invalid(format!(
                "weight {w} of cluster {j}; expected 1e-100 to 1e100"
            )));
        }
        ensure!(incidence.n_rows() > 0, empty("an incidence without microclusters"));
        // Every microcluster is labelled by some member, so no degree is 0.
        let degree: Vec<f64> = (0..incidence.n_rows())
            .into_par_iter()
            .map(|i| incidence.shares_of(i).map(|(j, p)| weights[j] * p).sum())
            .collect();
        observer.check()?;
        // X does not depend on the unit of the sizes, and rounding should not either.
        let LowestTerms { sizes, objects, unit } = incidence.in_lowest_terms()?;
        let shares: Vec<f64> = sizes.iter().zip(&degree).map(|(s, d)| s / d).collect();
        // D_c = w |c|.
        observer.check()?;
        let scale = weights.iter().zip(&*objects).map(|(w, n)| (w / n).sqrt()).collect();
        Ok(Normalized { shares, scale, degree, unit })
    }
}

/// `diag(scale) B0' diag(shares) B0 diag(scale)`, multiplied factor by factor.
struct Factored<'a> {
    incidence: &'a ClusterIncidence,
    shares: &'a [f64],
    scale: &'a [f64],
}

impl SymmetricOperator for Factored<'_> {
    fn dim(&self) -> usize {
        self.incidence.n_clusters()
    }

    fn apply(&self, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        let scale = ArrayView1::from(self.scale).insert_axis(Axis(1));
        let rows = self.incidence.times((&x * &scale).view()).map(|mut rows| {
            rows *= &ArrayView1::from(self.shares).insert_axis(Axis(1));
            rows
        });
        // Both have the shapes that are wanted.
        if let Ok(product) = rows.and_then(|rows| self.incidence.transposed_times(rows.view())) {
            y.assign(&(product * scale));
        }
    }
}

/// The largest eigenpairs of a symmetric matrix, from [`leading_eigenpairs`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Eigenpairs {
    /// The eigenvalues, descending.
    pub values: Vec<f64>,
    /// The eigenvectors as columns.
    pub vectors: Array2<f64>,
    /// Whether all of them are as exact as wanted.
    pub converged: bool,
}

/// The largest eigenpairs of a stored symmetric matrix: all of them are computed up to 400 rows or
/// where a fifth of them is wanted, else only those wanted.
///
/// ```
/// use consilience::graph::leading_eigenpairs;
/// use consilience::ndarray::array;
///
/// let found = leading_eigenpairs(&array![[2.0, 0.0], [0.0, 3.0]], 1, &())?;
/// assert_eq!((found.values[0], found.vectors[[1, 0]].abs()), (3.0, 1.0));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n^3) where all are computed, else about 20 products of O(n^2 count).
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a matrix
/// whose products overflow, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
pub fn leading_eigenpairs(
    a: &Array2<f64>,
    count: usize,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    leading_eigenpairs_within(a, count, MemoryBudget::bytes(u64::MAX), observer)
}

/// As [`leading_eigenpairs`], which holds [`eigen_columns`] within this budget.
#[doc(hidden)]
pub fn leading_eigenpairs_within(
    a: &Array2<f64>,
    count: usize,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    let n = a.nrows();
    let count = count.min(n);
    if n > DENSE && 5 * count < n {
        let top = try_truncated_eigen(a, &TruncatedOptions::new(count), observer)?;
        if usable(top.converged, n, &top.values) {
            let (values, vectors, converged) = (top.values, top.vectors, top.converged);
            return Ok(Eigenpairs { values, vectors, converged });
        }
    }
    budget.check_table(VECTORS, n, EIGEN_SQUARES.saturating_mul(n), 8)?;
    let all = try_symmetric_eigen(a.view())?
        .ok_or_else(|| Error::invalid("the weights of the graph overflow when multiplied"))?;
    let vectors = room::copied_table(all.vectors.slice(s![.., ..count]))?;
    Ok(Eigenpairs { values: all.values[..count].to_vec(), vectors, converged: true })
}

/// Columns of n numbers that are held while [`leading_eigenpairs`] finds so many of a matrix of n
/// rows, those of the matrix among them; of all pairs, where those wanted do not converge,
/// [`EIGEN_SQUARES`] times the matrix.
#[doc(hidden)]
pub fn eigen_columns(n: usize, count: usize) -> usize {
    let all = EIGEN_SQUARES.saturating_mul(n);
    // Else there is no room for a basis beside what is wanted: all pairs are found.
    let iterated = n > DENSE && 5 * count < n && n >= count + 5 * (count + GUARDS);
    if iterated { all.min(n + basis_columns(count)) } else { all }
}

/// The basis, two blocks, what comes of them, and the products with either side.
fn basis_columns(count: usize) -> usize {
    let block = count + GUARDS;
    (6 * block).max(BASIS) + 5 * block
}

/// Whether pairs found by iteration are taken: all pairs of a very large matrix cost too much.
fn usable(converged: bool, n: usize, values: &[f64]) -> bool {
    converged || (n > LARGEST_DENSE && values.iter().all(|v| v.is_finite()))
}

/// The largest eigenpairs of `diag(scale) B0' diag(shares) B0 diag(scale)`, and whether they are as
/// exact as wanted.
pub(crate) fn leading(
    incidence: &ClusterIncidence,
    shares: &[f64],
    scale: &[f64],
    count: usize,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    let c = incidence.n_clusters();
    let assembled =
        || Result::Ok(incidence.overlaps(shares, observer)?.map(|i, j, v| v * scale[i] * scale[j]));
    let mut stored = None;
    if c > DENSE && 5 * count < c {
        let options = TruncatedOptions::new(count);
        let full = full_overlaps(incidence);
        check_basis(budget, c, if full { incidence.n_rows() } else { 0 }, count)?;
        let top = if full {
            try_truncated_eigen(&Factored { incidence, shares, scale }, &options, observer)?
        } else {
            try_truncated_eigen(&*stored.insert(assembled()?), &options, observer)?
        };
        if usable(top.converged, c, &top.values) {
            let (values, vectors, converged) = (top.values, top.vectors, top.converged);
            return Ok(Eigenpairs { values, vectors, converged });
        }
        observer.check()?;
    }
    budget.check_table(VECTORS, c, EIGEN_SQUARES.saturating_mul(c), 8)?;
    let stored = match stored {
        Some(stored) => stored,
        None => assembled()?,
    };
    let dense = stored.to_dense()?;
    drop(stored);
    leading_eigenpairs_within(&dense, count, budget, observer)
}

/// Refuses vectors that do not fit the budget: what the iteration for `count` eigenpairs of `c`
/// clusters takes, where a product goes over so many rows of the incidence.
fn check_basis(budget: MemoryBudget, c: usize, rows: usize, count: usize) -> Result<()> {
    let columns = eigen_columns(c, count);
    // The iteration needs no matrix.
    let own = if columns < EIGEN_SQUARES.saturating_mul(c) { columns - c } else { columns };
    let tables = [(c, own), (rows, count + GUARDS)];
    budget.check_tables("vectors of clusters, for eigenpairs", &tables, 8)
}

/// Whether so many pairs of clusters may overlap that multiplying by the incidence twice costs less
/// than by their matrix, whose assembly comes on top.
fn full_overlaps(incidence: &ClusterIncidence) -> bool {
    let steps: usize = (0..incidence.n_rows()).map(|i| incidence.clusters_of(i).len().pow(2)).sum();
    steps.min(incidence.n_clusters().pow(2)) > STORED * incidence.n_entries()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Microclusters;
    use consilience_core::{Ensemble, Partition, Seed};

    /// Many clusters of few objects: few of two members overlap, many of four.
    #[test]
    fn vectors_of_very_many_clusters_are_asked_for() {
        let mut s = Seed(12).stream();
        for members in [2, 4] {
            let mut member = || {
                let labels: Vec<usize> = (0..500).map(|_| s.below(300)).collect();
                Partition::from_labels(&labels).unwrap()
            };
            let ensemble = Ensemble::new((0..members).map(|_| member()).collect()).unwrap();
            let nodes = Microclusters::of(&ensemble).unwrap();
            let incidence = ClusterIncidence::of(&nodes).unwrap();
            let (c, n) = (incidence.n_clusters(), incidence.n_rows());
            assert!(c > DENSE && full_overlaps(&incidence) == (members > 2));
            let rows = if members > 2 { n } else { 0 };
            let needed = 8 * (c * (128 + 5 * 9) + rows * 9) as u64;
            let weights = vec![1.0; c];
            let within = |bytes| {
                let budget = MemoryBudget::bytes(bytes);
                IncidenceSpectrum::within(&incidence, &weights, 5, budget, &())
            };
            let error = within(needed - 1).unwrap_err();
            assert_eq!(error.kind(), consilience_core::ErrorKind::TooLarge);
            assert!(error.message().contains(&format!("{needed} bytes needed")), "{error}");
            // Where these fit the result does not depend on how much there is beyond.
            let all = IncidenceSpectrum::of(&incidence, &weights, 5, &()).unwrap();
            match within(needed) {
                Ok(found) => assert_eq!(found.values, all.values),
                // All pairs are found where the iteration does not end well.
                Err(error) => assert!(error.message().contains("eigenvectors"), "{error}"),
            }
        }
        // Nearly a fifth of the pairs: there is no room for an iteration.
        let needed = 8 * (EIGEN_SQUARES * 1000 * 1000 + 10 * 203) as u64;
        let dense = |bytes| check_basis(MemoryBudget::bytes(bytes), 1000, 10, 199);
        assert!(dense(needed).is_ok());
        let refused = dense(needed - 1).unwrap_err();
        assert_eq!(refused.kind(), consilience_core::ErrorKind::TooLarge);
    }

    #[test]
    fn no_more_pairs_than_there_are() {
        let found = leading_eigenpairs(&ndarray::array![[2.0]], 3, &()).unwrap();
        assert_eq!((found.values, found.vectors.dim()), (vec![2.0], (1, 1)));
    }

    /// Few objects in many clusters, some unlabelled: every pair of clusters overlaps.
    #[test]
    fn factor_by_factor_equals_the_stored_matrix() {
        let mut s = Seed(3).stream();
        let members = (0..30).map(|_| {
            let labels: Vec<i64> = (0..300).map(|_| s.below(21) as i64 - 1).collect();
            Partition::from_labels(&labels).unwrap()
        });
        let ensemble = Ensemble::new(members.collect()).unwrap();
        let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble).unwrap()).unwrap();
        assert!(incidence.n_clusters() > DENSE && full_overlaps(&incidence));
        let mut some = |n: usize| -> Vec<f64> { (0..n).map(|_| 0.1 + s.uniform()).collect() };
        let (shares, scale) = (some(incidence.n_rows()), some(incidence.n_clusters()));
        let stored =
            incidence.overlaps(&shares, &()).unwrap().map(|i, j, v| v * scale[i] * scale[j]);
        let x = Array2::from_shape_vec((scale.len(), 3), some(3 * scale.len())).unwrap();
        let product = |op: &dyn SymmetricOperator| {
            let mut y = Array2::zeros(x.dim());
            op.apply(x.view(), y.view_mut());
            y
        };
        let factored = Factored { incidence: &incidence, shares: &shares, scale: &scale };
        let (a, b) = (product(&factored), product(&stored));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12 * b.abs()));
        let found = leading(&incidence, &shares, &scale, 4, MemoryBudget::default(), &()).unwrap();
        let all = try_symmetric_eigen(stored.to_dense().unwrap().view()).unwrap().unwrap();
        assert!(
            found.converged
                && found.values.iter().zip(&all.values).all(|(a, b)| (a - b).abs() < 1e-9 * b)
        );
    }

    /// With all pairs the inner products of the rows are `D_r^-1/2 B D_c^-1 B' D_r^-1/2`.
    #[test]
    fn rows_are_those_of_the_normalised_incidence() {
        let mut s = Seed(9).stream();
        let members = (0..4).map(|_| {
            let labels: Vec<i64> = (0..60).map(|_| s.below(5) as i64 - 1).collect();
            Partition::from_labels(&labels).unwrap()
        });
        let ensemble = Ensemble::new(members.collect()).unwrap();
        let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble).unwrap()).unwrap();
        let (n, c) = (incidence.n_rows(), incidence.n_clusters());
        let weights: Vec<f64> = (0..c).map(|j| 0.5 + j as f64 / 8.0).collect();
        let mut b = Array2::<f64>::zeros((n, c));
        for i in 0..n {
            incidence.shares_of(i).for_each(|(j, p)| b[[i, j]] = p * weights[j]);
        }
        let left = b.sum_axis(ndarray::Axis(1));
        let sizes = ndarray::Array1::from(incidence.sizes().to_vec());
        let right = b.t().dot(&sizes);
        let found = IncidenceSpectrum::of(&incidence, &weights, c, &()).unwrap();
        let rows = found.rows(&incidence, c).unwrap();
        let own = rows.dot(&rows.t());
        for ((i, j), own) in own.indexed_iter() {
            let sum: f64 = (0..c).map(|e| b[[i, e]] * b[[j, e]] / right[e]).sum();
            let expected = sum / (left[i] * left[j]).sqrt();
            assert!((own - expected).abs() < 1e-10, "{i}, {j}: {own} {expected}");
        }
    }

    #[test]
    fn two_members_are_stored() {
        let member = |step: usize| Partition::from_fn(900, |i| Some((i / step) as u64)).unwrap();
        let ensemble = Ensemble::new(vec![member(3), member(4)]).unwrap();
        let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble).unwrap()).unwrap();
        assert!(incidence.n_clusters() > DENSE && !full_overlaps(&incidence));
        // Few of many pairs are those of the whole matrix.
        let (shares, scale) = (vec![1.0; incidence.n_rows()], vec![0.3; incidence.n_clusters()]);
        let stored = incidence.overlaps(&shares, &()).unwrap().map(|_, _, v| 0.3 * v * 0.3);
        let found = leading(&incidence, &shares, &scale, 3, MemoryBudget::default(), &()).unwrap();
        let all = try_symmetric_eigen(stored.to_dense().unwrap().view()).unwrap().unwrap();
        assert_eq!(found.values.len(), 3);
        assert!(found.values.iter().zip(&all.values).all(|(a, b)| (a - b).abs() < 1e-6 * b));
    }
}
