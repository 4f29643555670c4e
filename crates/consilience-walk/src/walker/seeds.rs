//! Where the walks end.

use consilience_core::{Clusters, Linkage, Observer, Result, SimilarityGraph};
use consilience_graph::{Agglomeration, Lifespan};

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
    /// Groups by average linkage; the best supported nodes of each, those that tie with the last
    /// one included, until they hold half of its objects.
    pub(super) fn find(
        graph: &SimilarityGraph,
        clusters: Clusters,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let linkage = Agglomeration::new(Linkage::Average, clusters);
        let tree = linkage.dendrogram(graph.clone(), observer)?;
        let group = tree.cut(Lifespan::Whole.clusters(clusters, &tree)?)?;
        let count = group.iter().max().map_or(0, |g| g + 1);
        let mut nodes: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (i, &g) in group.iter().enumerate() {
            nodes[g].push(i);
        }
        let (a, sizes) = (graph.weights(), graph.grouping().sizes());
        let mut marked = vec![false; group.len()];
        for nodes in nodes {
            observer.check()?;
            let support: Vec<f64> = nodes
                .iter()
                .map(|&i| nodes.iter().map(|&j| sizes[j] as f64 * a[[i, j]]).sum())
                .collect();
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
