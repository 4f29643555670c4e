//! What can be made of the features before anything else is known.

use std::sync::Arc;

use consilience_core::{Result, ensure};

use super::coordinates::{Coordinates, Extension};
use crate::basis::Basis;

/// The coordinates that [`Mccc`](crate::Mccc) completes a similarity in, kept for constraints that
/// come later: from [`Mccc::prepare`](crate::Mccc::prepare).
///
/// ```
/// use consilience::{Constraints, Pair, SideInformation};
/// use consilience::completion::Mccc;
/// use consilience::ndarray::Array2;
///
/// // Sixty objects on a line in two groups, which the second column distinguishes.
/// let x = Array2::from_shape_fn((60, 2), |(i, j)| [i / 2, i % 2][j] as f64);
/// let method = Mccc::new(2);
/// let basis = method.prepare(x.view(), &())?;
/// let mut constraints = Constraints::new(60)?;
/// for batch in [0..20, 20..40] {
///     for i in batch {
///         constraints.extend(&[Pair::must_link(i, i + 2), Pair::cannot_link(i, i + 5)])?;
///     }
///     let side = SideInformation::from_constraints(&constraints);
///     let found = method.fit_prepared(&basis, &side, &())?.output;
///     assert_eq!(found.clustering.partition.sizes(), [30, 30]);
/// }
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompletionBasis {
    pub(super) made: Vec<Prepared>,
}

/// The coordinates in one basis, and what gives them to new objects.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub(super) basis: Basis,
    pub(super) coordinates: Coordinates,
    pub(super) extension: Arc<Extension>,
}

impl CompletionBasis {
    /// Number of objects.
    pub fn n_objects(&self) -> usize {
        self.made.first().map_or(0, |made| made.coordinates.z.nrows())
    }

    /// The prepared ones among the bases, in the order asked for.
    pub(super) fn of(&self, bases: &[Basis]) -> Result<Vec<&Prepared>> {
        let found: Vec<&Prepared> = bases
            .iter()
            .filter_map(|basis| self.made.iter().find(|made| made.basis == *basis))
            .collect();
        ensure!(
            found.len() == bases.len(),
            invalid("the basis {} was not prepared", bases[0].name())
        );
        Ok(found)
    }
}
