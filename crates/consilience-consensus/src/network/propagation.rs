use consilience_core::{
    ConsensusFunction, Ensemble, Fit, Observer, Partition, Report, Result, Seed, Status, Watch,
    at_least_one, ensure,
};
use consilience_graph::Network;

use super::{Adjacency, Condensed, Kept, ROUNDED};

/// Nodes that are asked one after the other.
const BLOCK: usize = 1 << 12;

/// Label propagation on the edges, weighted by how often members keep their ends together.
///
/// For network clusterings with clusters of any number and size: each node takes over the label
/// that its neighbours hold with the largest weight, until none changes. Single stray edges join
/// nothing, unlike in [`NetworkComponents`](super::NetworkComponents). The number of clusters is
/// found, not asked for.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::NetworkPropagation;
/// use consilience::graph::Network;
///
/// // Two squares and an edge between them.
/// let square = |f: usize| [(f, f + 1), (f + 1, f + 2), (f + 2, f + 3), (f + 3, f), (f, f + 2)];
/// let network = Network::new(8, square(0).into_iter().chain(square(4)).chain([(3, 4)]))?;
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2, 2])?,
/// ])?;
/// let found = NetworkPropagation::new(network).consensus(&ensemble)?;
/// assert_eq!(found.n_clusters(), 2);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// As [`NetworkComponents`](super::NetworkComponents), and
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for no
/// iterations.
///
/// # Complexity
/// O(edges x members) time for the weights, in parallel, and O(edges) for each iteration.
///
/// # References
/// U. N. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures
/// in large-scale networks", Physical Review E 76 (2007). Weights are co-associations; objects that
/// all members keep together along edges are one node; a level vote keeps the label that a node
/// has, or else takes the lowest.
#[derive(Clone, Debug)]
pub struct NetworkPropagation {
    network: Network,
    threshold: f64,
    max_iterations: usize,
    seed: Seed,
}

impl NetworkPropagation {
    /// Over all edges on which some member agrees.
    pub fn new(network: Network) -> Self {
        NetworkPropagation { network, threshold: 0.0, max_iterations: 100, seed: Seed(0) }
    }

    consilience_core::setters! {
        /// Edges of less co-association are left out. Default 0; at most 1.
        pub fn threshold(mut self, share: f64) { self.threshold = share }

        /// Most passes over all nodes. Default 100; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Of the order of the nodes in each pass: blocks at random, and nodes at random in each.
        /// Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }

    /// A random order of blocks of nodes, and of the nodes in each: neighbours often have near
    /// numbers, and stay in the cache.
    fn order(&self, nodes: usize, pass: usize) -> impl Iterator<Item = usize> {
        let seed = self.seed.derive("pass", pass as u64);
        let mut blocks: Vec<usize> = (0..nodes.div_ceil(BLOCK)).collect();
        seed.stream().shuffle(&mut blocks);
        blocks.into_iter().flat_map(move |block| {
            let mut inside: Vec<usize> =
                (block * BLOCK..((block + 1) * BLOCK).min(nodes)).collect();
            seed.derive("block", block as u64).stream().shuffle(&mut inside);
            inside
        })
    }

    /// The label of each node.
    fn propagate(
        &self,
        graph: &Adjacency<f64>,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let n = graph.n_nodes();
        let mut label: Vec<u32> = (0..n as u32).collect();
        let mut votes = Votes { weight: vec![0.0; n], found: Vec::new() };
        // Nodes with a neighbour that changed since they were last asked; nobody else would.
        let mut open = vec![true; n];
        let mut watch = Watch::new(observer, "propagation", self.max_iterations);
        let mut changed = true;
        while changed && report.iterations < self.max_iterations {
            watch.step(report.iterations)?;
            changed = false;
            for (at, node) in self.order(n, report.iterations).enumerate() {
                if at.is_multiple_of(BLOCK) {
                    observer.check()?;
                }
                if !std::mem::take(&mut open[node]) {
                    continue;
                }
                let best = votes.of(graph.row(node), &label, label[node]);
                if best != label[node] {
                    label[node] = best;
                    changed = true;
                    graph.row(node).iter().for_each(|&(j, _)| open[j as usize] = true);
                }
            }
            report.iterations += 1;
        }
        watch.finish()?;
        if changed {
            report.status = Status::MaxIterations;
        }
        Ok(label.into_iter().map(|l| l as usize).collect())
    }
}

/// The weight of each label among the neighbours of a node.
struct Votes {
    weight: Vec<f64>,
    found: Vec<u32>,
}

impl Votes {
    fn of(&mut self, neighbours: &[(u32, f64)], label: &[u32], own: u32) -> u32 {
        for &(j, w) in neighbours {
            let l = label[j as usize];
            if self.weight[l as usize] == 0.0 {
                self.found.push(l);
            }
            self.weight[l as usize] += w;
        }
        let mut best = own;
        let mut most = self.weight[own as usize];
        for &l in &self.found {
            let weight = self.weight[l as usize];
            if weight > most || (weight == most && best != own && l < best) {
                (best, most) = (l, weight);
            }
        }
        for l in self.found.drain(..) {
            self.weight[l as usize] = 0.0;
        }
        best
    }
}

impl ConsensusFunction for NetworkPropagation {
    type Output = Partition;

    fn name(&self) -> &str {
        "network-propagation"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let threshold = self.threshold;
        ensure!(
            (0.0..=1.0).contains(&threshold),
            invalid("threshold {threshold}; expected 0 to 1")
        );
        at_least_one("max_iterations", self.max_iterations)?;
        let mut report = Report::default();
        let graph = Condensed::new(&self.network, ensemble, Kept::Agreed, &mut report, observer)?;
        let adjacency = Adjacency::of(graph.n_nodes(), &graph.edges, |_, edge| {
            let kept = edge.sum >= threshold * ROUNDED * f64::from(edge.count);
            kept.then_some(edge.sum)
        });
        let start = std::time::Instant::now();
        let label = self.propagate(&adjacency, &mut report, observer)?;
        report.stages.push(("partition", start.elapsed()));
        Ok(Fit::new(graph.expand(&label)?, report))
    }
}
