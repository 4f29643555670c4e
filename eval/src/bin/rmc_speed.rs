//! Robust completion at the thesis's sizes: time, iterations, rank and certified gap.
//!
//! `cargo run --release --bin rmc_speed [N C ...]`. Answers are planted: k clusters, each pair
//! known with probability 0.13, a share of the known wrong. 1.3 is the default C; beyond, ranks are
//! in the hundreds.

use std::time::Instant;

use consilience::Seed;
use consilience::completion::{ObservedPairs, Penalty, RobustCompletion};

fn main() -> consilience::Result<()> {
    let arguments: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let (n, factors) = match arguments.split_first() {
        Some((&n, factors)) if !factors.is_empty() => (n as usize, factors.to_vec()),
        Some((&n, _)) => (n as usize, vec![1.3]),
        None => (1_000, vec![1.0, 1.3]),
    };
    let clusters = if n == 1_000 { 13 } else { 7 };
    for wrong in [0.05, 0.2] {
        let mut stream = Seed(1).derive("answers", 0).stream();
        let mut known = Vec::new();
        for i in 0..n {
            known.push((i, i, 1.0));
            for j in 0..i {
                if stream.uniform() < 0.13 {
                    let same = (i % clusters == j % clusters) != (stream.uniform() < wrong);
                    known.push((i, j, f64::from(u8::from(same))));
                }
            }
        }
        let observed = ObservedPairs::new(n, &known)?;
        for &c in &factors {
            let start = Instant::now();
            let fit = RobustCompletion::new().penalty(Penalty::Scaled(c)).fit(&observed, &())?;
            println!(
                "n = {n}, {clusters} clusters, {:.0} % wrong, c = {c}: {:.2} s, \
                 {} iterations, rank {}, gap {:.1e}, {}",
                100.0 * wrong,
                start.elapsed().as_secs_f64(),
                fit.report.iterations,
                fit.output.rank(),
                fit.output.gap,
                fit.report.status.name(),
            );
        }
    }
    Ok(())
}
