//! Dense matrices as rows, products by three loops, eigenpairs by Jacobi rotations, k-means by
//! Lloyd's steps from many starts.

use crate::worlds::Random;

pub(crate) type Matrix = Vec<Vec<f64>>;

pub(crate) fn matrix(n: usize, m: usize, entry: impl Fn(usize, usize) -> f64) -> Matrix {
    (0..n).map(|i| (0..m).map(|j| entry(i, j)).collect()).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    matrix(a.len(), b[0].len(), |i, j| (0..b.len()).map(|l| a[i][l] * b[l][j]).sum())
}

pub(crate) fn transposed(a: &Matrix) -> Matrix {
    matrix(a[0].len(), a.len(), |i, j| a[j][i])
}

pub(crate) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Eigenvalues of a symmetric matrix, the largest first, and its eigenvectors as columns, by
/// rotations until nothing is left beside the diagonal.
pub(crate) fn eigen(a: &Matrix) -> (Vec<f64>, Matrix) {
    let n = a.len();
    let (mut a, mut v) = (a.clone(), matrix(n, n, |i, j| f64::from(u8::from(i == j))));
    for _ in 0..100 {
        let beside: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        let all: f64 = a.iter().flatten().map(|x| x * x).sum();
        if beside <= 1e-34 * all {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut v, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&x, &y| a[y][y].total_cmp(&a[x][x]));
    let values = order.iter().map(|&c| a[c][c]).collect();
    (values, matrix(n, n, |i, c| v[i][order[c]]))
}

fn rotate(a: &mut Matrix, v: &mut Matrix, p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let t = if theta == 0.0 { 1.0 } else { t };
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut().chain(v.iter_mut()) {
        let (x, y) = (row[p], row[q]);
        row[p] = c * x - s * y;
        row[q] = s * x + c * y;
    }
    let (one, other) = (a[p].clone(), a[q].clone());
    a[p] = one.iter().zip(&other).map(|(x, y)| c * x - s * y).collect();
    a[q] = one.iter().zip(&other).map(|(x, y)| s * x + c * y).collect();
}

/// The symmetric matrix with its eigenvalues changed.
pub(crate) fn with_values(a: &Matrix, change: impl Fn(f64) -> f64) -> Matrix {
    let (values, vectors) = eigen(a);
    let changed: Vec<f64> = values.into_iter().map(change).collect();
    let n = a.len();
    let scaled = matrix(n, n, |i, c| vectors[i][c] * changed[c]);
    product(&scaled, &transposed(&vectors))
}

/// Towards 0 by so much, at most to 0.
pub(crate) fn shrunk(x: f64, by: f64) -> f64 {
    (x.abs() - by).max(0.0) * x.signum()
}

pub(crate) fn nuclear_norm(a: &Matrix) -> f64 {
    eigen(a).0.iter().map(|v| v.abs()).sum()
}

/// Rows of length 1.
pub(crate) fn unit_rows(rows: &Matrix) -> Matrix {
    let unit = |r: &Vec<f64>| {
        let norm = dot(r, r).sqrt();
        r.iter().map(|x| x / norm).collect()
    };
    rows.iter().map(unit).collect()
}

/// Lloyd's steps from these centres: labels and inertia.
pub(crate) fn lloyd(rows: &Matrix, mut centres: Matrix) -> (Vec<usize>, f64) {
    let mut labels = vec![usize::MAX; rows.len()];
    loop {
        let nearest = |row: &Vec<f64>| {
            let d: Vec<f64> = centres.iter().map(|c| squared_distance(row, c)).collect();
            (0..d.len()).min_by(|&a, &b| d[a].total_cmp(&d[b])).unwrap_or(0)
        };
        let next: Vec<usize> = rows.iter().map(nearest).collect();
        if next == labels {
            break;
        }
        labels = next;
        for (c, centre) in centres.iter_mut().enumerate() {
            let own: Vec<&Vec<f64>> =
                rows.iter().zip(&labels).filter(|(_, l)| **l == c).map(|(r, _)| r).collect();
            for (j, x) in centre.iter_mut().enumerate().filter(|_| !own.is_empty()) {
                *x = own.iter().map(|r| r[j]).sum::<f64>() / own.len() as f64;
            }
        }
    }
    let inertia = rows.iter().zip(&labels).map(|(r, &l)| squared_distance(r, &centres[l])).sum();
    (numbered(&labels), inertia)
}

/// The best of 300 starts at random rows; none where another clustering is within 2 % of it.
pub(crate) fn best_clustering(rows: &Matrix, k: usize, seed: u64) -> Option<(Vec<usize>, f64)> {
    let mut random = Random::new(seed);
    let mut found: Vec<(Vec<usize>, f64)> = Vec::new();
    for _ in 0..300 {
        let centres = (0..k).map(|_| rows[random.below(rows.len())].clone()).collect();
        let next = lloyd(rows, centres);
        if !found.iter().any(|f| f.0 == next.0) {
            found.push(next);
        }
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let clear = found.len() < 2 || found[1].1 > 1.02 * found[0].1 + 1e-6;
    clear.then(|| found.swap_remove(0))
}

/// Labels numbered by first object.
pub(crate) fn numbered(labels: &[usize]) -> Vec<usize> {
    let mut seen: Vec<usize> = Vec::new();
    let mut number = |l: &usize| match seen.iter().position(|s| s == l) {
        Some(at) => at,
        None => {
            seen.push(*l);
            seen.len() - 1
        }
    };
    labels.iter().map(&mut number).collect()
}
