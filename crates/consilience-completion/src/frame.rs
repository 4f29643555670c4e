//! The features in the unit that a basis is made in.

use consilience_core::Dense;
#[cfg(feature = "serde")]
use consilience_core::{Error, Result, stored::Parts};
use consilience_num::reduce::ordered_chunks;
use ndarray::Array2;

/// Rows whose sums are taken together.
const ROWS: usize = 4096;
/// A column that spreads less than this share of its size is constant.
const SPREAD: f64 = 1e-12;
/// The power of two that the largest numbers have where distances are wanted, so that those between
/// numbers 1e200 times smaller have squares, too.
const FOR_DISTANCES: i32 = 200;
/// Numbers of new rows beyond this, in the unit, are taken for it: their squares have a place.
const LARGEST: f64 = 1e135;

/// Mean and factor of every column.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    unit: Vec<f64>,
    mean: Vec<f64>,
    factor: Vec<f64>,
}

impl Frame {
    /// Every column less its mean and over its standard deviation; constant columns become 0.
    pub(crate) fn standardized(features: &Dense<'_>) -> (Self, Array2<f64>) {
        let mut x = table(features);
        let n = x.nrows() as f64;
        let mut largest = vec![0.0f64; x.ncols()];
        for row in x.rows() {
            largest.iter_mut().zip(row).for_each(|(l, v)| *l = l.max(v.abs()));
        }
        // Powers of two, so that squares neither overflow nor vanish and nothing is rounded.
        let unit: Vec<f64> = largest.into_iter().map(|l| power_of_two(l, 0)).collect();
        scale(&mut x, &unit);
        let mean: Vec<f64> = column_sums(&x, |_, v| v).into_iter().map(|s| s / n).collect();
        let square = column_sums(&x, |j, v| (v - mean[j]) * (v - mean[j]));
        let factor: Vec<f64> = square
            .into_iter()
            .map(|s| (s / n).sqrt())
            .map(|sd| if sd > SPREAD { 1.0 / sd } else { 0.0 })
            .collect();
        let frame = Frame { unit, mean, factor };
        frame.finish(&mut x);
        (frame, x)
    }

    /// The table as it is, but for a power of two.
    pub(crate) fn raw(features: &Dense<'_>) -> (Self, Array2<f64>) {
        Self::as_it_is(features, 0)
    }

    /// The same for distances between rows that are much smaller than others.
    pub(crate) fn for_distances(features: &Dense<'_>) -> (Self, Array2<f64>) {
        Self::as_it_is(features, FOR_DISTANCES)
    }

    fn as_it_is(features: &Dense<'_>, power: i32) -> (Self, Array2<f64>) {
        let mut x = table(features);
        let d = x.ncols();
        let unit = power_of_two(x.iter().fold(0.0f64, |m, v| m.max(v.abs())), power);
        x *= unit;
        (Frame { unit: vec![unit; d], mean: vec![0.0; d], factor: vec![1.0; d] }, x)
    }

    pub(crate) fn n_features(&self) -> usize {
        self.mean.len()
    }

    #[cfg(feature = "serde")]
    pub(crate) fn stored(&self, parts: Parts) -> Parts {
        let rows = [("unit", &self.unit), ("mean", &self.mean), ("factor", &self.factor)];
        rows.into_iter().fold(parts, |parts, (name, row)| parts.row(name, row.iter().copied()))
    }

    #[cfg(feature = "serde")]
    pub(crate) fn restored(parts: &mut Parts) -> Result<Self> {
        let unit = parts.take_row("unit")?;
        let (mean, factor) = (parts.take_row("mean")?, parts.take_row("factor")?);
        let d = mean.len();
        if d == 0 || unit.len() != d || factor.len() != d {
            return Err(Error::shape(format!(
                "{} units, {d} means and {} factors; expected as many of each",
                unit.len(),
                factor.len()
            )));
        }
        Ok(Frame { unit, mean, factor })
    }

    pub(crate) fn apply(&self, features: &Dense<'_>) -> Array2<f64> {
        let mut x = table(features);
        scale(&mut x, &self.unit);
        self.finish(&mut x);
        x
    }

    fn finish(&self, x: &mut Array2<f64>) {
        for mut row in x.rows_mut() {
            for ((v, mean), factor) in row.iter_mut().zip(&self.mean).zip(&self.factor) {
                *v = (*v - mean) * factor;
            }
        }
    }
}

fn table(features: &Dense<'_>) -> Array2<f64> {
    match features {
        Dense::F32(x) => x.mapv(f64::from),
        Dense::F64(x) => x.as_standard_layout().to_owned(),
    }
    .as_standard_layout()
    .into_owned()
}

fn scale(x: &mut Array2<f64>, by: &[f64]) {
    for mut row in x.rows_mut() {
        row.iter_mut().zip(by).for_each(|(v, b)| *v = (*v * b).clamp(-LARGEST, LARGEST));
    }
}

/// The power of two that brings `largest` to about `2^power`; 1 for 0.
fn power_of_two(largest: f64, power: i32) -> f64 {
    if largest > 0.0 { 2f64.powi((power - largest.log2() as i32).clamp(-1000, 1000)) } else { 1.0 }
}

fn column_sums(x: &Array2<f64>, f: impl Fn(usize, f64) -> f64 + Sync) -> Vec<f64> {
    let d = x.ncols();
    let part = |rows: std::ops::Range<usize>| {
        let mut sums = vec![0.0; d];
        for i in rows {
            sums.iter_mut().zip(x.row(i)).enumerate().for_each(|(j, (s, &v))| *s += f(j, v));
        }
        sums
    };
    ordered_chunks(x.nrows(), ROWS, part, vec![0.0; d], |mut total, part| {
        total.iter_mut().zip(&part).for_each(|(t, p)| *t += p);
        total
    })
}
