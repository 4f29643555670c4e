//! ECMC on the pools: seconds, iterations, rank, certified gap, NMI.
//!
//! `cargo run --release --bin ecmc_speed [POOL ...]` takes the first draw of ten members of each
//! pool of `$CONSILIENCE_DATA/pools`.

#[path = "../../../tests/reference/mod.rs"]
mod reference;

use std::time::Instant;

use consilience::completion::EcmcAl;
use consilience::consensus::EvidenceAccumulation;
use consilience::{ConsensusFunction, Microclusters};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let names = if asked.is_empty() { vec!["IS", "MF", "VS", "Semeion"] } else { asked };
    println!("| pool | objects | microclusters | seconds | iterations | gap | NMI | EAC-AL |");
    println!("|---|---|---|---|---|---|---|---|");
    for pool in reference::pools(&names) {
        let ensemble = pool.ensemble(&pool.draws[0]);
        let nodes = Microclusters::of(&ensemble)?.n_nodes();
        let start = Instant::now();
        let fit = EcmcAl::new(pool.clusters).fit(&ensemble, &())?;
        let seconds = start.elapsed().as_secs_f64();
        let plain = EvidenceAccumulation::new(pool.clusters).consensus(&ensemble)?;
        println!(
            "| {} | {} | {nodes} | {seconds:.2} | {} | {:.1e} | {:.3} | {:.3} |",
            pool.name,
            ensemble.n_objects(),
            fit.report.iterations,
            fit.report.error_bound.unwrap_or(0.0),
            pool.nmi(&fit.output),
            pool.nmi(&plain),
        );
    }
    Ok(())
}
