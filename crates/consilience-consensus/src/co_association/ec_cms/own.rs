//! The iteration on the pairs inside one group, where links are.

use consilience_core::{Observer, Result};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;

use crate::co_association::confidence::product;

use super::tile::{
    C, CHANGE, F, FREE, Operator, Penalty, Sums, TASK, Y1, Y2, add_rows, shaped, upper,
};

/// C within a group. Objects of one node are alike except that each is itself: an entry of a node
/// with itself stands for two of its objects, and `selves` for an object with itself, whose pair is
/// not linked. What an object has beyond its node's mean sums to 0 within the node, and the inverse
/// only scales it.
pub(super) struct Own<'a> {
    group: &'a Operator,
    a: Array2<f64>,
    points: Vec<Point>,
    selves: Vec<Point>,
    /// Whether a round was made.
    started: bool,
}

/// C, F, Y1 and Y2 of one pair; A of an object with itself is 1.
#[derive(Clone, Copy, Default)]
pub(super) struct Point {
    pub(super) c: f64,
    pub(super) f: f64,
    pub(super) y1: f64,
    pub(super) y2: f64,
}

impl Point {
    /// After a round with a new C, of which `back` is the transposed C + Y2; with Y1 in parts of
    /// A - C + Y1.
    pub(super) fn next(self, a: f64, c: f64, back: f64, keep: f64) -> Self {
        let z = c + self.y2;
        let f = (0.5 * (z + back)).clamp(0.0, 1.0);
        Point { c, f, y1: keep * (a - c + self.y1), y2: z - f }
    }

    /// (A - E + Y1) + (F - Y2), with Y1 - E in parts of Y1.
    pub(super) fn right(self, a: f64, rest: f64) -> f64 {
        a + rest * self.y1 + (self.f - self.y2)
    }

    pub(super) fn add(self, last: Self, weight: f64, linked: bool, sums: &mut Sums) {
        let square = |x: f64| weight * x * x;
        let values = [(C, self.c, last.c), (F, self.f, last.f), (Y2, self.y2, last.y2)];
        for (at, new, old) in values {
            sums[at] += square(new);
            sums[CHANGE + at] += square(new - old);
        }
        let (norm, change) = (square(self.y1), square(self.y1 - last.y1));
        sums[Y1] += norm;
        sums[CHANGE + Y1] += change;
        if !linked {
            sums[FREE] += norm;
            sums[FREE + 1] += change;
        }
    }
}

impl<'a> Own<'a> {
    pub(super) fn new(group: &'a Operator, a: ArrayView2<'_, f64>) -> Self {
        let b = group.nodes.len();
        let at = |(i, j): (usize, usize)| upper(a, group.nodes[i], group.nodes[j]);
        let a = Array2::from_shape_fn((b, b), at);
        let start = |&a: &f64| Point { y1: a, ..Point::default() };
        let (points, selves) = (a.iter().map(start).collect(), vec![start(&1.0); b]);
        Own { group, a, points, selves, started: false }
    }

    /// Runs so many more rounds, with the sums of each.
    pub(super) fn advance(
        &mut self,
        penalty: Penalty,
        sums: &mut [Sums],
        observer: &dyn Observer,
    ) -> Result<()> {
        let b = self.group.nodes.len();
        let (mut r, mut new) = (vec![0.0; b * b], vec![0.0; b * b]);
        let mut rows = vec![[0.0; 10]; b];
        for total in sums {
            observer.check()?;
            let beyond = self.right_hand_side(&mut r, penalty);
            match &self.group.inverse {
                Some(q) => {
                    let out = shaped(ArrayViewMut2::from_shape((b, b), &mut new))?;
                    let r = shaped(ArrayView2::from_shape((b, b), &r))?;
                    product(out, q.view(), r, observer)?;
                }
                None => new.iter_mut().zip(&r).for_each(|(o, r)| *o = 0.5 * r),
            }
            self.step(&mut new, &beyond, penalty, &mut rows);
            add_rows(total, &rows);
            self.started = true;
        }
        Ok(())
    }

    /// C, averaged with its transpose.
    pub(super) fn averaged(&self) -> Vec<f64> {
        let b = self.group.nodes.len();
        let c = |i: usize, j: usize| self.points[i * b + j].c;
        (0..b * b).map(|at| 0.5 * (c(at / b, at % b) + c(at % b, at / b))).collect()
    }

    /// The right-hand side on what is constant within nodes, and what each object has beyond.
    fn right_hand_side(&self, r: &mut [f64], penalty: Penalty) -> Vec<f64> {
        let b = self.group.nodes.len();
        let rows = r.par_chunks_mut(b).zip(self.points.par_chunks(b)).enumerate();
        rows.with_min_len(1 + TASK / b).for_each(|(i, (r, points))| {
            for (j, (r, point)) in r.iter_mut().zip(points).enumerate() {
                let a = self.a[[i, j]];
                let rest = if self.group.links[[i, j]] > 0.0 { 1.0 } else { penalty.rest };
                *r = if self.started { point.right(a, rest) } else { 2.0 * a };
            }
        });
        let beyond = |(i, point): (usize, &Point)| {
            let own = if self.started { point.right(1.0, penalty.rest) } else { 2.0 };
            own - r[i * b + i]
        };
        let beyond: Vec<f64> = self.selves.iter().enumerate().map(beyond).collect();
        for (i, d) in beyond.iter().enumerate() {
            r[i * b + i] += d / self.group.sizes[i];
        }
        beyond
    }

    /// C of each object with itself, and with others of its node on the diagonal.
    fn itself(&self, new: &mut [f64], beyond: &[f64]) -> Vec<f64> {
        let b = beyond.len();
        let of = |(i, d): (usize, &f64)| {
            let (size, own) = (self.group.sizes[i], &mut new[i * b + i]);
            if size == 1.0 {
                return *own;
            }
            *own -= d * self.group.within[i] / size;
            *own + d * self.group.within[i]
        };
        beyond.iter().enumerate().map(of).collect()
    }

    fn step(&mut self, new: &mut [f64], beyond: &[f64], penalty: Penalty, rows: &mut [Sums]) {
        let b = beyond.len();
        let itself = self.itself(new, beyond);
        let z: Vec<f64> = new.iter().zip(&self.points).map(|(c, point)| c + point.y2).collect();
        let (sizes, links, a, new) = (&self.group.sizes, &self.group.links, &self.a, &*new);
        self.points
            .par_chunks_mut(b)
            .zip(rows.par_iter_mut().zip(&mut self.selves))
            .enumerate()
            .with_min_len(1 + TASK / b)
            .for_each(|(i, (points, (sums, own)))| {
                *sums = [0.0; 10];
                for (j, point) in points.iter_mut().enumerate() {
                    let linked = links[[i, j]] > 0.0;
                    let keep = if linked { 1.0 } else { penalty.keep };
                    let next = point.next(a[[i, j]], new[i * b + j], z[j * b + i], keep);
                    let others = if i == j { sizes[i] - 1.0 } else { sizes[j] };
                    next.add(*point, sizes[i] * others, linked, sums);
                    *point = next;
                }
                let back = itself[i] + own.y2;
                let next = own.next(1.0, itself[i], back, penalty.keep);
                next.add(*own, sizes[i], false, sums);
                *own = next;
            });
    }
}
