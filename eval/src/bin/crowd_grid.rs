//! Crowd methods on a grid of generated crowds: NMI (arithmetic mean) of each, and how far below
//! the best of them `auto` is.
//!
//! `cargo run --release --bin crowd_grid [EVERY [FIRST]]`: every so-many-th of 360 worlds, from the
//! given one on. The rates' shrinkage and the rule of `auto` were chosen on `7 0` and confirmed on
//! `7 3`.

use consilience::crowd::{CrowdClustering, CrowdMethod};
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience_eval::crowd_worlds::{KINDS, make, worlds};

const METHODS: [CrowdMethod; 8] = [
    CrowdMethod::Spectral,
    CrowdMethod::DawidSkene,
    CrowdMethod::LogOdds,
    CrowdMethod::LatentClass,
    CrowdMethod::Bayesian,
    CrowdMethod::Block,
    CrowdMethod::BlockByWorker,
    CrowdMethod::Auto,
];

/// Scores of all worlds that were run.
#[derive(Default)]
struct Table {
    rows: Vec<(usize, Vec<f64>)>,
}

impl Table {
    fn print(&self, name: &str, of: impl Fn(usize) -> bool) {
        let rows: Vec<&Vec<f64>> =
            self.rows.iter().filter(|(kind, _)| of(*kind)).map(|(_, scores)| scores).collect();
        if rows.is_empty() {
            return;
        }
        let mean = |m: usize| rows.iter().map(|r| r[m]).sum::<f64>() / rows.len() as f64;
        let auto = METHODS.len() - 1;
        let below = |r: &&Vec<f64>| r.iter().copied().fold(0.0, f64::max) - r[auto];
        let worst = rows.iter().map(below).fold(0.0, f64::max);
        let far = rows.iter().filter(|r| below(r) > 0.03).count();
        let means: Vec<String> = (0..METHODS.len()).map(|m| format!("{:.3}", mean(m))).collect();
        println!("| {name} ({}) | {} | {worst:.3} | {far} |", rows.len(), means.join(" | "));
    }
}

fn main() -> consilience::Result<()> {
    let numbers: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let every = numbers.first().copied().unwrap_or(7).max(1);
    let first = numbers.get(1).copied().unwrap_or(0);
    let mut table = Table::default();
    for (at, world) in worlds().iter().enumerate().skip(first).step_by(every) {
        let (answers, truth) = make(world, at as u64)?;
        let mut scores = Vec::new();
        for method in METHODS {
            let crowd = CrowdClustering::new(world.classes).method(method).alternative(false);
            let found = crowd.cluster(&answers)?;
            scores.push(normalized_mutual_information(&found, &truth, Normalizer::Arithmetic)?);
        }
        let line: Vec<String> = scores.iter().map(|s| format!("{s:.3}")).collect();
        println!("{world:?}: {}", line.join(" "));
        table.rows.push((
            KINDS.iter().position(|k| format!("{k:?}") == format!("{:?}", world.kind)).unwrap_or(0),
            scores,
        ));
    }
    let names: Vec<&str> = METHODS.iter().map(|m| m.name()).collect();
    println!(
        "| workers (worlds) | {} | `auto` below the best, worst | by more than .03 |",
        names.join(" | ")
    );
    for (at, kind) in KINDS.iter().enumerate() {
        table.print(&format!("{kind:?}"), |k| k == at);
    }
    table.print("all", |_| true);
    Ok(())
}
