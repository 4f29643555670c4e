//! U-SENC from end to end on shapes in the plane, with wall times, NMI and peak memory:
//! `cargo run --release --bin usenc -- 1000000` (objects; 20,000 where none are given), then
//! optionally the shape (`moons`, `rings` or `smile`) and the number of members.

use std::f64::consts::PI;
use std::time::Instant;

use consilience::consensus::USenc;
use consilience::core::BaseClusterer;
use consilience::generate::{Generator, USpec};
use consilience::ndarray::Array2;
use consilience::{ConsensusFunction, Partition, Result, Seed, scores};

/// Points of a shape and the part of it that each belongs to.
fn shape(name: &str, n: usize) -> Option<(Array2<f32>, Partition)> {
    let parts = match name {
        "moons" => 2,
        "rings" => 3,
        "smile" => 4,
        _ => return None,
    };
    let mut s = Seed(11).stream();
    let mut x = Array2::zeros((n, 2));
    for i in 0..n {
        let turn = s.uniform();
        let (at, noise) = match (name, i % parts) {
            ("moons", 0) => ([(PI * turn).cos(), (PI * turn).sin()], 0.1),
            ("moons", _) => ([1.0 - (PI * turn).cos(), 0.4 - (PI * turn).sin()], 0.1),
            ("rings", part) => {
                let radius = 1.0 + part as f64;
                ([radius * (2.0 * PI * turn).cos(), radius * (2.0 * PI * turn).sin()], 0.1)
            }
            // A face, two eyes, and a mouth below them.
            (_, 0) => ([3.0 * (2.0 * PI * turn).cos(), 3.0 * (2.0 * PI * turn).sin()], 0.1),
            (_, 3) => (
                [1.6 * (PI * (1.15 + 0.7 * turn)).cos(), 1.6 * (PI * (1.15 + 0.7 * turn)).sin()],
                0.1,
            ),
            (_, eye) => ([[-1.1, 1.1][eye - 1], 1.0], 0.25),
        };
        for j in 0..2 {
            x[[i, j]] = (at[j] + noise * s.normal()) as f32;
        }
    }
    Some((x, Partition::from_fn(n, |i| Some((i % parts) as u64)).ok()?))
}

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

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let n = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let name = arguments.next().unwrap_or_else(|| "smile".into());
    let members = arguments.next().and_then(|m| m.parse().ok()).unwrap_or(20);
    let Some((x, truth)) = shape(&name, n) else {
        println!("shapes: moons, rings, smile");
        return Ok(());
    };
    println!("{name}: {n} objects, {members} members, peak memory of the data {:?} MiB", peak());

    let start = (Instant::now(), busy());
    let generator = Generator::new(USpec::new().restarts(1)).members(members).clusters(20..=60);
    let ensemble = generator.seed(Seed(1)).generate(x.view())?;
    println!(
        "  members: {:.2} s, {:.2} s of processors",
        start.0.elapsed().as_secs_f64(),
        busy() - start.1
    );

    let start_of_consensus = Instant::now();
    let found = USenc::new(truth.n_clusters()).fit(&ensemble, &())?;
    println!("  consensus: {:.2} s", start_of_consensus.elapsed().as_secs_f64());
    for (stage, time) in &found.report.stages {
        println!("    {stage}: {:.2} s", time.as_secs_f64());
    }
    println!(
        "  all: {:.2} s, {:.2} s of processors, peak memory {:?} MiB",
        start.0.elapsed().as_secs_f64(),
        busy() - start.1,
        peak()
    );
    let nmi =
        |p: &Partition| scores::normalized_mutual_information(p, &truth, scores::Normalizer::Max);
    println!("  NMI {:.4}, {} clusters", nmi(&found.output)?, found.output.n_clusters());
    let alone = USpec::new().fit(x.view().into(), truth.n_clusters(), Seed(1), &())?;
    println!("  one U-SPEC: NMI {:.4}", nmi(&alone.output)?);
    Ok(())
}
