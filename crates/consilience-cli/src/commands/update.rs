//! `consilience update`: a consensus that follows constraints, batch by batch.

use std::path::Path;
use std::time::Instant;

use consilience::scores::Scores;
use consilience::{
    AdditiveUpdate, CrossValidation, Ensemble, ExactUpdate, Fit, KMeans, LinkEvidence,
    MemberGrowth, MetricRule, MultiplicativeUpdate, Partition, Questions, Report, Seed,
    UpdateReport, UpdateRule, Updater, UpdaterSetup, Violations, relabelled,
};
use serde_json::{Value, json};

use super::{generate, read_truth, violated};
use crate::args::Update;
use crate::failure::{Failure, Outcome};
use crate::files::target::Target;
use crate::files::{self, Labelled};
use crate::output::{self, Lines};
use crate::terminal::Terminal;

/// What a batch did.
struct Done {
    name: String,
    constraints: usize,
    report: UpdateReport,
    seconds: f64,
}

/// How labels are read out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadOut {
    Metric,
    Consensus,
    KMeans,
    Rounding,
}

/// Runs the command.
pub(crate) fn run(args: &Update, terminal: &Terminal) -> Outcome<()> {
    let seed = Seed(args.common.seed);
    let metric = args.rule.as_deref().map(|name| name == "metric");
    let rule = args.rule.as_deref().map(rule).transpose()?.flatten();
    let read_out = args.read_out.as_deref().map(read_out).transpose()?;
    let scale = generate::scale(&args.scale)?;
    let mut labels_to = args.output.as_deref().map(Target::table).transpose()?;
    let mut soft_to = args.soft.as_deref().map(Target::table).transpose()?;
    let mut state_to = args.state.as_deref().map(Target::file).transpose()?;

    let start = Instant::now();
    let ensemble = files::read_ensemble(&args.ensemble, terminal)?;
    let batches =
        args.constraints.as_deref().map(files::read_batches).transpose()?.unwrap_or_default();
    let truth = read_truth(args.truth.as_deref(), ensemble.n_objects(), terminal)?;
    let features = match &args.features {
        Some(path) => {
            let x = scale
                .scaled(files::read_features(path, terminal)?.view())
                .map_err(|error| Failure::from(error).within(path.display()))?;
            let (rows, n) = (x.nrows(), ensemble.n_objects());
            if rows != n {
                let told = format!("{}: {rows} rows; expected {n}, one per object", path.display());
                return Err(Failure::Bad(told));
            }
            Some(x)
        }
        None => None,
    };
    let since = args.since.as_deref().map(|path| files::read_labels(path, terminal)).transpose()?;
    let stored = args.state.as_deref().map(stored).transpose()?.flatten();
    let read = start.elapsed();

    let start = Instant::now();
    let resumed = stored.is_some();
    let mut updater = open(args, ensemble, rule, stored, terminal)?;
    // A stored metric says that it is what the state is read out by.
    let metric = metric.unwrap_or(!resumed || updater.metric().is_some());
    let read_out = read_out.unwrap_or(if metric { ReadOut::Metric } else { ReadOut::Consensus });
    if features.is_some() && read_out != ReadOut::Metric {
        return Err(Failure::bad(
            "--features: members are grown for a metric to read out; expected --rule and --read-out metric",
        ));
    }
    if read_out == ReadOut::Metric {
        if !metric {
            return Err(Failure::bad(
                "--read-out metric: the rule is another; expected --rule metric",
            ));
        }
        if updater.metric().is_none() {
            updater.set_metric_rule(MetricRule::new(updater.n_clusters()).seed(seed))?;
        }
        updater.open_metric(terminal)?;
    }
    let aligned = start.elapsed();
    let mut done = Vec::new();
    for (name, pairs) in batches {
        let start = Instant::now();
        let report = updater.update_observed(&pairs, terminal).map_err(|error| {
            let place = args.constraints.as_deref().unwrap_or(Path::new("")).display();
            let failure = Failure::from(error);
            if name.is_empty() {
                failure.within(place)
            } else {
                failure.within(format!("{place}: batch {name}"))
            }
        })?;
        done.push(Done {
            name,
            constraints: pairs.len(),
            report,
            seconds: start.elapsed().as_secs_f64(),
        });
    }
    let start_growing = Instant::now();
    if let Some(x) = features.filter(|_| !updater.constraints().is_empty()) {
        // Without a share of the weights: those are of the members that were given, with or without
        // growth.
        updater.grow(
            x.view().into(),
            &MemberGrowth::new(KMeans::new()).seed(seed),
            0.0,
            terminal,
        )?;
    }
    let growing = start_growing.elapsed();
    let given =
        updater.metric().map_or(updater.ensemble().n_members(), |metric| metric.n_members());
    let grown = updater.ensemble().n_members() - given;
    let start_reading = Instant::now();
    let Labels { fit, validation } = labels(&mut updater, read_out, seed, terminal)?;
    let (partition, report) = (fit.output, fit.report);
    report.notes.iter().for_each(|note| terminal.note(note));
    let reading_out = start_reading.elapsed();
    let total = start.elapsed();
    let questions = if args.ask > 0 { Some(updater.next_questions(args.ask, seed)?) } else { None };
    let changed = since.map(|before| relabelled(&before, &partition)).transpose()?;

    if let Some(target) = &mut labels_to {
        files::write_labels(target, &Labelled::One(&partition), terminal)?;
    }
    if let Some(target) = &mut soft_to {
        files::write_floats(target, updater.by_weights().memberships()?.values(), terminal)?;
    }
    if let Some(target) = &mut state_to {
        target.write(updater.to_bytes())?;
    }
    for target in [labels_to, soft_to, state_to].into_iter().flatten() {
        target.commit()?;
    }

    let scores = truth.map(|truth| Scores::compare(&partition, &truth)).transpose()?;
    let (must, cannot) = violated(updater.constraints(), &partition);
    let name = if metric { "metric" } else { updater.by_weights().rule().name() };
    if args.common.json {
        let gamma = updater.by_weights().weights();
        let support: Vec<Value> = updater
            .by_weights()
            .support()
            .iter()
            .map(|&u| json!({ "member": u, "weight": gamma[u] }))
            .collect();
        let mut object = json!({
            "method": name,
            "n": updater.ensemble().n_objects(),
            "members": given,
            "grown": grown,
            "clusters": partition.n_clusters(),
            "resumed": resumed,
            "status": report.status.name(),
            "iterations": report.iterations,
            "objective": report.objective,
            "batches": done.iter().map(batch_json).collect::<Vec<_>>(),
            "constraints": updater.constraints().len(),
            "support": support,
            "violated": { "must": must, "cannot": cannot },
            "violated_by_weights": violations_json(&updater.by_weights().violations()),
            "seconds": {
                "read": read.as_secs_f64(),
                "align": aligned.as_secs_f64(),
                "update": done.iter().fold(0.0, |sum, d| sum + d.seconds),
                "grow": growing.as_secs_f64(),
                "read_out": reading_out.as_secs_f64(),
                "total": total.as_secs_f64(),
            },
        });
        if let Some(validation) = &validation {
            object["reading"] = json!(validation.chosen.name());
            object["evidence"] = evidence_json(validation);
        }
        if let Some(changed) = changed {
            object["changed"] = json!(changed);
        }
        if let Some(questions) = questions {
            object["ask"] = questions_json(&questions);
        }
        if let Some(scores) = scores {
            object["scores"] = output::scores_json(&scores.entries());
        }
        return output::print_json(object, &args.common, terminal);
    }
    let mut lines = Lines::default();
    lines
        .add("rule", name)
        .add("objects", updater.ensemble().n_objects())
        .add(
            "members",
            format!(
                "{given} and {grown} grown, {} with weight",
                updater.by_weights().support().len()
            ),
        )
        .add("clusters", partition.n_clusters());
    for d in &done {
        lines.add(
            if d.name.is_empty() { "batch".to_owned() } else { format!("batch {}", d.name) },
            format!(
                "{} constraints, {} of them new, violated {} before and {} after, {:.2} ms",
                d.constraints,
                d.report.new_constraints,
                d.report.before.total(),
                d.report.after.total(),
                d.seconds * 1e3
            ),
        );
    }
    if let Some(validation) = &validation {
        lines.add("read out", validation.chosen.name());
    }
    lines
        .add("constraints", updater.constraints().len())
        .add("violated", must + cannot)
        .add("status", report.status.name())
        .add("seconds", format!("{} (and {} to read)", output::time(total), output::time(read)));
    if let Some(changed) = &changed {
        lines.add("changed", format!("{} objects", changed.len()));
    }
    if let Some(questions) = &questions {
        for pair in &questions.pairs {
            let asked = format!(
                "{} and {}, together with probability {:.2}",
                pair.i, pair.j, pair.together
            );
            lines.add("ask about", asked);
        }
        for object in &questions.objects {
            lines.add("uncertain", format!("{}, margin {:.2}", object.object, object.margin));
        }
    }
    if let Some(scores) = scores {
        lines.scores(&scores.entries());
    }
    for (what, path) in
        [("labels", &args.output), ("memberships", &args.soft), ("state", &args.state)]
    {
        if let Some(path) = path {
            lines.add(what, path.display());
        }
    }
    lines.print(terminal)
}

/// A clustering, and under the metric the cross-validation that chose it.
struct Labels {
    fit: Fit<Partition>,
    validation: Option<CrossValidation>,
}

/// The present clustering.
fn labels(updater: &mut Updater, how: ReadOut, seed: Seed, terminal: &Terminal) -> Outcome<Labels> {
    let fit = match how {
        ReadOut::Metric => {
            let read = updater.read_out(terminal)?;
            let partition = read.output.partition(updater.ensemble(), terminal)?;
            return Ok(Labels {
                fit: Fit::new(partition, read.report),
                validation: Some(*read.output.cross_validation()),
            });
        }
        ReadOut::Consensus => updater.consensus(updater.n_clusters(), seed, terminal)?,
        ReadOut::KMeans => updater.by_weights().partition_by_kmeans(seed, terminal)?,
        ReadOut::Rounding => Fit::new(updater.by_weights().partition()?, Report::default()),
    };
    Ok(Labels { fit, validation: None })
}

/// The stored state, if there is one yet.
fn stored(path: &Path) -> Outcome<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::from(error).within(path.display())),
    }
}

/// A new updater, or the stored one.
fn open(
    args: &Update,
    ensemble: Ensemble,
    rule: Option<UpdateRule>,
    stored: Option<Vec<u8>>,
    terminal: &Terminal,
) -> Outcome<Updater> {
    let Some(bytes) = stored else {
        let clusters = args.clusters.ok_or_else(|| {
            Failure::bad(
                "expected --clusters K: there is no stored state that would say how many clusters there are",
            )
        })?;
        let setup = UpdaterSetup::new(clusters).rule(rule.unwrap_or_default());
        return Ok(setup.updater_observed(ensemble, terminal)?);
    };
    let place = args.state.as_deref().unwrap_or(Path::new("")).display();
    let mut updater = Updater::from_bytes(&bytes, ensemble)
        .map_err(|error| Failure::from(error).within(&place))?;
    if let Some(k) = args.clusters.filter(|&k| k != updater.n_clusters()) {
        return Err(Failure::Bad(format!(
            "--clusters {k}: {place} is of {} clusters",
            updater.n_clusters()
        )));
    }
    if let Some(rule) = rule {
        updater.set_rule(rule)?;
    }
    Ok(updater)
}

/// How weights follow constraints; under the metric they do so by the default rule.
fn rule(name: &str) -> Outcome<Option<UpdateRule>> {
    Ok(Some(match name {
        "metric" => return Ok(None),
        "exact" => ExactUpdate::default().into(),
        "additive" => AdditiveUpdate::default().into(),
        "multiplicative" => MultiplicativeUpdate::default().into(),
        _ => {
            return Err(Failure::Bad(format!(
                "--rule {name}: unknown; expected one of metric, exact, additive, multiplicative"
            )));
        }
    }))
}

fn read_out(name: &str) -> Outcome<ReadOut> {
    Ok(match name {
        "metric" => ReadOut::Metric,
        "consensus" => ReadOut::Consensus,
        "kmeans" => ReadOut::KMeans,
        "rounding" => ReadOut::Rounding,
        _ => {
            return Err(Failure::Bad(format!(
                "--read-out {name}: unknown; expected one of metric, consensus, kmeans, rounding"
            )));
        }
    })
}

fn batch_json(d: &Done) -> Value {
    let r = &d.report;
    json!({
        "batch": d.name,
        "constraints": d.constraints,
        "new": r.new_constraints,
        "status": r.status.name(),
        "iterations": r.iterations,
        "objective_before": r.objective_before,
        "objective": r.objective,
        "gap": r.gap,
        "support": r.support.len(),
        "violated_before": violations_json(&r.before),
        "violated": violations_json(&r.after),
        "milliseconds": d.seconds * 1e3,
    })
}

/// The cross-validation of each possible read-out.
fn evidence_json(validation: &CrossValidation) -> Value {
    let of = |e: &LinkEvidence| json!({ "phi": e.phi, "auc": e.auc, "links": e.links });
    json!({
        "plain": of(&validation.plain),
        "joined": validation.plain_grown.as_ref().map(of),
        "metric": of(&validation.metric),
        "grown": validation.metric_grown.as_ref().map(of),
    })
}

fn violations_json(v: &Violations) -> Value {
    json!({ "must": v.must, "cannot": v.cannot, "expected": v.expected })
}

fn questions_json(questions: &Questions) -> Value {
    let pairs: Vec<Value> = questions
        .pairs
        .iter()
        .map(|p| json!({ "i": p.i, "j": p.j, "together": p.together, "movement": p.movement }))
        .collect();
    let objects: Vec<Value> = questions
        .objects
        .iter()
        .map(|o| json!({ "object": o.object, "margin": o.margin }))
        .collect();
    json!({ "pairs": pairs, "objects": objects })
}
