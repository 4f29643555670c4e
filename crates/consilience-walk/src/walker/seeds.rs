//! Where the walks end.

use consilience_core::{
    Clusters, Grouping, Linkage, Observer, Pace, Result, SimilarityGraph, at_least_one, room,
};
use consilience_graph::{Agglomeration, Lifespan, each_row};

/// What a [`RandomWalker`](crate::RandomWalker) takes as the cores of clusters.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::walk::{RandomWalker, SeedRule};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1, 1, 1])?,
/// ])?;
/// // Three objects and four; the one between them is no region.
/// let walker = RandomWalker::new(2).seeds(SeedRule::Agreement { least: 2 });
/// let soft = walker.soft().consensus(&ensemble)?;
/// assert!(soft.values()[[3, 0]] > 0.2 && soft.values()[[3, 0]] < 0.8);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeedRule {
    /// Groups by average linkage of all microclusters; in each the best supported ones, until they
    /// hold half of its objects, and all that tie with the last of them.
    #[default]
    Supported,
    /// As published: regions on which all members agree, of at least so many objects, joined by
    /// the largest mean co-association until k are left. All their objects are seeds. Where there
    /// are fewer than k such regions, the k largest are taken.
    Agreement {
        /// Fewest objects of a region; at least 1.
        least: usize,
    },
}

impl SeedRule {
    pub(super) fn check(self) -> Result<()> {
        match self {
            SeedRule::Supported => Ok(()),
            SeedRule::Agreement { least } => at_least_one("objects of a region", least),
        }
    }
}

/// Groups of the nodes, and which nodes are at the core of theirs.
pub(super) struct Seeds {
    /// Number of groups, none without a seed.
    pub(super) count: usize,
    /// Group of each node.
    pub(super) group: Vec<usize>,
    /// Whether each node is a seed.
    pub(super) marked: Vec<bool>,
}

impl Seeds {
    /// Those of the rule.
    pub(super) fn by(
        rule: SeedRule,
        graph: &SimilarityGraph,
        clusters: Clusters,
        observer: &dyn Observer,
    ) -> Result<Self> {
        match rule {
            SeedRule::Supported => Seeds::find(graph, clusters, observer),
            SeedRule::Agreement { least } => Seeds::agreed(graph, least, clusters, observer),
        }
    }

    /// Microclusters of at least so many objects, joined by average linkage, which counts pairs of
    /// objects; the others begin in the group with which they have the largest mean co-association.
    fn agreed(
        graph: &SimilarityGraph,
        least: usize,
        clusters: Clusters,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (a, sizes) = (graph.weights(), graph.grouping().sizes());
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        // Stable: of equal size the one of the first object.
        order.sort_by_key(|&i| std::cmp::Reverse(sizes[i]));
        let large = order.iter().filter(|&&i| sizes[i] >= least as u64).count();
        order.truncate(large.max(clusters.fixed().unwrap_or(1)));
        order.sort_unstable();
        let counts: Vec<u64> = order.iter().map(|&i| sizes[i]).collect();
        let regions = among(graph, &order, observer)?;
        let tree = Agglomeration::new(Linkage::Average, clusters).dendrogram(regions, observer)?;
        let joined = tree.cut(Lifespan::Whole.clusters(clusters, &tree)?)?;
        let count = joined.iter().max().map_or(0, |g| g + 1);
        let mut held = vec![0.0; count];
        joined.iter().zip(&counts).for_each(|(&g, &size)| held[g] += size as f64);
        let mut marked = vec![false; sizes.len()];
        order.iter().for_each(|&i| marked[i] = true);
        let nearest = |i: usize| {
            let mut shared = vec![0.0; count];
            for ((&j, &g), &size) in order.iter().zip(&joined).zip(&counts) {
                shared[g] += size as f64 * a[[i, j]];
            }
            let mean = |g: usize| shared[g] / held[g];
            (1..count).fold(0, |best, g| if mean(g) > mean(best) { g } else { best })
        };
        let mut pace = Pace::new(observer);
        let nearest = |i: usize| pace.work(order.len()).map(|()| nearest(i));
        let mut group = (0..sizes.len()).map(nearest).collect::<Result<Vec<usize>>>()?;
        order.iter().zip(&joined).for_each(|(&i, &g)| group[i] = g);
        Ok(Seeds { count, group, marked })
    }

    /// Groups by average linkage; the best supported nodes of each, those that tie with the last
    /// one included, until they hold half of its objects.
    pub(super) fn find(
        graph: &SimilarityGraph,
        clusters: Clusters,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let linkage = Agglomeration::new(Linkage::Average, clusters);
        let all: Vec<usize> = (0..graph.grouping().n_nodes()).collect();
        let tree = linkage.dendrogram(among(graph, &all, observer)?, observer)?;
        let group = tree.cut(Lifespan::Whole.clusters(clusters, &tree)?)?;
        let count = group.iter().max().map_or(0, |g| g + 1);
        let mut nodes: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (i, &g) in group.iter().enumerate() {
            nodes[g].push(i);
        }
        let (a, sizes) = (graph.weights(), graph.grouping().sizes());
        let mut marked = vec![false; group.len()];
        let mut pace = Pace::new(observer);
        for nodes in nodes {
            let support = |&i: &usize| {
                pace.work(nodes.len())?;
                Ok(nodes.iter().map(|&j| sizes[j] as f64 * a[[i, j]]).sum())
            };
            let support = nodes.iter().map(support).collect::<Result<Vec<f64>>>()?;
            let mut order: Vec<usize> = (0..nodes.len()).collect();
            order.sort_by(|&x, &y| support[y].total_cmp(&support[x]));
            let total: u64 = nodes.iter().map(|&i| sizes[i]).sum();
            let (mut held, mut last) = (0, f64::INFINITY);
            for at in order {
                // Sums in another order may differ in their last bits.
                if 2 * held >= total && support[at] < last * (1.0 - 1e-12) {
                    break;
                }
                held += sizes[nodes[at]];
                last = support[at];
                marked[nodes[at]] = true;
            }
        }
        Ok(Seeds { count, group, marked })
    }
}

/// The graph of some of the nodes, in this order, each of which is an object then.
fn among(
    graph: &SimilarityGraph,
    nodes: &[usize],
    observer: &dyn Observer,
) -> Result<SimilarityGraph> {
    let (a, sizes, n) = (graph.weights(), graph.grouping().sizes(), nodes.len());
    let mut weights = room::zeros(n.saturating_mul(n))?;
    each_row(&mut weights, n, &(), observer, |_, i, out| {
        let row = a.row(nodes[i]);
        out.iter_mut().zip(nodes).for_each(|(out, &j)| *out = row[j]);
    })?;
    let counts: Vec<u64> = nodes.iter().map(|&i| sizes[i]).collect();
    let grouping = Grouping::with_counts((0..n as u32).collect::<Vec<_>>(), n, counts.as_slice())?;
    SimilarityGraph::of_symmetric(grouping, weights)
}
