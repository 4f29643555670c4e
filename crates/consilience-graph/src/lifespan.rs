//! Where a tree is cut.

use consilience_core::{Clusters, Dendrogram, Error, Merge, Result, ties};

/// The heights of a tree between which [`Clusters::Lifetime`] compares lifetimes.
///
/// Lifetimes at the two ends depend on the scale of a similarity: where no two nodes are ever very
/// similar, the time before the first merge is long and says nothing. In a tree of Ward's linkage
/// that a method grows, 1 is the height of the last merge where its two clusters share nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lifespan {
    /// From 0 to 1, the range of all dissimilarities.
    #[default]
    Whole,
    /// From the first merge to 1; all nodes stay apart where none are linked.
    FromFirstMerge,
    /// From 0 to the last merge: one cluster is found only where all are alike but for rounding.
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
        chosen(clusters, self, tree, Scale::DISSIMILARITY)
    }

    /// Refuses what chooses no number of clusters in a tree.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter).
    pub fn check(clusters: Clusters) -> Result<()> {
        check_tree_cut(clusters)
    }

    /// The number of clusters of the longest lifetime, where no height is above the ceiling.
    fn longest(self, tree: &Dendrogram, ceiling: f64) -> usize {
        let height = |merge: Option<&Merge>| merge.map_or(ceiling, |m| m.height);
        match self {
            Lifespan::Whole => tree.longest_lifetime(ceiling),
            Lifespan::ToLastMerge => {
                let end = height(tree.merges().last());
                tree.longest_lifetime_but_for_rounding(end, ceiling)
            }
            Lifespan::FromFirstMerge => {
                let start = height(tree.merges().first());
                if ceiling - start > ties::EQUAL * ceiling {
                    // Heights near the ceiling are rounded as it is, however short the range.
                    let risen = tree.clone().map_heights(|h| h - start);
                    risen.longest_lifetime_but_for_rounding(ceiling - start, ceiling)
                } else {
                    tree.n_leaves()
                }
            }
        }
    }
}

/// What the heights of a tree mean.
#[derive(Clone, Copy)]
struct Scale {
    /// What they are multiplied by where they are told.
    times: f64,
    /// The largest that the last merge may have.
    ceiling: f64,
}

impl Scale {
    /// They are dissimilarities.
    const DISSIMILARITY: Self = Scale { times: 1.0, ceiling: 1.0 };
}

/// A tree over leaves whose weights are in lowest terms: what is chosen by lifetimes does not
/// depend on how objects are counted.
pub(crate) struct Grown {
    pub(crate) tree: Dendrogram,
    scale: Scale,
}

impl Grown {
    /// By any linkage but Ward's.
    pub(crate) fn new(tree: Dendrogram) -> Self {
        Grown { tree, scale: Scale::DISSIMILARITY }
    }

    /// By Ward's linkage over dissimilarities, of leaves whose weights were divided by a number.
    /// Half the square of a height is what a merge adds to the squares within clusters, so that
    /// heights are in the unit of the roots of weights, and the last one is highest where the two
    /// clusters are at dissimilarity 1.
    pub(crate) fn by_ward(tree: Dendrogram, weights: &[f64], divided_by: f64) -> Result<Self> {
        let mut half = tree.cut(2)?;
        let (mut sizes, mut squares) = ([0.0f64; 2], [0.0f64; 2]);
        half.iter().zip(weights).for_each(|(&h, weight)| sizes[h] += weight);
        let before_the_last = tree.merges().split_last().map_or(&[][..], |(_, before)| before);
        for merge in before_the_last {
            let own = half[merge.nodes[0]];
            squares[own] += 0.5 * merge.height * merge.height;
            half.push(own);
        }
        let [a, b] = sizes;
        let ceiling = if b > 0.0 {
            let free = (1.0 - squares[0] / a - squares[1] / b).max(0.0);
            (2.0 * a * b / (a + b) * free).sqrt()
        } else {
            1.0
        };
        Ok(Grown { tree, scale: Scale { times: divided_by.sqrt(), ceiling } })
    }

    /// The tree with heights by the weights that were given.
    pub(crate) fn told(self) -> Dendrogram {
        let times = self.scale.times;
        if times == 1.0 { self.tree } else { self.tree.map_heights(|h| h * times) }
    }

    /// The number of clusters that a criterion chooses.
    pub(crate) fn chosen(&self, clusters: Clusters, lifespan: Lifespan) -> Result<usize> {
        chosen(clusters, lifespan, &self.tree, self.scale)
    }
}

/// The number of clusters that a criterion chooses in a tree.
fn chosen(
    clusters: Clusters,
    lifespan: Lifespan,
    tree: &Dendrogram,
    Scale { times, ceiling }: Scale,
) -> Result<usize> {
    match clusters {
        Clusters::Fixed(k) => Ok(k),
        Clusters::Auto | Clusters::Lifetime => Ok(lifespan.longest(tree, ceiling)),
        Clusters::Height(height) => {
            Ok(tree.n_leaves() - tree.merges().partition_point(|m| m.height * times <= height))
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
        ConsensusFunction, Ensemble, GraphPartitioner, Hierarchy, Linkage, Microclusters, Observer,
        Partition, Report, Seed, Similarity, SimilarityGraph,
    };
    use ndarray::Array2;

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

    /// One cluster, two and three live for a third each: the fewest, whatever the last bits are.
    #[test]
    fn lifetimes_that_are_equal_but_for_rounding_are_equal() {
        let members = [[0, 0, 0], [0, 1, 0], [0, 1, 1]];
        let members = members.map(|labels| Partition::from_labels(&labels).unwrap());
        let ensemble = Ensemble::new(members.to_vec()).unwrap();
        let method = Linked::new(CoAssociation::default(), Clusters::Auto);
        let found = method.linkage(Linkage::Complete).consensus(&ensemble).unwrap();
        assert_eq!(found.n_clusters(), 1);
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

    /// Heights by Ward are roots of sums over objects: more objects once left no cluster below 1.
    #[test]
    fn lifetimes_in_trees_by_ward_do_not_depend_on_how_objects_are_counted() {
        let world = planted(Seed(2), &[12, 9, 6], 12, 0.05, 0.0).unwrap();
        let method = |clusters: Clusters| {
            Linked::new(CoAssociation::default(), clusters).linkage(Linkage::Ward)
        };
        let tree =
            |ensemble: &Ensemble| method(Clusters::Lifetime).dendrogram(ensemble, &()).unwrap().1;
        let plain = tree(&world.ensemble);
        for times in [1, 3, 1000] {
            let counted = world.ensemble.clone().with_counts(vec![times; 27]).unwrap();
            let found = method(Clusters::Lifetime).consensus(&counted).unwrap();
            assert_eq!(found, world.truth, "{times}");
            // Heights are told by the objects there are, and a height is meant so.
            let root = (times as f64).sqrt();
            let (high, n) = (tree(&counted), plain.merges().len());
            for (a, b) in high.merges().iter().zip(plain.merges()) {
                assert!((a.height - b.height * root).abs() < 1e-9 * root);
            }
            let middle = 0.5 * (plain.merges()[n - 2].height + plain.merges()[n - 1].height);
            let halves = method(Clusters::Height(middle * root)).consensus(&counted).unwrap();
            assert_eq!(halves.n_clusters(), 2, "{times}");
        }
    }

    /// Co-association that grows the trees of all linkages itself.
    struct Grows;

    impl Similarity for Grows {
        fn name(&self) -> &str {
            "grows"
        }

        fn between(
            &self,
            nodes: &Microclusters,
            report: &mut Report,
            observer: &dyn Observer,
        ) -> Result<SimilarityGraph> {
            CoAssociation::default().between(nodes, report, observer)
        }

        fn linkage_tree(
            &self,
            linkage: Linkage,
            nodes: &Microclusters,
            report: &mut Report,
            observer: &dyn Observer,
        ) -> Result<Option<Dendrogram>> {
            let linked = Linked::new(CoAssociation::default(), 1).linkage(linkage);
            linked.tree(nodes, report, observer).map(Some)
        }
    }

    /// Heights that are roots of sums over objects were taken for dissimilarities.
    #[test]
    fn lifetimes_in_trees_by_ward_of_a_similarity_are_those_of_the_matrix() {
        let world = planted(Seed(2), &[12, 9, 6], 12, 0.05, 0.0).unwrap();
        for times in [1, 1000] {
            let counted = world.ensemble.clone().with_counts(vec![times; 27]).unwrap();
            let method = Linked::new(Grows, Clusters::Lifetime).linkage(Linkage::Ward);
            assert_eq!(method.consensus(&counted).unwrap(), world.truth, "{times}");
        }
    }

    #[test]
    fn the_last_merge_by_ward_is_highest_where_nothing_is_shared() {
        let weights = [2.0, 1.0, 4.0, 3.0];
        for between in [0.2, 0.7, 1.0] {
            let near = |(i, j): (usize, usize)| if i / 2 == j / 2 { 0.1 } else { between };
            let d = Array2::from_shape_fn((4, 4), near);
            let tree = crate::linkage(d, &weights, Linkage::Ward, &()).unwrap();
            let last = tree.merges()[2].height;
            let ceiling = Grown::by_ward(tree, &weights, 1.0).unwrap().scale.ceiling;
            // By definition: clusters of 3 and 7 whose squares within are those of pairs.
            let within = 0.01 * (2.0 / 9.0 + 12.0 / 49.0);
            let height = |far: f64| (2.0 * 3.0 * 7.0 / 10.0 * (far * far - within)).sqrt();
            assert!((last - height(between)).abs() < 1e-12, "{between}: {last}");
            assert!((ceiling - height(1.0)).abs() < 1e-12, "{between}: {ceiling}");
        }
        let leaf = Dendrogram::from_merges(1, Vec::new()).unwrap();
        let leaf = Grown::by_ward(leaf, &[5.0], 2.0).unwrap();
        assert_eq!(leaf.chosen(Clusters::Auto, Lifespan::Whole).unwrap(), 1);
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
        assert_eq!(k(Lifespan::FromFirstMerge, [1.0 - 1e-15; 3]), 4);
        // Rounding is that of numbers near 1, also where the range is short.
        assert_eq!(k(Lifespan::FromFirstMerge, [1.0 - 3e-8, 1.0 - 2e-8, 1.0 - 1e-8 + 3e-16]), 1);
        assert_eq!(k(Lifespan::ToLastMerge, [1e-8, 2e-8 + 3e-16, 3e-8]), 2);
        assert_eq!(k(Lifespan::ToLastMerge, [2e-16, 3e-16, 3e-16]), 1);
        let leaf = Dendrogram::from_merges(1, Vec::new()).unwrap();
        for lifespan in [Lifespan::Whole, Lifespan::FromFirstMerge, Lifespan::ToLastMerge] {
            assert_eq!(lifespan.clusters(Clusters::Auto, &leaf).unwrap(), 1);
        }
    }

    /// By rows and by columns each object is as near to four others: nine clusters live longest.
    #[test]
    fn more_clusters_than_any_member_has_are_told() {
        let members = [|i| Some(i as u64 / 3), |i| Some(i as u64 % 3)];
        let members = members.map(|label: fn(usize) -> _| Partition::from_fn(9, label).unwrap());
        let ensemble = Ensemble::new(members.to_vec()).unwrap();
        let run = |lifespan: Lifespan, clusters: Clusters| {
            let method = Linked::new(CoAssociation::default(), clusters).lifespan(lifespan);
            let fit = ConsensusFunction::fit(&method, &ensemble, &()).unwrap();
            let told = fit.report.notes.iter().any(|note| note.contains("more than any member"));
            (fit.output.n_clusters(), told)
        };
        assert_eq!(run(Lifespan::Whole, Clusters::Auto), (9, true));
        assert_eq!(run(Lifespan::FromFirstMerge, Clusters::Lifetime), (3, false));
        for asked in [Clusters::Fixed(9), Clusters::Height(0.1)] {
            assert_eq!(run(Lifespan::Whole, asked), (9, false));
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
