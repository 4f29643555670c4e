//! Every crowd method on the reference crowds and on planted ones: NMI (arithmetic mean), ARI and
//! seconds.
//!
//! `cargo run --release --bin crowd_sets [SET ...]`; the sets are looked for in
//! `$CONSILIENCE_DATA/crowd`, then in `../shared/data/crowd` beside the checkout.

use std::error::Error;
use std::time::Instant;

use consilience::crowd::{Answers, BlockModel, CrowdClustering, CrowdMethod, GroupAnswer};
use consilience::scores::{Normalizer, adjusted_rand, normalized_mutual_information, pair_f};
use consilience::{Partition, Seed};
use consilience_eval::crowds::{self, CROWDS};

/// Objects, clusters, workers, objects per worker, share of wrong groups.
const PLANTED: [(usize, usize, usize, usize, f64); 2] =
    [(1_000, 10, 100, 50, 0.1), (1_000, 10, 400, 50, 0.3)];
/// Beyond, block models and eigenvectors of as many columns take too long.
const MOST_CLUSTERS: usize = 100;
/// Completion at c = 2 has a rank in the hundreds beyond and takes minutes.
const LARGEST_COMPLETION: usize = 500;
const METHODS: [CrowdMethod; 10] = [
    CrowdMethod::Spectral,
    CrowdMethod::DawidSkene,
    CrowdMethod::Rmc,
    CrowdMethod::LogOdds,
    CrowdMethod::Block,
    CrowdMethod::BlockByWorker,
    CrowdMethod::LatentClass,
    CrowdMethod::Bayesian,
    CrowdMethod::Pairs,
    CrowdMethod::Auto,
];

/// Every worker groups some objects; a wrong one goes to any group.
fn planted(
    n: usize,
    k: usize,
    workers: usize,
    size: usize,
    wrong: f64,
) -> consilience::Result<(Answers, Partition)> {
    let mut stream = Seed(1).derive("planted crowd", workers as u64).stream();
    let mut rows = Vec::new();
    for worker in 0..workers {
        for item in stream.sample(n, size) {
            let group = if stream.uniform() < wrong { stream.below(k) } else { item % k };
            rows.push(GroupAnswer { worker, task: 0, item, group });
        }
    }
    Ok((Answers::from_groupings(n, &rows)?, Partition::from_fn(n, |i| Some((i % k) as u64))?))
}

/// What makes a crowd hard, one after the other and all at once.
#[derive(Clone, Copy, Debug, Default)]
struct Hard {
    unequal: bool,
    leftover: bool,
    confused: bool,
    spammers: f64,
}

/// 200 objects in 6 clusters, 67 workers, tasks of `size` objects, `per_object` pair answers on
/// each: clusters of unequal sizes, one of leftovers that nobody groups alike, two that half of the
/// workers do not tell apart, workers who do not look.
fn hard(hard: Hard, size: usize, per_object: usize) -> consilience::Result<(Answers, Partition)> {
    const N: usize = 200;
    const K: usize = 6;
    const WORKERS: usize = 67;
    let mut stream = Seed(1).derive("hard crowd", (size * 1000 + per_object) as u64).stream();
    let weight = |c: usize| if hard.unequal { 0.6_f64.powi(c as i32) } else { 1.0 };
    let total: f64 = (0..K).map(weight).sum();
    let mut truth = Vec::with_capacity(N);
    for c in 0..K {
        let until = (0..=c).map(weight).sum::<f64>() / total;
        truth.resize((until * N as f64).round() as usize, c);
    }
    let mut rows = Vec::new();
    for worker in 0..WORKERS {
        let blind = stream.uniform() < hard.spammers;
        let wrong = 0.25 * (0.3 + 1.4 * stream.uniform());
        let merges = hard.confused && stream.uniform() < 0.5;
        for task in 0..(N * per_object).div_ceil(size * (size - 1) * WORKERS) {
            for item in stream.sample(N, size) {
                let seen = match truth[item] {
                    3 if hard.leftover => 100 + item % 6,
                    1 if merges => 0,
                    other => other,
                };
                let lost = blind || stream.uniform() < wrong;
                let group = if lost { stream.below(K) } else { seen };
                rows.push(GroupAnswer { worker, task, item, group });
            }
        }
    }
    let truth = Partition::from_fn(N, |i| Some(truth[i] as u64))?;
    Ok((Answers::from_groupings(N, &rows)?, truth))
}

fn main() -> Result<(), Box<dyn Error>> {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let sets: Vec<&str> = if chosen.is_empty() {
        CROWDS.into_iter().chain(["product_er"]).collect()
    } else {
        chosen.iter().map(String::as_str).collect()
    };
    let mut worlds = Vec::new();
    for name in sets {
        match crowds::read(name) {
            Ok((answers, truth)) => worlds.push((name.to_string(), answers, truth)),
            Err(e) => println!("{name}: skipped, {e}"),
        }
    }
    if chosen.is_empty() {
        for (n, k, workers, size, wrong) in PLANTED {
            let (answers, truth) = planted(n, k, workers, size, wrong)?;
            worlds.push((
                format!("planted, {workers} workers, {:.0} % wrong", 100.0 * wrong),
                answers,
                truth,
            ));
        }
        let single = [
            Hard::default(),
            Hard { unequal: true, ..Hard::default() },
            Hard { leftover: true, ..Hard::default() },
            Hard { confused: true, ..Hard::default() },
            Hard { spammers: 0.3, ..Hard::default() },
            Hard { unequal: true, leftover: true, confused: true, spammers: 0.3 },
        ];
        for kind in single {
            for (size, per_object) in [(2, 40), (3, 60), (5, 80)] {
                let (answers, truth) = hard(kind, size, per_object)?;
                worlds.push((
                    format!("{kind:?}, tasks of {size}, {per_object} answers"),
                    answers,
                    truth,
                ));
            }
        }
    }
    for (name, answers, truth) in worlds {
        let k = truth.n_clusters();
        println!(
            "{name}: {} objects, k = {k}, {} workers, {} pair answers",
            truth.n_objects(),
            answers.n_workers(),
            answers.n_pair_answers()
        );
        let nmi = |p: &Partition| normalized_mutual_information(&truth, p, Normalizer::Arithmetic);
        for method in METHODS {
            if k > MOST_CLUSTERS && !matches!(method, CrowdMethod::Pairs | CrowdMethod::Auto) {
                continue;
            }
            if method == CrowdMethod::Rmc && truth.n_objects() > LARGEST_COMPLETION {
                continue;
            }
            let start = Instant::now();
            let fit = CrowdClustering::new(k)
                .method(method)
                .alternative(method == CrowdMethod::Auto)
                .fit(&answers, &())?;
            println!(
                "  {:12} {:.3}  ARI {:.3}  F1 {:.3}  {:6.2} s  \
                 {} ({}) {:?} {:?} {} workers named, second answer {}",
                method.name(),
                nmi(&fit.output.partition)?,
                adjusted_rand(&truth, &fit.output.partition)?,
                pair_f(&fit.output.partition, &truth)?,
                start.elapsed().as_secs_f64(),
                fit.output.method.name(),
                fit.report.status.name(),
                fit.report.objective,
                fit.output.evidence,
                fit.output.spammers().count(),
                fit.output.alternative.as_ref().map_or(0.0, |s| s.significance),
            );
        }
        if k > MOST_CLUSTERS {
            continue;
        }
        let blocks = BlockModel::new(k).rates_between_clusters(false);
        for (name, blocks) in [("by cluster", blocks), ("one rate", blocks.rates_by_cluster(false))]
        {
            let plain = CrowdClustering::new(k)
                .method(CrowdMethod::Block)
                .block_model(blocks)
                .alternative(false)
                .fit(&answers, &())?;
            println!("  {name:12} {:.3}", nmi(&plain.output.partition)?);
        }
    }
    Ok(())
}
