//! The program `consilience`: files in, consensus out. A thin layer over the library of the same
//! name.

/// Returns a failure for bad input, with a formatted message, unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::failure::Failure::Bad(format!($($message)+)));
        }
    };
}

mod args;
mod catalogue;
mod categories;
mod choices;
mod classes;
mod commands;
mod diagnostics;
mod estimate;
mod explain;
mod failure;
mod files;
mod joins;
mod memory;
mod names;
mod outputs;
mod stages;
mod summary;
mod tables;
mod terminal;
mod units;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::FromArgMatches;
use clap::error::ErrorKind;

use args::{Cli, Command, Common};
use failure::{Failure, Outcome};
use terminal::Terminal;

/// What the last panic said, for the one line about it.
static FAULT: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    failure::of_full_files();
    // A panic is a fault of ours; it is reported like every other error, in one line.
    std::panic::set_hook(Box::new(|panic| {
        *FAULT.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => failure.report(),
        Err(_) => {
            let fault = FAULT.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Failure::Bad(format!("a fault of consilience itself, please report it: {fault}"))
                .report()
        }
    }
}

fn run() -> Outcome<()> {
    let parsed = args::command().try_get_matches();
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return no_command(&error),
    };
    match &cli.command {
        Command::Completions(args) => commands::manual::completions(args),
        Command::Man(args) => commands::manual::pages(args),
        command => match command.common() {
            Some((common, list)) => work(command, common, list),
            None => Ok(()),
        },
    }
}

/// Runs a command that works on data, or lists what it lets one choose from.
fn work(command: &Command, common: &Common, list: Option<&str>) -> Outcome<()> {
    start_threads(common.threads)?;
    memory::limit(common.memory.as_deref())?;
    files::name_ids(common.id.as_deref());
    terminal::listen_for_interrupts();
    let terminal = Terminal::new(common.quiet, common.json);
    let outcome = match list {
        Some(name) => explain::run(command, name, common, &terminal),
        None => done(command, &terminal),
    };
    match outcome {
        Ok(()) => terminal.finish(),
        Err(_) => terminal.clear(),
    }
    outcome
}

/// Does what a command is for.
fn done(command: &Command, terminal: &Terminal) -> Outcome<()> {
    match command {
        Command::Demo(args) => commands::demo::run(args, terminal),
        Command::Generate(args) => commands::generate::run(args, terminal),
        Command::Consensus(args) => commands::consensus::run(args, terminal),
        Command::Crowd(args) => commands::crowd::run(args, terminal),
        Command::Complete(args) => commands::complete::run(args, terminal),
        Command::Update(args) => commands::update::run(args, terminal),
        Command::Cluster(args) => commands::cluster::run(args, terminal),
        Command::Ask(args) => commands::ask::run(args, terminal),
        Command::Predict(args) => commands::predict::run(args, terminal),
        Command::Score(args) => commands::score::run(args, terminal),
        Command::Plot(args) => commands::plot::run(args, terminal),
        Command::Report(args) => commands::report::run(args, terminal),
        // These were run before.
        Command::Completions(_) | Command::Man(_) => Ok(()),
    }
}

/// What is said where the command line holds no command: help, the version, or what is wrong.
fn no_command(error: &clap::Error) -> Outcome<()> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => summary::print(&error.to_string()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(Failure::bad(
            "no command; expected demo, generate, consensus, crowd, complete, update, cluster, \
             ask, predict, score, plot, report, completions or man; see --help",
        )),
        _ => Err(Failure::Bad(args::one_line(error))),
    }
}

fn start_threads(threads: Option<usize>) -> Outcome<()> {
    if let Some(threads) = threads {
        ensure!((1..=1024).contains(&threads), "--threads {threads}; expected 1..=1024");
    }
    // The environment may not ask for what the option may not.
    let environment = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
    let threads = threads.or(environment.filter(|&asked: &usize| asked > 1024).map(|_| 1024));
    // At once, so that threads which the system does not give are an error like any other.
    rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build_global().map_err(
        |error| {
            let asked = threads.map_or(String::new(), |threads| format!("--threads {threads}: "));
            Failure::Bad(format!("{asked}no memory for threads, or too many of them: {error}"))
        },
    )
}
