//! Work on the pieces of a table: by the threads of this process, or by other machines.

use std::sync::Arc;

use consilience::{Error, ErrorKind, Observer, Result};
use datafusion::arrow::array::{ArrayRef, AsArray, Int32Array};
use datafusion::arrow::datatypes::{Field, Int32Type};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::numbers::Numbers;
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
    /// What users are told is being done.
    const STAGE: &'static str = "writing";
    /// What is told about one piece beside the columns.
    type Part: Serialize + DeserializeOwned + Send;

    fn fields(&self, table: &Table) -> Vec<Field>;

    /// Bytes that a row takes while it is written, beside what is read.
    fn row(&self) -> u64 {
        4
    }

    fn part(
        &self,
        table: &Table,
        piece: &Piece,
        observer: &dyn Observer,
    ) -> Result<(Vec<ArrayRef>, Self::Part)>;
}

/// Columns of labels, the last of those that are written, whose clusters are to be numbered by
/// their first objects.
pub(crate) trait Labels: Write {
    /// The names of the two steps that this takes on other machines.
    const ORDER: &'static str;
    const NUMBERED: &'static str;

    /// How many columns of labels.
    fn columns(&self) -> usize;
}

/// Objects in each cluster of each column of labels.
pub(crate) type Sizes = Vec<Vec<u64>>;

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
        let Some(remote) = self.remote() else {
            return self.write_here(table, work, output, observer, |columns, part| {
                after(part).map(|()| columns)
            });
        };
        // Beside the output: files are put in their places by their names alone.
        let folder = JobFolder::new(output.beside(remote.shared()))?;
        let job = folder.job(W::NAME, W::STAGE, table, work)?;
        remote.cluster().run(&job, observer)?;
        for task in job.tasks() {
            let (file, parts): (String, Vec<W::Part>) = task.answer()?;
            output.adopt(&folder.file(&file)?)?;
            parts.into_iter().try_for_each(&mut after)?;
        }
        Ok(())
    }

    /// Writes what `after` makes of the columns of each piece.
    fn write_here<W: Write>(
        &self,
        table: &Table,
        work: &W,
        output: &mut Output,
        observer: &dyn Observer,
        mut after: impl FnMut(Vec<ArrayRef>, W::Part) -> Result<Vec<ArrayRef>>,
    ) -> Result<()> {
        let n = table.n_rows() as usize;
        let pieces = table.pieces_of(0..table.n_files(), self.rows_at_once(work.row()));
        let mut rows = Rows::new(output, work.fields(table));
        let one = |piece: &Piece| work.part(table, piece, observer);
        self.in_order(&pieces, observer, one, |piece, (columns, part)| {
            observer.progress(W::STAGE, (piece.first + piece.rows) as usize, n);
            rows.write(after(columns, part)?)
        })?;
        rows.finish()
    }

    /// The same for labels, whose clusters are numbered by their first objects. `here` keeps the
    /// work in this process. Returns how many clusters each column has.
    pub(crate) fn write_numbered<W: Labels>(
        &self,
        table: &Table,
        work: W,
        here: bool,
        output: &mut Output,
        observer: &dyn Observer,
        mut after: impl FnMut(W::Part, Sizes) -> Result<()>,
    ) -> Result<Vec<usize>> {
        let mut numbers = vec![Numbers::default(); work.columns()];
        if here || self.remote().is_none() {
            self.write_here(table, &work, output, observer, |columns, part| {
                let (columns, sizes) = numbered(columns, &mut numbers);
                after(part, sizes).map(|()| columns)
            })?;
        } else {
            // Who labels a file does not know what stands in those before it: they are asked first.
            let order = Order { work };
            self.fold(table, &order, "labelling", observer, |orders| {
                numbers.iter_mut().zip(orders).for_each(|(n, mut order)| n.number(&mut order));
                Ok(())
            })?;
            let work = Numbered { work: order.work, numbers: numbers.clone() };
            self.write(table, &work, output, observer, |(part, sizes)| after(part, sizes))?;
        }
        Ok(numbers.iter().map(Numbers::len).collect())
    }
}

/// The columns with their last ones numbered, and how many objects are in each cluster.
fn numbered(mut columns: Vec<ArrayRef>, numbers: &mut [Numbers]) -> (Vec<ArrayRef>, Sizes) {
    let first = columns.len() - numbers.len();
    let mut all = Vec::with_capacity(numbers.len());
    for (column, numbers) in columns[first..].iter_mut().zip(numbers) {
        let mut labels = column.as_primitive::<Int32Type>().values().to_vec();
        numbers.number(&mut labels);
        let mut sizes = vec![0; numbers.len()];
        for label in &labels {
            if let Ok(cluster) = usize::try_from(*label) {
                sizes[cluster] += 1;
            }
        }
        all.push(sizes);
        *column = Arc::new(Int32Array::from(labels));
    }
    (columns, all)
}

/// The clusters of each column in the order of their first objects.
#[derive(Deserialize, Serialize)]
#[serde(bound = "W: Labels")]
pub(crate) struct Order<W> {
    work: W,
}

impl<W: Labels> Fold for Order<W> {
    const NAME: &'static str = W::ORDER;
    type Part = Vec<Vec<i32>>;

    fn part(&self, table: &Table, piece: &Piece, observer: &dyn Observer) -> Result<Self::Part> {
        let (columns, _) = self.work.part(table, piece, observer)?;
        let labels = &columns[columns.len() - self.work.columns()..];
        Ok(labels.iter().map(|column| order(column.as_primitive::<Int32Type>().values())).collect())
    }
}

/// Labels in the order in which they come first.
fn order(labels: &[i32]) -> Vec<i32> {
    let mut numbers = Numbers::default();
    let mut order = Vec::new();
    for &label in labels {
        let known = numbers.len();
        numbers.number(&mut [label]);
        if numbers.len() > known {
            order.push(label);
        }
    }
    order
}

/// Labels with the numbers of their clusters.
#[derive(Deserialize, Serialize)]
#[serde(bound = "W: Labels")]
pub(crate) struct Numbered<W> {
    work: W,
    numbers: Vec<Numbers>,
}

impl<W: Labels> Write for Numbered<W> {
    const NAME: &'static str = W::NUMBERED;
    type Part = (W::Part, Sizes);

    fn fields(&self, table: &Table) -> Vec<Field> {
        self.work.fields(table)
    }

    fn row(&self) -> u64 {
        self.work.row()
    }

    fn part(
        &self,
        table: &Table,
        piece: &Piece,
        observer: &dyn Observer,
    ) -> Result<(Vec<ArrayRef>, Self::Part)> {
        let (columns, part) = self.work.part(table, piece, observer)?;
        let mut numbers = self.numbers.clone();
        let known: Vec<usize> = numbers.iter().map(Numbers::len).collect();
        let (columns, sizes) = numbered(columns, &mut numbers);
        if numbers.iter().map(Numbers::len).ne(known) {
            let what = "other clusters than in the pass before: a file has changed";
            return Err(Error::new(ErrorKind::Corrupt, what));
        }
        Ok((columns, (part, sizes)))
    }
}
