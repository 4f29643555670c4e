//! The completed similarity of coordinates that the caller keeps, as a map.

use consilience_core::{Features, Fit, Observer, Report, Result, SideInformation};
use ndarray::{Array2, ArrayView2};

use super::Mccc;
use super::coordinates::Coordinates;
use crate::known_pairs::{KnownPairs, check_objects};

/// What completion learned of coordinates that the caller keeps: a map R with `M = R R'`, so that
/// coordinates times R have the completed similarities as inner products.
///
/// From [`Mccc::complete_map`], which has the example.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompletedMap {
    /// k x rank; k-means on coordinates times this gives the clusters.
    pub map: Array2<f64>,
    /// The C of Eq. 5.8 that was used, for orthonormal columns; `None` where the pairs say nothing,
    /// and the map is that of the leading columns.
    pub loss_weight: Option<f64>,
}

impl CompletedMap {
    /// A map that no pair had a part in.
    pub fn unlearned(map: Array2<f64>) -> Self {
        CompletedMap { map, loss_weight: None }
    }
}

impl Mccc {
    /// The completed similarity alone, without any clusters, as a map of coordinates of the
    /// caller's own. Rows of objects in no constraint change nothing, and need not be among them:
    /// what is learned of the linked objects holds for whoever has coordinates.
    ///
    /// A building block for coordinates that stay the same while constraints come.
    ///
    /// ```
    /// use consilience::{Constraints, Pair, SideInformation};
    /// use consilience::completion::Mccc;
    /// use consilience::ndarray::{Array2, s};
    ///
    /// // Two columns that are the memberships themselves; 20 of 40 objects have links.
    /// let z = Array2::from_shape_fn((40, 2), |(i, j)| f64::from(u8::from(i % 2 == j)));
    /// let mut constraints = Constraints::new(20)?;
    /// for i in 0..12 {
    ///     constraints.extend(&[Pair::must_link(i, i + 2), Pair::cannot_link(i, i + 3)])?;
    /// }
    /// let side = SideInformation::from_constraints(&constraints);
    /// let found = Mccc::new(2).complete_map(z.slice(s![..20, ..]), &side, &())?.output;
    /// let rows = z.dot(&found.map);
    /// assert!(rows.row(30).dot(&rows.row(32)) > 0.5);
    /// assert!(rows.row(30).dot(&rows.row(33)).abs() < 0.1);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(m k^2 + p k + k^3) per iteration for p constraints over m objects of k coordinates.
    ///
    /// # Errors
    /// As [`Mccc`] says, of the rows that are given.
    pub fn complete_map(
        &self,
        coordinates: ArrayView2<'_, f64>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<CompletedMap>> {
        let (own, pairs) = self.given(coordinates, side, observer)?;
        let mut report = Report::default();
        let completed = self.complete(&[&own], &pairs, &mut report, observer)?;
        let found = CompletedMap { map: completed.read, loss_weight: completed.loss_weight };
        Ok(Fit::new(found, report))
    }

    /// Coordinates of the caller's own, and the pairs, after they have been checked.
    pub(super) fn given(
        &self,
        coordinates: ArrayView2<'_, f64>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<(Coordinates, KnownPairs)> {
        let n = coordinates.nrows();
        self.check(n)?;
        Features::from(coordinates).check()?;
        check_objects(side, n)?;
        observer.check()?;
        self.budget.check_table("coordinates", n, coordinates.ncols(), 64)?;
        let pairs = KnownPairs::new(side, self.budget, observer)?;
        let z = coordinates.as_standard_layout().into_owned();
        Ok((Coordinates { basis: None, z, converged: true }, pairs))
    }
}
