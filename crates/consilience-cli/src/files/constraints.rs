//! Constraints: CSV rows `i,j,link`, objects counted from 0, link `must` or `cannot`; a fourth
//! column `batch` may say which come together.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use consilience::{Constraints, Link, Pair};
use csv::{ReaderBuilder, StringRecord};
use rustc_hash::FxHashMap;

use crate::failure::{Failure, Outcome};

const COLUMNS: [&str; 4] = ["i", "j", "link", "batch"];

/// The constraints of a file, all batches together, over so many objects. What contradicts what
/// stands above it is refused with its line.
pub(crate) fn read_constraints(path: &Path, objects: usize) -> Outcome<Constraints> {
    let read = || {
        let mut constraints = Constraints::new(objects)?;
        for row in parse(File::open(path)?)? {
            constraints
                .add(row.i, row.j, row.link)
                .map_err(|error| Failure::from(error).within(format!("line {}", row.line)))?;
        }
        Ok(constraints)
    };
    read().map_err(|failure: Failure| failure.within(path.display()))
}

/// One row.
#[derive(Debug, PartialEq)]
struct Row {
    line: u64,
    i: usize,
    j: usize,
    link: Link,
    /// Empty where the file has no fourth column.
    batch: String,
}

/// A batch of constraints: what it is called, and its pairs.
pub(crate) type Batch = (String, Vec<Pair>);

/// The constraints of a file batch by batch, in the order in which the batches first appear; all in
/// one without a column that tells them apart.
pub(crate) fn read_batches(path: &Path) -> Outcome<Vec<Batch>> {
    let read = || {
        let mut batches: Vec<Batch> = Vec::new();
        let mut known: FxHashMap<String, usize> = FxHashMap::default();
        for row in parse(File::open(path)?)? {
            let at = *known.entry(row.batch).or_insert_with_key(|name| {
                batches.push((name.clone(), Vec::new()));
                batches.len() - 1
            });
            batches[at].1.push(Pair { i: row.i, j: row.j, link: row.link });
        }
        Ok(batches)
    };
    read().map_err(|failure: Failure| failure.within(path.display()))
}

fn parse(file: impl Read) -> Outcome<Vec<Row>> {
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(file);
    let mut out = Vec::new();
    let mut record = StringRecord::new();
    let mut first = true;
    loop {
        let more =
            reader.read_record(&mut record).map_err(|error| Failure::Bad(error.to_string()))?;
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
            return Err(Failure::Bad(format!(
                "line {line}: {} columns; expected i,j,link or i,j,link,batch",
                record.len()
            )));
        }
        let object = |column: usize| {
            record[column].parse().map_err(|_| {
                Failure::Bad(format!(
                    "line {line}, column {}: {:?}; expected the number of an object",
                    COLUMNS[column], &record[column]
                ))
            })
        };
        let link = match &record[2] {
            link if link.eq_ignore_ascii_case("must") => Link::Must,
            link if link.eq_ignore_ascii_case("cannot") => Link::Cannot,
            other => {
                return Err(Failure::Bad(format!(
                    "line {line}, column link: {other:?}; expected must or cannot"
                )));
            }
        };
        let batch = record.get(3).unwrap_or_default().to_owned();
        out.push(Row { line, i: object(0)?, j: object(1)?, link, batch });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_and_without_a_header() {
        let row = |line, i, j, link, batch: &str| Row { line, i, j, link, batch: batch.to_owned() };
        let expected = vec![row(2, 0, 3, Link::Must, ""), row(3, 4, 1, Link::Cannot, "")];
        assert_eq!(parse("i,j,link\n0,3,must\n4, 1,Cannot\n".as_bytes()).unwrap(), expected);
        let bare = parse("0,3,must,0\n4,1,cannot,7\n".as_bytes()).unwrap();
        assert_eq!(bare, vec![row(1, 0, 3, Link::Must, "0"), row(2, 4, 1, Link::Cannot, "7")]);
        assert_eq!(parse("i,j,link,batch\n".as_bytes()).unwrap(), vec![]);
    }

    #[test]
    fn bad_rows_are_named() {
        let message = |text: &str| match parse(text.as_bytes()) {
            Err(Failure::Bad(message)) => message,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            message("0,1,must\n0,1\n"),
            "line 2: 2 columns; expected i,j,link or i,j,link,batch"
        );
        assert!(message("0,-1,must\n").contains("column j: \"-1\""));
        assert!(message("0,1,maybe\n").contains("column link: \"maybe\""));
    }
}
