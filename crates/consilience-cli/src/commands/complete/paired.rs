//! Features, and pairs known to belong together or apart.

use std::path::Path;
use std::time::Instant;

use consilience::completion::CompletedClustering;
use consilience::{Constraints, Features, Fit, Link, Partition, SideInformation};

use super::Job;
use crate::args::{Complete, given};
use crate::choices;
use crate::commands::violated;
use crate::failure::Outcome;
use crate::files;
use crate::summary::Summary;
use crate::tables::Ask;
use crate::tables::complete::{Completer, METHODS};
use crate::terminal::Terminal;

/// Runs the command.
pub(super) fn run(args: &Complete, constraints: &Path, terminal: &Terminal) -> Outcome<()> {
    let name = args.method.as_deref().unwrap_or("mccc");
    let ask = Ask::new(given(args.clusters, "--clusters K")?, args.common.seed);
    let (choice, mut params) = (choices::find("--method", name, &METHODS)?, args.params.clone());
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
    let constraints = files::constraints(constraints, &objects, terminal)?;
    let beside = args.labelling.read(&table, terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let side = SideInformation::from_constraints(&constraints);
    let fit = method.fit(table.view(), &side, terminal)?;
    let total = start.elapsed();

    let known = |summary: &mut Summary| {
        describe(&constraints, &fit.output.clustering.partition, summary);
    };
    let job = Job { table, beside, outputs, read };
    job.finish(name, &fit, known, total, args, terminal)
}

impl Completer {
    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        terminal: &Terminal,
    ) -> Outcome<Fit<CompletedClustering>> {
        Ok(match self {
            Completer::Mccc(mccc) => mccc.fit_completed(features, side, terminal)?,
            Completer::Rdml(rdml) => rdml.fit_completed(features, side, terminal)?,
        })
    }
}

fn describe(constraints: &Constraints, partition: &Partition, summary: &mut Summary) {
    let must = constraints.iter().filter(|p| p.link == Link::Must).count();
    let (split, joined) = violated(constraints.iter(), partition);
    summary
        .data("must_links", must)
        .data("cannot_links", constraints.len() - must)
        .line("constraints", constraints.len())
        .both("violated", "violated", split + joined);
}
