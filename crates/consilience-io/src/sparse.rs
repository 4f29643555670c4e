//! Sparse features: Matrix Market and svmlight text, and the archives of scipy.

#[cfg(feature = "csv")]
pub(crate) mod matrix_market;
#[cfg(feature = "npy")]
pub(crate) mod scipy;
#[cfg(feature = "csv")]
pub(crate) mod svmlight;
#[cfg(all(test, feature = "csv", feature = "npy"))]
mod tests;

use consilience_core::{Error, Observer, Result, ensure};
use sprs::CsMat;

use crate::allowance::{Allowance, no_room};
use crate::fault::{excerpt, malformed, system};

/// Entries by row, in whatever order they come.
#[derive(Default)]
pub(crate) struct Entries {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Entries {
    pub(crate) fn push(
        &mut self,
        (row, column, value): (usize, usize, f64),
        allowance: &Allowance,
    ) -> Result<()> {
        allowance.push(&mut self.rows, row)?;
        allowance.push(&mut self.columns, column)?;
        allowance.push(&mut self.values, value)
    }

    /// The matrix, rows compressed.
    pub(crate) fn into_matrix(
        self,
        (n, d): (usize, usize),
        allowance: &Allowance,
    ) -> Result<CsMat<f64>> {
        let mut starts = zeros(n.saturating_add(1), allowance)?;
        for &row in &self.rows {
            starts[row + 1] += 1;
        }
        (0..n).for_each(|row| starts[row + 1] += starts[row]);
        let mut next = allowance.room(n)?;
        next.extend_from_slice(&starts[..n]);
        let mut order = zeros(self.rows.len(), allowance)?;
        for (e, &row) in self.rows.iter().enumerate() {
            order[next[row]] = e;
            next[row] += 1;
        }
        let (mut indices, mut values) =
            (allowance.room(order.len())?, allowance.room(order.len())?);
        for row in 0..n {
            let own = &mut order[starts[row]..starts[row + 1]];
            own.sort_unstable_by_key(|&e| self.columns[e]);
            indices.extend(own.iter().map(|&e| self.columns[e]));
            values.extend(own.iter().map(|&e| self.values[e]));
        }
        matrix((n, d), starts, indices, values)
    }
}

fn zeros(len: usize, allowance: &Allowance) -> Result<Vec<usize>> {
    let mut zeros = allowance.room(len)?;
    zeros.resize(len, 0);
    Ok(zeros)
}

/// A matrix from what a file holds, which is checked: `starts` ascend from 0 to the number of
/// entries, and columns ascend within each row.
fn matrix<F: Copy>(
    (n, d): (usize, usize),
    starts: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<F>,
) -> Result<CsMat<F>> {
    let entries = values.len();
    ensure!(
        indices.len() == entries,
        shape("{} column numbers for {entries} entries", indices.len())
    );
    ensure!(
        starts.len() == n + 1 && starts[0] == 0 && starts[n] == entries,
        shape(
            "row pointers of {n} rows and {entries} entries; expected {} from 0 to {entries}",
            n + 1
        )
    );
    for row in 0..n {
        let (start, end) = (starts[row], starts[row + 1]);
        ensure!(start <= end && end <= entries, shape("row pointers that descend at row {row}"));
        for (at, &column) in indices[start..end].iter().enumerate() {
            ensure!(
                column < d,
                out_of_range("row {row}: column {column} of {d}; expected less than {d}")
            );
            let before = at.checked_sub(1).map(|at| indices[start + at]);
            if let Some(before) = before.filter(|&before| before >= column) {
                return Err(disorder(row, column, before));
            }
        }
    }
    Ok(CsMat::new((n, d), starts, indices, values))
}

fn disorder(row: usize, column: usize, before: usize) -> Error {
    malformed(if column == before {
        format!("row {row}: column {column} twice; expected each entry once")
    } else {
        format!("row {row}: column {column} after {before}; expected ascending columns")
    })
}

/// A whole number, and what it is.
fn whole(cell: &[u8], what: &str, line: usize) -> Result<usize> {
    let digits = !cell.is_empty() && cell.len() < 20 && cell.iter().all(u8::is_ascii_digit);
    let value = digits.then(|| std::str::from_utf8(cell).ok()?.parse().ok()).flatten();
    value.ok_or_else(|| {
        malformed(format!("line {line}: {what} {:?}; expected a whole number", shown(cell)))
    })
}

/// A finite number.
fn number(cell: &[u8], line: usize) -> Result<f64> {
    let value = crate::label::number(cell).filter(|value| value.is_finite());
    value.ok_or_else(|| {
        malformed(format!("line {line}: value {:?}; expected a finite number", shown(cell)))
    })
}

/// Text as messages have it.
fn shown(text: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(text))
}

/// Lines of text, without their ends; told to `each` with their number, from 1 on.
#[cfg(feature = "csv")]
fn lines<R: std::io::Read>(
    file: R,
    observer: &dyn Observer,
    mut each: impl FnMut(usize, &[u8]) -> Result<()>,
) -> Result<()> {
    /// Lines between two questions to the observer.
    const ASKED: usize = 1 << 16;

    let text = crate::text::Text::open(file)?;
    let progress = text.progress();
    let mut reader = std::io::BufReader::with_capacity(1 << 16, text);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if !read_line(&mut reader, &mut line)? {
            break;
        }
        progress.record();
        each(number, line.trim_ascii())?;
        if number % ASKED == 0 {
            observer.check()?;
        }
    }
    Ok(())
}

/// Reads a line with its end, if there is one more. As long as a line may be, there may be no
/// memory for it.
fn read_line(reader: &mut impl std::io::BufRead, line: &mut Vec<u8>) -> Result<bool> {
    loop {
        let found = match reader.fill_buf() {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(system(error)),
        };
        let end = found.iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(found.len(), |at| at + 1);
        let length = line.len() + taken;
        line.try_reserve(taken).map_err(|_| no_room::<u8>(length))?;
        line.extend_from_slice(&found[..taken]);
        reader.consume(taken);
        if end.is_some() || taken == 0 {
            return Ok(!line.is_empty());
        }
    }
}

fn cells(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty())
}
