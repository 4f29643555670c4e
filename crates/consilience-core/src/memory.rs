use std::hint::black_box;

use crate::{Error, ErrorKind, Result};

/// Tables from this size on are asked of the system before they are made; below it nobody can say
/// what else will be asked for.
const LARGE: u128 = 256 << 10;
/// What else a method may take whose table is just allowed.
const BESIDE: u128 = 1 << 20;

/// How much memory a method may allocate; checked before anything is allocated.
///
/// A check also asks the system whether it would give so much just now, without taking it: a
/// process whose own limit lies below the budget (`ulimit`, strict accounting) gets the same error
/// and is not ended in the middle of its work. Containers give any memory and end whoever uses too
/// much of it: there the budget has to be the container's, as the program makes it.
///
/// ```
/// use consilience::{ErrorKind, MemoryBudget};
///
/// let budget = MemoryBudget::default();
/// assert!(budget.check_square("pair counts", 10_000, 8).is_ok());
/// let error = budget.check_square("pair counts", 1_000_000, 8).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::TooLarge);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBudget {
    bytes: u64,
}

impl Default for MemoryBudget {
    /// 8 GiB.
    fn default() -> Self {
        MemoryBudget { bytes: 8 << 30 }
    }
}

impl MemoryBudget {
    /// A budget in bytes.
    pub fn bytes(bytes: u64) -> Self {
        MemoryBudget { bytes }
    }

    /// The budget in bytes.
    pub fn n_bytes(&self) -> u64 {
        self.bytes
    }

    /// What is left of it beside so many bytes that are held.
    ///
    /// ```
    /// use consilience::MemoryBudget;
    ///
    /// assert_eq!(MemoryBudget::bytes(800).beside(300).n_bytes(), 500);
    /// assert_eq!(MemoryBudget::bytes(800).beside(900).n_bytes(), 0);
    /// ```
    pub fn beside(&self, bytes: usize) -> Self {
        MemoryBudget { bytes: self.bytes.saturating_sub(bytes as u64) }
    }

    /// Refuses an `n x n` table of `entry` bytes that does not fit.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] with the size wanted and the budget, or where the system would not
    /// give as much.
    pub fn check_square(&self, what: &str, n: usize, entry: usize) -> Result<()> {
        self.check_table(what, n, n, entry)
    }

    /// Refuses a table of `entry` bytes per cell that does not fit.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] with the size wanted and the budget, or where the system would not
    /// give as much.
    pub fn check_table(&self, what: &str, rows: usize, columns: usize, entry: usize) -> Result<()> {
        let wanted = size(rows, columns, entry);
        self.refused(wanted, || format!("{what} of {rows} x {columns} entries"))
    }

    /// Refuses tables that do not fit together, each of so many rows and columns of `entry` bytes:
    /// for what is held at the same time.
    ///
    /// ```
    /// use consilience::MemoryBudget;
    ///
    /// let budget = MemoryBudget::bytes(800);
    /// assert!(budget.check_tables("points and distances", &[(5, 10), (5, 10)], 8).is_ok());
    /// assert!(budget.check_tables("points and distances", &[(5, 10), (6, 10)], 8).is_err());
    /// ```
    ///
    /// # Errors
    /// As [`MemoryBudget::check_table`].
    pub fn check_tables(&self, what: &str, tables: &[(usize, usize)], entry: usize) -> Result<()> {
        self.refused(together(tables, entry), || what.to_owned())
    }

    fn refused(&self, wanted: u128, what: impl Fn() -> String) -> Result<()> {
        let limit = if wanted > u128::from(self.bytes) {
            format!("the memory budget is {} bytes", self.bytes)
        } else if !is_there(wanted) {
            "the system has not so much memory left".to_owned()
        } else {
            return Ok(());
        };
        let what = what();
        Err(Error::new(ErrorKind::TooLarge, format!("{what}: {wanted} bytes needed, {limit}")))
    }

    /// Whether the budget allows a table of `entry` bytes per cell: for choices between methods,
    /// which should not depend on what else runs on the machine. What was chosen is then checked.
    ///
    /// ```
    /// use consilience::MemoryBudget;
    ///
    /// let budget = MemoryBudget::bytes(800);
    /// assert!(budget.allows_table(10, 10, 8));
    /// assert!(!budget.allows_table(10, 11, 8));
    /// ```
    pub fn allows_table(&self, rows: usize, columns: usize, entry: usize) -> bool {
        self.allows_tables(&[(rows, columns)], entry)
    }

    /// As [`MemoryBudget::allows_table`], for tables that are held at the same time.
    ///
    /// ```
    /// use consilience::MemoryBudget;
    ///
    /// assert!(!MemoryBudget::bytes(800).allows_tables(&[(5, 10), (6, 10)], 8));
    /// ```
    pub fn allows_tables(&self, tables: &[(usize, usize)], entry: usize) -> bool {
        together(tables, entry) <= u128::from(self.bytes)
    }
}

fn together(tables: &[(usize, usize)], entry: usize) -> u128 {
    let sizes = tables.iter().map(|&(rows, columns)| size(rows, columns, entry));
    sizes.fold(0, u128::saturating_add)
}

fn size(rows: usize, columns: usize, entry: usize) -> u128 {
    (rows as u128 * columns as u128).saturating_mul(entry as u128)
}

/// Whether the system would give so many bytes and what goes with a table (indices, threads),
/// which is tried without writing to them.
fn is_there(bytes: u128) -> bool {
    if bytes < LARGE {
        return true;
    }
    let Ok(bytes) = usize::try_from(bytes + bytes / 16 + BESIDE) else { return false };
    let mut room: Vec<u8> = Vec::new();
    // What is never looked at would not be asked for either.
    black_box(&mut room).try_reserve_exact(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_system_gives_is_refused_within_any_budget() {
        let endless = MemoryBudget::bytes(u64::MAX);
        let error = endless.check_square("pair counts", 1 << 30, 8).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.message().contains("memory left"), "{error}");
        assert!(endless.allows_table(1 << 30, 1 << 30, 8));
        assert!(endless.check_square("pair counts", 1 << 10, 8).is_ok());
    }
}
