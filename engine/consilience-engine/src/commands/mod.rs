//! One module per command.

use std::path::Path;

use consilience::Observer;
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

/// The ensemble: its ids apart, and the chosen columns. A first column that is called so is one of
/// ids, as in the library.
fn ensemble(
    path: &Path,
    id: Option<&str>,
    columns: &[usize],
    terminal: &Terminal,
) -> Outcome<Table> {
    let mut table = Table::open(path)?;
    let called = |name: &&str| name.eq_ignore_ascii_case("id");
    let first = table.names().first().copied().filter(called).map(str::to_owned);
    if let Some(id) = id {
        table = table.ids(id)?;
    } else if let Some(id) = first.filter(|_| table.names().len() > 1) {
        terminal.note(format!("column 0 ({id}) was read as the ids of the objects"));
        table = table.ids(&id)?;
    }
    if !columns.is_empty() {
        table = table.columns(columns)?;
    }
    Ok(table)
}

/// A place for what is written about the table, where one is named.
fn output(place: Option<&Path>, table: &Table, common: &Common) -> Outcome<Option<Output>> {
    Ok(place.map(|place| open(place, table, common)).transpose()?)
}

/// The place that an option names; what goes on from there waits where everything else does that
/// does not fit in memory.
fn open(place: &Path, table: &Table, common: &Common) -> consilience::Result<Output> {
    match &common.spill {
        Some(folder) => Output::through(place, table, folder),
        None => Output::new(place, table),
    }
}

/// Refuses to write over the truth.
fn kept(truth: &Table, places: [Option<&Path>; 2]) -> Outcome<()> {
    match places.into_iter().flatten().find(|place| truth.holds(place)) {
        Some(place) => Err(Failure::Bad(format!(
            "{}: it is read by --truth, and would be replaced; expected another name",
            place.display()
        ))),
        None => Ok(()),
    }
}

/// Refuses two outputs of the same name.
fn apart(output: Option<&Output>, soft: Option<&Output>) -> Outcome<()> {
    let place = |output: &Output| std::path::absolute(output.place()).unwrap_or_default();
    match (output, soft) {
        (Some(output), Some(soft)) if place(output) == place(soft) => {
            Err(Failure::bad("-o and --soft name the same place; expected two"))
        }
        _ => Ok(()),
    }
}

/// Prints, and puts the files in their places: all that may fail before has left them as they
/// were.
fn conclude<const N: usize>(
    outputs: [(&str, Option<Output>); N],
    summary: Summary,
    common: &Common,
    terminal: &Terminal,
) -> Outcome<()> {
    conclude_with(outputs, summary, common, terminal, || Ok(()))
}

/// The same, and something else after it.
fn conclude_with<const N: usize>(
    outputs: [(&str, Option<Output>); N],
    mut summary: Summary,
    common: &Common,
    terminal: &Terminal,
    last: impl FnOnce() -> Outcome<()>,
) -> Outcome<()> {
    let mut places = Vec::new();
    for (what, output) in outputs {
        if let Some(mut output) = output {
            output.finish_observed(terminal)?;
            summary.line(format!("{what} written to"), output.place().display());
            places.push(output);
        }
    }
    terminal.check()?;
    match summary.print(common, terminal) {
        // Whoever read our standard output has gone, but wanted the files.
        printed @ (Ok(()) | Err(Failure::ClosedPipe)) => {
            places.into_iter().try_for_each(Output::commit)?;
            last()?;
            printed
        }
        failed => failed,
    }
}
