//! Groups of equal rows: found by a query, here or by other machines, whose groups come together
//! here.

use std::path::Path;
use std::sync::Arc;

use consilience::{Error, ErrorKind, Observer, Result};
use datafusion::arrow::datatypes::Field;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Column;
use datafusion::functions_aggregate::expr_fn::{count, min, sum};
use datafusion::logical_expr::{Expr, lit};
use datafusion::prelude::DataFrame;

use crate::engine::Engine;
use crate::fault::{query, within};
use crate::location::Location;
use crate::output::FileWriter;
use crate::remote::Remote;
use crate::remote::folder::JobFolder;
use crate::scan::Scan;
use crate::table::{DataFile, Table};

/// What other machines are asked for.
pub(crate) const GROUPS: &str = "group";

/// The names of the last two columns of what they write.
const COUNT: &str = "count";
const FIRST: &str = "first";

fn column(name: &str) -> Expr {
    Expr::Column(Column::new_unqualified(name))
}

impl Engine {
    /// Hands out batches of groups: the columns in the order of the file, how many objects a group
    /// has, and its first one.
    pub(crate) fn grouped(
        &self,
        table: &Table,
        observer: &dyn Observer,
        each: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        match self.remote() {
            None => self.run(self.groups(table)?, table, "grouping", observer, each),
            Some(remote) => self.merged(remote, table, observer, each),
        }
    }

    fn groups(&self, table: &Table) -> Result<DataFrame> {
        let scan = Arc::new(Scan::new(table)?);
        let mut positions = table.positions().to_vec();
        positions.sort_unstable();
        positions.dedup();
        let names = positions.iter().map(|&p| column(table.schema().field(p).name()));
        let groups: Vec<Expr> = names.collect();
        let object = column(scan.first()) + column(scan.row());
        self.frame(scan)?.aggregate(groups, vec![count(lit(1_i64)), min(object)]).map_err(query)
    }

    /// Writes the groups of a table to a file.
    pub(crate) fn write_groups(
        &self,
        table: &Table,
        path: &Path,
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut file: Option<FileWriter> = None;
        self.run(self.groups(table)?, table, "grouping", observer, |batch| {
            let labels = batch.num_columns() - 2;
            let mut open = match file.take() {
                Some(open) => open,
                None => {
                    let kind = |c: usize| batch.column(c).data_type().clone();
                    let mut fields: Vec<Field> =
                        (0..labels).map(|c| Field::new(format!("m{c}"), kind(c), true)).collect();
                    fields.push(Field::new(COUNT, kind(labels), true));
                    fields.push(Field::new(FIRST, kind(labels + 1), true));
                    FileWriter::new(path.to_path_buf(), fields, table.n_rows())?
                }
            };
            open.write(batch.columns().to_vec())?;
            file = Some(open);
            Ok(())
        })?;
        match file {
            Some(file) => file.close().map(drop),
            None => Err(Error::new(ErrorKind::Corrupt, "no groups of rows")),
        }
    }

    /// The groups that other machines find in each file, together.
    fn merged(
        &self,
        remote: &Remote,
        table: &Table,
        observer: &dyn Observer,
        mut each: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let folder = JobFolder::new(remote.shared())?;
        let job = folder.job(GROUPS, "grouping", table, &())?;
        remote.cluster().run(&job, observer)?;
        let mut files: Vec<DataFile> = Vec::new();
        for task in job.tasks() {
            if let Some(name) = task.answer::<Option<String>>()? {
                let place = Location::Path(folder.file(&name)?);
                let first = files.last().map_or(0, |file| file.first + file.rows);
                files.push(DataFile::open(place.clone(), first).map_err(within(place))?);
            }
        }
        let width = files.first().map_or(0, |file| file.schema().fields().len());
        let groups = Table::of_files(files, (0..width).collect(), None)?;
        let names: Vec<&str> = groups.names();
        let labels = names[..width.saturating_sub(2)].iter().map(|name| column(name)).collect();
        let together = vec![sum(column(COUNT)), min(column(FIRST))];
        let frame = self.frame(Arc::new(Scan::new(&groups)?))?;
        let frame = frame.aggregate(labels, together).map_err(query)?;
        self.run(frame, &groups, "merging", observer, &mut each)
    }
}
