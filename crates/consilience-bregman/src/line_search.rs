//! The primal line search of the paper: the steepest exchange between two clusters of one object,
//! again and again.

use consilience_core::{Observer, Result};
use rayon::prelude::*;

use crate::Line;
use crate::heap::IndexedHeap;
use crate::inside::Inside;
use crate::kernel;
use crate::point::{Point, Problem, Row, inner, steepest};
use crate::rounding::{Judged, is_steep};

/// Steps of the search along a line; each at least halves the interval every second time.
const STEPS: usize = 60;
/// The interval left, relative to the longest step, at which the search ends.
const WIDTH: f64 = 1e-10;
/// The derivative left, relative to that at the start, at which the search ends.
const FLAT: f64 = 1e-6;
/// Steps after which the gradient is computed afresh, in multiples of n: rounding adds up.
const REFRESH: usize = 16;
/// Numbers of a cache line.
const LINE: usize = 8;

/// Steps until the relative gap is at most `tolerance`, at most `most` of them; returns their
/// number and whether that was reached.
///
/// The queue is ordered by `(g_J[V] - g_J[U]) / W_J`, W_J being the weight of the pairs of an
/// object. Where all pairs weigh the same that is the paper's order; elsewhere it is what lets the
/// top of the queue tell when to stop, whatever the sizes of the microclusters.
pub(crate) fn solve(
    problem: &Problem<'_>,
    point: &mut Point,
    tolerance: f64,
    most: usize,
    observer: &dyn Observer,
) -> Result<(usize, bool)> {
    // Loops over few clusters are unrolled.
    match problem.clusters {
        2 => run::<2>(problem, point, tolerance, most, observer),
        3 => run::<3>(problem, point, tolerance, most, observer),
        4 => run::<4>(problem, point, tolerance, most, observer),
        _ => run::<0>(problem, point, tolerance, most, observer),
    }
}

/// [`solve`] for K clusters, or any number of them where K is 0.
fn run<const K: usize>(
    problem: &Problem<'_>,
    point: &mut Point,
    tolerance: f64,
    most: usize,
    observer: &dyn Observer,
) -> Result<(usize, bool)> {
    let n = point.len();
    let mut search = Search::<K>::new(problem, n);
    let mut steps = 0;
    let refresh = n.saturating_mul(REFRESH).max(1000);
    loop {
        let worst = search.nodes.compute(problem, point);
        observer.check()?;
        if worst <= tolerance {
            return Ok((steps, true));
        }
        let bounds = (0..n).map(|i| search.nodes.parts(i).bound).collect();
        let mut heap = IndexedHeap::new(bounds);
        let (before, mut stuck) = (steps, 0);
        while steps - before < refresh {
            if steps >= most {
                return Ok((steps, false));
            }
            let Some((i, bound)) = heap.top() else { break };
            if bound <= tolerance {
                break;
            }
            let node = search.nodes.parts(i);
            let (from, to, gain) = steepest(node.gradient, node.y);
            let key = gain * node.scale;
            if key < bound {
                search.nodes.bind(i, key);
                heap.update(i, key);
                continue;
            }
            if steps % 1024 == 0 {
                observer.check()?;
                observer.progress("line searches", steps, most);
            }
            steps += 1;
            stuck += usize::from(!search.exchange(point, i, (from, to), &mut heap));
        }
        if steps - before == stuck {
            return Ok((steps, false));
        }
    }
}

/// The state of a search, and buffers for one step.
struct Search<'a, const K: usize> {
    problem: &'a Problem<'a>,
    /// Rounding of v counts near its ends.
    steep: bool,
    nodes: Nodes<K>,
    row: Row,
    old: Vec<f64>,
    new: Vec<f64>,
    own: Vec<f64>,
    after: Vec<f64>,
}

impl<'a, const K: usize> Search<'a, K> {
    fn new(problem: &'a Problem<'a>, n: usize) -> Self {
        let k = if K > 0 { K } else { problem.clusters };
        Search {
            problem,
            steep: is_steep(problem.divergence),
            nodes: Nodes::new(n, k),
            row: Row::default(),
            old: vec![0.0; k],
            new: vec![0.0; k],
            own: vec![0.0; k],
            after: Vec::new(),
        }
    }

    /// The best step of object i from one cluster to another; returns whether there is any.
    fn exchange(
        &mut self,
        point: &mut Point,
        i: usize,
        (from, to): (usize, usize),
        heap: &mut IndexedHeap,
    ) -> bool {
        let Search { problem, steep, nodes, row, old, new, own, after } = self;
        old.copy_from_slice(nodes.parts(i).y);
        let partners = row.read(problem, i);
        nodes.predict(partners, old, (from, to), row);
        let mut step = along(problem, i, old, (from, to), row);
        if *steep {
            step = certain(problem, point, (i, from, to), step, row, new);
        }
        if !(step > 0.0) {
            // As good as optimal: rounding leaves no step.
            nodes.bind(i, 0.0);
            heap.update(i, 0.0);
            return false;
        }
        exchanged(old, (from, to), step, new);
        // The derivative at v of each partner, before and after.
        after.resize(row.current.len(), 0.0);
        problem.divergence.derivatives(&row.observed, &row.current, &mut row.first);
        kernel::shift(&row.current, step, &row.slopes, &mut row.moved);
        problem.divergence.derivatives(&row.observed, &row.moved, after);
        own.fill(0.0);
        let (weights, before) = (&row.weights, &row.first);
        let exchange = Exchange { i, partners, weights, before, after, old, new };
        nodes.spread(problem, &exchange, own, heap);
        point.set(i, new);
        let inside = problem.evidence.inside(i);
        if inside > 0.0 {
            let within = problem.evidence.within(i);
            let slope = inside * problem.divergence.derivative(within, inner(new, new));
            own.iter_mut().zip(&*new).for_each(|(g, y)| *g += slope * y);
        }
        let key = nodes.set(i, new, own);
        heap.update(i, key);
        true
    }
}

/// A step of object i: its memberships before and after, and for each of its pairs the weight and
/// the derivative of the divergence before and after.
struct Exchange<'a> {
    i: usize,
    /// The other objects where these are not all.
    partners: Option<&'a [u32]>,
    weights: &'a [f64],
    before: &'a [f64],
    after: &'a [f64],
    old: &'a [f64],
    new: &'a [f64],
}

/// What the search knows of each object, side by side, so that a step reads each partner at one
/// place in memory: its memberships, its gradient (per object of the microcluster), the inverse
/// weight of its pairs, and a bound on its priority, which is what the queue holds.
///
/// The bound stays when the priority falls, and the queue is left alone. What comes to its top with
/// a bound that is too high goes back with the right one, so that the order of the steps is that of
/// a queue that is always up to date.
struct Nodes<const K: usize> {
    clusters: usize,
    stride: usize,
    start: usize,
    cells: Vec<f64>,
}

struct Node<'a> {
    y: &'a [f64],
    gradient: &'a [f64],
    scale: f64,
    bound: f64,
}

impl<const K: usize> Nodes<K> {
    fn new(n: usize, clusters: usize) -> Self {
        // Whole cache lines, from the start of one on.
        let stride = (2 * clusters + 2).next_multiple_of(LINE);
        let cells = vec![0.0f64; n * stride + LINE];
        let start = cells.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        Nodes { clusters, stride, start, cells }
    }

    #[inline(always)]
    fn k(&self) -> usize {
        if K > 0 { K } else { self.clusters }
    }

    #[inline(always)]
    fn stride(&self) -> usize {
        if K > 0 { (2 * K + 2).next_multiple_of(LINE) } else { self.stride }
    }

    #[inline(always)]
    fn parts(&self, i: usize) -> Node<'_> {
        let (k, stride) = (self.k(), self.stride());
        let cells = &self.cells[self.start + i * stride..][..stride];
        Node {
            y: &cells[..k],
            gradient: &cells[k..2 * k],
            scale: cells[2 * k],
            bound: cells[2 * k + 1],
        }
    }

    /// Everything from the memberships; returns the relative gap.
    fn compute(&mut self, problem: &Problem<'_>, point: &Point) -> f64 {
        let (k, stride, n) = (self.k(), self.stride(), point.len());
        let compute = |row: &mut Row, (i, cells): (usize, &mut [f64])| {
            row.load(problem, point, i);
            row.predict(point, point.row(i));
            row.differentiate(problem, point, i, false);
            let total = row.total(problem, i);
            cells[..k].copy_from_slice(point.row(i));
            cells[k..2 * k].copy_from_slice(&row.gradient);
            let scale = if total > 0.0 { 1.0 / total } else { 0.0 };
            cells[2 * k] = scale;
            cells[2 * k + 1] = steepest(&row.gradient, point.row(i)).2 * scale;
        };
        let cells = &mut self.cells[self.start..][..n * stride];
        cells.par_chunks_mut(stride).enumerate().for_each_init(Row::default, compute);
        (0..n).map(|i| self.parts(i).bound).fold(0.0, f64::max)
    }

    fn bind(&mut self, i: usize, bound: f64) {
        let at = self.start + i * self.stride() + 2 * self.k() + 1;
        self.cells[at] = bound;
    }

    /// New memberships and gradient of i; returns the priority.
    fn set(&mut self, i: usize, y: &[f64], gradient: &[f64]) -> f64 {
        let (k, stride) = (self.k(), self.stride());
        let cells = &mut self.cells[self.start + i * stride..][..stride];
        cells[..k].copy_from_slice(y);
        cells[k..2 * k].copy_from_slice(gradient);
        cells[2 * k + 1] = steepest(gradient, y).2 * cells[2 * k];
        cells[2 * k + 1]
    }

    /// v of all partners, and its change per unit moved from one cluster to another.
    fn predict(
        &self,
        partners: Option<&[u32]>,
        y: &[f64],
        (from, to): (usize, usize),
        row: &mut Row,
    ) {
        let k = self.k();
        let y = &y[..k];
        for (b, (v, slope)) in row.current.iter_mut().zip(&mut row.slopes).enumerate() {
            let other = self.parts(partners.map_or(b, |p| p[b] as usize)).y;
            *v = inner(y, other);
            *slope = other[to] - other[from];
        }
    }

    /// Updates the gradients of the partners, and adds up that of the object itself.
    fn spread(
        &mut self,
        problem: &Problem<'_>,
        exchange: &Exchange<'_>,
        own: &mut [f64],
        heap: &mut IndexedHeap,
    ) {
        let (k, stride) = (self.k(), self.stride());
        let i = exchange.i;
        let (old, new, own) = (&exchange.old[..k], &exchange.new[..k], &mut own[..k]);
        let pairs = exchange.weights.iter().zip(exchange.before.iter().zip(exchange.after));
        for (b, (&weight, (&before, &after))) in pairs.enumerate() {
            if weight == 0.0 {
                continue;
            }
            let j = exchange.partners.map_or(b, |p| p[b] as usize);
            let cells = &mut self.cells[self.start + j * stride..][..stride];
            let (y, rest) = cells.split_at_mut(k);
            let (gradient, rest) = rest.split_at_mut(k);
            let back = weight * problem.evidence.turned(i, j);
            let (mut high, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
            for c in 0..k {
                own[c] += weight * after * y[c];
                gradient[c] += back * (after * new[c] - before * old[c]);
                high = high.max(if y[c] > 0.0 { gradient[c] } else { f64::NEG_INFINITY });
                low = low.min(gradient[c]);
            }
            let key = (high - low) * rest[0];
            if key > rest[1] {
                rest[1] = key;
                heap.update(j, rest[1]);
            }
        }
    }
}

/// Memberships with some moved from one cluster to another.
fn exchanged(old: &[f64], (from, to): (usize, usize), step: f64, new: &mut [f64]) {
    new.copy_from_slice(old);
    if step >= old[from] {
        new[from] = 0.0;
    } else {
        new[from] -= step;
    }
    new[to] += step;
}

/// A step of object i from one cluster to another, halved until the objective falls also where
/// `row` has no more than the rounding of v ([`Judged`]); 0 where it never does.
fn certain(
    problem: &Problem<'_>,
    point: &Point,
    (i, from, to): (usize, usize, usize),
    mut step: f64,
    row: &mut Row,
    new: &mut [f64],
) -> f64 {
    let old = point.row(i);
    let inside = Inside::of(problem, i, old);
    // From one cluster to another: d'd is 2.
    let along = (old[to] - old[from], 2.0);
    for _ in 0..STEPS {
        if !(step > 0.0) {
            break;
        }
        exchanged(old, (from, to), step, new);
        match (Judged { i, step, inside, along }).change(problem, point, row, new) {
            None => return step,
            Some(change) if change <= 0.0 => return step,
            Some(_) => step *= 0.5,
        }
    }
    0.0
}

/// The step from one cluster to another that minimizes the objective of object i, at most what it
/// has of the first; `row` holds its pairs with their predictions.
///
/// Pairs inside a microcluster are not convex along the line: what stands in their place bounds
/// them from above and touches at step 0, so that the objective still never rises ([`Inside`]).
fn along(
    problem: &Problem<'_>,
    i: usize,
    y: &[f64],
    (from, to): (usize, usize),
    row: &mut Row,
) -> f64 {
    let room = y[from];
    let inside = Inside::of(problem, i, y);
    if inside.weight > 0.0 && inside.observed < 1.0 {
        return search(problem, row, room, Some((inside, y[to] - y[from])));
    }
    let tangent = 2.0 * (y[to] - y[from]);
    let pairs = row.observed.len();
    if inside.weight > 0.0 {
        // One more term: half of the pairs inside, whose v has the tangent for its slope.
        row.observed.push(inside.observed);
        row.current.push(inside.norm);
        row.slopes.push(tangent);
        row.weights.push(0.5 * inside.weight);
        row.moved.push(0.0);
        row.first.push(0.0);
        row.second.push(0.0);
    }
    let line = Line {
        observed: &row.observed,
        current: &row.current,
        slopes: &row.slopes,
        weights: &row.weights,
    };
    let step = match problem.divergence.exact_step(&line) {
        Some(step) => step.min(room),
        None => search(problem, row, room, None),
    };
    for buffer in [
        &mut row.observed,
        &mut row.current,
        &mut row.slopes,
        &mut row.weights,
        &mut row.moved,
        &mut row.first,
        &mut row.second,
    ] {
        buffer.truncate(pairs);
    }
    step
}

/// A zero of the derivative rho in `0..=room`, or `room` where it is still negative there: Newton
/// steps, bisection where they leave the interval or hardly narrow it. Ends on the side where rho
/// is not positive. `own` are pairs inside of the microcluster, and d'y, where these are no tangent
/// alone.
fn search(problem: &Problem<'_>, row: &mut Row, room: f64, own: Option<(Inside, f64)>) -> f64 {
    let mut derivatives = |step: f64, second: bool| {
        kernel::shift(&row.current, step, &row.slopes, &mut row.moved);
        if second {
            problem.divergence.both_derivatives(
                &row.observed,
                &row.moved,
                &mut row.first,
                &mut row.second,
            );
            kernel::scale(&mut row.second, &row.slopes);
        } else {
            problem.divergence.derivatives(&row.observed, &row.moved, &mut row.first);
        }
        let mut rho = kernel::triple(&row.first, &row.slopes, &row.weights);
        let mut bend =
            if second { kernel::triple(&row.second, &row.slopes, &row.weights) } else { 0.0 };
        if let Some((inside, along)) = own {
            // From one cluster to another: d'd is 2.
            rho += inside.slope(problem.divergence, step, along, 2.0);
            if second {
                bend += inside.bend(problem.divergence, step, along, 2.0);
            }
        }
        (rho, bend)
    };
    let (start, bend) = derivatives(0.0, true);
    if !(start < 0.0) {
        return 0.0;
    }
    if derivatives(room, false).0 <= 0.0 {
        return room;
    }
    let (mut low, mut high) = (0.0, room);
    let (mut at, mut rho, mut bend) = (0.0, start, bend);
    for round in 0..STEPS {
        // A little short of the zero, so that the step ends on the side of descent.
        let newton = at - (rho - 0.5 * FLAT * start) / bend;
        at = if newton > low && newton < high && round % 4 != 3 {
            newton
        } else {
            0.5 * (low + high)
        };
        (rho, bend) = derivatives(at, true);
        if rho <= 0.0 {
            low = at;
            if rho >= FLAT * start {
                break;
            }
        } else {
            high = at;
        }
        if high - low <= WIDTH * room {
            break;
        }
    }
    low
}
