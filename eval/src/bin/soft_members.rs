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
#[path = "../../../tests/reference/soft_methods.rs"]
mod soft_methods;

/// Sets of numbers (no categories), each of at most 1,500 objects.
const SETS: [&str; 5] = ["balance", "ecoli", "hepatitis", "ionosphere", "yeast"];

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

/// Sums of [NMI, ARI] of soft and of hard members, and how many there are.
#[derive(Clone, Default)]
struct Sums {
    scores: [[f64; 2]; 2],
    runs: f64,
}

impl Sums {
    fn add(&mut self, scores: [[f64; 2]; 2]) {
        self.runs += 1.0;
        let pairs = self.scores.as_flattened_mut().iter_mut().zip(scores.as_flattened());
        pairs.for_each(|(sum, score)| *sum += score);
    }

    fn line(&self, name: &str) {
        let [soft, hard] = self.scores.map(|s| s.map(|v| v / self.runs));
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
}

fn members(
    generator: Generator,
    x: &Array2<f32>,
    few: bool,
    k: usize,
    seed: u64,
) -> Result<Ensemble> {
    let range = if few { 2..=k + 2 } else { 2 * k..=4 * k };
    let generator = generator.members(20).clusters(range).feature_fraction(0.7);
    generator.scale(Scale::ZScore).seed(Seed(seed)).generate(x.view())
}

/// The tables of one generator, with few clusters per member or many.
fn tables(name: &str, make: fn() -> Generator, few: bool, seeds: u64) -> Result<()> {
    let folder = shared_data::folder("features");
    let mut by_method = vec![Sums::default(); soft_methods::METHODS.len()];
    let mut by_set = vec![Sums::default(); SETS.len()];
    for (set, sums) in SETS.iter().zip(&mut by_set) {
        let Some((x, truth)) = read(&folder.join(format!("{set}.npz"))) else {
            eprintln!("{set} is missing");
            continue;
        };
        let k = truth.n_clusters();
        for seed in 0..seeds {
            let soft = members(make(), &x, few, k, seed)?;
            let hard = soft.hardened();
            for (method, of_method) in soft_methods::METHODS.iter().zip(&mut by_method) {
                let scores = [score(method, k, &soft, &truth)?, score(method, k, &hard, &truth)?];
                of_method.add(scores);
                sums.add(scores);
            }
        }
    }
    let clusters = if few { "2 to k + 2" } else { "2 k to 4 k" };
    let head = "| soft NMI / ARI | hard | difference |\n|---|---|---|---|";
    println!("\n{name}, members of {clusters} clusters\n\n| method {head}");
    soft_methods::METHODS.iter().zip(&by_method).for_each(|(name, sums)| sums.line(name));
    println!("\n| set {head}");
    SETS.iter().zip(&by_set).for_each(|(name, sums)| sums.line(name));
    Ok(())
}

fn main() -> Result<()> {
    let seeds: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(5);
    for few in [true, false] {
        tables("Gaussian mixtures", || Generator::new(GaussianMixture::new()), few, seeds)?;
        tables("Fuzzy c-means", || Generator::new(FuzzyCMeans::new()), few, seeds)?;
    }
    Ok(())
}
