//! Arrow files as outputs.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use consilience_core::{Observer, Result};
use ndarray::ArrayView2;

use crate::fault::{malformed, system};
use crate::ids::ObjectIds;
use crate::labelled::{Labelled, column_names};

/// Rows of a batch.
const BATCH: usize = 1 << 16;

/// Writes labels, one column of integers per member, -1 for unlabelled; names as text, null for
/// unlabelled. Ids come first.
pub(crate) fn write_labels(
    out: impl Write,
    labels: &Labelled<'_>,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
) -> Result<()> {
    let named = matches!(labels, Labelled::Named(..));
    let kind = match labels.width() > 4 {
        _ if named => DataType::Utf8,
        true => DataType::Int64,
        false => DataType::Int32,
    };
    let names = labels.column_names();
    write(out, &names, &kind, ids, labels.rows(), observer, |c, rows| match kind {
        DataType::Utf8 => Arc::new(
            rows.map(|i| labels.name(i).filter(|n| !n.is_empty())).collect::<StringArray>(),
        ),
        DataType::Int64 => {
            Arc::new(Int64Array::from_iter_values(rows.map(|i| labels.signed(i, c))))
        }
        _ => Arc::new(Int32Array::from_iter_values(rows.map(|i| labels.signed(i, c) as i32))),
    })
}

/// Writes a table of float64. Ids come first.
pub(crate) fn write_floats(
    out: impl Write,
    table: ArrayView2<'_, f64>,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
) -> Result<()> {
    let names = column_names("c", table.ncols());
    write(out, &names, &DataType::Float64, ids, table.nrows(), observer, |c, rows| {
        Arc::new(Float64Array::from_iter_values(rows.map(|i| table[[i, c]])))
    })
}

fn write(
    out: impl Write,
    names: &[String],
    kind: &DataType,
    ids: Option<&ObjectIds>,
    n: usize,
    observer: &dyn Observer,
    column: impl Fn(usize, Range<usize>) -> ArrayRef,
) -> Result<()> {
    let wrong = |error: ArrowError| malformed(error.to_string());
    let id = ids.map(|_| Field::new("id", DataType::Utf8, false));
    let optional = *kind == DataType::Utf8;
    let fields = names.iter().map(|name| Field::new(name, kind.clone(), optional));
    let schema = Arc::new(Schema::new(id.into_iter().chain(fields).collect::<Vec<_>>()));
    let mut file = FileWriter::try_new(out, &schema).map_err(wrong)?;
    for first in (0..n).step_by(BATCH) {
        observer.check()?;
        let rows = first..n.min(first + BATCH);
        let ids = ids.map(|ids| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(rows.clone().map(|row| ids.get(row))))
        });
        let columns = (0..names.len()).map(|c| column(c, rows.clone()));
        let columns: Vec<ArrayRef> = ids.into_iter().chain(columns).collect();
        let batch = RecordBatch::try_new(schema.clone(), columns).map_err(wrong)?;
        file.write(&batch).map_err(wrong)?;
        observer.progress("writing", rows.end, n);
    }
    let mut out = file.into_inner().map_err(wrong)?;
    out.flush().map_err(system)
}
