//! The planted partition model: one rate of "same" inside clusters and one between them, both
//! integrated out.

use consilience_core::ties::EQUAL;
use consilience_core::{MemoryBudget, Observer, Pace, Result, Seed, room};

use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::best::{abreast, each_of};
use crate::cluster_count::ClusterCount;
use crate::dawid_skene::{self, Posterior};
use crate::expected_counts::ExpectedCounts;
use crate::merging;

/// Rate of "same" inside clusters that starts assume, unless more than that is said of all pairs.
const TOGETHER: f64 = 0.9;
/// From one number of clusters that starts assume to the next; with more answered pairs than `MANY`
/// the longer steps.
const STEP: f64 = 1.6;
const LONG_STEP: f64 = 6.0;
const MANY: usize = 200_000;
/// How often clusters are found anew under the rates of those before.
const ROUNDS: usize = 3;
/// Sweeps over the objects, and over the clusters, at most.
const SWEEPS: usize = 50;
/// Sweeps in which objects are drawn anew, and what one may cost for so many of them: objects times
/// clusters where these are few.
const DRAWS: usize = 200;
const LEAST_DRAWS: usize = 10;
const AFFORDABLE: usize = 20_000;
/// Bytes for an answered pair, and for an object, while one start is made: as for merging, and the
/// answers on both objects' sides.
const PAIR: usize = merging::PAIR + 48;

/// The clusters that were found, over the answered objects.
#[derive(Clone, Debug)]
pub(crate) struct PlantedPartition {
    pub(crate) labels: Vec<u32>,
    /// Log-probability of these clusters and the answers, nats.
    pub(crate) evidence: f64,
}

/// What is said where the model is left out for its memory.
pub(crate) const LEFT_OUT: &str = "planted partitions do not fit the memory budget";

/// What so many starts at a time take beside the counts.
fn tables(answers: &Answers, counts: &AnswerCounts, starts: usize) -> [(usize, usize); 2] {
    let entries = counts.n_pairs() + answers.answered().len();
    [(entries, PAIR.saturating_mul(starts)), (counts.bytes(), 1)]
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
/// O(m log m) for m answered pairs and each of O(log objects) starts.
pub(crate) fn best(
    answers: &Answers,
    counts: &AnswerCounts,
    clusters: Option<usize>,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<PlantedPartition> {
    let nodes = Nodes::of(answers, counts, &mut Pace::new(observer))?;
    let model = Model::of(&nodes, clusters);
    let n = nodes.len();
    let step = if counts.n_pairs() > MANY { LONG_STEP } else { STEP };
    let steps = std::iter::successors(Some(2.0), |k| Some(k * step));
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
        all.push(model.partition(&nodes, model.improved(&nodes, merged, observer)?));
    } else {
        // One cluster, and all apart, explain answers that have nothing to do with objects.
        all.insert(0, model.partition(&nodes, vec![0; n]));
        all.push(model.partition(&nodes, (0..n as u32).collect()));
    }
    let better = |a: &PlantedPartition, b: &PlantedPartition| b.evidence > a.evidence + EQUAL;
    let best = all.into_iter().reduce(|best, f| if better(&best, &f) { f } else { best });
    Ok(best.unwrap_or_else(|| model.partition(&nodes, vec![0; n])))
}

/// How probable numbers of clusters are by the model, from draws that begin with a partition.
pub(crate) fn count(
    answers: &Answers,
    counts: &AnswerCounts,
    labels: &[u32],
    seed: Seed,
    observer: &dyn Observer,
) -> Result<ClusterCount> {
    let nodes = Nodes::of(answers, counts, &mut Pace::new(observer))?;
    let model = Model::of(&nodes, None);
    let probabilities = State::of(&model, &nodes, labels.to_vec())?.drawn(seed, observer)?;
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

/// Objects, or clusters of them, and the answers between them.
struct Nodes {
    sizes: Vec<u32>,
    offsets: Vec<usize>,
    others: Vec<u32>,
    /// Answers "same", and all answers, with each of the others.
    same: Vec<u32>,
    all: Vec<u32>,
    /// The same inside the nodes.
    inside: [u64; 2],
}

impl Nodes {
    fn of(answers: &Answers, counts: &AnswerCounts, pace: &mut Pace<'_>) -> Result<Self> {
        let answered = answers.answered();
        let entries = 2 * counts.n_pairs();
        let mut nodes = Nodes {
            sizes: room::filled(answered.len(), 1)?,
            offsets: room::with_capacity(answered.len() + 1)?,
            others: room::with_capacity(entries)?,
            same: room::with_capacity(entries)?,
            all: room::with_capacity(entries)?,
            inside: [0; 2],
        };
        nodes.offsets.push(0);
        for &i in answered {
            for (j, count) in counts.row(i as usize) {
                // Whoever was compared is answered.
                if let Ok(place) = answered.binary_search(&(j as u32)) {
                    nodes.others.push(place as u32);
                    nodes.same.push(count.same as u32);
                    nodes.all.push(count.answers as u32);
                }
            }
            nodes.offsets.push(nodes.others.len());
            pace.work(nodes.others.len() - nodes.offsets[nodes.offsets.len() - 2])?;
        }
        Ok(nodes)
    }

    fn len(&self) -> usize {
        self.sizes.len()
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (usize, [u64; 2])> + '_ {
        let entry = |at: usize| {
            (self.others[at] as usize, [u64::from(self.same[at]), u64::from(self.all[at])])
        };
        (self.offsets[i]..self.offsets[i + 1]).map(entry)
    }

    /// Clusters as nodes; labels are 0 to k - 1.
    fn joined(&self, labels: &[u32], k: usize) -> Result<Self> {
        let mut members = vec![Vec::new(); k];
        (0..self.len()).for_each(|i| members[labels[i] as usize].push(i));
        let mut out = Nodes {
            sizes: vec![0; k],
            offsets: vec![0],
            others: Vec::new(),
            same: Vec::new(),
            all: Vec::new(),
            inside: self.inside,
        };
        let mut sums = Sums::new(k)?;
        for (c, own) in members.iter().enumerate() {
            sums.clear();
            for &i in own {
                out.sizes[c] += self.sizes[i];
                self.row(i).for_each(|(j, counts)| sums.add(labels[j] as usize, counts));
            }
            sums.touched.sort_unstable();
            for &d in &sums.touched {
                let [same, all] = sums.of[d];
                if d == c {
                    // From both sides.
                    out.inside[0] += same / 2;
                    out.inside[1] += all / 2;
                } else {
                    out.others.push(d as u32);
                    out.same.push(same as u32);
                    out.all.push(all as u32);
                }
            }
            out.offsets.push(out.others.len());
        }
        Ok(out)
    }
}

/// Answers of one node with every cluster.
struct Sums {
    of: Vec<[u64; 2]>,
    /// Clusters with answers, in order of the first.
    touched: Vec<usize>,
}

impl Sums {
    fn new(clusters: usize) -> Result<Self> {
        Ok(Sums { of: room::filled(clusters, [0; 2])?, touched: Vec::new() })
    }

    fn clear(&mut self) {
        self.touched.drain(..).for_each(|c| self.of[c] = [0; 2]);
    }

    fn add(&mut self, cluster: usize, counts: [u64; 2]) {
        let sum = &mut self.of[cluster];
        if sum[1] == 0 {
            self.touched.push(cluster);
        }
        *sum = plus(*sum, counts);
    }
}

fn plus(a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

fn minus(a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

/// Log of the Beta function of so many yes and all others, one of each added.
fn ln_beta([yes, all]: [f64; 2]) -> f64 {
    let (yes, no) = (yes + 1.0, all - yes + 1.0);
    libm::lgamma(yes) + libm::lgamma(no) - libm::lgamma(yes + no)
}

/// How probable partitions are before anything is said: the number of clusters uniform, then their
/// sizes, then which objects have these.
struct Partitions {
    /// ln 0! to ln objects!.
    factorials: Vec<f64>,
}

impl Partitions {
    fn of(objects: usize) -> Self {
        let mut factorials = vec![0.0; objects + 1];
        (1..=objects).for_each(|i| factorials[i] = factorials[i - 1] + (i as f64).ln());
        Partitions { factorials }
    }

    /// What a number of clusters adds, which is above 0 where there are objects.
    fn number(&self, k: usize) -> f64 {
        let f = &self.factorials;
        if k == 0 { 0.0 } else { f[k - 1] + f[f.len() - 1 - k] + f[k] }
    }

    fn log_probability(&self, labels: &[u32]) -> f64 {
        let (f, n) = (&self.factorials, labels.len());
        if n == 0 {
            return 0.0;
        }
        let mut sizes = vec![0; n];
        labels.iter().for_each(|&c| sizes[c as usize] += 1);
        let shapes: f64 = sizes.iter().map(|&s| f[s]).sum();
        let clusters = sizes.iter().filter(|&&s| s > 0).count();
        shapes + self.number(clusters) - f[n - 1] - f[n] - (n as f64).ln()
    }
}

/// All answers, and how many clusters there are to be.
struct Model {
    total: [u64; 2],
    fixed: Option<usize>,
    partitions: Partitions,
}

impl Model {
    fn of(nodes: &Nodes, fixed: Option<usize>) -> Self {
        let sum = |counts: &[u32]| counts.iter().map(|&x| u64::from(x)).sum::<u64>() / 2;
        let total = [sum(&nodes.same), sum(&nodes.all)];
        Model { total, fixed, partitions: Partitions::of(nodes.len()) }
    }

    /// Log-probability of the answers with so many of them inside clusters.
    fn answers(&self, inside: [u64; 2]) -> f64 {
        let of = |counts: [u64; 2]| ln_beta(counts.map(|x| x as f64));
        of(inside) + of(minus(self.total, inside))
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
        let evidence = self.answers(Self::inside(nodes, &labels)) + probability;
        PlantedPartition { labels, evidence }
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
            let next = self.rates(nodes, &found.labels);
            // Clusters whose objects are called the same less often than others are none.
            let better = next[0] > next[1]
                && best.as_ref().is_none_or(|b| found.evidence > b.evidence + EQUAL);
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
    fn rates(&self, nodes: &Nodes, labels: &[u32]) -> [f64; 2] {
        let inside = Self::inside(nodes, labels);
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

/// Where the nodes are.
struct State<'a> {
    model: &'a Model,
    nodes: &'a Nodes,
    labels: Vec<u32>,
    /// Objects of each cluster.
    sizes: Vec<usize>,
    empty: Vec<usize>,
    inside: [u64; 2],
    sums: Sums,
    /// Of the node at hand: clusters to choose among, and their log-probabilities.
    candidates: Vec<usize>,
    values: Vec<f64>,
}

/// The first of the highest, to within rounding.
fn first_highest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, c| if values[c] > values[best] + EQUAL { c } else { best })
}

impl<'a> State<'a> {
    fn of(model: &'a Model, nodes: &'a Nodes, labels: Vec<u32>) -> Result<Self> {
        // As many clusters as nodes, and one more to move to.
        let mut sizes = room::filled(nodes.len() + 1, 0)?;
        let own = labels.iter().zip(&nodes.sizes);
        own.for_each(|(&c, &size)| sizes[c as usize] += size as usize);
        let inside = Model::inside(nodes, &labels);
        let empty = (0..sizes.len()).rev().filter(|&c| sizes[c] == 0).collect();
        let sums = Sums::new(sizes.len())?;
        let (candidates, values) = (Vec::new(), Vec::new());
        Ok(State { model, nodes, labels, sizes, empty, inside, sums, candidates, values })
    }

    fn clusters(&self) -> usize {
        self.sizes.len() - self.empty.len()
    }

    /// Sweeps until no node moves; whether any did.
    fn settle(&mut self, observer: &dyn Observer) -> Result<bool> {
        let mut pace = Pace::new(observer);
        let mut moved = false;
        for _ in 0..SWEEPS {
            let mut now = false;
            for i in 0..self.nodes.len() {
                pace.work(self.nodes.offsets[i + 1] - self.nodes.offsets[i] + 1)?;
                now |= self.place(i, false, first_highest);
            }
            if !now {
                break;
            }
            moved = true;
        }
        Ok(moved)
    }

    /// Moves a node to the cluster that is chosen of those it may move to, its own first, by their
    /// log-probabilities; says whether it moved. Unless it may go everywhere it stays where it is,
    /// goes to clusters with which it has answers, or to one of its own.
    fn place(&mut self, i: usize, everywhere: bool, choose: impl FnOnce(&[f64]) -> usize) -> bool {
        let (own, size) = (self.labels[i] as usize, self.nodes.sizes[i] as usize);
        let alone = self.sizes[own] == size;
        let fixed = self.model.fixed.is_some();
        if fixed && alone {
            return false;
        }
        self.sums.clear();
        self.nodes.row(i).for_each(|(j, counts)| self.sums.add(self.labels[j] as usize, counts));
        let strange = (!fixed && !alone).then(|| self.empty.last().copied()).flatten();
        self.candidates.clear();
        self.candidates.push(own);
        if everywhere {
            let open = (0..self.sizes.len()).filter(|&c| c != own && self.sizes[c] > 0);
            self.candidates.extend(open);
        } else {
            self.candidates.extend(self.sums.touched.iter().copied().filter(|&c| c != own));
        }
        self.candidates.extend(strange);
        let without = minus(self.inside, self.sums.of[own]);
        self.sizes[own] -= size;
        let others = self.clusters() - usize::from(alone);
        let f = &self.model.partitions.factorials;
        let value = |&c: &usize| {
            let number = others + usize::from(self.sizes[c] == 0);
            let number = if fixed { 0.0 } else { self.model.partitions.number(number) };
            let answers = self.model.answers(plus(without, self.sums.of[c]));
            answers + f[self.sizes[c] + size] - f[self.sizes[c]] + number
        };
        self.values.clear();
        self.values.extend(self.candidates.iter().map(value));
        let to = self.candidates[choose(&self.values)];
        self.sizes[to] += size;
        self.inside = plus(without, self.sums.of[to]);
        if to == own {
            return false;
        }
        self.labels[i] = to as u32;
        if strange == Some(to) {
            self.empty.pop();
        }
        if alone {
            self.empty.push(own);
        }
        true
    }

    /// How often there were so many clusters: after each of some sweeps in which every object is
    /// drawn anew, the others given.
    fn drawn(&mut self, seed: Seed, observer: &dyn Observer) -> Result<Vec<f64>> {
        let (n, mut stream) = (self.nodes.len(), seed.stream());
        let mut pace = Pace::new(observer);
        let cost = n.saturating_mul(self.clusters()).max(1);
        let everywhere = cost <= AFFORDABLE;
        let work = if everywhere { cost } else { n + self.nodes.others.len() };
        let sweeps = (DRAWS * AFFORDABLE / work.max(1)).clamp(LEAST_DRAWS, DRAWS);
        let mut times = vec![0.0; n + 1];
        for _ in 0..sweeps {
            for i in 0..n {
                pace.work(self.nodes.offsets[i + 1] - self.nodes.offsets[i] + 1)?;
                self.place(i, everywhere, |values| {
                    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let total: f64 = values.iter().map(|v| (v - most).exp()).sum();
                    let mut left = stream.uniform() * total;
                    let drawn = values.iter().position(|v| {
                        left -= (v - most).exp();
                        left < 0.0
                    });
                    drawn.unwrap_or(0)
                });
            }
            times[self.clusters()] += 1.0 / sweeps as f64;
        }
        let last = times.iter().rposition(|&t| t > 0.0).unwrap_or(0);
        times.truncate(last + 1);
        Ok(times)
    }

    /// Labels from 0 on, by first node.
    fn compact(&self) -> Vec<u32> {
        let mut number = vec![u32::MAX; self.sizes.len()];
        let mut next = 0;
        let label = |&c: &u32| {
            let number = &mut number[c as usize];
            if *number == u32::MAX {
                *number = next;
                next += 1;
            }
            *number
        };
        self.labels.iter().map(label).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CrowdClustering, CrowdMethod, PairAnswer};
    use consilience_core::Clusters;
    use consilience_core::Partition;
    use consilience_core::scores::adjusted_rand;

    /// Answers on pairs of objects in clusters of equal size, drawn at random, a share of them
    /// wrong.
    fn said(clusters: usize, size: usize, answers: usize, wrong: f64, seed: u64) -> Answers {
        let n = clusters * size;
        let mut stream = Seed(seed).stream();
        let mut row = |_| {
            let (worker, i) = (stream.below(3), stream.below(n));
            let j = (i + 1 + stream.below(n - 1)) % n;
            let same = (i / size == j / size) != (stream.uniform() < wrong);
            PairAnswer { worker, i, j, same }
        };
        let rows: Vec<PairAnswer> = (0..answers).map(&mut row).collect();
        Answers::from_pairs(n, &rows).unwrap()
    }

    fn counted(answers: &Answers) -> AnswerCounts {
        AnswerCounts::of(answers, MemoryBudget::default()).unwrap()
    }

    fn found(answers: &Answers, clusters: Option<usize>) -> PlantedPartition {
        best(answers, &counted(answers), clusters, MemoryBudget::default(), &()).unwrap()
    }

    fn clusters_of(labels: &[u32]) -> usize {
        labels.iter().max().map_or(0, |&c| c as usize + 1)
    }

    /// Every partition of so many objects.
    fn partitions(objects: usize) -> Vec<Vec<u32>> {
        let mut all = vec![vec![]];
        for _ in 0..objects {
            let longer = |labels: Vec<u32>| {
                let next = labels.iter().max().map_or(0, |&c| c + 1);
                (0..=next).map(move |c| [labels.clone(), vec![c]].concat())
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        all
    }

    /// Answer by answer, each predicted by those before; and the partition from its definition.
    fn naive(answers: &Answers, labels: &[u32], own_rates: bool) -> f64 {
        let workers = if own_rates { answers.n_workers() } else { 1 };
        let mut seen = vec![[[1.0_f64; 2]; 2]; workers];
        let mut total = 0.0;
        for pair in answers.pairs() {
            let w = if own_rates { pair.worker } else { 0 };
            let place = usize::from(labels[pair.i] == labels[pair.j]);
            let counts = &mut seen[w][place];
            total += (counts[usize::from(pair.same)] / (counts[0] + counts[1])).ln();
            counts[usize::from(pair.same)] += 1.0;
        }
        let (n, k) = (labels.len(), clusters_of(labels));
        let factorial = |x: usize| (1..=x).map(|i| i as f64).product::<f64>();
        let sizes = (0..k as u32).map(|c| labels.iter().filter(|&&l| l == c).count());
        let ways = factorial(n) / sizes.map(factorial).product::<f64>() / factorial(k);
        let shapes = factorial(n - 1) / factorial(k - 1) / factorial(n - k);
        total - (n as f64 * shapes * ways).ln()
    }

    #[test]
    fn evidence_is_that_of_predictions_multiplied() {
        let answers = said(2, 3, 25, 0.2, 1);
        let nodes = Nodes::of(&answers, &counted(&answers), &mut Pace::new(&())).unwrap();
        let model = Model::of(&nodes, None);
        let mut mass = 0.0;
        for labels in partitions(6) {
            mass += model.partitions.log_probability(&labels).exp();
            let own = by_workers(&answers, &labels);
            assert!((own - naive(&answers, &labels, true)).abs() < 1e-9, "{labels:?}");
            let expected = naive(&answers, &labels, false);
            let partition = model.partition(&nodes, labels);
            assert!((partition.evidence - expected).abs() < 1e-9, "{partition:?}");
        }
        // The partitions' own probabilities are those of all there are.
        assert!((mass - 1.0).abs() < 1e-9, "{mass}");
    }

    #[test]
    fn the_best_of_all_partitions_is_found_and_their_numbers_are_drawn() {
        let mut best_ones = 0;
        for seed in 0..20 {
            let answers = said(3, 2, 20 + 4 * seed as usize, 0.1, seed);
            let evidence = |labels: &[u32]| naive(&answers, labels, false);
            let all = partitions(6);
            let highest = all.iter().map(|labels| evidence(labels)).fold(f64::MIN, f64::max);
            let found = found(&answers, None);
            assert!((found.evidence - evidence(&found.labels)).abs() < 1e-9);
            best_ones += usize::from(found.evidence > highest - 1e-9);
            let mut exact = [0.0; 7];
            for labels in &all {
                exact[clusters_of(labels)] += evidence(labels).exp();
            }
            let total: f64 = exact.iter().sum();
            let drawn =
                count(&answers, &counted(&answers), &found.labels, Seed(seed), &()).unwrap();
            for (k, p) in exact.iter().enumerate() {
                let drawn = drawn.probability(k);
                assert!((drawn - p / total).abs() < 0.2, "{seed} {k}: {drawn} {}", p / total);
            }
        }
        assert!(best_ones >= 19, "{best_ones}");
    }

    #[test]
    fn no_object_would_gain_in_another_cluster() {
        for (clusters, seed) in [(None, 0), (None, 1), (Some(6), 2), (Some(6), 3)] {
            let answers = said(6, 4, 400, 0.15, seed);
            let found = found(&answers, clusters);
            let k = clusters_of(&found.labels);
            assert!(clusters.is_none_or(|given| given == k));
            let evidence = |labels: &[u32]| naive(&answers, labels, false);
            let own = evidence(&found.labels);
            let compact = |labels: &[u32]| Partition::from_labels(labels).unwrap();
            for i in 0..24 {
                for c in 0..=k as u32 {
                    let mut moved = found.labels.clone();
                    moved[i] = c;
                    let moved = compact(&moved);
                    if clusters.is_none_or(|given| given == moved.n_clusters()) {
                        let touched = answers.pairs().any(|p| {
                            (p.i == i && found.labels[p.j] == c)
                                || (p.j == i && found.labels[p.i] == c)
                        });
                        let labels: Vec<u32> =
                            (0..24).map(|i| moved.label(i).unwrap() as u32).collect();
                        assert!(!touched || evidence(&labels) < own + 1e-6, "{i} to {c}");
                    }
                }
            }
        }
    }

    #[test]
    fn many_small_clusters_are_counted_and_found() {
        let truth = Partition::from_fn(60, |i| Some(i as u64 / 3)).unwrap();
        for seed in 0..3 {
            let answers = said(20, 3, 4_000, 0.05, seed);
            let fit = CrowdClustering::new(Clusters::Auto).fit(&answers, &()).unwrap();
            let count = fit.output.cluster_count.unwrap();
            assert!((18..=23).contains(&count.most_probable()), "{seed}: {count:?}");
            let score = adjusted_rand(&fit.output.partition, &truth).unwrap();
            assert!(score > 0.85, "{seed}: {score}");
            let notes = &fit.report.notes;
            assert!(notes[0].contains("by the answers' posterior"), "{notes:?}");
        }
    }

    #[test]
    fn what_has_no_clusters_is_one() {
        // All alike but for errors, and answers at random.
        for wrong in [0.2, 0.5] {
            let answers = said(1, 40, 1_000, wrong, 5);
            assert_eq!(clusters_of(&found(&answers, None).labels), 1);
        }
    }

    #[test]
    fn tiny_clusters_of_given_number_are_taken_by_auto() {
        let answers = said(40, 2, 6_000, 0.01, 1);
        let truth = Partition::from_fn(80, |i| Some(i as u64 / 2)).unwrap();
        let fit = CrowdClustering::new(40).fit(&answers, &()).unwrap().output;
        assert_eq!(fit.method, CrowdMethod::PlantedPartition);
        let score = adjusted_rand(&fit.partition, &truth).unwrap();
        assert!(score > 0.7, "{score}");
    }
}
