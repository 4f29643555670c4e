//! `consilience crowd`: a crowd's answers to one clustering.

use std::time::Instant;

use consilience::scores::Scores;
use consilience::{CrowdClustering, CrowdMethod, CrowdResult, PenaltyChoice, Seed};
use serde_json::{Value, json};

use super::checked_truth;
use crate::args::Crowd;
use crate::failure::{Failure, Outcome};
use crate::files::target::Target;
use crate::files::{self, AnswerTable, Labelled};
use crate::methods::Params;
use crate::output::{self, Lines};
use crate::terminal::Terminal;

const METHODS: [CrowdMethod; 7] = [
    CrowdMethod::Auto,
    CrowdMethod::Block,
    CrowdMethod::Rmc,
    CrowdMethod::LogOdds,
    CrowdMethod::Spectral,
    CrowdMethod::DawidSkene,
    CrowdMethod::Pairs,
];

/// Runs the command.
pub(crate) fn run(args: &Crowd, terminal: &Terminal) -> Outcome<()> {
    let method = method(&args.method)?;
    let known: &[&str] =
        if method == CrowdMethod::Rmc { &["shared", "c", "d0", "d1"] } else { &["shared"] };
    let params = Params::parse(&args.method, known, &args.params)?;
    let shared = params.count("shared")?.unwrap_or(1);
    let mut crowd = CrowdClustering::new(args.clusters).method(method).seed(Seed(args.common.seed));
    if let Some(c) = params.number("c")? {
        crowd = crowd.penalty(PenaltyChoice::Factor(c));
    }
    if let (d0, d1) = (params.number("d0")?, params.number("d1")?)
        && (d0.is_some() || d1.is_some())
    {
        crowd = crowd.thresholds(d0.unwrap_or(0.0), d1.unwrap_or(0.9));
    }
    if args.output.is_some() && args.output == args.soft {
        return Err(Failure::bad("-o and --soft name the same file; expected two"));
    }
    let mut labels_to = args.output.as_deref().map(Target::table).transpose()?;
    let mut soft_to = args.soft.as_deref().map(Target::table).transpose()?;

    let start = Instant::now();
    let table = files::read_answers(&args.answers, terminal)?;
    let truth = args.truth.as_deref().map(|path| files::read_labels(path, terminal)).transpose()?;
    let objects = args.objects.or(truth.as_ref().map(|t| t.n_objects())).unwrap_or(table.objects());
    let truth = match (truth, &args.truth) {
        (Some(truth), Some(path)) => Some(checked_truth(truth, path, objects)?),
        _ => None,
    };
    let answers =
        table.answers(objects, shared).map_err(|failure| failure.within(args.answers.display()))?;
    let read = start.elapsed();

    let start = Instant::now();
    let fit = crowd.fit(&answers, terminal)?;
    let total = start.elapsed();
    let (result, report) = (fit.output, fit.report);
    report.notes.iter().for_each(|note| terminal.note(note));
    if let Some(target) = &mut labels_to {
        files::write_labels(target, &Labelled::One(&result.partition), terminal)?;
    }
    if let Some(target) = &mut soft_to {
        files::write_floats(target, result.memberships.values(), terminal)?;
    }
    for target in [labels_to, soft_to].into_iter().flatten() {
        target.commit()?;
    }

    let scores = truth.map(|truth| Scores::compare(&result.partition, &truth)).transpose()?;
    if args.common.json {
        let mut object = json!({
            "method": args.method,
            "chosen": result.method.name(),
            "n": objects,
            "workers": answers.n_workers(),
            "tasks": answers.n_tasks(),
            "pair_answers": answers.n_pair_answers(),
            "clusters": result.partition.n_clusters(),
            "status": report.status.name(),
            "iterations": report.iterations,
            "objective": report.objective,
            "crowd": { "same_together": result.crowd_rates.same_together, "same_apart": result.crowd_rates.same_apart },
            "worker_rates": rates_json(&table, &result),
            "spammers": result.spammers().map(|w| table.worker(w.worker)).collect::<Vec<_>>(),
            "held_out": result.held_out.iter().map(|(name, v)| json!({ "name": name, "log_likelihood": v })).collect::<Vec<_>>(),
            "penalty_factor": result.penalty_factor,
            "second": second_json(&table, &result),
            "seconds": { "read": read.as_secs_f64(), "total": total.as_secs_f64() },
        });
        if args.ask > 0 {
            object["ask"] = ask_json(&result, args.ask);
        }
        if let Some(scores) = scores {
            object["scores"] = output::scores_json(&scores.entries());
        }
        return output::print_json(object, &args.common, terminal);
    }
    let mut lines = Lines::default();
    lines
        .add("method", result.method.name())
        .add("objects", objects)
        .add(
            "answers",
            format!("{} pairs, {} workers", answers.n_pair_answers(), answers.n_workers()),
        )
        .add("clusters", result.partition.n_clusters())
        .add("same if together", format!("{:.2}", result.crowd_rates.same_together))
        .add("same if apart", format!("{:.2}", result.crowd_rates.same_apart))
        .add("status", report.status.name())
        .add("seconds", format!("{} (and {} to read)", output::time(total), output::time(read)));
    for w in result.spammers() {
        let rates = format!(
            "{}: same if together {:.2}, if apart {:.2}",
            table.worker(w.worker),
            w.same_together,
            w.same_apart
        );
        lines.add("answers at random", rates);
    }
    for pair in result.ask_pairs(args.ask) {
        lines.add(
            "ask about",
            format!("{} and {}, together with probability {:.2}", pair.i, pair.j, pair.together),
        );
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

fn method(name: &str) -> Outcome<CrowdMethod> {
    METHODS.into_iter().find(|m| m.name() == name).ok_or_else(|| {
        let known: Vec<&str> = METHODS.iter().map(|m| m.name()).collect();
        Failure::Bad(format!("--method {name}: unknown; expected one of {}", known.join(", ")))
    })
}

fn rates_json(table: &AnswerTable, result: &CrowdResult) -> Vec<Value> {
    let workers = result.workers.iter();
    workers
        .map(|w| {
            json!({
                "worker": table.worker(w.worker),
                "answers": w.answers,
                "same_together": w.same_together,
                "same_apart": w.same_apart,
                "evidence": w.evidence,
                "spammer": w.is_spammer(),
            })
        })
        .collect()
}

/// The clustering of those who group by something else, as labels, if there are such workers.
fn second_json(table: &AnswerTable, result: &CrowdResult) -> Option<Value> {
    let second = result.alternative.as_ref()?;
    Some(json!({
        "workers": second.workers.iter().map(|&w| table.worker(w)).collect::<Vec<_>>(),
        "significance": second.significance,
        "labels": second.partition.to_signed(),
    }))
}

fn ask_json(result: &CrowdResult, count: usize) -> Value {
    let pairs: Vec<Value> = result
        .ask_pairs(count)
        .iter()
        .map(
            |p| json!({ "i": p.i, "j": p.j, "together": p.together, "information": p.information }),
        )
        .collect();
    json!({ "pairs": pairs, "objects": result.ask_objects(count) })
}
