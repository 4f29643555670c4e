//! Mean field: one object after the other, all else fixed.

use ndarray::Array2;

use super::rates::{Rates, Sums};
use crate::Answers;

/// Where each object occurs: task, group and worker.
#[derive(Clone, Debug)]
pub(crate) struct Occurrences {
    offsets: Vec<usize>,
    entries: Vec<(u32, u32, u32)>,
}

impl Occurrences {
    pub(crate) fn of(answers: &Answers) -> Self {
        let n = answers.answered().len();
        let mut offsets = vec![0usize; n + 1];
        for task in answers.tasks() {
            for &i in task.groups().flatten() {
                offsets[i as usize + 1] += 1;
            }
        }
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut entries = vec![(0, 0, 0); offsets[n]];
        for (t, task) in answers.tasks().enumerate() {
            for (g, items) in task.groups().enumerate() {
                for &i in items {
                    entries[next[i as usize]] = (t as u32, (task.first_group + g) as u32, task.worker as u32);
                    next[i as usize] += 1;
                }
            }
        }
        Occurrences { offsets, entries }
    }

    pub(crate) fn of_object(&self, i: usize) -> &[(u32, u32, u32)] {
        &self.entries[self.offsets[i]..self.offsets[i + 1]]
    }
}

/// Log-odds of together (in c) against apart: of an answer "same", and of an answer "apart".
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    pub(crate) same: Array2<f64>,
    pub(crate) differ: Array2<f64>,
}

impl Weights {
    pub(crate) fn of(rates: &Rates) -> Self {
        let at = |(w, c): (usize, usize)| (rates.within[[w, c]], rates.apart[w]);
        Weights {
            same: Array2::from_shape_fn(rates.within.dim(), |wc| {
                let (p, r) = at(wc);
                (p / r).ln()
            }),
            differ: Array2::from_shape_fn(rates.within.dim(), |wc| {
                let (p, r) = at(wc);
                ((1.0 - p) / (1.0 - r)).ln()
            }),
        }
    }
}

/// Gives every object the memberships that are best while all others stay, in order; returns the largest
/// change of a membership. `ln_share` is the logarithm of the clusters' shares.
pub(crate) fn sweep(
    q: &mut Array2<f64>,
    sums: &mut Sums,
    occurrences: &Occurrences,
    weights: &Weights,
    ln_share: &[f64],
) -> f64 {
    let k = ln_share.len();
    let mut field = vec![0.0; k];
    let mut largest: f64 = 0.0;
    for (i, mut own) in q.rows_mut().into_iter().enumerate() {
        let own = own.as_slice_mut().unwrap_or_default();
        field.copy_from_slice(ln_share);
        for &(task, group, worker) in occurrences.of_object(i) {
            let of_group = &sums.groups[group as usize * k..][..k];
            let of_task = &sums.tasks[task as usize * k..][..k];
            let same = weights.same.row(worker as usize);
            let differ = weights.differ.row(worker as usize);
            for c in 0..k {
                field[c] += same[c] * (of_group[c] - own[c]) + differ[c] * (of_task[c] - of_group[c]);
            }
        }
        softmax(&mut field);
        for c in 0..k {
            let change = field[c] - own[c];
            largest = largest.max(change.abs());
            own[c] = field[c];
            field[c] = change;
        }
        for &(task, group, _) in occurrences.of_object(i) {
            for c in 0..k {
                sums.groups[group as usize * k + c] += field[c];
                sums.tasks[task as usize * k + c] += field[c];
            }
        }
    }
    largest
}

/// exp and scaling to sum 1, in place.
fn softmax(x: &mut [f64]) {
    let most = x.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
    let mut sum = 0.0;
    for v in x.iter_mut() {
        *v = (*v - most).exp();
        sum += *v;
    }
    for v in x.iter_mut() {
        *v /= sum;
    }
}
