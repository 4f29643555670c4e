use std::path::Path;

use consilience_core::{Error, Observer, Result};
use rustc_hash::FxHashMap;

use crate::allowance::{Allowance, no_room};
use crate::fault::{ensure_format, excerpt, listed, malformed};
use crate::ids::{ObjectIds, Texts};
use crate::input::Input;
use crate::label::is_text;
use crate::lookup::{Lookup, whole};
#[cfg(feature = "npy")]
use crate::npz;
#[cfg(feature = "csv")]
use crate::records::Start;

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

impl AnswerForm {
    /// Which columns name objects.
    fn objects(self) -> &'static [usize] {
        if self == AnswerForm::Pairs { &[1, 2] } else { &[2] }
    }
}

/// The answers of a crowd as their file holds them, workers, tasks, groups and keywords numbered.
///
/// Each row is `[worker, task, item, group]`, `[worker, task, item, keyword]` or
/// `[worker, i, j, same]`, as [`AnswerTable::form`] says; `same` is 1 or 0. Workers who have names
/// are numbered in the order of the names, whatever the order of the rows.
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
    /// What workers, tasks and groups or keywords are called, by column, where the cells of the
    /// column are not all numbers; workers in order.
    names: [Vec<String>; 4],
    /// What the objects are called, where they are not called by numbers.
    ids: Option<ObjectIds>,
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

    /// What the objects are called, where the file names them by text: those of the first answers
    /// come first. Without text the objects are the numbers in the file.
    ///
    /// ```
    /// use consilience::io::{Format, Input};
    ///
    /// let text = "worker,i,j,same\nann,rex,tom,no\nbob,tom,kit,yes\n";
    /// let table = Input::in_memory(text.as_bytes(), Format::Csv).answers(&())?.output;
    /// assert_eq!(table.rows(), [[0, 0, 1, 0], [1, 1, 2, 1]]);
    /// assert_eq!(table.ids().unwrap().get(2), "kit");
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn ids(&self) -> Option<&ObjectIds> {
        self.ids.as_ref()
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
        self.called(0, number)
    }

    /// What a task is called in the file.
    pub fn task(&self, number: usize) -> String {
        self.called(1, number)
    }

    /// What a group or keyword is called in the file.
    pub fn group(&self, number: usize) -> String {
        self.called(3, number)
    }

    /// What an object is called in the file.
    pub fn object(&self, number: usize) -> String {
        match &self.ids {
            Some(ids) if number < ids.n_objects() => ids.get(number).to_owned(),
            _ => number.to_string(),
        }
    }

    fn called(&self, column: usize, number: usize) -> String {
        self.names[column].get(number).cloned().unwrap_or_else(|| number.to_string())
    }
}

/// Reads the answers of a crowd from a CSV file with a header, or from an `.npz` archive with one
/// array per column, of whole numbers or of text. The columns are known by their names, in any
/// order; others are ignored.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("answers.csv");
/// std::fs::write(&path, "worker,i,j,same\nann,0,1,yes\nbob,0,2,no\n").unwrap();
/// let table = consilience::io::read_answers(&path)?;
/// // As the methods on answers take it.
/// let answers = consilience::files::answers(&table, table.n_objects())?;
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
            for (name, first) in columns.iter().zip(at) {
                let more = &names[first + 1..];
                if let Some(again) = more.iter().position(|n| n.eq_ignore_ascii_case(name)) {
                    let again = first + 1 + again;
                    return Err(malformed(format!(
                        "columns {first} and {again} are both called {name:?}"
                    )));
                }
            }
            return Ok((form, at));
        }
    }
    Err(malformed(format!(
        "columns {}; expected worker,task,item,group or worker,task,item,keyword or \
         worker,i,j,same by name",
        listed(names)
    )))
}

/// Answers from text; their objects are looked up among the ids, where there are any.
#[cfg(feature = "csv")]
pub(crate) fn from_csv(
    file: impl std::io::Read,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
    allowance: &Allowance,
    (tabs, notes): (bool, &mut Vec<String>),
) -> Result<AnswerTable> {
    let mut csv = Start::open(file, tabs)?.into_csv();
    let mut record = csv::StringRecord::new();
    csv.next_text(&mut record)?;
    let header: Vec<String> = record.iter().map(|cell| cell.trim().to_owned()).collect();
    let (form, at) = form(&header)?;
    let mut cells: [Texts; 4] = Default::default();
    while csv.next_text(&mut record)?.is_some() {
        let (row, columns, expected) = (cells[0].len(), record.len(), header.len());
        ensure_format!(
            columns == expected,
            "row {row} has {}, expected {expected} as in the header",
            consilience_core::number_of(columns as u64, "column")
        );
        for (texts, c) in cells.iter_mut().zip(at) {
            texts.push(record.get(c).unwrap_or_default().trim(), allowance)?;
        }
        if cells[0].len().is_multiple_of(1 << 14) {
            observer.check()?;
        }
    }
    let columns = Columns { form, cells, header: at.map(|c| header[c].as_str()), allowance };
    columns.numbered(ids, notes)
}

/// The four columns of text on their way to numbers.
struct Columns<'a> {
    form: AnswerForm,
    cells: [Texts; 4],
    header: [&'a str; 4],
    allowance: &'a Allowance,
}

impl Columns<'_> {
    fn numbered(&self, ids: Option<&ObjectIds>, notes: &mut Vec<String>) -> Result<AnswerTable> {
        let n = self.cells[0].len();
        let mut rows = self.allowance.room(n)?;
        rows.resize(n, [0; 4]);
        let mut names: [Vec<String>; 4] = Default::default();
        for column in (0..4).filter(|column| !self.form.objects().contains(column)) {
            let (numbers, called) = self.things(column)?;
            names[column] = called;
            rows.iter_mut().zip(numbers).for_each(|(row, v)| row[column] = v);
            if column == 0 {
                by_name(&mut rows, &mut names[0], self.allowance)?;
            }
        }
        let objects = self.object_cells()?;
        let (numbers, found) = match ids {
            Some(ids) => (self.known(&objects, ids, notes)?, Some(ids.clone())),
            None => self.named(&objects)?,
        };
        for (r, numbers) in numbers.chunks_exact(self.form.objects().len()).enumerate() {
            for (&column, &number) in self.form.objects().iter().zip(numbers) {
                rows[r][column] = number;
            }
        }
        let pairs = self.form == AnswerForm::Pairs;
        let itself = rows.iter().filter(|&[_, i, j, _]| pairs && i == j).count();
        if itself > 0 {
            let rows = consilience_core::number_of(itself as u64, "row");
            notes.push(format!("{rows} of an object compared with itself, which says nothing"));
        }
        Ok(AnswerTable { form: self.form, rows, names, ids: found })
    }

    /// The cells that name objects, row by row.
    fn object_cells(&self) -> Result<Vec<&str>> {
        let (n, columns) = (self.cells[0].len(), self.form.objects());
        let mut cells = self.allowance.room(n * columns.len())?;
        for row in 0..n {
            cells.extend(columns.iter().map(|&column| self.cells[column].get(row)));
        }
        Ok(cells)
    }

    /// Objects that are looked up among the ids.
    fn known(
        &self,
        cells: &[&str],
        ids: &ObjectIds,
        notes: &mut Vec<String>,
    ) -> Result<Vec<usize>> {
        let mut lookup = Lookup::of(Some(ids))?;
        let mut found = self.allowance.room(cells.len())?;
        for (at, cell) in cells.iter().enumerate() {
            found.push(lookup.find(cell, || self.place(at))?);
        }
        let kind = lookup.kind(notes)?;
        Ok(found.into_iter().map(|found| found[kind]).collect())
    }

    /// Objects that are called by numbers or, where some cell is text, by names.
    fn named(&self, cells: &[&str]) -> Result<(Vec<usize>, Option<ObjectIds>)> {
        let mut numbers = self.allowance.room(cells.len())?;
        if cells.iter().all(|cell| whole(cell).is_some()) {
            numbers.extend(cells.iter().filter_map(|cell| whole(cell)));
            return Ok((numbers, None));
        }
        let wrong = |cell: &str| whole(cell).is_none() && !is_text(cell.as_bytes());
        if let Some(at) = cells.iter().position(|cell| wrong(cell)) {
            let (place, cell) = (self.place(at), excerpt(cells[at]));
            return Err(malformed(format!(
                "{place}: {cell:?}; expected the number of an object, from 0, or its name"
            )));
        }
        let (numbers, called) = numbered(cells.iter().copied(), numbers, self.allowance)?;
        Ok((numbers, Some(ObjectIds::new(called)?)))
    }

    fn place(&self, at: usize) -> String {
        let columns = self.form.objects();
        let (row, column) = (at / columns.len(), columns[at % columns.len()]);
        format!("row {row}, column {}", excerpt(self.header[column]))
    }

    /// One column of text as numbers, and what they are called where the text holds names.
    fn things(&self, column: usize) -> Result<(Vec<usize>, Vec<String>)> {
        let texts = &self.cells[column];
        let bad = |r: usize, expected: &str| -> Error {
            let (header, text) = (excerpt(self.header[column]), excerpt(texts.get(r)));
            malformed(format!("row {r}, column {header}: {text:?}; expected {expected}"))
        };
        let mut numbers = self.allowance.room(texts.len())?;
        if self.form == AnswerForm::Pairs && column == 3 {
            for (r, text) in texts.iter().enumerate() {
                let same = yes(text).ok_or_else(|| bad(r, "1 or 0, true or false"))?;
                numbers.push(usize::from(same));
            }
            return Ok((numbers, Vec::new()));
        }
        if texts.iter().all(|text| text.parse::<usize>().is_ok()) {
            numbers.extend(texts.iter().filter_map(|text| text.parse::<usize>().ok()));
            return Ok((numbers, Vec::new()));
        }
        match texts.iter().position(str::is_empty) {
            Some(r) => Err(bad(r, "a number or a name")),
            None => numbered(texts.iter(), numbers, self.allowance),
        }
    }
}

fn yes(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "1.0" | "true" | "yes" | "y" | "same" => Some(true),
        "0" | "0.0" | "false" | "no" | "n" | "apart" | "different" => Some(false),
        _ => None,
    }
}

/// Numbers the workers of rows in the order of their names, which no order of the rows changes.
fn by_name(rows: &mut [[usize; 4]], names: &mut [String], allowance: &Allowance) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let mut order: Vec<usize> = allowance.room(names.len())?;
    order.extend(0..names.len());
    order.sort_unstable_by(|&a, &b| names[a].cmp(&names[b]));
    let mut number: Vec<usize> = allowance.room(names.len())?;
    number.resize(names.len(), 0);
    order.iter().enumerate().for_each(|(new, &old)| number[old] = new);
    rows.iter_mut().for_each(|row| row[0] = number[row[0]]);
    names.sort_unstable();
    Ok(())
}

/// The number of each row, and the names in the order of their first appearance.
fn numbered<'a>(
    texts: impl Iterator<Item = &'a str>,
    mut numbers: Vec<usize>,
    allowance: &Allowance,
) -> Result<(Vec<usize>, Vec<String>)> {
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    let mut called = Vec::new();
    for name in texts {
        let fresh = called.len();
        if known.len() == known.capacity() {
            known.try_reserve(1).map_err(|_| no_room::<(&str, usize)>(fresh + 1))?;
        }
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
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
    allowance: &Allowance,
    notes: &mut Vec<String>,
) -> Result<AnswerTable> {
    let names = npz::names(input.open_archive()?)?;
    let (form, at) = form(&names)?;
    let header = at.map(|column| names[column].as_str());
    let mut cells: [Texts; 4] = Default::default();
    for (column, name) in header.into_iter().enumerate() {
        // Names, as numbers are where they are whole.
        let archive = input.open_archive()?;
        cells[column] = npz::read(archive, Some(name), observer, allowance, |s| s.texts())?;
        let (found, n) = (cells[column].len(), cells[0].len());
        ensure_format!(
            found == n,
            "array {name:?}: {found} rows; expected {n}, as the array {:?}",
            header[0]
        );
    }
    Columns { form, cells, header, allowance }.numbered(ids, notes)
}

#[cfg(all(test, feature = "csv"))]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<AnswerTable> {
        from_csv(text.as_bytes(), None, &(), &Allowance::unlimited(), (false, &mut Vec::new()))
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
        assert_eq!([t.task(0), t.object(4), t.group(1)], ["t1", "4", "b"]);
        let t = table("worker,i,j,same\n7,0,1,TRUE\n7, 2,1,0\n").unwrap();
        assert_eq!((t.form, t.n_objects(), t.worker(7)), (AnswerForm::Pairs, 3, "7".into()));
        assert_eq!(t.rows, [[7, 0, 1, 1], [7, 2, 1, 0]]);
        // As programs write whole numbers that they keep as floats.
        let floats = table("worker,i,j,same\n7,0.0,1.0,1.0\n7,2.0,1.0,0.0\n").unwrap();
        assert_eq!((floats.rows, floats.ids), (t.rows, None));
        let t = table("worker,task,item,keyword\n0,0,0,cat\n0,0,1,cat\n0,0,1,dog\n").unwrap();
        assert_eq!((t.form, t.rows[2]), (AnswerForm::Keywords, [0, 0, 1, 1]));
    }

    #[test]
    fn workers_have_the_same_numbers_in_any_order_of_the_rows() {
        let rows = ["bob,t,0,a\n", "cid,t,0,a\n", "ann,t,1,b\n", "bob,t,1,b\n"];
        let of = |rows: Vec<&str>| {
            table(&("worker,task,item,group\n".to_owned() + &rows.concat())).unwrap()
        };
        let workers = |t: &AnswerTable| -> Vec<usize> { t.rows.iter().map(|row| row[0]).collect() };
        let (plain, turned) = (of(rows.to_vec()), of(rows.into_iter().rev().collect()));
        assert_eq!(plain.names[0], ["ann", "bob", "cid"]);
        assert_eq!(plain.names[0], turned.names[0]);
        assert_eq!((workers(&plain), workers(&turned)), (vec![1, 2, 0, 1], vec![1, 0, 2, 1]));
    }

    #[test]
    fn objects_compared_with_themselves_are_told() {
        let noted = |text: &str| {
            let mut notes = Vec::new();
            let with = (false, &mut notes);
            from_csv(text.as_bytes(), None, &(), &Allowance::unlimited(), with).unwrap();
            notes
        };
        let note = "2 rows of an object compared with itself, which says nothing";
        assert_eq!(noted("worker,i,j,same\na,x,x,1\nb,x,y,0\nb,y,y,1\n"), [note]);
        assert!(noted("worker,i,j,same\na,0,1,1\n").is_empty());
        assert!(noted("worker,task,item,group\n0,1,1,0\n").is_empty());
    }

    #[test]
    fn yes_and_no_are_said_in_many_words() {
        for (text, same) in [("Y", 1), ("yes", 1), ("Same", 1), ("n", 0), ("different", 0)] {
            let t = table(&format!("worker,i,j,same\na,0,1,{text}\n")).unwrap();
            assert_eq!(t.rows[0][3], same, "{text}");
        }
    }

    #[test]
    fn bad_cells_are_named() {
        assert!(
            message("0,1,2,3\n").contains("columns 0, 1, 2, 3; expected worker,task,item,group")
        );
        assert!(table("worker;i;j;same\n1;0;1;1\n").is_ok());
        assert!(table("\u{feff}worker,i,j,same\n1,0,1,1\n").is_ok());
        assert_eq!(
            message("worker,i,j,same\n1,x,-1,1\n"),
            "row 0, column j: \"-1\"; expected the number of an object, from 0, or its name"
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
