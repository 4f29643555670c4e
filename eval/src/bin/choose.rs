//! Which method for which ensemble: the table of the pools' draws in `docs/notes/choosing.md`.
//!
//! `cargo run --release --bin choose -- pools` reads every pool of `$CONSILIENCE_DATA/pools`
//! (`NAME.npz` with `labels` and `truth`, draws in `golden_NAME.json`); `-- features`
//! makes ensembles of its own from the sets in `$CONSILIENCE_DATA/features`, as they are and with
//! classes of geometric sizes, and from Gaussians. Without arguments it shows the choice on two
//! ensembles that it makes up.

#[path = "../../../tests/reference/mod.rs"]
mod reference;

use std::collections::BTreeMap;
use std::path::Path;

use consilience::consensus::{EvidenceAccumulation, Hbgf, Lwea, Lwgp, Qmi};
use consilience::core::Stream;
use consilience::generate::{Generator, KMeans, Scale};
use consilience::ndarray::{Array1, Array2, Axis};
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::trust::{ClusterNumber, Recommended};
use consilience::walk::{Diffusion, Pta, Ptgp};
use consilience::{ConsensusFunction, Ensemble, Partition, Result, Seed};
use ndarray_npy::NpzReader;
use reference::Pool;

type Any = Box<dyn std::error::Error>;

/// Draws per ensemble of our own.
const DRAWS: u64 = 5;

fn methods(
    k: usize,
    seed: Seed,
) -> Vec<(&'static str, Box<dyn ConsensusFunction<Output = Partition>>)> {
    vec![
        ("pta", Box::new(Pta::new(k))),
        ("ptgp", Box::new(Ptgp::new(k).seed(seed))),
        ("lwea", Box::new(Lwea::new(k))),
        ("lwgp", Box::new(Lwgp::new(k).seed(seed))),
        ("hbgf", Box::new(Hbgf::new(k).seed(seed))),
        ("eac-al", Box::new(EvidenceAccumulation::new(k))),
        ("qmi", Box::new(Qmi::new(k).seed(seed))),
        ("diffusion", Box::new(Diffusion::new(k).seed(seed))),
        ("auto", Box::new(Recommended::new(k).seed(seed))),
    ]
}

/// An ensemble with its truth, and the group that it is averaged in.
struct World {
    group: String,
    ensemble: Ensemble,
    truth: Partition,
}

fn pools(folder: &Path) -> std::result::Result<Vec<World>, Any> {
    let mut out = Vec::new();
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .filter_map(|f| Some(f.strip_prefix("golden_")?.strip_suffix(".json")?.to_string()))
        .collect();
    names.sort();
    for name in names {
        let pool = Pool::read(folder, &name)?;
        for columns in &pool.draws {
            let ensemble = pool.ensemble(columns);
            out.push(World { group: name.clone(), ensemble, truth: pool.truth.clone() });
        }
    }
    Ok(out)
}

/// Class numbers of whichever integer type.
fn classes(npz: &mut NpzReader<std::fs::File>, name: &str) -> std::result::Result<Partition, Any> {
    if let Ok(y) = npz.by_name::<ndarray::OwnedRepr<u8>, ndarray::Ix1>(name) {
        return Ok(Partition::from_labels(&y.to_vec())?);
    }
    let y: Array1<i32> = npz.by_name(name)?;
    Ok(Partition::from_labels(&y.to_vec())?)
}

/// Sets of features without missing values, at most 3,000 objects of each.
fn features(folder: &Path) -> std::result::Result<Vec<(String, Array2<f32>, Partition)>, Any> {
    let mut out = Vec::new();
    for name in ["usps", "letters", "mfeat_pix", "segmentation", "yeast", "ecoli", "balance"] {
        let mut npz = NpzReader::new(std::fs::File::open(folder.join(format!("{name}.npz")))?)?;
        let y = classes(&mut npz, "y")?;
        let x: Array2<f32> = match npz.by_name::<ndarray::OwnedRepr<u8>, ndarray::Ix2>("x") {
            Ok(x) => x.mapv(f32::from),
            Err(_) => npz.by_name("x")?,
        };
        out.push((name.to_string(), x, y));
    }
    Ok(out)
}

/// Objects of each class so that class j (in random order) has `ratio^j` of the first one's.
fn geometric(y: &Partition, ratio: f64, cap: usize, s: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..y.n_clusters()).collect();
    s.shuffle(&mut order);
    let first = y.sizes().into_iter().max().unwrap_or(0).min(cap) as f64;
    let mut out = Vec::new();
    for (j, &class) in order.iter().enumerate() {
        let mut own: Vec<usize> =
            (0..y.n_objects()).filter(|&i| y.label(i) == Some(class)).collect();
        s.shuffle(&mut own);
        own.truncate(((first * ratio.powi(j as i32)) as usize).max(12));
        out.extend(own);
    }
    out
}

/// Gaussians of the given shares in six dimensions.
fn gaussians(n: usize, shares: &[f64], apart: f64, s: &mut Stream) -> (Array2<f32>, Partition) {
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for (c, share) in shares.iter().enumerate() {
        let centre: Vec<f64> = (0..6).map(|_| apart * s.normal()).collect();
        let spread = 0.6 + s.uniform();
        for _ in 0..((n as f64 * share) as usize).max(8) {
            rows.extend(centre.iter().map(|m| (m + spread * s.normal()) as f32));
            labels.push(c as i64);
        }
    }
    let x = Array2::from_shape_vec((labels.len(), 6), rows).unwrap_or_default();
    (x, Partition::from_labels(&labels).unwrap_or_else(|e| panic!("{e}")))
}

/// Half of the members on all features, half on a random half of them.
fn members(x: &Array2<f32>, seed: Seed) -> Result<Ensemble> {
    let most = ((x.nrows() as f64).sqrt() / 2.0).min(50.0) as usize;
    let make = |fraction: f64, seed: Seed| {
        Generator::new(KMeans::new())
            .members(5)
            .clusters(2..=most.max(3))
            .scale(Scale::ZScore)
            .feature_fraction(fraction)
            .seed(seed)
            .generate(x.view())
    };
    let (whole, half) = (make(1.0, seed.derive("whole", 0))?, make(0.5, seed.derive("half", 0))?);
    Ensemble::new(whole.members().iter().chain(half.members()).cloned().collect())
}

fn own(folder: &Path) -> std::result::Result<Vec<World>, Any> {
    let mut sets: Vec<(String, Array2<f32>, Partition)> = Vec::new();
    let mut s = Seed(11).stream();
    for (name, x, y) in features(folder)? {
        let mut add = |name: String, chosen: Vec<usize>| -> Result<()> {
            sets.push((name, x.select(Axis(0), &chosen), y.select(&chosen)?));
            Ok(())
        };
        if y.n_clusters() >= 7 && y.n_objects() >= 2000 {
            for ratio in [0.5, 0.7] {
                let cap = if name == "segmentation" { 330 } else { 1500 };
                add(format!("{name} x{ratio}"), geometric(&y, ratio, cap, &mut s))?;
            }
        }
        add(name.clone(), s.sample(y.n_objects(), 3000))?;
    }
    let unequal: [&[f64]; 3] = [
        &[0.9, 0.06, 0.03, 0.01],
        &[0.6, 0.3, 0.05, 0.03, 0.01, 0.01],
        &[0.57, 0.2, 0.2, 0.01, 0.01, 0.01],
    ];
    for (i, shares) in unequal.iter().enumerate() {
        for apart in [1.2, 2.5] {
            let (x, y) = gaussians(2000, shares, apart, &mut s);
            sets.push((format!("gauss {i} x{apart}"), x, y));
        }
    }
    let (x, y) = gaussians(2000, &[0.2; 5], 1.5, &mut s);
    sets.push(("gauss".into(), x, y));
    let mut out = Vec::new();
    for (group, x, truth) in sets {
        for draw in 0..DRAWS {
            let ensemble = members(&x, Seed(5).derive(&group, draw))?;
            out.push(World { group: group.clone(), ensemble, truth: truth.clone() });
        }
    }
    Ok(out)
}

/// Mean NMI (max-normalised, true k) of every method by group; and what the numbers of clusters
/// come to.
fn table(title: &str, worlds: &[World]) -> Result<()> {
    let mut groups: BTreeMap<&str, (usize, Vec<f64>, usize)> = BTreeMap::new();
    let names: Vec<&str> = methods(1, Seed(0)).iter().map(|m| m.0).collect();
    for (i, world) in worlds.iter().enumerate() {
        let k = world.truth.n_clusters();
        let entry = groups.entry(&world.group).or_insert_with(|| (0, vec![0.0; names.len()], 0));
        entry.0 += 1;
        for (sum, (name, method)) in entry.1.iter_mut().zip(methods(k, Seed(i as u64))) {
            let fit = method.fit(&world.ensemble, &())?;
            *sum += normalized_mutual_information(&fit.output, &world.truth, Normalizer::Max)?;
            if name == "auto" && fit.report.notes[0].starts_with("chosen: lwea") {
                entry.2 += 1;
            }
        }
    }
    println!("\n{title}\n\n| | {} | lwea chosen |", names.join(" | "));
    println!("|---|{}", "---|".repeat(names.len() + 1));
    let mut means = vec![0.0; names.len()];
    for (group, (draws, sums, lwea)) in &groups {
        let values: Vec<f64> = sums.iter().map(|s| s / *draws as f64).collect();
        means.iter_mut().zip(&values).for_each(|(m, v)| *m += v / groups.len() as f64);
        let cells: Vec<String> = values.iter().map(|v| format!("{v:.4}")).collect();
        println!("| {group} | {} | {lwea} of {draws} |", cells.join(" | "));
    }
    let cells: Vec<String> = means.iter().map(|v| format!("{v:.4}")).collect();
    println!("| mean | {} | |", cells.join(" | "));
    Ok(())
}

/// What the criteria choose, with the first draw of each group.
fn numbers(worlds: &[World]) -> Result<()> {
    println!(
        "\nNumber of clusters (first draw of each)\n\n\
         | | truth | recommended | eigengap | pac | lifetime | delta-area | directions |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut seen = Vec::new();
    for world in worlds {
        if seen.contains(&&world.group) {
            continue;
        }
        seen.push(&world.group);
        let found = ClusterNumber::new().choose(&world.ensemble)?;
        let cells: Vec<String> = found
            .criteria
            .iter()
            .map(|c| {
                format!("{}{}", c.clusters, if c.warning.is_some() { " (warned)" } else { "" })
            })
            .collect();
        let truth = world.truth.n_clusters();
        println!("| {} | {truth} | {} | {} |", world.group, found.recommended, cells.join(" | "));
    }
    Ok(())
}

fn demonstration() -> Result<()> {
    let mut s = Seed(1).stream();
    for (name, shares) in
        [("equal classes", vec![0.25; 4]), ("unequal classes", vec![0.9, 0.05, 0.03, 0.02])]
    {
        let (x, y) = gaussians(400, &shares, 3.0, &mut s);
        let fit = Recommended::new(4).fit(&members(&x, Seed(2))?, &())?;
        let nmi = normalized_mutual_information(&fit.output, &y, Normalizer::Max)?;
        println!("{name}: NMI {nmi:.3}, {}", fit.report.notes[0]);
    }
    Ok(())
}

fn main() -> std::result::Result<(), Any> {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    if chosen.is_empty() {
        return Ok(demonstration()?);
    }
    for name in chosen {
        let folder = reference::folder(&name);
        let (title, worlds) = match name.as_str() {
            "pools" => ("Reference pools", pools(&folder)?),
            "features" => ("Our own ensembles", own(&folder)?),
            other => return Err(format!("{other}; expected pools or features").into()),
        };
        table(title, &worlds)?;
        numbers(&worlds)?;
    }
    Ok(())
}

#[test]
fn the_choice_is_shown() {
    demonstration().unwrap();
}
