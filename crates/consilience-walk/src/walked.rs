use consilience_core::{
    Accepts, Microclusters, Observer, Report, Result, Similarity, SimilarityGraph,
};

use crate::{EliteNeighbours, ProbabilityTrajectories};

/// Probability trajectories over the elite links of any similarity: [`ProbabilityTrajectories`]
/// with another graph in place of co-association.
///
/// ```
/// use consilience::consensus::LocallyWeighted;
/// use consilience::graph::Linked;
/// use consilience::walk::{ProbabilityTrajectories, Walked};
/// use consilience::{ConsensusFunction, Ensemble, Partition};
///
/// // Sixty objects in three groups; every member errs elsewhere.
/// let member = |u: usize| {
///     let label = |i: usize| if (7 * i + 5 * u) % 9 == 0 { (i + u) % 3 } else { i / 20 };
///     Partition::from_labels(&(0..60).map(label).collect::<Vec<_>>())
/// };
/// let ensemble = Ensemble::new((0..8).map(member).collect::<Result<_, _>>()?)?;
/// let pts = ProbabilityTrajectories::default();
/// let similarity = Walked::new(LocallyWeighted::default(), pts);
/// let consensus = Linked::new(similarity, 3).consensus(&ensemble)?;
/// assert!(consensus.iter().enumerate().all(|(i, c)| c == Some(i / 20)));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// That of the similarity, then as [`ProbabilityTrajectories`]; 24 n~^2 bytes.
///
/// # Errors
/// As the similarity and [`ProbabilityTrajectories`].
///
/// # References
/// Huang, Lai, Wang 2016, Definitions 5 to 10, whose graph need not be the co-association.
#[derive(Clone, Debug)]
pub struct Walked<S> {
    similarity: S,
    trajectories: ProbabilityTrajectories,
    name: String,
}

impl<S: Similarity> Walked<S> {
    /// Walks over the elite links of a similarity, with the K, T and measure of `trajectories`.
    pub fn new(similarity: S, trajectories: ProbabilityTrajectories) -> Self {
        let name = format!("{}-{}", trajectories.name(), similarity.name());
        Walked { similarity, trajectories, name }
    }
}

impl<S: Similarity> Similarity for Walked<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn accepts(&self) -> Accepts {
        self.similarity.accepts()
    }

    fn check(&self) -> Result<()> {
        self.similarity.check()?;
        self.trajectories.check()
    }

    fn between(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        let (pts, n) = (&self.trajectories, nodes.n_nodes());
        pts.budget.check_square("probability trajectories", n, 24)?;
        let graph = self.similarity.between(nodes, report, observer)?;
        graph.check_answer(self.similarity.name(), nodes.grouping())?;
        let (k, length) = pts.parameters.resolve(n);
        let elite = EliteNeighbours::of_similarity_within(&graph, k, pts.budget, observer)?;
        pts.over(&elite, graph.into_parts().0, length, observer)
    }
}
