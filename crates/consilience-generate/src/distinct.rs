//! Equal rows, collapsed: methods that compare rows by similarity then cannot tear duplicates
//! apart.

use std::cmp::Ordering;

use ndarray::{Array2, ArrayView1, Axis};

/// The distinct rows of a table.
pub(crate) struct Distinct {
    /// One row of each kind, in the order of first occurrence.
    pub rows: Array2<f64>,
    /// How many objects have that row.
    pub weights: Vec<f64>,
    /// Kind of each object.
    pub kind: Vec<u32>,
}

impl Distinct {
    pub(crate) fn new(x: Array2<f64>) -> Self {
        let n = x.nrows();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_unstable_by(|&a, &b| compare(x.row(a), x.row(b)).then(a.cmp(&b)));
        // The first object of each kind stands for it.
        let mut first = vec![0usize; n];
        for (p, &i) in order.iter().enumerate() {
            first[i] = match p.checked_sub(1).map(|q| order[q]) {
                Some(before) if compare(x.row(before), x.row(i)).is_eq() => first[before],
                _ => i,
            };
        }
        let mut number = vec![0u32; n];
        let (mut kept, mut weights) = (Vec::new(), Vec::new());
        let mut kind = Vec::with_capacity(n);
        for i in 0..n {
            if first[i] == i {
                number[i] = kept.len() as u32;
                kept.push(i);
                weights.push(0.0);
            }
            kind.push(number[first[i]]);
            weights[kind[i] as usize] += 1.0;
        }
        let rows = if kept.len() == n { x } else { x.select(Axis(0), &kept) };
        Distinct { rows, weights, kind }
    }

    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }
}

/// Labels of the objects from labels of their kinds.
pub(crate) fn spread(kind: &[u32], labels: &[u32]) -> Vec<u32> {
    kind.iter().map(|&k| labels[k as usize]).collect()
}

fn compare(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> Ordering {
    a.iter()
        .zip(b)
        .map(|(x, y)| x.partial_cmp(y).unwrap_or(Ordering::Equal))
        .find(|o| o.is_ne())
        .unwrap_or(Ordering::Equal)
}
