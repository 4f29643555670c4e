use consilience_core::{
    ConsensusFunction, Ensemble, Error, Fit, MemoryBudget, Observer, Partition, Report, Result,
    Seed,
};
use consilience_graph::{Clusters, Microclusters, TransferCut};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use crate::ProbabilityTrajectories;
use crate::thin::{self, Effort};

/// Up to this many microclusters the similarity is computed as a dense matrix.
const DENSE: usize = 10_000;

/// Probability trajectory based graph partitioning (PTGP): a bipartite graph of microclusters and
/// clusters, weighted by the similarity of random walks, and a transfer cut of it.
///
/// As good as [`Pta`](crate::Pta) on average, and the one for very many microclusters: beyond
/// 10,000 the similarity is used only in products, which are sparse, exact and linear in the links;
/// the one approximation (the norms of long walks) comes with a statistical bound in the report.
/// Fewer than k clusters come out where the walkers of fewer microclusters see anything different;
/// the report says so.
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition, Seed};
/// use consilience_walk::Ptgp;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2, 2, 2, 2])?,
/// ])?;
/// let consensus = Ptgp::new(2).seed(Seed(1)).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 0, 1, 1, 1, 1]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// With C clusters in the ensemble, as [`ProbabilityTrajectories`] plus O(n~ C^2) up to 10,000
/// microclusters; beyond, O(T nnz C) and 8 n~ (C + 32 T) bytes beside the links.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, K = 0, T outside 1..=1000 or no restarts,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Huang, Lai, Wang 2016, Section 4.4.2 and Algorithm 2. Label gaps change nothing here; in the
/// published program an unused cluster number divides 0 by 0.
#[doc(alias = "PTGP")]
#[derive(Clone, Copy, Debug)]
pub struct Ptgp {
    clusters: Clusters,
    similarity: ProbabilityTrajectories,
    cut: TransferCut,
    seed: Seed,
    dense_limit: usize,
    effort: Effort,
}

impl Ptgp {
    /// PTGP into k clusters.
    pub fn new(clusters: usize) -> Self {
        Self::with(Clusters::Fixed(clusters))
    }

    /// PTGP; the widest gap between eigenvalues chooses the number of clusters.
    pub fn by_eigengap() -> Self {
        Self::with(Clusters::Eigengap)
    }

    fn with(clusters: Clusters) -> Self {
        Ptgp {
            clusters,
            similarity: ProbabilityTrajectories::default(),
            cut: TransferCut::with(clusters),
            seed: Seed(0),
            dense_limit: DENSE,
            effort: Effort::default(),
        }
    }

    /// K, the elite neighbours of a microcluster.
    pub fn elite_neighbours(mut self, k: usize) -> Self {
        self.similarity = self.similarity.elite_neighbours(k);
        self
    }

    /// T, the steps of a walk.
    pub fn walk_length(mut self, t: usize) -> Self {
        self.similarity = self.similarity.walk_length(t);
        self
    }

    /// k-means starts on the embedding, of which the one of least inertia is kept; 3 unless said
    /// otherwise.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.cut = self.cut.restarts(restarts);
        self
    }

    /// Seed of the k-means starts, and of the norms of long walks on the thin road.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self.cut = self.cut.seed(seed);
        self
    }

    /// How much memory the matrices may take.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.similarity = self.similarity.memory_budget(budget);
        self
    }

    /// The bipartite graph that is cut: how similar each microcluster is to the members of each
    /// cluster of the ensemble, on average.
    ///
    /// # Errors
    /// As [`Ptgp`]; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where there is no
    /// microcluster.
    pub fn bipartite(
        &self,
        microclusters: &Microclusters,
        observer: &dyn Observer,
    ) -> Result<BipartiteGraph> {
        self.similarity.parameters.check()?;
        let n = microclusters.n_nodes();
        if n == 0 {
            return Err(Error::empty("a bipartite graph of no microclusters"));
        }
        let incidence = Incidence::new(microclusters);
        self.similarity.budget.check_table("bipartite graph", n, incidence.clusters(), 16)?;
        if n <= self.dense_limit {
            let graph = self.similarity.between(microclusters, observer)?;
            let weights = incidence.times_dense(graph.weights());
            return Ok(BipartiteGraph { weights, error_bound: None });
        }
        let length = self.similarity.parameters.resolve(n).1;
        self.similarity.budget.check_table("steps of the walks", n, thin::PANEL * length, 8)?;
        thin::bipartite(
            microclusters,
            &incidence,
            &self.similarity,
            self.effort,
            self.seed,
            observer,
        )
    }

    /// From how many microclusters on the similarity is used in products only; above 10,000 unless
    /// said otherwise.
    pub fn dense_limit(mut self, nodes: usize) -> Self {
        self.dense_limit = nodes;
        self
    }
}

impl ConsensusFunction for Ptgp {
    type Output = Partition;

    fn name(&self) -> &str {
        "ptgp"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        if let Clusters::Fixed(k) = self.clusters {
            ensemble.check_clusters(k)?;
        }
        self.similarity.parameters.check()?;
        self.cut.check(ensemble.n_objects())?;
        let mut report = Report::default();
        let microclusters =
            report.stage("microclusters", || Microclusters::observed(ensemble, observer))?;
        let n = microclusters.n_nodes();
        report.microclusters = Some(n);
        let clusters = if n == 0 {
            observer.check()?;
            Vec::new()
        } else {
            let graph = report.stage("similarity", || self.bipartite(&microclusters, observer))?;
            report.error_bound = graph.error_bound;
            let cut = match self.clusters {
                Clusters::Fixed(k) if k > n => self.cut.clusters(Clusters::Fixed(n)),
                _ => self.cut,
            };
            let fit =
                report.stage("partition", || cut.partition(graph.weights.view(), observer))?;
            report.status = fit.report.status;
            report.iterations = fit.report.iterations;
            report.objective = fit.report.objective;
            fit.output
        };
        let partition = microclusters.grouping().expand(&clusters)?;
        if let Clusters::Fixed(k) = self.clusters {
            report.expect_clusters(
                k,
                partition.n_clusters(),
                "the ensemble distinguishes no more objects",
            );
        }
        Ok(Fit::new(partition, report))
    }
}

/// The weights that [`Ptgp`] cuts, microclusters in rows and the clusters of all members in
/// columns.
#[derive(Clone, Debug, PartialEq)]
pub struct BipartiteGraph {
    /// B = PTS B0 diag(1 / |C|): mean similarity of a microcluster to those in a cluster.
    pub weights: Array2<f64>,
    /// Relative error of the similarities behind it where they were not computed exactly: four
    /// standard errors of the sampled norms, at the worst microcluster. A statistical bound, not a
    /// proof.
    pub error_bound: Option<f64>,
}

/// Which clusters of the ensemble each microcluster lies in, and how many microclusters each holds.
pub(crate) struct Incidence {
    /// Number of the cluster under each member (column by column), `NONE` where unlabelled.
    columns: Vec<Vec<u32>>,
    sizes: Vec<f64>,
}

impl Incidence {
    pub(crate) const NONE: u32 = u32::MAX;

    fn new(microclusters: &Microclusters) -> Self {
        let mut sizes = Vec::new();
        let columns = microclusters
            .rows()
            .iter()
            .map(|member| {
                let first = sizes.len() as u32;
                sizes.extend(member.sizes().into_iter().map(|s| s as f64));
                member.iter().map(|l| l.map_or(Self::NONE, |l| first + l as u32)).collect()
            })
            .collect();
        Incidence { columns, sizes }
    }

    pub(crate) fn clusters(&self) -> usize {
        self.sizes.len()
    }

    /// Microclusters in each cluster.
    pub(crate) fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Clusters of one microcluster.
    pub(crate) fn of(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.columns.iter().map(move |c| c[node]).filter(|&c| c != Self::NONE).map(|c| c as usize)
    }

    /// B = S B0 diag(1 / |C|).
    fn times_dense(&self, s: ArrayView2<'_, f64>) -> Array2<f64> {
        let (n, c) = (s.nrows(), self.clusters());
        let mut b = vec![0.0; n * c];
        b.par_chunks_mut(c).enumerate().for_each(|(i, out)| {
            let row = s.row(i);
            for column in &self.columns {
                for (&cluster, &w) in column.iter().zip(row) {
                    if cluster != Self::NONE {
                        out[cluster as usize] += w;
                    }
                }
            }
            for (o, size) in out.iter_mut().zip(&self.sizes) {
                *o /= size;
            }
        });
        Array2::from_shape_vec((n, c), b).unwrap_or_default()
    }
}
