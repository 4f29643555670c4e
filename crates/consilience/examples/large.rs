//! The two large worlds of the README's table, with wall times and peak memory:
//! `cargo run --release --example large -- objects` (ten million objects, PTA) and
//! `cargo run --release --example large -- microclusters` (100,000 microclusters, PTGP).

use std::time::Instant;

use consilience::{ConsensusFunction, Fit, Microclusters, Partition, Pta, Ptgp};

#[path = "../../../benches/worlds.rs"]
mod worlds;

/// Peak resident memory of this process in MiB, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn report(name: &str, fit: consilience::Result<Fit<Partition>>, start: Instant) {
    match fit {
        Ok(fit) => {
            println!("{name}: {:.2} s, {} clusters", start.elapsed().as_secs_f64(), fit.output.n_clusters());
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
            let n = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(144_000);
            let e = worlds::scattered(n, 10, 50);
            println!("labels: {} MiB, peak before: {:?} MiB", e.label_bytes() >> 20, peak());
            let start = Instant::now();
            report("PTGP", Ptgp::new(20).fit(&e, &()), start);
        }
        _ => println!("name a world: objects, microclusters"),
    }
}
