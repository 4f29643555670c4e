use crate::scatter::{
    EIGEN, check_room, check_share, checked, inverse_root, n_within, shrunk, within,
};
use consilience_core::{Features, Fit, MemoryBudget, Observer, Report, Result, SideInformation};

use crate::standard::Standard;
use crate::{LinearMap, MetricLearner};

/// Relevant component analysis: whitens what varies inside the labelled sets.
///
/// The first metric to try where only must-links are known, or sets of alike objects: closed form,
/// no parameter, no iteration. It cannot use cannot-links; [`Dca`](crate::Dca) does.
///
/// ```text
/// C = 1/f sum_s sum_(i in s) (x_i - m_s)(x_i - m_s)',     L = ((1 - rho) C + rho c I)^(-1/2)
/// ```
///
/// over the p objects of the sets s, with means m_s, and f = p - (number of sets), the degrees of
/// freedom; c is the mean of C's diagonal.
///
/// ```
/// use consilience::SideInformation;
/// use consilience::metric::{MetricLearner, Rca};
/// use consilience::ndarray::array;
///
/// // The second feature varies inside the sets, the first between them.
/// let x = array![[0.0, 1.0], [0.1, 9.0], [0.0, 5.0], [4.0, 2.0], [4.1, 8.0], [4.0, 5.0]];
/// let side = SideInformation::from_labels(&[0, 0, 0, 1, 1, 1])?;
/// let metric = Rca::new().fit(x.view().into(), &side, &())?.output.metric();
/// assert!(metric[[0, 0]] > 10.0 * metric[[1, 1]]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// Features are first divided by their deviations over all objects, labelled or not, so that
/// shrinkage leads towards those and not towards whatever unit is the smallest. A constant feature
/// gets weight 0 and is no feature otherwise. Without a set of two objects the result is that
/// standardisation alone, a diagonal map, and a note says so.
///
/// # Complexity
/// O(n d + p d^2 + d^3) time, O(n d + d^2) memory; O(n d) of both without a set of two objects.
///
/// # Errors
/// As [`MetricLearner::fit`]; [`shrinkage`](Rca::shrinkage) must lie in 0..=1.
///
/// # References
/// A. Bar-Hillel, T. Hertz, N. Shental, D. Weinshall, "Learning a Mahalanobis metric from
/// equivalence constraints", 2005, Sect. 3. There the sum is divided by p, and C is inverted as it
/// is; here it is shrunk by O. Ledoit, M. Wolf, "A well-conditioned estimator for large-dimensional
/// covariance matrices", 2004, since five labels per class leave it singular; less so, by
/// (d / p)^4, where p exceeds d.
#[doc(alias = "relevant component analysis")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rca {
    shrinkage: Option<f64>,
    standardize: bool,
    budget: MemoryBudget,
}

impl Default for Rca {
    fn default() -> Self {
        Rca { shrinkage: None, standardize: true, budget: MemoryBudget::default() }
    }
}

impl Rca {
    /// Shrinkage from the data, features standardized.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// The share rho of the identity, of which at least 0.001 is taken. Default: from the data;
        /// 0 to 1.
        pub fn shrinkage(mut self, share: f64) { self.shrinkage = Some(share) }

        /// Whether each feature is divided by its own deviation first, or all by one number.
        /// Default yes.
        pub fn standardize(mut self, each: bool) { self.standardize = each }

        /// How much memory the features, their deviations and square matrices of them may take.
        /// Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }
}

impl MetricLearner for Rca {
    fn name(&self) -> &'static str {
        "rca"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<LinearMap>> {
        let features = checked(features, side)?;
        check_share(self.shrinkage)?;
        let sets = side.labelled_sets().iter().filter(|s| s.len() > 1).count();
        if sets > 0 {
            let rows = features.n_objects() + n_within(side);
            check_room(self.budget, &features, rows, EIGEN)?;
        }
        observer.check()?;
        let mut report = Report::default();
        let standard = Standard::new(&features, self.standardize, observer)?;
        if sets == 0 {
            report
                .notes
                .push("no must-links: the features are standardized, nothing is learned".into());
            return Ok(Fit::new(standard.alone()?, report));
        }
        let rows = within(standard.z.view(), side, observer)?;
        let root = report.stage("whitening", || {
            inverse_root(shrunk(rows.view(), sets, self.shrinkage, observer)?, observer)
        })?;
        Ok(Fit::new(standard.map(root)?, report))
    }
}
