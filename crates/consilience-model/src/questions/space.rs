//! Where objects lie: leading components of the features, under a metric that is learned from the
//! clusters as they are understood so far.

use consilience_core::{Observer, Result, Seed};
use consilience_num::eigen::symmetric_eigen;
use consilience_num::kmeans::{self, KMeansOptions};
use consilience_num::svd::{SvdOptions, try_truncated_svd};
use ndarray::{ArcArray2, Array1, Array2, ArrayView1, ArrayView2, Axis, s};

/// Leading components of the features that are kept, and directions of the metric.
const COMPONENTS: usize = 64;
const DIRECTIONS: usize = 20;
/// Iterations of the mixture that the metric starts from.
const MIXTURE: usize = 10;
/// Share of a spherical scatter in that within groups, at least and at most.
pub(super) const SHRINKAGE: (f64, f64) = (0.02, 0.5);
/// Variance between groups, in units of that within, by which a direction counts half.
const HALF: f64 = 0.5;
/// Pairs whose differences are held at one time.
const PAIRS: usize = 1 << 12;
/// Memberships below this are read as 0.
const LEAST: f64 = 1e-4;

/// Coordinates of the objects. Tables of a row for each object are shared with copies.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// Leading components, n x p, of mean 0 and mean square 1.
    components: ArcArray2<f64>,
    /// Their scatter, p x p.
    total: Array2<f64>,
    /// The components under the metric, n x r.
    pub(super) z: ArcArray2<f64>,
    /// The same under the metric of groups that was learned last.
    by_groups: ArcArray2<f64>,
    /// Whether the metric is one of answers alone.
    pub(super) by_answers: bool,
}

impl Space {
    /// The leading components of finite features, as they are.
    pub(super) fn new(mut x: Array2<f64>, seed: Seed, observer: &dyn Observer) -> Result<Self> {
        let n = x.nrows();
        if let Some(mean) = x.mean_axis(Axis(0)) {
            x -= &mean;
        }
        let count = COMPONENTS.min(x.ncols());
        let found = try_truncated_svd(&x, &SvdOptions::new(count).seed(seed), observer)?;
        let mut y = found.left;
        for (mut column, value) in y.columns_mut().into_iter().zip(&found.values) {
            column *= *value;
        }
        if y.ncols() == 0 {
            // All objects are equal.
            y = Array2::zeros((n, 1));
        }
        let square = y.iter().map(|v| v * v).sum::<f64>() / y.len() as f64;
        if square > 0.0 {
            y /= square.sqrt();
        }
        let components = y.as_standard_layout().into_owned().into_shared();
        let total = components.t().dot(&components) / n as f64;
        let (z, by_groups) = (components.clone(), components.clone());
        Ok(Space { components, total, z, by_groups, by_answers: false })
    }

    /// Learns the first metric: a Gaussian mixture with one scatter for all its groups.
    pub(super) fn learn_alone(
        &mut self,
        groups: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<()> {
        let options = KMeansOptions::new(groups).restarts(2).seed(seed);
        let found = kmeans::fit(self.components.view(), None, &options, observer)?;
        let groups = found.centres.nrows();
        let mut q = one_hot(&found.assignment, groups);
        for _ in 0..MIXTURE {
            observer.check()?;
            let (means, sizes) = means(self.components.view(), &q);
            self.z = self.components.dot(&self.map(&means, &sizes, false)).into_shared();
            let centres = means.dot(&self.map(&means, &sizes, false));
            let shares = &sizes / self.components.nrows() as f64;
            q = memberships(self.z.view(), centres.view(), shares.view(), 1.0);
        }
        let (means, sizes) = means(self.components.view(), &q);
        self.place(&means, &sizes);
        Ok(())
    }

    /// Forgets the metric of answers.
    pub(super) fn forget_answers(&mut self) {
        (self.z, self.by_answers) = (self.by_groups.clone(), false);
    }

    /// Learns the metric from groups of objects that are taken to belong together.
    pub(super) fn learn(&mut self, labels: &[u32], groups: usize) {
        let (means, sizes) = means(self.components.view(), &one_hot(labels, groups));
        self.place(&means, &sizes);
    }

    /// Learns the metric from pairs of objects, each with the probability that it is together: half
    /// the mean square of their differences is the scatter within groups.
    pub(super) fn learn_pairs(&mut self, pairs: &[(usize, usize, f64)]) {
        let all: f64 = pairs.iter().map(|pair| pair.2).sum();
        let mut between = self.total.clone();
        for pairs in pairs.chunks(PAIRS) {
            let mut differences = Array2::zeros((pairs.len(), self.components.ncols()));
            for (mut row, &(i, j, together)) in differences.rows_mut().into_iter().zip(pairs) {
                row.assign(&(&self.components.row(i) - &self.components.row(j)));
                row *= (0.5 * together / all).sqrt();
            }
            between -= &differences.t().dot(&differences);
        }
        self.place_by(&self.directions(&between, all, true));
        self.by_answers = true;
    }

    /// Leading components, n x p, of mean 0.
    pub(super) fn components(&self) -> ArrayView2<'_, f64> {
        self.components.view()
    }

    fn place(&mut self, means: &Array2<f64>, sizes: &Array1<f64>) {
        self.place_by(&self.map(means, sizes, true));
        (self.by_groups, self.by_answers) = (self.z.clone(), false);
    }

    fn place_by(&mut self, map: &Array2<f64>) {
        self.z = self.components.dot(map).as_standard_layout().into_owned().into_shared();
    }

    /// As [`directions`](Space::directions), of groups by their means and sizes.
    fn map(&self, means: &Array2<f64>, sizes: &Array1<f64>, weighed: bool) -> Array2<f64> {
        let n = self.components.nrows() as f64;
        let mut scaled = means.clone();
        for (mut row, size) in scaled.rows_mut().into_iter().zip(sizes) {
            row *= (size / n).sqrt();
        }
        self.directions(&scaled.t().dot(&scaled), n, weighed)
    }

    /// Directions in which groups differ, each in units of the deviation within groups; `weighed`
    /// by how much of the variance is between groups, which `count` observations tell. The
    /// components as they are where there is no variance.
    fn directions(&self, between: &Array2<f64>, count: f64, weighed: bool) -> Array2<f64> {
        let p = self.components.ncols();
        let shrinkage = (p as f64 / count).clamp(SHRINKAGE.0, SHRINKAGE.1);
        let mut within = &self.total - between;
        let mean = (within.diag().sum() / p as f64).max(1e-12);
        within *= 1.0 - shrinkage;
        within.diag_mut().mapv_inplace(|v| v + shrinkage * mean);
        let Some(inner) = symmetric_eigen(within.view()) else { return Array2::eye(p) };
        let mut white = inner.vectors;
        for (mut column, value) in white.columns_mut().into_iter().zip(&inner.values) {
            column /= value.max(1e-9 * mean).sqrt();
        }
        let turned = white.t().dot(between).dot(&white);
        let Some(outer) = symmetric_eigen(turned.view()) else { return white };
        let mut map = white.dot(&outer.vectors.slice(s![.., ..DIRECTIONS.min(p)]));
        if weighed && outer.values.first().is_some_and(|&v| v > 1e-9) {
            for (mut column, &b) in map.columns_mut().into_iter().zip(&outer.values) {
                column *= (b.max(0.0) / (b.max(0.0) + HALF)).sqrt();
            }
        }
        map
    }
}

/// Memberships of 0 and 1.
pub(super) fn one_hot(labels: &[u32], groups: usize) -> Array2<f64> {
    let mut q = Array2::zeros((labels.len(), groups));
    labels.iter().enumerate().for_each(|(i, &c)| q[[i, c as usize]] = 1.0);
    q
}

/// Means of the rows by their memberships, and how much of them each has.
pub(super) fn means(x: ArrayView2<'_, f64>, q: &Array2<f64>) -> (Array2<f64>, Array1<f64>) {
    let sizes = q.sum_axis(Axis(0)).mapv(|v| v.max(1e-9));
    let mut means = q.t().dot(&x);
    for (mut row, size) in means.rows_mut().into_iter().zip(&sizes) {
        row /= *size;
    }
    (means, sizes)
}

/// Memberships of the rows in Gaussians of variance `1 / sharpness` around the centres.
pub(super) fn memberships(
    z: ArrayView2<'_, f64>,
    centres: ArrayView2<'_, f64>,
    shares: ArrayView1<'_, f64>,
    sharpness: f64,
) -> Array2<f64> {
    let offsets: Vec<f64> = centres
        .rows()
        .into_iter()
        .zip(shares)
        .map(|(c, share)| share.max(1e-300).ln() - 0.5 * sharpness * c.dot(&c))
        .collect();
    let mut q = z.dot(&centres.t());
    for mut row in q.rows_mut() {
        row.iter_mut().zip(&offsets).for_each(|(v, offset)| *v = sharpness * *v + offset);
        let most = row.fold(f64::NEG_INFINITY, |m, &v| m.max(v));
        row.mapv_inplace(|v| (v - most).exp());
        row.mapv_inplace(|v| if v < LEAST { 0.0 } else { v });
        let sum = row.sum();
        row /= sum;
    }
    q
}
