//! Edges of a network between the objects.

use std::io::Read;

use consilience_core::{Error, Observer, Result};
use ndarray::ArrayView2;

use crate::allowance::Allowance;
use crate::fault::{ensure_format, excerpt};
use crate::ids::ObjectIds;
use crate::label::EXACT;
use crate::lookup::Lookup;
#[cfg(feature = "csv")]
use crate::records::Start;

/// An end of an edge that is not known by its id, or not by its number.
const NONE: u32 = u32::MAX;

/// What is wrong with an edge.
fn check(i: usize, j: usize, objects: usize, place: impl Fn() -> String) -> Result<()> {
    let last = i.max(j);
    if last >= objects {
        // Numbers that 32 bits do not hold have been cut to the largest.
        let more = if last >= NONE as usize { " or more" } else { "" };
        return Err(Error::out_of_range(format!("{}: node {last}{more} of {objects}", place())));
    }
    ensure_format!(i != j, "{}: an edge from node {i} to itself", place());
    Ok(())
}

/// Edges from two columns of numbers.
pub(crate) fn from_numbers(
    table: ArrayView2<'_, f64>,
    objects: usize,
    ids: Option<&ObjectIds>,
    allowance: &Allowance,
    notes: &mut Vec<String>,
) -> Result<Vec<(usize, usize)>> {
    ensure_format!(table.ncols() == 2, "{} columns; expected two, of nodes", table.ncols());
    let mut edges = Vec::new();
    allowance.grow(&mut edges, table.nrows())?;
    for (row, ends) in table.rows().into_iter().enumerate() {
        let mut nodes = [0; 2];
        for (column, (&end, node)) in ends.iter().zip(&mut nodes).enumerate() {
            let exact = ids.is_none() || end < EXACT;
            ensure_format!(
                end >= 0.0 && end.fract() == 0.0 && exact,
                "row {row}, column {column}: {end}; expected the number of a node"
            );
            // What is beyond all numbers is beyond all objects.
            *node = end as usize;
        }
        edges.push((nodes[0], nodes[1]));
    }
    if let Some(ids) = ids {
        let mut lookup = Lookup::of(Some(ids))?;
        let mut found = Vec::new();
        allowance.grow(&mut found, edges.len())?;
        for (row, &(i, j)) in edges.iter().enumerate() {
            let mut node = |node: usize| lookup.find(&node.to_string(), || format!("row {row}"));
            found.push([node(i)?, node(j)?]);
        }
        let kind = lookup.kind(notes)?;
        edges = found.into_iter().map(|[i, j]| (i[kind], j[kind])).collect();
    }
    for (row, &(i, j)) in edges.iter().enumerate() {
        check(i, j, objects, || format!("row {row}"))?;
    }
    Ok(edges)
}

/// Edges from two columns of text, which may have names; nodes by id or else by number.
#[cfg(feature = "csv")]
pub(crate) fn from_csv(
    file: impl Read,
    objects: usize,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
    allowance: &Allowance,
    (tabs, notes): (bool, &mut Vec<String>),
) -> Result<Vec<(usize, usize)>> {
    let mut nodes = Lookup::of(ids)?;
    // By id and by number.
    let mut found: Vec<[[u32; 2]; 2]> = Vec::new();
    let mut lines = Lines::default();
    let mut first = true;
    Start::open(file, tabs)?.each(|record, line| {
        let columns = record.len();
        ensure_format!(columns == 2, "line {line}: {columns} columns; expected two, of nodes");
        if found.len().is_multiple_of(1 << 16) {
            observer.check()?;
        }
        let known = |cell: &str| nodes.knows(cell) || cell.parse::<u64>().is_ok();
        if std::mem::take(&mut first) && !known(&record[0]) && !known(&record[1]) {
            if ids.is_some() {
                let [a, b] = [&record[0], &record[1]].map(excerpt);
                notes.push(format!("{a:?} and {b:?} were read as the names of its columns"));
            }
            return Ok(());
        }
        let mut node = |c: usize| -> Result<[u32; 2]> {
            let found = nodes.find(&record[c], || format!("line {line}, column {c}"))?;
            Ok(found.map(|node| u32::try_from(node).unwrap_or(NONE)))
        };
        let ends = [node(0)?, node(1)?];
        lines.push(found.len(), line, allowance)?;
        allowance.push(&mut found, ends)
    })?;
    let kind = nodes.kind(notes)?;
    let mut edges = Vec::new();
    allowance.grow(&mut edges, found.len())?;
    for (e, [a, b]) in found.into_iter().enumerate() {
        let (i, j) = (a[kind] as usize, b[kind] as usize);
        check(i, j, objects, || format!("line {}", lines.of(e)))?;
        edges.push((i, j));
    }
    Ok(edges)
}

/// The lines that edges are in: runs of one line each.
#[derive(Default)]
struct Lines(Vec<(usize, u64)>);

impl Lines {
    fn push(&mut self, edge: usize, line: u64, allowance: &Allowance) -> Result<()> {
        let next = self.0.last().map(|&(first, at)| at + (edge - first) as u64);
        if next == Some(line) { Ok(()) } else { allowance.push(&mut self.0, (edge, line)) }
    }

    fn of(&self, edge: usize) -> u64 {
        let run = self.0.partition_point(|&(first, _)| first <= edge);
        run.checked_sub(1).map_or(0, |run| self.0[run].1 + (edge - self.0[run].0) as u64)
    }
}

#[cfg(all(test, feature = "csv"))]
mod tests {
    use consilience_core::Fit;

    use super::*;
    use crate::{Format, Input};

    fn read(text: &str, ids: Option<&ObjectIds>) -> Result<Vec<(usize, usize)>> {
        let input = Input::in_memory(text.as_bytes(), Format::Csv);
        input.edges(3, ids, &()).map(|fit| fit.output)
    }

    #[test]
    fn with_and_without_a_header_by_number_and_by_id() {
        assert_eq!(read("0,1\n2,1\n", None).unwrap(), [(0, 1), (2, 1)]);
        assert_eq!(read("\u{feff}from;to\r\n0;2\r\n", None).unwrap(), [(0, 2)]);
        assert_eq!(read("from,to\n", None).unwrap(), []);
        let ids = ObjectIds::new(["a", "b", "c"]).unwrap();
        assert_eq!(read("a,b\nc,b\n", Some(&ids)).unwrap(), [(0, 1), (2, 1)]);
        // None of the ids, but numbers of rows.
        assert_eq!(read("0,2\n1,2\n", Some(&ids)).unwrap(), [(0, 2), (1, 2)]);
        let input = Input::in_memory(b"from,to\nc,b\n", Format::Csv);
        let Fit { output, report, .. } = input.edges(3, Some(&ids), &()).unwrap();
        assert_eq!(output, [(2, 1)]);
        assert!(report.notes[0].contains("\"from\" and \"to\""), "{:?}", report.notes);
    }

    #[test]
    fn whatever_is_wrong_is_named() {
        let message = |text: &str, ids| read(text, ids).unwrap_err().message().to_owned();
        assert_eq!(message("0,1\n1,3\n", None), "line 2: node 3 of 3");
        assert_eq!(message("0,5000000000\n", None), "line 1: node 4294967295 or more of 3");
        assert_eq!(message("i,j\n0,1\n1,1\n", None), "line 3: an edge from node 1 to itself");
        assert_eq!(message("0,1,2\n", None), "line 1: 3 columns; expected two, of nodes");
        assert!(message("0,1\n0,x\n", None).starts_with("line 2, column 1: \"x\""));
        let ids = ObjectIds::new(["a", "b", "c"]).unwrap();
        assert!(message("a,b\na,d\n", Some(&ids)).starts_with("line 2, column 1: \"d\""));
    }

    #[test]
    fn arrays_of_numbers() {
        let edges_of = |table: ndarray::Array2<f64>, ids: Option<&ObjectIds>| {
            from_numbers(table.view(), 3, ids, &Allowance::unlimited(), &mut Vec::new())
        };
        let edges = |bad: [f64; 2]| edges_of(ndarray::array![[2.0, 1.0], bad], None);
        // Ids that are numbers, and numbers of rows where none is an id.
        let ids = ObjectIds::new(["2", "0", "1"]).unwrap();
        assert_eq!(edges_of(ndarray::array![[2.0, 1.0]], Some(&ids)).unwrap(), [(0, 2)]);
        let others = ObjectIds::new(["7", "8", "9"]).unwrap();
        assert_eq!(edges_of(ndarray::array![[2.0, 1.0]], Some(&others)).unwrap(), [(2, 1)]);
        assert!(edges_of(ndarray::array![[7.0, 1.0]], Some(&others)).is_err());
        assert!(edges_of(ndarray::array![[2.0, 9.1e15]], Some(&ids)).is_err());
        assert_eq!(edges([0.0, 1.0]).unwrap(), [(2, 1), (0, 1)]);
        for bad in [[0.0, 0.5], [0.0, -1.0], [1.0, 1.0], [0.0, 3.0], [0.0, 1e300]] {
            let error = edges(bad).unwrap_err();
            assert!(error.message().starts_with("row 1"), "{error}");
        }
    }
}
