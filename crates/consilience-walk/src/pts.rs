use consilience_core::{
    Accepts, Error, Grouping, MemoryBudget, Microclusters, Observer, Report, Result, Similarity,
    SimilarityGraph, check_symmetric_observed,
};
use ndarray::Array2;

use crate::parameters::WalkParameters;
use crate::{EliteNeighbours, Transition, dense};

/// How the sum of squared walks is computed. All give the same similarity.
///
/// Chosen by [`ProbabilityTrajectories::solver`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PtsSolver {
    /// Whichever takes fewer operations.
    #[default]
    Cheapest,
    /// 2 T products with the sparse transition matrix; every entry keeps its relative accuracy.
    Products,
    /// Closed form over all eigenpairs; the cost does not depend on T, the accuracy is that of the
    /// largest entries.
    Eigenpairs,
}

consilience_core::names! {
    name "solver" PtsSolver:
    "cheapest" => Cheapest,
    "products" => Products,
    "eigenpairs" => Eigenpairs,
}

/// Sim of Eq. 12: how like each other two trajectories are. The paper allows any measure and takes
/// the cosine.
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::walk::{ProbabilityTrajectories, TrajectoryMeasure};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2])?,
/// ])?;
/// let by = |measure| ProbabilityTrajectories::default().measure(measure).similarity(&ensemble);
/// let cosine = by(TrajectoryMeasure::Cosine)?;
/// // A measure of one's own, from <u, v>, <u, u> and <v, v>: here the cosine again.
/// let own = by(TrajectoryMeasure::Custom(|uv, uu, vv| uv / (uu * vv).sqrt()))?;
/// let (a, b) = (cosine.weights(), own.weights());
/// assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));
/// // Tanimoto's is never above the cosine.
/// let tanimoto = by(TrajectoryMeasure::Tanimoto)?;
/// assert!(a.iter().zip(tanimoto.weights()).all(|(a, t)| *t <= a + 1e-12));
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum TrajectoryMeasure {
    /// `<u, v> / sqrt(<u, u> <v, v>)`.
    #[default]
    Cosine,
    /// `<u, v> / (<u, u> + <v, v> - <u, v>)`, which also asks for equal lengths.
    Tanimoto,
    /// Any function of `<u, v>`, `<u, u>` and `<v, v>`; it must not depend on the order of the two,
    /// and be finite where the lengths are above 0. Microclusters without links are similar to
    /// themselves alone, at 1.
    Custom(fn(f64, f64, f64) -> f64),
}

consilience_core::names! {
    "measure" TrajectoryMeasure: "cosine" => Cosine, "tanimoto" => Tanimoto
}

fn tanimoto(uv: f64, uu: f64, vv: f64) -> f64 {
    uv / (uu + vv - uv)
}

/// Operations of the dense decomposition per n^3, in units of one sparse multiply-add: an estimate
/// from operation counts (tridiagonalisation runs at the speed of memory, products at that of
/// registers).
const EIGEN_COST: f64 = 60.0;

/// What does not fit where memory is short.
const MATRIX: &str = "probability trajectories (PTGP by the cosine with dense_limit 0 needs none)";

/// Probability-trajectory similarity (PTS) of microclusters.
///
/// Walkers start at every microcluster and take T steps along elite links; two microclusters are as
/// similar as the cosine of the angle between their visiting probabilities:
/// `PTS_ij = G_ij / sqrt(G_ii G_jj)` with `G = P P' + P^2 (P^2)' + ... + P^T (P^T)'`.
///
/// Unlike co-association this knows indirect relations, and it is dense though the graph is sparse.
/// An isolated microcluster is similar to itself alone.
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::walk::ProbabilityTrajectories;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2])?,
/// ])?;
/// let pts = ProbabilityTrajectories::default().walk_length(3);
/// let graph = pts.similarity(&ensemble)?;
/// let s = graph.weights();
/// assert_eq!(s[[0, 0]], 1.0);
/// assert!(s[[0, 2]] > 0.0); // never together, yet related through microcluster 1
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~^2 M) byte operations for the links, then O(T nnz n~) by products or O(n~^3) by eigenpairs;
/// 16 n~^2 bytes by products, 64 n~^2 by eigenpairs.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for K = 0 or T
/// outside 1..=1000, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the
/// memory budget.
///
/// # References
/// Huang, Lai, Wang 2016, Eq. 10 to 13. Defaults K = T = floor(sqrt(n~) / 2), at least 1; the
/// published program caps both at 20, the paper does not: we cap, but for
/// [`ProbabilityTrajectories::published`]. The program writes 1e-20 for the
/// similarity of isolated microclusters, we write 0.
#[doc(alias = "PTS")]
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbabilityTrajectories {
    pub(crate) parameters: WalkParameters,
    pub(crate) budget: MemoryBudget,
    solver: PtsSolver,
    measure: TrajectoryMeasure,
}

impl ProbabilityTrajectories {
    consilience_core::setters! {
        /// K, the elite neighbours of a microcluster. Default `floor(sqrt(n~) / 2)` for n~
        /// microclusters, from 1 to 20; at least 1.
        #[doc(alias = "K")]
        pub fn elite_neighbours(mut self, k: usize) { self.parameters.elite_neighbours = Some(k) }

        /// T, the steps of a walk. Default `floor(sqrt(n~) / 2)` for n~ microclusters, from 1 to
        /// 20; 1 to 1000.
        #[doc(alias = "T")]
        pub fn walk_length(mut self, t: usize) { self.parameters.walk_length = Some(t) }

        /// How like each other two trajectories are (Sim of Eq. 12). Default
        /// [`TrajectoryMeasure::Cosine`].
        pub fn measure(mut self, measure: TrajectoryMeasure) { self.measure = measure }

        /// How the sum over the walks is computed. Default [`PtsSolver::Cheapest`].
        pub fn solver(mut self, solver: PtsSolver) { self.solver = solver }

        /// How much memory the dense matrices may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// K and T as in the text of the paper: `floor(sqrt(n~) / 2)` however many microclusters there
    /// are (T at most 1000). Default: at most 20, as in the published program; equal up to 1,763
    /// microclusters.
    #[must_use]
    pub fn published(mut self) -> Self {
        self.parameters.uncapped = true;
        self
    }

    pub(crate) fn by_cosine(&self) -> bool {
        matches!(self.measure, TrajectoryMeasure::Cosine)
    }

    pub(crate) fn by_cheapest(&self) -> bool {
        self.solver == PtsSolver::Cheapest
    }

    /// Refuses a matrix beyond the memory budget before any work.
    pub(crate) fn check_room(&self, n: usize) -> Result<()> {
        self.budget.check_square(MATRIX, n, 16)
    }

    /// The similarity of walks over elite links that are chosen already.
    pub(crate) fn over(
        &self,
        elite: &EliteNeighbours,
        grouping: Grouping,
        length: usize,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        let n = grouping.n_nodes();
        let walk = Transition::over(elite, &grouping);
        let products = self.by_products(walk.affinity().nnz(), n, length);
        // Two matrices, or the eigenvectors and all that is made of them.
        self.budget.check_square(MATRIX, n, if products { 16 } else { 64 })?;
        let g = if products {
            dense::by_products(&walk.probabilities(), length, observer)?
        } else {
            dense::by_eigenpairs(&walk, length, observer)?
        };
        self.budget.check_square(MATRIX, n, 8)?;
        let s = match self.measure {
            TrajectoryMeasure::Cosine => dense::cosine(&g, n, observer)?,
            TrajectoryMeasure::Tanimoto => dense::measured(&g, n, tanimoto, observer)?,
            TrajectoryMeasure::Custom(measure) => dense::measured(&g, n, measure, observer)?,
        };
        drop(g);
        let s = Array2::from_shape_vec((n, n), s).map_err(|e| Error::shape(e.to_string()))?;
        if !self.by_cosine() {
            check_symmetric_observed("similarity of trajectories", s.view(), observer)?;
        }
        SimilarityGraph::new_observed(grouping, s, observer)
    }

    fn by_products(&self, nnz: usize, n: usize, length: usize) -> bool {
        match self.solver {
            PtsSolver::Products => true,
            PtsSolver::Eigenpairs => false,
            PtsSolver::Cheapest => {
                let [products, eigenpairs] = costs(nnz, n, length);
                products <= eigenpairs
            }
        }
    }
}

/// Sparse multiply-adds of the dense similarity of n microclusters: by products, and what the
/// eigenpairs take the time of.
pub(crate) fn costs(nnz: usize, n: usize, length: usize) -> [f64; 2] {
    let n = n as f64;
    [2.0 * length as f64 * nnz as f64 * n, EIGEN_COST * n * n * n]
}

impl Similarity for ProbabilityTrajectories {
    fn name(&self) -> &str {
        "pta"
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self) -> Result<()> {
        self.parameters.check()
    }

    fn between(
        &self,
        nodes: &Microclusters,
        _report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        self.parameters.check()?;
        let n = nodes.n_nodes();
        self.check_room(n)?;
        let (k, t) = self.parameters.resolve(n);
        let elite = EliteNeighbours::within(nodes, k, self.budget, observer)?;
        self.over(&elite, nodes.grouping().clone(), t, observer)
    }
}
