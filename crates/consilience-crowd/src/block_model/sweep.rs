//! Mean field: one object after the other, all else fixed.

use ndarray::Array2;

use crate::answers::Answers;
use crate::expected_counts::{NEGLIGIBLE, Sums};
use crate::rates::Rates;

/// Where each object occurs: task, group and worker.
#[derive(Clone, Debug)]
pub(crate) struct Occurrences {
    offsets: Vec<usize>,
    entries: Vec<Occurrence>,
}

/// One occurrence of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Occurrence {
    task: u32,
    group: u32,
    worker: u32,
    /// Whether its group has other items, and whether the task has items outside the group.
    company: bool,
    outside: bool,
}

impl Occurrence {
    pub(crate) fn task(&self) -> usize {
        self.task as usize
    }

    pub(crate) fn group(&self) -> usize {
        self.group as usize
    }
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
        let mut entries = vec![Occurrence::default(); offsets[n]];
        for (t, task) in answers.tasks().enumerate() {
            for (g, items) in task.groups().enumerate() {
                for &i in items {
                    entries[next[i as usize]] = Occurrence {
                        task: t as u32,
                        group: (task.first_group + g) as u32,
                        worker: task.worker as u32,
                        company: items.len() > 1,
                        outside: items.len() < task.n_items(),
                    };
                    next[i as usize] += 1;
                }
            }
        }
        Occurrences { offsets, entries }
    }

    pub(crate) fn of_object(&self, i: usize) -> &[Occurrence] {
        &self.entries[self.offsets[i]..self.offsets[i + 1]]
    }
}

/// Log-odds against apart of an answer "same", and of an answer "apart".
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// Of both objects in cluster c: workers x k.
    pub(crate) same: Array2<f64>,
    pub(crate) differ: Array2<f64>,
    /// Of the objects in clusters c and d, the diagonal being the above: workers x k x k,
    /// symmetric. Only where the rates distinguish pairs of clusters.
    between: Option<[Vec<f64>; 2]>,
}

impl Weights {
    pub(crate) fn of(rates: &Rates) -> Self {
        let (workers, k) = rates.within.dim();
        let odds = |w: usize, p: f64| {
            let r = rates.apart[w];
            ((p / r).ln(), ((1.0 - p) / (1.0 - r)).ln())
        };
        let mut same = Array2::zeros((workers, k));
        let mut differ = Array2::zeros((workers, k));
        for ((w, c), &p) in rates.within.indexed_iter() {
            (same[[w, c]], differ[[w, c]]) = odds(w, p);
        }
        let between = rates.shifts.as_ref().map(|_| {
            let mut tables = [vec![0.0; workers * k * k], vec![0.0; workers * k * k]];
            for w in 0..workers {
                for c in 0..k {
                    tables[0][(w * k + c) * k + c] = same[[w, c]];
                    tables[1][(w * k + c) * k + c] = differ[[w, c]];
                    for d in 0..c {
                        let (yes, no) = odds(w, rates.across(w, c, d));
                        for at in [(w * k + c) * k + d, (w * k + d) * k + c] {
                            (tables[0][at], tables[1][at]) = (yes, no);
                        }
                    }
                }
            }
            tables
        });
        Weights { same, differ, between }
    }
}

/// Gives every object the memberships that are best while all others stay, in order; returns the
/// largest change of a membership. `ln_share` is the logarithm of the clusters' shares.
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
        for o in occurrences.of_object(i) {
            let of_group = &sums.groups[o.group as usize * k..][..k];
            let of_task = &sums.tasks[o.task as usize * k..][..k];
            let w = o.worker as usize;
            if let Some([same, differ]) = &weights.between {
                if o.company {
                    let table = &same[w * k * k..][..k * k];
                    add_product(&mut field, table, of_group.iter().zip(&*own).map(|(s, x)| s - x));
                }
                if o.outside {
                    let table = &differ[w * k * k..][..k * k];
                    add_product(
                        &mut field,
                        table,
                        of_task.iter().zip(of_group).map(|(t, s)| t - s),
                    );
                }
            } else {
                let same = weights.same.row(w);
                let differ = weights.differ.row(w);
                for c in 0..k {
                    field[c] +=
                        same[c] * (of_group[c] - own[c]) + differ[c] * (of_task[c] - of_group[c]);
                }
            }
        }
        softmax(&mut field);
        for c in 0..k {
            let change = field[c] - own[c];
            largest = largest.max(change.abs());
            own[c] = field[c];
            field[c] = change;
        }
        for o in occurrences.of_object(i) {
            for c in 0..k {
                sums.groups[o.group as usize * k + c] += field[c];
                sums.tasks[o.task as usize * k + c] += field[c];
            }
        }
    }
    largest
}

/// Adds a symmetric k x k table times a vector; memberships are mostly near 0 and 1, and what is
/// near 0 is left out.
fn add_product(field: &mut [f64], table: &[f64], x: impl Iterator<Item = f64>) {
    for (row, x) in table.chunks_exact(field.len()).zip(x) {
        if x.abs() > NEGLIGIBLE {
            for (f, t) in field.iter_mut().zip(row) {
                *f += x * t;
            }
        }
    }
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
