//! The paper's second ensemble, several algorithms with few clusters each, on feature sets: PCC
//! beside other consensus functions. `cargo run --release --bin pcc_uci -- [SEEDS]` on files
//! `NAME.npz` with arrays `x` (n x d) and `y` (classes) in `$CONSILIENCE_DATA/features`. Prints the
//! table of docs/pcc.md.

use std::path::Path;

use consilience::bregman::{Pcc, SquaredEuclidean};
use consilience::consensus::{Cspa, EvidenceAccumulation, Hbgf, Lwea, MixtureModel, Qmi};
use consilience::core::BaseClusterer;
use consilience::generate::{Agglomerative, KMeans, Spectral};
use consilience::ndarray::{Array1, Array2, Ix1, Ix2, OwnedRepr};
use consilience::walk::{Pta, Ptgp};
use consilience::{ConsensusFunction, Ensemble, Linkage, Partition, Seed, scores};
use ndarray_npy::NpzReader;

#[path = "../../../tests/reference/shared_data.rs"]
mod shared_data;

/// Features standardised by column, missing values at the mean; classes.
fn read(path: &Path) -> Option<(Array2<f64>, Partition)> {
    let mut npz = NpzReader::new(std::fs::File::open(path).ok()?).ok()?;
    let mut x: Array2<f64> = match npz.by_name::<OwnedRepr<f32>, Ix2>("x") {
        Ok(x) => x.mapv(f64::from),
        Err(_) => npz.by_name::<OwnedRepr<u8>, Ix2>("x").ok()?.mapv(f64::from),
    };
    let y: Array1<i32> = npz.by_name::<OwnedRepr<i32>, Ix1>("y").ok()?;
    for mut column in x.columns_mut() {
        let known: Vec<f64> = column.iter().copied().filter(|v| v.is_finite()).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let spread = (known.iter().map(|v| (v - mean).powi(2)).sum::<f64>()
            / known.len().max(1) as f64)
            .sqrt();
        let scale = if spread > 0.0 { 1.0 / spread } else { 0.0 };
        column.mapv_inplace(|v| if v.is_finite() { (v - mean) * scale } else { 0.0 });
    }
    Some((x, Partition::from_labels(&y.to_vec()).ok()?))
}

/// Six algorithms, each with k - 1 to k + 3 clusters (at least 2).
fn ensemble(x: &Array2<f64>, k: usize, seed: u64) -> Ensemble {
    let linked = |linkage| Box::new(Agglomerative::new(linkage)) as Box<dyn BaseClusterer>;
    let algorithms: [Box<dyn BaseClusterer>; 6] = [
        linked(Linkage::Single),
        linked(Linkage::Average),
        linked(Linkage::Complete),
        linked(Linkage::Ward),
        Box::new(KMeans::new()),
        Box::new(Spectral::new()),
    ];
    let mut members = Vec::new();
    for (a, algorithm) in algorithms.iter().enumerate() {
        for clusters in k.saturating_sub(1).max(2)..=k + 3 {
            let seed = Seed(seed).derive("member", (100 * a + clusters) as u64);
            if let Ok(fit) = algorithm.fit(x.view().into(), clusters, seed, &()) {
                members.push(fit.output);
            }
        }
    }
    Ensemble::new(members).unwrap()
}

fn main() {
    let folder = shared_data::folder("features");
    let seeds: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(3);
    let names = [
        "soybean_small",
        "promoters",
        "hepatitis",
        "ecoli",
        "ionosphere",
        "voting",
        "balance",
        "credit",
        "yeast",
        "segmentation",
    ];
    let methods = [
        "PCC-KL", "PCC-l2", "EAC-AL", "EAC-SL", "CSPA", "HBGF", "MM", "QMI", "PTA-AL", "PTGP",
        "LWEA",
    ];
    println!(
        "| set | n | k | {} |\n|---|---|---|{}",
        methods.join(" | "),
        "---|".repeat(methods.len())
    );
    let (mut sums, mut wins, mut sets) = ([0.0; 11], [0; 11], 0.0);
    for name in names {
        let Some((x, truth)) = read(&folder.join(format!("{name}.npz"))) else {
            continue;
        };
        let k = truth.n_clusters();
        let mut mean = [0.0; 11];
        for seed in 0..seeds {
            let e = ensemble(&x, k, seed);
            let soft = |l2: bool| {
                let p = Pcc::new(k).seed(Seed(seed));
                let p = if l2 { p.divergence(SquaredEuclidean) } else { p };
                p.consensus(&e).and_then(|m| m.hard())
            };
            let found = [
                soft(false),
                soft(true),
                EvidenceAccumulation::new(k).consensus(&e),
                EvidenceAccumulation::new(k).linkage(Linkage::Single).consensus(&e),
                Cspa::new(k).seed(Seed(seed)).consensus(&e),
                Hbgf::new(k).seed(Seed(seed)).consensus(&e),
                MixtureModel::new(k).seed(Seed(seed)).consensus(&e),
                Qmi::new(k).seed(Seed(seed)).consensus(&e),
                Pta::new(k).consensus(&e),
                Ptgp::new(k).seed(Seed(seed)).consensus(&e),
                Lwea::new(k).consensus(&e),
            ];
            for (m, p) in mean.iter_mut().zip(found) {
                *m += scores::accuracy(&p.unwrap(), &truth).unwrap() / seeds as f64;
            }
        }
        let best = mean.iter().fold(0.0f64, |b, &m| b.max(m));
        let cells: Vec<String> = mean.iter().map(|m| format!("{m:.3}")).collect();
        println!("| {name} | {} | {k} | {} |", x.nrows(), cells.join(" | "));
        for m in 0..methods.len() {
            sums[m] += mean[m];
            wins[m] += usize::from(mean[m] >= best - 5e-4);
        }
        sets += 1.0;
    }
    let cells: Vec<String> = sums.iter().map(|s| format!("{:.3}", s / sets)).collect();
    println!("| mean | | | {} |", cells.join(" | "));
    let cells: Vec<String> = wins.iter().map(usize::to_string).collect();
    println!("| best on | | | {} |", cells.join(" | "));
}
