use std::io::Read;
use std::path::Path;

use consilience_core::{Constraints, Link, Pair, Result};
use csv::{ReaderBuilder, StringRecord};
use rustc_hash::FxHashMap;

use crate::allowance::Allowance;
use crate::csv::trouble;
use crate::fault::{excerpt, malformed, system, within};
use crate::text::{Text, check_separator};

const COLUMNS: [&str; 4] = ["i", "j", "link", "batch"];

/// Reads must-links and cannot-links over so many objects, all batches together: CSV rows
/// `i,j,link` with objects counted from 0 and link `must` or `cannot`, with or without a header; a
/// fourth column `batch` is allowed.
///
/// ```
/// use consilience::Link;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("pairs.csv");
/// std::fs::write(&path, "i,j,link\n0,1,must\n1,2,cannot\n").unwrap();
/// let constraints = consilience::io::read_constraints(&path, 3)?;
/// assert_eq!(constraints.relation(0, 2), Some(Link::Cannot));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Io`](consilience_core::ErrorKind::Io),
/// [`ErrorKind::Format`](consilience_core::ErrorKind::Format),
/// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does not
/// exist, [`ErrorKind::Contradiction`](consilience_core::ErrorKind::Contradiction) for a row that
/// contradicts those above it. The message names file and line.
pub fn read_constraints(path: impl AsRef<Path>, objects: usize) -> Result<Constraints> {
    let path = path.as_ref();
    let read = || {
        let mut constraints = Constraints::new(objects)?;
        for row in rows(path)? {
            let Pair { i, j, link } = row.pair;
            constraints.add(i, j, link).map_err(within(format!("line {}", row.line)))?;
        }
        Ok(constraints)
    };
    read().map_err(within(path.display()))
}

/// Constraints that come together.
///
/// From [`read_batches`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Batch {
    /// What the file calls it; empty where it has no fourth column.
    pub name: String,
    /// Its pairs, in the order of the file.
    pub pairs: Vec<Pair>,
}

/// Reads must-links and cannot-links batch by batch, in the order in which the batches first
/// appear; all in one where there is no fourth column that names them.
///
/// ```
/// use consilience::Pair;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("pairs.csv");
/// std::fs::write(&path, "0,1,must,monday\n1,2,cannot,tuesday\n").unwrap();
/// let batches = consilience::io::read_batches(&path)?;
/// assert_eq!(batches[1].name, "tuesday");
/// assert_eq!(batches[1].pairs, [Pair::cannot_link(1, 2)]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Io`](consilience_core::ErrorKind::Io) and
/// [`ErrorKind::Format`](consilience_core::ErrorKind::Format),
/// with file and line. Whether the objects exist and the pairs agree is seen where they are used.
pub fn read_batches(path: impl AsRef<Path>) -> Result<Vec<Batch>> {
    let path = path.as_ref();
    let mut batches: Vec<Batch> = Vec::new();
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    for row in rows(path).map_err(within(path.display()))? {
        let at = *known.entry(row.batch).or_insert_with_key(|name| {
            batches.push(Batch { name: name.clone(), pairs: Vec::new() });
            batches.len() - 1
        });
        batches[at].pairs.push(row.pair);
    }
    Ok(batches)
}

/// One row.
#[derive(Debug, PartialEq)]
struct Row {
    line: u64,
    pair: Pair,
    /// Empty where the file has no fourth column.
    batch: String,
}

/// The rows of a file; none where it is empty.
fn rows(path: &Path) -> Result<Vec<Row>> {
    let file = std::fs::File::open(path).map_err(system)?;
    parse(file)
}

fn parse(file: impl Read) -> Result<Vec<Row>> {
    let text = Text::open(file)?;
    let progress = text.progress();
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
    let allowance = Allowance::unlimited();
    let mut out = Vec::new();
    let mut record = StringRecord::new();
    let mut first = true;
    loop {
        progress.record();
        let more = reader.read_record(&mut record).map_err(trouble)?;
        if !more {
            return Ok(out);
        }
        let line = record.position().map_or(0, csv::Position::line);
        record.trim();
        let header = std::mem::replace(&mut first, false)
            && record.iter().zip(COLUMNS).all(|(cell, name)| cell.eq_ignore_ascii_case(name));
        if header {
            continue;
        }
        if !(3..=4).contains(&record.len()) {
            check_separator(record.as_slice().as_bytes())
                .map_err(within(format!("line {line}")))?;
            return Err(malformed(format!(
                "line {line}: {} columns; expected i,j,link or i,j,link,batch",
                record.len()
            )));
        }
        let object = |column: usize| {
            record[column].parse().map_err(|_| {
                malformed(format!(
                    "line {line}, column {}: {:?}; expected the number of an object",
                    COLUMNS[column],
                    excerpt(&record[column])
                ))
            })
        };
        let link = match &record[2] {
            link if link.eq_ignore_ascii_case("must") => Link::Must,
            link if link.eq_ignore_ascii_case("cannot") => Link::Cannot,
            other => {
                return Err(malformed(format!(
                    "line {line}, column link: {:?}; expected must or cannot",
                    excerpt(other)
                )));
            }
        };
        let batch = record.get(3).unwrap_or_default().to_owned();
        let row = Row { line, pair: Pair::new(object(0)?, object(1)?, link), batch };
        allowance.push(&mut out, row)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_and_without_a_header() {
        let row = |line, i, j, link, batch: &str| Row {
            line,
            pair: Pair::new(i, j, link),
            batch: batch.to_owned(),
        };
        let expected = vec![row(2, 0, 3, Link::Must, ""), row(3, 4, 1, Link::Cannot, "")];
        assert_eq!(parse("i,j,link\n0,3,must\n4, 1,Cannot\n".as_bytes()).unwrap(), expected);
        let bare = parse("0,3,must,0\n4,1,cannot,7\n".as_bytes()).unwrap();
        assert_eq!(bare, vec![row(1, 0, 3, Link::Must, "0"), row(2, 4, 1, Link::Cannot, "7")]);
        assert_eq!(parse("i,j,link,batch\n".as_bytes()).unwrap(), vec![]);
        // As spreadsheets write it, with a byte order mark.
        let marked = parse("\u{feff}i,j,link\n0,3,must\n".as_bytes()).unwrap();
        assert_eq!(marked, vec![row(2, 0, 3, Link::Must, "")]);
    }

    #[test]
    fn bad_rows_are_named() {
        let message = |text: &str| match parse(text.as_bytes()) {
            Err(error) => error.message().to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            message("0,1,must\n0,1\n"),
            "line 2: 2 columns; expected i,j,link or i,j,link,batch"
        );
        assert!(message("i;j;link\n0;1;must\n").contains("separated by semicolons"));
        assert!(message("0,-1,must\n").contains("column j: \"-1\""));
        assert!(message("0,1,maybe\n").contains("column link: \"maybe\""));
    }
}
