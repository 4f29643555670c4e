//! Large tables in large pages.

use std::ops::{Deref, DerefMut};

use consilience_core::{Result, room};
use memmap2::MmapMut;

/// Numbers from which on a table is asked for in large pages: 4 MiB.
const LARGE: usize = 1 << 19;

/// A table of zeros, where it is large in the largest pages that the system gives.
///
/// What is read from all over such a table needs the place of another page with almost every
/// number, and the processor remembers those of some thousand pages only.
pub(crate) enum Table {
    Plain(Vec<f64>),
    Mapped(MmapMut),
}

impl Table {
    pub(crate) fn zeros(numbers: usize) -> Result<Self> {
        let mapped = if numbers < LARGE { None } else { mapped(numbers) };
        Ok(match mapped {
            Some(table) => Table::Mapped(table),
            None => Table::Plain(room::zeros(numbers)?),
        })
    }
}

/// None where the system has no such memory, or no more of it.
fn mapped(numbers: usize) -> Option<MmapMut> {
    let table = MmapMut::map_anon(numbers.checked_mul(size_of::<f64>())?).ok()?;
    // Where there are no large pages, small ones do as well.
    #[cfg(target_os = "linux")]
    let _ = table.advise(memmap2::Advice::HugePage);
    Some(table)
}

impl Deref for Table {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        match self {
            Table::Plain(numbers) => numbers,
            Table::Mapped(bytes) => bytemuck::cast_slice(bytes),
        }
    }
}

impl DerefMut for Table {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        match self {
            Table::Plain(numbers) => numbers,
            Table::Mapped(bytes) => bytemuck::cast_slice_mut(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_hold_what_is_written_whatever_their_pages() {
        for numbers in [0, 1, LARGE - 1, LARGE, LARGE + 7] {
            let mut table = Table::zeros(numbers).unwrap();
            assert_eq!(matches!(table, Table::Mapped(_)), numbers >= LARGE);
            assert!(table.len() == numbers && table.iter().all(|&v| v == 0.0));
            (0..numbers).for_each(|i| table[i] = i as f64);
            assert!(table.iter().enumerate().all(|(i, &v)| v == i as f64));
        }
        assert!(Table::zeros(usize::MAX / 4).is_err());
    }
}
