//! Ultra-scalable spectral clustering.

mod links;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use consilience_core::{
    BaseClusterer, Error, ErrorKind, Features, Fit, MemoryBudget, Observer, Partition, Report,
    Result, Seed, SparseRows, Stop, at_least_one, check_restarts, ensure, with_rows,
};
use consilience_num::Float;
use consilience_num::kmeans::fit_source;
use consilience_num::kmeans::sparse::{Centres, ScaledRows};
use consilience_num::near::NearRows;
use consilience_num::place::{Place, near_rows, unit_of_sparse};
use consilience_num::transfer::{small_side_columns, try_small_side};
use ndarray::{Array2, ArrayView2};

use crate::input::{finish, last_kmeans, tell};
use crate::similarity::landmarks;
use crate::sparse_kernel::{self, Kinds};
use links::{Embedding, Links};

/// Objects behind each representative, so that they share enough of them.
const OBJECTS_BEHIND: usize = 10;
/// As many representatives as a small table has in any case.
const LEAST: usize = 50;
/// Their numbers are kept in two bytes.
const MOST: usize = 1 << 16;
/// Neighbours of a representative that are looked through, for each that is wanted.
const LOOKED_AT: usize = 10;
/// Rows that the centres of the k-means are made from: all up to here, so many drawn evenly beyond.
const SAMPLE: usize = 1 << 15;
/// And so many for each cluster.
const SAMPLE_PER_CLUSTER: usize = 200;
/// Multiply-adds between two questions whether to stop.
const WORK: usize = 1 << 26;

/// U-SPEC: spectral clustering in time and memory linear in the objects, by way of a few
/// representatives.
///
/// For clusters that hang together without being balls, at sizes from thousands to tens of millions
/// of objects, and as the member of an ensemble ([`Generator`](crate::Generator)) that follows
/// their shape; with a transfer cut over the members that is U-SENC. Not for small tables, where
/// [`Spectral`](crate::Spectral) looks at all similarities and is better, and not where k-means
/// does.
///
/// ```text
/// p representatives: k-means centres of 10 p objects drawn at random
/// B_ij = exp(-|x_i - r_j|^2 / (2 s^2)) for the K representatives nearest to x_i, s = mean of those distances
/// W = B' D_x^-1 B + tau d / p,  d = mean row sum,  v = k leading eigenvectors of D_y^-1/2 W D_y^-1/2
/// rows of D_x^-1 B D_y^-1/2 v, scaled to norm 1  ->  k-means
/// ```
///
/// ```
/// use consilience::Seed;
/// use consilience::core::BaseClusterer;
/// use consilience::generate::USpec;
/// use consilience::ndarray::Array2;
///
/// // A ring of 2000 objects around another.
/// let x = Array2::from_shape_fn((4000, 2), |(i, j)| {
///     let (radius, turn) = (if i < 2000 { 1.0f32 } else { 2.0 }, i as f32 * 2.399_963);
///     (radius + (i % 7) as f32 * 0.03) * if j == 0 { turn.cos() } else { turn.sin() }
/// });
/// let found = USpec::new().representatives(200).fit(x.view().into(), 2, Seed(1), &())?.output;
/// assert_eq!(found.sizes(), vec![2000, 2000]);
/// assert_ne!(found.label(0), found.label(2000));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n (sqrt(p) + K) d + n k (K + k) + p^2 (d + p)) time; 6 K + 4 bytes per object and O(p^2)
/// memory beside the features.
///
/// # Errors
/// As [`BaseClusterer::fit`]; [`ErrorKind::InvalidParameter`] for a parameter of 0, more than
/// 65,536 representatives or a
/// [`regularization`](USpec::regularization) that is negative or not finite;
/// [`ErrorKind::TooLarge`] where the table between representatives exceeds the memory budget.
///
/// # References
/// D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh, "Ultra-scalable spectral clustering and
/// ensemble clustering", IEEE Trans. Knowledge and Data Engineering 32 (2020), Sections 3.1.1 to
/// 3.1.3, with its defaults p = 1000, K = 5, K' = 10 K. Ours: the regularization tau, which is 0
/// there: where the graph falls into pieces its leading eigenvectors distinguish only the pieces. p
/// is lowered to a tenth of the objects, since representatives that share too few make such pieces,
/// and raised to twice the number of clusters; beyond 32,768 objects (200 per cluster) the centres
/// of the last k-means come from an even sample of the rows; an object so far out that its weights
/// vanish keeps a millionth of a link.
#[doc(alias = "ultra_scalable_spectral_clustering")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct USpec {
    representatives: usize,
    neighbours: usize,
    restarts: usize,
    regularization: f64,
    budget: MemoryBudget,
}

impl Default for USpec {
    fn default() -> Self {
        USpec {
            representatives: 1000,
            neighbours: 5,
            restarts: 3,
            regularization: 0.01,
            budget: MemoryBudget::default(),
        }
    }
}

impl USpec {
    /// 1000 representatives, 5 of which describe an object, regularization 0.01, and 3 runs of the
    /// k-means.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// Number of representatives p, at most; lowered to a tenth of the objects (50 or more),
        /// raised to twice the number of clusters. Default 1000; 1 to 65,536.
        pub fn representatives(mut self, count: usize) { self.representatives = count }

        /// Number of nearest representatives K that describe an object. Default 5; at least 1.
        pub fn neighbours(mut self, neighbours: usize) { self.neighbours = neighbours }

        /// Weight of a link between every two representatives, all together as a share of their
        /// mean row sum. Without such links a graph that falls into pieces is always cut into just
        /// these pieces. Default 0.01; at least 0, which is the paper's graph.
        #[doc(alias = "tau")]
        pub fn regularization(mut self, share: f64) { self.regularization = share }

        /// Runs of the k-means on the eigenvectors. Default 3; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// How much memory the table between representatives, and the links of the objects, each
        /// may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    fn run<F: Float>(
        &self,
        x: ArrayView2<'_, F>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let mut report = Report::default();
        let count = self.count(x.nrows(), clusters)?;
        let place = Place::of(x);
        let table = report.stage("representatives", || {
            let chosen = landmarks(x, count, seed, observer)?;
            let chosen: Array2<F> = place.rows(chosen.view());
            let groups = (chosen.nrows() as f64).sqrt() as usize;
            let looked_at = self.neighbours.saturating_mul(LOOKED_AT);
            let seed = seed.derive("groups", 0);
            NearRows::new(chosen.view(), groups, looked_at, seed, observer)
        })?;
        let links = report.stage("nearest representatives", || {
            Links::find(x, &place, &table, self.neighbours, observer)
        })?;
        drop(table);
        self.cut(&links, report, clusters, seed, observer)
    }

    /// The same of sparse rows, whose distances to all representatives are looked at: these are
    /// dense.
    fn run_sparse<F: Float>(
        &self,
        x: SparseRows<'_, F>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let mut report = Report::default();
        let (n, p) = (x.n_rows(), self.count(x.n_rows(), clusters)?);
        // The centres of the k-means, and the same laid out for products.
        self.budget.check_table("representatives", x.n_columns(), p, 3 * size_of::<f64>())?;
        let near = near_rows(x)?;
        let x = near.as_ref().map_or(x, |(near, _)| SparseRows::from(near));
        // Links keep squares in single precision, whose range is narrower than that of the rows.
        let rows = ScaledRows::new(x)?.scaled_by(unit_of_sparse(x))?;
        let table = report.stage("representatives", || {
            let chosen = sparse_kernel::landmarks(x, p, seed, observer)?;
            Centres::given(&rows, chosen.view())
        })?;
        let near = self.neighbours.min(table.len());
        let links = report.stage("nearest representatives", || {
            let entries = x.n_entries() / n.max(1);
            let at_once = WORK / entries.saturating_mul(table.len()).max(1);
            Links::searched(n, table.len(), near, at_once, observer, |objects, found| {
                sparse_kernel::nearest(&rows, &table, objects, near, found);
            })
        })?;
        drop(table);
        self.cut(&links, report, clusters, seed, observer)
    }

    /// The clusters of the graph.
    fn cut(
        &self,
        links: &Links,
        mut report: Report,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let stop = Stop::new(observer);
        let weights = report.stage("weights", || links.weigh(self.budget, &stop));
        stop.check()?;
        let tau = self.regularization;
        let side = report
            .stage("eigenvectors", || {
                try_small_side(weights.view(), clusters, tau, self.budget, observer)
            })?
            .ok_or_else(|| {
                Error::new(ErrorKind::NonFinite, "the graph of representatives has no eigenpairs")
            })?;
        drop(weights);
        let options = last_kmeans(clusters, self.restarts, seed.derive("k-means", 0));
        let rows = Embedding::new(links, &side.coordinates);
        let found =
            report.stage("k-means", || fit_source(&rows, &options, sample(clusters), observer))?;
        tell(&mut report, &found);
        if links.n_objects() > sample(clusters) {
            // It is that of the sample.
            report.objective = None;
        }
        finish(&found.assignment, clusters, report)
    }

    fn count(&self, n: usize, clusters: usize) -> Result<usize> {
        // With fewer objects behind each the graph falls apart.
        let behind = (n / OBJECTS_BEHIND).max(LEAST);
        let count = self.representatives.min(behind).max(clusters.saturating_mul(2)).min(n);
        ensure!(count <= MOST, invalid("{count} representatives; expected at most {MOST}"));
        Ok(count)
    }
}

fn sample(clusters: usize) -> usize {
    SAMPLE.max(clusters.saturating_mul(SAMPLE_PER_CLUSTER))
}

impl BaseClusterer for USpec {
    fn name(&self) -> &'static str {
        "uspec"
    }

    fn takes_little_memory(&self) -> bool {
        true
    }

    fn set_memory_budget(&mut self, budget: MemoryBudget) {
        self.budget = budget;
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        features.check_clusters(clusters)?;
        at_least_one("representatives", self.representatives)?;
        at_least_one("neighbours", self.neighbours)?;
        check_restarts(self.restarts)?;
        let share = self.regularization;
        ensure!(
            share >= 0.0 && share.is_finite(),
            invalid("regularization {share}; expected a finite number of at least 0")
        );
        observer.check()?;
        let kinds = match features {
            Features::Sparse32(x) => Kinds::at_most(x, clusters)?,
            Features::Sparse64(x) => Kinds::at_most(x, clusters)?,
            _ => with_rows!(features.dense()?, |x| Kinds::of_table(x, clusters))?,
        };
        if let Some(kinds) = kinds {
            return finish(&kinds.kind, clusters, Report::default());
        }
        let n = features.n_objects();
        let (p, budget) = (self.count(n, clusters)?, self.budget);
        // The sums, and what the eigenpairs are computed in.
        let columns = small_side_columns(p, clusters);
        budget.check_table("weights between representatives", p, columns, size_of::<f64>())?;
        let near = self.neighbours.min(p);
        let link = size_of::<u16>() + size_of::<f32>();
        budget.check_table("nearest representatives", n, near, link)?;
        let looked_at = near.saturating_mul(LOOKED_AT).min(p);
        budget.check_table("neighbours of representatives", p, looked_at, 32)?;
        let rows = n.min(sample(clusters));
        budget.check_table("rows of the k-means", rows, clusters, size_of::<f32>())?;
        match features {
            Features::Sparse32(x) => self.run_sparse(x, clusters, seed, observer),
            Features::Sparse64(x) => self.run_sparse(x, clusters, seed, observer),
            _ => with_rows!(features.dense()?, |x| self.run(x, clusters, seed, observer)),
        }
    }
}
