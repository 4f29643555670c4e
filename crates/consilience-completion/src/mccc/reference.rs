//! Eq. 5.8 straight from the thesis: the N x N matrix Z M Z' and plain proximal gradient steps,
//! long.

use consilience_num::eigen::symmetric_eigen;
use ndarray::Array2;

/// `|M|_* + C/2 |P(Z M Z' - S)|_F^2`, every pair once.
pub(super) fn objective(
    z: &Array2<f64>,
    links: &[(usize, usize, f64)],
    c: f64,
    m: &Array2<f64>,
) -> f64 {
    let similarity = z.dot(m).dot(&z.t());
    let nuclear: f64 = symmetric_eigen(m.view()).unwrap().values.iter().map(|v| v.abs()).sum();
    let loss: f64 = links.iter().map(|&(i, j, s)| (similarity[[i, j]] - s).powi(2)).sum();
    nuclear + 0.5 * c * loss
}

/// Algorithm 1 of the thesis, line by line but with whole matrices: the iterate after every probing
/// matrix. `residual` is `P(Z M Z' - S)`, half of every pair on either side.
pub(super) fn algorithm_1(
    z: &Array2<f64>,
    links: &[(usize, usize, f64)],
    c: f64,
    rank: usize,
    probes: &[(Array2<f64>, f64)],
) -> Vec<Array2<f64>> {
    let (n, k) = z.dim();
    let mut m = Array2::<f64>::zeros((k, k));
    let mut path = Vec::new();
    for (h, eta) in probes {
        let similarity = z.dot(&m).dot(&z.t());
        let mut residual = Array2::<f64>::zeros((n, n));
        for &(i, j, s) in links {
            residual[[i, j]] = 0.5 * (similarity[[i, j]] - s);
            residual[[j, i]] = 0.5 * (similarity[[j, i]] - s);
        }
        let gradient = polar(&m, rank) + z.t().dot(&residual).dot(z) * c;
        m = truncated(&(&m - &(gradient.dot(h).dot(&h.t()) * *eta)), rank);
        path.push(m.clone());
    }
    path
}

/// Right singular vectors and values, the largest first, from `A'A`.
fn right_singular(a: &Array2<f64>) -> (Array2<f64>, Vec<f64>) {
    let eigen = symmetric_eigen(a.t().dot(a).view()).unwrap();
    (eigen.vectors, eigen.values.iter().map(|v| v.max(0.0).sqrt()).collect())
}

/// The best approximation of that rank.
fn truncated(a: &Array2<f64>, rank: usize) -> Array2<f64> {
    let (v, _) = right_singular(a);
    let v = v.slice(ndarray::s![.., ..rank.min(v.ncols())]);
    a.dot(&v).dot(&v.t())
}

/// `U V'` of the `rank` leading singular vectors, those of the value 0 left out.
fn polar(a: &Array2<f64>, rank: usize) -> Array2<f64> {
    let (v, sigma) = right_singular(a);
    let mut out = Array2::zeros(a.dim());
    for l in (0..rank.min(sigma.len())).filter(|&l| sigma[l] > 1e-6 * sigma[0]) {
        let right = v.column(l).insert_axis(ndarray::Axis(1)).to_owned();
        out += &(a.dot(&right).dot(&right.t()) / sigma[l]);
    }
    out
}

/// The minimiser, by `steps` plain steps of a length that is safe since
/// `|z_i z_j'| <= |z_i| |z_j|`.
pub(super) fn minimise(
    z: &Array2<f64>,
    links: &[(usize, usize, f64)],
    c: f64,
    semidefinite: bool,
    steps: usize,
) -> Array2<f64> {
    let (n, k) = z.dim();
    let norm = |i: usize| z.row(i).dot(&z.row(i));
    let length = c * links.iter().map(|l| norm(l.0) * norm(l.1)).sum::<f64>();
    let mut m = Array2::<f64>::zeros((k, k));
    for _ in 0..steps {
        let similarity = z.dot(&m).dot(&z.t());
        let mut residual = Array2::<f64>::zeros((n, n));
        for &(i, j, s) in links {
            let r = 0.5 * (similarity[[i, j]] - s);
            residual[[i, j]] += r;
            residual[[j, i]] += r;
        }
        let gradient = z.t().dot(&residual).dot(z) * c;
        let eigen = symmetric_eigen((&m - &(gradient / length)).view()).unwrap();
        let mut scaled = eigen.vectors.clone();
        for (mut column, &v) in scaled.columns_mut().into_iter().zip(&eigen.values) {
            let mut shrunk = (v.abs() - 1.0 / length).max(0.0).copysign(v);
            if semidefinite {
                shrunk = shrunk.max(0.0);
            }
            column *= shrunk;
        }
        m = scaled.dot(&eigen.vectors.t());
    }
    m
}
