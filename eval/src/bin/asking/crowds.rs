//! Questions to a crowd: by expected information, at random, and by published schemes.

use consilience::core::Stream;
use consilience::crowd::{
    Answers, CrowdClustering, CrowdMethod, CrowdResult, GroupAnswer, PairAnswer,
};
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{Partition, Result, Seed};
use consilience_eval::crowds::{self, CROWDS};

use crate::{Failure, cell, head, row};

/// Questions of a round, each asked of one worker, and after how many NMI is read.
const ROUND: usize = 100;
const READ: [usize; 5] = [0, 100, 300, 600, 1_000];
/// Share of the workers whose answers are known at the start.
const KNOWN: f64 = 0.5;
/// Pairs that the uncertainty is compared of.
const CANDIDATES: usize = 5_000;
/// Planted crowds: objects, clusters, workers, objects that each sorts at the start.
const PLANTED: (usize, usize, usize, usize) = (300, 6, 40, 12);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    Information,
    Random,
    Uncertain,
    Npu,
}

const WAYS: [(&str, Asks); 4] = [
    ("`ask_pairs`", Asks::Information),
    ("random pairs", Asks::Random),
    ("uncertainty sampling", Asks::Uncertain),
    ("NPU", Asks::Npu),
];

/// What a worker says of pairs.
struct Worker {
    name: usize,
    same_together: f64,
    same_apart: f64,
}

struct World {
    name: String,
    start: Answers,
    truth: Partition,
    workers: Vec<Worker>,
}

/// A crowd with its workers' own rates, of which a part has answered.
fn of_birds(name: &str, seed: Seed) -> std::result::Result<World, Failure> {
    let (rows, truth) = crowds::rows(name)?;
    let all = Answers::from_groupings(truth.n_objects(), &rows)?;
    // Counts of (answers, "same") on pairs that are together and apart.
    let mut said = std::collections::BTreeMap::<usize, [[f64; 2]; 2]>::new();
    let mut crowd = [[0.0; 2]; 2];
    for pair in all.pairs() {
        let apart = usize::from(truth.label(pair.i) != truth.label(pair.j));
        for counts in [said.entry(pair.worker).or_default(), &mut crowd] {
            counts[apart][0] += 1.0;
            counts[apart][1] += f64::from(u8::from(pair.same));
        }
    }
    let rate = |own: [f64; 2], all: [f64; 2]| (own[1] + 5.0 * all[1] / all[0]) / (own[0] + 5.0);
    let workers: Vec<Worker> = said
        .iter()
        .map(|(&name, counts)| Worker {
            name,
            same_together: rate(counts[0], crowd[0]),
            same_apart: rate(counts[1], crowd[1]),
        })
        .collect();
    let mut stream = seed.derive("first workers", 0).stream();
    let count = ((KNOWN * workers.len() as f64).round() as usize).max(2);
    let first: Vec<usize> =
        stream.sample(workers.len(), count).into_iter().map(|w| workers[w].name).collect();
    let rows: Vec<GroupAnswer> = rows.into_iter().filter(|r| first.contains(&r.worker)).collect();
    let start = Answers::from_groupings(truth.n_objects(), &rows)?;
    Ok(World { name: name.to_string(), start, truth, workers })
}

/// Workers whose share of errors is drawn, each of whom sorts a few objects at the start.
fn planted(seed: Seed) -> Result<World> {
    let (n, k, workers, few) = PLANTED;
    let mut stream = seed.derive("planted", 0).stream();
    let mut rows = Vec::new();
    let mut all = Vec::new();
    for name in 0..workers {
        let wrong = 0.05 + 0.4 * stream.uniform();
        for item in stream.sample(n, few) {
            let group = if stream.uniform() < wrong { stream.below(k) } else { item % k };
            rows.push(GroupAnswer { worker: name, task: 0, item, group });
        }
        all.push(Worker { name, same_together: 1.0 - wrong, same_apart: wrong / 2.0 });
    }
    let truth = Partition::from_fn(n, |i| Some((i % k) as u64))?;
    let start = Answers::from_groupings(n, &rows)?;
    Ok(World { name: "planted".to_string(), start, truth, workers: all })
}

impl World {
    /// NMI; who was not asked about is a cluster of its own.
    fn nmi(&self, found: &Partition) -> Result<f64> {
        let found = Partition::from_fn(found.n_objects(), |i| {
            Some(found.label(i).unwrap_or(found.n_clusters()) as u64)
        })?;
        normalized_mutual_information(&found, &self.truth, Normalizer::Arithmetic)
    }

    /// One answer by a worker who is drawn.
    fn answer(&self, i: usize, j: usize, stream: &mut Stream) -> PairAnswer {
        let worker = &self.workers[stream.below(self.workers.len())];
        let together = self.truth.label(i) == self.truth.label(j);
        let rate = if together { worker.same_together } else { worker.same_apart };
        PairAnswer { worker: worker.name, i, j, same: stream.uniform() < rate }
    }

    fn curve(&self, asks: Asks, seed: Seed) -> Result<Vec<f64>> {
        let crowd = CrowdClustering::new(self.truth.n_clusters())
            .method(CrowdMethod::Block)
            .alternative(false);
        let n = self.truth.n_objects();
        let mut answers = self.start.clone();
        let mut stream = seed.derive("answers", 0).stream();
        let mut draw = seed.derive("asked", 0).stream();
        let mut result = crowd.fit(&answers, &())?.output;
        let mut found = vec![self.nmi(&result.partition)?];
        for round in 1..=READ[READ.len() - 1] / ROUND {
            let said: Vec<PairAnswer> = match asks {
                Asks::Information => {
                    let pairs = result.ask_pairs(&answers, ROUND)?;
                    pairs.iter().map(|q| self.answer(q.i, q.j, &mut stream)).collect()
                }
                Asks::Random => (0..ROUND)
                    .map(|_| {
                        let i = draw.below(n);
                        self.answer(i, (i + 1 + draw.below(n - 1)) % n, &mut stream)
                    })
                    .collect(),
                Asks::Uncertain => {
                    let pairs = uncertain(&result, &mut draw);
                    pairs.into_iter().map(|(i, j)| self.answer(i, j, &mut stream)).collect()
                }
                Asks::Npu => self.npu(&result, &mut stream),
            };
            answers.extend(&Answers::from_pairs(n, &said)?)?;
            result = crowd.fit(&answers, &())?.output;
            if READ.contains(&(round * ROUND)) {
                found.push(self.nmi(&result.partition)?);
            }
        }
        Ok(found)
    }

    /// Xiong, Azimi, Fern 2014: objects of the largest uncertainty for each question expected, each
    /// compared with the neighbourhoods in the order of its probabilities until one answer is
    /// "same". Their probabilities are of a random forest; here they are the memberships.
    fn npu(&self, result: &CrowdResult, stream: &mut Stream) -> Vec<PairAnswer> {
        let q = result.memberships.values();
        let (n, k) = q.dim();
        let surest: Vec<usize> = (0..k)
            .map(|c| (0..n).fold(0, |best, i| if q[[i, c]] > q[[best, c]] { i } else { best }))
            .collect();
        let sorted = |i: usize| {
            let mut order: Vec<usize> = (0..k).collect();
            order.sort_by(|&a, &b| q[[i, b]].total_cmp(&q[[i, a]]).then(a.cmp(&b)));
            order
        };
        let entropy = result.memberships.entropy();
        let value = |i: usize| {
            let order = sorted(i);
            let asked: f64 = order.iter().zip(1..).map(|(&c, at)| f64::from(at) * q[[i, c]]).sum();
            entropy[i] / asked.max(1.0)
        };
        let mut order: Vec<(f64, usize)> = (0..n).map(|i| (value(i), i)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut said = Vec::new();
        for (_, i) in order {
            for c in sorted(i) {
                if surest[c] == i {
                    continue;
                }
                if said.len() == ROUND {
                    return said;
                }
                said.push(self.answer(i, surest[c], stream));
                if said[said.len() - 1].same {
                    break;
                }
            }
        }
        said
    }
}

/// The random pairs whose being together is the least certain (Lewis and Gale 1994).
fn uncertain(result: &CrowdResult, draw: &mut Stream) -> Vec<(usize, usize)> {
    let q = result.memberships.values();
    let n = q.nrows();
    let mut pairs: Vec<(f64, usize, usize)> = (0..CANDIDATES)
        .map(|_| {
            let i = draw.below(n);
            let j = (i + 1 + draw.below(n - 1)) % n;
            ((q.row(i).dot(&q.row(j)) - 0.5).abs(), i, j)
        })
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    pairs.into_iter().take(ROUND).map(|(_, i, j)| (i, j)).collect()
}

pub(crate) fn table(seeds: u64) -> std::result::Result<String, Failure> {
    let titles = ["crowd", "questions"].map(String::from);
    let mut text = head(titles.into_iter().chain(READ.map(|q| format!("{q} questions"))));
    let mut all = vec![vec![Vec::new(); READ.len()]; WAYS.len()];
    for name in CROWDS.into_iter().chain(["planted"]) {
        let mut worlds = Vec::new();
        for seed in (0..seeds).map(Seed) {
            match if name == "planted" { Ok(planted(seed)?) } else { of_birds(name, seed) } {
                Ok(world) => worlds.push((seed, world)),
                Err(e) => eprintln!("{name} skipped: {e}"),
            }
        }
        let Some((_, first)) = worlds.first() else { continue };
        let label = first.name.clone();
        for ((what, asks), means) in WAYS.iter().zip(&mut all) {
            let runs: Result<Vec<_>> = worlds.iter().map(|(s, w)| w.curve(*asks, *s)).collect();
            let runs = runs?;
            let columns: Vec<Vec<f64>> =
                (0..READ.len()).map(|q| runs.iter().map(|r| r[q]).collect()).collect();
            for (mean, column) in means.iter_mut().zip(&columns) {
                mean.push(column.iter().sum::<f64>() / column.len() as f64);
            }
            let cells = columns.iter().map(|c| cell(c));
            let line = row([label.clone(), (*what).to_string()].into_iter().chain(cells));
            eprint!("{line}");
            text += &line;
        }
    }
    for ((what, _), means) in WAYS.iter().zip(&all) {
        let mean = |m: &Vec<f64>| cell(&[m.iter().sum::<f64>() / m.len() as f64]);
        text += &row(["mean".to_string(), (*what).to_string()]
            .into_iter()
            .chain(means.iter().map(mean)));
    }
    Ok(text)
}
