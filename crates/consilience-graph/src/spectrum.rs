use consilience_core::{Error, MemoryBudget, Observer, Result};
use consilience_num::eigen::{SymmetricOperator, TruncatedOptions, symmetric_eigen, truncated_eigen};
use consilience_num::sparse::Csr;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

use crate::ClusterIncidence;

/// Up to this many clusters all eigenpairs are computed; beyond, only those wanted.
const DENSE: usize = 400;
/// Up to this many clusters all eigenpairs are computed where the wanted ones do not converge.
const LARGEST_DENSE: usize = 3_000;
/// Weights beyond these overflow or vanish when multiplied.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// The leading singular triplets of the degree-normalised incidence of microclusters and clusters.
///
/// With `B = B0 diag(w)`, sizes `S` of the microclusters, `D_r` the row sums of B and `D_c` its column sums
/// weighted by size, this is the singular value decomposition of
///
/// ```text
/// X = S^1/2 D_r^-1/2 B D_c^-1/2,
/// ```
///
/// found as eigenpairs of the sparse `X'X`. It is the same for microclusters with their sizes and for
/// the objects one by one. A transfer cut, HBGF, LWGP and diffusion embeddings all start here.
///
/// ```
/// use consilience_core::{Ensemble, Partition};
/// use consilience_graph::{ClusterIncidence, IncidenceSpectrum, Microclusters};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2])?,
/// ])?;
/// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?);
/// let spectrum = IncidenceSpectrum::of(&incidence, &[1.0; 5], 5, &())?;
/// // Two components: the value 1 twice.
/// assert!(spectrum.values[..2].iter().all(|v| (v - 1.0).abs() < 1e-12));
/// assert!(spectrum.values[2] < 0.9);
/// assert_eq!(spectrum.rows(&incidence, 2)?.dim(), (3, 2));
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(n~ M^2) for `X'X` with C clusters; then O(C^3) up to 400 clusters and beyond O(nnz q) per iteration
/// for q pairs.
///
/// # References
/// Li, Wu, Chang 2012, "Segmentation Using Superpixels", Section 3.2. Sizes as weights are ours: they make
/// collapsing equal objects exact.
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
}

impl IncidenceSpectrum {
    /// The first `count` triplets, or as many as there are clusters; `weights` has one positive number
    /// per cluster.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) for no microclusters,
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for weights of another number,
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a weight outside 1e-100..=1e100,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where nearly all pairs of very many clusters are
    /// wanted, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn of(
        incidence: &ClusterIncidence,
        weights: &[f64],
        count: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let c = incidence.n_clusters();
        if weights.len() != c {
            return Err(Error::shape(format!("{} weights for {c} clusters", weights.len())));
        }
        if let Some((j, w)) = weights.iter().enumerate().find(|(_, w)| !WEIGHTS.contains(w)) {
            return Err(Error::invalid(format!("weight {w} of cluster {j}; expected 1e-100 to 1e100")));
        }
        if incidence.n_rows() == 0 {
            return Err(Error::empty("an incidence without microclusters"));
        }
        // Every microcluster is labelled by some member, so no degree is 0.
        let degree: Vec<f64> = (0..incidence.n_rows())
            .into_par_iter()
            .map(|i| incidence.clusters_of(i).iter().map(|&j| weights[j as usize]).sum())
            .collect();
        let shares: Vec<f64> = incidence.sizes().iter().zip(&degree).map(|(s, d)| s / d).collect();
        // X'X = diag(a) B0' S D_r^-1 B0 diag(a), with a = w D_c^-1/2 and D_c = w |c|.
        let a: Vec<f64> = weights.iter().zip(incidence.objects()).map(|(w, n)| (w / n).sqrt()).collect();
        let small = incidence.overlaps(&shares, observer)?.map(|i, j, v| v * a[i] * a[j]);
        observer.check()?;
        let (values, vectors, converged) = leading(&small, count.min(c))?;
        observer.check()?;
        let mut projection = vectors.clone();
        for (mut row, &a) in projection.rows_mut().into_iter().zip(&a) {
            row *= a;
        }
        let row_scale = degree.iter().map(|d| d.sqrt().recip()).collect();
        Ok(IncidenceSpectrum { values, vectors, converged, projection, row_scale })
    }

    /// `S^-1/2 X V`, one row per microcluster and the first `count` columns: left singular vectors times
    /// singular values, free of the sizes.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another incidence than the
    /// spectrum's.
    ///
    /// # Complexity
    /// O(entries count).
    pub fn rows(&self, incidence: &ClusterIncidence, count: usize) -> Result<Array2<f64>> {
        if incidence.n_rows() != self.row_scale.len() {
            return Err(Error::shape(format!(
                "an incidence of {} microclusters, the spectrum is of {}",
                incidence.n_rows(),
                self.row_scale.len()
            )));
        }
        let count = count.min(self.values.len());
        let mut rows = incidence.times(self.projection.slice(s![.., ..count]))?;
        for (mut row, &scale) in rows.rows_mut().into_iter().zip(&self.row_scale) {
            row *= scale;
        }
        Ok(rows)
    }
}

/// A stored sparse symmetric matrix.
struct Symmetric<'a>(&'a Csr);

impl SymmetricOperator for Symmetric<'_> {
    fn dim(&self) -> usize {
        self.0.n_rows()
    }

    fn apply(&self, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        let width = x.ncols();
        if let (Some(x), Some(y)) = (x.as_slice(), y.as_slice_mut()) {
            self.0.multiply(x, y, width);
        }
    }
}

/// The largest eigenpairs of a stored symmetric matrix.
pub(crate) fn leading_dense(a: &Array2<f64>, count: usize) -> Result<(Vec<f64>, Array2<f64>)> {
    let n = a.nrows();
    if n > DENSE && 5 * count < n {
        let top = truncated_eigen(a, &TruncatedOptions { count, ..Default::default() });
        if top.converged {
            return Ok((top.values, top.vectors));
        }
    }
    let all = symmetric_eigen(a.view())
        .ok_or_else(|| Error::invalid("the weights of the clusters overflow when multiplied"))?;
    Ok((all.values[..count].to_vec(), all.vectors.slice(s![.., ..count]).to_owned()))
}

/// The largest eigenpairs of a sparse symmetric matrix, and whether they are as exact as wanted.
pub(crate) fn leading(a: &Csr, count: usize) -> Result<(Vec<f64>, Array2<f64>, bool)> {
    let n = a.n_rows();
    let mut kept = None;
    if n > DENSE && 5 * count < n {
        let top = truncated_eigen(&Symmetric(a), &TruncatedOptions { count, ..Default::default() });
        if top.converged {
            return Ok((top.values, top.vectors, true));
        }
        if top.values.iter().all(|v| v.is_finite()) && n > LARGEST_DENSE {
            kept = Some((top.values, top.vectors, false));
        }
    }
    if let Some(kept) = kept {
        return Ok(kept);
    }
    MemoryBudget::default().check_square("eigenvectors of clusters", n, 32)?;
    let mut dense = Array2::zeros((n, n));
    for i in 0..n {
        let (columns, values) = a.row(i);
        columns.iter().zip(values).for_each(|(&j, &v)| dense[[i, j as usize]] = v);
    }
    let (values, vectors) = leading_dense(&dense, count)?;
    Ok((values, vectors, true))
}
