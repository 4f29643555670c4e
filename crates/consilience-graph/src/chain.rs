//! The nearest-neighbour chain over leaves whose rows come one at a time.

use consilience_core::{Dendrogram, Observer, Result, ensure, room, sizes_in_lowest_terms};

use crate::merging::{Leaves, Left, Update, average, find, smallest};

/// Steps of the chain between two questions whether to stop; each may compute a row.
const OFTEN: usize = 16;

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

/// Rows that are computed when the chain comes to them.
struct Computed<'a> {
    rows: &'a mut dyn SimilarityRows,
    columns: usize,
    /// Rows to be written again: new memory costs more than a row of numbers.
    spare: Vec<Vec<f64>>,
}

impl Leaves<f64> for Computed<'_> {
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

/// The merges of the nearest-neighbour chain.
pub(crate) fn chain<L: Leaves<f64>>(
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
        if steps.is_multiple_of(OFTEN) {
            observer.check()?;
        }
        if steps.is_multiple_of(4 * OFTEN) {
            observer.progress("partition", merges.len(), n - 1);
        }
        steps += 1;
        let Some(&top) = chain.last() else {
            chain.push((0..n).find(|&i| left.is_alive(i)).unwrap_or(0));
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
                if let Some(places) = left.close_ranks(observer)? {
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
