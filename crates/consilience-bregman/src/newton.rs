//! Newton steps on whole columns, many columns at once.
//!
//! With all other memberships fixed the objective is convex in the K entries of one object. A
//! second-order model of it on the simplex gives a direction; derivatives at half and full step
//! prove the descent without evaluating the divergence. Objects of one chunk move at once, in
//! parallel; where moves of one chunk touch each other, the pairs between them are evaluated, and a
//! move that would lose is computed afresh.

use std::sync::Mutex;

use consilience_core::{Observer, Result, Stop};
use rayon::prelude::*;

use crate::inside::{Inside, slope};
use crate::kernel;
use crate::point::{self, Point, Problem, Row, inner, steepest};
use crate::quadratic::minimize;
use crate::rounding::{Judged, is_steep};

/// Most halvings of a step.
const HALVINGS: usize = 40;
/// Least work of a parallel task, in multiplications: for less, starting the task costs more.
const TASK_WORK: usize = 200_000;

/// What became of one object.
#[derive(Clone, Copy, Default)]
struct Move {
    /// Exchange gain over the weight of its pairs, before the move.
    gap: f64,
    /// The objective changes by at most this, the others staying as they are.
    bound: f64,
    moved: bool,
}

#[derive(Default)]
struct Scratch {
    row: Row,
    clusters: Vec<usize>,
    hessian: Vec<f64>,
    direction: Vec<f64>,
    residual: Vec<f64>,
}

/// Sweeps over all objects until the gap is at most `tolerance`, at most `most` times; returns
/// their number and whether that was reached.
pub(crate) fn solve(
    problem: &Problem<'_>,
    point: &mut Point,
    tolerance: f64,
    most: usize,
    observer: &dyn Observer,
) -> Result<(usize, bool)> {
    let n = point.len();
    let k = problem.clusters;
    let stop = Stop::new(observer);
    let newton = Newton { problem, tolerance, steep: is_steep(problem.divergence), stop: &stop };
    let chunk = chunk_len(problem, n);
    let threads = rayon::current_num_threads();
    let pool: Vec<Mutex<Scratch>> = (0..threads + 1).map(|_| Mutex::default()).collect();
    // A poisoned buffer is as good as a new one.
    let buffer = |at: usize| pool[at].lock().unwrap_or_else(|e| e.into_inner());
    let mut moves = vec![Move::default(); chunk];
    let mut next = vec![0.0; chunk * k];
    for sweep in 0..most {
        let mut worst = 0.0f64;
        for first in (0..n).step_by(chunk) {
            stop.check()?;
            let len = chunk.min(n - first);
            let jobs = next[..len * k].par_chunks_mut(k).zip(&mut moves[..len]).enumerate();
            let work = |(c, (out, outcome)): (usize, (&mut [f64], &mut Move))| {
                // No other thread has this number.
                let mine = rayon::current_thread_index().unwrap_or(threads).min(threads);
                *outcome = newton.improve(point, first + c, chunk > 1, out, &mut buffer(mine));
            };
            let cost = problem.evidence.row_len(first).max(1) * k * (k + 4);
            jobs.with_min_len((TASK_WORK / cost).max(1)).for_each(work);
            worst = moves[..len].iter().fold(worst, |w, m| w.max(m.gap));
            let (moves, next) = (&mut moves[..len], &mut next[..len * k]);
            newton.accept(point, first, moves, next, &mut buffer(threads));
        }
        stop.check()?;
        observer.progress("sweeps", sweep + 1, most);
        // The gaps were those before the moves of this sweep, which may have opened others.
        if worst <= tolerance && point::gap(problem, point, observer)? <= tolerance {
            return Ok((sweep + 1, true));
        }
    }
    Ok((most, false))
}

/// Objects that move at once: few enough that they hardly depend on each other.
fn chunk_len(problem: &Problem<'_>, n: usize) -> usize {
    let most = if problem.evidence.is_dense() { 64 } else { 4096 };
    (n / 32).clamp(1, most)
}

struct Newton<'a> {
    problem: &'a Problem<'a>,
    tolerance: f64,
    /// Rounding of v counts near its ends.
    steep: bool,
    stop: &'a Stop<'a>,
}

impl Newton<'_> {
    /// Applies the moves of a chunk to the point, one after the other; where moves of the chunk
    /// touch each other so that one would lose, it is computed again.
    fn accept(
        &self,
        point: &mut Point,
        first: usize,
        moves: &mut [Move],
        next: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let k = self.problem.clusters;
        // Memberships before the chunk moved; `point` gets the new ones one by one.
        let before: Vec<f64> =
            (first..first + moves.len()).flat_map(|i| point.row(i).to_vec()).collect();
        for c in 0..moves.len() {
            if !moves[c].moved {
                continue;
            }
            let i = first + c;
            let change = self.change(point, first, c, moves, &before, next);
            let out = &mut next[c * k..(c + 1) * k];
            if !(change <= 0.0) {
                moves[c].moved = self.improve(point, i, false, out, scratch).moved;
            }
            if moves[c].moved {
                point.set(i, out);
            }
        }
    }

    /// By how much the objective changes at most where object `first + c` moves after those of its
    /// chunk that come before it.
    fn change(
        &self,
        point: &Point,
        first: usize,
        c: usize,
        moves: &[Move],
        before: &[f64],
        next: &[f64],
    ) -> f64 {
        let problem = self.problem;
        let of = |c: usize| c * problem.clusters..(c + 1) * problem.clusters;
        let value = |u: f64, a: &[f64], b: &[f64]| problem.price(u, inner(a, b));
        let i = first + c;
        let mut change = moves[c].bound;
        let mut touch = |other: usize| {
            if !moves[other].moved {
                return;
            }
            let Some((u, weight)) = problem.evidence.pair(i, first + other) else { return };
            let (old, new) = (&before[of(c)], &next[of(c)]);
            let (other_old, other_new) = (&before[of(other)], point.row(first + other));
            change += weight
                * ((value(u, new, other_new) - value(u, old, other_new))
                    - (value(u, new, other_old) - value(u, old, other_old)));
        };
        match problem.evidence.partners(i) {
            None => (0..c).for_each(&mut touch),
            Some(partners) => {
                let from = partners.partition_point(|&j| (j as usize) < first);
                let in_chunk = partners[from..].iter().take_while(|&&j| (j as usize) < i);
                in_chunk.for_each(|&j| touch(j as usize - first));
            }
        }
        change
    }

    /// A better membership of object i in `out`, all others staying as they are; none where
    /// somebody asks to stop. Where `bounded`, the move says by how much the objective falls.
    fn improve(
        &self,
        point: &Point,
        i: usize,
        bounded: bool,
        out: &mut [f64],
        scratch: &mut Scratch,
    ) -> Move {
        if self.stop.asked() {
            return Move::default();
        }
        let problem = self.problem;
        let y = point.row(i);
        let row = &mut scratch.row;
        row.load(problem, point, i);
        let total = row.total(problem, i);
        if !(total > 0.0) {
            return Move::default();
        }
        row.predict(point, y);
        row.differentiate(problem, point, i, true);
        let gap = steepest(&row.gradient, y).2 / total;
        let stay = Move { gap, bound: 0.0, moved: false };
        if !(gap > 0.1 * self.tolerance) {
            return stay;
        }
        let inside = Inside::of(problem, i, y);
        self.model(point, y, inside, scratch);
        if self.stop.asked() {
            return stay;
        }
        let Scratch { row, clusters, hessian, direction, residual } = scratch;
        if !minimize(&row.gradient, hessian, clusters, y, out, residual) {
            return stay;
        }
        direction.clear();
        direction.extend(out.iter().zip(y).map(|(z, y)| z - y));
        row.direct(point, direction);
        let Some(change) = self.advance(point, i, inside, bounded, out, scratch) else {
            return stay;
        };
        let size = problem.evidence.sizes()[i] as f64;
        Move { gap, bound: size * change, moved: true }
    }

    /// From the memberships of object i along the direction, at whose end is `out`, as far as the
    /// objective falls; returns by how much it changes at most, `None` where it never falls.
    fn advance(
        &self,
        point: &Point,
        i: usize,
        inside: Inside,
        bounded: bool,
        out: &mut [f64],
        scratch: &mut Scratch,
    ) -> Option<f64> {
        let y = point.row(i);
        let Scratch { row, direction, .. } = scratch;
        let along = (inner(direction, y), inner(direction, direction));
        let mut longest = 1.0;
        for _ in 0..HALVINGS {
            let (step, change) = self.descend(row, inside, along, longest, bounded)?;
            if step < 1.0 {
                for (o, (&y, d)) in out.iter_mut().zip(y.iter().zip(direction.iter())) {
                    *o = y + step * d;
                }
            }
            normalize(out);
            if !self.steep {
                return Some(change);
            }
            match (Judged { i, step, inside, along }).change(self.problem, point, row, out) {
                None => return Some(change),
                Some(change) if change <= 0.0 => return Some(change),
                Some(_) => longest = 0.5 * step,
            }
        }
        None
    }

    /// The clusters that may change, those in the support and those better than the present mean,
    /// and the second derivatives between them.
    fn model(&self, point: &Point, y: &[f64], inside: Inside, scratch: &mut Scratch) {
        let Scratch { row, clusters, hessian, .. } = scratch;
        let mean = inner(&row.gradient, y);
        clusters.clear();
        clusters.extend((0..y.len()).filter(|&c| y[c] > 0.0 || row.gradient[c] < mean));
        let f = clusters.len();
        hessian.clear();
        hessian.resize(f * f, 0.0);
        kernel::gram(row.panel(point), &row.second, clusters, hessian, self.stop);
        // The pairs inside a microcluster are not convex in y: see `Inside`.
        if inside.weight > 0.0 {
            let divergence = self.problem.divergence;
            let curvature = divergence.curvature(inside.observed, inside.norm);
            let bend = 2.0 * inside.weight * curvature;
            if inside.norm > inside.observed {
                let rise = divergence.derivative(inside.observed, inside.norm.min(1.0)).max(0.0);
                (0..f).for_each(|a| hessian[a * f + a] += inside.weight * rise);
            }
            for (a, &ca) in clusters.iter().enumerate() {
                for (b, &cb) in clusters.iter().enumerate() {
                    hessian[a * f + b] += bend * y[ca] * y[cb];
                }
            }
        }
        let ridge = 1e-9 * (0..f).map(|a| hessian[a * f + a]).sum::<f64>() / f as f64;
        (0..f).for_each(|a| hessian[a * f + a] += ridge);
    }

    /// The step along a direction and by how much the objective changes at most: the longest
    /// allowed, or halved until it descends; `None` where it never does.
    ///
    /// Along the direction the derivative never falls. So the objective changes by at most the step
    /// times the mean of the derivatives at half and at full step.
    fn descend(
        &self,
        row: &mut Row,
        inside: Inside,
        along: (f64, f64),
        longest: f64,
        bounded: bool,
    ) -> Option<(f64, f64)> {
        let mut slope = |step: f64| slope(self.problem.divergence, row, inside, along, step);
        let mut step = longest;
        let mut end = slope(step);
        for _ in 0..HALVINGS {
            if !bounded && end <= 0.0 {
                return Some((step, 0.0));
            }
            let middle = slope(0.5 * step);
            if middle + end <= 0.0 {
                let change = 0.5 * step * (middle + end);
                return (change <= 0.0).then_some((step, change));
            }
            (step, end) = (0.5 * step, middle);
        }
        None
    }
}

/// Keeps rounding from adding up over many steps.
fn normalize(y: &mut [f64]) {
    let sum: f64 = y.iter().map(|v| v.max(0.0)).sum();
    y.iter_mut().for_each(|v| *v = v.max(0.0) / sum);
}
