//! The text of svmlight and libsvm: a line per object with its class, then `column:value` for every
//! entry that is not 0.

use std::io::Read;

use consilience_core::{Observer, Result};

use super::{Entries, cells, lines, number, shown, whole};
use crate::allowance::Allowance;
use crate::fault::{ensure_format, malformed};
use crate::features::FeatureTable;
use crate::label::label;
use crate::table::LabelColumns;

/// Features. Columns are counted from 1, as the format has it, unless there is a column 0.
pub(crate) fn features<R: Read>(
    file: R,
    observer: &dyn Observer,
    allowance: &Allowance,
    notes: &mut Vec<String>,
) -> Result<FeatureTable> {
    let (mut rows, mut columns, mut zero) = (0, 0, false);
    let mut entries = Entries::default();
    lines(file, observer, |at, line| {
        let Some((class, cells)) = object(line) else { return Ok(()) };
        check_class(class, at)?;
        for cell in cells {
            let Some(colon) = cell.iter().position(|&b| b == b':') else {
                let cell = shown(cell);
                return Err(malformed(format!("line {at}: {cell:?}; expected column:value")));
            };
            if &cell[..colon] == b"qid" {
                continue;
            }
            let column = whole(&cell[..colon], "column", at)?;
            ensure_format!(
                column < u32::MAX as usize,
                "line {at}: column {column}; expected less than 2^32"
            );
            zero |= column == 0;
            columns = columns.max(column + 1);
            entries.push((rows, column, number(&cell[colon + 1..], at)?), allowance)?;
        }
        rows += 1;
        Ok(())
    })?;
    ensure_format!(
        rows > 0 && columns > 0,
        "no entries; expected a class and column:value on every line"
    );
    if zero {
        notes.push("columns are counted from 0".into());
    } else {
        columns -= 1;
        entries.columns.iter_mut().for_each(|column| *column -= 1);
    }
    Ok(FeatureTable::Sparse64(entries.into_matrix((rows, columns), allowance)?))
}

/// The classes, which each line begins with.
pub(crate) fn classes<R: Read>(
    file: R,
    observer: &dyn Observer,
    allowance: &Allowance,
) -> Result<LabelColumns> {
    let mut found = LabelColumns::new(vec!["class".into()], allowance)?;
    lines(file, observer, |at, line| {
        let Some((class, _)) = object(line) else { return Ok(()) };
        check_class(class, at)?;
        let plain = class.strip_prefix(b"+").unwrap_or(class);
        // In this format a negative class is one, and not an object without.
        let text = std::str::from_utf8(plain).unwrap_or_default();
        let label = match text.parse::<f64>() {
            Ok(value) if value < 0.0 => crate::label::Label::Text(text),
            _ => label(plain).map_err(|what| malformed(format!("line {at}: {what}")))?,
        };
        found.columns[0].push_label(label)
    })?;
    Ok(found)
}

/// Refuses a line that begins with an entry.
fn check_class(class: &[u8], at: usize) -> Result<()> {
    ensure_format!(
        !class.contains(&b':'),
        "line {at}: {:?}; expected a class before entries",
        shown(class)
    );
    Ok(())
}

/// Class and entries of a line that is neither empty nor a comment.
fn object(line: &[u8]) -> Option<(&[u8], impl Iterator<Item = &[u8]>)> {
    let line = line.split(|&b| b == b'#').next().unwrap_or_default();
    let mut cells = cells(line);
    Some((cells.next()?, cells))
}
