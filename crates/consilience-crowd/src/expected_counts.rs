//! How many answers are expected where, given soft clusters.

use ndarray::{Array2, ArrayView2};

use crate::answers::Answers;
use crate::crowd_rates::CrowdRates;

/// Memberships this small change a sum by far less than any tolerance.
pub(crate) const NEGLIGIBLE: f64 = 1e-9;

/// Expected numbers of pair answers, by worker and by where the pair lies.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedCounts {
    /// Answers "same" on pairs that both lie in cluster c: workers x k.
    pub(crate) same: Array2<f64>,
    /// Answers on such pairs.
    pub(crate) within: Array2<f64>,
    /// Answers "same" on pairs apart, per worker.
    pub(crate) same_apart: Vec<f64>,
    /// Answers on pairs apart.
    pub(crate) apart: Vec<f64>,
    /// The whole crowd's answers on pairs whose objects lie in two given clusters, where these are
    /// distinguished.
    pub(crate) between: Option<Between>,
}

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
    fn of(answers: &Answers, q: ArrayView2<'_, f64>, sums: &Sums) -> Self {
        let (workers, k) = (answers.n_workers(), q.ncols());
        let mut out = OfWorkers {
            same: vec![0.0; workers * k * k],
            all: vec![0.0; workers * k * k],
            repeated: Vec::new(),
        };
        let mut pairs = vec![(0.0, 0.0); workers];
        // S_c S_d - sum_i q_ic q_id, set by set.
        let add = |to: &mut [f64], sum: &[f64], items: &mut dyn Iterator<Item = u32>| {
            add_outer(to, sum, 1.0);
            items.for_each(|i| {
                if let Some(row) = q.row(i as usize).as_slice() {
                    add_outer(to, row, -1.0);
                }
            });
        };
        for (t, task) in answers.tasks().enumerate() {
            let own = task.worker * k * k..(task.worker + 1) * k * k;
            let items = &mut task.groups().flatten().copied();
            add(&mut out.all[own.clone()], &sums.tasks[t * k..][..k], items);
            for (g, items) in task.groups().enumerate().filter(|(_, items)| items.len() > 1) {
                let sum = &sums.groups[(task.first_group + g) * k..][..k];
                add(&mut out.same[own.clone()], sum, &mut items.iter().copied());
            }
            pairs[task.worker].0 += choose_two(task.n_items());
            pairs[task.worker].1 += (task.n_items() - 1) as f64;
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

/// Sums of memberships over the groups and over the tasks, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    pub(crate) groups: Vec<f64>,
    pub(crate) tasks: Vec<f64>,
}

/// How rates are shrunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shrinkage {
    /// Answers that the crowd's rates count as.
    pub(crate) pseudo: f64,
    /// Whether clusters differ in how readily their objects are called the same.
    pub(crate) by_cluster: bool,
    /// Whether pairs of clusters differ in how readily the crowd confuses them.
    pub(crate) between: bool,
    /// Whether workers differ in which pairs of clusters they do not tell apart.
    pub(crate) by_worker: bool,
}

/// Answers that the crowd's rate for objects apart counts as in the rate between two clusters. It
/// is larger than the workers' pseudo-count since a wrong confusion moves whole clusters.
const BETWEEN: f64 = 400.0;

impl Shrinkage {
    /// Whether rates between clusters are fitted: with fewer answers for each pair of clusters than
    /// a quarter of what they are shrunk by, they would cost k^2 and say nothing.
    pub(crate) fn fits_between(&self, answers: &Answers, k: usize) -> bool {
        let pairs = 0.5 * (k * (k - 1)) as f64;
        self.between && k > 1 && answers.n_pair_answers() as f64 >= 0.25 * BETWEEN * pairs
    }
}

impl ExpectedCounts {
    /// Expected counts under memberships q of the answered objects, and the sums that the sweep
    /// starts from.
    pub(crate) fn of(
        answers: &Answers,
        q: ArrayView2<'_, f64>,
        shrinkage: Shrinkage,
    ) -> (Self, Sums) {
        let k = q.ncols();
        let workers = answers.n_workers();
        let mut counts = ExpectedCounts {
            same: Array2::zeros((workers, k)),
            within: Array2::zeros((workers, k)),
            same_apart: vec![0.0; workers],
            apart: vec![0.0; workers],
            between: None,
        };
        let mut sums = Sums {
            groups: vec![0.0; answers.n_groups() * k],
            tasks: vec![0.0; answers.n_tasks() * k],
        };
        let own = q.as_standard_layout();
        let mut adder = Adder {
            memberships: own.as_slice().unwrap_or_default(),
            squares: vec![0.0; k],
            task_squares: vec![0.0; k],
        };
        // Flat, since indexing by two numbers is slower than all else here.
        let mut same = vec![0.0; workers * k];
        let mut within = vec![0.0; workers * k];
        for (t, task) in answers.tasks().enumerate() {
            let of_task = &mut sums.tasks[t * k..][..k];
            let of_worker = task.worker * k..(task.worker + 1) * k;
            adder.task_squares.fill(0.0);
            // All "same" answers count as apart first; those inside clusters are taken out.
            let mut said_same = 0.0;
            for (g, items) in task.groups().enumerate() {
                let of_group = &mut sums.groups[(task.first_group + g) * k..][..k];
                let inside = &mut same[of_worker.clone()];
                adder.add_group(items, of_group, of_task, inside, &mut said_same);
            }
            let mut all = choose_two(task.n_items());
            add_pairs(&mut within[of_worker], of_task, &adder.task_squares, &mut all);
            counts.same_apart[task.worker] += said_same;
            counts.apart[task.worker] += all;
        }
        for (to, from) in [(&mut counts.same, same), (&mut counts.within, within)] {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
        }
        counts.clamp();
        if shrinkage.fits_between(answers, k) {
            let mut between = Between::of(answers, q, &sums);
            if shrinkage.by_worker {
                between.of_workers = Some(OfWorkers::of(answers, own.view(), &sums));
            }
            counts.between = Some(between);
        }
        (counts, sums)
    }

    /// Differences of large sums may end a rounding error below 0 or above the whole.
    fn clamp(&mut self) {
        let (workers, k) = self.same.dim();
        for w in 0..workers {
            self.apart[w] = self.apart[w].max(0.0);
            self.same_apart[w] = self.same_apart[w].clamp(0.0, self.apart[w]);
            for c in 0..k {
                self.same[[w, c]] = self.same[[w, c]].min(self.within[[w, c]]);
            }
        }
    }

    /// Counts under certain labels, all clusters together in one column: what the workers' table
    /// needs, in O(rows) whatever the number of clusters.
    pub(crate) fn pooled(answers: &Answers, labels: &[u32]) -> Self {
        let workers = answers.n_workers();
        let mut counts = ExpectedCounts {
            same: Array2::zeros((workers, 1)),
            within: Array2::zeros((workers, 1)),
            same_apart: vec![0.0; workers],
            apart: vec![0.0; workers],
            between: None,
        };
        let together = |items: &mut dyn Iterator<Item = u32>, sorted: &mut Vec<u32>| {
            sorted.clear();
            sorted.extend(items.map(|i| labels[i as usize]));
            sorted.sort_unstable();
            sorted.chunk_by(|a, b| a == b).map(|run| choose_two(run.len())).sum::<f64>()
        };
        let mut sorted = Vec::new();
        for task in answers.tasks() {
            let (mut said, mut same) = (0.0, 0.0);
            for items in task.groups() {
                said += choose_two(items.len());
                same += together(&mut items.iter().copied(), &mut sorted);
            }
            let within = together(&mut task.groups().flatten().copied(), &mut sorted);
            let w = task.worker;
            counts.same[[w, 0]] += same;
            counts.within[[w, 0]] += within;
            counts.same_apart[w] += said - same;
            counts.apart[w] += choose_two(task.n_items()) - within;
        }
        counts
    }

    /// The crowd's rates over all clusters.
    pub(crate) fn crowd(&self) -> CrowdRates {
        let same: f64 = self.same.iter().sum();
        let within: f64 = self.within.iter().sum();
        let same_apart: f64 = self.same_apart.iter().sum();
        let apart: f64 = self.apart.iter().sum();
        CrowdRates {
            same_together: (same + 1.0) / (within + 2.0),
            same_apart: (same_apart + 1.0) / (apart + 2.0),
        }
    }

    /// One worker over all clusters: "same" together, together, "same" apart, apart.
    pub(crate) fn of_worker(&self, w: usize) -> [f64; 4] {
        [self.same.row(w).sum(), self.within.row(w).sum(), self.same_apart[w], self.apart[w]]
    }

    /// The crowd's rate inside each cluster, shrunk to the one over all.
    pub(crate) fn of_clusters(&self, pseudo: f64) -> Vec<f64> {
        let together = self.crowd().same_together;
        (0..self.same.ncols())
            .map(|c| {
                (self.same.column(c).sum() + pseudo * together)
                    / (self.within.column(c).sum() + pseudo)
            })
            .collect()
    }

    /// The crowd's rates between clusters, shrunk to the one apart; the diagonal is to be ignored.
    pub(crate) fn of_pairs(&self) -> Option<Array2<f64>> {
        let apart = self.crowd().same_apart;
        let between = self.between.as_ref()?;
        Some((&between.same + BETWEEN * apart) / (&between.all + BETWEEN))
    }
}

/// Adds memberships up, group by group.
struct Adder<'a> {
    /// Row by row.
    memberships: &'a [f64],
    /// Sums of squares over the group and over the task.
    squares: Vec<f64>,
    task_squares: Vec<f64>,
}

impl Adder<'_> {
    /// One group: its sums, its share of the task's, and its pairs inside each cluster. The pairs
    /// left over, which lie across clusters, are added to `across`.
    fn add_group(
        &mut self,
        items: &[u32],
        of_group: &mut [f64],
        of_task: &mut [f64],
        inside: &mut [f64],
        across: &mut f64,
    ) {
        let k = of_group.len();
        self.squares.fill(0.0);
        for &i in items {
            let row = &self.memberships[i as usize * k..][..k];
            for ((sum, square), &x) in of_group.iter_mut().zip(&mut self.squares).zip(row) {
                *sum += x;
                *square += x * x;
            }
        }
        let task = of_task.iter_mut().zip(&mut self.task_squares);
        for ((total, square), (&x, &y)) in task.zip(of_group.iter().zip(&self.squares)) {
            *total += x;
            *square += y;
        }
        if items.len() > 1 {
            add_pairs(inside, of_group, &self.squares, across);
            *across += choose_two(items.len());
        }
    }
}

/// Adds the expected pairs inside each cluster, and takes them off `across`.
fn add_pairs(inside: &mut [f64], sums: &[f64], squares: &[f64], across: &mut f64) {
    for ((count, &x), &y) in inside.iter_mut().zip(sums).zip(squares) {
        let pairs = (0.5 * (x * x - y)).max(0.0);
        *count += pairs;
        *across -= pairs;
    }
}

/// Pairs of a set.
pub(crate) fn choose_two(size: usize) -> f64 {
    0.5 * (size * size.saturating_sub(1)) as f64
}

impl Between {
    /// From the sums over groups and tasks: the pairs {i, j} of a set with sums S count S_c S_d -
    /// sum_i q_ic q_id, and what is taken off depends only on how many sets an object is in.
    fn of(answers: &Answers, q: ArrayView2<'_, f64>, sums: &Sums) -> Self {
        let (n, k) = q.dim();
        let mut between =
            Between { same: Array2::zeros((k, k)), all: Array2::zeros((k, k)), of_workers: None };
        // Few memberships of a small set are not 0.
        let add = |to: &mut [f64], sum: &[f64]| {
            for (row, &x) in to.chunks_exact_mut(k).zip(sum) {
                if x > NEGLIGIBLE {
                    row.iter_mut().zip(sum).for_each(|(to, y)| *to += x * y);
                }
            }
        };
        let (mut all, mut same) = (vec![0.0; k * k], vec![0.0; k * k]);
        // Tasks, and groups of at least two, that each object is in.
        let mut times = vec![(0.0, 0.0); n];
        for (t, task) in answers.tasks().enumerate() {
            add(&mut all, &sums.tasks[t * k..][..k]);
            for (g, items) in task.groups().enumerate() {
                let alone = items.len() < 2;
                if !alone {
                    add(&mut same, &sums.groups[(task.first_group + g) * k..][..k]);
                }
                for &i in items {
                    times[i as usize].0 += 1.0;
                    times[i as usize].1 += f64::from(u8::from(!alone));
                }
            }
        }
        for (row, (tasks, groups)) in q.rows().into_iter().zip(times) {
            for c in 0..k {
                for d in 0..c {
                    let pair = row[c] * row[d];
                    all[c * k + d] -= tasks * pair;
                    same[c * k + d] -= groups * pair;
                }
            }
        }
        for c in 0..k {
            for d in 0..c {
                // Differences of large sums may end a rounding error outside.
                let all = all[c * k + d].max(0.0);
                let same = same[c * k + d].clamp(0.0, all);
                (between.all[[c, d]], between.all[[d, c]]) = (all, all);
                (between.same[[c, d]], between.same[[d, c]]) = (same, same);
            }
        }
        between
    }
}
