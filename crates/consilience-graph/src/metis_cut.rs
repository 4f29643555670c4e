use std::sync::Mutex;

#[cfg(doc)]
use consilience_core::ErrorKind;
use consilience_core::{
    Error, Fit, GraphPartitioner, MemoryBudget, Observer, Partition, Report, Result, Seed,
    SimilarityGraph, ensure,
};
use ndarray::ArrayView2;

use crate::spectral_cut::fewer;

/// The sum of all integer weights that METIS gets: half of what its 32-bit sums hold.
const MAX_WEIGHT: f64 = (1 << 30) as f64;

/// METIS draws from the random numbers of the C library, which are one for the whole process: two
/// runs at once would disturb each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The balanced cut of a similarity graph by METIS (feature `metis`).
///
/// Cuts links of little weight so that the clusters are of nearly equal size in objects. Use it
/// where classes are known to be of equal size, or to repeat published results; where sizes are not
/// known, [`SpectralCut`](crate::SpectralCut) does better. A group of alike objects is never
/// divided, so a large one may spoil the balance.
///
/// Multilevel recursive bisection up to 8 clusters, multilevel k-way beyond, as in the programs of
/// Strehl and Ghosh.
///
/// ```
/// use consilience::SimilarityGraph;
/// use consilience::core::{GraphPartitioner, Grouping};
/// use consilience::graph::MetisCut;
/// use consilience::ndarray::Array2;
///
/// let nodes = Grouping::new((0..40).collect::<Vec<_>>(), 40)?;
/// let weights = Array2::from_shape_fn((40, 40), |(i, j)| if i % 2 == j % 2 { 1.0 } else { 0.01 });
/// let found = MetisCut::new(2).partition(SimilarityGraph::new(nodes, weights)?)?;
/// assert_eq!(found.sizes(), [20, 20]);
/// assert_eq!(found.label(0), found.label(2));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// About O(links + n~ k) time; 16 bytes per link beside the graph. One run at a time in a process.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`] for k = 0 or an imbalance that is not above 0 and at most 100,
/// [`ErrorKind::TooLarge`] for 2^31 objects or links, or beyond the memory budget.
///
/// # References
/// Karypis, Kumar 1998, "A Fast and High Quality Multilevel Scheme for Partitioning Irregular
/// Graphs". Weights are rounded to integers, as METIS takes no others.
#[derive(Clone, Copy, Debug)]
pub struct MetisCut {
    clusters: usize,
    imbalance: f64,
    seed: Seed,
    budget: MemoryBudget,
}

impl MetisCut {
    /// A cut into k clusters that may be 5 % above the mean size.
    pub fn new(clusters: usize) -> Self {
        MetisCut { clusters, imbalance: 0.05, seed: Seed(0), budget: MemoryBudget::default() }
    }

    consilience_core::setters! {
        /// How far the largest cluster may be above the mean size, as a share of it. Default 0.05;
        /// above 0, at most 100.
        pub fn imbalance(mut self, imbalance: f64) { self.imbalance = imbalance }

        /// Seed of the random choices. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory the links may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    fn check(&self) -> Result<()> {
        ensure!(self.clusters > 0, invalid("a cut into 0 clusters; expected at least 1"));
        ensure!(
            self.imbalance > 0.0 && self.imbalance <= 100.0,
            invalid("imbalance {}; expected above 0, at most 100", self.imbalance)
        );
        Ok(())
    }

    /// The part of each node; at least two parts and more nodes than parts.
    fn parts(&self, links: &Links, sizes: &[i32]) -> Result<Vec<i32>> {
        let clusters = i32::try_from(self.clusters)
            .map_err(|_| Error::too_large(format!("{} clusters for METIS", self.clusters)))?;
        let mut part = vec![0; sizes.len()];
        let refused = |e: &dyn std::fmt::Debug| Error::too_large(format!("METIS: {e:?}"));
        // A panic elsewhere while the lock was held leaves nothing behind that could hurt.
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let graph = metis::Graph::new(1, clusters, &links.first, &links.others)
            .map_err(|e| refused(&e))?
            .set_vwgt(sizes)
            .set_adjwgt(&links.weights)
            .set_option(metis::option::Seed((self.seed.derive("metis", 0).0 >> 34) as i32))
            .set_option(metis::option::UFactor(((1000.0 * self.imbalance).round() as i32).max(1)));
        let done = if self.clusters <= 8 {
            graph.part_recursive(&mut part)
        } else {
            graph.part_kway(&mut part)
        };
        done.map_err(|e| refused(&e))?;
        Ok(part)
    }
}

impl GraphPartitioner for MetisCut {
    fn fit(&self, graph: SimilarityGraph, observer: &dyn Observer) -> Result<Fit<Partition>> {
        self.check()?;
        observer.check()?;
        let (grouping, weights) = graph.into_parts();
        let nodes = grouping.n_nodes();
        let mut report = Report::default();
        let clusters = if self.clusters >= nodes {
            (0..nodes).collect()
        } else if self.clusters == 1 {
            vec![0; nodes]
        } else {
            let sizes = integers(grouping.sizes())?;
            let links = Links::of(weights.view(), &sizes, self.budget)?;
            drop(weights);
            observer.check()?;
            self.parts(&links, &sizes)?.into_iter().map(|p| p as usize).collect()
        };
        let partition = grouping.expand(&clusters)?;
        let found = partition.n_clusters();
        report.expect_clusters(self.clusters, found, fewer(found, nodes));
        Ok(Fit::new(partition, report))
    }
}

/// Sizes as METIS takes them; scaled down where they are too many.
fn integers(sizes: &[u64]) -> Result<Vec<i32>> {
    let total = sizes.iter().sum::<u64>() as f64;
    let most = f64::from(i32::MAX);
    if total <= most {
        return Ok(sizes.iter().map(|&s| s as i32).collect());
    }
    let (n, limit) = (sizes.len(), i32::MAX / 2);
    ensure!(n <= limit as usize, too_large("{n} nodes for METIS; at most {limit}"));
    // Half of the range for the objects, half for rounding up.
    Ok(sizes.iter().map(|&s| (0.5 * most * (s as f64 / total)).ceil() as i32).collect())
}

/// The links as METIS takes them.
struct Links {
    first: Vec<i32>,
    others: Vec<i32>,
    weights: Vec<i32>,
}

impl Links {
    /// The weight of a link counts once per pair of objects, in integers that are as fine as their
    /// sum allows.
    fn of(w: ArrayView2<'_, f64>, sizes: &[i32], budget: MemoryBudget) -> Result<Self> {
        let n = w.nrows();
        let largest = w.iter().fold(0.0f64, |m, &w| m.max(w));
        let weight =
            |i: usize, j: usize| w[[i, j]] / largest * f64::from(sizes[i]) * f64::from(sizes[j]);
        let linked = |i: usize| (0..n).filter(move |&j| j != i && w[[i, j]] > 0.0);
        let (mut count, mut total) = (0usize, 0.0);
        for i in 0..n {
            for j in linked(i) {
                count += 1;
                total += weight(i, j);
            }
        }
        budget.check_table("links for METIS", count, 1, 16)?;
        ensure!(count <= 1 << 29, too_large("{count} links for METIS; at most {}", 1 << 29));
        // Every link keeps a weight of at least 1, which may add up to as much again.
        let scale = (MAX_WEIGHT - count as f64) / total;
        let mut links = Links {
            first: vec![0],
            others: Vec::with_capacity(count),
            weights: Vec::with_capacity(count),
        };
        for i in 0..n {
            for j in linked(i) {
                links.others.push(j as i32);
                links.weights.push((weight(i, j) * scale).floor().max(1.0) as i32);
            }
            links.first.push(links.others.len() as i32);
        }
        Ok(links)
    }
}
