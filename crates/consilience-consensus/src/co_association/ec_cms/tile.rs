//! The iteration on one pair of groups of the graph of high confidence, which no other pair
//! touches.

use std::ops::Range;

use consilience_core::{Error, Observer, Result};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::co_association::confidence::product;
use crate::co_association::lanes::LANES;
use crate::co_association::small::{FEW, Small, Terms, block_extents, row_extents};

/// Values of one task at least.
pub(super) const TASK: usize = 1 << 15;

/// Squared norms, over objects: of C, F, Y1, Y2 after a round, of their changes in it, and the two
/// of Y1 on pairs that are not linked.
pub(super) type Sums = [f64; 10];
pub(super) const C: usize = 0;
pub(super) const F: usize = 1;
pub(super) const Y1: usize = 2;
pub(super) const Y2: usize = 3;
/// From a norm to that of the change.
pub(super) const CHANGE: usize = 4;
/// Y1 on pairs that are not linked.
pub(super) const FREE: usize = 8;

/// What the rounds need of a group.
pub(super) struct Operator {
    pub(super) nodes: Vec<usize>,
    pub(super) sizes: Vec<f64>,
    /// Links, 0 where there are none; 1 on the diagonal, for the pairs inside a node.
    pub(super) links: Array2<f64>,
    /// (2 Phi + 2 I)^-1; without links a half.
    pub(super) inverse: Option<Array2<f64>>,
    /// What that inverse does to what sums to 0 within a node.
    pub(super) within: Vec<f64>,
}

/// How Y1 goes on, by lambda.
#[derive(Clone, Copy)]
pub(super) struct Penalty {
    /// Y1 after a round, in parts of A - C + Y1.
    pub(super) keep: f64,
    /// Y1 - E in parts of Y1.
    pub(super) rest: f64,
}

impl Penalty {
    pub(super) fn new(lambda: f64) -> Self {
        Penalty { keep: lambda / (lambda + 1.0), rest: 1.0 - 1.0 / lambda }
    }
}

/// Adds up the sums of rows in their order.
pub(super) fn add_rows(total: &mut Sums, rows: &[Sums]) {
    for row in rows {
        total.iter_mut().zip(row).for_each(|(t, r)| *t += r);
    }
}

/// Two different groups without links between them: C of the one to the other, and back, the latter
/// transposed.
pub(super) struct Pair<'a> {
    left: &'a Operator,
    right: &'a Operator,
    /// Row length with the zeros at its end.
    width: usize,
    a: Vec<f64>,
    /// Of each row: F, then C, Y1, Y2 there, then C, Y1, Y2 back. Y1 starts at A.
    state: Vec<f64>,
    right_sizes: Vec<f64>,
    /// Whether a round was made.
    started: bool,
}

impl<'a> Pair<'a> {
    pub(super) fn new(left: &'a Operator, right: &'a Operator, a: ArrayView2<'_, f64>) -> Self {
        let (b, c) = (left.nodes.len(), right.nodes.len());
        let width = c.next_multiple_of(LANES);
        let mut values = vec![0.0; b * width];
        for (row, &i) in values.chunks_mut(width).zip(&left.nodes) {
            row.iter_mut().zip(&right.nodes).for_each(|(v, &j)| *v = upper(a, i, j));
        }
        let mut right_sizes = right.sizes.clone();
        right_sizes.resize(width, 0.0);
        let mut state = vec![0.0; 7 * b * width];
        for (state, a) in state.chunks_mut(7 * width).zip(values.chunks(width)) {
            state[2 * width..3 * width].copy_from_slice(a);
            state[5 * width..6 * width].copy_from_slice(a);
        }
        Pair { left, right, width, a: values, state, right_sizes, started: false }
    }

    /// Runs so many more rounds, with the sums of each.
    pub(super) fn advance(
        &mut self,
        penalty: Penalty,
        sums: &mut [Sums],
        observer: &dyn Observer,
    ) -> Result<()> {
        let (b, c, w) = (self.left.nodes.len(), self.right.nodes.len(), self.width);
        let (mut r, mut there, mut back) = (vec![0.0; b * w], vec![0.0; b * w], vec![0.0; b * w]);
        let mut rows = vec![[0.0; 10]; b];
        let transposed = self.transposed();
        let (of_rows, of_columns) = (self.parts(), block_extents(&transposed, w));
        for total in sums {
            observer.check()?;
            self.right_hand_side(&mut r, 1, penalty);
            match &self.left.inverse {
                Some(q) if b <= FEW && q.is_standard_layout() => {
                    let a = q.as_slice().unwrap_or_default();
                    let terms = Terms::OfRows(&of_rows);
                    Small { a, inner: b, b: &r, width: w, terms }.put_into(&mut there);
                }
                Some(q) => {
                    let out = shaped(ArrayViewMut2::from_shape((b, w), &mut there))?;
                    let r = shaped(ArrayView2::from_shape((b, w), &r))?;
                    product(out, q.view(), r, observer)?;
                }
                None => there.iter_mut().zip(&r).for_each(|(o, r)| *o = 0.5 * r),
            }
            self.right_hand_side(&mut r, 4, penalty);
            match &self.right.inverse {
                Some(_) if c <= FEW => {
                    let terms = Terms::OfBlocks(&of_columns);
                    Small { a: &r, inner: w, b: &transposed, width: w, terms }.put_into(&mut back);
                }
                Some(q) => {
                    let out = shaped(ArrayViewMut2::from_shape((b, w), &mut back))?;
                    let r = shaped(ArrayView2::from_shape((b, w), &r))?;
                    product(out.slice_move(s![.., ..c]), r.slice(s![.., ..c]), q.t(), observer)?;
                }
                None => back.iter_mut().zip(&r).for_each(|(o, r)| *o = 0.5 * r),
            }
            self.step(&there, &back, penalty, &mut rows);
            add_rows(total, &rows);
            self.started = true;
        }
        Ok(())
    }

    /// The parts of a left inverse that is small which are not 0.
    fn parts(&self) -> Vec<Range<usize>> {
        let few = self.left.inverse.as_ref().filter(|q| q.nrows() <= FEW);
        few.map(row_extents).unwrap_or_default()
    }

    /// The transposed inverse of a right group that is small, filled up with zeros.
    fn transposed(&self) -> Vec<f64> {
        let (c, w) = (self.right.nodes.len(), self.width);
        match &self.right.inverse {
            Some(q) if c <= FEW => {
                let value = |at: usize| q.get((at % w, at / w)).copied().unwrap_or(0.0);
                (0..w * w).map(value).collect()
            }
            _ => Vec::new(),
        }
    }

    /// (A - E + Y1) + (F - Y2), where E is Y1 / lambda after the first round.
    fn right_hand_side(&self, r: &mut [f64], first: usize, penalty: Penalty) {
        let w = self.width;
        if !self.started {
            r.iter_mut().zip(&self.a).for_each(|(r, a)| *r = 2.0 * a);
            return;
        }
        let rows = r.par_chunks_mut(w).zip(self.a.par_chunks(w)).zip(self.state.par_chunks(7 * w));
        rows.with_min_len(1 + TASK / w).for_each(|((r, a), state)| {
            let f = &state[..w];
            let (y1, y2) = state[(first + 1) * w..(first + 3) * w].split_at(w);
            for j in 0..w {
                r[j] = a[j] + penalty.rest * y1[j] + (f[j] - y2[j]);
            }
        });
    }

    fn step(&mut self, there: &[f64], back: &[f64], penalty: Penalty, rows: &mut [Sums]) {
        let w = self.width;
        let right = &self.right_sizes;
        self.state
            .par_chunks_mut(7 * w)
            .zip(self.a.par_chunks(w).zip(there.par_chunks(w)).zip(back.par_chunks(w)))
            .zip(rows.par_iter_mut().zip(&self.left.sizes))
            .with_min_len(1 + TASK / w)
            .for_each(|((state, ((a, there), back)), (sums, size))| {
                let row = Row { state, a, there, back, sizes: right, penalty };
                *sums = Arch::new().dispatch(row).map(|sum| sum * size);
            });
    }

    /// C, averaged with its transpose.
    pub(super) fn averaged(&self) -> Vec<f64> {
        let w = self.width;
        let row = |state: &[f64]| -> Vec<f64> {
            let (there, back) = (&state[w..2 * w], &state[4 * w..5 * w]);
            let c = self.right.nodes.len();
            there.iter().zip(back).take(c).map(|(x, y)| 0.5 * (x + y)).collect()
        };
        self.state.chunks(7 * w).flat_map(row).collect()
    }
}

pub(super) fn shaped<T>(of: std::result::Result<T, ndarray::ShapeError>) -> Result<T> {
    of.map_err(|e| Error::shape(e.to_string()))
}

/// A row of E, F, Y1 and Y2 after a new C, and its sums.
struct Row<'a> {
    state: &'a mut [f64],
    a: &'a [f64],
    there: &'a [f64],
    back: &'a [f64],
    sizes: &'a [f64],
    penalty: Penalty,
}

impl WithSimd for Row<'_> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Sums {
        let Row { state, a, there, back, sizes, penalty } = self;
        let w = a.len();
        let (f, state) = state.split_at_mut(w);
        let (sides_there, sides_back) = state.split_at_mut(3 * w);
        let (c0, rest) = sides_there.split_at_mut(w);
        let (p0, q0) = rest.split_at_mut(w);
        let (c1, rest) = sides_back.split_at_mut(w);
        let (p1, q1) = rest.split_at_mut(w);
        // Rows are filled up, so that nothing is left over.
        let [f, c0, c1, p0, p1, q0, q1] =
            [f, c0, c1, p0, p1, q0, q1].map(|v| S::as_mut_simd_f64s(v).0);
        let [a, there, back, sizes] = [a, there, back, sizes].map(|v| S::as_simd_f64s(v).0);
        let [half, keep, zero, one] = [0.5, penalty.keep, 0.0, 1.0].map(|v| simd.splat_f64s(v));
        let add = |x, y| simd.add_f64s(x, y);
        let sub = |x, y| simd.sub_f64s(x, y);
        let square = |x| simd.mul_f64s(x, x);
        let parts = LANES / S::F64_LANES;
        let mut acc = [[zero; 8]; LANES];
        for at in 0..a.len() {
            let (s, x, y) = (sizes[at], there[at], back[at]);
            let (z0, z1) = (add(x, q0[at]), add(y, q1[at]));
            let new = simd.mul_f64s(half, add(z0, z1));
            let new = simd.min_f64s(simd.max_f64s(new, zero), one);
            let r0 = simd.mul_f64s(keep, add(sub(a[at], x), p0[at]));
            let r1 = simd.mul_f64s(keep, add(sub(a[at], y), p1[at]));
            let (s0, s1) = (sub(z0, new), sub(z1, new));
            let acc = &mut acc[at % parts];
            let mut note = |of: usize, one, other| {
                let both = simd.mul_f64s(s, add(square(one), square(other)));
                acc[of] = add(acc[of], both);
            };
            note(C, x, y);
            note(F, new, new);
            note(Y1, r0, r1);
            note(Y2, s0, s1);
            note(CHANGE + C, sub(x, c0[at]), sub(y, c1[at]));
            note(CHANGE + F, sub(new, f[at]), sub(new, f[at]));
            note(CHANGE + Y1, sub(r0, p0[at]), sub(r1, p1[at]));
            note(CHANGE + Y2, sub(s0, q0[at]), sub(s1, q1[at]));
            (f[at], c0[at], c1[at]) = (new, x, y);
            (p0[at], p1[at], q0[at], q1[at]) = (r0, r1, s0, s1);
        }
        // As if all machines had as many lanes.
        let total = |of: usize| {
            let mut lanes = [0.0; LANES];
            let (heads, _) = S::as_mut_simd_f64s(&mut lanes);
            heads.iter_mut().zip(&acc).for_each(|(head, acc)| *head = acc[of]);
            lanes.iter().sum()
        };
        std::array::from_fn(|at| total(if at < FREE { at } else { Y1 + CHANGE * (at - FREE) }))
    }
}

/// An entry of a symmetric matrix of which the upper half alone is to be read.
pub(super) fn upper(a: ArrayView2<'_, f64>, i: usize, j: usize) -> f64 {
    a[[i.min(j), i.max(j)]]
}
