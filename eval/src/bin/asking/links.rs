//! Links of the updater: which pairs to ask about.

use consilience::follow::Updater;
use consilience::generate::{Generator, KMeans};
use consilience::ndarray::Array2;
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{Ensemble, Pair, Partition, Result, Seed};
use consilience_eval::sets::Set;

use crate::explore::{Explore, Next};
use crate::{Failure, cell, head, row};

const SETS: [&str; 4] = ["segmentation", "mfeat_pix", "usps", "letters"];
const ROWS: usize = 2_000;
const MEMBERS: usize = 50;
/// Questions of a batch, and after how many NMI is read.
const BATCH: usize = 50;
const READ: [usize; 5] = [0, 50, 100, 250, 500];

/// What asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    Random,
    Questions,
    Explore(Next),
}

const WAYS: [(&str, Asks); 4] = [
    ("random pairs", Asks::Random),
    ("`next_questions`", Asks::Questions),
    ("Explore and Consolidate", Asks::Explore(Next::Random)),
    ("MinMax", Asks::Explore(Next::MinMax)),
];

pub(crate) struct World {
    pub(crate) x: Array2<f64>,
    pub(crate) truth: Partition,
    pub(crate) ensemble: Ensemble,
    pub(crate) seed: Seed,
}

pub(crate) fn world(name: &str, rows: usize, seed: u64) -> Result<Option<World>> {
    let seed = Seed(seed);
    let Some(set) = Set::read(name) else { return Ok(None) };
    let set = set.sample(&mut seed.derive("rows", 0).stream(), rows).prepared(name);
    let truth = set.truth();
    let k = truth.n_clusters();
    let ensemble = Generator::new(KMeans::new())
        .members(MEMBERS)
        .clusters(k..=2 * k)
        .feature_fraction(0.5)
        .seed(seed)
        .generate(set.x.view())?;
    Ok(Some(World { x: set.x, truth, ensemble, seed }))
}

impl World {
    /// NMI of the default read-out and of that by weights.
    fn read(&self, updater: &mut Updater) -> Result<[f64; 2]> {
        let nmi =
            |p: &Partition| normalized_mutual_information(p, &self.truth, Normalizer::Arithmetic);
        Ok([nmi(&updater.partition()?)?, nmi(&updater.by_weights().partition()?)?])
    }

    /// NMI after each number of questions.
    fn curve(&self, asks: Asks) -> Result<Vec<[f64; 2]>> {
        let n = self.truth.n_objects();
        let k = self.truth.n_clusters();
        let mut updater = Updater::new(self.ensemble.clone(), k)?;
        let mut stream = self.seed.derive("asked", 0).stream();
        let next = match asks {
            Asks::Explore(next) => next,
            _ => Next::Random,
        };
        let mut explore = Explore::new(&self.x, k, next, self.seed.derive("explore", 0).stream());
        let mut waiting: Vec<Pair> = Vec::new();
        let truth = &self.truth;
        let mut same = |i: usize, j: usize| truth.label(i) == truth.label(j);
        let answered = |i: usize, j: usize| match truth.label(i) == truth.label(j) {
            true => Pair::must_link(i, j),
            false => Pair::cannot_link(i, j),
        };
        let mut found = vec![self.read(&mut updater)?];
        for batch in 1..=READ[READ.len() - 1] / BATCH {
            let seed = self.seed.derive("questions", batch as u64);
            let pairs: Vec<Pair> = match asks {
                Asks::Random => (0..BATCH)
                    .map(|_| {
                        let i = stream.below(n);
                        answered(i, (i + 1 + stream.below(n - 1)) % n)
                    })
                    .collect(),
                Asks::Questions => {
                    let asked = updater.next_questions(BATCH, seed)?.pairs;
                    asked.iter().map(|q| answered(q.i, q.j)).collect()
                }
                Asks::Explore(_) => {
                    while waiting.len() < BATCH {
                        let said = explore.place(&mut same);
                        if said.is_empty() {
                            break;
                        }
                        waiting.extend(said);
                    }
                    waiting.drain(..BATCH.min(waiting.len())).collect()
                }
            };
            updater.update(&pairs)?;
            if READ.contains(&(batch * BATCH)) {
                found.push(self.read(&mut updater)?);
            }
        }
        Ok(found)
    }
}

pub(crate) fn table(seeds: u64) -> std::result::Result<String, Failure> {
    let titles = ["set", "read-out", "questions"].map(String::from);
    let mut text = head(titles.into_iter().chain(READ.map(|q| format!("{q} questions"))));
    for name in SETS {
        let mut worlds = Vec::new();
        for seed in 0..seeds {
            worlds.extend(world(name, ROWS, seed)?);
        }
        if worlds.is_empty() {
            continue;
        }
        let mut rows = [String::new(), String::new()];
        for (what, asks) in WAYS {
            let runs = worlds.iter().map(|w| w.curve(asks)).collect::<Result<Vec<_>>>()?;
            for (which, out) in rows.iter_mut().enumerate() {
                let read = ["default", "by weights"][which];
                let cells = (0..READ.len())
                    .map(|q| cell(&runs.iter().map(|r| r[q][which]).collect::<Vec<_>>()));
                let line = [name, read, what].map(String::from);
                *out += &row(line.into_iter().chain(cells));
            }
        }
        eprintln!("{}", rows.concat());
        text += &rows.concat();
    }
    Ok(text)
}
