//! Columns of labels of all members.

use std::sync::Arc;

use consilience::num::Float;
use consilience::{Ensemble, Observer, Result};
use datafusion::arrow::array::{ArrayRef, Int32Array};
use datafusion::arrow::datatypes::{DataType, Field};
use serde::{Deserialize, Serialize};

use super::features::Source;
use super::member::{Member, Model};
use super::scale::Scaling;
use crate::labels::{id_field, joined};
use crate::output::Output;
use crate::table::{Piece, Table};
use crate::work::{Labels, Write};

/// Writes an ensemble that is in memory, and returns how many clusters each member has.
pub(super) fn ensemble(
    source: &Source<'_>,
    ensemble: Ensemble,
    output: &mut Output,
) -> Result<Vec<usize>> {
    let members = ensemble.members().iter();
    let members = members.map(|m| m.iter().map(|l| l.map_or(-1, |l| l as i32)).collect());
    let work = Known { members: members.collect() };
    source.engine.write_numbered(source.table, work, true, output, source.observer, |(), _| Ok(()))
}

/// Labels every object by each member, and returns how many clusters they have.
pub(super) fn members<F: Float>(
    source: &Source<'_>,
    members: Vec<Member<F>>,
    output: &mut Output,
) -> Result<Vec<usize>> {
    let here = members.iter().any(|member| matches!(member.model, Model::Cut(_)));
    let work = MemberLabels { scaling: source.scaling.clone(), members };
    source.engine.write_numbered(source.table, work, here, output, source.observer, |(), _| Ok(()))
}

/// Labels that are known.
#[derive(Deserialize, Serialize)]
struct Known {
    members: Vec<Vec<i32>>,
}

impl Write for Known {
    const NAME: &'static str = "known";
    type Part = ();

    fn fields(&self, table: &Table) -> Vec<Field> {
        fields(table, self.members.len())
    }

    fn row(&self) -> u64 {
        8 * self.members.len() as u64
    }

    fn part(
        &self,
        table: &Table,
        piece: &Piece,
        _observer: &dyn Observer,
    ) -> Result<(Vec<ArrayRef>, ())> {
        let objects = piece.first as usize..(piece.first + piece.rows) as usize;
        let labels = self.members.iter().map(|member| member[objects.clone()].to_vec());
        Ok((columns(table, piece, labels.collect())?, ()))
    }
}

impl Labels for Known {
    const ORDER: &'static str = "known-order";
    const NUMBERED: &'static str = "known-numbered";

    fn columns(&self) -> usize {
        self.members.len()
    }
}

/// The labels of every object by all members.
#[derive(Deserialize, Serialize)]
#[serde(bound = "F: Float")]
pub(crate) struct MemberLabels<F> {
    scaling: Scaling,
    members: Vec<Member<F>>,
}

impl<F: Float> Write for MemberLabels<F> {
    const NAME: &'static str = "members";
    type Part = ();

    fn fields(&self, table: &Table) -> Vec<Field> {
        fields(table, self.members.len())
    }

    fn row(&self) -> u64 {
        8 * self.members.len() as u64
    }

    fn part(
        &self,
        table: &Table,
        piece: &Piece,
        observer: &dyn Observer,
    ) -> Result<(Vec<ArrayRef>, ())> {
        let mut labels: Vec<Vec<i32>> =
            self.members.iter().map(|_| Vec::with_capacity(piece.rows as usize)).collect();
        self.scaling.read::<F>(table, piece, observer, |rows, first| {
            for (member, labels) in self.members.iter().zip(&mut labels) {
                let found = member.labels(&rows, first);
                labels.extend(found.into_iter().map(|label| label.map_or(-1, |l| l as i32)));
            }
            Ok(())
        })?;
        Ok((columns(table, piece, labels)?, ()))
    }
}

impl<F: Float> Labels for MemberLabels<F> {
    const ORDER: &'static str =
        if size_of::<F>() == 4 { "members-order-f32" } else { "members-order-f64" };
    const NUMBERED: &'static str = if size_of::<F>() == 4 { "members-f32" } else { "members-f64" };

    fn columns(&self) -> usize {
        self.members.len()
    }
}

/// The ids, where there are any, and a column of labels for each member.
fn fields(table: &Table, members: usize) -> Vec<Field> {
    let labels = (0..members).map(|u| Field::new(format!("m{u}"), DataType::Int32, false));
    id_field(table).into_iter().chain(labels).collect()
}

/// The columns of a piece: its ids, and the labels.
fn columns(table: &Table, piece: &Piece, labels: Vec<Vec<i32>>) -> Result<Vec<ArrayRef>> {
    let mut ids = Vec::new();
    if let Some(column) = table.id_position() {
        table.read(piece, &[column], |columns| {
            ids.push(columns[0].clone());
            Ok(())
        })?;
    }
    let mut columns: Vec<ArrayRef> = Vec::from_iter(joined(&ids)?);
    columns.extend(labels.into_iter().map(|l| Arc::new(Int32Array::from(l)) as ArrayRef));
    Ok(columns)
}
