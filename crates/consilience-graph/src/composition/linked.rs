use consilience_core::{
    Accepts, Clusters, Dendrogram, Ensemble, Hierarchy, Linkage, Microclusters, NodeConsensus,
    Observer, Partition, Report, Result, Similarity, ensure,
};

use crate::lifespan::{Grown, check_tree_cut};
use crate::{Agglomeration, LeafWeights, Lifespan};

/// The consensus function of a similarity and a linkage: the dendrogram of the microclusters, cut.
///
/// Use it to make a consensus function of a similarity of your own, or to join a similarity and a
/// linkage that no published method joins; the published ones, such as `EvidenceAccumulation`, are
/// made of it. Heights of the tree are `1 - similarity`. The number of clusters may be fixed,
/// chosen by the longest lifetime ([`Clusters::Lifetime`], which is also what [`Clusters::Auto`]
/// means), or follow from a dissimilarity ([`Clusters::Height`]).
///
/// ```
/// use consilience::{Clusters, ConsensusFunction, Ensemble, Hierarchy, Linkage, Partition};
/// use consilience::graph::{CoAssociation, Linked};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let method = Linked::new(CoAssociation::default(), 3).linkage(Linkage::Complete);
/// assert_eq!(method.name(), "eac-cl");
/// assert_eq!(method.consensus(&ensemble)?.to_signed(), [0, 0, 0, 1, 1, 2, 2]);
///
/// // The tree itself, and another cut of it.
/// let (nodes, tree) = method.dendrogram(&ensemble, &())?;
/// assert_eq!((nodes.n_nodes(), tree.merges().len()), (4, 3));
/// let halves = Linked::new(CoAssociation::default(), Clusters::Height(0.5));
/// assert_eq!(halves.consensus(&ensemble)?.n_clusters(), 3);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then as the similarity and O(n~^2) for the tree. Where the
/// similarity has the tree without its matrix ([`Similarity::linkage_tree`]), none is made.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or a criterion that no tree has; otherwise as the similarity.
#[derive(Clone, Debug)]
pub struct Linked<S> {
    similarity: S,
    clusters: Clusters,
    linkage: Linkage,
    weights: LeafWeights,
    lifespan: Lifespan,
    collapse: bool,
    name: String,
}

impl<S: Similarity> Linked<S> {
    /// Average linkage on a similarity of microclusters.
    pub fn new(similarity: S, clusters: impl Into<Clusters>) -> Self {
        let method = Linked {
            similarity,
            clusters: clusters.into(),
            linkage: Linkage::Average,
            weights: LeafWeights::Objects,
            lifespan: Lifespan::Whole,
            collapse: true,
            name: String::new(),
        };
        method.linkage(Linkage::Average)
    }

    /// How the similarity of two clusters follows from that of their nodes. Default average.
    pub fn linkage(mut self, linkage: Linkage) -> Self {
        let suffix = match linkage {
            Linkage::Average => "al",
            Linkage::Complete => "cl",
            Linkage::Single => "sl",
            Linkage::Ward => "ward",
            Linkage::Centroid => "centroid",
            Linkage::Median => "median",
        };
        self.name = format!("{}-{suffix}", self.similarity.name());
        self.linkage = linkage;
        self
    }

    consilience_core::setters! {
        /// What a node weighs in the linkage. Default [`LeafWeights::Objects`].
        pub fn leaf_weights(mut self, weights: LeafWeights) { self.weights = weights }

        /// Between which heights lifetimes are compared. Default [`Lifespan::Whole`].
        pub fn lifespan(mut self, lifespan: Lifespan) { self.lifespan = lifespan }

        /// Whether to work on microclusters or on every object by itself. Default true. Both find
        /// the same where the similarity of objects is that of their microclusters, except for
        /// ties.
        pub fn collapse(mut self, collapse: bool) { self.collapse = collapse }
    }

    /// The same with the similarity changed: how a method passes its settings on. Default no
    /// change.
    ///
    /// ```
    /// use consilience::MemoryBudget;
    /// use consilience::graph::{CoAssociation, Linked};
    ///
    /// let small = MemoryBudget::bytes(1 << 20);
    /// let method = Linked::new(CoAssociation::default(), 3);
    /// let method = method.map_similarity(|s| s.memory_budget(small));
    /// # let _ = method;
    /// ```
    pub fn map_similarity(mut self, change: impl FnOnce(S) -> S) -> Self {
        self.similarity = change(self.similarity);
        let linkage = self.linkage;
        self.linkage(linkage)
    }

    /// The similarity.
    pub fn similarity(&self) -> &S {
        &self.similarity
    }

    /// The number of clusters that the criterion chooses in a tree over these nodes.
    fn n_clusters(&self, grown: &Grown, nodes: &Microclusters) -> Result<usize> {
        let chosen = grown.chosen(self.clusters, self.lifespan)?;
        if self.collapse {
            return Ok(chosen);
        }
        // On single objects the tree could be cut between equal ones.
        Ok(chosen.min(Microclusters::of(&nodes.to_ensemble()?)?.n_nodes()))
    }

    /// Says that more clusters live longest than any member has: so high in numbers a lifetime is
    /// the gap between two of many early merges, or the time before there is any.
    fn beyond_members(&self, clusters: usize, nodes: &Microclusters) -> Option<String> {
        let by_lifetime = matches!(self.clusters, Clusters::Auto | Clusters::Lifetime);
        let most = nodes.rows().iter().map(Partition::n_clusters).max().unwrap_or(0);
        (by_lifetime && clusters > most).then(|| {
            format!(
                "{clusters} clusters of {} microclusters live longest in the tree, more than any \
                 member has ({most} at most): lifetimes say little here, and a number of clusters \
                 that is known is better",
                nodes.n_nodes()
            )
        })
    }

    fn grown(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Grown> {
        self.similarity.check()?;
        ensure!(nodes.n_nodes() > 0, empty("a dendrogram needs at least one leaf"));
        let linkage = self.linkage;
        // Single and complete linkage ask for no weights.
        let unweighted = matches!(linkage, Linkage::Single | Linkage::Complete);
        if (unweighted || self.weights == LeafWeights::Objects)
            && let Some(tree) = self.similarity.linkage_tree(linkage, nodes, report, observer)?
        {
            tree.check_answer(self.similarity.name(), nodes.n_nodes())?;
            return match linkage {
                Linkage::Ward => Grown::by_ward(tree, &nodes.grouping().weights(), 1.0),
                _ => Ok(Grown::new(tree)),
            };
        }
        let between = |inner: &mut Report| self.similarity.between(nodes, inner, observer);
        let graph = report.inner_stage("similarity", between)?;
        graph.check_answer(self.similarity.name(), nodes.grouping())?;
        let linkage = Agglomeration::new(linkage, 1).weights(self.weights);
        report.stage("partition", || linkage.grown(graph, observer))
    }
}

impl<S: Similarity> NodeConsensus for Linked<S> {
    type Output = Partition;

    fn name(&self) -> &str {
        &self.name
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn accepts(&self) -> Accepts {
        self.similarity.accepts()
    }

    fn check(&self, _ensemble: &Ensemble) -> Result<()> {
        check_tree_cut(self.clusters)?;
        self.similarity.check()
    }

    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        if self.collapse {
            Microclusters::observed(ensemble, observer)
        } else {
            Microclusters::each_object_observed(ensemble, observer)
        }
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let grown = self.grown(nodes, report, observer)?;
        let clusters = self.n_clusters(&grown, nodes)?;
        report.notes.extend(self.beyond_members(clusters, nodes));
        grown.tree.cut(clusters)
    }
}

impl<S: Similarity> Hierarchy for Linked<S> {
    fn tree(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Dendrogram> {
        Ok(self.grown(nodes, report, observer)?.told())
    }

    fn dendrogram(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<(Microclusters, Dendrogram)> {
        self.similarity.check()?;
        let ensemble = ensemble.accepted_by(&self.name, self.similarity.accepts())?;
        let nodes = self.nodes(&ensemble, observer)?;
        let tree = self.tree(&nodes, &mut Report::default(), observer)?;
        Ok((nodes, tree))
    }
}

/// Makes a published method of a struct around a [`Linked`]: its name, the settings that all such
/// methods have, and the traits.
///
/// `linked_method!(Method, "name")` gives `struct Method(Linked<S>)` the setters `linkage` and
/// `memory_budget` (the similarity must have the latter) and implements [`NodeConsensus`] and
/// [`Hierarchy`]. The method writes its own constructor and the setters of its similarity.
///
/// ```
/// use consilience::{Clusters, ConsensusFunction, Ensemble, Linkage, Partition};
/// use consilience::graph::{CoAssociation, Linked, linked_method};
///
/// #[derive(Clone, Debug)]
/// pub struct MyMethod(Linked<CoAssociation>);
///
/// impl MyMethod {
///     pub fn new(clusters: impl Into<Clusters>) -> Self {
///         MyMethod(Linked::new(CoAssociation::default(), clusters))
///     }
/// }
///
/// linked_method!(MyMethod, "my-method");
///
/// let ensemble = Ensemble::new(vec![Partition::from_labels(&[0, 1, 1])?])?;
/// let found = MyMethod::new(2).linkage(Linkage::Complete).consensus(&ensemble)?;
/// assert_eq!(found.to_signed(), [0, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[macro_export]
macro_rules! linked_method {
    ($method:ident, $name:literal) => {
        impl $method {
            $crate::consilience_core::setters! {
                /// How the similarity of two clusters follows from that of their objects. Default
                /// average.
                pub fn linkage(mut self, linkage: $crate::consilience_core::Linkage) {
                    self.0 = self.0.linkage(linkage)
                }

                /// How large the matrices may become. Default 8 GiB.
                pub fn memory_budget(mut self, budget: $crate::consilience_core::MemoryBudget) {
                    self.0 = self.0.map_similarity(|s| s.memory_budget(budget))
                }
            }
        }

        impl $crate::consilience_core::NodeConsensus for $method {
            type Output = $crate::consilience_core::Partition;

            fn name(&self) -> &str {
                $name
            }

            fn clusters(&self) -> $crate::consilience_core::Clusters {
                $crate::consilience_core::NodeConsensus::clusters(&self.0)
            }

            fn accepts(&self) -> $crate::consilience_core::Accepts {
                $crate::consilience_core::NodeConsensus::accepts(&self.0)
            }

            fn check(
                &self,
                ensemble: &$crate::consilience_core::Ensemble,
            ) -> $crate::consilience_core::Result<()> {
                $crate::consilience_core::NodeConsensus::check(&self.0, ensemble)
            }

            fn nodes(
                &self,
                ensemble: &$crate::consilience_core::Ensemble,
                observer: &dyn $crate::consilience_core::Observer,
            ) -> $crate::consilience_core::Result<$crate::consilience_core::Microclusters> {
                $crate::consilience_core::NodeConsensus::nodes(&self.0, ensemble, observer)
            }

            fn solve(
                &self,
                nodes: &$crate::consilience_core::Microclusters,
                report: &mut $crate::consilience_core::Report,
                observer: &dyn $crate::consilience_core::Observer,
            ) -> $crate::consilience_core::Result<Vec<usize>> {
                $crate::consilience_core::NodeConsensus::solve(&self.0, nodes, report, observer)
            }
        }

        impl $crate::consilience_core::Hierarchy for $method {
            fn tree(
                &self,
                nodes: &$crate::consilience_core::Microclusters,
                report: &mut $crate::consilience_core::Report,
                observer: &dyn $crate::consilience_core::Observer,
            ) -> $crate::consilience_core::Result<$crate::consilience_core::Dendrogram> {
                $crate::consilience_core::Hierarchy::tree(&self.0, nodes, report, observer)
            }

            fn dendrogram(
                &self,
                ensemble: &$crate::consilience_core::Ensemble,
                observer: &dyn $crate::consilience_core::Observer,
            ) -> $crate::consilience_core::Result<(
                $crate::consilience_core::Microclusters,
                $crate::consilience_core::Dendrogram,
            )> {
                $crate::consilience_core::Hierarchy::dendrogram(&self.0, ensemble, observer)
            }
        }
    };
}
