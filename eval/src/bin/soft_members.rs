//! The tables of docs/soft-members.md: NMI (arithmetic mean) and ARI of consensus functions on the
//! memberships of Gaussian mixtures or fuzzy c-means, and on the most probable clusters of the very
//! same members: `cargo run --release --bin soft_members -- [SEEDS]` on `.npz` files with arrays
//! `x` and `y` in `$CONSILIENCE_DATA/features`.

use std::path::Path;

use consilience::catalogue::{self, Settings};
use consilience::generate::{FuzzyCMeans, GaussianMixture, Generator, Scale};
use consilience::ndarray::{Array1, Array2, Ix1, Ix2, OwnedRepr};
use consilience::{Ensemble, Partition, Result, Seed, scores};
use ndarray_npy::NpzReader;

#[path = "../../../tests/reference/shared_data.rs"]
mod shared_data;

/// Sets of numbers (no categories), each of at most 1,500 objects.
const SETS: [&str; 5] = ["balance", "ecoli", "hepatitis", "ionosphere", "yeast"];
const METHODS: [&str; 14] = [
    "eac-al",
    "weac-al",
    "lwea",
    "ecpcs-hc",
    "ecpcs-mc",
    "cspa",
    "mcla",
    "hbgf",
    "lwgp",
    "pta-al",
    "ptgp",
    "diffusion",
    "voting",
    "least-squares",
];

fn read(path: &Path) -> Option<(Array2<f32>, Partition)> {
    let mut npz = NpzReader::new(std::fs::File::open(path).ok()?).ok()?;
    let y: Array1<i32> = npz.by_name::<OwnedRepr<i32>, Ix1>("y").ok()?;
    let x = match npz.by_name::<OwnedRepr<u8>, Ix2>("x") {
        Ok(x) => x.mapv(f32::from),
        Err(_) => npz.by_name::<OwnedRepr<f32>, Ix2>("x").ok()?,
    };
    // What is missing is a value of its own.
    let x = x.mapv(|v| if v.is_nan() { 0.0 } else { v });
    Some((x, Partition::from_labels(&y.to_vec()).ok()?))
}

/// (NMI, ARI) of a method.
fn score(name: &str, k: usize, ensemble: &Ensemble, truth: &Partition) -> Result<[f64; 2]> {
    let method = catalogue::by_name(name)?.build(&Settings::new(k))?;
    let found = method.consensus(ensemble)?;
    let nmi = scores::normalized_mutual_information(&found, truth, scores::Normalizer::Arithmetic)?;
    Ok([nmi, scores::adjusted_rand(&found, truth)?])
}

/// Sums of [NMI, ARI] of soft and of hard members.
type Sums = [[f64; 2]; 2];

fn line(name: &str, sums: &Sums, count: f64) {
    let [soft, hard] = sums.map(|s| s.map(|v| v / count));
    println!(
        "| {name} | {:.3} / {:.3} | {:.3} / {:.3} | {:+.3} / {:+.3} |",
        soft[0],
        soft[1],
        hard[0],
        hard[1],
        soft[0] - hard[0],
        soft[1] - hard[1]
    );
}

fn main() -> Result<()> {
    let folder = shared_data::folder("features");
    let seeds: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(5);
    let head = "| soft NMI / ARI | hard | difference |\n|---|---|---|---|";
    for generator in ["gaussian-mixture", "fuzzy-c-means"] {
        for few in [true, false] {
            let mut by_method = vec![Sums::default(); METHODS.len()];
            let mut by_set = vec![Sums::default(); SETS.len()];
            for (s, set) in SETS.iter().enumerate() {
                let Some((x, truth)) = read(&folder.join(format!("{set}.npz"))) else {
                    continue;
                };
                let k = truth.n_clusters();
                for seed in 0..seeds {
                    let members = match generator {
                        "gaussian-mixture" => Generator::new(GaussianMixture::new()),
                        _ => Generator::new(FuzzyCMeans::new()),
                    };
                    let range = if few { 2..=k + 2 } else { 2 * k..=4 * k };
                    let soft = members
                        .members(20)
                        .clusters(range)
                        .feature_fraction(0.7)
                        .scale(Scale::ZScore)
                        .seed(Seed(seed))
                        .generate(x.view())?;
                    let hard = soft.hardened();
                    for (m, method) in METHODS.iter().enumerate() {
                        for (kind, ensemble) in [&soft, &hard].into_iter().enumerate() {
                            for (at, v) in
                                score(method, k, ensemble, &truth)?.into_iter().enumerate()
                            {
                                by_method[m][kind][at] += v;
                                by_set[s][kind][at] += v;
                            }
                        }
                    }
                }
            }
            let clusters = if few { "2 to k + 2" } else { "2 k to 4 k" };
            println!("\n{generator}, members of {clusters} clusters\n\n| method {head}");
            let runs = (SETS.len() as u64 * seeds) as f64;
            METHODS.iter().zip(&by_method).for_each(|(name, sums)| line(name, sums, runs));
            println!("\n| set {head}");
            let runs = (METHODS.len() as u64 * seeds) as f64;
            SETS.iter().zip(&by_set).for_each(|(name, sums)| line(name, sums, runs));
        }
    }
    Ok(())
}
