use consilience_core::{
    Assign, Clustering, Clusters, ConstrainedClusterer, Features, Fit, MemoryBudget, Observer,
    OnlyCancels, Report, Result, Seed, SideInformation, Status, Watch, at_least_one,
    check_restarts,
};
#[cfg(feature = "serde")]
use consilience_core::{ensure, stored::Parts};
use consilience_num::eigen::{SymmetricOperator, TruncatedOptions, try_truncated_eigen};
use consilience_num::kmeans::{KMeansFit, KMeansOptions, fit, from_centres};
use consilience_num::near::{SelfTuned, SelfTunedGraph};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};

use crate::frame::{Frame, drop_empty, first_centres, nearest};
use crate::number::checked_number;

/// Soft constrained spectral clustering: learns how much every eigenvector of a neighbourhood graph
/// counts, so that the spectral kernel agrees with the links.
///
/// For clusters that hang together without being balls, with a few links. Links bend the kernel as
/// a whole and may be broken; where the graph does not see the classes at all, a learned metric
/// helps more.
///
/// ```text
/// K = sum_l beta_l phi_l phi_l'  over the m leading eigenvectors of D^(-1/2) W D^(-1/2) but the trivial one
/// minimise  sum_(must) (K_ij + c - 1)^2 + sum_(cannot) (K_ij + c)^2 + v sum_i (K_ii + c - 1)^2,
///           beta_1 >= ... >= beta_m >= 0,  c >= 0
/// then k-means on the rows of [sqrt(beta_l) phi_l]
/// ```
///
/// ```
/// use consilience::{Seed, SideInformation};
/// use consilience::constrained::Ccskl;
/// use consilience::core::ConstrainedClusterer;
/// use consilience::ndarray::Array2;
///
/// // A ring of 60 objects around another; two labels each.
/// let x = Array2::from_shape_fn((120, 2), |(i, j)| {
///     let (radius, turn) = (if i < 60 { 1.0 } else { 3.0 }, (i % 60) as f64 * 0.1047);
///     radius * if j == 0 { turn.cos() } else { turn.sin() }
/// });
/// let mut labels = vec![-1; 120];
/// (labels[0], labels[30], labels[60], labels[90]) = (0, 0, 1, 1);
/// let side = SideInformation::from_labels(&labels)?;
/// let found = Ccskl::new(2).cluster(x.view().into(), &side)?;
/// assert_eq!(found.partition.sizes(), [60, 60]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// W joins every object with its nearest ones by `exp(-|x_i - x_j|^2 / (s_i s_j))`, s_i = distance
/// to the 7th of them, or to the last where [`neighbours`](Ccskl::neighbours) are fewer (at least
/// 0.3 of the mean s, or duplicates would be cut off from the rest). Half of that it is where only
/// one of the two has the other among its nearest; every object is joined with itself by weight 1.
/// The diagonal of K counts as much as all links together (v). Equal objects have equal rows of
/// phi: their mean. A new object has the row of the one that it equals, or that which the
/// eigenvectors' own equation gives over its nearest neighbours, and goes to the nearest centre.
///
/// # Complexity
/// O(n^2 d) time for neighbours, O(n (neighbours + m) m) per eigen iteration; for the weights
/// O((n + links) m^2) and O(m^2) in each of at most 10,000 sweeps; O(n (neighbours + m) + m^2)
/// memory.
///
/// # Errors
/// As [`ConstrainedClusterer::fit`]; a count of 0;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the eigenvectors exceed 8
/// GiB.
///
/// # References
/// Z. Li, J. Liu, "Constrained clustering by spectral kernel learning", ICCV 2009, with m = 20. The
/// form is restored from descriptions of the method and has not been compared with the paper's own
/// formulas or program. The constant c stands for the trivial eigenvector, without its place in the
/// order; k-means does not see it. The diagonal weighs as much as all links together (ours). The
/// quadratic programme is solved by coordinate descent in the differences of the beta.
#[doc(alias = "spectral kernel learning")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ccskl {
    clusters: Clusters,
    neighbours: usize,
    eigenvectors: usize,
    max_pairs: usize,
    restarts: usize,
    budget: MemoryBudget,
    seed: Seed,
}

/// The neighbour whose distance is an object's scale.
const SCALE: usize = 7;
/// Links of either kind that the kernel is fitted to by default.
const MOST_PAIRS: usize = 100_000;
/// Least scale of an object, as a share of the mean.
const LEAST_SCALE: f64 = 0.3;
/// Eigenvalues below this cannot be divided by.
const LEAST: f64 = 1e-6;

impl Ccskl {
    /// Into so many clusters; [`Clusters::Auto`] for as many as the labels have classes.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Ccskl {
            clusters: clusters.into(),
            neighbours: 20,
            eigenvectors: 20,
            max_pairs: MOST_PAIRS,
            restarts: 10,
            budget: MemoryBudget::default(),
            seed: Seed(0),
        }
    }

    consilience_core::setters! {
        /// Neighbours of every object in the graph. Default 20; at least 1.
        pub fn neighbours(mut self, neighbours: usize) { self.neighbours = neighbours }

        /// Eigenvectors m of the graph; raised to the number of clusters. Default 20; at least 1.
        pub fn eigenvectors(mut self, eigenvectors: usize) { self.eigenvectors = eigenvectors }

        /// Links of either kind that the kernel is fitted to at most, at even distances. Default
        /// 100,000; at least 1.
        pub fn max_pairs(mut self, max_pairs: usize) { self.max_pairs = max_pairs }

        /// Runs of the k-means on the eigenvectors; one more begins from the labelled sets. Default
        /// 10; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// How much memory eigenvectors and neighbours may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }

        /// Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }

    fn check(&self) -> Result<()> {
        at_least_one("neighbours", self.neighbours)?;
        at_least_one("eigenvectors", self.eigenvectors)?;
        at_least_one("max_pairs", self.max_pairs)?;
        check_restarts(self.restarts)
    }

    /// The best of some random starts and of one from the labelled sets.
    fn kmeans(
        &self,
        rows: ArrayView2<'_, f64>,
        clusters: usize,
        side: &SideInformation,
        watch: &mut Watch<'_>,
    ) -> Result<KMeansFit<f64>> {
        let options = KMeansOptions::new(clusters)
            .restarts(self.restarts)
            .seed(self.seed)
            .parallel(rayon::current_num_threads() > 1);
        watch.step(2)?;
        let found = fit(rows, None, &options, watch.observer())?;
        let start = first_centres(rows, side, clusters, self.seed, watch.observer())?;
        let seeded =
            from_centres(rows, None, start.view(), &options, &OnlyCancels(watch.observer()))?;
        Ok(if seeded.inertia < found.inertia { seeded } else { found })
    }
}

impl ConstrainedClusterer for Ccskl {
    fn name(&self) -> &'static str {
        "ccskl"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let features = features.dense()?;
        let clusters = checked_number(self.name(), self.clusters, features.into(), side)?;
        self.check()?;
        observer.check()?;
        let mut report = Report::default();
        let (frame, x) = Frame::new(&features, observer)?;
        let n = x.nrows();
        let count = self.eigenvectors.max(clusters).min(n);
        self.budget.check_table("eigenvectors", n, count, 8 * 6)?;
        self.budget.check_table("neighbours", n, self.neighbours.min(n), 32)?;
        let mut watch = Watch::new(observer, "ccskl", self.restarts + 2);
        let neighbours = SelfTuned::new(self.neighbours).rank(SCALE).least_scale(LEAST_SCALE);
        let neighbours = neighbours.with_itself(true).one_sided(0.5);
        let graph = report.stage("neighbours", || neighbours.graph(x, observer))?;
        watch.step(0)?;
        let options = TruncatedOptions::new(count).tolerance(1e-6).seed(self.seed);
        let top = report.stage("eigenvectors", || {
            try_truncated_eigen(&Deflated::new(&graph), &options, observer)
        })?;
        watch.step(1)?;
        let kept = top.values.iter().take_while(|&&v| v > LEAST).count();
        let root = (n as f64).sqrt();
        let mut phi = top.vectors.slice(s![.., ..kept]).mapv(|v| v * root);
        graph.level(&mut phi);
        let (beta, solved) = weights(phi.view(), side, self.max_pairs, observer)?;
        if !solved {
            report.status = Status::MaxIterations;
            report.notes.push(format!("the weights still moved after {SWEEPS} sweeps"));
        }
        side.tell_thinned(self.max_pairs, &mut report);
        let used = beta.iter().take_while(|&&b| b > 0.0).count();
        let values = top.values[..kept].to_vec();
        let mut map = Embedding { frame, graph, phi, values, beta, centres: Array2::zeros((0, 0)) };
        let rows = map.embed(map.phi.view());

        let mut labels = vec![0u32; n];
        let mut centres = Array2::zeros((1, rows.ncols()));
        if used > 0 {
            let found = self.kmeans(rows.view(), clusters, side, &mut watch)?;
            if !(found.converged && top.converged) {
                report.status = Status::MaxIterations;
            }
            report.iterations = found.iterations;
            report.objective = Some(found.inertia);
            (labels, centres) = (found.assignment, found.centres);
        }
        drop_empty(&mut labels, &mut centres);
        let k = centres.nrows();
        let why = "no more objects are distinct in the eigenvectors that count";
        report.expect_clusters(clusters, k, why);
        map.centres = centres;
        map.graph.forget_matrix();
        Ok(Fit::new(Clustering::new(&labels, k, map)?, report))
    }
}

/// The beta: least squares under order, `beta_l = sum_(q >= l) gamma_q` with gamma at least 0; and
/// whether they were found within the sweeps.
fn weights(
    phi: ArrayView2<'_, f64>,
    side: &SideInformation,
    max_pairs: usize,
    observer: &dyn Observer,
) -> Result<(Vec<f64>, bool)> {
    let m = phi.ncols();
    let (must, cannot) = side.links_up_to(max_pairs);
    // One more column for a constant, as the trivial eigenvector would give: k-means does not see
    // it.
    let mut gram = Array2::<f64>::zeros((m + 1, m + 1));
    let mut right = Array1::<f64>::zeros(m + 1);
    let mut added = 0usize;
    let mut add = |i: usize, j: usize, target: f64, by: f64| -> Result<()> {
        if added.is_multiple_of(ROWS) {
            observer.check()?;
        }
        added += 1;
        // Entries of the pair in the cumulated basis: sum of the first q products.
        let mut sum = 0.0;
        let row: Vec<f64> = (0..m)
            .map(|l| {
                sum += phi[[i, l]] * phi[[j, l]];
                sum
            })
            .chain([1.0])
            .collect();
        for a in 0..=m {
            right[a] += by * target * row[a];
            for b in 0..=m {
                gram[[a, b]] += by * row[a] * row[b];
            }
        }
        Ok(())
    };
    must.iter().try_for_each(|&(i, j)| add(i, j, 1.0, 1.0))?;
    cannot.iter().try_for_each(|&(i, j)| add(i, j, 0.0, 1.0))?;
    let n = phi.nrows();
    let by = (must.len() + cannot.len()).max(1) as f64 / n as f64;
    (0..n).try_for_each(|i| add(i, i, 1.0, by))?;
    let (gamma, solved) = nonnegative(&gram, &right, SWEEPS, observer)?;
    let mut sum = 0.0;
    let mut beta: Vec<f64> = gamma[..m]
        .iter()
        .rev()
        .map(|g| {
            sum += g;
            sum
        })
        .collect();
    beta.reverse();
    if beta.iter().all(|b| *b == 0.0) {
        // Nothing agrees with the links: the plain spectral embedding.
        beta.fill(1.0);
    }
    Ok((beta, solved))
}

/// Rows of the least squares between two looks at the observer.
const ROWS: usize = 256;
/// Sweeps over the coefficients at most.
const SWEEPS: usize = 10_000;

/// Least squares with coefficients of at least 0, by coordinates; and whether they came to rest.
fn nonnegative(
    gram: &Array2<f64>,
    right: &Array1<f64>,
    sweeps: usize,
    observer: &dyn Observer,
) -> Result<(Vec<f64>, bool)> {
    let m = right.len();
    let mut gamma = vec![0.0f64; m];
    for _ in 0..sweeps {
        observer.check()?;
        let mut moved = 0.0f64;
        for q in 0..m {
            if !(gram[[q, q]] > 0.0) {
                continue;
            }
            let slope = right[q] - (0..m).map(|p| gram[[q, p]] * gamma[p]).sum::<f64>();
            let new = (gamma[q] + slope / gram[[q, q]]).max(0.0);
            moved = moved.max((new - gamma[q]).abs());
            gamma[q] = new;
        }
        if moved <= 1e-10 * gamma.iter().sum::<f64>() {
            return Ok((gamma, true));
        }
    }
    Ok((gamma, false))
}

/// The normalized graph without its trivial eigenvector, which is constant before normalization.
struct Deflated<'a> {
    graph: &'a SelfTunedGraph,
    trivial: Vec<f64>,
}

impl<'a> Deflated<'a> {
    fn new(graph: &'a SelfTunedGraph) -> Self {
        let total: f64 = graph.degrees().iter().sum();
        let trivial = graph.degrees().iter().map(|d| (d / total).sqrt()).collect();
        Deflated { graph, trivial }
    }
}

impl SymmetricOperator for Deflated<'_> {
    fn dim(&self) -> usize {
        self.trivial.len()
    }

    fn apply(&self, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        self.graph.matrix().apply(x, y.view_mut());
        let mut along = vec![0.0; x.ncols()];
        for (row, t) in x.rows().into_iter().zip(&self.trivial) {
            along.iter_mut().zip(row).for_each(|(a, v)| *a += t * v);
        }
        for (row, t) in y.rows_mut().into_iter().zip(&self.trivial) {
            row.into_iter().zip(&along).for_each(|(v, a)| *v -= t * a);
        }
    }
}

/// The learned embedding, also of new objects.
#[derive(Debug)]
pub(crate) struct Embedding {
    frame: Frame,
    graph: SelfTunedGraph,
    phi: Array2<f64>,
    values: Vec<f64>,
    beta: Vec<f64>,
    centres: Array2<f64>,
}

impl Embedding {
    fn embed(&self, phi: ArrayView2<'_, f64>) -> Array2<f64> {
        let used = self.beta.iter().take_while(|&&b| b > 0.0).count().max(1).min(phi.ncols());
        let mut rows = phi.slice(s![.., ..used]).to_owned();
        for (mut column, b) in rows.axis_iter_mut(Axis(1)).zip(&self.beta) {
            column *= b.sqrt();
        }
        if rows.ncols() == 0 { Array2::zeros((phi.nrows(), 1)) } else { rows }
    }
}

impl Assign for Embedding {
    fn n_features(&self) -> usize {
        self.frame.n_features()
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        let features = features.dense()?;
        let x = self.frame.apply(&features)?;
        let phi = self.graph.extend(x.view(), self.phi.view(), &self.values, &())?;
        let rows = self.embed(phi.view());
        Ok(nearest(rows.view(), self.centres.view(), &())?
            .into_iter()
            .map(|l| l as usize)
            .collect())
    }

    #[cfg(feature = "serde")]
    fn stored(&self) -> Option<Vec<Parts>> {
        let parts = Parts::new(KIND)
            .table("eigenvectors", &self.phi)
            .row("eigenvalues", self.values.iter().copied())
            .row("weights", self.beta.iter().copied())
            .table("centres", &self.centres);
        Some(vec![self.frame.stored(self.graph.stored(parts))])
    }
}

#[cfg(feature = "serde")]
crate::stored::assigner!("self-tuned-embedding", Embedding);

#[cfg(feature = "serde")]
impl Embedding {
    fn restored(parts: &mut Parts) -> Result<Self> {
        let frame = Frame::restored(parts)?;
        let graph = SelfTunedGraph::restored(parts, frame.n_features())?;
        let phi = parts.take_table("eigenvectors")?;
        let (values, beta) = (parts.take_row("eigenvalues")?, parts.take_row("weights")?);
        let (rows, objects) = (phi.nrows(), graph.degrees().len());
        ensure!(rows == objects, shape("eigenvectors of {rows} rows, a graph of {objects}"));
        crate::stored::check_length("eigenvalues", values.len(), phi.ncols())?;
        crate::stored::check_length("weights", beta.len(), phi.ncols())?;
        ensure!(!values.contains(&0.0), invalid("an eigenvalue 0; expected another than 0"));
        let centres = parts.take_table("centres")?;
        let found = Embedding { frame, graph, phi, values, beta, centres };
        let width = found.embed(found.phi.view()).ncols();
        crate::stored::check_table("centres", found.centres.dim(), width)?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::CancelFrom;

    #[test]
    fn whoever_watches_can_stop_the_weights() {
        let phi = Array2::from_shape_fn((6, 2), |(i, j)| (i * (j + 2) % 5) as f64 - 2.0);
        let side = SideInformation::from_labels(&[0, 0, 1, -1, -1, 1]).unwrap();
        assert!(weights(phi.view(), &side, 10, &CancelFrom::new(0)).is_err());
        let (gram, right) = (Array2::eye(2), Array1::ones(2));
        assert!(nonnegative(&gram, &right, 5, &CancelFrom::new(0)).is_err());
        assert!(weights(phi.view(), &side, 10, &()).is_ok_and(|found| found.0.len() == 2));
    }

    #[test]
    fn weights_are_the_least_squares_under_order() {
        for seed in 0..20 {
            let mut s = Seed(seed).stream();
            let (n, m) = (14, 4);
            let phi = Array2::from_shape_simple_fn((n, m), || s.normal());
            let labels: Vec<i64> = (0..n).map(|i| if i < 8 { i as i64 % 3 } else { -1 }).collect();
            let side = SideInformation::from_labels(&labels).unwrap();
            let (must, cannot) = side.links_up_to(usize::MAX);
            let share = (must.len() + cannot.len()) as f64 / n as f64;
            let loss = |beta: &[f64], constant: f64| {
                let k = |i: usize, j: usize| {
                    (0..m).map(|l| beta[l] * phi[[i, l]] * phi[[j, l]]).sum::<f64>() + constant
                };
                must.iter().map(|&(i, j)| (k(i, j) - 1.0).powi(2)).sum::<f64>()
                    + cannot.iter().map(|&(i, j)| k(i, j).powi(2)).sum::<f64>()
                    + share * (0..n).map(|i| (k(i, i) - 1.0).powi(2)).sum::<f64>()
            };
            let best = |beta: &[f64]| {
                (0..2000).map(|t| loss(beta, t as f64 / 1000.0)).fold(f64::INFINITY, f64::min)
            };
            let (beta, solved) = weights(phi.view(), &side, usize::MAX, &()).unwrap();
            assert!(solved && beta.windows(2).all(|w| w[0] >= w[1]) && beta[m - 1] >= 0.0);
            let own = best(&beta);
            for _ in 0..100 {
                let mut other: Vec<f64> =
                    beta.iter().map(|b| (b + 0.1 * s.normal()).max(0.0)).collect();
                other.sort_by(|a, b| b.total_cmp(a));
                assert!(best(&other) >= own - 1e-3, "seed {seed}: {other:?} {beta:?}");
            }
        }
    }
}
