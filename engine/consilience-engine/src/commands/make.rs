//! `consilience-engine make`: a made-up table to try things on.

use consilience_datafusion::made::{self, Shape};

use crate::args::{Make, What};
use crate::failure::Outcome;
use crate::summary::{Clock, Summary};
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Make, terminal: &Terminal) -> Outcome<()> {
    let shape = Shape {
        files: args.files,
        rows: args.rows,
        members: args.columns,
        distinct: args.distinct,
        seed: args.common.seed,
    };
    let mut clock = Clock::start();
    match args.what {
        What::Ensemble => made::ensemble(&args.output, &shape)?,
        What::Features => made::features(&args.output, &shape)?,
    }
    clock.step("make");
    let mut summary = Summary::new();
    summary
        .both("n", "objects", shape.files as u64 * shape.rows)
        .both("files", "files", shape.files)
        .both("columns", "columns", shape.members);
    clock.tell(&mut summary);
    summary.line("table", args.output.display());
    summary.print(&args.common, terminal)
}
