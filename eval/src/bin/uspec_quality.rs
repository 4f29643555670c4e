//! The quality table of docs/u-senc.md: NMI (larger entropy) of k-means, U-SPEC, U-SENC, and of
//! PTGP and EAC on the same members, mean of the seeds:
//! `cargo run --release --bin uspec_quality -- [SEEDS]` on `.npz` files with arrays
//! `x` and `y` in `$CONSILIENCE_DATA/features`.

use std::path::Path;

use consilience::consensus::{EvidenceAccumulation, USenc};
use consilience::core::BaseClusterer;
use consilience::generate::{Generator, KMeans, Scale, USpec};
use consilience::ndarray::{Array1, Array2, Axis, Ix1, Ix2, OwnedRepr};
use consilience::walk::Ptgp;
use consilience::{ConsensusFunction, Ensemble, Partition, Result, Seed, scores};
use ndarray_npy::NpzReader;

#[path = "../../../tests/reference/shared_data.rs"]
mod shared_data;

/// Most objects for a co-association matrix.
const DENSE: usize = 12_000;

fn read(path: &Path, one_hot: bool) -> Option<(Array2<f32>, Partition)> {
    let mut npz = NpzReader::new(std::fs::File::open(path).ok()?).ok()?;
    let y: Array1<i32> = npz.by_name::<OwnedRepr<i32>, Ix1>("y").ok()?;
    let x = match npz.by_name::<OwnedRepr<u8>, Ix2>("x") {
        Ok(x) => x.mapv(f32::from),
        Err(_) => npz.by_name::<OwnedRepr<f32>, Ix2>("x").ok()?,
    };
    // What is missing is a value of its own.
    let x = x.mapv(|v| if v.is_nan() { 0.0 } else { v });
    let truth = Partition::from_labels(&y.to_vec()).ok()?;
    if !one_hot {
        return Some((x, truth));
    }
    let mut columns = Vec::new();
    for column in x.columns() {
        let mut values: Vec<f32> = column.to_vec();
        values.sort_by(f32::total_cmp);
        values.dedup();
        columns.extend(values.into_iter().map(|v| column.mapv(|c| f32::from(u8::from(c == v)))));
    }
    let views: Vec<_> = columns.iter().map(|c| c.view()).collect();
    Some((consilience::ndarray::stack(Axis(1), &views).ok()?, truth))
}

fn nmi(p: &Partition, truth: &Partition) -> Result<f64> {
    scores::normalized_mutual_information(p, truth, scores::Normalizer::Max)
}

fn main() -> Result<()> {
    let folder = shared_data::folder("features");
    let seeds: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(5);
    println!(
        "| set | k-means | U-SPEC | U-SENC | PTGP | EAC-AL | members |\n\
         |---|---|---|---|---|---|---|"
    );
    for (name, scale, one_hot) in [
        ("segmentation", Scale::ZScore, false),
        ("mfeat_pix", Scale::None, false),
        ("mushrooms", Scale::None, true),
        ("usps", Scale::None, false),
        ("letters", Scale::None, false),
    ] {
        let Some((x, truth)) = read(&folder.join(format!("{name}.npz")), one_hot) else {
            println!("| {name} | not there |");
            continue;
        };
        let k = truth.n_clusters();
        let one = |method: Box<dyn BaseClusterer>, seed: u64| -> Result<f64> {
            let ensemble =
                Generator::boxed(method).members(1).clusters(k..=k).scale(scale).seed(Seed(seed));
            nmi(&ensemble.generate(x.view())?.members()[0], &truth)
        };
        let mut sums = [0.0; 6];
        for seed in 0..seeds {
            let ensemble: Ensemble = Generator::new(USpec::new())
                .members(20)
                .clusters(20..=60)
                .scale(scale)
                .seed(Seed(100 + seed))
                .generate(x.view())?;
            let mean: f64 =
                ensemble.members().iter().map(|m| nmi(m, &truth)).sum::<Result<f64>>()? / 20.0;
            let eac = if x.nrows() <= DENSE {
                nmi(&EvidenceAccumulation::new(k).consensus(&ensemble)?, &truth)?
            } else {
                f64::NAN
            };
            let values = [
                one(Box::new(KMeans::new().restarts(10)), seed)?,
                one(Box::new(USpec::new()), seed)?,
                nmi(&USenc::new(k).seed(Seed(seed)).consensus(&ensemble)?, &truth)?,
                nmi(&Ptgp::new(k).consensus(&ensemble)?, &truth)?,
                eac,
                mean,
            ];
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += value / seeds as f64;
            }
        }
        println!("| {name} | {} |", sums.map(|v| format!("{v:.3}")).join(" | "));
    }
    Ok(())
}
