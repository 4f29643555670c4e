use std::sync::Arc;

use consilience::{Ensemble, Error, ErrorKind, Observer, Partition, Result, Seed};
use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::Int64Type;
use serde::{Deserialize, Serialize};

use crate::codes::Codes;
use crate::engine::Engine;
use crate::gather::Gathered;
use crate::packed::{Layout, RowTable};
use crate::table::{Table, holds_labels, slots};

/// The distinct rows of a table of labels, each with the number of its objects.
///
/// They come in the order of their first objects, so every method gives the labels that the library
/// gives on all rows. From [`Engine::distinct`]; [`DistinctRows::ensemble`] is what methods take.
#[derive(Debug)]
pub struct DistinctRows {
    ensemble: Ensemble,
    pub(crate) numbering: Arc<Numbering>,
    total: u64,
    groups: u64,
    sampled: bool,
}

/// The numbers of labels, and of the rows that they make up.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Numbering {
    pub(crate) codes: Vec<Codes>,
    pub(crate) layout: Layout,
    pub(crate) rows: RowTable,
}

impl DistinctRows {
    /// The distinct rows with their counts.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// Number of objects: rows of the table.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Number of distinct rows in the table, those outside of a sample included.
    pub fn n_distinct(&self) -> u64 {
        self.groups
    }

    /// Whether [`DistinctRows::ensemble`] is a sample of the distinct rows only.
    pub fn is_sample(&self) -> bool {
        self.sampled
    }

    /// Bytes that the rows take beside the ensemble.
    pub fn bytes(&self) -> u64 {
        let Numbering { codes, layout, rows } = &*self.numbering;
        let codes: u64 = codes.iter().map(Codes::bytes).sum();
        codes + RowTable::bytes(rows.len() as u64, layout.words())
    }
}

impl DistinctRows {
    /// A hash of the rows and their counts: others have another one but for odds of 2^-64.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mix = |h: u64, x: u64| {
            let wide = u128::from(h ^ x) * 0xd6e8_feb8_6659_fd93_u128;
            ((wide as u64) ^ ((wide >> 64) as u64)).wrapping_add(0x9e37_79b9_7f4a_7c15)
        };
        let members = self.ensemble.members().iter();
        let labels = members.flat_map(|m| m.iter().map(|l| l.map_or(u64::MAX, |l| l as u64)));
        let counts = self.ensemble.counts().unwrap_or_default().iter().copied();
        counts.chain(labels).fold(self.total, mix)
    }
}

impl Engine {
    /// The distinct rows of a table of labels: negative, null, empty and NaN are unlabelled, and
    /// text is as good as numbers.
    ///
    /// ```no_run
    /// use consilience::catalogue::{Settings, by_name};
    /// use consilience_datafusion::{Engine, Output, Table};
    ///
    /// let engine = Engine::builder().memory(4 << 30).build()?;
    /// let table = Table::open("pool/")?;
    /// let rows = engine.distinct(&table, &())?;
    /// let labels = by_name("pta-al")?.build(&Settings::new(10))?.consensus(rows.ensemble())?;
    /// let mut output = Output::new("labels/", &table)?;
    /// engine.write_labels(&table, &rows, &labels, &mut output, &())?;
    /// output.commit()?;
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// One pass over the table; memory for the distinct rows, beyond the limit on disk.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] with their number where the distinct rows do not fit in memory,
    /// [`ErrorKind::Format`] and [`ErrorKind::Io`] naming the file.
    pub fn distinct(&self, table: &Table, observer: &dyn Observer) -> Result<DistinctRows> {
        let gathered = Gathered::all(table.positions().len(), self.memory() / 2);
        self.gather(table, gathered, false, observer)
    }

    /// A sample of so many distinct rows, drawn in proportion to their counts without replacement;
    /// all of them where there are no more. The other rows are placed by
    /// [`Engine::write_labels`]. The sample depends on the seed alone, not on the partitions.
    ///
    /// # Errors
    /// As [`Engine::distinct`]; [`ErrorKind::InvalidParameter`] for a sample of nothing.
    pub fn sample(
        &self,
        table: &Table,
        rows: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<DistinctRows> {
        if rows == 0 {
            return Err(Error::invalid("a sample of 0 rows; expected at least 1"));
        }
        let gathered = Gathered::sample(table.positions().len(), self.memory() / 2, rows, seed);
        self.gather(table, gathered, true, observer)
    }

    fn gather(
        &self,
        table: &Table,
        mut gathered: Gathered,
        sampled: bool,
        observer: &dyn Observer,
    ) -> Result<DistinctRows> {
        check_labels(table)?;
        let slots = slots(table.positions());
        self.grouped(table, observer, |batch| {
            let width = batch.num_columns() - 2;
            let columns: Vec<&ArrayRef> = slots.iter().map(|&s| batch.column(s)).collect();
            let counts = batch.column(width).as_primitive::<Int64Type>().values();
            let first = batch.column(width + 1).as_primitive::<Int64Type>().values();
            gathered.add(&columns, first, counts)
        })?;
        if gathered.total != table.n_rows() {
            let (counted, told) = (gathered.total, table.n_rows());
            return Err(Error::new(
                ErrorKind::Corrupt,
                format!("{counted} rows were grouped, the footers tell of {told}"),
            ));
        }
        self.assemble(gathered, sampled)
    }

    fn assemble(&self, mut gathered: Gathered, sampled: bool) -> Result<DistinctRows> {
        let (total, groups) = (gathered.total, gathered.groups);
        let sampled = sampled && (gathered.len() as u64) < groups;
        let codes = std::mem::take(&mut gathered.codes);
        let layout = Layout::new(codes.iter().map(Codes::len));
        let table = RowTable::bytes(gathered.len() as u64, layout.words());
        let labels = (gathered.len() * codes.len()) as u64;
        let bytes = gathered.bytes() + table.max(labels);
        if gathered.is_full() || bytes > self.memory() || gathered.len() >= u32::MAX as usize {
            return Err(Error::too_large(format!(
                "{groups} distinct rows of {total} do not fit in {} bytes of memory; expected \
                 more memory, or a sample of the rows",
                self.memory()
            )));
        }
        let mut rows = RowTable::new(layout.words());
        let mut counts: Vec<u64> = Vec::with_capacity(gathered.len());
        let mut packed = vec![0; layout.words()];
        // Rows that differ only in how a missing label is written come together here.
        gathered.in_order(|row, count| {
            packed.fill(0);
            for (c, &label) in row.iter().enumerate() {
                layout.put(c, label, &mut packed);
            }
            match rows.number(&packed) as usize {
                known if known < counts.len() => counts[known] += count,
                _ => counts.push(count),
            }
        });
        let members = (0..codes.len())
            .map(|c| Partition::from_fn(rows.len(), |i| layout.get(c, rows.row(i)).map(u64::from)))
            .collect::<Result<_>>()?;
        let ensemble = Ensemble::new(members)?.with_counts(counts)?;
        let groups = if sampled { groups } else { rows.len() as u64 };
        let numbering = Arc::new(Numbering { codes, layout, rows });
        Ok(DistinctRows { ensemble, numbering, total, groups, sampled })
    }
}

/// Refuses columns that cannot hold labels.
pub(crate) fn check_labels(table: &Table) -> Result<()> {
    for field in table.fields() {
        if !holds_labels(field.data_type()) {
            return Err(Error::new(
                ErrorKind::Format,
                format!(
                    "{}: column {:?} holds {}; expected whole numbers or text",
                    &table.files()[0].place,
                    field.name(),
                    field.data_type()
                ),
            ));
        }
    }
    Ok(())
}
