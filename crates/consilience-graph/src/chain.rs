//! The nearest-neighbour chain over leaves whose rows come one at a time.

use std::ops::DerefMut;

use consilience_core::{Dendrogram, Observer, Result, ensure, room, sizes_in_lowest_terms};
use consilience_num::reduce::each_chunk;

use crate::merging::{Merge, ROWS, Update, average, find, smallest, take_in};

/// Minus the similarities of leaves, a row at a time and each once: what [`average_of_rows`] reads.
#[doc(hidden)]
pub trait SimilarityRows {
    /// The leaves that rows are about from now on, ascending; all of them before the first call.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where there is no memory.
    fn keep(&mut self, leaves: &[usize]) -> Result<()>;

    /// Writes minus the similarity of a leaf to each of those leaves.
    fn fill(&mut self, leaf: usize, out: &mut [f64]);
}

/// The tree of average linkage over similarities of 0 to 1, symmetric to the bit, without their
/// matrix: as [`Agglomeration`](crate::Agglomeration) makes it of the matrix, to the bit. Heights
/// are 1 - similarity, weights the leaves' sizes in objects.
///
/// # Complexity
/// O(n^2) time on one thread; 0.6 n^2 to n^2 similarities are computed, and as many rows kept as
/// the chain and the unions that it has made are long: O(n^2) memory at worst, a tenth of it where
/// leaves have clusters, two fifths where similarities are random.
///
/// # Errors
/// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) without leaves,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where there is no memory for a
/// row, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
#[doc(hidden)]
pub fn average_of_rows(
    rows: &mut dyn SimilarityRows,
    weights: &[f64],
    observer: &dyn Observer,
) -> Result<Dendrogram> {
    let n = weights.len();
    ensure!(n > 0, empty("a dendrogram needs at least one leaf"));
    // How objects are counted must not decide by rounding.
    let (weights, _) = sizes_in_lowest_terms(weights)?;
    let mut leaves = Computed { rows, columns: n, spare: Vec::new() };
    let merges = chain(&mut leaves, &weights, observer, average)?;
    Ok(Dendrogram::from_merges(n, merges)?.map_heights(|h| 1.0 + h))
}

/// Where the chain has its rows from.
pub(crate) trait Leaves {
    type Row: DerefMut<Target = [f64]> + Send;

    /// As [`SimilarityRows::keep`].
    fn keep(&mut self, leaves: &[usize]) -> Result<()>;

    /// How far a leaf is from each of those leaves, in the first entries.
    fn row(&mut self, leaf: usize) -> Result<Self::Row>;

    /// Takes a row back that is needed no more.
    fn done(&mut self, row: Self::Row);
}

/// Rows that are computed when the chain comes to them.
struct Computed<'a> {
    rows: &'a mut dyn SimilarityRows,
    columns: usize,
    /// Rows to be written again: new memory costs more than a row of numbers.
    spare: Vec<Vec<f64>>,
}

impl Leaves for Computed<'_> {
    type Row = Vec<f64>;

    fn keep(&mut self, leaves: &[usize]) -> Result<()> {
        self.columns = leaves.len();
        self.rows.keep(leaves)
    }

    fn row(&mut self, leaf: usize) -> Result<Vec<f64>> {
        let mut row = match self.spare.pop() {
            Some(row) => row,
            None => room::zeros(self.columns)?,
        };
        self.rows.fill(leaf, &mut row[..self.columns]);
        Ok(row)
    }

    fn done(&mut self, row: Vec<f64>) {
        self.spare.push(row);
    }
}

/// The rows of a matrix, which are moved together where they lie.
pub(crate) struct Stored<'a> {
    rows: Vec<&'a mut [f64]>,
    columns: Vec<usize>,
}

impl<'a> Stored<'a> {
    /// Of a square matrix.
    pub(crate) fn new(matrix: &'a mut [f64], n: usize) -> Self {
        Stored { rows: matrix.chunks_mut(n).collect(), columns: (0..n).collect() }
    }
}

impl<'a> Leaves for Stored<'a> {
    type Row = &'a mut [f64];

    fn keep(&mut self, leaves: &[usize]) -> Result<()> {
        leaves.clone_into(&mut self.columns);
        Ok(())
    }

    fn row(&mut self, leaf: usize) -> Result<&'a mut [f64]> {
        let row = std::mem::take(&mut self.rows[leaf]);
        if self.columns.len() < row.len() {
            // Never beyond what is still to be read.
            self.columns.iter().enumerate().for_each(|(to, &from)| row[to] = row[from]);
        }
        Ok(row)
    }

    fn done(&mut self, _row: &'a mut [f64]) {}
}

/// The merges of the nearest-neighbour chain.
pub(crate) fn chain<L: Leaves>(
    leaves: &mut L,
    weights: &[f64],
    observer: &dyn Observer,
    update: impl Update<f64>,
) -> Result<Vec<(usize, usize, f64)>> {
    let n = weights.len();
    // No union is nearer than its nearer part. Rounding must not say otherwise, or the chain could
    // visit a cluster twice.
    let floored = |a: f64, b: f64, ab: f64, wa: f64, wb: f64, wx: f64| {
        update(a, b, ab, wa, wb, wx).max(if a < b { a } else { b })
    };
    let mut left = Left::new(leaves, weights, floored)?;
    let mut merges = room::with_capacity(n - 1)?;
    let mut chain: Vec<usize> = room::with_capacity(n)?;
    // At most three for each leaf, of which one may compute a row.
    let mut steps = 0usize;
    while merges.len() + 1 < n {
        if steps.is_multiple_of(64) {
            observer.check()?;
            observer.progress("partition", merges.len(), n - 1);
        }
        steps += 1;
        let Some(&top) = chain.last() else {
            chain.push(left.first());
            continue;
        };
        left.read(top)?;
        let row = left.row(top);
        let nearest = smallest(row);
        match chain.len().checked_sub(2).map(|p| chain[p]) {
            Some(p) if row[p] <= nearest => {
                chain.truncate(chain.len() - 2);
                let (keep, gone) = (top.min(p), top.max(p));
                merges.push((left.cluster[keep], left.cluster[gone], nearest));
                left.merge(keep, gone)?;
                if let Some(places) = left.close_ranks()? {
                    chain.iter_mut().for_each(|place| *place = places[*place]);
                }
            }
            // The row of a cluster has a finite entry while two are left.
            _ => chain.push(find(row, nearest).unwrap_or(top)),
        }
    }
    observer.progress("partition", n - 1, n - 1);
    Ok(merges)
}

/// The clusters that are left, each at a place in the order of their first leaves. Clusters that
/// are gone keep their places until the others move together.
///
/// A leaf that the chain has not come to has no row. When it gets one, how far it is from the
/// clusters that have rows is read there: no merge since has changed that, so that it need not take
/// in the merges that were before.
///
/// A merge writes the row of the union alone. Every other row takes a merge in when it is next
/// needed ([`Left::read`]), from its own entries.
struct Left<'a, L: Leaves, F> {
    leaves: &'a mut L,
    /// The first leaf of the cluster at each place.
    cluster: Vec<usize>,
    weight: Vec<f64>,
    alive: Vec<bool>,
    n_alive: usize,
    /// Rows of which the first `cluster.len()` entries count; infinity at their own place and, once
    /// read, at those of clusters that are gone.
    rows: Vec<Option<L::Row>>,
    /// Places that got a row since they were laid out, or had one then.
    known: Vec<usize>,
    /// The merges since the places were laid out.
    merges: Vec<Merge<f64>>,
    /// How many of them each row has taken in.
    seen: Vec<usize>,
    update: F,
}

impl<'a, L: Leaves, F: Update<f64>> Left<'a, L, F> {
    fn new(leaves: &'a mut L, weights: &[f64], update: F) -> Result<Self> {
        let n = weights.len();
        Ok(Left {
            leaves,
            cluster: room::collected(0..n)?,
            weight: room::copied(weights)?,
            alive: room::filled(n, true)?,
            n_alive: n,
            rows: room::collected((0..n).map(|_| None))?,
            known: room::with_capacity(n)?,
            merges: Vec::new(),
            seen: room::zeros(n)?,
            update,
        })
    }

    fn first(&self) -> usize {
        self.alive.iter().position(|&alive| alive).unwrap_or(0)
    }

    /// A row that was read.
    fn row(&self, i: usize) -> &[f64] {
        self.rows[i].as_ref().map_or(&[], |row| &row[..self.cluster.len()])
    }

    /// Takes the merges into a row that it does not know of yet; a leaf gets its row.
    fn read(&mut self, i: usize) -> Result<()> {
        let n = self.cluster.len();
        if let Some(row) = &mut self.rows[i] {
            take_in(&mut row[..n], &self.merges[self.seen[i]..], self.weight[i], &self.update);
        } else {
            let mut row = self.leaves.row(self.cluster[i])?;
            for &other in &self.known {
                if let Some(theirs) = &self.rows[other] {
                    row[other] = theirs[i];
                }
            }
            self.merges.iter().for_each(|merge| row[merge.gone] = f64::INFINITY);
            row[i] = f64::INFINITY;
            self.rows[i] = Some(row);
            self.known.push(i);
        }
        self.seen[i] = self.merges.len();
        Ok(())
    }

    /// Puts the union in the place of `keep`.
    fn merge(&mut self, keep: usize, gone: usize) -> Result<()> {
        self.read(keep)?;
        self.read(gone)?;
        let n = self.cluster.len();
        let apart = self.row(keep)[gone];
        let (wa, wb) = (self.weight[keep], self.weight[gone]);
        if let Some(from) = self.rows[gone].take() {
            if let Some(to) = &mut self.rows[keep] {
                for ((a, &b), &w) in to[..n].iter_mut().zip(&from[..n]).zip(&self.weight) {
                    *a = (self.update)(*a, b, apart, wa, wb, w);
                }
                (to[keep], to[gone]) = (f64::INFINITY, f64::INFINITY);
            }
            self.leaves.done(from);
        }
        self.alive[gone] = false;
        self.n_alive -= 1;
        self.weight[keep] += wb;
        self.merges.push(Merge { keep, gone, apart, weights: [wa, wb] });
        self.seen[keep] = self.merges.len();
        Ok(())
    }

    /// Where a third is gone, the others move together: what is read and written next lies closer.
    /// The new place of each old one.
    fn close_ranks(&mut self) -> Result<Option<Vec<usize>>> {
        let n = self.cluster.len();
        if 3 * self.n_alive > 2 * n {
            return Ok(None);
        }
        let old = room::collected((0..n).filter(|&i| self.alive[i]))?;
        let (merges, update) = (&self.merges, &self.update);
        let (seen, weight) = (&self.seen, &self.weight);
        let rows = self.rows.iter_mut().enumerate();
        let mut rows = room::collected(rows.filter_map(|(i, row)| Some((i, row.as_mut()?))))?;
        each_chunk(&mut rows, ROWS, &|_, rows| {
            for (i, row) in rows {
                take_in(&mut row[..n], &merges[seen[*i]..], weight[*i], update);
                // Never beyond what is still to be read.
                old.iter().enumerate().for_each(|(to, &from)| row[to] = row[from]);
            }
        });
        let mut places = room::filled(n, usize::MAX)?;
        old.iter().enumerate().for_each(|(place, &i)| places[i] = place);
        // In the memory that is there.
        for (place, &i) in old.iter().enumerate() {
            self.rows.swap(place, i);
            self.cluster[place] = self.cluster[i];
            self.weight[place] = self.weight[i];
        }
        self.rows.truncate(old.len());
        self.cluster.truncate(old.len());
        self.weight.truncate(old.len());
        self.alive.truncate(old.len());
        self.alive.fill(true);
        self.seen.truncate(old.len());
        self.seen.fill(0);
        self.known.clear();
        let rows = self.rows.iter().enumerate();
        self.known.extend(rows.filter_map(|(place, row)| row.as_ref().map(|_| place)));
        self.merges.clear();
        self.leaves.keep(&self.cluster)?;
        Ok(Some(places))
    }
}
