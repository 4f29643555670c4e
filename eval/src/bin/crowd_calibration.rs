//! How honest the probabilities of crowd methods are: what they say beside how often they are
//! right.
//!
//! `cargo run --release --bin crowd_calibration [EVERY [FIRST [SEEDS [FROM]]]]`: every so-many-th
//! of the 360 worlds of `crowd_grid` from the given one on, by the size of their tasks; so many
//! draws, from seed FROM on, of crowds that are hard to tell; and the reference crowds where they
//! are found. What an answer weighs was chosen on `13 5 2 0`.

use std::collections::BTreeMap;

use consilience::core::assignment::max_assignment;
use consilience::crowd::{Answers, CrowdClustering, CrowdMethod, GroupAnswer};
use consilience::ndarray::Array2;
use consilience::{Partition, Seed};
use consilience_eval::crowd_worlds::{make, worlds};
use consilience_eval::crowds::{self, CROWDS};

const METHODS: [CrowdMethod; 7] = [
    CrowdMethod::Block,
    CrowdMethod::BlockByWorker,
    CrowdMethod::LatentClass,
    CrowdMethod::Bayesian,
    CrowdMethod::LogOdds,
    CrowdMethod::DawidSkene,
    CrowdMethod::Auto,
];
/// Objects, classes, workers, tasks of each, objects of a task, share of labels at random.
const HARD: [(usize, usize, usize, usize, usize, f64); 5] = [
    (720, 6, 48, 4, 15, 0.4),
    (300, 4, 30, 6, 8, 0.3),
    (300, 5, 20, 3, 25, 0.4),
    (200, 3, 40, 1, 10, 0.3),
    (300, 6, 60, 5, 5, 0.4),
];
/// Probability that the true class has at least, where it is scored.
const LEAST: f64 = 1e-3;

/// Sums over objects.
#[derive(Clone, Copy, Default)]
struct Sums {
    objects: f64,
    told: f64,
    right: f64,
    sure: f64,
    sure_right: f64,
    loss: f64,
}

struct Crowd {
    group: String,
    answers: Answers,
    truth: Partition,
}

fn hard(seed: u64, at: usize) -> consilience::Result<Crowd> {
    let (n, k, workers, tasks, size, wrong) = HARD[at];
    let mut stream = Seed(seed).derive("hard", 0).stream();
    let mut rows = Vec::new();
    for (worker, task) in (0..workers).flat_map(|w| (0..tasks).map(move |t| (w, t))) {
        for item in stream.sample(n, size) {
            let group = if stream.uniform() < wrong { stream.below(k) } else { item % k };
            rows.push(GroupAnswer { worker, task, item, group });
        }
    }
    Ok(Crowd {
        group: format!("hard, tasks of {size:2}"),
        answers: Answers::from_groupings(n, &rows)?,
        truth: Partition::from_fn(n, |i| Some((i % k) as u64))?,
    })
}

impl Sums {
    /// Adds the objects of a crowd, clusters and classes being matched as well as they can be.
    fn add(&mut self, crowd: &Crowd, method: CrowdMethod) -> consilience::Result<()> {
        let classes = crowd.truth.n_clusters();
        let model = CrowdClustering::new(classes).method(method).alternative(false);
        let found = model.fit(&crowd.answers, &())?.output;
        let q = found.memberships.values();
        let pairs = || found.partition.iter().zip(crowd.truth.iter()).enumerate();
        let mut table = Array2::<f64>::zeros((q.ncols(), classes));
        for (_, (label, class)) in pairs() {
            if let (Some(label), Some(class)) = (label, class) {
                table[[label, class]] += 1.0;
            }
        }
        let class_of = max_assignment(table.view());
        for (i, (label, class)) in pairs() {
            let (Some(label), Some(class)) = (label, class) else { continue };
            let (told, right) = (q[[i, label]], f64::from(class_of[label] == Some(class)));
            let own = class_of.iter().position(|&c| c == Some(class)).map_or(0.0, |c| q[[i, c]]);
            self.objects += 1.0;
            self.told += told;
            self.right += right;
            self.sure += f64::from(told >= 0.99);
            self.sure_right += right * f64::from(told >= 0.99);
            self.loss -= ((1.0 - LEAST) * own + LEAST / q.ncols() as f64).ln();
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let number = |at: usize, default| numbers.get(at).copied().unwrap_or(default);
    let mut all = Vec::new();
    let every = number(0, 13).max(1);
    for (at, world) in worlds().iter().enumerate().skip(number(1, 5)).step_by(every) {
        let (answers, truth) = make(world, at as u64)?;
        all.push(Crowd { group: format!("grid, tasks of {:2}", world.task()), answers, truth });
    }
    let from = number(3, 0);
    for seed in from..from + number(2, 2) {
        for at in 0..HARD.len() {
            all.push(hard(seed as u64, at)?);
        }
    }
    for name in CROWDS {
        match crowds::read(name) {
            Ok((answers, truth)) => all.push(Crowd { group: name.to_owned(), answers, truth }),
            Err(error) => println!("{name} is left out: {error}"),
        }
    }
    let mut table: BTreeMap<(&str, usize), Sums> = BTreeMap::new();
    for crowd in &all {
        for (m, &method) in METHODS.iter().enumerate() {
            table.entry((&crowd.group, m)).or_default().add(crowd, method)?;
        }
    }
    println!("| crowds | method | right | told | at least .99 | of these right | log loss |");
    println!("|---|---|---|---|---|---|---|");
    for ((group, m), sums) in table {
        let Sums { objects, told, right, sure, sure_right, loss } = sums;
        println!(
            "| {group} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |",
            METHODS[m].name(),
            right / objects,
            told / objects,
            sure / objects,
            sure_right / sure,
            loss / objects
        );
    }
    Ok(())
}
