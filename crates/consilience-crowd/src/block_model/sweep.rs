//! Mean field: one object after the other, all else fixed.

use consilience_core::{Result, room};
use ndarray::Array2;

use crate::answers::{Answers, Place};
use crate::expected_counts::{NEGLIGIBLE, Sums};
use crate::rates::Rates;

/// Where each object occurs, and who compared it there.
#[derive(Clone, Debug)]
pub(crate) struct Occurrences {
    offsets: Vec<usize>,
    entries: Vec<Occurrence>,
}

/// One occurrence of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occurrence {
    pub(crate) worker: u32,
    pub(crate) others: Others,
}

/// What an object was compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Others {
    /// One item, which was called the same or not.
    One { item: u32, same: bool },
    /// More: where the sums over the task and over the own group are.
    Many { task: u32, group: u32, kind: Kind },
}

/// Whether the own group has other items, and whether the task has items outside the group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    company: bool,
    outside: bool,
}

impl Occurrences {
    pub(crate) fn of(answers: &Answers) -> Result<Self> {
        let n = answers.answered().len();
        let mut offsets = room::zeros::<usize>(n + 1)?;
        for task in answers.tasks() {
            for &i in task.groups().flatten() {
                offsets[i as usize + 1] += 1;
            }
        }
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let mut next = room::copied(&offsets)?;
        let nothing = Occurrence { worker: 0, others: Others::One { item: 0, same: false } };
        let mut entries = room::filled(offsets[n], nothing)?;
        for (task, place) in answers.placed() {
            let mut put = |i: u32, others: Others| {
                entries[next[i as usize]] = Occurrence { worker: task.worker as u32, others };
                next[i as usize] += 1;
            };
            match place {
                Place::Pair { i, j, same } => {
                    put(i, Others::One { item: j, same });
                    put(j, Others::One { item: i, same });
                }
                Place::Larger { task: t, group } => {
                    for (g, items) in (group as u32..).zip(task.groups()) {
                        let kind = Kind {
                            company: items.len() > 1,
                            outside: items.len() < task.n_items(),
                        };
                        let others = Others::Many { task: t as u32, group: g, kind };
                        items.iter().for_each(|&i| put(i, others));
                    }
                }
            }
        }
        Ok(Occurrences { offsets, entries })
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
        // Nobody is so sure that an answer rules a cluster out: infinite odds times no answer are
        // not a number.
        let inside = |p: f64| p.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
        let odds = |w: usize, p: f64| {
            let (p, r) = (inside(p), inside(rates.apart[w]));
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

impl Weights {
    /// Adds to an object's field what worker w's answer on another object says, whose memberships
    /// are given.
    fn add_one(&self, field: &mut [f64], w: usize, same: bool, other: &[f64]) {
        let k = field.len();
        if let Some([yes, no]) = &self.between {
            let table = if same { yes } else { no };
            add_product(field, &table[w * k * k..][..k * k], other.iter().copied());
        } else {
            let row = if same { self.same.row(w) } else { self.differ.row(w) };
            field.iter_mut().zip(row).zip(other).for_each(|((f, l), x)| *f += l * x);
        }
    }

    /// The same of worker w's answers on the other objects of a task, from the sums over the task
    /// and over the own group.
    fn add_many(&self, field: &mut [f64], w: usize, own: &[f64], sums: [&[f64]; 2], kind: Kind) {
        let k = field.len();
        let [of_task, of_group] = sums;
        if let Some([same, differ]) = &self.between {
            if kind.company {
                let table = &same[w * k * k..][..k * k];
                add_product(field, table, of_group.iter().zip(own).map(|(s, x)| s - x));
            }
            if kind.outside {
                let table = &differ[w * k * k..][..k * k];
                add_product(field, table, of_task.iter().zip(of_group).map(|(t, s)| t - s));
            }
        } else {
            let (same, differ) = (self.same.row(w), self.differ.row(w));
            for c in 0..k {
                field[c] +=
                    same[c] * (of_group[c] - own[c]) + differ[c] * (of_task[c] - of_group[c]);
            }
        }
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
    let n = q.nrows();
    let q = q.as_slice_mut().unwrap_or_default();
    for i in 0..n {
        field.copy_from_slice(ln_share);
        let own = &q[i * k..][..k];
        for o in occurrences.of_object(i) {
            let w = o.worker as usize;
            match o.others {
                Others::One { item, same } => {
                    weights.add_one(&mut field, w, same, &q[item as usize * k..][..k]);
                }
                Others::Many { task, group, kind } => {
                    let of_group = &sums.groups[group as usize * k..][..k];
                    let of_task = &sums.tasks[task as usize * k..][..k];
                    weights.add_many(&mut field, w, own, [of_task, of_group], kind);
                }
            }
        }
        softmax(&mut field);
        for (own, new) in q[i * k..][..k].iter_mut().zip(&mut field) {
            let change = *new - *own;
            largest = largest.max(change.abs());
            *own = *new;
            *new = change;
        }
        sums.add(occurrences.of_object(i), &field);
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
