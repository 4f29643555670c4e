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
