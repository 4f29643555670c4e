//! Comma-separated text, or separated by semicolons or tabs. The first row is a header where it
//! holds text that is no data; rows and columns are counted from 0 behind it, lines from 1 as
//! editors do.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use csv::ByteRecord;
use ndarray::{Array2, ArrayView2};

use consilience_core::{Error, Observer, Result, number_of};

use crate::allowance::Allowance;
use crate::data_table::DataTable;
use crate::defects::Defects;
use crate::fault::{ensure_format, excerpt, malformed, system};
use crate::features::FeatureTable;
use crate::front::Front;
use crate::ids::{ObjectIds, Texts};
use crate::label::{Label, category, is_text, label, mostly_numbers, number, says_nothing};
use crate::labelled::{Labelled, column_names};
use crate::location::Location;
use crate::records::{Records, separated};
use crate::roles::{Role, Wanted, numbered_names, unique_text};
use crate::row_numbers::{ENOUGH, YEARS, is_header_of_numbers};
use crate::table::LabelColumns;

/// How often a long file looks whether the user wants to stop.
const ROWS_PER_CHECK: usize = 1 << 14;

/// Columns, and rows below, from which on it is no chance that a first row counts: objects of five
/// labels have these in one of 3,125 cases.
const COUNTED: usize = 5;

/// Label columns: negative, empty or NaN is unlabelled, and what is no number is a name.
pub(crate) fn labels(
    file: impl Read,
    observer: &dyn Observer,
    allowance: &Allowance,
    wanted: &Wanted,
    notes: &mut Vec<String>,
) -> Result<LabelColumns> {
    let mut rows = Rows::open(file, wanted.tabs, notes)?;
    rows.hold_numbers()?;
    let mut roles = wanted.roles(&rows.names, notes)?;
    let may = roles.first() == Some(&Role::Maybe);
    if may {
        roles[0] = Role::Value;
    }
    let values: Vec<usize> = chosen(&roles, Role::Value);
    let names = values.iter().map(|&c| rows.names[c].clone()).collect();
    let mut labels = LabelColumns::new(names, allowance)?;
    let mut ids = Ids::of(&roles);
    rows.each(observer, allowance, |cells| {
        for (column, &c) in labels.columns.iter_mut().zip(&values) {
            let label = match label(cells.text(c)) {
                // What is no label is none of the ids either, and was not asked for.
                Err(_) if may && c == 0 => Label::None,
                found => found.map_err(|what| cells.wrong(c, &what))?,
            };
            column.push_label(label)?;
        }
        ids.push(cells, allowance)
    })?;
    rows.note_blank_end(notes);
    check_rows(labels.rows())?;
    let named = ids.at.is_some_and(|at| wanted.names(&rows.names[at]));
    let is_data = |first: &ByteRecord| !named && first_is_data(&labels, &values, &ids, first);
    let why = "says what is said again below, or that something is missing";
    if let Some(first) = rows.first_object(is_data, why, allowance, notes)? {
        for (column, &c) in labels.columns.iter_mut().zip(&values) {
            column.push_front(label(cell(&first, c)).map_err(malformed)?)?;
        }
        ids.push_front(&first, allowance)?;
        labels.names = values.iter().map(usize::to_string).collect();
    }
    let front = Front::of(ids.at, &values);
    labels.ids = ids.finish(&rows.names, notes)?;
    labels.find_ids(wanted, front, may, notes)?;
    Ok(labels)
}

/// Whether a first row with text is an object like those below. A header has at least one text that
/// its column does not have again; so do ids, which are left out of this.
fn first_is_data(labels: &LabelColumns, values: &[usize], ids: &Ids, first: &ByteRecord) -> bool {
    let (mut again, mut named) = (false, false);
    for (i, (column, &c)) in labels.columns.iter().zip(values).enumerate() {
        let text = cell(first, c);
        if !is_text(text) {
            again |= !text.is_empty() && i > 0 && number(text).is_some() && !column.has_text();
            continue;
        }
        if missing(text) {
            continue;
        }
        named = true;
        let known = std::str::from_utf8(text).is_ok_and(|text| column.knows_text(text));
        // Ids never come again.
        let first_ids = i == 0 && ids.at.is_none() && labels.columns.len() > 1 && column.is_ids();
        if !known && !first_ids {
            return false;
        }
        again |= known && text != b"label";
    }
    // No column is called NA.
    again || !named
}

/// A cell without white space around it; empty where the row is too short.
fn cell(row: &ByteRecord, column: usize) -> &[u8] {
    row.get(column).unwrap_or_default().trim_ascii()
}

fn chosen(roles: &[Role], role: Role) -> Vec<usize> {
    (0..roles.len()).filter(|&c| roles[c] == role).collect()
}

/// The column of ids, if there is one.
struct Ids {
    at: Option<usize>,
    /// Whether it is one only where every row has another text.
    maybe: bool,
    texts: Texts,
}

impl Ids {
    fn of(roles: &[Role]) -> Self {
        let at = roles.iter().position(|role| role.is_id());
        let maybe = at.is_some_and(|at| roles[at] == Role::Maybe);
        Ids { at, maybe, texts: Texts::default() }
    }

    fn push(&mut self, cells: &Cells<'_>, allowance: &Allowance) -> Result<()> {
        let Some(at) = self.at else { return Ok(()) };
        let text = std::str::from_utf8(cells.text(at))
            .map_err(|_| cells.wrong(at, "no UTF-8; expected an id"))?;
        self.texts.push(text, allowance)
    }

    /// Adds an id, or what may be one.
    fn push_any(&mut self, cells: &Cells<'_>, allowance: &Allowance) -> Result<()> {
        let Some(at) = self.at else { return Ok(()) };
        self.texts.push(&String::from_utf8_lossy(cells.text(at)), allowance)
    }

    fn push_front(&mut self, first: &ByteRecord, allowance: &Allowance) -> Result<()> {
        let Some(at) = self.at else { return Ok(()) };
        let text = std::str::from_utf8(cell(first, at)).map_err(|_| malformed("ids: no UTF-8"))?;
        self.texts.push_front(text, allowance)
    }

    fn finish(self, names: &[String], notes: &mut Vec<String>) -> Result<Option<Texts>> {
        let Some(at) = self.at else { return Ok(None) };
        if self.maybe {
            if !self.texts.are_ids()? {
                return Ok(None);
            }
            notes.push(unique_text(&names[at]));
        }
        Ok(Some(self.texts))
    }
}

/// Features in double precision, and columns of categories.
pub(crate) fn features(
    file: impl Read,
    observer: &dyn Observer,
    allowance: &Allowance,
    wanted: &Wanted,
    notes: &mut Vec<String>,
) -> Result<DataTable> {
    let mut rows = Rows::open(file, wanted.tabs, notes)?;
    rows.hold_numbers()?;
    let mut roles = wanted.feature_roles(&rows.names, notes)?;
    if roles[0] == Role::Maybe && !rows.record.get(0).is_some_and(is_id_text) {
        roles[0] = Role::Value;
    }
    let mut table = Numbers::new(&roles, &rows.names, allowance)?;
    rows.each(observer, allowance, |cells| table.push(cells, allowance))?;
    rows.note_blank_end(notes);
    check_rows(table.rows)?;
    let by_name = |wanted: &String| rows.names.iter().any(|name| name.trim() == wanted.trim());
    let named = table.ids.at.is_some_and(|at| wanted.names(&rows.names[at]))
        || wanted.drop.iter().chain(&wanted.categorical).any(by_name);
    let is_data = |first: &ByteRecord| !named && table.first_is_data(first);
    if let Some(first) = rows.first_object(is_data, "holds numbers", allowance, notes)? {
        table.push_front(&first, allowance)?;
    }
    table.finish(&rows.names, wanted.missing, notes)
}

/// Text that could be an id, and no word for a missing value.
fn is_id_text(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    is_text(cell) && !missing(cell)
}

/// A feature: a number, or whether something is so.
fn value_of(cell: &[u8]) -> Option<f64> {
    match cell {
        b"True" | b"TRUE" | b"true" => Some(1.0),
        b"False" | b"FALSE" | b"false" => Some(0.0),
        other => number(other),
    }
}

/// Whether a cell of features says that there is no value.
fn missing(cell: &[u8]) -> bool {
    cell.is_empty() || std::str::from_utf8(cell).is_ok_and(says_nothing)
}

/// Columns of numbers and categories while they are read.
struct Numbers {
    values: Vec<f64>,
    /// The columns of numbers, and of categories, by their place in the file.
    numbers: Vec<usize>,
    categories: Vec<usize>,
    labels: LabelColumns,
    ids: Ids,
    defects: Defects,
    rows: usize,
}

impl Numbers {
    fn new(roles: &[Role], names: &[String], allowance: &Allowance) -> Result<Self> {
        let (numbers, categories) = (chosen(roles, Role::Value), chosen(roles, Role::Category));
        let category_names = categories.iter().map(|&c| names[c].clone()).collect();
        Ok(Numbers {
            values: Vec::new(),
            defects: Defects::new(names.len()),
            numbers,
            categories,
            labels: LabelColumns::new(category_names, allowance)?,
            ids: Ids::of(roles),
            rows: 0,
        })
    }

    fn push(&mut self, cells: &Cells<'_>, allowance: &Allowance) -> Result<()> {
        let place = || format!("row {} (line {})", cells.row, cells.line);
        for &c in &self.numbers {
            let text = cells.text(c);
            let value = match value_of(text) {
                Some(value) if !value.is_nan() => value,
                None if !missing(text) => {
                    self.defects.text(c, &String::from_utf8_lossy(text), place);
                    f64::NAN
                }
                _ => {
                    self.defects.missing(c, place);
                    f64::NAN
                }
            };
            allowance.push(&mut self.values, value)?;
        }
        for (column, &c) in self.labels.columns.iter_mut().zip(&self.categories) {
            column.push_label(category(cells.text(c)).map_err(|what| cells.wrong(c, &what))?)?;
        }
        self.ids.push_any(cells, allowance)?;
        self.rows += 1;
        Ok(())
    }

    /// Whether a first row with text is an object: its texts are ids and categories, and there are
    /// numbers, where columns of numbers have them.
    fn first_is_data(&self, first: &ByteRecord) -> bool {
        let numbers = self.numbers.iter().filter(|&&c| self.defects.is_number(c));
        !self.numbers.is_empty()
            && self
                .numbers
                .iter()
                .map(|&c| cell(first, c))
                .all(|cell| !is_text(cell) || missing(cell) || value_of(cell).is_some())
            && numbers.clone().any(|&c| number(cell(first, c)).is_some())
    }

    fn push_front(&mut self, first: &ByteRecord, allowance: &Allowance) -> Result<()> {
        allowance.grow(&mut self.values, self.numbers.len())?;
        let row: Vec<f64> =
            self.numbers.iter().map(|&c| value_of(cell(first, c)).unwrap_or(f64::NAN)).collect();
        for (&c, value) in self.numbers.iter().zip(&row) {
            if value.is_nan() {
                self.defects.missing(c, || "the first row".to_owned());
            }
        }
        self.values.splice(0..0, row);
        for (column, &c) in self.labels.columns.iter_mut().zip(&self.categories) {
            column.push_front(category(cell(first, c)).map_err(malformed)?)?;
        }
        self.rows += 1;
        self.ids.push_front(first, allowance)
    }

    fn finish(
        mut self,
        names: &[String],
        may_miss: bool,
        notes: &mut Vec<String>,
    ) -> Result<DataTable> {
        if let Some(at) = self.ids.at.filter(|_| self.ids.maybe)
            && (!self.ids.texts.are_ids()? || mostly_numbers(self.ids.texts.iter()))
        {
            let texts = self.ids.texts.iter().enumerate();
            for (row, text) in texts.filter(|(_, text)| is_text(text.as_bytes())) {
                self.defects.text(at, text, || format!("row {row}"));
            }
        }
        self.defects.check(may_miss, |c| match names[c] == c.to_string() {
            true => format!("column {c}"),
            false => format!("column {c} ({})", excerpt(&names[c])),
        })?;
        let table = Array2::from_shape_vec((self.rows, self.numbers.len()), self.values);
        let table = table.map_err(|e| malformed(e.to_string()))?;
        let front = Front::of(self.ids.at, &self.numbers);
        let ids = self.ids.finish(names, notes)?.map(Texts::into_ids).transpose()?;
        let names = self.numbers.iter().map(|&c| names[c].clone()).collect();
        let table = DataTable::new(self.rows, FeatureTable::F64(table), names, self.labels, ids)?;
        Ok(table.placed(front))
    }
}

fn check_rows(rows: usize) -> Result<()> {
    ensure_format!(rows > 0, "no rows below the header; expected at least one");
    Ok(())
}

fn lossy(text: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(text))
}

/// One row below the header.
struct Cells<'a> {
    record: &'a ByteRecord,
    names: &'a [String],
    header: bool,
    row: usize,
    line: u64,
}

impl Cells<'_> {
    fn text(&self, column: usize) -> &[u8] {
        self.record[column].trim_ascii()
    }

    fn wrong(&self, column: usize, what: &str) -> Error {
        let name = if self.header {
            format!(" ({})", excerpt(&self.names[column]))
        } else {
            String::new()
        };
        malformed(format!("row {} (line {}), column {column}{name}: {what}", self.row, self.line))
    }
}

/// The rows below the header, all of one length.
struct Rows<R: Read> {
    records: Records<R>,
    record: ByteRecord,
    /// The line of the record, unless there is none.
    line: Option<u64>,
    /// What the columns are called; their numbers where there is no header.
    names: Vec<String>,
    /// The first row, where it may be a header.
    first: Option<ByteRecord>,
    /// What is below a first row without text that may be a header.
    below: Below,
    /// The second row and its line, where it was read before the first was handed out.
    ahead: Option<(ByteRecord, Option<u64>)>,
}

/// What tells whether a first row without text is a header.
#[derive(Default)]
enum Below {
    /// It holds text, or is data.
    #[default]
    Nothing,
    /// Where it has no first cell, the first column of the rows below.
    FirstColumn(Texts),
    /// Where it counts: how many rows there are below, and of each of its numbers whether it comes
    /// again in its column.
    Again(usize, Vec<(f64, bool)>),
}

impl<R: Read> Rows<R> {
    fn open(file: R, tabs: bool, notes: &mut Vec<String>) -> Result<Self> {
        let mut records = Records::open(file, tabs)?;
        let expected = if tabs { b'\t' } else { b',' };
        if let Some((_, name)) = records.separator.filter(|&(byte, _)| byte != expected) {
            notes.push(separated(name));
        }
        let mut record = ByteRecord::new();
        let Some(mut line) = records.next(&mut record)?.map(Some) else {
            return Err(malformed("no rows; expected at least one"));
        };
        let width = record.len();
        let mut names = numbered_names(width);
        let mut first = None;
        if record.iter().any(is_text) {
            let text = |cell: &[u8]| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
            names = record.iter().map(text).collect();
            first = Some(record.clone());
            line = records.next(&mut record)?;
        }
        Ok(Rows { records, record, line, names, first, below: Below::Nothing, ahead: None })
    }

    /// Holds back a first row such as `,0,1` or `,2019,2020`: what programs write where columns are
    /// called by numbers, with the numbers of the rows in front, and have no name for these; and
    /// one such as `0,1,2`. Whether it is a header is known when the rows below are read.
    fn hold_numbers(&mut self) -> Result<()> {
        if self.first.is_some() || self.names.len() < 2 {
            return Ok(());
        }
        let cells = || self.record.iter().map(<[u8]>::trim_ascii);
        let whole = |cell: &[u8]| number(cell).is_some_and(|x| x.fract() == 0.0);
        self.below = if cells().next().is_some_and(<[u8]>::is_empty) && cells().skip(1).all(whole) {
            Below::FirstColumn(Texts::default())
        } else if let Some(numbers) = counting(cells()) {
            Below::Again(0, numbers.into_iter().map(|number| (number, false)).collect())
        } else {
            return Ok(());
        };
        let first = self.record.clone();
        let fraction = |cell: &[u8]| number(cell.trim_ascii()).is_some_and(|x| x.fract() != 0.0);
        match self.records.next(&mut self.record)? {
            // A header has something below.
            None => (self.record, self.below) = (first, Below::Nothing),
            // Two whole numbers are nothing strange, but above fractions.
            next if matches!(&self.below, Below::Again(_, numbers) if numbers.len() == 2)
                && !self.record.iter().all(fraction) =>
            {
                self.ahead = Some((std::mem::replace(&mut self.record, first), next));
                self.below = Below::Nothing;
            }
            next => {
                self.names = first.iter().map(lossy).collect();
                (self.first, self.line) = (Some(first), next);
            }
        }
        Ok(())
    }

    /// The first row, if it is an object; columns have no names then. One that was held back is a
    /// header by what is below, another unless it `is_data`.
    fn first_object(
        &mut self,
        is_data: impl FnOnce(&ByteRecord) -> bool,
        why: &str,
        allowance: &Allowance,
        notes: &mut Vec<String>,
    ) -> Result<Option<ByteRecord>> {
        let Some(first) = self.first.take() else { return Ok(None) };
        let said = || first.iter().map(lossy).collect::<Vec<_>>().join(", ");
        let below = std::mem::take(&mut self.below);
        let counts = matches!(below, Below::Again(..));
        let header = match below {
            Below::Nothing => None,
            Below::FirstColumn(below) => {
                let cells = first.iter().skip(1);
                let header: Vec<f64> = cells.filter_map(|cell| number(cell.trim_ascii())).collect();
                Some(is_header_of_numbers(&header, &below, allowance)?)
            }
            Below::Again(rows, again) => Some(is_header_that_counts(rows, &again)),
        };
        if header == Some(true) {
            notes.push(format!("the first row ({}) was read as a header", said()));
            return Ok(None);
        }
        if header.is_some() {
            if counts {
                notes.push(format!(
                    "the first row ({}) was read as an object and not as a header; names of text \
                     would make it one",
                    said()
                ));
            }
        } else if is_data(&first) {
            notes.push(format!(
                "the first row ({}) was read as an object and not as a header: it {why}",
                said()
            ));
        } else {
            return Ok(None);
        }
        self.names = numbered_names(self.names.len());
        Ok(Some(first))
    }

    /// Hands out the rows.
    fn each(
        &mut self,
        observer: &dyn Observer,
        allowance: &Allowance,
        mut each: impl FnMut(&Cells<'_>) -> Result<()>,
    ) -> Result<()> {
        let (width, header) = (self.names.len(), self.first.is_some());
        let mut row = 0;
        while let Some(line) = self.line {
            ensure_format!(
                self.record.len() == width,
                "row {row} (line {line}) has {}, expected {width} as in the first row",
                number_of(self.record.len() as u64, "column")
            );
            let cells = Cells { record: &self.record, names: &self.names, header, row, line };
            each(&cells)?;
            match &mut self.below {
                Below::Nothing => {}
                Below::FirstColumn(below) => {
                    below.push(&String::from_utf8_lossy(cells.text(0)), allowance)?;
                }
                Below::Again(rows, again) => {
                    *rows += 1;
                    for ((first, again), cell) in again.iter_mut().zip(self.record.iter()) {
                        *again = *again || number(cell.trim_ascii()) == Some(*first);
                    }
                }
            }
            row += 1;
            if row % ROWS_PER_CHECK == 0 {
                observer.check()?;
            }
            self.line = match self.ahead.take() {
                Some((record, line)) => {
                    self.record = record;
                    line
                }
                None => self.records.next(&mut self.record)?,
            };
        }
        Ok(())
    }

    /// Says where blank lines at the end were left out, once all rows are handed out. A single one
    /// is what many editors leave.
    fn note_blank_end(&self, notes: &mut Vec<String>) {
        let lines = self.records.left_out();
        if lines > 1 {
            notes.push(format!(
                "{lines} blank lines at the end are no objects; for an object without a value \
                 write NaN or \"\" there"
            ));
        }
    }
}

/// The numbers of cells, where these count on from 0, from 1 or from a year.
fn counting<'a>(cells: impl Iterator<Item = &'a [u8]>) -> Option<Vec<f64>> {
    let numbers: Vec<f64> = cells.map(number).collect::<Option<_>>()?;
    let first = *numbers.first()?;
    let starts = first == 0.0 || first == 1.0 || (YEARS.contains(&first) && first.fract() == 0.0);
    let counts = numbers.len() > 1 && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
    (starts && counts).then_some(numbers)
}

/// Whether a first row that counts is a header: what an object has, others have too, in most
/// columns; and of very few objects nothing is known.
fn is_header_that_counts(rows: usize, again: &[(f64, bool)]) -> bool {
    let new = again.iter().filter(|(_, again)| !again).count();
    rows >= ENOUGH && (2 * new > again.len() || (again.len() >= COUNTED && rows >= COUNTED))
}

/// A cell that reads back as this text.
fn quoted(text: &str) -> Cow<'_, str> {
    let special = |c: char| matches!(c, ',' | ';' | '\t' | '"' | '\n' | '\r');
    if text.contains(special) || text.trim() != text {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// Writes labels below a header, -1 for unlabelled or, among names, nothing.
pub(crate) fn write_labels(
    out: &mut dyn Write,
    place: &Location,
    labels: &Labelled<'_>,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
) -> Result<()> {
    let (names, rows) = (labels.column_names(), labels.rows());
    write(out, place, &names, rows, ids, observer, |out, row, c| match labels.name(row) {
        // A blank line is no row to most readers, and at the end of a file to none.
        Some("") if ids.is_none() => out.write_all(b"\"\""),
        Some(name) => out.write_all(quoted(name).as_bytes()),
        None => write!(out, "{}", labels.signed(row, c)),
    })
}

/// Writes a table of floats below a header, with as many digits as bring back the same bits.
pub(crate) fn write_floats(
    out: &mut dyn Write,
    place: &Location,
    table: ArrayView2<'_, f64>,
    ids: Option<&ObjectIds>,
) -> Result<()> {
    let names = column_names("c", table.ncols());
    write(out, place, &names, table.nrows(), ids, &(), |out, row, c| {
        write!(out, "{}", table[[row, c]])
    })
}

/// Writes a header and rows, behind the ids of their objects where there are any.
fn write(
    out: &mut dyn Write,
    place: &Location,
    names: &[String],
    rows: usize,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
    cell: impl Fn(&mut dyn Write, usize, usize) -> io::Result<()>,
) -> Result<()> {
    let separator = if place.tabs() { "\t" } else { "," };
    let id = ids.map_or(String::new(), |_| format!("id{separator}"));
    writeln!(out, "{id}{}", names.join(separator)).map_err(system)?;
    for row in 0..rows {
        if row % ROWS_PER_CHECK == 0 {
            observer.check()?;
        }
        if let Some(ids) = ids {
            write!(out, "{}{separator}", quoted(ids.get(row))).map_err(system)?;
        }
        for c in 0..names.len() {
            if c > 0 {
                out.write_all(separator.as_bytes()).map_err(system)?;
            }
            cell(out, row, c).map_err(system)?;
        }
        writeln!(out).map_err(system)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
