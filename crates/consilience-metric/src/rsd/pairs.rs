//! The pairs that both problems speak of, in coordinates that make the bound a trace.

use consilience_core::{Dense, MemoryBudget, Result, SideInformation};
use consilience_num::eigen::symmetric_eigen;
use ndarray::{Array1, Array2, Axis, s};

/// A feature whose spread is below this share of its size is constant up to rounding.
const CONSTANT: f64 = 1e-13;

/// Eigenvalues of a covariance below this share of the largest are rounding.
const FLAT: f64 = 1e-12;

/// The pairs, between rows of a small table.
#[derive(Debug)]
pub(super) struct Pairs {
    /// Labelled objects in rows.
    pub points: Array2<f64>,
    /// Rows that belong together.
    pub must: Vec<(u32, u32)>,
    /// Rows that belong apart and are not equal.
    pub cannot: Vec<(u32, u32)>,
    /// Cannot-links between objects that are equal in every feature.
    pub equal: usize,
}

impl Pairs {
    fn new(points: Array2<f64>, side: &SideInformation) -> Self {
        let objects: Vec<usize> = side.labelled_objects().iter().map(|o| o.0).collect();
        let row = |i: usize| objects.binary_search(&i).map_or(0, |r| r as u32);
        let rows = |(i, j): (usize, usize)| (row(i), row(j));
        let same = |(a, b): (u32, u32)| points.row(a as usize) == points.row(b as usize);
        let must = side.must_links().map(rows).filter(|&p| !same(p)).collect();
        let cannot: Vec<_> = side.cannot_links().map(rows).filter(|&p| !same(p)).collect();
        let equal = side.n_cannot_links() - cannot.len();
        Pairs { points, must, cannot, equal }
    }

    /// Puts one cannot-link along every direction in place of those that are not given.
    pub(super) fn stand_in(&mut self) {
        let (n, r) = self.points.dim();
        let mut points = Array2::zeros((n + r + 1, r));
        points.slice_mut(s![..n, ..]).assign(&self.points);
        points.slice_mut(s![n..n + r, ..]).diag_mut().fill(1.0);
        self.points = points;
        self.cannot = (0..r).map(|j| ((n + j) as u32, (n + r) as u32)).collect();
    }

    /// Difference of the two rows of a pair.
    pub(super) fn difference(&self, pair: (u32, u32)) -> Array1<f64> {
        &self.points.row(pair.0 as usize) - &self.points.row(pair.1 as usize)
    }
}

/// Refuses more pairs than the budget holds.
fn check(side: &SideInformation, budget: MemoryBudget) -> Result<()> {
    budget.check_table("pairs", side.n_must_links().saturating_add(side.n_cannot_links()), 1, 8)
}

/// Rows of the labelled objects, less the mean of all; and the table it is from. Each feature is
/// scaled by a power of two that brings it to about 1, so that no square of one overflows or
/// vanishes beside the others, whatever their units.
struct Centred {
    all: Array2<f64>,
    labelled: Array2<f64>,
    scale: Array1<f64>,
}

impl Centred {
    fn new(features: Dense<'_>, side: &SideInformation) -> Result<Self> {
        let mut all = features.to_f64()?;
        let mut scale = Array1::ones(all.ncols());
        for (mut column, scale) in all.columns_mut().into_iter().zip(&mut scale) {
            let size = column.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            if size > 0.0 {
                *scale = 2f64.powi((-size.log2().ceil()).clamp(-1022.0, 1022.0) as i32);
            }
            column *= *scale;
            let largest = size * *scale;
            // Twice, since the first mean of large entries is rounded.
            for _ in 0..2 {
                let mean = column.sum() / column.len() as f64;
                column -= mean;
            }
            let spread = column.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            if spread <= CONSTANT * largest {
                column.fill(0.0);
            }
        }
        let objects: Vec<usize> = side.labelled_objects().iter().map(|o| o.0).collect();
        let labelled = all.select(Axis(0), &objects);
        Ok(Centred { all, labelled, scale })
    }
}

/// Coordinates `y_j = x_j / w_j`, with `w_j^2` the mean squared difference of two random objects.
pub(super) struct Scales {
    pub pairs: Pairs,
    /// Features that are not constant.
    pub kept: Vec<usize>,
    /// `1 / w_j` of those.
    pub inverse: Vec<f64>,
}

impl Scales {
    pub(super) fn new(
        features: Dense<'_>,
        side: &SideInformation,
        budget: MemoryBudget,
    ) -> Result<Self> {
        check(side, budget)?;
        let centred = Centred::new(features, side)?;
        let n = centred.all.nrows() as f64;
        let spread: Vec<f64> =
            centred.all.columns().into_iter().map(|c| (2.0 * c.dot(&c) / n).sqrt()).collect();
        let kept: Vec<usize> = (0..spread.len()).filter(|&j| spread[j] > 0.0).collect();
        let scales: Array1<f64> = kept.iter().map(|&j| spread[j]).collect();
        let points = centred.labelled.select(Axis(1), &kept) / &scales;
        let inverse = kept.iter().zip(&scales).map(|(&j, w)| centred.scale[j] / w).collect();
        Ok(Scales { pairs: Pairs::new(points, side), kept, inverse })
    }
}

/// Coordinates `y = P x` in which two random objects have covariance of differences I, within the
/// span of the labelled objects.
pub(super) struct Whitened {
    pub pairs: Pairs,
    /// r x d.
    pub map: Array2<f64>,
}

impl Whitened {
    pub(super) fn new(
        features: Dense<'_>,
        side: &SideInformation,
        budget: MemoryBudget,
    ) -> Result<Self> {
        check(side, budget)?;
        let d = features.n_features();
        budget.check_square("covariance", d, 8)?;
        let centred = Centred::new(features, side)?;
        // Unit variances first, so that features of small unit are not taken for rounding.
        let n = centred.all.nrows() as f64;
        let spread: Array1<f64> =
            centred.all.columns().into_iter().map(|c| (2.0 * c.dot(&c) / n).sqrt()).collect();
        let unit = spread.mapv(|w| if w > 0.0 { 1.0 / w } else { 0.0 });
        let all = centred.all * &unit;
        let covariance = all.t().dot(&all) * (2.0 / n);
        let white = whiten(&covariance);
        let labelled = (centred.labelled * &unit).dot(&white.t());
        // Directions in which no labelled objects differ have no influence on any pair.
        let middle = labelled.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(white.nrows()));
        let around = &labelled - &middle;
        let span = span(&around.t().dot(&around));
        let points = labelled.dot(&span.t());
        let map = span.dot(&white) * &(unit * &centred.scale);
        Ok(Whitened { pairs: Pairs::new(points, side), map })
    }
}

/// `W` with `W A W' = I` on the range of A.
fn whiten(a: &Array2<f64>) -> Array2<f64> {
    directions(a, |value| 1.0 / value.sqrt())
}

/// An orthonormal basis of the range of A, in rows.
fn span(a: &Array2<f64>) -> Array2<f64> {
    directions(a, |_| 1.0)
}

fn directions(a: &Array2<f64>, length: impl Fn(f64) -> f64) -> Array2<f64> {
    let d = a.nrows();
    let Some(eigen) = symmetric_eigen(a.view()) else { return Array2::zeros((0, d)) };
    let largest = eigen.values.first().copied().unwrap_or(0.0);
    let rank = eigen.values.iter().filter(|&&v| v > FLAT * largest && v > 0.0).count();
    Array2::from_shape_fn((rank, d), |(i, j)| eigen.vectors[[j, i]] * length(eigen.values[i]))
}
