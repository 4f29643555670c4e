//! Rows of features: squared distances between them, in double precision whatever the rows come in.
//!
//! The columns of a row are summed in eight lanes that are joined in a fixed order, so that the
//! compiler can use vectors of any width and the bits stay the same.

use consilience_core::{Dense, Observer, Pace, Result, room, with_rows};
use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::Float;
use crate::place::Place;

const LANES: usize = 8;

/// Entries beyond this, or all below its inverse, are scaled before they are squared.
const LARGE: f64 = 1e140;

/// `|x - c|^2`. Differences of single-precision entries are exact, and none overflows.
#[inline(always)]
pub fn squared<A: Float, B: Float>(x: &[A], c: &[B]) -> f64 {
    let mut sums = [0.0; LANES];
    let ((x, x_rest), (c, c_rest)) = (x.as_chunks::<LANES>(), c.as_chunks::<LANES>());
    for (x, c) in x.iter().zip(c) {
        for l in 0..LANES {
            let diff = x[l].to_f64() - c[l].to_f64();
            sums[l] += diff * diff;
        }
    }
    for ((sum, x), c) in sums.iter_mut().zip(x_rest).zip(c_rest) {
        let diff = x.to_f64() - c.to_f64();
        *sum += diff * diff;
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Features that can be squared: as they came, or in a [`Place`] where their squares are in range.
#[derive(Debug)]
pub struct Scaled<'a> {
    features: Dense<'a>,
    copy: Option<Array2<f64>>,
    /// Where the rows are. Distances between them are its unit times the true ones.
    pub place: Place,
}

impl<'a> Scaled<'a> {
    /// Checked features are expected.
    pub fn new(features: Dense<'a>) -> Self {
        let place = with_rows!(features, |x| Place::of(x));
        if place.off.is_none() && (1.0 / LARGE..=LARGE).contains(&place.unit) {
            return Scaled { features, copy: None, place: Place::HERE };
        }
        Scaled::like(features, &place)
    }

    /// Other rows in the same place.
    pub fn like(features: Dense<'a>, place: &Place) -> Self {
        let here = place.off.is_none() && place.unit == 1.0;
        let copy = (!here).then(|| with_rows!(features, |x| place.rows(x)));
        Scaled { features, copy, place: place.clone() }
    }

    /// The features, scaled.
    pub fn features(&self) -> Dense<'_> {
        match (&self.copy, self.features) {
            (Some(copy), _) => Dense::F64(copy.view()),
            (None, Dense::F32(x)) => Dense::F32(x.reborrow()),
            (None, Dense::F64(x)) => Dense::F64(x.reborrow()),
        }
    }
}

/// Rows in blocks, one after the other in memory.
#[derive(Debug)]
pub struct Rows<'a, F> {
    view: ArrayView2<'a, F>,
    flat: Option<&'a [F]>,
}

impl<'a, F: Float> Rows<'a, F> {
    /// The rows of a table, in any layout.
    pub fn new(view: ArrayView2<'a, F>) -> Self {
        Rows { view, flat: view.to_slice() }
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.view.nrows()
    }

    /// Number of columns.
    pub fn d(&self) -> usize {
        self.view.ncols()
    }

    /// One row in double precision.
    pub fn row(&self, i: usize) -> Vec<f64> {
        self.view.index_axis(Axis(0), i).iter().map(|v| v.to_f64()).collect()
    }

    /// Runs `with` on rows `first..first + count`.
    #[inline]
    pub fn block<T>(&self, first: usize, count: usize, with: impl FnOnce(&[F]) -> T) -> T {
        match self.flat {
            Some(flat) => with(&flat[first * self.d()..(first + count) * self.d()]),
            None => {
                let part = self.view.slice_axis(Axis(0), (first..first + count).into());
                with(&part.iter().copied().collect::<Vec<F>>())
            }
        }
    }
}

/// One row `x_i - x_j` per pair; asks between rows, in memory that may be refused.
///
/// # Errors
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge),
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
pub fn differences(
    x: ArrayView2<'_, f64>,
    pairs: &[(usize, usize)],
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let mut out = room::table(pairs.len(), x.ncols())?;
    let mut pace = Pace::new(observer);
    for (mut row, &(i, j)) in out.rows_mut().into_iter().zip(pairs) {
        pace.work(x.ncols())?;
        row.assign(&x.row(i));
        row -= &x.row(j);
    }
    Ok(out)
}

/// Some columns of a table, ascending, in its own memory.
pub fn narrowed(x: Array2<f64>, columns: &[usize]) -> Array2<f64> {
    let (n, d) = x.dim();
    if columns.len() == d {
        return x;
    }
    if !x.is_standard_layout() {
        return x.select(Axis(1), columns);
    }
    let (mut values, first) = x.into_raw_vec_and_offset();
    let first = first.unwrap_or(0);
    let mut to = 0;
    for i in 0..n {
        for &j in columns {
            values[to] = values[first + i * d + j];
            to += 1;
        }
    }
    values.truncate(to);
    Array2::from_shape_vec((n, columns.len()), values).unwrap_or_default()
}

/// Mean of some rows; 0 of none.
pub fn mean_row(x: ArrayView2<'_, f64>, some: &[usize]) -> Array1<f64> {
    let mut mean = Array1::zeros(x.ncols());
    for &i in some {
        mean += &x.row(i);
    }
    mean / some.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn table(n: usize, d: usize) -> Array2<f64> {
        Array2::from_shape_fn((n, d), |(i, j)| ((i * 31 + j * 17 + i * i * j) % 23) as f64 - 11.0)
    }

    #[test]
    fn distances_are_exact_on_whole_numbers_of_any_width() {
        for d in [1, 3, 7, 8, 9, 16, 25] {
            let x = table(2, d);
            let plain: f64 = (0..d).map(|j| (x[[0, j]] - x[[1, j]]).powi(2)).sum();
            assert_eq!(squared(x.row(0).as_slice().unwrap(), x.row(1).as_slice().unwrap()), plain);
            let narrow = x.mapv(|v| v as f32);
            assert_eq!(
                squared(narrow.row(0).as_slice().unwrap(), x.row(1).as_slice().unwrap()),
                plain
            );
        }
    }

    #[test]
    fn rows_out_of_range_are_scaled_by_a_power_of_two() {
        let x = table(5, 4);
        for (size, changed) in [(1e-139, false), (1e138, false), (1e-150, true), (1e200, true)] {
            let large = x.mapv(|v| v * size);
            let scaled = Scaled::new(Dense::F64(large.view()));
            let unit = scaled.place.unit;
            assert_eq!(unit != 1.0, changed, "{size:e}");
            assert_eq!(unit.log2().fract(), 0.0, "{size:e}");
            let Dense::F64(rows) = scaled.features() else { panic!("double precision") };
            assert_eq!(rows, large.mapv(|v| v * unit));
            let largest = rows.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            assert!(!changed || (0.5..=1.0).contains(&largest), "{size:e}: {largest}");
            // Others come in the same unit.
            let others = Scaled::like(Dense::F64(large.view()), &scaled.place);
            assert_eq!(others.place.unit, unit);
            assert_eq!(others.features().to_f64().unwrap(), rows);
        }
        let zeros = Array2::zeros((2, 2));
        assert_eq!(Scaled::new(Dense::F64(zeros.view())).place.unit, 1.0);
        let narrow = x.mapv(|v| v as f32 * 1e30);
        let scaled = Scaled::new(Dense::F32(narrow.view()));
        assert_eq!(
            (scaled.place.unit, scaled.features().to_f64().unwrap()),
            (1.0, narrow.mapv(f64::from))
        );
    }

    #[test]
    fn a_constant_column_decides_no_scale() {
        let x = table(5, 4);
        for constant in [1.0, 1e250, -1e300] {
            for size in [1e-170, 1.0, 1e170] {
                let beside = Array2::from_shape_fn((5, 5), |(i, j)| match j {
                    4 => constant,
                    _ => x[[i, j]] * size,
                });
                let scaled = Scaled::new(Dense::F64(beside.view()));
                let rows = scaled.features().to_f64().unwrap();
                let far = squared(rows.row(0).as_slice().unwrap(), rows.row(1).as_slice().unwrap());
                let expected: f64 = (0..4).map(|j| (x[[0, j]] - x[[1, j]]).powi(2)).sum();
                let found = far.sqrt() / scaled.place.unit / size;
                assert!((found - expected.sqrt()).abs() < 1e-12, "{constant:e} {size:e}: {found}");
            }
        }
    }

    #[test]
    fn blocks_are_the_rows_in_any_layout() {
        let x = table(7, 3);
        let turned = x.t().as_standard_layout().into_owned();
        assert!(turned.t().as_slice().is_none());
        for view in [x.view(), turned.t()] {
            let rows = Rows::new(view);
            assert_eq!((rows.n(), rows.d()), (7, 3));
            assert_eq!(rows.row(4), x.row(4).to_vec());
            for (first, count) in [(0, 7), (2, 3), (6, 1), (3, 0)] {
                let expected: Vec<f64> =
                    (first..first + count).flat_map(|i| x.row(i).to_vec()).collect();
                rows.block(first, count, |block| assert_eq!(block, expected));
            }
        }
    }

    #[test]
    fn columns_are_taken_out_in_any_layout() {
        let x = table(7, 5);
        let turned = x.t().as_standard_layout().into_owned().reversed_axes();
        for columns in [vec![], vec![4], vec![0, 3], vec![0, 1, 2, 3, 4]] {
            let expected = x.select(Axis(1), &columns);
            assert_eq!(narrowed(x.clone(), &columns), expected);
            assert_eq!(narrowed(turned.clone(), &columns), expected);
        }
    }

    #[test]
    fn differences_and_means() {
        let x = ndarray::array![[1.0, 2.0], [4.0, 8.0], [-3.0, 0.5]];
        let found = differences(x.view(), &[(1, 0), (0, 2)], &()).unwrap();
        assert_eq!(found, ndarray::array![[3.0, 6.0], [4.0, 1.5]]);
        assert_eq!(mean_row(x.view(), &[0, 1]), ndarray::array![2.5, 5.0]);
        assert_eq!(mean_row(x.view(), &[]), ndarray::array![0.0, 0.0]);
    }
}
