//! The rows as the kernels see them: moved towards the origin and scaled by a power of two.

use consilience_core::{Observer, Stop};
use ndarray::{ArrayView2, Axis};

use crate::Float;
use crate::reduce::map_each;

/// Rows read for the estimate of mean and spread; any shift is right, a good one is fast.
const SAMPLE: usize = 1024;
/// Blocks of rows at least this long are handed to threads.
pub(super) const MIN_BLOCK: usize = 1536;

/// Rows `y_i = scale x_i - shift`.
///
/// A large common offset costs the score `|c|^2 / 2 - y.c` its digits, so it is taken out; entries
/// near the ends of the number range would overflow or vanish when squared, so they are scaled.
/// Both are chosen to be exact on plain data: the shift is a multiple of a power of two near the
/// spread, the scale is a power of two, and where nothing is needed nothing is done.
pub(super) struct Rows<'a, F> {
    view: ArrayView2<'a, F>,
    flat: Option<&'a [F]>,
    pub n: usize,
    pub d: usize,
    pub shift: Vec<f64>,
    pub scale: f64,
    identity: bool,
    /// Rows per block: fixed by n, d and k alone, so that sums are grouped alike at any thread
    /// count.
    pub block: usize,
    pub parallel: bool,
    /// Asked inside of every pass over the rows: who makes a pass checks it afterwards.
    pub stop: Stop<'a>,
}

impl<'a, F: Float> Rows<'a, F> {
    /// `clusters` bounds the size of the partial sums that each block needs.
    pub(super) fn new(
        view: ArrayView2<'a, F>,
        clusters: usize,
        parallel: bool,
        observer: &'a dyn Observer,
    ) -> Self {
        let (n, d) = view.dim();
        // No more than 32 MB of partial sums, unless four blocks already take more.
        let most = ((1usize << 22) / clusters.saturating_mul(d).max(1)).clamp(4, 64);
        let block = n.div_ceil(n.div_ceil(MIN_BLOCK).clamp(1, most)).max(1).next_multiple_of(48);
        let mut rows = Rows {
            view,
            flat: view.to_slice(),
            n,
            d,
            shift: vec![0.0; d],
            scale: 1.0,
            identity: true,
            block,
            parallel,
            stop: Stop::new(observer),
        };
        rows.place();
        rows
    }

    fn place(&mut self) {
        if self.n == 0 || self.d == 0 {
            return;
        }
        let (low, high) = self.ranges();
        let largest = low.iter().chain(&high).fold(0.0f64, |m, v| m.max(v.abs()));
        let before = power_away_from(largest, 500);
        let step = self.n.div_ceil(SAMPLE);
        let sample = self.n.div_ceil(step) as f64;
        let mut mean = vec![0.0; self.d];
        for i in (0..self.n).step_by(step) {
            for j in 0..self.d {
                mean[j] += self.raw(i, j) * before / sample;
            }
        }
        let mut spread = vec![0.0f64; self.d];
        for i in (0..self.n).step_by(step) {
            for j in 0..self.d {
                spread[j] += (self.raw(i, j) * before - mean[j]).powi(2) / sample;
            }
        }
        let widest = spread.iter().fold(0.0f64, |m, &v| m.max(v)).sqrt();
        let grain = if widest > 0.0 { power(widest.log2().floor() as i32) } else { 0.0 };
        let mut reach = 0.0f64;
        for j in 0..self.d {
            let (low, high) = (low[j] * before, high[j] * before);
            if mean[j].abs() > 2.0 * widest {
                let round = (mean[j] / grain).round() * grain;
                self.shift[j] = if low == high || !round.is_finite() { low } else { round };
            }
            reach = reach.max((low - self.shift[j]).abs()).max((high - self.shift[j]).abs());
        }
        let after = power_away_from(reach, 30);
        self.scale = before * after;
        for s in &mut self.shift {
            *s *= after;
        }
        self.identity = self.scale == 1.0 && self.shift.iter().all(|&s| s == 0.0);
    }

    /// Smallest and largest entry of each column.
    fn ranges(&self) -> (Vec<f64>, Vec<f64>) {
        let part = |b: usize| {
            let mut low = vec![F::infinity(); self.d];
            let mut high: Vec<F> = (0..self.d).map(|j| self.view[[b * self.block, j]]).collect();
            if self.stop.asked() {
                return (low, high);
            }
            let rows = b * self.block..self.n.min((b + 1) * self.block);
            let mut widen = |row: &[F]| {
                for ((l, h), &x) in low.iter_mut().zip(high.iter_mut()).zip(row) {
                    *l = if x < *l { x } else { *l };
                    *h = if x > *h { x } else { *h };
                }
            };
            if let Some(flat) = self.flat {
                flat[rows.start * self.d..rows.end * self.d].chunks_exact(self.d).for_each(widen);
            } else {
                let mut buffer = vec![F::default(); self.d];
                for i in rows {
                    for (b, &x) in buffer.iter_mut().zip(self.view.index_axis(Axis(0), i)) {
                        *b = x;
                    }
                    widen(&buffer);
                }
            }
            (low, high)
        };
        let join = |mut a: (Vec<F>, Vec<F>), b: (Vec<F>, Vec<F>)| {
            for j in 0..self.d {
                a.0[j] = if b.0[j] < a.0[j] { b.0[j] } else { a.0[j] };
                a.1[j] = if b.1[j] > a.1[j] { b.1[j] } else { a.1[j] };
            }
            a
        };
        // Smallest and largest do not depend on the grouping.
        let found = if self.parallel {
            map_each(self.blocks(), &part).into_iter().reduce(join)
        } else {
            (0..self.blocks()).map(part).reduce(join)
        };
        let (low, high) = found.unwrap_or_default();
        let wide = |v: Vec<F>| v.into_iter().map(F::to_f64).collect();
        (wide(low), wide(high))
    }

    pub(super) fn blocks(&self) -> usize {
        self.n.div_ceil(self.block)
    }

    #[inline(always)]
    fn raw(&self, i: usize, j: usize) -> f64 {
        match self.flat {
            Some(flat) => flat[i * self.d + j].to_f64(),
            None => self.view[[i, j]].to_f64(),
        }
    }

    /// One entry in the moved frame.
    #[inline(always)]
    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        self.raw(i, j) * self.scale - self.shift[j]
    }

    /// One row in the moved frame.
    pub(super) fn row(&self, i: usize) -> Vec<f64> {
        (0..self.d).map(|j| self.at(i, j)).collect()
    }

    /// Whether two rows are equal entry by entry.
    pub(super) fn same(&self, a: usize, b: usize) -> bool {
        (0..self.d).all(|j| self.raw(a, j) == self.raw(b, j))
    }

    /// `sums += weight y_i`.
    #[inline(always)]
    pub(super) fn add_to(&self, i: usize, weight: f64, sums: &mut [f64]) {
        let sums = &mut sums[..self.d];
        let Some(flat) = self.flat else {
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum += weight * self.at(i, j);
            }
            return;
        };
        let row = &flat[i * self.d..][..self.d];
        if self.identity && weight == 1.0 {
            for (sum, x) in sums.iter_mut().zip(row) {
                *sum += x.to_f64();
            }
        } else {
            for ((sum, x), shift) in sums.iter_mut().zip(row).zip(&self.shift) {
                *sum += weight * (x.to_f64() * self.scale - shift);
            }
        }
    }

    /// Squared Euclidean distance of row `i` to a centre in the moved frame, by differences: the
    /// distance that every result is defined by.
    #[inline(always)]
    pub(super) fn distance(&self, i: usize, centre: &[f64]) -> f64 {
        let Some(flat) = self.flat else {
            let mut sums = [0.0; 4];
            for (j, c) in centre[..self.d].iter().enumerate() {
                let diff = self.at(i, j) - c;
                sums[j % 4] += diff * diff;
            }
            return (sums[0] + sums[1]) + (sums[2] + sums[3]);
        };
        // Four running sums, so that the additions need not wait for each other.
        let mut sums = [0.0; 4];
        let row = flat[i * self.d..][..self.d].chunks(4);
        for ((x, c), shift) in row.zip(centre[..self.d].chunks(4)).zip(self.shift.chunks(4)) {
            for (((sum, x), c), shift) in sums.iter_mut().zip(x).zip(c).zip(shift) {
                let diff = x.to_f64() * self.scale - shift - c;
                *sum += diff * diff;
            }
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    /// Copies rows `first..first + count` into `out`, one row per lane: entry (row r, column j)
    /// goes to `j width + r`. Lanes beyond `count` repeat the last row.
    #[inline(always)]
    pub(super) fn pack(&self, first: usize, count: usize, width: usize, out: &mut [F]) {
        let d = self.d;
        let out = &mut out[..d * width];
        let Some(flat) = self.flat else {
            for (j, o) in out.chunks_exact_mut(width).enumerate() {
                for (r, o) in o.iter_mut().enumerate() {
                    *o = F::from_f64(self.at(first + r.min(count - 1), j));
                }
            }
            return;
        };
        let row = |r: usize| &flat[(first + r.min(count - 1)) * d..][..d];
        if self.identity {
            interleave(row, width, out, |x, _| x);
        } else {
            interleave(row, width, out, |x, j| {
                F::from_f64(x.to_f64() * self.scale - self.shift[j])
            });
        }
    }
}

/// Entry j of row r goes to `j width + r`, by way of `change`.
#[inline(always)]
fn interleave<'a, F: Float>(
    row: impl Fn(usize) -> &'a [F],
    width: usize,
    out: &mut [F],
    change: impl Fn(F, usize) -> F,
) {
    let mut r = 0;
    while r + 4 <= width {
        let (a, b, c, e) = (row(r), row(r + 1), row(r + 2), row(r + 3));
        let four = a.iter().zip(b).zip(c).zip(e).enumerate();
        for ((j, (((&a, &b), &c), &e)), o) in four.zip(out.chunks_exact_mut(width)) {
            o[r..r + 4].copy_from_slice(&[change(a, j), change(b, j), change(c, j), change(e, j)]);
        }
        r += 4;
    }
    while r < width {
        for ((j, &x), o) in row(r).iter().enumerate().zip(out.chunks_exact_mut(width)) {
            o[r] = change(x, j);
        }
        r += 1;
    }
}

/// 2^e, kept inside the range of normal numbers.
fn power(e: i32) -> f64 {
    2f64.powi(e.clamp(-1000, 1000))
}

/// A power of two that brings `value` near 1, or 1 where it lies within 2^-limit and 2^limit.
fn power_away_from(value: f64, limit: i32) -> f64 {
    if !(value > 0.0 && value.is_finite()) || (value >= power(-limit) && value <= power(limit)) {
        return 1.0;
    }
    power(-(value.log2().floor() as i32))
}
