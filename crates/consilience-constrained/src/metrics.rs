//! Metrics with their volume, as MPCK-Means fits them: one of the clusters' or one for all.

#[cfg(feature = "serde")]
use consilience_core::stored::Parts;
use consilience_core::{Error, Result};
use consilience_num::eigen::{SymmetricEigen, symmetric_eigen};
use consilience_num::reduce::ordered_chunks;
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
#[derive(Clone, Debug)]
pub(crate) enum Scatter {
    Diagonal(Array1<f64>),
    Full(Array2<f64>),
}

impl Scatter {
    pub(crate) fn zero(d: usize, full: bool) -> Self {
        if full {
            Scatter::Full(Array2::zeros((d, d)))
        } else {
            Scatter::Diagonal(Array1::zeros(d))
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
    fn add_rows(&mut self, rows: ArrayView2<'_, f64>, by: f64) {
        match self {
            Scatter::Diagonal(_) => rows.rows().into_iter().for_each(|r| self.add(r, by)),
            Scatter::Full(s) => s.scaled_add(by, &rows.t().dot(&rows)),
        }
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
                let mut scaled = s.clone();
                for (mut row, &r) in scaled.rows_mut().into_iter().zip(&root) {
                    Zip::from(&mut row).and(&root).for_each(|v, other| *v = *v / r / other);
                }
                let eigen = eigenpairs(scaled.view())?;
                let least = floor * eigen.values.first().copied().unwrap_or(0.0).max(0.0);
                let mut l = eigen.vectors.t().to_owned();
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
    pub(crate) fn squares(&self, rows: ArrayView2<'_, f64>) -> Vec<f64> {
        match &self.kind {
            Kind::Diagonal(_) => rows.rows().into_iter().map(|r| self.square(r)).collect(),
            Kind::Full(l) => rows.dot(&l.t()).rows().into_iter().map(|r| r.dot(&r)).collect(),
        }
    }

    /// tr(A S).
    pub(crate) fn inner(&self, s: &Scatter) -> f64 {
        match (&self.kind, s) {
            (Kind::Diagonal(a), Scatter::Diagonal(s)) => a.dot(s),
            (Kind::Diagonal(a), Scatter::Full(s)) => a.dot(&s.diag()),
            (Kind::Full(_), Scatter::Diagonal(s)) => self.trace(s),
            (Kind::Full(l), Scatter::Full(s)) => (&l.dot(s) * l).sum(),
        }
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

/// `|x_i - mu_h|^2_(A_h) - log det A_h` for all i and h, n x k; one metric serves all where one is
/// given.
pub(crate) fn costs(
    x: ArrayView2<'_, f64>,
    centres: ArrayView2<'_, f64>,
    metrics: &[Metric],
) -> Array2<f64> {
    let k = centres.nrows();
    let values = ordered_chunks(
        x.nrows(),
        CHUNK,
        |rows| {
            let part = x.slice(ndarray::s![rows, ..]);
            let mut out = Array2::zeros((part.nrows(), k));
            for h in 0..k {
                let metric = &metrics[h.min(metrics.len() - 1)];
                let apart = &part - &centres.row(h);
                for (o, s) in out.column_mut(h).iter_mut().zip(metric.squares(apart.view())) {
                    *o = s - metric.log_det;
                }
            }
            out.into_raw_vec_and_offset().0
        },
        Vec::with_capacity(x.nrows() * k),
        |mut all, part| {
            all.extend(part);
            all
        },
    );
    Array2::from_shape_vec((x.nrows(), k), values).unwrap_or_else(|_| Array2::zeros((x.nrows(), k)))
}

/// Scatter of the rows of every cluster around its centre.
pub(crate) fn scatters(
    x: ArrayView2<'_, f64>,
    labels: &[u32],
    centres: ArrayView2<'_, f64>,
    full: bool,
) -> Vec<Scatter> {
    let k = centres.nrows();
    let mut members = vec![Vec::new(); k];
    labels.iter().enumerate().for_each(|(i, &l)| members[l as usize].push(i));
    members
        .iter()
        .enumerate()
        .map(|(h, members)| {
            let mut sum = Scatter::zero(x.ncols(), full);
            for part in members.chunks(CHUNK) {
                let rows = x.select(Axis(0), part) - centres.row(h);
                sum.add_rows(rows.view(), 1.0);
            }
            sum
        })
        .collect()
}

/// Eigenpairs, or the error that there are none.
pub(crate) fn eigenpairs(s: ArrayView2<'_, f64>) -> Result<SymmetricEigen> {
    symmetric_eigen(s)
        .ok_or_else(|| Error::invalid("a scatter matrix of the features has no eigenpairs"))
}
