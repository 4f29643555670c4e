//! Where a tree is cut.

use consilience_core::{Clusters, Dendrogram, Error, Merge, Result};

/// The heights of a tree between which [`Clusters::Lifetime`] compares lifetimes.
///
/// Lifetimes at the two ends depend on the scale of a similarity: where no two nodes are ever very
/// similar, the time before the first merge is long and says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lifespan {
    /// From 0 to 1, the range of all dissimilarities.
    #[default]
    Whole,
    /// From the first merge to 1; all nodes stay apart where none are linked.
    FromFirstMerge,
    /// From 0 to the last merge: one cluster is never found.
    ToLastMerge,
}

impl Lifespan {
    /// The number of clusters that a criterion chooses in a tree.
    ///
    /// ```
    /// use consilience::{Clusters, Linkage};
    /// use consilience::graph::{Lifespan, linkage};
    /// use consilience::ndarray::array;
    ///
    /// let distances = array![[0.0, 0.1, 0.9], [0.1, 0.0, 0.9], [0.9, 0.9, 0.0]];
    /// let tree = linkage(distances, &[1.0; 3], Linkage::Average, &())?;
    /// assert_eq!(Lifespan::Whole.clusters(Clusters::Lifetime, &tree)?, 2);
    /// assert_eq!(Lifespan::Whole.clusters(Clusters::Height(0.05), &tree)?, 3);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lifespan::check`].
    pub fn clusters(self, clusters: Clusters, tree: &Dendrogram) -> Result<usize> {
        chosen(clusters, self, tree)
    }

    /// Refuses what chooses no number of clusters in a tree.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter).
    pub fn check(clusters: Clusters) -> Result<()> {
        check_tree_cut(clusters)
    }

    /// The number of clusters of the longest lifetime.
    fn longest(self, tree: &Dendrogram) -> usize {
        let height = |merge: Option<&Merge>| merge.map_or(1.0, |m| m.height);
        match self {
            Lifespan::Whole => tree.longest_lifetime(1.0),
            Lifespan::ToLastMerge => tree.longest_lifetime(height(tree.merges().last())),
            Lifespan::FromFirstMerge => {
                let start = height(tree.merges().first());
                if start < 1.0 {
                    tree.clone().map_heights(|h| h - start).longest_lifetime(1.0 - start)
                } else {
                    tree.n_leaves()
                }
            }
        }
    }
}

/// The number of clusters that a criterion chooses in a tree.
pub(crate) fn chosen(clusters: Clusters, lifespan: Lifespan, tree: &Dendrogram) -> Result<usize> {
    match clusters {
        Clusters::Fixed(k) => Ok(k),
        Clusters::Auto | Clusters::Lifetime => Ok(lifespan.longest(tree)),
        Clusters::Height(height) => {
            Ok(tree.n_leaves() - tree.merges().partition_point(|m| m.height <= height))
        }
        other => Err(refused(other)),
    }
}

/// Refuses what chooses no number of clusters in a tree.
pub(crate) fn check_tree_cut(clusters: Clusters) -> Result<()> {
    match clusters {
        Clusters::Height(height) if height.is_nan() => {
            Err(Error::invalid("a cut at the dissimilarity NaN; expected a number"))
        }
        Clusters::Auto | Clusters::Fixed(_) | Clusters::Lifetime | Clusters::Height(_) => Ok(()),
        other => Err(refused(other)),
    }
}

fn refused(clusters: Clusters) -> Error {
    clusters.refuse("linkage", "a number, the longest lifetime or a height")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agglomeration, CoAssociation, LeafWeights, Linked};
    use consilience_conformance::planted;
    use consilience_core::{
        ConsensusFunction, GraphPartitioner, Hierarchy, Linkage, Seed, Similarity,
    };

    #[test]
    fn classes_that_live_longest_are_the_consensus() {
        let world = planted(Seed(2), &[12, 9, 6], 12, 0.05, 0.0).unwrap();
        for clusters in [Clusters::Fixed(3), Clusters::Auto] {
            let method = Linked::new(CoAssociation::default(), clusters);
            assert_eq!(method.consensus(&world.ensemble).unwrap(), world.truth);
            let graph = CoAssociation::default().similarity(&world.ensemble).unwrap();
            let of_graph = Agglomeration::new(Linkage::Average, clusters);
            assert_eq!(of_graph.fit(graph, &()).unwrap().output, world.truth);
        }
    }

    #[test]
    fn trees_of_ensembles_are_those_of_their_similarity() {
        let ensemble = planted(Seed(3), &[12, 9, 6], 7, 0.3, 0.1).unwrap().ensemble;
        for linkage in [Linkage::Average, Linkage::Complete] {
            for weights in [LeafWeights::Objects, LeafWeights::Nodes] {
                let method = Linked::new(CoAssociation::default(), 3).linkage(linkage);
                let own = method.leaf_weights(weights).dendrogram(&ensemble, &()).unwrap().1;
                let graph = CoAssociation::default().similarity(&ensemble).unwrap();
                let expected = Agglomeration::new(linkage, 3).weights(weights);
                let expected = expected.dendrogram(graph, &()).unwrap();
                let heights = own.merges().iter().zip(expected.merges());
                for (a, b) in heights {
                    assert!((a.height - b.height).abs() < 1e-12, "{linkage:?} {weights:?}");
                }
            }
        }
    }

    /// Four leaves, merged one after the other.
    fn tree(heights: [f64; 3]) -> Dendrogram {
        let merges = heights.iter().enumerate().map(|(t, &h)| (0, t + 1, h)).collect();
        Dendrogram::from_merges(4, merges).unwrap()
    }

    #[test]
    fn lifetimes_are_taken_over_the_range_that_is_asked_for() {
        let k = |lifespan: Lifespan, heights| {
            lifespan.clusters(Clusters::Lifetime, &tree(heights)).unwrap()
        };
        // Four clusters live for 0.6, three for 0.1, two for 0.05, one for 0.25.
        let late = [0.6, 0.7, 0.75];
        assert_eq!(k(Lifespan::Whole, late), 4);
        assert_eq!(k(Lifespan::ToLastMerge, late), 4);
        assert_eq!(k(Lifespan::FromFirstMerge, late), 1);
        // Four for 0.3, three and two for 0.1, one for 0.5, of which nothing counts up to the last.
        let early = [0.3, 0.4, 0.5];
        assert_eq!(k(Lifespan::Whole, early), 1);
        assert_eq!(k(Lifespan::ToLastMerge, early), 4);
        assert_eq!(k(Lifespan::FromFirstMerge, early), 1);
        // From the first merge on three live for 0.4, two for 0.05 and one for 0.35.
        assert_eq!(k(Lifespan::FromFirstMerge, [0.2, 0.6, 0.65]), 3);
        // Nothing is alike: there is no range from the first merge on.
        assert_eq!(k(Lifespan::FromFirstMerge, [1.0; 3]), 4);
        let leaf = Dendrogram::from_merges(1, Vec::new()).unwrap();
        for lifespan in [Lifespan::Whole, Lifespan::FromFirstMerge, Lifespan::ToLastMerge] {
            assert_eq!(lifespan.clusters(Clusters::Auto, &leaf).unwrap(), 1);
        }
    }

    #[test]
    fn numbers_heights_and_what_a_tree_cannot() {
        let tree = tree([0.3, 0.4, 0.5]);
        let k = |clusters| Lifespan::Whole.clusters(clusters, &tree);
        assert_eq!(k(Clusters::Fixed(7)).unwrap(), 7);
        for (height, clusters) in [(0.29, 4), (0.3, 3), (0.4, 2), (0.45, 2), (0.5, 1), (2.0, 1)] {
            assert_eq!(k(Clusters::Height(height)).unwrap(), clusters, "{height}");
        }
        for bad in [Clusters::Eigengap, Clusters::Survival] {
            assert!(k(bad).is_err() && Lifespan::check(bad).is_err());
        }
        assert!(Lifespan::check(Clusters::Height(f64::NAN)).is_err());
        for good in [Clusters::Auto, Clusters::Lifetime, Clusters::Fixed(0), Clusters::Height(-1.0)]
        {
            assert!(Lifespan::check(good).is_ok(), "{good}");
        }
    }
}
