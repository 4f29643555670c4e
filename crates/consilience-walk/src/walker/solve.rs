//! The probabilities of arrival: one sparse symmetric positive definite system with a right side
//! per group.

use consilience_core::{Observer, Result, room};
use consilience_num::sparse::Csr;
use ndarray::Array2;

use super::seeds::Seeds;

/// Residual, relative to the right side, at which a system is solved.
const TOLERANCE: f64 = 1e-12;
/// Iterations of the conjugate gradient method at most.
const MAX_ITERATIONS: usize = 2000;

/// What the walks ended in.
pub(super) struct Walked {
    /// Nodes x groups; rows sum to 1.
    pub(super) chance: Array2<f64>,
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

/// The probability that a walker from each node meets the seeds of each group first. A node from
/// which no seed can be reached stays with its group.
pub(super) fn arrivals(links: &Csr, seeds: &Seeds, observer: &dyn Observer) -> Result<Walked> {
    let (n, k) = (links.n_rows(), seeds.count);
    let mut chance = room::table(n, k)?;
    let reached = reachable(links, seeds);
    // Unmarked nodes that can reach a seed, and their place in the system.
    let unmarked: Vec<usize> = (0..n).filter(|&i| reached[i] && !seeds.marked[i]).collect();
    let mut place = vec![usize::MAX; n];
    for (at, &i) in unmarked.iter().enumerate() {
        place[i] = at;
    }
    for i in 0..n {
        if place[i] == usize::MAX {
            chance[[i, seeds.group[i]]] = 1.0;
        }
    }
    // The roots of the degrees: the product of two degrees may vanish.
    let root: Vec<f64> =
        unmarked.iter().map(|&i| links.row(i).1.iter().sum::<f64>().sqrt()).collect();
    // (I - N) y = b with N = D^-1/2 W D^-1/2 and x = D^-1/2 y: the diagonal is 1, no preconditioner
    // is left to choose.
    let mut b = vec![0.0; unmarked.len() * k];
    let rows = unmarked.iter().enumerate().map(|(at, &i)| {
        let mut row = Vec::new();
        for (j, w) in links.entries(i) {
            match place[j] {
                usize::MAX => b[at * k + seeds.group[j]] += w / root[at],
                to => row.push((to as u32, w / (root[at] * root[to]))),
            }
        }
        row
    });
    let rows: Vec<_> = rows.collect();
    let inner = Csr::from_rows(unmarked.len(), rows);
    let (y, iterations, converged) = conjugate_gradients(&inner, b, k, observer)?;
    for (at, &i) in unmarked.iter().enumerate() {
        let mut row = chance.row_mut(i);
        for (x, y) in row.iter_mut().zip(&y[at * k..]) {
            *x = y.max(0.0);
        }
        let sum = row.sum();
        if sum > 0.0 && sum.is_finite() {
            row /= sum;
        } else {
            row.fill(0.0);
            row[seeds.group[i]] = 1.0;
        }
    }
    Ok(Walked { chance, iterations, converged })
}

/// Nodes that are connected to a seed.
fn reachable(links: &Csr, seeds: &Seeds) -> Vec<bool> {
    let mut reached = seeds.marked.clone();
    let mut next: Vec<usize> = (0..reached.len()).filter(|&i| reached[i]).collect();
    while let Some(i) = next.pop() {
        for (j, w) in links.entries(i) {
            // A link as good as 0 is not walked.
            if w > f64::MIN_POSITIVE && !reached[j] {
                reached[j] = true;
                next.push(j);
            }
        }
    }
    reached
}

/// Solves `(I - N) Y = B` for k right sides at once, each with its own step lengths.
fn conjugate_gradients(
    inner: &Csr,
    b: Vec<f64>,
    k: usize,
    observer: &dyn Observer,
) -> Result<(Vec<f64>, usize, bool)> {
    let dots = |x: &[f64], y: &[f64]| {
        let mut sums = vec![0.0; k];
        for (x, y) in x.chunks_exact(k).zip(y.chunks_exact(k)) {
            for c in 0..k {
                sums[c] += x[c] * y[c];
            }
        }
        sums
    };
    let mut y = vec![0.0; b.len()];
    let mut direction = b.clone();
    let mut product = vec![0.0; b.len()];
    let mut residual = b;
    let mut norms = dots(&residual, &residual);
    let targets: Vec<f64> = norms.iter().map(|n| n * TOLERANCE * TOLERANCE).collect();
    let mut iterations = 0;
    while norms.iter().zip(&targets).any(|(n, t)| n > t) {
        if iterations == MAX_ITERATIONS {
            return Ok((y, iterations, false));
        }
        observer.check()?;
        iterations += 1;
        inner.multiply(&direction, &mut product, k);
        for (p, d) in product.iter_mut().zip(&direction) {
            *p = d - *p;
        }
        let curvature = dots(&direction, &product);
        let step: Vec<f64> = (0..k)
            .map(|c| {
                if norms[c] > targets[c] && curvature[c] > 0.0 {
                    norms[c] / curvature[c]
                } else {
                    0.0
                }
            })
            .collect();
        for at in 0..y.len() {
            y[at] += step[at % k] * direction[at];
            residual[at] -= step[at % k] * product[at];
        }
        let new = dots(&residual, &residual);
        for at in 0..y.len() {
            let c = at % k;
            let ratio = if norms[c] > 0.0 { new[c] / norms[c] } else { 0.0 };
            direction[at] = residual[at] + ratio * direction[at];
        }
        norms = new;
        if step.iter().all(|&s| s == 0.0) {
            // No direction is left in which anything can be gained.
            return Ok((y, iterations, false));
        }
    }
    Ok((y, iterations, true))
}
