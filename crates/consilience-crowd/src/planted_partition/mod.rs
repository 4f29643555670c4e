//! The planted partition model: one rate of "same" inside clusters and one between them, both
//! integrated out.

mod draws;
mod moves;
mod nodes;
mod partitions;
#[cfg(test)]
mod tests;

use consilience_core::ties::EQUAL;
use consilience_core::{MemoryBudget, Observer, Pace, Result, Seed, room};

use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::best::{abreast, each_of};
use crate::cluster_count::ClusterCount;
use crate::dawid_skene::{self, Posterior};
use crate::expected_counts::ExpectedCounts;
use crate::merging;
use moves::State;
use nodes::{Nodes, minus, plus};
use partitions::Partitions;

/// Rate of "same" inside clusters that starts assume, unless more than that is said of all pairs.
const TOGETHER: f64 = 0.9;
/// From one number of clusters that starts assume to the next.
const STEP: f64 = 1.6;
/// How often clusters are found anew under the rates of those before.
const ROUNDS: usize = 3;
/// Sweeps over the objects, and over the clusters, at most.
const SWEEPS: usize = 50;
/// Bytes for an answered pair, and for an object, while one start is made: as for merging, and the
/// answers on both objects' sides.
const PAIR: usize = merging::PAIR + 48;
/// Units of work of a logarithm of the Gamma function.
const LOGARITHM: usize = 8;

/// The clusters that were found, over the answered objects.
#[derive(Clone, Debug)]
pub(crate) struct PlantedPartition {
    pub(crate) labels: Vec<u32>,
    /// Log-probability of these clusters and the answers, nats.
    pub(crate) evidence: f64,
    /// Whether objects of a cluster are called the same more often than others.
    pub(crate) assortative: bool,
}

/// What is said where the model is left out for its memory.
pub(crate) const LEFT_OUT: &str = "planted partitions do not fit the memory budget";

/// What so many starts at a time take beside the counts, logarithms among it.
fn tables(answers: &Answers, counts: &AnswerCounts, starts: usize) -> [(usize, usize); 3] {
    let entries = counts.n_pairs() + answers.answered().len();
    let logarithms = (answers.n_pair_answers(), size_of::<f64>());
    [(entries, PAIR.saturating_mul(starts)), logarithms, (counts.bytes(), 1)]
}

/// Whether a start fits the budget.
pub(crate) fn check_memory(
    answers: &Answers,
    counts: &AnswerCounts,
    budget: MemoryBudget,
) -> Result<()> {
    budget.check_tables("answered pairs", &tables(answers, counts, 1), 1)
}

/// The partition of highest posterior probability that was found: of k clusters, or of as many as
/// the answers ask for. The caller has seen that it [fits](check_memory).
///
/// With S of N answers "same" inside clusters, s of all n answers "same", uniform rates and, over
/// partitions, a uniform number of clusters, uniform sizes of these and uniform clusters of these
/// sizes,
///
/// ```text
/// ln p(answers, clusters) = ln B(1 + S, 1 + N - S) + ln B(1 + s - S, 1 + (n - N) - (s - S))
///                           - ln objects - ln C(objects - 1, k - 1)
///                           - ln objects! + sum_c ln n_c! + ln k!.
/// ```
///
/// From log-odds of rates that several numbers of clusters ask for, clusters are merged greedily;
/// then objects, and whole clusters, move to where the probability is highest until none gains.
/// Where k is given, clusters whose objects are called the same less often than others are taken
/// only where nothing else was found. O(m log^2 m) for m answered pairs and each of O(log objects)
/// starts, the sweeps in which objects move taking O(m) each, at most 50 in each of 50 rounds.
pub(crate) fn best(
    answers: &Answers,
    counts: &AnswerCounts,
    clusters: Option<usize>,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<PlantedPartition> {
    let pace = &mut Pace::new(observer);
    let nodes = Nodes::of(answers, counts, pace)?;
    let model = Model::of(&nodes, clusters, pace)?;
    let n = nodes.len();
    let steps = std::iter::successors(Some(2.0), |k| Some(k * STEP));
    let starts: Vec<f64> = match clusters {
        Some(k) => vec![k as f64],
        None => steps.take_while(|&k| k < n as f64).collect(),
    };
    let fits = |&starts: &usize| budget.allows_tables(&tables(answers, counts, starts), 1);
    let together = abreast(starts.len(), fits);
    let found = each_of(starts, together, |k| model.begun(&nodes, k, observer))?;
    let mut all: Vec<PlantedPartition> = found.into_iter().flatten().collect();
    if let Some(k) = clusters {
        let posterior = dawid_skene::posterior(answers, k, observer)?;
        let merged = merging::agglomerate(&posterior, k, observer)?.labels;
        let found = model.partition(&nodes, model.improved(&nodes, merged, observer)?);
        if found.assortative || all.is_empty() {
            all.push(found);
        }
    } else {
        // One cluster, and all apart, explain answers that have nothing to do with objects.
        all.insert(0, model.partition(&nodes, vec![0; n]));
        all.push(model.partition(&nodes, (0..n as u32).collect()));
    }
    let better = |best: PlantedPartition, found: PlantedPartition| {
        if model.is_better(&found, &best) { found } else { best }
    };
    let best = all.into_iter().reduce(better);
    Ok(best.unwrap_or_else(|| model.partition(&nodes, vec![0; n])))
}

/// What an answer on a pair weighs where models are compared: of s items of a task s - 1 answers
/// are given, and the others follow from them.
pub(crate) fn weight(answers: &Answers) -> f64 {
    let given: usize = answers.tasks().map(|task| task.n_items() - 1).sum();
    given as f64 / answers.n_pair_answers().max(1) as f64
}

/// How probable numbers of clusters are by the model, from draws that begin with a partition.
pub(crate) fn count(
    answers: &Answers,
    counts: &AnswerCounts,
    labels: &[u32],
    seed: Seed,
    observer: &dyn Observer,
) -> Result<ClusterCount> {
    let pace = &mut Pace::new(observer);
    let nodes = Nodes::of(answers, counts, pace)?;
    let model = Model::of(&nodes, None, pace)?;
    let mut state = State::of(&model, &nodes, room::copied(labels)?)?;
    let probabilities = draws::numbers(&mut state, seed, observer)?;
    let expected = probabilities.iter().enumerate().map(|(k, p)| k as f64 * p).sum();
    Ok(ClusterCount { expected, probabilities })
}

/// Log-probability of hard clusters and the answers where workers differ: each has a rate inside
/// clusters and one between them, integrated out.
pub(crate) fn by_workers(answers: &Answers, labels: &[u32]) -> f64 {
    let counts = ExpectedCounts::pooled(answers, labels);
    let of_worker = |w: usize| {
        let inside = [counts.same[[w, 0]], counts.within[[w, 0]]];
        ln_beta(inside) + ln_beta([counts.same_apart[w], counts.apart[w]])
    };
    let said: f64 = (0..answers.n_workers()).map(of_worker).sum();
    said + Partitions::of(labels.len()).log_probability(labels)
}

/// Log of the Beta function of so many yes and all others, one of each added.
fn ln_beta([yes, all]: [f64; 2]) -> f64 {
    let (yes, no) = (yes + 1.0, all - yes + 1.0);
    libm::lgamma(yes) + libm::lgamma(no) - libm::lgamma(yes + no)
}

/// All answers, and how many clusters there are to be.
struct Model {
    total: [u64; 2],
    fixed: Option<usize>,
    partitions: Partitions,
    /// ln 0! to ln (answers + 1)!: six of them weigh a cluster that a node may go to.
    factorials: Vec<f64>,
}

impl Model {
    fn of(nodes: &Nodes, fixed: Option<usize>, pace: &mut Pace<'_>) -> Result<Self> {
        let sum = |counts: &[u32]| counts.iter().map(|&x| u64::from(x)).sum::<u64>() / 2;
        let total = [sum(&nodes.same), sum(&nodes.all)];
        let most = total[1] as usize + 1;
        let mut factorials = room::with_capacity(most + 1)?;
        for x in 0..=most {
            pace.work(LOGARITHM)?;
            factorials.push(libm::lgamma(x as f64 + 1.0));
        }
        Ok(Model { total, fixed, partitions: Partitions::of(nodes.len()), factorials })
    }

    /// Log-probability of the answers with so many of them inside clusters.
    fn answers(&self, inside: [u64; 2]) -> f64 {
        let f = |x: u64| self.factorials[x as usize];
        let ln_beta = |[yes, all]: [u64; 2]| f(yes) + f(all - yes) - f(all + 1);
        ln_beta(inside) + ln_beta(minus(self.total, inside))
    }

    /// The size of the numbers that log-probabilities are differences of.
    fn scale(&self) -> f64 {
        let last = |values: &[f64]| values.last().copied().unwrap_or(0.0);
        last(&self.factorials).max(last(&self.partitions.factorials))
    }

    /// Whether a partition is more probable than another, and not by rounding.
    fn is_better(&self, a: &PlantedPartition, b: &PlantedPartition) -> bool {
        a.evidence > b.evidence + EQUAL * self.scale()
    }

    /// Answers inside the clusters of objects.
    fn inside(nodes: &Nodes, labels: &[u32]) -> [u64; 2] {
        let own = |i: usize| nodes.row(i).filter(move |&(j, _)| labels[j] == labels[i]);
        let counts = (0..nodes.len()).flat_map(own).map(|(_, counts)| counts);
        counts.fold(nodes.inside.map(|x| 2 * x), plus).map(|x| x / 2)
    }

    /// A partition of the objects.
    fn partition(&self, nodes: &Nodes, labels: Vec<u32>) -> PlantedPartition {
        let probability = self.partitions.log_probability(&labels);
        let inside = Self::inside(nodes, &labels);
        let [within, between] = self.rates(inside);
        let evidence = self.answers(inside) + probability;
        PlantedPartition { labels, evidence, assortative: within > between }
    }

    /// The best that is found from the rates that k clusters of like size ask for.
    fn begun(
        &self,
        nodes: &Nodes,
        k: f64,
        observer: &dyn Observer,
    ) -> Result<Option<PlantedPartition>> {
        let [same, all] = self.total.map(|x| x as f64);
        let mean = same / all.max(1.0);
        let inside = if mean < TOGETHER { TOGETHER } else { 0.5 * (1.0 + mean) };
        let between = (mean - inside / k) / (1.0 - 1.0 / k).max(f64::MIN_POSITIVE);
        let mut rates = [inside, if between > 0.0 { between } else { mean / 3.0 }];
        let mut best: Option<PlantedPartition> = None;
        for _ in 0..ROUNDS {
            observer.check()?;
            let [inside, between] = rates.map(|p| p.clamp(1e-9, 1.0 - 1e-9));
            if !(between < inside) {
                break;
            }
            let odds = [(inside / between).ln(), ((1.0 - inside) / (1.0 - between)).ln()];
            let labels = self.improved(nodes, self.merged(nodes, odds, observer)?, observer)?;
            let found = self.partition(nodes, labels);
            let next = self.rates(Self::inside(nodes, &found.labels));
            let better =
                found.assortative && best.as_ref().is_none_or(|b| self.is_better(&found, b));
            if better {
                best = Some(found);
            }
            if !better || next == rates {
                break;
            }
            rates = next;
        }
        Ok(best)
    }

    /// Rates of "same" inside clusters and between them, a yes and a no added to each.
    fn rates(&self, inside: [u64; 2]) -> [f64; 2] {
        [inside, minus(self.total, inside)].map(|[same, all]| (same + 1) as f64 / (all + 2) as f64)
    }

    /// Clusters merged by the log-odds of answers "same" and "different".
    fn merged(&self, nodes: &Nodes, odds: [f64; 2], observer: &dyn Observer) -> Result<Vec<u32>> {
        let mut pairs = room::with_capacity(nodes.others.len() / 2)?;
        for i in 0..nodes.len() {
            for (j, [same, all]) in nodes.row(i).filter(|&(j, _)| j > i) {
                let sum = same as f64 * odds[0] + (all - same) as f64 * odds[1];
                pairs.push((i as u32, j as u32, sum));
            }
        }
        let posterior = Posterior { n: nodes.len(), pairs, iterations: 0, converged: true };
        match self.fixed {
            Some(k) => Ok(merging::agglomerate(&posterior, k, observer)?.labels),
            None => merging::while_likely(&posterior, observer),
        }
    }

    /// Objects move, then whole clusters, until nothing gains.
    fn improved(
        &self,
        nodes: &Nodes,
        labels: Vec<u32>,
        observer: &dyn Observer,
    ) -> Result<Vec<u32>> {
        let mut labels = labels;
        for _ in 0..SWEEPS {
            let mut state = State::of(self, nodes, labels)?;
            state.settle(observer)?;
            labels = state.compact();
            if self.fixed.is_some() {
                break;
            }
            let k = labels.iter().max().map_or(0, |&c| c as usize + 1);
            let clusters = nodes.joined(&labels, k)?;
            let mut joined = State::of(self, &clusters, (0..k as u32).collect())?;
            if !joined.settle(observer)? {
                break;
            }
            let of = joined.compact();
            labels.iter_mut().for_each(|c| *c = of[*c as usize]);
        }
        Ok(labels)
    }
}
