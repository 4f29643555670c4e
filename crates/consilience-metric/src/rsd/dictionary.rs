//! The dual simplex method on a dense dictionary that rows are added to.
//!
//! ```text
//! maximise x_last   subject to   g_r . x <= h_r  for the rows so far,   x >= 0
//! ```
//!
//! A dictionary writes basic variables and the objective in terms of the nonbasic ones. It is kept
//! dual feasible: a row that the current vertex violates is added and pivoted out, which lowers the
//! objective.

use consilience_core::{Observer, Pace, Result, room};

/// Coefficients and right-hand sides smaller than this are rounding.
const TINY: f64 = 1e-11;
/// Pivots below this are taken only where there is no other.
const SMALL: f64 = 1e-7;
/// Pivots without progress after which ties are broken by lowest number, which cannot cycle.
const PATIENCE: usize = 200;

/// One constraint `g . x <= h`.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub g: Vec<f64>,
    pub h: f64,
}

/// How the method left a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Optimal,
    /// Rounding left no pivot, or the cap on pivots was reached: the vertex is close to optimal at
    /// best.
    Stopped,
}

/// Variables are numbered: the originals `0..width`, then the slack of every row.
#[derive(Debug)]
pub(super) struct Dictionary {
    width: usize,
    rows: Vec<Row>,
    /// Variable of each column.
    nonbasic: Vec<usize>,
    /// Variable of each line.
    basic: Vec<usize>,
    /// `width + 1` entries per line: coefficients of the nonbasic variables, then the constant.
    lines: Vec<f64>,
    objective: Vec<f64>,
    pub pivots: usize,
}

impl Dictionary {
    /// Without rows; the objective is the last of `width` variables.
    pub(super) fn new(width: usize) -> Self {
        let mut objective = vec![0.0; width + 1];
        objective[width - 1] = 1.0;
        Dictionary {
            width,
            rows: Vec::new(),
            nonbasic: (0..width).collect(),
            basic: Vec::new(),
            lines: Vec::new(),
            objective,
            pivots: 0,
        }
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    fn stride(&self) -> usize {
        self.width + 1
    }

    fn line(&self, i: usize) -> &[f64] {
        &self.lines[i * self.stride()..][..self.stride()]
    }

    fn constant(&self, i: usize) -> f64 {
        self.lines[i * self.stride() + self.width]
    }

    /// Makes room for so many rows more.
    pub(super) fn reserve(&mut self, rows: usize) -> Result<()> {
        let numbers = rows.saturating_mul(self.stride());
        self.lines.try_reserve_exact(numbers).map_err(|_| room::no_room::<f64>(numbers))
    }

    /// Adds a row; its slack is basic, be it negative.
    pub(super) fn add(&mut self, row: Row) {
        let mut line = vec![0.0; self.stride()];
        line[self.width] = row.h;
        for (j, &v) in self.nonbasic.iter().enumerate() {
            if v < self.width {
                line[j] -= row.g[v];
            }
        }
        for (i, &v) in self.basic.iter().enumerate() {
            if v < self.width && row.g[v] != 0.0 {
                add_multiple(&mut line, -row.g[v], self.line(i));
            }
        }
        self.basic.push(self.width + self.rows.len());
        self.lines.extend(line);
        self.rows.push(row);
    }

    /// Exchanges the basic variable of line i with the nonbasic one of column j.
    pub(super) fn pivot(&mut self, i: usize, j: usize) {
        let (stride, at) = (self.stride(), i * self.stride());
        let inverse = 1.0 / self.lines[at + j];
        let mut line = self.lines[at..at + stride].to_vec();
        // x_B = ... + p x_N  becomes  x_N = (x_B - ...) / p.
        for v in &mut line {
            *v *= -inverse;
        }
        line[j] = inverse;
        for other in self.lines.chunks_exact_mut(stride).chain([&mut self.objective[..]]) {
            let factor = std::mem::take(&mut other[j]);
            if factor != 0.0 {
                add_multiple(other, factor, &line);
            }
        }
        self.lines[at..at + stride].copy_from_slice(&line);
        std::mem::swap(&mut self.basic[i], &mut self.nonbasic[j]);
        self.pivots += 1;
    }

    /// Pivots until no basic variable is negative.
    pub(super) fn solve(&mut self, most: usize, observer: &dyn Observer) -> Result<Outcome> {
        let mut pace = Pace::new(observer);
        let limit = self.pivots + most;
        let (mut stalled, mut last) = (0, self.value());
        loop {
            let by_number = stalled > PATIENCE;
            let Some(i) = self.leaving(by_number) else { return Ok(Outcome::Optimal) };
            let Some(j) = self.entering(i, by_number) else { return Ok(Outcome::Stopped) };
            if self.pivots >= limit {
                return Ok(Outcome::Stopped);
            }
            pace.work(self.lines.len())?;
            self.pivot(i, j);
            let now = self.value();
            if now < last - TINY * last.abs() {
                (stalled, last) = (0, now);
            } else {
                stalled += 1;
            }
        }
    }

    /// The most negative basic variable, or the first by number.
    fn leaving(&self, by_number: bool) -> Option<usize> {
        let negative = (0..self.basic.len()).filter(|&i| self.constant(i) < -TINY);
        if by_number {
            negative.min_by_key(|&i| self.basic[i])
        } else {
            negative.min_by(|&a, &b| self.constant(a).total_cmp(&self.constant(b)))
        }
    }

    /// The column whose reduced cost reaches 0 first as line i rises; of several the largest pivot,
    /// or the first by number.
    fn entering(&self, i: usize, by_number: bool) -> Option<usize> {
        let line = self.line(i);
        let ratio = |j: usize| -self.objective[j].min(0.0) / line[j];
        for smallest in [SMALL, TINY] {
            let candidates = || (0..self.width).filter(move |&j| line[j] > smallest);
            let Some(least) = candidates().map(ratio).min_by(f64::total_cmp) else { continue };
            // A cost within rounding of the least counts as equal, so that the pivot can be a good
            // one.
            let reach = least + TINY * (1.0 + least.abs());
            let ties = candidates().filter(|&j| ratio(j) <= reach);
            return if by_number {
                ties.min_by_key(|&j| self.nonbasic[j])
            } else {
                ties.max_by(|&a, &b| {
                    line[a].total_cmp(&line[b]).then(self.nonbasic[b].cmp(&self.nonbasic[a]))
                })
            };
        }
        None
    }

    /// Computes the dictionary of the same vertex anew from the rows, which sheds the rounding of
    /// all pivots so far. Originals that find no pivot become nonbasic.
    pub(super) fn refresh(&mut self, observer: &dyn Observer) -> Result<()> {
        let wanted: Vec<usize> = self.basic.iter().copied().filter(|&v| v < self.width).collect();
        let tight: Vec<usize> =
            self.nonbasic.iter().copied().filter(|&v| v >= self.width).collect();
        let pivots = self.pivots;
        let (mut fresh, mut pace) = (Dictionary::new(self.width), Pace::new(observer));
        fresh.reserve(self.rows.len())?;
        for row in std::mem::take(&mut self.rows) {
            fresh.add(row);
        }
        let mut free: Vec<usize> = tight.into_iter().map(|v| v - self.width).collect();
        let mut waiting = wanted;
        // Complete pivoting within the square block of wanted originals and tight rows.
        while let Some((size, f, w)) = free
            .iter()
            .enumerate()
            .flat_map(|(f, &i)| waiting.iter().enumerate().map(move |(w, &j)| (f, i, w, j)))
            .map(|(f, i, w, j)| (fresh.lines[i * fresh.stride() + j].abs(), f, w))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)).then(b.2.cmp(&a.2)))
        {
            if size < TINY {
                break;
            }
            let (i, j) = (free.remove(f), waiting.remove(w));
            pace.work(fresh.lines.len())?;
            fresh.pivot(i, j);
        }
        fresh.pivots = pivots;
        *self = fresh;
        Ok(())
    }

    /// Forgets rows that the current vertex is away from.
    pub(super) fn drop_loose(&mut self, keep: impl Fn(usize) -> bool) -> Vec<usize> {
        let loose: Vec<usize> = (0..self.basic.len())
            .filter(|&i| self.basic[i] >= self.width && self.constant(i) > TINY)
            .map(|i| self.basic[i] - self.width)
            .filter(|&r| !keep(r))
            .collect();
        let mut number = vec![0usize; self.rows.len()];
        let mut kept = 0;
        for (r, n) in number.iter_mut().enumerate() {
            *n = if loose.contains(&r) { usize::MAX } else { kept };
            kept += usize::from(*n != usize::MAX);
        }
        let stride = self.stride();
        let stay: Vec<usize> = (0..self.basic.len())
            .filter(|&i| {
                self.basic[i] < self.width || number[self.basic[i] - self.width] != usize::MAX
            })
            .collect();
        for (to, &i) in stay.iter().enumerate() {
            self.lines.copy_within(i * stride..(i + 1) * stride, to * stride);
        }
        self.lines.truncate(stay.len() * stride);
        let rename =
            |v: usize| if v < self.width { v } else { self.width + number[v - self.width] };
        self.basic = stay.iter().map(|&i| rename(self.basic[i])).collect();
        self.nonbasic = self.nonbasic.iter().map(|&v| rename(v)).collect();
        let mut r = 0;
        self.rows.retain(|_| {
            r += 1;
            number[r - 1] != usize::MAX
        });
        loose
    }

    /// Value of the objective.
    pub(super) fn value(&self) -> f64 {
        self.objective[self.width]
    }

    /// The original variables at the vertex.
    pub(super) fn point(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.width];
        for (i, &v) in self.basic.iter().enumerate() {
            if v < self.width {
                x[v] = self.constant(i).max(0.0);
            }
        }
        x
    }

    /// The multiplier of every row.
    pub(super) fn multipliers(&self) -> Vec<f64> {
        let mut y = vec![0.0; self.rows.len()];
        for (j, &v) in self.nonbasic.iter().enumerate() {
            if v >= self.width {
                y[v - self.width] = (-self.objective[j]).max(0.0);
            }
        }
        y
    }
}

/// `a += factor b`.
fn add_multiple(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}
