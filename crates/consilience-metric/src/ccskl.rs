use consilience_core::{
    Error, Features, Fit, MemoryBudget, Observer, Report, Result, Seed, Status,
};
use consilience_num::eigen::{SymmetricOperator, TruncatedOptions, truncated_eigen};
use consilience_num::kmeans::{KMeansOptions, fit, from_centres};
use consilience_num::sparse::Csr;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use crate::constrained::frame::{Frame, drop_empty, first_centres, nearest, tell_clusters};
use crate::input::{Watch, check_clusters, check_side};
use crate::mmc::check_loop;
use crate::scatter::stated_pairs;
use crate::{Assign, Clustering, ConstrainedClusterer, SideInformation};

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
/// use consilience_core::Seed;
/// use consilience_metric::{Ccskl, ConstrainedClusterer, SideInformation};
/// use ndarray::Array2;
///
/// // A ring of 60 objects around another; two labels each.
/// let x = Array2::from_shape_fn((120, 2), |(i, j)| {
///     let (radius, turn) = (if i < 60 { 1.0 } else { 3.0 }, (i % 60) as f64 * 0.1047);
///     radius * if j == 0 { turn.cos() } else { turn.sin() }
/// });
/// let mut labels = vec![-1; 120];
/// (labels[0], labels[30], labels[60], labels[90]) = (0, 0, 1, 1);
/// let side = SideInformation::from_labels(&labels)?;
/// let found = Ccskl::new().fit(x.view().into(), 2, &side, Seed(0), &())?.output;
/// assert_eq!(found.partition.sizes(), [60, 60]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// W joins every object with its nearest ones by `exp(-|x_i - x_j|^2 / (s_i s_j))`, s_i = distance
/// to the 7th (at least 0.3 of the mean s, or duplicates would be cut off from the rest). The
/// diagonal counts as much as all links together (v). New objects are mapped by the eigenvectors'
/// own equation over their nearest neighbours, and go to the nearest centre.
///
/// # Complexity
/// O(n^2 d) time for neighbours, O(n (neighbours + m) m) per eigen iteration; O(n (neighbours + m))
/// memory.
///
/// # Errors
/// As [`ConstrainedClusterer::fit`]; a count of 0;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the eigenvectors exceed 8
/// GiB.
///
/// # References
/// Z. Li, J. Liu, "Constrained clustering by spectral kernel learning", 2009, with m = 20. The
/// constant c stands for the trivial eigenvector, without its place in the order; k-means does not
/// see it. The quadratic programme is solved by coordinate descent in the differences of the beta.
#[doc(alias = "spectral kernel learning")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ccskl {
    neighbours: usize,
    eigenvectors: usize,
    restarts: usize,
}

impl Default for Ccskl {
    fn default() -> Self {
        Ccskl { neighbours: 20, eigenvectors: 20, restarts: 10 }
    }
}

/// The neighbour whose distance is an object's scale.
const SCALE: usize = 7;
/// Pairs of either kind that the kernel is fitted to.
const MOST_PAIRS: usize = 100_000;
/// Least scale of an object, as a share of the mean.
const LEAST_SCALE: f64 = 0.3;
/// Rows whose distances are computed together.
const ROWS: usize = 128;
/// Eigenvalues below this cannot be divided by.
const LEAST: f64 = 1e-6;

impl Ccskl {
    /// 20 neighbours, 20 eigenvectors, 10 starts of the k-means.
    pub fn new() -> Self {
        Self::default()
    }

    /// Neighbours of every object in the graph.
    pub fn neighbours(mut self, neighbours: usize) -> Self {
        self.neighbours = neighbours;
        self
    }

    /// m; raised to the number of clusters.
    pub fn eigenvectors(mut self, eigenvectors: usize) -> Self {
        self.eigenvectors = eigenvectors;
        self
    }

    /// Starts of the k-means on the eigenvectors; one more begins from the labelled sets.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }
}

impl ConstrainedClusterer for Ccskl {
    fn name(&self) -> &'static str {
        "ccskl"
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        side: &SideInformation,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        check_clusters(&features, clusters)?;
        check_side(&features, side)?;
        for (name, value) in [("neighbours", self.neighbours), ("eigenvectors", self.eigenvectors)]
        {
            if value == 0 {
                return Err(Error::invalid(format!("{name} is 0; expected at least 1")));
            }
        }
        check_loop(1.0, self.restarts, 1)?;
        observer.check()?;
        let mut report = Report::default();
        let (frame, x) = Frame::new(&features);
        let n = x.nrows();
        let count = self.eigenvectors.max(clusters).min(n);
        MemoryBudget::default().check_table("eigenvectors", n, count, 8 * 6)?;
        MemoryBudget::default().check_table("neighbours", n, self.neighbours.min(n), 32)?;
        let mut watch = Watch::new(observer, "ccskl", self.restarts + 2);
        let graph = report.stage("neighbours", || Graph::new(x, self.neighbours));
        watch.step(0)?;
        let options = TruncatedOptions::new(count).tolerance(1e-6).seed(seed);
        let top = report.stage("eigenvectors", || truncated_eigen(&graph, &options));
        watch.step(1)?;
        let kept = top.values.iter().take_while(|&&v| v > LEAST).count();
        let root = (n as f64).sqrt();
        let phi = top.vectors.slice(s![.., ..kept]).mapv(|v| v * root);
        let beta = weights(phi.view(), side);
        let used = beta.iter().take_while(|&&b| b > 0.0).count();
        let mut map = Embedding {
            frame,
            graph,
            phi,
            values: top.values[..kept].to_vec(),
            beta,
            centres: Array2::zeros((0, 0)),
        };
        let rows = map.embed(map.phi.view());

        let options = KMeansOptions::new(clusters)
            .restarts(self.restarts)
            .seed(seed)
            .parallel(rayon::current_num_threads() > 1);
        let mut labels = vec![0u32; n];
        let mut centres = Array2::zeros((1, rows.ncols()));
        if used > 0 {
            watch.step(2)?;
            let mut found = fit(rows.view(), None, &options, observer)?;
            let start = first_centres(rows.view(), side, clusters, seed);
            let seeded = from_centres(rows.view(), None, start.view(), &options, &())?;
            if seeded.inertia < found.inertia {
                found = seeded;
            }
            if !(found.converged && top.converged) {
                report.status = Status::MaxIterations;
            }
            report.iterations = found.iterations;
            report.objective = Some(found.inertia);
            (labels, centres) = (found.assignment, found.centres);
        }
        drop_empty(&mut labels, &mut centres);
        let k = centres.nrows();
        tell_clusters(&mut report, clusters, k);
        map.centres = centres;
        Ok(Fit::new(Clustering::new(&labels, k, map)?, report))
    }
}

/// The beta: least squares under order, `beta_l = sum_(q >= l) gamma_q` with gamma at least 0.
fn weights(phi: ArrayView2<'_, f64>, side: &SideInformation) -> Vec<f64> {
    let m = phi.ncols();
    let (must, cannot) = stated_pairs(side, MOST_PAIRS);
    // One more column for a constant, as the trivial eigenvector would give: k-means does not see
    // it.
    let mut gram = Array2::<f64>::zeros((m + 1, m + 1));
    let mut right = Array1::<f64>::zeros(m + 1);
    let mut add = |i: usize, j: usize, target: f64, by: f64| {
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
    };
    must.iter().for_each(|&(i, j)| add(i, j, 1.0, 1.0));
    cannot.iter().for_each(|&(i, j)| add(i, j, 0.0, 1.0));
    let n = phi.nrows();
    let by = (must.len() + cannot.len()).max(1) as f64 / n as f64;
    (0..n).for_each(|i| add(i, i, 1.0, by));
    let mut gamma = vec![0.0f64; m + 1];
    for _ in 0..10_000 {
        let mut moved = 0.0f64;
        for q in 0..=m {
            if !(gram[[q, q]] > 0.0) {
                continue;
            }
            let slope = right[q] - (0..=m).map(|p| gram[[q, p]] * gamma[p]).sum::<f64>();
            let new = (gamma[q] + slope / gram[[q, q]]).max(0.0);
            moved = moved.max((new - gamma[q]).abs());
            gamma[q] = new;
        }
        if moved <= 1e-10 * gamma.iter().sum::<f64>() {
            break;
        }
    }
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
    beta
}

/// Normalised neighbourhood graph without its trivial eigenvector.
#[derive(Debug)]
struct Graph {
    x: Array2<f64>,
    neighbours: usize,
    scale: Vec<f64>,
    degree: Vec<f64>,
    matrix: Csr,
    trivial: Vec<f64>,
}

impl Graph {
    fn new(x: Array2<f64>, neighbours: usize) -> Self {
        let n = x.nrows();
        let count = neighbours.saturating_add(1).min(n);
        let near = nearest_rows(x.view(), x.view(), count);
        let far: Vec<f64> = near.iter().map(|row| row[SCALE.min(row.len() - 1)].1.sqrt()).collect();
        let scale = floored(far);
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        for (i, row) in near.iter().enumerate() {
            for &(j, d) in row {
                let w = 0.5 * (-d / (scale[i] * scale[j])).exp();
                rows[i].push((j as u32, w));
                rows[j].push((i as u32, w));
            }
        }
        let mut degree = vec![0.0; n];
        for (i, row) in rows.iter_mut().enumerate() {
            row.sort_by_key(|e| e.0);
            row.dedup_by(|b, a| {
                let same = a.0 == b.0;
                if same {
                    a.1 += b.1;
                }
                same
            });
            degree[i] = row.iter().map(|e| e.1).sum();
        }
        let matrix = Csr::from_rows(n, rows).map(|i, j, w| w / (degree[i] * degree[j]).sqrt());
        let total: f64 = degree.iter().sum();
        let trivial = degree.iter().map(|d| (d / total).sqrt()).collect();
        Graph { x, neighbours: count, scale, degree, matrix, trivial }
    }
}

/// Scales, none below a share of their mean: objects among their duplicates would else be cut off.
fn floored(mut scale: Vec<f64>) -> Vec<f64> {
    let mean = scale.iter().sum::<f64>() / scale.len().max(1) as f64;
    let least = if mean > 0.0 { LEAST_SCALE * mean } else { 1.0 };
    scale.iter_mut().for_each(|s| *s = s.max(least));
    scale
}

impl SymmetricOperator for Graph {
    fn dim(&self) -> usize {
        self.trivial.len()
    }

    fn apply(&self, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        let width = x.ncols();
        match (x.as_slice(), y.as_slice_mut()) {
            (Some(x), Some(y)) => self.matrix.multiply(x, y, width),
            _ => y.fill(f64::NAN),
        }
        let mut along = vec![0.0; width];
        for (row, t) in x.rows().into_iter().zip(&self.trivial) {
            along.iter_mut().zip(row).for_each(|(a, v)| *a += t * v);
        }
        for (row, t) in y.rows_mut().into_iter().zip(&self.trivial) {
            row.into_iter().zip(&along).for_each(|(v, a)| *v -= t * a);
        }
    }
}

/// The nearest rows of `x` to every row of `new` with squared distances, ascending.
fn nearest_rows(
    new: ArrayView2<'_, f64>,
    x: ArrayView2<'_, f64>,
    count: usize,
) -> Vec<Vec<(usize, f64)>> {
    let norms: Vec<f64> = x.rows().into_iter().map(|r| r.dot(&r)).collect();
    let chunks: Vec<usize> = (0..new.nrows()).step_by(ROWS).collect();
    let parts: Vec<Vec<Vec<(usize, f64)>>> = chunks
        .into_par_iter()
        .map(|first| {
            let part = new.slice(s![first..new.nrows().min(first + ROWS), ..]);
            let products = part.dot(&x.t());
            part.rows()
                .into_iter()
                .zip(products.rows())
                .map(|(row, products)| {
                    let rough: Vec<f64> =
                        norms.iter().zip(products).map(|(n, p)| n - 2.0 * p).collect();
                    let mut order: Vec<usize> = (0..rough.len()).collect();
                    let by = |&a: &usize, &b: &usize| rough[a].total_cmp(&rough[b]).then(a.cmp(&b));
                    if count < order.len() {
                        order.select_nth_unstable_by(count - 1, by);
                        order.truncate(count);
                    }
                    let mut near: Vec<(usize, f64)> = order
                        .into_iter()
                        .map(|j| {
                            let apart = &row - &x.row(j);
                            (j, apart.dot(&apart))
                        })
                        .collect();
                    near.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
                    near
                })
                .collect()
        })
        .collect();
    parts.into_iter().flatten().collect()
}

/// The learned embedding, also of new objects.
#[derive(Debug)]
struct Embedding {
    frame: Frame,
    graph: Graph,
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
        let x = self.frame.apply(&features);
        let graph = &self.graph;
        let near = nearest_rows(x.view(), graph.x.view(), graph.neighbours);
        let scale =
            floored(near.iter().map(|row| row[SCALE.min(row.len() - 1)].1.sqrt()).collect());
        let mut phi = Array2::<f64>::zeros((x.nrows(), self.phi.ncols()));
        for ((row, &scale), mut out) in near.iter().zip(&scale).zip(phi.rows_mut()) {
            // Relative to the nearest, so that far objects have a neighbour too.
            let first = row[0].1 / (scale * graph.scale[row[0].0]);
            let w: Vec<f64> =
                row.iter().map(|&(j, d)| (first - d / (scale * graph.scale[j])).exp()).collect();
            let degree: f64 = w.iter().sum();
            for (&(j, _), w) in row.iter().zip(&w) {
                out.scaled_add(w / (degree * graph.degree[j]).sqrt(), &self.phi.row(j));
            }
            out.iter_mut().zip(&self.values).for_each(|(o, v)| *o /= v);
        }
        let rows = self.embed(phi.view());
        Ok(nearest(rows.view(), self.centres.view()).into_iter().map(|l| l as usize).collect())
    }
}
