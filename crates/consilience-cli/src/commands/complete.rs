//! `consilience complete`: features and pairs known beforehand to one clustering, by matrix
//! completion.

use std::time::Instant;

use consilience::scores::Scores;
use consilience::{
    CompletedClustering, Features, Fit, Link, Mccc, Observer, Rdml, Seed, SideInformation,
};
use serde_json::json;

use super::{read_truth, violated};
use crate::args::Complete;
use crate::failure::{Failure, Outcome};
use crate::files::target::Target;
use crate::files::{self, Labelled};
use crate::output::{self, Lines};
use crate::terminal::Terminal;

/// The methods.
#[derive(Clone, Copy)]
enum Method {
    Mccc,
    Rdml,
}

/// Runs the command.
pub(crate) fn run(args: &Complete, terminal: &Terminal) -> Outcome<()> {
    let method = method(&args.method)?;
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
    let constraints = files::read_constraints(&args.constraints, n)?;
    let new =
        args.predict.as_deref().map(|path| files::read_features(path, terminal)).transpose()?;
    let truth = read_truth(args.truth.as_deref(), n, terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let side = SideInformation::from_constraints(&constraints);
    let fit = method.fit(args, features, &side, terminal)?;
    let total = start.elapsed();
    let (CompletedClustering { clustering, similarity, .. }, report) = (fit.output, fit.report);
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
    let must = constraints.iter().filter(|p| p.link == Link::Must).count();
    let (split, joined) = violated(&constraints, partition);
    let violated = split + joined;
    if args.common.json {
        let mut object = json!({
            "method": args.method,
            "n": n,
            "features": features.n_features(),
            "must_links": must,
            "cannot_links": constraints.len() - must,
            "violated": violated,
            "clusters": partition.n_clusters(),
            "basis": similarity.basis().map(|basis| basis.name()),
            "eigenvectors": similarity.eigenvectors().unwrap_or(0),
            "loss_weight": similarity.loss_weight(),
            "rank": similarity.rank(),
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
        .add("objects", n)
        .add("constraints", constraints.len())
        .add("violated", violated)
        .add("clusters", partition.n_clusters())
        .add("rank", similarity.rank())
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

fn method(name: &str) -> Outcome<Method> {
    match name {
        "mccc" => Ok(Method::Mccc),
        "rdml" => Ok(Method::Rdml),
        _ => Err(Failure::Bad(format!("--method {name}: unknown; expected one of mccc, rdml"))),
    }
}

impl Method {
    fn fit(
        self,
        args: &Complete,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Outcome<Fit<CompletedClustering>> {
        let seed = Seed(args.common.seed);
        Ok(match self {
            Method::Mccc => {
                Mccc::new(args.clusters).seed(seed).fit_completed(features, side, observer)?
            }
            Method::Rdml => {
                Rdml::new(args.clusters).seed(seed).fit_completed(features, side, observer)?
            }
        })
    }
}
