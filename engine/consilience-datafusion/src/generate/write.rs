//! Columns of labels of all members.

use std::sync::Arc;

use consilience::num::Float;
use consilience::{Ensemble, Observer, Result};
use datafusion::arrow::array::{Array, ArrayRef, Int32Array};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, Field};

use super::features;
use super::lloyd::Member;
use super::written;
use crate::engine::Engine;
use crate::fault::arrow;
use crate::output::{Output, Rows};
use crate::table::{Piece, Table};

/// Writes an ensemble that is in memory.
pub(super) fn ensemble(
    engine: &Engine,
    table: &Table,
    ensemble: &Ensemble,
    output: &mut Output,
    observer: &dyn Observer,
) -> Result<()> {
    columns(engine, table, ensemble.n_members(), output, observer, |piece, labels| {
        for (u, labels) in labels.iter_mut().enumerate() {
            let objects = piece.first..piece.first + piece.rows;
            labels.extend(objects.map(|i| written(ensemble, u, i as usize)));
        }
        Ok(())
    })
}

/// Labels every object by its nearest centre.
pub(super) fn members<F: Float>(
    engine: &Engine,
    table: &Table,
    members: &[Member<F>],
    output: &mut Output,
    observer: &dyn Observer,
) -> Result<()> {
    columns(engine, table, members.len(), output, observer, |piece, labels| {
        let mut first = piece.first;
        table.read(piece, table.positions(), |columns| {
            let rows = features::rows::<F>(columns, first)?;
            for (member, labels) in members.iter().zip(labels.iter_mut()) {
                let (_, found) = member.labels(&rows, first);
                labels.extend(found.into_iter().map(|label| label.map_or(-1, |l| l as i32)));
            }
            first += rows.nrows() as u64;
            observer.check()
        })
    })
}

/// Writes so many columns of labels, and the ids, piece by piece.
fn columns(
    engine: &Engine,
    table: &Table,
    members: usize,
    output: &mut Output,
    observer: &dyn Observer,
    fill: impl Fn(&Piece, &mut [Vec<i32>]) -> Result<()> + Sync,
) -> Result<()> {
    let mut fields: Vec<Field> =
        (0..members).map(|u| Field::new(format!("m{u}"), DataType::Int32, false)).collect();
    let ids = table.id_position();
    if let Some(ids) = ids {
        fields.insert(0, table.schema().field(ids).clone());
    }
    let n = table.n_rows() as usize;
    let work = |piece: &Piece| {
        let mut labels: Vec<Vec<i32>> =
            (0..members).map(|_| Vec::with_capacity(piece.rows as usize)).collect();
        fill(piece, &mut labels)?;
        let mut columns: Vec<ArrayRef> = Vec::new();
        if let Some(ids) = ids {
            let mut parts = Vec::new();
            table.read(piece, &[ids], |column| {
                parts.push(column[0].clone());
                Ok(())
            })?;
            let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
            columns.push(concat(&parts).map_err(arrow)?);
        }
        let labels = labels.into_iter().map(|l| Arc::new(Int32Array::from(l)) as ArrayRef);
        columns.extend(labels);
        Ok(columns)
    };
    let mut rows = Rows::new(output, fields);
    engine.in_order(&table.pieces(0..table.n_files()), observer, work, |piece, columns| {
        observer.progress("writing", (piece.first + piece.rows) as usize, n);
        rows.write(columns)
    })?;
    rows.finish()
}
