//! The paper's algorithm as it stands, over single objects and a full square: slow, and shares
//! nothing with the fast solvers but the divergence's formulas.

use consilience_core::Ensemble;
use ndarray::Array2;

/// (c, N) of all pairs of objects, counted label by label.
pub(crate) fn counts(ensemble: &Ensemble) -> (Array2<f64>, Array2<f64>) {
    let n = ensemble.n_objects();
    let count = |same: bool| {
        Array2::from_shape_fn((n, n), |(i, j)| {
            let labels = ensemble.members().iter().map(|m| (m.label(i), m.label(j)));
            labels.filter(|(a, b)| a.is_some() && b.is_some() && (!same || a == b)).count() as f64
        })
    };
    (count(true), count(false))
}

pub(crate) fn kl(u: f64, v: f64) -> (f64, f64) {
    let term = |u: f64, v: f64| if u > 0.0 { u * (u / v).ln() } else { 0.0 };
    let slope = |u: f64, v: f64| if u > 0.0 { u / v } else { 0.0 };
    (term(u, v) + term(1.0 - u, 1.0 - v), slope(1.0 - u, 1.0 - v) - slope(u, v))
}

pub(crate) fn l2(u: f64, v: f64) -> (f64, f64) {
    (2.0 * (u - v) * (u - v), 4.0 * (v - u))
}

pub(crate) type Formula = fn(f64, f64) -> (f64, f64);

/// f(Y) over pairs of objects with a common member.
pub(crate) fn objective(c: &Array2<f64>, both: &Array2<f64>, d: Formula, y: &Array2<f64>) -> f64 {
    let mut sum = 0.0;
    for i in 0..y.nrows() {
        for j in 0..i {
            if both[[i, j]] > 0.0 {
                let v = y.row(i).dot(&y.row(j)).min(1.0);
                sum += both[[i, j]] * d(c[[i, j]] / both[[i, j]], v).0;
            }
        }
    }
    sum
}

/// g_i, the partial derivative with respect to y_i.
pub(crate) fn gradient(
    c: &Array2<f64>,
    both: &Array2<f64>,
    d: Formula,
    y: &Array2<f64>,
    i: usize,
) -> Vec<f64> {
    let mut g = vec![0.0; y.ncols()];
    for j in (0..y.nrows()).filter(|&j| j != i && both[[i, j]] > 0.0) {
        let slope = both[[i, j]] * d(c[[i, j]] / both[[i, j]], y.row(i).dot(&y.row(j))).1;
        for (g, y) in g.iter_mut().zip(y.row(j)) {
            *g += slope * y;
        }
    }
    g
}

/// Algorithm 1: the steepest exchange of all, a dichotomic search along it, again.
pub(crate) fn line_search(
    c: &Array2<f64>,
    both: &Array2<f64>,
    d: Formula,
    y: &mut Array2<f64>,
    steps: usize,
    tau: f64,
) -> usize {
    let (n, k) = y.dim();
    for step in 0..steps {
        let (mut best, mut at) = (0.0, (0, 0, 0));
        for j in 0..n {
            let g = gradient(c, both, d, y, j);
            for u in 0..k {
                for v in (0..k).filter(|&v| y[[j, v]] > 0.0) {
                    if g[v] - g[u] > best {
                        (best, at) = (g[v] - g[u], (j, u, v));
                    }
                }
            }
        }
        if best <= tau {
            return step;
        }
        let (j, u, v) = at;
        let room = y[[j, v]];
        let rho = |e: f64| {
            let mut z = y.clone();
            z[[j, v]] -= e;
            z[[j, u]] += e;
            let g = gradient(c, both, d, &z, j);
            g[u] - g[v]
        };
        let step = if rho(room) <= 0.0 {
            room
        } else {
            let (mut low, mut high) = (0.0, room);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if rho(middle) <= 0.0 { low = middle } else { high = middle }
            }
            low
        };
        y[[j, v]] = if step >= room { 0.0 } else { y[[j, v]] - step };
        y[[j, u]] += step;
    }
    steps
}
