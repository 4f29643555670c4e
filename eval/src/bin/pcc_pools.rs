//! PCC beside average linkage on pools of k-means clusterings: the table of docs/pcc.md.
//!
//! `cargo run --release --bin pcc_pools` on the reference pools in `$CONSILIENCE_DATA/pools`
//! (`NAME.npz` with `labels` and `truth`, draws in `golden_NAME.json`). Takes minutes.

#[path = "../../../tests/reference/mod.rs"]
mod reference;

use std::error::Error;

use consilience::bregman::{Pcc, SquaredEuclidean};
use consilience::consensus::EvidenceAccumulation;
use consilience::walk::Pta;
use consilience::{ConsensusFunction, Ensemble};
use reference::{Pool, pools};

/// NMI (max) of PCC-KL, PCC-l2, EAC-AL and PTA-AL at the true number of classes.
fn compare(pool: &Pool, ensemble: &Ensemble) -> consilience::Result<[f64; 4]> {
    let k = pool.clusters;
    let found = [
        Pcc::new(k).consensus(ensemble)?.hard()?,
        Pcc::new(k).divergence(SquaredEuclidean).consensus(ensemble)?.hard()?,
        EvidenceAccumulation::new(k).consensus(ensemble)?,
        Pta::new(k).consensus(ensemble)?,
    ];
    Ok(found.map(|p| pool.nmi(&p)))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("| pool | members | PCC-KL | PCC-l2 | EAC-AL | PTA-AL |\n|---|---|---|---|---|---|");
    for pool in pools(&["MF", "IS", "LS", "PD", "Semeion", "Texture", "VS"]) {
        let name = &pool.name;
        let mut mean = [0.0; 4];
        for columns in &pool.draws {
            let found = compare(&pool, &pool.ensemble(columns))?;
            mean.iter_mut().zip(found).for_each(|(m, f)| *m += f / pool.draws.len() as f64);
        }
        let cells = |m: [f64; 4]| m.map(|v| format!("{v:.3}")).join(" | ");
        println!("| {name} | 10, mean of {} draws | {} |", pool.draws.len(), cells(mean));
        let all: Vec<usize> = (0..pool.labels.ncols()).collect();
        println!(
            "| {name} | all {} | {} |",
            all.len(),
            cells(compare(&pool, &pool.ensemble(&all))?)
        );
    }
    Ok(())
}
