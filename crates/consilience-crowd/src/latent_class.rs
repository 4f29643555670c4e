//! Latent classes: a worker's groups are names for clusters, and several clusters may share one.

use consilience_core::{Error, Observer, Report, Result, Status};
use ndarray::{Array2, ArrayView2, Axis};

use crate::answers::{Answers, Place};
use crate::best::best_fits;
use crate::block_model::{BlockModel, Occurrences, Others};
use crate::expected_counts::Sums;
use crate::memberships::most_probable;

/// Items that the shares of a task's groups count as in the groups of each cluster.
const PSEUDO: f64 = 1.0;
/// Items that a group which nobody has seen yet counts as.
const UNSEEN: f64 = 1.0;
/// Products are rescaled after so many factors: none is so small that they could vanish before.
const FACTORS: usize = 16;

/// A fit, over the answered objects.
#[derive(Clone, Debug)]
pub(crate) struct LatentClasses {
    pub(crate) q: Array2<f64>,
    pub(crate) evidence: f64,
    pub(crate) iterations: usize,
    pub(crate) converged: bool,
}

impl LatentClasses {
    pub(crate) fn describe(&self, report: &mut Report) {
        report.iterations = self.iterations;
        report.objective = Some(self.evidence);
        if !self.converged {
            report.status = Status::MaxIterations;
        }
    }

    pub(crate) fn labels(&self) -> Vec<u32> {
        most_probable(self.q.view())
    }
}

/// The best of all starts by the evidence.
///
/// In a task t, an object of cluster c is put into group g with probability `theta_t(g | c)`, which
/// has a Dirichlet prior around the groups' shares, so that what a worker does not tell apart costs
/// nothing. The thetas are integrated out; an object's memberships follow from where the others are
/// (collapsed variational Bayes, zeroth order):
///
/// ```text
/// Q_ic ~ (sum of Q_jc over others + 1) prod over tasks t of i
///        (sum of Q_jc over others in the group of i + a m_g) / (sum of Q_jc over others in t + a),
/// ```
///
/// a being the prior's weight and m_g the group's share of the task. A sweep is O(rows k).
pub(crate) fn best(
    model: &BlockModel,
    answers: &Answers,
    starts: &[Array2<f64>],
    observer: &dyn Observer,
) -> Result<LatentClasses> {
    let tasks = Tasks::of(answers)?;
    let fit = |s: usize| tasks.fit_from(model, starts[s].clone(), observer);
    let abreast = model.abreast(answers);
    let mut fits = best_fits(starts.len(), (1, abreast), |fit: &LatentClasses| fit.evidence, fit)?;
    fits.pop().ok_or_else(|| Error::invalid("0 starts; expected at least 1"))
}

/// Prior masses of a group of two items in a task of two, and of one item.
const SAME: f64 = 2.0 * PSEUDO / (2.0 + UNSEEN);
const APART: f64 = PSEUDO / (2.0 + UNSEEN);

/// The answers as labels of items.
struct Tasks<'a> {
    answers: &'a Answers,
    occurrences: Occurrences,
    /// Prior mass of each group of the tasks of more than two items.
    prior: Vec<f64>,
    tasks: usize,
}

impl<'a> Tasks<'a> {
    fn of(answers: &'a Answers) -> Result<Self> {
        let [tasks, groups] = answers.n_larger();
        let mut prior = Vec::with_capacity(groups);
        for task in answers.tasks().filter(|task| task.n_items() > 2) {
            let all = task.n_items() as f64 + UNSEEN;
            prior.extend(task.groups().map(|items| PSEUDO * items.len() as f64 / all));
        }
        Ok(Tasks { answers, occurrences: Occurrences::of(answers)?, prior, tasks })
    }

    fn fit_from(
        &self,
        model: &BlockModel,
        mut q: Array2<f64>,
        observer: &dyn Observer,
    ) -> Result<LatentClasses> {
        let (mut iterations, mut converged) = (0, false);
        let mut sums = self.sums(q.view());
        let mut clusters = q.sum_axis(Axis(0)).to_vec();
        while iterations < model.iterations() && !converged {
            observer.check()?;
            converged = self.sweep(&mut q, &mut sums, &mut clusters) < model.own_tolerance();
            iterations += 1;
        }
        let evidence = self.evidence(&most_probable(q.view()), q.ncols());
        Ok(LatentClasses { q, evidence, iterations, converged })
    }

    /// Where the objects are, in the larger tasks.
    fn sums(&self, q: ArrayView2<'_, f64>) -> Sums {
        let k = q.ncols();
        let mut sums =
            Sums { groups: vec![0.0; self.prior.len() * k], tasks: vec![0.0; self.tasks * k] };
        for (i, row) in q.rows().into_iter().enumerate() {
            sums.add(self.occurrences.of_object(i), row.as_slice().unwrap_or_default());
        }
        sums
    }

    /// One object after the other, all else fixed; returns the largest change of a membership.
    /// `clusters` are the expected numbers of objects.
    fn sweep(&self, q: &mut Array2<f64>, sums: &mut Sums, clusters: &mut [f64]) -> f64 {
        let (n, k) = q.dim();
        let mut field = vec![0.0; k];
        let mut largest: f64 = 0.0;
        let q = q.as_slice_mut().unwrap_or_default();
        for i in 0..n {
            let own = &q[i * k..][..k];
            for c in 0..k {
                field[c] = (clusters[c] - own[c]).max(0.0) + 1.0;
            }
            for (at, o) in self.occurrences.of_object(i).iter().enumerate() {
                match o.others {
                    Others::One { item, same } => {
                        let other = &q[item as usize * k..][..k];
                        // In a group of its own an object is alone.
                        let (prior, near) = if same { (SAME, 1.0) } else { (APART, 0.0) };
                        for c in 0..k {
                            field[c] *= (near * other[c] + prior) / (other[c] + PSEUDO);
                        }
                    }
                    Others::Many { task, group, .. } => {
                        let of_group = &sums.groups[group as usize * k..][..k];
                        let of_task = &sums.tasks[task as usize * k..][..k];
                        let prior = self.prior[group as usize];
                        for c in 0..k {
                            field[c] *= ((of_group[c] - own[c]).max(0.0) + prior)
                                / ((of_task[c] - own[c]).max(0.0) + PSEUDO);
                        }
                    }
                }
                if at % FACTORS == FACTORS - 1 {
                    normalize(&mut field);
                }
            }
            normalize(&mut field);
            for (c, (own, new)) in q[i * k..][..k].iter_mut().zip(&mut field).enumerate() {
                let change = *new - *own;
                largest = largest.max(change.abs());
                *own = *new;
                *new = change;
                clusters[c] += change;
            }
            sums.add(self.occurrences.of_object(i), &field);
        }
        largest
    }

    /// Logarithm of the probability of labels and answers, all else integrated out.
    fn evidence(&self, labels: &[u32], k: usize) -> f64 {
        let mut groups = vec![0u32; self.prior.len() * k];
        let mut tasks = vec![0u32; self.tasks * k];
        let mut sizes = vec![0u32; k];
        labels.iter().for_each(|&c| sizes[c as usize] += 1);
        let mut total: f64 = sizes.iter().map(|&s| ln_rising(1.0, s)).sum();
        total -= ln_rising(k as f64, labels.len() as u32);
        // Answers on two objects alone, of each kind: "same" and "apart", in two clusters and one.
        let mut pairs = [[0.0; 2]; 2];
        for (task, place) in self.answers.placed() {
            let label = |i: u32| labels[i as usize] as usize;
            match place {
                Place::Pair { i, j, same } => {
                    pairs[usize::from(!same)][usize::from(label(i) == label(j))] += 1.0;
                }
                Place::Larger { task: t, group } => {
                    for (g, items) in (group..).zip(task.groups()) {
                        for &i in items {
                            groups[g * k + label(i)] += 1;
                            tasks[t * k + label(i)] += 1;
                        }
                    }
                }
            }
        }
        for (&prior, sizes) in self.prior.iter().zip(groups.chunks_exact(k)) {
            total += sizes.iter().map(|&size| ln_rising(prior, size)).sum::<f64>();
        }
        total -= tasks.iter().map(|&s| ln_rising(PSEUDO, s)).sum::<f64>();
        let of_pair = |groups: f64, one_cluster: bool| {
            groups - if one_cluster { ln_rising(PSEUDO, 2) } else { 2.0 * ln_rising(PSEUDO, 1) }
        };
        let [same, apart] = pairs;
        total += same[0] * of_pair(2.0 * SAME.ln(), false);
        total += same[1] * of_pair(ln_rising(SAME, 2), true);
        total += apart[0] * of_pair(2.0 * APART.ln(), false);
        total + apart[1] * of_pair(2.0 * APART.ln(), true)
    }
}

/// ln x (x + 1) ... (x + times - 1).
fn ln_rising(x: f64, times: u32) -> f64 {
    (0..times).map(|t| (x + f64::from(t)).ln()).sum()
}

fn normalize(x: &mut [f64]) {
    let sum: f64 = x.iter().sum();
    x.iter_mut().for_each(|v| *v /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroupAnswer;
    use crate::block_model::crowd;
    use crate::memberships::{hard, soft};
    use consilience_core::Seed;

    /// The update of one object, task by task from the definition.
    fn naive(answers: &Answers, q: &Array2<f64>, object: usize) -> Vec<f64> {
        let (n, k) = q.dim();
        let mut field: Vec<f64> = (0..k)
            .map(|c| (0..n).filter(|&j| j != object).map(|j| q[[j, c]]).sum::<f64>() + 1.0)
            .collect();
        for task in answers.tasks() {
            let all: Vec<u32> = task.groups().flatten().copied().collect();
            let Some(own) = task.groups().find(|g| g.contains(&(object as u32))) else { continue };
            let share = own.len() as f64 / (all.len() as f64 + UNSEEN);
            for (c, f) in field.iter_mut().enumerate() {
                let others = |items: &[u32]| -> f64 {
                    let others = items.iter().filter(|&&j| j as usize != object);
                    others.map(|&j| q[[j as usize, c]]).sum()
                };
                *f *= (others(own) + PSEUDO * share) / (others(&all) + PSEUDO);
            }
        }
        let sum: f64 = field.iter().sum();
        field.iter().map(|f| f / sum).collect()
    }

    #[test]
    fn a_sweep_equals_the_definition() {
        // Enough tasks an object for products to be rescaled.
        for (tasks, size) in [(3, 12), (14, 9), (40, 2)] {
            let rows = crowd(3, 14, 6, (tasks, size), 0.2, 1, 4);
            let answers = Answers::from_groupings(15, &rows).unwrap();
            let n = answers.answered().len();
            let labels: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
            let tasks = Tasks::of(&answers).unwrap();
            let mut swept = soft(&labels, 3);
            let mut expected = swept.clone();
            let mut sums = tasks.sums(swept.view());
            let mut clusters = swept.sum_axis(Axis(0)).to_vec();
            for _ in 0..2 {
                tasks.sweep(&mut swept, &mut sums, &mut clusters);
                for i in 0..n {
                    let row = naive(&answers, &expected, i);
                    (0..3).for_each(|c| expected[[i, c]] = row[c]);
                }
                assert!((&swept - &expected).iter().all(|d| d.abs() < 1e-9));
            }
        }
    }

    /// The evidence is the product of the predictions, object by object and item by item.
    #[test]
    fn the_evidence_is_that_of_predictions() {
        for shape in [(2, 9), (20, 2)] {
            predictions_of(&crowd(3, 14, 4, shape, 0.3, 0, 5));
        }
    }

    fn predictions_of(rows: &[GroupAnswer]) {
        let answers = Answers::from_groupings(14, rows).unwrap();
        let n = answers.answered().len();
        let labels: Vec<u32> = (0..n as u32).map(|i| i * i % 3).collect();
        let mut expected = 0.0;
        for (i, &c) in labels.iter().enumerate() {
            let before = labels[..i].iter().filter(|&&d| d == c).count() as f64;
            expected += ((before + 1.0) / (i as f64 + 3.0)).ln();
        }
        for task in answers.tasks() {
            let label = |i: u32| labels[i as usize];
            let all: Vec<(usize, u32)> = task
                .groups()
                .enumerate()
                .flat_map(|(g, items)| items.iter().map(move |&i| (g, label(i))))
                .collect();
            for (at, &(g, c)) in all.iter().enumerate() {
                let share =
                    task.groups().nth(g).unwrap().len() as f64 / (all.len() as f64 + UNSEEN);
                let before: Vec<_> = all[..at].iter().filter(|x| x.1 == c).collect();
                let alike = before.iter().filter(|x| x.0 == g).count() as f64;
                expected += ((alike + PSEUDO * share) / (before.len() as f64 + PSEUDO)).ln();
            }
        }
        let found = Tasks::of(&answers).unwrap().evidence(&labels, 3);
        assert!((found - expected).abs() < 1e-9 * expected.abs(), "{found} {expected}");
    }

    /// Workers who know one class each find all of them together.
    #[test]
    fn workers_who_know_one_class_are_enough() {
        let mut stream = Seed(3).stream();
        let mut rows = Vec::new();
        for worker in 0..60 {
            let known = worker % 5;
            for item in stream.sample(200, 60) {
                let seen = usize::from(item % 5 == known);
                let group = if stream.uniform() < 0.1 { stream.below(2) } else { seen };
                rows.push(GroupAnswer { worker, task: 0, item, group });
            }
        }
        let answers = Answers::from_groupings(200, &rows).unwrap();
        let model = BlockModel::new(5);
        let truth: Vec<u32> = answers.answered().iter().map(|i| i % 5).collect();
        let start = Seed(1).derive("random", 0);
        let mut random = start.stream();
        let labels: Vec<u32> = truth
            .iter()
            .map(|&c| if random.uniform() < 0.5 { c } else { random.below(5) as u32 })
            .collect();
        let fit = best(&model, &answers, &[soft(&labels, 5)], &()).unwrap();
        let found = hard(&fit.labels(), 5);
        let right = found.iter().zip(&hard(&truth, 5)).filter(|(a, b)| a == b).count();
        assert!(right >= 5 * truth.len() - 10, "{right} of {}", 5 * truth.len());
    }
}
