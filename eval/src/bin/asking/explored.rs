//! Which part of Explore and Consolidate brings its lead: its first questions, the features, or
//! that it places objects among known classes.

use consilience::follow::Updater;
use consilience::ndarray::Array2;
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{Pair, Result};

use crate::explore::{Explore, Next};
use crate::{Failure, cell, head, links, row};

const SETS: [&str; 6] = ["segmentation", "usps", "mfeat_pix", "letters", "ecoli", "yeast"];
const ROWS: usize = 1_500;
const BATCH: usize = 50;
/// After how many questions NMI is read.
const READ: [usize; 3] = [100, 250, 500];

/// What asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    Random,
    Questions,
    /// Farthest-first by the members until each class is known, then `next_questions`.
    Explored,
    /// Explore and Consolidate, distances by the members or by the features.
    Members,
    Features,
    /// By the members, then objects of uncertain label and random ones by turns at random.
    Uncertain,
}

const WAYS: [(&str, Asks); 6] = [
    ("random pairs", Asks::Random),
    ("`next_questions`", Asks::Questions),
    ("explored, then `next_questions`", Asks::Explored),
    ("Explore and Consolidate by the members", Asks::Members),
    ("the same, half of the objects uncertain", Asks::Uncertain),
    ("Explore and Consolidate by the features", Asks::Features),
];

struct World {
    set: links::World,
    /// A column for each cluster of each member, with 1 for its objects.
    indicators: Array2<f64>,
}

fn world(name: &str, seed: u64) -> Result<Option<World>> {
    let Some(set) = links::world(name, ROWS, seed)? else { return Ok(None) };
    let members = set.ensemble.members();
    let n = set.truth.n_objects();
    let mut indicators = Array2::zeros((n, members.iter().map(|m| m.n_clusters()).sum()));
    let mut first = 0;
    for member in members {
        for (i, label) in (0..n).map(|i| (i, member.label(i))) {
            if let Some(c) = label {
                indicators[[i, first + c]] = 1.0;
            }
        }
        first += member.n_clusters();
    }
    Ok(Some(World { set, indicators }))
}

impl World {
    fn answered(&self, i: usize, j: usize) -> Pair {
        match self.set.truth.label(i) == self.set.truth.label(j) {
            true => Pair::must_link(i, j),
            false => Pair::cannot_link(i, j),
        }
    }

    /// NMI after each number of questions.
    fn curve(&self, asks: Asks) -> Result<Vec<f64>> {
        let (n, k) = (self.set.truth.n_objects(), self.set.truth.n_clusters());
        let mut updater = Updater::new(self.set.ensemble.clone(), k)?;
        let space = if asks == Asks::Features { &self.set.x } else { &self.indicators };
        let stream = self.set.seed.derive("explore", 0).stream();
        let mut explore = Explore::new(space, k, Next::Random, stream);
        let mut stream = self.set.seed.derive("asked", 0).stream();
        let mut same = |i: usize, j: usize| self.set.truth.label(i) == self.set.truth.label(j);
        let mut waiting: Vec<Pair> = Vec::new();
        let mut found = Vec::new();
        for batch in 1..=READ[READ.len() - 1] / BATCH {
            let asked =
                updater.next_questions(BATCH, self.set.seed.derive("questions", batch as u64))?;
            let mut objects = asked.objects.iter();
            let instructive = asked.pairs.iter().map(|q| self.answered(q.i, q.j));
            let mut more = Vec::new();
            while waiting.len() < BATCH {
                more.clear();
                let placing = match asks {
                    Asks::Random | Asks::Questions => false,
                    Asks::Explored => !explore.is_explored(),
                    _ => true,
                };
                if asks == Asks::Random {
                    let i = stream.below(n);
                    more.push(self.answered(i, (i + 1 + stream.below(n - 1)) % n));
                } else if !placing {
                    // Those of this batch alone: the next one has better ones.
                    let open = BATCH - waiting.len();
                    waiting.extend(instructive.take(open));
                    break;
                } else {
                    let uncertain = asks == Asks::Uncertain && explore.is_explored();
                    let next = (uncertain && stream.below(2) == 1).then(|| objects.next());
                    more = match next.flatten() {
                        Some(chosen) => explore.place_object(chosen.object, &mut same),
                        None => explore.place(&mut same),
                    };
                    if more.is_empty() && next.flatten().is_none() {
                        break;
                    }
                }
                waiting.append(&mut more);
            }
            let pairs: Vec<Pair> = waiting.drain(..BATCH.min(waiting.len())).collect();
            updater.update(&pairs)?;
            if READ.contains(&(batch * BATCH)) {
                let partition = updater.partition()?;
                let nmi = Normalizer::Arithmetic;
                found.push(normalized_mutual_information(&partition, &self.set.truth, nmi)?);
            }
        }
        Ok(found)
    }
}

pub(crate) fn table(seeds: u64) -> std::result::Result<String, Failure> {
    let titles = ["set", "questions"].map(String::from);
    let mut text = head(titles.into_iter().chain(READ.map(|q| format!("{q} questions"))));
    for name in SETS {
        let mut worlds = Vec::new();
        for seed in 0..seeds {
            worlds.extend(world(name, seed)?);
        }
        if worlds.is_empty() {
            continue;
        }
        for (what, asks) in WAYS {
            let runs = worlds.iter().map(|w| w.curve(asks)).collect::<Result<Vec<_>>>()?;
            let cells =
                (0..READ.len()).map(|q| cell(&runs.iter().map(|r| r[q]).collect::<Vec<_>>()));
            let line = row([name.to_string(), what.to_string()].into_iter().chain(cells));
            eprint!("{line}");
            text += &line;
        }
    }
    Ok(text)
}
