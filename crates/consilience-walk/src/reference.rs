//! The paper, word for word, on dense arrays: shares nothing with the fast solvers.

use consilience_core::Ensemble;
use ndarray::Array2;

/// Everything up to PTS for one ensemble.
pub(crate) struct Reference {
    /// Objects of each microcluster.
    pub(crate) groups: Vec<Vec<usize>>,
    pub(crate) elite: Array2<f64>,
    pub(crate) p: Array2<f64>,
    /// Concatenated trajectories, one row each.
    pub(crate) trajectories: Array2<f64>,
    pub(crate) pts: Array2<f64>,
}

/// Every row of labels that occurs, and the objects that have it.
fn kinds(ensemble: &Ensemble) -> (Vec<Vec<Option<usize>>>, Vec<Vec<usize>>) {
    let mut rows: Vec<Vec<Option<usize>>> = Vec::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in 0..ensemble.n_objects() {
        let row: Vec<Option<usize>> = ensemble.members().iter().map(|p| p.label(i)).collect();
        if row.iter().all(Option::is_none) {
            continue;
        }
        match rows.iter().position(|r| *r == row) {
            Some(g) => groups[g].push(i),
            None => {
                rows.push(row);
                groups.push(vec![i]);
            }
        }
    }
    (rows, groups)
}

impl Reference {
    pub(crate) fn new(ensemble: &Ensemble, k: usize, length: usize) -> Self {
        let (rows, groups) = kinds(ensemble);
        let n = rows.len();
        let mut w = Array2::<f64>::zeros((n, n));
        for i in 0..n {
            for j in 0..n {
                let both: Vec<_> = rows[i]
                    .iter()
                    .zip(&rows[j])
                    .filter(|(a, b)| a.is_some() && b.is_some())
                    .collect();
                let together = both.iter().filter(|(a, b)| a == b).count();
                if i != j && !both.is_empty() {
                    w[[i, j]] = together as f64 / both.len() as f64;
                }
            }
        }
        let threshold: Vec<f64> = (0..n)
            .map(|i| {
                let mut row: Vec<f64> = (0..n).filter(|&j| j != i).map(|j| w[[i, j]]).collect();
                row.sort_by(|a, b| b.total_cmp(a));
                row.get(k - 1).copied().unwrap_or(0.0)
            })
            .collect();
        let elite = Array2::from_shape_fn((n, n), |(i, j)| {
            let v = w[[i, j]];
            if v >= threshold[i] || v >= threshold[j] { v } else { 0.0 }
        });
        let size = |j: usize| groups[j].len() as f64;
        let p = Array2::from_shape_fn((n, n), |(i, j)| {
            let all: f64 = (0..n).map(|l| size(l) * elite[[i, l]]).sum();
            if all == 0.0 { 0.0 } else { size(j) * elite[[i, j]] / all }
        });
        let mut trajectories = Array2::zeros((n, n * length));
        let mut power = Array2::<f64>::eye(n);
        for t in 0..length {
            power = power.dot(&p);
            trajectories.slice_mut(ndarray::s![.., t * n..(t + 1) * n]).assign(&power);
        }
        let pts = Array2::from_shape_fn((n, n), |(i, j)| {
            if i == j {
                return 1.0;
            }
            let (a, b) = (trajectories.row(i), trajectories.row(j));
            let norms = a.dot(&a).sqrt() * b.dot(&b).sqrt();
            if norms == 0.0 { 0.0 } else { a.dot(&b) / norms }
        });
        Reference { groups, elite, p, trajectories, pts }
    }
}
