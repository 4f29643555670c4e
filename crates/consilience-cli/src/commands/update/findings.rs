//! What `update` says of its work.

use consilience::core::number_of;
use consilience::follow::{CrossValidation, LinkEvidence, MapLearner};
use consilience::io::ObjectIds;
use consilience::simplex::{Questions, Violations};
use consilience::{Link, Pair};
use serde_json::{Value, json};

use super::follow::{Done, Followed};
use crate::names;
use crate::summary::Summary;

/// The state and what each batch did to it.
pub(super) fn followed(followed: &Followed, summary: &mut Summary) {
    let updater = &followed.updater;
    let members = updater.ensemble().n_members();
    let given = updater.metric().map_or(members, |metric| metric.n_members());
    let by_weights = updater.by_weights();
    let support = by_weights.support();
    let learner = updater.metric().map(|metric| metric.rule().map_learner());
    let name = match learner.filter(|_| followed.metric) {
        Some(MapLearner::Completion) => "completion",
        Some(_) => "metric",
        None => by_weights.rule().name(),
    };
    let all_weights = by_weights.weights();
    let weights: Vec<Value> =
        support.iter().map(|&u| json!({ "member": u, "weight": all_weights[u] })).collect();
    summary
        .both("method", "rule", name)
        .both("n", "objects", updater.ensemble().total_count())
        .data("members", given)
        .data("grown", members - given)
        .line(
            "members",
            format!("{given} and {} grown, {} with weight", members - given, support.len()),
        )
        .clusters(&followed.partition, updater.ensemble().counts())
        .data("resumed", followed.resumed)
        .data("batches", followed.batches.iter().map(batch_json).collect::<Vec<_>>())
        .data("support", weights)
        .data("violated_by_weights", violations_json(&by_weights.violations()));
    for done in &followed.batches {
        batch_line(done, summary);
    }
    if let Some(validation) = &followed.cross_validation {
        summary.both("reading", "read out", validation.chosen.name());
        summary.data("evidence", evidence_json(validation));
    }
    summary.both("constraints", "constraints", updater.constraints().len());
    let disputed = updater.disputed();
    if !disputed.is_empty() {
        summary.line("disputed", number_of(disputed.len() as u64, "constraint"));
    }
    let one = |l: &Pair| json!({ "i": l.i, "j": l.j, "must": l.link == Link::Must });
    summary.data("disputed", disputed.iter().map(one).collect::<Vec<_>>());
}

fn batch_line(done: &Done, summary: &mut Summary) {
    let name = match &done.batch.name[..] {
        "" => "batch".to_owned(),
        name => format!("batch {name}"),
    };
    let text = format!(
        "{}, {} of them new{}, violated {} before and {} after, {:.2} ms",
        number_of(done.batch.pairs.len() as u64, "constraint"),
        done.report.new_constraints,
        if done.disputed > 0 { format!(", {} disputed", done.disputed) } else { String::new() },
        done.report.before.total(),
        done.report.after.total(),
        done.seconds * 1e3
    );
    summary.line(name, text);
}

fn batch_json(done: &Done) -> Value {
    let r = &done.report;
    json!({
        "batch": done.batch.name,
        "constraints": done.batch.pairs.len(),
        "new": r.new_constraints,
        "disputed": done.disputed,
        "status": r.status.name(),
        "iterations": r.iterations,
        "objective_before": r.objective_before,
        "objective": r.objective,
        "gap": r.gap,
        "support": r.support.len(),
        "violated_before": violations_json(&r.before),
        "violated": violations_json(&r.after),
        "milliseconds": done.seconds * 1e3,
    })
}

/// What each possible read-out was judged by: links that were held out.
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

/// The rows that have another label than before, and how many objects they stand for.
pub(super) fn changed(rows: Vec<usize>, counts: Option<&[u64]>, summary: &mut Summary) {
    let objects: u64 = rows.iter().map(|&i| counts.map_or(1, |counts| counts[i])).sum();
    let noun = if objects == 1 { "object" } else { "objects" };
    summary.line("changed", format!("{objects} {noun}")).data("changed", rows);
}

/// Pairs and objects to ask about.
pub(super) fn questions(questions: &Questions, ids: Option<&ObjectIds>, summary: &mut Summary) {
    let called = |object: usize| names::of_object(object, ids);
    let mut pairs = Vec::new();
    for p in &questions.pairs {
        let (i, j, together) = (called(p.i), called(p.j), p.together);
        summary.line("ask about", format!("{i} and {j}, together with probability {together:.2}"));
        let mut pair = json!({ "i": p.i, "j": p.j, "together": together, "movement": p.movement });
        if ids.is_some() {
            pair["ids"] = json!([i, j]);
        }
        pairs.push(pair);
    }
    let mut objects = Vec::new();
    for o in &questions.objects {
        summary.line("uncertain", format!("{}, margin {:.2}", called(o.object), o.margin));
        let mut object = json!({ "object": o.object, "margin": o.margin });
        if ids.is_some() {
            object["id"] = json!(called(o.object));
        }
        objects.push(object);
    }
    summary.data("ask", json!({ "pairs": pairs, "objects": objects }));
}
