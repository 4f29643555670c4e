//! `consilience generate`: features to an ensemble of base clusterings.

use std::ops::RangeInclusive;
use std::time::Instant;

use consilience::scores::Scores;
use consilience::{
    Agglomerative, BaseClusterer, Generator, KMeans, KernelKMeans, MiniBatchKMeans, Rpcl, Scale,
    Seed, Spectral, USpec,
};
use serde_json::json;

use super::read_truth;
use crate::args::Generate;
use crate::failure::{Failure, Outcome};
use crate::files::target::Target;
use crate::files::{self, Labelled};
use crate::output::{self, Lines};
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Generate, terminal: &Terminal) -> Outcome<()> {
    let mut generator = Generator::boxed(clusterer(&args.method)?)
        .members(args.members)
        .clusters(clusters(&args.clusters)?)
        .scale(scale(&args.scale)?)
        .seed(Seed(args.common.seed));
    if let Some(fraction) = args.feature_fraction {
        generator = generator.feature_fraction(fraction);
    }
    if let Some(fraction) = args.object_fraction {
        generator = generator.object_fraction(fraction);
    }
    let mut target = Target::table(&args.output)?;

    let start = Instant::now();
    let table = files::read_features(&args.features, terminal)?;
    let features = table.view();
    let truth = read_truth(args.truth.as_deref(), features.n_objects(), terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let fit = generator.fit(features, terminal)?;
    let total = start.elapsed();
    let (ensemble, report) = (fit.output, fit.report);
    report.notes.iter().for_each(|note| terminal.note(note));
    files::write_labels(&mut target, &Labelled::All(&ensemble), terminal)?;
    target.commit()?;

    let sizes: Vec<usize> = ensemble.members().iter().map(|m| m.n_clusters()).collect();
    let scores = match &truth {
        None => Vec::new(),
        Some(truth) => ensemble
            .members()
            .iter()
            .map(|member| Scores::compare(member, truth))
            .collect::<consilience::Result<Vec<_>>>()?,
    };
    let mean = output::mean_scores(&scores);
    if args.common.json {
        let mut seconds = serde_json::Map::new();
        seconds.insert("read".into(), json!(read.as_secs_f64()));
        for (stage, time) in &report.stages {
            seconds.insert((*stage).into(), json!(time.as_secs_f64()));
        }
        seconds.insert("total".into(), json!(total.as_secs_f64()));
        let mut object = json!({
            "method": args.method,
            "n": features.n_objects(),
            "features": features.n_features(),
            "members": ensemble.n_members(),
            "clusters": sizes,
            "status": report.status.name(),
            "iterations": report.iterations,
            "seconds": seconds,
        });
        if truth.is_some() {
            object["scores"] = output::scores_json(&mean);
        }
        return output::print_json(object, &args.common, terminal);
    }
    let range = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
    let mut lines = Lines::default();
    lines
        .add("method", &args.method)
        .add("objects", features.n_objects())
        .add("features", features.n_features())
        .add("members", ensemble.n_members())
        .add("clusters", format!("{} to {}", range.0, range.1))
        .add("status", report.status.name())
        .add("seconds", format!("{} (and {} to read)", output::time(total), output::time(read)));
    if truth.is_some() {
        lines.add("", "mean over the members:").scores(&mean);
    }
    lines.add("ensemble", args.output.display()).print(terminal)
}

fn clusterer(name: &str) -> Outcome<Box<dyn BaseClusterer>> {
    Ok(match name {
        "kmeans" => Box::new(KMeans::default()),
        "minibatch" => Box::new(MiniBatchKMeans::default()),
        "kernel-kmeans" => Box::new(KernelKMeans::default()),
        "rpcl" => Box::new(Rpcl::default()),
        "spectral" => Box::new(Spectral::default()),
        "agglomerative" => Box::new(Agglomerative::default()),
        "uspec" => Box::new(USpec::default()),
        _ => {
            return Err(Failure::Bad(format!(
                "--method {name}: unknown; expected one of kmeans, minibatch, kernel-kmeans, rpcl, spectral, agglomerative, uspec"
            )));
        }
    })
}

/// A way to scale features, by the name that the program uses.
pub(super) fn scale(name: &str) -> Outcome<Scale> {
    match name {
        "none" => Ok(Scale::None),
        "minmax" => Ok(Scale::MinMax),
        "zscore" => Ok(Scale::ZScore),
        _ => Err(Failure::Bad(format!(
            "--scale {name}: unknown; expected one of none, minmax, zscore"
        ))),
    }
}

/// `2..50` or `2..=50`, both ends included, or a single number.
fn clusters(text: &str) -> Outcome<RangeInclusive<usize>> {
    let (low, high) = match text.split_once("..") {
        Some((low, high)) => (low, high.strip_prefix('=').unwrap_or(high)),
        None => (text, text),
    };
    match (low.trim().parse(), high.trim().parse()) {
        (Ok(low), Ok(high)) if low <= high => Ok(low..=high),
        _ => Err(Failure::Bad(format!(
            "--clusters {text}: expected a range such as 2..50, or one number"
        ))),
    }
}
