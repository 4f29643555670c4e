//! The objects that rows stand for.

use crate::{Ensemble, Result, checks, ensure};

/// Rows, and the objects that they stand for: numbered row by row, those of a row one behind the
/// other.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Objects<'a> {
    counts: Option<&'a [u64]>,
    total: u64,
}

impl<'a> Objects<'a> {
    /// Rows that stand for so many objects each, or for themselves.
    ///
    /// # Errors
    /// As [`Ensemble::with_counts`], and where they are more than numbers for them.
    pub fn of(rows: usize, counts: Option<&'a [u64]>) -> Result<Self> {
        counts.map_or(Ok(()), |counts| checks::counts(counts, rows))?;
        let total = counts.map_or(rows as u64, |counts| counts.iter().sum());
        ensure!(
            usize::try_from(total).is_ok(),
            out_of_range("{total} objects, more than numbers for them")
        );
        Ok(Objects { counts, total })
    }

    /// Those of an ensemble.
    pub fn of_ensemble(ensemble: &'a Ensemble) -> Self {
        Objects { counts: ensemble.counts(), total: ensemble.total_count() }
    }

    /// How many they are.
    pub fn total(&self) -> usize {
        self.total as usize
    }

    /// Whether a row may stand for several.
    pub fn counted(&self) -> bool {
        self.counts.is_some()
    }

    /// The rows of some objects, which exist and ascend.
    pub fn rows_of(&self, objects: impl Iterator<Item = u64>) -> Vec<usize> {
        let Some(counts) = self.counts else { return objects.map(|i| i as usize).collect() };
        // The row that the last object belongs to, and the first object behind it.
        let (mut row, mut end) = (0, counts.first().copied().unwrap_or(0));
        let row_of = |object: u64| {
            while end <= object {
                row += 1;
                end += counts[row];
            }
            row
        };
        objects.map(row_of).collect()
    }

    /// The rows of so many objects at even distances, or of all.
    pub fn evenly(&self, count: usize) -> Vec<usize> {
        let (n, count) = (u128::from(self.total), self.total.min(count as u64));
        self.rows_of((0..count).map(|t| (u128::from(t) * n / u128::from(count)) as u64))
    }

    /// The same with each of these rows, which ascend, at least once.
    pub fn evenly_and(&self, count: usize, rows: &[usize]) -> Vec<usize> {
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
    use crate::ErrorKind;

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
