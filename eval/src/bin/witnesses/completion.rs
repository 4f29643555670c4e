//! Matrix completion: RMC (Yi 2014, Eq. 3.5) by an augmented Lagrangian method of a fixed penalty,
//! and MCCC (Eq. 5.8) by plain proximal gradient steps; both long.

use crate::numbers::{
    Matrix, best_clustering, dot, eigen, matrix, nuclear_norm, product, shrunk, transposed,
    with_values,
};
use crate::record::Case;
use crate::worlds::Random;

/// RMC: `min |A|_* + C |E|_1` where A + E agrees with the known entries; E is free elsewhere.
fn robust(known: &Matrix, is_known: &[Vec<bool>], c: f64) -> (Matrix, f64) {
    let n = known.len();
    let mu = 2.0;
    let (mut e, mut y) = (matrix(n, n, |_, _| 0.0), matrix(n, n, |_, _| 0.0));
    let mut a = e.clone();
    for _ in 0..6000 {
        let target = matrix(n, n, |i, j| known[i][j] - e[i][j] + y[i][j] / mu);
        let next = with_values(&target, |v| shrunk(v, 1.0 / mu));
        let moved = a.iter().flatten().zip(next.iter().flatten()).map(|(a, b)| (a - b).abs());
        let moved = moved.fold(0.0, f64::max);
        a = next;
        e = matrix(n, n, |i, j| {
            let left = known[i][j] - a[i][j] + y[i][j] / mu;
            if is_known[i][j] { shrunk(left, c / mu) } else { left }
        });
        let mut apart = 0.0f64;
        for i in 0..n {
            for j in 0..n {
                let residual = known[i][j] - a[i][j] - e[i][j];
                apart = apart.max(residual.abs());
                y[i][j] += mu * residual;
            }
        }
        if moved.max(apart) < 1e-12 {
            break;
        }
    }
    let errors = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| is_known[i][j]);
    let objective =
        nuclear_norm(&a) + c * errors.map(|(i, j)| (known[i][j] - a[i][j]).abs()).sum::<f64>();
    (a, objective)
}

fn robust_case(name: &str, sizes: &[usize], share: f64, wrong: f64, factor: f64) -> Case {
    let mut random = Random::new(7);
    let n: usize = sizes.iter().sum();
    let truth: Vec<usize> = sizes.iter().enumerate().flat_map(|(c, &s)| vec![c; s]).collect();
    let (mut known, mut is_known) = (matrix(n, n, |_, _| 0.0), vec![vec![false; n]; n]);
    let mut entries = Vec::new();
    for i in 0..n {
        for j in 0..=i {
            let (seen, flipped) = (random.uniform() < share, random.uniform() < wrong);
            if i != j && !seen {
                continue;
            }
            let value = f64::from(u8::from((truth[i] == truth[j]) != (flipped && i != j)));
            (known[i][j], known[j][i]) = (value, value);
            (is_known[i][j], is_known[j][i]) = (true, true);
            entries.push((i, j, value));
        }
    }
    // C = factor / sqrt(n p), p the share of known entries.
    let count = is_known.iter().flatten().filter(|k| **k).count();
    let c = factor / (count as f64 / n as f64).sqrt();
    let (a, objective) = robust(&known, &is_known, c);
    let values: Vec<f64> = eigen(&a).0.into_iter().filter(|v| v.abs() > 1e-3).collect();
    Case::new(name)
        .whole("objects", n)
        .pairs("known", &entries)
        .number("c", c)
        .number("objective", objective)
        .numbers("eigenvalues", &values)
        .rows("completed_first_rows", &a[..3].to_vec())
}

/// MCCC: `min |M|_* + C/2 sum over links of (z_i' M z_j - s)^2` over symmetric M, each link once;
/// among positive semidefinite ones where asked.
fn in_basis(z: &Matrix, links: &[(usize, usize, f64)], c: f64, semidefinite: bool) -> Matrix {
    let k = z[0].len();
    let steepest: f64 = links.iter().map(|&(i, j, _)| dot(&z[i], &z[i]) * dot(&z[j], &z[j])).sum();
    let step = 1.0 / (c * steepest);
    let mut m = matrix(k, k, |_, _| 0.0);
    for _ in 0..60_000 {
        let mut gradient = matrix(k, k, |_, _| 0.0);
        for &(i, j, s) in links {
            let image: Vec<f64> = m.iter().map(|row| dot(row, &z[j])).collect();
            let residual = dot(&z[i], &image) - s;
            for a in 0..k {
                for b in 0..k {
                    gradient[a][b] += 0.5 * c * residual * (z[i][a] * z[j][b] + z[j][a] * z[i][b]);
                }
            }
        }
        let target = matrix(k, k, |a, b| m[a][b] - step * gradient[a][b]);
        let next = with_values(&target, |v| {
            let v = shrunk(v, step);
            if semidefinite { v.max(0.0) } else { v }
        });
        let moved = m.iter().flatten().zip(next.iter().flatten()).map(|(a, b)| (a - b).abs());
        let moved = moved.fold(0.0, f64::max);
        m = next;
        if moved < 1e-13 {
            break;
        }
    }
    m
}

fn value(z: &Matrix, links: &[(usize, usize, f64)], c: f64, m: &Matrix) -> f64 {
    let similarity = product(&product(z, m), &transposed(z));
    let loss: f64 = links.iter().map(|&(i, j, s)| (similarity[i][j] - s).powi(2)).sum();
    nuclear_norm(m) + 0.5 * c * loss
}

/// Features with planted classes; the basis is that of the thesis, all left singular vectors.
fn basis_case(name: &str, n: usize, d: usize, classes: usize, c: f64, seed: u64) -> Option<Case> {
    let mut random = Random::new(seed);
    let truth: Vec<usize> = (0..n).map(|i| i % classes).collect();
    let x = matrix(n, d, |_, _| 0.0);
    let x: Matrix = x
        .iter()
        .zip(&truth)
        .map(|(row, &t)| {
            let centre = |j: usize| if j % classes == t { 2.0 } else { 0.5 };
            // Four digits, as they are written.
            let entry = |j: usize| ((centre(j) + 0.6 * random.normal()) * 1e4).round() / 1e4;
            (0..row.len()).map(entry).collect()
        })
        .collect();
    // Left singular vectors: X v / sigma over the eigenvectors of X'X.
    let (values, v) = eigen(&product(&transposed(&x), &x));
    let scaled = product(&x, &v);
    let z = matrix(n, d, |i, j| scaled[i][j] / values[j].sqrt());
    let mut links = Vec::new();
    while links.len() < 3 * n {
        let (i, j) = (random.below(n), random.below(n));
        if i < j && !links.iter().any(|l: &(usize, usize, f64)| (l.0, l.1) == (i, j)) {
            links.push((i, j, f64::from(u8::from(truth[i] == truth[j]))));
        }
    }
    let (free, semidefinite) = (in_basis(&z, &links, c, false), in_basis(&z, &links, c, true));
    let similarity = |m: &Matrix| product(&product(&z, m), &transposed(&z));
    // The read-out of the thesis: k-means on the first r eigenvectors of Z M Z'.
    let (leading, vectors) = eigen(&free);
    if leading[classes - 1] - leading[classes] < 1e-3 {
        return None;
    }
    let rows = product(&z, &vectors.iter().map(|r| r[..classes].to_vec()).collect());
    let (labels, _) = best_clustering(&rows, classes, seed)?;
    Some(
        Case::new(name)
            .whole("clusters", classes)
            .rows("features", &x)
            .pairs("links", &links)
            .number("c", c)
            .number("objective", value(&z, &links, c, &free))
            .number("semidefinite_objective", value(&z, &links, c, &semidefinite))
            .rows("semidefinite_similarity_first_rows", &similarity(&semidefinite)[..3].to_vec())
            .partition("leading_eigenvectors", &labels),
    )
}

pub(crate) fn cases() -> Vec<Case> {
    let robust = [
        robust_case("rmc, recovered", &[12, 10, 8], 0.8, 0.02, 1.3),
        robust_case("rmc, strict", &[14, 10], 0.6, 0.05, 4.0),
        robust_case("rmc, lenient", &[10, 9, 8, 5], 0.5, 0.1, 0.9),
    ];
    let basis = [("mccc, three", 48, 5, 3, 400.0), ("mccc, two", 30, 4, 2, 100.0)];
    let basis = basis.into_iter().map(|(name, n, d, k, c)| {
        (1..).find_map(|seed| basis_case(name, n, d, k, c, seed)).expect("some clear seed")
    });
    robust.into_iter().chain(basis).collect()
}
