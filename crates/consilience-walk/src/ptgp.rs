use consilience_core::{
    Accepts, Clusters, Ensemble, Error, MemoryBudget, Microclusters, NodeConsensus, Observer,
    Partition, Report, Result, Seed, ensure, room,
};
use consilience_graph::{ClusterIncidence, TransferCut, each_row};
use ndarray::{Array1, Array2, ArrayView2};

use crate::thin::{self, Effort};
use crate::{
    BipartiteGraph, EliteNeighbours, ProbabilityTrajectories, PtsSolver, TrajectoryMeasure, pts,
};

/// Up to this many microclusters the similarity is computed as a dense matrix, unless told
/// otherwise.
const DENSE: usize = 10_000;
/// And where that takes at most so many multiply-adds: some ten seconds of one core.
const DENSE_COST: f64 = 4e10;
/// Multiply-adds of walks in panels for which nothing is sampled, unless told up to how many
/// microclusters there is a matrix: some seconds of one core.
const WHOLE: u64 = 50_000_000_000;

/// Probability trajectory based graph partitioning (PTGP): a bipartite graph of microclusters and
/// clusters, weighted by the similarity of random walks, and a transfer cut of it.
///
/// As good as [`Pta`](crate::Pta) on average, and the one for very many microclusters: beyond
/// 10,000, or where the matrix of all pairs would take more than 4e10 multiply-adds (from about
/// 5,000 on), the similarity is used only in products, which are sparse, linear in the links, and
/// in single precision. Where walking all walks would take more than 5e10 multiply-adds, the norms
/// of long ones and their last steps are approximate, with a statistical bound in the report. Fewer
/// than k clusters come out where the walks distinguish fewer microclusters; the report says so.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition, Seed};
/// use consilience::walk::Ptgp;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2, 2, 2, 2])?,
/// ])?;
/// let consensus = Ptgp::new(2).seed(Seed(1)).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 0, 1, 1, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// With C clusters in the ensemble, as [`ProbabilityTrajectories`] plus O(n~ C^2) up to the dense
/// limit; beyond, O(T nnz C), and O(T nnz n~) of at most 5e10 multiply-adds, and 8 n~ (C + 32 T)
/// bytes at most beside the links.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, K = 0, T outside 1..=1000 or no restarts,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Huang, Lai, Wang 2016, Section 4.4.2 and Algorithm 3. Label gaps change nothing here; in the
/// published program an unused cluster number divides 0 by 0.
#[doc(alias = "PTGP")]
#[derive(Clone, Copy, Debug)]
pub struct Ptgp {
    clusters: Clusters,
    similarity: ProbabilityTrajectories,
    cut: TransferCut,
    seed: Seed,
    dense_limit: Option<usize>,
    effort: Effort,
}

impl Ptgp {
    /// PTGP; the widest gap between eigenvalues chooses the number of clusters where it is not
    /// given.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        Ptgp {
            clusters,
            similarity: ProbabilityTrajectories::default(),
            cut: TransferCut::new(clusters),
            seed: Seed(0),
            dense_limit: None,
            effort: Effort { whole: WHOLE, ..Effort::default() },
        }
    }

    consilience_core::setters! {
        /// K, the elite neighbours of a microcluster. Default `floor(sqrt(n~) / 2)` for n~
        /// microclusters, from 1 to 20; at least 1.
        #[doc(alias = "K")]
        pub fn elite_neighbours(mut self, k: usize) {
            self.similarity = self.similarity.elite_neighbours(k)
        }

        /// T, the steps of a walk. Default `floor(sqrt(n~) / 2)` for n~ microclusters, from 1 to
        /// 20; 1 to 1000.
        #[doc(alias = "T")]
        pub fn walk_length(mut self, t: usize) { self.similarity = self.similarity.walk_length(t) }

        /// How like each other two trajectories are; any but the cosine needs the dense matrix,
        /// whatever the dense limit. Default [`TrajectoryMeasure::Cosine`].
        pub fn measure(mut self, measure: TrajectoryMeasure) {
            self.similarity = self.similarity.measure(measure)
        }

        /// How the dense similarity is computed. Default [`PtsSolver::Cheapest`].
        pub fn solver(mut self, solver: PtsSolver) {
            self.similarity = self.similarity.solver(solver)
        }

        /// k-means starts on the embedding, of which the one of least inertia is kept. Default 3; 1
        /// to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.cut = self.cut.restarts(restarts) }

        /// Seed of the k-means starts, and of the norms of long walks beyond the dense limit.
        /// Default 0.
        pub fn seed(mut self, seed: Seed) {
            self.seed = seed;
            self.cut = self.cut.seed(seed)
        }

        /// How much memory the matrices may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) {
            self.similarity = self.similarity.memory_budget(budget);
            self.cut = self.cut.memory_budget(budget)
        }

        /// Up to how many microclusters the similarity is a dense matrix, whatever that takes;
        /// beyond, it is used in products only, and the norms of long walks are sampled. Default
        /// 10,000, and where no solver is told no matrix that would take more than 4e10
        /// multiply-adds, and no samples where walking all walks takes at most 5e10; any number.
        pub fn dense_limit(mut self, nodes: usize) {
            self.dense_limit = Some(nodes);
            self.effort = Effort::default()
        }
    }

    /// K and T as in the text of the paper: `floor(sqrt(n~) / 2)` however many microclusters there
    /// are (T at most 1000). Default: at most 20, as in the published program; equal up to 1,763
    /// microclusters.
    #[must_use]
    pub fn published(mut self) -> Self {
        self.similarity = self.similarity.published();
        self
    }

    /// The bipartite graph that is cut: how similar each microcluster is to the members of each
    /// cluster of the ensemble, on average.
    ///
    /// # Errors
    /// As [`Ptgp`]; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where there is no
    /// microcluster.
    pub fn bipartite(&self, nodes: &Microclusters) -> Result<BipartiteGraph> {
        self.bipartite_observed(nodes, &())
    }

    /// As [`Ptgp::bipartite`], with progress and cancellation.
    ///
    /// # Errors
    /// As [`Ptgp::bipartite`]; [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn bipartite_observed(
        &self,
        nodes: &Microclusters,
        observer: &dyn Observer,
    ) -> Result<BipartiteGraph> {
        self.similarity.parameters.check()?;
        let n = nodes.n_nodes();
        ensure!(n > 0, empty("a bipartite graph of no microclusters"));
        let budget = self.similarity.budget;
        // Of memberships there may be more clusters than the most probable ones.
        let clusters = nodes.rows().iter().map(|member| member.n_clusters()).sum();
        budget.check_table("bipartite graph", n, clusters, 16)?;
        let (k, length) = self.similarity.parameters.resolve(n);
        let dense = self.may_be_dense(n);
        if !dense {
            self.check_steps(n, length)?;
        } else if self.asks_for_dense() {
            self.similarity.check_room(n)?;
        } else {
            // One of the two is made, whatever the links are.
            self.check_steps(n, length).or_else(|e| self.similarity.check_room(n).or(Err(e)))?;
        }
        let incidence = ClusterIncidence::of_observed(nodes, observer)?;
        budget.check_table("bipartite graph", n, incidence.n_clusters(), 16)?;
        // A member that counts twice has each of its clusters twice.
        let often = Array1::from(incidence.cluster_weights());
        let elite = EliteNeighbours::within(nodes, k, budget, observer)?;
        if dense && self.dense_is_best(elite.weights().nnz(), n, length) {
            let grouping = nodes.grouping().clone();
            let graph = self.similarity.over(&elite, grouping, length, observer)?;
            drop(elite);
            let weights = cluster_means(&incidence, graph.weights(), observer)? * &often;
            return Ok(BipartiteGraph { weights, error_bound: None });
        }
        self.check_steps(n, length)?;
        let (effort, seed) = (self.effort, self.seed);
        let mut graph = thin::bipartite(nodes, &incidence, elite, length, effort, seed, observer)?;
        graph.weights *= &often;
        Ok(graph)
    }

    /// Whether so few microclusters may have a dense matrix; any measure but the cosine needs it.
    fn may_be_dense(&self, n: usize) -> bool {
        n <= self.dense_limit.unwrap_or(DENSE) || !self.similarity.by_cosine()
    }

    /// Whether a matrix that may be dense has to be.
    fn asks_for_dense(&self) -> bool {
        let told = self.dense_limit.is_some() || !self.similarity.by_cheapest();
        told || !self.similarity.by_cosine()
    }

    /// Whether a matrix that may be dense is: where that was asked for, or does not take long.
    fn dense_is_best(&self, nnz: usize, n: usize, length: usize) -> bool {
        let [products, eigenpairs] = pts::costs(nnz, n, length);
        self.asks_for_dense() || products.min(eigenpairs) <= DENSE_COST
    }

    fn check_steps(&self, n: usize, length: usize) -> Result<()> {
        self.similarity.budget.check_table("steps of the walks", n, thin::PANEL * length, 4)
    }
}

impl NodeConsensus for Ptgp {
    type Output = Partition;

    fn name(&self) -> &str {
        "ptgp"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self, _ensemble: &Ensemble) -> Result<()> {
        self.similarity.parameters.check()?;
        // Not the number of clusters: rows may stand for several objects.
        self.cut.check_parameters()
    }

    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        Microclusters::observed(ensemble, observer)?.canonical_observed(observer)
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let graph = report.stage("similarity", || self.bipartite_observed(nodes, observer))?;
        let cut = match self.clusters.fixed() {
            Some(k) => self.cut.clusters(k.min(nodes.n_nodes())),
            None => self.cut,
        };
        let (b, objects) = (graph.weights.view(), nodes.grouping().weights());
        let members = Some(nodes.rows());
        let found =
            report.stage("partition", || cut.fit_counted(b, &objects, members, observer))?;
        report.adopt(found.report);
        report.error_bound = graph.error_bound;
        Ok(found.output)
    }
}

/// The mean similarity of each microcluster to those in each cluster, `S B0 diag(1 / |C|)`.
fn cluster_means(
    incidence: &ClusterIncidence,
    s: ArrayView2<'_, f64>,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let (n, c) = (s.nrows(), incidence.n_clusters());
    let mut b = room::zeros::<f64>(n * c)?;
    each_row(&mut b, c, &(), observer, |_, i, out| {
        let row = s.row(i);
        for (cluster, out) in out.iter_mut().enumerate() {
            let add = |(sum, all): (f64, f64), (j, p): (usize, f64)| (sum + p * row[j], all + p);
            let (sum, all) = incidence.shares_in(cluster).fold((0.0, 0.0), add);
            *out = sum / all;
        }
    })?;
    Array2::from_shape_vec((n, c), b).map_err(|e| Error::shape(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_takes_long_is_made_only_where_asked_for() {
        let ptgp = Ptgp::new(3);
        assert!(ptgp.may_be_dense(10_000) && !ptgp.may_be_dense(10_001));
        // 4,000 microclusters of an ordinary pool, and 5,000 random ones.
        let (pool, random) = ((31 * 4_000, 4_000, 20), (64 * 5_000, 5_000, 20));
        let dense = |ptgp: Ptgp, (nnz, n, length)| ptgp.dense_is_best(nnz, n, length);
        assert!(dense(ptgp, pool) && !dense(ptgp, random));
        for asked in [
            ptgp.dense_limit(5_000),
            ptgp.measure(TrajectoryMeasure::Tanimoto),
            ptgp.solver(PtsSolver::Products),
            ptgp.solver(PtsSolver::Eigenpairs),
        ] {
            assert!(asked.may_be_dense(5_000) && dense(asked, random), "{asked:?}");
        }
        // However few, where there are many links and long walks.
        assert!(!dense(ptgp, (500 * 900, 900, 200)) && dense(ptgp, (500 * 900, 900, 20)));
    }
}
