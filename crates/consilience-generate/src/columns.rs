//! Objects column by column, so that distances to objects beside each other are vectors.

use consilience_core::{Observer, Result, Stop, room};
use ndarray::{Array2, ArrayView2};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use crate::pages::Table;

/// Objects whose distances are summed up side by side: their sums stay in the cache, and each adds
/// its columns in the order in which a loop over them would.
pub(crate) const ABREAST: usize = 512;

/// Columns that are added at once: a sum is then fetched and stored a quarter as often.
const TOGETHER: usize = 4;

/// Squared distances of a point to the objects from `from` on, as many as `out` has places.
///
/// Each is added up by itself and without fused operations: it does not depend on the width of the
/// vectors.
pub(crate) struct Squares<'a> {
    pub columns: &'a [Vec<f64>],
    pub point: &'a [f64],
    pub from: usize,
    pub out: &'a mut [f64],
}

impl Squares<'_> {
    pub(crate) fn run(self) {
        Arch::new().dispatch(self);
    }
}

impl NullaryFnOnce for Squares<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Squares { columns, point, from, out } = self;
        // Memory that is read before it is written is given by the system twice.
        out.fill(0.0);
        let objects = from..from + out.len();
        let (fours, rest) = columns.as_chunks::<TOGETHER>();
        let (points, point_rest) = point.as_chunks::<TOGETHER>();
        for (four, own) in fours.iter().zip(points) {
            let [a, b, c, d] = four.each_ref().map(|column| &column[objects.clone()]);
            for ((((sum, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *sum += (own[0] - a) * (own[0] - a);
                *sum += (own[1] - b) * (own[1] - b);
                *sum += (own[2] - c) * (own[2] - c);
                *sum += (own[3] - d) * (own[3] - d);
            }
        }
        for (column, own) in rest.iter().zip(point_rest) {
            for (sum, other) in out.iter_mut().zip(&column[objects.clone()]) {
                *sum += (own - other) * (own - other);
            }
        }
    }
}

/// The columns of a table.
pub(crate) fn columns(x: ArrayView2<'_, f64>) -> Result<Vec<Vec<f64>>> {
    x.columns().into_iter().map(|column| room::collected(column.iter().copied())).collect()
}

/// Which half of a symmetric table is kept, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Triangle {
    /// Each object and those before it.
    Lower,
    /// Each object and those behind it.
    Upper,
}

/// Distances of all pairs.
pub(crate) fn distances(
    x: &Array2<f64>,
    triangle: Triangle,
    observer: &dyn Observer,
) -> Result<Table> {
    let n = x.nrows();
    let others = |i: usize| match triangle {
        Triangle::Lower => 0..i,
        Triangle::Upper => i + 1..n,
    };
    let mut out = Table::zeros(n * (n - 1) / 2)?;
    let mut rows = room::with_capacity(n)?;
    let mut rest = &mut out[..];
    for i in 0..n {
        let (row, tail) = rest.split_at_mut(others(i).len());
        rows.push(row);
        rest = tail;
    }
    let stop = Stop::new(observer);
    let columns = columns(x.view())?;
    rows.into_par_iter().enumerate().for_each(|(i, row)| {
        if stop.asked() {
            return;
        }
        let point: Vec<f64> = columns.iter().map(|column| column[i]).collect();
        for (at, part) in row.chunks_mut(ABREAST).enumerate() {
            let from = others(i).start + at * ABREAST;
            Squares { columns: &columns, point: &point, from, out: &mut *part }.run();
            part.iter_mut().for_each(|sum| *sum = sum.sqrt());
        }
    });
    stop.check()?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;

    /// To the bit, whatever the number of objects beside the width of a part.
    #[test]
    fn distances_equal_the_definition() {
        for (n, d) in [(1, 2), (2, 0), (5, 3), (ABREAST + 1, 1), (ABREAST + 70, 5), (90, 16)] {
            let mut stream = Seed(n as u64).stream();
            let x = Array2::from_shape_simple_fn((n, d), || stream.normal());
            let bits = |i: usize, j: usize| {
                let squares = (0..d).map(|c| (x[[i, c]] - x[[j, c]]).powi(2));
                squares.fold(0.0, |sum: f64, s| sum + s).sqrt().to_bits()
            };
            let lower = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
            let upper = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
            let expected: [Vec<u64>; 2] = [
                lower.map(|(i, j)| bits(i, j)).collect(),
                upper.map(|(i, j)| bits(i, j)).collect(),
            ];
            for (triangle, expected) in [Triangle::Lower, Triangle::Upper].into_iter().zip(expected)
            {
                let found = distances(&x, triangle, &()).unwrap();
                let found: Vec<u64> = found.iter().map(|d| d.to_bits()).collect();
                assert!(found == expected, "{triangle:?} of {n}");
            }
        }
    }
}
