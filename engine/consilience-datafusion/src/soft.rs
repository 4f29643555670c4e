use std::sync::Arc;

use consilience::{Error, Memberships, Observer, Result};
use datafusion::arrow::array::{ArrayRef, Float64Array};
use datafusion::arrow::datatypes::{DataType, Field};

use serde::{Deserialize, Serialize};

use crate::distinct::DistinctRows;
use crate::engine::Engine;
use crate::labels::{Labelled, Lookup, Met, Scratch, id_field, joined, positions_with_ids};
use crate::output::Output;
use crate::table::{Piece, Table};
use crate::work::Write;

/// Bytes that a probability takes while it is written.
const BYTES: u64 = 16;

impl Engine {
    /// Writes the memberships of every object: one column of probabilities for each cluster, `p0`,
    /// `p1`, ..., after the column of ids where the table has one; files and rows as in the table.
    /// Column j is label j of what [`Engine::write_labels`] writes.
    ///
    /// Rows outside of a sample get the votes of their labels, divided by their sum. Who has no
    /// evidence at all gets the same probability for each cluster, as in the library.
    ///
    /// ```
    /// use consilience::catalogue::{Settings, by_name};
    /// use consilience_datafusion::{Engine, Output, Table, made};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let pool = folder.path().join("pool");
    /// let shape = made::Shape { files: 2, rows: 300, members: 5, distinct: 12, seed: 0 };
    /// made::ensemble(&pool, &shape)?;
    ///
    /// let engine = Engine::builder().memory(256 << 20).build()?;
    /// let table = Table::open(&pool)?;
    /// let rows = engine.distinct(&table, &())?;
    /// let fit = by_name("pcc-kl")?.build(&Settings::new(3))?.fit(rows.ensemble(), &())?;
    /// let soft = fit.output.memberships.expect("a soft method");
    /// let mut output = Output::new(folder.path().join("soft"), &table)?;
    /// engine.write_memberships(&table, &rows, &soft, &mut output, &())?;
    /// output.commit()?;
    /// assert_eq!(Table::open(folder.path().join("soft"))?.names()[0], "p0");
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// One pass over the table, O(n (M + k)); memory for an eighth of the engine's at a time.
    ///
    /// # Errors
    /// As [`Engine::write_labels`].
    pub fn write_memberships(
        &self,
        table: &Table,
        rows: &DistinctRows,
        memberships: &Memberships,
        output: &mut Output,
        observer: &dyn Observer,
    ) -> Result<Labelled> {
        let (n, of) = (rows.ensemble().n_objects(), memberships.n_objects());
        if n != of {
            return Err(Error::shape(format!("memberships of {of} for {n} distinct rows")));
        }
        let labels = memberships.hard()?;
        let lookup = Lookup::new(rows, &labels)?;
        let clusters = memberships.n_clusters();
        let values = (0..n).flat_map(|i| memberships.row(i).to_vec()).collect();
        let soft = Soft { lookup, clusters, values };
        let mut sum = Labelled::of_clusters(labels.n_clusters());
        self.write(table, &soft, output, observer, |part| {
            sum.add(&part);
            Ok(())
        })?;
        soft.lookup.check(rows, &labels, &sum)?;
        Ok(sum)
    }
}

/// The memberships of every row that may come.
#[derive(Deserialize, Serialize)]
pub(crate) struct Soft {
    lookup: Lookup,
    clusters: usize,
    /// Those of each distinct row, one after the other.
    values: Vec<f64>,
}

impl Write for Soft {
    const NAME: &'static str = "memberships";
    const STAGE: &'static str = "memberships";
    type Part = Labelled;

    fn fields(&self, table: &Table) -> Vec<Field> {
        let probability = |c| Field::new(format!("p{c}"), DataType::Float64, false);
        id_field(table).into_iter().chain((0..self.clusters).map(probability)).collect()
    }

    fn row(&self) -> u64 {
        BYTES * self.clusters as u64
    }

    fn part(
        &self,
        table: &Table,
        piece: &Piece,
        _observer: &dyn Observer,
    ) -> Result<(Vec<ArrayRef>, Labelled)> {
        let (members, n) = (table.positions().len(), piece.rows as usize);
        let mut labels = Vec::with_capacity(n);
        let mut values: Vec<Vec<f64>> = (0..self.clusters).map(|_| Vec::with_capacity(n)).collect();
        let mut ids: Vec<ArrayRef> = Vec::new();
        let mut told = self.lookup.none();
        let mut scratch = Scratch::default();
        table.read(piece, &positions_with_ids(table), |columns| {
            self.lookup.meet(&columns[..members], &mut scratch, |met| {
                labels.push(met.label);
                told.placed += u64::from(met.shares.is_some());
                self.put(&met, &mut values);
            })?;
            ids.extend_from_slice(&columns[members..]);
            Ok(())
        })?;
        told.count(&labels);
        let mut columns: Vec<ArrayRef> = Vec::from_iter(joined(&ids)?);
        columns.extend(values.into_iter().map(|v| Arc::new(Float64Array::from(v)) as ArrayRef));
        Ok((columns, told))
    }
}

impl Soft {
    /// Adds the probabilities of an object to those of its piece.
    fn put(&self, met: &Met<'_>, values: &mut [Vec<f64>]) {
        match met.shares {
            None => {
                let row = &self.values[met.row as usize * self.clusters..];
                values.iter_mut().zip(row).for_each(|(column, &p)| column.push(p));
            }
            Some(shares) => {
                let sum: f64 = shares.iter().sum();
                let equal = 1.0 / values.len() as f64;
                for (c, column) in values.iter_mut().enumerate() {
                    let share = shares.get(c).copied().unwrap_or(0.0);
                    column.push(if sum > 0.0 { share / sum } else { equal });
                }
            }
        }
    }
}
