//! `consilience completions` and `consilience man`: what shells and `man` read, made from the
//! command line itself.

use clap_mangen::Man;
use consilience::io::OutputFile;

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::summary;

/// Prints the completions of a shell.
pub(crate) fn completions(args: &args::Completions) -> Outcome<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "consilience", &mut text);
    summary::print(&String::from_utf8_lossy(&text))
}

/// Writes a page about the program and one about each command.
pub(crate) fn pages(args: &args::Man) -> Outcome<()> {
    let mut program = args::command().disable_help_subcommand(true);
    // Gives each command its whole name.
    program.build();
    let mut files = Vec::new();
    for command in std::iter::once(&program).chain(program.get_subcommands()) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let mut file = OutputFile::any(args.folder.join(format!("{name}.1")))?;
        file.write(page(command.clone())?)?;
        files.push(file);
    }
    let (number, folder) = (files.len(), args.folder.display());
    OutputFile::commit_all(files)?;
    summary::print(&format!("{number} pages in {folder}\n"))
}

fn page(command: clap::Command) -> Outcome<Vec<u8>> {
    // In a manual examples come last.
    let examples = command.get_before_help().cloned().unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let mut text = Vec::new();
    let page = Man::new(command.version(version).after_help(examples))
        .source(format!("consilience {version}"));
    page.render(&mut text).map_err(|error| Failure::from(error).within("manual page"))?;
    Ok(text)
}
