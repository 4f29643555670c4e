use std::sync::Arc;

use consilience::{Observer, Result};
use datafusion::arrow::array::Int32Array;
use datafusion::arrow::datatypes::{DataType, Field};

use crate::distinct::DistinctRows;
use crate::engine::Engine;
use crate::follow::Followed;
use crate::labels::{Labelled, Lookup};
use crate::numbers::Numbers;
use crate::output::{Output, Rows};
use crate::table::{Piece, Table};

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
    /// made::ensemble(&pool, &made::Shape { files: 2, rows: 100, members: 5, distinct: 12, seed: 0 })?;
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
        let lookup = Lookup::new(rows, labels)?;
        let mut fields = vec![Field::new("label", DataType::Int32, false)];
        let mut positions = table.positions().to_vec();
        if let Some(ids) = table.id_position() {
            fields.insert(0, table.schema().field(ids).clone());
            positions.push(ids);
        }
        let (total, members) = (table.n_rows() as usize, table.positions().len());
        let most = followed.linked.iter().filter_map(|&(_, label)| label).max();
        let clusters = labels.n_clusters().max(most.map_or(0, |most| most + 1));
        let mut by_rows = Labelled::of_clusters(labels.n_clusters());
        let mut sum = Labelled::of_clusters(clusters);
        let mut numbers = Numbers::default();
        let mut out = Rows::new(output, fields);
        let mut linked = &followed.linked[..];
        let work = |piece: &Piece| lookup.piece(table, piece, &positions, members);
        self.in_order(&table.pieces(0..table.n_files()), observer, work, |piece, mut found| {
            by_rows.add(found.labels.values(), 0);
            let mut labels = found.labels.values().to_vec();
            let end = piece.first + piece.rows;
            let (here, later) = linked.split_at(linked.partition_point(|&(i, _)| i < end));
            for &(object, label) in here {
                labels[(object - piece.first) as usize] = label.map_or(-1, |label| label as i32);
            }
            linked = later;
            numbers.number(&mut labels);
            sum.add(&labels, 0);
            observer.progress("writing", end as usize, total);
            found.columns.pop();
            found.columns.push(Arc::new(Int32Array::from(labels)));
            out.write(found.columns)
        })?;
        out.finish()?;
        lookup.check(rows, labels, &by_rows)?;
        sum.sizes.truncate(numbers.len());
        Ok(sum)
    }
}
