//! How likely the workers call two objects the same, given soft clusters.

use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::answers::{Answers, Place, Task};
use crate::crowd_rates::CrowdRates;
use crate::expected_counts::{ExpectedCounts, NEGLIGIBLE, Shrinkage, choose_two};
use crate::likelihood::{bernoulli, logistic, logit};

/// Probabilities of "same".
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    /// Inside cluster c: workers x k.
    pub(crate) within: Array2<f64>,
    /// Of objects apart.
    pub(crate) apart: Vec<f64>,
    /// How the rate apart moves in log-odds for two given clusters: k x k, symmetric.
    pub(crate) shifts: Option<Array2<f64>>,
    /// Between two given clusters, where workers differ in that: workers x k x k, below the
    /// diagonal.
    by_worker: Option<Vec<f64>>,
}

/// Answers that the rate between two clusters which is expected of a worker counts as in the
/// worker's own.
pub(crate) const OWN: f64 = 20.0;

impl Rates {
    /// Rates of every worker, shrunk to the crowd's.
    pub(crate) fn of(counts: &ExpectedCounts, shrinkage: Shrinkage) -> Self {
        let mut rates = Self::without_own(counts, shrinkage);
        rates.by_worker = counts.between.as_ref().and_then(|b| b.of_workers.as_ref()).map(|own| {
            let (workers, k) = rates.within.dim();
            let mut table = vec![0.0; workers * k * k];
            for w in 0..workers {
                let pseudo = OWN * own.repeated[w].max(1.0);
                for c in 0..k {
                    for d in 0..c {
                        let at = (w * k + c) * k + d;
                        let expected = rates.across(w, c, d);
                        table[at] = (own.same[at] + pseudo * expected) / (own.all[at] + pseudo);
                    }
                }
            }
            table
        });
        rates
    }

    /// The same, but for rates between clusters that only the worker has.
    pub(crate) fn without_own(counts: &ExpectedCounts, shrinkage: Shrinkage) -> Self {
        let Shrinkage { pseudo, by_cluster, .. } = shrinkage;
        let CrowdRates { same_together: together, same_apart: apart } = counts.crowd();
        let clusters = counts.of_clusters(pseudo);
        let (workers, k) = counts.same.dim();
        let shifts = counts.of_pairs().map(|rates| {
            let mut shifts = rates.mapv(|rate| logit(rate) - logit(apart));
            shifts.diag_mut().fill(0.0);
            shifts
        });
        let mut rates = Rates {
            within: Array2::zeros((workers, k)),
            apart: vec![0.0; workers],
            shifts,
            by_worker: None,
        };
        for w in 0..workers {
            let [same, within, same_apart, n_apart] = counts.of_worker(w);
            rates.apart[w] = (same_apart + pseudo * apart) / (n_apart + pseudo);
            let own = (same + pseudo * together) / (within + pseudo);
            for c in 0..k {
                rates.within[[w, c]] = if by_cluster {
                    // Where a worker says little about a cluster: the worker's habit and the
                    // cluster's, both as shifts in log-odds.
                    let expected = logistic(logit(own) + logit(clusters[c]) - logit(together));
                    (counts.same[[w, c]] + pseudo * expected) / (counts.within[[w, c]] + pseudo)
                } else {
                    own
                };
            }
        }
        rates
    }

    /// Probability that worker w calls an object of cluster c and one of another cluster d the
    /// same.
    pub(crate) fn across(&self, w: usize, c: usize, d: usize) -> f64 {
        if let Some(own) = &self.by_worker {
            let k = self.within.ncols();
            return own[(w * k + c.max(d)) * k + c.min(d)];
        }
        match &self.shifts {
            Some(shifts) => logistic(logit(self.apart[w]) + shifts[[c, d]]),
            None => self.apart[w],
        }
    }
}

/// Expected log-likelihood of each task's answers.
pub(crate) fn per_task(answers: &Answers, q: ArrayView2<'_, f64>, rates: &Rates) -> Vec<f64> {
    let k = q.ncols();
    let tables = rates.shifts.as_ref().map(|_| LogRates::of(rates));
    let mut within = PairSums::new(k, tables.is_some());
    let mut same = PairSums::new(k, tables.is_some());
    let mut said = PairSums::new(k, tables.is_some());
    let place = |(task, place): (Task<'_>, Place)| {
        let w = task.worker;
        if let Place::Pair { i, j, same } = place {
            return of_pair(w, [q.row(i as usize), q.row(j as usize)], same, rates, &tables);
        }
        same.clear();
        let mut said_same = 0.0;
        for items in task.groups() {
            said.clear();
            said.add(q, items.iter().copied());
            same.absorb(&said);
            said_same += choose_two(items.len());
        }
        within.clear();
        within.add(q, task.groups().flatten().copied());
        within.close();
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
                    (choose_two(task.n_items()) - within.inside.iter().sum::<f64>()).max(0.0);
                let yes = (said_same - same.inside.iter().sum::<f64>()).clamp(0.0, apart);
                total += bernoulli(yes, apart, rates.apart[w]);
            }
        }
        total
    };
    answers.placed().map(place).collect()
}

/// The same of one answer of worker w on two objects alone, whose memberships are given.
fn of_pair(
    w: usize,
    [x, y]: [ArrayView1<'_, f64>; 2],
    same: bool,
    rates: &Rates,
    tables: &Option<LogRates>,
) -> f64 {
    let k = x.len();
    let ln = |p: f64| if same { p.ln() } else { (1.0 - p).ln() };
    let (mut total, mut apart) = (0.0, 1.0);
    for c in 0..k {
        let both = x[c] * y[c];
        apart -= both;
        if both > NEGLIGIBLE {
            total += both * ln(rates.within[[w, c]]);
        }
    }
    let Some(tables) = tables else { return total + apart * ln(rates.apart[w]) };
    let table = if same { &tables.same } else { &tables.differ };
    let table = &table[w * k * k..][..k * k];
    for (x, y) in [(x, y), (y, x)] {
        for c in (1..k).filter(|&c| x[c] > NEGLIGIBLE) {
            let below = table[c * k..][..c].iter().zip(y).map(|(l, y)| l * y);
            total += x[c] * below.sum::<f64>();
        }
    }
    total
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
