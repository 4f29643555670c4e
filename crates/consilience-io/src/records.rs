//! Records of delimited text: the separator is found, blank lines of a table of one column count.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use csv::{ByteRecord, ReaderBuilder, StringRecord};

use consilience_core::{Error, Result};

use crate::fault::{ensure_format, malformed, system};
use crate::text::{Progress, Text};

/// What may separate columns, and what it is called.
const SEPARATORS: [(u8, &str); 3] = [(b',', "commas"), (b';', "semicolons"), (b'\t', "tabs")];

/// What separates the columns of a first row: a comma where there is any, a semicolon or a tab
/// where there is none; `None` for a single column. Where `tabs` are expected a tab comes first.
pub(crate) fn separator(first: &[u8], tabs: bool) -> Option<(u8, &'static str)> {
    let expected = SEPARATORS.into_iter().find(|&(byte, _)| tabs && byte == b'\t');
    expected.into_iter().chain(SEPARATORS).find(|&(byte, _)| holds(first, byte))
}

/// Whether a row has a separator outside of quotes.
fn holds(row: &[u8], separator: u8) -> bool {
    let mut quotes = Quotes::new(separator);
    // A tab around the only cell of a row separates nothing.
    row.trim_ascii().iter().any(|&byte| {
        byte == separator && !quotes.inside || {
            quotes.take(byte);
            false
        }
    })
}

/// The separator that a line in front of the table tells, `sep=;`, as spreadsheets understand it.
fn told(line: &[u8]) -> Option<(u8, &'static str)> {
    let (word, told) = line.split_at_checked(4)?;
    let (&told, end) = told.split_first()?;
    let alone = word.eq_ignore_ascii_case(b"sep=") && end.trim_ascii().is_empty();
    SEPARATORS.into_iter().find(|&(byte, _)| alone && byte == told)
}

/// The note about a separator other than the comma.
pub(crate) fn separated(name: &str) -> String {
    format!("columns are separated by {name}")
}

/// Records with the line they begin on.
///
/// The csv crate skips blank lines, but in a table of one column a blank line is an unlabelled
/// object: such files are read line by line. Blank lines at the end are no objects in either.
pub(crate) struct Records<R: Read> {
    form: Form<R>,
    /// What separates the columns, where there are several.
    pub(crate) separator: Option<(u8, &'static str)>,
}

enum Form<R: Read> {
    Lines(SingleColumn<R>),
    Csv(Box<Csv<R>>),
}

type Lines<R> = BufReader<Text<R>>;

/// A table of one column.
struct SingleColumn<R: Read> {
    reader: Lines<R>,
    /// A record that was read already, and the line after it.
    pending: Option<Vec<u8>>,
    /// Lines read so far.
    line: u64,
    /// Blank lines in front of the pending record that are still to be handed out.
    blanks: u64,
    /// Blank lines at the end, once it is reached.
    left_out: u64,
}

/// Text from its first record on.
pub(crate) struct Start<R: Read> {
    /// The first record, with its line end.
    first: Vec<u8>,
    rest: Lines<R>,
    /// Those of the blank lines in front of it.
    before: LineEnds,
    /// The last line of it.
    line: u64,
    progress: Progress,
    separator: Option<(u8, &'static str)>,
}

impl<R: Read> Start<R> {
    pub(crate) fn open(file: R, tabs: bool) -> Result<Self> {
        let text = Text::open(file)?;
        let progress = text.progress();
        let mut rest = BufReader::with_capacity(1 << 18, text);
        let mut first = Vec::new();
        let mut before = LineEnds::default();
        let mut told_separator = None;
        while first.trim_ascii().is_empty() {
            before.pass(&first);
            first.clear();
            progress.record();
            if rest.read_until(b'\n', &mut first).map_err(system)? == 0 {
                break;
            }
            if told_separator.is_none() {
                told_separator = told(&first);
                if told_separator.is_some() {
                    before.pass(&first);
                    first.clear();
                }
            }
        }
        // A name in quotes may go on in the next line; where a cell begins does not matter to that.
        let begins = before.line();
        let (lines, closed) = rest_of_record(&mut rest, &mut first)?;
        let line = begins + lines;
        let separator = told_separator.or_else(|| separator(&first, tabs));
        // Several columns are read by the csv crate, whose quotes are followed again.
        ensure_format!(closed || separator.is_some(), "{}", never_closed(begins));
        Ok(Start { first, rest, before, line, progress, separator })
    }

    /// All of it, by the csv crate.
    pub(crate) fn into_csv(self) -> Csv<R> {
        let mut options = ReaderBuilder::new();
        let separator = self.separator.map_or(b',', |(byte, _)| byte);
        options.has_headers(false).flexible(true).delimiter(separator);
        let whole = Closed {
            text: Cursor::new(self.first).chain(self.rest),
            quotes: Quotes { strict: true, ..Quotes::new(separator) },
            lines: self.before,
            opened: 0,
            begin: Begin { lines: self.before, ..Begin::default() },
        };
        Csv { reader: options.from_reader(whole), progress: self.progress }
    }

    /// Hands out the records with the lines that they begin on, cells without spaces around them.
    pub(crate) fn each(self, mut each: impl FnMut(&StringRecord, u64) -> Result<()>) -> Result<()> {
        let mut csv = self.into_csv();
        let mut record = StringRecord::new();
        while let Some(line) = csv.next_text(&mut record)? {
            record.trim();
            each(&record, line)?;
        }
        Ok(())
    }
}

/// Records by the csv crate, with the lines that they begin on.
pub(crate) struct Csv<R: Read> {
    reader: csv::Reader<Whole<R>>,
    progress: Progress,
}

impl<R: Read> Csv<R> {
    /// The line of the next record, `None` at the end.
    fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>> {
        self.look();
        let more = self.reader.read_byte_record(record).map_err(|e| self.trouble(e))?;
        Ok(more.then(|| self.line()))
    }

    /// The line of the next record, whose cells are text, `None` at the end.
    pub(crate) fn next_text(&mut self, record: &mut StringRecord) -> Result<Option<u64>> {
        self.look();
        let more = self.reader.read_record(record).map_err(|e| self.trouble(e))?;
        Ok(more.then(|| self.line()))
    }

    fn look(&mut self) {
        self.progress.record();
        let byte = self.reader.position().byte();
        self.reader.get_mut().begin.look(byte);
    }

    fn line(&self) -> u64 {
        self.reader.get_ref().begin.line
    }

    /// A failing read, or text that is none.
    fn trouble(&self, error: csv::Error) -> Error {
        let text = error.to_string();
        match error.into_kind() {
            csv::ErrorKind::Io(error) => system(error),
            csv::ErrorKind::Utf8 { err, .. } => {
                let (line, column) = (self.line(), err.field());
                malformed(format!("line {line}, column {column}: no UTF-8; expected text"))
            }
            _ => malformed(text),
        }
    }
}

/// Line ends as editors count them: a line feed, with a carriage return in front of it or without,
/// and a carriage return alone. The csv crate counts line feeds.
#[derive(Clone, Copy, Default)]
struct LineEnds {
    passed: u64,
    /// Whether the last byte was a carriage return: a line feed then ends no other line.
    half: bool,
}

impl LineEnds {
    fn take(&mut self, byte: u8) {
        self.passed += u64::from(byte == b'\r' || byte == b'\n' && !self.half);
        self.half = byte == b'\r';
    }

    fn pass(&mut self, text: &[u8]) {
        let Some(&first) = text.first() else { return };
        self.take(first);
        let ends = |pair: &&[u8]| pair[1] == b'\r' || pair[1] == b'\n' && pair[0] != b'\r';
        self.passed += text.windows(2).filter(ends).count() as u64;
        self.half = text.last() == Some(&b'\r');
    }

    /// The line that goes on here, from 1 on.
    fn line(&self) -> u64 {
        self.passed + 1
    }
}

/// Finds the lines that records begin on. The csv crate says only from which byte on it looks for
/// the next one, which may be in front of blank lines or of the second half of a line end, so that
/// what it was handed last is kept.
#[derive(Default)]
struct Begin {
    text: Vec<u8>,
    /// Bytes in front of it.
    before: u64,
    /// How much of it was passed, and the line ends up to there.
    passed: usize,
    lines: LineEnds,
    /// Whether the record that is looked for begins there or in front of it, and on which line.
    found: bool,
    line: u64,
}

impl Begin {
    /// The next record is looked for from this byte on.
    fn look(&mut self, byte: u64) {
        self.pass_to(byte.saturating_sub(self.before) as usize);
        self.found = false;
        self.skip_blank_lines();
    }

    /// Takes what follows.
    fn follow(&mut self, text: &[u8]) {
        self.pass_to(self.text.len());
        self.before += self.text.len() as u64;
        self.passed = 0;
        self.text.clear();
        self.text.extend_from_slice(text);
        if !self.found {
            self.skip_blank_lines();
        }
    }

    fn pass_to(&mut self, end: usize) {
        self.lines.pass(self.text.get(self.passed..end).unwrap_or_default());
        self.passed = self.passed.max(end);
    }

    fn skip_blank_lines(&mut self) {
        let end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let rest = self.text.get(self.passed..).unwrap_or_default();
        let record = rest.iter().position(|byte| !end(byte));
        self.pass_to(self.passed + record.unwrap_or(rest.len()));
        (self.found, self.line) = (record.is_some(), self.lines.line());
    }
}

type Whole<R> = Closed<io::Chain<Cursor<Vec<u8>>, Lines<R>>>;

/// Text that must not end within quotes: the csv crate would take all the rest for one cell.
pub(crate) struct Closed<R> {
    text: R,
    quotes: Quotes,
    /// Those of what was read, and the line on which the last quotes were opened.
    lines: LineEnds,
    opened: u64,
    begin: Begin,
}

impl<R: Read> Read for Closed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(buffer)?;
        if count == 0 && !buffer.is_empty() && self.quotes.inside {
            let text = never_closed(self.opened);
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        self.follow(&buffer[..count]);
        self.begin.follow(&buffer[..count]);
        Ok(count)
    }
}

impl<R> Closed<R> {
    fn follow(&mut self, text: &[u8]) {
        if !text.contains(&b'"') {
            // Most text has none: where its last cell begins is all that matters.
            self.lines.pass(text);
            if !self.quotes.inside {
                let cell = text.iter().rposition(|&byte| self.quotes.ends_cell(byte)).unwrap_or(0);
                text[cell..].iter().for_each(|&byte| self.quotes.take(byte));
            }
            return;
        }
        for &byte in text {
            if byte == b'"' && !self.quotes.begun {
                self.opened = self.lines.line();
            }
            self.lines.take(byte);
            self.quotes.take(byte);
        }
    }
}

fn never_closed(line: u64) -> String {
    format!("the quotes that are opened in line {line} are never closed")
}

impl<R: Read> Records<R> {
    pub(crate) fn open(file: R, tabs: bool) -> Result<Self> {
        let start = Start::open(file, tabs)?;
        let separator = start.separator;
        if separator.is_some() {
            return Ok(Records { form: Form::Csv(Box::new(start.into_csv())), separator });
        }
        let pending = (!start.first.is_empty()).then_some(start.first);
        let (reader, line) = (start.rest, start.line);
        let lines = SingleColumn { reader, pending, line, blanks: 0, left_out: 0 };
        Ok(Records { form: Form::Lines(lines), separator })
    }

    /// How many blank lines at the end of a table of one column were no records, once all are read.
    pub(crate) fn left_out(&self) -> u64 {
        match &self.form {
            Form::Lines(lines) => lines.left_out,
            Form::Csv(_) => 0,
        }
    }

    /// The line of the next record, `None` at the end.
    pub(crate) fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>> {
        match &mut self.form {
            Form::Csv(csv) => csv.next(record),
            Form::Lines(lines) => lines.next(record),
        }
    }
}

impl<R: Read> SingleColumn<R> {
    fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>> {
        self.reader.get_ref().progress().record();
        record.clear();
        if self.blanks > 0 {
            self.blanks -= 1;
            record.push_field(b"");
            return Ok(Some(self.line - 1 - self.blanks));
        }
        let mut text = self.pending.take().unwrap_or_default();
        if text.is_empty() {
            let mut passed = 0;
            loop {
                text.clear();
                self.line += 1;
                if self.reader.read_until(b'\n', &mut text).map_err(system)? == 0 {
                    self.left_out = passed;
                    return Ok(None);
                }
                if !text.trim_ascii().is_empty() {
                    break;
                }
                self.reader.get_ref().progress().record();
                passed += 1;
            }
            if passed > 0 {
                self.pending = Some(text);
                self.blanks = passed - 1;
                record.push_field(b"");
                return Ok(Some(self.line - passed));
            }
        }
        let begins = self.line;
        let (lines, closed) = rest_of_record(&mut self.reader, &mut text)?;
        self.line += lines;
        ensure_format!(closed, "{}", never_closed(begins));
        cells(text.trim_ascii(), record);
        Ok(Some(begins))
    }
}

/// Reads the lines that a record goes on in, where a quote is open, and says how many, and whether
/// it was closed.
fn rest_of_record(reader: &mut impl BufRead, record: &mut Vec<u8>) -> Result<(u64, bool)> {
    let mut quotes = Quotes::new(b',');
    let (mut seen, mut lines) = (0, 0);
    while quotes.open_after(&record[seen..]) {
        seen = record.len();
        if reader.read_until(b'\n', record).map_err(system)? == 0 {
            return Ok((lines, false));
        }
        lines += 1;
    }
    Ok((lines, true))
}

/// The cells of one record.
fn cells(text: &[u8], record: &mut ByteRecord) {
    let mut quotes = Quotes::new(b',');
    let mut start = 0;
    for (at, &byte) in text.iter().enumerate() {
        if byte == b',' && !quotes.inside {
            record.push_field(&unquoted(text[start..at].trim_ascii()));
            start = at + 1;
        }
        quotes.take(byte);
    }
    record.push_field(&unquoted(text[start..].trim_ascii()));
}

/// A cell without the quotes around it, and each pair of quotes inside as one.
fn unquoted(text: &[u8]) -> Vec<u8> {
    let Some(inner) = text.strip_prefix(b"\"").and_then(|t| t.strip_suffix(b"\"")) else {
        return text.to_vec();
    };
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        out.push(byte);
        if byte == b'"' && bytes.peek() == Some(&b'"') {
            bytes.next();
        }
    }
    out
}

/// Whether text goes on inside a cell in quotes. A quote within a cell that has none at its
/// beginning is a character like any other.
struct Quotes {
    separator: u8,
    inside: bool,
    /// Whether the cell began.
    begun: bool,
    /// Whether the last byte was a quote that closed.
    closed: bool,
    /// Whether a space in front of a quote is a character like any other, as to the csv crate.
    strict: bool,
}

impl Quotes {
    fn new(separator: u8) -> Self {
        Quotes { separator, inside: false, begun: false, closed: false, strict: false }
    }

    fn take(&mut self, byte: u8) {
        let quote = byte == b'"';
        if self.inside {
            (self.inside, self.closed) = (!quote, quote);
            return;
        }
        // Two quotes in a row close the cell and open it again.
        self.inside = quote && (!self.begun || self.closed);
        self.begun = !self.ends_cell(byte) && (self.begun || self.strict || byte != b' ');
        self.closed = false;
    }

    fn ends_cell(&self, byte: u8) -> bool {
        byte == self.separator || byte == b'\n' || byte == b'\r'
    }

    /// Takes more text in.
    fn open_after(&mut self, text: &[u8]) -> bool {
        text.iter().for_each(|&byte| self.take(byte));
        self.inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_followed() {
        let mut quotes = Quotes::new(b',');
        assert!(!quotes.open_after(b"5\",\"a \"\"b\"\" c\",x\"\n"));
        assert!(quotes.open_after(b"\"a \"\"b\n") && quotes.open_after(b"c\n"));
        assert!(!quotes.open_after(b"d\"\n"));
        // Behind a cell in quotes a quote is a character.
        assert!(!quotes.open_after(b"\"a\"b\"c,d\r\"e\"\n"));
        // So it is where the cell did not begin with one.
        assert!(!quotes.open_after(b"5\" pipe,x\n"));
    }

    #[test]
    fn quotes_must_be_closed() {
        let said = |text: &str| {
            let mut records = match Records::open(text.as_bytes(), false) {
                Ok(records) => records,
                Err(error) => return error.message().to_owned(),
            };
            let mut record = ByteRecord::new();
            loop {
                match records.next(&mut record) {
                    Ok(Some(_)) => {}
                    Ok(None) => return String::new(),
                    Err(error) => {
                        assert_eq!(error.kind(), consilience_core::ErrorKind::Format);
                        return error.message().to_owned();
                    }
                }
            }
        };
        for (text, line) in [
            ("a,b\n1,\"2\n3,4\n5,6\n", 2),
            ("\n\na,b\n1,\"x \"\"y\"\"\"\n3,4\n\"5,6", 6),
            ("a\n1\n\"2\n3\n", 3),
            ("\"a,b\n1,2\n", 1),
            ("a\n\"\n", 2),
            ("a,b\r1,\"2\r3,4\r", 2),
        ] {
            for text in [text.to_owned(), text.replace('\n', "\r\n")] {
                assert!(said(&text).contains(&format!("line {line} are never closed")), "{text:?}");
            }
        }
        // A quote behind a space opens nothing where there are several columns.
        assert_eq!(said("a,b\n1, \"x\n2,3\n"), "");
        assert!(said("a,b\n \"x,\"y\n3,4\n").contains("line 2 are"));
        // Whatever part of a file is read at a time.
        let long: String = (0..200_000).map(|i| format!("{i},\"x,\ny\"\n")).collect();
        assert_eq!(said(&format!("a,b\n{long}")), "");
        assert!(said(&format!("a,b\n{long}1,\"2\n")).contains("line 400002 are"));
        let plain: String = (0..200_000).map(|i| format!("{i},{i}\" pipe\n")).collect();
        assert_eq!(said(&format!("a,b\n{plain}")), "");
    }

    /// The lines on which the records of text begin.
    fn begun(text: impl Read) -> Vec<u64> {
        let mut records = Records::open(text, false).unwrap();
        let mut record = ByteRecord::new();
        std::iter::from_fn(|| records.next(&mut record).unwrap()).collect()
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        for (text, lines) in [
            ("x,y\n1,2\n3,4\n5,6", &[1, 2, 3, 4][..]),
            ("x,y\n\n1,\"a\nb\n\nc\"\n3,4\n\n\n5,6\n\n", &[1, 3, 7, 10]),
            ("\n\nsep=,\n\nx,y\n1,2\n", &[5, 6]),
        ] {
            assert_eq!(begun(text.as_bytes()), lines, "{text:?}");
            let windows = text.replace('\n', "\r\n");
            assert_eq!(begun(windows.as_bytes()), lines, "{windows:?}");
            // A line that tells the separator ends with a line feed.
            if !text.contains("sep=") {
                let old = text.replace('\n', "\r");
                assert_eq!(begun(old.as_bytes()), lines, "{old:?}");
            }
        }
        assert_eq!(begun(&b"a,b\r\n1,2\n3,4\r5,6\n\r7,8\r\r\n9,0"[..]), [1, 2, 3, 4, 6, 8]);
    }

    /// Text that is read a byte at a time.
    struct Slow<R>(R);

    impl<R: Read> Read for Slow<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    #[test]
    fn lines_do_not_depend_on_what_is_read_at_a_time() {
        for end in ["\n", "\r\n", "\r"] {
            let rows: String = (0..9000).map(|i| format!("{i},\"x,{end}y\"{end}{end}")).collect();
            let text = format!("a,b{end}{rows}");
            let expected: Vec<u64> =
                std::iter::once(1).chain((0..9000).map(|i| 2 + 3 * i)).collect();
            assert_eq!(begun(text.as_bytes()), expected, "{end:?}");
            assert_eq!(begun(Slow(text.as_bytes())), expected, "{end:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_named_by_its_line() {
        let text = b"a,b\r\n1,2\r\n\r\n3,\xff\r\n";
        let error = Start::open(&text[..], false).unwrap().each(|_, _| Ok(())).unwrap_err();
        assert_eq!(error.message(), "line 4, column 1: no UTF-8; expected text");
    }

    fn records(text: &str) -> Vec<Vec<String>> {
        let mut records = Records::open(text.as_bytes(), false).unwrap();
        let mut record = ByteRecord::new();
        let mut out = Vec::new();
        while records.next(&mut record).unwrap().is_some() {
            let text = |cell: &[u8]| String::from_utf8(cell.to_vec()).unwrap();
            out.push(record.iter().map(text).collect());
        }
        out
    }

    #[test]
    fn one_column_of_text_in_quotes() {
        let text = "name\n\"red, dark\"\n\n\"a \"\"b\"\"\nc\"\nplain\n";
        assert_eq!(records(text), [["name"], ["red, dark"], [""], ["a \"b\"\nc"], ["plain"]]);
        assert_eq!(records("a\n1,2\n")[1], ["1", "2"]);
        assert_eq!(records("a;b\n1,5;2\n")[1], ["1,5", "2"]);
        assert_eq!(records("\"a;b\"\nx\n"), [["a;b"], ["x"]]);
    }

    #[test]
    fn separators_are_found() {
        let found = |text: &str| separator(text.as_bytes(), false).map(|(_, name)| name);
        assert_eq!(found("a;b,c\n"), Some("commas"));
        assert_eq!(found("\"a,x\";b\n"), Some("semicolons"));
        assert_eq!(found("a b\tc\n"), Some("tabs"));
        assert_eq!(found("a\t\n"), None);
        let tabs = |text: &str| separator(text.as_bytes(), true).map(|(_, name)| name);
        assert_eq!(tabs("a, x\tb; y\n"), Some("tabs"));
        assert_eq!(tabs("a;b,c\n"), Some("commas"));
        assert_eq!(tabs("\"a\tb\"\n"), None);
        // A spreadsheet's line in front tells it, and is no row.
        assert_eq!(records("sep=;\r\na,x;b\n1;2\n"), [["a,x", "b"], ["1", "2"]]);
        assert_eq!(records("SEP=,\na;x,b\n"), [["a;x", "b"]]);
        assert_eq!(records("sep=,\na\n1\n"), [["a"], ["1"]]);
        assert_eq!(records("sep=;\n1,5\n2,5\n"), [["1,5"], ["2,5"]]);
        assert_eq!(records("sep=,x\n1,2\n"), [["sep=", "x"], ["1", "2"]]);
    }
}
