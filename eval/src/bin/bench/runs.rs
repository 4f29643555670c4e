//! Runs of every method on an ensemble and on parts of it, kept in a file for each ensemble.

use std::collections::BTreeSet;
use std::fs::{OpenOptions, read_dir, read_to_string};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use consilience::consensus::{EcpcsMc, EvidenceAccumulation, Lwea, Lwgp};
use consilience::scores::{Normalizer, adjusted_rand, normalized_mutual_information};
use consilience::trust::Recommended;
use consilience::walk::{Diffusion, Pta, Ptgp};
use consilience::{ConsensusFunction, Ensemble, Partition, Result, Seed};
use serde_json::{Value, json};

use crate::Any;
use crate::groups::{Case, Group};

pub(crate) type Method = Box<dyn ConsensusFunction<Output = Partition>>;

/// Splits of the members into halves.
const SPLITS: u64 = 3;
/// Samples of the objects.
const SAMPLES: u64 = 2;
/// Part of the objects in a sample.
const KEPT: f64 = 0.7;

/// The candidates.
pub(crate) fn methods(k: usize) -> Vec<(&'static str, Method)> {
    vec![
        ("lwea", Box::new(Lwea::new(k))),
        ("eac-al", Box::new(EvidenceAccumulation::new(k))),
        ("pta", Box::new(Pta::new(k))),
        ("ptgp", Box::new(Ptgp::new(k))),
        ("lwgp", Box::new(Lwgp::new(k))),
        ("ecpcs-mc", Box::new(EcpcsMc::new(k))),
        ("diffusion", Box::new(Diffusion::new(k))),
        ("auto", Box::new(Recommended::new(k))),
    ]
}

/// Labels as one character each, from `0`; `.` where there is none.
pub(crate) fn written(p: &Partition) -> String {
    p.iter().map(|l| l.map_or('.', |l| char::from_u32(48 + l as u32).unwrap_or('.'))).collect()
}

/// The labels of a string that [`written`] made.
pub(crate) fn read(text: &str) -> Result<Partition> {
    let labels: Vec<i64> =
        text.chars().map(|c| if c == '.' { -1 } else { i64::from(u32::from(c)) - 48 }).collect();
    Partition::from_labels(&labels)
}

/// The files of all ensembles, by name.
pub(crate) fn files(folder: &Path) -> std::result::Result<Vec<PathBuf>, Any> {
    let mut paths: Vec<PathBuf> = read_dir(folder)?
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl") && !p.ends_with("evidence.jsonl"))
        .collect();
    paths.sort();
    Ok(paths)
}

/// The group and the ensemble of a file.
pub(crate) fn head(path: &Path) -> std::result::Result<(String, Case), Any> {
    let text = read_to_string(path)?;
    let head: Value = serde_json::from_str(text.lines().next().ok_or("an empty file")?)?;
    Ok((head["group"].as_str().unwrap_or("").to_string(), kept(&head)?))
}

/// The ensemble that the first line of a file holds.
fn kept(head: &Value) -> Result<Case> {
    let members = partitions(&head["members"])?;
    Ok(Case {
        ensemble: Ensemble::new(members)?,
        truth: read(head["truth"].as_str().unwrap_or(""))?,
    })
}

/// The partitions of a list of strings.
pub(crate) fn partitions(value: &Value) -> Result<Vec<Partition>> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(read).collect()
}

/// The file of the draw.
fn path(folder: &Path, group: &Group, draw: u64) -> PathBuf {
    folder.join(format!("{}-{draw}.jsonl", group.name.replace(' ', "_")))
}

/// Draws the ensemble where there is no file of it yet.
pub(crate) fn draw(folder: &Path, group: &Group, draw: u64) -> std::result::Result<(), Any> {
    let path = path(folder, group, draw);
    if !read_to_string(&path).unwrap_or_default().is_empty() {
        return Ok(());
    }
    let case = group.case(draw)?;
    let members: Vec<String> = case.ensemble.members().iter().map(written).collect();
    let head = json!({"group": group.name, "draw": draw, "k": case.truth.n_clusters(),
        "truth": written(&case.truth), "members": members});
    Ok(std::fs::write(path, format!("{head}\n"))?)
}

/// Runs what the file of the draw lacks.
pub(crate) fn complete(folder: &Path, group: &Group, draw: u64) -> std::result::Result<(), Any> {
    self::draw(folder, group, draw)?;
    let path = path(folder, group, draw);
    let lines: Vec<Value> = read_to_string(&path)?
        .lines()
        .filter_map(|l| serde_json::from_str::<Value>(l).ok())
        .collect();
    let done: BTreeSet<&str> = lines.iter().filter_map(|v| v["method"].as_str()).collect();
    let case = kept(lines.first().ok_or("an empty file")?)?;
    let k = case.truth.n_clusters();
    let mut file = OpenOptions::new().append(true).open(path)?;
    for (name, method) in methods(k).into_iter().filter(|(name, _)| !done.contains(name)) {
        let line = runs(name, method.as_ref(), &case, draw)
            .map_err(|e| format!("{name} on {} {draw}: {e}", group.name))?;
        file.write_all(format!("{line}\n").as_bytes())?;
    }
    Ok(())
}

/// One method on the ensemble, on halves of its members and on samples of its objects.
fn runs(
    name: &str,
    method: &dyn ConsensusFunction<Output = Partition>,
    case: &Case,
    draw: u64,
) -> Result<Value> {
    let ensemble = &case.ensemble;
    let start = Instant::now();
    let found = method.consensus(ensemble)?;
    let seconds = start.elapsed().as_secs_f64();
    let (n, m) = (ensemble.n_objects(), ensemble.n_members());
    let parts = name != "auto";
    let mut halves = Vec::new();
    for split in 0..if parts { SPLITS } else { 0 } {
        let mut order: Vec<usize> = (0..m).collect();
        Seed(draw).derive("halves", split).stream().shuffle(&mut order);
        for half in [&order[..m / 2], &order[m / 2..]] {
            halves.push(written(&method.consensus(&ensemble.select(half)?)?));
        }
    }
    let mut samples = Vec::new();
    for sample in 0..if parts { SAMPLES } else { 0 } {
        let kept = (n as f64 * KEPT) as usize;
        let objects = Seed(draw).derive("objects", sample).stream().sample(n, kept);
        samples.push(written(&spread(method, ensemble, &objects)?));
    }
    Ok(json!({
        "method": name,
        "nmi": normalized_mutual_information(&found, &case.truth, Normalizer::Max)?,
        "ari": adjusted_rand(&found, &case.truth)?,
        "seconds": seconds,
        "labels": written(&found),
        "halves": halves,
        "samples": samples,
    }))
}

/// The result on some of the objects, as a partition of all of them.
pub(crate) fn spread(
    method: &dyn ConsensusFunction<Output = Partition>,
    ensemble: &Ensemble,
    objects: &[usize],
) -> Result<Partition> {
    let found = method.consensus(&ensemble.select_objects(objects)?)?;
    let mut labels = vec![-1; ensemble.n_objects()];
    for (i, label) in objects.iter().zip(found.to_signed()) {
        labels[*i] = label;
    }
    Partition::from_labels(&labels)
}
