//! Features in the unit of their own spread, and back.

use consilience_core::{Dense, Observer, Pace, Result, room};
use consilience_num::rows::narrowed;
use ndarray::{Array2, Axis};

use crate::LinearMap;

/// Deviations below this share of the largest entry of a column are rounding: the column is
/// constant.
const CONSTANT: f64 = 1e-12;
/// What standardizing a number takes, in multiplications: passes over columns wait for memory.
const PASSES: usize = 32;

/// The features that vary, centred and each divided by its deviation (or all by one number), with
/// the factors. What is learned from them has no place for the others: not in a mean over the
/// features, nor in their number.
pub(crate) struct Standard {
    /// n x the features that vary; a column of zeros where none does.
    pub z: Array2<f64>,
    /// Their numbers, ascending.
    varying: Vec<usize>,
    /// `z = (x - mean) * factor`, feature by feature; 0 for a constant one.
    factor: Vec<f64>,
}

impl Standard {
    /// With `each`, every column gets deviation 1; without, all are divided by the root of the mean
    /// variance, which keeps their proportions. A constant column has weight 0 in every map.
    pub(crate) fn new(features: &Dense<'_>, each: bool, observer: &dyn Observer) -> Result<Self> {
        let mut z = features.to_f64()?;
        let n = z.nrows() as f64;
        let (mut pace, passes) = (Pace::new(observer), PASSES.saturating_mul(z.nrows()));
        let mut factor = Vec::with_capacity(z.ncols());
        let mut spread = Vec::with_capacity(z.ncols());
        // A power of two that brings a column to about 1, so that no square overflows or vanishes.
        for mut column in z.axis_iter_mut(Axis(1)) {
            pace.work(passes)?;
            let largest = column.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let unit = if largest > 0.0 {
                2f64.powi(-(largest.log2() as i32).clamp(-1000, 1000))
            } else {
                1.0
            };
            column.mapv_inplace(|v| v * unit);
            let first = column.first().copied().unwrap_or(0.0);
            let same = column.iter().all(|&v| v == first);
            // The mean of very many rows is off by the rounding of its sum: what is left of it goes
            // with the mean of the differences.
            for _ in 0..2 {
                let mean = column.sum() / n;
                column.mapv_inplace(|v| v - mean);
            }
            let deviation = (column.dot(&column) / n).sqrt();
            let constant = same || deviation <= CONSTANT * largest * unit;
            spread.push(if constant { 0.0 } else { deviation });
            factor.push(unit);
        }
        let common = if each { None } else { Some(common_deviation(&spread, &factor)) };
        for ((mut column, factor), &s) in z.axis_iter_mut(Axis(1)).zip(&mut factor).zip(&spread) {
            pace.work(passes / 4)?;
            let by = match common {
                _ if s == 0.0 => 0.0,
                None => 1.0 / s,
                // In the column's own unit, so that the quotient stays finite.
                Some(common) => 1.0 / (common * *factor),
            };
            let by = if by.is_finite() { by } else { 0.0 };
            column.mapv_inplace(|v| v * by);
            *factor *= by;
        }
        let mut varying: Vec<usize> = (0..factor.len()).filter(|&j| factor[j] != 0.0).collect();
        if varying.is_empty() {
            varying.push(0);
        }
        pace.work(z.len())?;
        z = narrowed(z, &varying);
        Ok(Standard { z, varying, factor })
    }

    /// The map on plain features, from one on standard ones.
    pub(crate) fn map(&self, l: Array2<f64>) -> Result<LinearMap> {
        let mut all = room::table(l.nrows(), self.factor.len())?;
        for (column, &j) in l.columns().into_iter().zip(&self.varying) {
            all.column_mut(j).zip_mut_with(&column, |a, v| *a = v * self.factor[j]);
        }
        LinearMap::learned(all)
    }

    /// The standard features themselves, by a diagonal map: what learners give where there is
    /// nothing to learn, whatever the number of features.
    pub(crate) fn alone(&self) -> Result<LinearMap> {
        LinearMap::learned_diagonal(&self.factor)
    }

    /// The diagonal map on plain features, from weights on standard ones.
    pub(crate) fn weights(&self, of_varying: &[f64]) -> Result<LinearMap> {
        let mut w = vec![0.0; self.factor.len()];
        self.varying.iter().zip(of_varying).for_each(|(&j, v)| w[j] = *v);
        let plain: Vec<f64> = w.iter().zip(&self.factor).map(|(w, f)| w * f * f).collect();
        if plain.iter().zip(&w).zip(&self.factor).any(|((p, w), f)| w * f > 0.0 && !p.is_normal()) {
            // Squares of very small or large units leave the range of numbers, their roots do not.
            let roots: Vec<f64> = w.iter().zip(&self.factor).map(|(w, f)| w.sqrt() * f).collect();
            return LinearMap::learned_diagonal(&roots);
        }
        match plain.iter().any(|w| !w.is_finite()) {
            true => LinearMap::learned_diagonal(&plain),
            false => LinearMap::from_weights(&plain),
        }
    }
}

/// Root of the mean variance over the columns that vary, in plain units.
fn common_deviation(spread: &[f64], unit: &[f64]) -> f64 {
    let plain: Vec<f64> =
        spread.iter().zip(unit).filter(|(s, _)| **s > 0.0).map(|(s, u)| s / u).collect();
    let largest = plain.iter().fold(0.0f64, |m, v| m.max(*v));
    if largest == 0.0 {
        return 1.0;
    }
    largest
        * (plain.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>() / plain.len() as f64)
            .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn maps_reproduce_the_standard_features() {
        let x = array![[1e200, 3.0, -1.0], [3e200, 3.0, 2.0], [2e200, 3.0, 7.0]];
        for each in [true, false] {
            let s = Standard::new(&x.view().into(), each, &()).unwrap();
            assert!(s.z.iter().all(|v| v.is_finite()));
            assert_eq!(s.varying, [0, 2]);
            let y = s.map(Array2::eye(2)).unwrap().apply(x.view()).unwrap();
            for i in 0..3 {
                for j in 0..2 {
                    let (a, b) = (y[[i, j]] - y[[0, j]], s.z[[i, j]] - s.z[[0, j]]);
                    assert!((a - b).abs() < 1e-12, "{each} {i} {j}: {a} {b}");
                }
            }
            let w = s.weights(&[4.0, 4.0]).unwrap().apply(x.view()).unwrap();
            assert_eq!(w[[0, 1]], 0.0);
            assert!((w[[1, 0]] - w[[0, 0]] - 2.0 * (y[[1, 0]] - y[[0, 0]])).abs() < 1e-12);
            assert!((w[[1, 2]] - w[[0, 2]] - 2.0 * (y[[1, 1]] - y[[0, 1]])).abs() < 1e-12);
        }
        let each = Standard::new(&x.view().into(), true, &()).unwrap().z;
        assert!((each.column(1).dot(&each.column(1)) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn very_many_rows_do_not_make_a_constant_vary() {
        let n = 300_000;
        // The last column's deviation is near the rounding of a sum of so many.
        let x = Array2::from_shape_fn((n, 3), |(i, j)| match j {
            0 => 0.1,
            1 => i as f64,
            _ => 0.1 + 1e-11 * (i % 2) as f64,
        });
        for each in [true, false] {
            let s = Standard::new(&x.view().into(), each, &()).unwrap();
            assert_eq!((s.factor[0], &s.varying[..]), (0.0, &[1, 2][..]));
        }
        let z = Standard::new(&x.view().into(), true, &()).unwrap().z;
        for j in [0, 1] {
            assert!(z.column(j).sum().abs() < 1e-6 * n as f64, "{}", z.column(j).sum());
            assert!((z.column(j).dot(&z.column(j)) / n as f64 - 1.0).abs() < 1e-9);
        }
    }
}
