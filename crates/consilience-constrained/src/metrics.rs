//! Metrics with their volume, as MPCK-Means fits them: one of the clusters' or one for all.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "serde")]
use consilience_core::stored::Parts;
use consilience_core::{Error, Observer, Pace, Result, Stop, room};
pub(crate) use consilience_num::eigen::{EIGEN_SQUARES as EIGEN, scatter_eigen as eigenpairs};
use consilience_num::product::{across, times};
use consilience_num::reduce::each_chunk;
use consilience_num::rows::differences;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Zip};

use crate::frame::CHUNK;

/// A positive definite A with its logarithmic determinant.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    kind: Kind,
    pub log_det: f64,
}

#[derive(Clone, Debug)]
enum Kind {
    Diagonal(Array1<f64>),
    /// L with A = L' L.
    Full(Array2<f64>),
}

/// A sum of outer products v v', or of its diagonal alone.
#[derive(Debug)]
pub(crate) enum Scatter {
    Diagonal(Array1<f64>),
    Full(Array2<f64>),
}

impl Scatter {
    pub(crate) fn zero(d: usize, full: bool) -> Result<Self> {
        Ok(if full {
            Scatter::Full(room::table(d, d)?)
        } else {
            Scatter::Diagonal(Array1::zeros(d))
        })
    }

    /// A copy.
    pub(crate) fn copied(&self) -> Result<Self> {
        Ok(match self {
            Scatter::Diagonal(s) => Scatter::Diagonal(s.clone()),
            Scatter::Full(s) => Scatter::Full(room::copied_table(s.view())?),
        })
    }

    /// What adding a row takes, in multiplications.
    pub(crate) fn work(&self) -> usize {
        match self {
            Scatter::Diagonal(s) => s.len(),
            Scatter::Full(s) => s.len(),
        }
    }

    /// Adds `by` times v v'.
    pub(crate) fn add(&mut self, v: ArrayView1<'_, f64>, by: f64) {
        match self {
            Scatter::Diagonal(s) => Zip::from(s).and(v).for_each(|s, v| *s += by * v * v),
            Scatter::Full(s) => {
                for (mut row, &a) in s.rows_mut().into_iter().zip(v) {
                    row.scaled_add(by * a, &v);
                }
            }
        }
    }

    /// Adds `by` times the sum of r r' over the rows.
    fn add_rows(
        &mut self,
        rows: ArrayView2<'_, f64>,
        by: f64,
        observer: &dyn Observer,
    ) -> Result<()> {
        match self {
            Scatter::Diagonal(_) => rows.rows().into_iter().for_each(|r| self.add(r, by)),
            Scatter::Full(s) => s.scaled_add(by, &across(rows, rows, observer)?),
        }
        Ok(())
    }

    /// Adds `by` times another.
    pub(crate) fn plus(&mut self, other: &Scatter, by: f64) {
        match (self, other) {
            (Scatter::Diagonal(a), Scatter::Diagonal(b)) => a.scaled_add(by, b),
            (Scatter::Full(a), Scatter::Full(b)) => a.scaled_add(by, b),
            _ => {}
        }
    }

    /// Adds numbers to the diagonal.
    pub(crate) fn plus_diagonal(&mut self, values: &Array1<f64>, by: f64) {
        match self {
            Scatter::Diagonal(s) => s.scaled_add(by, values),
            Scatter::Full(s) => Zip::from(s.diag_mut()).and(values).for_each(|s, v| *s += by * v),
        }
    }

    /// `weight` times the inverse; directions of less than `floor` of the largest spread count as
    /// that, with every feature in the unit of its own variance, so that none is small by its unit.
    pub(crate) fn inverse(
        &self,
        weight: f64,
        variance: &Array1<f64>,
        floor: f64,
        observer: &dyn Observer,
    ) -> Result<Metric> {
        match self {
            Scatter::Diagonal(s) => {
                let largest = s.iter().zip(variance).fold(0.0f64, |m, (s, v)| m.max(s / v));
                let least = variance.mapv(|v| (floor * largest * v).max(f64::MIN_POSITIVE.sqrt()));
                let a = Zip::from(s).and(&least).map_collect(|s, least| weight / s.max(*least));
                Ok(Metric { log_det: a.iter().map(|a| a.ln()).sum(), kind: Kind::Diagonal(a) })
            }
            Scatter::Full(s) => {
                let root = variance.mapv(f64::sqrt);
                let mut scaled = room::copied_table(s.view())?;
                for (mut row, &r) in scaled.rows_mut().into_iter().zip(&root) {
                    Zip::from(&mut row).and(&root).for_each(|v, other| *v = *v / r / other);
                }
                let eigen = eigenpairs(scaled.view(), observer)?;
                drop(scaled);
                let least = floor * eigen.values.first().copied().unwrap_or(0.0).max(0.0);
                // In the order of the columns, which later sums follow.
                let mut l = eigen.vectors.reversed_axes();
                let mut log_det = -variance.iter().map(|v| v.ln()).sum::<f64>();
                for (mut row, &v) in l.rows_mut().into_iter().zip(&eigen.values) {
                    let a = weight / v.max(least).max(f64::MIN_POSITIVE.sqrt());
                    row *= a.sqrt();
                    row /= &root;
                    log_det += a.ln();
                }
                Ok(Metric { kind: Kind::Full(l), log_det })
            }
        }
    }
}

#[cfg(feature = "serde")]
impl Metric {
    /// Its table under a name with its number.
    pub(crate) fn stored(&self, number: usize, parts: Parts) -> Parts {
        match &self.kind {
            Kind::Diagonal(a) => parts.row(&format!("diagonal {number}"), a.iter().copied()),
            Kind::Full(l) => parts.table(&format!("matrix {number}"), l),
        }
    }

    pub(crate) fn restored(
        number: usize,
        log_det: f64,
        d: usize,
        parts: &mut Parts,
    ) -> Result<Self> {
        let (diagonal, matrix) = (format!("diagonal {number}"), format!("matrix {number}"));
        let kind = if parts.has(&diagonal) {
            let a = parts.take_row(&diagonal)?;
            crate::stored::check_length(&diagonal, a.len(), d)?;
            Kind::Diagonal(Array1::from(a))
        } else {
            let l = parts.take_table(&matrix)?;
            crate::stored::check_table(&matrix, l.dim(), d)?;
            Kind::Full(l)
        };
        Ok(Metric { kind, log_det })
    }
}

impl Metric {
    pub(crate) fn diagonal(a: Array1<f64>) -> Self {
        Metric { log_det: a.iter().map(|a| a.ln()).sum(), kind: Kind::Diagonal(a) }
    }

    /// v' A v.
    pub(crate) fn square(&self, v: ArrayView1<'_, f64>) -> f64 {
        match &self.kind {
            Kind::Diagonal(a) => Zip::from(a).and(v).fold(0.0, |s, a, v| s + a * v * v),
            Kind::Full(l) => l.rows().into_iter().map(|row| row.dot(&v).powi(2)).sum(),
        }
    }

    /// v' A v of every row.
    pub(crate) fn squares(
        &self,
        rows: ArrayView2<'_, f64>,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>> {
        match &self.kind {
            Kind::Diagonal(_) => room::collected(rows.rows().into_iter().map(|r| self.square(r))),
            Kind::Full(l) => {
                let mapped = times(rows, l.t(), observer)?;
                room::collected(mapped.rows().into_iter().map(|r| r.dot(&r)))
            }
        }
    }

    /// v' A v of the differences v of pairs of rows, some at a time.
    pub(crate) fn squares_between(
        &self,
        x: ArrayView2<'_, f64>,
        pairs: &[(usize, usize)],
        observer: &dyn Observer,
    ) -> Result<Vec<f64>> {
        let mut all = room::with_capacity(pairs.len())?;
        for some in pairs.chunks((AT_ONCE / x.ncols().max(1)).clamp(1, CHUNK)) {
            let apart = differences(x, some, observer)?;
            all.extend(self.squares(apart.view(), observer)?);
        }
        Ok(all)
    }

    /// What v' A v takes, in multiplications.
    pub(crate) fn work(&self) -> usize {
        match &self.kind {
            Kind::Diagonal(a) => a.len(),
            Kind::Full(l) => l.len(),
        }
    }

    /// tr(A S).
    pub(crate) fn inner(&self, s: &Scatter, observer: &dyn Observer) -> Result<f64> {
        Ok(match (&self.kind, s) {
            (Kind::Diagonal(a), Scatter::Diagonal(s)) => a.dot(s),
            (Kind::Diagonal(a), Scatter::Full(s)) => a.dot(&s.diag()),
            (Kind::Full(_), Scatter::Diagonal(s)) => self.trace(s),
            (Kind::Full(l), Scatter::Full(s)) => {
                let mut product = times(l.view(), s.view(), observer)?;
                product *= l;
                product.sum()
            }
        })
    }

    /// tr(A S) for S diagonal.
    pub(crate) fn trace(&self, s: &Array1<f64>) -> f64 {
        match &self.kind {
            Kind::Diagonal(a) => a.dot(s),
            Kind::Full(l) => l
                .rows()
                .into_iter()
                .map(|r| Zip::from(r).and(s).fold(0.0, |t, l, s| t + l * l * s))
                .sum(),
        }
    }
}

/// Numbers of the differences that are made at a time.
const AT_ONCE: usize = 1 << 18;

/// `|x_i - mu_h|^2_(A_h) - log det A_h` for all i and h, n x k, into a table; one metric serves all
/// where one is given.
pub(crate) fn costs(
    x: ArrayView2<'_, f64>,
    centres: ArrayView2<'_, f64>,
    metrics: &[Metric],
    out: &mut Array2<f64>,
    observer: &dyn Observer,
) -> Result<()> {
    let (k, stop) = (centres.nrows(), Stop::new(observer));
    let failed = Mutex::new(None);
    let some = |c: usize, out: &mut [f64]| -> Result<()> {
        let first = c * CHUNK;
        let part = x.slice(ndarray::s![first..first + out.len() / k, ..]);
        let mut apart = room::table(part.nrows(), part.ncols())?;
        let mut pace = Pace::new(&stop);
        for h in 0..k {
            let metric = &metrics[h.min(metrics.len() - 1)];
            pace.work(part.nrows().saturating_mul(metric.work()))?;
            Zip::from(apart.rows_mut()).and(part.rows()).for_each(|mut apart, row| {
                apart.assign(&row);
                apart -= &centres.row(h);
            });
            let squares = metric.squares(apart.view(), &stop)?;
            for (row, square) in out.chunks_exact_mut(k).zip(squares) {
                row[h] = square - metric.log_det;
            }
        }
        Ok(())
    };
    each_chunk(out.as_slice_mut().unwrap_or_default(), CHUNK * k, &|c, out| {
        if let Err(e) = some(c, out) {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
        }
    });
    stop.check()?;
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Scatter of the rows of some clusters around their centres, added up cluster by cluster.
pub(crate) fn scatter(
    x: ArrayView2<'_, f64>,
    members: &[Vec<u32>],
    centres: ArrayView2<'_, f64>,
    clusters: impl Iterator<Item = usize>,
    full: bool,
    observer: &dyn Observer,
) -> Result<Scatter> {
    let mut sum = Scatter::zero(x.ncols(), full)?;
    let mut pace = Pace::new(observer);
    for h in clusters {
        let mut own = Scatter::zero(x.ncols(), full)?;
        for part in members[h].chunks(CHUNK) {
            pace.work(part.len().saturating_mul(x.ncols()))?;
            let mut rows = room::table(part.len(), x.ncols())?;
            for (mut row, &i) in rows.rows_mut().into_iter().zip(part) {
                row.assign(&x.row(i as usize));
                row -= &centres.row(h);
            }
            own.add_rows(rows.view(), 1.0, observer)?;
        }
        sum.plus(&own, 1.0);
    }
    Ok(sum)
}

/// The extremes of every feature, and the object farthest from the mean with the one farthest from
/// that; each pair once.
pub(crate) fn far_pairs(
    x: ArrayView2<'_, f64>,
    observer: &dyn Observer,
) -> Result<Vec<(usize, usize)>> {
    let (mut out, mut known, mut pace) = (Vec::new(), HashSet::new(), Pace::new(observer));
    let mut add = |(i, j): (usize, usize)| match known.insert((i.min(j), i.max(j))) {
        true => room::push(&mut out, (i, j)),
        false => Ok(()),
    };
    for c in x.axis_iter(Axis(1)) {
        // Every number has to be fetched.
        pace.work(c.len().saturating_mul(8))?;
        add((0..c.len()).fold((0, 0), |(lo, hi), i| {
            (if c[i] < c[lo] { i } else { lo }, if c[i] > c[hi] { i } else { hi })
        }))?;
    }
    let mut farthest = |from: &Array1<f64>| {
        let mut best = (-1.0, 0);
        for (i, row) in x.rows().into_iter().enumerate() {
            pace.work(row.len())?;
            let apart = &row - from;
            let square = apart.dot(&apart);
            if square > best.0 {
                best = (square, i);
            }
        }
        Ok::<_, Error>(best.1)
    };
    let one = farthest(&Array1::zeros(x.ncols()))?;
    add((one, farthest(&x.row(one).to_owned())?))?;
    Ok(out)
}
