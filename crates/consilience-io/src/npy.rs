//! NumPy's `.npy`: read in one pass and a few megabytes of buffer, whatever the element type and
//! order.

use std::io::{Read, Write};

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use consilience_core::{Error, Observer, Result};

use crate::allowance::Allowance;
use crate::fault::{check_not_empty, ensure_format, excerpt, malformed, system};
use crate::features::FeatureTable;
use crate::ids::{ObjectIds, Texts};
use crate::label::{Label, label};
use crate::labelled::Labelled;
use crate::roles::numbered_names;
use crate::table::{Cell, LabelColumn, LabelColumns, at};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Bytes read at a time.
const BLOCK: usize = 8 << 20;

/// A number in NumPy's layout.
trait NpyCell: Cell {
    const WIDTH: usize;
    fn decode(bytes: &[u8], big: bool) -> Self;
}

macro_rules! npy_cells {
    ($($t:ty),*) => {$(impl NpyCell for $t {
        const WIDTH: usize = size_of::<$t>();
        #[inline(always)]
        fn decode(bytes: &[u8], big: bool) -> Self {
            let mut own = [0; size_of::<$t>()];
            own.copy_from_slice(&bytes[..size_of::<$t>()]);
            if big { <$t>::from_be_bytes(own) } else { <$t>::from_le_bytes(own) }
        }
    })*};
}
npy_cells!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

impl NpyCell for bool {
    const WIDTH: usize = 1;
    #[inline(always)]
    fn decode(bytes: &[u8], _: bool) -> Self {
        bytes[0] != 0
    }
}

/// Half precision, as its bits.
#[derive(Clone, Copy)]
struct Half(u16);

impl Half {
    /// The same number; every half is a single.
    fn single(self) -> f32 {
        let sign = if self.0 >> 15 == 0 { 1.0 } else { -1.0 };
        let (exponent, fraction) = (i32::from((self.0 >> 10) & 0x1f), f32::from(self.0 & 0x3ff));
        sign * match exponent {
            0 => fraction * 2f32.powi(-24),
            0x1f if fraction == 0.0 => f32::INFINITY,
            0x1f => f32::NAN,
            _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
        }
    }
}

impl Cell for Half {
    fn label(self) -> std::result::Result<Option<u64>, String> {
        self.single().label()
    }
    fn float(self) -> f64 {
        self.single().float()
    }
}

impl NpyCell for Half {
    const WIDTH: usize = 2;
    fn decode(bytes: &[u8], big: bool) -> Self {
        Half(u16::decode(bytes, big))
    }
}

/// Runs one generic call with the element type that the header names.
macro_rules! with_element {
    ($header:expr, $t:ident => $call:expr) => {
        with_element!(
            $header, $t => $call;
            "b1" bool, "i1" i8, "i2" i16, "i4" i32, "i8" i64, "u1" u8, "u2" u16, "u4" u32,
            "u8" u64, "f2" Half, "f4" f32, "f8" f64
        )
    };
    ($header:expr, $t:ident => $call:expr; $($name:literal $element:ty),+) => {
        match &$header.element[..] {
            $($name => {
                type $t = $element;
                $call
            })+
            other => Err(malformed(format!(
                "elements of type {:?}; expected bool, int8..int64, uint8..uint64, \
                float16..float64 or, for labels and answers, text of fixed width",
                excerpt(other)
            ))),
        }
    };
}

/// Text in a cell of fixed width, filled up with zeros: `U12` or `S12`.
#[derive(Clone, Copy)]
struct TextCell {
    /// Four bytes for each character, or one.
    wide: bool,
    /// Bytes of a cell.
    width: usize,
}

impl TextCell {
    fn of(element: &str) -> Option<Self> {
        let (wide, count) = match element.split_at_checked(1)? {
            ("U", count) => (true, count),
            ("S" | "a", count) => (false, count),
            _ => return None,
        };
        let count: usize = count.parse().ok().filter(|&count| count > 0)?;
        Some(TextCell { wide, width: count.checked_mul(if wide { 4 } else { 1 })? })
    }

    fn decode(self, bytes: &[u8], big: bool, text: &mut String) -> std::result::Result<(), String> {
        text.clear();
        if !self.wide {
            let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            let found = std::str::from_utf8(&bytes[..end]);
            text.push_str(found.map_err(|_| "bytes that are no UTF-8; expected text".to_owned())?);
            return Ok(());
        }
        let mut ends = None;
        for character in bytes.chunks_exact(4) {
            let code = u32::decode(character, big);
            let found = char::from_u32(code)
                .ok_or_else(|| format!("damaged text: no character {code:#x}"))?;
            if found == '\0' {
                ends = ends.or(Some(text.len()));
            } else {
                ends = None;
            }
            text.push(found);
        }
        text.truncate(ends.unwrap_or(text.len()));
        Ok(())
    }
}

/// What the header says.
struct Header {
    /// Kind and width, `i8` for int64.
    element: String,
    big_endian: bool,
    fortran: bool,
    rows: usize,
    columns: usize,
    /// Bytes of the header itself.
    bytes: u64,
}

impl Header {
    fn read(reader: &mut dyn Read) -> Result<Self> {
        let mut fixed = [0u8; 10];
        reader.read_exact(&mut fixed).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => not_npy(),
            _ => system(error),
        })?;
        if &fixed[..6] != MAGIC {
            return Err(not_npy());
        }
        let (length, bytes) = match fixed[6] {
            1 => (u32::from(u16::from_le_bytes([fixed[8], fixed[9]])), 10),
            2 | 3 => {
                let mut rest = [0u8; 2];
                reader.read_exact(&mut rest).map_err(system)?;
                (u32::from_le_bytes([fixed[8], fixed[9], rest[0], rest[1]]), 12)
            }
            other => {
                return Err(malformed(format!(".npy format version {other}; expected 1, 2 or 3")));
            }
        };
        ensure_format!(length <= 1 << 20, "damaged .npy header: {length} bytes long");
        let mut text = vec![0u8; length as usize];
        reader.read_exact(&mut text).map_err(system)?;
        let text = String::from_utf8_lossy(&text);
        let mut header = Self::parse(&text)?;
        header.bytes = bytes + u64::from(length);
        Ok(header)
    }

    /// Reads the Python dictionary `{'descr': '<i8', 'fortran_order': False, 'shape': (5, 3), }`.
    fn parse(text: &str) -> Result<Self> {
        let damaged = |what: &str| {
            malformed(format!("damaged .npy header: no {what} in {:?}", excerpt(text.trim())))
        };
        let value = |key: &str| {
            let quoted = [format!("'{key}'"), format!("\"{key}\"")];
            let (_, rest) = quoted.iter().find_map(|q| text.split_once(q.as_str()))?;
            rest.trim_start().strip_prefix(':').map(str::trim_start)
        };
        let descr = value("descr").ok_or_else(|| damaged("descr"))?;
        let descr = match descr.chars().next() {
            Some(quote @ ('\'' | '"')) => descr[1..].split(quote).next().unwrap_or_default(),
            _ => return Err(malformed("a structured array; expected a plain table of numbers")),
        };
        let big_endian =
            descr.starts_with('>') || (descr.starts_with('=') && cfg!(target_endian = "big"));
        let fortran = match value("fortran_order") {
            Some(v) if v.starts_with("True") => true,
            Some(v) if v.starts_with("False") => false,
            _ => return Err(damaged("fortran_order")),
        };
        let shape = value("shape")
            .and_then(|v| v.strip_prefix('(')?.split(')').next())
            .ok_or_else(|| damaged("shape"))?;
        let sizes: Vec<usize> = shape
            .split(',')
            .map(|s| s.trim().trim_end_matches('L'))
            .filter(|s| !s.is_empty())
            .map(|s| s.parse().map_err(|_| damaged("readable shape")))
            .collect::<Result<_>>()?;
        let (rows, columns) = match sizes[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => {
                return Err(malformed(format!(
                    "an array of shape ({}); expected a table of two dimensions",
                    excerpt(shape)
                )));
            }
        };
        check_not_empty(rows, columns)?;
        let element = descr.trim_start_matches(['<', '>', '|', '=']).to_owned();
        Ok(Header { element, big_endian, fortran, rows, columns, bytes: 0 })
    }

    /// Refuses a header that promises other than `length` bytes, before anything is allocated. Of a
    /// pipe nobody knows how many will come.
    fn check_length(&self, width: usize, length: Option<u64>) -> Result<()> {
        let Some(length) = length else { return Ok(()) };
        let promised = self.rows as u128 * self.columns as u128 * width as u128;
        let found = u128::from(length.saturating_sub(self.bytes));
        if promised != found {
            let what = if found < promised { "truncated" } else { "damaged" };
            return Err(malformed(format!(
                "{what}: the header promises {} x {} values of {width} bytes, {promised} bytes \
                in all, and {found} follow",
                self.rows, self.columns
            )));
        }
        Ok(())
    }
}

fn not_npy() -> Error {
    malformed("not a .npy array: it does not begin with \\x93NUMPY")
}

/// A stream that starts with the header, and its length in bytes where it ends.
pub(crate) struct Stream<'a> {
    pub(crate) reader: &'a mut dyn Read,
    /// `None` for a pipe.
    pub(crate) length: Option<u64>,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) allowance: Allowance,
}

impl Stream<'_> {
    /// One column of names, as they are written.
    pub(crate) fn texts(mut self) -> Result<Texts> {
        let header = Header::read(self.reader)?;
        let mut labels = match TextCell::of(&header.element) {
            Some(cell) => self.labels_of_text(&header, cell, |text| Ok(Label::Text(text)))?,
            None => with_element!(header, T => self.labels_of::<T>(&header))?,
        };
        match labels.columns.pop() {
            Some(only) if labels.columns.is_empty() => only.into_texts(),
            _ => Err(malformed(format!("{} columns; expected one", header.columns))),
        }
    }

    /// Label columns.
    pub(crate) fn labels(mut self) -> Result<LabelColumns> {
        let header = Header::read(self.reader)?;
        match TextCell::of(&header.element) {
            Some(cell) => {
                self.labels_of_text(&header, cell, |text| label(text.trim_ascii().as_bytes()))
            }
            None => with_element!(header, T => self.labels_of::<T>(&header)),
        }
    }

    /// Features; float32 stays float32.
    pub(crate) fn features(mut self) -> Result<FeatureTable> {
        let header = Header::read(self.reader)?;
        if header.element == "f4" {
            return Ok(FeatureTable::F32(self.table_of::<f32, f32>(&header, |x| x)?));
        }
        let table = with_element!(header, T => self.table_of::<T, f64>(&header, T::float))?;
        Ok(FeatureTable::F64(table))
    }

    /// Names, in cells of fixed width.
    fn labels_of_text(
        &mut self,
        header: &Header,
        cell: TextCell,
        read: impl for<'t> Fn(&'t str) -> std::result::Result<Label<'t>, String>,
    ) -> Result<LabelColumns> {
        header.check_length(cell.width, self.length)?;
        self.allowance.expect(header.rows, header.columns, 1)?;
        let mut labels = LabelColumns::new(numbered_names(header.columns), &self.allowance)?;
        let (n, m) = (header.rows, header.columns);
        let (mut done, mut text) = (0, String::new());
        self.blocks(n.saturating_mul(m), cell.width, |bytes| {
            for bytes in bytes.chunks_exact(cell.width) {
                let (row, column) =
                    if header.fortran { (done % n, done / n) } else { (done / m, done % m) };
                let decoded = cell.decode(bytes, header.big_endian, &mut text);
                let label = decoded.and_then(|()| read(&text));
                labels.columns[column].push_label(label.map_err(|what| at(row, column, what))?)?;
                done += 1;
            }
            Ok(())
        })?;
        Ok(labels)
    }

    fn labels_of<T: NpyCell>(&mut self, header: &Header) -> Result<LabelColumns> {
        header.check_length(T::WIDTH, self.length)?;
        // One byte per label at least.
        self.allowance.expect(header.rows, header.columns, 1)?;
        let mut labels = LabelColumns::new(numbered_names(header.columns), &self.allowance)?;
        let (n, m) = (header.rows, header.columns);
        if header.fortran {
            // One column after the other.
            let mut done = 0;
            self.blocks(n.saturating_mul(m), T::WIDTH, |bytes| {
                for cell in bytes.chunks_exact(T::WIDTH) {
                    let (row, column) = (done % n, done / n);
                    let key = T::decode(cell, header.big_endian)
                        .label()
                        .map_err(|what| at(row, column, what))?;
                    labels.columns[column].push(key)?;
                    done += 1;
                }
                Ok(())
            })?;
        } else {
            let mut first = 0;
            self.blocks(n, T::WIDTH.saturating_mul(m), |bytes| {
                let wrong = labels
                    .columns
                    .par_iter_mut()
                    .enumerate()
                    .filter_map(|(column, labels)| {
                        push_column::<T>(labels, bytes, column, m, header.big_endian)
                            .err()
                            .map(|(row, why)| (row, column, why))
                    })
                    .min_by_key(|&(row, column, _)| (row, column));
                match wrong {
                    Some((row, column, Refused::Label(what))) => {
                        return Err(at(first + row, column, what));
                    }
                    Some((_, _, Refused::Memory(error))) => return Err(error),
                    None => {}
                }
                first += bytes.len() / (T::WIDTH * m);
                Ok(())
            })?;
        }
        Ok(labels)
    }

    fn table_of<T: NpyCell, F>(
        &mut self,
        header: &Header,
        convert: impl Fn(T) -> F,
    ) -> Result<Array2<F>>
    where
        F: Copy,
    {
        header.check_length(T::WIDTH, self.length)?;
        let count = header.rows.saturating_mul(header.columns);
        let mut values: Vec<F> = self.allowance.room(count)?;
        self.blocks(count, T::WIDTH, |bytes| {
            values.extend(
                bytes
                    .chunks_exact(T::WIDTH)
                    .map(|cell| convert(T::decode(cell, header.big_endian))),
            );
            Ok(())
        })?;
        let (rows, columns) = (header.rows, header.columns);
        // Row by row whatever the file's order: sums over a row then have the same bits.
        if header.fortran && rows > 1 && columns > 1 {
            let mut by_row: Vec<F> = self.allowance.room(count)?;
            for row in 0..rows {
                by_row.extend((0..columns).map(|column| values[column * rows + row]));
            }
            values = by_row;
        }
        Array2::from_shape_vec((rows, columns), values).map_err(|e| malformed(e.to_string()))
    }

    /// Hands out `count` items of `width` bytes, some megabytes at a time, and checks that the
    /// stream ends there.
    fn blocks(
        &mut self,
        count: usize,
        width: usize,
        mut each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let per_block = (BLOCK / width).clamp(1, count);
        let mut buffer: Vec<u8> = self.allowance.room(per_block.saturating_mul(width))?;
        buffer.resize(per_block * width, 0);
        let mut done = 0;
        while done < count {
            self.observer.check()?;
            let items = per_block.min(count - done);
            let bytes = &mut buffer[..items * width];
            self.reader.read_exact(bytes).map_err(system)?;
            each(bytes)?;
            done += items;
            self.observer.progress("reading", done, count);
        }
        // The last read of a zip entry is the one that verifies its checksum.
        match self.reader.read(&mut [0]).map_err(system)? {
            0 => Ok(()),
            _ => Err(malformed("damaged: more bytes than its header promises")),
        }
    }
}

/// Why a label was not taken.
enum Refused {
    Label(String),
    Memory(Error),
}

fn push_column<T: NpyCell>(
    labels: &mut LabelColumn,
    bytes: &[u8],
    column: usize,
    columns: usize,
    big: bool,
) -> std::result::Result<(), (usize, Refused)> {
    for (row, cells) in bytes.chunks_exact(T::WIDTH * columns).enumerate() {
        let cell = T::decode(&cells[column * T::WIDTH..], big);
        let key = cell.label().map_err(|what| (row, Refused::Label(what)))?;
        labels.push(key).map_err(|error| (row, Refused::Memory(error)))?;
    }
    Ok(())
}

/// Bytes that [`write_labels`] will write at most, for formats that must know beforehand.
pub(crate) fn label_bytes(labels: &Labelled<'_>) -> u64 {
    let width = match labels {
        Labelled::Named(_, names) => text_width(names.iter()),
        _ => labels.width(),
    };
    (labels.columns() * labels.rows()) as u64 * width as u64 + 256
}

/// Writes labels in the narrowest signed integer, -1 for unlabelled: shape `(n,)` or `(n, M)`.
pub(crate) fn write_labels(
    out: &mut dyn Write,
    labels: &Labelled<'_>,
    observer: &dyn Observer,
) -> Result<()> {
    if let Labelled::Named(partition, names) = labels {
        let label = |i: usize| partition.label(i).map_or("", |c| names[c].as_str());
        let cells = (0..partition.n_objects()).map(label);
        return write_texts(out, labels.rows(), text_width(names.iter()), cells, observer);
    }
    let width = labels.width();
    let (n, m) = (labels.rows(), labels.columns());
    let shape = if labels.single() { format!("({n},)") } else { format!("({n}, {m})") };
    let order = if width == 1 { '|' } else { '<' };
    out.write_all(&header_bytes(&format!("{order}i{width}"), &shape)).map_err(system)?;
    let per_block = (BLOCK / (m * width)).clamp(1, n);
    let mut buffer = vec![0u8; per_block * m * width];
    let mut first = 0;
    while first < n {
        observer.check()?;
        let rows = per_block.min(n - first);
        let bytes = &mut buffer[..rows * m * width];
        for column in 0..m {
            for (row, cells) in bytes.chunks_exact_mut(m * width).enumerate() {
                let label = labels.signed(first + row, column);
                // The low bytes of a small two's complement number are that number.
                cells[column * width..][..width].copy_from_slice(&label.to_le_bytes()[..width]);
            }
        }
        out.write_all(bytes).map_err(system)?;
        first += rows;
        observer.progress("writing", first, n);
    }
    Ok(())
}

/// Bytes of a cell that holds each of the texts.
pub(crate) fn text_width<T: AsRef<str>>(texts: impl Iterator<Item = T>) -> usize {
    texts.map(|text| text.as_ref().chars().count()).max().unwrap_or(0).max(1) * 4
}

/// Writes one column of text, in cells of so many bytes.
pub(crate) fn write_texts<'a>(
    out: &mut dyn Write,
    n: usize,
    width: usize,
    texts: impl Iterator<Item = &'a str>,
    observer: &dyn Observer,
) -> Result<()> {
    let header = header_bytes(&format!("<U{}", width / 4), &format!("({n},)"));
    out.write_all(&header).map_err(system)?;
    let mut cell = vec![0u8; width];
    for (row, text) in texts.enumerate() {
        if row % (1 << 14) == 0 {
            observer.check()?;
        }
        cell.fill(0);
        for (bytes, character) in cell.chunks_exact_mut(4).zip(text.chars()) {
            bytes.copy_from_slice(&u32::from(character).to_le_bytes());
        }
        out.write_all(&cell).map_err(system)?;
    }
    Ok(())
}

/// Writes the ids of objects as one column of text.
pub(crate) fn write_ids(
    out: &mut dyn Write,
    ids: &ObjectIds,
    observer: &dyn Observer,
) -> Result<()> {
    write_texts(out, ids.n_objects(), text_width(ids.iter()), ids.iter(), observer)
}

/// Writes a table of float64.
pub(crate) fn write_floats(out: &mut dyn Write, table: ArrayView2<'_, f64>) -> Result<()> {
    out.write_all(&header_bytes("<f8", &format!("({}, {})", table.nrows(), table.ncols())))
        .map_err(system)?;
    for row in table.rows() {
        for value in row {
            out.write_all(&value.to_le_bytes()).map_err(system)?;
        }
    }
    Ok(())
}

fn header_bytes(descr: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // NumPy aligns the data to 64 bytes.
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_what_they_say() {
        let single = |bits| Half(bits).single();
        assert_eq!(
            [0x3c00, 0xc000, 0x0001, 0x0400, 0x7bff].map(single),
            [1.0, -2.0, 5.960_464_5e-8, 6.103_515_6e-5, 65504.0]
        );
        assert_eq!((single(0x7c00), single(0xfc00)), (f32::INFINITY, f32::NEG_INFINITY));
        assert!(single(0x7e00).is_nan() && single(0x8000).is_sign_negative());
    }

    #[test]
    fn headers_of_every_kind() {
        let h =
            Header::parse("{'descr': '<i8', 'fortran_order': False, 'shape': (5, 3), }").unwrap();
        assert_eq!((&h.element[..], h.fortran, h.rows, h.columns), ("i8", false, 5, 3));
        let h =
            Header::parse("{'shape': (7L,), \"descr\": \">f4\", 'fortran_order': True}").unwrap();
        assert_eq!(
            (&h.element[..], h.big_endian, h.fortran, h.rows, h.columns),
            ("f4", true, true, 7, 1)
        );
        for bad in [
            "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (5,), }",
            "{'descr': '<i8', 'fortran_order': False, 'shape': (5, 3, 2), }",
            "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 3), }",
            "{'descr': '<i8', 'fortran_order': False, 'shape': (-1, 3), }",
            "{'descr': '<i8', 'shape': (5, 3), }",
            "",
        ] {
            assert!(Header::parse(bad).is_err(), "{bad}");
        }
    }
}
