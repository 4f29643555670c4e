use ndarray::ArrayView2;
use rayon::prelude::*;

use consilience_core::{
    Clusters, Dendrogram, Fit, GraphPartitioner, Linkage, Observer, Partition, Report, Result,
    SimilarityGraph, Stop, ensure, sizes_in_lowest_terms,
};

use crate::lifespan::{Grown, Lifespan, check_tree_cut};
use crate::linkage::linkage_of;

/// What a node of the graph weighs in the linkage.
///
/// Chosen by [`Agglomeration::weights`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeafWeights {
    /// As many as it has objects: equal to clustering the objects one by one.
    #[default]
    Objects,
    /// One, whatever its size: as the published PTA does.
    Nodes,
}

/// Sums of shares go beyond 1 by so much.
const ROUNDED: f64 = 1e-9;

/// Cuts a similarity graph by agglomerative clustering of its nodes.
///
/// The dissimilarity is 1 - similarity. Clusters that share no link join last, at dissimilarity 1.
/// Similarities of two nodes that go beyond 1, as counts do, are divided by the largest of them.
///
/// ```
/// use consilience::{Linkage, SimilarityGraph};
/// use consilience::core::{GraphPartitioner, Grouping};
/// use consilience::graph::Agglomeration;
/// use consilience::ndarray::array;
///
/// let nodes = Grouping::new(vec![0, 1, 2, 2], 3)?;
/// let weights = array![[1.0, 0.8, 0.1], [0.8, 1.0, 0.0], [0.1, 0.0, 1.0]];
/// let graph = SimilarityGraph::new(nodes, weights)?;
/// let partition = Agglomeration::new(Linkage::Average, 2).partition(graph)?;
/// assert_eq!(partition.to_signed(), vec![0, 0, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~^2) time in the memory of the graph.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for 0 clusters or
/// a criterion that no tree has, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
#[doc(alias = "linkage")]
#[doc(alias = "hierarchical")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agglomeration {
    linkage: Linkage,
    clusters: Clusters,
    weights: LeafWeights,
}

impl Agglomeration {
    /// Agglomeration of nodes weighted by their objects.
    pub fn new(linkage: Linkage, clusters: impl Into<Clusters>) -> Self {
        Agglomeration { linkage, clusters: clusters.into(), weights: LeafWeights::Objects }
    }

    consilience_core::setters! {
        /// What a node weighs. Default [`LeafWeights::Objects`].
        pub fn weights(mut self, weights: LeafWeights) { self.weights = weights }
    }

    /// The whole tree over the nodes of the graph; heights are dissimilarities 1 - s, or 1 - s / m
    /// where the largest similarity m of two nodes is above 1.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) for a graph without nodes,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn dendrogram(
        &self,
        graph: SimilarityGraph,
        observer: &dyn Observer,
    ) -> Result<Dendrogram> {
        Ok(self.grown(graph, observer)?.told())
    }

    pub(crate) fn grown(&self, graph: SimilarityGraph, observer: &dyn Observer) -> Result<Grown> {
        let (grouping, d) = graph.into_parts();
        ensure!(grouping.n_nodes() > 0, empty("a similarity graph without nodes"));
        let weights: Vec<f64> = match self.weights {
            LeafWeights::Objects => grouping.weights(),
            LeafWeights::Nodes => vec![1.0; grouping.n_nodes()],
        };
        // How objects are counted must not decide by rounding; Ward's heights are the roots of sums
        // over objects.
        let (weights, times) = sizes_in_lowest_terms(&weights)?;
        let unit = unit(d.view(), observer)?;
        if matches!(self.linkage, Linkage::Ward | Linkage::Centroid | Linkage::Median) {
            let tree = linkage_of(d, |s| 1.0 - s / unit, &weights, self.linkage, observer)?;
            return match self.linkage {
                Linkage::Ward => Grown::by_ward(tree, &weights, times),
                _ => Ok(Grown::new(tree)),
            };
        }
        // The other linkages are equivariant under shifts. Working on -s keeps similarities far
        // below the precision of 1 - s apart, which decide the last merges of long random walks.
        let tree = linkage_of(d, |s| -s, &weights, self.linkage, observer)?;
        Ok(Grown::new(tree.map_heights(|h| 1.0 + h / unit)))
    }
}

/// What similarities are divided by: 1, or the largest of two nodes where that is larger by more
/// than rounding.
fn unit(similarities: ArrayView2<'_, f64>, observer: &dyn Observer) -> Result<f64> {
    let stop = Stop::new(observer);
    let of_row = |i: usize| {
        let others = if stop.asked() { 0 } else { i };
        similarities.row(i).iter().take(others).copied().fold(1.0, f64::max)
    };
    let rows = (0..similarities.nrows()).into_par_iter();
    let largest = rows.map(of_row).reduce(|| 1.0, f64::max);
    stop.check()?;
    Ok(if largest > 1.0 + ROUNDED { largest } else { 1.0 })
}

impl GraphPartitioner for Agglomeration {
    fn fit(&self, graph: SimilarityGraph, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let grouping = graph.grouping().clone();
        let mut report = Report::default();
        check_tree_cut(self.clusters)?;
        observer.check()?;
        let clusters = if grouping.n_nodes() == 0 {
            Vec::new()
        } else {
            let grown = self.grown(graph, observer)?;
            grown.tree.cut(grown.chosen(self.clusters, Lifespan::Whole)?)?
        };
        let partition = grouping.expand(&clusters)?;
        if let Some(k) = self.clusters.fixed() {
            report.expect_clusters(
                k,
                partition.n_clusters(),
                "the ensemble distinguishes no more objects",
            );
        }
        Ok(Fit::new(partition, report))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use consilience_core::Grouping;

    const LINKAGES: [Linkage; 6] = [
        Linkage::Single,
        Linkage::Complete,
        Linkage::Average,
        Linkage::Ward,
        Linkage::Centroid,
        Linkage::Median,
    ];

    /// Two groups of three nodes, similarities times `scale`.
    fn graph(scale: f64) -> SimilarityGraph {
        let grouping = Grouping::new((0..6).collect::<Vec<_>>(), 6).unwrap();
        let similarity = |(i, j): (usize, usize)| {
            let near = if i / 3 == j / 3 { 0.9 } else { 0.1 };
            scale * (near - 0.01 * ((i + j) % 4) as f64)
        };
        SimilarityGraph::new(grouping, Array2::from_shape_fn((6, 6), similarity)).unwrap()
    }

    #[test]
    fn counts_are_similarities_too() {
        for linkage in LINKAGES {
            for clusters in [Clusters::Fixed(2), Clusters::Lifetime] {
                for scale in [1.0, 1.2, 40.0, 1e9] {
                    let found = Agglomeration::new(linkage, clusters).partition(graph(scale));
                    let labels = found.unwrap().to_signed();
                    assert_eq!(labels, [0, 0, 0, 1, 1, 1], "{linkage:?} {clusters:?} {scale}");
                }
            }
            // Beyond 1 the scale is of no account.
            let heights = |scale| -> Vec<f64> {
                let tree = Agglomeration::new(linkage, 2).dendrogram(graph(scale), &());
                tree.unwrap().merges().iter().map(|m| m.height).collect()
            };
            for (a, b) in heights(2.0).into_iter().zip(heights(64.0)) {
                assert!((a - b).abs() < 1e-12 && a >= 0.0, "{linkage:?}: {a} {b}");
            }
        }
    }
}
