use consilience_core::{
    Clusters, Error, Fit, MemoryBudget, Observer, Pace, Partition, Report, Result, Seed, Status,
    Stop, check_restarts, ensure, room,
};
use consilience_num::kmeans::KMeansOptions;
use consilience_num::reduce::ordered_chunks;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rayon::prelude::*;

use crate::{
    ClusterIncidence, Components, IncidenceSpectrum, SpectralCount, cluster_directions,
    eigen_columns, leading_eigenpairs_within,
};

/// Rows that one task works through.
const ROWS: usize = 1024;

/// The transfer cut: a normalised cut of a bipartite graph, solved on its smaller side.
///
/// The graph is a matrix B of non-negative weights between left nodes (rows: objects,
/// microclusters) and right nodes (columns: clusters). With `D_x` the row sums of B, the normalised
/// cut of all nodes follows from the small matrix `W_y = B' D_x^-1 B` alone. A graph in several
/// components is cut as [`Components`] says: none is divided while others are joined.
///
/// ```
/// use consilience::graph::TransferCut;
/// use consilience::ndarray::array;
///
/// let b = array![[1.0, 0.0, 0.1], [0.9, 0.1, 0.0], [0.0, 1.0, 1.0], [0.1, 0.8, 1.0]];
/// let left = TransferCut::new(2).partition(b.view())?;
/// assert_eq!(left, vec![0, 0, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(rows columns^2) time, memory of B again.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=rows` or no restarts; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond
/// the memory budget.
///
/// # References
/// Li, Wu, Chang 2012, "Segmentation Using Superpixels: A Bipartite Graph Partitioning Approach",
/// Section 3.2; Huang, Lai, Wang 2016, Algorithm 3.
#[doc(alias = "tcut")]
#[derive(Clone, Copy, Debug)]
pub struct TransferCut {
    clusters: Clusters,
    restarts: usize,
    seed: Seed,
    budget: MemoryBudget,
}

impl TransferCut {
    /// A cut of the left nodes; the widest gap between eigenvalues chooses k where it is not fixed.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        TransferCut { clusters, restarts: 3, seed: Seed(0), budget: MemoryBudget::default() }
    }

    consilience_core::setters! {
        /// How many clusters to make. Default the number given to [`TransferCut::new`].
        pub fn clusters(mut self, clusters: impl Into<Clusters>) { self.clusters = clusters.into() }

        /// k-means starts, of which the one of least inertia is kept. Default 3; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Seed of the k-means starts. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory the matrices of the right nodes, or of the clusters, and the vectors of
        /// all nodes may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// What was set.
    #[doc(hidden)]
    pub fn budget(&self) -> MemoryBudget {
        self.budget
    }

    /// Refuses parameters that no graph allows.
    ///
    /// # Errors
    /// As [`TransferCut`].
    #[doc(hidden)]
    pub fn check_parameters(&self) -> Result<()> {
        check_restarts(self.restarts)?;
        SpectralCount::check(self.clusters)
    }

    /// Refuses parameters out of range; `left` is the number of left nodes.
    ///
    /// # Errors
    /// As [`TransferCut`].
    pub fn check(&self, left: usize) -> Result<()> {
        self.check_parameters()?;
        match self.clusters {
            Clusters::Fixed(k) if k == 0 || k > left => {
                Err(Error::invalid(format!("{k} clusters of {left} nodes; expected 1..={left}")))
            }
            _ => Ok(()),
        }
    }

    /// The cluster of each left node, numbered by the first node in it.
    ///
    /// # Errors
    /// As [`TransferCut::fit`].
    pub fn partition(&self, b: ArrayView2<'_, f64>) -> Result<Vec<usize>> {
        Ok(self.fit(b, &())?.output)
    }

    /// As [`TransferCut::partition`], with progress, cancellation and a report, which holds the
    /// k-means inertia and whether it settled.
    ///
    /// # Errors
    /// As [`TransferCut`]; [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) or
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) with row and
    /// column for a weight that is none; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty)
    /// for no right nodes or a left node without any link.
    pub fn fit(&self, b: ArrayView2<'_, f64>, observer: &dyn Observer) -> Result<Fit<Vec<usize>>> {
        self.fit_counted(b, &vec![1.0; b.nrows()], None, observer)
    }

    /// As [`TransferCut::fit`], where a left node stands for so many objects. They say which
    /// components are the largest where there are more than clusters; the cut itself counts nodes.
    /// The members that the graph was made from say how many clusters there may be where the number
    /// is not fixed.
    ///
    /// # Errors
    /// As [`TransferCut::fit`];
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another number
    /// of sizes than of left nodes.
    #[doc(hidden)]
    pub fn fit_counted(
        &self,
        b: ArrayView2<'_, f64>,
        objects: &[f64],
        members: Option<&[Partition]>,
        observer: &dyn Observer,
    ) -> Result<Fit<Vec<usize>>> {
        let (left, right) = b.dim();
        self.check(left)?;
        ensure!(
            objects.len() == left,
            shape("objects of {} left nodes, of which there are {left}", objects.len())
        );
        ensure!(right > 0, empty("a bipartite graph without right nodes"));
        let stop = Stop::new(observer);
        let rows = degrees(b, &stop)?;
        let parts = Components::of_bipartite(b, objects, observer)?;
        if let Some(joined) = self.clusters.fixed().and_then(|k| parts.joined(k)) {
            return Ok(joined);
        }
        // X = D_x^-1/2 B D_y^-1/2; the small matrix is X'X.
        let count = SpectralCount::new(self.clusters, left)?;
        let count = match members {
            Some(members) => count.agreed(objects, members.iter().map(Partition::n_clusters)),
            None => count.of_components(&parts, objects),
        };
        let tables = [(left, right), (right, eigen_columns(right, count.eigenpairs()))];
        self.budget.check_tables("the graph, and overlaps of right nodes", &tables, 8)?;
        let x = normalised(b, &rows, &stop)?;
        let small = overlaps(x.view(), &stop)?;
        let found = leading_eigenpairs_within(&small, count.eigenpairs(), self.budget, observer)?;
        observer.check()?;
        let k = count.clusters(&found.values);
        if let Some(joined) = parts.joined(k) {
            return Ok(joined);
        }
        let used = k.min(found.vectors.ncols());
        // f = D_y^-1/2 v, then D_x^-1 B f = D_x^-1/2 X v: the row scale falls away with the norm.
        let embedding = x.dot(&found.vectors.slice(s![.., ..used]));
        let ones = vec![1.0; left];
        let mut fit =
            parts.cut(k, found.vectors.view(), embedding, &ones, |rows, weights, k| {
                self.directions(rows, weights, k, observer)
            })?;
        if !found.converged {
            less_exact(&mut fit.report);
        }
        Ok(fit)
    }

    /// The transfer cut of an ensemble's incidence, whose small matrix is accumulated without a
    /// dense B: `B = B0 diag(weights)`, one positive weight per cluster. A microcluster counts as
    /// so many objects, so the cut is that of the objects one by one. The result is one cluster per
    /// microcluster.
    ///
    /// ```
    /// use consilience::{Ensemble, Microclusters, Partition};
    /// use consilience::graph::{ClusterIncidence, TransferCut};
    ///
    /// let ensemble = Ensemble::new(vec![
    ///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
    ///     Partition::from_labels(&[0, 0, 0, 1, 1, 2])?,
    /// ])?;
    /// let microclusters = Microclusters::of(&ensemble)?;
    /// let incidence = ClusterIncidence::of(&microclusters)?;
    /// let cut = TransferCut::new(2).partition_incidence(&incidence, &[1.0; 5])?;
    /// assert_eq!(microclusters.grouping().expand(&cut)?.to_signed(), vec![0, 0, 0, 1, 1, 1]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// As [`IncidenceSpectrum`], then O(n~ k^2) per iteration of k-means.
    ///
    /// # Errors
    /// As [`IncidenceSpectrum::of`], and for k outside `1..=rows` or no restarts;
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
    pub fn partition_incidence(
        &self,
        incidence: &ClusterIncidence,
        weights: &[f64],
    ) -> Result<Vec<usize>> {
        Ok(self.fit_incidence(incidence, weights, &())?.output)
    }

    /// As [`TransferCut::partition_incidence`], with progress, cancellation and a report.
    ///
    /// # Errors
    /// As [`TransferCut::partition_incidence`].
    pub fn fit_incidence(
        &self,
        incidence: &ClusterIncidence,
        weights: &[f64],
        observer: &dyn Observer,
    ) -> Result<Fit<Vec<usize>>> {
        let rows = incidence.n_rows();
        self.check(rows)?;
        let count = SpectralCount::new(self.clusters, rows)?.of_members(incidence);
        let parts = Components::of_incidence(incidence, observer)?;
        if let Some(joined) = self.clusters.fixed().and_then(|k| parts.joined(k)) {
            return Ok(joined);
        }
        // Once whole, and once more component by component.
        let room = |k: usize| {
            let wide = k.min(incidence.n_clusters());
            self.budget.check_table("embedding of microclusters", rows, wide, 16)
        };
        self.clusters.fixed().map_or(Ok(()), room)?;
        let spectrum = IncidenceSpectrum::within(
            incidence,
            weights,
            count.eigenpairs(),
            self.budget,
            observer,
        )?;
        let k = count.clusters(&spectrum.values);
        if let Some(joined) = parts.joined(k) {
            return Ok(joined);
        }
        let (vectors, sizes) = (spectrum.vectors.view(), incidence.sizes());
        room(k)?;
        let rows = spectrum.rows_in_lowest_terms(incidence, k)?;
        observer.check()?;
        let mut fit = parts.cut(k, vectors, rows, sizes, |rows, weights, k| {
            self.directions(rows, weights, k, observer)
        })?;
        if !spectrum.converged {
            less_exact(&mut fit.report);
        }
        Ok(fit)
    }

    /// k-means on the directions of the rows.
    fn directions(
        &self,
        embedding: Array2<f64>,
        weights: &[f64],
        k: usize,
        observer: &dyn Observer,
    ) -> Result<Fit<Vec<usize>>> {
        let options =
            KMeansOptions::new(k).restarts(self.restarts).seed(self.seed.derive("transfer cut", 0));
        cluster_directions(embedding, Some(weights), &options, observer)
    }
}

/// Says that the eigenvectors did not converge.
fn less_exact(report: &mut Report) {
    report.status = Status::MaxIterations;
    report.notes.push("the eigenvectors of the clusters are less exact than wanted".into());
}

/// Sums of the rows, once all weights are ones and each row has some.
fn degrees(b: ArrayView2<'_, f64>, stop: &Stop<'_>) -> Result<Vec<f64>> {
    let is_weight = |w: f64| (0.0..f64::INFINITY).contains(&w);
    let of_row = |pace: &mut Pace<'_>, i: usize| {
        if pace.work(b.ncols()).is_err() {
            return (0.0, true);
        }
        let row = b.row(i);
        // Without an early end, some entries at a time.
        (row.sum(), row.iter().fold(true, |all, &w| all & is_weight(w)))
    };
    let rows = (0..b.nrows()).into_par_iter().with_min_len(ROWS);
    let rows: Vec<_> = rows.map_init(|| Pace::new(stop), of_row).collect();
    stop.check()?;
    if let Some(i) = rows.iter().position(|&(_, all)| !all) {
        let wrong = b.row(i).iter().position(|&w| !is_weight(w)).unwrap_or_default();
        let w = b[[i, wrong]];
        return Err(if w < 0.0 {
            Error::invalid(format!("weight {w} at row {i}, column {wrong}; expected >= 0"))
        } else {
            Error::non_finite("weights", i, wrong, w)
        });
    }
    match rows.iter().position(|&(d, _)| d == 0.0 || d.is_infinite()) {
        Some(i) if rows[i].0 == 0.0 => Err(Error::empty(format!("left node {i} has no links"))),
        Some(i) => Err(Error::invalid(format!("the weights of left node {i} sum to infinity"))),
        None => Ok(rows.into_iter().map(|(d, _)| d).collect()),
    }
}

/// `X = D_x^-1/2 B D_y^-1/2` for the row sums `rows`.
fn normalised(b: ArrayView2<'_, f64>, rows: &[f64], stop: &Stop<'_>) -> Result<Array2<f64>> {
    let (left, right) = b.dim();
    let mut x = room::zeros(left * right)?;
    let each = x.par_chunks_mut(right).with_min_len(ROWS).enumerate();
    each.for_each_init(
        || Pace::new(stop),
        |pace, (i, x)| {
            let root = rows[i].sqrt();
            if pace.work(right).is_ok() {
                x.iter_mut().zip(b.row(i)).for_each(|(x, w)| *x = w / root);
            }
        },
    );
    stop.check()?;
    let half: Array1<f64> = rows.iter().map(|d| d.sqrt()).collect();
    let table =
        ArrayView2::from_shape((left, right), &x).map_err(|e| Error::shape(e.to_string()))?;
    let columns = ordered_chunks(
        left,
        ROWS,
        |rows| table.slice(s![rows.clone(), ..]).t().dot(&half.slice(s![rows])),
        Array1::<f64>::zeros(right),
        |sum, part| sum + part,
    );
    stop.check()?;
    let scale = columns.mapv(|d| if d > 0.0 { d.sqrt().recip() } else { 0.0 });
    x.par_chunks_mut(right).with_min_len(ROWS).for_each(|x| {
        x.iter_mut().zip(&scale).for_each(|(x, s)| *x *= s);
    });
    stop.check()?;
    Array2::from_shape_vec((left, right), x).map_err(|e| Error::shape(e.to_string()))
}

/// `X'X`: where it is much work, blocks of columns with those from them on, side by side; the other
/// half is the same.
fn overlaps(x: ArrayView2<'_, f64>, stop: &Stop<'_>) -> Result<Array2<f64>> {
    const COLUMNS: usize = 64;
    /// Multiply-adds that are worth sharing out.
    const SHARED: usize = 1 << 28;
    let (rows, n) = x.dim();
    let columns = if rows.saturating_mul(n * n) < SHARED { n } else { COLUMNS };
    let mut out = room::table(n, n)?;
    let blocks: Vec<_> = out.axis_chunks_iter_mut(Axis(0), columns).enumerate().collect();
    blocks.into_par_iter().with_max_len(1).for_each(|(block, mut out)| {
        if stop.asked() {
            return;
        }
        let from = block * columns;
        let own = x.slice(s![.., from..from + out.nrows()]);
        let on = x.slice(s![.., from..]);
        general_mat_mul(1.0, &own.t(), &on, 0.0, &mut out.slice_mut(s![.., from..]));
    });
    stop.check()?;
    for i in 0..n {
        for j in 0..i {
            out[[i, j]] = out[[j, i]];
        }
    }
    Ok(out)
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

    /// With and without blocks, of numbers whose sums are exact.
    #[test]
    fn overlaps_are_the_product() {
        for (rows, n) in [(5, 3), (70, 130), (9_000, 190)] {
            let x = Array2::from_shape_fn((rows, n), |(i, j)| ((i * 7 + j * j) % 23) as f64 / 8.0);
            let found = overlaps(x.view(), &Stop::new(&())).unwrap();
            assert_eq!(found, x.t().dot(&x), "{rows} x {n}");
        }
    }

    #[test]
    fn blocks_are_found_connected_or_not() {
        let expected: Vec<usize> = (0..12).map(|i| i / 4).collect();
        for faint in [0.0, 0.01] {
            for cut in [TransferCut::new(3), TransferCut::new(Clusters::Eigengap)] {
                let fit = cut.fit(blocks(faint).view(), &()).unwrap();
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
    fn blocks_of_unequal_weight_are_found() {
        // Links of a block weigh a thousandth of those of another, and within a block they vary.
        let weight = [1.0, 0.1, 0.03];
        let b = Array2::from_shape_fn((12, 6), |(i, j)| {
            let faint = if i / 4 == j / 2 { 1.0 } else { 1e-3 };
            weight[i / 4] * weight[j / 2] * (1 + i % 3) as f64 * faint
        });
        let found = TransferCut::new(3).partition(b.view()).unwrap();
        for i in 0..12 {
            for j in 0..12 {
                assert_eq!(found[i] == found[j], i / 4 == j / 4, "{i} {j}");
            }
        }
    }

    #[test]
    fn dense_and_truncated_eigenpairs_cut_alike() {
        // 700 right nodes in 4 blocks: beyond the dense limit.
        let b = Array2::from_shape_fn((200, 700), |(i, j)| {
            if i % 4 == j % 4 { 1.0 + ((i * j) % 7) as f64 } else { 0.02 * ((i + j) % 3) as f64 }
        });
        let found = TransferCut::new(4).partition(b.view()).unwrap();
        for i in 0..200 {
            assert_eq!(found[i] == found[0], i % 4 == 0, "{i}");
        }
    }

    #[test]
    fn bad_weights_are_named() {
        let kind = |b: Array2<f64>| TransferCut::new(1).partition(b.view()).unwrap_err();
        assert_eq!(kind(array![[1.0, f64::NAN]]).kind(), ErrorKind::NonFinite);
        assert_eq!(kind(array![[1.0], [-1.0]]).kind(), ErrorKind::InvalidParameter);
        assert_eq!(kind(array![[1.0], [0.0]]).message(), "left node 1 has no links");
        assert_eq!(kind(Array2::zeros((1, 0))).kind(), ErrorKind::Empty);
        let e = TransferCut::new(3).partition(array![[1.0], [1.0]].view()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidParameter);
        assert!(TransferCut::new(1).restarts(0).check(2).is_err());
    }

    #[test]
    fn members_are_cut_where_they_agree() {
        let labels = |shift: usize| -> Vec<usize> {
            (0..24).map(|i| if i == shift { 2 - i / 8 } else { i / 8 }).collect()
        };
        let members =
            (0..5).map(|u| consilience_core::Partition::from_labels(&labels(1 + 4 * u)).unwrap());
        let ensemble = consilience_core::Ensemble::new(members.collect()).unwrap();
        let nodes = crate::Microclusters::each_object(&ensemble).unwrap();
        let incidence = ClusterIncidence::of(&nodes).unwrap();
        let even = incidence.cluster_weights();
        let found = TransferCut::new(3).partition_incidence(&incidence, &even).unwrap();
        for i in 0..24 {
            for j in 0..24 {
                assert_eq!(found[i] == found[j], i / 8 == j / 8, "{i} {j}");
            }
        }
    }
}
