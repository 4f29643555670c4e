use std::path::Path;

use consilience_core::{Error, Observer, Result};
#[cfg(feature = "csv")]
use rustc_hash::FxHashMap;

#[cfg(feature = "csv")]
use crate::csv::trouble;
use crate::fault::{malformed, within};
use crate::input::open_file;
use crate::location::{Format, Location};
#[cfg(feature = "npy")]
use crate::npz;

/// The forms that answers come in, by their columns.
const FORMS: [(AnswerForm, [&str; 4]); 3] = [
    (AnswerForm::Groupings, ["worker", "task", "item", "group"]),
    (AnswerForm::Keywords, ["worker", "task", "item", "keyword"]),
    (AnswerForm::Pairs, ["worker", "i", "j", "same"]),
];

/// What a row of answers says.
///
/// From [`AnswerTable::form`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerForm {
    /// `worker, task, item, group`: items of one task in one group are alike.
    Groupings,
    /// `worker, task, item, keyword`: items of one task with the same keywords are alike.
    Keywords,
    /// `worker, i, j, same`: two objects are alike, or not.
    Pairs,
}

/// The answers of a crowd as their file holds them, workers, tasks, groups and keywords numbered.
///
/// Each row is `[worker, task, item, group]`, `[worker, task, item, keyword]` or
/// `[worker, i, j, same]`, as [`AnswerTable::form`] says; `same` is 1 or 0.
///
/// ```
/// use consilience::io::{AnswerForm, read_answers};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("answers.csv");
/// std::fs::write(&path, "worker,i,j,same\nann,0,1,yes\nbob,0,2,no\n").unwrap();
/// let table = read_answers(&path)?;
/// assert_eq!(table.form(), AnswerForm::Pairs);
/// assert_eq!(table.rows(), [[0, 0, 1, 1], [1, 0, 2, 0]]);
/// assert_eq!((table.n_objects(), table.worker(1)), (3, "bob".to_owned()));
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerTable {
    form: AnswerForm,
    rows: Vec<[usize; 4]>,
    /// What the workers are called, where they are not called by numbers.
    names: Vec<String>,
}

impl AnswerTable {
    /// What the four numbers of a row are.
    pub fn form(&self) -> AnswerForm {
        self.form
    }

    /// The rows, in the order of the file.
    pub fn rows(&self) -> &[[usize; 4]] {
        &self.rows
    }

    /// One more than the highest number of an object.
    pub fn n_objects(&self) -> usize {
        let highest = |row: &[usize; 4]| match self.form {
            AnswerForm::Pairs => row[1].max(row[2]),
            _ => row[2],
        };
        self.rows.iter().map(highest).max().map_or(0, |most| most.saturating_add(1))
    }

    /// What a worker is called in the file.
    pub fn worker(&self, number: usize) -> String {
        self.names.get(number).cloned().unwrap_or_else(|| number.to_string())
    }
}

/// Reads the answers of a crowd from a CSV file with a header, or from an `.npz` archive with one
/// array per column. The columns are known by their names, in any order; others are ignored.
///
/// ```
/// use consilience::crowd::{Answers, PairAnswer};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("answers.csv");
/// std::fs::write(&path, "worker,i,j,same\nann,0,1,yes\nbob,0,2,no\n").unwrap();
/// let table = consilience::io::read_answers(&path)?;
/// let rows = table.rows().iter().map(|&[worker, i, j, same]| {
///     PairAnswer { worker, i, j, same: same == 1 }
/// });
/// let rows: Vec<PairAnswer> = rows.collect();
/// let answers = Answers::from_pairs(table.n_objects(), &rows)?;
/// assert_eq!(answers.n_pair_answers(), 2);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Io`](consilience_core::ErrorKind::Io) and
/// [`ErrorKind::Format`](consilience_core::ErrorKind::Format),
/// with file, row and column.
pub fn read_answers(path: impl AsRef<Path>) -> Result<AnswerTable> {
    read_answers_observed(path, &())
}

/// [`read_answers`] with an observer, who may cancel it.
///
/// # Errors
/// As [`read_answers`], and [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
pub fn read_answers_observed(
    path: impl AsRef<Path>,
    observer: &dyn Observer,
) -> Result<AnswerTable> {
    let location = Location::parse(path)?;
    let read = || {
        let file = open_file(&location.path)?.0;
        let _ = (&file, observer);
        match location.format {
            #[cfg(feature = "csv")]
            Format::Csv => from_csv(file),
            #[cfg(feature = "npy")]
            Format::Npz => from_npz(file, observer),
            Format::Npy | Format::Parquet => Err(malformed(
                "answers have named columns; expected a .csv with a header, or an .npz",
            )),
            #[cfg(not(all(feature = "csv", feature = "npy")))]
            other => Err(other.left_out()),
        }
    };
    read().map_err(within(location.path.display()))
}

/// The form whose columns are all there, and where they are.
fn form(names: &[String]) -> Result<(AnswerForm, [usize; 4])> {
    for (form, columns) in FORMS {
        let mut at = [0; 4];
        let found = columns.iter().zip(&mut at).all(|(column, at)| {
            names.iter().position(|n| n.eq_ignore_ascii_case(column)).is_some_and(|p| {
                *at = p;
                true
            })
        });
        if found {
            return Ok((form, at));
        }
    }
    let names: Vec<&str> = names.iter().map(|n| n.get(..40).unwrap_or(n)).collect();
    Err(malformed(format!(
        "columns {}; expected worker,task,item,group or worker,task,item,keyword or \
         worker,i,j,same by name",
        names.join(",")
    )))
}

#[cfg(feature = "csv")]
fn from_csv(file: impl std::io::Read) -> Result<AnswerTable> {
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(std::io::BufReader::new(file));
    let header: Vec<String> = reader
        .headers()
        .map_err(trouble)?
        .iter()
        .map(|h| h.trim_start_matches('\u{feff}').to_owned())
        .collect();
    let (form, at) = form(&header)?;
    let mut cells: Vec<[String; 4]> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(trouble)?;
        cells.push(at.map(|c| record.get(c).unwrap_or_default().to_owned()));
    }
    let mut rows = vec![[0; 4]; cells.len()];
    let mut names = Vec::new();
    for column in 0..4 {
        let texts: Vec<&str> = cells.iter().map(|row| &row[column][..]).collect();
        let (numbers, called) = numbers(form, column, &texts, &header[at[column]])?;
        rows.iter_mut().zip(numbers).for_each(|(row, v)| row[column] = v);
        if column == 0 {
            names = called;
        }
    }
    Ok(AnswerTable { form, rows, names })
}

/// One column of text as numbers, and what they are called where the text holds names.
#[cfg(feature = "csv")]
fn numbers(
    form: AnswerForm,
    column: usize,
    texts: &[&str],
    header: &str,
) -> Result<(Vec<usize>, Vec<String>)> {
    let bad = |r: usize, expected: &str| -> Error {
        malformed(format!("row {r}, column {header}: {:?}; expected {expected}", texts[r]))
    };
    if form == AnswerForm::Pairs && column == 3 {
        let same = |(r, text): (usize, &&str)| {
            yes(text).map(usize::from).ok_or_else(|| bad(r, "1 or 0, true or false"))
        };
        return Ok((texts.iter().enumerate().map(same).collect::<Result<_>>()?, Vec::new()));
    }
    let wrong = texts.iter().position(|text| text.parse::<usize>().is_err());
    match wrong {
        None => Ok((texts.iter().filter_map(|text| text.parse().ok()).collect(), Vec::new())),
        Some(_) if names_things(form, column) => match texts.iter().position(|t| t.is_empty()) {
            Some(r) => Err(bad(r, "a number or a name")),
            None => Ok(numbered(texts)),
        },
        Some(r) => Err(bad(r, "the number of an object, from 0")),
    }
}

/// Which of the four columns name something, rather than count objects or say yes or no.
#[cfg(feature = "csv")]
fn names_things(form: AnswerForm, column: usize) -> bool {
    column == 0 || (form != AnswerForm::Pairs && column != 2)
}

#[cfg(feature = "csv")]
fn yes(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "same" => Some(true),
        "0" | "false" | "no" | "apart" => Some(false),
        _ => None,
    }
}

/// The number of each row, and the names in the order of their first appearance.
#[cfg(feature = "csv")]
fn numbered(texts: &[&str]) -> (Vec<usize>, Vec<String>) {
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    let mut called = Vec::new();
    let numbers = texts
        .iter()
        .map(|&name| {
            *known.entry(name).or_insert_with(|| {
                called.push(name.to_owned());
                called.len() - 1
            })
        })
        .collect();
    (numbers, called)
}

#[cfg(feature = "npy")]
fn from_npz(file: std::fs::File, observer: &dyn Observer) -> Result<AnswerTable> {
    let names = npz::names(&file)?;
    let (form, at) = form(&names)?;
    let mut rows: Vec<[usize; 4]> = Vec::new();
    for (column, name) in at.into_iter().map(|c| &names[c]).enumerate() {
        let reader = std::io::BufReader::new(&file);
        let table = npz::read(reader, Some(name), observer, |stream| stream.features())?.into_f64();
        if table.ncols() != 1 {
            return Err(malformed(format!(
                "array {name:?}: {} columns; expected one",
                table.ncols()
            )));
        }
        if column == 0 {
            rows = vec![[0; 4]; table.nrows()];
        } else if table.nrows() != rows.len() {
            return Err(malformed(format!(
                "array {name:?}: {} rows; expected {}, as the array {:?}",
                table.nrows(),
                rows.len(),
                names[at[0]]
            )));
        }
        for (r, (row, &v)) in rows.iter_mut().zip(&table).enumerate() {
            row[column] = whole(v).ok_or_else(|| {
                malformed(format!("array {name:?}, row {r}: {v}; expected a whole number from 0"))
            })?;
        }
    }
    Ok(AnswerTable { form, rows, names: Vec::new() })
}

/// A whole number that a float holds exactly.
#[cfg(feature = "npy")]
fn whole(v: f64) -> Option<usize> {
    (v >= 0.0 && v.fract() == 0.0 && v < 9_007_199_254_740_992.0).then_some(v as usize)
}

#[cfg(all(test, feature = "csv"))]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<AnswerTable> {
        from_csv(text.as_bytes())
    }

    fn message(text: &str) -> String {
        match table(text) {
            Err(error) => error.message().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_three_forms_by_their_names() {
        let t = table("task,worker,item,group,more\nt1,ann,0,a,x\nt1,ann,4,b,x\nt1,bob,4,a,x\n")
            .unwrap();
        assert_eq!((t.form, t.n_objects()), (AnswerForm::Groupings, 5));
        assert_eq!(t.rows, [[0, 0, 0, 0], [0, 0, 4, 1], [1, 0, 4, 0]]);
        assert_eq!((t.worker(1), t.worker(9)), ("bob".into(), "9".into()));
        let t = table("worker,i,j,same\n7,0,1,TRUE\n7, 2,1,0\n").unwrap();
        assert_eq!((t.form, t.n_objects(), t.worker(7)), (AnswerForm::Pairs, 3, "7".into()));
        assert_eq!(t.rows, [[7, 0, 1, 1], [7, 2, 1, 0]]);
        let t = table("worker,task,item,keyword\n0,0,0,cat\n0,0,1,cat\n0,0,1,dog\n").unwrap();
        assert_eq!((t.form, t.rows[2]), (AnswerForm::Keywords, [0, 0, 1, 1]));
    }

    #[test]
    fn bad_cells_are_named() {
        assert!(message("0,1,2,3\n").contains("columns 0,1,2,3; expected worker,task,item,group"));
        assert_eq!(
            message("worker,i,j,same\n1,0,x,1\n"),
            "row 0, column j: \"x\"; expected the number of an object, from 0"
        );
        assert!(
            message("worker,i,j,same\n1,0,1,2\n")
                .contains("row 0, column same: \"2\"; expected 1 or 0")
        );
        assert!(
            message("worker,task,item,group\na,1,2,\n")
                .contains("column group: \"\"; expected a number or a name")
        );
    }
}
