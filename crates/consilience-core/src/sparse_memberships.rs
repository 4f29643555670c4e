use std::cmp::Ordering;
use std::sync::Arc;

use ndarray::{Array2, ArrayView2};
use rustc_hash::FxHashMap;

use crate::{Memberships, Partition, Result, checks, room};

/// A soft clustering as a member of an ensemble: the memberships that are not 0, of each distinct
/// row once.
///
/// Objects with bitwise equal memberships share a row, and clusters that nobody belongs to are left
/// out, so memory and time are in proportion to what differs from 0 and from one another. Clusters
/// are numbered as [`Memberships`] numbers its columns: by the first object that belongs to them
/// most. An object without evidence has no memberships at all.
///
/// ```
/// use consilience::SparseMemberships;
/// use consilience::ndarray::array;
///
/// // The third object is unknown: a row of zeros. Nobody belongs to the second cluster.
/// let soft = SparseMemberships::from_array(
///     array![[0.25, 0.0, 0.75], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]].view(),
/// )?;
/// assert_eq!((soft.n_objects(), soft.n_clusters(), soft.nnz()), (4, 2, 3));
/// assert_eq!(soft.row(0), (&[0, 1][..], &[0.75, 0.25][..]));
/// assert_eq!(soft.row(2), (&[][..], &[][..]));
/// assert_eq!(soft.hard()?.to_signed(), [0, 1, -1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// From a table of n objects and k clusters: O(n k) time. 12 bytes per membership kept, and as a
/// [`Partition`] per object.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMemberships {
    /// Which row of the table each object has; unlabelled where it has none.
    row_of: Partition,
    table: Arc<Table>,
}

/// The distinct rows, compressed; clusters ascend within a row.
#[derive(Debug, PartialEq)]
struct Table {
    clusters: usize,
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Table {
    fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let at = self.offsets[row]..self.offsets[row + 1];
        (&self.indices[at.clone()], &self.values[at])
    }
}

impl Eq for SparseMemberships {}

impl SparseMemberships {
    /// Memberships from a table of objects in rows and clusters in columns; a row of zeros is an
    /// object without evidence.
    ///
    /// # Errors
    /// As [`Memberships::new`] for all other rows.
    pub fn from_array(values: ArrayView2<'_, f64>) -> Result<Self> {
        let (mut values, k) = (room::copied_table(values)?, values.ncols());
        let mut evidence = room::filled(values.nrows(), 1.0)?;
        for (mut row, evidence) in values.rows_mut().into_iter().zip(&mut evidence) {
            if row.iter().all(|&v| v == 0.0) {
                row.fill(1.0 / k as f64);
                *evidence = 0.0;
            }
        }
        // Rows that sum to 1 up to rounding stay as they are: what was written is read again.
        Self::of(&Memberships::from_fields(values, evidence)?)
    }

    /// The memberships that are not 0; objects whose evidence is 0 have none.
    ///
    /// # Errors
    /// None but those of memberships that cannot exist.
    pub fn of(memberships: &Memberships) -> Result<Self> {
        let evidence = memberships.evidence();
        let mut numbers: FxHashMap<Vec<u64>, u64> = FxHashMap::default();
        let mut rows: Vec<Vec<(u32, f64)>> = Vec::new();
        let mut row_of = room::with_capacity(evidence.len())?;
        for (row, &evidence) in memberships.values().rows().into_iter().zip(evidence) {
            if evidence == 0.0 {
                row_of.push(None);
                continue;
            }
            // -0 and 0 are one number, of two bit patterns.
            let key: Vec<u64> = row.iter().map(|v| (v + 0.0).to_bits()).collect();
            let number = *numbers.entry(key).or_insert_with(|| {
                let shown = (0..).zip(row).filter(|(_, v)| **v > 0.0);
                rows.push(shown.map(|(c, &v)| (c, v)).collect());
                rows.len() as u64 - 1
            });
            row_of.push(Some(number));
        }
        let row_of = Partition::from_fn(row_of.len(), |i| row_of[i])?;
        Ok(Self::numbered(row_of, rows))
    }

    /// The distinct rows with their clusters numbered.
    fn numbered(row_of: Partition, mut rows: Vec<Vec<(u32, f64)>>) -> Self {
        let number = numbers(&rows);
        let clusters = number.values().len();
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in &mut rows {
            row.iter_mut().for_each(|(c, _)| *c = number[c]);
            row.sort_unstable_by_key(|e| e.0);
            indices.extend(row.iter().map(|e| e.0));
            values.extend(row.iter().map(|e| e.1));
            offsets.push(indices.len());
        }
        let table = Arc::new(Table { clusters, offsets, indices, values });
        SparseMemberships { row_of, table }
    }

    /// Number of objects, with evidence or without.
    pub fn n_objects(&self) -> usize {
        self.row_of.n_objects()
    }

    /// Number of clusters that somebody belongs to.
    pub fn n_clusters(&self) -> usize {
        self.table.clusters
    }

    /// Memberships that are not 0, over the distinct rows.
    pub fn nnz(&self) -> usize {
        self.table.values.len()
    }

    /// The clusters that an object belongs to, ascending, and how far to each; none where it has
    /// no evidence. Panics beyond the last object, as indexing does.
    #[inline]
    pub fn row(&self, object: usize) -> (&[u32], &[f64]) {
        match self.row_of.label(object) {
            Some(row) => self.table.row(row),
            None => (&[], &[]),
        }
    }

    /// Objects grouped by equal memberships; those without evidence are unlabelled.
    pub fn distinct_rows(&self) -> &Partition {
        &self.row_of
    }

    /// Whether every membership is 0 or 1, so that [`hard`](Self::hard) says the same.
    pub fn is_hard(&self) -> bool {
        self.table.values.iter().all(|&v| v == 1.0)
    }

    /// Each object in the cluster of its largest membership, the first of equals; unlabelled where
    /// it has no evidence.
    ///
    /// # Errors
    /// None but those of a partition that cannot exist.
    pub fn hard(&self) -> Result<Partition> {
        let largest = |(clusters, values): (&[u32], &[f64])| {
            let best =
                (1..values.len()).fold(0, |b, at| if values[at] > values[b] { at } else { b });
            u64::from(clusters[best])
        };
        let of_row: Vec<u64> =
            (0..self.table.n_rows()).map(|row| largest(self.table.row(row))).collect();
        Partition::from_fn(self.n_objects(), |i| self.row_of.label(i).map(|row| of_row[row]))
    }

    /// The memberships of the chosen objects, in the order given.
    ///
    /// # Errors
    /// As [`Partition::select`].
    pub fn select(&self, objects: &[usize]) -> Result<Self> {
        checks::exist(objects, self.n_objects())?;
        self.gathered(objects.len(), |i| Some(objects[i]))
    }

    /// Memberships of `n` objects, each those of object `from(i)` of these, or none.
    ///
    /// ```
    /// use consilience::SparseMemberships;
    /// use consilience::ndarray::array;
    ///
    /// let soft = SparseMemberships::from_array(array![[0.25, 0.75]].view())?;
    /// let wider = soft.gathered(3, |i| (i == 2).then_some(0))?;
    /// assert_eq!(wider.to_array(), array![[0.0, 0.0], [0.0, 0.0], [0.75, 0.25]]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Partition::from_labels`]. Panics where there is no such object, as indexing does.
    pub fn gathered(&self, n: usize, from: impl Fn(usize) -> Option<usize>) -> Result<Self> {
        let label = |i: usize| from(i).and_then(|i| self.row_of.label(i));
        let row_of = Partition::from_fn(n, |i| label(i).map(|l| l as u64))?;
        let mut rows = vec![Vec::new(); row_of.n_clusters()];
        for (i, new) in row_of.iter().enumerate() {
            let new = new.filter(|&new| rows[new].is_empty());
            if let (Some(new), Some(old)) = (new, label(i)) {
                let (clusters, values) = self.table.row(old);
                rows[new] = clusters.iter().copied().zip(values.iter().copied()).collect();
            }
        }
        Ok(Self::numbered(row_of, rows))
    }

    /// The memberships as a table: a row of zeros where an object has none.
    pub fn to_array(&self) -> Array2<f64> {
        let mut values = Array2::zeros((self.n_objects(), self.n_clusters()));
        self.write(&mut values);
        values
    }

    /// Writes the memberships into a table of zeros.
    fn write(&self, values: &mut Array2<f64>) {
        for i in 0..self.n_objects() {
            let (clusters, shares) = self.row(i);
            clusters.iter().zip(shares).for_each(|(&c, &v)| values[[i, c as usize]] = v);
        }
    }

    /// The memberships as a table, uniform with evidence 0 where an object has none.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) where there is no memory for it.
    pub fn to_memberships(&self) -> Result<Memberships> {
        let k = self.n_clusters().max(1);
        let mut values = room::table(self.n_objects(), k)?;
        self.write(&mut values);
        let mut evidence = room::filled(self.n_objects(), 1.0)?;
        for i in (0..self.n_objects()).filter(|&i| self.row_of.label(i).is_none()) {
            values.row_mut(i).fill(1.0 / k as f64);
            evidence[i] = 0.0;
        }
        Memberships::from_fields(values, evidence)
    }

    /// An order that depends on nothing but what the memberships are.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let bits = |m: &Self| m.table.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        (self.row_of.iter().cmp(other.row_of.iter()))
            .then_with(|| self.table.offsets.cmp(&other.table.offsets))
            .then_with(|| self.table.indices.cmp(&other.table.indices))
            .then_with(|| bits(self).cmp(&bits(other)))
    }
}

/// A number for each cluster that somebody belongs to: by the first row that belongs to it most
/// and then, as between equals, by the column of memberships as a whole, so that the numbers given
/// before leave no trace.
fn numbers(rows: &[Vec<(u32, f64)>]) -> FxHashMap<u32, u32> {
    let mut columns: FxHashMap<u32, Vec<(usize, f64)>> = FxHashMap::default();
    for (row, entries) in rows.iter().enumerate() {
        entries.iter().for_each(|&(c, v)| columns.entry(c).or_default().push((row, v)));
    }
    let mut by_column: Vec<(u32, Vec<(usize, f64)>)> = columns.into_iter().collect();
    by_column.sort_by(|(a, x), (b, y)| {
        let earlier = |(&(i, v), &(j, w)): (&(usize, f64), &(usize, f64))| {
            let order = i.cmp(&j).then(w.total_cmp(&v));
            (order != Ordering::Equal).then_some(order)
        };
        x.iter().zip(y).find_map(earlier).unwrap_or(y.len().cmp(&x.len())).then(a.cmp(b))
    });
    let rank: FxHashMap<u32, u32> = (0..).zip(&by_column).map(|(r, (c, _))| (*c, r)).collect();
    let mut number: FxHashMap<u32, u32> = FxHashMap::default();
    for row in rows {
        if number.len() == rank.len() {
            break;
        }
        let most = row.iter().fold(0.0f64, |m, e| m.max(e.1));
        let best = || row.iter().filter(|e| e.1 == most).map(|e| e.0);
        if best().all(|c| !number.contains_key(&c))
            && let Some(first) = best().min_by_key(|c| rank[c])
        {
            number.insert(first, number.len() as u32);
        }
    }
    for (c, _) in by_column {
        let next = number.len() as u32;
        number.entry(c).or_insert(next);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Seed};
    use ndarray::{Axis, array};

    fn random(seed: u64, n: usize, k: usize) -> Array2<f64> {
        let mut s = Seed(seed).stream();
        let mut values = Array2::zeros((n, k));
        for mut row in values.rows_mut() {
            // Eighths sum to 1 without rounding, in any order.
            let parts = if s.below(5) == 0 { 0 } else { 8 };
            (0..parts).for_each(|_| row[s.below(k)] += 0.125);
        }
        values
    }

    #[test]
    fn there_and_back() {
        for seed in 0..200 {
            let mut s = Seed(seed).stream();
            let (n, k) = (1 + s.below(9), 1 + s.below(4));
            let values = random(seed, n, k);
            let soft = SparseMemberships::from_array(values.view()).unwrap();
            let table = soft.to_memberships().unwrap();
            assert_eq!(SparseMemberships::of(&table).unwrap(), soft);
            assert_eq!(soft.hard().unwrap(), table.hard().unwrap());
            for i in 0..n {
                let mut given: Vec<f64> =
                    values.row(i).iter().copied().filter(|v| *v > 0.0).collect();
                let mut kept = soft.row(i).1.to_vec();
                given.sort_by(f64::total_cmp);
                kept.sort_by(f64::total_cmp);
                assert!(given.iter().zip(&kept).all(|(a, b)| (a - b).abs() < 1e-15));
                assert_eq!(given.len(), kept.len());
            }
        }
    }

    #[test]
    fn a_table_that_no_system_has_room_for_is_an_error() {
        let row_of = Partition::single_cluster(100_000).unwrap();
        let (clusters, offsets) = (u32::MAX as usize, vec![0, 2]);
        let table = Table { clusters, offsets, indices: vec![0, 1], values: vec![0.5; 2] };
        let soft = SparseMemberships { row_of, table: Arc::new(table) };
        assert_eq!(soft.to_memberships().unwrap_err().kind(), ErrorKind::TooLarge);
        // And no reason to store labels instead.
        #[cfg(feature = "serde")]
        {
            let ensemble = crate::Ensemble::mixed([crate::Member::Soft(soft)]).unwrap();
            assert_eq!(ensemble.soft_tables().unwrap_err().kind(), ErrorKind::TooLarge);
        }
    }

    #[test]
    fn the_order_of_columns_leaves_no_trace() {
        for seed in 0..200 {
            let values = random(seed, 7, 4);
            let mut order = [0, 1, 2, 3];
            Seed(seed).stream().shuffle(&mut order);
            let other = values.select(Axis(1), &order);
            let of = |v: &Array2<f64>| SparseMemberships::from_array(v.view()).unwrap();
            assert_eq!(of(&values), of(&other));
        }
    }

    #[test]
    fn chosen_objects_keep_their_memberships() {
        let values = array![[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.0, 0.25, 0.75], [0.0, 0.0, 0.0]];
        let soft = SparseMemberships::from_array(values.view()).unwrap();
        let chosen = soft.select(&[3, 2, 1, 2]).unwrap();
        let expected = values.select(Axis(0), &[3, 2, 1, 2]);
        assert_eq!(chosen, SparseMemberships::from_array(expected.view()).unwrap());
        assert_eq!(chosen.nnz(), 3);
        assert!(soft.select(&[4]).is_err());
    }

    #[test]
    fn bad_rows_are_named() {
        let e = SparseMemberships::from_array(array![[0.5, 0.4]].view()).unwrap_err();
        assert!(e.message().contains("row 0"), "{e}");
    }
}
