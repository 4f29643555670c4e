//! EC-CMS: co-association that learns from its own reliable entries.

mod own;
#[cfg(test)]
pub(super) mod reference;
mod solver;
mod tile;

use consilience_core::{
    Clusters, MemoryBudget, Microclusters, Observer, Report, Result, Similarity, SimilarityGraph,
    Status, ensure,
};
use consilience_graph::{Lifespan, Linked, linked_method};

use super::confidence::{Confidence, LARGEST, check_limits, on_grid, own_objects};
use super::lwea::{ENTROPY_SCALE, LocallyWeighted};
use super::threshold::Threshold;
use solver::Solver;

const CONFIDENCE: f64 = 0.8;
const PENALTY: f64 = 1.0;
const MAX_ITERATIONS: usize = 100;
const TOLERANCE: f64 = 1e-2;

/// The self-enhanced co-association of EC-CMS: the locally weighted one (A), made smooth along
/// pairs that nearly all members put together.
///
/// ```text
/// min tr(C' Phi C) + lambda / 2 ||E||^2   subject to   A = C + E,  E = 0 where CA >= alpha,
///                                                      C symmetric, 0 <= C <= 1
/// ```
///
/// Phi is the Laplacian of the graph of the pairs of objects with co-association CA >= alpha,
/// weighted by it. Objects that are linked there become alike in their similarities to all others.
/// The diagonal of the graph that comes out is the similarity of two objects inside one
/// microcluster.
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::consensus::{LocallyWeighted, SelfEnhancedCoAssociation};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2])?,
/// ])?;
/// let before = LocallyWeighted::default().similarity(&ensemble)?;
/// let after = SelfEnhancedCoAssociation::default().confidence(0.6).similarity(&ensemble)?;
/// // Objects 0 and 2 are linked by two members of three, and 2 and 3 by one. Through that, 0 and
/// // 3 have become more alike.
/// assert_eq!(before.weights()[[0, 2]], 0.0);
/// assert!(after.weights()[[0, 2]] > 0.005);
/// // Three of five objects are linked; where a component may hold at most half, none are.
/// let small = SelfEnhancedCoAssociation::default().confidence(0.6).largest_share(0.5);
/// assert_eq!(small.similarity(&ensemble)?.weights()[[0, 2]], 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~^2 M), then O(n~^2 b) for each round, where b is the size of the components of the graph of
/// reliable pairs: each pair of components is solved by itself. A sixteenth of the pairs tells
/// beforehand how many rounds there will be. 12 n~^2 bytes, and 96 b^2 for the largest component
/// in every thread. A [largest share](SelfEnhancedCoAssociation::largest_share) below 1 adds
/// O(n~^2 M) on one thread and O(n~) memory.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for parameters
/// outside their ranges, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the
/// memory budget or the [largest component](SelfEnhancedCoAssociation::largest_component).
///
/// # References
/// Jia, Tao, Wang, Wang 2023, "Ensemble Clustering via Co-Association Matrix Self-Enhancement",
/// with the steps and the stopping rule of the authors' program. The exact form on microclusters,
/// missing labels (CA and A over the members that label both objects) and the mean of C and its
/// transpose, which differ before convergence, are ours, and so is the largest share. Where alpha
/// links no two microclusters, C is a multiple of A between them, and A itself comes out.
#[doc(alias = "EC-CMS")]
#[derive(Clone, Copy, Debug)]
pub struct SelfEnhancedCoAssociation {
    confidence: f64,
    largest_share: f64,
    error_penalty: f64,
    entropy_scale: f64,
    max_iterations: usize,
    tolerance: f64,
    largest_component: usize,
    budget: MemoryBudget,
}

impl Default for SelfEnhancedCoAssociation {
    fn default() -> Self {
        SelfEnhancedCoAssociation {
            confidence: CONFIDENCE,
            largest_share: 1.0,
            error_penalty: PENALTY,
            entropy_scale: ENTROPY_SCALE,
            max_iterations: MAX_ITERATIONS,
            tolerance: TOLERANCE,
            largest_component: LARGEST,
            budget: MemoryBudget::default(),
        }
    }
}

impl SelfEnhancedCoAssociation {
    consilience_core::setters! {
        /// The co-association from which on a pair is taken for reliable. Default 0.8; above 0,
        /// and above 1 no pair is. The paper takes 0.7 to 0.8, chosen for each data set.
        #[doc(alias = "alpha")]
        pub fn confidence(mut self, confidence: f64) { self.confidence = confidence }

        /// The largest share of the labelled objects that one component of the graph of reliable
        /// pairs may hold. Default 1; above 0, to 1. Below 1, the [confidence](Self::confidence) is
        /// raised to the least at which none holds more, which needs no classes; the report says to
        /// which. Where one microcluster alone holds more, no pair is reliable.
        pub fn largest_share(mut self, share: f64) { self.largest_share = share }

        /// What it costs to change a pair that is not reliable. Default 1; 1e-6 to 1e6. The paper
        /// takes 0.001 to 100, chosen for each data set.
        #[doc(alias = "lambda")]
        pub fn error_penalty(mut self, penalty: f64) { self.error_penalty = penalty }

        /// As [`LocallyWeighted::entropy_scale`]. Default 0.4; above 0.
        #[doc(alias = "theta")]
        pub fn entropy_scale(mut self, scale: f64) { self.entropy_scale = scale }

        /// Rounds at most. Default 100; 1 to 10,000.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// The relative change of the variables and multipliers at which to stop. Default 0.01; 0
        /// or more.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Microclusters in a component of the graph of reliable pairs at most. Default 3000; at
        /// least 1.
        pub fn largest_component(mut self, nodes: usize) { self.largest_component = nodes }

        /// How large the matrices may become. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    fn locally_weighted(&self) -> LocallyWeighted {
        LocallyWeighted::default().entropy_scale(self.entropy_scale).memory_budget(self.budget)
    }

    /// From which co-association on pairs are reliable; the report says where it was raised.
    fn threshold(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Threshold> {
        let (confidence, share) = (self.confidence, self.largest_share);
        if share >= 1.0 {
            return Ok(Threshold::From(confidence));
        }
        let raised = Threshold::raised(nodes, confidence, share, observer)?;
        // Objects that nobody labels are in no component.
        match raised {
            Threshold::From(_) => {}
            Threshold::Above(bound) if bound < 1.0 => report.notes.push(format!(
                "confidence raised from {confidence} to {raised}, so that no component of reliable \
                 pairs holds more than {share} of the labelled objects"
            )),
            Threshold::Above(_) => report.notes.push(format!(
                "at every confidence one component of reliable pairs holds more than {share} of \
                 the labelled objects: no pair is taken for reliable"
            )),
        }
        Ok(raised)
    }
}

impl Similarity for SelfEnhancedCoAssociation {
    fn name(&self) -> &str {
        "ec-cms"
    }

    fn check(&self) -> Result<()> {
        let (rounds, largest) = (self.max_iterations, self.largest_component);
        check_limits(self.confidence, rounds, self.tolerance, largest)?;
        let (share, lambda) = (self.largest_share, self.error_penalty);
        ensure!(
            share > 0.0 && share <= 1.0,
            invalid("largest share {share}; expected above 0, to 1")
        );
        ensure!(
            (1e-6..=1e6).contains(&lambda),
            invalid("error penalty {lambda}; expected 1e-6 to 1e6")
        );
        self.locally_weighted().check()
    }

    fn between(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        self.check()?;
        observer.check()?;
        let n = nodes.n_nodes();
        self.budget.check_square("weighted co-association", n, 12)?;
        let threshold = self.threshold(nodes, report, observer)?;
        let (least, largest) = (threshold.least(), self.largest_component);
        let graph = Confidence::of(nodes, least, largest, self.budget, observer)?;
        let weighted = self.locally_weighted().between(nodes, report, observer)?;
        if graph.groups.is_empty() {
            report.notes.push(format!(
                "no two microclusters have a co-association {threshold}: the similarity is that of \
                 LWEA"
            ));
            return Ok(weighted);
        }
        graph.note(nodes, report);
        let (grouping, mut a) = weighted.into_parts();
        own_objects(nodes, &mut a);
        let solver = Solver::new(nodes, graph, self.error_penalty, self.tolerance, observer)?;
        let stop = solver.enhance(&mut a, self.max_iterations)?;
        report.iterations = stop.rounds;
        if !stop.reached {
            report.status = Status::MaxIterations;
        }
        on_grid(&mut a);
        observer.check()?;
        SimilarityGraph::new_observed(grouping, a, observer)
    }
}

/// Ensemble clustering by co-association matrix self-enhancement (EC-CMS): average linkage on the
/// self-enhanced co-association.
///
/// Use it where classes are of very unequal size and some members may be bad: pairs that nearly
/// all members put together pull their objects to the same neighbours. Where the reliable pairs
/// link most objects with one another it merges classes; the report then says so, and
/// [`Lwea`](crate::Lwea) or a higher [confidence](EcCms::confidence) is better. With some twenty
/// members and more, `confidence(0.7).largest_share(0.5)` finds such a confidence for each ensemble
/// without classes (`docs/notes/choosing.md`); with ten, take [`Lwea`](crate::Lwea). Deterministic;
/// the similarity is a dense matrix over microclusters.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::EcCms;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = EcCms::new(3).confidence(0.6).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// // From 0.3 on, pairs link five of the seven objects with one another.
/// let fit = EcCms::new(3).confidence(0.3).largest_share(0.5).fit(&ensemble, &())?;
/// assert_eq!(fit.output, consensus);
/// assert!(fit.report.notes.iter().any(|n| n.contains("raised from 0.3 to above 0.3333")));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then as [`SelfEnhancedCoAssociation`] and O(n~^2) for the tree.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`; otherwise as [`SelfEnhancedCoAssociation`].
///
/// # References
/// Jia, Tao, Wang, Wang 2023, "Ensemble Clustering via Co-Association Matrix Self-Enhancement".
#[doc(alias = "EC-CMS")]
#[derive(Clone, Debug)]
pub struct EcCms(Linked<SelfEnhancedCoAssociation>);

impl EcCms {
    /// EC-CMS with average linkage; [`Clusters::Auto`] is the longest lifetime in the dendrogram,
    /// counted from the first merge as by [`Lwea`](crate::Lwea).
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let linked = Linked::new(SelfEnhancedCoAssociation::default(), clusters);
        EcCms(linked.lifespan(Lifespan::FromFirstMerge))
    }

    consilience_core::setters! { through map_similarity:
        /// As [`SelfEnhancedCoAssociation::confidence`]. Default 0.8; above 0.
        #[doc(alias = "alpha")]
        pub fn confidence(mut self, confidence: f64);

        /// As [`SelfEnhancedCoAssociation::largest_share`]. Default 1; above 0, to 1.
        pub fn largest_share(mut self, share: f64);

        /// As [`SelfEnhancedCoAssociation::error_penalty`]. Default 1; 1e-6 to 1e6.
        #[doc(alias = "lambda")]
        pub fn error_penalty(mut self, penalty: f64);

        /// As [`LocallyWeighted::entropy_scale`]. Default 0.4; above 0.
        #[doc(alias = "theta")]
        pub fn entropy_scale(mut self, scale: f64);

        /// As [`SelfEnhancedCoAssociation::max_iterations`]. Default 100; 1 to 10,000.
        pub fn max_iterations(mut self, iterations: usize);

        /// As [`SelfEnhancedCoAssociation::tolerance`]. Default 0.01; 0 or more.
        pub fn tolerance(mut self, tolerance: f64);

        /// As [`SelfEnhancedCoAssociation::largest_component`]. Default 3000; at least 1.
        pub fn largest_component(mut self, nodes: usize);
    }
}

linked_method!(EcCms, "ec-cms");
