//! Memory that a file may make a reader take.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use consilience_core::{Error, MemoryBudget, Result};

use crate::fault::system;

/// What a reader may still allocate for a table, shared by its columns. Everything whose size a
/// file decides is taken from here: beyond the budget, and where the system has no more, the answer
/// is an error and not the end of the process.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    budget: MemoryBudget,
    taken: Arc<AtomicU64>,
}

impl Allowance {
    pub(crate) fn new(budget: MemoryBudget) -> Self {
        Allowance { budget, taken: Arc::default() }
    }

    /// All that the system gives.
    pub(crate) fn unlimited() -> Self {
        Self::new(MemoryBudget::bytes(u64::MAX))
    }

    /// All bytes of a reader, where they fit the budget.
    pub(crate) fn all_of(&self, mut reader: impl Read) -> Result<Vec<u8>> {
        const STEP: usize = 1 << 20;
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            if bytes.capacity() - bytes.len() < STEP {
                self.grow(&mut bytes, STEP)?;
            }
            let step = (bytes.capacity() - bytes.len()) as u64;
            // As much as there is room for: nothing is allocated here.
            if reader.by_ref().take(step).read_to_end(&mut bytes).map_err(system)? == 0 {
                return Ok(bytes);
            }
        }
    }

    /// Refuses what a file says that it holds, before anything is read.
    pub(crate) fn expect(&self, rows: usize, columns: usize, width: usize) -> Result<()> {
        self.budget.check_table("a table", rows, columns, width)
    }

    /// Takes so many bytes more.
    pub(crate) fn take(&self, bytes: u64) -> Result<()> {
        let before = self.taken.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.budget.n_bytes() {
            return Err(Error::too_large(format!(
                "what it holds does not fit in memory: more than the budget of {} bytes",
                self.budget.n_bytes()
            )));
        }
        Ok(())
    }

    pub(crate) fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Adds a value, with half as much room again where there is none left.
    #[inline]
    pub(crate) fn push<T>(&self, values: &mut Vec<T>, value: T) -> Result<()> {
        if values.len() == values.capacity() {
            self.grow(values, 1)?;
        }
        values.push(value);
        Ok(())
    }

    /// Room for so many more values.
    #[cold]
    pub(crate) fn grow<T>(&self, values: &mut Vec<T>, more: usize) -> Result<()> {
        let more = more.max(values.capacity() / 2).max(16);
        self.take(bytes_of::<T>(more))?;
        values.try_reserve_exact(more).map_err(|_| no_room::<T>(values.len() + more))
    }

    /// Room for `len` values.
    pub(crate) fn room<T>(&self, len: usize) -> Result<Vec<T>> {
        self.take(bytes_of::<T>(len)).map_err(|_| no_room::<T>(len))?;
        let mut room = Vec::new();
        room.try_reserve_exact(len).map_err(|_| no_room::<T>(len))?;
        Ok(room)
    }
}

pub(crate) fn bytes_of<T>(len: usize) -> u64 {
    (len as u64).saturating_mul(size_of::<T>() as u64)
}

/// There is no memory for so many values.
pub(crate) fn no_room<T>(len: usize) -> Error {
    Error::too_large(format!("{len} values of {} bytes do not fit in memory", size_of::<T>()))
}

#[cfg(test)]
mod tests {
    use consilience_core::ErrorKind;

    use super::*;

    #[test]
    fn columns_share_what_there_is() {
        let all = Allowance::new(MemoryBudget::bytes(100));
        let other = all.clone();
        assert!(all.room::<u8>(60).is_ok());
        assert_eq!(other.room::<u8>(60).unwrap_err().kind(), ErrorKind::TooLarge);
        assert!(Allowance::unlimited().room::<u64>(usize::MAX / 16).is_err());
    }
}
