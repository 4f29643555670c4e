//! The objects that rows stand for.

use consilience_core::{Error, Result, ensure};

/// Objects that rows may stand for: whole numbers up to here are exact in `f64`.
const MOST_OBJECTS: u64 = 1 << 53;

/// Rows, and the objects that they stand for: numbered row by row, those of a row one behind the
/// other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Objects<'a> {
    counts: Option<&'a [u64]>,
    total: usize,
}

impl<'a> Objects<'a> {
    /// Rows that stand for so many objects each, or for themselves.
    pub(crate) fn of(rows: usize, counts: Option<&'a [u64]>) -> Result<Self> {
        let Some(all) = counts else { return Ok(Objects { counts, total: rows }) };
        ensure!(all.len() == rows, shape("{} counts for {rows} rows", all.len()));
        let mut total = 0u64;
        for (i, &count) in all.iter().enumerate() {
            ensure!(count > 0, out_of_range("the count of row {i} is 0; expected at least 1"));
            total = total.saturating_add(count);
            ensure!(
                total <= MOST_OBJECTS,
                out_of_range("counts up to row {i} stand for more than 2^53 objects")
            );
        }
        let too_many =
            |_| Error::out_of_range(format!("{total} objects, more than numbers for them"));
        Ok(Objects { counts, total: usize::try_from(total).map_err(too_many)? })
    }

    /// How many they are.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// Whether a row may stand for several.
    pub(crate) fn counted(&self) -> bool {
        self.counts.is_some()
    }

    /// The rows of some objects, which exist and ascend.
    pub(crate) fn rows_of(&self, objects: impl Iterator<Item = usize>) -> Vec<usize> {
        let Some(counts) = self.counts else { return objects.collect() };
        // The row that the last object belongs to, and the first object behind it.
        let (mut row, mut end) = (0, counts.first().copied().unwrap_or(0));
        let row_of = |object: usize| {
            while end <= object as u64 {
                row += 1;
                end += counts[row];
            }
            row
        };
        objects.map(row_of).collect()
    }

    /// The rows of so many objects at even distances, or of all.
    pub(crate) fn evenly(&self, count: usize) -> Vec<usize> {
        let (n, count) = (self.total, self.total.min(count));
        self.rows_of((0..count).map(|t| (t as u128 * n as u128 / count as u128) as usize))
    }

    /// The same with each of these rows, which ascend, at least once.
    pub(crate) fn evenly_and(&self, count: usize, rows: &[usize]) -> Vec<usize> {
        let mut all = self.evenly(count);
        let missing: Vec<usize> =
            rows.iter().copied().filter(|row| all.binary_search(row).is_err()).collect();
        all.extend(missing);
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::ErrorKind;

    #[test]
    fn rows_come_as_often_as_their_objects() {
        let objects = Objects::of(4, Some(&[3, 1, 2, 4])).unwrap();
        assert_eq!(objects.total(), 10);
        let all = [0, 0, 0, 1, 2, 2, 3, 3, 3, 3];
        assert_eq!(objects.rows_of(0..10), all);
        assert_eq!(objects.evenly(99), all);
        assert_eq!(objects.evenly(5), [0, 0, 2, 3, 3]);
        assert_eq!(objects.evenly_and(2, &[1, 2, 3]), [0, 1, 2, 3]);
        // Where each is one object, rows are objects.
        let plain = Objects::of(4, None).unwrap();
        assert_eq!((plain.evenly(2), plain.rows_of(1..3)), (vec![0, 2], vec![1, 2]));
        let kind = |counts: &[u64]| Objects::of(2, Some(counts)).unwrap_err().kind();
        assert_eq!(kind(&[1]), ErrorKind::ShapeMismatch);
        assert_eq!(kind(&[0, 1]), ErrorKind::OutOfRange);
        assert_eq!(kind(&[1 << 53, 1]), ErrorKind::OutOfRange);
    }
}
