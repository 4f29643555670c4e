use consilience_core::{
    Clusters, Fit, GraphPartitioner, Observer, Partition, Report, Result, Seed, SimilarityGraph,
    Status, check_restarts, room, sizes_in_lowest_terms,
};
use consilience_num::kmeans::KMeansOptions;
use ndarray::Array2;

use crate::{
    ClusterIncidence, Components, Eigenpairs, SpectralCount, cluster_directions, leading_eigenpairs,
};

/// The normalised cut of a similarity graph by its leading eigenvectors.
///
/// Use it where clusters may differ in size and every link matters; where a few strong links are
/// right, linkage ([`Agglomeration`](crate::Agglomeration)) is better, and where clusters are
/// known to be of equal size a balanced partition (`MetisCut`, feature `metis`) is.
///
/// A node i represents its `s_i` objects. With `d_i = sum_j s_j w_ij` the eigenvectors `u` of
///
/// ```text
/// sqrt(s_i s_j) w_ij / sqrt(d_i d_j)
/// ```
///
/// are those of the graph of all objects, so that cutting groups of alike objects equals cutting
/// the objects. The rows of the k leading eigenvectors are scaled to norm 1 and clustered by
/// k-means, in which a node weighs `s_i`. A node without links is a component of its own, and a
/// graph in several components is cut as [`Components`] says. Fewer than k clusters come out where
/// the eigenvectors distinguish fewer nodes.
///
/// ```
/// use consilience::SimilarityGraph;
/// use consilience::core::{GraphPartitioner, Grouping};
/// use consilience::graph::SpectralCut;
/// use consilience::ndarray::array;
///
/// let nodes = Grouping::new(vec![0, 1, 2, 3, 3], 4)?;
/// let weights = array![
///     [1.0, 0.9, 0.1, 0.0],
///     [0.9, 1.0, 0.0, 0.1],
///     [0.1, 0.0, 1.0, 0.8],
///     [0.0, 0.1, 0.8, 1.0],
/// ];
/// let found = SpectralCut::new(2).partition(SimilarityGraph::new(nodes, weights)?)?;
/// assert_eq!(found.to_signed(), vec![0, 0, 1, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~^3) time up to 400 nodes, about 20 products of O(n~^2 k) beyond; one more matrix of the
/// graph's size.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k = 0 or
/// restarts outside `1..=10000`, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Shi, Malik 2000, "Normalized Cuts and Image Segmentation"; Ng, Jordan, Weiss 2001, "On Spectral
/// Clustering: Analysis and an algorithm". Weighted nodes and isolated ones are ours.
#[doc(alias = "spectral clustering")]
#[doc(alias = "Ncut")]
#[derive(Clone, Copy, Debug)]
pub struct SpectralCut {
    clusters: Clusters,
    restarts: usize,
    seed: Seed,
}

impl SpectralCut {
    /// A cut into clusters; the widest gap between eigenvalues chooses k where it is not fixed.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        SpectralCut { clusters: clusters.into(), restarts: 10, seed: Seed(0) }
    }

    consilience_core::setters! {
        /// How many clusters to make. Default the number given to [`SpectralCut::new`].
        pub fn clusters(mut self, clusters: impl Into<Clusters>) { self.clusters = clusters.into() }

        /// k-means starts, of which the one of least inertia is kept. Default 10; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Seed of the k-means starts. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_restarts(self.restarts)?;
        SpectralCount::check(self.clusters)
    }

    /// How many clusters of so many nodes, as far as it is known before the eigenvalues are.
    pub(crate) fn count(&self, nodes: usize) -> Result<SpectralCount> {
        SpectralCount::new(self.clusters, nodes)
    }

    /// The clusters of graphs in more components than the fixed number of clusters, where no
    /// eigenvector is needed.
    pub(crate) fn joined(&self, parts: &Components, report: &mut Report) -> Option<Vec<usize>> {
        let Fit { output, report: found } = parts.joined(self.clusters.fixed()?)?;
        report.adopt(found);
        Some(output)
    }

    /// The cluster of each node from the eigenpairs (of the nodes or of another side) and the rows
    /// that they mean for the nodes (in any scale); fewer rows of distinct direction give fewer
    /// clusters. Writes status, iterations and objective.
    pub(crate) fn round(
        &self,
        (parts, count): (&Components, SpectralCount),
        found: &Eigenpairs,
        mut rows: Array2<f64>,
        sizes: &[f64],
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let nodes = rows.nrows();
        let k = count.clusters(&found.values);
        if k == nodes {
            return Ok((0..nodes).collect());
        }
        let Fit { output, report: found } = match parts.joined(k) {
            Some(joined) => joined,
            None => {
                let used = k.min(rows.ncols());
                rows = room::copied_table(rows.slice(ndarray::s![.., ..used]))?;
                parts.cut(k, found.vectors.view(), rows, sizes, |rows, sizes, k| {
                    let options = KMeansOptions::new(k)
                        .restarts(self.restarts)
                        .seed(self.seed.derive("spectral cut", 0));
                    cluster_directions(rows, Some(sizes), &options, observer)
                })?
            }
        };
        report.adopt(found);
        Ok(output)
    }
}

impl SpectralCut {
    /// The cluster of each node; the weights are overwritten.
    fn of_nodes(
        &self,
        w: &mut Array2<f64>,
        sizes: Vec<f64>,
        members: Option<&ClusterIncidence>,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let nodes = sizes.len();
        let parts = Components::of_graph(w.view(), &sizes, observer)?;
        if let Some(clusters) = self.joined(&parts, report) {
            return Ok(clusters);
        }
        let lowest = sizes_in_lowest_terms(&sizes)?.0;
        normalise(w, &lowest, observer)?;
        let count = self.count(nodes)?;
        let count = match members {
            Some(incidence) => count.of_members(incidence),
            None => count.of_components(&parts, &sizes),
        };
        let found = leading_eigenpairs(w, count.eigenpairs().min(nodes), observer)?;
        if !found.converged {
            report.status = Status::MaxIterations;
        }
        observer.check()?;
        let mut rows = found.vectors.clone();
        for (mut row, s) in rows.rows_mut().into_iter().zip(&*lowest) {
            row /= s.sqrt();
        }
        self.round((&parts, count), &found, rows, &sizes, report, observer)
    }

    /// The cut of a graph on the clusters of an ensemble, or of any graph.
    pub(crate) fn fit_of(
        &self,
        graph: SimilarityGraph,
        members: Option<&ClusterIncidence>,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        self.check()?;
        observer.check()?;
        let (grouping, mut w) = graph.into_parts();
        let mut report = Report::default();
        let nodes = grouping.n_nodes();
        let clusters = if nodes == 0 {
            Vec::new()
        } else {
            self.of_nodes(&mut w, grouping.weights(), members, &mut report, observer)?
        };
        let partition = grouping.expand(&clusters)?;
        if let Some(k) = self.clusters.fixed() {
            let found = partition.n_clusters();
            report.expect_clusters(k, found, fewer(found, nodes));
        }
        Ok(Fit::new(partition, report))
    }
}

impl GraphPartitioner for SpectralCut {
    fn fit(&self, graph: SimilarityGraph, observer: &dyn Observer) -> Result<Fit<Partition>> {
        self.fit_of(graph, None, observer)
    }
}

/// Why a cut found fewer clusters than asked for.
pub(crate) fn fewer(found: usize, nodes: usize) -> &'static str {
    if found < nodes {
        "the cut left the others empty"
    } else {
        "the ensemble distinguishes no more objects"
    }
}

/// `sqrt(s_i s_j) w_ij / sqrt(d_i d_j)` in place; 1 on the diagonal of a node without links.
fn normalise(w: &mut Array2<f64>, sizes: &[f64], observer: &dyn Observer) -> Result<()> {
    // Sums of weights near the largest number would overflow; the cut does not depend on their
    // scale.
    let mut largest = 0.0f64;
    for row in w.rows() {
        observer.check()?;
        largest = row.iter().fold(largest, |m, &w| m.max(w));
    }
    let mut degrees: Vec<f64> = room::with_capacity(sizes.len())?;
    for mut row in w.rows_mut() {
        observer.check()?;
        if largest > 0.0 {
            row.mapv_inplace(|w| w / largest);
        }
        degrees.push(row.iter().zip(sizes).map(|(w, s)| w * s).sum());
    }
    let scale: Vec<f64> = degrees
        .iter()
        .zip(sizes)
        .map(|(&d, s)| if d > 0.0 { (s / d).sqrt() } else { 0.0 })
        .collect();
    for (i, mut row) in w.rows_mut().into_iter().enumerate() {
        observer.check()?;
        for (w, s) in row.iter_mut().zip(&scale) {
            *w *= scale[i] * s;
        }
        if degrees[i] == 0.0 {
            row[i] = 1.0;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{ErrorKind, Grouping};
    use ndarray::array;

    fn graph(n: usize, weight: impl Fn(usize, usize) -> f64) -> SimilarityGraph {
        let nodes = Grouping::new((0..n as u32).collect::<Vec<_>>(), n).unwrap();
        SimilarityGraph::new(
            nodes,
            Array2::from_shape_fn((n, n), |(i, j)| weight(i.min(j), i.max(j))),
        )
        .unwrap()
    }

    #[test]
    fn blocks_are_found_whole_or_truncated_connected_or_not() {
        for (n, faint) in [(40, 0.0), (40, 0.02), (700, 0.0), (700, 0.01)] {
            let weight = |i: usize, j: usize| {
                if i % 4 == j % 4 {
                    1.0 + ((i * j) % 5) as f64
                } else {
                    faint * ((i + j) % 3) as f64
                }
            };
            for cut in [SpectralCut::new(4), SpectralCut::new(Clusters::Eigengap)] {
                let fit = cut.fit(graph(n, weight), &()).unwrap();
                let expected: Vec<i64> = (0..n as i64).map(|i| i % 4).collect();
                assert_eq!(fit.output.to_signed(), expected, "{n} nodes, faint {faint}");
            }
        }
    }

    #[test]
    fn weighted_nodes_equal_their_objects() {
        // Node i of the small graph represents i % 3 + 1 objects of the large one.
        let n = 30;
        let of_object: Vec<u32> = (0..n as u32).flat_map(|i| vec![i; i as usize % 3 + 1]).collect();
        let weight = |i: usize, j: usize| {
            if i % 3 == j % 3 {
                0.5 + ((i * 7 + j) % 4) as f64 / 8.0
            } else {
                0.2 * ((i + j) % 4) as f64 / 3.0
            }
        };
        let weight = |i: usize, j: usize| if i == j { 1.0 } else { weight(i.min(j), i.max(j)) };
        let large =
            graph(of_object.len(), |a, b| weight(of_object[a] as usize, of_object[b] as usize));
        let small = SimilarityGraph::new(
            Grouping::new(of_object.clone(), n).unwrap(),
            Array2::from_shape_fn((n, n), |(i, j)| weight(i, j)),
        )
        .unwrap();
        for k in 2..5 {
            let cut = SpectralCut::new(k).restarts(50);
            let (a, b) =
                (cut.fit(large.clone(), &()).unwrap(), cut.fit(small.clone(), &()).unwrap());
            let (x, y) = (a.report.objective.unwrap(), b.report.objective.unwrap());
            assert!((x - y).abs() < 1e-9 * x.max(1.0), "k = {k}: {x} and {y}");
            if k == 3 {
                assert_eq!(a.output, b.output);
            }
        }
    }

    #[test]
    fn hostile_graphs() {
        // No links at all, the largest weights there are, and a single node.
        let cut = SpectralCut::new(2);
        assert_eq!(cut.fit(graph(5, |_, _| 0.0), &()).unwrap().output.n_clusters(), 2);
        let huge = graph(6, |i, j| if i % 2 == j % 2 { f64::MAX } else { 1.0 });
        assert_eq!(cut.fit(huge, &()).unwrap().output.to_signed(), vec![0, 1, 0, 1, 0, 1]);
        let one = cut.fit(graph(1, |_, _| 1.0), &()).unwrap();
        assert_eq!((one.output.n_clusters(), one.report.clusters_missing.is_some()), (1, true));
        assert!(one.report.notes[0].ends_with(fewer(1, 1)), "{:?}", one.report.notes);
        assert!(fewer(1, 1).starts_with("the ensemble") && fewer(1, 2).starts_with("the cut"));
        let nothing = SimilarityGraph::new(
            Grouping::new(vec![Grouping::NONE], 0).unwrap(),
            Array2::zeros((0, 0)),
        );
        assert_eq!(cut.fit(nothing.unwrap(), &()).unwrap().output.to_signed(), vec![-1]);
        let e = SpectralCut::new(0).fit(graph(2, |_, _| 1.0), &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidParameter);
        let e = cut.restarts(0).fit(graph(2, |_, _| 1.0), &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidParameter);
        let mut w = array![[0.0, 0.0], [0.0, 4.0]];
        normalise(&mut w, &[3.0, 2.0], &()).unwrap();
        assert_eq!(w, array![[1.0, 0.0], [0.0, 1.0]]);
    }
}
