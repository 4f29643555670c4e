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
        let mut sum = Labelled::of_clusters(labels.n_clusters());
        self.write(table, &lookup, output, observer, |part| {
            sum.add(&part);
            Ok(())
        })?;
        lookup.check(rows, labels, &sum)?;
        Ok(sum)
    }
}

impl Labelled {
    pub(crate) fn of_clusters(clusters: usize) -> Self {
        Labelled { sizes: vec![0; clusters], ..Labelled::default() }
    }

    /// Counts the labels of a piece.
    pub(crate) fn count(&mut self, labels: &[i32]) {
        for &label in labels {
            match usize::try_from(label) {
                Ok(cluster) => self.sizes[cluster] += 1,
                Err(_) => self.unlabelled += 1,
            }
        }
    }

    pub(crate) fn add(&mut self, piece: &Labelled) {
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
        let label = Field::new("label", DataType::Int32, false);
        id_field(table).into_iter().chain([label]).collect()
    }

    fn part(
        &self,
        table: &Table,
        piece: &Piece,
        _observer: &dyn Observer,
    ) -> Result<(Vec<ArrayRef>, Labelled)> {
        let (mut columns, labels, told) = self.piece(table, piece)?;
        columns.push(Arc::new(Int32Array::from(labels)));
        Ok((columns, told))
    }
}

/// The column of ids as it is written.
pub(crate) fn id_field(table: &Table) -> Option<Field> {
    table.id_position().map(|ids| table.schema().field(ids).clone().with_nullable(true))
}

/// Positions of the labels, and of the ids behind them.
pub(crate) fn positions_with_ids(table: &Table) -> Vec<usize> {
    table.positions().iter().copied().chain(table.id_position()).collect()
}

impl Lookup {
    pub(crate) fn new(rows: &DistinctRows, labels: &Partition) -> Result<Self> {
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

    /// Nothing, of as many clusters.
    pub(crate) fn none(&self) -> Labelled {
        Labelled::of_clusters(self.clusters)
    }

    /// The ids of a piece where there are any, its labels, and how many of what there are.
    pub(crate) fn piece(
        &self,
        table: &Table,
        piece: &Piece,
    ) -> Result<(Vec<ArrayRef>, Vec<i32>, Labelled)> {
        let members = table.positions().len();
        let mut labels = Vec::with_capacity(piece.rows as usize);
        let mut ids: Vec<ArrayRef> = Vec::new();
        let mut told = self.none();
        let mut scratch = Scratch::default();
        table.read(piece, &positions_with_ids(table), |columns| {
            told.placed += self.batch(&columns[..members], &mut scratch, &mut labels)?;
            ids.extend_from_slice(&columns[members..]);
            Ok(())
        })?;
        told.count(&labels);
        Ok((Vec::from_iter(joined(&ids)?), labels, told))
    }

    /// Adds the labels of a batch and says how many were placed by votes.
    fn batch(
        &self,
        columns: &[ArrayRef],
        scratch: &mut Scratch,
        labels: &mut Vec<i32>,
    ) -> Result<u64> {
        let mut placed = 0;
        self.meet(columns, scratch, |met| {
            placed += u64::from(met.shares.is_some());
            labels.push(met.label);
        })?;
        Ok(placed)
    }

    /// Hands out what is known of each object of a batch.
    pub(crate) fn meet(
        &self,
        columns: &[ArrayRef],
        scratch: &mut Scratch,
        mut each: impl FnMut(Met<'_>),
    ) -> Result<()> {
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
        for (row, &unseen) in scratch.packed.chunks_exact(words).zip(&scratch.unseen) {
            let known = if unseen { None } else { rows.find(row) };
            each(match (known, &self.votes) {
                (Some(number), _) => {
                    Met { label: self.labels[number as usize], row: number, shares: None }
                }
                (None, Some(votes)) => {
                    let label = votes.place(layout, row, &mut scratch.shares);
                    Met { label, row: u32::MAX, shares: Some(&scratch.shares) }
                }
                (None, None) => return Err(changed()),
            });
        }
        Ok(())
    }

    /// Every object of a distinct row must have been met again.
    pub(crate) fn check(
        &self,
        rows: &DistinctRows,
        labels: &Partition,
        sum: &Labelled,
    ) -> Result<()> {
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

/// The parts of a column behind each other; none of none.
pub(crate) fn joined(parts: &[ArrayRef]) -> Result<Option<ArrayRef>> {
    let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
    match parts[..] {
        [] => Ok(None),
        _ => concat(&parts).map(Some).map_err(arrow),
    }
}

/// What is known of an object.
pub(crate) struct Met<'s> {
    /// Its label, -1 for none.
    pub(crate) label: i32,
    /// The number of its distinct row, where that is known.
    pub(crate) row: u32,
    /// Where it is not: the share of each cluster in the votes, all 0 without any.
    pub(crate) shares: Option<&'s [f64]>,
}

#[derive(Default)]
pub(crate) struct Scratch {
    packed: Vec<u64>,
    unseen: Vec<bool>,
    shares: Vec<f64>,
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

    /// The cluster of most votes, and the votes.
    fn place(&self, layout: &Layout, row: &[u64], sums: &mut Vec<f64>) -> i32 {
        let mut best = (-1, 0.0);
        sums.clear();
        for cluster in 0..self.clusters {
            let votes = self.shares.iter().enumerate().filter_map(|(member, shares)| {
                shares.get(layout.get(member, row)? as usize * self.clusters + cluster)
            });
            let sum: f64 = votes.sum();
            sums.push(sum);
            if sum > best.1 {
                best = (cluster as i32, sum);
            }
        }
        best.0
    }
}
