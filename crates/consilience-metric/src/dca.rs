use crate::scatter::{check_share, check_square, eigenpairs, inverse_root, shrunk, within};
use consilience_core::{
    Features, Fit, MemoryBudget, Observer, Report, Result, SideInformation, ensure,
};
use consilience_num::rows::mean_row;
use ndarray::{Array2, ArrayView2, s};

use crate::standard::Standard;
use crate::{LinearMap, MetricLearner};

/// Discriminative component analysis: keeps the directions in which sets that are apart differ, and
/// whitens inside them what varies within the sets.
///
/// For must-links together with cannot-links, or labels; the map has at most as many rows as there
/// are independent differences between sets, so it also reduces the dimension (two classes: one
/// row). With few sets that may be too little; [`Rca`](crate::Rca) keeps all directions.
///
/// ```text
/// C_b = mean over sets s, t apart of (m_s - m_t)(m_s - m_t)',    C_w = as in RCA, shrunk
/// C_b = U diag(lambda) U',  lambda > 0;    L = (U' C_w U)^(-1/2) U'
/// ```
///
/// ```
/// use consilience::SideInformation;
/// use consilience::metric::{Dca, MetricLearner};
/// use consilience::ndarray::array;
///
/// let x = array![[0.0, 1.0], [0.1, 9.0], [0.0, 5.0], [4.0, 2.0], [4.1, 8.0], [4.0, 5.0]];
/// let side = SideInformation::from_labels(&[0, 0, 0, 1, 1, 1])?;
/// let map = Dca::new().fit(x.view().into(), &side, &())?.output;
/// assert_eq!(map.n_outputs(), 1);
/// let metric = map.metric();
/// assert!(metric[[0, 0]] > 10.0 * metric[[1, 1]]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// Features are standardized as in [`Rca`](crate::Rca). Without must-links C_w is the identity on
/// standardized features; without cannot-links nothing says which sets differ, all are taken to be
/// apart, and a note says so. With fewer than two sets, or where the means of all sets coincide,
/// the result is that of RCA, with a note.
///
/// # Complexity
/// O(n d + p d^2 + S d^2 + d^3) time for S pairs of sets apart, O(n d + d^2) memory.
///
/// # Errors
/// As [`MetricLearner::fit`]; [`shrinkage`](Dca::shrinkage) must lie in 0..=1,
/// [`dimensions`](Dca::dimensions) must be at least 1.
///
/// # References
/// S. Hoi, W. Liu, M. Lyu, W.-Y. Ma, "Learning distance metrics with contextual constraints for
/// image retrieval", 2006, Sect. 3. Their two whitenings compose to the L above; C_w is shrunk in
/// addition, and every object counts the same in it, not every set.
#[doc(alias = "discriminative component analysis")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dca {
    shrinkage: Option<f64>,
    standardize: bool,
    dimensions: Option<usize>,
    budget: MemoryBudget,
}

impl Default for Dca {
    fn default() -> Self {
        let budget = MemoryBudget::default();
        Dca { shrinkage: None, standardize: true, dimensions: None, budget }
    }
}

/// Eigenvalues of C_b below this share of the largest are rounding.
const NULL: f64 = 1e-10;

impl Dca {
    /// Shrinkage from the data, features standardized, all directions in which sets differ.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// The share of the identity in C_w. Default: from the data; 0 to 1.
        pub fn shrinkage(mut self, share: f64) { self.shrinkage = Some(share) }

        /// Whether each feature is divided by its own deviation first, or all by one number.
        /// Default yes.
        pub fn standardize(mut self, each: bool) { self.standardize = each }

        /// Keeps at most that many directions, where sets differ most. Default all; at least 1.
        pub fn dimensions(mut self, dimensions: usize) { self.dimensions = Some(dimensions) }

        /// How much memory the square matrices of the features may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }
}

/// `sum (m_s - m_t)(m_s - m_t)'` over the pairs of labelled sets that are apart, or over all pairs.
fn scatter_between(z: ArrayView2<'_, f64>, side: &SideInformation, all: bool) -> Array2<f64> {
    let sets = side.labelled_sets();
    let means: Vec<_> = sets.iter().map(|s| mean_row(z, s)).collect();
    // It is M' (D - W) M with the graph's Laplacian.
    let m = Array2::from_shape_fn((sets.len(), z.ncols()), |(s, j)| means[s][j]);
    let mut sum = Array2::<f64>::zeros(m.dim());
    let mut add = |a: usize, b: usize| {
        let diff = &m.row(a) - &m.row(b);
        let mut row = sum.row_mut(a);
        row += &diff;
        let mut row = sum.row_mut(b);
        row -= &diff;
    };
    if all {
        (0..sets.len()).for_each(|a| (a + 1..sets.len()).for_each(|b| add(a, b)));
    } else {
        side.sets_apart().for_each(|(a, b)| add(a, b));
    }
    m.t().dot(&sum)
}

impl MetricLearner for Dca {
    fn name(&self) -> &'static str {
        "dca"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<LinearMap>> {
        let features = features.dense()?;
        features.check()?;
        side.check_features(features)?;
        check_square(self.budget, &features)?;
        check_share(self.shrinkage)?;
        ensure!(self.dimensions != Some(0), invalid("0 dimensions; expected at least 1"));
        observer.check()?;
        let mut report = Report::default();
        let standard = Standard::new(&features, self.standardize)?;
        let z = standard.z.view();
        let rows = within(z, side);
        let sets = side.labelled_sets();
        let inner = if rows.nrows() == 0 {
            report.notes.push(
                "no must-links: what varies within sets is taken to be the features' spread".into(),
            );
            Array2::eye(z.ncols())
        } else {
            shrunk(rows.view(), sets.iter().filter(|s| s.len() > 1).count(), self.shrinkage)
        };
        observer.check()?;

        let all = side.sets_apart().next().is_none();
        if all && sets.len() > 1 {
            report.notes.push("no cannot-links: all labelled sets are taken to be apart".into());
        }
        let between = report.stage("directions", || scatter_between(z, side, all));
        observer.check()?;
        let eigen = eigenpairs(((&between + &between.t()) * 0.5).view())?;
        let largest = eigen.values.first().copied().unwrap_or(0.0);
        // Directions that rounding alone tells apart have no length on features of deviation 1.
        let rank = eigen.values.iter().filter(|&&v| v > NULL * largest && v > 1e-20).count();
        if rank == 0 {
            report.notes.push(
                "no two sets with different means: only the spread within sets is whitened".into(),
            );
            return Ok(Fit::new(standard.map(inverse_root(inner.view())?)?, report));
        }
        let rank = self.dimensions.map_or(rank, |q| q.min(rank));
        let u = eigen.vectors.slice(s![.., ..rank]);
        let root = inverse_root(u.t().dot(&inner).dot(&u).view())?;
        Ok(Fit::new(standard.map(root.dot(&u.t()))?, report))
    }
}
