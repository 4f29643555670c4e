//! Features, and a crowd's answers about some of the objects: the similarity of these is completed,
//! and a metric that is learned from it clusters all objects.

use std::path::Path;
use std::time::Instant;

use consilience::completion::{CompletedClustering, Completion, SampleSimilarity};
use consilience::crowd::{AnswerCounts, Answers, PairAnswer};
use consilience::{Features, Fit, Status};
use ndarray::Array2;

use super::Job;
use crate::args::Complete;
use crate::choices;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::memory;
use crate::summary::Summary;
use crate::tables::Ask;
use crate::tables::complete::{ANSWERED, FromAnswers};
use crate::terminal::Terminal;

/// Runs the command.
pub(super) fn run(args: &Complete, path: &Path, terminal: &Terminal) -> Outcome<()> {
    let name = args.method.as_deref().unwrap_or("rdml");
    let ask = Ask::new(args.clusters, args.common.seed);
    let method = choices::find("--method", name, &ANSWERED)
        .map_err(|failure| failure.within("with --answers"))?
        .build(&ask, &args.params)?;
    let outputs = args.labelling.outputs()?;

    let start = Instant::now();
    let table = args.labelling.features(&args.features, false, args.common.seed, terminal)?;
    let objects = table.objects();
    let answers = files::answer_table(path, objects.ids.as_ref(), terminal)?;
    if answers.ids().is_some() && objects.ids.is_none() {
        return Err(Failure::Bad(format!(
            "{}: names its objects by text; expected features with such ids, see --id",
            path.display()
        )));
    }
    let answers = files::answers(&answers, objects.n, method.shared)
        .map_err(|failure: Failure| failure.within(path.display()))?;
    let beside = args.labelling.read(&table, terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let completed = method.complete(&answers, terminal)?;
    let fit = method.extend(table.view(), &answers, &completed, terminal)?;
    let total = start.elapsed();

    let known = |summary: &mut Summary| describe(&answers, &completed.output, summary);
    let job = Job { table, beside, outputs, read };
    job.finish(name, &fit, known, total, args, terminal)
}

fn describe(answers: &Answers, completed: &Completion, summary: &mut Summary) {
    let (pairs, objects, workers) =
        (answers.n_pair_answers(), answers.answered().len(), answers.n_workers());
    summary
        .data("workers", workers)
        .data("pair_answers", pairs)
        .data("answered", objects)
        .line("answers", format!("{pairs} pairs of {objects} objects, {workers} workers"))
        .both("completed_rank", "rank of the answers", completed.rank());
}

impl FromAnswers {
    /// The similarity of the answered objects, from the pairs that the crowd agrees on.
    fn complete(&self, answers: &Answers, terminal: &Terminal) -> Outcome<Fit<Completion>> {
        let counts = AnswerCounts::of(&among_answered(answers)?, memory::budget())?;
        let agreed = counts.reliable_pairs(self.apart, self.together)?;
        Ok(self.completion.fit(&agreed, terminal)?)
    }

    /// All objects, by a metric that is learned from the completed similarity.
    fn extend(
        &self,
        features: Features<'_>,
        answers: &Answers,
        completed: &Fit<Completion>,
        terminal: &Terminal,
    ) -> Outcome<Fit<CompletedClustering>> {
        let sample: Vec<usize> = answers.answered().iter().map(|&i| i as usize).collect();
        let factors = factors(&completed.output);
        if factors.ncols() == 0 {
            return Err(Failure::bad(
                "--answers: nothing is left of the completed similarity; expected answers on more \
                 pairs, or a larger --param c",
            ));
        }
        let similarity = SampleSimilarity::Factors(factors.view());
        let mut fit = self.rdml.fit_sample(features, &sample, similarity, terminal)?;
        if completed.report.status == Status::MaxIterations {
            fit.report.status = Status::MaxIterations;
        }
        Ok(fit)
    }
}

/// The same answers about the answered objects alone, numbered in their order.
fn among_answered(answers: &Answers) -> Outcome<Answers> {
    let mut number = vec![0; answers.n_objects()];
    for (new, &object) in answers.answered().iter().enumerate() {
        number[object as usize] = new;
    }
    let rows: Vec<PairAnswer> = answers
        .pairs()
        .map(|pair| PairAnswer { i: number[pair.i], j: number[pair.j], ..pair })
        .collect();
    Ok(Answers::from_pairs(answers.answered().len(), &rows)?)
}

/// F with `F F'` the positive part of the completed matrix.
fn factors(completed: &Completion) -> Array2<f64> {
    let positive: Vec<usize> =
        (0..completed.rank()).filter(|&c| completed.values[c] > 0.0).collect();
    Array2::from_shape_fn((completed.vectors.nrows(), positive.len()), |(i, c)| {
        completed.vectors[[i, positive[c]]] * completed.values[positive[c]].sqrt()
    })
}
