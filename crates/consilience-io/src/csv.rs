//! Comma-separated text. The first row is a header where it holds text; rows and columns are
//! counted from 0 behind it, lines from 1 as editors do.

use std::io::{BufRead, BufReader, Read, Write};

use csv::{ByteRecord, ReaderBuilder};
use ndarray::{Array2, ArrayView2};

use consilience_core::{Error, ErrorKind, Observer, Result};

use crate::allowance::Allowance;
use crate::fault::{excerpt, malformed, system};
use crate::labelled::{Labelled, column_names};
use crate::table::{Cell, LabelColumns};
use crate::text::{Progress, Text, check_separator};

/// How often a long file looks whether the user wants to stop.
const ROWS_PER_CHECK: usize = 1 << 14;

/// Label columns: negative, empty or NaN is unlabelled.
pub(crate) fn labels(
    file: impl Read,
    observer: &dyn Observer,
    allowance: &Allowance,
    notes: &mut Vec<String>,
) -> Result<LabelColumns> {
    let mut columns: Option<LabelColumns> = None;
    rows(file, observer, notes, |cells| {
        let columns = match &mut columns {
            Some(columns) => columns,
            none => none.insert(LabelColumns::new(cells.len(), allowance)?),
        };
        for c in 0..cells.len() {
            let key = label(cells.text(c)).map_err(|what| cells.wrong(c, &what))?;
            columns.0[c].push(key)?;
        }
        Ok(())
    })?;
    columns.ok_or_else(no_rows)
}

/// Features in double precision; every cell holds a number.
pub(crate) fn features(
    file: impl Read,
    observer: &dyn Observer,
    allowance: &Allowance,
    notes: &mut Vec<String>,
) -> Result<Array2<f64>> {
    let mut values = Vec::new();
    let mut width = 0;
    rows(file, observer, notes, |cells| {
        width = cells.len();
        for c in 0..width {
            let text = cells.text(c);
            let number = number(text).ok_or_else(|| {
                let found =
                    if text.is_empty() { "empty".to_owned() } else { format!("{:?}", lossy(text)) };
                cells.wrong(c, &format!("{found}; expected a number"))
            })?;
            allowance.push(&mut values, number)?;
        }
        Ok(())
    })?;
    if values.is_empty() {
        return Err(no_rows());
    }
    Array2::from_shape_vec((values.len() / width, width), values)
        .map_err(|e| malformed(e.to_string()))
}

fn no_rows() -> Error {
    malformed("no rows below the header; expected at least one")
}

fn lossy(text: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(text))
}

fn number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn label(text: &[u8]) -> std::result::Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    // Short plain digits are nearly all there is.
    if text.len() < 19 && text.iter().all(u8::is_ascii_digit) {
        return Ok(Some(text.iter().fold(0, |sum, d| sum * 10 + u64::from(d - b'0'))));
    }
    let exact = std::str::from_utf8(text).ok().and_then(|t| t.parse::<i128>().ok());
    if let Some(whole) = exact {
        return match u64::try_from(whole) {
            Ok(key) => Ok(Some(key)),
            Err(_) if whole < 0 => Ok(None),
            Err(_) => Err(format!("label {whole} is too large; expected less than 2^64")),
        };
    }
    match number(text) {
        Some(float) => float.label(),
        None => Err(format!(
            "{:?} is no label; expected a whole number, or a negative one or nothing for \
            unlabelled",
            lossy(text)
        )),
    }
}

/// One row below the header.
struct Cells<'a> {
    record: &'a ByteRecord,
    header: Option<&'a ByteRecord>,
    row: usize,
    line: u64,
}

impl Cells<'_> {
    fn len(&self) -> usize {
        self.record.len()
    }

    fn text(&self, column: usize) -> &[u8] {
        self.record[column].trim_ascii()
    }

    fn wrong(&self, column: usize, what: &str) -> Error {
        let name = self
            .header
            .and_then(|h| h.get(column))
            .map(|name| format!(" ({})", lossy(name.trim_ascii())));
        malformed(format!(
            "row {} (line {}), column {column}{}: {what}",
            self.row,
            self.line,
            name.unwrap_or_default()
        ))
    }
}

/// Hands out the rows below the header, all of one length.
fn rows(
    file: impl Read,
    observer: &dyn Observer,
    notes: &mut Vec<String>,
    mut each: impl FnMut(&Cells<'_>) -> Result<()>,
) -> Result<()> {
    let mut records = Records::open(file)?;
    let mut record = ByteRecord::new();
    let Some(mut line) = records.next(&mut record)? else {
        return Err(malformed("no rows; expected at least one"));
    };
    let width = record.len();
    let is_text = |cell: &[u8]| !cell.is_empty() && number(cell).is_none();
    let header = record.iter().any(|cell| is_text(cell.trim_ascii())).then(|| record.clone());
    if header.is_none()
        && width > 2
        && record.iter().enumerate().all(|(c, cell)| cell == c.to_string().as_bytes())
    {
        notes.push(
            "the first row of the CSV file is 0,1,2,... and was read as data; a header must hold \
            text"
                .to_owned(),
        );
    }
    if header.is_some() {
        match records.next(&mut record)? {
            Some(next) => line = next,
            None => return Ok(()),
        }
    }
    let mut row = 0;
    loop {
        if record.len() != width {
            return Err(malformed(format!(
                "row {row} (line {line}) has {} columns, expected {width} as in the first row",
                record.len()
            )));
        }
        each(&Cells { record: &record, header: header.as_ref(), row, line })?;
        row += 1;
        if row % ROWS_PER_CHECK == 0 {
            observer.check()?;
        }
        match records.next(&mut record)? {
            Some(next) => line = next,
            None => return Ok(()),
        }
    }
}

/// Records with the line they begin on.
///
/// The csv crate skips blank lines, but in a table of one column a blank line is an unlabelled
/// object: such files are read line by line. Blank lines at the end are no objects in either.
enum Records<R: Read> {
    Lines { reader: Lines<R>, pending: Option<Vec<u8>>, line: u64, blanks: u64 },
    Csv(csv::Reader<std::io::Chain<std::io::Cursor<Vec<u8>>, Lines<R>>>, u64, Progress),
}

type Lines<R> = BufReader<Text<R>>;

impl<R: Read> Records<R> {
    fn open(file: R) -> Result<Self> {
        let text = Text::open(file)?;
        let progress = text.progress();
        let mut reader = BufReader::with_capacity(1 << 18, text);
        let mut first = Vec::new();
        let mut line = 0;
        while first.trim_ascii().is_empty() {
            first.clear();
            line += 1;
            progress.record();
            if reader.read_until(b'\n', &mut first).map_err(system)? == 0 {
                break;
            }
        }
        let skipped = line - 1;
        // A name in quotes may go on in the next line.
        while first.iter().filter(|&&byte| byte == b'"').count() % 2 == 1
            && reader.read_until(b'\n', &mut first).map_err(system)? > 0
        {
            line += 1;
        }
        check_separator(&first)?;
        if first.contains(&b',') {
            let whole = std::io::Cursor::new(first).chain(reader);
            let csv = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(whole);
            return Ok(Records::Csv(csv, skipped, progress));
        }
        let pending = (!first.is_empty()).then_some(first);
        Ok(Records::Lines { reader, pending, line, blanks: 0 })
    }

    /// The line of the next record, `None` at the end.
    fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>> {
        match self {
            Records::Csv(reader, skipped, progress) => {
                progress.record();
                let more = reader.read_byte_record(record).map_err(trouble)?;
                // The position is where the search began, in front of any blank lines.
                Ok(more.then(|| record.position().map_or(0, |p| p.line()) + *skipped))
            }
            Records::Lines { reader, pending, line, blanks } => {
                reader.get_ref().progress().record();
                record.clear();
                if *blanks > 0 {
                    *blanks -= 1;
                    record.push_field(b"");
                    return Ok(Some(*line - 1 - *blanks));
                }
                let mut text = pending.take().unwrap_or_default();
                if text.is_empty() {
                    let mut passed = 0;
                    loop {
                        text.clear();
                        *line += 1;
                        if reader.read_until(b'\n', &mut text).map_err(system)? == 0 {
                            return Ok(None);
                        }
                        if !text.trim_ascii().is_empty() {
                            break;
                        }
                        reader.get_ref().progress().record();
                        passed += 1;
                    }
                    if passed > 0 {
                        *pending = Some(text);
                        *blanks = passed - 1;
                        record.push_field(b"");
                        return Ok(Some(*line - passed));
                    }
                }
                for field in text.split(|&b| b == b',') {
                    record.push_field(unquoted(field.trim_ascii()));
                }
                Ok(Some(*line))
            }
        }
    }
}

/// What the csv crate found: a failing read, or text that it cannot take.
pub(crate) fn trouble(error: csv::Error) -> Error {
    let kind = if error.is_io_error() { ErrorKind::Io } else { ErrorKind::Format };
    Error::new(kind, error.to_string())
}

fn unquoted(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\"").and_then(|t| t.strip_suffix(b"\"")).unwrap_or(text)
}

/// Writes labels below a header, -1 for unlabelled.
pub(crate) fn write_labels(
    out: &mut dyn Write,
    labels: &Labelled<'_>,
    observer: &dyn Observer,
) -> Result<()> {
    writeln!(out, "{}", labels.column_names().join(",")).map_err(system)?;
    for row in 0..labels.rows() {
        if row % ROWS_PER_CHECK == 0 {
            observer.check()?;
        }
        for c in 0..labels.columns() {
            let comma = if c == 0 { "" } else { "," };
            write!(out, "{comma}{}", labels.signed(row, c)).map_err(system)?;
        }
        writeln!(out).map_err(system)?;
    }
    Ok(())
}

/// Writes a table of floats below a header, with as many digits as bring back the same bits.
pub(crate) fn write_floats(out: &mut dyn Write, table: ArrayView2<'_, f64>) -> Result<()> {
    writeln!(out, "{}", column_names("c", table.ncols()).join(",")).map_err(system)?;
    for row in table.rows() {
        for (c, value) in row.iter().enumerate() {
            let comma = if c == 0 { "" } else { "," };
            write!(out, "{comma}{value}").map_err(system)?;
        }
        writeln!(out).map_err(system)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(text: &str) -> Vec<i64> {
        let columns = labels(text.as_bytes(), &(), &Allowance::unlimited(), &mut Vec::new());
        columns.unwrap().into_partition().unwrap().to_signed()
    }

    #[test]
    fn blank_lines_of_one_column_are_unlabelled_objects() {
        assert_eq!(partition("label\n5\n\n\n6\n5\n\n"), vec![0, -1, -1, 1, 0]);
        assert_eq!(partition("5\r\n\r\n6\r\n\"\"\r\n5"), vec![0, -1, 1, -1, 0]);
        assert_eq!(partition("\u{feff}label\n\n7\n"), vec![-1, 0]);
    }

    fn wrong(text: &[u8]) -> String {
        match labels(text, &(), &Allowance::unlimited(), &mut Vec::new()) {
            Err(error) => error.message().to_owned(),
            Ok(_) => panic!("expected an error"),
        }
    }

    #[test]
    fn a_name_in_quotes_may_go_on_in_the_next_line() {
        let text = "\"first\nmember\",\"second\"\n5,1\n6,1\n";
        let read = labels(text.as_bytes(), &(), &Allowance::unlimited(), &mut Vec::new()).unwrap();
        assert_eq!(read.into_ensemble().unwrap().members()[0].to_signed(), [0, 1]);
        assert_eq!(partition("\"first\nmember\"\n5\n6\n"), [0, 1]);
        assert!(wrong(b"\"a\nb\"\n5\nx\n").starts_with("row 1 (line 4)"));
        assert!(wrong(b"\"a\nb\",c\n5,5\nx,5\n").starts_with("row 1 (line 4)"));
    }

    #[test]
    fn text_of_another_kind_is_named() {
        assert!(wrong(b"a;b\n1;2\n").contains("separated by semicolons; expected commas"));
        assert!(wrong(b"a\tb\n1\t2\n").contains("separated by tabs"));
        assert!(wrong(b"\xff\xfea\x00\n\x00").contains("UTF-16"));
        assert!(wrong(b"a\x00\n\x00").contains("zero bytes"));
        assert!(wrong(b"\x1f\x8b\x08").contains("gzip"));
        assert_eq!(partition("a b\n5\t\n"), [0]);
    }

    #[test]
    fn a_row_without_an_end_is_refused() {
        let endless = std::io::repeat(b'1');
        let read = labels(endless, &(), &Allowance::unlimited(), &mut Vec::new());
        assert!(read.is_err_and(|error| error.message().contains("no end of the row")));
        let quoted = b"a,b\n\"".chain(std::io::repeat(b'\n'));
        let read = labels(quoted, &(), &Allowance::unlimited(), &mut Vec::new());
        assert!(read.is_err_and(|error| error.message().contains("no end of the row")));
    }

    #[test]
    fn lines_are_counted_as_editors_do() {
        assert!(wrong(b"label\n5\n\n\nx\n").starts_with("row 3 (line 5), column 0 (label): \"x\""));
        assert!(wrong(b"a,b\n1,2\n1,y\n").starts_with("row 1 (line 3), column 1 (b): \"y\""));
        assert!(wrong(b"1,2\n1,2,3\n").starts_with("row 1 (line 2) has 3 columns, expected 2"));
        assert!(wrong(b"1\n1,2\n").starts_with("row 1 (line 2) has 2 columns, expected 1"));
    }

    #[test]
    fn labels_in_text() {
        assert_eq!(label(b"1099511627776"), Ok(Some(1 << 40)));
        assert_eq!(label(b"18446744073709551615"), Ok(Some(u64::MAX)));
        assert_eq!(label(b"3.0"), Ok(Some(3)));
        assert_eq!(label(b"-2"), Ok(None));
        assert_eq!(label(b"nan"), Ok(None));
        assert!(label(b"3.5").is_err());
        assert!(label(b"18446744073709551616").is_err());
    }
}
