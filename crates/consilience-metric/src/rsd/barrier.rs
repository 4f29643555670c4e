//! The semidefinite programme on a few pairs, by dual scaling.
//!
//! ```text
//! maximise s    subject to   a' M a <= 1,   b' M b >= s,   tr M <= bound,   M psd
//! minimise sum u + bound t   subject to   Z = sum u a a' + t I - sum v b b' psd,  sum v = 1,  u, v, t >= 0
//! ```
//!
//! The second is the dual of the first. Newton steps minimise its objective / mu less the
//! logarithms of det Z and of the multipliers while mu falls; at the minimum M = mu Z^-1. Every
//! pair enters by one vector, so that the system has one row per pair, whatever the size of M.

use consilience_core::{Observer, Pace, Result, room};
use consilience_num::product::{across, times};
use ndarray::{Array1, Array2};

use crate::scatter::identity;

/// Newton decrement at which mu falls.
const CENTRED: f64 = 0.3;
/// Newton steps at one mu, at most.
const STEPS: usize = 40;
/// Refinements of a solution, at most.
const REFINEMENTS: usize = 5;
/// By how much mu falls.
const FALL: f64 = 0.15;

/// What the barrier method knows at one mu.
pub(super) struct Centre {
    /// `F` with `M = F' F`; the must-links and the bound may be exceeded by a little.
    pub root: Array2<f64>,
    /// Value of the dual, which no split of a feasible M exceeds.
    pub upper: f64,
    /// The share of the bound in that.
    pub trace_share: f64,
}

/// The state, in coordinates `x' = T x` in which the last M is the identity: there Z keeps its
/// digits, where in fixed coordinates it would become a small difference of large terms.
pub(super) struct Barrier {
    /// Must-links first, then cannot-links, in rows.
    vectors: Array2<f64>,
    /// T.
    coordinates: Array2<f64>,
    /// `T T'`, which the bound's I has become.
    identity: Array2<f64>,
    musts: usize,
    bound: f64,
    y: Array1<f64>,
    t: f64,
    mu: f64,
}

impl Barrier {
    /// At least one cannot-link is expected, and at least one dimension.
    pub(super) fn new(vectors: Array2<f64>, musts: usize, bound: f64) -> Result<Self> {
        let (m, r) = vectors.dim();
        let norm = |i: usize| vectors.row(i).dot(&vectors.row(i));
        let cannots = (m - musts).max(1) as f64;
        // t above the trace, hence above the largest eigenvalue, of what is subtracted.
        let t = 2.0 * (musts..m).map(norm).sum::<f64>() / cannots;
        let longest = (0..musts).map(norm).fold(f64::MIN_POSITIVE, f64::max);
        let u = t / (longest * musts.max(1) as f64);
        let y = Array1::from_shape_fn(m, |i| if i < musts { u } else { 1.0 / cannots });
        let mu = bound * t / (r + 1) as f64;
        let (coordinates, identity) = (identity(r)?, identity(r)?);
        Ok(Barrier { vectors, coordinates, identity, musts, bound, y, t, mu })
    }

    fn sign(&self, i: usize) -> f64 {
        if i < self.musts { 1.0 } else { -1.0 }
    }

    /// Rows of pairs, each times a number.
    fn scaled(&self, rows: &Array2<f64>, by: &Array1<f64>) -> Result<Array2<f64>> {
        let mut scaled = room::copied_table(rows.view())?;
        for (i, mut row) in scaled.rows_mut().into_iter().enumerate() {
            row *= self.sign(i) * by[i];
        }
        Ok(scaled)
    }

    /// Z at another point, factored: its inverse root, if it is positive definite.
    fn inverse_root(
        &self,
        y: &Array1<f64>,
        t: f64,
        observer: &dyn Observer,
    ) -> Result<Option<(Array2<f64>, f64)>> {
        let scaled = self.scaled(&self.vectors, y)?;
        let mut z = across(self.vectors.view(), scaled.view(), observer)?;
        z.scaled_add(t, &self.identity);
        let Some(log_det) = cholesky(&mut z, observer)? else { return Ok(None) };
        Ok(Some((invert_lower(&z, observer)?, log_det)))
    }

    /// The barrier function.
    fn value(&self, y: &Array1<f64>, t: f64, observer: &dyn Observer) -> Result<f64> {
        if !(t > 0.0) || y.iter().any(|y| !(*y > 0.0)) {
            return Ok(f64::INFINITY);
        }
        let Some((_, log_det)) = self.inverse_root(y, t, observer)? else {
            return Ok(f64::INFINITY);
        };
        let objective: f64 = y.iter().take(self.musts).sum::<f64>() + self.bound * t;
        Ok(objective / self.mu - log_det - y.iter().map(|y| y.ln()).sum::<f64>() - t.ln())
    }

    /// Newton steps at the present mu, then mu falls. `None` where rounding leaves no step.
    pub(super) fn advance(&mut self, observer: &dyn Observer) -> Result<Option<Centre>> {
        for _ in 0..STEPS {
            let Some((dy, dt, decrement)) = self.step(observer)? else { return Ok(None) };
            let before = self.value(&self.y, self.t, observer)?;
            if decrement < CENTRED {
                let Some(centre) = self.centre(&dy, dt, observer)? else { return Ok(None) };
                // The sum of the cannot-links' multipliers is 1 up to rounding.
                let total: f64 = self.y.iter().skip(self.musts).sum();
                let objective: f64 =
                    self.y.iter().take(self.musts).sum::<f64>() + self.bound * self.t;
                let (upper, trace_share) = (objective / total, self.bound * self.t / objective);
                let (y, t) = (&self.y + &dy, self.t + dt);
                if self.value(&y, t, observer)? <= before {
                    (self.y, self.t) = (y, t);
                }
                self.mu *= FALL;
                let moved = times(centre.view(), self.coordinates.view(), observer)?;
                self.vectors = times(self.vectors.view(), centre.t(), observer)?;
                self.identity = times(moved.view(), moved.t(), observer)?;
                self.coordinates = room::copied_table(moved.view())?;
                return Ok(Some(Centre { root: moved, upper, trace_share }));
            }
            // Self-concordance: the damped step is always inside and always descends.
            let damped = 1.0 / (1.0 + decrement);
            let mut length = 1.0f64;
            loop {
                let (y, t) = (&self.y + &(&dy * length), self.t + length * dt);
                let now = self.value(&y, t, observer)?;
                let descends = now <= before - 0.1 * length * decrement * decrement;
                if descends || (length <= damped && now.is_finite()) {
                    (self.y, self.t) = (y, t);
                    break;
                }
                length = if length > damped { (0.5 * length).max(damped) } else { 0.5 * length };
                if length < 1e-8 {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// A root of the metric that the Newton step leads to, `mu (Z^-1 - Z^-1 dZ Z^-1)`: it keeps the
    /// constraints of the primal, where `mu Z^-1` does so at the exact minimum only.
    fn centre(
        &self,
        dy: &Array1<f64>,
        dt: f64,
        observer: &dyn Observer,
    ) -> Result<Option<Array2<f64>>> {
        let Some((root, _)) = self.inverse_root(&self.y, self.t, observer)? else {
            return Ok(None);
        };
        let w = times(self.vectors.view(), root.t(), observer)?;
        let scaled = self.scaled(&w, dy)?;
        let mut inner = across(w.view(), scaled.view(), observer)?;
        inner += &(self.bound_in(&root, observer)? * dt);
        inner.mapv_inplace(|v| -v);
        inner.diag_mut().mapv_inplace(|v| v + 1.0);
        if cholesky(&mut inner, observer)?.is_none() {
            return Ok(None);
        }
        Ok(Some(across(inner.view(), root.view(), observer)? * self.mu.sqrt()))
    }

    /// The bound's matrix in the coordinates of a root.
    fn bound_in(&self, root: &Array2<f64>, observer: &dyn Observer) -> Result<Array2<f64>> {
        let half = times(root.view(), self.identity.view(), observer)?;
        times(half.view(), root.t(), observer)
    }

    /// The Newton step and its decrement, in variables scaled by their values.
    fn step(&self, observer: &dyn Observer) -> Result<Option<(Array1<f64>, f64, f64)>> {
        let m = self.y.len();
        let Some((root, _)) = self.inverse_root(&self.y, self.t, observer)? else {
            return Ok(None);
        };
        let (h, g) = self.system(&root, observer)?;
        drop(root);
        let mut e = Array1::zeros(m + 1);
        (self.musts..m).for_each(|i| e[i] = self.y[i]);
        // The entries grow as 1 / mu^2 beside the 1 of the diagonal, which the factor then loses
        // first.
        let largest = h.diag().iter().fold(0.0f64, |a, b| a.max(*b));
        let mut found = None;
        for ridge in [0.0, 1e-15, 1e-13] {
            let mut l = room::copied_table(h.view())?;
            l.diag_mut().mapv_inplace(|v| v + ridge * largest);
            if cholesky(&mut l, observer)?.is_some() {
                found = Some(l);
                break;
            }
        }
        let Some(factor) = found else { return Ok(None) };
        let (hg, he) = (refined(&h, &factor, &g), refined(&h, &factor, &e));
        // The step also takes back what rounding did to the sum.
        let missing = 1.0 - e.sum();
        let lambda = -(e.dot(&hg) + missing) / e.dot(&he);
        let step = -(hg + he * lambda);
        let decrement = (-step.dot(&(g + e * lambda))).max(0.0).sqrt();
        let dy = Array1::from_shape_fn(m, |i| step[i] * self.y[i]);
        let dt = step[m] * self.t;
        Ok(decrement.is_finite().then_some((dy, dt, decrement)))
    }

    /// Second derivatives and gradient of the barrier function, in variables scaled by their
    /// values; the last is the bound's.
    fn system(
        &self,
        root: &Array2<f64>,
        observer: &dyn Observer,
    ) -> Result<(Array2<f64>, Array1<f64>)> {
        let m = self.y.len();
        let w = times(self.vectors.view(), root.t(), observer)?;
        let k = times(w.view(), w.t(), observer)?;
        // The bound's matrix, as the pairs are in w.
        let bound = self.bound_in(root, observer)?;
        let v = times(w.view(), bound.view(), observer)?;
        let (trace, frobenius) = (bound.diag().sum(), bound.iter().map(|x| x * x).sum::<f64>());
        // The cannot-links' part along the constraint on their sum, most of the gradient, is left
        // to its multiplier.
        let weight = |i: usize| self.y[i] * self.y[i];
        let weights: f64 = (self.musts..m).map(weight).sum();
        let common = (self.musts..m).map(|i| weight(i) * k[[i, i]]).sum::<f64>() / weights;
        let mut h = room::table(m + 1, m + 1)?;
        let mut g = Array1::zeros(m + 1);
        for i in 0..m {
            let (si, yi) = (self.sign(i), self.y[i]);
            for j in 0..=i {
                let entry = si * self.sign(j) * yi * self.y[j] * k[[i, j]] * k[[i, j]];
                (h[[i, j]], h[[j, i]]) = (entry, entry);
            }
            h[[i, i]] += 1.0;
            h[[m, i]] = si * yi * self.t * v.row(i).dot(&w.row(i));
            h[[i, m]] = h[[m, i]];
            let level = if i < self.musts { 1.0 / self.mu } else { common };
            g[i] = si * yi * (level - k[[i, i]]) - 1.0;
        }
        h[[m, m]] = self.t * self.t * frobenius + 1.0;
        g[m] = self.t * (self.bound / self.mu - trace) - 1.0;
        Ok((h, g))
    }
}

/// Replaces the lower triangle by its Cholesky factor, the rest by 0; the logarithm of the
/// determinant.
fn cholesky(a: &mut Array2<f64>, observer: &dyn Observer) -> Result<Option<f64>> {
    let n = a.nrows();
    let (mut log_det, mut pace) = (0.0, Pace::new(observer));
    for j in 0..n {
        pace.work((n - j).saturating_mul(j))?;
        for i in j..n {
            let (x, y) = (a.slice(ndarray::s![i, ..j]), a.slice(ndarray::s![j, ..j]));
            let rest = a[[i, j]] - x.dot(&y);
            if i == j {
                if !(rest > 0.0 && rest.is_finite()) {
                    return Ok(None);
                }
                a[[j, j]] = rest.sqrt();
                log_det += rest.ln();
            } else {
                a[[i, j]] = rest / a[[j, j]];
            }
        }
        for c in j + 1..n {
            a[[j, c]] = 0.0;
        }
    }
    Ok(Some(log_det))
}

/// Inverse of a lower triangular matrix.
fn invert_lower(l: &Array2<f64>, observer: &dyn Observer) -> Result<Array2<f64>> {
    let n = l.nrows();
    let mut inverse = room::table(n, n)?;
    let mut pace = Pace::new(observer);
    for i in 0..n {
        pace.work(i.saturating_mul(n))?;
        let mut row = Array1::zeros(n);
        for c in 0..i {
            row.scaled_add(-l[[i, c]], &inverse.row(c));
        }
        row[i] = 1.0;
        row /= l[[i, i]];
        inverse.row_mut(i).assign(&row);
    }
    Ok(inverse)
}

/// `x` with `H x = b`, from a factor of nearly H, refined while that helps.
fn refined(h: &Array2<f64>, factor: &Array2<f64>, b: &Array1<f64>) -> Array1<f64> {
    let mut x = solve(factor, b);
    let mut rest = b - &h.dot(&x);
    for _ in 0..REFINEMENTS {
        let better = &x + &solve(factor, &rest);
        let left = b - &h.dot(&better);
        if !(left.dot(&left) < 0.25 * rest.dot(&rest)) {
            break;
        }
        (x, rest) = (better, left);
    }
    x
}

/// `x` with `L L' x = b`.
fn solve(l: &Array2<f64>, b: &Array1<f64>) -> Array1<f64> {
    let n = b.len();
    let mut x = b.clone();
    for i in 0..n {
        let before = l.slice(ndarray::s![i, ..i]).dot(&x.slice(ndarray::s![..i]));
        x[i] = (x[i] - before) / l[[i, i]];
    }
    for i in (0..n).rev() {
        x[i] /= l[[i, i]];
        let xi = x[i];
        for c in 0..i {
            x[c] -= l[[i, c]] * xi;
        }
    }
    x
}
