//! What every base clusterer does with its input first.

use consilience_core::{
    Dense, Fit, Partition, Report, Result, Seed, SparseRows, Status, room, with_rows,
};
use consilience_num::Float;
use consilience_num::kmeans::{KMeansFit, KMeansOptions};
use ndarray::{Array2, ArrayView2};
use sprs::CsMat;

/// Why a clustering of features has fewer clusters than asked for.
pub(crate) const FEWER: &str = "the features distinguish no more objects";

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

/// The [`unit`] of sparse rows by their largest entry.
pub(crate) fn unit_of_sparse<F: Float>(x: SparseRows<'_, F>) -> f64 {
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
const NOTHING: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

/// What is missing counts for nothing: minimum and maximum pass it over.
fn widen(range: &mut (f64, f64), v: f64) {
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
pub(crate) fn far_off<F: Float>(x: ArrayView2<'_, F>) -> Option<Vec<f64>> {
    Far::new(x, largest(x.iter())).map(|far| far.off)
}

/// As [`far_off`], the columns that are far out alone, ascending. Each is stored in every row; how
/// far the others spread is how far they are from 0.
pub(crate) fn far_off_sparse<F: Float>(x: SparseRows<'_, F>) -> Option<Off> {
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

/// Columns of sparse rows, and what was taken off each.
pub(crate) type Off = Vec<(usize, f64)>;

/// Sparse rows of which nothing is far out, in memory of their own, and what was taken off which
/// columns; `None` where nothing is. Their distances come from lengths and products, in which a
/// large number leaves no place for what is small.
///
/// # Errors
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the system has no memory
/// left.
pub(crate) fn near_rows<F: Float>(x: SparseRows<'_, F>) -> Result<Option<(CsMat<F>, Off)>> {
    let Some(off) = far_off_sparse(x) else { return Ok(None) };
    let entries = (0..x.n_rows()).map(|i| x.row(i).0.len()).sum();
    let (mut starts, mut indices, mut values) = (
        room::with_capacity(x.n_rows() + 1)?,
        room::with_capacity(entries)?,
        room::with_capacity(entries)?,
    );
    starts.push(0);
    for i in 0..x.n_rows() {
        let (columns, of) = x.row(i);
        let near = |(j, v): (&usize, &F)| match off.binary_search_by_key(j, |far| far.0) {
            Ok(at) => F::from_f64(v.to_f64() - off[at].1),
            Err(_) => *v,
        };
        values.extend(columns.iter().zip(of).map(near));
        indices.extend_from_slice(columns);
        starts.push(indices.len());
    }
    Ok(Some((CsMat::new((x.n_rows(), x.n_columns()), starts, indices, values), off)))
}

/// Where the rows of a table are put before they are squared: what is far out is taken off, and the
/// rest is multiplied by a power of two, so that squares neither overflow nor vanish, in single
/// precision either. Partitions do not depend on it, but those of RPCL, which stops rivals at a
/// distance.
pub(crate) struct Place {
    /// What is taken off each column, if anything is.
    pub off: Option<Vec<f64>>,
    /// The power of two that the rest is multiplied by.
    pub unit: f64,
}

impl Place {
    /// By the largest entry, or by the widest column beside others that are far out.
    pub(crate) fn of<F: Float>(x: ArrayView2<'_, F>) -> Self {
        let largest = largest(x.iter());
        match Far::new(x, largest) {
            Some(Far { off, spread }) => Place { off: Some(off), unit: unit(spread) },
            None => Place { off: None, unit: unit(largest) },
        }
    }

    /// Rows of the table, or others like them.
    pub(crate) fn rows<F: Float, T: Float>(&self, x: ArrayView2<'_, F>) -> Array2<T> {
        let unit = self.unit;
        match &self.off {
            None => x.mapv(|v| T::from_f64(v.to_f64() * unit)),
            Some(off) => Array2::from_shape_fn(x.dim(), |(i, j)| {
                T::from_f64((x[[i, j]].to_f64() - off[j]) * unit)
            }),
        }
    }
}

/// The table in double precision, in its [`Place`].
pub(crate) fn unit_table(features: &Dense<'_>) -> Array2<f64> {
    with_rows!(features, |x| Place::of(x.view()).rows(x.view()))
}

/// The k-means that ends a spectral or kernel method.
pub(crate) fn last_kmeans(clusters: usize, restarts: usize, seed: Seed) -> KMeansOptions {
    KMeansOptions::new(clusters)
        .restarts(restarts)
        .seed(seed)
        .tolerance(1e-4)
        .parallel(rayon::current_num_threads() > 1)
}

/// What a k-means says about itself.
pub(crate) fn tell<F>(report: &mut Report, found: &KMeansFit<F>) {
    report.iterations = found.iterations;
    report.objective = Some(found.inertia);
    if !found.converged {
        report.status = Status::MaxIterations;
    }
}

/// The end of a fit: the partition that the numbers mean, and whether it has the clusters that were
/// asked for.
pub(crate) fn finish(
    labels: &[u32],
    clusters: usize,
    mut report: Report,
) -> Result<Fit<Partition>> {
    let partition = partition(labels)?;
    report.expect_clusters(clusters, partition.n_clusters(), FEWER);
    Ok(Fit::new(partition, report))
}

/// A partition from the numbers of the kernel.
pub(crate) fn partition(labels: &[u32]) -> Result<Partition> {
    Partition::from_fn(labels.len(), |i| Some(u64::from(labels[i])))
}
