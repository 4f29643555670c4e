//! How many answers are expected where, given soft clusters.

use ndarray::{Array2, ArrayView2};

use crate::answers::{Answers, Place, Task};
use crate::between::{Between, OfWorkers};
use crate::block_model::{Occurrence, Others};
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
    /// "Same" together, together, "same" apart and apart, per worker, where each pair of a task of
    /// s items weighs 2 / s: as many as could be answered independently, s - 1 in all.
    pub(crate) independent: Vec<[f64; 4]>,
    /// The whole crowd's answers on pairs whose objects lie in two given clusters, where these are
    /// distinguished.
    pub(crate) between: Option<Between>,
}

/// Sums of memberships over the larger tasks and over their groups, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    pub(crate) groups: Vec<f64>,
    pub(crate) tasks: Vec<f64>,
}

impl Sums {
    /// Adds what one object's memberships changed by.
    pub(crate) fn add(&mut self, occurrences: &[Occurrence], change: &[f64]) {
        let k = change.len();
        for o in occurrences {
            if let Others::Many { task, group, .. } = o.others {
                for c in 0..k {
                    self.groups[group as usize * k + c] += change[c];
                    self.tasks[task as usize * k + c] += change[c];
                }
            }
        }
    }
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
    fn empty(workers: usize, k: usize) -> Self {
        ExpectedCounts {
            same: Array2::zeros((workers, k)),
            within: Array2::zeros((workers, k)),
            same_apart: vec![0.0; workers],
            apart: vec![0.0; workers],
            independent: vec![[0.0; 4]; workers],
            between: None,
        }
    }

    /// Expected counts under memberships q of the answered objects, and the sums that the sweep
    /// starts from.
    pub(crate) fn of(
        answers: &Answers,
        q: ArrayView2<'_, f64>,
        shrinkage: Shrinkage,
    ) -> (Self, Sums) {
        let k = q.ncols();
        let workers = answers.n_workers();
        let mut counts = Self::empty(workers, k);
        let [tasks, groups] = answers.n_larger();
        let mut sums = Sums { groups: vec![0.0; groups * k], tasks: vec![0.0; tasks * k] };
        let own = q.as_standard_layout();
        let mut adder = Adder {
            memberships: own.as_slice().unwrap_or_default(),
            squares: vec![0.0; k],
            task_squares: vec![0.0; k],
        };
        // Flat, since indexing by two numbers is slower than all else here.
        let mut same = vec![0.0; workers * k];
        let mut within = vec![0.0; workers * k];
        for (task, place) in answers.placed() {
            let of_worker = task.worker * k..(task.worker + 1) * k;
            let (t, g) = match place {
                Place::Larger { task, group } => (task, group),
                Place::Pair { i, j, same: said } => {
                    let (within, same) = (&mut within[of_worker.clone()], &mut same[of_worker]);
                    let across = 1.0 - adder.add_pair(i, j, within, said.then_some(same));
                    let all = [1.0 - across, across];
                    let [same, apart] = if said { all } else { [0.0; 2] };
                    counts.add(task, [same, all[0], apart, all[1]]);
                    continue;
                }
            };
            let of_task = &mut sums.tasks[t * k..][..k];
            adder.task_squares.fill(0.0);
            // All "same" answers count as apart first; those inside clusters are taken out.
            let (mut said, mut said_same) = (0.0, 0.0);
            for (g, items) in (g..).zip(task.groups()) {
                let of_group = &mut sums.groups[g * k..][..k];
                let inside = &mut same[of_worker.clone()];
                adder.add_group(items, of_group, of_task, inside, &mut said_same);
                said += choose_two(items.len());
            }
            let mut all = choose_two(task.n_items());
            add_pairs(&mut within[of_worker], of_task, &adder.task_squares, &mut all);
            let together = choose_two(task.n_items()) - all;
            counts.add(task, [said - said_same, together, said_same, all]);
        }
        for (to, from) in [(&mut counts.same, same), (&mut counts.within, within)] {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
        }
        counts.clamp();
        if shrinkage.fits_between(answers, k) {
            let mut between = Between::of(answers, adder.memberships, k, &sums);
            if shrinkage.by_worker {
                between.of_workers = Some(OfWorkers::of(answers, adder.memberships, k, &sums));
            }
            counts.between = Some(between);
        }
        (counts, sums)
    }

    /// Adds the pairs of a task, "same" together, together, "same" apart and apart, to those apart
    /// and to those that count as independent.
    fn add(&mut self, task: Task<'_>, pairs: [f64; 4]) {
        self.same_apart[task.worker] += pairs[2];
        self.apart[task.worker] += pairs[3];
        let weight = 2.0 / task.n_items() as f64;
        let sums = self.independent[task.worker].iter_mut();
        sums.zip(pairs).for_each(|(sum, pairs)| *sum += weight * pairs);
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
        self.independent.iter_mut().flatten().for_each(|pairs| *pairs = pairs.max(0.0));
    }

    /// Counts under certain labels, all clusters together in one column: what the workers' table
    /// needs, in O(rows) whatever the number of clusters.
    pub(crate) fn pooled(answers: &Answers, labels: &[u32]) -> Self {
        let workers = answers.n_workers();
        let mut counts = Self::empty(workers, 1);
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
            counts.add(task, [same, within, said - same, choose_two(task.n_items()) - within]);
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
    /// Two items: how likely they are in each cluster both, and in sum.
    fn add_pair(&self, i: u32, j: u32, within: &mut [f64], same: Option<&mut [f64]>) -> f64 {
        let k = within.len();
        let row = |i: u32| &self.memberships[i as usize * k..][..k];
        let both = || row(i).iter().zip(row(j)).map(|(x, y)| x * y);
        within.iter_mut().zip(both()).for_each(|(to, x)| *to += x);
        if let Some(same) = same {
            same.iter_mut().zip(both()).for_each(|(to, x)| *to += x);
        }
        both().sum()
    }

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
