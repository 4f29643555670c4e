//! `consilience ask`: features and a few costly answers to one clustering, and what to ask next.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use consilience::Seed;
use consilience::io::{AnswerForm, AnswerTable, Labelled, ObjectIds};
use consilience::model::{Answer, Question, Questioner, QuestionerOptions};
use consilience::scores::Scores;
use serde_json::{Value, json};

use crate::args::Ask;
use crate::failure::{Failure, Outcome};
use crate::files::{self, Objects};
use crate::memory;
use crate::names;
use crate::outputs::Outputs;
use crate::summary::Summary;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Ask, terminal: &Terminal) -> Outcome<()> {
    let mut outputs = Outputs::new(&args.common).table("-o", "labels", args.output.as_deref())?;
    let mut options = QuestionerOptions::new(args.clusters)
        .budget(args.budget)
        .price(args.price)
        .group_size(args.group_size)
        .seed(Seed(args.common.seed))
        .memory_budget(memory::budget());
    if let Some(cells) = args.cells {
        options = options.cells(cells);
    }

    let start = Instant::now();
    let table = args.reading.features(&args.features, false, args.common.seed, terminal)?;
    let objects = table.objects();
    let said = args.answers.as_deref().map(|path| read(path, &objects, terminal)).transpose()?;
    let truth = files::truth(args.truth.as_deref(), &objects, terminal)?;
    let reading = start.elapsed();

    let start = Instant::now();
    let mut questioner = options.start_observed(table.view(), terminal)?;
    if let (Some(said), Some(path)) = (&said, &args.answers) {
        let taken = questioner.answer_observed(&said.answers, terminal);
        taken.map_err(|error| Failure::from(error).within(path.display()))?;
    }
    let partition = questioner.partition()?;
    let asked = questioner.propose(args.questions);
    let total = start.elapsed();

    outputs.ids(objects.ids.as_ref(), terminal);
    outputs.labels("-o", Labelled::One(&partition), terminal)?;
    let confidence = questioner.confidence();
    let mean = confidence.iter().sum::<f64>() / confidence.len() as f64;
    let stop = questioner.stop();
    let mut summary = Summary::new();
    summary
        .both("n", "objects", objects.n)
        .data("features", table.view().n_features())
        .both("spent", "answers spent", questioner.spent())
        .both("budget", "budget", args.budget)
        .clusters(&partition, None)
        .data("mean_confidence", mean)
        .line("mean confidence", format!("{mean:.4}"));
    if let Some(said) = &said {
        workers(&said.table, &questioner, &mut summary);
    }
    summary.times(reading, [], total).data("stop", stop.map(|reason| reason.name()));
    match stop {
        Some(reason) => {
            summary.line("nothing to ask", reason.name());
        }
        None => questions(&asked, objects.ids.as_ref(), &mut summary),
    }
    summary.data("ask", json!({ "questions": listed(&asked, objects.ids.as_ref()) }));
    if let Some(truth) = truth {
        summary.scores(&Scores::compare(&partition, &truth.partition)?.entries());
    }
    outputs.conclude(summary, &args.common, terminal)
}

/// What was said so far.
struct Said {
    table: AnswerTable,
    answers: Vec<Answer>,
}

fn read(path: &Path, objects: &Objects, terminal: &Terminal) -> Outcome<Said> {
    let table = files::answer_table(path, objects.ids.as_ref(), terminal)?;
    let within = |failure: Failure| failure.within(path.display());
    files::check_named(&table, path, objects)?;
    ensure!(
        matches!(table.form(), AnswerForm::Pairs | AnswerForm::Groupings),
        "{}: answers by keyword; expected the columns worker,i,j,same or worker,task,item,group",
        path.display()
    );
    // Refuses what `crowd` refuses too, in the same words; a header alone is how a loop begins.
    if !table.rows().is_empty() {
        files::answers(&table, objects.n, 1).map_err(within)?;
    }
    let answers = answers(&table, terminal);
    Ok(Said { table, answers })
}

/// The answers, in an order that does not depend on that of the rows.
fn answers(table: &AnswerTable, terminal: &Terminal) -> Vec<Answer> {
    let rows = table.rows();
    let mut answers: Vec<Answer> = if table.form() == AnswerForm::Pairs {
        // An object is the same as itself: whoever says so says nothing.
        (rows.iter().filter(|[_, i, j, _]| i != j))
            .map(|&[worker, i, j, same]| Answer::pair(worker, i.min(j), i.max(j), same != 0))
            .collect()
    } else {
        grouped(table, terminal)
    };
    // Numbers of workers are those of their first rows.
    answers.sort_by_cached_key(|answer| {
        (answer.objects.clone(), table.worker(answer.worker), answer.groups.clone())
    });
    answers
}

/// One answer for each task of a worker, its items in ascending order.
fn grouped(table: &AnswerTable, terminal: &Terminal) -> Vec<Answer> {
    let mut tasks = BTreeMap::<(usize, usize), BTreeMap<usize, usize>>::new();
    for &[worker, task, item, group] in table.rows() {
        tasks.entry((worker, task)).or_default().insert(item, group);
    }
    let all = tasks.len();
    tasks.retain(|_, items| items.len() > 1);
    if tasks.len() < all {
        let alone = all - tasks.len();
        terminal.note(match alone {
            1 => "1 task with a single item compares nothing".to_owned(),
            more => format!("{more} tasks with a single item compare nothing"),
        });
    }
    let answer = |(&(worker, _), items): (&(usize, usize), &BTreeMap<usize, usize>)| {
        let (items, groups): (Vec<usize>, Vec<usize>) = items.iter().unzip();
        Answer::groups(worker, &items, &groups)
    };
    tasks.iter().map(answer).collect()
}

/// Each worker who answered.
fn workers(table: &AnswerTable, questioner: &Questioner, summary: &mut Summary) {
    let mut workers = questioner.workers();
    workers.sort_by_cached_key(|w| table.worker(w.worker));
    let rates: Vec<Value> = workers
        .iter()
        .map(|w| {
            json!({
                "worker": table.worker(w.worker),
                "answers": w.answers,
                "same_together": w.same_together,
                "same_apart": w.same_apart,
                "repeat_correlation": w.repeat_correlation,
            })
        })
        .collect();
    summary.both("workers", "workers", workers.len()).data("worker_rates", rates);
}

fn questions(asked: &[Question], ids: Option<&ObjectIds>, summary: &mut Summary) {
    for question in asked {
        let names: Vec<String> =
            question.objects.iter().map(|&i| names::of_object(i, ids)).collect();
        let (together, gain) = (question.together, question.gain);
        let first = if names.len() > 2 { "the first two together" } else { "together" };
        let text = format!(
            "{}: {first} with probability {together:.2}, gain {gain:.2} objects an answer",
            names.join(", ")
        );
        summary.line("ask about", text);
    }
}

fn listed(asked: &[Question], ids: Option<&ObjectIds>) -> Vec<Value> {
    let value = |question: &Question| {
        let mut object = json!({
            "objects": question.objects,
            "together": question.together,
            "information": question.information,
            "gain": question.gain,
        });
        if ids.is_some() {
            object["ids"] = question.objects.iter().map(|&i| names::of_object(i, ids)).collect();
        }
        object
    };
    asked.iter().map(value).collect()
}
