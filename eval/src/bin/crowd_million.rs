//! Seconds of the crowd methods on a million answers about single pairs of 20,000 objects.
//!
//! `cargo run --release --bin crowd_million [METHOD ...]`. Ten clusters, 1,000 workers who are
//! wrong in one of ten answers; half of the pairs lie inside a cluster.

use std::time::Instant;

use consilience::crowd::{Answers, CrowdClustering, CrowdMethod, PairAnswer};
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{Partition, Seed};

const OBJECTS: usize = 20_000;
const CLUSTERS: usize = 10;
const WORKERS: usize = 1_000;
const ANSWERS: usize = 1_000_000;
const WRONG: f64 = 0.1;
const METHODS: [CrowdMethod; 9] = [
    CrowdMethod::Spectral,
    CrowdMethod::DawidSkene,
    CrowdMethod::Pairs,
    CrowdMethod::LogOdds,
    CrowdMethod::LatentClass,
    CrowdMethod::Bayesian,
    CrowdMethod::Block,
    CrowdMethod::BlockByWorker,
    CrowdMethod::Auto,
];

fn main() -> consilience::Result<()> {
    let mut methods = std::env::args()
        .skip(1)
        .map(|name| name.parse())
        .collect::<consilience::Result<Vec<CrowdMethod>>>()?;
    if methods.is_empty() {
        methods.extend(METHODS);
    }
    let mut stream = Seed(1).derive("million", 0).stream();
    let rows: Vec<PairAnswer> = (0..ANSWERS)
        .map(|at| {
            let i = stream.below(OBJECTS);
            let mut j = stream.below(OBJECTS);
            if at % 2 == 0 {
                j = j / CLUSTERS * CLUSTERS + i % CLUSTERS;
            }
            let j = if i == j { (j + CLUSTERS) % OBJECTS } else { j };
            let same = (i % CLUSTERS == j % CLUSTERS) != (stream.uniform() < WRONG);
            PairAnswer { worker: at % WORKERS, i, j, same }
        })
        .collect();
    let start = Instant::now();
    let answers = Answers::from_pairs(OBJECTS, &rows)?;
    println!("answers: {:.2} s", start.elapsed().as_secs_f64());
    let truth = Partition::from_fn(OBJECTS, |i| Some((i % CLUSTERS) as u64))?;
    for method in methods {
        let crowd = CrowdClustering::new(CLUSTERS).method(method).alternative(false);
        let start = Instant::now();
        let fit = crowd.fit(&answers, &())?;
        let seconds = start.elapsed().as_secs_f64();
        let found = &fit.output.partition;
        let nmi = normalized_mutual_information(found, &truth, Normalizer::Arithmetic)?;
        println!(
            "{:<16} {seconds:7.2} s, NMI {nmi:.3}, {} iterations, {:?}",
            method.name(),
            fit.report.iterations,
            fit.report.stages,
        );
    }
    Ok(())
}
