//! Distinct rows as a query hands them out, kept in few bytes.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use consilience::{Error, Result, Seed};
use datafusion::arrow::array::ArrayRef;

use crate::codes::{Codes, MISSING};

/// One column of small numbers, in one byte each until there are 255 of them, then two, then four.
#[derive(Clone, Debug)]
enum Narrow {
    One(Vec<u8>),
    Two(Vec<u16>),
    Four(Vec<u32>),
}

impl Narrow {
    fn extend(&mut self, numbers: &[u32], labels: usize) {
        match self {
            Narrow::One(of) if labels >= 255 => {
                let wide = |&x: &u8| if x == u8::MAX { u16::MAX } else { u16::from(x) };
                *self = Narrow::Two(of.iter().map(wide).collect());
                self.extend(numbers, labels);
            }
            Narrow::Two(of) if labels >= 65_535 => {
                let wide = |&x: &u16| if x == u16::MAX { MISSING } else { u32::from(x) };
                *self = Narrow::Four(of.iter().map(wide).collect());
                self.extend(numbers, labels);
            }
            // A missing label is the largest number of every width.
            Narrow::One(of) => of.extend(numbers.iter().map(|&x| x as u8)),
            Narrow::Two(of) => of.extend(numbers.iter().map(|&x| x as u16)),
            Narrow::Four(of) => of.extend_from_slice(numbers),
        }
    }

    fn get(&self, at: usize) -> u32 {
        match self {
            Narrow::One(of) if of[at] == u8::MAX => MISSING,
            Narrow::One(of) => u32::from(of[at]),
            Narrow::Two(of) if of[at] == u16::MAX => MISSING,
            Narrow::Two(of) => u32::from(of[at]),
            Narrow::Four(of) => of[at],
        }
    }

    fn bytes(&self) -> u64 {
        let (capacity, width) = match self {
            Narrow::One(of) => (of.capacity(), 1),
            Narrow::Two(of) => (of.capacity(), 2),
            Narrow::Four(of) => (of.capacity(), 4),
        };
        (capacity * width) as u64
    }
}

/// A distinct row that may be part of the sample. The greatest is the first to go.
#[derive(Debug, PartialEq)]
struct Drawn {
    key: f64,
    first: u64,
    count: u64,
    row: Box<[u32]>,
}

impl Eq for Drawn {}

impl Ord for Drawn {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.total_cmp(&other.key).then(self.first.cmp(&other.first))
    }
}

impl PartialOrd for Drawn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Which rows are kept.
#[derive(Debug)]
enum Kept {
    /// All, as long as they fit.
    All { columns: Vec<Narrow>, first: Vec<u64>, counts: Vec<u64>, full: bool },
    /// So many, drawn in proportion to their counts without replacement.
    Sample { size: usize, seed: Seed, drawn: BinaryHeap<Drawn> },
}

/// What has been handed out so far.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) codes: Vec<Codes>,
    /// All objects, and all groups of equal rows, kept or not.
    pub(crate) total: u64,
    pub(crate) groups: u64,
    kept: Kept,
    room: u64,
    numbers: Vec<Vec<u32>>,
}

impl Gathered {
    pub(crate) fn all(members: usize, room: u64) -> Self {
        let columns = (0..members).map(|_| Narrow::One(Vec::new())).collect();
        let kept = Kept::All { columns, first: Vec::new(), counts: Vec::new(), full: false };
        Self::new(members, room, kept)
    }

    pub(crate) fn sample(members: usize, room: u64, size: usize, seed: Seed) -> Self {
        let seed = seed.derive("sampled rows", 0);
        Self::new(members, room, Kept::Sample { size, seed, drawn: BinaryHeap::new() })
    }

    fn new(members: usize, room: u64, kept: Kept) -> Self {
        let codes = vec![Codes::default(); members];
        let numbers = vec![Vec::new(); members];
        Gathered { codes, total: 0, groups: 0, kept, room, numbers }
    }

    /// Adds groups: their labels column by column, their first objects, and how many they hold.
    pub(crate) fn add(
        &mut self,
        labels: &[&ArrayRef],
        first: &[i64],
        counts: &[i64],
    ) -> Result<()> {
        self.groups += counts.len() as u64;
        self.total += counts.iter().map(|&count| count as u64).sum::<u64>();
        if matches!(self.kept, Kept::All { full: true, .. }) {
            return Ok(());
        }
        for ((codes, column), numbers) in self.codes.iter_mut().zip(labels).zip(&mut self.numbers) {
            codes.grow(column, numbers)?;
        }
        match &mut self.kept {
            Kept::All { columns, first: firsts, counts: all, .. } => {
                for ((column, numbers), codes) in
                    columns.iter_mut().zip(&self.numbers).zip(&self.codes)
                {
                    column.extend(numbers, codes.len());
                }
                firsts.extend(first.iter().map(|&x| x as u64));
                all.extend(counts.iter().map(|&x| x as u64));
                self.drop_if_full();
            }
            Kept::Sample { size, seed, drawn } => {
                for (at, (&first, &count)) in first.iter().zip(counts).enumerate() {
                    let (first, count) = (first as u64, count as u64);
                    let key = key(*seed, first, count);
                    if drawn.len() == *size && drawn.peek().is_some_and(|last| last.key <= key) {
                        continue;
                    }
                    let row = self.numbers.iter().map(|column| column[at]).collect();
                    drawn.push(Drawn { key, first, count, row });
                    if drawn.len() > *size {
                        drawn.pop();
                    }
                }
                let (bytes, room) = (self.bytes(), self.room);
                if bytes > room {
                    return Err(Error::too_large(format!(
                        "a sample that takes {bytes} bytes so far, of {room}; expected a smaller \
                         one"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Beyond the room rows are counted and forgotten, so that it can be said how many there are.
    fn drop_if_full(&mut self) {
        if self.bytes() <= self.room {
            return;
        }
        if let Kept::All { columns, first, counts, full } = &mut self.kept {
            *full = true;
            (*first, *counts) = (Vec::new(), Vec::new());
            columns.iter_mut().for_each(|column| *column = Narrow::One(Vec::new()));
        }
    }

    /// Whether rows did not fit.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.kept, Kept::All { full: true, .. })
    }

    /// Bytes of what is kept.
    pub(crate) fn bytes(&self) -> u64 {
        let codes: u64 = self.codes.iter().map(Codes::bytes).sum();
        codes
            + match &self.kept {
                Kept::All { columns, first, counts, .. } => {
                    let columns: u64 = columns.iter().map(Narrow::bytes).sum();
                    columns + 8 * (first.capacity() + counts.capacity()) as u64
                }
                Kept::Sample { drawn, .. } => {
                    (drawn.len() * (size_of::<Drawn>() + 4 * self.codes.len() + 16)) as u64
                }
            }
    }

    /// How many rows are kept.
    pub(crate) fn len(&self) -> usize {
        match &self.kept {
            Kept::All { counts, .. } => counts.len(),
            Kept::Sample { drawn, .. } => drawn.len(),
        }
    }

    /// Hands out the kept rows in the order of their first objects, with their counts.
    pub(crate) fn in_order(self, mut each: impl FnMut(&[u32], u64)) {
        match self.kept {
            Kept::All { columns, first, counts, .. } => {
                let mut order: Vec<u32> = (0..first.len() as u32).collect();
                order.sort_unstable_by_key(|&at| first[at as usize]);
                let mut row = vec![0; columns.len()];
                for at in order {
                    for (label, column) in row.iter_mut().zip(&columns) {
                        *label = column.get(at as usize);
                    }
                    each(&row, counts[at as usize]);
                }
            }
            Kept::Sample { drawn, .. } => {
                let mut drawn = drawn.into_vec();
                drawn.sort_unstable_by_key(|drawn| drawn.first);
                drawn.iter().for_each(|drawn| each(&drawn.row, drawn.count));
            }
        }
    }
}

/// The smallest keys are a sample without replacement in proportion to the counts (Efraimidis and
/// Spirakis 2006): -ln(u) / count with u uniform. The randomness is that of the row itself, so that
/// the order in which rows come does not matter.
fn key(seed: Seed, first: u64, count: u64) -> f64 {
    let bits = seed.derive("row", first).0 >> 11;
    let uniform = (bits as f64 + 0.5) / (1u64 << 53) as f64;
    -uniform.ln() / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_widen_and_keep_what_is_missing() {
        let mut column = Narrow::One(Vec::new());
        let mut expected = Vec::new();
        for (labels, numbers) in [
            (3, vec![0, 2, MISSING]),
            (254, vec![253, MISSING]),
            (255, vec![254, MISSING]),
            (65_534, vec![65_533]),
            (65_535, vec![65_534, MISSING, 7]),
        ] {
            column.extend(&numbers, labels);
            expected.extend(numbers);
        }
        let got: Vec<u32> = (0..expected.len()).map(|at| column.get(at)).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn many_objects_are_drawn_first() {
        let drawn = (0..1000).filter(|&s| key(Seed(s), 1, 9) < key(Seed(s), 2, 1)).count();
        assert!((870..=930).contains(&drawn), "{drawn}");
    }
}
