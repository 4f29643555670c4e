//! The iterate of a solver: the memberships, the objective and the optimality gap there.

use consilience_core::{Observer, Result, Stop, room};
use consilience_num::reduce::ordered_chunks;
use ndarray::{Array2, ArrayView2};

use crate::kernel::{self, Panel};
use crate::{Divergence, PairEvidence};

/// Rows of a chunk in parallel sums; fixed, so that the bits do not depend on the number of
/// threads.
const CHUNK: usize = 64;

/// The evidence and what disagreeing with it costs.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub evidence: &'a PairEvidence,
    pub divergence: &'a dyn Divergence,
    pub clusters: usize,
}

/// The memberships of all microclusters, object by object; also cluster by cluster where all pairs
/// are held, so that a row of evidence meets them in order.
#[derive(Clone)]
pub(crate) struct Point {
    clusters: usize,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Point {
    pub(crate) fn new(y: ArrayView2<'_, f64>, dense: bool) -> Result<Self> {
        let rows = room::collected(y.iter().copied())?;
        let columns = if dense { room::collected(y.t().iter().copied())? } else { Vec::new() };
        Ok(Point { clusters: y.ncols(), rows, columns })
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len() / self.clusters
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.clusters..(i + 1) * self.clusters]
    }

    pub(crate) fn set(&mut self, i: usize, y: &[f64]) {
        let n = self.len();
        self.rows[i * self.clusters..(i + 1) * self.clusters].copy_from_slice(y);
        if !self.columns.is_empty() {
            for (k, &v) in y.iter().enumerate() {
                self.columns[k * n + i] = v;
            }
        }
    }

    pub(crate) fn into_array(self) -> Array2<f64> {
        let shape = (self.len(), self.clusters);
        // The length is right by construction; the default is never used.
        Array2::from_shape_vec(shape, self.rows).unwrap_or_default()
    }
}

pub(crate) fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The rows of some objects, cluster by cluster; K is the number of clusters, or 0 where that is
/// not known beforehand.
fn gather<const K: usize>(rows: &[f64], k: usize, partners: &[u32], out: &mut [f64]) {
    let k = if K > 0 { K } else { k };
    let len = partners.len();
    let out = &mut out[..k * len];
    for (b, &j) in partners.iter().enumerate() {
        let row = &rows[j as usize * k..][..k];
        for (l, &y) in row.iter().enumerate() {
            out[l * len + b] = y;
        }
    }
}

/// Buffers for the work on one row, and what was computed of it.
#[derive(Default)]
pub(crate) struct Row {
    pub observed: Vec<f64>,
    pub weights: Vec<f64>,
    gathered: Vec<f64>,
    /// v = y_i'y_j.
    pub current: Vec<f64>,
    /// Weighted first and second derivatives.
    pub first: Vec<f64>,
    pub second: Vec<f64>,
    /// Change of v along a direction, and v after a step.
    pub slopes: Vec<f64>,
    pub moved: Vec<f64>,
    pub gradient: Vec<f64>,
    coefficients: Vec<(usize, f64)>,
}

impl Row {
    /// Reads the evidence of row i; returns the partners where these are not all.
    pub(crate) fn read<'a>(&mut self, problem: &Problem<'a>, i: usize) -> Option<&'a [u32]> {
        let partners = problem.evidence.load(i, &mut self.observed, &mut self.weights);
        let len = self.observed.len();
        for buffer in [
            &mut self.current,
            &mut self.first,
            &mut self.second,
            &mut self.slopes,
            &mut self.moved,
        ] {
            buffer.resize(len, 0.0);
        }
        partners
    }

    /// Reads the evidence of row i, and the memberships of its partners where these are not all.
    pub(crate) fn load(&mut self, problem: &Problem<'_>, point: &Point, i: usize) {
        let k = problem.clusters;
        let partners = self.read(problem, i);
        if let Some(partners) = partners {
            self.gathered.resize(k * partners.len(), 0.0);
            match k {
                2 => gather::<2>(&point.rows, k, partners, &mut self.gathered),
                3 => gather::<3>(&point.rows, k, partners, &mut self.gathered),
                4 => gather::<4>(&point.rows, k, partners, &mut self.gathered),
                _ => gather::<0>(&point.rows, k, partners, &mut self.gathered),
            }
        }
        self.gradient.resize(k, 0.0);
    }

    pub(crate) fn panel<'a>(&'a self, point: &'a Point) -> Panel<'a> {
        let len = self.observed.len();
        if point.columns.is_empty() {
            Panel { values: &self.gathered, stride: len, len }
        } else {
            Panel { values: &point.columns, stride: len, len }
        }
    }

    /// `out = sum_k c_k y_k` over the partners.
    fn products(&mut self, point: &Point, coefficients: &[f64], into_slopes: bool) {
        let mut sparse = std::mem::take(&mut self.coefficients);
        sparse.clear();
        sparse.extend(coefficients.iter().copied().enumerate().filter(|c| c.1 != 0.0));
        let mut out =
            std::mem::take(if into_slopes { &mut self.slopes } else { &mut self.current });
        kernel::products(&sparse, self.panel(point), &mut out);
        *(if into_slopes { &mut self.slopes } else { &mut self.current }) = out;
        self.coefficients = sparse;
    }

    /// v of all partners under the membership y of i itself.
    pub(crate) fn predict(&mut self, point: &Point, y: &[f64]) {
        self.products(point, y, false);
    }

    /// Change of v along a direction of y.
    pub(crate) fn direct(&mut self, point: &Point, direction: &[f64]) {
        self.products(point, direction, true);
    }

    /// The gradient of the objective per object of i, after [`Row::predict`]; the second
    /// derivatives as well where asked.
    pub(crate) fn differentiate(
        &mut self,
        problem: &Problem<'_>,
        point: &Point,
        i: usize,
        curvature: bool,
    ) {
        if curvature {
            let (first, second) = (&mut self.first, &mut self.second);
            problem.divergence.both_derivatives(&self.observed, &self.current, first, second);
            kernel::scale(&mut self.second, &self.weights);
        } else {
            problem.divergence.derivatives(&self.observed, &self.current, &mut self.first);
        }
        kernel::scale(&mut self.first, &self.weights);
        let mut gradient = std::mem::take(&mut self.gradient);
        kernel::gradient(self.panel(point), &self.first, &mut gradient);
        let inside = problem.evidence.inside(i);
        if inside > 0.0 {
            let y = point.row(i);
            let within = problem.evidence.within(i);
            let slope = inside * problem.divergence.derivative(within, inner(y, y));
            for (g, &y) in gradient.iter_mut().zip(y) {
                *g += slope * y;
            }
        }
        self.gradient = gradient;
    }

    /// Total weight of the pairs of one object of i.
    pub(crate) fn total(&self, problem: &Problem<'_>, i: usize) -> f64 {
        self.weights.iter().sum::<f64>() + problem.evidence.inside(i)
    }
}

/// The steepest exchange: the cluster to take from (largest gradient in the support), the one to
/// give to (smallest gradient), and by how much they differ.
pub(crate) fn steepest(gradient: &[f64], y: &[f64]) -> (usize, usize, f64) {
    let (mut from, mut to) = (usize::MAX, 0);
    for (k, (&g, &y)) in gradient.iter().zip(y).enumerate() {
        if y > 0.0 && (from == usize::MAX || g > gradient[from]) {
            from = k;
        }
        if g < gradient[to] {
            to = k;
        }
    }
    if from == usize::MAX {
        return (0, 0, 0.0);
    }
    (from, to, gradient[from] - gradient[to])
}

/// f(Y): the divergence summed over all pairs of objects.
pub(crate) fn objective(
    problem: &Problem<'_>,
    point: &Point,
    observer: &dyn Observer,
) -> Result<f64> {
    Ok(look(problem, point, (true, false), observer)?.0)
}

/// The relative optimality gap: the largest exchange gain of any object, `g[V] - g[U]`, over the
/// total weight of its pairs.
pub(crate) fn gap(problem: &Problem<'_>, point: &Point, observer: &dyn Observer) -> Result<f64> {
    Ok(look(problem, point, (false, true), observer)?.1)
}

/// The [`objective`] and the [`gap`].
pub(crate) fn assess(
    problem: &Problem<'_>,
    point: &Point,
    observer: &dyn Observer,
) -> Result<(f64, f64)> {
    look(problem, point, (true, true), observer)
}

/// The objective and the gap, each where it is asked for and 0 elsewhere.
fn look(
    problem: &Problem<'_>,
    point: &Point,
    (with_objective, with_gap): (bool, bool),
    observer: &dyn Observer,
) -> Result<(f64, f64)> {
    let stop = Stop::new(observer);
    let chunk = |rows: std::ops::Range<usize>| {
        let mut row = Row::default();
        let (mut sum, mut worst) = (0.0, 0.0f64);
        for i in rows {
            if stop.asked() {
                break;
            }
            row.load(problem, point, i);
            row.predict(point, point.row(i));
            if with_objective {
                sum += share(problem, point, &row, i);
            }
            if with_gap {
                row.differentiate(problem, point, i, false);
                let total = row.total(problem, i);
                if total > 0.0 {
                    worst = worst.max(steepest(&row.gradient, point.row(i)).2 / total);
                }
            }
        }
        (sum, worst)
    };
    let join = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1.max(b.1));
    let found = ordered_chunks(point.len(), CHUNK, chunk, (0.0, 0.0), join);
    stop.check()?;
    Ok(found)
}

/// What the pairs of the objects of i with those of larger number, and the pairs inside, add to the
/// objective.
fn share(problem: &Problem<'_>, point: &Point, row: &Row, i: usize) -> f64 {
    let evidence = problem.evidence;
    // Each pair once.
    let first = evidence.partners(i).map_or(i + 1, |p| p.partition_point(|&j| (j as usize) < i));
    let mut part = 0.0;
    for b in first..row.observed.len() {
        if row.weights[b] > 0.0 {
            part +=
                row.weights[b] * problem.divergence.value(row.observed[b], row.current[b].min(1.0));
        }
    }
    let inside = evidence.inside(i);
    if inside > 0.0 {
        let y = point.row(i);
        part += 0.5 * inside * problem.divergence.value(evidence.within(i), inner(y, y).min(1.0));
    }
    evidence.sizes()[i] as f64 * part
}
