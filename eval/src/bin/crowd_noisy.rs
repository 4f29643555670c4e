//! Seconds of every crowd method on a noisy crowd, and as multiples of the spectral baseline.
//!
//! `cargo run --release --bin crowd_noisy [METHOD ...]`. 109 workers sort about 74 of 807 objects
//! each into four groups; a quarter of the objects goes into any group, so that a third of the
//! pairs that are called the same are wrong. Once all workers see as many objects, once a few see
//! many and most see few, as in crowds that were collected.

use std::time::Instant;

use consilience::crowd::{Answers, CrowdClustering, CrowdMethod, GroupAnswer};
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{Partition, Seed};

const OBJECTS: usize = 807;
const CLUSTERS: usize = 4;
const WORKERS: usize = 109;
/// Objects that a worker sees.
const SEEN: f64 = 74.0;
/// Objects that go into any group; 1 - .255 squared is .555, and .75 (1 - .555) a third.
const LOST: f64 = 0.255;
const METHODS: [CrowdMethod; 10] = [
    CrowdMethod::Spectral,
    CrowdMethod::DawidSkene,
    CrowdMethod::Pairs,
    CrowdMethod::LogOdds,
    CrowdMethod::Block,
    CrowdMethod::BlockByWorker,
    CrowdMethod::LatentClass,
    CrowdMethod::Bayesian,
    CrowdMethod::Rmc,
    CrowdMethod::Auto,
];
/// Each time is the least of so many, and for quick methods of more.
const REPEATS: usize = 3;

/// The crowd; `spread` is the standard deviation of the logarithm of the tasks' sizes.
fn noisy(spread: f64) -> consilience::Result<(Answers, Partition)> {
    let mut stream = Seed(1).derive("noisy crowd", 0).stream();
    let mut rows = Vec::new();
    for worker in 0..WORKERS {
        let size = (SEEN.ln() - spread * spread / 2.0 + spread * stream.normal()).exp();
        for item in stream.sample(OBJECTS, (size.round() as usize).clamp(2, OBJECTS)) {
            let lost = stream.uniform() < LOST;
            let group = if lost { stream.below(CLUSTERS) } else { item % CLUSTERS };
            rows.push(GroupAnswer { worker, task: 0, item, group });
        }
    }
    let truth = Partition::from_fn(OBJECTS, |i| Some((i % CLUSTERS) as u64))?;
    Ok((Answers::from_groupings(OBJECTS, &rows)?, truth))
}

fn main() -> consilience::Result<()> {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    for (name, spread) in [("even", 0.0), ("uneven", 0.93)] {
        let (answers, truth) = noisy(spread)?;
        let pairs: Vec<_> = answers.pairs().filter(|p| p.same).collect();
        let wrong = pairs.iter().filter(|p| p.i % CLUSTERS != p.j % CLUSTERS).count();
        println!(
            "{name}: {} pair answers, {:.3} of those that say the same are wrong",
            answers.n_pair_answers(),
            wrong as f64 / pairs.len() as f64,
        );
        let mut spectral = f64::NAN;
        for method in METHODS {
            let asked = chosen.is_empty() || chosen.iter().any(|c| c == method.name());
            if !asked && method != CrowdMethod::Spectral {
                continue;
            }
            let crowd = CrowdClustering::new(CLUSTERS).method(method).alternative(false);
            let mut seconds = f64::INFINITY;
            let mut last = None;
            for _ in 0..REPEATS {
                let start = Instant::now();
                last = Some(crowd.fit(&answers, &())?);
                seconds = seconds.min(start.elapsed().as_secs_f64());
            }
            let Some(fit) = last else { continue };
            if method == CrowdMethod::Spectral {
                spectral = seconds;
            }
            let found = &fit.output.partition;
            let nmi = normalized_mutual_information(found, &truth, Normalizer::Arithmetic)?;
            println!(
                "  {:<12} {seconds:7.2} s, {:6.1} times spectral, NMI {nmi:.3}, {} iterations, {}",
                method.name(),
                seconds / spectral,
                fit.report.iterations,
                fit.report.notes.join("; "),
            );
        }
    }
    Ok(())
}
