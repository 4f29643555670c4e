//! Expected answers by the two clusters that a pair lies in.

use ndarray::Array2;

use crate::answers::{Answers, Place};
use crate::expected_counts::{NEGLIGIBLE, Sums, choose_two};

/// Expected answers of the whole crowd by the two clusters that a pair lies in: k x k, symmetric,
/// the diagonal 0.
#[derive(Clone, Debug)]
pub(crate) struct Between {
    pub(crate) same: Array2<f64>,
    pub(crate) all: Array2<f64>,
    /// The same of each worker, where workers are distinguished.
    pub(crate) of_workers: Option<OfWorkers>,
}

/// Expected answers by worker and by the two clusters that a pair lies in: workers x k x k, of
/// which only what is below the diagonal is of use.
#[derive(Clone, Debug)]
pub(crate) struct OfWorkers {
    pub(crate) same: Vec<f64>,
    pub(crate) all: Vec<f64>,
    /// Pair answers that count as one answer of the worker: s / 2 in tasks of s items, whose pairs
    /// depend on each other.
    pub(crate) repeated: Vec<f64>,
}

impl OfWorkers {
    /// `q` has the memberships row by row.
    pub(crate) fn of(answers: &Answers, q: &[f64], k: usize, sums: &Sums) -> Self {
        let workers = answers.n_workers();
        let row = |i: u32| &q[i as usize * k..][..k];
        let mut out = OfWorkers {
            same: vec![0.0; workers * k * k],
            all: vec![0.0; workers * k * k],
            repeated: Vec::new(),
        };
        let mut pairs = vec![(0.0, 0.0); workers];
        // S_c S_d - sum_i q_ic q_id, set by set.
        let add = |to: &mut [f64], sum: &[f64], items: &mut dyn Iterator<Item = u32>| {
            add_outer(to, sum, 1.0);
            items.for_each(|i| add_outer(to, row(i), -1.0));
        };
        for (task, place) in answers.placed() {
            let own = task.worker * k * k..(task.worker + 1) * k * k;
            pairs[task.worker].0 += choose_two(task.n_items());
            pairs[task.worker].1 += (task.n_items() - 1) as f64;
            let (t, g) = match place {
                Place::Larger { task, group } => (task, group),
                Place::Pair { i, j, same } => {
                    add_both(&mut out.all[own.clone()], row(i), row(j));
                    if same {
                        add_both(&mut out.same[own], row(i), row(j));
                    }
                    continue;
                }
            };
            let items = &mut task.groups().flatten().copied();
            add(&mut out.all[own.clone()], &sums.tasks[t * k..][..k], items);
            for (g, items) in (g..).zip(task.groups()).filter(|(_, items)| items.len() > 1) {
                let sum = &sums.groups[g * k..][..k];
                add(&mut out.same[own.clone()], sum, &mut items.iter().copied());
            }
        }
        for (same, all) in out.same.iter_mut().zip(&mut out.all) {
            *all = all.max(0.0);
            *same = same.clamp(0.0, *all);
        }
        out.repeated =
            pairs.iter().map(|&(pairs, answers)| pairs / f64::max(answers, 1.0)).collect();
        out
    }
}

/// Adds a vector's product with itself, below the diagonal.
fn add_outer(to: &mut [f64], x: &[f64], times: f64) {
    let k = x.len();
    for c in 1..k {
        if x[c] > NEGLIGIBLE {
            for d in 0..c {
                to[c * k + d] += times * x[c] * x[d];
            }
        }
    }
}

/// Adds x_c y_d + x_d y_c, below the diagonal.
fn add_both(to: &mut [f64], x: &[f64], y: &[f64]) {
    let k = x.len();
    for (x, y) in [(x, y), (y, x)] {
        for c in (1..k).filter(|&c| x[c] > NEGLIGIBLE) {
            to[c * k..][..c].iter_mut().zip(y).for_each(|(to, y)| *to += x[c] * y);
        }
    }
}

impl Between {
    /// From memberships row by row and the sums over groups and tasks: the pairs {i, j} of a set
    /// with sums S count S_c S_d - sum_i q_ic q_id, and what is taken off depends only on how many
    /// sets an object is in. Tasks of two items are pairs as they are.
    pub(crate) fn of(answers: &Answers, q: &[f64], k: usize, sums: &Sums) -> Self {
        let row = |i: u32| &q[i as usize * k..][..k];
        let (mut all, mut same) = (vec![0.0; k * k], vec![0.0; k * k]);
        // Of tasks of two items: "apart", and "same".
        let mut pairs = [vec![0.0; k * k], vec![0.0; k * k]];
        // Larger tasks, and their groups of at least two, that each object is in.
        let mut times = vec![(0.0, 0.0); q.len() / k];
        for (task, place) in answers.placed() {
            let (t, g) = match place {
                Place::Larger { task, group } => (task, group),
                Place::Pair { i, j, same } => {
                    add_product(&mut pairs[usize::from(same)], row(i), row(j));
                    continue;
                }
            };
            let sum = &sums.tasks[t * k..][..k];
            add_product(&mut all, sum, sum);
            for (g, items) in (g..).zip(task.groups()) {
                let company = items.len() > 1;
                if company {
                    let sum = &sums.groups[g * k..][..k];
                    add_product(&mut same, sum, sum);
                }
                for &i in items {
                    times[i as usize].0 += 1.0;
                    times[i as usize].1 += f64::from(u8::from(company));
                }
            }
        }
        for (row, (tasks, groups)) in q.chunks_exact(k).zip(times) {
            for c in 0..k {
                for d in 0..c {
                    let pair = row[c] * row[d];
                    all[c * k + d] -= tasks * pair;
                    same[c * k + d] -= groups * pair;
                }
            }
        }
        let [apart, together] =
            pairs.map(|pairs| move |c: usize, d: usize| pairs[c * k + d] + pairs[d * k + c]);
        let mut between =
            Between { same: Array2::zeros((k, k)), all: Array2::zeros((k, k)), of_workers: None };
        for c in 0..k {
            for d in 0..c {
                let (apart, together) = (apart(c, d), together(c, d));
                // Differences of large sums may end a rounding error outside.
                let all = (all[c * k + d] + (together + apart)).max(0.0);
                let same = (same[c * k + d] + together).clamp(0.0, all);
                (between.all[[c, d]], between.all[[d, c]]) = (all, all);
                (between.same[[c, d]], between.same[[d, c]]) = (same, same);
            }
        }
        between
    }
}

/// Adds x_c y_d; few memberships of a small set are not 0.
fn add_product(to: &mut [f64], x: &[f64], y: &[f64]) {
    for (row, &x) in to.chunks_exact_mut(y.len()).zip(x) {
        if x > NEGLIGIBLE {
            row.iter_mut().zip(y).for_each(|(to, y)| *to += x * y);
        }
    }
}
