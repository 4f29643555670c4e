use consilience_core::{
    ConsensusFunction, Ensemble, Fit, GraphPartitioner, Microclusters, Observer, Partition, Report,
    Result, Similarity, check_answer,
};

/// The consensus function of a similarity and a graph partitioner.
///
/// Use it to cut the graph of any similarity with any partitioner, such as
/// [`SpectralCut`](crate::SpectralCut); for linkage use [`Linked`](crate::Linked), which gives the
/// tree as well. The number of clusters is a setting of the partitioner.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::graph::{CoAssociation, Partitioned, SpectralCut};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let method = Partitioned::new(CoAssociation::default(), SpectralCut::new(3));
/// assert_eq!(method.name(), "eac-cut");
/// assert_eq!(method.consensus(&ensemble)?.to_signed(), [0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then as the similarity and the partitioner.
///
/// # Errors
/// As the similarity and the partitioner.
#[derive(Clone, Debug)]
pub struct Partitioned<S, P> {
    similarity: S,
    partitioner: P,
    name: String,
}

impl<S: Similarity, P: GraphPartitioner> Partitioned<S, P> {
    /// The cut of a similarity's graph by a partitioner.
    pub fn new(similarity: S, partitioner: P) -> Self {
        let name = format!("{}-cut", similarity.name());
        Partitioned { similarity, partitioner, name }
    }
}

impl<S: Similarity, P: GraphPartitioner> ConsensusFunction for Partitioned<S, P> {
    type Output = Partition;

    fn name(&self) -> &str {
        &self.name
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        self.similarity.check()?;
        let ensemble = &*ensemble.accepted_by(&self.name, self.similarity.accepts())?;
        let mut report = Report::default();
        // A similarity may ask how often members count.
        let nodes = report.stage("microclusters", || {
            Microclusters::observed(ensemble, observer)?.canonical_as_weighed(observer)
        })?;
        report.microclusters = Some(nodes.n_nodes());
        let between = |inner: &mut Report| self.similarity.between(&nodes, inner, observer);
        let graph = report.inner_stage("similarity", between)?;
        graph.check_answer(self.similarity.name(), nodes.grouping())?;
        let found = report.stage("partition", || self.partitioner.fit(graph, observer))?;
        let (labels, n) = (found.output.n_objects(), ensemble.n_objects());
        check_answer(&format!("the partitioner of {}", self.name), "labels", labels, n)?;
        report.adopt(found.report);
        Ok(Fit::new(found.output, report))
    }
}
