use ndarray::{ArrayView2, ArrayViewMut2, Axis};

use super::SymmetricOperator;
use crate::sparse::Csr;

/// A symmetric sparse matrix plus a constant in every entry, which is never written out.
///
/// ```
/// use consilience::num::{eigen::{Shifted, TruncatedOptions, truncated_eigen}, sparse::Csr};
///
/// // Zeros but for the constant 2: the eigenvalue 2 n.
/// let matrix = Shifted::new(Csr::from_rows(4, vec![Vec::new(); 4]), 2.0);
/// let top = truncated_eigen(&matrix, &TruncatedOptions::new(1));
/// assert!((top.values[0] - 8.0).abs() < 1e-9);
/// ```
#[derive(Clone, Debug)]
pub struct Shifted {
    sparse: Csr,
    constant: f64,
}

impl Shifted {
    /// The square matrix `sparse` with `constant` added to every entry, stored or not.
    pub fn new(sparse: Csr, constant: f64) -> Self {
        Shifted { sparse, constant }
    }
}

impl SymmetricOperator for Shifted {
    fn dim(&self) -> usize {
        self.sparse.n_rows()
    }

    fn apply(&self, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        self.sparse.apply(x, y.view_mut());
        if self.constant != 0.0 {
            let sums = x.sum_axis(Axis(0)) * self.constant;
            y += &sums;
        }
    }
}
