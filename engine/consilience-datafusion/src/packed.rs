//! Rows of small numbers packed into words, and a table that numbers them by first appearance.

use serde::{Deserialize, Serialize};

use crate::codes::{MISSING, UNSEEN};

/// Where each column stands in a packed row.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Layout {
    fields: Vec<Field>,
    words: usize,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Field {
    word: usize,
    shift: u32,
    /// All ones, in the place of the shifted value; stands for a missing label.
    mask: u64,
}

impl Layout {
    /// For columns of so many different labels each.
    pub(crate) fn new(labels: impl IntoIterator<Item = usize>) -> Self {
        let (mut words, mut used) = (1, 0);
        let mut fields = Vec::new();
        for labels in labels {
            // One value more for what is missing: all ones.
            let bits = (labels as u64 + 1).next_power_of_two().trailing_zeros().max(1);
            if used + bits > 64 {
                (words, used) = (words + 1, 0);
            }
            fields.push(Field { word: words - 1, shift: used, mask: u64::MAX >> (64 - bits) });
            used += bits;
        }
        Layout { fields, words }
    }

    /// Words of a row.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Adds the label of a column to a packed row; false where the label cannot stand in it.
    #[inline(always)]
    pub(crate) fn put(&self, column: usize, number: u32, row: &mut [u64]) -> bool {
        let Field { word, shift, mask } = self.fields[column];
        let value = if number == MISSING { mask } else { u64::from(number) };
        row[word] |= (value & mask) << shift;
        number != UNSEEN
    }

    /// The label of a column in a packed row, `None` where it is missing.
    #[inline(always)]
    pub(crate) fn get(&self, column: usize, row: &[u64]) -> Option<u32> {
        let Field { word, shift, mask } = self.fields[column];
        let value = (row[word] >> shift) & mask;
        (value != mask).then_some(value as u32)
    }
}

/// Distinct packed rows, numbered by first appearance (open addressing). Whole rows are compared,
/// so that a collision of hashes costs time and nothing else.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct RowTable {
    words: usize,
    rows: Vec<u64>,
    /// The upper half of the hash, and the number of the row plus one; 0 is a free slot.
    slots: Vec<(u32, u32)>,
    len: usize,
}

impl RowTable {
    pub(crate) fn new(words: usize) -> Self {
        RowTable { words, rows: Vec::new(), slots: vec![(0, 0); 1024], len: 0 }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes that a table of so many rows takes at most, while it grows too.
    pub(crate) fn bytes(rows: u64, words: usize) -> u64 {
        // Slots are between two and eight per row, and beside the old ones while they grow.
        rows.saturating_mul(8 * words as u64 * 3 / 2 + 8 * 5)
    }

    /// A row by its number.
    pub(crate) fn row(&self, number: usize) -> &[u64] {
        &self.rows[number * self.words..(number + 1) * self.words]
    }

    /// The number of a row, if it is there.
    #[inline]
    pub(crate) fn find(&self, row: &[u64]) -> Option<u32> {
        self.probe(hash(row), row).ok()
    }

    /// The number of a row, a new one where it was not seen.
    pub(crate) fn number(&mut self, row: &[u64]) -> u32 {
        let hash = hash(row);
        match self.probe(hash, row) {
            Ok(number) => number,
            Err(at) => {
                let number = self.len as u32;
                self.rows.extend_from_slice(row);
                self.slots[at] = (tag(hash), number + 1);
                self.len += 1;
                if 2 * self.len > self.slots.len() {
                    self.grow();
                }
                number
            }
        }
    }

    /// The number of a row, or the free slot where it belongs.
    #[inline(always)]
    fn probe(&self, hash: u64, row: &[u64]) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let (seen, number) = self.slots[at];
            if number == 0 {
                return Err(at);
            }
            if seen == tag(hash) && self.row(number as usize - 1) == row {
                return Ok(number - 1);
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = 4 * self.slots.len();
        self.slots = vec![(0, 0); size];
        for number in 0..self.len {
            let h = hash(self.row(number));
            let mut at = h as usize & (size - 1);
            while self.slots[at].1 != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = (tag(h), number as u32 + 1);
        }
    }
}

fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// Multiply and fold, word by word.
#[inline(always)]
fn hash(row: &[u64]) -> u64 {
    let mut h = 0x9e37_79b9_7f4a_7c15u64;
    for w in row {
        let wide = u128::from(h ^ w) * 0xd6e8_feb8_6659_fd93_u128;
        h = (wide as u64) ^ ((wide >> 64) as u64);
    }
    h.wrapping_mul(0x9fb2_1c65_1e98_df25)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_got() {
        let labels = [0, 1, 2, 3, 4, 255, 256, 70_000, 5, 5, 5, 5, 5, 5, 5, 5];
        let layout = Layout::new(labels);
        for shift in 0..5u32 {
            let mut row = vec![0; layout.words()];
            let label = |c: usize| match labels[c] {
                0 => MISSING,
                _ if (c as u32 + shift).is_multiple_of(4) => MISSING,
                k => (k as u32 - 1).saturating_sub(shift),
            };
            for c in 0..labels.len() {
                assert!(layout.put(c, label(c), &mut row));
            }
            for c in 0..labels.len() {
                let expected = Some(label(c)).filter(|&l| l != MISSING);
                assert_eq!(layout.get(c, &row), expected, "column {c}");
            }
            assert!(!layout.put(3, UNSEEN, &mut row));
        }
    }

    #[test]
    fn rows_are_numbered_by_first_appearance() {
        let mut table = RowTable::new(2);
        for i in 0..10_000u64 {
            assert_eq!(table.number(&[i, i % 7]), i as u32);
        }
        for i in 0..10_000u64 {
            assert_eq!(table.find(&[i, i % 7]), Some(i as u32));
            assert_eq!(table.row(i as usize), [i, i % 7]);
        }
        assert_eq!(table.find(&[10_000, 4]), None);
        assert_eq!(table.len(), 10_000);
    }
}
