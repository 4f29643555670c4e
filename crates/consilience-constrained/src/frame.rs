//! What the constrained clusterers share: the frame that they compute in, first centres, means, and
//! the assignment of new objects to the nearest centre.

use std::ops::Range;

#[cfg(feature = "serde")]
use consilience_core::stored::Parts;
use consilience_core::{
    Assign, Dense, Features, Observer, OnlyCancels, Pace, Result, Seed, SideInformation, Stop, room,
};
use consilience_num::kmeans;
use consilience_num::reduce::ordered_chunks;
use consilience_num::rows::narrowed;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, Zip};

/// Rows whose sums are taken together.
pub(crate) const CHUNK: usize = 1024;
/// Deviations below this share of a feature's mean are rounding.
const ROUNDING: f64 = 1e-12;
/// Deviations below this share of the largest entry have a unit of their own.
const NARROW: f64 = 1.0 / (1 << 20) as f64;
/// Powers of two beyond this are not taken.
const MOST: i32 = 1000;

/// The features multiplied by a power of two and centred, so that squares neither overflow nor
/// vanish.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    unit: f64,
    mean: Array1<f64>,
}

impl Frame {
    pub(crate) fn new(
        features: &Dense<'_>,
        observer: &dyn Observer,
    ) -> Result<(Self, Array2<f64>)> {
        let mut x = features.to_f64()?;
        let mut power = exponent(largest(&x, observer)?);
        let unit = 2f64.powi(power);
        each_chunk(&mut x, observer, |mut rows| rows.mapv_inplace(|v| v * unit))?;
        let (sum, _) = sums(x.view(), |_| 0, 1, observer)?;
        let mut mean = sum.row(0).to_owned() / x.nrows() as f64;
        let mut pace = Pace::new(observer);
        for (mean, column) in mean.iter_mut().zip(x.columns()) {
            pace.work(column.len())?;
            // A sum of equal numbers rounds, and what is left of a large one is no small number.
            if column.iter().all(|v| *v == column[0]) {
                *mean = column[0];
            }
        }
        each_chunk(&mut x, observer, |mut rows| rows -= &mean)?;
        // Large numbers that hardly vary must not make the others small: their squares vanish.
        let reach = largest(&x, observer)?;
        if reach > 0.0 && reach < NARROW {
            let more = exponent(reach).min(MOST - power);
            let by = 2f64.powi(more);
            each_chunk(&mut x, observer, |mut rows| rows.mapv_inplace(|v| v * by))?;
            mean.mapv_inplace(|v| v * by);
            power += more;
        }
        Ok((Frame { unit: 2f64.powi(power), mean }, x))
    }

    pub(crate) fn apply(&self, features: &Dense<'_>) -> Result<Array2<f64>> {
        let mut x = features.to_f64()?;
        x.mapv_inplace(|v| v * self.unit);
        x -= &self.mean;
        Ok(x)
    }

    pub(crate) fn n_features(&self) -> usize {
        self.mean.len()
    }

    /// The features of a table in the frame that vary.
    pub(crate) fn varying(&self, x: Array2<f64>, observer: &dyn Observer) -> Result<Varying> {
        let (mut features, mut variance) = (Vec::new(), Vec::new());
        let mut pace = Pace::new(observer);
        for ((j, column), &mean) in x.columns().into_iter().enumerate().zip(&self.mean) {
            // Twice, and every number has to be fetched.
            pace.work(column.len().saturating_mul(8))?;
            let square = column.dot(&column) / x.nrows() as f64;
            let varies = column.iter().any(|v| *v != column[0]);
            let rounding = (ROUNDING * mean).powi(2).max(f64::MIN_POSITIVE.sqrt());
            if varies && square > rounding {
                features.push(j);
                variance.push(square);
            }
        }
        if features.is_empty() {
            let (x, variance) = (room::table(x.nrows(), 1)?, Array1::ones(1));
            return Ok(Varying { x, features: vec![0], variance });
        }
        pace.work(x.len())?;
        Ok(Varying { x: narrowed(x, &features), features, variance: variance.into() })
    }

    #[cfg(feature = "serde")]
    pub(crate) fn stored(&self, parts: Parts) -> Parts {
        parts.number("unit", self.unit).row("mean", self.mean.iter().copied())
    }

    #[cfg(feature = "serde")]
    pub(crate) fn restored(parts: &mut Parts) -> Result<Self> {
        let (unit, mean) = (parts.take_positive("unit")?, Array1::from(parts.take_row("mean")?));
        Ok(Frame { unit, mean })
    }

    /// By how much the log det of a metric on so many features of the frame grows in their unit.
    pub(crate) fn log_det_out(&self, features: usize) -> f64 {
        2.0 * features as f64 * self.unit.ln()
    }

    /// Squared distances of the frame in the unit of the features.
    pub(crate) fn square_out(&self, value: f64) -> f64 {
        value / self.unit / self.unit
    }

    /// Squared distances in the unit of the features, in that of the frame.
    pub(crate) fn square_in(&self, value: f64) -> f64 {
        value * self.unit * self.unit
    }
}

/// The features that vary by more than rounding, and whose squares do not vanish. The others have
/// no say in what is learned. Where no feature varies, one of zeros stands for all.
pub(crate) struct Varying {
    /// In the frame.
    pub x: Array2<f64>,
    /// Their numbers, ascending.
    pub features: Vec<usize>,
    /// Their mean squares.
    pub variance: Array1<f64>,
}

/// The exponent of the power of two that brings this largest entry near 1.
fn exponent(largest: f64) -> i32 {
    if largest > 0.0 { -(largest.log2() as i32).clamp(-MOST, MOST) } else { 0 }
}

/// The largest size of an entry.
pub(crate) fn largest(x: &Array2<f64>, observer: &dyn Observer) -> Result<f64> {
    let mut pace = Pace::new(observer);
    x.axis_chunks_iter(Axis(0), CHUNK).try_fold(0.0, |most, rows| {
        pace.work(rows.len())?;
        Ok(rows.iter().fold(most, |m: f64, v| m.max(v.abs())))
    })
}

/// Changes some rows at a time, and asks in between.
pub(crate) fn each_chunk(
    x: &mut Array2<f64>,
    observer: &dyn Observer,
    mut change: impl FnMut(ArrayViewMut2<'_, f64>),
) -> Result<()> {
    let mut pace = Pace::new(observer);
    x.axis_chunks_iter_mut(Axis(0), CHUNK).try_for_each(|rows| {
        pace.work(rows.len())?;
        change(rows);
        Ok(())
    })
}

/// Nearest centre in the frame.
#[derive(Debug)]
pub(crate) struct NearestCentre {
    pub frame: Frame,
    pub centres: Array2<f64>,
}

impl Assign for NearestCentre {
    fn n_features(&self) -> usize {
        self.frame.n_features()
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        let features = features.dense()?;
        let x = self.frame.apply(&features)?;
        Ok(nearest(x.view(), self.centres.view(), &())?.into_iter().map(|l| l as usize).collect())
    }

    #[cfg(feature = "serde")]
    fn stored(&self) -> Option<Vec<Parts>> {
        let parts = Parts::new(KIND).table("centres", &self.centres);
        Some(vec![self.frame.stored(parts)])
    }
}

#[cfg(feature = "serde")]
crate::stored::assigner!("nearest-centre", NearestCentre);

#[cfg(feature = "serde")]
impl NearestCentre {
    fn restored(parts: &mut Parts) -> Result<Self> {
        let (frame, centres) = (Frame::restored(parts)?, parts.take_table("centres")?);
        crate::stored::check_table("centres", centres.dim(), frame.n_features())?;
        Ok(NearestCentre { frame, centres })
    }
}

/// The nearest centre of every row.
pub(crate) fn nearest(
    x: ArrayView2<'_, f64>,
    centres: ArrayView2<'_, f64>,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let parallel = x.nrows() > CHUNK && rayon::current_num_threads() > 1;
    kmeans::try_assign(x, centres, parallel, observer)
}

/// Sums of the rows of each group, and their numbers.
pub(crate) fn sums(
    x: ArrayView2<'_, f64>,
    group: impl Fn(usize) -> usize + Sync,
    groups: usize,
    observer: &dyn Observer,
) -> Result<(Array2<f64>, Vec<usize>)> {
    let (mut sum, mut count) = (room::table(groups, x.ncols())?, vec![0usize; groups]);
    let stop = Stop::new(observer);
    // Of a chunk only the groups that have a row in it: there may be more groups than rows.
    let part = |rows: Range<usize>| {
        if stop.asked() {
            return Ok(None);
        }
        let of: Vec<usize> = rows.clone().map(&group).collect();
        let mut seen = of.clone();
        seen.sort_unstable();
        seen.dedup();
        let mut sum = room::table(seen.len(), x.ncols())?;
        for (i, g) in rows.zip(of) {
            let mut row = sum.row_mut(seen.binary_search(&g).unwrap_or(0));
            row += &x.row(i);
        }
        Ok(Some((seen, sum)))
    };
    let found: Result<()> = ordered_chunks(x.nrows(), CHUNK, part, Ok(()), |done, part| {
        done?;
        if let Some((seen, part)) = part? {
            for (g, row) in seen.into_iter().zip(part.rows()) {
                let mut to = sum.row_mut(g);
                to += &row;
            }
        }
        Ok(())
    });
    found?;
    stop.check()?;
    (0..x.nrows()).for_each(|i| count[group(i)] += 1);
    Ok((sum, count))
}

/// Moves every centre that has rows to their mean.
pub(crate) fn take_means(
    x: ArrayView2<'_, f64>,
    labels: &[u32],
    centres: &mut Array2<f64>,
    observer: &dyn Observer,
) -> Result<()> {
    let (sum, count) = sums(x, |i| labels[i] as usize, centres.nrows(), observer)?;
    for ((mut centre, sum), &count) in centres.rows_mut().into_iter().zip(sum.rows()).zip(&count) {
        if count > 0 {
            centre.assign(&sum);
            centre /= count as f64;
        }
    }
    Ok(())
}

/// Squared distance of every row to the centre of its label, summed.
pub(crate) fn inertia(
    x: ArrayView2<'_, f64>,
    labels: &[u32],
    centres: ArrayView2<'_, f64>,
    observer: &dyn Observer,
) -> Result<f64> {
    let stop = Stop::new(observer);
    let sum = consilience_num::reduce::ordered_sum(x.nrows(), CHUNK, |rows| match stop.asked() {
        true => 0.0,
        false => rows.map(|i| square(x, i, centres, labels[i] as usize)).sum(),
    });
    stop.check()?;
    Ok(sum)
}

/// Squared distance of row i to centre c.
pub(crate) fn square(
    x: ArrayView2<'_, f64>,
    i: usize,
    centres: ArrayView2<'_, f64>,
    c: usize,
) -> f64 {
    Zip::from(x.row(i)).and(centres.row(c)).fold(0.0, |s, a, b| s + (a - b) * (a - b))
}

/// First centres: means of labelled sets, then objects far from all of them.
///
/// Sets of a single object count where all sets are classes; with pairs they only say what an
/// object is not. Of more sets than centres, the largest comes first and then, time and again, the
/// one whose size times squared distance to the nearest chosen is largest (Basu, Bilenko and Mooney
/// 2004, weighted farthest-first). What is missing is drawn as in k-means++. Fewer come out where
/// fewer rows are distinct.
pub(crate) fn first_centres(
    x: ArrayView2<'_, f64>,
    side: &SideInformation,
    k: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let sets: Vec<&Vec<usize>> = starting(side).collect();
    let mut pace = Pace::new(observer);
    let means = means_of(x, sets.iter().copied(), &mut pace)?;
    let mut centres = Array2::zeros((0, x.ncols()));
    let mut chosen = Vec::new();
    if sets.len() <= k {
        chosen.extend(0..sets.len());
    } else {
        let mut reach = vec![f64::INFINITY; sets.len()];
        while chosen.len() < k {
            let gain = |s: usize| {
                let size = sets[s].len() as f64;
                if chosen.is_empty() { size } else { size * reach[s] }
            };
            let best =
                (0..sets.len()).fold(0, |best, s| if gain(s) > gain(best) { s } else { best });
            if !(gain(best) > 0.0) {
                break;
            }
            chosen.push(best);
            for s in 0..sets.len() {
                pace.work(x.ncols())?;
                let apart = &means.row(s) - &means.row(best);
                reach[s] = reach[s].min(apart.dot(&apart));
            }
        }
        chosen.sort_unstable();
    }
    for &s in &chosen {
        // Shapes agree by construction.
        let _ = centres.push_row(means.row(s));
    }
    drop(means);
    fill(x, centres, k, seed, &mut pace)
}

/// The labelled sets that centres may start from.
fn starting(side: &SideInformation) -> impl Iterator<Item = &Vec<usize>> {
    side.labelled_sets().iter().filter(|s| s.len() > 1 || side.are_classes())
}

/// Whether [`best_start`] begins twice.
pub(crate) fn begins_twice(side: &SideInformation, k: usize) -> bool {
    sets_to_start(side) > k
}

/// How many labelled sets centres may start from.
pub(crate) fn sets_to_start(side: &SideInformation) -> usize {
    starting(side).count()
}

/// Share of the unit of its objective by which the second start has to be better. Where the
/// objective is not what makes the classes, the sets know more than a slightly lower one does.
const GAIN: f64 = 0.07;

/// What came of a start.
pub(crate) struct Begun<T> {
    pub objective: f64,
    /// What gains are measured by.
    pub unit: f64,
    pub found: T,
}

/// The better of what comes of the [`first_centres`] and, of more labelled sets than centres, of a
/// k-means++ start that knows nothing of the sets: where one class is much larger than the others
/// most sets are of it, and so are several of the first centres, which no iteration mends.
pub(crate) fn best_start<T>(
    x: ArrayView2<'_, f64>,
    side: &SideInformation,
    k: usize,
    seed: Seed,
    observer: &dyn Observer,
    mut run: impl FnMut(Array2<f64>, &dyn Observer) -> Result<Begun<T>>,
) -> Result<T> {
    let first = run(first_centres(x, side, k, seed, observer)?, observer)?;
    if !begins_twice(side, k) {
        return Ok(first.found);
    }
    let parallel = x.nrows() > CHUNK && rayon::current_num_threads() > 1;
    let seed = seed.derive("second centres", 0);
    let rows = kmeans::spread_rows(x, None, k, seed, parallel, observer)?;
    let second = run(x.select(Axis(0), &rows), &OnlyCancels(observer))?;
    let better = second.objective < first.objective - GAIN * first.unit;
    Ok(if better { second.found } else { first.found })
}

/// The mean of each set of rows.
pub(crate) fn means_of<'a>(
    x: ArrayView2<'_, f64>,
    sets: impl ExactSizeIterator<Item = &'a Vec<usize>>,
    pace: &mut Pace<'_>,
) -> Result<Array2<f64>> {
    let mut means = room::table(sets.len(), x.ncols())?;
    for (mut mean, set) in means.rows_mut().into_iter().zip(sets) {
        for &i in set {
            pace.work(x.ncols())?;
            mean += &x.row(i);
        }
        mean /= set.len().max(1) as f64;
    }
    Ok(means)
}

/// Draws objects with probability in proportion to the squared distance to the nearest centre.
fn fill(
    x: ArrayView2<'_, f64>,
    mut centres: Array2<f64>,
    k: usize,
    seed: Seed,
    pace: &mut Pace<'_>,
) -> Result<Array2<f64>> {
    let mut stream = seed.derive("first centres", 0).stream();
    let (n, d) = x.dim();
    let mut mass = room::filled(n, f64::INFINITY)?;
    let mut nearer = |mass: &mut [f64], centres: &Array2<f64>, c: usize| {
        mass.iter_mut().enumerate().try_for_each(|(i, mass)| {
            pace.work(d)?;
            *mass = mass.min(square(x, i, centres.view(), c));
            Ok(())
        })
    };
    for c in 0..centres.nrows() {
        nearer(&mut mass, &centres, c)?;
    }
    while centres.nrows() < k {
        let drawn =
            if centres.nrows() == 0 { Some(stream.below(n)) } else { stream.weighted(&mass) };
        let Some(next) = drawn else { break };
        let _ = centres.push_row(x.row(next));
        let c = centres.nrows() - 1;
        nearer(&mut mass, &centres, c)?;
    }
    Ok(centres)
}

/// Gives every empty cluster the free object that is farthest from its centre, unless that would
/// empty another; the centres follow at the next means. Whether anything moved.
pub(crate) fn refill(
    x: ArrayView2<'_, f64>,
    labels: &mut [u32],
    centres: &mut Array2<f64>,
    free: impl Fn(usize) -> bool,
    observer: &dyn Observer,
) -> Result<bool> {
    let k = centres.nrows();
    let mut count = vec![0usize; k];
    labels.iter().for_each(|&l| count[l as usize] += 1);
    if count.iter().all(|&c| c > 0) {
        return Ok(false);
    }
    let (mut distance, mut pace) = (room::zeros::<f64>(labels.len())?, Pace::new(observer));
    for (i, distance) in distance.iter_mut().enumerate().filter(|&(i, _)| free(i)) {
        pace.work(x.ncols())?;
        *distance = square(x, i, centres.view(), labels[i] as usize);
    }
    let mut moved = false;
    for empty in 0..k {
        if count[empty] > 0 {
            continue;
        }
        pace.work(labels.len())?;
        let mut worst = (0.0, None);
        for (i, &d) in distance.iter().enumerate() {
            if d > worst.0 && count[labels[i] as usize] > 1 {
                worst = (d, Some(i));
            }
        }
        let Some(i) = worst.1 else { continue };
        count[labels[i] as usize] -= 1;
        count[empty] = 1;
        labels[i] = empty as u32;
        distance[i] = 0.0;
        centres.row_mut(empty).assign(&x.row(i));
        moved = true;
    }
    Ok(moved)
}

/// Leaves out the clusters without an object; the numbers of those kept.
pub(crate) fn drop_empty(labels: &mut [u32], centres: &mut Array2<f64>) -> Vec<usize> {
    let mut count = vec![0usize; centres.nrows()];
    labels.iter().for_each(|&l| count[l as usize] += 1);
    let kept: Vec<usize> = (0..count.len()).filter(|&c| count[c] > 0).collect();
    if kept.len() < count.len() {
        let mut number = vec![0u32; count.len()];
        kept.iter().enumerate().for_each(|(new, &old)| number[old] = new as u32);
        labels.iter_mut().for_each(|l| *l = number[*l as usize]);
        *centres = centres.select(Axis(0), &kept);
    }
    kept
}
