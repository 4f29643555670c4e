//! `consilience score`: how well one clustering agrees with another.

use std::time::Instant;

use consilience::Ensemble;
use consilience::scores::{self, Contingency, Scores};

use crate::args::Score;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::summary::Summary;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Score, terminal: &Terminal) -> Outcome<()> {
    let summary = if args.soft { soft(args, terminal)? } else { hard(args, terminal)? };
    summary.print(&args.common, terminal)
}

fn hard(args: &Score, terminal: &Terminal) -> Outcome<Summary> {
    let start = Instant::now();
    let labels = files::labels(&args.labels, terminal)?;
    let truth = files::labels(&args.truth, terminal)?;
    let truth = files::checked_truth(truth, &args.truth, labels.n_objects())?;
    let rows = files::counted(Ensemble::new(vec![labels])?, args.counts.as_deref(), terminal)?;
    let labels = &rows.members()[0];
    let read = start.elapsed();

    let start = Instant::now();
    let entries = Scores::of(&Contingency::with_counts(labels, &truth, rows.counts())?)?.entries();
    let total = start.elapsed();
    let mut summary = Summary::new();
    summary
        .both("n", "objects", rows.total_count())
        .data("clusters", labels.n_clusters())
        .data("true_clusters", truth.n_clusters())
        .line("clusters", format!("{}, and {} true ones", labels.n_clusters(), truth.n_clusters()))
        .times(read, [], total)
        .scores(&entries);
    Ok(summary)
}

/// J, the mean Jensen-Shannon divergence of memberships under the best matching of clusters.
fn soft(args: &Score, terminal: &Terminal) -> Outcome<Summary> {
    let start = Instant::now();
    let result = files::memberships(&args.labels, terminal)?;
    let truth = files::memberships(&args.truth, terminal)?;
    if result.n_objects() != truth.n_objects() {
        return Err(Failure::Bad(format!(
            "{}: {} rows, expected {} as in {}",
            args.truth.display(),
            truth.n_objects(),
            result.n_objects(),
            args.labels.display()
        )));
    }
    let read = start.elapsed();

    let start = Instant::now();
    let divergence = scores::jensen_shannon(&result, &truth)?;
    let total = start.elapsed();
    let mut summary = Summary::new();
    summary
        .both("n", "objects", result.n_objects())
        .data("clusters", result.n_clusters())
        .data("true_clusters", truth.n_clusters())
        .times(read, [], total)
        .scores(&[("jensen_shannon", divergence)]);
    Ok(summary)
}
