use std::sync::OnceLock;

use consilience::scores::Contingency;
use consilience::{Error, Observer, Result};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::codes::{Codes, MISSING};
use crate::distinct::check_labels;
use crate::engine::Engine;
use crate::fault::within;
use crate::remote::wire::TableRef;
use crate::table::{Piece, Table};
use crate::work::Fold;

/// Two columns of labels side by side, of one piece or of all so far.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct Side {
    result: Codes,
    truth: Codes,
    pairs: FxHashMap<(u32, u32), u64>,
}

impl Engine {
    /// How many objects are in each cluster of one column and each of another: what
    /// [`Scores::of`](consilience::scores::Scores::of) needs. Both tables hold the same objects in
    /// the same order, in files of any number.
    ///
    /// ```no_run
    /// use consilience::scores::Scores;
    /// use consilience_datafusion::{Engine, Table};
    ///
    /// let engine = Engine::builder().build()?;
    /// let labels = Table::open("labels/")?.only("label")?;
    /// let truth = Table::open("truth.parquet")?;
    /// println!("{}", Scores::of(&engine.contingency(&labels, &truth, &())?)?.ari);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// One pass over both columns; memory for the pairs of clusters that occur.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience::ErrorKind::ShapeMismatch) for tables of unequal
    /// length and for more than one column,
    /// [`ErrorKind::Empty`](consilience::ErrorKind::Empty) where no object is labelled in both,
    /// [`ErrorKind::Format`](consilience::ErrorKind::Format) and
    /// [`ErrorKind::Io`](consilience::ErrorKind::Io) naming the file.
    pub fn contingency(
        &self,
        result: &Table,
        truth: &Table,
        observer: &dyn Observer,
    ) -> Result<Contingency> {
        for table in [result, truth] {
            let columns = table.positions().len();
            if columns != 1 {
                let place = &table.files()[0].place;
                let what = format!("{columns} columns of labels; expected 1");
                return Err(within(place)(Error::shape(what)));
            }
            check_labels(table)?;
        }
        let (n, of_truth) = (result.n_rows(), truth.n_rows());
        if n != of_truth {
            return Err(Error::shape(format!("{n} labels and {of_truth} true ones")));
        }
        let mut all = Side::default();
        let work = Counting { truth: TableRef::of(truth, truth.files())?, opened: OnceLock::new() };
        let _ = work.opened.set(truth.clone());
        self.fold(result, &work, "counting", observer, |side| all.add(&side))?;
        let both = all.pairs.iter().filter(|((a, b), _)| *a != MISSING && *b != MISSING);
        Contingency::from_cells(both.map(|(&(a, b), &count)| (a as usize, b as usize, count)))
    }
}

/// Counting beside the truth.
#[derive(Deserialize, Serialize)]
pub(crate) struct Counting {
    truth: TableRef,
    #[serde(skip)]
    opened: OnceLock<Table>,
}

impl Counting {
    fn truth(&self) -> Result<&Table> {
        if self.opened.get().is_none() {
            let _ = self.opened.set(self.truth.open()?);
        }
        self.opened.get().ok_or_else(|| Error::empty("no true labels"))
    }
}

impl Fold for Counting {
    const NAME: &'static str = "count";
    type Part = Side;

    fn part(&self, result: &Table, piece: &Piece, _observer: &dyn Observer) -> Result<Side> {
        let truth = self.truth()?;
        let mut side = Side::default();
        let mut found = Vec::with_capacity(piece.rows as usize);
        let mut numbers = Vec::new();
        result.read(piece, result.positions(), |columns| {
            side.result.grow(&columns[0], &mut numbers)?;
            found.extend_from_slice(&numbers);
            Ok(())
        })?;
        let mut rest = &found[..];
        truth.read_rows(piece.first..piece.first + piece.rows, |columns| {
            side.truth.grow(&columns[0], &mut numbers)?;
            let (these, others) = rest.split_at(numbers.len());
            rest = others;
            these.iter().zip(&numbers).for_each(|(&a, &b)| {
                *side.pairs.entry((a, b)).or_default() += 1;
            });
            Ok(())
        })?;
        Ok(side)
    }
}

impl Side {
    /// Clusters are numbered by their first objects, as the library numbers them.
    fn add(&mut self, piece: &Side) -> Result<()> {
        let result = self.result.adopt(&piece.result)?;
        let truth = self.truth.adopt(&piece.truth)?;
        let ours = |names: &[u32], number: u32| match number {
            MISSING => MISSING,
            number => names[number as usize],
        };
        for (&(a, b), count) in &piece.pairs {
            *self.pairs.entry((ours(&result, a), ours(&truth, b))).or_default() += count;
        }
        Ok(())
    }
}
