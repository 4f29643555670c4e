//! What the workers' answers look like, given soft clusters.

use ndarray::{Array2, ArrayView2};

use super::sweep::NOTHING;
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
    /// The whole crowd's answers on pairs whose objects lie in two given clusters, where these are
    /// told apart.
    pub(crate) between: Option<Between>,
}

/// Expected answers of the whole crowd by the two clusters that a pair lies in: k x k, symmetric,
/// the diagonal 0.
#[derive(Clone, Debug)]
pub(crate) struct Between {
    pub(crate) same: Array2<f64>,
    pub(crate) all: Array2<f64>,
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
    /// How the rate apart moves in log-odds for two given clusters: k x k, symmetric.
    pub(crate) shifts: Option<Array2<f64>>,
}

impl Rates {
    /// Probability that worker w calls an object of cluster c and one of another cluster d the
    /// same.
    pub(crate) fn across(&self, w: usize, c: usize, d: usize) -> f64 {
        match &self.shifts {
            Some(shifts) => logistic(logit(self.apart[w]) + shifts[[c, d]]),
            None => self.apart[w],
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
}

/// Answers that the crowd's rate for objects apart counts as in the rate between two clusters. It
/// is larger than the workers' pseudo-count since a wrong confusion moves whole clusters.
const BETWEEN: f64 = 400.0;

impl Shrinkage {
    /// Whether rates between clusters are worth fitting: with fewer answers for each pair of
    /// clusters than a quarter of what they are shrunk by, they would cost k^2 and say nothing.
    pub(crate) fn tells_clusters(&self, answers: &Answers, k: usize) -> bool {
        let pairs = 0.5 * (k * (k - 1)) as f64;
        self.between && k > 1 && answers.n_pair_answers() as f64 >= 0.25 * BETWEEN * pairs
    }
}

impl Counts {
    /// Expected counts under memberships q of the answered objects, and the sums that the sweep
    /// starts from.
    pub(crate) fn of(
        answers: &Answers,
        q: ArrayView2<'_, f64>,
        shrinkage: Shrinkage,
    ) -> (Self, Sums) {
        let k = q.ncols();
        let workers = answers.n_workers();
        let mut counts = Counts {
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
        let mut squares = vec![0.0; k];
        let mut task_squares = vec![0.0; k];
        let own = q.as_standard_layout();
        let own = own.as_slice().unwrap_or_default();
        // Flat, since indexing by two numbers is slower than all else here.
        let mut same = vec![0.0; workers * k];
        let mut within = vec![0.0; workers * k];
        for (t, task) in answers.tasks().enumerate() {
            let of_task = &mut sums.tasks[t * k..][..k];
            let of_worker = task.worker * k..(task.worker + 1) * k;
            task_squares.fill(0.0);
            // All "same" answers count as apart first; those inside clusters are taken out below.
            let mut said_same = 0.0;
            for (g, items) in task.groups().enumerate() {
                let of_group = &mut sums.groups[(task.first_group + g) * k..][..k];
                squares.fill(0.0);
                for &i in items {
                    let row = &own[i as usize * k..][..k];
                    for ((sum, square), &x) in of_group.iter_mut().zip(&mut squares).zip(row) {
                        *sum += x;
                        *square += x * x;
                    }
                }
                for ((total, square), (&x, &y)) in
                    of_task.iter_mut().zip(&mut task_squares).zip(of_group.iter().zip(&squares))
                {
                    *total += x;
                    *square += y;
                }
                if items.len() > 1 {
                    for ((count, &x), &y) in
                        same[of_worker.clone()].iter_mut().zip(&*of_group).zip(&squares)
                    {
                        let pairs = (0.5 * (x * x - y)).max(0.0);
                        *count += pairs;
                        said_same -= pairs;
                    }
                    said_same += 0.5 * (items.len() * (items.len() - 1)) as f64;
                }
            }
            let mut all = 0.5 * (task.n_items() * (task.n_items() - 1)) as f64;
            for ((count, &x), &y) in within[of_worker].iter_mut().zip(&*of_task).zip(&task_squares)
            {
                let pairs = (0.5 * (x * x - y)).max(0.0);
                *count += pairs;
                all -= pairs;
            }
            counts.same_apart[task.worker] += said_same;
            counts.apart[task.worker] += all;
        }
        for (to, from) in [(&mut counts.same, same), (&mut counts.within, within)] {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
        }
        // Differences of large sums may end a rounding error below 0 or above the whole.
        for w in 0..workers {
            counts.apart[w] = counts.apart[w].max(0.0);
            counts.same_apart[w] = counts.same_apart[w].clamp(0.0, counts.apart[w]);
            for c in 0..k {
                counts.same[[w, c]] = counts.same[[w, c]].min(counts.within[[w, c]]);
            }
        }
        if shrinkage.tells_clusters(answers, k) {
            counts.between = Some(Between::of(answers, q, &sums));
        }
        (counts, sums)
    }

    /// Counts under certain labels, all clusters together in one column: what the workers' table
    /// needs, in O(rows) whatever the number of clusters.
    pub(crate) fn pooled(answers: &Answers, labels: &[u32]) -> Self {
        let workers = answers.n_workers();
        let mut counts = Counts {
            same: Array2::zeros((workers, 1)),
            within: Array2::zeros((workers, 1)),
            same_apart: vec![0.0; workers],
            apart: vec![0.0; workers],
            between: None,
        };
        let choose = |s: usize| 0.5 * (s * s.saturating_sub(1)) as f64;
        let together = |items: &mut dyn Iterator<Item = u32>, sorted: &mut Vec<u32>| {
            sorted.clear();
            sorted.extend(items.map(|i| labels[i as usize]));
            sorted.sort_unstable();
            sorted.chunk_by(|a, b| a == b).map(|run| choose(run.len())).sum::<f64>()
        };
        let mut sorted = Vec::new();
        for task in answers.tasks() {
            let (mut said, mut same) = (0.0, 0.0);
            for items in task.groups() {
                said += choose(items.len());
                same += together(&mut items.iter().copied(), &mut sorted);
            }
            let within = together(&mut task.groups().flatten().copied(), &mut sorted);
            let w = task.worker;
            counts.same[[w, 0]] += same;
            counts.within[[w, 0]] += within;
            counts.same_apart[w] += said - same;
            counts.apart[w] += choose(task.n_items()) - within;
        }
        counts
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
            .map(|c| {
                (self.same.column(c).sum() + pseudo * together)
                    / (self.within.column(c).sum() + pseudo)
            })
            .collect()
    }

    /// Rates of every worker, shrunk to the crowd's.
    pub(crate) fn rates(&self, shrinkage: Shrinkage) -> Rates {
        let Shrinkage { pseudo, by_cluster, .. } = shrinkage;
        let (together, apart) = self.crowd();
        let clusters = self.of_clusters(pseudo);
        let (workers, k) = self.same.dim();
        let shifts = self.of_pairs().map(|rates| {
            let mut shifts = rates.mapv(|rate| logit(rate) - logit(apart));
            shifts.diag_mut().fill(0.0);
            shifts
        });
        let mut rates =
            Rates { within: Array2::zeros((workers, k)), apart: vec![0.0; workers], shifts };
        for w in 0..workers {
            let [same, within, same_apart, n_apart] = self.of_worker(w);
            rates.apart[w] = (same_apart + pseudo * apart) / (n_apart + pseudo);
            let own = (same + pseudo * together) / (within + pseudo);
            for c in 0..k {
                rates.within[[w, c]] = if by_cluster {
                    // Where a worker says little about a cluster: the worker's habit and the
                    // cluster's, both as shifts in log-odds.
                    let expected = logistic(logit(own) + logit(clusters[c]) - logit(together));
                    (self.same[[w, c]] + pseudo * expected) / (self.within[[w, c]] + pseudo)
                } else {
                    own
                };
            }
        }
        rates
    }

    /// The crowd's rates between clusters, shrunk to the one apart; the diagonal is to be ignored.
    pub(crate) fn of_pairs(&self) -> Option<Array2<f64>> {
        let (_, apart) = self.crowd();
        let between = self.between.as_ref()?;
        Some((&between.same + BETWEEN * apart) / (&between.all + BETWEEN))
    }
}

impl Between {
    /// From the sums over groups and tasks: the pairs {i, j} of a set with sums S count S_c S_d -
    /// sum_i q_ic q_id, and what is taken off depends only on how many sets an object is in.
    fn of(answers: &Answers, q: ArrayView2<'_, f64>, sums: &Sums) -> Self {
        let (n, k) = q.dim();
        let mut between = Between { same: Array2::zeros((k, k)), all: Array2::zeros((k, k)) };
        // Few memberships of a small set are not 0.
        let add = |to: &mut [f64], sum: &[f64]| {
            for (row, &x) in to.chunks_exact_mut(k).zip(sum) {
                if x > NOTHING {
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
    let choose = |s: usize| 0.5 * (s * (s - 1)) as f64;
    let tables = rates.shifts.as_ref().map(|_| LogRates::of(rates));
    let mut within = PairSums::new(k, tables.is_some());
    let mut same = PairSums::new(k, tables.is_some());
    let mut said = PairSums::new(k, tables.is_some());
    answers
        .tasks()
        .map(|task| {
            same.clear();
            let mut said_same = 0.0;
            for items in task.groups() {
                said.clear();
                said.add(q, items.iter().copied());
                same.absorb(&said);
                said_same += choose(items.len());
            }
            within.clear();
            within.add(q, task.groups().flatten().copied());
            within.close();
            let w = task.worker;
            let mut total = 0.0;
            for c in 0..k {
                let (yes, all) = (same.inside[c].min(within.inside[c]), within.inside[c]);
                total += bernoulli(yes, all, rates.within[[w, c]]);
            }
            match &tables {
                Some(tables) => {
                    let at = w * k * k;
                    for (e, (&all, &yes)) in within.across.iter().zip(&same.across).enumerate() {
                        let yes = yes.min(all);
                        total += yes * tables.same[at + e] + (all - yes) * tables.differ[at + e];
                    }
                }
                None => {
                    let apart =
                        (choose(task.n_items()) - within.inside.iter().sum::<f64>()).max(0.0);
                    let yes = (said_same - same.inside.iter().sum::<f64>()).clamp(0.0, apart);
                    total += bernoulli(yes, apart, rates.apart[w]);
                }
            }
            total
        })
        .collect()
}

/// Logarithms of the rates between clusters: workers x k x k, below the diagonal; 0 elsewhere.
struct LogRates {
    same: Vec<f64>,
    differ: Vec<f64>,
}

impl LogRates {
    fn of(rates: &Rates) -> Self {
        let (workers, k) = rates.within.dim();
        let mut out =
            LogRates { same: vec![0.0; workers * k * k], differ: vec![0.0; workers * k * k] };
        for w in 0..workers {
            for c in 0..k {
                for d in 0..c {
                    let p = rates.across(w, c, d);
                    out.same[(w * k + c) * k + d] = p.ln();
                    out.differ[(w * k + c) * k + d] = (1.0 - p).ln();
                }
            }
        }
        out
    }
}

/// Expected numbers of pairs of a set of items: inside each cluster and, if wanted, across each two
/// (below the diagonal of k x k).
struct PairSums {
    sums: Vec<f64>,
    squares: Vec<f64>,
    inside: Vec<f64>,
    across: Vec<f64>,
}

impl PairSums {
    fn new(k: usize, across: bool) -> Self {
        PairSums {
            sums: vec![0.0; k],
            squares: vec![0.0; k],
            inside: vec![0.0; k],
            across: vec![0.0; if across { k * k } else { 0 }],
        }
    }

    fn clear(&mut self) {
        for v in [&mut self.sums, &mut self.squares, &mut self.inside, &mut self.across] {
            v.fill(0.0);
        }
    }

    /// Adds items one after the other: each makes pairs with those before it.
    fn add(&mut self, q: ArrayView2<'_, f64>, items: impl Iterator<Item = u32>) {
        let k = self.sums.len();
        for i in items {
            let row = q.row(i as usize);
            if !self.across.is_empty() {
                for c in 0..k {
                    for d in 0..c {
                        self.across[c * k + d] += row[c] * self.sums[d] + row[d] * self.sums[c];
                    }
                }
            }
            for (c, &x) in row.iter().enumerate() {
                self.sums[c] += x;
                self.squares[c] += x * x;
            }
        }
    }

    /// Turns sums into numbers of pairs.
    fn close(&mut self) {
        for (inside, (sum, square)) in
            self.inside.iter_mut().zip(self.sums.iter().zip(&self.squares))
        {
            *inside = (0.5 * (sum * sum - square)).max(0.0);
        }
    }

    /// Adds the pairs of another set.
    fn absorb(&mut self, other: &PairSums) {
        for (inside, (sum, square)) in
            self.inside.iter_mut().zip(other.sums.iter().zip(&other.squares))
        {
            *inside += (0.5 * (sum * sum - square)).max(0.0);
        }
        for (a, b) in self.across.iter_mut().zip(&other.across) {
            *a += b;
        }
    }
}
