//! The tables of docs/questions.md: how many answers a clustering of embedded texts takes.
//!
//! cargo run --release --bin questioner -- [docs/questions.md] [--seeds 0..2] [--budget 1000]
//!     [--pairs 20000] [--accuracies 0.8,0.9,0.95] [--sets usps,letters] [--few 6] [--clear 0..0]
//!     [--groups 0..0]
//!
//! Generated worlds and real sets, answerers simulated from the true classes: the questioner beside
//! PCK-Means on random pairs and on its own farthest-first scheme, with the same noise. With a page
//! its tables are written into it, else they are printed.

use std::fs::File;

use consilience::{Partition, Result, Seed};
use ndarray::{Array1, Array2, Axis};
use ndarray_npy::NpzReader;

mod answerers;
mod clear;
mod few;
mod groups;
mod pck;
mod runs;
mod world;

#[path = "../../../../tests/reference/shared_data.rs"]
mod shared_data;

use runs::{Curve, Row};

/// What is clustered.
pub struct Data {
    pub name: String,
    pub x: Array2<f64>,
    pub truth: Partition,
}

pub struct Options {
    page: Option<String>,
    seeds: std::ops::Range<u64>,
    /// Answers for the questioner, pairs for PCK-Means, at most.
    pub budget: usize,
    pub pairs: usize,
    accuracies: Vec<f64>,
    sets: Vec<String>,
    worlds: Vec<String>,
    /// Seeds of the worlds of few clusters.
    few: u64,
    /// Seeds of the worlds with a clear answer.
    clear: std::ops::Range<u64>,
    /// Seeds of the worlds with answers by groups.
    groups: std::ops::Range<u64>,
}

fn main() -> Result<()> {
    let options = options();
    let mut worlds = Vec::new();
    let chosen = world::WORLDS.iter().filter(|w| options.worlds.iter().any(|name| name == w.name));
    for world in chosen {
        worlds.extend(rows(&options, |seed| {
            let (x, truth) = world.make(seed)?;
            Ok(Some(Data { name: world.name.into(), x, truth }))
        })?);
    }
    let mut sets = Vec::new();
    for set in &options.sets {
        sets.extend(rows(&options, |seed| read(set, seed))?);
    }
    for (mark, rows) in [("worlds", worlds), ("sets", sets)] {
        if !rows.is_empty() {
            runs::write(options.page.as_deref(), mark, &runs::table(&rows));
        }
    }
    if options.few > 0 {
        runs::write(options.page.as_deref(), "few", &few::table(options.few)?);
    }
    if !options.clear.is_empty() {
        println!("{}", clear::table(options.clear)?);
    }
    if !options.groups.is_empty() {
        println!("{}", groups::table(options.groups)?);
    }
    Ok(())
}

/// A line for each accuracy, over the seeds.
fn rows(options: &Options, make: impl Fn(Seed) -> Result<Option<Data>>) -> Result<Vec<Row>> {
    let mut out = Vec::new();
    for &accuracy in &options.accuracies {
        let mut curves: Vec<Curve> = Vec::new();
        for seed in options.seeds.clone() {
            let Some(data) = make(Seed(seed))? else { continue };
            curves.push(runs::run(&data, accuracy, Seed(seed), options)?);
        }
        if let Some(first) = curves.first() {
            out.push(Row { name: first.name.clone(), accuracy, curves });
        }
    }
    Ok(out)
}

fn options() -> Options {
    let mut options = Options {
        page: None,
        seeds: 0..2,
        budget: 1_000,
        pairs: 20_000,
        accuracies: vec![0.8, 0.9, 0.95],
        sets: vec!["usps".into(), "letters".into()],
        worlds: world::WORLDS.iter().map(|w| w.name.to_string()).collect(),
        few: 6,
        clear: 0..0,
        groups: 0..0,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if !word.starts_with("--") {
            options.page = Some(word);
            continue;
        }
        let value = words.next().unwrap_or_else(|| panic!("{word}: expected a value"));
        let number = |text: &str| text.parse::<usize>().unwrap_or_else(|e| panic!("{text}: {e}"));
        let range = |text: &str| {
            let (from, to) = text.split_once("..").unwrap_or(("0", text));
            number(from) as u64..number(to) as u64
        };
        let names = || value.split(',').filter(|v| !v.is_empty()).map(String::from).collect();
        match word.as_str() {
            "--seeds" => options.seeds = range(&value),
            "--clear" => options.clear = range(&value),
            "--groups" => options.groups = range(&value),
            "--few" => options.few = number(&value) as u64,
            "--budget" => options.budget = number(&value),
            "--pairs" => options.pairs = number(&value),
            "--accuracies" => {
                options.accuracies =
                    value.split(',').map(|v| v.parse().unwrap_or_else(|e| panic!("{e}"))).collect()
            }
            "--sets" => options.sets = names(),
            "--worlds" => options.worlds = names(),
            _ => panic!("{word}: unknown"),
        }
    }
    options
}

/// At most 10,000 rows by the seed.
fn read(set: &str, seed: Seed) -> Result<Option<Data>> {
    let path = shared_data::folder("features").join(format!("{set}.npz"));
    let Ok(file) = File::open(&path) else {
        println!("{set} skipped: {} is missing", path.display());
        return Ok(None);
    };
    let found = NpzReader::new(file).ok().and_then(|mut npz| {
        let x: Array2<f64> = match npz.by_name::<ndarray::OwnedRepr<f32>, ndarray::Ix2>("x.npy") {
            Ok(x) => x.mapv(f64::from),
            Err(_) => {
                npz.by_name::<ndarray::OwnedRepr<u8>, ndarray::Ix2>("x.npy").ok()?.mapv(f64::from)
            }
        };
        let y: Array1<i32> = npz.by_name("y.npy").ok()?;
        Some((x, y))
    });
    let Some((x, y)) = found else {
        println!("{set} skipped: {} has no x and y", path.display());
        return Ok(None);
    };
    let rows = seed.derive("rows", 0).stream().sample(x.nrows(), 10_000);
    let truth = Partition::from_labels(&y.select(Axis(0), &rows).to_vec())?;
    Ok(Some(Data { name: set.into(), x: x.select(Axis(0), &rows), truth }))
}
