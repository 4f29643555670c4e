//! Second moments of the differences within sets, shrinkage, inverse roots.

use consilience_core::{
    Dense, Features, MemoryBudget, Observer, Pace, Result, SideInformation, at_least_one, ensure,
    room,
};
pub(crate) use consilience_num::eigen::{EIGEN_SQUARES as EIGEN, scatter_eigen as eigenpairs};
use consilience_num::product::{across, times};
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// Deviations of the objects of sets from the means of their sets, for sets of two and more.
pub(crate) fn within(
    z: ArrayView2<'_, f64>,
    side: &SideInformation,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let mut out = room::table(n_within(side), z.ncols())?;
    let (mut pace, mut row) = (Pace::new(observer), 0);
    for set in side.labelled_sets().iter().filter(|s| s.len() > 1) {
        let mean = mean_of(z, set, &mut pace)?;
        for &i in set {
            pace.work(z.ncols())?;
            let mut to = out.row_mut(row);
            to.assign(&z.row(i));
            to -= &mean;
            row += 1;
        }
    }
    Ok(out)
}

/// How many rows [`within`] has.
pub(crate) fn n_within(side: &SideInformation) -> usize {
    side.labelled_sets().iter().map(Vec::len).filter(|&size| size > 1).sum()
}

/// Mean of some rows.
pub(crate) fn mean_of(
    z: ArrayView2<'_, f64>,
    some: &[usize],
    pace: &mut Pace<'_>,
) -> Result<Array1<f64>> {
    let mut mean = Array1::zeros(z.ncols());
    for &i in some {
        pace.work(z.ncols())?;
        mean += &z.row(i);
    }
    Ok(mean / some.len().max(1) as f64)
}

/// `(1 - rho) S + rho m I`, S = second moment of the rows, m = mean of its diagonal.
///
/// Without a given share, rho is the one of Ledoit and Wolf (2004, Eq. 14 f.), the sampling error
/// of S over its distance from the target, times (d / rows)^4 where rows outnumber the d columns:
/// they ask for the least squared error of S, but what is wanted is an inverse, and S has a good
/// one there. `spare` rows are not independent of the others (one per set mean). At least 1e-3 is
/// taken, so that the result has an inverse whatever the rows are; rows that are all 0 give the
/// identity.
pub(crate) fn shrunk(
    rows: ArrayView2<'_, f64>,
    spare: usize,
    share: Option<f64>,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let (n, d) = rows.dim();
    let mut s = across(rows, rows, observer)?;
    let free = n.saturating_sub(spare).max(1) as f64;
    s /= free;
    let mean = s.diag().sum() / d as f64;
    if !(mean > 0.0) {
        return identity(d);
    }
    let share = share.unwrap_or_else(|| {
        let square = s.iter().map(|v| v * v).sum::<f64>();
        let fourth: f64 = rows.rows().into_iter().map(|r| r.dot(&r).powi(2)).sum();
        let error = (fourth / free - square).max(0.0) / free;
        let apart = square - mean * mean * d as f64;
        let full = if error < apart { error / apart } else { 1.0 };
        full * (d as f64 / free).min(1.0).powi(4)
    });
    let share = share.max(LEAST_SHARE);
    s *= 1.0 - share;
    for j in 0..d {
        s[[j, j]] += share * mean;
    }
    Ok(s)
}

/// The identity, in memory that may be refused.
pub(crate) fn identity(d: usize) -> Result<Array2<f64>> {
    let mut one = room::table(d, d)?;
    one.diag_mut().fill(1.0);
    Ok(one)
}

/// Least share of the identity in a shrunk moment.
const LEAST_SHARE: f64 = 1e-3;

/// The symmetric inverse root of a positive definite matrix.
pub(crate) fn inverse_root(s: Array2<f64>, observer: &dyn Observer) -> Result<Array2<f64>> {
    let eigen = eigenpairs(s.view(), observer)?;
    drop(s);
    let largest = eigen.values.first().copied().unwrap_or(0.0);
    let floor = largest * 1e-14;
    let mut scaled = room::copied_table(eigen.vectors.view())?;
    for (mut column, &v) in scaled.axis_iter_mut(Axis(1)).zip(&eigen.values) {
        let v = v.max(floor);
        column *= if v > 0.0 { 1.0 / v.sqrt() } else { 0.0 };
    }
    times(scaled.view(), eigen.vectors.t(), observer)
}

/// The features as a table, after the checks that every learner begins with.
pub(crate) fn checked<'a>(features: Features<'a>, side: &SideInformation) -> Result<Dense<'a>> {
    let features = features.dense()?;
    features.check()?;
    side.check_features(features)?;
    Ok(features)
}

/// Refuses a tolerance that is not positive, and counts of 0.
pub(crate) fn check_loop(tolerance: f64, max_iterations: usize, max_pairs: usize) -> Result<()> {
    ensure!(
        tolerance > 0.0 && tolerance.is_finite(),
        invalid("tolerance {tolerance}; expected a number above 0")
    );
    at_least_one("max_iterations", max_iterations)?;
    at_least_one("max_pairs", max_pairs)
}

/// Refuses what a learner holds at the same time at most: so many tables of all objects or of
/// pairs, by their rows, and so many square matrices of the features.
pub(crate) fn check_room(
    budget: MemoryBudget,
    features: &Dense<'_>,
    rows: usize,
    squares: usize,
) -> Result<()> {
    let d = features.n_features();
    let tables = [(rows, d), (d.saturating_mul(squares), d)];
    budget.check_tables("matrices of the features and of the pairs", &tables, 8)
}

/// Refuses a share outside [0, 1].
pub(crate) fn check_share(share: Option<f64>) -> Result<()> {
    let share = share.unwrap_or(0.0);
    ensure!((0.0..=1.0).contains(&share), invalid("shrinkage {share}; expected 0..=1"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    #[test]
    fn shrinkage_has_the_two_limits() {
        let rows = array![[1.0, 2.0], [-1.0, -2.0], [2.0, 1.0], [-2.0, -1.0]];
        let shrunk = |rows: &Array2<f64>, share| shrunk(rows.view(), 0, share, &()).unwrap();
        let full = shrunk(&rows, Some(1.0));
        assert_abs_diff_eq!(full, Array2::eye(2) * 2.5, epsilon = 1e-12);
        let none = shrunk(&rows, Some(0.0));
        assert_abs_diff_eq!(none[[0, 1]], 2.0 * (1.0 - LEAST_SHARE), epsilon = 1e-12);
        // Many rows: hardly any; one row in many columns: much.
        let many = Array2::from_shape_fn((4000, 2), |(i, j)| rows[[i % 4, j]]);
        assert!((shrunk(&many, None)[[0, 1]] - 2.0).abs() < 0.01);
        let root = inverse_root(none.clone(), &()).unwrap();
        let one = root.dot(&none).dot(&root);
        assert_abs_diff_eq!(one, Array2::eye(2), epsilon = 1e-10);
        assert_eq!(shrunk(&Array2::zeros((3, 2)), None), Array2::<f64>::eye(2));
    }
}
