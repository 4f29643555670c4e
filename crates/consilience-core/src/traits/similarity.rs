use crate::{
    Accepts, Dendrogram, Ensemble, Fit, Linkage, Microclusters, Observer, Partition, Report,
    Result, SimilarityGraph,
};

/// How alike the microclusters of an ensemble are: what linkage and graph cuts work on.
///
/// Implement [`name`](Similarity::name) and [`between`](Similarity::between); `Linked` and
/// `Partitioned` make a consensus function of it.
///
/// ```
/// use consilience::{
///     Ensemble, Microclusters, Observer, Partition, Report, Result, Similarity, SimilarityGraph,
/// };
/// use consilience::ndarray::Array2;
///
/// /// 1 where any member puts the two together, else 0.
/// struct EverTogether;
///
/// impl Similarity for EverTogether {
///     fn name(&self) -> &str {
///         "ever-together"
///     }
///
///     fn between(
///         &self,
///         nodes: &Microclusters,
///         _: &mut Report,
///         _: &dyn Observer,
///     ) -> Result<SimilarityGraph> {
///         let together = |i: usize, j: usize| {
///             nodes.rows().iter().any(|m| m.label(i).is_some() && m.label(i) == m.label(j))
///         };
///         let n = nodes.n_nodes();
///         let weights = Array2::from_shape_fn((n, n), |(i, j)| f64::from(together(i, j)));
///         SimilarityGraph::new(nodes.grouping().clone(), weights)
///     }
/// }
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 1, 1, 2])?,
/// ])?;
/// let graph = EverTogether.similarity(&ensemble)?;
/// assert_eq!(graph.weights()[[0, 1]], 1.0);
/// assert_eq!(graph.weights()[[0, 2]], 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
pub trait Similarity: Send + Sync {
    /// A short name, for instance `eac`.
    fn name(&self) -> &str;

    /// Whether [`between`](Self::between) reads memberships and weights of the members where nodes
    /// have them; ensembles with others are refused. Default [`Accepts::LABELS`].
    fn accepts(&self) -> Accepts {
        Accepts::LABELS
    }

    /// Refuses bad parameters, before any work.
    ///
    /// # Errors
    /// As the method says.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The similarity graph over given microclusters, or over single objects. What the user should
    /// know is written to the report.
    ///
    /// # Errors
    /// As the method says; [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) where a dense matrix
    /// would exceed the memory budget.
    fn between(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph>;

    /// The tree of a linkage over nodes that weigh as many objects as they have, where it can be
    /// had without the matrix; `None` elsewhere, as by default. There is at least one node.
    ///
    /// # Errors
    /// As [`Similarity::between`].
    fn linkage_tree(
        &self,
        linkage: Linkage,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Option<Dendrogram>> {
        let _ = (linkage, nodes, report, observer);
        Ok(None)
    }

    /// The similarity graph of an ensemble, with a report; progress goes to the observer, which may
    /// also cancel.
    ///
    /// # Errors
    /// As [`Similarity::check`] and [`Similarity::between`].
    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<SimilarityGraph>> {
        self.check()?;
        let ensemble = &*ensemble.accepted_by(self.name(), self.accepts())?;
        let mut report = Report::default();
        let nodes =
            report.stage("microclusters", || Microclusters::observed(ensemble, observer))?;
        report.microclusters = Some(nodes.n_nodes());
        let graph =
            report.inner_stage("similarity", |inner| self.between(&nodes, inner, observer))?;
        graph.check_answer(self.name(), nodes.grouping())?;
        Ok(Fit::new(graph, report))
    }

    /// The similarity graph of an ensemble.
    ///
    /// # Errors
    /// As [`Similarity::fit`].
    fn similarity(&self, ensemble: &Ensemble) -> Result<SimilarityGraph> {
        Ok(self.fit(ensemble, &())?.output)
    }
}

impl<S: Similarity + ?Sized> Similarity for Box<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn accepts(&self) -> Accepts {
        (**self).accepts()
    }

    fn check(&self) -> Result<()> {
        (**self).check()
    }

    fn between(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        (**self).between(nodes, report, observer)
    }

    fn linkage_tree(
        &self,
        linkage: Linkage,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Option<Dendrogram>> {
        (**self).linkage_tree(linkage, nodes, report, observer)
    }
}

/// A weighted graph to a partition of its objects.
///
/// `Partitioned` makes a consensus function of a [`Similarity`] and one of these:
///
/// ```
/// use consilience::graph::{Partitioned, SpectralCut};
/// use consilience::prelude::*;
/// use consilience::walk::ProbabilityTrajectories;
/// use consilience::{Ensemble, Partition};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let graph = ProbabilityTrajectories::default().similarity(&ensemble)?;
/// let cut = SpectralCut::new(2).partition(graph)?;
/// let method = Partitioned::new(ProbabilityTrajectories::default(), SpectralCut::new(2));
/// assert_eq!(method.consensus(&ensemble)?, cut);
/// # Ok::<(), consilience::Error>(())
/// ```
pub trait GraphPartitioner: Send + Sync {
    /// Partitions the objects behind the graph. The graph is taken by value, since partitioners
    /// work in its memory.
    ///
    /// # Errors
    /// As the method says.
    fn fit(&self, graph: SimilarityGraph, observer: &dyn Observer) -> Result<Fit<Partition>>;

    /// The partition alone.
    ///
    /// # Errors
    /// As [`GraphPartitioner::fit`].
    fn partition(&self, graph: SimilarityGraph) -> Result<Partition> {
        Ok(self.fit(graph, &())?.output)
    }
}
