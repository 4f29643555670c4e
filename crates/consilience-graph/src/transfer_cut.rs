use consilience_core::{Error, Fit, Observer, Partition, Report, Result, Seed, Status};
use consilience_num::eigen::{TruncatedOptions, symmetric_eigen, truncated_eigen};
use consilience_num::kmeans::{self, KMeansFit, KMeansOptions};
use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::{ClusterIncidence, IncidenceSpectrum};

/// How many clusters a spectral cut makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clusters {
    /// So many, or fewer where fewer nodes can be told apart.
    Fixed(usize),
    /// As many as there are eigenvalues before the widest gap, between 2 and the square root of the
    /// number of nodes.
    Eigengap,
}

/// More starts than this are a slip of the keyboard.
pub(crate) const MOST_RESTARTS: usize = 10_000;

/// Up to this many right nodes all eigenpairs are computed; beyond, only those wanted.
const DENSE: usize = 600;

/// The transfer cut: a normalised cut of a bipartite graph, solved on its smaller side.
///
/// The graph is a matrix B of non-negative weights between left nodes (rows: objects,
/// microclusters) and right nodes (columns: clusters). With `D_x` the row sums of B, the normalised
/// cut of all nodes follows from the small matrix `W_y = B' D_x^-1 B` alone.
///
/// ```
/// use consilience_graph::TransferCut;
/// use ndarray::array;
///
/// let b = array![[1.0, 0.0, 0.1], [0.9, 0.1, 0.0], [0.0, 1.0, 1.0], [0.1, 0.8, 1.0]];
/// let left = TransferCut::new(2).partition(b.view(), &())?.output;
/// assert_eq!(left, vec![0, 0, 1, 1]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(rows columns^2) time, memory of B again.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=rows` or no restarts.
///
/// # References
/// Li, Wu, Chang 2012, "Segmentation Using Superpixels: A Bipartite Graph Partitioning Approach",
/// Section 3.2; Huang, Lai, Wang 2016, Algorithm 2.
#[doc(alias = "tcut")]
#[derive(Clone, Copy, Debug)]
pub struct TransferCut {
    clusters: Clusters,
    restarts: usize,
    seed: Seed,
}

impl TransferCut {
    /// A cut of the left nodes into k clusters.
    pub fn new(clusters: usize) -> Self {
        Self::with(Clusters::Fixed(clusters))
    }

    /// A cut with the given choice of the number of clusters; 3 restarts, seed 0.
    pub fn with(clusters: Clusters) -> Self {
        TransferCut { clusters, restarts: 3, seed: Seed(0) }
    }

    /// How many clusters to make.
    pub fn clusters(mut self, clusters: Clusters) -> Self {
        self.clusters = clusters;
        self
    }

    /// k-means starts, of which the one of least inertia is kept.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Seed of the k-means starts.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Refuses parameters out of range; `left` is the number of left nodes.
    ///
    /// # Errors
    /// As [`TransferCut`].
    pub fn check(&self, left: usize) -> Result<()> {
        if self.restarts == 0 || self.restarts > MOST_RESTARTS {
            return Err(Error::invalid(format!(
                "{} restarts; expected 1..={MOST_RESTARTS}",
                self.restarts
            )));
        }
        match self.clusters {
            Clusters::Fixed(k) if k == 0 || k > left => {
                Err(Error::invalid(format!("{k} clusters of {left} nodes; expected 1..={left}")))
            }
            _ => Ok(()),
        }
    }

    /// The cluster of each left node, numbered by the first node in it. The report holds the
    /// k-means inertia and whether it settled.
    ///
    /// # Errors
    /// As [`TransferCut`]; [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) or
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) with row and
    /// column for a weight that is none; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty)
    /// for no right nodes or a left node without any link.
    pub fn partition(
        &self,
        b: ArrayView2<'_, f64>,
        observer: &dyn Observer,
    ) -> Result<Fit<Vec<usize>>> {
        let (left, right) = b.dim();
        self.check(left)?;
        if right == 0 {
            return Err(Error::empty("a bipartite graph without right nodes"));
        }
        if let Some(((i, j), &w)) = b.indexed_iter().find(|&(_, &w)| !(w >= 0.0) || w.is_infinite())
        {
            return Err(if w < 0.0 {
                Error::invalid(format!("weight {w} at row {i}, column {j}; expected >= 0"))
            } else {
                Error::non_finite("weights", i, j, w)
            });
        }
        let rows = b.sum_axis(Axis(1));
        if let Some(i) = rows.iter().position(|&d| d == 0.0) {
            return Err(Error::empty(format!("left node {i} has no links")));
        }
        // X = D_x^-1/2 B D_y^-1/2; the small matrix is X'X.
        let mut x = b.to_owned();
        for (mut row, &d) in x.rows_mut().into_iter().zip(&rows) {
            row /= d.sqrt();
        }
        let half = rows.mapv(f64::sqrt);
        let columns = x.t().dot(&half);
        let scale: Array1<f64> = columns.mapv(|d| if d > 0.0 { d.sqrt().recip() } else { 0.0 });
        x *= &scale;
        observer.check()?;
        let (values, vectors) = self.eigenpairs(&x, left)?;
        observer.check()?;
        let k = match self.clusters {
            Clusters::Fixed(k) => k,
            Clusters::Eigengap => eigengap(&values, most_by_gap(left)),
        };
        let used = k.min(vectors.ncols());
        // f = D_y^-1/2 v, then D_x^-1 B f = D_x^-1/2 X v: the row scale falls away with the norm.
        let embedding = x.dot(&vectors.slice(ndarray::s![.., ..used]));
        self.directions(embedding, None, k, observer)
    }

    /// The transfer cut of an ensemble's incidence, whose small matrix is accumulated without a
    /// dense B: `B = B0 diag(weights)`, one positive weight per cluster. A microcluster counts as
    /// so many objects, so the cut is that of the objects one by one. The result is one cluster per
    /// microcluster.
    ///
    /// ```
    /// use consilience_core::{Ensemble, Partition};
    /// use consilience_graph::{ClusterIncidence, Microclusters, TransferCut};
    ///
    /// let ensemble = Ensemble::new(vec![
    ///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
    ///     Partition::from_labels(&[0, 0, 0, 1, 1, 2])?,
    /// ])?;
    /// let microclusters = Microclusters::of(&ensemble)?;
    /// let incidence = ClusterIncidence::of(&microclusters);
    /// let cut = TransferCut::new(2).partition_incidence(&incidence, &[1.0; 5], &())?.output;
    /// assert_eq!(microclusters.grouping().expand(&cut)?.to_signed(), vec![0, 0, 0, 1, 1, 1]);
    /// # Ok::<(), consilience_core::Error>(())
    /// ```
    ///
    /// # Complexity
    /// As [`IncidenceSpectrum`], then O(n~ k^2) per iteration of k-means.
    ///
    /// # Errors
    /// As [`IncidenceSpectrum::of`], and for k outside `1..=rows` or no restarts.
    pub fn partition_incidence(
        &self,
        incidence: &ClusterIncidence,
        weights: &[f64],
        observer: &dyn Observer,
    ) -> Result<Fit<Vec<usize>>> {
        let rows = incidence.n_rows();
        self.check(rows)?;
        let wanted = match self.clusters {
            Clusters::Fixed(k) => k,
            Clusters::Eigengap => most_by_gap(rows) + 1,
        };
        let spectrum = IncidenceSpectrum::of(incidence, weights, wanted, observer)?;
        let k = match self.clusters {
            Clusters::Fixed(k) => k,
            Clusters::Eigengap => eigengap(&spectrum.values, most_by_gap(rows)).min(rows),
        };
        let embedding = spectrum.rows(incidence, k)?;
        let mut fit = self.directions(embedding, Some(incidence.sizes()), k, observer)?;
        if !spectrum.converged {
            fit.report.status = Status::MaxIterations;
            fit.report
                .notes
                .push("the eigenvectors of the clusters are less exact than wanted".into());
        }
        Ok(fit)
    }

    /// k-means on the directions of the rows.
    fn directions(
        &self,
        mut embedding: Array2<f64>,
        weights: Option<&[f64]>,
        k: usize,
        observer: &dyn Observer,
    ) -> Result<Fit<Vec<usize>>> {
        unit_rows(&mut embedding);
        let options =
            KMeansOptions::new(k).restarts(self.restarts).seed(self.seed.derive("transfer cut", 0));
        let fit = kmeans::fit(embedding.view(), weights, &options, observer)?;
        numbered(fit)
    }

    /// The leading eigenpairs of X'X: enough for the clusters wanted, or to see a gap.
    fn eigenpairs(&self, x: &Array2<f64>, left: usize) -> Result<(Vec<f64>, Array2<f64>)> {
        let wanted = match self.clusters {
            Clusters::Fixed(k) => k,
            Clusters::Eigengap => most_by_gap(left) + 1,
        }
        .min(x.ncols());
        let small = x.t().dot(x);
        // A handful of leading pairs of a large matrix needs no full decomposition.
        if x.ncols() > DENSE && 5 * wanted < x.ncols() {
            let top = truncated_eigen(&small, &TruncatedOptions::new(wanted));
            if top.converged {
                return Ok((top.values, top.vectors));
            }
        }
        let all = symmetric_eigen(small.view())
            .ok_or_else(|| Error::invalid("the bipartite graph's weights overflow when squared"))?;
        Ok((all.values[..wanted].to_vec(), all.vectors.slice(ndarray::s![.., ..wanted]).to_owned()))
    }
}

/// Scales every row to norm 1; rows of zeros stay.
pub(crate) fn unit_rows(rows: &mut Array2<f64>) {
    for mut row in rows.rows_mut() {
        let norm = row.dot(&row).sqrt();
        if norm > 0.0 {
            row /= norm;
        }
    }
}

/// The clusters that k-means found, numbered by the first row as everywhere, with its report.
pub(crate) fn numbered(fit: KMeansFit<f64>) -> Result<Fit<Vec<usize>>> {
    let mut report = Report::default();
    report.status = if fit.converged { Status::Solved } else { Status::MaxIterations };
    report.iterations = fit.iterations;
    report.objective = Some(fit.inertia);
    let clusters = Partition::from_labels(&fit.assignment)?;
    Ok(Fit::new(clusters.iter().flatten().collect(), report))
}

/// The most clusters that a gap may suggest for so many left nodes.
pub(crate) fn most_by_gap(left: usize) -> usize {
    (left as f64).sqrt().ceil() as usize
}

/// Number of eigenvalues before the widest gap, `2..=most` where there are two; the first of
/// equals. `values` are all there are (the next is then 0), or one more than `most`.
pub(crate) fn eigengap(values: &[f64], most: usize) -> usize {
    let mut best = (values.len().min(2), f64::NEG_INFINITY);
    for k in 2..=values.len().min(most) {
        let gap = values[k - 1] - values.get(k).copied().unwrap_or(0.0);
        if gap > best.1 {
            best = (k, gap);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::ErrorKind;
    use ndarray::array;

    /// Three blocks of left nodes, each linked to its own two right nodes and faintly to all
    /// others.
    fn blocks(faint: f64) -> Array2<f64> {
        Array2::from_shape_fn(
            (12, 6),
            |(i, j)| if i / 4 == j / 2 { 1.0 + (i % 3) as f64 } else { faint },
        )
    }

    #[test]
    fn blocks_are_found_connected_or_not() {
        let expected: Vec<usize> = (0..12).map(|i| i / 4).collect();
        for faint in [0.0, 0.01] {
            for cut in [TransferCut::new(3), TransferCut::with(Clusters::Eigengap)] {
                let fit = cut.partition(blocks(faint).view(), &()).unwrap();
                let found: Vec<usize> = {
                    let mut seen = Vec::new();
                    fit.output
                        .iter()
                        .map(|c| {
                            seen.iter().position(|s| s == c).unwrap_or_else(|| {
                                seen.push(*c);
                                seen.len() - 1
                            })
                        })
                        .collect()
                };
                assert_eq!(found, expected, "faint {faint}");
                assert_eq!(fit.report.status, Status::Solved);
            }
        }
    }

    #[test]
    fn dense_and_truncated_eigenpairs_cut_alike() {
        // 700 right nodes in 4 blocks: beyond the dense limit.
        let b = Array2::from_shape_fn((200, 700), |(i, j)| {
            if i % 4 == j % 4 { 1.0 + ((i * j) % 7) as f64 } else { 0.02 * ((i + j) % 3) as f64 }
        });
        let found = TransferCut::new(4).partition(b.view(), &()).unwrap().output;
        for i in 0..200 {
            assert_eq!(found[i] == found[0], i % 4 == 0, "{i}");
        }
    }

    #[test]
    fn a_value_that_was_not_computed_is_no_gap() {
        assert_eq!(eigengap(&[1.0, 0.9, 0.9], 2), 2);
        assert_eq!(eigengap(&[1.0, 0.9, 0.9], 3), 3);
        assert_eq!(eigengap(&[1.0, 0.5, 0.4, 0.1], 3), 3);
        assert_eq!(eigengap(&[1.0], 2), 1);
    }

    #[test]
    fn bad_weights_are_named() {
        let kind = |b: Array2<f64>| TransferCut::new(1).partition(b.view(), &()).unwrap_err();
        assert_eq!(kind(array![[1.0, f64::NAN]]).kind(), ErrorKind::NonFinite);
        assert_eq!(kind(array![[1.0], [-1.0]]).kind(), ErrorKind::InvalidParameter);
        assert_eq!(kind(array![[1.0], [0.0]]).message(), "left node 1 has no links");
        assert_eq!(kind(Array2::zeros((1, 0))).kind(), ErrorKind::Empty);
        let e = TransferCut::new(3).partition(array![[1.0], [1.0]].view(), &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidParameter);
        assert!(TransferCut::new(1).restarts(0).check(2).is_err());
    }
}
