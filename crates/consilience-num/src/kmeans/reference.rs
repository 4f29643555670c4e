//! k-means straight from the definition, sharing nothing with the kernels.

use ndarray::ArrayView2;

pub(super) fn distance(x: ArrayView2<'_, f64>, i: usize, c: ArrayView2<'_, f64>, a: usize) -> f64 {
    (0..x.ncols()).map(|j| (x[[i, j]] - c[[a, j]]).powi(2)).sum()
}

/// Nearest centre of every row, ties to the lowest.
pub(super) fn assign(x: ArrayView2<'_, f64>, c: ArrayView2<'_, f64>) -> Vec<u32> {
    let nearest = |i: usize| {
        let mut best = 0;
        for a in 1..c.nrows() {
            if distance(x, i, c, a) < distance(x, i, c, best) {
                best = a;
            }
        }
        best as u32
    };
    (0..x.nrows()).map(nearest).collect()
}

/// Lloyd's iterations; `None` where a cluster becomes empty, on which the definition is silent.
pub(super) fn lloyd(
    x: ArrayView2<'_, f64>,
    start: ArrayView2<'_, f64>,
    iterations: usize,
) -> Option<(Vec<u32>, f64)> {
    let mut c = start.to_owned();
    for _ in 0..iterations {
        let labels = assign(x, c.view());
        for a in 0..c.nrows() {
            let members: Vec<usize> = (0..x.nrows()).filter(|&i| labels[i] as usize == a).collect();
            if members.is_empty() {
                return None;
            }
            for j in 0..x.ncols() {
                c[[a, j]] = members.iter().map(|&i| x[[i, j]]).sum::<f64>() / members.len() as f64;
            }
        }
    }
    let labels = assign(x, c.view());
    if (0..c.nrows()).any(|a| !labels.contains(&(a as u32))) {
        return None;
    }
    let inertia = (0..x.nrows()).map(|i| distance(x, i, c.view(), labels[i] as usize)).sum();
    Some((labels, inertia))
}
