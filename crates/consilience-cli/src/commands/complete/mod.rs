//! `consilience complete`: features, and pairs or answers about some of the objects, to one
//! clustering, by matrix completion.

mod answered;
mod paired;

use std::time::Duration;

use consilience::completion::CompletedClustering;
use consilience::{Features, Fit};

use super::labelling::Beside;
use crate::args::Complete;
use crate::failure::{Failure, Outcome};
use crate::files::Table;
use crate::outputs::Outputs;
use crate::summary::Summary;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Complete, terminal: &Terminal) -> Outcome<()> {
    match (&args.constraints, &args.answers) {
        (_, Some(answers)) => answered::run(args, answers, terminal),
        (Some(constraints), None) => paired::run(args, constraints, terminal),
        (None, None) => Err(Failure::bad("expected --constraints FILE or --answers FILE")),
    }
}

/// What was read beside the pairs or answers, and where the results go.
struct Job {
    table: Table,
    beside: Beside,
    outputs: Outputs,
    read: Duration,
}

impl Job {
    /// Writes the files and prints the summary; `describe` adds what was known of the objects.
    fn finish(
        self,
        method: &str,
        fit: &Fit<CompletedClustering>,
        describe: impl FnOnce(&mut Summary),
        total: Duration,
        args: &Complete,
        terminal: &Terminal,
    ) -> Outcome<()> {
        terminal.note_all(&fit.report);
        let (clustering, similarity) = (&fit.output.clustering, &fit.output.similarity);
        let (features, partition) = (self.table.view(), &clustering.partition);
        let mut summary = Summary::new();
        summary
            .both("method", "method", method)
            .both("n", "objects", features.n_objects())
            .data("features", features.n_features());
        describe(&mut summary);
        summary
            .clusters(partition, None)
            .data("basis", similarity.basis().map(|basis| basis.name()))
            .data("eigenvectors", similarity.eigenvectors())
            .data("loss_weight", similarity.loss_weight())
            .both("rank", "rank", similarity.rank())
            .report(&fit.report)
            .times(self.read, [], total);
        let assign = |new: Features<'_>| clustering.assign(new);
        self.beside.finish(self.outputs, partition, assign, summary, &args.common, terminal)
    }
}
