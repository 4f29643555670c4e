use crate::scatter::{
    EIGEN, check_room, check_share, checked, eigenpairs, identity, inverse_root, mean_of, n_within,
    shrunk, within,
};
use consilience_core::{
    Features, Fit, MemoryBudget, Observer, Pace, Report, Result, SideInformation, ensure, room,
};
use consilience_num::product::{across, times};
use ndarray::{Array2, ArrayView2, Axis, Zip, s};

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
/// O(n d + p d^2 + S d + d^3) time for S pairs of sets apart, which are not walked over where every
/// two sets are apart, as with labels; O(n d + d^2) memory.
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

        /// How much memory the features, their deviations and square matrices of them may take.
        /// Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }
}

/// `sum (m_s - m_t)(m_s - m_t)'` over the pairs of labelled sets that are apart, or over all pairs.
fn scatter_between(
    z: ArrayView2<'_, f64>,
    side: &SideInformation,
    all: bool,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let sets = side.labelled_sets();
    let mut pace = Pace::new(observer);
    let mut m = room::table(sets.len(), z.ncols())?;
    for (mut row, set) in m.rows_mut().into_iter().zip(sets) {
        row.assign(&mean_of(z, set, &mut pace)?);
    }
    if all || side.are_classes() {
        // Over all pairs of S sets it is S times the scatter of their means around the mean of
        // these, which is taken a second time: means that coincide have none, not even rounding.
        let count = sets.len().max(1) as f64;
        for _ in 0..2 {
            pace.work(m.len())?;
            let mean = m.sum_axis(Axis(0)) / count;
            m -= &mean;
        }
        return Ok(across(m.view(), m.view(), observer)? * count);
    }
    // It is M' (D - W) M with the graph's Laplacian.
    let mut sum = room::table(m.nrows(), m.ncols())?;
    for (a, b) in side.sets_apart() {
        pace.work(2 * m.ncols())?;
        let (of_a, of_b) = (m.row(a), m.row(b));
        Zip::from(sum.row_mut(a)).and(&of_a).and(&of_b).for_each(|s, a, b| *s += a - b);
        Zip::from(sum.row_mut(b)).and(&of_a).and(&of_b).for_each(|s, a, b| *s -= a - b);
    }
    across(m.view(), sum.view(), observer)
}

/// The mean of a matrix and its transpose, in its place.
fn symmetrize(m: &mut Array2<f64>) {
    for i in 0..m.nrows() {
        for j in 0..=i {
            let mean = (m[[i, j]] + m[[j, i]]) * 0.5;
            (m[[i, j]], m[[j, i]]) = (mean, mean);
        }
    }
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
        let features = checked(features, side)?;
        let sets = side.labelled_sets();
        let means = if side.are_classes() { sets.len() } else { 2 * sets.len() };
        let rows = features.n_objects() + n_within(side).max(means);
        check_room(self.budget, &features, rows, EIGEN + 1)?;
        check_share(self.shrinkage)?;
        ensure!(self.dimensions != Some(0), invalid("0 dimensions; expected at least 1"));
        observer.check()?;
        let mut report = Report::default();
        let standard = Standard::new(&features, self.standardize, observer)?;
        let z = standard.z.view();
        let united = sets.iter().filter(|s| s.len() > 1).count();
        let inner = if united == 0 {
            report.notes.push(
                "no must-links: what varies within sets is taken to be the features' spread".into(),
            );
            identity(z.ncols())?
        } else {
            let rows = within(z, side, observer)?;
            shrunk(rows.view(), united, self.shrinkage, observer)?
        };
        let all = side.sets_apart().next().is_none();
        if all && sets.len() > 1 {
            report.notes.push("no cannot-links: all labelled sets are taken to be apart".into());
        }
        let mut between = report.stage("directions", || scatter_between(z, side, all, observer))?;
        symmetrize(&mut between);
        let eigen = eigenpairs(between.view(), observer)?;
        drop(between);
        let largest = eigen.values.first().copied().unwrap_or(0.0);
        // Directions that rounding alone tells apart have no length on features of deviation 1.
        let rank = eigen.values.iter().filter(|&&v| v > NULL * largest && v > 1e-20).count();
        if rank == 0 {
            report.notes.push(
                "no two sets with different means: only the spread within sets is whitened".into(),
            );
            drop(eigen);
            return Ok(Fit::new(standard.map(inverse_root(inner, observer)?)?, report));
        }
        let rank = self.dimensions.map_or(rank, |q| q.min(rank));
        let u = eigen.vectors.slice(s![.., ..rank]);
        let half = across(u, inner.view(), observer)?;
        drop(inner);
        let within = times(half.view(), u, observer)?;
        drop(half);
        let root = inverse_root(within, observer)?;
        Ok(Fit::new(standard.map(times(root.view(), u.t(), observer)?)?, report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::CancelFrom;
    use consilience_core::{Constraints, ErrorKind, Link, Seed};
    use consilience_num::rows::mean_row;

    #[test]
    fn sets_that_are_all_apart_need_no_walk() {
        let mut s = Seed(2).stream();
        let z = Array2::from_shape_fn((30, 3), |_| 1e4 + s.normal());
        let labels: Vec<i64> = (0..30).map(|i| i % 7 - 1).collect();
        let mut must = Constraints::new(30).unwrap();
        (0..12).for_each(|i| must.add(i, i + 15, Link::Must).unwrap());
        let mut some = must.clone();
        (0..5).for_each(|i| some.add(i, i + 1, Link::Cannot).unwrap());
        let sides = [
            (SideInformation::from_labels(&labels).unwrap(), false),
            (SideInformation::from_constraints(&must), true),
            (SideInformation::from_constraints(&some), false),
        ];
        for (side, all) in sides {
            let means: Vec<_> =
                side.labelled_sets().iter().map(|set| mean_row(z.view(), set)).collect();
            let pairs: Vec<(usize, usize)> = match all {
                true => (0..means.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect(),
                false => side.sets_apart().collect(),
            };
            let mut expected = Array2::<f64>::zeros((3, 3));
            for (a, b) in pairs {
                let diff = &means[a] - &means[b];
                let outer = Array2::from_shape_fn((3, 3), |(i, j)| diff[i] * diff[j]);
                expected += &outer;
            }
            let found = scatter_between(z.view(), &side, all, &()).unwrap();
            assert!((found - expected).iter().all(|v| v.abs() < 1e-7));
        }
        let side = SideInformation::from_constraints(&some);
        let error = scatter_between(z.view(), &side, false, &CancelFrom::new(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
    }

    /// Pair by pair, 1.25 thousand million differences.
    #[test]
    fn very_many_must_links_are_quick() {
        let n = 100_000;
        let x = Array2::from_shape_fn((n, 2), |(i, j)| (i / 2 % 10 + i % 2 * j) as f64);
        let mut links = Constraints::new(n).unwrap();
        (0..n / 2).for_each(|i| links.add(2 * i, 2 * i + 1, Link::Must).unwrap());
        let side = SideInformation::from_constraints(&links);
        assert_eq!(Dca::new().learn((&x).into(), &side).unwrap().n_outputs(), 1);
    }
}
