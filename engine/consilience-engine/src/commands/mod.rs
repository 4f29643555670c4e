//! One module per command.

use std::path::Path;

use consilience_datafusion::{Output, Table};

use crate::args::Common;
use crate::failure::{Failure, Outcome};
use crate::summary::Summary;
use crate::terminal::Terminal;

pub(crate) mod consensus;
pub(crate) mod generate;
pub(crate) mod make;
pub(crate) mod score;
pub(crate) mod update;

/// The ensemble: its ids apart, and the chosen columns.
fn ensemble(path: &Path, id: Option<&str>, columns: &[usize]) -> Outcome<Table> {
    let mut table = Table::open(path)?;
    if let Some(id) = id {
        table = table.ids(id)?;
    }
    if !columns.is_empty() {
        table = table.columns(columns)?;
    }
    Ok(table)
}

/// Prints, and puts the files in their place: all that may fail before has left it as it was.
fn conclude(
    output: Option<Output>,
    mut summary: Summary,
    common: &Common,
    terminal: &Terminal,
) -> Outcome<()> {
    let Some(mut output) = output else { return summary.print(common, terminal) };
    output.finish()?;
    summary.line("written to", output.place().display());
    match summary.print(common, terminal) {
        // Whoever read our standard output has gone, but wanted the files.
        printed @ (Ok(()) | Err(Failure::ClosedPipe)) => {
            output.commit()?;
            printed
        }
        failed => failed,
    }
}
