use consilience_core::{Fit, Memberships, MemoryBudget, Observer, Partition, Report, Result, Seed};
use ndarray::Array2;
use rayon::prelude::*;

use super::completed::{self, CompletionChoice, PenaltyChoice};
use crate::ask::{self, Question};
use crate::blocks::{self, Counts, Fitted, WorkerBlocks, expect_clusters, hard};
use crate::held_out;
use crate::second::{self, SecondAnswer};
use crate::spectral;
use crate::workers::{self, WorkerRates};
use crate::{AnswerCounts, Answers, dawid_skene, pairs};

/// How [`CrowdClustering`] goes from answers to clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CrowdMethod {
    /// The block model or the spectral clustering of its log-odds, whichever foretells unseen
    /// answers better; `Pairs` where the objects were compared less often than there are clusters.
    #[default]
    Auto,
    /// The worker-aware block model, [`WorkerBlocks`].
    Block,
    /// Eigenvectors of the log-odds that the block model gives every pair.
    LogOdds,
    /// Robust completion of the pairs that the crowd agrees on, then eigenvectors.
    Rmc,
    /// Eigenvectors of the mean answers, the crowd's mean where nobody answered.
    Spectral,
    /// Dawid and Skene's model with pairs as independent items, then eigenvectors of the
    /// posteriors.
    DawidSkene,
    /// Dawid and Skene's log-odds of the answered pairs, whose clusters are merged greedily down to
    /// k; a pair that nobody answered counts as one of objects drawn from k clusters of like size.
    /// For clusters that are many and small, as in entity resolution: O(m log m) for m answered
    /// pairs, whatever k. The report notes how many clusters the answers themselves would leave.
    #[doc(alias = "entity resolution")]
    #[doc(alias = "correlation clustering")]
    Pairs,
}

impl CrowdMethod {
    /// The name that the program uses.
    pub fn name(self) -> &'static str {
        match self {
            CrowdMethod::Auto => "auto",
            CrowdMethod::Block => "block",
            CrowdMethod::LogOdds => "log-odds",
            CrowdMethod::Rmc => "rmc",
            CrowdMethod::Spectral => "spectral",
            CrowdMethod::DawidSkene => "dawid-skene",
            CrowdMethod::Pairs => "pairs",
        }
    }
}

/// Clusters objects by what a crowd answered about them.
///
/// The front door: any kind of [`Answers`], a number of clusters, and what comes out says which
/// workers to trust and what to ask next. Leave the method to [`CrowdMethod::Auto`] unless you
/// compare methods.
///
/// ```
/// use consilience_completion::{Answers, CrowdClustering, PairAnswer};
///
/// // Five workers compare neighbours in a ring of eight; the last one answers at random.
/// let mut rows = Vec::new();
/// for worker in 0..5 {
///     for i in 0..8 {
///         for step in 1..4 {
///             let j = (i + step) % 8;
///             let same = if worker == 4 { (i * 5 + step) % 3 == 0 } else { (i < 4) == (j < 4) };
///             rows.push(PairAnswer { worker, i, j, same });
///         }
///     }
/// }
/// let answers = Answers::from_pairs(8, &rows)?;
/// let result = CrowdClustering::new(2).fit(&answers, &())?.output;
/// assert_eq!(result.partition.to_signed(), vec![0, 0, 0, 0, 1, 1, 1, 1]);
/// assert!(result.workers[4].information() < result.workers[0].information());
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// See [`WorkerBlocks`] and [`RobustCompletion`](crate::RobustCompletion); `Auto` fits the block
/// model again for each of 5 folds, from the computed starts alone.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or bad options, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond
/// the memory budget, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Yi 2014, Chapter 3 (`Rmc`); Dawid, Skene 1979 (`DawidSkene`), with rates shrunk to the crowd's
/// and the share of pairs together held near 1 / k, since single answers a pair determine neither;
/// greedy additive edge contraction (Keuper et al. 2015) is the merging of `Pairs`, the weight of
/// unanswered pairs ours; the others are ours.
#[doc(alias = "crowdclustering")]
#[derive(Clone, Copy, Debug)]
pub struct CrowdClustering {
    clusters: usize,
    method: CrowdMethod,
    blocks: WorkerBlocks,
    completion: CompletionChoice,
    second: bool,
    seed: Seed,
    budget: MemoryBudget,
}

/// What [`CrowdClustering`] found.
#[derive(Clone, Debug)]
pub struct CrowdResult {
    /// The cluster of each object; unlabelled where nobody compared it.
    pub partition: Partition,
    /// Probabilities of clusters; certain where the method gives none. Evidence is the number of
    /// pair answers on the object, and the row uniform where there are none.
    pub memberships: Memberships,
    /// The method that was used: never `Auto`.
    pub method: CrowdMethod,
    /// Every worker's rates under this clustering, in the order of [`Answers::workers`].
    pub workers: Vec<WorkerRates>,
    /// How often the crowd calls two objects the same that are together, and that are apart.
    pub crowd_rates: (f64, f64),
    /// What else some of the workers may have grouped by, where the answers show it significantly.
    pub second: Option<SecondAnswer>,
    /// Log-likelihood per unseen pair answer (nats) of what was compared to choose: methods for
    /// `Auto`, penalty factors c for `Rmc`.
    pub held_out: Vec<(String, f64)>,
    /// The penalty factor c of `Rmc`.
    pub penalty_factor: Option<f64>,
}

impl CrowdResult {
    /// Workers who seem to answer without looking; see [`WorkerRates::is_spammer`].
    pub fn spammers(&self) -> impl Iterator<Item = &WorkerRates> {
        self.workers.iter().filter(|w| w.is_spammer())
    }

    /// The objects most in doubt, at most `count`: show them to the crowd next.
    pub fn ask_objects(&self, count: usize) -> Vec<usize> {
        ask::objects(&self.memberships, count)
    }

    /// The pairs whose answer would tell most, at most `count`: each object in doubt with the
    /// surest object of its likeliest clusters.
    pub fn ask_pairs(&self, count: usize) -> Vec<Question> {
        ask::pairs(&self.memberships, self.crowd_rates, count)
    }
}

/// Folds of tasks that `Auto` leaves out in turn.
const FOLDS: usize = 5;

impl CrowdClustering {
    /// `Auto` into k clusters; d0 = 0, d1 = 0.9 for `Rmc`, seed 0.
    pub fn new(clusters: usize) -> Self {
        CrowdClustering {
            clusters,
            method: CrowdMethod::Auto,
            blocks: WorkerBlocks::new(clusters),
            completion: CompletionChoice::default(),
            second: true,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    /// The method.
    pub fn method(mut self, method: CrowdMethod) -> Self {
        self.method = method;
        self
    }

    /// Options of the block model; its number of clusters, seed and memory budget are those given
    /// here.
    pub fn blocks(mut self, blocks: WorkerBlocks) -> Self {
        self.blocks = blocks;
        self
    }

    /// `Rmc`: pairs called the same by at least the share `d1` of answers are known to be together,
    /// by at most `d0` apart.
    pub fn thresholds(mut self, d0: f64, d1: f64) -> Self {
        (self.completion.d0, self.completion.d1) = (d0, d1);
        self
    }

    /// `Rmc`: how the weight C of the errors is found; [`PenaltyChoice::Recovery`] unless said
    /// otherwise.
    pub fn penalty(mut self, choice: PenaltyChoice) -> Self {
        self.completion.penalty = choice;
        self
    }

    /// Whether to look for workers who group by another criterion; on unless said otherwise.
    pub fn second_answer(mut self, look: bool) -> Self {
        self.second = look;
        self
    }

    /// Seed of all starts and folds.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// How much memory may be taken.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// The clustering alone.
    ///
    /// # Errors
    /// As [`CrowdClustering`].
    pub fn cluster(&self, answers: &Answers) -> Result<Partition> {
        Ok(self.second_answer(false).fit(answers, &())?.output.partition)
    }

    /// Clusters, and says how far to trust whom.
    ///
    /// # Errors
    /// As [`CrowdClustering`].
    pub fn fit(&self, answers: &Answers, observer: &dyn Observer) -> Result<Fit<CrowdResult>> {
        let blocks = self.blocks.of(self.clusters).seed(self.seed).memory_budget(self.budget);
        blocks.check(answers)?;
        self.completion.check()?;
        observer.check()?;
        let mut report = Report::default();
        let counts = report.stage("pair counts", || AnswerCounts::of(answers, self.budget))?;
        let k = self.clusters.min(answers.answered().len()).max(1);
        let mut run = Run { with: self, answers, counts: &counts, blocks, k, observer, report };
        run.check_memory()?;
        let found = run.method()?;
        let mut report = run.report;

        let (q, tallies) = match found.soft {
            Some(q) => {
                let tallies = Counts::of(answers, q.view(), blocks.shrinkage()).0;
                (q, tallies)
            }
            None => (hard(&found.labels, k), Counts::pooled(answers, &found.labels)),
        };
        let workers = workers::table(answers, &tallies, blocks.shrinkage().pseudo);
        // Another criterion is looked for by block models, which need as much as the first.
        let second = if self.second && found.method != CrowdMethod::Pairs {
            report.stage("second answer", || {
                second::find(answers, q.view(), &workers, &blocks, observer)
            })?
        } else {
            None
        };
        let memberships = blocks::memberships(answers, q.view())?;
        let result = CrowdResult {
            partition: memberships.hard()?,
            memberships,
            method: found.method,
            workers,
            crowd_rates: tallies.crowd(),
            second,
            held_out: found.held_out,
            penalty_factor: found.factor,
        };
        describe(&mut report, &result, self.clusters);
        Ok(Fit::new(result, report))
    }
}

/// Plain sentences about the result.
fn describe(report: &mut Report, result: &CrowdResult, clusters: usize) {
    expect_clusters(report, clusters, &result.partition);
    let silent = result.partition.n_objects() - result.partition.n_labelled();
    if silent > 0 {
        report.notes.push(format!("{silent} objects were compared by nobody and are unlabelled"));
    }
    let spammers: Vec<String> = result.spammers().map(|w| w.worker.to_string()).collect();
    if !spammers.is_empty() {
        report
            .notes
            .push(format!("workers who seem to answer without looking: {}", spammers.join(", ")));
    }
    if let Some(second) = &result.second {
        report.notes.push(format!(
            "{} workers group by another criterion ({:.1} standard errors better explained)",
            second.workers.len(),
            second.significance
        ));
    }
}

/// What a method found, over the answered objects.
struct Found {
    labels: Vec<u32>,
    soft: Option<Array2<f64>>,
    method: CrowdMethod,
    held_out: Vec<(String, f64)>,
    factor: Option<f64>,
}

impl Found {
    fn hard(method: CrowdMethod, labels: Vec<u32>) -> Self {
        Found { labels, soft: None, method, held_out: Vec::new(), factor: None }
    }

    fn blocks(fitted: &Fitted) -> Self {
        Found { soft: Some(fitted.q.clone()), ..Self::hard(CrowdMethod::Block, fitted.labels()) }
    }
}

/// One run over given answers.
struct Run<'a> {
    with: &'a CrowdClustering,
    answers: &'a Answers,
    counts: &'a AnswerCounts,
    blocks: WorkerBlocks,
    k: usize,
    observer: &'a dyn Observer,
    report: Report,
}

impl Run<'_> {
    /// The method that is asked for; `Pairs` for `Auto` where the answers cannot carry a block
    /// model. An object that was compared d times has met its own cluster d / k times in
    /// expectation: with less than one such answer there is nothing to place it by, but for answers
    /// on pairs that were chosen beforehand.
    fn asked(&self) -> CrowdMethod {
        let compared = 2.0 * self.answers.n_pair_answers() as f64
            / self.answers.answered().len().max(1) as f64;
        match self.with.method {
            CrowdMethod::Auto if compared < self.k as f64 => CrowdMethod::Pairs,
            other => other,
        }
    }

    fn check_memory(&self) -> Result<()> {
        self.with.budget.check_table("memberships", self.answers.n_objects(), self.k, 8)?;
        match self.asked() {
            CrowdMethod::Pairs => Ok(()),
            _ => self.blocks.check_memory(self.answers),
        }
    }

    fn method(&mut self) -> Result<Found> {
        let (answers, counts, k, seed, observer) =
            (self.answers, self.counts, self.k, self.with.seed, self.observer);
        match self.asked() {
            CrowdMethod::Auto => self.auto(),
            CrowdMethod::Pairs => {
                let posterior = self
                    .report
                    .stage("dawid-skene", || dawid_skene::posterior(answers, k, observer))?;
                self.report.iterations = posterior.iterations;
                let merged =
                    self.report.stage("merging", || pairs::agglomerate(&posterior, k, observer))?;
                if merged.supported > k {
                    self.report.notes.push(format!(
                        "by the answers alone {} clusters would be left; those merged down to {k} are less likely \
                         together than apart",
                        merged.supported
                    ));
                }
                Ok(Found::hard(CrowdMethod::Pairs, merged.labels))
            }
            CrowdMethod::Block => Ok(Found::blocks(&self.fitted()?)),
            CrowdMethod::LogOdds => {
                let fitted = self.fitted()?;
                Ok(Found::hard(
                    CrowdMethod::LogOdds,
                    log_odds(answers, &fitted, &self.blocks, k, seed, observer)?,
                ))
            }
            CrowdMethod::Spectral => {
                let labels = self.report.stage("spectral", || {
                    spectral::mean_answers(answers, counts, k, seed, observer)
                })?;
                Ok(Found::hard(CrowdMethod::Spectral, labels))
            }
            CrowdMethod::DawidSkene => {
                let posterior = self
                    .report
                    .stage("dawid-skene", || dawid_skene::posterior(answers, k, observer))?;
                self.report.iterations = posterior.iterations;
                let matrix = posterior.matrix();
                let labels = self
                    .report
                    .stage("spectral", || spectral::cluster(&matrix, k, seed, observer))?;
                Ok(Found::hard(CrowdMethod::DawidSkene, labels))
            }
            CrowdMethod::Rmc => {
                let with = completed::Completed {
                    choice: self.with.completion,
                    clusters: k,
                    shrinkage: self.blocks.shrinkage(),
                    seed,
                    budget: self.with.budget,
                };
                let fit =
                    self.report.stage("completion", || with.cluster(answers, counts, observer))?;
                self.report.iterations = fit.report.iterations;
                self.report.objective = fit.report.objective;
                self.report.error_bound = fit.report.error_bound;
                self.report.status = fit.report.status;
                self.report.notes.extend(fit.report.notes);
                Ok(Found {
                    held_out: fit.output.held_out,
                    factor: Some(fit.output.factor),
                    ..Found::hard(CrowdMethod::Rmc, fit.output.labels)
                })
            }
        }
    }

    fn fitted(&mut self) -> Result<Fitted> {
        let fitted = self
            .report
            .stage("blocks", || self.blocks.best(self.answers, self.counts, self.observer))?;
        fitted.describe(&mut self.report);
        Ok(fitted)
    }

    /// Block model or spectral clustering of its log-odds, by held-out tasks.
    fn auto(&mut self) -> Result<Found> {
        let fitted = self.fitted()?;
        let (k, seed, observer) = (self.k, self.with.seed, self.observer);
        let fold = held_out::folds(self.answers, FOLDS, seed);
        let of_fold = |f: usize| -> Result<(f64, f64, usize)> {
            let seen = self.answers.filter(|t, _| fold[t] != f);
            let unseen = self.answers.filter(|t, _| fold[t] == f);
            if seen.n_tasks() == 0 || unseen.n_tasks() == 0 {
                return Ok((0.0, 0.0, 0));
            }
            let counts = AnswerCounts::of(&seen, self.with.budget)?;
            let part = self.blocks.without_perturbations().best(&seen, &counts, observer)?;
            let odds = log_odds(&seen, &part, &self.blocks, k, seed, observer)?;
            let score = |labels: &[u32]| -> f64 {
                held_out::score(&seen, labels, k, self.blocks.shrinkage(), &unseen).iter().sum()
            };
            Ok((score(&part.labels()), score(&odds), unseen.n_pair_answers()))
        };
        let folds: Vec<(f64, f64, usize)> =
            (0..FOLDS).into_par_iter().map(of_fold).collect::<Result<_>>()?;
        // Added in the order of the folds, whichever was done first.
        let (block_score, odds_score, pairs) = folds
            .into_iter()
            .fold((0.0, 0.0, 0), |sum, fold| (sum.0 + fold.0, sum.1 + fold.1, sum.2 + fold.2));
        let per_answer = |score: f64| if pairs > 0 { score / pairs as f64 } else { 0.0 };
        let held_out = vec![
            (CrowdMethod::Block.name().to_string(), per_answer(block_score)),
            (CrowdMethod::LogOdds.name().to_string(), per_answer(odds_score)),
        ];
        let found = if odds_score > block_score {
            let labels = log_odds(self.answers, &fitted, &self.blocks, k, seed, observer)?;
            Found::hard(CrowdMethod::LogOdds, labels)
        } else {
            Found::blocks(&fitted)
        };
        Ok(Found { held_out, ..found })
    }
}

/// Spectral clustering of the log-odds of every answered pair, by the workers' rates over all
/// clusters.
fn log_odds(
    answers: &Answers,
    fitted: &Fitted,
    blocks: &WorkerBlocks,
    k: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let rates = workers::table(answers, &fitted.counts, blocks.shrinkage().pseudo);
    let sparse = spectral::sums_over_answers(answers, |w, same| {
        let (p, r) = (rates[w].same_together, rates[w].same_apart);
        if same { (p / r).ln() } else { ((1.0 - p) / (1.0 - r)).ln() }
    });
    spectral::cluster(&spectral::Shifted { sparse, constant: 0.0 }, k, seed, observer)
}
