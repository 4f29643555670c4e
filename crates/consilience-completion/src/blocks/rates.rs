//! What the workers' answers look like, given soft clusters.

use ndarray::{Array2, ArrayView2};

use crate::Answers;

/// Expected numbers of pair answers, by worker and by where the pair lies.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    /// Answers "same" on pairs that both lie in cluster c: workers x k.
    pub(crate) same: Array2<f64>,
    /// Answers on such pairs.
    pub(crate) within: Array2<f64>,
    /// Answers "same" on pairs apart, per worker.
    pub(crate) same_apart: Vec<f64>,
    /// Answers on pairs apart.
    pub(crate) apart: Vec<f64>,
}

/// Sums of memberships over the groups and over the tasks, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    pub(crate) groups: Vec<f64>,
    pub(crate) tasks: Vec<f64>,
}

/// Probabilities of "same".
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    /// Inside cluster c: workers x k.
    pub(crate) within: Array2<f64>,
    /// Of objects apart.
    pub(crate) apart: Vec<f64>,
}

/// How rates are shrunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shrinkage {
    /// Answers that the crowd's rates count as.
    pub(crate) pseudo: f64,
    /// Whether clusters differ in how readily their objects are called the same.
    pub(crate) by_cluster: bool,
}

impl Counts {
    /// Expected counts under memberships q of the answered objects, and the sums that the sweep starts from.
    pub(crate) fn of(answers: &Answers, q: ArrayView2<'_, f64>) -> (Self, Sums) {
        let k = q.ncols();
        let workers = answers.n_workers();
        let mut counts = Counts {
            same: Array2::zeros((workers, k)),
            within: Array2::zeros((workers, k)),
            same_apart: vec![0.0; workers],
            apart: vec![0.0; workers],
        };
        let mut sums =
            Sums { groups: vec![0.0; answers.n_groups() * k], tasks: vec![0.0; answers.n_tasks() * k] };
        let mut squares = vec![0.0; k];
        let mut task_squares = vec![0.0; k];
        for (t, task) in answers.tasks().enumerate() {
            let of_task = &mut sums.tasks[t * k..][..k];
            task_squares.fill(0.0);
            // All "same" answers count as apart first; those inside clusters are taken out below.
            let mut said_same = 0.0;
            for (g, items) in task.groups().enumerate() {
                let of_group = &mut sums.groups[(task.first_group + g) * k..][..k];
                squares.fill(0.0);
                for &i in items {
                    for (c, &x) in q.row(i as usize).iter().enumerate() {
                        of_group[c] += x;
                        squares[c] += x * x;
                    }
                }
                for c in 0..k {
                    let pairs = (0.5 * (of_group[c] * of_group[c] - squares[c])).max(0.0);
                    counts.same[[task.worker, c]] += pairs;
                    said_same -= pairs;
                    of_task[c] += of_group[c];
                    task_squares[c] += squares[c];
                }
                said_same += 0.5 * (items.len() * (items.len() - 1)) as f64;
            }
            let mut all = 0.5 * (task.n_items() * (task.n_items() - 1)) as f64;
            for c in 0..k {
                let pairs = (0.5 * (of_task[c] * of_task[c] - task_squares[c])).max(0.0);
                counts.within[[task.worker, c]] += pairs;
                all -= pairs;
            }
            counts.same_apart[task.worker] += said_same;
            counts.apart[task.worker] += all;
        }
        // Differences of large sums may end a rounding error below 0 or above the whole.
        for w in 0..workers {
            counts.apart[w] = counts.apart[w].max(0.0);
            counts.same_apart[w] = counts.same_apart[w].clamp(0.0, counts.apart[w]);
            for c in 0..k {
                counts.same[[w, c]] = counts.same[[w, c]].min(counts.within[[w, c]]);
            }
        }
        (counts, sums)
    }

    /// The crowd's rates: of "same" for pairs together and for pairs apart.
    pub(crate) fn crowd(&self) -> (f64, f64) {
        let same: f64 = self.same.iter().sum();
        let within: f64 = self.within.iter().sum();
        let same_apart: f64 = self.same_apart.iter().sum();
        let apart: f64 = self.apart.iter().sum();
        ((same + 1.0) / (within + 2.0), (same_apart + 1.0) / (apart + 2.0))
    }

    /// One worker over all clusters: "same" together, together, "same" apart, apart.
    pub(crate) fn of_worker(&self, w: usize) -> [f64; 4] {
        [self.same.row(w).sum(), self.within.row(w).sum(), self.same_apart[w], self.apart[w]]
    }

    /// The crowd's rate inside each cluster, shrunk to the one over all.
    pub(crate) fn of_clusters(&self, pseudo: f64) -> Vec<f64> {
        let (together, _) = self.crowd();
        (0..self.same.ncols())
            .map(|c| (self.same.column(c).sum() + pseudo * together) / (self.within.column(c).sum() + pseudo))
            .collect()
    }

    /// Rates of every worker, shrunk to the crowd's.
    pub(crate) fn rates(&self, shrinkage: Shrinkage) -> Rates {
        let Shrinkage { pseudo, by_cluster } = shrinkage;
        let (together, apart) = self.crowd();
        let clusters = self.of_clusters(pseudo);
        let (workers, k) = self.same.dim();
        let mut rates = Rates { within: Array2::zeros((workers, k)), apart: vec![0.0; workers] };
        for w in 0..workers {
            let [same, within, same_apart, n_apart] = self.of_worker(w);
            rates.apart[w] = (same_apart + pseudo * apart) / (n_apart + pseudo);
            let own = (same + pseudo * together) / (within + pseudo);
            for c in 0..k {
                rates.within[[w, c]] = if by_cluster {
                    // Where a worker says little about a cluster: the worker's habit and the cluster's,
                    // both as shifts in log-odds.
                    let expected = logistic(logit(own) + logit(clusters[c]) - logit(together));
                    (self.same[[w, c]] + pseudo * expected) / (self.within[[w, c]] + pseudo)
                } else {
                    own
                };
            }
        }
        rates
    }

    /// Expected log-likelihood of all answers under the rates.
    pub(crate) fn log_likelihood(&self, rates: &Rates) -> f64 {
        let mut total = 0.0;
        for w in 0..self.apart.len() {
            total += bernoulli(self.same_apart[w], self.apart[w], rates.apart[w]);
            for c in 0..self.same.ncols() {
                total += bernoulli(self.same[[w, c]], self.within[[w, c]], rates.within[[w, c]]);
            }
        }
        total
    }
}

/// Log-likelihood of `yes` of `all` draws at rate p; 0 for no draws, whatever the rate.
pub(crate) fn bernoulli(yes: f64, all: f64, p: f64) -> f64 {
    let part = |count: f64, p: f64| if count > 0.0 { count * p.ln() } else { 0.0 };
    part(yes, p) + part(all - yes, 1.0 - p)
}

pub(crate) fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

pub(crate) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Expected log-likelihood of each task's answers.
pub(crate) fn per_task(answers: &Answers, q: ArrayView2<'_, f64>, rates: &Rates) -> Vec<f64> {
    let k = q.ncols();
    let pairs = |sum: f64, square: f64| (0.5 * (sum * sum - square)).max(0.0);
    let add = |items: &mut dyn Iterator<Item = u32>| {
        let mut sums = vec![(0.0, 0.0); k];
        for i in items {
            for (s, &x) in sums.iter_mut().zip(q.row(i as usize)) {
                s.0 += x;
                s.1 += x * x;
            }
        }
        sums.into_iter().map(|(sum, square)| pairs(sum, square)).collect::<Vec<f64>>()
    };
    let choose = |s: usize| 0.5 * (s * (s - 1)) as f64;
    answers
        .tasks()
        .map(|task| {
            let mut same = vec![0.0; k];
            let mut said_same = 0.0;
            for items in task.groups() {
                for (s, x) in same.iter_mut().zip(add(&mut items.iter().copied())) {
                    *s += x;
                }
                said_same += choose(items.len());
            }
            let within = add(&mut task.groups().flatten().copied());
            let all = choose(task.n_items());
            let apart = (all - within.iter().sum::<f64>()).max(0.0);
            let same_apart = (said_same - same.iter().sum::<f64>()).clamp(0.0, apart);
            let mut total = bernoulli(same_apart, apart, rates.apart[task.worker]);
            for c in 0..k {
                total += bernoulli(same[c].min(within[c]), within[c], rates.within[[task.worker, c]]);
            }
            total
        })
        .collect()
}
