//! The one door to all methods.

mod number;

use std::borrow::Cow;

use consilience_core::{Clusters, Fit, MemoryBudget, Observer, Partition, Report, Result, Seed};
use ndarray::Array2;
use number::Number;

use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::block_model::{self, BlockModel, Fitted};
use crate::cluster_count::ClusterCount;
use crate::completed::{CompletionChoice, CompletionClusterer, PenaltyChoice};
use crate::copies;
use crate::crowd_method::CrowdMethod;
use crate::crowd_result::CrowdResult;
use crate::evidence::evidence;
use crate::expected_counts::ExpectedCounts;
use crate::planted_partition::{self, PlantedPartition};
use crate::positions::{self, FittedPositions, PositionModel};
use crate::unanimous::Unanimous;
use crate::{
    alternative, dawid_skene, doubt, memberships, merging, spectral, told, unanimous, worker_rates,
};

/// Evidence, in nats, by which rates of each worker between clusters have to be better, and planted
/// partitions.
const CLEAR: f64 = 3.0;

/// Most answered pairs for which planted partitions are tried unasked: with more, their starts take
/// longer than all else.
const SINGLE: usize = 200_000;
const TOO_MANY: &str =
    "with more than 200,000 answered pairs, planted partitions are not tried unasked";

/// Most rows times the square of the clusters for which `Auto` fits rates of each worker between
/// clusters as well. A sweep takes about a second there, and those have many optima: latent classes
/// and more starts go before them, which takes several times as long as the fit without them.
const AFFORDABLE: usize = 500_000_000;

/// Clusters objects by what a crowd answered about them.
///
/// It takes any kind of [`Answers`] and a number of clusters, or [`Clusters::Auto`] where that is
/// not known; the result also says which workers to trust and what to ask next. Leave the method to
/// [`CrowdMethod::Auto`] unless you compare methods.
///
/// ```
/// use consilience::crowd::{Answers, CrowdClustering, PairAnswer};
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
/// assert!(result.workers[4].informedness() < result.workers[0].informedness());
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// With [`Clusters::Auto`] workers who [seem to answer at random](crate::WorkerRates::is_spammer)
/// under a block model of eight clusters are left out for the number, except by `Bayesian`, and the
/// report says how many. The number is the most probable one of a [`PositionModel`], which is
/// fitted first unless answers agree as below, or of a planted partition model, where at most
/// 200,000 pairs were answered and its evidence is higher by more than 3 nats, times s / 2 for
/// tasks of s items: one rate of "same" inside clusters and one between them, so that it knows
/// nothing of workers and finds many small clusters. Where it is higher by 100 such nats than what
/// a look at positions finds, these are not fitted. [`CrowdResult::completed_rank`] says beside it
/// what the rank of the completed similarity would be, and the report where the two differ.
///
/// Answers that are all alike need no model, and every method takes them at their word. Where no
/// two objects were called the same, each is a cluster of its own, if the number is automatic or
/// allows it; of an automatic number 1 also where most answers on every pair say that it is apart.
/// Where no two objects were called apart they are one cluster, whatever number is asked for, but
/// for objects that no chain of comparisons connects. Nor do answers of which none contradicts
/// another: the sets of objects that were called the same, by way of others too, are the clusters
/// where they are no more than were asked for or, the number being automatic, every two of them
/// were called apart. The report says so, and where such answers do not tell which objects share
/// the clusters that were asked for; `Auto` merges pairs then.
///
/// # Complexity
/// See [`BlockModel`], [`PositionModel`] and
/// [`RobustCompletion`](consilience_completion::RobustCompletion); `Auto` fits the block model
/// twice, without and with rates of each worker between clusters, and only without them where there
/// are more than 500 million rows times k^2, rows being the (worker, task, item) triples.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, a number that is neither fixed nor automatic, or bad options,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget,
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Yi 2014, Chapter 3 (`Rmc`); Gomes et al. 2011 (`Bayesian`); Dawid, Skene 1979 (`DawidSkene`),
/// with rates shrunk to the crowd's and the share of pairs together held near 1 / k, since single
/// answers a pair determine neither; greedy additive edge contraction (Keuper et al. 2015) is the
/// merging of `Pairs`, the weight of unanswered pairs ours; Zhang, Peixoto 2020, "Statistical
/// inference of assortative community structures" (`PlantedPartition`, whose rates are integrated
/// out otherwise here); the others are ours.
#[doc(alias = "Dawid-Skene")]
#[doc(alias = "crowdclustering")]
#[doc(alias = "crowdsourcing")]
#[doc(alias = "answer aggregation")]
#[derive(Clone, Copy, Debug)]
pub struct CrowdClustering {
    clusters: Clusters,
    method: CrowdMethod,
    model: BlockModel,
    positions: PositionModel,
    completion: CompletionChoice,
    alternative: bool,
    seed: Seed,
    budget: MemoryBudget,
}

impl CrowdClustering {
    /// `Auto` into k clusters, or into as many as the answers ask for ([`Clusters::Auto`]).
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        CrowdClustering {
            clusters,
            method: CrowdMethod::Auto,
            model: BlockModel::new(clusters.fixed().unwrap_or(1)),
            positions: PositionModel::new(clusters),
            completion: CompletionChoice::default(),
            alternative: true,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// The method. Default [`CrowdMethod::Auto`].
        pub fn method(mut self, method: CrowdMethod) { self.method = method }

        /// Options of the block model; its number of clusters, seed and memory budget are those
        /// given here. Default [`BlockModel::new`].
        pub fn block_model(mut self, model: BlockModel) { self.model = model }

        /// Options of `Bayesian` and of an automatic number of clusters; the number of clusters,
        /// seed and memory budget are those given here. Default [`PositionModel::new`].
        pub fn position_model(mut self, model: PositionModel) { self.positions = model }

        /// `Rmc`: pairs called the same by at least the share `together` of answers are known to be
        /// together, by at most `apart` to be apart. Default 0 and 0.9; `0 <= apart < together <=
        /// 1`.
        #[doc(alias = "d0")]
        #[doc(alias = "d1")]
        pub fn thresholds(mut self, apart: f64, together: f64) {
            (self.completion.apart, self.completion.together) = (apart, together)
        }

        /// `Rmc`: how the weight C of the errors is found. Default [`PenaltyChoice::Recovery`].
        pub fn penalty(mut self, choice: PenaltyChoice) { self.completion.penalty = choice }

        /// Whether to look for workers who group by another criterion. Default true.
        #[doc(alias = "multiple clusterings")]
        pub fn alternative(mut self, look: bool) { self.alternative = look }

        /// Seed of all starts and folds. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory may be taken. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The clustering alone.
    ///
    /// # Errors
    /// As [`CrowdClustering`].
    pub fn cluster(&self, answers: &Answers) -> Result<Partition> {
        Ok(self.alternative(false).fit(answers, &())?.output.partition)
    }

    /// The clusters, the workers and what else the answers show; progress goes to the observer,
    /// which may also cancel.
    ///
    /// # Errors
    /// As [`CrowdClustering`].
    pub fn fit(&self, answers: &Answers, observer: &dyn Observer) -> Result<Fit<CrowdResult>> {
        let n = answers.n_objects();
        let positions = self.positions.of(self.clusters).seed(self.seed).memory_budget(self.budget);
        let asked = positions.check(answers)?;
        let model = self.model.seed(self.seed).memory_budget(self.budget);
        model.of(asked.unwrap_or(1)).check(answers)?;
        self.completion.check()?;
        observer.check()?;
        let mut report = Report::default();
        let given = asked.map(|k| k.min(answers.answered().len()).max(1));
        // Of every object, answered or not: probabilities while they are found and in the result.
        self.budget.check_table("memberships", n, given.unwrap_or(1), 24)?;
        let copies = copies::sets(answers, self.budget)?;
        let counts = report.stage("pair counts", || AnswerCounts::of(answers, self.budget))?;
        report.notes.extend(copies::notes(answers, &counts, &copies));
        let consistent = unanimous::consistent(answers, &counts, given, self.budget, observer)?;
        let number = match (given, consistent.as_ref().and_then(Unanimous::clusters)) {
            (Some(k), _) | (None, Some(k)) => Number { k, count: None, rank: None, fitted: None },
            _ => self.number(&positions, answers, &counts, observer, &mut report)?,
        };
        let (k, budget) = (number.k, self.budget);
        budget.check_table("memberships", n, k, 24)?;
        let unanimous = consistent.or_else(|| unanimous::of(answers, &counts, given, k, budget));
        let model = model.of(asked.unwrap_or(k));
        let mut task = Task { answers, counts: &counts, model, positions, k, observer };
        let labels = unanimous.as_ref().and_then(|unanimous| unanimous.labels.clone());
        let agreed = given.is_some() && unanimous.is_some();
        let suited = self.suited((answers, &counts), k, agreed, &mut report);
        let (found, alternative) = match (labels, suited, number.fitted) {
            (Some(labels), method, _) => {
                task.k = unanimous::clusters(&labels);
                budget.check_table("memberships", n, task.k, 24)?;
                let auto = method == CrowdMethod::Auto;
                let method = if auto { CrowdMethod::Pairs } else { method };
                // Answers that agree leave nothing to another criterion.
                (Found::hard(method, labels), false)
            }
            (None, CrowdMethod::Bayesian, Some(fitted)) => {
                model.check_memory(answers)?;
                (Found::positions(fitted), self.alternative)
            }
            (None, method, fitted) => {
                // It has told the number.
                drop(fitted);
                if method != CrowdMethod::Pairs {
                    model.check_memory(answers)?;
                }
                (task.solve(method, self.completion, &mut report)?, self.alternative)
            }
        };
        let count = number.count.or(found.count.clone());
        let (model, columns) = (task.model, task.k);
        // Whoever looks for another criterion counts anew.
        drop(counts);
        let (looking, model) = (self.alternative(alternative), (&model, columns));
        let mut result = looking.result(answers, model, found, &mut report, observer)?;
        (result.cluster_count, result.completed_rank, result.copies) = (count, number.rank, copies);
        told::describe(&mut report, &result, answers, (asked, k), unanimous.as_ref());
        Ok(Fit::new(result, report))
    }

    /// The method that was asked for; planted partitions for `Auto` where there are too few answers
    /// for a block model, or `Pairs` where there are too many pairs for these. An object that was
    /// compared d times has met its own cluster d / k times in expectation: with less than one such
    /// answer there is nothing to place it by, but for answers on pairs chosen beforehand. So it is
    /// where answers that agree leave more clusters than were asked for.
    fn suited(
        &self,
        (answers, counts): (&Answers, &AnswerCounts),
        k: usize,
        agreed: bool,
        report: &mut Report,
    ) -> CrowdMethod {
        let compared =
            2.0 * answers.n_pair_answers() as f64 / answers.answered().len().max(1) as f64;
        match self.method {
            CrowdMethod::Auto if agreed => CrowdMethod::Pairs,
            // Planted partitions begin, among others, with what merged pairs leave.
            CrowdMethod::Auto if compared < k as f64 => {
                match tries_planted(answers, counts, self.budget, report) {
                    true => CrowdMethod::PlantedPartition,
                    false => CrowdMethod::Pairs,
                }
            }
            other => other,
        }
    }

    /// The workers and the alternative under what was found.
    fn result(
        &self,
        answers: &Answers,
        (model, k): (&BlockModel, usize),
        found: Found,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<CrowdResult> {
        let pseudo = model.shrinkage().pseudo;
        let (q, counts) = match found.soft {
            Some(q) => {
                let counts = ExpectedCounts::of(answers, q.view(), model.shrinkage()).0;
                (Some(q), counts)
            }
            None => (None, ExpectedCounts::pooled(answers, &found.labels)),
        };
        let workers = worker_rates::table(answers, &counts, pseudo);
        // Another criterion is looked for by block models, which need as much as the first.
        let alternative = if self.alternative && found.method != CrowdMethod::Pairs {
            // What workers merge is no other criterion.
            let by_worker = found.method == CrowdMethod::BlockByWorker;
            let model = model.rates_between_by_worker(by_worker);
            let certain = || Cow::Owned(memberships::hard(&found.labels, k));
            let first = q.as_ref().map_or_else(certain, Cow::Borrowed);
            report.stage("alternative", || {
                alternative::find(answers, first.view(), &workers, &model, observer)
            })?
        } else {
            None
        };
        let q = match q {
            // These take a task for one judgement of each object as they are.
            Some(q) if found.method == CrowdMethod::LatentClass => q,
            Some(q) => memberships::weighed(answers, q)?,
            None => doubt::memberships(answers, &found.labels, k, &workers)?,
        };
        let (memberships, _) = memberships::of_all(answers, q)?;
        Ok(CrowdResult {
            partition: memberships.hard()?,
            memberships,
            method: found.method,
            workers,
            crowd_rates: counts.crowd(),
            alternative,
            evidence: found.evidence,
            held_out: found.held_out,
            penalty_factor: found.factor,
            cluster_count: None,
            completed_rank: None,
            copies: Vec::new(),
        })
    }
}

/// Whether planted partitions are tried unasked, beside another model; where it is not by the kind
/// of the answers, the report says why not.
fn tries_planted(
    answers: &Answers,
    counts: &AnswerCounts,
    budget: MemoryBudget,
    report: &mut Report,
) -> bool {
    let why = if counts.n_pairs() > SINGLE {
        TOO_MANY
    } else if planted_partition::check_memory(answers, counts, budget).is_err() {
        planted_partition::LEFT_OUT
    } else {
        return true;
    };
    if !report.notes.iter().any(|note| note == why) {
        report.notes.push(why.to_owned());
    }
    false
}

/// Whether `Auto` takes the time to fit rates of each worker between clusters.
fn is_affordable(rows: usize, k: usize) -> bool {
    rows.saturating_mul(k.saturating_mul(k)) <= AFFORDABLE
}

/// What a method found, over the answered objects.
struct Found {
    labels: Vec<u32>,
    soft: Option<Array2<f64>>,
    method: CrowdMethod,
    evidence: Vec<(String, f64)>,
    held_out: Vec<(String, f64)>,
    factor: Option<f64>,
    count: Option<ClusterCount>,
}

impl Found {
    fn hard(method: CrowdMethod, labels: Vec<u32>) -> Self {
        Found {
            labels,
            soft: None,
            method,
            evidence: Vec::new(),
            held_out: Vec::new(),
            factor: None,
            count: None,
        }
    }

    fn positions(fitted: FittedPositions) -> Self {
        let labels = memberships::most_probable(fitted.q.view());
        Found {
            soft: Some(fitted.q),
            count: Some(fitted.count),
            ..Self::hard(CrowdMethod::Bayesian, labels)
        }
    }

    fn blocks(method: CrowdMethod, fitted: &Fitted) -> Self {
        Found { soft: Some(fitted.q.clone()), ..Self::hard(method, fitted.labels()) }
    }
}

/// The answers, and the options that all methods share; seed and memory budget are the model's.
struct Task<'a> {
    answers: &'a Answers,
    counts: &'a AnswerCounts,
    model: BlockModel,
    positions: PositionModel,
    k: usize,
    observer: &'a dyn Observer,
}

impl Task<'_> {
    fn solve(
        &self,
        method: CrowdMethod,
        completion: CompletionChoice,
        report: &mut Report,
    ) -> Result<Found> {
        match method {
            CrowdMethod::Auto => self.auto(report),
            CrowdMethod::Block => Ok(Found::blocks(method, &self.fitted(&self.model, report)?)),
            CrowdMethod::BlockByWorker => {
                let model = self.model.rates_between_by_worker(true);
                model.check_memory(self.answers)?;
                Ok(Found::blocks(method, &self.fitted(&model, report)?))
            }
            CrowdMethod::LatentClass => self.latent_classes(report),
            CrowdMethod::Bayesian => {
                self.positions.of(self.k.into()).check_memory(self.answers)?;
                let fitted = report.stage("positions", || {
                    let Task { positions, k, answers, counts, observer, .. } = self;
                    positions::fit(positions, Some(*k), answers, counts, *observer)
                })?;
                fitted.describe(report);
                Ok(Found::positions(fitted))
            }
            CrowdMethod::LogOdds => {
                let fitted = self.fitted(&self.model, report)?;
                Ok(Found::hard(method, self.log_odds(self.answers, &fitted)?))
            }
            CrowdMethod::Rmc => self.completed(completion, report),
            CrowdMethod::Spectral => {
                let labels = report.stage("spectral", || {
                    let (k, seed) = (self.k, self.model.own_seed());
                    spectral::mean_answers(self.answers, self.counts, k, seed, self.observer)
                })?;
                Ok(Found::hard(method, labels))
            }
            CrowdMethod::DawidSkene => {
                let matrix = self.posterior(report)?.matrix();
                let labels = report.stage("spectral", || {
                    spectral::cluster(&matrix, self.k, self.model.own_seed(), self.observer)
                })?;
                Ok(Found::hard(method, labels))
            }
            CrowdMethod::Pairs => self.pairs(report),
            CrowdMethod::PlantedPartition => {
                let budget = self.model.budget();
                planted_partition::check_memory(self.answers, self.counts, budget)?;
                let found = self.planted(budget, report)?;
                report.objective = Some(found.evidence);
                Ok(Found::hard(method, found.labels))
            }
        }
    }

    fn latent_classes(&self, report: &mut Report) -> Result<Found> {
        let Task { model, answers, counts, observer, .. } = self;
        let fitted = report.stage("latent classes", || {
            block_model::latent_classes(model, answers, counts, *observer)
        })?;
        fitted.describe(report);
        let hard = Found::hard(CrowdMethod::LatentClass, fitted.labels());
        Ok(Found { soft: Some(fitted.q), ..hard })
    }

    fn fitted(&self, model: &BlockModel, report: &mut Report) -> Result<Fitted> {
        let fitted = report.stage("blocks", || {
            block_model::best(model, self.answers, self.counts, self.observer)
        })?;
        fitted.describe(report);
        Ok(fitted)
    }

    fn posterior(&self, report: &mut Report) -> Result<dawid_skene::Posterior> {
        let posterior = report
            .stage("dawid-skene", || dawid_skene::posterior(self.answers, self.k, self.observer))?;
        posterior.describe(report);
        Ok(posterior)
    }

    fn pairs(&self, report: &mut Report) -> Result<Found> {
        // A map of few entries takes as much for the object as for them.
        let entries = self.counts.n_pairs() + self.answers.answered().len();
        let tables = [(entries, merging::PAIR), (self.counts.bytes(), 1)];
        self.model.budget().check_tables("answered pairs", &tables, 1)?;
        let (k, posterior) = (self.k, self.posterior(report)?);
        let merged =
            report.stage("merging", || merging::agglomerate(&posterior, k, self.observer))?;
        if merged.supported > k {
            report.notes.push(format!(
                "where one pair in {k} is together, these answers would leave {} clusters; those \
                 merged down to {k} are less likely together than apart",
                merged.supported
            ));
        }
        Ok(Found::hard(CrowdMethod::Pairs, merged.labels))
    }

    fn planted(&self, budget: MemoryBudget, report: &mut Report) -> Result<PlantedPartition> {
        report.stage("planted partition", || {
            let Task { answers, counts, k, observer, .. } = self;
            planted_partition::best(answers, counts, Some(*k), budget, *observer)
        })
    }

    fn completed(&self, choice: CompletionChoice, report: &mut Report) -> Result<Found> {
        let clusterer = CompletionClusterer {
            choice,
            clusters: self.k,
            shrinkage: self.model.shrinkage(),
            seed: self.model.own_seed(),
            budget: self.model.budget().beside(self.counts.bytes()),
        };
        let mut fit = report
            .stage("completion", || clusterer.cluster(self.answers, self.counts, self.observer))?;
        // Its stages are part of the one here.
        fit.report.stages.clear();
        report.adopt(fit.report);
        Ok(Found {
            held_out: fit.output.held_out,
            factor: Some(fit.output.factor),
            ..Found::hard(CrowdMethod::Rmc, fit.output.labels)
        })
    }

    /// The block models, or planted partitions where answers are more probable under them.
    fn auto(&self, report: &mut Report) -> Result<Found> {
        let mut own = Report::default();
        let blocks = self.blocks(report, &mut own)?;
        report.stages.append(&mut own.stages);
        let held = blocks.soft.as_ref().map_or(0, |q| q.len() * size_of::<f64>());
        let (answers, budget) = (self.answers, self.model.budget().beside(held));
        let missed = unanimous::held(&blocks.labels) < self.k;
        // Of larger tasks block models tell more, unless they miss clusters.
        let pairs = answers.n_larger() == [0, 0];
        if !(pairs || missed) || !tries_planted(answers, self.counts, budget, report) {
            report.adopt(own);
            return Ok(blocks);
        }
        let planted = self.planted(budget, report)?;
        let probability = |labels| planted_partition::by_workers(answers, labels);
        // Clusters so small that models with rates for each of them join them.
        let small = missed && self.k * self.k > answers.answered().len();
        let better = planted.assortative
            && (small || probability(&planted.labels) > probability(&blocks.labels) + CLEAR);
        if !better {
            report.adopt(own);
            return Ok(blocks);
        }
        report.objective = Some(planted.evidence);
        Ok(Found::hard(CrowdMethod::PlantedPartition, planted.labels))
    }

    /// The block model without or with rates of each worker between clusters, by their evidence;
    /// how it ended is told apart from how it was chosen.
    fn blocks(&self, report: &mut Report, own: &mut Report) -> Result<Found> {
        let own_model = self.model.rates_between_by_worker(true);
        let fits = own_model.shrinkage().fits_between(self.answers, self.k)
            && own_model.is_allowed(self.answers, 1);
        let rows = self.answers.n_rows();
        if fits && !is_affordable(rows, self.k) {
            report.notes.push(
                "in a crowd so large, rates of each worker between clusters are not tried unasked"
                    .to_owned(),
            );
        }
        if !fits || !is_affordable(rows, self.k) {
            return Ok(Found::blocks(CrowdMethod::Block, &self.fitted(&self.model, own)?));
        }
        own_model.check_memory(self.answers)?;
        let [plain, by_worker] = own.stage("blocks", || {
            block_model::with_own_rates(&self.model, self.answers, self.counts, self.observer)
        })?;
        let evidence = |model: &BlockModel, fitted: &Fitted| {
            evidence(self.answers, fitted.q.view(), model.shrinkage(), self.observer)
        };
        let plain_evidence = evidence(&self.model.rates_between_by_worker(false), &plain)?;
        let own_evidence = evidence(&own_model, &by_worker)?;
        let (method, chosen) = if own_evidence > plain_evidence + CLEAR {
            (CrowdMethod::BlockByWorker, by_worker)
        } else {
            (CrowdMethod::Block, plain)
        };
        chosen.describe(own);
        let evidence = vec![
            (CrowdMethod::Block.name().to_string(), plain_evidence),
            (CrowdMethod::BlockByWorker.name().to_string(), own_evidence),
        ];
        Ok(Found { evidence, ..Found::blocks(method, &chosen) })
    }

    /// Spectral clustering of the log-odds of every answered pair, by the workers' rates over all
    /// clusters.
    fn log_odds(&self, answers: &Answers, fitted: &Fitted) -> Result<Vec<u32>> {
        let pseudo = self.model.shrinkage().pseudo;
        let table = worker_rates::table(answers, &fitted.counts, pseudo);
        let rates: Vec<(f64, f64)> =
            table.iter().map(|worker| (worker.same_together, worker.same_apart)).collect();
        let sparse = dawid_skene::sums(answers, &rates)?;
        spectral::cluster(&sparse, self.k, self.model.own_seed(), self.observer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PairAnswer;

    pub(super) fn single_pairs(n: usize, every: usize) -> Answers {
        let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
        let rows: Vec<PairAnswer> = pairs
            .step_by(every)
            .map(|(i, j)| {
                let same = (i % 2 == j % 2) != ((i + 3 * j) % 7 == 0);
                PairAnswer { worker: (i + j) % 5, i, j, same }
            })
            .collect();
        Answers::from_pairs(n, &rows).unwrap()
    }

    #[test]
    fn planted_partitions_are_tried_unasked_up_to_a_number_of_pairs() {
        for (every, tried) in [(4, true), (1, false)] {
            let answers = single_pairs(650, every);
            let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
            assert_eq!(counts.n_pairs() <= SINGLE, tried);
            let mut report = Report::default();
            for _ in 0..2 {
                let budget = MemoryBudget::default();
                assert_eq!(tries_planted(&answers, &counts, budget, &mut report), tried);
            }
            // Said once, whether the number was asked for or not.
            assert_eq!(report.notes.len(), usize::from(!tried), "{:?}", report.notes);
        }
    }

    #[test]
    fn what_auto_takes_the_time_for() {
        // A million answers on single pairs and ten clusters; a quarter of that and fifty.
        assert!(is_affordable(2_000_000, 10));
        assert!(!is_affordable(500_000, 50));
        assert!(!is_affordable(usize::MAX, 2));
    }
}
