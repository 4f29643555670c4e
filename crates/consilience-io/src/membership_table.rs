//! Objects without evidence in tables of memberships.

use consilience_core::{Memberships, Result, room};
use ndarray::{Array2, ArrayViewMut1};

/// Memberships of a table, where a row of zeros is an object without evidence.
pub(crate) fn memberships_of(mut table: Array2<f64>) -> Result<Memberships> {
    let even = 1.0 / table.ncols() as f64;
    let evidence = |mut row: ArrayViewMut1<'_, f64>| {
        if row.iter().any(|&v| v != 0.0) {
            return 1.0;
        }
        row.fill(even);
        0.0
    };
    let evidence = room::collected(table.rows_mut().into_iter().map(evidence))?;
    Memberships::with_evidence(table, evidence)
}

/// The table of memberships, with a row of zeros for each object without evidence. Zeros and ones
/// of a single cluster would be read as two labels: there it is NaN, which is none.
pub(crate) fn table_of(memberships: &Memberships) -> Result<Array2<f64>> {
    let mut table = room::copied_table(memberships.values())?;
    let none = if table.ncols() == 1 { f64::NAN } else { 0.0 };
    for (mut row, &evidence) in table.rows_mut().into_iter().zip(memberships.evidence()) {
        if evidence == 0.0 {
            row.fill(none);
        }
    }
    Ok(table)
}
