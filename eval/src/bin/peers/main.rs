//! Beside other packages: installs them, runs each on the same data as the library, and writes
//! `docs/peers.md`.
//!
//! `peers [FOLDER] [TASK ...]` keeps data and virtual environments in FOLDER (default
//! `consilience-peers` in the folder of temporary files). With tasks it measures their lines
//! alone and puts them in the place of the old ones.
//! Needs `python3` with `venv`, and `cargo` for linfa; what cannot be installed is a line that
//! says so. Sets of `$CONSILIENCE_DATA` take part where they are found.

mod lines;
mod ours;
mod packages;
mod page;
mod rounds;

use std::path::PathBuf;

pub(crate) type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, task, folder] = arguments.as_slice()
        && command == "run"
    {
        return ours::serve(task, folder);
    }
    let folder = match arguments.is_empty() {
        true => std::env::temp_dir().join("consilience-peers"),
        false => PathBuf::from(arguments.remove(0)),
    };
    std::fs::create_dir_all(&folder)?;
    let wanted = |line: &lines::Line| {
        arguments.is_empty() || arguments.iter().any(|a| a == line.ours || a == line.theirs)
    };
    let chosen: Vec<lines::Line> = lines::all().into_iter().filter(wanted).collect();
    let packages =
        packages::Packages::install(&folder, |side| chosen.iter().any(|l| l.side == side));
    let mut results = Vec::new();
    for line in chosen {
        let measured = rounds::compare(&line, &packages, &folder);
        println!("{}", page::row(&line, &measured));
        results.push((line, measured));
    }
    if arguments.is_empty() {
        std::fs::write("docs/peers.md", page::page(&results, &packages))?;
        println!("docs/peers.md: {} lines", results.len());
    } else {
        let new: Vec<String> = results.iter().map(|(l, m)| page::row(l, m)).collect();
        let old = std::fs::read_to_string("docs/peers.md")?;
        std::fs::write("docs/peers.md", page::merged(&old, &new))?;
    }
    Ok(())
}
