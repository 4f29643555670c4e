//! `consilience complete`: features and pairs known beforehand to one clustering, by matrix
//! completion.

use std::time::Instant;

use consilience::completion::CompletedClustering;
use consilience::{Features, Fit, Link, Seed, SideInformation, io};

use super::violated;
use crate::args::Complete;
use crate::choices;
use crate::failure::Outcome;
use crate::files;
use crate::summary::Summary;
use crate::tables::Ask;
use crate::tables::complete::{Completer, METHODS};
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Complete, terminal: &Terminal) -> Outcome<()> {
    let ask = Ask { clusters: args.clusters, seed: Seed(args.common.seed) };
    let method = choices::find("--method", &args.method, &METHODS)?.build(&ask, &args.params)?;
    let outputs = args.labelling.outputs()?;

    let start = Instant::now();
    let table = files::features(&args.features, terminal)?;
    let features = table.view();
    let n = features.n_objects();
    let constraints = io::read_constraints(&args.constraints, n)?;
    let beside = args.labelling.read(n, terminal)?;
    let read = start.elapsed();

    let start = Instant::now();
    let side = SideInformation::from_constraints(&constraints);
    let fit = method.fit(features, &side, terminal)?;
    let total = start.elapsed();
    terminal.note_all(&fit.report);
    let (clustering, similarity) = (&fit.output.clustering, &fit.output.similarity);
    let partition = &clustering.partition;

    let must = constraints.iter().filter(|p| p.link == Link::Must).count();
    let (split, joined) = violated(&constraints, partition);
    let mut summary = Summary::new();
    summary
        .both("method", "method", args.method.as_str())
        .both("n", "objects", n)
        .data("features", features.n_features())
        .data("must_links", must)
        .data("cannot_links", constraints.len() - must)
        .line("constraints", constraints.len())
        .both("violated", "violated", split + joined)
        .both("clusters", "clusters", partition.n_clusters())
        .data("basis", similarity.basis().map(|basis| basis.name()))
        .data("eigenvectors", similarity.eigenvectors())
        .data("loss_weight", similarity.loss_weight())
        .both("rank", "rank", similarity.rank())
        .report(&fit.report)
        .times(read, [], total);
    let assign = |new: Features<'_>| clustering.assign(new);
    beside.finish(outputs, partition, assign, &mut summary, terminal)?;
    summary.print(&args.common, terminal)
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
