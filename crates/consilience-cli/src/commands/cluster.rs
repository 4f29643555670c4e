//! `consilience cluster`: features and a few labels or pairs to one clustering.

use std::time::Instant;

use consilience::scores::Scores;
use consilience::{
    ConstrainedClusterer, Constraints, CopKMeans, Dca, Fpc, Itml, Lmnn, MetricLearner, Mmc,
    MpckMeans, Nnc, Partition, PckMeans, Rca, RsdDiagonal, RsdFull, Seed, SeededKMeans,
    SideInformation, UnderMetric,
};
use serde_json::json;

use super::read_truth;
use crate::args::Cluster;
use crate::failure::{Failure, Outcome};
use crate::files::target::Target;
use crate::files::{self, Labelled};
use crate::output::{self, Lines};
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Cluster, terminal: &Terminal) -> Outcome<()> {
    clusterer(&args.method, 1, Seed(0))?;
    let metric = metric(&args.metric)?;
    if args.predict.is_some() != args.predicted.is_some() {
        return Err(Failure::bad(
            "--predict FEATURES and --predicted LABELS go together; expected both",
        ));
    }
    let mut labels_to = args.output.as_deref().map(Target::table).transpose()?;
    let mut predicted_to = args.predicted.as_deref().map(Target::table).transpose()?;

    let start = Instant::now();
    let table = files::read_features(&args.features, terminal)?;
    let features = table.view();
    let n = features.n_objects();
    let (side, classes) = side_information(args, n, terminal)?;
    let clusters = args.clusters.or(classes).ok_or_else(|| {
        Failure::bad(
            "expected --clusters K: without --labels nothing says how many clusters there are",
        )
    })?;
    let new =
        args.predict.as_deref().map(|path| files::read_features(path, terminal)).transpose()?;
    let truth = read_truth(args.truth.as_deref(), n, terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let clusterer = clusterer(&args.method, clusters, Seed(args.common.seed))?;
    let fit = match metric {
        Some(metric) => UnderMetric::new(metric, clusterer).fit(features, &side, terminal)?,
        None => clusterer.fit(features, &side, terminal)?,
    };
    let total = start.elapsed();
    let (clustering, report) = (fit.output, fit.report);
    report.notes.iter().for_each(|note| terminal.note(note));
    let partition = &clustering.partition;
    if let Some(target) = &mut labels_to {
        files::write_labels(target, &Labelled::One(partition), terminal)?;
    }
    if let (Some(target), Some(new)) = (&mut predicted_to, &new) {
        // In the numbers of the clustering, which a partition of the new objects alone would lose.
        let labels = clustering.assign(new.view())?;
        files::write_labels(target, &Labelled::Numbers(&labels), terminal)?;
    }
    for target in [labels_to, predicted_to].into_iter().flatten() {
        target.commit()?;
    }
    let scores = truth.map(|truth| Scores::compare(partition, &truth)).transpose()?;
    let violated = violated(&side, partition);
    if args.common.json {
        let mut object = json!({
            "method": args.method,
            "metric": args.metric,
            "n": n,
            "features": features.n_features(),
            "labelled": side.labelled_objects().len(),
            "must_links": side.n_must_links(),
            "cannot_links": side.n_cannot_links(),
            "violated": violated,
            "clusters": partition.n_clusters(),
            "status": report.status.name(),
            "iterations": report.iterations,
            "objective": report.objective,
            "seconds": { "read": read.as_secs_f64(), "total": total.as_secs_f64() },
        });
        if let Some(scores) = scores {
            object["scores"] = output::scores_json(&scores.entries());
        }
        return output::print_json(object, &args.common, terminal);
    }
    let mut lines = Lines::default();
    lines
        .add("method", &args.method)
        .add("metric", &args.metric)
        .add("objects", n)
        .add("constraints", side.n_must_links() + side.n_cannot_links())
        .add("violated", violated)
        .add("clusters", partition.n_clusters())
        .add("status", report.status.name())
        .add("seconds", format!("{} (and {} to read)", output::time(total), output::time(read)));
    if let Some(scores) = scores {
        lines.scores(&scores.entries());
    }
    for (what, path) in [("labels", &args.output), ("new labels", &args.predicted)] {
        if let Some(path) = path {
            lines.add(what, path.display());
        }
    }
    lines.print(terminal)
}

/// What is known beforehand, and into how many classes the labels fall.
fn side_information(
    args: &Cluster,
    objects: usize,
    terminal: &Terminal,
) -> Outcome<(SideInformation, Option<usize>)> {
    let labels =
        args.labels.as_deref().map(|path| files::read_labels(path, terminal)).transpose()?;
    if let (Some(labels), Some(path)) = (&labels, &args.labels)
        && labels.n_objects() != objects
    {
        return Err(Failure::Bad(format!(
            "{}: {} rows of labels, expected {objects}, one per object, -1 where it is not known",
            path.display(),
            labels.n_objects()
        )));
    }
    let constraints: Option<Constraints> = args
        .constraints
        .as_deref()
        .map(|path| files::read_constraints(path, objects))
        .transpose()?;
    let classes = labels.as_ref().map(Partition::n_clusters).filter(|&k| k > 0);
    let side = match (labels, constraints) {
        (Some(labels), Some(constraints)) => {
            SideInformation::from_labels_and_constraints(&labels, &constraints)?
        }
        (Some(labels), None) => SideInformation::from_partition(&labels),
        (None, Some(constraints)) => SideInformation::from_constraints(&constraints),
        (None, None) => SideInformation::none(objects),
    };
    Ok((side, classes))
}

/// How many of the pairs known beforehand the clustering puts otherwise.
fn violated(side: &SideInformation, partition: &Partition) -> usize {
    let together = |i, j| partition.label(i).is_some() && partition.label(i) == partition.label(j);
    let split = side.must_links().filter(|&(i, j)| !together(i, j)).count();
    split + side.cannot_links().filter(|&(i, j)| together(i, j)).count()
}

fn clusterer(name: &str, k: usize, seed: Seed) -> Outcome<Box<dyn ConstrainedClusterer>> {
    Ok(match name {
        "fpc" => Box::new(Fpc::new(k).seed(seed)),
        "nnc" => Box::new(Nnc::new(k).seed(seed)),
        "kmeans" => Box::new(SeededKMeans::new(k).seed(seed)),
        "cop-kmeans" => Box::new(CopKMeans::new(k).seed(seed)),
        "pck-means" => Box::new(PckMeans::new(k).seed(seed)),
        "mpck-means" => Box::new(MpckMeans::new(k).seed(seed)),
        _ => {
            return Err(Failure::Bad(format!(
                "--method {name}: unknown; expected one of fpc, nnc, kmeans, cop-kmeans, pck-means, mpck-means"
            )));
        }
    })
}

/// The metric learner; none leaves distances as they are.
fn metric(name: &str) -> Outcome<Option<Box<dyn MetricLearner>>> {
    Ok(Some(match name {
        "euclidean" => return Ok(None),
        "rsd-diagonal" => Box::new(RsdDiagonal::new()),
        "rsd-full" => Box::new(RsdFull::new()),
        "mmc" => Box::new(Mmc::new()),
        "itml" => Box::new(Itml::new()),
        "rca" => Box::new(Rca::new()),
        "dca" => Box::new(Dca::new()),
        "lmnn" => Box::new(Lmnn::new()),
        _ => {
            return Err(Failure::Bad(format!(
                "--metric {name}: unknown; expected one of euclidean, rsd-diagonal, rsd-full, mmc, itml, rca, dca, lmnn"
            )));
        }
    }))
}
