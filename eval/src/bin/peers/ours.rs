//! Our side: loads what a task needs, then runs it once for every line that it reads.

use std::io::{BufRead, Write};
use std::rc::Rc;
use std::time::Instant;

use consilience::consensus::{
    Cspa, EvidenceAccumulation, Hbgf, Hgpa, LeastSquares, Lwea, Lwgp, Mcla, MixtureModel, Qmi, Weac,
};
use consilience::constrained::{CopKMeans, MpckMeans, PckMeans};
use consilience::core::{BaseClusterer, ConstrainedClusterer};
use consilience::crowd::{Answers, CrowdClustering, CrowdMethod, PairAnswer};
use consilience::generate::{Agglomerative, MiniBatchKMeans, Spectral};
use consilience::metric::{Itml, Lmnn, MetricLearner, Mmc, Rca};
use consilience::ndarray::{Array1, Array2};
use consilience::num::Float;
use consilience::num::kmeans::{KMeansOptions, from_centres, sparse};
use consilience::scores::{Normalizer, adjusted_rand, normalized_mutual_information};
use consilience::walk::Pta;
use consilience::{
    ConsensusFunction, Constraints, Ensemble, Features, Link, Linkage, Partition, Seed,
    SideInformation,
};

use crate::Failure;

/// Computes the score of what a run found; its time is not measured.
type Score = Box<dyn FnOnce() -> Result<f64, Failure>>;
/// What is timed.
type Run = Box<dyn FnMut() -> Result<Score, Failure>>;

/// Answers every line of the standard input with seconds, bytes and score.
pub(crate) fn serve(task: &str, folder: &str) -> Result<(), Failure> {
    let mut run = task_of(task, folder)?;
    let mut out = std::io::stdout();
    writeln!(out, "{{\"ready\": true}}")?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        line?;
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let before = memory("VmRSS");
        let begin = Instant::now();
        let score = run()?;
        let seconds = begin.elapsed().as_secs_f64();
        let rose = memory("VmHWM").saturating_sub(before);
        let score = score()?;
        writeln!(out, "{{\"seconds\": {seconds}, \"bytes\": {rose}, \"score\": {score}}}")?;
        out.flush()?;
    }
    Ok(())
}

/// A field of the process's status, in bytes.
fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn table(folder: &str, name: &str) -> Result<Array2<f64>, Failure> {
    Ok(ndarray_npy::read_npy(format!("{folder}/{name}.npy"))?)
}

fn links(folder: &str, name: &str) -> Result<Array2<i64>, Failure> {
    Ok(ndarray_npy::read_npy(format!("{folder}/{name}.npy"))?)
}

fn labels(folder: &str, name: &str) -> Result<Vec<i64>, Failure> {
    let labels: Array1<i64> = ndarray_npy::read_npy(format!("{folder}/{name}.npy"))?;
    Ok(labels.to_vec())
}

/// The adjusted Rand index with the classes.
fn ari(found: Partition, truth: &Partition) -> Score {
    let truth = truth.clone();
    Box::new(move || Ok(adjusted_rand(&found, &truth)?))
}

fn task_of(task: &str, folder: &str) -> Result<Run, Failure> {
    match task {
        "kmeans-f64" => kmeans(table(folder, "x")?, table(folder, "start")?),
        "kmeans-f32" => {
            let single = |x: Array2<f64>| x.mapv(|v| v as f32);
            kmeans(single(table(folder, "x")?), single(table(folder, "start")?))
        }
        "kmeans-sparse" => sparse_kmeans(folder),
        "mini-batch" => mini_batch(folder),
        "spectral" => clusterer(folder, Box::new(Spectral::new().nearest(10))),
        "tree-average" => clusterer(folder, Box::new(Agglomerative::new(Linkage::Average))),
        "tree-ward" => clusterer(folder, Box::new(Agglomerative::new(Linkage::Ward))),
        "scores" => scores(folder),
        "itml" => metric(folder, Box::new(Itml::new()), false),
        "mmc" => metric(folder, Box::new(Mmc::new()), false),
        "mmc-diagonal" => metric(folder, Box::new(Mmc::new().diagonal(true)), false),
        "rca" => metric(folder, Box::new(Rca::new()), true),
        "lmnn" => metric(folder, Box::new(Lmnn::new()), true),
        "pck-means" | "mpck-means" | "cop-kmeans" => constrained(folder, task),
        "dawid-skene" => dawid_skene(folder),
        _ => consensus(folder, task),
    }
}

fn kmeans<F: Float>(x: Array2<F>, start: Array2<F>) -> Result<Run, Failure> {
    let options = KMeansOptions::new(start.nrows()).max_iterations(10);
    Ok(Box::new(move || {
        let inertia = from_centres(x.view(), None, start.view(), &options, &())?.inertia;
        Ok(Box::new(move || Ok(inertia)))
    }))
}

fn sparse_kmeans(folder: &str) -> Result<Run, Failure> {
    let x = consilience_io::read_features(format!("{folder}/x.npz"))?;
    let start = table(folder, "start")?;
    let options = KMeansOptions::new(start.nrows()).max_iterations(10);
    Ok(Box::new(move || {
        let Features::Sparse64(x) = x.view() else { return Err("no sparse doubles".into()) };
        let rows = sparse::ScaledRows::new(x)?;
        let inertia = sparse::from_centres(&rows, None, start.view(), &options, &())?.inertia;
        Ok(Box::new(move || Ok(inertia)))
    }))
}

/// The sum of squared distances to the means of the clusters.
fn inertia(x: &Array2<f64>, found: &Partition) -> f64 {
    let mut sums = Array2::<f64>::zeros((found.n_clusters(), x.ncols()));
    let mut squares = 0.0;
    for (row, label) in x.rows().into_iter().zip(found.iter()) {
        if let Some(c) = label {
            sums.row_mut(c).zip_mut_with(&row, |s, v| *s += v);
            squares += row.dot(&row);
        }
    }
    let sizes = found.sizes();
    let means = sums.rows().into_iter().zip(sizes).map(|(s, n)| s.dot(&s) / n as f64);
    squares - means.sum::<f64>()
}

fn mini_batch(folder: &str) -> Result<Run, Failure> {
    let x = Rc::new(table(folder, "x")?);
    let method = MiniBatchKMeans::new().batch(1024).batches(100);
    Ok(Box::new(move || {
        let found = method.fit(x.view().into(), 20, Seed(0), &())?.output;
        let x = x.clone();
        Ok(Box::new(move || Ok(inertia(&x, &found))))
    }))
}

fn clusterer(folder: &str, method: Box<dyn BaseClusterer>) -> Result<Run, Failure> {
    let (x, truth) = (table(folder, "x")?, Partition::from_labels(&labels(folder, "y")?)?);
    Ok(Box::new(move || {
        let found = method.fit(x.view().into(), 10, Seed(0), &())?.output;
        Ok(ari(found, &truth))
    }))
}

fn scores(folder: &str) -> Result<Run, Failure> {
    let (a, b) = (labels(folder, "a")?, labels(folder, "b")?);
    Ok(Box::new(move || {
        let (a, b) = (Partition::from_labels(&a)?, Partition::from_labels(&b)?);
        let sum =
            adjusted_rand(&a, &b)? + normalized_mutual_information(&a, &b, Normalizer::Arithmetic)?;
        Ok(Box::new(move || Ok(sum)))
    }))
}

fn consensus(folder: &str, task: &str) -> Result<Run, Failure> {
    let members = links(folder, "labels")?;
    let truth = Partition::from_labels(&labels(folder, "y")?)?;
    let method: Box<dyn ConsensusFunction<Output = Partition>> = match task {
        "eac" => Box::new(EvidenceAccumulation::new(10)),
        "weac" => Box::new(Weac::new(10)),
        "lwea" => Box::new(Lwea::new(10)),
        "lwgp" => Box::new(Lwgp::new(10)),
        "qmi" => Box::new(Qmi::new(10)),
        "mixture" => Box::new(MixtureModel::new(10)),
        "cspa" => Box::new(Cspa::new(10)),
        "hgpa" => Box::new(Hgpa::new(10)),
        "mcla" => Box::new(Mcla::new(10)),
        "hbgf" => Box::new(Hbgf::new(10)),
        "pta" => Box::new(Pta::new(10)),
        "least-squares" => return least_squares(members, truth),
        _ => return Err(format!("no task {task}").into()),
    };
    Ok(Box::new(move || {
        let found = method.consensus(&Ensemble::from_array(members.view())?)?;
        Ok(ari(found, &truth))
    }))
}

fn least_squares(members: Array2<i64>, truth: Partition) -> Result<Run, Failure> {
    Ok(Box::new(move || {
        let ensemble = Ensemble::from_array(members.view())?;
        Ok(ari(LeastSquares::new(10).consensus(&ensemble)?.hard()?, &truth))
    }))
}

/// Share of unseen (must-link, cannot-link) couples of which the cannot-link is longer.
fn ranked(z: &Array2<f64>, must: &Array2<i64>, cannot: &Array2<i64>) -> f64 {
    let far = |pairs: &Array2<i64>| -> Vec<f64> {
        let length = |p: consilience::ndarray::ArrayView1<'_, i64>| {
            let apart = &z.row(p[0] as usize) - &z.row(p[1] as usize);
            apart.dot(&apart)
        };
        pairs.rows().into_iter().map(length).collect()
    };
    let (must, cannot) = (far(must), far(cannot));
    let right = cannot.iter().map(|c| must.iter().filter(|m| *m < c).count()).sum::<usize>();
    right as f64 / (must.len() * cannot.len()) as f64
}

fn metric(folder: &str, learner: Box<dyn MetricLearner>, labelled: bool) -> Result<Run, Failure> {
    let x = Rc::new(table(folder, "x")?);
    let held = Rc::new((links(folder, "held_must")?, links(folder, "held_cannot")?));
    let side = if labelled {
        SideInformation::from_labels(&labels(folder, "labels")?)?
    } else {
        let mut constraints = Constraints::new(x.nrows())?;
        for (name, link) in [("must", Link::Must), ("cannot", Link::Cannot)] {
            for p in links(folder, name)?.rows() {
                constraints.add(p[0] as usize, p[1] as usize, link)?;
            }
        }
        SideInformation::from_constraints(&constraints)
    };
    Ok(Box::new(move || {
        let map = learner.fit(x.view().into(), &side, &())?.output;
        let (x, held) = (x.clone(), held.clone());
        Ok(Box::new(move || Ok(ranked(&map.apply(x.view())?, &held.0, &held.1))))
    }))
}

fn constrained(folder: &str, task: &str) -> Result<Run, Failure> {
    let (x, truth) = (table(folder, "x")?, Partition::from_labels(&labels(folder, "y")?)?);
    let side = SideInformation::from_labels(&labels(folder, "labels")?)?;
    let k = truth.n_clusters();
    let method: Box<dyn ConstrainedClusterer> = match task {
        "pck-means" => Box::new(PckMeans::new(k)),
        "mpck-means" => Box::new(MpckMeans::new(k)),
        _ => Box::new(CopKMeans::new(k)),
    };
    Ok(Box::new(move || {
        let found = method.fit(x.view().into(), &side, &())?.output.partition;
        Ok(ari(found, &truth))
    }))
}

fn dawid_skene(folder: &str) -> Result<Run, Failure> {
    let said = links(folder, "answers")?;
    let truth = Partition::from_labels(&labels(folder, "y")?)?;
    let at = |v: i64| v as usize;
    let rows: Vec<PairAnswer> = said
        .rows()
        .into_iter()
        .map(|r| PairAnswer { worker: at(r[0]), i: at(r[1]), j: at(r[2]), same: r[3] == 1 })
        .collect();
    let method = CrowdClustering::new(6).method(CrowdMethod::DawidSkene);
    Ok(Box::new(move || {
        let answers = Answers::from_pairs(truth.n_objects(), &rows)?;
        Ok(ari(method.cluster(&answers)?, &truth))
    }))
}
