use crate::{Error, ErrorKind, Result};

/// How much memory a method may allocate; checked before anything is allocated.
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

    /// Refuses an `n x n` table of `entry` bytes that does not fit.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] with the size wanted and the budget.
    pub fn check_square(&self, what: &str, n: usize, entry: usize) -> Result<()> {
        self.check_table(what, n, n, entry)
    }

    /// Refuses a table of `entry` bytes per cell that does not fit.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] with the size wanted and the budget.
    pub fn check_table(&self, what: &str, rows: usize, columns: usize, entry: usize) -> Result<()> {
        let wanted = rows as u128 * columns as u128 * entry as u128;
        if wanted > u128::from(self.bytes) {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!(
                    "{what} of {rows} x {columns} entries: {wanted} bytes needed, the memory \
                     budget is {} bytes",
                    self.bytes
                ),
            ));
        }
        Ok(())
    }
}
