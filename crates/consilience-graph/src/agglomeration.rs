use consilience_core::{
    Error, Fit, GraphPartitioner, Observer, Partition, Report, Result, SimilarityGraph,
};

use crate::linkage::linkage_checked;
use crate::{Dendrogram, Linkage};

/// Where a dendrogram is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    /// Into so many clusters, or as many as there are leaves.
    Clusters(usize),
    /// At a dissimilarity: merges at or below it are made.
    Height(f64),
    /// Where the number of clusters persists longest; see [`Dendrogram::longest_lifetime`].
    LongestLifetime,
}

/// What a node of the graph weighs in the linkage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LeafWeights {
    /// As many as it has objects: equal to clustering the objects one by one.
    #[default]
    Objects,
    /// One, whatever its size: as the published PTA does.
    Nodes,
}

/// Cuts a similarity graph by agglomerative clustering of its nodes.
///
/// The dissimilarity is 1 - similarity. Clusters that share no link join last, at dissimilarity 1.
///
/// ```
/// use consilience_core::{GraphPartitioner, Grouping, SimilarityGraph};
/// use consilience_graph::{Agglomeration, Cut, Linkage};
/// use ndarray::array;
///
/// let nodes = Grouping::new(vec![0, 1, 2, 2], 3)?;
/// let graph = SimilarityGraph::new(nodes, array![[1.0, 0.8, 0.1], [0.8, 1.0, 0.0], [0.1, 0.0, 1.0]])?;
/// let fit = Agglomeration::new(Linkage::Average, Cut::Clusters(2)).partition(graph, &())?;
/// assert_eq!(fit.output.to_signed(), vec![0, 0, 1, 1]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(n~^2) time in the memory of the graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agglomeration {
    linkage: Linkage,
    cut: Cut,
    weights: LeafWeights,
}

impl Agglomeration {
    /// Agglomeration of nodes weighted by their objects.
    pub fn new(linkage: Linkage, cut: Cut) -> Self {
        Agglomeration { linkage, cut, weights: LeafWeights::Objects }
    }

    /// What a node weighs.
    pub fn weights(mut self, weights: LeafWeights) -> Self {
        self.weights = weights;
        self
    }

    /// The whole tree over the nodes of the graph; heights are dissimilarities 1 - s.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) for a graph without nodes,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn dendrogram(
        &self,
        graph: SimilarityGraph,
        observer: &dyn Observer,
    ) -> Result<Dendrogram> {
        let (grouping, mut d) = graph.into_parts();
        if grouping.n_nodes() == 0 {
            return Err(Error::empty("a similarity graph without nodes"));
        }
        let weights: Vec<f64> = match self.weights {
            LeafWeights::Objects => grouping.sizes().iter().map(|&s| f64::from(s)).collect(),
            LeafWeights::Nodes => vec![1.0; grouping.n_nodes()],
        };
        if self.linkage == Linkage::Ward {
            d.mapv_inplace(|s| 1.0 - s);
            return linkage_checked(d, &weights, self.linkage, observer);
        }
        // The other linkages are equivariant under shifts. Working on -s keeps similarities far
        // below the precision of 1 - s apart, which decide the last merges of long random walks.
        d.mapv_inplace(|s| -s);
        Ok(linkage_checked(d, &weights, self.linkage, observer)?.map_heights(|h| 1.0 + h))
    }
}

impl GraphPartitioner for Agglomeration {
    fn fit(&self, graph: SimilarityGraph, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let grouping = graph.grouping().clone();
        let mut report = Report::default();
        observer.check()?;
        let clusters = if grouping.n_nodes() == 0 {
            Vec::new()
        } else {
            let tree = self.dendrogram(graph, observer)?;
            match self.cut {
                Cut::Clusters(k) => tree.cut(k)?,
                Cut::Height(h) => tree.cut_at(h),
                Cut::LongestLifetime => tree.cut(tree.longest_lifetime(1.0))?,
            }
        };
        let partition = grouping.expand(&clusters)?;
        if let Cut::Clusters(k) = self.cut {
            report.expect_clusters(
                k,
                partition.n_clusters(),
                "the ensemble distinguishes no more objects",
            );
        }
        Ok(Fit::new(partition, report))
    }
}
