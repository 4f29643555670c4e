//! PTS in products only, where a dense matrix would take too much memory or time.
//!
//! `B = N G N C` with `N = diag(G_ii)^-1/2` and C the scaled incidence needs G only in products
//! with panels of columns, which are 2 T sparse products each and exact but for rounding: the
//! panels are in single precision, since memory decides how long they take. What is left is the
//! diagonal of G: the squared norms of the trajectories. The short walks among them are sparse, and
//! exact; the long ones are nearly low rank: a few eigenpairs of the walk carry most of their norm,
//! random probes measure what the eigenpairs miss, and the spread of that measurement bounds the
//! error with high probability. Where the probes tell that walks of some length are in the pairs
//! but for half a percent of the norms, longer ones are not walked: the pairs continue them. Where
//! microclusters are few enough, every walk is walked to the end in such panels instead.

use std::ops::Range;

use consilience_core::{Error, Microclusters, Observer, Result, Seed, Stop, room};
use consilience_graph::ClusterIncidence;
use consilience_num::eigen::{TruncatedOptions, Which, try_truncated_eigen};
use consilience_num::reduce::{each_chunk, map_each, map_together};
use consilience_num::sparse::Csr;
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use crate::dense::geometric;
use crate::{BipartiteGraph, EliteNeighbours, Transition};

/// Columns of a panel: four cache lines per row, read for each link.
pub(crate) const PANEL: usize = 64;
/// Rows that one task compares with the eigenpairs.
const ROWS: usize = 256;
/// Vectors that the eigenpairs are found with at a time: more are slower.
const BLOCK: usize = 16;
/// Multiply-adds of walks one by one cost many times those in panels: they may be fewer by this
/// factor.
const SINGLE: u64 = 30;
/// Walks end where what later steps would find beyond the eigenpairs is at most this share of the
/// squared norms, on average.
const SETTLED: f64 = 0.005;

/// What the norms of the trajectories may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Multiply-adds to spend on exact short walks.
    pub(crate) exact: u64,
    /// Eigenpairs for the long walks.
    pub(crate) rank: usize,
    /// Random probes of what the eigenpairs miss, a multiple of the panel's width.
    pub(crate) probes: usize,
    /// Where all walks from everywhere take at most so many multiply-adds in panels, nothing is
    /// sampled.
    pub(crate) whole: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { exact: 2_000_000_000, rank: 64, probes: 128, whole: 0 }
    }
}

/// The bipartite weights of PTGP, by walks of `length` steps over elite links.
pub(crate) fn bipartite(
    microclusters: &Microclusters,
    incidence: &ClusterIncidence,
    elite: EliteNeighbours,
    length: usize,
    effort: Effort,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<BipartiteGraph> {
    let order = by_labels(microclusters);
    let walk = Transition::new(&elite, microclusters).permuted(&order);
    drop(elite);
    let norms = squared_norms(&walk, length, effort, seed, observer)?;
    let product = PanelProduct::new(&walk, length, norms.beyond);
    let weights = products(product, &norms.squares, incidence, &order, observer)?;
    Ok(BipartiteGraph { weights, error_bound: Some(norms.error_bound) })
}

/// The microclusters ordered by their label rows, finest members first. Linked microclusters share
/// most labels, so they come to lie close together, and what a product reads at random stays in the
/// cache.
fn by_labels(microclusters: &Microclusters) -> Vec<u32> {
    let mut members: Vec<_> = microclusters.rows().iter().collect();
    members.sort_by_key(|p| std::cmp::Reverse(p.n_clusters()));
    let mut order: Vec<u32> = (0..microclusters.n_nodes() as u32).collect();
    order.sort_by(|&a, &b| {
        let row = |i: u32| members.iter().map(move |p| p.label(i as usize));
        row(a).cmp(row(b))
    });
    order
}

/// B = N G N B0 diag(1 / |C|), a panel of clusters at a time.
fn products(
    mut product: PanelProduct,
    squares: &[f64],
    incidence: &ClusterIncidence,
    order: &[u32],
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let (n, c) = (squares.len(), incidence.n_clusters());
    // Microclusters in each cluster.
    let size = |j| incidence.shares_in(j).fold(0.0, |sum, (_, p)| sum + p);
    let sizes: Vec<f64> = (0..c).map(size).collect();
    let scale: Vec<f64> =
        squares.iter().map(|&g| if g > 0.0 { g.sqrt().recip() } else { 0.0 }).collect();
    let mut place = vec![0; n];
    for (i, &node) in order.iter().enumerate() {
        place[node as usize] = i;
    }
    let mut b = vec![0.0; n * c];
    for left in (0..c).step_by(PANEL) {
        observer.check()?;
        product.x.fill(0.0);
        for i in 0..n {
            for (cluster, p) in incidence.shares_of(order[i] as usize) {
                if (left..left + PANEL).contains(&cluster) {
                    product.x[i * PANEL + cluster - left] = (scale[i] * p) as f32;
                }
            }
        }
        product.apply(observer)?;
        let columns = PANEL.min(c - left);
        each_chunk(&mut b, ROWS * c, &|chunk, b| {
            for (b, &i) in b.chunks_mut(c).zip(&place[chunk * ROWS..]) {
                for p in 0..columns {
                    let walked = f64::from(product.out[i * PANEL + p]);
                    // The pairs continue walks with errors of either sign; what they are of has
                    // none.
                    b[left + p] = (walked * scale[i] / sizes[left + p]).max(0.0);
                }
            }
        });
        observer.progress("similarity", left + columns, c);
    }
    for i in (0..n).filter(|&i| squares[i] == 0.0) {
        let node = order[i] as usize;
        for (cluster, p) in incidence.shares_of(node) {
            b[node * c + cluster] = p / sizes[cluster];
        }
    }
    Array2::from_shape_vec((n, c), b).map_err(|e| Error::shape(e.to_string()))
}

/// Products of G with panels: `G X = P (Y_1 + P (Y_2 + ...))` with `Y_t = (P')^t X`.
struct PanelProduct {
    forward: Csr,
    backward: Csr,
    /// Y_1, Y_2, ..., as far as walks are walked.
    steps: Vec<Vec<f32>>,
    beyond: Option<Beyond>,
    x: Vec<f32>,
    out: Vec<f32>,
}

impl PanelProduct {
    fn new(walk: &Transition, length: usize, beyond: Option<Beyond>) -> Self {
        let n = walk.n_nodes();
        let walked = beyond.as_ref().map_or(length, |b| b.after);
        PanelProduct {
            forward: walk.probabilities(),
            backward: backward(walk),
            steps: vec![vec![0.0; n * PANEL]; walked],
            beyond,
            x: vec![0.0; n * PANEL],
            out: vec![0.0; n * PANEL],
        }
    }

    /// G X.
    fn apply(&mut self, observer: &dyn Observer) -> Result<()> {
        let PanelProduct { forward, backward, steps, beyond, x, out } = self;
        let length = steps.len();
        for t in 0..length {
            observer.check()?;
            let (before, rest) = steps.split_at_mut(t);
            backward.multiply(before.last().unwrap_or(&*x), &mut rest[0], PANEL);
        }
        if let (Some(beyond), Some(last)) = (beyond, steps.last_mut()) {
            beyond.add_to(last);
        }
        for t in (1..length).rev() {
            observer.check()?;
            let (head, later) = steps.split_at_mut(t);
            forward.multiply_add(&later[0], &mut head[t - 1], PANEL);
        }
        forward.multiply(&steps[0], out, PANEL);
        Ok(())
    }
}

/// P'.
fn backward(walk: &Transition) -> Csr {
    let degree = walk.degree();
    walk.affinity().clone().map(|_, j, a| a / degree[j])
}

/// What the eigenpairs know of walks longer than those that are walked.
#[derive(Debug)]
pub(crate) struct Beyond {
    /// Steps of the walks that are walked.
    pub(crate) after: usize,
    /// D^-1/2 U.
    scaled: Array2<f32>,
    /// `sum_s L^s U' D U L^s` over the steps s that are left.
    core: Array2<f32>,
}

impl Beyond {
    /// Adds `sum_s P^s Y_(t+s)` to `Y_t`, t being the last step that was walked: in the pairs
    /// `Y_(t+s) = D^1/2 U L^s U' D^-1/2 Y_t`.
    fn add_to(&self, last: &mut [f32]) {
        let n = self.scaled.nrows();
        let Ok(y) = ArrayView2::from_shape((n, PANEL), &*last) else { return };
        let spectrum = self.core.dot(&self.scaled.t().dot(&y));
        each_chunk(last, ROWS * PANEL, &|c, last| {
            let rows = c * ROWS..n.min((c + 1) * ROWS);
            let later = self.scaled.slice(s![rows, ..]).dot(&spectrum);
            last.iter_mut().zip(&later).for_each(|(y, l)| *y += l);
        });
    }
}

/// The diagonal of G, 0 for isolated microclusters, and a bound on its relative error.
#[derive(Debug)]
pub(crate) struct Norms {
    pub(crate) squares: Vec<f64>,
    /// 0 where none was sampled.
    pub(crate) error_bound: f64,
    /// Set where walks need not be walked to the end.
    pub(crate) beyond: Option<Beyond>,
}

pub(crate) fn squared_norms(
    walk: &Transition,
    length: usize,
    effort: Effort,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Norms> {
    let exact = |squares| Ok(Norms { squares, error_bound: 0.0, beyond: None });
    let p = walk.probabilities();
    let whole = [walk.n_nodes(), p.nnz(), length].map(|count| count as u64);
    let whole = whole.into_iter().fold(1, u64::saturating_mul);
    let may = if whole <= effort.whole { effort.exact.min(whole / SINGLE) } else { effort.exact };
    let (mut steps, mut last) = (1, None);
    let (mut squares, mut cost) = short_walks(&p, steps, observer)?;
    while steps < length && cost.saturating_mul(steps as u64) <= may {
        // Where walks are everywhere that they get to, every step takes what the last one did: as
        // many as may be are walked at once, since each time starts from the beginning.
        let most = |more: u64| more.min(length as u64 - 1) as usize + 1;
        let most = may.checked_div(cost).map_or(length, most);
        steps = if last.replace(cost) == Some(cost) { most } else { steps + 1 };
        (squares, cost) = short_walks(&p, steps, observer)?;
    }
    if steps == length {
        return exact(squares);
    }
    if whole <= effort.whole {
        return exact(whole_walks(walk, length, observer)?);
    }
    let Tails { tails, after, pairs } =
        long_walks(walk, &p, &squares, steps..length, effort, seed, observer)?;
    let mut error_bound: f64 = 0.0;
    let probes = effort.probes as f64;
    for (g, t) in squares.iter_mut().zip(&tails) {
        *g += (t.captured + t.sum / probes).max(0.0);
        if *g > 0.0 {
            // Four standard errors of the mean over the probes.
            let variance = (t.sum_of_squares - t.sum * t.sum / probes).max(0.0) / (probes - 1.0);
            let error = 4.0 * (variance / probes).sqrt() + t.later;
            error_bound = error_bound.max(error / *g);
        }
    }
    let beyond = (after < length).then(|| pairs.beyond(after, length));
    Ok(Norms { squares, error_bound, beyond })
}

/// Squared norms of the rows of P, ..., P^length summed, a panel of rows at a time: where most
/// walks get everywhere, many times faster than one by one. Exact but for single precision.
fn whole_walks(walk: &Transition, length: usize, observer: &dyn Observer) -> Result<Vec<f64>> {
    let (n, backward) = (walk.n_nodes(), backward(walk));
    let mut x = room::zeros::<f32>(n * PANEL)?;
    let mut y = room::zeros::<f32>(n * PANEL)?;
    let mut squares = vec![0.0; n];
    for left in (0..n).step_by(PANEL) {
        let columns = PANEL.min(n - left);
        x.fill(0.0);
        for c in 0..columns {
            x[(left + c) * PANEL + c] = 1.0;
        }
        for _ in 0..length {
            observer.check()?;
            backward.multiply(&x, &mut y, PANEL);
            std::mem::swap(&mut x, &mut y);
            add_squares(&x, &mut squares[left..left + columns]);
        }
        observer.progress("walks", left + columns, n);
    }
    Ok(squares)
}

/// Adds the squared norm of each column of a panel, as many as there are sums. Rows are added in
/// groups, and these in their order: the same bits at any number of threads.
fn add_squares(panel: &[f32], sums: &mut [f64]) {
    let of_rows = |rows: &[f32]| {
        let mut squares = [0.0; PANEL];
        for row in rows.chunks_exact(PANEL) {
            for (sum, &v) in squares.iter_mut().zip(row) {
                *sum += f64::from(v) * f64::from(v);
            }
        }
        squares
    };
    let groups: Vec<&[f32]> = panel.chunks(ROWS * PANEL).collect();
    for group in map_each(groups.len(), &|g| of_rows(groups[g])) {
        sums.iter_mut().zip(group).for_each(|(sum, square)| *sum += square);
    }
}

/// Squared norms of the rows of P, ..., P^steps summed, walked out exactly; and what one more step
/// would cost.
fn short_walks(p: &Csr, steps: usize, observer: &dyn Observer) -> Result<(Vec<f64>, u64)> {
    let n = p.n_rows();
    let done: Vec<(f64, u64)> = (0..n)
        .into_par_iter()
        .with_min_len(16)
        .map_init(
            || (vec![0.0; n], Vec::new(), Vec::new()),
            |(reached, at, from), i| {
                observer.check()?;
                from.clear();
                from.push((i as u32, 1.0));
                let mut square = 0.0;
                for _ in 0..steps {
                    step(p, from, reached, at);
                    square += from.iter().map(|&(_, v)| v * v).sum::<f64>();
                }
                let next: u64 = from.iter().map(|&(j, _)| p.row(j as usize).0.len() as u64).sum();
                Ok((square, next))
            },
        )
        .collect::<Result<_>>()?;
    let next = done.iter().map(|d| d.1).sum();
    Ok((done.into_iter().map(|d| d.0).collect(), next))
}

/// One step of a sparse walk: `from` becomes `from P`. `reached` is all zero before and after.
fn step(p: &Csr, from: &mut Vec<(u32, f64)>, reached: &mut [f64], at: &mut Vec<u32>) {
    at.clear();
    for &(j, v) in from.iter() {
        for (l, q) in p.entries(j as usize) {
            let slot = &mut reached[l];
            if *slot == 0.0 {
                at.push(l as u32);
            }
            *slot += v * q;
        }
    }
    from.clear();
    for &l in at.iter() {
        // A product that underflowed to 0 is listed again: it is taken once.
        let v = std::mem::take(&mut reached[l as usize]);
        if v > 0.0 {
            from.push((l, v));
        }
    }
}

/// Of the long walks from one microcluster: the squared norm in the eigenpairs, and what is missing
/// there by the probes, as a sum over them and a sum of squares.
#[derive(Clone, Copy, Debug, Default)]
struct Tail {
    captured: f64,
    sum: f64,
    sum_of_squares: f64,
    /// What is thought to be missing in the steps that nobody walked.
    later: f64,
}

/// The long walks from every microcluster.
struct Tails {
    tails: Vec<Tail>,
    /// Steps after which the pairs have what is left.
    after: usize,
    pairs: LeadingPairs,
}

/// Whether later steps still find anything beyond the pairs.
struct Settling<'a> {
    /// What the pairs and the short walks have of the squared norms.
    norms: &'a [f64],
    /// The sums over the probes, a step ago.
    before: Vec<f64>,
    /// The mean share that was missing in the last step.
    last: Option<f64>,
}

impl Settling<'_> {
    /// For each row what later steps would find, once that is next to nothing: what is missing
    /// shrinks as powers do, so the last two steps tell the sum of those to come.
    fn later(&mut self, missing: &[f64]) -> Option<Vec<f64>> {
        let mut now = Vec::with_capacity(self.norms.len());
        for (panel, before) in missing.chunks(PANEL).zip(&mut self.before) {
            let sum: f64 = panel.iter().sum();
            now.push((sum - *before).abs() / PANEL as f64);
            *before = sum;
        }
        let share = |(m, g): (&f64, &f64)| if *g > 0.0 { m / g } else { 0.0 };
        let mean = now.iter().zip(self.norms).map(share).sum::<f64>() / now.len() as f64;
        let factor = mean / self.last.replace(mean)?;
        let later = factor / (1.0 - factor);
        (factor < 1.0 && mean * later <= SETTLED).then(|| {
            now.iter_mut().for_each(|m| *m *= later);
            now
        })
    }
}

/// The walks of more than `walked.start` and at most `walked.end` steps; the squared norms of the
/// others are `short`.
fn long_walks(
    walk: &Transition,
    p: &Csr,
    short: &[f64],
    walked: Range<usize>,
    effort: Effort,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Tails> {
    let pairs = LeadingPairs::new(walk, effort.rank, seed, observer)?;
    let captured = pairs.captured(walked.start, walked.end, observer)?;
    let norms: Vec<f64> = short.iter().zip(&captured).map(|(s, c)| s + c).collect();
    let new = |captured| Tail { captured, ..Tail::default() };
    let mut tails: Vec<Tail> = captured.into_iter().map(new).collect();
    let mut settling = Settling { norms: &norms, before: vec![0.0; norms.len()], last: None };
    let mut after = walked.end;
    for panel in 0..effort.probes / PANEL {
        let mut stream = seed.derive("walk probes", panel as u64).stream();
        let probes: Vec<f32> =
            (0..walk.n_nodes() * PANEL).map(|_| stream.normal() as f32).collect();
        // The first panel tells how long the others walk.
        let steps = walked.start..after;
        let missing = pairs.missing(p, probes, steps, observer, |t, missing| {
            if panel > 0 {
                return false;
            }
            let Some(later) = settling.later(missing) else { return false };
            after = t;
            tails.iter_mut().zip(later).for_each(|(tail, later)| tail.later = later);
            true
        })?;
        for (tail, missing) in tails.iter_mut().zip(missing.chunks(PANEL)) {
            tail.sum += missing.iter().sum::<f64>();
            tail.sum_of_squares += missing.iter().map(|m| m * m).sum::<f64>();
        }
    }
    Ok(Tails { tails, after, pairs })
}

/// Leading eigenpairs of D^-1/2 A D^-1/2.
struct LeadingPairs {
    u: Array2<f64>,
    values: Vec<f64>,
    /// D^1/2 U.
    weighted: Array2<f64>,
    /// D^-1/2 U.
    scaled: Array2<f32>,
    /// D^-1/2.
    inverse: Vec<f64>,
}

impl LeadingPairs {
    fn new(walk: &Transition, rank: usize, seed: Seed, observer: &dyn Observer) -> Result<Self> {
        let root: Vec<f64> = walk.degree().iter().map(|d| d.sqrt()).collect();
        let inverse: Vec<f64> =
            root.iter().map(|&r| if r > 0.0 { r.recip() } else { 0.0 }).collect();
        observer.check()?;
        // Pairs that did not converge, or were missed, only leave more for the probes to measure.
        let options = TruncatedOptions::new(rank.min(walk.n_nodes()))
            .tolerance(1e-3)
            .max_iterations(40)
            .block(BLOCK)
            .seed(seed.derive("walk eigenpairs", 0))
            .which(Which::LargestMagnitude);
        // Similar to P.
        let symmetric = walk.affinity().copied()?.map(|i, j, a| a * inverse[i] * inverse[j]);
        let eigen = try_truncated_eigen(&symmetric, &options, observer)?;
        let mut weighted = eigen.vectors.clone();
        for (mut row, &r) in weighted.rows_mut().into_iter().zip(&root) {
            row *= r;
        }
        let u = eigen.vectors;
        let scaled = Array2::from_shape_fn(u.dim(), |(i, q)| (u[[i, q]] * inverse[i]) as f32);
        Ok(LeadingPairs { u, values: eigen.values, weighted, scaled, inverse })
    }

    /// The squared norm of the walks from each microcluster that the pairs have. The approximate
    /// row of P^t is D_i^-1/2 U_i L^t U' D^1/2; its squared norms sum to a quadratic form.
    fn captured(&self, after: usize, length: usize, observer: &dyn Observer) -> Result<Vec<f64>> {
        let core = self.core(|x| geometric(x, length) - geometric(x, after));
        let stop = Stop::new(observer);
        let of_row = |i: usize| {
            if stop.asked() {
                return 0.0;
            }
            let row = self.u.row(i);
            let captured = row.dot(&core.dot(&row)) * self.inverse[i] * self.inverse[i];
            captured.max(0.0)
        };
        let captured = map_together(self.inverse.len(), ROWS, of_row);
        stop.check()?;
        Ok(captured)
    }

    /// `U' D U`, each entry times `factor` of the product of the eigenvalues of its row and column.
    fn core(&self, factor: impl Fn(f64) -> f64) -> Array2<f64> {
        let mut core = self.weighted.t().dot(&self.weighted);
        for ((a, b), c) in core.indexed_iter_mut() {
            *c *= factor(self.values[a] * self.values[b]);
        }
        core
    }

    /// Walks of `length` steps, beyond the first `after`.
    fn beyond(self, after: usize, length: usize) -> Beyond {
        let core = self.core(|x| geometric(x, length - after)).mapv(|c| c as f32);
        Beyond { after, scaled: self.scaled, core }
    }

    /// What the pairs miss of the squared norms, by a panel of probes w: the squares of P^t w,
    /// which is exact, less those of its part in the pairs. `enough` is asked after each step.
    fn missing(
        &self,
        p: &Csr,
        probes: Vec<f32>,
        walked: Range<usize>,
        observer: &dyn Observer,
        mut enough: impl FnMut(usize, &[f64]) -> bool,
    ) -> Result<Vec<f64>> {
        let n = self.inverse.len();
        let mut x = probes;
        let wide = Array2::from_shape_fn((n, PANEL), |(i, p)| f64::from(x[i * PANEL + p]));
        let spectrum = self.weighted.t().dot(&wide);
        drop(wide);
        let mut y = vec![0.0; n * PANEL];
        let mut missing = vec![0.0; n * PANEL];
        for t in 1..=walked.end {
            observer.check()?;
            p.multiply(&x, &mut y, PANEL);
            std::mem::swap(&mut x, &mut y);
            if t <= walked.start {
                continue;
            }
            let powered = |q: usize, p: usize| spectrum[[q, p]] * self.values[q].powi(t as i32);
            let powered = Array2::from_shape_fn(spectrum.dim(), |(q, p)| powered(q, p) as f32);
            each_chunk(&mut missing, ROWS * PANEL, &|c, missing| {
                let last = n.min((c + 1) * ROWS);
                let captured = self.scaled.slice(s![c * ROWS..last, ..]).dot(&powered);
                let x = &x[c * ROWS * PANEL..];
                for ((m, &x), &a) in missing.iter_mut().zip(x).zip(&captured) {
                    let (x, a) = (f64::from(x), f64::from(a));
                    *m += x * x - a * a;
                }
            });
            if enough(t, &missing) {
                break;
            }
        }
        Ok(missing)
    }
}
