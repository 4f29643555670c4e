use std::sync::Arc;

use consilience_core::{Error, Result, ensure, number_of};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::allowance::{Allowance, no_room};
use crate::fault::{ensure_format, excerpt, first, malformed};

/// How many names a message shows.
const SHOWN: usize = 3;

/// What the objects of a table are called: a text for each, no two alike. Cloning copies no text.
///
/// Tables that have ids are joined by them and not by row:
///
/// ```
/// use consilience::io::ObjectIds;
///
/// let ours = ObjectIds::new(["p1", "p2", "p3"])?;
/// let theirs = ObjectIds::new(["p3", "p9", "p1"])?;
/// // The row of each of our objects in their table.
/// assert_eq!(ours.rows_in(&theirs)?, [Some(2), None, Some(0)]);
/// assert_eq!(theirs.get(1), "p9");
/// assert!(ObjectIds::new(["p1", "p1"]).is_err());
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ObjectIds(Arc<Texts>);

/// The same ids are equal whether they were given or are row numbers.
impl PartialEq for ObjectIds {
    fn eq(&self, other: &Self) -> bool {
        self.0.bytes == other.0.bytes && self.0.ends == other.0.ends
    }
}

impl Eq for ObjectIds {}

/// Texts one after the other, and where each ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Whether they are row numbers that a program has written, and nobody has called them ids.
    row_numbers: bool,
}

impl Texts {
    pub(crate) fn push(&mut self, text: &str, allowance: &Allowance) -> Result<()> {
        if self.bytes.capacity() - self.bytes.len() < text.len() {
            allowance.grow(&mut self.bytes, text.len())?;
        }
        self.bytes.extend_from_slice(text.as_bytes());
        allowance.push(&mut self.ends, self.bytes.len())
    }

    /// Puts a text in front of all others.
    pub(crate) fn push_front(&mut self, text: &str, allowance: &Allowance) -> Result<()> {
        let mut all = Texts { row_numbers: self.row_numbers, ..Texts::default() };
        all.push(text, allowance)?;
        for row in 0..self.len() {
            all.push(self.get(row), allowance)?;
        }
        *self = all;
        Ok(())
    }

    /// The same texts, known to be row numbers.
    pub(crate) fn into_row_numbers(self) -> Self {
        Texts { row_numbers: true, ..self }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        // Whole texts were put together.
        std::str::from_utf8(&self.bytes[start..self.ends[row]]).unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The row of every text; of the first, where several are alike.
    pub(crate) fn index(&self) -> Result<FxHashMap<&str, usize>> {
        let mut index = FxHashMap::default();
        index.try_reserve(self.len()).map_err(|_| no_room::<(&str, usize)>(self.len()))?;
        for (row, text) in self.iter().enumerate() {
            index.entry(text).or_insert(row);
        }
        Ok(index)
    }

    /// Whether all texts are different and none is empty.
    pub(crate) fn are_ids(&self) -> Result<bool> {
        Ok(self.iter().all(|text| !text.is_empty()) && self.index()?.len() == self.len())
    }

    /// The texts as ids, where all are different and none is empty.
    pub(crate) fn into_ids(self) -> Result<ObjectIds> {
        let mut empty = (0..self.len()).filter(|&row| self.get(row).is_empty());
        if let Some(first) = empty.next() {
            return Err(malformed(format!(
                "{} without an id, the first in row {first}; expected an id for each",
                number_of(1 + empty.count() as u64, "object")
            )));
        }
        let index = self.index()?;
        let mut told = FxHashSet::default();
        let mut again: Vec<&str> = Vec::new();
        for (row, id) in self.iter().enumerate() {
            if index[id] == row {
                continue;
            }
            told.try_reserve(1).map_err(|_| no_room::<&str>(told.len() + 1))?;
            if told.insert(id) && again.len() < SHOWN {
                again.push(id);
            }
        }
        ensure_format!(
            again.is_empty(),
            "ids that are there more than once: {}; expected another one for each object",
            few(again.into_iter(), told.len())
        );
        Ok(ObjectIds(Arc::new(self)))
    }
}

/// Some texts for a message: the first of them, and how many more there are.
pub(crate) fn few<'a>(texts: impl Iterator<Item = &'a str>, count: usize) -> String {
    first(SHOWN, texts.map(|text| format!("{:?}", excerpt(text))), count, "more")
}

impl ObjectIds {
    /// Ids in the order of the objects.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) without objects,
    /// [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for an empty id and for ids that
    /// are there more than once; the message names the first of them and says how many there are.
    pub fn new<T: AsRef<str>>(ids: impl IntoIterator<Item = T>) -> Result<Self> {
        Self::of(ids, false)
    }

    fn of<T: AsRef<str>>(ids: impl IntoIterator<Item = T>, row_numbers: bool) -> Result<Self> {
        let mut texts = Texts { row_numbers, ..Texts::default() };
        for id in ids {
            texts.push(id.as_ref(), &Allowance::unlimited())?;
        }
        ensure!(texts.len() > 0, empty("ids need at least one object"));
        texts.into_ids()
    }

    /// The numbers of some rows.
    #[doc(hidden)]
    pub fn row_numbers(rows: std::ops::Range<usize>) -> Result<Self> {
        Self::of(rows.map(|row| row.to_string()), true)
    }

    /// Whether these are row numbers that stood in front of a table, and not ids that somebody has
    /// given: those of another table may begin elsewhere.
    #[doc(hidden)]
    pub fn are_row_numbers(&self) -> bool {
        self.0.row_numbers
    }

    /// The number of the first row, 0 or 1, where the ids are nothing but the numbers of the rows
    /// in their order.
    ///
    /// ```
    /// use consilience::io::ObjectIds;
    ///
    /// assert_eq!(ObjectIds::new(["1", "2", "3"])?.row_numbers_from(), Some(1));
    /// assert_eq!(ObjectIds::new(["2", "1", "3"])?.row_numbers_from(), None);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn row_numbers_from(&self) -> Option<usize> {
        let number = |row: usize| self.get(row).parse::<usize>().ok();
        let from = number(0).filter(|&from| from <= 1)?;
        (1..self.n_objects()).all(|row| number(row) == Some(from + row)).then_some(from)
    }

    /// Number of objects.
    pub fn n_objects(&self) -> usize {
        self.0.len()
    }

    /// The id of one object. Panics beyond the end, as a slice does.
    pub fn get(&self, object: usize) -> &str {
        self.0.get(object)
    }

    /// All ids, in the order of the objects.
    pub fn iter(&self) -> impl Iterator<Item = &str> + '_ {
        self.0.iter()
    }

    /// The row of each of these objects in another table, `None` where that has no such id.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the ids do not fit in
    /// memory a second time.
    ///
    /// # Complexity
    /// O(n) expected time and memory.
    pub fn rows_in(&self, other: &ObjectIds) -> Result<Vec<Option<usize>>> {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ok((0..self.n_objects()).map(Some).collect());
        }
        let index = other.0.index()?;
        Ok(self.iter().map(|id| index.get(id).copied()).collect())
    }

    /// The row of every object in a table that has to have them all.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](consilience_core::ErrorKind::Format) where ids are missing there: the
    /// first of them, and how many.
    pub fn every_row_in(&self, other: &ObjectIds) -> Result<Vec<usize>> {
        let rows = self.rows_in(other)?;
        let missing: Vec<&str> = self.missing(&rows);
        match missing.len() {
            0 => Ok(rows.into_iter().flatten().collect()),
            count => Err(malformed(format!(
                "no row for {count} of {} objects: {}; expected one for each id",
                self.n_objects(),
                few(missing.into_iter(), count)
            ))),
        }
    }

    /// The ids that were not found.
    pub(crate) fn missing<'a>(&'a self, rows: &[Option<usize>]) -> Vec<&'a str> {
        self.iter().zip(rows).filter(|(_, row)| row.is_none()).map(|(id, _)| id).collect()
    }

    /// These objects, and then those of another table.
    ///
    /// # Errors
    /// As [`ObjectIds::new`].
    pub fn and_then(&self, more: &ObjectIds) -> Result<ObjectIds> {
        let row_numbers = self.are_row_numbers() && more.are_row_numbers();
        Self::of(self.iter().chain(more.iter()), row_numbers)
    }

    /// The chosen objects, in the order given.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist.
    pub fn select(&self, objects: &[usize]) -> Result<ObjectIds> {
        let n = self.n_objects();
        match objects.iter().find(|&&i| i >= n) {
            Some(bad) => Err(Error::out_of_range(format!("object {bad} of {n}"))),
            None => Self::of(objects.iter().map(|&i| self.get(i)), self.are_row_numbers()),
        }
    }

    /// The object of every id.
    pub(crate) fn index(&self) -> Result<FxHashMap<&str, usize>> {
        self.0.index()
    }
}

#[cfg(test)]
mod tests {
    use consilience_core::ErrorKind;

    use super::*;

    #[test]
    fn ids_that_are_missing_or_twice_are_named() {
        let message = |ids: &[&str]| ObjectIds::new(ids).unwrap_err().message().to_owned();
        assert_eq!(
            message(&["a", "b", "a", "a", "b", "c", "b"]),
            "ids that are there more than once: \"a\", \"b\"; expected another one for each object"
        );
        assert!(message(&["a", "", ""]).starts_with("2 objects without an id, the first in row 1"));
        assert_eq!(ObjectIds::new([""; 0]).unwrap_err().kind(), ErrorKind::Empty);
        let ours = ObjectIds::new(["a", "b", "c", "d", "e"]).unwrap();
        let other = ObjectIds::new(["b"]).unwrap();
        assert_eq!(
            ours.every_row_in(&other).unwrap_err().message(),
            "no row for 4 of 5 objects: \"a\", \"c\", \"d\" and 1 more; expected one for each id"
        );
        assert_eq!(other.every_row_in(&ours).unwrap(), [1]);
        assert_eq!(ours.select(&[4, 0]).unwrap(), ObjectIds::new(["e", "a"]).unwrap());
        assert!(ours.and_then(&other).is_err());
    }
}
