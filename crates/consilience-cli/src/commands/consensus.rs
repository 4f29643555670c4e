//! `consilience consensus`: an ensemble to one clustering.

use std::fmt::Write;
use std::time::Instant;

use consilience::scores::Scores;
use consilience::{ClusterNumber, Diagnostics, Ensemble, Memberships, Seed};
use serde_json::{Value, json};

use super::{read_members, read_truth};
use crate::args::{Consensus, Count};
use crate::failure::{Failure, Outcome};
use crate::files::target::Target;
use crate::files::{self, Labelled};
use crate::methods::{self, Combined, METHODS};
use crate::output::{self, Lines};
use crate::terminal::Terminal;

/// Columns that are hardly base clusterings: what a trailing comma or a column of row numbers reads
/// as.
fn suspicious(ensemble: &Ensemble) -> Vec<String> {
    let n = ensemble.n_objects();
    let members = ensemble.members().iter().enumerate();
    members
        .filter_map(|(u, member)| match member.n_clusters() {
            0 => Some(format!("member {u} labels no object: is there a trailing comma?")),
            k if k == n && n > 2 => {
                Some(format!("member {u} puts every object apart: is it a row number?"))
            }
            _ => None,
        })
        .collect()
}

/// Runs the command.
pub(crate) fn run(args: &Consensus, terminal: &Terminal) -> Outcome<()> {
    if args.list {
        return list(args, terminal);
    }
    let (Some(path), Some(name)) = (&args.ensemble, &args.method) else {
        return Err(Failure::bad("expected ENSEMBLE and --method NAME, or --list; see --help"));
    };
    // Everything that can be refused at once is, before the first byte is read.
    let method = methods::find(name)?;
    let seed = Seed(args.common.seed);
    let build = |clusters| method.build(clusters, &args.params, seed);
    // Found from the ensemble, or known already.
    let ready = match args.clusters {
        Some(Count::Auto) => None,
        Some(Count::Fixed(k)) => Some(build(Some(k))?),
        None => Some(build(None)?),
    };
    if ready.is_none() {
        build(Some(1))?;
    }
    if args.output.is_some() && args.output == args.soft {
        return Err(Failure::bad("-o and --soft name the same file; expected two"));
    }
    let mut labels_to = args.output.as_deref().map(Target::table).transpose()?;
    let mut soft_to = args.soft.as_deref().map(Target::table).transpose()?;

    let start = Instant::now();
    let ensemble = read_members(path, &args.columns, terminal)?;
    let truth = read_truth(args.truth.as_deref(), ensemble.n_objects(), terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let function = match ready {
        Some(function) => function,
        None => {
            let table = ClusterNumber::new().seed(seed).fit(&ensemble, terminal)?.output;
            table.notes.iter().for_each(|note| terminal.note(note));
            build(Some(table.recommended))?
        }
    };
    let Combined { partition: consensus, memberships, mut report } =
        function.run(&ensemble, terminal)?;
    let total = start.elapsed();
    report.notes.extend(suspicious(&ensemble));
    report.notes.iter().for_each(|note| terminal.note(note));

    if let Some(target) = &mut labels_to {
        files::write_labels(target, &Labelled::One(&consensus), terminal)?;
    }
    if let Some(target) = &mut soft_to {
        if memberships.is_none() {
            terminal.note(format!("{name} gives a hard clustering: its memberships are 0 or 1"));
        }
        let memberships = memberships.unwrap_or_else(|| Memberships::from(&consensus));
        files::write_floats(target, memberships.values(), terminal)?;
    }
    for target in [labels_to, soft_to].into_iter().flatten() {
        target.commit()?;
    }

    let trust = args.diagnose.then(|| Diagnostics::of(&ensemble, &consensus)).transpose()?;
    let scores = truth.map(|truth| Scores::compare(&consensus, &truth)).transpose()?;
    if args.common.json {
        let mut object = json!({
            "method": name,
            "n": ensemble.n_objects(),
            "members": ensemble.n_members(),
            "microclusters": report.microclusters,
            "clusters": consensus.n_clusters(),
            "status": report.status.name(),
            "iterations": report.iterations,
            "objective": report.objective,
            "error_bound": report.error_bound,
            "seconds": output::seconds(read, &report, total),
        });
        if report.error_bound.is_none() {
            object.as_object_mut().map(|o| o.remove("error_bound"));
        }
        if let Some(trust) = &trust {
            object["diagnostics"] = diagnostics_json(trust);
        }
        if let Some(scores) = scores {
            object["scores"] = output::scores_json(&scores.entries());
        }
        return output::print_json(object, &args.common, terminal);
    }
    let mut lines = Lines::default();
    lines
        .add("method", name)
        .add("objects", ensemble.n_objects())
        .add("members", ensemble.n_members());
    if let Some(microclusters) = report.microclusters {
        lines.add("microclusters", microclusters);
    }
    lines.add("clusters", consensus.n_clusters()).add("status", report.status.name());
    if let Some(bound) = report.error_bound {
        lines.add("error bound", format!("{bound:.2e}"));
    }
    lines.add("seconds", format!("{} (and {} to read)", output::time(total), output::time(read)));
    if let Some(trust) = &trust {
        diagnostics_lines(trust, &mut lines);
    }
    if let Some(scores) = scores {
        lines.scores(&scores.entries());
    }
    for (what, path) in [("labels", &args.output), ("memberships", &args.soft)] {
        if let Some(path) = path {
            lines.add(what, path.display());
        }
    }
    lines.print(terminal)
}

/// How far the result can be trusted; without the confidence of every object, which `--soft`
/// methods write.
fn diagnostics_json(trust: &Diagnostics) -> Value {
    let clusters: Vec<Value> = trust
        .clusters
        .iter()
        .map(|c| {
            json!({
                "objects": c.objects,
                "density": c.density,
                "nearest": c.nearest.map(|(cluster, _)| cluster),
                "nearest_density": c.nearest.map(|(_, density)| density),
                "stability": c.stability,
                "confidence": c.confidence,
            })
        })
        .collect();
    let members: Vec<Value> = trust
        .members
        .iter()
        .map(|m| json!({ "clusters": m.clusters, "agreement": m.agreement, "company": m.agreement_with_others }))
        .collect();
    json!({
        "anmi": trust.anmi,
        "diversity": trust.diversity,
        "confidence": mean(&trust.confidence),
        "dissenters": trust.dissenters,
        "clusters": clusters,
        "members": members,
        "sentences": trust.sentences,
    })
}

fn diagnostics_lines(trust: &Diagnostics, lines: &mut Lines) {
    lines.add("agreement with the members", format!("{:.4}", trust.anmi));
    if let Some(diversity) = trust.diversity {
        lines.add("diversity among them", format!("{diversity:.4}"));
    }
    lines.add("mean confidence", format!("{:.4}", mean(&trust.confidence)));
    for (c, cluster) in trust.clusters.iter().enumerate() {
        let stability = cluster.stability.map_or("none".to_owned(), |s| format!("{s:.2}"));
        lines.add(
            format!("cluster {c}"),
            format!(
                "{} objects, confidence {:.2}, stability {stability}",
                cluster.objects, cluster.confidence
            ),
        );
    }
    for sentence in &trust.sentences {
        lines.add("", sentence);
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn list(args: &Consensus, terminal: &Terminal) -> Outcome<()> {
    if args.common.json {
        let methods: Vec<Value> = METHODS
            .iter()
            .map(|m| json!({ "name": m.name, "about": m.about, "params": m.params, "paper": m.paper }))
            .collect();
        return output::print_json(json!({ "methods": methods }), &args.common, terminal);
    }
    let mut text = String::new();
    for method in METHODS {
        let mut about = method.about.to_owned();
        if !method.params.is_empty() {
            let _ = write!(about, " ({})", method.params.join(", "));
        }
        let _ = writeln!(text, "{:10} {about}. {}", method.name, method.paper);
    }
    output::print(&text)
}
