//! Small symmetric matrices, row by row, and functions that Gaussian and Wishart factors need.

use consilience_num::dot;

/// Places in a symmetric D x D matrix of which only what is on and above the diagonal is kept.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// D.
    pub(super) d: usize,
    /// Row and column of each entry that is kept.
    pub(super) pairs: Vec<(usize, usize)>,
    /// The entry of row and column: D x D.
    pub(super) index: Vec<usize>,
    /// How often each entry occurs in the whole matrix: once or twice.
    pub(super) times: Vec<f64>,
}

impl Shape {
    pub(super) fn new(d: usize) -> Self {
        let pairs: Vec<(usize, usize)> = (0..d).flat_map(|r| (r..d).map(move |c| (r, c))).collect();
        let mut index = vec![0; d * d];
        for (at, &(r, c)) in pairs.iter().enumerate() {
            (index[r * d + c], index[c * d + r]) = (at, at);
        }
        let times = pairs.iter().map(|&(r, c)| if r == c { 1.0 } else { 2.0 }).collect();
        Shape { d, pairs, index, times }
    }

    /// P = D (D + 1) / 2, the entries that are kept.
    pub(super) fn p(&self) -> usize {
        self.pairs.len()
    }

    /// Numbers of a worker: the entries of W, and tau.
    pub(super) fn q(&self) -> usize {
        self.p() + 1
    }

    /// The place of row r and column c.
    pub(super) fn at(&self, r: usize, c: usize) -> usize {
        self.index[r * self.d + c]
    }

    /// The whole matrix.
    pub(super) fn full(&self, kept: &[f64]) -> Vec<f64> {
        self.index.iter().map(|&at| kept[at]).collect()
    }
}

/// to += times x.
pub(super) fn add(to: &mut [f64], times: f64, x: &[f64]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += times * x);
}

/// A row-major matrix with as many columns as x has entries, times x.
pub(super) fn times(matrix: &[f64], x: &[f64], to: &mut [f64]) {
    for (to, row) in to.iter_mut().zip(matrix.chunks_exact(x.len())) {
        *to = dot(row, x);
    }
}

/// x' A y for a whole matrix A.
pub(super) fn bilinear(a: &[f64], x: &[f64], y: &[f64]) -> f64 {
    a.chunks_exact(y.len()).zip(x).map(|(row, x)| x * dot(row, y)).sum()
}

/// Replaces a positive definite n x n matrix by its inverse and gives the logarithm of its
/// determinant; `None`, the matrix being of no more use, where it is not positive definite.
pub(super) fn invert(a: &mut [f64], n: usize) -> Option<f64> {
    let mut log_det = 0.0;
    // The Cholesky factor, below the diagonal.
    for j in 0..n {
        let (above, row) = a.split_at_mut(j * n);
        for i in 0..j {
            let known = dot(&row[..i], &above[i * n..][..i]);
            row[i] = (row[i] - known) / above[i * n + i];
        }
        let left = row[j] - dot(&row[..j], &row[..j]);
        if !(left > 0.0) || left.is_infinite() {
            return None;
        }
        log_det += left.ln();
        row[j] = left.sqrt();
    }
    // Its inverse, in place.
    for j in 0..n {
        a[j * n + j] = 1.0 / a[j * n + j];
        for i in j + 1..n {
            let sum: f64 = (j..i).map(|m| a[i * n + m] * a[m * n + j]).sum();
            a[i * n + j] = -sum / a[i * n + i];
        }
    }
    // L^-T L^-1.
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (i..n).map(|m| a[m * n + i] * a[m * n + j]).sum();
            (a[i * n + j], a[j * n + i]) = (sum, sum);
        }
    }
    Some(log_det)
}

/// The derivative of ln Gamma.
pub(super) fn digamma(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 10.0 {
        below -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series =
        y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y / 132.0))));
    below + x.ln() - 0.5 / x - series
}

/// tanh(xi / 2) / (2 xi) for xi squared: twice the curvature of the bound on the logistic function
/// that touches it at xi.
pub(super) fn curvature(square: f64) -> f64 {
    if square < 1e-4 {
        return 0.25 - square / 48.0;
    }
    let xi = square.sqrt();
    let e = (-xi).exp();
    (1.0 - e) / ((1.0 + e) * 2.0 * xi)
}

/// ln of the logistic function at xi, less xi / 2, for xi squared: what the bound has beside the
/// terms in the argument.
pub(super) fn constant(square: f64) -> f64 {
    let xi = square.max(0.0).sqrt();
    -(-xi).exp().ln_1p() - 0.5 * xi
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_and_determinants() {
        // [4 2 1; 2 5 3; 1 3 6] has determinant 67.
        let a = [4.0, 2.0, 1.0, 2.0, 5.0, 3.0, 1.0, 3.0, 6.0];
        let mut b = a;
        assert!((invert(&mut b, 3).unwrap() - 67_f64.ln()).abs() < 1e-14);
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|m| a[i * 3 + m] * b[m * 3 + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
        assert!(invert(&mut [1.0, 2.0, 2.0, 1.0], 2).is_none());
        assert!(invert(&mut [f64::NAN], 1).is_none());
    }

    #[test]
    fn digamma_is_the_derivative_of_ln_gamma() {
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-13);
        for x in [0.3, 2.5, 9.9, 40.0] {
            let slope = (libm::lgamma(x + 1e-5) - libm::lgamma(x - 1e-5)) / 2e-5;
            assert!((digamma(x) - slope).abs() < 1e-7, "{x}");
            assert!((digamma(x + 1.0) - digamma(x) - 1.0 / x).abs() < 1e-12);
        }
    }

    /// The bound lies below the logistic function and touches it at xi and -xi.
    #[test]
    fn the_bound_touches() {
        let bound = |x: f64, xi: f64| {
            constant(xi * xi) + 0.5 * x - 0.5 * curvature(xi * xi) * (x * x - xi * xi)
        };
        let exact = |x: f64| -(-x).exp().ln_1p();
        for xi in [1e-3, 0.4, 2.0, 9.0] {
            for x in [-xi, xi] {
                assert!((bound(x, xi) - exact(x)).abs() < 1e-12, "{x} {xi}");
            }
            for x in [-8.0, -1.0, 0.0, 0.5, 6.0] {
                assert!(bound(x, xi) <= exact(x) + 1e-12, "{x} {xi}");
            }
        }
    }
}
