//! Columns of labels of all members.

use std::sync::Arc;

use consilience::num::Float;
use consilience::{Ensemble, Result};
use datafusion::arrow::array::{ArrayRef, Int32Array};
use datafusion::arrow::datatypes::{DataType, Field};

use super::features::Source;
use super::member::Member;
use crate::labels::joined;
use crate::numbers::Numbers;
use crate::output::{Output, Rows};
use crate::table::Piece;

/// Writes an ensemble that is in memory, and returns how many clusters each member has.
pub(super) fn ensemble(
    source: &Source<'_>,
    ensemble: &Ensemble,
    output: &mut Output,
) -> Result<Vec<usize>> {
    columns(source, ensemble.n_members(), output, |piece, labels| {
        for (labels, member) in labels.iter_mut().zip(ensemble.members()) {
            let objects = piece.first..piece.first + piece.rows;
            let label = |i: u64| member.label(i as usize).map_or(-1, |label| label as i32);
            labels.extend(objects.map(label));
        }
        Ok(())
    })
}

/// Labels every object by each member, and returns how many clusters they have.
pub(super) fn members<F: Float>(
    source: &Source<'_>,
    members: &[Member<F>],
    output: &mut Output,
) -> Result<Vec<usize>> {
    columns(source, members.len(), output, |piece, labels| {
        source.read::<F>(piece, |rows, first| {
            for (member, labels) in members.iter().zip(labels.iter_mut()) {
                let found = member.labels(&rows, first);
                labels.extend(found.into_iter().map(|label| label.map_or(-1, |l| l as i32)));
            }
            Ok(())
        })
    })
}

/// Writes so many columns of labels, and the ids, piece by piece.
fn columns(
    source: &Source<'_>,
    members: usize,
    output: &mut Output,
    fill: impl Fn(&Piece, &mut [Vec<i32>]) -> Result<()> + Sync,
) -> Result<Vec<usize>> {
    let (table, engine, observer) = (source.table, source.engine, source.observer);
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
        let mut parts = Vec::new();
        if let Some(ids) = ids {
            table.read(piece, &[ids], |column| {
                parts.push(column[0].clone());
                Ok(())
            })?;
        }
        Ok((joined(&parts)?, labels))
    };
    let mut numbers = vec![Numbers::default(); members];
    let mut rows = Rows::new(output, fields);
    let pieces = table.pieces_of(0..table.n_files(), engine.rows_at_once(8 * members as u64));
    engine.in_order(&pieces, observer, work, |piece, (ids, labels)| {
        observer.progress("writing", (piece.first + piece.rows) as usize, n);
        let mut columns: Vec<ArrayRef> = Vec::from_iter(ids);
        for (mut labels, numbers) in labels.into_iter().zip(&mut numbers) {
            numbers.number(&mut labels);
            columns.push(Arc::new(Int32Array::from(labels)));
        }
        rows.write(columns)
    })?;
    rows.finish()?;
    Ok(numbers.iter().map(Numbers::len).collect())
}
