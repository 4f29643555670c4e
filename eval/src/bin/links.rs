//! The tables of docs/links.md: which method with few links, and what `auto` takes.
//!
//! cargo run --release --bin links -- [--sets a,b] [--links 100,500,2000] [--seeds 0..5]
//!     [--rows 2000] [--folds 5] [--json FILE]
//!
//! One line per set, number of links and seed: NMI (arithmetic mean of the entropies) of every
//! candidate with all links, its score on links left out and the standard error of its gain, and
//! what `auto` takes. `--json` also writes what each candidate kept of each link.

use std::fs::File;
use std::io::Write;
use std::time::Instant;

use consilience::model::LinkedClustering;
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{Constraints, Link, Partition, Result, Seed, SideInformation};
use consilience_eval::sets::{CATEGORIES, Set, filled, one_hot};
use ndarray::Array2;
use serde_json::json;

/// By number of rows; every other one had a part in choosing the rules.
const SETS: [&str; 14] = [
    "soybean_small",
    "promoters",
    "hepatitis",
    "ecoli",
    "ionosphere",
    "voting",
    "balance",
    "credit",
    "yeast",
    "mfeat_pix",
    "segmentation",
    "mushrooms",
    "usps",
    "letters",
];
const CANDIDATES: [&str; 7] =
    ["kmeans", "kmeans-standardized", "pck-means", "mpck-means", "itml", "mccc", "updater"];

struct Data {
    x: Array2<f64>,
    truth: Partition,
}

struct Options {
    sets: Vec<String>,
    links: Vec<usize>,
    seeds: std::ops::Range<u64>,
    rows: usize,
    folds: usize,
    json: Option<File>,
}

fn main() -> Result<()> {
    let mut options = options();
    for set in options.sets.clone() {
        for &links in &options.links.clone() {
            for seed in options.seeds.clone() {
                let Some(data) = read(&set, Seed(seed), options.rows) else { continue };
                run(&set, &data, links, Seed(seed), &mut options)?;
            }
        }
    }
    Ok(())
}

fn options() -> Options {
    let mut options = Options {
        sets: SETS.map(String::from).to_vec(),
        links: vec![100, 500, 2000],
        seeds: 0..5,
        rows: 2_000,
        folds: 5,
        json: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_else(|| panic!("{word}: expected a value"));
        let number = |text: &str| text.parse::<usize>().unwrap_or_else(|e| panic!("{text}: {e}"));
        match word.as_str() {
            "--sets" => options.sets = value.split(',').map(String::from).collect(),
            "--links" => options.links = value.split(',').map(number).collect(),
            "--seeds" => {
                let (from, to) = value.split_once("..").unwrap_or(("0", &value));
                options.seeds = number(from) as u64..number(to) as u64;
            }
            "--rows" => options.rows = number(&value),
            "--folds" => options.folds = number(&value),
            "--json" => options.json = File::create(value).ok(),
            _ => panic!("{word}: unknown"),
        }
    }
    options
}

fn run(set: &str, data: &Data, links: usize, seed: Seed, options: &mut Options) -> Result<()> {
    let (n, k) = (data.truth.n_objects(), data.truth.n_clusters());
    if links > n * (n - 1) / 4 {
        return Ok(());
    }
    let mut draw = seed.derive("links", 0).stream();
    let mut pairs = Constraints::new(n)?;
    while pairs.len() < links {
        let (i, j) = (draw.below(n), draw.below(n));
        if i != j {
            let same = data.truth.label(i) == data.truth.label(j);
            pairs.add(i, j, if same { Link::Must } else { Link::Cannot })?;
        }
    }
    let side = SideInformation::from_constraints(&pairs);
    let nmi = |p: &Partition| normalized_mutual_information(p, &data.truth, Normalizer::Arithmetic);
    let auto = LinkedClustering::new(k).folds(options.folds).seed(seed);
    let start = Instant::now();
    let found = auto.fit_judged(&data.x, &side, &())?.output;
    let seconds = start.elapsed().as_secs_f64();
    let judgement = &found.judgement;
    print!("{set} {links} {} auto {:.3} {seconds:.1}s", seed.0, nmi(&found.clustering.partition)?);
    print!(" takes {}", judgement.taken().name);
    let mut candidates = Vec::new();
    for (name, judged) in CANDIDATES.iter().zip(&judgement.candidates) {
        let start = Instant::now();
        let made = auto.fit_by(name, &data.x, &side, &());
        let seconds = start.elapsed().as_secs_f64();
        let score = made.map_or(Ok(f64::NAN), |fit| nmi(&fit.output.partition))?;
        print!(
            " | {name} {score:.3} {:.3}+-{:.3}",
            judged.score.unwrap_or(f64::NAN),
            judged.gain_error
        );
        candidates.push(json!({
            "name": name, "nmi": score, "seconds": seconds, "score": judged.score,
            "gain": judged.gain, "gain_error": judged.gain_error, "kept": judged.kept,
        }));
    }
    println!();
    if let Some(file) = &mut options.json {
        let must: Vec<bool> = judgement.links.iter().map(|l| l.link == Link::Must).collect();
        let line = json!({
            "set": set, "links": links, "seed": seed.0, "n": n, "k": k, "folds": options.folds,
            "auto": nmi(&found.clustering.partition)?, "takes": judgement.taken().name,
            "seconds": seconds, "must": must, "candidates": candidates,
        });
        writeln!(file, "{line}").ok();
    }
    Ok(())
}

/// The set with categories as one column per value, missing numbers at the mean; at most so many
/// rows by the seed.
fn read(name: &str, seed: Seed, most: usize) -> Option<Data> {
    let set = Set::read(name)?.sample(&mut seed.derive("rows", 0).stream(), most);
    let truth = set.truth();
    let x = if CATEGORIES.contains(&name) { one_hot(&set.x) } else { filled(set.x) };
    Some(Data { x, truth })
}
