use std::sync::Arc;

use consilience::{Error, ErrorKind, Observer, Partition, Result};
use datafusion::arrow::array::{Array, ArrayRef, Int32Array};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, Field};
use serde::{Deserialize, Serialize};

use crate::codes::{MISSING, UNSEEN};
use crate::distinct::{DistinctRows, Numbering};
use crate::engine::Engine;
use crate::fault::arrow;
use crate::output::Output;
use crate::packed::Layout;
use crate::table::{Piece, Table};
use crate::work::Write;

/// What became of the rows of a table.
///
/// From [`Engine::write_labels`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct Labelled {
    /// Objects in each cluster.
    pub sizes: Vec<u64>,
    /// Objects that were placed by votes, since their row was not in the sample.
    pub placed: u64,
    /// Objects without a label.
    pub unlabelled: u64,
}

impl Engine {
    /// Writes the label of every object: one column of whole numbers, -1 for unlabelled, after the
    /// column of ids where the table has one; files and rows as in the table.
    ///
    /// Rows outside of a sample go where their labels point: each member votes for the clusters
    /// that the sampled objects with the same label are in, by their shares; ties go to the first
    /// cluster. Who has no label that the sample knows stays unlabelled.
    ///
    /// # Complexity
    /// One pass over the table, O(n M); memory for a few million rows at a time.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] unless there is one label per distinct row,
    /// [`ErrorKind::Corrupt`] where the table has changed since its rows were grouped,
    /// [`ErrorKind::Format`] and [`ErrorKind::Io`] naming the file.
    pub fn write_labels(
        &self,
        table: &Table,
        rows: &DistinctRows,
        labels: &Partition,
        output: &mut Output,
        observer: &dyn Observer,
    ) -> Result<Labelled> {
        let lookup = Lookup::new(rows, labels)?;
        let mut sum = Labelled { sizes: vec![0; labels.n_clusters()], ..Labelled::default() };
        self.write(table, &lookup, output, observer, |part| {
            sum.add(&part);
            Ok(())
        })?;
        lookup.check(rows, labels, &sum)?;
        Ok(sum)
    }
}

impl Labelled {
    fn add(&mut self, piece: &Labelled) {
        self.sizes.iter_mut().zip(&piece.sizes).for_each(|(all, part)| *all += part);
        self.placed += piece.placed;
        self.unlabelled += piece.unlabelled;
    }
}

/// The label of every row that may come.
#[derive(Deserialize, Serialize)]
pub(crate) struct Lookup {
    numbering: Arc<Numbering>,
    labels: Vec<i32>,
    clusters: usize,
    votes: Option<Votes>,
}

impl Write for Lookup {
    const NAME: &'static str = "label";
    type Part = Labelled;

    fn fields(&self, table: &Table) -> Vec<Field> {
        let ids = table.id_position().map(|ids| table.schema().field(ids).clone());
        let label = Field::new("label", DataType::Int32, false);
        ids.into_iter().chain([label]).collect()
    }

    fn part(
        &self,
        table: &Table,
        piece: &Piece,
        _observer: &dyn Observer,
    ) -> Result<(Vec<ArrayRef>, Labelled)> {
        let members = table.positions().len();
        let mut positions = table.positions().to_vec();
        positions.extend(table.id_position());
        let mut labels = Vec::with_capacity(piece.rows as usize);
        let mut ids: Vec<ArrayRef> = Vec::new();
        let mut scratch = Scratch::default();
        let mut told = Labelled { sizes: vec![0; self.clusters], ..Labelled::default() };
        table.read(piece, &positions, |columns| {
            told.placed += self.batch(&columns[..members], &mut scratch, &mut labels)?;
            ids.extend_from_slice(&columns[members..]);
            Ok(())
        })?;
        for &label in &labels {
            match usize::try_from(label) {
                Ok(cluster) => told.sizes[cluster] += 1,
                Err(_) => told.unlabelled += 1,
            }
        }
        let mut columns: Vec<ArrayRef> = Vec::new();
        if !ids.is_empty() {
            let parts: Vec<&dyn Array> = ids.iter().map(AsRef::as_ref).collect();
            columns.push(concat(&parts).map_err(arrow)?);
        }
        columns.push(Arc::new(Int32Array::from(labels)));
        Ok((columns, told))
    }
}

impl Lookup {
    fn new(rows: &DistinctRows, labels: &Partition) -> Result<Self> {
        let n = rows.ensemble().n_objects();
        if labels.n_objects() != n {
            let got = labels.n_objects();
            return Err(Error::shape(format!("{got} labels for {n} distinct rows")));
        }
        let votes = rows.is_sample().then(|| Votes::count(rows, labels));
        let clusters = labels.n_clusters();
        let labels = labels.iter().map(|l| l.map_or(-1, |l| l as i32)).collect();
        Ok(Lookup { numbering: rows.numbering.clone(), labels, clusters, votes })
    }

    /// Adds the labels of a batch and says how many were placed by votes.
    fn batch(
        &self,
        columns: &[ArrayRef],
        scratch: &mut Scratch,
        labels: &mut Vec<i32>,
    ) -> Result<u64> {
        let Numbering { codes, layout, rows } = &*self.numbering;
        let words = layout.words();
        let n = columns.first().map_or(0, |column| column.len());
        scratch.packed.clear();
        scratch.packed.resize(n * words, 0);
        scratch.unseen.clear();
        scratch.unseen.resize(n, false);
        for (c, column) in columns.iter().enumerate() {
            let mut packed = scratch.packed.chunks_exact_mut(words);
            let mut unseen = scratch.unseen.iter_mut();
            codes[c].find(column, |number| {
                if let (Some(row), Some(unseen)) = (packed.next(), unseen.next()) {
                    *unseen |= number == UNSEEN;
                    layout.put(c, if number == UNSEEN { MISSING } else { number }, row);
                }
            })?;
        }
        let mut placed = 0;
        for (row, &unseen) in scratch.packed.chunks_exact(words).zip(&scratch.unseen) {
            let known = if unseen { None } else { rows.find(row) };
            labels.push(match (known, &self.votes) {
                (Some(number), _) => self.labels[number as usize],
                (None, Some(votes)) => {
                    placed += 1;
                    votes.place(layout, row)
                }
                (None, None) => return Err(changed()),
            });
        }
        Ok(placed)
    }

    /// Every object of a distinct row must have been met again.
    fn check(&self, rows: &DistinctRows, labels: &Partition, sum: &Labelled) -> Result<()> {
        let counts = rows.ensemble().counts().unwrap_or_default();
        let mut sizes = vec![0; labels.n_clusters()];
        for (label, count) in labels.iter().zip(counts) {
            if let Some(label) = label {
                sizes[label] += count;
            }
        }
        let all: u64 = sum.sizes.iter().sum::<u64>() + sum.unlabelled;
        if all != rows.total() || (self.votes.is_none() && sizes != sum.sizes) {
            return Err(changed());
        }
        Ok(())
    }
}

pub(crate) fn changed() -> Error {
    Error::new(ErrorKind::Corrupt, "the table has changed since its rows were grouped")
}

#[derive(Default)]
struct Scratch {
    packed: Vec<u64>,
    unseen: Vec<bool>,
}

/// The share of each consensus cluster among the sampled objects with a label, label by label.
#[derive(Deserialize, Serialize)]
struct Votes {
    clusters: usize,
    /// For each member, label by label.
    shares: Vec<Vec<f64>>,
}

impl Votes {
    fn count(rows: &DistinctRows, labels: &Partition) -> Self {
        let clusters = labels.n_clusters();
        let counts = rows.ensemble().counts().unwrap_or_default();
        let Numbering { codes, layout, rows: packed } = &*rows.numbering;
        let shares = codes.iter().enumerate().map(|(member, codes)| {
            let mut shares = vec![0.0; codes.len() * clusters];
            for (i, count) in counts.iter().enumerate() {
                // Labels have the numbers of the packed rows here, not those of the ensemble.
                let label = layout.get(member, packed.row(i));
                if let (Some(label), Some(cluster)) = (label, labels.label(i)) {
                    shares[label as usize * clusters + cluster] += *count as f64;
                }
            }
            for share in shares.chunks_exact_mut(clusters.max(1)) {
                let sum: f64 = share.iter().sum();
                share.iter_mut().filter(|_| sum > 0.0).for_each(|share| *share /= sum);
            }
            shares
        });
        Votes { clusters, shares: shares.collect() }
    }

    fn place(&self, layout: &Layout, row: &[u64]) -> i32 {
        let mut best = (-1, 0.0);
        for cluster in 0..self.clusters {
            let votes = self.shares.iter().enumerate().filter_map(|(member, shares)| {
                shares.get(layout.get(member, row)? as usize * self.clusters + cluster)
            });
            let sum: f64 = votes.sum();
            if sum > best.1 {
                best = (cluster as i32, sum);
            }
        }
        best.0
    }
}
