//! `consilience-engine score`: how well one clustering agrees with another.

use consilience::scores::Scores;
use consilience_datafusion::Table;

use crate::args::Score;
use crate::failure::Outcome;
use crate::summary::{Clock, Summary};
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Score, terminal: &Terminal) -> Outcome<()> {
    let mut labels = Table::open(&args.labels)?;
    if let Some(column) = &args.column {
        labels = labels.only(column)?;
    }
    let mut truth = Table::open(&args.truth)?;
    if let Some(column) = &args.truth_column {
        truth = truth.only(column)?;
    }
    let engine = crate::engine(&args.common, None)?;
    let mut clock = Clock::start();
    let table = engine.contingency(&labels, &truth, terminal)?;
    clock.step("count");
    let mut summary = Summary::new();
    summary
        .both("n", "objects", labels.n_rows())
        .both("labelled", "labelled in both", table.n_objects())
        .both("clusters", "clusters", table.row_sums().iter().filter(|&&n| n > 0).count())
        .both("true_clusters", "true ones", table.column_sums().iter().filter(|&&n| n > 0).count())
        .scores(&Scores::of(&table)?.entries());
    clock.tell(&mut summary);
    summary.print(&args.common, terminal)
}
