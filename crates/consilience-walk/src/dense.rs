//! G = sum over t of P^t (P^t)' as a dense matrix, in two ways that agree.

use consilience_core::{Error, Observer, Result, Stop, room};
use consilience_num::eigen::try_symmetric_eigen;
use consilience_num::reduce::each_chunk;
use consilience_num::sparse::Csr;
use rayon::prelude::*;

use crate::Transition;

/// Bytes of the panel that one product reads at random: it has to stay in the second-level cache.
const PANEL_BYTES: usize = 1 << 20;
/// Rows of a product that are transposed together.
const STRIP: usize = 8;
/// Rows of a matrix that one task fills.
const TILE: usize = 64;

/// G by Horner's rule, `G_t = P (I + G_(t-1)) P'`: 2 T products with the sparse P, no cancellation,
/// so that even the smallest entries keep their relative accuracy.
///
/// The result is symmetric up to rounding. O(T nnz n) time, two n x n matrices.
pub(crate) fn by_products(p: &Csr, length: usize, observer: &dyn Observer) -> Result<Vec<f64>> {
    let n = p.n_rows();
    let mut g = room::zeros(n * n)?;
    let mut half = room::zeros(n * n)?;
    // Memory that is read before it is written is given by the system twice.
    each_chunk(&mut g, TILE * n.max(1), &|_, rows: &mut [f64]| rows.fill(0.0));
    for t in 0..length {
        transposed_product(p, &g, true, &mut half, observer);
        transposed_product(p, &half, false, &mut g, observer);
        // A cancelled product is left unfinished: nobody may read it.
        observer.check()?;
        observer.progress("similarity", t + 1, length);
    }
    Ok(g)
}

/// `out = (P (X + I))'` or `(P X)'`, a panel of columns at a time.
fn transposed_product(
    p: &Csr,
    x: &[f64],
    plus_identity: bool,
    out: &mut [f64],
    observer: &dyn Observer,
) {
    let n = p.n_rows();
    if n == 0 {
        return;
    }
    let width = match PANEL_BYTES / (8 * n) {
        64.. => 64,
        32.. => 32,
        16.. => 16,
        _ => 8,
    };
    out.par_chunks_mut(width * n).enumerate().for_each_init(
        || (vec![0.0; n * width], vec![0.0; STRIP * width]),
        |(panel, strip), (c, out)| {
            if observer.cancelled() {
                return;
            }
            let left = c * width;
            let columns = out.len() / n;
            for (row, panel) in panel.chunks_exact_mut(width).enumerate() {
                panel[..columns].copy_from_slice(&x[row * n + left..][..columns]);
                panel[columns..].fill(0.0);
                if plus_identity && (left..left + columns).contains(&row) {
                    panel[row - left] += 1.0;
                }
            }
            for top in (0..n).step_by(STRIP) {
                let rows = STRIP.min(n - top);
                p.multiply_rows(top, panel, &mut strip[..rows * width], width);
                for (w, out) in out.chunks_exact_mut(n).enumerate() {
                    for r in 0..rows {
                        out[top + r] = strip[r * width + w];
                    }
                }
            }
        },
    );
}

/// G in closed form. With `D^-1/2 A D^-1/2 = U diag(l) U'`,
/// `G = D^-1/2 U [(U' D U) o Q] U' D^-1/2`, `Q_ab = sum over t of (l_a l_b)^t`: a geometric series
/// whose cost does not depend on T. Entries carry the rounding of the largest, so tiny ones lose
/// digits that the products keep.
///
/// O(n^3) time, a few n x n matrices.
pub(crate) fn by_eigenpairs(
    walk: &Transition,
    length: usize,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let n = walk.n_nodes();
    let linked: Vec<usize> = (0..n).filter(|&i| walk.degree()[i] > 0.0).collect();
    let mut place = vec![usize::MAX; n];
    for (at, &i) in linked.iter().enumerate() {
        place[i] = at;
    }
    let m = linked.len();
    let mut s = room::table::<f64>(m, m)?;
    for (at, &i) in linked.iter().enumerate() {
        for (j, a) in walk.affinity().entries(i) {
            s[[at, place[j]]] = a / (walk.degree()[i].sqrt() * walk.degree()[j].sqrt());
        }
    }
    observer.check()?;
    let eigen = try_symmetric_eigen(s.view())?
        .ok_or_else(|| Error::invalid("the walk's transition probabilities are not finite"))?;
    observer.check()?;
    let u = &eigen.vectors;
    let scale: Vec<f64> = linked.iter().map(|&i| walk.degree()[i].sqrt()).collect();
    let mut weighted = room::copied_table(u.view())?;
    for (mut row, &r) in weighted.rows_mut().into_iter().zip(&scale) {
        row *= r;
    }
    let mut core = weighted.t().dot(&weighted);
    observer.check()?;
    for ((a, b), c) in core.indexed_iter_mut() {
        *c *= geometric(eigen.values[a] * eigen.values[b], length);
    }
    let mut left = room::copied_table(u.view())?;
    for (mut row, &r) in left.rows_mut().into_iter().zip(&scale) {
        row /= r;
    }
    let half = left.dot(&core);
    observer.check()?;
    let inner = half.dot(&left.t());
    observer.check()?;
    let mut g = room::zeros(n * n)?;
    for (a, &i) in linked.iter().enumerate() {
        for (b, &j) in linked.iter().enumerate() {
            // Rounding may leave a tiny negative number where no walk goes.
            g[i * n + j] = inner[[a, b]].max(0.0);
        }
    }
    observer.progress("similarity", length, length);
    Ok(g)
}

/// x + x^2 + ... + x^T, stable around x = 1.
pub(crate) fn geometric(x: f64, length: usize) -> f64 {
    let t = length as f64;
    if x == 1.0 {
        return t;
    }
    if x > 0.0 {
        // 1 - x^T without cancellation.
        return x * (-(t * (x - 1.0).ln_1p()).exp_m1()) / (1.0 - x);
    }
    x * (1.0 - x.powi(length as i32)) / (1.0 - x)
}

/// The cosine of the trajectories: `G_ij / sqrt(G_ii G_jj)`. Isolated microclusters are similar to
/// themselves alone. Reads the upper triangle and writes a matrix that is symmetric to the last
/// bit.
pub(crate) fn cosine(g: &[f64], n: usize, observer: &dyn Observer) -> Result<Vec<f64>> {
    let norm: Vec<f64> = (0..n).map(|i| g[i * n + i].sqrt()).collect();
    let (mut out, stop) = (room::zeros(n * n)?, Stop::new(observer));
    each_chunk(&mut out, TILE * n.max(1), &|c, strip: &mut [f64]| {
        if stop.asked() {
            return;
        }
        let top = c * TILE;
        for left in (0..n).step_by(TILE) {
            for (r, row) in strip.chunks_exact_mut(n).enumerate() {
                let i = top + r;
                for j in left..n.min(left + TILE) {
                    let both = norm[i] * norm[j];
                    row[j] = if i == j {
                        1.0
                    } else if both > 0.0 {
                        (g[i.min(j) * n + i.max(j)] / both).min(1.0)
                    } else {
                        0.0
                    };
                }
            }
        }
    });
    stop.check()?;
    Ok(out)
}

/// Any measure of `<u, v>`, `<u, u>` and `<v, v>`; isolated microclusters are similar to themselves
/// alone. Reads the upper triangle and writes a matrix that is symmetric to the last bit.
pub(crate) fn measured(
    g: &[f64],
    n: usize,
    measure: fn(f64, f64, f64) -> f64,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let (mut out, stop) = (room::zeros(n * n)?, Stop::new(observer));
    let entry = |i: usize, j: usize| {
        let (low, high) = (i.min(j), i.max(j));
        let (own, other) = (g[low * n + low], g[high * n + high]);
        if own > 0.0 && other > 0.0 {
            measure(g[low * n + high], own, other)
        } else {
            f64::from(u8::from(i == j))
        }
    };
    each_chunk(&mut out, TILE * n.max(1), &|c, rows: &mut [f64]| {
        for (r, row) in rows.chunks_exact_mut(n).enumerate().take_while(|_| !stop.asked()) {
            row.iter_mut().enumerate().for_each(|(j, out)| *out = entry(c * TILE + r, j));
        }
    });
    stop.check()?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_series_around_every_corner() {
        for x in [0.0, 1e-300, 0.3, 0.999_999_999, 1.0, 1.0 + 1e-12, -0.5, -1.0, 1.0 - 1e-16] {
            for t in [1, 2, 7, 20, 333] {
                let mut power = 1.0;
                let mut sum = 0.0;
                for _ in 0..t {
                    power *= x;
                    sum += power;
                }
                let fast = geometric(x, t);
                assert!((fast - sum).abs() <= 1e-12 * sum.abs().max(1.0), "{x} {t}: {fast} {sum}");
            }
        }
    }
}
