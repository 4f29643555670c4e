//! The program `consilience-engine`: what `consilience` does, on Parquet tables larger than memory.

mod args;
mod commands;
// One wording of errors, one reading of sizes and one report on results for both programs.
#[path = "../../../crates/consilience-cli/src/diagnostics.rs"]
mod diagnostics;
#[path = "../../../crates/consilience-cli/src/failure.rs"]
mod failure;
#[path = "../../../crates/consilience-cli/src/memory.rs"]
mod memory;
mod summary;
mod terminal;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::Parser;
use clap::error::ErrorKind;
use consilience_datafusion::Engine;

use args::{Cli, Common};
use failure::{Failure, Outcome};
use terminal::Terminal;

/// What the last panic said, for the one line about it.
static FAULT: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    failure::of_full_files();
    // Readers of Parquet panic on some damaged files. That is caught where they are called, and
    // nothing but the error of the caller is to be seen; elsewhere it is a fault of ours.
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
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return no_command(&error),
    };
    let Some(common) = cli.command.common() else { return commands::serve(&cli.command) };
    start_threads(common.threads)?;
    memory::limit(common.memory.as_deref())?;
    terminal::listen_for_interrupts();
    let terminal = Terminal::new(common.quiet, common.json);
    let outcome = commands::run(&cli.command, &terminal);
    match outcome {
        Ok(()) => terminal.finish(),
        Err(_) => terminal.clear(),
    }
    outcome
}

/// What is said where the command line holds no command: help, the version, or what is wrong.
fn no_command(error: &clap::Error) -> Outcome<()> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => summary::print(&error.to_string()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(Failure::bad(
            "no command; expected consensus, generate, update, score, make, scheduler or executor; \
             see --help",
        )),
        _ => {
            // What is wrong stands before the usage, on one line or on several.
            let text = error.to_string();
            let wrong: Vec<&str> =
                text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage")).collect();
            let wrong = wrong.join(" ");
            let wrong = wrong.trim().trim_start_matches("error: ");
            Err(Failure::bad(format!("{wrong}; see --help")))
        }
    }
}

fn start_threads(threads: Option<usize>) -> Outcome<()> {
    let Some(threads) = threads else { return Ok(()) };
    if !(1..=1024).contains(&threads) {
        return Err(Failure::bad(format!("--threads {threads}; expected 1..=1024")));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| Failure::bad(format!("--threads {threads}: {error}")))
}

/// The engine that the options ask for, for what is written there.
fn engine(common: &Common, output: Option<&Path>) -> Outcome<Engine> {
    let mut builder = Engine::builder().memory(memory::budget().n_bytes());
    if let Some(threads) = common.threads {
        builder = builder.partitions(threads);
    }
    if let Some(folder) = &common.spill {
        builder = builder.spill_folder(folder);
    }
    #[cfg(feature = "cluster")]
    if let Some(machines) = commands::machines::of(&common.cluster)? {
        // Machines tell each other nothing through an object store.
        let local = output.filter(|path| !path.starts_with("s3:") && !path.starts_with("s3a:"));
        let beside = local.and_then(Path::parent).filter(|path| !path.as_os_str().is_empty());
        let shared = common.cluster.shared.as_deref().or(beside).unwrap_or(Path::new("."));
        builder = builder.cluster(std::sync::Arc::new(machines), shared);
    }
    #[cfg(not(feature = "cluster"))]
    let _ = output;
    Ok(builder.build()?)
}
