//! Matrix Market text: a line that says what follows, comments, the sizes, and a line per entry.

use std::io::Read;

use consilience_core::{Observer, Result, ensure};
use ndarray::{Array2, ShapeBuilder};

use super::{Entries, cells, lines, number, shown, whole};
use crate::allowance::Allowance;
use crate::fault::{ensure_format, excerpt, malformed};
use crate::features::FeatureTable;

/// What the first line says.
#[derive(Clone, Copy)]
struct Header {
    /// Entries with their places, and not all of them in order.
    coordinate: bool,
    /// Places without values, which are 1.
    pattern: bool,
    /// What an entry says of the one across the diagonal: its value times this.
    mirrored: Option<f64>,
}

impl Header {
    fn parse(line: &[u8]) -> Result<Self> {
        let text = String::from_utf8_lossy(line).to_lowercase();
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let expected = |what: &str, found: &str| {
            malformed(format!("Matrix Market: {what} {:?}", excerpt(found)))
        };
        let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
            return Err(malformed(format!(
                "no Matrix Market: it begins with {:?}; expected %%MatrixMarket matrix, a layout, \
                 a field and a symmetry",
                shown(line)
            )));
        };
        let coordinate = match layout {
            "coordinate" => true,
            "array" => false,
            other => return Err(expected("layout; expected coordinate or array, not", other)),
        };
        let pattern = match field {
            "real" | "integer" | "double" => false,
            "pattern" if coordinate => true,
            other => return Err(expected("field; expected real, integer or pattern, not", other)),
        };
        let mirrored = match symmetry {
            "general" => None,
            "symmetric" if coordinate => Some(1.0),
            "skew-symmetric" if coordinate => Some(-1.0),
            other => {
                return Err(expected(
                    "symmetry; expected general or, of entries, symmetric, not",
                    other,
                ));
            }
        };
        Ok(Header { coordinate, pattern, mirrored })
    }
}

/// What has been read.
struct Matrix<'a> {
    header: Option<Header>,
    /// Rows, columns, and how many entries there are to be.
    sizes: Option<(usize, usize, usize)>,
    entries: Entries,
    /// Of the layout that names no places, column after column.
    dense: Vec<f64>,
    read: usize,
    allowance: &'a Allowance,
}

pub(crate) fn read<R: Read>(
    file: R,
    observer: &dyn Observer,
    allowance: &Allowance,
) -> Result<FeatureTable> {
    let mut matrix = Matrix {
        header: None,
        sizes: None,
        entries: Entries::default(),
        dense: Vec::new(),
        read: 0,
        allowance,
    };
    lines(file, observer, |number, line| matrix.line(number, line))?;
    matrix.finish()
}

impl Matrix<'_> {
    fn line(&mut self, at: usize, line: &[u8]) -> Result<()> {
        let Some(header) = self.header else {
            self.header = Some(Header::parse(line)?);
            return Ok(());
        };
        if line.is_empty() || line.starts_with(b"%") {
            return Ok(());
        }
        let mut cells = cells(line);
        let Some((rows, columns, count)) = self.sizes else {
            let mut size = |what| whole(cells.next().unwrap_or_default(), what, at);
            let (rows, columns) = (size("rows")?, size("columns")?);
            let count = match header.coordinate {
                true => size("entries")?,
                false => rows.saturating_mul(columns),
            };
            ensure!(
                header.mirrored.is_none() || rows == columns,
                shape("a symmetric matrix of {rows} rows and {columns} columns")
            );
            self.sizes = Some((rows, columns, count));
            return Ok(());
        };
        self.read += 1;
        ensure_format!(
            self.read <= count,
            "line {at}: more than the {count} entries that the file promises"
        );
        if !header.coordinate {
            let value = number(cells.next().unwrap_or_default(), at)?;
            return self.allowance.push(&mut self.dense, value);
        }
        let mut place = |what, of: usize| {
            let place = whole(cells.next().unwrap_or_default(), what, at)?;
            ensure!(
                (1..=of).contains(&place),
                out_of_range("line {at}: {what} {place}; expected 1 to {of}")
            );
            Ok(place - 1)
        };
        let (row, column) = (place("row", rows)?, place("column", columns)?);
        let value = match header.pattern {
            true => 1.0,
            false => number(cells.next().unwrap_or_default(), at)?,
        };
        self.entries.push((row, column, value), self.allowance)?;
        if let Some(sign) = header.mirrored.filter(|_| row != column) {
            self.entries.push((column, row, sign * value), self.allowance)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<FeatureTable> {
        let (Some(header), Some((rows, columns, count))) = (self.header, self.sizes) else {
            return Err(malformed("Matrix Market without a line of sizes"));
        };
        ensure_format!(self.read == count, "truncated: {} of {count} entries", self.read);
        if header.coordinate {
            let matrix = self.entries.into_matrix((rows, columns), self.allowance)?;
            return Ok(FeatureTable::Sparse64(matrix));
        }
        let table = Array2::from_shape_vec((rows, columns).f(), self.dense);
        Ok(FeatureTable::F64(table.map_err(|e| malformed(e.to_string()))?))
    }
}
