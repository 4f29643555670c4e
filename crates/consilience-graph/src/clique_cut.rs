//! Cuts of the graph in which every cluster of the ensemble is a clique, without making that graph.

use consilience_core::{
    Clusters, Error, Fit, GraphPartitioner, Grouping, MemoryBudget, Microclusters, Observer,
    Partition, Report, Result, Seed, SimilarityGraph, Status, room,
};
use ndarray::Array2;

use crate::incidence::LowestTerms;
use crate::spectrum::{Eigenpairs, leading};
use crate::{ClusterIncidence, Components, HypergraphCut, SpectralCut, each_row};

/// What divides a graph: the choice that CSPA, HGPA and MCLA leave to the user.
///
/// Chosen by [`CliqueCut::cut_method`], and by the setter of that name of those methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CutMethod {
    /// The normalised cut by eigenvectors, [`SpectralCut`]: clusters may differ in size.
    #[default]
    Spectral,
    /// The hypergraph of the clusters itself, whose hyperedges have weight 1, cut into parts of
    /// nearly equal size ([`HypergraphCut`]): HGPA as published. For HGPA, and CSPA, which are then
    /// the same; MCLA has no hypergraph of objects and refuses it.
    Hypergraph,
    /// METIS, as published: clusters of nearly equal size.
    #[cfg(feature = "metis")]
    Metis,
}

consilience_core::names! {
    name "cut method" CutMethod:
    "spectral" => Spectral,
    "hypergraph" => Hypergraph,
    #[cfg(feature = "metis")]
    "metis" => Metis,
}

/// A cut by either method, and of graphs that need not be stored: what CSPA, HGPA and MCLA are made
/// of.
///
/// [`CliqueCut::cliques`] cuts the graph in which each cluster of the ensemble is a clique,
///
/// ```text
/// w_ij = sum of weight(e) over the clusters e that hold i and j,
/// ```
///
/// which the spectral cut does on the side of the clusters, without making that graph.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition, Report};
/// use consilience::graph::CliqueCut;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2])?,
/// ])?;
/// let nodes = Microclusters::of(&ensemble)?;
/// let found = CliqueCut::new(2).cliques(&nodes, |_| 1.0, &mut Report::default(), &())?;
/// assert_eq!(nodes.grouping().expand(&found)?.to_signed(), [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// With C clusters in the ensemble the spectral cut takes O(n~ M^2) for the overlaps of clusters,
/// then O(C^3) up to 400 clusters and products of O(overlaps k) beyond. METIS needs the graph: 8
/// n~^2 bytes and O(n~^2 M) time.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for 0 clusters, a
/// criterion that the method has not, or restarts outside `1..=10000`,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget,
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
#[derive(Clone, Copy, Debug)]
pub struct CliqueCut {
    clusters: Clusters,
    spectral: SpectralCut,
    seed: Seed,
    method: CutMethod,
    budget: MemoryBudget,
}

impl CliqueCut {
    /// A spectral cut; the widest gap between eigenvalues chooses k where it is not fixed.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        CliqueCut {
            clusters,
            spectral: SpectralCut::new(clusters),
            seed: Seed(0),
            method: CutMethod::default(),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// What divides the graph. Default [`CutMethod::Spectral`].
        pub fn cut_method(mut self, method: CutMethod) { self.method = method }

        /// k-means starts of the spectral cut. Default 10; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) {
            self.spectral = self.spectral.restarts(restarts)
        }

        /// Seed of the cut. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) {
            self.seed = seed;
            self.spectral = self.spectral.seed(seed)
        }

        /// How much memory a stored graph, or matrices of all clusters, may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// How many clusters are asked for.
    pub fn clusters(&self) -> Clusters {
        self.clusters
    }

    /// The memory budget.
    pub fn budget(&self) -> MemoryBudget {
        self.budget
    }

    /// Refuses parameters out of range.
    ///
    /// # Errors
    /// As [`CliqueCut`].
    pub fn check(&self) -> Result<()> {
        self.spectral.check()?;
        match (self.method, self.clusters) {
            (CutMethod::Spectral, _) | (CutMethod::Hypergraph, Clusters::Fixed(_)) => Ok(()),
            (CutMethod::Hypergraph, other) => {
                Err(other.refuse("a hypergraph partition", "a number"))
            }
            #[cfg(feature = "metis")]
            (CutMethod::Metis, Clusters::Fixed(_)) => Ok(()),
            #[cfg(feature = "metis")]
            (CutMethod::Metis, other) => Err(other.refuse("METIS", "a number")),
        }
    }

    /// The cluster of each node where a spectral cut made so many clusters of a graph on the
    /// clusters of an ensemble that has more components: those of most objects stay whole, as
    /// [`Components::joined`] says.
    #[doc(hidden)]
    pub fn joined(
        &self,
        incidence: &ClusterIncidence,
        clusters: usize,
        observer: &dyn Observer,
    ) -> Result<Option<Fit<Vec<usize>>>> {
        if self.method != CutMethod::Spectral {
            return Ok(None);
        }
        Ok(Components::of_incidence(incidence, observer)?.joined(clusters))
    }

    /// Divides a graph on the clusters of an ensemble, which say how many there may be where the
    /// number is not fixed.
    ///
    /// # Errors
    /// As [`CliqueCut`].
    #[doc(hidden)]
    pub fn fit_of_clusters(
        &self,
        graph: SimilarityGraph,
        incidence: &ClusterIncidence,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        self.check()?;
        match self.method {
            CutMethod::Spectral => self.spectral.fit_of(graph, Some(incidence), observer),
            _ => self.fit(graph, observer),
        }
    }

    /// Divides the graph of cliques, where a cluster of so many objects has the given weight: the
    /// cluster of each node.
    ///
    /// # Errors
    /// As [`CliqueCut`].
    pub fn cliques(
        &self,
        nodes: &Microclusters,
        weight: fn(f64) -> f64,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        self.check()?;
        let incidence = ClusterIncidence::of_observed(nodes, observer)?;
        let weights = incidence.objects().iter().map(|&objects| weight(objects)).collect();
        let weights = incidence.weighed(weights)?;
        if self.method == CutMethod::Spectral || nodes.n_nodes() == 0 {
            let cut = (&self.spectral, self.budget);
            return spectral(&incidence, &weights, cut, report, observer);
        }
        if self.method == CutMethod::Hypergraph {
            let cut = HypergraphCut::new(self.clusters.fixed().unwrap_or(1)).seed(self.seed);
            let found = cut.of_incidence(&incidence, nodes.grouping(), observer)?;
            report.objective = found.report.objective;
            return Ok(found.output);
        }
        let dense = expand(&incidence, &weights, self.budget, observer)?;
        let graph = SimilarityGraph::new_observed(nodes.grouping().clone(), dense, observer)?;
        let found = self.fit(graph, observer)?;
        report.status = found.report.status;
        Ok(of_nodes(nodes.grouping(), &found.output))
    }
}

impl GraphPartitioner for CliqueCut {
    fn fit(&self, graph: SimilarityGraph, observer: &dyn Observer) -> Result<Fit<Partition>> {
        self.check()?;
        match self.method {
            CutMethod::Spectral => self.spectral.fit(graph, observer),
            CutMethod::Hypergraph => Err(Error::invalid(
                "a hypergraph partition of a similarity graph, which has no hyperedges; expected \
                 another cut",
            )),
            #[cfg(feature = "metis")]
            CutMethod::Metis => crate::MetisCut::new(self.clusters.fixed().unwrap_or(1))
                .seed(self.seed)
                .memory_budget(self.budget)
                .fit(graph, observer),
        }
    }
}

/// The cluster of each node, from that of its objects.
fn of_nodes(grouping: &Grouping, partition: &Partition) -> Vec<usize> {
    let mut of_node = vec![0; grouping.n_nodes()];
    for (&node, label) in grouping.of_object().iter().zip(partition.iter()) {
        if let (Some(of_node), Some(label)) = (of_node.get_mut(node as usize), label) {
            *of_node = label;
        }
    }
    of_node
}

/// The graph of cliques, stored.
fn expand(
    incidence: &ClusterIncidence,
    weights: &[f64],
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let n = incidence.n_rows();
    budget.check_square("similarity graph", n, 8)?;
    let mut w = room::zeros(n * n)?;
    each_row(&mut w, n, &(), observer, |_, i, row| {
        // Memory that is read before it is written is given by the system twice.
        row.fill(0.0);
        for (e, p) in incidence.shares_of(i) {
            incidence.shares_in(e).for_each(|(j, q)| row[j] += weights[e] * (p * q));
        }
    })?;
    Array2::from_shape_vec((n, n), w).map_err(|e| Error::shape(e.to_string()))
}

/// [`SpectralCut`] of the graph of cliques from the incidence alone.
///
/// With B the incidence and Omega the weights, the normalised matrix of the graph is X X' for
/// X = S^1/2 D^-1/2 B Omega^1/2, so that its eigenvectors follow from those of the small X'X.
fn spectral(
    incidence: &ClusterIncidence,
    weights: &[f64],
    (cut, budget): (&SpectralCut, MemoryBudget),
    report: &mut Report,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    observer.check()?;
    let n = incidence.n_rows();
    if n == 0 {
        return Ok(Vec::new());
    }
    let parts = Components::of_incidence(incidence, observer)?;
    if let Some(clusters) = cut.joined(&parts, report) {
        return Ok(clusters);
    }
    let LowestTerms { sizes, objects, .. } = incidence.in_lowest_terms()?;
    let shares: Vec<f64> = (0..n)
        .map(|i| {
            let objects = |(e, p): (usize, f64)| weights[e] * objects[e] * p;
            sizes[i] / incidence.shares_of(i).map(objects).sum::<f64>()
        })
        .collect();
    let scale: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
    let count = cut.count(n)?.of_members(incidence);
    let wanted = count.eigenpairs().min(incidence.n_clusters());
    // Once whole, and once more component by component.
    budget.check_table("embedding of microclusters", n, wanted, 16)?;
    let found = leading(incidence, &shares, &scale, wanted, budget, observer)?;
    if !found.converged {
        report.status = Status::MaxIterations;
    }
    observer.check()?;
    let rows = embedded(incidence, &found, &scale)?;
    observer.check()?;
    cut.round((&parts, count), &found, rows, incidence.sizes(), report, observer)
}

/// The rows of the nodes from the eigenpairs of the clusters.
fn embedded(
    incidence: &ClusterIncidence,
    found: &Eigenpairs,
    scale: &[f64],
) -> Result<Array2<f64>> {
    // Beyond the rank of X there are no directions left.
    let rank = found.values.iter().take_while(|&&v| v > 1e-12).count();
    let mut vectors = found.vectors.slice(ndarray::s![.., ..rank]).to_owned();
    for (mut row, &scale) in vectors.rows_mut().into_iter().zip(scale) {
        row *= scale;
    }
    let mut rows = incidence.times(vectors.view())?;
    for mut row in rows.rows_mut() {
        for (x, v) in row.iter_mut().zip(&found.values) {
            *x /= v.sqrt();
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::{planted, small_worlds};
    use consilience_core::{Ensemble, Seed, scores};

    /// The weights of CSPA and of HGPA.
    fn weights(h: &ClusterIncidence) -> [Vec<f64>; 2] {
        [vec![1.0; h.n_clusters()], h.objects().iter().map(|&o| 1.0 / (o - 1.0).max(1.0)).collect()]
    }

    /// Object by object: counts of common clusters with their weights, straight from the
    /// definition.
    fn naive(ensemble: &Ensemble, i: usize, j: usize, inverse: bool) -> f64 {
        let mut sum = 0.0;
        for member in ensemble.members() {
            if let Some(l) = member.label(i)
                && member.label(j) == Some(l)
            {
                let size = member.sizes()[l] as f64;
                sum += if inverse { 1.0 / (size - 1.0).max(1.0) } else { 1.0 };
            }
        }
        sum
    }

    #[test]
    fn cliques_are_what_they_say() {
        for ensemble in small_worlds(4, 2) {
            let m = Microclusters::of(&ensemble).unwrap();
            let h = ClusterIncidence::of(&m).unwrap();
            for (inverse, weights) in weights(&h).iter().enumerate() {
                let w = expand(&h, weights, MemoryBudget::default(), &()).unwrap();
                let node = m.grouping().of_object();
                for i in 0..4 {
                    for j in 0..4 {
                        if let (Some(a), Some(b)) =
                            (h.sizes().get(node[i] as usize), h.sizes().get(node[j] as usize))
                        {
                            assert!(*a > 0.0 && *b > 0.0);
                            let expected = naive(&ensemble, i, j, inverse == 1);
                            assert!(
                                (w[[node[i] as usize, node[j] as usize]] - expected).abs() < 1e-14
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn cliques_of_memberships_weigh_by_both() {
        let first = |i: usize| (i % 5) as f64 / 4.0;
        let values = Array2::from_shape_fn((10, 2), |(i, c)| [first(i), 1.0 - first(i)][c]);
        let soft = consilience_core::SparseMemberships::from_array(values.view()).unwrap();
        let m = Microclusters::of(&Ensemble::mixed([soft.into()]).unwrap()).unwrap();
        let h = ClusterIncidence::of(&m).unwrap();
        let w = expand(&h, &[2.0, 2.0], MemoryBudget::default(), &()).unwrap();
        let node = |i: usize| m.grouping().of_object()[i] as usize;
        let expected = values.dot(&values.t()) * 2.0;
        for ((i, j), expected) in expected.indexed_iter() {
            assert_eq!(w[[node(i), node(j)]], *expected, "{i}, {j}");
        }
    }

    #[test]
    fn the_cut_that_is_asked_for_is_made() {
        let world = planted(Seed(6), &[30, 20, 10], 6, 0.3, 0.0).unwrap();
        let m = Microclusters::of(&world.ensemble).unwrap();
        let mut report = Report::default();
        let method = CliqueCut::new(3).cut_method(CutMethod::Hypergraph).seed(Seed(2));
        let own = method.cliques(&m, |_| 1.0, &mut report, &()).unwrap();
        let cut = HypergraphCut::new(3).seed(Seed(2));
        let expected =
            cut.of_incidence(&ClusterIncidence::of(&m).unwrap(), m.grouping(), &()).unwrap();
        assert_eq!((own, report.objective), (expected.output, expected.report.objective));
    }

    #[test]
    fn the_small_side_cuts_as_the_whole_graph_does() {
        for (seed, missing) in [(1, 0.0), (2, 0.0), (3, 0.2), (4, 0.4)] {
            let world = planted(Seed(seed), &[40, 25, 15, 10], 8, 0.15, missing).unwrap();
            let m = Microclusters::of(&world.ensemble).unwrap();
            let h = ClusterIncidence::of(&m).unwrap();
            for weights in weights(&h) {
                for k in [2, 4] {
                    let cut = SpectralCut::new(k).restarts(30);
                    let mut report = Report::default();
                    let fast =
                        spectral(&h, &weights, (&cut, MemoryBudget::default()), &mut report, &())
                            .unwrap();
                    let dense = expand(&h, &weights, MemoryBudget::default(), &()).unwrap();
                    let whole = cut
                        .fit(SimilarityGraph::new(m.grouping().clone(), dense).unwrap(), &())
                        .unwrap();
                    let (a, b) = (report.objective.unwrap(), whole.report.objective.unwrap());
                    assert!((a - b).abs() < 1e-8 * a.max(1.0), "{a} {b}");
                    if k == 4 {
                        assert_eq!(m.grouping().expand(&fast).unwrap(), whole.output);
                    }
                }
            }
        }
    }

    #[test]
    fn a_few_pairs_of_many_clusters_cut_as_well() {
        let n = 4000;
        let member = |u: u64| {
            let mut random = Seed(u).stream();
            let labels: Vec<usize> = (0..n).map(|i| (i % 5) * 1000 + random.below(180)).collect();
            Partition::from_labels(&labels).unwrap()
        };
        let ensemble = Ensemble::new((0..3).map(member).collect()).unwrap();
        let m = Microclusters::of(&ensemble).unwrap();
        let h = ClusterIncidence::of(&m).unwrap();
        assert!(h.n_clusters() > 2000, "{}", h.n_clusters());
        let weights = vec![1.0; h.n_clusters()];
        let cut = SpectralCut::new(5);
        let fast =
            spectral(&h, &weights, (&cut, MemoryBudget::default()), &mut Report::default(), &())
                .unwrap();
        let found = m.grouping().expand(&fast).unwrap();
        let expected = Partition::from_fn(n, |i| Some(i as u64 % 5)).unwrap();
        let agreement = scores::adjusted_rand(&found, &expected);
        assert!(found == expected, "adjusted Rand {agreement:?}");
    }
}
