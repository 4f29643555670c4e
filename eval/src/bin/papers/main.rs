//! Tables of the papers run again: the paper's figure, ours, the difference, and its cause.
//!
//! `papers PART [SEEDS]` prints one part: `trajectories` (Huang, Lai, Wang 2016), `pcc` (Lourenço
//! et al. 2015), `crowd` (Yi 2014, Chapter 3), `side-information` (its Chapters 4 and 5), `updater`
//! (Yi et al. 2015, and Chapter 6), `few-labels` (Yang et al. 2015), `outcome` (the list).
//! `papers docs/reproduction.md` writes the sections of that page and of those in the folder
//! `docs/reproduction`, with `--only PART` one of them; `table-ix`, `fig-8`, `fig-10`, `table-5-3`,
//! `semi-crowd`, `fig-6-3`, `fig-1` and `fig-6-4` are single tables of theirs, without the seconds
//! beside them. Built with the feature `metis`, Table
//! IX has the lines of METIS too; names of methods behind the draws leave out its other lines.

// Pools and labels are looked for by the same file.
#![allow(clippy::duplicate_mod)]

#[path = "../../../../tests/reference/mod.rs"]
mod reference;

mod cells;
mod crowd;
mod few_annotated;
mod few_labels;
mod figures;
mod linked;
mod outcome;
mod page;
mod pcc;
mod pcc_worlds;
mod semi_crowd;
mod side_information;
mod sizes;
mod timed;
mod trajectories;
mod updater;

use std::path::{Path, PathBuf};

type Failure = Box<dyn std::error::Error>;

/// What a part is asked for.
#[derive(Clone, Copy)]
struct Asked<'a> {
    /// Seeds or draws, where a number is given.
    seeds: Option<u64>,
    /// The methods of Table IX to run; none for all.
    rows: &'a [String],
}

/// A section of the page: its name on the command line, its heading, how it is made.
type Part = (&'static str, &'static str, fn(Asked<'_>) -> Result<String, Failure>);

const PARTS: [Part; 7] = [
    ("trajectories", trajectories::HEADING, trajectories::section),
    ("pcc", pcc::HEADING, pcc::section),
    ("crowd", crowd::HEADING, crowd::section),
    ("side-information", side_information::HEADING, side_information::section),
    ("updater", updater::HEADING, updater::section),
    ("few-labels", few_labels::HEADING, few_labels::section),
    ("outcome", outcome::HEADING, outcome::section),
];

/// Tables that can be written anew without the rest of their section.
const TABLES: [Part; 8] = [
    ("table-ix", trajectories::COMPARISON, trajectories::comparison),
    ("fig-8", sizes::BESIDE_MEMBERS, sizes::beside_members),
    ("fig-10", sizes::OVER_SIZE, sizes::over_size),
    ("table-5-3", side_information::COMPARISON, side_information::comparison),
    ("semi-crowd", semi_crowd::HEADING, semi_crowd::figure),
    ("fig-6-3", updater::TENTHS, updater::tenths),
    ("fig-1", updater::TWENTIETHS, updater::twentieths),
    ("fig-6-4", updater::BY_TIER, updater::by_tier),
];

/// The heading of a part or table, as a line.
fn line(part: &Part) -> String {
    let level = if TABLES.iter().any(|t| t.0 == part.0) { "###" } else { "##" };
    format!("{level} {}", part.1)
}

/// A part, its heading above it.
fn made(part: &Part, asked: Asked<'_>) -> Result<String, Failure> {
    Ok(format!("{}\n\n{}", line(part), part.2(asked)?))
}

fn find(name: &str) -> Result<&'static Part, Failure> {
    let all = || PARTS.iter().chain(&TABLES);
    let known = || all().map(|p| p.0).collect::<Vec<_>>().join(", ");
    all().find(|p| p.0 == name).ok_or_else(|| format!("{name}: expected {}", known()).into())
}

/// The list, and a page for each other part, in the folder of the list's name.
fn pages(list: &str) -> Vec<PathBuf> {
    let folder = Path::new(list).with_extension("");
    let own = PARTS.iter().filter(|p| p.1 != outcome::HEADING);
    let own = own.map(|p| folder.join(p.0).with_extension("md"));
    std::iter::once(PathBuf::from(list)).chain(own).collect()
}

/// Writes a part or table anew on the page that has its heading.
fn renew(list: &str, part: &Part, asked: Asked<'_>) -> Result<(), Failure> {
    let heading = line(part);
    for path in pages(list) {
        let page = std::fs::read_to_string(&path)?;
        if let Some(place) = page::place(&page, &heading) {
            let section = made(part, asked)?;
            let text = [&page[..place.start], &section, &page[place.end..]].concat();
            return Ok(std::fs::write(path, text.trim_end().to_string() + "\n")?);
        }
    }
    Err(format!("no page of {list} has the heading {heading}").into())
}

fn main() -> Result<(), Failure> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let only = words.iter().position(|a| a == "--only");
    let only = only.map(|at| words.drain(at..(at + 2).min(words.len())).nth(1).unwrap_or_default());
    let seeds = words.get(1).map(|d| d.parse()).transpose()?;
    let asked = Asked { seeds, rows: words.get(2..).unwrap_or_default() };
    let Some(first) = words.first() else {
        println!(
            "papers PART [SEEDS [METHOD ...]], or papers docs/reproduction.md [--only PART] [SEEDS]"
        );
        return Ok(());
    };
    if !first.ends_with(".md") {
        print!("{}", made(find(first)?, asked)?);
        return Ok(());
    }
    if !asked.rows.is_empty() {
        return Err("a page takes whole tables: name methods only where a table is printed".into());
    }
    match only {
        Some(name) => renew(first, find(&name)?, asked),
        None => PARTS.iter().try_for_each(|part| renew(first, part, asked)),
    }
}
