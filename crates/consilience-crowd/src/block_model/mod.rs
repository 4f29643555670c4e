//! The worker-aware block model.

mod fitting;
mod growth;
mod sweep;
#[cfg(test)]
mod tests;

use consilience_core::{
    Error, Fit, Memberships, MemoryBudget, Observer, Partition, Report, Result, Seed, ensure,
};
use ndarray::{Array2, Axis};

pub(crate) use fitting::{Fitted, best, computed_starts, latent_classes, with_own_rates};
pub(crate) use sweep::{Occurrence, Occurrences, Others};
#[cfg(test)]
pub(crate) use tests::crowd;

use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::best::abreast;
use crate::expected_counts::Shrinkage;
use crate::worker_rates::{self, WorkerRates};
use crate::{memberships, spectral};

/// Spectral clusterings that are computed at the same time.
const SPECTRAL: usize = 3;
/// With fewer answers added, rates of workers who always say the same are rounded to 0 and 1.
const LEAST_PSEUDO: f64 = 1e-6;

/// Crowdclustering by a block model that knows its workers.
///
/// Use it where people answer differently well: every worker w has a probability `p_w(c)` of
/// calling two objects of cluster c the same, and `r_w` for objects apart. It needs no more than a
/// few answers per object. Where a few workers have grouped everything, a consensus function on
/// their groupings is an alternative; where clusters are tiny and many, as in entity resolution, it
/// has too little to learn from. Answers that are all alike end in one cluster, also where they all
/// say apart; [`CrowdClustering`](crate::CrowdClustering) takes those at their word.
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
/// Of several starts the one with the highest evidence bound is kept. The starts are spectral
/// clusterings of the mean answers, of the residual `c - mean N` and of Dawid and Skene's
/// posteriors, and random perturbations of them; where there are more clusters than half of the
/// objects, clusterings into that half as well. All run for 20 iterations; the best third goes on
/// until it converges.
///
/// Spectral clusterings fail where objects were compared with their neighbours only, in a list say,
/// and where workers who answer the wrong way round gave much of the answers. There one start is
/// added: answers of workers who contradict the others are turned round, Dawid and Skene's model
/// then gives the log-odds that two objects are together, and clusters grow object by object, the
/// surest first. Who is the wrong way round is decided by most workers, not by most answers.
///
/// ```
/// use consilience::crowd::{Answers, BlockModel, PairAnswer};
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
/// let model = BlockModel::new(2).pseudo_count(1.0);
/// let found = model.fit(&Answers::from_pairs(6, &rows)?, &())?.output;
/// assert_eq!(found.partition.to_signed(), vec![0, 0, 0, 1, 1, 1]);
/// assert!(found.workers[3].informedness() < 0.2 && found.workers[0].informedness() > 0.8);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// A sweep is O(rows k), or O(rows k^2) with rates between clusters, rows being the (worker, task,
/// item) triples and not the pairs they answer: a task of s items counts s, not s^2. Memory 8 k
/// (tasks + groups) bytes per start in flight, of tasks of more than two items alone, 16 k^2 per
/// worker, 24 bytes per (worker, task, item) triple and as many per answered pair; while the
/// spectral starts are made 120 to 200 bytes per answered pair instead, and 8 per pair answer.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or bad options, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond
/// the memory budget, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Ours; the setting is that of Yi 2014, Sect. 3.2 and Gomes, Welinder, Krause, Perona 2011,
/// "Crowdclustering". Rates that differ by cluster distinguish a cluster of leftovers, whose
/// objects are not alike, from the others; rates between clusters separate what is often confused.
/// Objects are updated in turn, instead of all at once with damping: at fixed rates no update
/// lowers the evidence bound. Rates are shrunk and not those of the highest bound, so that it may
/// fall by a little between two iterations, by .07 nats at most on the crowds where this was looked
/// at.
#[doc(alias = "stochastic block model")]
#[doc(alias = "worker model")]
#[doc(alias = "crowdsourcing")]
#[derive(Clone, Copy, Debug)]
pub struct BlockModel {
    clusters: usize,
    restarts: usize,
    shrinkage: Shrinkage,
    tolerance: f64,
    max_iterations: usize,
    seed: Seed,
    budget: MemoryBudget,
}

/// What [`BlockModel`] found. Label j of the partition, column j of the memberships and entry j of
/// the rates are the same cluster.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BlockModelResult {
    /// The most probable cluster of each object; unlabelled where nobody compared it.
    pub partition: Partition,
    /// Probabilities of clusters; evidence is the number of pair answers on the object. The model
    /// takes all pairs of a task for independent, which they are not: what it says of an object is
    /// taken to the power of 2 / (s + 2), s being the number of items that were sorted at a time.
    pub memberships: Memberships,
    /// Every worker's rates, in the order of [`Answers::workers`].
    pub workers: Vec<WorkerRates>,
    /// How often the crowd calls two objects of each cluster the same.
    pub cluster_rates: Vec<f64>,
    /// How often the crowd calls objects of two clusters the same: k x k, symmetric,
    /// `cluster_rates` on the diagonal; high where the crowd confuses two clusters. Away from the
    /// diagonal `apart_rate` where rates between clusters are not fitted.
    #[doc(alias = "confusion matrix")]
    pub between_rates: Array2<f64>,
    /// How often the crowd calls two objects apart the same.
    pub apart_rate: f64,
    /// The evidence bound: expected log-likelihood of answers and clusters plus entropy of Q.
    pub evidence_bound: f64,
}

impl BlockModel {
    /// A model of k clusters.
    pub fn new(clusters: usize) -> Self {
        BlockModel {
            clusters,
            restarts: 12,
            shrinkage: Shrinkage {
                pseudo: 20.0,
                by_cluster: true,
                between: true,
                by_worker: false,
            },
            tolerance: 1e-4,
            max_iterations: 300,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// Starts, of which the one of highest evidence bound is kept. Default 12; 1 to 10000.
        /// Where there are more than 20 million rows times k^2, the computed starts alone are
        /// taken. From 5 on, one is added for crowds that compared neighbours only, or of whom many
        /// answer the wrong way round.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// How many answers of the crowd are added to every worker's own before rates are computed.
        /// Default 20; 1e-6 or more.
        pub fn pseudo_count(mut self, answers: f64) { self.shrinkage.pseudo = answers }

        /// Whether clusters differ in how readily their objects are called the same. Default true.
        pub fn rates_by_cluster(mut self, by_cluster: bool) {
            self.shrinkage.by_cluster = by_cluster
        }

        /// Whether pairs of clusters differ in how readily their objects are confused. Without it
        /// the model merges two clusters that the crowd often confuses and splits another instead.
        /// Fitted only where the crowd gave at least 100 answers for each pair of clusters. Default
        /// true.
        pub fn rates_between_clusters(mut self, between: bool) { self.shrinkage.between = between }

        /// Whether workers differ in which clusters they confuse: each merges clusters in their own
        /// way. Needs rates between clusters. It serves where workers sort into fewer groups than
        /// there are clusters, and costs where they do not and say little. Default false.
        pub fn rates_between_by_worker(mut self, by_worker: bool) {
            self.shrinkage.by_worker = by_worker
        }

        /// Stops where no membership changes by more. Default 1e-4; above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Most iterations of a start. Default 300; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Seed of the starts. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory may be taken. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The clustering alone.
    ///
    /// # Errors
    /// As [`BlockModel`].
    pub fn cluster(&self, answers: &Answers) -> Result<Partition> {
        Ok(self.fit(answers, &())?.output.partition)
    }

    /// Fits the model; progress goes to the observer, which may also cancel.
    ///
    /// # Errors
    /// As [`BlockModel`].
    pub fn fit(&self, answers: &Answers, observer: &dyn Observer) -> Result<Fit<BlockModelResult>> {
        self.check(answers)?;
        self.check_memory(answers)?;
        observer.check()?;
        let mut report = Report::default();
        let counts = report.stage("pair counts", || AnswerCounts::of(answers, self.budget))?;
        let fitted = report.stage("blocks", || best(self, answers, &counts, observer))?;
        fitted.describe(&mut report);
        let result = self.result(answers, fitted)?;
        let found = result.partition.n_clusters();
        report.expect_clusters(self.clusters, found, FEWER_CLUSTERS);
        Ok(Fit::new(result, report))
    }

    /// The options, apart from what memory they would take.
    pub(crate) fn check(&self, answers: &Answers) -> Result<()> {
        let (n, clusters) = (answers.n_objects(), self.clusters);
        ensure!(
            (1..=n).contains(&clusters),
            invalid("{clusters} clusters of {n} objects; expected 1..={n}")
        );
        if !(1..=10_000).contains(&self.restarts) || self.max_iterations == 0 {
            return Err(Error::invalid(format!(
                "{} starts of at most {} iterations; expected 1..=10000 starts of at least 1",
                self.restarts, self.max_iterations
            )));
        }
        let (pseudo, tolerance) = (self.shrinkage.pseudo, self.tolerance);
        ensure!(
            pseudo >= LEAST_PSEUDO && pseudo.is_finite(),
            invalid("pseudo-count {pseudo}; expected a number from {LEAST_PSEUDO} on")
        );
        ensure!(
            tolerance > 0.0 && tolerance.is_finite(),
            invalid("tolerance {tolerance}; expected a number above 0")
        );
        Ok(())
    }

    /// What the fit takes memory for, so many starts being on their way: rows and columns of
    /// numbers.
    fn tables(&self, answers: &Answers, starts: usize) -> [(usize, usize); 6] {
        let k = self.clusters;
        // One that was added goes beside them.
        let starts = starts.saturating_add(1);
        let rows = answers.n_larger().iter().sum::<usize>().saturating_mul(starts);
        let between = if self.shrinkage.fits_between(answers, k) {
            // Of each start in flight: weights, and counts and rates where workers have their own.
            let each = if self.shrinkage.by_worker { 5 } else { 2 };
            // And the counts of what was found, beside which another criterion is looked for.
            answers.n_workers().saturating_mul(each * starts + 2)
        } else {
            0
        };
        // Of the starts, of a third of them, which go on, and of those that may be added: one for
        // strange crowds, latent classes and the fit without rates of each worker.
        let most = fitting::most_starts(self, answers);
        let kept = most + most.div_ceil(3) + starts.min(most) + 6;
        [
            // Sums over groups, and rates between clusters.
            (rows, k),
            (between, k.saturating_mul(k)),
            // Memberships: of every object, answered or not, while they are found and in the
            // result; and of the answered ones.
            (answers.n_objects(), k.saturating_mul(3)),
            (answers.answered().len(), k.saturating_mul(kept)),
            // The pair counts stay; occurrences, and the answers of some workers once more.
            (answers.most_pairs(), spectral::COUNTED),
            (answers.n_rows(), 3),
        ]
    }

    /// Whether the fit would stay inside the memory budget, one start after the other.
    pub(crate) fn check_memory(&self, answers: &Answers) -> Result<()> {
        let tables = spectral::tables(answers, self.clusters, SPECTRAL);
        self.budget.check_tables("pair counts and eigenvectors of the answers", &tables, 8)?;
        let what = "pair counts, sums over groups, rates between clusters and memberships";
        self.budget.check_tables(what, &self.tables(answers, 1), 8)
    }

    /// Whether so many starts at the same time would, whatever else runs on the machine.
    pub(crate) fn is_allowed(&self, answers: &Answers, starts: usize) -> bool {
        self.budget.allows_tables(&self.tables(answers, starts), 8)
    }

    /// How many starts are on their way at the same time.
    pub(crate) fn abreast(&self, answers: &Answers) -> usize {
        abreast(self.restarts, |&starts| self.is_allowed(answers, starts))
    }

    /// The same options for another number of clusters.
    pub(crate) fn of(mut self, clusters: usize) -> Self {
        self.clusters = clusters;
        self
    }

    /// The same options with the computed starts alone: for fits that are only compared with each
    /// other.
    pub(crate) fn without_perturbations(mut self) -> Self {
        self.restarts = self.restarts.min(fitting::COMPUTED_STARTS);
        self
    }

    pub(crate) fn iterations(&self) -> usize {
        self.max_iterations
    }

    pub(crate) fn own_tolerance(&self) -> f64 {
        self.tolerance
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

    /// The result in terms of all objects, clusters in the order of the memberships' columns.
    fn result(&self, answers: &Answers, fitted: Fitted) -> Result<BlockModelResult> {
        let (memberships, given) =
            memberships::of_all(answers, memberships::weighed(answers, fitted.q)?)?;
        let rates = fitted.counts.of_clusters(self.shrinkage.pseudo);
        let cluster_rates: Vec<f64> = given.iter().map(|&c| rates[c]).collect();
        let apart_rate = fitted.counts.crowd().same_apart;
        let k = cluster_rates.len();
        let mut between_rates = match fitted.counts.of_pairs() {
            Some(rates) => rates.select(Axis(0), &given).select(Axis(1), &given),
            None => Array2::from_elem((k, k), apart_rate),
        };
        between_rates.diag_mut().iter_mut().zip(&cluster_rates).for_each(|(x, &rate)| *x = rate);
        Ok(BlockModelResult {
            partition: memberships.hard()?,
            memberships,
            workers: worker_rates::table(answers, &fitted.counts, self.shrinkage.pseudo),
            cluster_rates,
            between_rates,
            apart_rate,
            evidence_bound: fitted.bound,
        })
    }
}

/// Why fewer clusters may come out than are asked for.
pub(crate) const FEWER_CLUSTERS: &str = "the model finds no more in these answers";
