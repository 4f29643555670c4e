//! PCC beside average linkage on pools of k-means clusterings: the table of docs/pcc.md.
//!
//! `cargo run --release --example pcc_pools -- FOLDER`, where the folder holds the reference pools
//! (`NAME.npz` with `labels` and `truth`, draws in `golden_NAME.json`). Takes minutes.

#[path = "../../../tests/reference/mod.rs"]
mod reference;

use std::error::Error;
use std::path::Path;

use consilience::{ConsensusFunction, Ensemble, EvidenceAccumulation, Pcc, Pta, SquaredEuclidean};
use reference::Pool;

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
    let Some(folder) = std::env::args().nth(1) else {
        println!("name the folder of the pools");
        return Ok(());
    };
    println!("| pool | members | PCC-KL | PCC-l2 | EAC-AL | PTA-AL |\n|---|---|---|---|---|---|");
    for name in ["MF", "IS", "LS", "PD", "Semeion", "Texture", "VS"] {
        let pool = Pool::read(Path::new(&folder), name)?;
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
