//! The large worlds of docs/speed.md, with wall times and peak memory:
//! `cargo run --release --bin large -- objects` (ten million objects, PTA),
//! `cargo run --release --bin large -- microclusters` (100,000 microclusters, PTGP),
//! `cargo run --release --bin large -- error` (its error on a smaller copy) and
//! `cargo run --release --bin large -- members` (50 k-means members of 100,000 x 64).

use std::time::Instant;

use consilience::generate::{Generator, KMeans};
use consilience::ndarray::Array2;
use consilience::walk::{Pta, Ptgp};
use consilience::{ConsensusFunction, Fit, Microclusters, Partition, Seed};

#[path = "../../../benches/worlds.rs"]
mod worlds;

/// Peak resident memory of this process in MiB, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

/// Seconds of processor time of this process, at the usual 100 ticks a second; 0 where nobody
/// tells.
fn busy() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn report(name: &str, fit: consilience::Result<Fit<Partition>>, start: Instant) {
    match fit {
        Ok(fit) => {
            println!(
                "{name}: {:.2} s, {} clusters",
                start.elapsed().as_secs_f64(),
                fit.output.n_clusters()
            );
            for (stage, time) in fit.report.stages {
                println!("  {stage}: {:.2} s", time.as_secs_f64());
            }
            println!("  microclusters: {:?}", fit.report.microclusters.unwrap_or(0));
            if let Some(bound) = fit.report.error_bound {
                println!("  bound on the relative error of a similarity: {bound:.2e}");
            }
        }
        Err(e) => println!("{name}: {e}"),
    }
    println!("  peak memory: {:?} MiB", peak());
}

fn main() {
    let which = std::env::args().nth(1).unwrap_or_default();
    match which.as_str() {
        "objects" => {
            let e = worlds::copies(10_000_000, 20, 1000);
            println!("labels: {} MiB, peak before: {:?} MiB", e.label_bytes() >> 20, peak());
            let start = Instant::now();
            let nodes = Microclusters::of(&e).map(|m| m.n_nodes());
            println!("microclusters alone: {:.2} s {nodes:?}", start.elapsed().as_secs_f64());
            let start = Instant::now();
            report("PTA-AL", Pta::new(10).fit(&e, &()), start);
        }
        "microclusters" => {
            let n = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(151_000);
            let e = worlds::scattered(n, 10, 50);
            println!("labels: {} MiB, peak before: {:?} MiB", e.label_bytes() >> 20, peak());
            let start = Instant::now();
            report("PTGP", Ptgp::new(20).fit(&e, &()), start);
        }
        "error" => {
            let nodes = Microclusters::of(&worlds::scattered(9_000, 10, 50)).unwrap();
            let [dense, thin] = [usize::MAX, 0]
                .map(|limit| Ptgp::new(20).dense_limit(limit).bipartite(&nodes).unwrap());
            let (mut worst, mut sum) = (0.0, 0.0);
            for (dense, thin) in dense.weights.rows().into_iter().zip(thin.weights.rows()) {
                let most = dense.iter().fold(0.0, |most, &d| f64::max(most, d));
                let error = dense.iter().zip(thin).map(|(d, t)| (d - t).abs() / most);
                let error = error.fold(0.0, f64::max);
                worst = f64::max(worst, error);
                sum += error / nodes.n_nodes() as f64;
            }
            println!(
                "{} microclusters: error of a row, relative to its largest entry: {worst:.1e} at \
                 most, {sum:.1e} on average; bound {:.1e}",
                nodes.n_nodes(),
                thin.error_bound.unwrap_or(0.0)
            );
        }
        "members" => {
            let mut s = Seed(4).stream();
            let x =
                Array2::from_shape_fn((100_000, 64), |(i, _)| (i % 30) as f64 / 5.0 + s.normal());
            println!("data: {} MiB, peak before: {:?} MiB", (x.len() * 8) >> 20, peak());
            let start = (Instant::now(), busy());
            let e = Generator::new(KMeans::default()).members(50).seed(Seed(1)).generate(x.view());
            let (wall, busy) = (start.0.elapsed().as_secs_f64(), busy() - start.1);
            println!("50 members: {wall:.2} s wall, {:.2} cores busy, {}", busy / wall, e.is_ok());
            println!("  peak memory: {:?} MiB", peak());
        }
        _ => println!("name a world: objects, microclusters, error, members"),
    }
}
