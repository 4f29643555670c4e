use ndarray::Array2;

use super::pair::PairTable;
use crate::{Error, LabelInt, Partition, Result, checks, ensure, room, with_labels};

/// Tables up to this many entries are counted in a dense array: at 4 bytes each they stay in the
/// cache.
const DENSE: usize = 1 << 20;
/// Clusters of a side that a table counted elsewhere may have.
const MOST_CLUSTERS: usize = 1 << 26;

/// How many objects each cluster of one partition shares with each cluster of another: the table
/// that every score is computed from.
///
/// Build it once to see the confusion between two clusterings; for a single number call the score
/// itself, for all of them [`Scores::compare`](super::Scores::compare).
///
/// Entry `(i, j)` is `n_ij = |{o : a(o) = i, b(o) = j}|`, with row sums `a_i` and column sums
/// `b_j`. Objects unlabelled in either partition are left out, so a row or column may sum to 0.
/// Only entries above 0 are kept, at most one per object.
///
/// ```
/// use consilience::{Partition, scores::Contingency};
///
/// let a = Partition::from_labels(&[0, 0, 1, 1, 1])?;
/// let b = Partition::from_labels(&[0, 1, 1, 1, -1])?;
/// let table = Contingency::new(&a, &b)?;
/// assert_eq!(table.n_objects(), 4); // the last object is left out
/// assert_eq!(table.cells().collect::<Vec<_>>(), vec![(0, 0, 1), (0, 1, 1), (1, 1, 2)]);
/// assert_eq!((table.row_sums(), table.column_sums()), (&[2, 2][..], &[1, 3][..]));
/// # Ok::<(), consilience::Error>(())
/// ```
#[doc(alias = "confusion_matrix")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contingency {
    objects: u64,
    rows: Vec<u64>,
    columns: Vec<u64>,
    /// Entries above 0, row by row.
    cells: Vec<(u32, u32, u64)>,
}

impl Contingency {
    /// Counts the objects in each pair of clusters.
    ///
    /// # Complexity
    /// O(n + k_a + k_b + entries above 0) time; at most 4 MiB or eight bytes per object besides the
    /// result, never k_a k_b of them.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) with both lengths where they
    /// differ, [`ErrorKind::Empty`](crate::ErrorKind::Empty) where no object is labelled in both.
    pub fn new(a: &Partition, b: &Partition) -> Result<Self> {
        Self::check_lengths(a, b)?;
        let cells = with_labels!(a.labels(), |x| with_labels!(b.labels(), |y| {
            count(x, y, (a.n_clusters(), b.n_clusters()), |_| 1u32)
        }));
        Self::between(a, b, cells)
    }

    /// As [`Contingency::new`], where object i stands for `counts[i]` identical ones, as
    /// [`Ensemble::counts`](crate::Ensemble::counts) says; each for itself with `None`.
    ///
    /// ```
    /// use consilience::{Partition, scores::{Contingency, Scores}};
    ///
    /// let a = Partition::from_labels(&[0, 0, 1])?;
    /// let b = Partition::from_labels(&[0, 1, 1])?;
    /// let table = Contingency::with_counts(&a, &b, &[500, 1, 2_000_000_000_000][..])?;
    /// assert_eq!(table.n_objects(), 2_000_000_000_501);
    /// assert!(Scores::of(&table)?.ari > 0.9);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Contingency::new`], and those of
    /// [`Ensemble::with_counts`](crate::Ensemble::with_counts).
    pub fn with_counts<'a>(
        a: &Partition,
        b: &Partition,
        counts: impl Into<Option<&'a [u64]>>,
    ) -> Result<Self> {
        let Some(counts) = counts.into() else { return Self::new(a, b) };
        checks::counts(counts, a.n_objects())?;
        Self::check_lengths(a, b)?;
        let cells = with_labels!(a.labels(), |x| with_labels!(b.labels(), |y| {
            count(x, y, (a.n_clusters(), b.n_clusters()), |i| counts[i])
        }));
        Self::between(a, b, cells)
    }

    /// A table counted elsewhere, a database for instance: (row, column, objects) in any order,
    /// each pair of clusters at most once; entries of 0 are dropped.
    ///
    /// ```
    /// use consilience::scores::{Contingency, Scores};
    ///
    /// // SELECT result, truth, count(*) GROUP BY result, truth
    /// let table = Contingency::from_cells(vec![(0, 0, 40), (1, 1, 59), (1, 0, 1)])?;
    /// assert_eq!(Scores::of(&table)?.purity, 0.99);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) without objects,
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) naming a pair that
    /// stands there twice, [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) for more than
    /// 2^53 objects or 2^26 clusters of a side.
    pub fn from_cells(cells: impl IntoIterator<Item = (usize, usize, u64)>) -> Result<Self> {
        let mut cells: Vec<_> = cells.into_iter().filter(|cell| cell.2 > 0).collect();
        cells.sort_unstable();
        let mut total = 0u64;
        let (mut rows, mut columns) = (0, 0);
        for (at, &(i, j, count)) in cells.iter().enumerate() {
            if at > 0 && (cells[at - 1].0, cells[at - 1].1) == (i, j) {
                return Err(Error::invalid(format!("row {i}, column {j} stands there twice")));
            }
            let last = i.max(j);
            ensure!(
                last < MOST_CLUSTERS,
                out_of_range("cluster {last}; expected below {MOST_CLUSTERS}")
            );
            total = total.saturating_add(count);
            (rows, columns) = (rows.max(i + 1), columns.max(j + 1));
        }
        let most = checks::MOST_OBJECTS;
        ensure!(total <= most, out_of_range("a table of more than 2^53 objects"));
        let cells = cells.into_iter().map(|(i, j, count)| (i as u32, j as u32, count)).collect();
        Self::assemble(rows, columns, cells).ok_or_else(|| Error::empty("a table without objects"))
    }

    fn check_lengths(a: &Partition, b: &Partition) -> Result<()> {
        let (n, m) = (a.n_objects(), b.n_objects());
        ensure!(n == m, shape("partitions of {n} and of {m} objects cannot be compared"));
        Ok(())
    }

    /// The table with its sums; `None` where nothing is counted.
    fn assemble(rows: usize, columns: usize, cells: Vec<(u32, u32, u64)>) -> Option<Self> {
        let (rows, columns) = (vec![0; rows], vec![0; columns]);
        let mut table = Contingency { objects: 0, rows, columns, cells };
        for &(i, j, count) in &table.cells {
            table.objects += count;
            table.rows[i as usize] += count;
            table.columns[j as usize] += count;
        }
        (table.objects > 0).then_some(table)
    }

    fn between(a: &Partition, b: &Partition, cells: Vec<(u32, u32, u64)>) -> Result<Self> {
        Self::assemble(a.n_clusters(), b.n_clusters(), cells).ok_or_else(|| {
            let n = a.n_objects();
            Error::empty(format!("none of {n} objects is labelled in both partitions"))
        })
    }

    /// The adjusted Rand index of the two partitions, as
    /// [`adjusted_rand`](crate::scores::adjusted_rand) has it, for objects that stand for many too.
    ///
    /// ```
    /// use consilience::Partition;
    /// use consilience::scores::Contingency;
    ///
    /// let a = Partition::from_labels(&[0, 0, 1])?;
    /// let b = Partition::from_labels(&[0, 1, 1])?;
    /// let counted = Contingency::with_counts(&a, &b, &[2, 1, 2][..])?;
    /// let same = Contingency::with_counts(&a, &a, &[2, 1, 2][..])?;
    /// assert!(counted.adjusted_rand() < same.adjusted_rand());
    /// assert_eq!(same.adjusted_rand(), 1.0);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(cells).
    #[doc(alias = "ARI")]
    pub fn adjusted_rand(&self) -> f64 {
        PairTable::new(self).adjusted_rand()
    }

    /// Number of objects labelled in both partitions; at least 1.
    pub fn n_objects(&self) -> u64 {
        self.objects
    }

    /// Objects in each cluster of the first partition, among those counted.
    pub fn row_sums(&self) -> &[u64] {
        &self.rows
    }

    /// Objects in each cluster of the second partition, among those counted.
    pub fn column_sums(&self) -> &[u64] {
        &self.columns
    }

    /// The entries above 0 as (row, column, objects), row by row.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
        self.cells.iter().map(|&(i, j, count)| (i as usize, j as usize, count))
    }

    /// The whole table, a row for each cluster of the first partition and a column for each of the
    /// second: scikit-learn's `contingency_matrix`.
    ///
    /// ```
    /// use consilience::{Partition, scores::Contingency};
    /// use consilience::ndarray::array;
    ///
    /// let a = Partition::from_labels(&[0, 0, 1, 1, 1])?;
    /// let b = Partition::from_labels(&[0, 1, 1, 1, -1])?;
    /// assert_eq!(Contingency::new(&a, &b)?.to_array()?, array![[1, 1], [0, 2]]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) where the system has no memory for it.
    #[doc(alias = "contingency_matrix")]
    #[doc(alias = "confusion matrix")]
    #[doc(alias = "crosstab")]
    pub fn to_array(&self) -> Result<Array2<u64>> {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let mut table = room::zeros(rows.saturating_mul(columns))?;
        self.cells().for_each(|(i, j, count)| table[i * columns + j] = count);
        Array2::from_shape_vec((rows, columns), table).map_err(|e| Error::shape(e.to_string()))
    }

    /// Number of entries above 0.
    pub fn n_cells(&self) -> usize {
        self.cells.len()
    }

    /// Rows that hold an object.
    pub(super) fn occupied_rows(&self) -> usize {
        self.rows.iter().filter(|&&s| s > 0).count()
    }

    /// Columns that hold an object.
    pub(super) fn occupied_columns(&self) -> usize {
        self.columns.iter().filter(|&&s| s > 0).count()
    }

    /// Whether both partitions group the counted objects alike.
    pub(super) fn same_grouping(&self) -> bool {
        self.cells.len() == self.occupied_rows() && self.cells.len() == self.occupied_columns()
    }
}

/// What objects are counted in: `u32` where each counts once, `u64` where they stand for many.
trait Count: Copy + Default + PartialEq + std::ops::AddAssign + Into<u64> {}

impl Count for u32 {}
impl Count for u64 {}

fn count<A: LabelInt, B: LabelInt, C: Count>(
    a: &[A],
    b: &[B],
    (ka, kb): (usize, usize),
    count: impl Fn(usize) -> C,
) -> Vec<(u32, u32, u64)> {
    match (ka + 1).checked_mul(kb + 1) {
        Some(entries) if entries <= DENSE => count_dense(a, b, (ka, kb), count),
        _ => count_sorted(a, b, (ka, kb), count),
    }
}

/// One pass over a dense table with one row and one column more than needed, where unlabelled
/// objects are counted and forgotten: no branch in the loop.
fn count_dense<A: LabelInt, B: LabelInt, C: Count>(
    a: &[A],
    b: &[B],
    (ka, kb): (usize, usize),
    count: impl Fn(usize) -> C,
) -> Vec<(u32, u32, u64)> {
    let width = kb + 1;
    let mut table = vec![C::default(); (ka + 1) * width];
    for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
        table[x.index().min(ka) * width + y.index().min(kb)] += count(i);
    }
    let mut cells = Vec::new();
    for i in 0..ka {
        for (j, &count) in table[i * width..i * width + kb].iter().enumerate() {
            if count != C::default() {
                cells.push((i as u32, j as u32, count.into()));
            }
        }
    }
    cells
}

/// Sorts the objects by their first cluster (counting sort), then counts one row at a time.
fn count_sorted<A: LabelInt, B: LabelInt, C: Count>(
    a: &[A],
    b: &[B],
    (ka, kb): (usize, usize),
    count: impl Fn(usize) -> C,
) -> Vec<(u32, u32, u64)> {
    let labelled = |&(_, (&x, &y)): &(usize, (&A, &B))| !x.is_missing() && !y.is_missing();
    let both = || a.iter().zip(b).enumerate().filter(labelled);
    let mut starts = vec![0u32; ka + 1];
    for (_, (x, _)) in both() {
        starts[x.index() + 1] += 1;
    }
    for i in 0..ka {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut sorted = vec![(0u32, C::default()); starts[ka] as usize];
    for (i, (x, y)) in both() {
        let slot = &mut next[x.index()];
        sorted[*slot as usize] = (y.index() as u32, count(i));
        *slot += 1;
    }
    let mut counts = vec![C::default(); kb];
    let mut touched = Vec::new();
    let mut cells = Vec::new();
    for i in 0..ka {
        for &(j, count) in &sorted[starts[i] as usize..starts[i + 1] as usize] {
            if counts[j as usize] == C::default() {
                touched.push(j);
            }
            counts[j as usize] += count;
        }
        touched.sort_unstable();
        for j in touched.drain(..) {
            cells.push((i as u32, j, std::mem::take(&mut counts[j as usize]).into()));
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Seed};

    #[test]
    fn both_ways_of_counting_agree() {
        let mut s = Seed(3).stream();
        for (n, k) in [(1, 1), (50, 3), (400, 40), (900, 300)] {
            let mut draw = |k: usize| -> Partition {
                let labels: Vec<i64> = (0..n).map(|_| s.below(k + 1) as i64 - 1).collect();
                Partition::from_labels(&labels).unwrap()
            };
            let (a, b) = (draw(k), draw(2 * k));
            let (ka, kb) = (a.n_clusters(), b.n_clusters());
            with_labels!(a.labels(), |x| with_labels!(b.labels(), |y| {
                assert_eq!(
                    count_dense(x, y, (ka, kb), |_| 1u32),
                    count_sorted(x, y, (ka, kb), |_| 1u32)
                );
                let many = |i: usize| (i as u64 % 7 + 1) << 40;
                assert_eq!(count_dense(x, y, (ka, kb), many), count_sorted(x, y, (ka, kb), many));
            }));
        }
    }

    #[test]
    fn cells_that_cannot_be_are_refused() {
        let kind = |cells: Vec<_>| Contingency::from_cells(cells).unwrap_err().kind();
        assert_eq!(kind(vec![(1, 0, 4), (0, 0, 1), (1, 0, 2)]), ErrorKind::InvalidParameter);
        assert_eq!(kind(vec![(0, MOST_CLUSTERS, 4)]), ErrorKind::OutOfRange);
        assert_eq!(kind(vec![(0, 0, 1 << 53), (0, 1, 1)]), ErrorKind::OutOfRange);
        assert_eq!(kind(vec![(0, 3, 0)]), ErrorKind::Empty);
        let most = Contingency::from_cells(vec![(0, 0, 1 << 52), (1, 0, 1 << 52)]).unwrap();
        assert_eq!((most.n_objects(), most.n_cells()), (1 << 53, 2));
    }

    #[test]
    fn a_million_clusters_on_both_sides_need_no_square() {
        let n = 1_000_000u32;
        let a = Partition::from_fn(n as usize, |i| Some(i as u64)).unwrap();
        let b = Partition::from_fn(n as usize, |i| Some((i as u64).wrapping_mul(7919) % 999_983))
            .unwrap();
        let table = Contingency::new(&a, &b).unwrap();
        assert_eq!((table.n_cells(), table.n_objects()), (1_000_000, 1_000_000));
        assert_eq!(table.column_sums().iter().filter(|&&c| c == 2).count(), 17);
    }

    #[test]
    fn bad_pairs_are_told() {
        let a = Partition::from_labels(&[0, 1, -1]).unwrap();
        let b = Partition::from_labels(&[0, 1]).unwrap();
        let e = Contingency::new(&a, &b).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::ShapeMismatch);
        assert!(e.message().contains('3') && e.message().contains('2'), "{e}");
        let b = Partition::from_labels(&[-1, -1, 0]).unwrap();
        assert_eq!(Contingency::new(&a, &b).unwrap_err().kind(), ErrorKind::Empty);
    }
}
