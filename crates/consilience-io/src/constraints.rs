use std::io::{Cursor, Read};
use std::path::Path;

use consilience_core::{Constraints, Fit, Link, Pair, Report, Result, number_of};
use csv::StringRecord;
use rustc_hash::FxHashMap;

use crate::allowance::Allowance;
use crate::fault::{ensure_format, excerpt, listed, malformed, system, within};
use crate::ids::ObjectIds;
use crate::location::{Format, Location};
use crate::lookup::{Found, Lookup};
use crate::records::Start;

const COLUMNS: [&str; 4] = ["i", "j", "link", "batch"];
/// What a message says of them.
const EXPECTED: &str = "columns are i,j,link[,batch]";
/// Bytes that tell other formats from text.
const START: u64 = 16;

/// Reads must-links and cannot-links over so many objects, all batches together: CSV rows
/// `i,j,link` with objects counted from 0 and link `must` or `cannot`, with or without a header; a
/// fourth column `batch` is allowed. A header with these names may have them in any order, and
/// others, which are not read.
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
    let read = || added(rows(path, None, &mut Vec::new())?, objects, None);
    read().map_err(within(path.display()))
}

/// Reads must-links and cannot-links over objects with ids: as [`read_constraints`], but the cells
/// `i` and `j` hold ids. A file without any of the ids that holds row numbers is read by these, and
/// a note says so.
///
/// ```
/// use consilience::Link;
/// use consilience::io::{ObjectIds, read_constraints_by_id};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("pairs.csv");
/// std::fs::write(&path, "i,j,link\np9,p1,must\np1,p4,cannot\n").unwrap();
/// let ids = ObjectIds::new(["p1", "p4", "p9"])?;
/// let constraints = read_constraints_by_id(&path, &ids)?.output;
/// assert_eq!(constraints.relation(1, 2), Some(Link::Cannot));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// As [`read_constraints`]; [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for an id
/// that no object has.
pub fn read_constraints_by_id(path: impl AsRef<Path>, ids: &ObjectIds) -> Result<Fit<Constraints>> {
    let path = path.as_ref();
    let mut report = Report::default();
    let read = |notes| added(rows(path, Some(ids), notes)?, ids.n_objects(), Some(ids));
    let constraints = read(&mut report.notes).map_err(within(path.display()))?;
    Ok(Fit::new(constraints, report))
}

fn added(rows: Vec<Row>, objects: usize, ids: Option<&ObjectIds>) -> Result<Constraints> {
    let called = |object: usize| match ids {
        Some(ids) => ids.get(object).to_owned(),
        None => object.to_string(),
    };
    let mut constraints = Constraints::new(objects)?;
    for row in rows {
        let Pair { i, j, link } = row.pair;
        let added = constraints.add_called(i, j, link, &called);
        added.map_err(within(format!("line {}", row.line)))?;
    }
    Ok(constraints)
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
    /// The line of each pair.
    pub lines: Vec<u64>,
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
    Ok(in_batches(rows(path, None, &mut Vec::new()).map_err(within(path.display()))?))
}

/// Reads must-links and cannot-links over objects with ids, batch by batch: as [`read_batches`],
/// with objects as [`read_constraints_by_id`] has them.
///
/// # Errors
/// As [`read_batches`], and for an id that no object has.
pub fn read_batches_by_id(path: impl AsRef<Path>, ids: &ObjectIds) -> Result<Fit<Vec<Batch>>> {
    let path = path.as_ref();
    let mut report = Report::default();
    let rows = rows(path, Some(ids), &mut report.notes).map_err(within(path.display()))?;
    Ok(Fit::new(in_batches(rows), report))
}

fn in_batches(rows: Vec<Row>) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    for row in rows {
        let at = *known.entry(row.batch).or_insert_with_key(|name| {
            batches.push(Batch { name: name.clone(), ..Batch::default() });
            batches.len() - 1
        });
        batches[at].pairs.push(row.pair);
        batches[at].lines.push(row.line);
    }
    batches
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
fn rows(path: &Path, ids: Option<&ObjectIds>, notes: &mut Vec<String>) -> Result<Vec<Row>> {
    let tabs = Location::parse(path).is_ok_and(|location| location.tabs());
    parse(std::fs::File::open(path).map_err(system)?, tabs, ids, notes)
}

/// Where the columns of a file are.
#[derive(Clone, Copy)]
struct Places {
    /// Those of [`COLUMNS`].
    at: [usize; 4],
    /// How many a row must have; where the order is the usual one, some may do without a batch.
    exactly: Option<usize>,
}

impl Places {
    const USUAL: Places = Places { at: [0, 1, 2, 3], exactly: None };

    /// As the first row names them; `None` where it is no header.
    fn named(record: &StringRecord) -> Option<Self> {
        let of = |name: &str| record.iter().position(|cell| cell.eq_ignore_ascii_case(name));
        if let [Some(i), Some(j), Some(link), batch] = COLUMNS.map(of) {
            let more = record.len() > 3 + usize::from(batch.is_some());
            // A batch may have no name in the header, where nothing else could be in its place.
            let at = [i, j, link, batch.unwrap_or(if more { usize::MAX } else { 3 })];
            let exactly = (at != Self::USUAL.at || more).then_some(record.len());
            return Some(Places { at, exactly });
        }
        let mut begins = record.iter().zip(COLUMNS);
        begins.all(|(cell, name)| cell.eq_ignore_ascii_case(name)).then_some(Self::USUAL)
    }

    /// The link of a row, which has a cell in each place.
    fn link(&self, record: &StringRecord, line: u64) -> Result<Link> {
        let found = record.len();
        match self.exactly {
            Some(exactly) => ensure_format!(
                found == exactly,
                "line {line}: {}; expected {exactly}, as in the header",
                number_of(found as u64, "column")
            ),
            None => {
                ensure_format!(
                    (3..=4).contains(&found),
                    "line {line}: {}; {EXPECTED}",
                    number_of(found as u64, "column")
                )
            }
        }
        let link = &record[self.at[2]];
        match link.to_ascii_lowercase().as_str() {
            "must" | "must-link" | "must_link" => Ok(Link::Must),
            "cannot" | "cannot-link" | "cannot_link" => Ok(Link::Cannot),
            _ => Err(malformed(format!(
                "line {line}, column link: {:?}; expected must or cannot; {EXPECTED}",
                excerpt(link)
            ))),
        }
    }
}

/// What is text as far as its beginning tells.
fn text(mut file: impl Read) -> Result<impl Read> {
    let mut start = Vec::new();
    file.by_ref().take(START).read_to_end(&mut start).map_err(system)?;
    // The names that binary formats begin with may be ids: PAR1 is a protein. A control byte
    // follows in each of them.
    let control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    ensure_format!(
        Format::of_content(&start) == Format::Csv || !start.iter().any(control),
        "constraints are pairs; expected a .csv whose {EXPECTED}"
    );
    Ok(Cursor::new(start).chain(file))
}

fn parse(
    file: impl Read,
    tabs: bool,
    ids: Option<&ObjectIds>,
    notes: &mut Vec<String>,
) -> Result<Vec<Row>> {
    let allowance = Allowance::unlimited();
    let mut objects = Lookup::of(ids)?;
    let mut out = Vec::new();
    let (mut first, mut places) = (true, Places::USUAL);
    Start::open(text(file)?, tabs)?.each(|record, line| {
        if std::mem::take(&mut first)
            && let Some(named) = Places::named(record)
        {
            places = named;
            let more = record.iter().enumerate().filter(|(c, _)| !named.at.contains(c));
            let more: Vec<String> = more.map(|(_, name)| name.to_owned()).collect();
            if !more.is_empty() {
                notes.push(format!("the columns {} are not read; {EXPECTED}", listed(&more)));
            }
            return Ok(());
        }
        let link = places.link(record, line)?;
        let mut object = |c: usize| {
            objects.find(&record[places.at[c]], || format!("line {line}, column {}", COLUMNS[c]))
        };
        let (i, j) = (object(0)?, object(1)?);
        let batch = record.get(places.at[3]).unwrap_or_default().to_owned();
        allowance.push(&mut out, (Row { line, pair: Pair::new(i[0], j[0], link), batch }, i, j))
    })?;
    let kind = objects.kind(notes)?;
    let chosen = |(mut row, i, j): (Row, Found, Found)| {
        (row.pair.i, row.pair.j) = (i[kind], j[kind]);
        row
    };
    Ok(out.into_iter().map(chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Row>> {
        parse(text.as_bytes(), false, None, &mut Vec::new())
    }

    fn row(line: u64, i: usize, j: usize, link: Link, batch: &str) -> Row {
        Row { line, pair: Pair::new(i, j, link), batch: batch.to_owned() }
    }

    #[test]
    fn rows_are_read_with_and_without_a_header() {
        let expected = vec![row(2, 0, 3, Link::Must, ""), row(3, 4, 1, Link::Cannot, "")];
        assert_eq!(read("i,j,link\n0,3,must\n4, 1,Cannot\n").unwrap(), expected);
        assert_eq!(read("i,j,link\n0,3,must-link\n4,1,cannot_link\n").unwrap(), expected);
        let bare = read("0,3,must,0\n4,1,cannot,7\n").unwrap();
        assert_eq!(bare, vec![row(1, 0, 3, Link::Must, "0"), row(2, 4, 1, Link::Cannot, "7")]);
        assert_eq!(read("i,j,link,batch\n").unwrap(), vec![]);
        // As spreadsheets write it, with a byte order mark.
        let marked = read("\u{feff}i,j,link\n0,3,must\n").unwrap();
        assert_eq!(marked, vec![row(2, 0, 3, Link::Must, "")]);
    }

    #[test]
    fn bad_rows_are_named() {
        let message = |text: &str| match read(text) {
            Err(error) => error.message().to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(message("0,1,must\n0,1\n"), "line 2: 2 columns; columns are i,j,link[,batch]");
        assert!(message("0,-1,must\n").contains("column j: \"-1\""));
        assert!(message("0,1,maybe\n").contains("column link: \"maybe\""));
        let other = message("from,to,kind\n0,1,must\n");
        assert!(other.contains("expected must or cannot; columns are i,j,link[,batch]"), "{other}");
        let short = message("link,i,j,batch\nmust,0,1\n");
        assert_eq!(short, "line 2: 3 columns; expected 4, as in the header");
    }

    #[test]
    fn columns_are_known_by_their_names() {
        let expected = [row(2, 0, 3, Link::Must, ""), row(3, 4, 1, Link::Cannot, "")];
        assert_eq!(read("link,i,j\nmust,0,3\ncannot,4,1\n").unwrap(), expected);
        assert_eq!(read("I,Link,j\n0,must,3\n4,cannot,1\n").unwrap(), expected);
        assert_eq!(read("j; link; i\n3;must;0\n1;cannot;4\n").unwrap(), expected);
        let text = "batch,i,j,link\nmonday,0,3,must\n,4,1,cannot\n";
        let batches = [row(2, 0, 3, Link::Must, "monday"), row(3, 4, 1, Link::Cannot, "")];
        assert_eq!(read(text).unwrap(), batches);
        // Others are not read, and told.
        for text in
            [",i,j,link\n0,0,3,must\n1,4,1,cannot\n", "i,j,link,w\n0,3,must,1\n4,1,cannot,2\n"]
        {
            let mut notes = Vec::new();
            assert_eq!(parse(text.as_bytes(), false, None, &mut notes).unwrap(), expected);
            assert!(notes[0].contains("are not read"), "{notes:?}");
        }
        assert_eq!(read("i,j,link\n0.0,3.0,must\n4.0,1.0,cannot\n").unwrap(), expected);
        // In the usual order a row may do without a batch, or have one that has no name.
        let usual = "i,j,link,batch\n0,3,must\n4,1,cannot\n";
        assert_eq!(read(usual).unwrap(), expected);
        let usual = "i,j,link\n0,3,must,monday\n4,1,cannot\n";
        assert_eq!(read(usual).unwrap(), batches);
    }

    #[test]
    fn tables_of_other_formats_are_no_constraints() {
        for start in [&b"PAR1\x00\x15"[..], b"PK\x03\x04\x00", b"\x93NUMPY\x01", b"ARROW1\x00"] {
            let error = parse(start, false, None, &mut Vec::new()).unwrap_err();
            assert_eq!(
                error.message(),
                "constraints are pairs; expected a .csv whose columns are i,j,link[,batch]"
            );
        }
    }

    #[test]
    fn ids_may_begin_as_other_formats_do() {
        for id in ["PAR1", "ARROW1", "FEA1", "%%MatrixMarket"] {
            let ids = ObjectIds::new([id, "PAR2"]).unwrap();
            for text in [format!("{id},PAR2,must\n"), format!("{id}\tPAR2\tmust\r\n")] {
                let tabs = text.contains('\t');
                let rows = parse(text.as_bytes(), tabs, Some(&ids), &mut Vec::new()).unwrap();
                assert_eq!(rows[0].pair, Pair::new(0, 1, Link::Must), "{text}");
            }
        }
    }

    #[test]
    fn objects_by_id_or_else_by_row() {
        let ids = ObjectIds::new(["a", "1", "c, d"]).unwrap();
        let mut notes = Vec::new();
        let mut of = |text: &str| {
            let rows = parse(text.as_bytes(), false, Some(&ids), &mut notes);
            rows.map(|rows| {
                rows.into_iter().map(|row| (row.pair.i, row.pair.j)).collect::<Vec<_>>()
            })
        };
        assert_eq!(of("i,j,link\na,1,must\n\"c, d\",a,cannot\n").unwrap(), [(0, 1), (2, 0)]);
        assert_eq!(of("i;j;link\na;c, d;must\n").unwrap(), [(0, 2)]);
        assert_eq!(of("0,2,must\n2,0,must\n").unwrap(), [(0, 2), (2, 0)]);
        // One of them is an id: then all have to be.
        let error = of("0,2,must\n1,0,must\n").unwrap_err();
        assert_eq!(
            error.message(),
            "line 1, column i: \"0\"; expected the id of an object; 3 such cells"
        );
        assert!(of("0,3,must\n").unwrap_err().message().contains("expected the id"));
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn a_contradiction_calls_objects_by_their_ids() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.csv");
        std::fs::write(&path, "tom,rex,must\nrex,kit,must\nkit,tom,cannot\n").unwrap();
        let ids = ObjectIds::new(["kit", "rex", "tom"]).unwrap();
        let error = read_constraints_by_id(&path, &ids).unwrap_err();
        let expected = "line 3: cannot-link kit, tom, but must-links say kit = rex = tom";
        assert!(error.message().ends_with(expected), "{error}");
    }
}
