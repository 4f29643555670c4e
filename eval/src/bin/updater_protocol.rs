//! The table of docs/updater.md: NMI (arithmetic mean of the entropies) after each of five tiers of
//! 100 random links.
//!
//! cargo run --release --bin updater_protocol -- [--sets letters,usps] [--seeds 0..10]
//!     [--members 50] [--rows 4000]
//!     [--recipe halves|tenths] [--methods plain,metric,grown,itml,pck,mpck] [--evidence]
//!
//! A line `run ...` is printed as each (set, seed, method) ends, so that a run may be cut; then for
//! each set the means, and how far each method was below the plain consensus at worst, on the mean
//! and on a single seed. A set that ends in .npz is a file of `x` (f32) and `y` (i32).
//!
//! cargo run --release --bin updater_protocol -- --time N,D[,LINKS]
//!
//! Instead of that: seconds that growth and reading out take for N x D Gaussian features, and MCCC.

use std::collections::BTreeMap;

use consilience::completion::Mccc;
use consilience::constrained::{MpckMeans, PckMeans};
use consilience::core::ConstrainedClusterer;
use consilience::follow::{
    LinkEvidence, MapLearner, MemberGrowth, MetricRule, ReadOutMethod, Updater, UpdaterSetup,
};
use consilience::generate::{Generator, KMeans};
use consilience::metric::{Itml, MetricLearner};
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::simplex::{AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, UpdateRule};
use consilience::{Constraints, Ensemble, Pair, Partition, Result, Seed, SideInformation};
use consilience_eval::sets::Set;
use ndarray::Array2;

const SETS: [&str; 5] = ["letters", "usps", "mushrooms", "segmentation", "mfeat_pix"];
const METHODS: [&str; 12] = [
    "plain",
    "metric",
    "unguarded",
    "grown",
    "itml",
    "pck",
    "mpck",
    "diffusion",
    "lwgp",
    "exact",
    "additive",
    "multiplicative",
];
/// Rows taken of a set at most.
const ROWS: usize = 4_000;
const TIERS: usize = 5;
const LINKS: usize = 100;
/// Sweeps of ITML over the links: beyond these the clusterings hardly change, and 256 features are
/// slow.
const SWEEPS: usize = 30;
/// Iterations of the constrained k-means that start again at each tier.
const ITERATIONS: usize = 20;

struct Data {
    x: Array2<f64>,
    truth: Partition,
    classes: usize,
}

/// The set with nominal features as one column per value, others of unequal units standardised,
/// constant ones left out; at most 4,000 rows by the seed.
fn read(set: &str, seed: Seed, rows: usize) -> Option<Data> {
    let sample = Set::read(set)?.sample(&mut seed.derive("rows", 0).stream(), rows).prepared(set);
    let truth = sample.truth();
    let classes = truth.n_clusters();
    Some(Data { x: sample.x, truth, classes })
}

/// Base clusterings by the recipe: of random k on random halves of the features, or the papers' k =
/// r on tenths.
fn members(data: &Data, recipe: &str, members: usize, seed: Seed) -> Result<Ensemble> {
    let generator = Generator::new(KMeans::new()).members(members).seed(seed.derive("members", 0));
    let d = data.x.ncols() as f64;
    match recipe {
        "tenths" => generator
            .clusters(data.classes..=data.classes)
            .feature_fraction(((d / 10.0).ceil() / d).min(1.0))
            .generate(data.x.view()),
        _ => generator.feature_fraction(0.5).generate(data.x.view()),
    }
}

struct Run<'a> {
    data: &'a Data,
    ensemble: &'a Ensemble,
    tiers: &'a [Vec<Pair>],
    seed: Seed,
    /// Whether to print what each tier's choice was made by.
    evidence: bool,
}

impl Run<'_> {
    fn score(&self, found: &Partition) -> Result<f64> {
        normalized_mutual_information(found, &self.data.truth, Normalizer::Arithmetic)
    }

    /// NMI before the first tier and after each, where the method has one.
    fn scores(&self, method: &str) -> Result<Vec<f64>> {
        let (k, x) = (self.data.classes, self.data.x.view());
        let mut links = Constraints::new(x.nrows())?;
        let mut scores = Vec::new();
        match method {
            "plain" => {
                let open = MetricRule::new(k).seed(self.seed).open(self.ensemble, &())?;
                let plain = self.score(&open.partition(self.ensemble, &links, &())?.output)?;
                scores = vec![plain; TIERS + 1];
            }
            "diffusion" | "lwgp" => {
                use consilience::ConsensusFunction;
                use consilience::consensus::Lwgp;
                use consilience::walk::Diffusion;
                let found = if method == "lwgp" {
                    Lwgp::new(k).consensus(self.ensemble)?
                } else {
                    Diffusion::new(k).seed(self.seed).consensus(self.ensemble)?
                };
                scores = vec![self.score(&found)?; TIERS + 1];
            }
            "metric" | "unguarded" | "grown" => {
                let rule =
                    MetricRule::new(k).seed(self.seed).cross_validated(method != "unguarded");
                let mut metric = rule.open(self.ensemble, &())?;
                scores.push(self.score(&metric.partition(self.ensemble, &links, &())?.output)?);
                let mut ensemble = self.ensemble.clone();
                for (t, tier) in self.tiers.iter().enumerate() {
                    let known = links.len();
                    tier.iter().try_for_each(|p| links.add(p.i, p.j, p.link))?;
                    let new: Vec<_> = links.iter().skip(known).collect();
                    metric.follow(&ensemble, &new, &())?;
                    if method == "grown" {
                        let growth = MemberGrowth::new(KMeans::new())
                            .seed(self.seed.derive("tier", t as u64));
                        let grown = growth.grow(x.into(), k, &links, &())?.output;
                        let mut all = self.ensemble.members().to_vec();
                        all.extend(grown.members);
                        ensemble = Ensemble::new(all)?;
                        metric.grow(&ensemble, &grown.left_out, grown.features, &links, &())?;
                    }
                    let read = metric.read_out(&ensemble, &links, &())?.output;
                    scores.push(self.score(&read.partition(&ensemble, &())?)?);
                    if self.evidence {
                        let j = read.cross_validation();
                        print!("evidence {method} tier {} reads {}:", t + 1, j.chosen.name());
                        for method in [
                            ReadOutMethod::Plain,
                            ReadOutMethod::PlainGrown,
                            ReadOutMethod::Metric,
                            ReadOutMethod::MetricGrown,
                        ] {
                            let found = metric
                                .read_out_by(method, &ensemble, &())?
                                .partition(&ensemble, &())?;
                            print!(" {:.4}", self.score(&found)?);
                        }
                        let of = |e: Option<LinkEvidence>| e.map_or(f64::NAN, |e| e.score());
                        println!(
                            " scores {:.3} {:.3} +-{:.3} {:.3} +-{:.3} {:.3} +-{:.3}",
                            j.plain.score(),
                            of(j.plain_grown),
                            j.plain_grown_error,
                            j.metric.score(),
                            j.metric_error,
                            of(j.metric_grown),
                            j.metric_grown_error
                        );
                    }
                }
            }
            "exact" | "additive" | "multiplicative" => {
                let rule: UpdateRule = match method {
                    "exact" => ExactUpdate::default().into(),
                    "additive" => AdditiveUpdate::default().into(),
                    _ => MultiplicativeUpdate::default().into(),
                };
                let mut updater = UpdaterSetup::new(k).rule(rule).updater(self.ensemble.clone())?;
                scores.push(
                    self.score(&updater.by_weights().partition_by_kmeans(self.seed, &())?.output)?,
                );
                for tier in self.tiers {
                    updater.update(tier)?;
                    scores.push(self.score(
                        &updater.by_weights().partition_by_kmeans(self.seed, &())?.output,
                    )?);
                }
            }
            _ => {
                scores.push(f64::NAN);
                for tier in self.tiers {
                    tier.iter().try_for_each(|p| links.add(p.i, p.j, p.link))?;
                    scores.push(self.score(&self.on_features(method, &links)?)?);
                }
            }
        }
        Ok(scores)
    }

    /// The methods that start again from the features with all links so far.
    fn on_features(&self, method: &str, links: &Constraints) -> Result<Partition> {
        let (k, x) = (self.data.classes, self.data.x.view());
        let side = SideInformation::from_constraints(links);
        Ok(match method {
            "itml" => {
                let map = Itml::new().max_iterations(SWEEPS).fit(x.into(), &side, &())?.output;
                let mapped = map.apply(x)?;
                KMeans::new()
                    .restarts(5)
                    .fit_centres(mapped.view(), k, self.seed, &())?
                    .output
                    .partition
            }
            "pck" => {
                PckMeans::new(k)
                    .seed(self.seed)
                    .max_iterations(ITERATIONS)
                    .cluster(x.into(), &side)?
                    .partition
            }
            _ => {
                MpckMeans::new(k)
                    .max_iterations(ITERATIONS)
                    .seed(self.seed)
                    .fit(x.into(), &side, &())?
                    .output
                    .partition
            }
        })
    }
}

fn option(arguments: &[String], name: &str, default: &str) -> String {
    let at = arguments.iter().position(|a| a == name);
    at.and_then(|at| arguments.get(at + 1)).map_or(default, |v| v).to_owned()
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((n, rest)) = option(&arguments, "--time", "").split_once(',') {
        let (d, links) = rest.split_once(',').unwrap_or((rest, "500"));
        let number = |text: &str, default| text.parse().unwrap_or(default);
        return time(number(n, 4_000), number(d, 16), number(links, TIERS * LINKS));
    }
    let sets = option(&arguments, "--sets", &SETS.join(","));
    let methods = option(&arguments, "--methods", &METHODS.join(","));
    let recipe = option(&arguments, "--recipe", "halves");
    let count: usize = option(&arguments, "--members", "50").parse().unwrap_or(50);
    let seeds = option(&arguments, "--seeds", "0..10");
    let rows: usize = option(&arguments, "--rows", "").parse().unwrap_or(ROWS);
    let evidence = arguments.iter().any(|a| a == "--evidence");
    let (first, last) = seeds.split_once("..").unwrap_or(("0", "10"));
    let seeds = first.parse().unwrap_or(0u64)..last.parse().unwrap_or(10u64);
    for set in sets.split(',') {
        let mut all: BTreeMap<&str, Vec<Vec<f64>>> = BTreeMap::new();
        for s in seeds.clone() {
            let seed = Seed(s);
            let Some(data) = read(set, seed, rows) else { break };
            let ensemble = members(&data, &recipe, count, seed)?;
            let mut draw = seed.derive("links", 0).stream();
            let tiers: Vec<Vec<Pair>> = (0..TIERS)
                .map(|_| {
                    (0..LINKS)
                        .map(|_| {
                            let (i, j) = (draw.below(data.x.nrows()), draw.below(data.x.nrows()));
                            let same = data.truth.label(i) == data.truth.label(j);
                            if same { Pair::must_link(i, j) } else { Pair::cannot_link(i, j) }
                        })
                        .collect()
                })
                .collect();
            let run = Run { data: &data, ensemble: &ensemble, tiers: &tiers, seed, evidence };
            for method in methods.split(',') {
                let started = std::time::Instant::now();
                let scores = run.scores(method)?;
                let line: Vec<String> = scores.iter().map(|s| format!("{s:.4}")).collect();
                println!(
                    "run {set} {recipe} {count} {s} {method} {} {:.1?}",
                    line.join(" "),
                    started.elapsed()
                );
                all.entry(method).or_default().push(scores);
            }
        }
        for method in methods.split(',').filter(|m| all.contains_key(m)) {
            let runs = &all[method];
            let mean = |t: usize| runs.iter().map(|r| r[t]).sum::<f64>() / runs.len() as f64;
            let means: Vec<String> = (0..=TIERS).map(|t| format!("{:.3}", mean(t))).collect();
            print!("{set:14} {method:10} {}", means.join("  "));
            if let Some(plain) = all.get("plain") {
                let below = |runs: &[&Vec<f64>], plain: &[&Vec<f64>]| {
                    let at = |rows: &[&Vec<f64>], t: usize| rows.iter().map(|r| r[t]).sum::<f64>();
                    (1..=TIERS)
                        .map(|t| (at(runs, t) - at(plain, t)) / runs.len() as f64)
                        .fold(f64::INFINITY, f64::min)
                };
                let (ours, theirs): (Vec<_>, Vec<_>) =
                    (runs.iter().collect(), plain.iter().collect());
                let single = ours.iter().zip(&theirs).map(|(a, b)| below(&[*a], &[*b]));
                print!(
                    "  over plain at worst {:+.3}, one seed {:+.3}",
                    below(&ours, &theirs),
                    single.fold(f64::INFINITY, f64::min)
                );
            }
            println!();
        }
    }
    Ok(())
}

/// What growth costs: seconds for one batch of links among n Gaussian objects of d features in
/// ten classes.
fn time(n: usize, d: usize, links: usize) -> Result<()> {
    let mut draw = Seed(0).stream();
    let class: Vec<usize> = (0..n).map(|_| draw.below(10)).collect();
    let centres = Array2::from_shape_fn((10, d), |_| 0.5 * draw.normal());
    let x = Array2::from_shape_fn((n, d), |(i, j)| centres[[class[i], j]] + draw.normal());
    // Members that know a little, and cost nothing to make.
    let labels = Array2::from_shape_fn((n, 50), |(i, _)| {
        (if draw.below(3) == 0 { draw.below(10) } else { class[i] }) as u32
    });
    let mut updater = Updater::new(Ensemble::from_array(labels.view())?, 10)?;
    let links: Vec<_> = (0..links)
        .map(|_| (draw.below(n), draw.below(n)))
        .map(|(i, j)| match class[i] == class[j] {
            true => Pair::must_link(i, j),
            false => Pair::cannot_link(i, j),
        })
        .collect();
    let mut started = std::time::Instant::now();
    let mut lap = |what: &str| {
        println!("{what:10} {:.3} s", started.elapsed().as_secs_f64());
        started = std::time::Instant::now();
    };
    updater.update(&links)?;
    updater.open_metric(&())?;
    lap("open");
    let growth = MemberGrowth::new(KMeans::new());
    growth.grow(x.view().into(), 10, updater.constraints(), &())?;
    lap("members");
    updater.grow(x.view().into(), &growth, 0.0, &())?;
    lap("grow");
    let read = updater.read_out(&())?.output;
    read.partition(updater.ensemble(), &())?;
    lap("read out");
    let side = SideInformation::from_constraints(updater.constraints());
    Mccc::new(10).fit_completed(x.view(), &side, &())?;
    lap("MCCC");
    println!("{} bytes of state", updater.to_bytes().len());
    let ensemble = Ensemble::from_array(labels.view())?;
    let pairs: Vec<Pair> = updater.constraints().iter().collect();
    for (name, learner) in [("metric", MapLearner::LogDet), ("completion", MapLearner::Completion)]
    {
        lap("");
        let mut metric = MetricRule::new(10).learner(learner).open(&ensemble, &())?;
        lap(&format!("{name}: open"));
        let last = pairs.len().saturating_sub(LINKS);
        metric.follow(&ensemble, &pairs[..last], &())?;
        lap(&format!("{name}: all but the last batch"));
        metric.follow(&ensemble, &pairs[last..], &())?;
        lap(&format!("{name}: a batch of {LINKS}"));
        metric.partition(&ensemble, updater.constraints(), &())?;
        lap(&format!("{name}: read out"));
    }
    Ok(())
}
