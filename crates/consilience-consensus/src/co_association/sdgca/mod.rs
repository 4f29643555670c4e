//! SDGCA: co-association guided by pairs that must belong together and pairs that cannot.

#[cfg(test)]
mod reference;
mod targets;
mod tile;

use consilience_core::{
    Clusters, MemoryBudget, Microclusters, Observer, Report, Result, Similarity, SimilarityGraph,
    Status, ensure,
};
use consilience_graph::{ClusterIncidence, Lifespan, Linked, check_entropy_scale, linked_method};
use ndarray::Array2;
use rayon::prelude::*;

use super::confidence::{Confidence, Group, LARGEST, check_limits, on_grid};
use super::propagation::{STEPS, TABLES, check_steps};
use targets::{normalized, targets};
use tile::{Limits, Operator, Solved, solve};

const ENTROPY_SCALE: f64 = 0.07;
const THRESHOLD: f64 = 0.8;
const MAX_ITERATIONS: usize = 300;
const TOLERANCE: f64 = 1e-3;
/// Nodes without links that are treated together beside a group.
const STRIP: usize = 64;
/// Pairs of groups whose results are kept at a time.
const BATCH: usize = 256;

/// The co-association of SDGCA: one weighted by the certainty of clusters (N), raised where
/// objects must belong together and lowered where they cannot.
///
/// ```text
/// min tr(S L S') + tr(D L D') + <S, D>   subject to   S = ML and D = CL where these are given,
///                                                     0 <= S, D <= 1, symmetric
/// W = 1 - (1 - S + D)(1 - N) where S >= D,   (1 + S - D) N elsewhere
/// ```
///
/// L is the Laplacian of the graph of the pairs with co-association of at least eta. Must-links ML
/// are N where the co-association is at least theta, rescaled to at most 1 and more than 0.8;
/// cannot-links CL are the mean dissimilarity of the clusters that hold two objects, by random
/// walks between clusters, where it is at least 0.8. The diagonal of the graph that comes out is
/// the similarity of two objects inside one microcluster.
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::consensus::GuidedCoAssociation;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2])?,
/// ])?;
/// let graph = GuidedCoAssociation::default().similarity(&ensemble)?;
/// let w = graph.weights();
/// assert!(w[[0, 0]] > w[[0, 1]] && w[[0, 1]] > w[[0, 3]]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~^2 M), then O(n~^2 b) for each round, where b is the size of the components of the graph;
/// each pair of components is solved by itself, and those without must-links and cannot-links are
/// skipped. 32 n~^2 bytes, 48 C^2 beside 16 n~^2 of them for walks between C clusters, and 96 b^2
/// for the largest component.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for parameters
/// outside their ranges, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the
/// memory budget or the [largest component](GuidedCoAssociation::largest_component).
///
/// # References
/// Zhang, Jia, Song, Wang 2025, "Similarity and Dissimilarity Guided Co-association Matrix
/// Construction for Ensemble Clustering", with the steps of the authors' program. Ours: the exact
/// form on microclusters; missing labels; that each pair of components stops by itself, at its
/// share of the tolerance; and that S and D are taken within their bounds. Walks between clusters
/// are those of [`EnhancedCoAssociation`](crate::EnhancedCoAssociation).
#[doc(alias = "SDGCA")]
#[derive(Clone, Copy, Debug)]
pub struct GuidedCoAssociation {
    entropy_scale: f64,
    confidence: f64,
    must_link: f64,
    steps: usize,
    max_iterations: usize,
    tolerance: f64,
    largest_component: usize,
    budget: MemoryBudget,
}

impl Default for GuidedCoAssociation {
    fn default() -> Self {
        GuidedCoAssociation {
            entropy_scale: ENTROPY_SCALE,
            confidence: THRESHOLD,
            must_link: THRESHOLD,
            steps: STEPS,
            max_iterations: MAX_ITERATIONS,
            tolerance: TOLERANCE,
            largest_component: LARGEST,
            budget: MemoryBudget::default(),
        }
    }
}

impl GuidedCoAssociation {
    consilience_core::setters! {
        /// How slowly the weight of a cluster falls with its entropy. Default 0.07; above 0. The
        /// paper takes 0.02 to 0.95, chosen for each data set.
        #[doc(alias = "lambda")]
        pub fn entropy_scale(mut self, scale: f64) { self.entropy_scale = scale }

        /// The co-association from which on a pair is linked in the graph. Default 0.8; above 0.
        /// Above 1, N itself comes out. The paper takes 0.65 to 1.01, chosen for each data set.
        #[doc(alias = "eta")]
        pub fn confidence(mut self, confidence: f64) { self.confidence = confidence }

        /// The co-association from which on a pair must belong together. Default 0.8; above 0.
        /// The paper takes 0.6 to 1.01, chosen for each data set.
        #[doc(alias = "theta")]
        pub fn must_link(mut self, threshold: f64) { self.must_link = threshold }

        /// The steps of a walk between clusters. Default 20; 1 to 1000.
        pub fn steps(mut self, steps: usize) { self.steps = steps }

        /// Rounds at most. Default 300; 1 to 10,000.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// How far S and D may be from their bounds, as a Frobenius norm over objects. Default
        /// 0.001; 0 or more.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Microclusters in a component of the graph at most. Default 3000; at least 1.
        pub fn largest_component(mut self, nodes: usize) { self.largest_component = nodes }

        /// How large the matrices may become. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// Puts the guided co-association in place of N.
    fn guide(
        &self,
        nodes: &Microclusters,
        graph: Confidence,
        n: &mut Array2<f64>,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<()> {
        let (targets, itself) =
            targets(nodes, n, self.must_link, self.steps, self.budget, observer)?;
        let sizes = nodes.grouping().weights();
        let limits = Limits {
            max_iterations: self.max_iterations,
            tolerance: self.tolerance,
            objects: sizes.iter().sum(),
            itself,
        };
        let operator = |group| {
            observer.check()?;
            Operator::new(group, true)
        };
        let groups: Vec<Operator> =
            graph.groups.into_par_iter().map(operator).collect::<Result<_>>()?;
        let strip = |nodes: &[usize]| Operator::new(Group::unlinked(nodes, &sizes), false);
        let strips: Vec<Operator> =
            graph.singles.chunks(STRIP).map(strip).collect::<Result<_>>()?;
        let mut tiles: Vec<(&Operator, &Operator)> = groups.iter().map(|g| (g, g)).collect();
        for (at, group) in groups.iter().enumerate() {
            tiles.extend(groups[at + 1..].iter().map(|other| (other, group)));
            // The product from the left is the cheaper one.
            tiles.extend(strips.iter().map(|strip| (group, strip)));
        }
        for (done, batch) in tiles.chunks(BATCH).enumerate() {
            let of = |&ends: &(&Operator, &Operator)| {
                solve(ends, std::ptr::eq(ends.0, ends.1), targets.view(), limits, observer)
            };
            let found: Vec<Solved> = batch.par_iter().map(of).collect::<Result<_>>()?;
            for (ends, solved) in batch.iter().zip(found) {
                put(n, ends.0, ends.1, &solved);
                report.iterations = report.iterations.max(solved.rounds);
                if !solved.reached {
                    report.status = Status::MaxIterations;
                }
            }
            observer.progress("pairs of components", done * BATCH, tiles.len());
        }
        apart(n, &graph.singles, &targets, observer)
    }
}

/// W of one pair, from N, S and D.
fn guided(n: f64, s: f64, d: f64) -> f64 {
    if s >= d { 1.0 - (1.0 - s + d) * (1.0 - n) } else { (1.0 + s - d) * n }
}

fn put(n: &mut Array2<f64>, left: &Operator, right: &Operator, solved: &Solved) {
    for (x, &i) in left.nodes.iter().enumerate() {
        for (y, &j) in right.nodes.iter().enumerate() {
            // Of a group with itself both halves are visited; S and D are symmetric up to rounding.
            if std::ptr::eq(left, right) && y > x {
                continue;
            }
            let w = guided(n[[i, j]], solved.s[[x, y]], solved.d[[x, y]]);
            (n[[i, j]], n[[j, i]]) = (w, w);
        }
    }
}

/// Nodes without links: S and D are their targets.
fn apart(
    n: &mut Array2<f64>,
    singles: &[usize],
    targets: &Array2<f64>,
    observer: &dyn Observer,
) -> Result<()> {
    for (at, &i) in singles.iter().enumerate() {
        if at % 64 == 0 {
            observer.check()?;
        }
        for &j in &singles[..=at] {
            let target = targets[[i, j]];
            let w = guided(n[[i, j]], target.max(0.0), (-target).max(0.0));
            (n[[i, j]], n[[j, i]]) = (w, w);
        }
    }
    Ok(())
}

impl Similarity for GuidedCoAssociation {
    fn name(&self) -> &str {
        "sdgca"
    }

    fn check(&self) -> Result<()> {
        let (rounds, largest) = (self.max_iterations, self.largest_component);
        check_limits(self.confidence, rounds, self.tolerance, largest)?;
        check_entropy_scale(self.entropy_scale)?;
        let threshold = self.must_link;
        ensure!(
            threshold > 0.0 && threshold.is_finite(),
            invalid("must-link threshold {threshold}; expected a positive number")
        );
        check_steps(self.steps)
    }

    fn between(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        self.check()?;
        observer.check()?;
        self.budget.check_square("guided co-association", nodes.n_nodes(), 32)?;
        let incidence = ClusterIncidence::of_observed(nodes, observer)?;
        let guided = self.confidence <= 1.0;
        if guided {
            // What the guidance needs, before anything is computed: beside N, and the links of the
            // components.
            let (n, c) = (nodes.n_nodes(), incidence.n_clusters());
            let tables = [(TABLES.saturating_mul(c), c), (n.saturating_mul(2), n)];
            self.budget.check_tables("similarity of clusters", &tables, 8)?;
        }
        let graph = normalized(nodes, &incidence, self.entropy_scale, self.budget, observer)?;
        if !guided {
            return Ok(graph);
        }
        let linked =
            Confidence::of(nodes, self.confidence, self.largest_component, self.budget, observer)?;
        linked.note(nodes, report);
        let (grouping, mut n) = graph.into_parts();
        self.guide(nodes, linked, &mut n, report, observer)?;
        on_grid(&mut n);
        SimilarityGraph::new_observed(grouping, n, observer)
    }
}

/// Similarity and dissimilarity guided co-association (SDGCA): average linkage on the guided
/// co-association.
///
/// Take it to compare with its paper: at its published setting it is behind [`Lwea`](crate::Lwea)
/// on most of the sets that were measured (`docs/local-weighting.md`). It goes on from the pairs
/// that [`EcCms`](crate::EcCms) starts from, and also learns which objects are apart. Where the
/// reliable pairs link most objects with one another it merges classes, and the report says so.
/// Deterministic; the similarity is a dense matrix over microclusters.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::Sdgca;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = Sdgca::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then as [`GuidedCoAssociation`] and O(n~^2) for the tree.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`; otherwise as [`GuidedCoAssociation`].
///
/// # References
/// Zhang, Jia, Song, Wang 2025, "Similarity and Dissimilarity Guided Co-association Matrix
/// Construction for Ensemble Clustering".
#[doc(alias = "SDGCA")]
#[derive(Clone, Debug)]
pub struct Sdgca(Linked<GuidedCoAssociation>);

impl Sdgca {
    /// SDGCA with average linkage; [`Clusters::Auto`] is the longest lifetime in the dendrogram,
    /// counted from the first merge as by [`Lwea`](crate::Lwea).
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let linked = Linked::new(GuidedCoAssociation::default(), clusters);
        Sdgca(linked.lifespan(Lifespan::FromFirstMerge))
    }

    consilience_core::setters! { through map_similarity:
        /// As [`GuidedCoAssociation::entropy_scale`]. Default 0.07; above 0.
        #[doc(alias = "lambda")]
        pub fn entropy_scale(mut self, scale: f64);

        /// As [`GuidedCoAssociation::confidence`]. Default 0.8; above 0.
        #[doc(alias = "eta")]
        pub fn confidence(mut self, confidence: f64);

        /// As [`GuidedCoAssociation::must_link`]. Default 0.8; above 0.
        #[doc(alias = "theta")]
        pub fn must_link(mut self, threshold: f64);

        /// As [`GuidedCoAssociation::steps`]. Default 20; 1 to 1000.
        pub fn steps(mut self, steps: usize);

        /// As [`GuidedCoAssociation::max_iterations`]. Default 300; 1 to 10,000.
        pub fn max_iterations(mut self, iterations: usize);

        /// As [`GuidedCoAssociation::tolerance`]. Default 0.001; 0 or more.
        pub fn tolerance(mut self, tolerance: f64);

        /// As [`GuidedCoAssociation::largest_component`]. Default 3000; at least 1.
        pub fn largest_component(mut self, nodes: usize);
    }
}

linked_method!(Sdgca, "sdgca");
