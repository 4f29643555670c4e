//! Work on the pieces of a table: by the threads of this process, or by other machines.

use consilience::{Observer, Result};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::Field;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::Engine;
use crate::output::{Output, Rows};
use crate::remote::folder::JobFolder;
use crate::table::{Piece, Table};

/// What is found out about every piece of a table. It travels to other machines by its name, with
/// everything that it holds.
pub(crate) trait Fold: Serialize + DeserializeOwned + Send + Sync + 'static {
    const NAME: &'static str;
    /// What is found out about one piece.
    type Part: Serialize + DeserializeOwned + Send;

    fn part(&self, table: &Table, piece: &Piece, observer: &dyn Observer) -> Result<Self::Part>;
}

/// Columns that are written for every piece of a table, as [`Fold`] travels.
pub(crate) trait Write: Serialize + DeserializeOwned + Send + Sync + 'static {
    const NAME: &'static str;
    /// What is told about one piece beside the columns.
    type Part: Serialize + DeserializeOwned + Send;

    fn fields(&self, table: &Table) -> Vec<Field>;

    fn part(
        &self,
        table: &Table,
        piece: &Piece,
        observer: &dyn Observer,
    ) -> Result<(Vec<ArrayRef>, Self::Part)>;
}

impl Engine {
    /// Hands what is found out about each piece to `after`, in the order of the pieces.
    pub(crate) fn fold<W: Fold>(
        &self,
        table: &Table,
        work: &W,
        stage: &str,
        observer: &dyn Observer,
        mut after: impl FnMut(W::Part) -> Result<()>,
    ) -> Result<()> {
        let n = table.n_rows() as usize;
        let Some(remote) = self.remote() else {
            let pieces = table.pieces(0..table.n_files());
            let one = |piece: &Piece| work.part(table, piece, observer);
            return self.in_order(&pieces, observer, one, |piece, part| {
                observer.progress(stage, (piece.first + piece.rows) as usize, n);
                after(part)
            });
        };
        let folder = JobFolder::new(remote.shared())?;
        let job = folder.job(W::NAME, stage, table, work)?;
        remote.cluster().run(&job, observer)?;
        for task in job.tasks() {
            let parts: Vec<W::Part> = task.answer()?;
            parts.into_iter().try_for_each(&mut after)?;
        }
        Ok(())
    }

    /// Writes the columns of each piece, and hands what is told about it to `after`, in the order
    /// of the pieces.
    pub(crate) fn write<W: Write>(
        &self,
        table: &Table,
        work: &W,
        output: &mut Output,
        observer: &dyn Observer,
        mut after: impl FnMut(W::Part) -> Result<()>,
    ) -> Result<()> {
        let n = table.n_rows() as usize;
        let Some(remote) = self.remote() else {
            let pieces = table.pieces(0..table.n_files());
            let mut rows = Rows::new(output, work.fields(table));
            let one = |piece: &Piece| work.part(table, piece, observer);
            self.in_order(&pieces, observer, one, |piece, (columns, part)| {
                observer.progress("writing", (piece.first + piece.rows) as usize, n);
                rows.write(columns)?;
                after(part)
            })?;
            return rows.finish();
        };
        // Beside the output: files are put in their places by their names alone.
        let folder = JobFolder::beside(output.place())?;
        let job = folder.job(W::NAME, "writing", table, work)?;
        remote.cluster().run(&job, observer)?;
        for task in job.tasks() {
            let (file, parts): (String, Vec<W::Part>) = task.answer()?;
            output.adopt(&folder.file(&file)?)?;
            parts.into_iter().try_for_each(&mut after)?;
        }
        Ok(())
    }
}
