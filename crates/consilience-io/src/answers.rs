use std::path::Path;

use consilience_core::{Error, Observer, Result};
#[cfg(feature = "csv")]
use rustc_hash::FxHashMap;

use crate::allowance::Allowance;
#[cfg(feature = "csv")]
use crate::csv::trouble;
#[cfg(feature = "csv")]
use crate::fault::excerpt;
use crate::fault::{listed, malformed};
use crate::input::Input;
#[cfg(feature = "npy")]
use crate::npz;
#[cfg(feature = "csv")]
use crate::text::{Text, check_separator};

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
    Ok(Input::file(path)?.answers(observer)?.output)
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
    Err(malformed(format!(
        "columns {}; expected worker,task,item,group or worker,task,item,keyword or \
         worker,i,j,same by name",
        listed(names)
    )))
}

/// The cells of the four columns, one after the other in one text.
#[cfg(feature = "csv")]
#[derive(Default)]
struct Texts {
    text: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<[usize; 4]>,
}

#[cfg(feature = "csv")]
impl Texts {
    fn add(&mut self, cells: [&str; 4], allowance: &Allowance) -> Result<()> {
        let mut ends = [0; 4];
        for (cell, end) in cells.into_iter().zip(&mut ends) {
            if self.text.capacity() - self.text.len() < cell.len() {
                allowance.grow(&mut self.text, cell.len())?;
            }
            self.text.extend_from_slice(cell.as_bytes());
            *end = self.text.len();
        }
        allowance.push(&mut self.ends, ends)
    }

    /// The cells of one of the columns.
    fn column(&self, column: usize, allowance: &Allowance) -> Result<Vec<&str>> {
        let mut texts = allowance.room(self.ends.len())?;
        let mut before = 0;
        for ends in &self.ends {
            let start = if column == 0 { before } else { ends[column - 1] };
            // Whole cells were put together, each of them valid.
            texts.push(std::str::from_utf8(&self.text[start..ends[column]]).unwrap_or_default());
            before = ends[3];
        }
        Ok(texts)
    }
}

#[cfg(feature = "csv")]
pub(crate) fn from_csv(
    file: impl std::io::Read,
    observer: &dyn Observer,
    allowance: &Allowance,
) -> Result<AnswerTable> {
    let text = Text::open(file)?;
    let progress = text.progress();
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
    let header: Vec<String> =
        reader.headers().map_err(trouble)?.iter().map(str::to_owned).collect();
    let (form, at) = form(&header).map_err(|error| match &header[..] {
        [only] => check_separator(only.as_bytes()).err().unwrap_or(error),
        _ => error,
    })?;
    let mut cells = Texts::default();
    let mut record = csv::StringRecord::new();
    loop {
        progress.record();
        if !reader.read_record(&mut record).map_err(trouble)? {
            break;
        }
        cells.add(at.map(|c| record.get(c).unwrap_or_default()), allowance)?;
        if cells.ends.len() % (1 << 14) == 0 {
            observer.check()?;
        }
    }
    let mut rows = allowance.room(cells.ends.len())?;
    rows.resize(cells.ends.len(), [0; 4]);
    let mut names = Vec::new();
    for column in 0..4 {
        let texts = cells.column(column, allowance)?;
        let (numbers, called) = numbers(form, column, &texts, &header[at[column]], allowance)?;
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
    allowance: &Allowance,
) -> Result<(Vec<usize>, Vec<String>)> {
    let bad = |r: usize, expected: &str| -> Error {
        let (header, text) = (excerpt(header), excerpt(texts[r]));
        malformed(format!("row {r}, column {header}: {text:?}; expected {expected}"))
    };
    let mut numbers = allowance.room(texts.len())?;
    if form == AnswerForm::Pairs && column == 3 {
        for (r, text) in texts.iter().enumerate() {
            let same = yes(text).ok_or_else(|| bad(r, "1 or 0, true or false"))?;
            numbers.push(usize::from(same));
        }
        return Ok((numbers, Vec::new()));
    }
    let wrong = texts.iter().position(|text| text.parse::<usize>().is_err());
    match wrong {
        None => {
            numbers.extend(texts.iter().filter_map(|text| text.parse::<usize>().ok()));
            Ok((numbers, Vec::new()))
        }
        Some(_) if names_things(form, column) => match texts.iter().position(|t| t.is_empty()) {
            Some(r) => Err(bad(r, "a number or a name")),
            None => numbered(texts, numbers, allowance),
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
fn numbered(
    texts: &[&str],
    mut numbers: Vec<usize>,
    allowance: &Allowance,
) -> Result<(Vec<usize>, Vec<String>)> {
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    let mut called = Vec::new();
    for &name in texts {
        let fresh = called.len();
        let number = *known.entry(name).or_insert(fresh);
        if number == fresh {
            // The name, its copy and its place in the map.
            allowance.take(name.len() as u64 + 64)?;
            allowance.push(&mut called, name.to_owned())?;
        }
        numbers.push(number);
    }
    Ok((numbers, called))
}

#[cfg(feature = "npy")]
pub(crate) fn from_npz(
    input: &Input<'_>,
    observer: &dyn Observer,
    allowance: &Allowance,
) -> Result<AnswerTable> {
    let names = npz::names(input.open_archive()?)?;
    let (form, at) = form(&names)?;
    let mut rows: Vec<[usize; 4]> = Vec::new();
    for (column, name) in at.into_iter().map(|c| &names[c]).enumerate() {
        let archive = input.open_archive()?;
        let read = npz::read(archive, Some(name), observer, allowance, |stream| stream.features());
        let table = read?.into_f64();
        if table.ncols() != 1 {
            return Err(malformed(format!(
                "array {name:?}: {} columns; expected one",
                table.ncols()
            )));
        }
        if column == 0 {
            rows = allowance.room(table.nrows())?;
            rows.resize(table.nrows(), [0; 4]);
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
                malformed(format!("array {name:?}, row {r}: {v:?}; expected a whole number from 0"))
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
        from_csv(text.as_bytes(), &(), &Allowance::unlimited())
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
        assert!(
            message("0,1,2,3\n").contains("columns 0, 1, 2, 3; expected worker,task,item,group")
        );
        assert!(message("worker;i;j;same\n1;0;1;1\n").contains("separated by semicolons"));
        assert!(table("\u{feff}worker,i,j,same\n1,0,1,1\n").is_ok());
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
