//! U-SPEC members: spectral clustering by way of representatives, without ever holding the links
//! of all objects.
//!
//! The steps and the draws are those of the library's `USpec`, whose documentation has the
//! formulas. Representatives, and the rows that the last k-means is made from, are drawn
//! beforehand and fetched in one pass; a second pass finds the width of the kernel, a third adds
//! up the weights between representatives, and the last one labels.

use std::sync::{Mutex, PoisonError};

use consilience::ndarray::{Array2, ArrayView2, Axis};
use consilience::num::Float;
use consilience::num::kmeans::{KMeansOptions, assign, fit};
use consilience::num::near::NearRows;
use consilience::num::place::Place;
use consilience::num::transfer::small_side;
use consilience::{Error, ErrorKind, Result};

use super::features::{Fetched, Source};
use super::member::{Member, Model, Plan, plans, share};
use super::{Generation, MemberSetup, most_at_once, union};

/// Objects behind each representative.
const OBJECTS_BEHIND: usize = 10;
/// As many representatives as a small table has in any case.
const LEAST: usize = 50;
/// Neighbours of a representative that are looked through, for each that is wanted.
const LOOKED_AT: usize = 10;
/// Rows that the centres of the k-means are made from: all up to here, so many drawn evenly beyond.
const SAMPLE: usize = 1 << 15;
/// And so many for each cluster.
const SAMPLE_PER_CLUSTER: usize = 200;
/// Rows that are drawn for each representative.
const CANDIDATES: usize = 10;
/// Iterations of the k-means that makes representatives.
const ROUNDS: usize = 5;
/// Objects whose distances are summed on their own.
const CHUNK: u64 = 1024;
/// Least weight of an object among the representatives.
const FLOOR: f64 = 1e-6;

/// What is set.
#[derive(Clone, Copy)]
pub(super) struct Graph {
    pub(super) representatives: usize,
    pub(super) neighbours: usize,
    pub(super) regularization: f64,
    pub(super) restarts: usize,
}

/// The objects that a member looks at on their own.
struct Draws {
    landmarks: Vec<u64>,
    /// Those that the last k-means is made from.
    rows: Vec<u64>,
}

impl Draws {
    fn of(plan: &Plan, graph: Graph, n: u64) -> Self {
        let count = graph.count(plan.view.objects(n), plan.clusters);
        let mut stream = plan.fit.derive("landmarks", 0).stream();
        let landmarks = plan.view.sample(&mut stream, n, count.saturating_mul(CANDIDATES));
        let most = most(plan.clusters) as u64;
        let rows = if n <= most {
            (0..n).filter(|&i| plan.view.sees(i)).collect()
        } else {
            // One row of each of so many equal stretches.
            let mut stream = plan.fit.derive("k-means", 0).derive("rows", 0).stream();
            let bound = |s: u64| (u128::from(s) * u128::from(n) / u128::from(most)) as u64;
            (0..most).filter_map(|s| plan.view.draw(&mut stream, bound(s), bound(s + 1))).collect()
        };
        Draws { landmarks, rows }
    }

    fn objects(&self) -> impl Iterator<Item = u64> + '_ {
        self.landmarks.iter().chain(&self.rows).copied()
    }
}

/// Rows that the last k-means is made from, at most.
fn most(clusters: usize) -> usize {
    SAMPLE.max(clusters.saturating_mul(SAMPLE_PER_CLUSTER))
}

impl Graph {
    /// Representatives of a member that sees n objects.
    fn count(self, n: usize, clusters: usize) -> usize {
        let behind = (n / OBJECTS_BEHIND).max(LEAST);
        self.representatives.min(behind).max(clusters.saturating_mul(2)).min(n)
    }

    /// Bytes that a member keeps: representatives with the rows of their neighbours.
    fn kept(self, n: u64, clusters: usize, row: u64) -> u64 {
        let p = self.count(n as usize, clusters) as u64;
        let looked_at = (self.neighbours.saturating_mul(LOOKED_AT) as u64 + 1).min(p);
        p.saturating_mul(looked_at + 3).saturating_mul(row + 4)
    }

    /// Bytes that a member takes while its graph is made: what it keeps, rows and their copies, and
    /// the weights between representatives.
    fn bytes(self, n: u64, clusters: usize, row: u64) -> u64 {
        let p = self.count(n as usize, clusters) as u64;
        let rows = p.saturating_mul(CANDIDATES as u64).saturating_add(most(clusters) as u64);
        rows.saturating_mul(2 * row + 8)
            .saturating_add(self.kept(n, clusters, row))
            .saturating_add(p.saturating_mul(p).saturating_mul(8))
    }
}

/// U-SPEC members of a table of which not all objects fit in memory.
pub(super) fn members<F: Float>(
    source: &Source<'_>,
    setup: &MemberSetup,
    graph: Graph,
    done: &mut Generation,
) -> Result<Vec<Member<F>>> {
    let n = source.table.n_rows();
    let part = share(n as usize, setup.object_fraction);
    let plans = plans(setup, n, source.width(), part)?;
    let row = (source.width() * size_of::<F>()) as u64;
    let largest = plans.iter().map(|plan| plan.clusters).max().unwrap_or(1);
    let bytes = graph.bytes(n, largest, row);
    let at_once = most_at_once(source.engine, bytes, "the graph of a member")?;
    let kept = graph.kept(n, largest, row).saturating_mul(plans.len() as u64);
    most_at_once(source.engine, kept, "what is kept of all members")?;
    let mut members = Vec::with_capacity(plans.len());
    done.converged = true;
    for wave in plans.chunks(at_once) {
        let draws: Vec<Draws> = wave.iter().map(|plan| Draws::of(plan, graph, n)).collect();
        let fetched = source.fetch::<F>(Some(union(draws.iter().flat_map(Draws::objects))))?;
        done.sample += fetched.rows.nrows() as u64;
        let mut links = Vec::with_capacity(wave.len());
        for (plan, draws) in wave.iter().zip(&draws) {
            source.observer.check()?;
            links.push(Links::new(plan, draws, graph, &fetched, source)?);
        }
        widths(source, wave, &mut links)?;
        let weights = weights(source, wave, &links)?;
        for (((plan, draws), links), weights) in wave.iter().zip(&draws).zip(links).zip(weights) {
            source.observer.check()?;
            let rows = fetched.rows.select(Axis(0), &fetched.places(&draws.rows));
            let rows = plan.view.rows(&rows);
            let cut = Cut::new(links, weights.view(), rows.view(), plan, graph, source, done)?;
            let model = Model::Cut(Box::new(cut));
            members.push(Member { view: plan.view.clone(), model });
            source.observer.progress("members", members.len(), setup.members);
        }
    }
    Ok(members)
}

/// Representatives, and how objects are shared out among the nearest ones.
struct Links<F> {
    table: NearRows<F>,
    /// Representatives per object.
    near: usize,
    /// Where representatives are, and rows are put.
    place: Place,
    /// Twice the square of the width of the kernel.
    width: f64,
}

impl<F: Float> Links<F> {
    fn new(
        plan: &Plan,
        draws: &Draws,
        graph: Graph,
        fetched: &Fetched<F>,
        source: &Source<'_>,
    ) -> Result<Self> {
        let place = Place::of_ranges(&plan.view.features(&fetched.ranges));
        let rows = fetched.rows.select(Axis(0), &fetched.places(&draws.landmarks));
        let rows = plan.view.rows(&rows);
        let count = graph.count(plan.view.objects(source.table.n_rows()), plan.clusters);
        let options = KMeansOptions::new(count).max_iterations(ROUNDS).seed(plan.fit);
        let chosen = fit(rows.view(), None, &options, source.observer)?.centres;
        let chosen: Array2<F> = place.rows(chosen.view());
        let groups = (chosen.nrows() as f64).sqrt() as usize;
        let looked_at = graph.neighbours.saturating_mul(LOOKED_AT);
        let seed = plan.fit.derive("groups", 0);
        let table = NearRows::new(chosen.view(), groups, looked_at, seed, source.observer)?;
        let near = graph.neighbours.min(table.most());
        Ok(Links { table, near, place, width: 1.0 })
    }

    /// The nearest representatives of rows, with squared distances, nearest first.
    fn search(&self, rows: ArrayView2<'_, F>) -> (Vec<u32>, Vec<f32>) {
        let rows: Array2<F> = self.place.rows(rows);
        let mut found = Vec::new();
        self.table.search(rows.view(), self.near, &mut found);
        found.into_iter().map(|(at, square)| (at, square.to_f64() as f32)).unzip()
    }

    /// Writes how an object at these squared distances is shared out among its representatives,
    /// and returns its weight.
    fn shares(&self, squares: &[f32], share: &mut [f64]) -> f64 {
        let nearest = f64::from(squares[0]);
        let mut sum = 0.0;
        for (s, &v) in share.iter_mut().zip(squares) {
            // Relative to the nearest, so that the sum cannot vanish.
            *s = ((nearest - f64::from(v)) / self.width).exp();
            sum += *s;
        }
        share.iter_mut().for_each(|s| *s /= sum);
        ((-nearest / self.width).exp() * sum).max(FLOOR)
    }
}

/// Distances summed chunk by chunk.
#[derive(Default)]
struct Roots {
    sums: Vec<f64>,
    open: f64,
    objects: u64,
}

/// The width of every member's kernel: the mean distance of objects to their representatives.
/// Chunks are those of the library, whatever the files.
fn widths<F: Float>(source: &Source<'_>, plans: &[Plan], links: &mut [Links<F>]) -> Result<()> {
    let n = source.table.n_rows();
    let mut total = vec![(0.0, 0); plans.len()];
    let given = &*links;
    let work = |stretch: &std::ops::Range<u64>| {
        let mut roots: Vec<Roots> = plans.iter().map(|_| Roots::default()).collect();
        source.read_stretch::<F>(stretch, |rows, first| {
            for ((plan, links), roots) in plans.iter().zip(given).zip(&mut roots) {
                let (_, squares) = links.search(plan.view.rows(&rows).view());
                for (i, squares) in (first..).zip(squares.chunks_exact(links.near)) {
                    if plan.view.sees(i) {
                        squares.iter().for_each(|&v| roots.open += f64::from(v).sqrt());
                        roots.objects += 1;
                    }
                    if (i + 1).is_multiple_of(CHUNK) {
                        roots.sums.push(std::mem::take(&mut roots.open));
                    }
                }
            }
            Ok(())
        })?;
        Ok(roots)
    };
    source.engine.in_order(&source.stretches(), source.observer, work, |stretch, roots| {
        source.observer.progress("nearest representatives", stretch.end as usize, n as usize);
        for ((sum, objects), roots) in total.iter_mut().zip(roots) {
            roots.sums.iter().for_each(|part| *sum += part);
            if !stretch.end.is_multiple_of(CHUNK) {
                *sum += roots.open;
            }
            *objects += roots.objects;
        }
        Ok(())
    })?;
    for (links, (sum, objects)) in links.iter_mut().zip(total) {
        let mean = sum / (objects * links.near as u64) as f64;
        // Of no consequence where all objects are representatives.
        links.width = if mean > 0.0 { 2.0 * mean * mean } else { 1.0 };
    }
    Ok(())
}

/// The weights between the representatives of every member, in fixed point: sums are exact, so
/// that it does not matter who adds first.
fn weights<F: Float>(
    source: &Source<'_>,
    plans: &[Plan],
    links: &[Links<F>],
) -> Result<Vec<Array2<f64>>> {
    let n = source.table.n_rows();
    // Beside a table of sums, as many binary places as n ones leave in 62 bits.
    let places = 62 - (u64::BITS - n.leading_zeros()) as i32;
    let fixed = 2f64.powi(places.min(52));
    let tables: Vec<Mutex<Vec<u64>>> =
        links.iter().map(|links| Mutex::new(vec![0; links.table.n_rows().pow(2)])).collect();
    let work = |stretch: &std::ops::Range<u64>| {
        source.read_stretch::<F>(stretch, |rows, first| {
            for ((plan, links), table) in plans.iter().zip(links).zip(&tables) {
                let (near, p) = (links.near, links.table.n_rows());
                let (index, squares) = links.search(plan.view.rows(&rows).view());
                let mut share = vec![0.0; squares.len()];
                let masses: Vec<f64> = (squares.chunks_exact(near))
                    .zip(share.chunks_exact_mut(near))
                    .map(|(squares, share)| links.shares(squares, share))
                    .collect();
                let mut sums = table.lock().unwrap_or_else(PoisonError::into_inner);
                let objects = index.chunks_exact(near).zip(share.chunks_exact(near)).zip(masses);
                for (object, ((index, share), mass)) in (first..).zip(objects) {
                    if plan.view.sees(object) {
                        add(&mut sums, p, fixed, (index, share, mass));
                    }
                }
            }
            Ok(())
        })
    };
    source.engine.in_order(&source.stretches(), source.observer, work, |stretch, ()| {
        source.observer.progress("weights", stretch.end as usize, n as usize);
        Ok(())
    })?;
    Ok(tables.into_iter().map(|table| unfixed(table, fixed)).collect())
}

/// Adds what one object gives to pairs of its representatives.
fn add(sums: &mut [u64], p: usize, fixed: f64, (index, share, mass): (&[u32], &[f64], f64)) {
    for (a, &i) in index.iter().enumerate() {
        let weight = share[a] * mass;
        for (&j, share) in index[..=a].iter().zip(share) {
            sums[i as usize * p + j as usize] += (weight * share * fixed + 0.5) as u64;
        }
    }
}

/// The symmetric table of sums.
fn unfixed(sums: Mutex<Vec<u64>>, fixed: f64) -> Array2<f64> {
    let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    let p = sums.len().isqrt();
    Array2::from_shape_fn((p, p), |(i, j)| {
        let sum = sums[i * p + j] + if i == j { 0 } else { sums[j * p + i] };
        sum as f64 / fixed
    })
}

/// A graph of representatives, cut: objects lie among the eigenvectors, in shares of their
/// representatives.
pub(super) struct Cut<F> {
    links: Links<F>,
    /// Coordinates of the representatives, in rows.
    table: Vec<f32>,
    columns: usize,
    centres: Array2<f32>,
}

impl<F: Float> Cut<F> {
    /// From the weights between representatives, and the rows that the k-means is made from.
    fn new(
        links: Links<F>,
        weights: ArrayView2<'_, f64>,
        rows: ArrayView2<'_, F>,
        plan: &Plan,
        graph: Graph,
        source: &Source<'_>,
        done: &mut Generation,
    ) -> Result<Self> {
        let side = small_side(weights, plan.clusters, graph.regularization).ok_or_else(|| {
            Error::new(ErrorKind::NonFinite, "the graph of representatives has no eigenpairs")
        })?;
        let mut cut = Cut {
            links,
            table: side.coordinates.iter().map(|&v| v as f32).collect(),
            columns: side.coordinates.ncols(),
            centres: Array2::zeros((0, 0)),
        };
        let options = KMeansOptions::new(plan.clusters)
            .restarts(graph.restarts)
            .seed(plan.fit.derive("k-means", 0))
            .tolerance(1e-4);
        let found = fit(cut.embedded(rows).view(), None, &options, source.observer)?;
        done.converged &= found.converged;
        cut.centres = found.centres;
        Ok(cut)
    }

    /// Rows among the eigenvectors, scaled to norm 1.
    fn embedded(&self, rows: ArrayView2<'_, F>) -> Array2<f32> {
        let near = self.links.near;
        let (index, squares) = self.links.search(rows);
        let mut out = Array2::zeros((rows.nrows(), self.columns));
        let mut share = vec![0.0; near];
        let objects = index.chunks_exact(near).zip(squares.chunks_exact(near));
        for ((index, squares), mut out) in objects.zip(out.rows_mut()) {
            self.links.shares(squares, &mut share);
            for (&j, &share) in index.iter().zip(&share) {
                let share = share as f32;
                let row = &self.table[j as usize * self.columns..][..self.columns];
                out.iter_mut().zip(row).for_each(|(o, &v)| *o += share * v);
            }
            let norm = out.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
            if norm > 0.0 {
                let factor = (1.0 / norm) as f32;
                out.iter_mut().for_each(|v| *v *= factor);
            }
        }
        out
    }

    /// The cluster of each row.
    pub(super) fn labels(&self, rows: ArrayView2<'_, F>) -> Vec<u32> {
        assign(self.embedded(rows).view(), self.centres.view(), false)
    }
}
