use crate::{Error, LabelInt, Partition, Result, ensure, with_labels};

/// Tables up to this many entries are counted in a dense array: at 4 bytes each they stay in the
/// cache.
const DENSE: usize = 1 << 20;

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
    cells: Vec<(u32, u32, u32)>,
}

impl Contingency {
    /// Counts the objects in each pair of clusters.
    ///
    /// # Complexity
    /// O(n + k_a + k_b + entries above 0) time; at most 4 MiB or four bytes per object besides the
    /// result, never k_a k_b of them.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) with both lengths where they
    /// differ, [`ErrorKind::Empty`](crate::ErrorKind::Empty) where no object is labelled in both.
    pub fn new(a: &Partition, b: &Partition) -> Result<Self> {
        if a.n_objects() != b.n_objects() {
            return Err(Error::shape(format!(
                "partitions of {} and of {} objects cannot be compared",
                a.n_objects(),
                b.n_objects()
            )));
        }
        let (ka, kb) = (a.n_clusters(), b.n_clusters());
        let cells = with_labels!(a.labels(), |x| with_labels!(b.labels(), |y| {
            match (ka + 1).checked_mul(kb + 1) {
                Some(entries) if entries <= DENSE => count_dense(x, y, ka, kb),
                _ => count_sorted(x, y, ka, kb),
            }
        }));
        let mut table = Contingency { objects: 0, rows: vec![0; ka], columns: vec![0; kb], cells };
        for &(i, j, count) in &table.cells {
            table.objects += u64::from(count);
            table.rows[i as usize] += u64::from(count);
            table.columns[j as usize] += u64::from(count);
        }
        ensure!(
            table.objects > 0,
            empty("none of {} objects is labelled in both partitions", a.n_objects())
        );
        Ok(table)
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
        self.cells.iter().map(|&(i, j, count)| (i as usize, j as usize, u64::from(count)))
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

/// One pass over a dense table with one row and one column more than needed, where unlabelled
/// objects are counted and forgotten: no branch in the loop.
fn count_dense<A: LabelInt, B: LabelInt>(
    a: &[A],
    b: &[B],
    ka: usize,
    kb: usize,
) -> Vec<(u32, u32, u32)> {
    let width = kb + 1;
    let mut table = vec![0u32; (ka + 1) * width];
    for (&x, &y) in a.iter().zip(b) {
        table[x.index().min(ka) * width + y.index().min(kb)] += 1;
    }
    let mut cells = Vec::new();
    for i in 0..ka {
        for (j, &count) in table[i * width..i * width + kb].iter().enumerate() {
            if count > 0 {
                cells.push((i as u32, j as u32, count));
            }
        }
    }
    cells
}

/// Sorts the objects by their first cluster (counting sort), then counts one row at a time.
fn count_sorted<A: LabelInt, B: LabelInt>(
    a: &[A],
    b: &[B],
    ka: usize,
    kb: usize,
) -> Vec<(u32, u32, u32)> {
    let labelled = |&(&x, &y): &(&A, &B)| !x.is_missing() && !y.is_missing();
    let mut starts = vec![0u32; ka + 1];
    for (x, _) in a.iter().zip(b).filter(labelled) {
        starts[x.index() + 1] += 1;
    }
    for i in 0..ka {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut sorted = vec![0u32; starts[ka] as usize];
    for (x, y) in a.iter().zip(b).filter(labelled) {
        let slot = &mut next[x.index()];
        sorted[*slot as usize] = y.index() as u32;
        *slot += 1;
    }
    let mut count = vec![0u32; kb];
    let mut touched = Vec::new();
    let mut cells = Vec::new();
    for i in 0..ka {
        for &j in &sorted[starts[i] as usize..starts[i + 1] as usize] {
            if count[j as usize] == 0 {
                touched.push(j);
            }
            count[j as usize] += 1;
        }
        touched.sort_unstable();
        for j in touched.drain(..) {
            cells.push((i as u32, j, std::mem::take(&mut count[j as usize])));
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
                assert_eq!(count_dense(x, y, ka, kb), count_sorted(x, y, ka, kb));
            }));
        }
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
