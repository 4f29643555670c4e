//! Columns of labels of all members.

use std::sync::Arc;

use consilience::num::Float;
use consilience::{Ensemble, Observer, Result};
use datafusion::arrow::array::{Array, ArrayRef, Int32Array};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, Field};

use serde::{Deserialize, Serialize};

use super::features;
use super::lloyd::Member;
use super::written;
use crate::engine::Engine;
use crate::fault::arrow;
use crate::output::{Output, Rows};
use crate::table::{Piece, Table};
use crate::work::Write;

/// Writes an ensemble that is in memory.
pub(super) fn ensemble(
    engine: &Engine,
    table: &Table,
    ensemble: &Ensemble,
    output: &mut Output,
    observer: &dyn Observer,
) -> Result<()> {
    let (n, members) = (table.n_rows() as usize, ensemble.n_members());
    let work = |piece: &Piece| {
        let mut labels = empty(piece, members);
        for (u, labels) in labels.iter_mut().enumerate() {
            let objects = piece.first..piece.first + piece.rows;
            labels.extend(objects.map(|i| written(ensemble, u, i as usize)));
        }
        columns(table, piece, labels)
    };
    let mut rows = Rows::new(output, fields(table, members));
    engine.in_order(&table.pieces(0..table.n_files()), observer, work, |piece, columns| {
        observer.progress("writing", (piece.first + piece.rows) as usize, n);
        rows.write(columns)
    })?;
    rows.finish()
}

/// Labels every object by its nearest centre.
pub(super) fn members<F: Float>(
    engine: &Engine,
    table: &Table,
    members: Vec<Member<F>>,
    output: &mut Output,
    observer: &dyn Observer,
) -> Result<()> {
    engine.write(table, &MemberLabels { members }, output, observer, |()| Ok(()))
}

/// The nearest centre of every object, of all members.
#[derive(Deserialize, Serialize)]
#[serde(bound = "F: Float")]
pub(crate) struct MemberLabels<F> {
    members: Vec<Member<F>>,
}

impl<F: Float> Write for MemberLabels<F> {
    const NAME: &'static str = if size_of::<F>() == 4 { "members-f32" } else { "members-f64" };
    type Part = ();

    fn fields(&self, table: &Table) -> Vec<Field> {
        fields(table, self.members.len())
    }

    fn part(
        &self,
        table: &Table,
        piece: &Piece,
        observer: &dyn Observer,
    ) -> Result<(Vec<ArrayRef>, ())> {
        let mut labels = empty(piece, self.members.len());
        let mut first = piece.first;
        table.read(piece, table.positions(), |columns| {
            let rows = features::rows::<F>(columns, first)?;
            for (member, labels) in self.members.iter().zip(&mut labels) {
                let (_, found) = member.labels(&rows, first);
                labels.extend(found.into_iter().map(|label| label.map_or(-1, |l| l as i32)));
            }
            first += rows.nrows() as u64;
            observer.check()
        })?;
        Ok((columns(table, piece, labels)?, ()))
    }
}

/// The ids, where there are any, and a column of labels for each member.
fn fields(table: &Table, members: usize) -> Vec<Field> {
    let ids = table.id_position().map(|ids| table.schema().field(ids).clone());
    let labels = (0..members).map(|u| Field::new(format!("m{u}"), DataType::Int32, false));
    ids.into_iter().chain(labels).collect()
}

fn empty(piece: &Piece, members: usize) -> Vec<Vec<i32>> {
    (0..members).map(|_| Vec::with_capacity(piece.rows as usize)).collect()
}

/// The columns of a piece: its ids, and the labels.
fn columns(table: &Table, piece: &Piece, labels: Vec<Vec<i32>>) -> Result<Vec<ArrayRef>> {
    let mut columns: Vec<ArrayRef> = Vec::new();
    if let Some(ids) = table.id_position() {
        let mut parts = Vec::new();
        table.read(piece, &[ids], |column| {
            parts.push(column[0].clone());
            Ok(())
        })?;
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        columns.push(concat(&parts).map_err(arrow)?);
    }
    columns.extend(labels.into_iter().map(|l| Arc::new(Int32Array::from(l)) as ArrayRef));
    Ok(columns)
}
