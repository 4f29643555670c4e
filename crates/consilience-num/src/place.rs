//! Where rows are put before they are squared: near 0, and in a unit that squares have a place in.

use consilience_core::{Result, SparseRows, room};
use ndarray::{Array2, ArrayView2};
use sprs::CsMat;

use crate::Float;

/// A column is far out where all its numbers are beyond so many times what the widest column
/// spreads over. What is nearer stays as it is, to the bit: projected, it leaves the others 14 of
/// the 24 binary digits of single precision.
const FAR: f64 = 1024.0;

/// The power of two that brings `largest` just to 1 or below, so that squares neither overflow nor
/// vanish; 1 for 0.
fn unit(largest: f64) -> f64 {
    if largest > 0.0 {
        2f64.powi((-largest.log2().ceil()).clamp(-1022.0, 1022.0) as i32)
    } else {
        1.0
    }
}

/// The power of two that brings the largest entry of sparse rows just to 1 or below.
pub fn unit_of_sparse<F: Float>(x: SparseRows<'_, F>) -> f64 {
    unit(largest((0..x.n_rows()).flat_map(|i| x.row(i).1)))
}

/// The largest size of a number; one that is missing has none.
fn largest<'a, F: Float>(values: impl IntoIterator<Item = &'a F>) -> f64 {
    values.into_iter().fold(0.0, |m: f64, v| m.max(v.to_f64().abs()))
}

/// Columns that are far out.
struct Far {
    /// What is taken off every column: its smallest number, or 0 where it is not far out. What is
    /// left is exact, since a number and what is taken off it are less than twice each other.
    off: Vec<f64>,
    /// The largest range of a column.
    spread: f64,
}

/// The range of no numbers.
pub const NOTHING: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

/// Widens a range by a number. What is missing counts for nothing: minimum and maximum pass it
/// over.
pub fn widen(range: &mut (f64, f64), v: f64) {
    *range = (range.0.min(v), range.1.max(v));
}

/// What is to be taken off a column of this range, if it is far out.
fn far_out((low, high): (f64, f64), spread: f64) -> Option<f64> {
    (low.is_finite() && low.abs().min(high.abs()) > FAR * spread).then_some(low)
}

impl Far {
    /// `None` where no column is, which most tables show by their second row.
    fn new<F: Float>(x: ArrayView2<'_, F>, largest: f64) -> Option<Self> {
        let mut ranges = vec![NOTHING; x.ncols()];
        let mut spread = 0.0f64;
        for row in x.rows() {
            for (range, v) in ranges.iter_mut().zip(row) {
                widen(range, v.to_f64());
                spread = spread.max(range.1 - range.0);
            }
            if FAR * spread >= largest {
                return None;
            }
        }
        Self::of(&ranges, spread)
    }

    fn of(ranges: &[(f64, f64)], spread: f64) -> Option<Self> {
        let off: Vec<f64> =
            ranges.iter().map(|range| far_out(*range, spread).unwrap_or(0.0)).collect();
        // Where all rows are equal it does not matter where they are.
        (spread > 0.0 && off.iter().any(|v| *v != 0.0)).then_some(Far { off, spread })
    }
}

/// What has to be taken off the columns of a table so that none is far out; `None` where none is.
pub fn far_off<F: Float>(x: ArrayView2<'_, F>) -> Option<Vec<f64>> {
    Far::new(x, largest(x.iter())).map(|far| far.off)
}

/// As [`far_off`], the columns that are far out alone, ascending. Each is stored in every row; how
/// far the others spread is how far they are from 0.
pub fn far_off_sparse<F: Float>(x: SparseRows<'_, F>) -> Option<Off> {
    let largest = largest((0..x.n_rows()).flat_map(|i| x.row(i).1));
    // Columns that all rows have so far: a number for every column may be too many.
    let mut always: Vec<(usize, (f64, f64))> = x.row(0).0.iter().map(|&j| (j, NOTHING)).collect();
    let mut spread = 0.0f64;
    for i in 0..x.n_rows() {
        let (columns, values) = x.row(i);
        let mut rest = columns.iter().zip(values).peekable();
        always.retain_mut(|(j, range)| {
            while let Some((_, v)) = rest.next_if(|(column, _)| **column < *j) {
                spread = spread.max(v.to_f64().abs());
            }
            match rest.next_if(|(column, _)| **column == *j) {
                Some((_, v)) => widen(range, v.to_f64()),
                None if range.0 <= range.1 => {
                    spread = spread.max(range.0.abs()).max(range.1.abs());
                    return false;
                }
                None => return false,
            }
            true
        });
        rest.for_each(|(_, v)| spread = spread.max(v.to_f64().abs()));
        if FAR * spread >= largest {
            return None;
        }
    }
    let spread = always.iter().fold(spread, |most, (_, (low, high))| most.max(high - low));
    let far = always.iter().filter_map(|&(j, range)| Some((j, far_out(range, spread)?)));
    let off: Off = far.collect();
    (spread > 0.0 && !off.is_empty()).then_some(off)
}

/// Columns of sparse rows, ascending, and what is taken off each.
pub type Off = Vec<(usize, f64)>;

/// Sparse rows of which nothing is far out, in memory of their own, and what was taken off which
/// columns; `None` where nothing is. Their distances come from lengths and products, in which a
/// large number leaves no place for what is small.
///
/// # Errors
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the system has no memory
/// left.
pub fn near_rows<F: Float>(x: SparseRows<'_, F>) -> Result<Option<(CsMat<F>, Off)>> {
    let Some(off) = far_off_sparse(x) else { return Ok(None) };
    Ok(Some((moved(x, &off)?, off)))
}

/// Sparse rows with so much taken off some columns, which are then stored in every row.
fn moved<F: Float>(x: SparseRows<'_, F>, off: &[(usize, f64)]) -> Result<CsMat<F>> {
    let entries = x.n_entries();
    let (mut starts, mut indices, mut values) = (
        room::with_capacity(x.n_rows() + 1)?,
        room::with_capacity(entries)?,
        room::with_capacity(entries)?,
    );
    starts.push(0);
    for i in 0..x.n_rows() {
        let (columns, of) = x.row(i);
        let mut far = off.iter().peekable();
        let mut store = |j: usize, v: F| {
            room::push(&mut indices, j)?;
            room::push(&mut values, v)
        };
        for (&j, &v) in columns.iter().zip(of) {
            while let Some(&(before, off)) = far.next_if(|far| far.0 < j) {
                store(before, F::from_f64(-off))?;
            }
            match far.next_if(|far| far.0 == j) {
                Some(&(_, off)) => store(j, F::from_f64(v.to_f64() - off))?,
                None => store(j, v)?,
            }
        }
        far.try_for_each(|&(j, off)| store(j, F::from_f64(-off)))?;
        starts.push(indices.len());
    }
    Ok(CsMat::new((x.n_rows(), x.n_columns()), starts, indices, values))
}

/// Where the rows of a table are put before they are squared: what is far out is taken off, and the
/// rest is multiplied by a power of two, so that squares neither overflow nor vanish, in single
/// precision either. Partitions do not depend on it, but those of RPCL, which stops rivals at a
/// distance.
#[derive(Clone, Debug)]
pub struct Place {
    /// What is taken off each column, if anything is.
    pub off: Option<Vec<f64>>,
    /// The power of two that the rest is multiplied by.
    pub unit: f64,
}

impl Place {
    /// Where rows are.
    pub const HERE: Self = Place { off: None, unit: 1.0 };

    /// Of a table: by its largest entry, or by the widest column beside others that are far out.
    pub fn of<F: Float>(x: ArrayView2<'_, F>) -> Self {
        let largest = largest(x.iter());
        Self::new(Far::new(x, largest), largest)
    }

    /// Where sparse rows are that were [made](near_rows) near and are multiplied by a unit.
    ///
    /// # Errors
    /// As [`near_rows`].
    pub fn of_near(columns: usize, off: Option<&Off>, unit: f64) -> Result<Self> {
        let Some(far) = off else { return Ok(Place { off: None, unit }) };
        let mut off = room::zeros(columns)?;
        far.iter().for_each(|&(j, far)| off[j] = far);
        Ok(Place { off: Some(off), unit })
    }

    /// By the ranges of the columns of a table.
    pub fn of_ranges(ranges: &[(f64, f64)]) -> Self {
        let known = ranges.iter().filter(|(low, high)| low <= high);
        let (largest, spread) = known.fold((0.0f64, 0.0f64), |(largest, spread), (low, high)| {
            (largest.max(low.abs()).max(high.abs()), spread.max(high - low))
        });
        Self::new(Far::of(ranges, spread), largest)
    }

    fn new(far: Option<Far>, largest: f64) -> Self {
        match far {
            Some(Far { off, spread }) => Place { off: Some(off), unit: unit(spread) },
            None => Place { off: None, unit: unit(largest) },
        }
    }

    /// Rows of the table, or others like them.
    pub fn rows<F: Float, T: Float>(&self, x: ArrayView2<'_, F>) -> Array2<T> {
        let unit = self.unit;
        match &self.off {
            None => x.mapv(|v| T::from_f64(v.to_f64() * unit)),
            Some(off) => Array2::from_shape_fn(x.dim(), |(i, j)| {
                T::from_f64((x[[i, j]].to_f64() - off[j]) * unit)
            }),
        }
    }

    /// Sparse rows with what is far out taken off, and not multiplied; `None` where nothing is.
    ///
    /// # Errors
    /// As [`near_rows`].
    pub fn sparse_rows<F: Float>(&self, x: SparseRows<'_, F>) -> Result<Option<CsMat<F>>> {
        let Some(off) = &self.off else { return Ok(None) };
        let far: Off = off.iter().copied().enumerate().filter(|(_, off)| *off != 0.0).collect();
        moved(x, &far).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn ranges_are_all_that_a_place_depends_on() {
        let tables = [
            array![[1.0, 2.0], [-7.0, 0.5]],
            array![[1e9, 2.0], [1e9, 0.5]],
            array![[-1e9, 2.0], [-1e9 - 1.0, 0.5]],
            array![[1e300, f64::NAN], [1e300, f64::NAN]],
            array![[f64::MAX, 1.0], [-f64::MAX, 2.0]],
            array![[3e-200, 0.0], [3e-200, 1e-205]],
            Array2::zeros((2, 2)),
        ];
        for x in tables {
            let mut ranges = [NOTHING; 2];
            for row in x.rows() {
                ranges.iter_mut().zip(row).for_each(|(range, v)| widen(range, *v));
            }
            let (a, b) = (Place::of(x.view()), Place::of_ranges(&ranges));
            assert_eq!((a.off, a.unit), (b.off, b.unit), "{x}");
        }
    }

    #[test]
    fn sparse_rows_are_moved_as_dense_ones() {
        let place = Place { off: Some(vec![0.0, 5000.0, 0.0, -9000.0]), unit: 0.5 };
        // The last row has nothing where others are far out.
        let x: Array2<f64> =
            array![[1.0, 5001.0, 0.0, -9000.0], [0.0, 5000.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0]];
        let mut triplets = sprs::TriMat::new(x.dim());
        for ((i, j), &v) in x.indexed_iter().filter(|(_, v)| **v != 0.0) {
            triplets.add_triplet(i, j, v);
        }
        let rows = triplets.to_csr::<usize>();
        let moved = place.sparse_rows(SparseRows::from(&rows)).unwrap().unwrap();
        let dense: Array2<f64> = place.rows(x.view());
        for ((i, j), v) in dense.indexed_iter() {
            assert_eq!(moved.get(i, j).map_or(0.0, |v| 0.5 * v), *v, "{i} {j}");
        }
        assert!(Place::HERE.sparse_rows(SparseRows::from(&rows)).unwrap().is_none());
    }
}
