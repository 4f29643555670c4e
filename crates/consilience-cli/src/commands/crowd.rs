//! `consilience crowd`: a crowd's answers to one clustering.

use std::path::Path;
use std::time::Instant;

use consilience::Partition;
use consilience::core::number_of;
use consilience::crowd::{Answers, CrowdResult, Question};
use consilience::io::{AnswerTable, Labelled, ObjectIds};
use consilience::scores::Scores;
use ndarray::ArrayView1;
use serde_json::{Value, json};

use crate::args::{Count, Crowd, given};
use crate::choices;
use crate::failure::{Failure, Outcome};
use crate::files::{self, Labels, Objects};
use crate::memory;
use crate::names;
use crate::outputs::Outputs;
use crate::summary::Summary;
use crate::tables::Ask;
use crate::tables::crowd::METHODS;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Crowd, terminal: &Terminal) -> Outcome<()> {
    let path = given(args.answers.as_deref(), "ANSWERS")?;
    let clusters = given(args.clusters, "--clusters K")?;
    let ask = Ask::new(clusters.into(), args.common.seed);
    let method = choices::find("--method", &args.method, &METHODS)?.build(&ask, &args.params)?;
    only_with_auto(clusters, &args.params)?;
    let mut outputs = Outputs::new(&args.common)
        .table("-o", "labels", args.output.as_deref())?
        .table("--soft", "memberships", args.soft.as_deref())?
        .table("--second", "labels by another criterion", args.second.as_deref())?;

    let start = Instant::now();
    let Read { table, mut answers, truth } = read(args, path, method.shared, terminal)?;
    let mut copies = Vec::new();
    if method.copies_once {
        copies = answers.copies(memory::budget())?;
        answers = one_of_each(&copies, &answers, terminal)?;
    }
    let reading = start.elapsed();

    let start = Instant::now();
    let fit = method.clustering.fit(&answers, terminal)?;
    let total = start.elapsed();
    terminal.note_all(&fit.report);
    let result = &fit.output;
    outputs.ids(table.ids(), terminal);
    outputs.labels("-o", Labelled::One(&result.partition), terminal)?;
    outputs.numbers("--soft", result.memberships.values(), terminal)?;
    second(result, clusters, &mut outputs, terminal)?;

    let mut summary = Summary::new();
    summary
        .data("method", args.method.as_str())
        .both("chosen", "method", result.method.name())
        .both("n", "objects", result.partition.n_objects())
        .both("workers", "workers", answers.n_workers())
        .data("tasks", answers.n_tasks())
        .both("answers", "answers", table.rows().len())
        .both("pair_answers", "compared pairs", answers.n_pair_answers())
        .clusters(&result.partition, None)
        .report(&fit.report);
    number(result, &mut summary);
    workers(&table, result, &mut summary);
    if copies.is_empty() {
        copies.clone_from(&result.copies);
    }
    copied(&table, &copies, &mut summary);
    summary.times(reading, [], total);
    if args.ask > 0 {
        let asked = result.ask_pairs_within(&answers, args.ask, memory::budget(), terminal)?;
        if let Some(note) = settled(result, &asked) {
            terminal.note(note);
        }
        questions(result, &asked, args.ask, table.ids(), &mut summary);
    }
    if let Some(truth) = truth {
        summary.scores(&Scores::compare(&result.partition, &truth.partition)?.entries());
    }
    outputs.conclude(summary, &args.common, terminal)
}

/// Refuses what would do nothing where the number of clusters is given.
fn only_with_auto(clusters: Count, params: &[String]) -> Outcome<()> {
    let components = params.iter().find(|param| param.starts_with("components="));
    match (clusters, components) {
        (Count::Fixed(_), Some(param)) => {
            Err(Failure::Bad(format!("--param {param}: only with --clusters auto")))
        }
        _ => Ok(()),
    }
}

/// The answers of one worker of each set, and of all who are in none.
fn one_of_each(copies: &[Vec<usize>], answers: &Answers, terminal: &Terminal) -> Outcome<Answers> {
    let others: Vec<usize> = copies.iter().flat_map(|set| &set[1..]).copied().collect();
    let count = number_of(others.len() as u64, "worker");
    terminal.note(match others.len() {
        0 => "no workers gave the same answers to the same questions".to_owned(),
        _ => format!("{count} left out, who gave the same answers as another"),
    });
    Ok(answers.without_workers(&others)?)
}

/// Who may have copied from whom.
fn copied(table: &AnswerTable, copies: &[Vec<usize>], summary: &mut Summary) {
    let names = |set: &Vec<usize>| set.iter().map(|&w| table.worker(w)).collect::<Vec<_>>();
    let sets: Vec<Vec<String>> = copies.iter().map(names).collect();
    for set in &sets {
        summary.line("same answers", set.join(", "));
    }
    summary.data("copies", sets);
}

/// What was read.
struct Read {
    table: AnswerTable,
    answers: Answers,
    truth: Option<Labels>,
}

fn read(args: &Crowd, from: &Path, shared: usize, terminal: &Terminal) -> Outcome<Read> {
    let path = args.truth.as_deref();
    let truth = path.map(|path| files::labels_beside(path, terminal)).transpose()?;
    let known = truth.as_ref().and_then(|truth| truth.ids.as_ref());
    let mut table = files::answer_table(from, None, terminal)?;
    if let Some(ids) = known.filter(|_| table.ids().is_none()) {
        // Numbers may be ids too.
        table = files::answer_table(from, Some(ids), terminal)?;
    }
    if let Some(path) = path {
        ensure!(
            known.is_some() || table.ids().is_none(),
            "{}: no ids, and the answers name their objects by text; expected a column of ids",
            path.display()
        );
    }
    let least = table.ids().map_or(table.n_objects(), ObjectIds::n_objects);
    let rows = truth.as_ref().filter(|_| table.ids().is_none()).map(|t| t.partition.n_objects());
    let n = args.objects.or(rows).unwrap_or(least);
    if let Some(named) = table.ids().map(ObjectIds::n_objects) {
        let objects = number_of(named as u64, "object");
        ensure!(named == n, "--objects {n}: the answers name {objects}; expected as many");
    }
    let objects = Objects { n, ids: table.ids().cloned() };
    let truth = files::truth(path, &objects, terminal)?;
    let answers = files::answers(&table, n, shared)
        .map_err(|failure: Failure| failure.within(from.display()))?;
    Ok(Read { table, answers, truth })
}

/// How many clusters there seem to be, where that was asked for or the method says so.
fn number(result: &CrowdResult, summary: &mut Summary) {
    if let Some(count) = &result.cluster_count {
        let likely: Vec<Value> = (count.probabilities.iter().enumerate())
            .filter(|(_, p)| **p > 0.0)
            .map(|(clusters, p)| json!({ "clusters": clusters, "probability": p }))
            .collect();
        let count = json!({ "expected": count.expected, "probabilities": likely });
        summary.data("cluster_count", count);
    }
    if let Some(rank) = &result.completed_rank {
        let rank = json!({
            "rank": rank.rank,
            "noise_floor": rank.noise_floor,
            "eigenvalues": rank.eigenvalues,
        });
        summary.data("completed_rank", rank);
    }
}

/// What the crowd is like, and each worker in it.
fn workers(table: &AnswerTable, result: &CrowdResult, summary: &mut Summary) {
    let rates = result.crowd_rates;
    let (together, apart) = (rates.same_together, rates.same_apart);
    let spammers: Vec<usize> = result.spammers().map(|w| w.worker).collect();
    let rates: Vec<Value> = result
        .workers
        .iter()
        .map(|w| {
            json!({
                "worker": table.worker(w.worker),
                "answers": w.answers,
                "same_together": w.same_together,
                "same_apart": w.same_apart,
                "evidence": w.evidence,
                "spammer": spammers.contains(&w.worker),
            })
        })
        .collect();
    let evidence: Vec<Value> =
        result.evidence.iter().map(|(name, v)| json!({ "name": name, "evidence": v })).collect();
    let held_out: Vec<Value> = result
        .held_out
        .iter()
        .map(|(name, v)| json!({ "name": name, "log_likelihood": v }))
        .collect();
    summary
        .data("crowd", json!({ "same_together": together, "same_apart": apart }))
        .line("same if together", format!("{together:.2}"))
        .line("same if apart", format!("{apart:.2}"))
        .data("worker_rates", rates)
        .data("spammers", spammers.iter().map(|&w| table.worker(w)).collect::<Vec<_>>())
        .data("evidence", evidence)
        .data("held_out", held_out)
        .data("penalty_factor", result.penalty_factor)
        .data("second", alternative(table, result));
    if let Some(other) = &result.alternative {
        let names: Vec<String> = other.workers.iter().map(|&w| table.worker(w)).collect();
        let found = number_of(other.partition.n_clusters() as u64, "cluster");
        summary.line("another criterion", format!("{found}, by {}", names.join(", ")));
    }
    for w in result.spammers() {
        let rates = format!(
            "{}: same if together {:.2}, if apart {:.2}",
            table.worker(w.worker),
            w.same_together,
            w.same_apart
        );
        summary.line("answers at random", rates);
    }
}

/// Writes the clustering by another criterion, if it is asked for, and says where it is the one
/// that has as many clusters as were asked for.
fn second(
    result: &CrowdResult,
    clusters: Count,
    outputs: &mut Outputs,
    terminal: &Terminal,
) -> Outcome<()> {
    let other = result.alternative.as_ref().map(|other| &other.partition);
    if let (Some(other), Count::Fixed(k)) = (other, clusters)
        && other.n_clusters() == k
        && result.partition.n_clusters() != k
    {
        terminal.note(format!(
            "the workers who group by another criterion have {k} clusters, as was asked for, and \
             the labels have not: --second writes theirs"
        ));
    }
    if !outputs.wants("--second") {
        return Ok(());
    }
    let none = Partition::from_fn(result.partition.n_objects(), |_| None)?;
    if other.is_none() {
        terminal.note("--second: no workers group by another criterion, and no object has a label");
    }
    outputs.labels("--second", Labelled::One(other.unwrap_or(&none)), terminal)
}

/// The clustering of those who group by another criterion, as labels, if there are such workers.
fn alternative(table: &AnswerTable, result: &CrowdResult) -> Option<Value> {
    let other = result.alternative.as_ref()?;
    let mut object = json!({
        "workers": other.workers.iter().map(|&w| table.worker(w)).collect::<Vec<_>>(),
        "significance": other.significance,
        "labels": other.partition.to_signed(),
    });
    if let Some(ids) = table.ids() {
        object["ids"] = (0..ids.n_objects()).map(|i| ids.get(i)).collect();
    }
    Some(object)
}

/// Fewer bits than this are none.
const NO_INFORMATION: f64 = 1e-6;

/// Says that no answer would tell anything, where that is so.
fn settled(result: &CrowdResult, asked: &[Question]) -> Option<&'static str> {
    if asked.is_empty() || asked.iter().any(|pair| pair.information >= NO_INFORMATION) {
        return None;
    }
    // Not by the pairs, which may be any where no answer tells anything.
    let sure = |row: ArrayView1<'_, f64>| row.iter().any(|&share| share > 0.99);
    if !result.memberships.values().rows().into_iter().all(sure) {
        return Some(
            "pairs are in doubt, but an answer would add no information: the crowd calls objects \
             the same as often where they are apart as where they are together",
        );
    }
    Some("no pair is in doubt under this model: an answer would add no information")
}

/// What to ask about next: these pairs, and so many objects.
fn questions(
    result: &CrowdResult,
    asked: &[Question],
    count: usize,
    ids: Option<&ObjectIds>,
    summary: &mut Summary,
) {
    let called = |object: usize| names::of_object(object, ids);
    let mut pairs = Vec::new();
    for pair in asked {
        let (i, j, together) = (called(pair.i), called(pair.j), pair.together);
        summary.line("ask about", format!("{i} and {j}, together with probability {together:.2}"));
        let mut object = json!({
            "i": pair.i, "j": pair.j, "together": together, "information": pair.information,
        });
        if ids.is_some() {
            object["ids"] = json!([i, j]);
        }
        pairs.push(object);
    }
    let objects = result.ask_objects(count);
    let mut ask = json!({ "pairs": pairs, "objects": objects });
    if let Some(ids) = ids {
        ask["object_ids"] = objects.iter().map(|&object| ids.get(object)).collect();
    }
    summary.data("ask", ask);
}
