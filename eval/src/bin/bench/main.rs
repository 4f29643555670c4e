//! The bench that `auto` is judged by: groups of ensembles, methods, and evidence without labels.
//!
//! `cargo run --release --bin bench -- make FOLDER` draws the ensembles of every group (a source of
//! data and a way of making members), runs every method on each and on parts of each, and keeps
//! the results in `FOLDER`, where it goes on if it is called again. Pools and sets of features are
//! read from `$CONSILIENCE_DATA`; without them only the drawn worlds are used.
//! `-- rules FOLDER` computes what can be known without labels, writes `evidence.jsonl` (a line for
//! each ensemble and method) and prints how well the methods do, and rules that choose among them.
//! `-- numbers FOLDER` prints how far the recommended number of clusters is from that of classes;
//! it draws the ensembles that are missing, but runs no method.
//! `-- thresholds FOLDER` does the same for rules that choose the confidence of EC-CMS.

#[path = "../../../../tests/reference/mod.rs"]
mod reference;

mod groups;
mod numbers;
mod rules;
mod runs;
mod thresholds;
mod worlds;

use std::path::Path;

use rayon::prelude::*;

use groups::MEMBERS;

pub(crate) type Any = Box<dyn std::error::Error + Send + Sync>;

/// Draws what is missing in the folder, and runs the methods too where asked.
fn make(folder: &Path, run: bool) -> Result<(), Any> {
    std::fs::create_dir_all(folder)?;
    let groups = groups::all();
    let cases: Vec<(usize, u64)> =
        (0..MEMBERS.len() as u64).flat_map(|d| (0..groups.len()).map(move |g| (g, d))).collect();
    println!("{} groups, {} ensembles", groups.len(), cases.len());
    let each = if run { runs::complete } else { runs::draw };
    cases.into_par_iter().try_for_each(|(g, draw)| each(folder, &groups[g], draw))
}

fn main() -> Result<(), Any> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", folder] => make(Path::new(folder), true),
        ["rules", folder] => rules::tables(Path::new(folder)),
        ["numbers", folder] => {
            make(Path::new(folder), false)?;
            numbers::table(Path::new(folder))
        }
        ["thresholds", folder] => {
            make(Path::new(folder), false)?;
            thresholds::table(Path::new(folder))
        }
        _ => Err("expected: make, rules, numbers or thresholds, and FOLDER".into()),
    }
}
