//! The pairs that both problems speak of, in coordinates that make the bound a trace.

use consilience_core::{Dense, Error, MemoryBudget, Observer, Pace, Result, SideInformation, room};
use consilience_num::eigen::try_symmetric_eigen;
use consilience_num::product::{across, times};
use consilience_num::rows::narrowed;
use ndarray::{Array1, Array2, Axis, s};

/// A feature whose spread is below this share of its size is constant up to rounding.
const CONSTANT: f64 = 1e-13;

/// What bringing a number to scale takes, in multiplications: passes over columns wait for memory.
const PASSES: usize = 32;

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
    fn new(points: Array2<f64>, side: &SideInformation, observer: &dyn Observer) -> Result<Self> {
        let objects: Vec<usize> = side.labelled_objects().iter().map(|o| o.0).collect();
        let row = |i: usize| objects.binary_search(&i).map_or(0, |r| r as u32);
        let mut pace = Pace::new(observer);
        let mut different = |links: &mut dyn Iterator<Item = (usize, usize)>, most: usize| {
            let mut pairs = room::with_capacity(most)?;
            for (i, j) in links {
                pace.work(SEARCH)?;
                let (a, b) = (row(i), row(j));
                if points.row(a as usize) != points.row(b as usize) {
                    pairs.push((a, b));
                }
            }
            Ok::<_, Error>(pairs)
        };
        let must = different(&mut side.must_links(), side.n_must_links())?;
        let cannot = different(&mut side.cannot_links(), side.n_cannot_links())?;
        let equal = side.n_cannot_links() - cannot.len();
        Ok(Pairs { points, must, cannot, equal })
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

/// What finding the rows of a pair takes, in multiplications.
const SEARCH: usize = 64;

/// What is held of every pair: its rows, its length, and its length under the next metric.
pub(super) const OF_PAIR: usize = 3;

/// What is held while pairs are worked on, and the budget for it.
pub(super) struct Room {
    pub budget: MemoryBudget,
    pub held: Vec<(usize, usize)>,
}

impl Room {
    /// Of what is learned from these: all pairs, and so many tables of the labelled objects.
    pub(super) fn new(
        features: &Dense<'_>,
        side: &SideInformation,
        of_labelled: usize,
        budget: MemoryBudget,
    ) -> Self {
        let pairs = side.n_must_links().saturating_add(side.n_cannot_links());
        let rows = of_labelled * side.labelled_objects().len();
        Room { budget, held: vec![(pairs, OF_PAIR), (rows, features.n_features())] }
    }

    /// Refuses what will be held, and tables beside it, before anything is made.
    pub(super) fn check(&self, tables: &[(usize, usize)]) -> Result<()> {
        let all = [&self.held[..], tables].concat();
        self.budget.check_tables("pairs, features and what is made of them", &all, 8)
    }

    /// Refuses more tables beside what is held already.
    pub(super) fn check_more(&self, tables: &[(usize, usize)]) -> Result<()> {
        let cells = |all: &[(usize, usize)]| {
            all.iter().map(|&(r, c)| r.saturating_mul(c) as u64).fold(0, u64::saturating_add)
        };
        let held = cells(&self.held).saturating_mul(8);
        let wanted = cells(tables).saturating_mul(8);
        // What is held is not tried for a second time, as the check of all together would.
        if held.saturating_add(wanted) > self.budget.n_bytes() {
            return self.check(tables);
        }
        let what = "tables of the pairs that matter, beside all others";
        self.budget.check_tables(what, tables, 8)
    }
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
    fn new(features: Dense<'_>, side: &SideInformation, observer: &dyn Observer) -> Result<Self> {
        let mut all = features.to_f64()?;
        let mut scale = Array1::ones(all.ncols());
        let (mut pace, passes) = (Pace::new(observer), PASSES.saturating_mul(all.nrows()));
        for (mut column, scale) in all.columns_mut().into_iter().zip(&mut scale) {
            pace.work(passes)?;
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
        observer: &dyn Observer,
    ) -> Result<Self> {
        let centred = Centred::new(features, side, observer)?;
        let n = centred.all.nrows() as f64;
        let (mut pace, mut spread) = (Pace::new(observer), Vec::new());
        for c in centred.all.columns() {
            pace.work(PASSES / 4 * c.len())?;
            spread.push((2.0 * c.dot(&c) / n).sqrt());
        }
        let kept: Vec<usize> = (0..spread.len()).filter(|&j| spread[j] > 0.0).collect();
        let scales: Array1<f64> = kept.iter().map(|&j| spread[j]).collect();
        let points = narrowed(centred.labelled, &kept) / &scales;
        let inverse = kept.iter().zip(&scales).map(|(&j, w)| centred.scale[j] / w).collect();
        drop(centred.all);
        Ok(Scales { pairs: Pairs::new(points, side, observer)?, kept, inverse })
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
        observer: &dyn Observer,
    ) -> Result<Self> {
        let centred = Centred::new(features, side, observer)?;
        // Unit variances first, so that features of small unit are not taken for rounding.
        let n = centred.all.nrows() as f64;
        let (mut pace, mut unit) = (Pace::new(observer), Array1::zeros(centred.all.ncols()));
        for (unit, c) in unit.iter_mut().zip(centred.all.columns()) {
            pace.work(PASSES / 4 * c.len())?;
            let w = (2.0 * c.dot(&c) / n).sqrt();
            *unit = if w > 0.0 { 1.0 / w } else { 0.0 };
        }
        let mut all = centred.all;
        pace.work(all.len())?;
        all *= &unit;
        let mut covariance = across(all.view(), all.view(), observer)?;
        covariance *= 2.0 / n;
        drop(all);
        // W with W A W' = I on the range of A.
        let white = directions(covariance, |value| 1.0 / value.sqrt(), observer)?;
        let labelled = times((centred.labelled * &unit).view(), white.t(), observer)?;
        // Directions in which no labelled objects differ have no influence on any pair.
        let middle = labelled.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(white.nrows()));
        let around = &labelled - &middle;
        let moment = across(around.view(), around.view(), observer)?;
        drop(around);
        let span = directions(moment, |_| 1.0, observer)?;
        let points = times(labelled.view(), span.t(), observer)?;
        drop(labelled);
        let mut map = times(span.view(), white.view(), observer)?;
        map *= &(unit * &centred.scale);
        Ok(Whitened { pairs: Pairs::new(points, side, observer)?, map })
    }
}

/// An orthonormal basis of the range of a symmetric A, in rows, each times what is said of its
/// eigenvalue.
fn directions(
    a: Array2<f64>,
    length: impl Fn(f64) -> f64,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let d = a.nrows();
    observer.check()?;
    let found = try_symmetric_eigen(a.view())?;
    observer.check()?;
    drop(a);
    let Some(eigen) = found else { return Ok(Array2::zeros((0, d))) };
    let largest = eigen.values.first().copied().unwrap_or(0.0);
    let rank = eigen.values.iter().filter(|&&v| v > FLAT * largest && v > 0.0).count();
    room::table_of(rank, d, |(i, j)| eigen.vectors[[j, i]] * length(eigen.values[i]))
}
