//! Seeded random walks as a consensus function.

mod seeds;
mod solve;
#[cfg(test)]
mod tests;

use consilience_core::{
    Clusters, Ensemble, Memberships, MemoryBudget, Microclusters, NodeConsensus, NodeMemberships,
    Observer, Partition, Report, Result, Similarity, SimilarityGraph, Status, ensure,
};
use consilience_graph::{CoAssociation, Lifespan};
use consilience_num::reduce::try_map_each;
use consilience_num::sparse::Csr;
use ndarray::{Array2, ArrayView1, ArrayView2};

pub use self::seeds::SeedRule;
use self::seeds::Seeds;

/// Two memberships closer than this are a tie.
const TIE: f64 = 1e-9;
/// Microclusters whose links one task finds.
const ROWS: usize = 16;

/// Seeded random walks (SRW): the core of each cluster is marked, and every other object belongs to
/// the core that a random walker from it reaches first.
///
/// Use it for memberships of objects between clusters: [`RandomWalker::soft`] gives the
/// probabilities of arrival. As a hard consensus it refines the borders of
/// `EvidenceAccumulation`, which makes its seeds.
///
/// 1. Microclusters are linked to their K strongest neighbours by co-association a (an edge stays
///    if it is strong for either end), with weight `s_i s_j exp(-preference (1 - a_ij))`, s being
///    the numbers of objects.
/// 2. Average linkage makes k groups. In each, the microclusters that the group supports most
///    (largest mean co-association with it) are its seeds, until they hold half of its objects, and
///    all that tie with the last of them.
/// 3. A walker starts at each other microcluster i and steps along links in proportion to their
///    weights. The probability `x_ic` that it meets a seed of group c first solves
///    `L_UU x_c = -L_US 1_c`, with L the Laplacian, U the unmarked and S the marked microclusters.
/// 4. Each object joins its most probable group; the group of step 2 where probabilities are equal,
///    and where no seed can be reached.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::walk::RandomWalker;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 0, 0, 1, 1, 1])?,
/// ])?;
/// let walker = RandomWalker::new(2);
/// assert_eq!(walker.consensus(&ensemble)?.to_signed(), vec![0, 0, 0, 0, 1, 1, 1, 1]);
/// let soft = walker.soft().consensus(&ensemble)?;
/// assert!(soft.entropy()[3] > soft.entropy()[0]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~^2 M) for the co-association and O(n~^2) for the tree, 16 n~^2 bytes; the walk is sparse:
/// O(n~ K k) per iteration of the conjugate gradient method.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or a criterion that no tree has, no neighbours, or a link preference that is not a
/// number from 0 to 1000; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the
/// memory budget.
///
/// # References
/// Abdala, Wattuya, Jiang 2010, "Ensemble Clustering via Random Walker Consensus Strategy", after
/// Grady 2006, "Random Walks for Image Segmentation". Their seeds are regions on which members
/// agree wholly, merged until k remain ([`SeedRule::Agreement`]); with every microcluster such a
/// region, we merge them all and keep the best supported half, so that no cluster is left without a
/// seed.
#[doc(alias = "SRW")]
#[derive(Clone, Copy, Debug)]
pub struct RandomWalker {
    clusters: Clusters,
    neighbours: usize,
    link_preference: f64,
    seeds: SeedRule,
    budget: MemoryBudget,
}

impl RandomWalker {
    /// Seeded random walks; the longest lifetime in the tree of step 2 chooses the number of
    /// clusters where it is not given.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        RandomWalker {
            clusters: clusters.into(),
            neighbours: 10,
            link_preference: 10.0,
            seeds: SeedRule::default(),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// K, the strongest links of a microcluster that stay; all that are as strong as the K-th
        /// do. Default 10; at least 1.
        #[doc(alias = "K")]
        pub fn neighbours(mut self, neighbours: usize) { self.neighbours = neighbours }

        /// How much a walker prefers strong links: 0 not at all. Default 10; 0 to 1000.
        #[doc(alias = "beta")]
        pub fn link_preference(mut self, preference: f64) { self.link_preference = preference }

        /// What the cores of clusters are. Default [`SeedRule::Supported`].
        pub fn seeds(mut self, seeds: SeedRule) { self.seeds = seeds }

        /// How much memory the matrices may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The same method with the probabilities of arrival as its result.
    pub fn soft(self) -> SoftRandomWalker {
        SoftRandomWalker(self)
    }

    fn check_parameters(&self) -> Result<()> {
        Lifespan::check(self.clusters)?;
        self.seeds.check()?;
        ensure!(self.neighbours > 0, invalid("0 neighbours; expected at least 1"));
        ensure!(
            (0.0..=1000.0).contains(&self.link_preference),
            invalid("link preference {}; expected 0..=1000", self.link_preference)
        );
        Ok(())
    }

    /// The probabilities of arrival of each microcluster, and the group that each began in.
    fn walk(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Arrivals> {
        self.check_parameters()?;
        self.budget.check_square("co-association and its tree", nodes.n_nodes(), 16)?;
        let similarity = CoAssociation::default().memory_budget(self.budget);
        let between = |inner: &mut Report| similarity.between(nodes, inner, observer);
        let graph = report.inner_stage("similarity", between)?;
        let seeds =
            report.stage("seeds", || Seeds::by(self.seeds, &graph, self.clusters, observer))?;
        let links = links(&graph, self.neighbours, self.link_preference, observer)?;
        let walked = report.stage("walk", || solve::arrivals(&links, &seeds, observer))?;
        report.iterations = walked.iterations;
        if !walked.converged {
            report.status = Status::MaxIterations;
        }
        Ok(Arrivals { groups: seeds.group, chance: walked.chance })
    }
}

impl NodeConsensus for RandomWalker {
    type Output = Partition;

    fn name(&self) -> &str {
        "srw"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn check(&self, _: &Ensemble) -> Result<()> {
        self.check_parameters()
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let Arrivals { groups, chance } = self.walk(nodes, report, observer)?;
        Ok(chance.rows().into_iter().zip(groups).map(|(row, own)| likely(row, own)).collect())
    }
}

/// [`RandomWalker`] with soft results: the probability that a walker from an object meets the seeds
/// of each cluster first.
///
/// Seeds have probability 1 of their own cluster; the evidence of an object is the number of
/// members that label it.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::walk::RandomWalker;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1, -1])?,
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1, -1])?,
/// ])?;
/// let soft = RandomWalker::new(2).soft().consensus(&ensemble)?;
/// assert_eq!(soft.evidence(), [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.0]);
/// assert_eq!(soft.values()[[0, 0]], 1.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// As [`RandomWalker`], and 8 n k bytes.
///
/// # Errors
/// As [`RandomWalker`].
///
/// # References
/// As [`RandomWalker`].
#[derive(Clone, Copy, Debug)]
pub struct SoftRandomWalker(RandomWalker);

impl NodeConsensus for SoftRandomWalker {
    type Output = Memberships;

    fn name(&self) -> &str {
        "srw"
    }

    fn clusters(&self) -> Clusters {
        self.0.clusters
    }

    fn check(&self, ensemble: &Ensemble) -> Result<()> {
        self.0.check_parameters()?;
        let k = self.0.clusters.fixed().unwrap_or(1);
        self.0.budget.check_table("memberships", ensemble.n_objects(), k, 8)
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<NodeMemberships> {
        let chance = self.0.walk(nodes, report, observer)?.chance;
        let objects = nodes.grouping().n_objects();
        self.0.budget.check_table("memberships", objects, chance.ncols(), 8)?;
        Ok(chance.into())
    }
}

struct Arrivals {
    groups: Vec<usize>,
    /// Microclusters x groups.
    chance: Array2<f64>,
}

/// The most probable group; the one it began in where that is as probable.
fn likely(chance: ArrayView1<'_, f64>, own: usize) -> usize {
    let best = (0..chance.len()).fold(own, |b, c| if chance[c] > chance[b] { c } else { b });
    if chance[own] >= chance[best] - TIE { own } else { best }
}

/// The links that stay, weighted.
fn links(
    graph: &SimilarityGraph,
    neighbours: usize,
    preference: f64,
    observer: &dyn Observer,
) -> Result<Csr> {
    let (a, sizes) = (graph.weights(), graph.grouping().sizes());
    let n = a.nrows();
    let threshold = of_each(n, observer, |i| weakest(a, i, neighbours))?;
    let stays = |i: usize, j: usize| {
        j != i && a[[i, j]] > 0.0 && a[[i, j]] >= threshold[i].min(threshold[j])
    };
    let link = |i: usize, j: usize| {
        let size = sizes[i] as f64 * sizes[j] as f64;
        (j as u32, size * (-preference * (1.0 - a[[i, j]])).exp())
    };
    let rows: Vec<Vec<(u32, f64)>> = of_each(n, observer, |i| {
        // What nobody would ever follow may vanish, and is no link then.
        (0..n).filter(|&j| stays(i, j)).map(|j| link(i, j)).filter(|l| l.1 > 0.0).collect()
    })?;
    Ok(Csr::from_rows(n, rows))
}

/// What is said of each of n microclusters, some of which are one task.
fn of_each<T: Send>(
    n: usize,
    observer: &dyn Observer,
    say: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>> {
    let some = |c: usize| -> Result<Vec<T>> {
        observer.check()?;
        Ok((c * ROWS..n.min((c + 1) * ROWS)).map(&say).collect())
    };
    Ok(try_map_each(n.div_ceil(ROWS), &some)?.into_iter().flatten().collect())
}

/// The K-th largest similarity of a node to others; 0 where there are not so many.
fn weakest(a: ArrayView2<'_, f64>, i: usize, neighbours: usize) -> f64 {
    let mut others: Vec<f64> = (0..a.nrows()).filter(|&j| j != i).map(|j| a[[i, j]]).collect();
    if others.len() < neighbours {
        return 0.0;
    }
    *others.select_nth_unstable_by(neighbours - 1, |x, y| y.total_cmp(x)).1
}
