//! The worker-aware block model.

mod rates;
mod sweep;
#[cfg(test)]
mod tests;

use consilience_core::{
    Error, Fit, Memberships, MemoryBudget, Observer, Partition, Report, Result, Seed, Status,
};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

#[cfg(test)]
pub(crate) use tests::crowd;

pub(crate) use rates::{Counts, Rates, Shrinkage, bernoulli, logistic, logit, per_task};
pub(crate) use sweep::{Occurrences, Weights};

use crate::workers::{self, WorkerRates};
use crate::{AnswerCounts, Answers};
use crate::{dawid_skene, spectral};

/// Starts that are computed; others are these, perturbed.
const SPECTRAL_STARTS: usize = 4;
/// Iterations after which starts are compared; a third of them goes on.
const TRIAL: usize = 20;
/// Weight of random memberships in a perturbed start.
const PERTURBATION: f64 = 0.3;
/// Mass that a start's memberships leave to the other clusters.
const SOFTNESS: f64 = 0.1;

/// Crowdclustering by a block model that knows its workers.
///
/// Use it where people answer differently well: every worker w has an own probability `p_w(c)` of
/// calling two objects of cluster c the same, and `r_w` for objects apart. It needs no more than a
/// few answers per object. Where a few workers have grouped everything, a consensus function on
/// their groupings is an alternative; where clusters are tiny and many, as in entity resolution, it
/// has too little to learn from.
///
/// Objects have soft clusters `Q`, answers become log-odds and both are fitted in turn. With all
/// else fixed
///
/// ```text
/// Q_ic ~ pi_c exp( sum over answers (w, i, j, a) of  l_w(a, c) Q_jc ),
/// l_w(1, c) = ln p_w(c) / r_w,   l_w(0, c) = ln (1 - p_w(c)) / (1 - r_w),
/// ```
///
/// the rates are expected shares of "same" under Q, shrunk to the crowd's by a pseudo-count (20
/// answers), and `p_w(c)` is shrunk to the worker's rate moved by the cluster's in log-odds.
/// Clusters that the crowd confuses have a rate of their own: for an object of c and one of d,
/// `r_w` is moved in log-odds by what the whole crowd says about such pairs (shrunk by 400
/// answers), and the sum above runs over the clusters of j.
///
/// The best of several starts by the evidence bound is kept: spectral clusterings of the mean
/// answers, of the residual `c - mean N` and of Dawid and Skene's posteriors, and perturbations of
/// them. All run for 20 iterations, the best third until they stay.
///
/// ```
/// use consilience_completion::{Answers, PairAnswer, WorkerBlocks};
///
/// // Three careful workers, and one who calls everything the same.
/// let mut rows = Vec::new();
/// for worker in 0..4 {
///     for i in 0..6 {
///         for j in 0..i {
///             rows.push(PairAnswer { worker, i, j, same: worker == 3 || (i < 3) == (j < 3) });
///         }
///     }
/// }
/// let blocks = WorkerBlocks::new(2).pseudo_count(1.0).fit(&Answers::from_pairs(6, &rows)?, &())?.output;
/// assert_eq!(blocks.partition.to_signed(), vec![0, 0, 0, 1, 1, 1]);
/// assert!(blocks.workers[3].information() < 0.2 && blocks.workers[0].information() > 0.8);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// A sweep is O(rows k), or O(rows k^2) with rates between clusters, rows being the (worker, task,
/// item) triples and not the pairs they answer: a task of s items counts s, not s^2. Memory 8 k
/// (tasks + groups) bytes per start in flight, 16 k^2 per worker, and the pair counts for the
/// spectral starts.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or bad options, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond
/// the memory budget, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Ours; the setting is that of Yi 2014, Sect. 3.2 and Gomes, Welinder, Krause, Perona 2011,
/// "Crowdclustering". Rates that differ by cluster tell a cluster of leftovers, whose objects are
/// not alike, from the others; rates between clusters keep apart what is often confused. Objects
/// are updated in turn, each step raising the evidence bound, instead of all at once with damping.
#[derive(Clone, Copy, Debug)]
pub struct WorkerBlocks {
    clusters: usize,
    starts: usize,
    shrinkage: Shrinkage,
    tolerance: f64,
    max_iterations: usize,
    seed: Seed,
    budget: MemoryBudget,
}

/// What [`WorkerBlocks`] found.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The most probable cluster of each object; unlabelled where nobody compared it.
    pub partition: Partition,
    /// Probabilities of clusters; evidence is the number of pair answers on the object.
    pub memberships: Memberships,
    /// Every worker's rates, in the order of [`Answers::workers`].
    pub workers: Vec<WorkerRates>,
    /// How often the crowd calls two objects of each cluster the same; clusters as in
    /// `memberships`.
    pub cluster_rates: Vec<f64>,
    /// How often the crowd calls objects of two clusters the same: k x k, symmetric,
    /// `cluster_rates` on the diagonal; high where the crowd confuses two clusters. Away from the
    /// diagonal `apart_rate` where rates between clusters are not fitted.
    pub between_rates: Array2<f64>,
    /// How often the crowd calls two objects apart the same.
    pub apart_rate: f64,
    /// The evidence bound: expected log-likelihood of answers and clusters plus entropy of Q.
    pub evidence_bound: f64,
}

/// A fitted start, over the answered objects.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) q: Array2<f64>,
    pub(crate) counts: Counts,
    pub(crate) bound: f64,
    pub(crate) iterations: usize,
    pub(crate) converged: bool,
}

impl WorkerBlocks {
    /// A model of k clusters: 12 starts, pseudo-count 20, rates by cluster and between clusters,
    /// tolerance 1e-4, at most 300 iterations, seed 0.
    pub fn new(clusters: usize) -> Self {
        WorkerBlocks {
            clusters,
            starts: 12,
            shrinkage: Shrinkage { pseudo: 20.0, by_cluster: true, between: true },
            tolerance: 1e-4,
            max_iterations: 300,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    /// Starts, of which the one of highest evidence bound is kept.
    pub fn starts(mut self, starts: usize) -> Self {
        self.starts = starts;
        self
    }

    /// How many answers the crowd's rates count as in every worker's; more than 0.
    pub fn pseudo_count(mut self, answers: f64) -> Self {
        self.shrinkage.pseudo = answers;
        self
    }

    /// Whether clusters differ in how readily their objects are called the same.
    pub fn rates_by_cluster(mut self, by_cluster: bool) -> Self {
        self.shrinkage.by_cluster = by_cluster;
        self
    }

    /// Whether pairs of clusters differ in how readily their objects are confused. Without it the
    /// model merges two clusters that the crowd often confuses and splits another instead. Fitted
    /// only where the crowd gave at least 100 answers for each pair of clusters.
    pub fn rates_between_clusters(mut self, between: bool) -> Self {
        self.shrinkage.between = between;
        self
    }

    /// Stops where no membership changes by more; more than 0.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Most iterations of a start.
    pub fn max_iterations(mut self, iterations: usize) -> Self {
        self.max_iterations = iterations;
        self
    }

    /// Seed of the starts.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// How much memory may be taken.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Fits the model.
    ///
    /// # Errors
    /// As [`WorkerBlocks`].
    pub fn fit(&self, answers: &Answers, observer: &dyn Observer) -> Result<Fit<Blocks>> {
        self.check(answers)?;
        self.check_memory(answers)?;
        observer.check()?;
        let mut report = Report::default();
        let counts = report.stage("pair counts", || AnswerCounts::of(answers, self.budget))?;
        let fitted = report.stage("blocks", || self.best(answers, &counts, observer))?;
        fitted.describe(&mut report);
        let blocks = self.blocks(answers, &fitted)?;
        expect_clusters(&mut report, self.clusters, &blocks.partition);
        Ok(Fit::new(blocks, report))
    }

    /// The options, apart from what memory they would take.
    pub(crate) fn check(&self, answers: &Answers) -> Result<()> {
        check_clusters(self.clusters, answers)?;
        if self.starts == 0 || self.max_iterations == 0 {
            return Err(Error::invalid(format!(
                "{} starts of at most {} iterations; expected at least 1 of each",
                self.starts, self.max_iterations
            )));
        }
        for (name, value) in
            [("pseudo-count", self.shrinkage.pseudo), ("tolerance", self.tolerance)]
        {
            if !(value > 0.0) || value.is_infinite() {
                return Err(Error::invalid(format!("{name} {value}; expected a number above 0")));
            }
        }
        Ok(())
    }

    /// Whether the fit would stay inside the memory budget.
    pub(crate) fn check_memory(&self, answers: &Answers) -> Result<()> {
        let rows =
            (answers.n_tasks() + answers.n_groups()).saturating_mul(rayon::current_num_threads());
        self.budget.check_table("sums over groups", rows, self.clusters, 8)?;
        if self.shrinkage.tells_clusters(answers, self.clusters) {
            let tables = answers.n_workers().saturating_mul(2 * rayon::current_num_threads());
            self.budget.check_table("rates between clusters", tables, self.clusters.pow(2), 8)?;
        }
        self.budget.check_table(
            "memberships",
            answers.answered().len(),
            self.clusters,
            8 * self.starts,
        )
    }

    /// The same options for another number of clusters.
    pub(crate) fn of(mut self, clusters: usize) -> Self {
        self.clusters = clusters;
        self
    }

    /// The same options with the computed starts alone: for fits that are only compared with each
    /// other.
    pub(crate) fn without_perturbations(mut self) -> Self {
        self.starts = self.starts.min(SPECTRAL_STARTS);
        self
    }

    pub(crate) fn own_seed(&self) -> Seed {
        self.seed
    }

    pub(crate) fn budget(&self) -> MemoryBudget {
        self.budget
    }

    pub(crate) fn shrinkage(&self) -> Shrinkage {
        self.shrinkage
    }

    /// The best of all starts.
    pub(crate) fn best(
        &self,
        answers: &Answers,
        counts: &AnswerCounts,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        let k = self.clusters.min(answers.answered().len()).max(1);
        let mean = spectral::mean_answers(answers, counts, k, self.seed, observer)?;
        let [residual, unit] = spectral::residual(answers, counts, k, self.seed, observer)?;
        let latent = dawid_skene::posterior(answers, k, observer)?.matrix();
        let latent = spectral::cluster(&latent, k, self.seed, observer)?;
        self.best_of(
            answers,
            [mean, residual, unit, latent].map(|labels| soft(&labels, k)),
            observer,
        )
    }

    /// The best of the given starts and their perturbations: all run for a while, those of highest
    /// bound go on until they stay.
    fn best_of(
        &self,
        answers: &Answers,
        computed: [Array2<f64>; SPECTRAL_STARTS],
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        let occurrences = Occurrences::of(answers);
        let mut tried: Vec<Fitted> = (0..self.starts)
            .into_par_iter()
            .map(|s| {
                let mut q = computed[s % SPECTRAL_STARTS].clone();
                if s >= SPECTRAL_STARTS {
                    self.perturb(&mut q, s);
                }
                self.fit_from(answers, &occurrences, q, TRIAL, observer)
            })
            .collect::<Result<_>>()?;
        // Stable, so that of equals the first goes on and no choice depends on the order of
        // arrival.
        tried.sort_by(|a, b| b.bound.total_cmp(&a.bound));
        tried.truncate(self.starts.div_ceil(3));
        let finished: Vec<Fitted> = tried
            .into_par_iter()
            .map(|trial| {
                let left = self.max_iterations.saturating_sub(trial.iterations);
                if trial.converged || left == 0 {
                    return Ok(trial);
                }
                let rest = self.fit_from(answers, &occurrences, trial.q, left, observer)?;
                Ok(Fitted { iterations: trial.iterations + rest.iterations, ..rest })
            })
            .collect::<Result<_>>()?;
        let best =
            finished.into_iter().reduce(|best, f| if f.bound > best.bound { f } else { best });
        best.ok_or_else(|| Error::invalid("0 starts; expected at least 1"))
    }

    fn perturb(&self, q: &mut Array2<f64>, start: usize) {
        let mut stream = self.seed.derive("crowd start", start as u64).stream();
        for mut row in q.rows_mut() {
            // Exponential variates, normalised, are uniform on the simplex.
            let draws: Vec<f64> = row.iter().map(|_| -(1.0 - stream.uniform()).ln()).collect();
            let sum: f64 = draws.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            for (x, d) in row.iter_mut().zip(draws) {
                *x = (1.0 - PERTURBATION) * *x + PERTURBATION * d / sum;
            }
        }
    }

    /// Sweeps from the given memberships until they stay, at most `iterations` times.
    fn fit_from(
        &self,
        answers: &Answers,
        occurrences: &Occurrences,
        mut q: Array2<f64>,
        most: usize,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        let (mut iterations, mut converged) = (0, false);
        while iterations < most.min(self.max_iterations) && !converged {
            observer.check()?;
            let (counts, mut sums) = Counts::of(answers, q.view(), self.shrinkage);
            let weights = Weights::of(&counts.rates(self.shrinkage));
            let share = ln_share(q.view());
            let change = sweep::sweep(&mut q, &mut sums, occurrences, &weights, &share);
            iterations += 1;
            converged = change < self.tolerance;
        }
        observer.progress("start", iterations, iterations);
        let (counts, _) = Counts::of(answers, q.view(), self.shrinkage);
        let bound = bound(answers, &counts.rates(self.shrinkage), q.view());
        Ok(Fitted { q, counts, bound, iterations, converged })
    }

    /// The result in terms of all objects.
    pub(crate) fn blocks(&self, answers: &Answers, fitted: &Fitted) -> Result<Blocks> {
        let memberships = memberships(answers, fitted.q.view())?;
        let cluster_rates = fitted.counts.of_clusters(self.shrinkage.pseudo);
        let apart_rate = fitted.counts.crowd().1;
        let k = cluster_rates.len();
        let mut between_rates =
            fitted.counts.of_pairs().unwrap_or_else(|| Array2::from_elem((k, k), apart_rate));
        between_rates.diag_mut().iter_mut().zip(&cluster_rates).for_each(|(x, &rate)| *x = rate);
        Ok(Blocks {
            partition: memberships.hard()?,
            memberships,
            workers: workers::table(answers, &fitted.counts, self.shrinkage.pseudo),
            cluster_rates,
            between_rates,
            apart_rate,
            evidence_bound: fitted.bound,
        })
    }
}

impl Fitted {
    pub(crate) fn describe(&self, report: &mut Report) {
        report.iterations = self.iterations;
        report.objective = Some(self.bound);
        if !self.converged {
            report.status = Status::MaxIterations;
        }
    }

    /// The most probable cluster of each answered object, the first of equals.
    pub(crate) fn labels(&self) -> Vec<u32> {
        let best = |row: ndarray::ArrayView1<'_, f64>| {
            (1..row.len()).fold(0, |b, c| if row[c] > row[b] { c } else { b }) as u32
        };
        self.q.rows().into_iter().map(best).collect()
    }
}

/// The check that every crowd method begins with.
pub(crate) fn check_clusters(clusters: usize, answers: &Answers) -> Result<()> {
    let n = answers.n_objects();
    if clusters == 0 || clusters > n {
        return Err(Error::invalid(format!(
            "{clusters} clusters of {n} objects; expected 1..={n}"
        )));
    }
    Ok(())
}

/// Says so where fewer clusters came out than were asked for.
pub(crate) fn expect_clusters(report: &mut Report, asked: usize, partition: &Partition) {
    let found = partition.n_clusters();
    if found < asked {
        report.clusters_missing = Some(asked - found);
        report.notes.push(format!(
            "{found} clusters instead of the {asked} asked for: the answers tell no more objects apart"
        ));
    }
}

/// Soft memberships of hard labels.
pub(crate) fn soft(labels: &[u32], k: usize) -> Array2<f64> {
    Array2::from_shape_fn((labels.len(), k), |(i, c)| {
        SOFTNESS / k as f64 + if labels[i] as usize == c { 1.0 - SOFTNESS } else { 0.0 }
    })
}

/// Memberships that are certain.
pub(crate) fn hard(labels: &[u32], k: usize) -> Array2<f64> {
    Array2::from_shape_fn((labels.len(), k), |(i, c)| f64::from(u8::from(labels[i] as usize == c)))
}

/// Memberships of all objects from those of the answered ones; evidence is the number of pair
/// answers.
pub(crate) fn memberships(answers: &Answers, q: ArrayView2<'_, f64>) -> Result<Memberships> {
    let k = q.ncols();
    let mut values = Array2::from_elem((answers.n_objects(), k), 1.0 / k as f64);
    let mut evidence = vec![0.0; answers.n_objects()];
    for (row, &object) in q.rows().into_iter().zip(answers.answered()) {
        values.row_mut(object as usize).assign(&row);
    }
    for task in answers.tasks() {
        let others = (task.n_items() - 1) as f64;
        for &i in task.groups().flatten() {
            evidence[answers.answered()[i as usize] as usize] += others;
        }
    }
    Memberships::with_evidence(values, evidence)
}

/// Logarithms of the clusters' expected shares.
fn ln_share(q: ArrayView2<'_, f64>) -> Vec<f64> {
    let (n, k) = q.dim();
    q.columns().into_iter().map(|c| ((c.sum() + 1.0) / (n + k) as f64).ln()).collect()
}

/// Expected log-likelihood of answers and clusters, plus the entropy of Q.
fn bound(answers: &Answers, rates: &Rates, q: ArrayView2<'_, f64>) -> f64 {
    let share = ln_share(q);
    let mut total: f64 = per_task(answers, q, rates).iter().sum();
    for row in q.rows() {
        for (&x, s) in row.iter().zip(&share) {
            if x > 0.0 {
                total += x * (s - x.ln());
            }
        }
    }
    total
}
