use consilience_core::{Fit, Joined, Observer, Report, Result, Status, sizes_in_lowest_terms};
use ndarray::{Array2, ArrayView2, Axis};

use crate::ClusterIncidence;

/// The connected components of a graph that is cut by eigenvectors, which are those of the graph
/// itself or of a smaller one on its other side.
///
/// Eigenvectors of a graph in several components say little about which belongs to which: those of
/// the value 1 span what is constant on each component, in any rotation. A cut by them may then
/// divide one component and join parts of two that share nothing. Hence
///
/// - with more components than clusters, the largest components are clusters of their own and all
///   others make the last one ([`Components::joined`]): by size, then by the order of the nodes;
/// - otherwise each component is cut by itself ([`Components::cut`]), into as many clusters as
///   leading eigenvectors lie in it.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition};
/// use consilience::graph::{ClusterIncidence, Components};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 1, 1, 2, 2, 2])?,
///     Partition::from_labels(&[0, 1, 1, 2, 2, 3])?,
/// ])?;
/// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?)?;
/// let parts = Components::of_incidence(&incidence, &())?;
/// // Object 0; objects 1 and 2; the others, in two microclusters.
/// assert_eq!(parts.of_node(), [0, 1, 2, 2]);
/// assert_eq!(parts.joined(2).unwrap().output, [0, 0, 1, 1]);
/// assert!(parts.joined(3).is_none());
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    of_node: Vec<usize>,
    /// Component of each node that eigenvectors speak of.
    of_other: Vec<usize>,
    sizes: Vec<f64>,
    nodes: Vec<usize>,
}

impl Components {
    /// Of the graph of microclusters and clusters, whose eigenvectors are those of the clusters;
    /// sizes count objects.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn of_incidence(incidence: &ClusterIncidence, observer: &dyn Observer) -> Result<Self> {
        let mut joined = Joined::new(incidence.n_rows());
        for cluster in 0..incidence.n_clusters() {
            observer.check()?;
            let rows = incidence.rows_of(cluster);
            rows.iter().for_each(|&row| _ = joined.join(rows[0] as usize, row as usize));
        }
        let of_node = numbers(joined);
        let of_other =
            (0..incidence.n_clusters()).map(|c| of_node[incidence.rows_of(c)[0] as usize]);
        Ok(Self::new(of_node.clone(), of_other.collect(), incidence.sizes()))
    }

    /// Of a graph on the clusters of an ensemble that links those with a common microcluster and
    /// maybe others of their component, cut by its own eigenvectors; sizes count objects, over all
    /// members.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn of_clusters(incidence: &ClusterIncidence, observer: &dyn Observer) -> Result<Self> {
        let of_cluster = Self::of_incidence(incidence, observer)?.of_other;
        let of_node = by_first(&of_cluster);
        Ok(Self::new(of_node.clone(), of_node, incidence.objects()))
    }

    /// Of a graph with a symmetric matrix of weights and a size of each node, cut by its own
    /// eigenvectors.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn of_graph(
        weights: ArrayView2<'_, f64>,
        sizes: &[f64],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut joined = Joined::new(weights.nrows());
        for (i, row) in weights.rows().into_iter().enumerate() {
            observer.check()?;
            let links = row.into_iter().take(i).enumerate().filter(|(_, w)| **w != 0.0);
            links.for_each(|(j, _)| _ = joined.join(i, j));
        }
        let of_node = numbers(joined);
        Ok(Self::new(of_node.clone(), of_node, sizes))
    }

    /// Of a graph given by its links, with a size of each node, cut by its own eigenvectors. The
    /// ends of all links must be below the number of sizes.
    ///
    /// ```
    /// use consilience::graph::Components;
    ///
    /// let parts = Components::of_links([(0, 2), (2, 3)], &[1.0; 4]);
    /// assert_eq!(parts.of_node(), [0, 1, 0, 0]);
    /// ```
    pub fn of_links(links: impl IntoIterator<Item = (usize, usize)>, sizes: &[f64]) -> Self {
        let mut joined = Joined::new(sizes.len());
        links.into_iter().for_each(|(i, j)| _ = joined.join(i, j));
        let of_node = numbers(joined);
        Self::new(of_node.clone(), of_node, sizes)
    }

    /// Of a bipartite graph with weights between left nodes (rows), which are cut, and right nodes,
    /// whose eigenvectors are found, with a size of each left node. A right node without links
    /// counts to the first component.
    pub(crate) fn of_bipartite(
        b: ArrayView2<'_, f64>,
        sizes: &[f64],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut joined = Joined::new(b.nrows());
        let mut first = vec![None; b.ncols()];
        for (i, row) in b.rows().into_iter().enumerate() {
            observer.check()?;
            // Neighbouring columns mostly began together: no need to ask again.
            let mut last = i;
            for (first, _) in first.iter_mut().zip(row).filter(|(_, w)| **w != 0.0) {
                let first = *first.get_or_insert(i);
                if first != last {
                    joined.join(first, i);
                    last = first;
                }
            }
        }
        let of_node = numbers(joined);
        let of_other = first.iter().map(|f| f.map_or(0, |i| of_node[i])).collect();
        Ok(Self::new(of_node, of_other, sizes))
    }

    fn new(of_node: Vec<usize>, of_other: Vec<usize>, weights: &[f64]) -> Self {
        let count = of_node.iter().max().map_or(0, |m| m + 1);
        let (mut sizes, mut nodes) = (vec![0.0; count], vec![0; count]);
        for (&c, weight) in of_node.iter().zip(weights) {
            sizes[c] += weight;
            nodes[c] += 1;
        }
        Components { of_node, of_other, sizes, nodes }
    }

    /// How many there are.
    pub fn n_components(&self) -> usize {
        self.sizes.len()
    }

    /// The component of each node that is to be cut, numbered by the first node.
    pub fn of_node(&self) -> &[usize] {
        &self.of_node
    }

    /// With more components than clusters, the cluster of each node: the largest `clusters - 1`
    /// components are clusters, all others together are the last; of equally large ones that with
    /// the first node is taken for larger. The clusters are numbered by their first node.
    pub fn joined(&self, clusters: usize) -> Option<Fit<Vec<usize>>> {
        let count = self.n_components();
        if count <= clusters || clusters == 0 {
            return None;
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| self.sizes[b].total_cmp(&self.sizes[a]).then(a.cmp(&b)));
        let mut of_component = vec![clusters - 1; count];
        for (cluster, &c) in order.iter().take(clusters - 1).enumerate() {
            of_component[c] = cluster;
        }
        let found: Vec<usize> = self.of_node.iter().map(|&c| of_component[c]).collect();
        let mut report = Report::default();
        report.notes.push(format!(
            "the graph has {count} components, more than clusters: the smallest {} are joined",
            count + 1 - clusters
        ));
        Some(Fit::new(by_first(&found), report))
    }

    /// Cuts each component by itself, into as many clusters as it holds of the `clusters` leading
    /// eigenvectors, which are the columns of `vectors`, orthonormal, one row per node of the
    /// eigenvectors' side. `cut` gets the rows of the nodes of a component, their weights and the
    /// number of clusters. Weights that are whole numbers are divided by what divides all of them
    /// first, and the objective is multiplied by it, so that the unit in which objects are counted
    /// leaves no trace in the clusters.
    ///
    /// # Errors
    /// Those of `cut`; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the
    /// system has no memory left.
    pub fn cut(
        &self,
        clusters: usize,
        vectors: ArrayView2<'_, f64>,
        rows: Array2<f64>,
        weights: &[f64],
        cut: impl FnMut(Array2<f64>, &[f64], usize) -> Result<Fit<Vec<usize>>>,
    ) -> Result<Fit<Vec<usize>>> {
        let (lowest, unit) = sizes_in_lowest_terms(weights)?;
        let mut fit = self.cut_each(clusters, vectors, rows, &lowest, cut)?;
        fit.report.objective = fit.report.objective.map(|value| value * unit);
        Ok(fit)
    }

    fn cut_each(
        &self,
        clusters: usize,
        vectors: ArrayView2<'_, f64>,
        rows: Array2<f64>,
        weights: &[f64],
        mut cut: impl FnMut(Array2<f64>, &[f64], usize) -> Result<Fit<Vec<usize>>>,
    ) -> Result<Fit<Vec<usize>>> {
        if self.n_components() <= 1 {
            return cut(rows, weights, clusters);
        }
        let (mut found, mut first) = (vec![0; rows.nrows()], 0);
        let mut report = Report::default();
        let mut members = vec![Vec::new(); self.n_components()];
        self.of_node.iter().enumerate().for_each(|(i, &c)| members[c].push(i));
        for (members, k) in members.iter().zip(self.shares(clusters, vectors)) {
            let own: Vec<f64> = members.iter().map(|&i| weights[i]).collect();
            let part = cut(rows.select(Axis(0), members), &own, k)?;
            let mut next = first;
            for (&i, c) in members.iter().zip(part.output) {
                found[i] = first + c;
                next = next.max(first + c + 1);
            }
            first = next;
            report.iterations = report.iterations.max(part.report.iterations);
            if part.report.status != Status::Solved {
                report.status = part.report.status;
            }
            if let Some(value) = part.report.objective {
                report.objective = Some(report.objective.unwrap_or(0.0) + value);
            }
        }
        Ok(Fit::new(by_first(&found), report))
    }

    /// Clusters of each component: its share in the leading eigenvectors, at least 1 and at most
    /// its nodes, rounded so that all are given out; the first of equals is given more.
    fn shares(&self, clusters: usize, vectors: ArrayView2<'_, f64>) -> Vec<usize> {
        let mut mass = vec![0.0; self.n_components()];
        for (row, &c) in vectors.rows().into_iter().zip(&self.of_other) {
            mass[c] += row.iter().take(clusters).map(|v| v * v).sum::<f64>();
        }
        let mut shares = vec![1; mass.len()];
        for _ in mass.len()..clusters {
            // What is still owed, on a grid on which rounding makes no difference; beyond the last
            // eigenvector, the nodes that share a cluster.
            let owed = |c: usize| ((mass[c] - shares[c] as f64) * 1e6).round();
            let crowd = |c: usize| self.nodes[c] as f64 / shares[c] as f64;
            let more = |&a: &usize, &b: &usize| {
                owed(a).total_cmp(&owed(b)).then(crowd(a).total_cmp(&crowd(b))).then(b.cmp(&a))
            };
            match (0..mass.len()).filter(|&c| shares[c] < self.nodes[c]).max_by(more) {
                Some(c) => shares[c] += 1,
                None => break,
            }
        }
        shares
    }
}

/// The same clusters, numbered by their first node.
fn by_first(found: &[usize]) -> Vec<usize> {
    let mut number = vec![usize::MAX; found.len()];
    let mut next = 0;
    found
        .iter()
        .map(|&c| {
            if number[c] == usize::MAX {
                number[c] = next;
                next += 1;
            }
            number[c]
        })
        .collect()
}

/// The number of each node's set, sets numbered by their first node.
fn numbers(mut joined: Joined) -> Vec<usize> {
    joined.numbers(|_| true).0.into_iter().map(|set| set as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Ensemble, Microclusters, Partition};
    use ndarray::array;

    fn incidence(rows: &[&[i64]]) -> ClusterIncidence {
        let members = rows.iter().map(|r| Partition::from_labels(r).unwrap()).collect();
        ClusterIncidence::of(&Microclusters::of(&Ensemble::new(members).unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn all_sides_see_the_same_components() {
        let h = incidence(&[&[0, 0, 1, 2, 2, -1], &[0, 1, 2, 3, -1, -1]]);
        let parts = Components::of_incidence(&h, &()).unwrap();
        assert_eq!(parts.of_node(), [0, 0, 1, 2, 2]);
        assert_eq!(parts.of_other, [0, 1, 2, 0, 0, 1, 2]);
        assert_eq!(parts.sizes, [2.0, 1.0, 2.0]);
        assert_eq!(Components::of_clusters(&h, &()).unwrap().of_node(), parts.of_other);
        let b = array![[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.5, 0.0, 0.0]];
        let parts = Components::of_bipartite(b.view(), &[1.0, 5.0, 2.0], &()).unwrap();
        assert_eq!((parts.of_node(), &parts.of_other[..]), (&[0, 1, 0][..], &[0, 1, 0][..]));
        assert_eq!(parts.sizes, [3.0, 5.0]);
        let w = array![[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
        assert_eq!(Components::of_graph(w.view(), &[1.0; 3], &()).unwrap().of_node(), [0, 1, 0]);
    }

    #[test]
    fn the_largest_stay_and_the_first_of_equals_is_larger() {
        let parts = Components::new(vec![0, 1, 2, 2, 3, 3, 3], vec![], &[1.0; 7]);
        assert_eq!(parts.joined(1).unwrap().output, [0; 7]);
        assert_eq!(parts.joined(2).unwrap().output, [0, 0, 0, 0, 1, 1, 1]);
        let three = parts.joined(3).unwrap();
        assert_eq!(three.output, [0, 0, 1, 1, 2, 2, 2]);
        assert!(three.report.notes[0].contains("4 components"), "{:?}", three.report.notes);
        assert!(parts.joined(4).is_none());
        let equal = Components::new(vec![0, 1, 2], vec![], &[1.0; 3]);
        assert_eq!(equal.joined(2).unwrap().output, [0, 1, 1]);
    }

    #[test]
    fn the_unit_of_weights_shows_in_the_objective_alone() {
        let parts = Components::new(vec![0, 0, 1], vec![0, 0, 1], &[3.0, 6.0, 9.0]);
        let vectors = array![[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]];
        let mut seen = Vec::new();
        let weights = [3.0, 6.0, 9.0];
        let found = parts.cut(2, vectors.view(), vectors.clone(), &weights, |rows, w, k| {
            seen.extend_from_slice(w);
            let mut report = Report::default();
            report.objective = Some(w.iter().sum());
            Ok(Fit::new(vec![k - 1; rows.nrows()], report))
        });
        let found = found.unwrap();
        assert_eq!((seen, found.report.objective), (vec![1.0, 2.0, 3.0], Some(18.0)));
        assert_eq!(found.output, [0, 0, 1]);
    }

    /// Each component gets as many clusters as eigenvectors lie in it, and all clusters are given
    /// out as long as there are nodes.
    #[test]
    fn shares_follow_the_eigenvectors() {
        let parts = Components::new(vec![0, 0, 0, 1, 1], vec![0, 0, 0, 1, 1], &[1.0; 5]);
        let half = 0.5f64.sqrt();
        // Two vectors of the first, one of the second; the first two rotated into each other.
        let vectors = array![
            [half, half, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.0, 0.0],
            [half, -half, 0.0],
            [0.0, 0.0, 0.0]
        ];
        assert_eq!(parts.shares(2, vectors.view()), [1, 1]);
        assert_eq!(parts.shares(3, vectors.view()), [2, 1]);
        assert_eq!(parts.shares(4, vectors.view()), [2, 2]);
        assert_eq!(parts.shares(9, vectors.view()), [3, 2]);
    }
}
