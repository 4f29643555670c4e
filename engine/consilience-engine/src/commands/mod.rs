//! One module per command.

use std::path::Path;

use consilience_datafusion::{Output, Table};

use crate::args::{Command, Common};
use crate::failure::{Failure, Outcome};
use crate::summary::Summary;
use crate::terminal::Terminal;

pub(crate) mod consensus;
pub(crate) mod generate;
#[cfg(feature = "cluster")]
pub(crate) mod machines;
pub(crate) mod make;
pub(crate) mod score;
pub(crate) mod update;

/// Runs a command on tables.
pub(crate) fn run(command: &Command, terminal: &Terminal) -> Outcome<()> {
    match command {
        Command::Consensus(args) => consensus::run(args, terminal),
        Command::Generate(args) => generate::run(args, terminal),
        Command::Update(args) => update::run(args, terminal),
        Command::Score(args) => score::run(args, terminal),
        Command::Make(args) => make::run(args, terminal),
        #[cfg(feature = "cluster")]
        Command::Scheduler(_) | Command::Executor(_) => serve(command),
    }
}

/// Runs a command that goes on until it is ended.
pub(crate) fn serve(command: &Command) -> Outcome<()> {
    match command {
        #[cfg(feature = "cluster")]
        Command::Scheduler(args) => machines::scheduler(args),
        #[cfg(feature = "cluster")]
        Command::Executor(args) => machines::executor(args),
        _ => Ok(()),
    }
}

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
