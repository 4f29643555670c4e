//! Features, and a crowd's answers about some of the objects: the similarity of these is completed,
//! and a metric that is learned from it clusters all objects.

use std::path::Path;
use std::time::Instant;

use consilience::Fit;
use consilience::completion::Completion;
use consilience::core::number_of;
use consilience::crowd::Answers;

use super::Job;
use crate::args::{Complete, given};
use crate::choices;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::summary::Summary;
use crate::tables::Ask;
use crate::tables::complete::ANSWERED;
use crate::terminal::Terminal;

/// Runs the command.
pub(super) fn run(args: &Complete, path: &Path, terminal: &Terminal) -> Outcome<()> {
    let name = args.method.as_deref().unwrap_or("rdml");
    let ask = Ask::new(given(args.clusters, "--clusters K")?, args.common.seed);
    let choice = choices::find("--method", name, &ANSWERED)
        .map_err(|failure| failure.within("with --answers"))?;
    let mut params = args.params.clone();
    let mut method = choice.build(&ask, &params)?;
    let outputs = args.labelling.outputs(&args.common)?;

    let start = Instant::now();
    let features = given(args.features.as_deref(), "FEATURES")?;
    let table = args.labelling.reading.features(features, false, args.common.seed, terminal)?;
    if table.is_reduced() {
        choices::of_reduced(choice, &mut params, terminal);
        method = choice.build(&ask, &params)?;
    }
    let objects = table.objects();
    let answers = files::answer_table(path, objects.ids.as_ref(), terminal)?;
    files::check_named(&answers, path, &objects)?;
    let rows = answers.rows().len();
    let answers = files::answers(&answers, objects.n, method.shared)
        .map_err(|failure: Failure| failure.within(path.display()))?;
    let beside = args.labelling.read(&table, terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let Fit { output: found, report, .. } = method.crowd.fit(table.view(), &answers, terminal)?;
    let fit = Fit::new(found.completed, report);
    let total = start.elapsed();

    let known = |summary: &mut Summary| describe(rows, &answers, &found.completion, summary);
    let job = Job { table, beside, outputs, read };
    job.finish(name, &fit, known, total, args, terminal)
}

fn describe(rows: usize, answers: &Answers, completed: &Completion, summary: &mut Summary) {
    let (pairs, objects, workers) =
        (answers.n_pair_answers(), answers.answered().len(), answers.n_workers());
    let of = |count: usize, thing| number_of(count as u64, thing);
    let said = format!("{rows} about {} by {}", of(objects, "object"), of(workers, "worker"));
    summary
        .data("workers", workers)
        .data("pair_answers", pairs)
        .data("answered", objects)
        .data("answers", rows)
        .line("answers", said)
        .line("compared pairs", pairs)
        .both("completed_rank", "rank of the answers", completed.rank());
}
