use std::sync::Arc;

use consilience::{Observer, Result};
use datafusion::arrow::array::{ArrayRef, Int32Array};
use datafusion::arrow::datatypes::Field;
use serde::{Deserialize, Serialize};

use crate::distinct::DistinctRows;
use crate::engine::Engine;
use crate::follow::Followed;
use crate::labels::{Labelled, Lookup};
use crate::output::Output;
use crate::table::{Piece, Table};
use crate::work::{Labels, Write};

impl Engine {
    /// Writes the label of every object, as [`Engine::write_labels`], after links were followed:
    /// an object of a link may be in another cluster than the others of its row. Clusters are
    /// numbered by their first objects.
    ///
    /// ```
    /// use consilience::Pair;
    /// use consilience::follow::MetricRule;
    /// use consilience_datafusion::{Engine, Output, Table, made};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let pool = folder.path().join("pool");
    /// let shape = made::Shape { files: 2, rows: 100, members: 5, distinct: 12, seed: 0 };
    /// made::ensemble(&pool, &shape)?;
    ///
    /// let engine = Engine::builder().memory(256 << 20).build()?;
    /// let table = Table::open(&pool)?;
    /// let rows = engine.distinct(&table, &())?;
    /// let start = rows.ensemble().members()[0].clone();
    /// let links = vec![Pair::cannot_link(3, 150), Pair::must_link(4, 5)];
    /// let rule = MetricRule::new(3);
    /// let followed = engine.follow(&table, &rows, &start, rule, &[links], &())?;
    /// let mut output = Output::new(folder.path().join("labels"), &table)?;
    /// let written = engine.write_followed(&table, &rows, &followed, &mut output, &())?;
    /// output.commit()?;
    /// assert_eq!(written.sizes.iter().sum::<u64>() + written.unlabelled, 200);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// As [`Engine::write_labels`].
    ///
    /// # Errors
    /// As [`Engine::write_labels`].
    pub fn write_followed(
        &self,
        table: &Table,
        rows: &DistinctRows,
        followed: &Followed,
        output: &mut Output,
        observer: &dyn Observer,
    ) -> Result<Labelled> {
        let labels = &followed.labels;
        let label = |&(object, label): &(u64, Option<usize>)| (object, label.map(|l| l as i32));
        let work = FollowedLabels {
            lookup: Lookup::new(rows, labels)?,
            linked: followed.linked.iter().map(label).collect(),
        };
        let mut by_rows = Labelled::of_clusters(labels.n_clusters());
        let mut sum = Labelled::default();
        let written =
            self.write_numbered(table, work, false, output, observer, |part, sizes| {
                by_rows.add(&part);
                let sizes = sizes.first().map_or(&[][..], Vec::as_slice);
                sum.sizes.resize(sum.sizes.len().max(sizes.len()), 0);
                sum.sizes.iter_mut().zip(sizes).for_each(|(all, part)| *all += part);
                Ok(())
            })?;
        Lookup::new(rows, labels)?.check(rows, labels, &by_rows)?;
        sum.sizes.truncate(written.first().copied().unwrap_or(0));
        sum.unlabelled = table.n_rows() - sum.sizes.iter().sum::<u64>();
        Ok(sum)
    }
}

/// The label of every row, and of the objects of links by themselves.
#[derive(Deserialize, Serialize)]
pub(crate) struct FollowedLabels {
    lookup: Lookup,
    /// In ascending order.
    linked: Vec<(u64, Option<i32>)>,
}

impl Write for FollowedLabels {
    const NAME: &'static str = "followed";
    /// By rows alone.
    type Part = Labelled;

    fn fields(&self, table: &Table) -> Vec<Field> {
        self.lookup.fields(table)
    }

    fn part(
        &self,
        table: &Table,
        piece: &Piece,
        _observer: &dyn Observer,
    ) -> Result<(Vec<ArrayRef>, Labelled)> {
        let (mut columns, mut labels, told) = self.lookup.piece(table, piece)?;
        let place = |object| self.linked.partition_point(|&(i, _)| i < object);
        let end = piece.first + piece.rows;
        for &(object, label) in &self.linked[place(piece.first)..place(end)] {
            labels[(object - piece.first) as usize] = label.unwrap_or(-1);
        }
        columns.push(Arc::new(Int32Array::from(labels)));
        Ok((columns, told))
    }
}

impl Labels for FollowedLabels {
    const ORDER: &'static str = "followed-order";
    const NUMBERED: &'static str = "followed-numbered";

    fn columns(&self) -> usize {
        1
    }
}
