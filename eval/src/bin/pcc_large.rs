//! Probabilistic consensus at size, with wall times and peak memory; one core with
//! RAYON_NUM_THREADS=1: `cargo run --release --bin pcc_large -- kdd` (120,000 objects, 100
//! half-sampled members, 2 million sampled pairs, K = 3, n K line searches; Newton beside it),
//! `... -- microclusters` (all pairs of 3,000 microclusters, K = 10) and `... -- million` (a
//! million objects, 20 million pairs).

use std::time::Instant;

use consilience::bregman::{PairEvidence, Pairs, Pcc, Solver, SquaredEuclidean};
use consilience::{ConsensusFunction, Ensemble, Microclusters, Partition, Seed, scores};
use consilience_eval::worlds::half_sampled;

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

fn kdd(n: usize, members: usize, pairs: f64) {
    let start = Instant::now();
    let (truth, ensemble) = half_sampled(n, members, 3, 0.5);
    println!("ensemble made in {:.2} s, peak {:?} MiB", start.elapsed().as_secs_f64(), peak());
    let share = pairs / (0.5 * n as f64 * (n as f64 - 1.0));
    for (name, l2, solver) in [
        ("line search, l2", true, Solver::LineSearch),
        ("line search, KL", false, Solver::LineSearch),
        ("Newton, l2", true, Solver::Newton),
        ("Newton, KL", false, Solver::Newton),
    ] {
        if n > 500_000 && solver == Solver::LineSearch {
            continue;
        }
        let pcc = Pcc::new(3).solver(solver).restarts(1).pairs(Pairs::Sampled { share });
        let pcc = if l2 { pcc.divergence(SquaredEuclidean) } else { pcc };
        let m = Microclusters::of(&ensemble).unwrap();
        let evidence = PairEvidence::sampled(&m, share, Seed(0), Default::default()).unwrap();
        let cpu = busy();
        pcc.fit_evidence(&evidence, &()).unwrap();
        let cpu = busy() - cpu;
        drop((m, evidence));
        let fit = pcc.fit(&ensemble, &()).unwrap();
        let hard = fit.output.hard().unwrap();
        println!(
            "{name}: objective {:.6e}, {} iterations, {:?}, accuracy {:.4}",
            fit.report.objective.unwrap_or(f64::INFINITY),
            fit.report.iterations,
            fit.report.status,
            scores::accuracy(&hard, &truth).unwrap()
        );
        for (stage, time) in &fit.report.stages {
            println!("  {stage}: {:.3} s", time.as_secs_f64());
        }
        println!("  memberships on given counts: {cpu:.2} s of processor time");
        println!("  {:?}, peak {:?} MiB", fit.report.notes, peak());
    }
}

/// 20 noisy members over 10 planted groups: 3,000 objects, nearly all of them different.
fn microclusters() {
    let n = 3000;
    let mut random = Seed(3).stream();
    let truth: Vec<usize> = (0..n).map(|_| random.below(10)).collect();
    let members = (0..20)
        .map(|_| {
            let label = |&t: &usize| if random.uniform() < 0.25 { random.below(12) } else { t };
            Partition::from_labels(&truth.iter().map(label).collect::<Vec<_>>()).unwrap()
        })
        .collect();
    let ensemble = Ensemble::new(members).unwrap();
    let m = Microclusters::of(&ensemble).unwrap();
    let start = Instant::now();
    let evidence = PairEvidence::all(&m, Default::default()).unwrap();
    println!("counts of {} microclusters: {:.3} s", m.n_nodes(), start.elapsed().as_secs_f64());
    for (name, l2) in [("l2", true), ("KL", false)] {
        let pcc = Pcc::new(10).restarts(1).tolerance(1e-4);
        let pcc = if l2 { pcc.divergence(SquaredEuclidean) } else { pcc };
        let (start, cpu) = (Instant::now(), busy());
        let fit = pcc.fit_evidence(&evidence, &()).unwrap();
        println!(
            "{name}: {:.3} s ({:.2} s of processor time), {} sweeps, gap {:.1e}, objective {:.6e}",
            start.elapsed().as_secs_f64(),
            busy() - cpu,
            fit.report.iterations,
            fit.output.gap,
            fit.output.objective
        );
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("kdd") => kdd(120_000, 100, 2e6),
        Some("million") => kdd(1_000_000, 20, 2e7),
        Some("microclusters") => microclusters(),
        _ => println!("name a world: kdd, microclusters, million"),
    }
}
