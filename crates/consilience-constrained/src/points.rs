//! Passes over all rows: which of some points, or sets of points, is nearest.

#[cfg(feature = "serde")]
use consilience_core::ensure;
use consilience_core::room::no_room;
#[cfg(feature = "serde")]
use consilience_core::stored::Parts;
use consilience_core::{Observer, Result, Stop};
use consilience_num::Float;
use consilience_num::rows::{Rows, squared};
#[cfg(feature = "serde")]
use ndarray::Array2;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Rows that are handed to a thread at a time.
const BLOCK: usize = 2048;
/// Multiplications between two questions to the observer.
const WORK: usize = 1 << 25;

/// Rows that are compared with points.
pub(crate) trait Table: Sync {
    /// Number of rows.
    fn n(&self) -> usize;

    /// Number of columns.
    fn d(&self) -> usize;

    /// One row in double precision.
    ///
    /// # Errors
    /// `TooLarge` where there is no memory for it: a sparse row may be as wide as a file says.
    fn row(&self, i: usize) -> Result<Vec<f64>>;

    /// Gives the rows that are nearer to `centre` than to anything before the number `cluster`, and
    /// returns the row that is farthest from everything then, the first of several.
    fn bring_nearer(
        &self,
        centre: &[f64],
        cluster: u32,
        closest: &mut [f64],
        labels: &mut [u32],
        observer: &dyn Observer,
    ) -> Result<Option<(usize, f64)>>;

    /// For every row the set whose farthest point is nearest, and the squared distance to that
    /// point; ties go to the first set.
    fn nearest(
        &self,
        sets: &PointSets,
        closest: &mut [f64],
        labels: &mut [u32],
        observer: &dyn Observer,
    ) -> Result<()>;
}

impl<F: Float> Table for Rows<'_, F> {
    fn n(&self) -> usize {
        self.n()
    }

    fn d(&self) -> usize {
        self.d()
    }

    fn row(&self, i: usize) -> Result<Vec<f64>> {
        Ok(self.row(i))
    }

    fn bring_nearer(
        &self,
        centre: &[f64],
        cluster: u32,
        closest: &mut [f64],
        labels: &mut [u32],
        observer: &dyn Observer,
    ) -> Result<Option<(usize, f64)>> {
        let (arch, stop) = (Arch::new(), Stop::new(observer));
        let block = block(BLOCK, self.d());
        let far = closest
            .par_chunks_mut(block)
            .zip(labels.par_chunks_mut(block))
            .enumerate()
            .map(|(b, (closest, labels))| {
                let first = b * block;
                if stop.asked() {
                    return (first, f64::NEG_INFINITY);
                }
                let count = labels.len();
                let (at, value) = self.block(first, count, |rows| {
                    arch.dispatch(NearerBlock { rows, centre, cluster, closest, labels })
                });
                (first + at, value)
            })
            .reduce_with(farther);
        stop.check()?;
        Ok(far)
    }

    fn nearest(
        &self,
        sets: &PointSets,
        closest: &mut [f64],
        labels: &mut [u32],
        observer: &dyn Observer,
    ) -> Result<()> {
        let (arch, stop) = (Arch::new(), Stop::new(observer));
        let block = block(BLOCK, sets.points.len());
        closest.par_chunks_mut(block).zip(labels.par_chunks_mut(block)).enumerate().for_each(
            |(b, (closest, labels))| {
                if stop.asked() {
                    return;
                }
                let count = labels.len();
                self.block(b * block, count, |rows| {
                    arch.dispatch(NearestBlock { rows, sets, closest, labels });
                });
            },
        );
        stop.check()
    }
}

/// Rows between two questions, each of which is compared with so many numbers: at most so many.
pub(crate) fn block(most: usize, numbers: usize) -> usize {
    (WORK / numbers.max(1)).clamp(1, most)
}

/// The row with the larger value; of equals the first. Does not depend on the grouping.
pub(crate) fn farther(a: (usize, f64), b: (usize, f64)) -> (usize, f64) {
    if b.1 > a.1 || (b.1 == a.1 && b.0 < a.0) { b } else { a }
}

/// The farthest row from what is closest to it.
pub(crate) fn farthest(closest: &[f64]) -> Option<(usize, f64)> {
    closest.iter().copied().enumerate().reduce(farther)
}

struct NearerBlock<'a, F> {
    rows: &'a [F],
    centre: &'a [f64],
    cluster: u32,
    closest: &'a mut [f64],
    labels: &'a mut [u32],
}

impl<F: Float> WithSimd for NearerBlock<'_, F> {
    type Output = (usize, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (usize, f64) {
        let NearerBlock { rows, centre, cluster, closest, labels } = self;
        let mut best = (0, f64::NEG_INFINITY);
        let rows = rows.chunks_exact(centre.len());
        for (r, ((x, closest), label)) in rows.zip(closest).zip(labels).enumerate() {
            let now = squared(x, centre);
            let nearer = now < *closest;
            *closest = if nearer { now } else { *closest };
            *label = if nearer { cluster } else { *label };
            if *closest > best.1 {
                best = (r, *closest);
            }
        }
        best
    }
}

/// Sets of points, row by row.
#[derive(Clone, Debug)]
pub(crate) struct PointSets {
    points: Vec<f64>,
    d: usize,
    /// Where each set ends, in points.
    ends: Vec<usize>,
}

impl PointSets {
    pub(crate) fn new(d: usize) -> Self {
        PointSets { points: Vec::new(), d, ends: Vec::new() }
    }

    /// Adds a set, which is left out as a whole where there is no memory for one of its points.
    pub(crate) fn push(&mut self, set: impl IntoIterator<Item = Result<Vec<f64>>>) -> Result<()> {
        let before = self.points.len();
        let added = set.into_iter().try_for_each(|point| {
            let point = point?;
            let room = self.points.try_reserve(point.len());
            room.map_err(|_| no_room::<f64>(self.points.len() + point.len()))?;
            self.points.extend(point);
            Ok(())
        });
        if added.is_err() {
            self.points.truncate(before);
        } else {
            self.ends.push(self.points.len() / self.d);
        }
        added
    }

    /// Each set, point by point.
    pub(crate) fn sets(&self) -> impl Iterator<Item = impl Iterator<Item = &[f64]>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| self.points[start * self.d..end * self.d].chunks_exact(self.d))
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Makes room for so many points more.
    pub(crate) fn reserve(&mut self, points: usize) -> Result<()> {
        let numbers = points.saturating_mul(self.d);
        self.points.try_reserve_exact(numbers).map_err(|_| no_room::<f64>(numbers))
    }

    /// How many numbers all points have.
    pub(crate) fn n_numbers(&self) -> usize {
        self.points.len()
    }

    pub(crate) fn d(&self) -> usize {
        self.d
    }

    #[cfg(feature = "serde")]
    pub(crate) fn stored(&self, parts: Parts) -> Parts {
        let shape = (self.points.len() / self.d, self.d);
        let points = Array2::from_shape_fn(shape, |(i, j)| self.points[i * self.d + j]);
        parts.table("points", &points).row("ends", self.ends.iter().map(|&end| end as f64))
    }

    #[cfg(feature = "serde")]
    pub(crate) fn restored(parts: &mut Parts) -> Result<Self> {
        let (points, ends) = (parts.take_table("points")?, parts.take_row("ends")?);
        let (n, d) = points.dim();
        crate::stored::check_table("points", (n, d), d)?;
        let ascending = ends.windows(2).all(|e| e[0] < e[1]);
        let whole = ends.iter().all(|&e| e >= 1.0 && e.fract() == 0.0);
        ensure!(
            ascending && whole && ends.last() == Some(&(n as f64)),
            invalid("`ends` of sets of {n} points are not whole numbers that ascend to {n}")
        );
        let ends = ends.into_iter().map(|end| end as usize).collect();
        Ok(PointSets { points: points.into_iter().collect(), d, ends })
    }
}

struct NearestBlock<'a, F> {
    rows: &'a [F],
    sets: &'a PointSets,
    closest: &'a mut [f64],
    labels: &'a mut [u32],
}

impl<F: Float> WithSimd for NearestBlock<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let NearestBlock { rows, sets, closest, labels } = self;
        for ((x, closest), label) in rows.chunks_exact(sets.d).zip(closest).zip(labels) {
            let (mut best, mut of) = (f64::INFINITY, 0);
            let mut points = sets.points.chunks_exact(sets.d);
            let mut start = 0;
            for (s, &end) in sets.ends.iter().enumerate() {
                let mut far = 0.0f64;
                for p in points.by_ref().take(end - start) {
                    let now = squared(x, p);
                    far = if now > far { now } else { far };
                }
                start = end;
                let nearer = far < best;
                best = if nearer { far } else { best };
                of = if nearer { s as u32 } else { of };
            }
            *closest = best;
            *label = of;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, ShapeBuilder};

    fn table(n: usize, d: usize) -> Array2<f64> {
        Array2::from_shape_fn((n, d), |(i, j)| ((i * 31 + j * 17 + i * i * j) % 23) as f64 - 11.0)
    }

    #[test]
    fn passes_equal_the_plain_loop_in_any_layout() {
        let (n, d) = (2 * BLOCK + 17, 5);
        let x = table(n, d);
        let mut column_major = Array2::zeros((n, d).f());
        column_major.assign(&x);
        for view in [x.view(), column_major.view()] {
            let rows = Rows::new(view);
            let mut closest = vec![f64::INFINITY; n];
            let mut labels = vec![u32::MAX; n];
            let far = rows.bring_nearer(&rows.row(3), 4, &mut closest, &mut labels, &());
            let far = far.unwrap().unwrap();
            let plain: Vec<f64> =
                (0..n).map(|i| (0..d).map(|j| (x[[i, j]] - x[[3, j]]).powi(2)).sum()).collect();
            assert_eq!(closest, plain);
            assert_eq!(Some(far), farthest(&plain));
            assert!(labels.iter().all(|&l| l == 4));

            let mut sets = PointSets::new(d);
            sets.push([Ok(rows.row(0)), Ok(rows.row(1))]).unwrap();
            sets.push([Ok(rows.row(2))]).unwrap();
            rows.nearest(&sets, &mut closest, &mut labels, &()).unwrap();
            let to =
                |i: usize, p: usize| (0..d).map(|j| (x[[i, j]] - x[[p, j]]).powi(2)).sum::<f64>();
            for i in 0..n {
                let (a, b) = (to(i, 0).max(to(i, 1)), to(i, 2));
                assert_eq!((closest[i], labels[i]), if b < a { (b, 1) } else { (a, 0) });
            }
        }
    }
}
