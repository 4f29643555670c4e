use std::cmp::Ordering::Equal;

use consilience_core::scores::Contingency;
use consilience_core::ties::first_largest;
use consilience_core::{
    Dense, Error, Features, Fit, Linkage, MemoryBudget, Observer, Partition, Report, Result, Seed,
    Stop, ensure, with_rows,
};
use consilience_num::Float;
use consilience_num::kmeans::assign;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

use crate::agglomerative::Tree;
use crate::columns::{Squares, columns};
use crate::distinct::Distinct;
use crate::input::{partition, unit_table};
use crate::{Missing, Scale};

/// A mean silhouette from which a structure counts as reasonable (Kaufman, Rousseeuw 1990).
const REASONABLE: f64 = 0.5;
/// And one from which it counts as strong, as two clusters have to be: what is far from all else is
/// one against the rest, however many these are.
const STRONG: f64 = 0.7;
/// A Jaccard index from which a cluster counts as highly stable (Hennig 2008).
const STABLE: f64 = 0.85;
/// No number is believed whose silhouette is further below the highest: it divides what is one
/// cluster, as halves do as well where this has edges.
const GAP: f64 = 0.15;
/// By how much a silhouette has to be higher for clusters to be other ones.
const CLEARLY: f64 = 0.1;
/// Of fewer distinct objects less than two are in one half.
const FEWEST: usize = 4;
/// How often the objects are halved.
const SPLITS: u64 = 3;

/// How many clusters are features, where these are compact and well separated?
///
/// Ward's tree of the objects is cut into 2, 3, ... clusters. Believed is the largest of these
/// numbers with clusters that are far apart and come again:
///
/// - Their mean silhouette, how much nearer objects are to their own cluster than to the nearest
///   other one, is at least 0.5, from which a structure is said to be reasonable; for two clusters
///   0.7, from which it is strong, since a class far from all others is one against the rest. It
///   is at most 0.15 below the highest of all numbers: what is further below cuts clusters in two.
/// - Each is found on random halves of the objects, equal ones in the same half. Where the tree of
///   a half is cut at the same number and all objects are labelled by the nearest mean, some
///   cluster is like it, with a Jaccard index of at least 0.85 on the mean of three splits, from
///   which a cluster is *highly stable*. Clusters of fewer than 4 distinct objects do not count
///   as found, since one half has one of them at most.
///
/// Chains, rings, outliers and long tails have silhouettes as high, but other clusters on each
/// half; and of a cluster that is cut in two, no half comes again.
///
/// Elsewhere it names no number, and the criteria of an ensemble's members can be asked
/// (`trust::ClusterNumber`). `model::ConsensusClustering` of no given number asks both, in this
/// order.
///
/// ```
/// use consilience::Seed;
/// use consilience::generate::SilhouetteNumber;
/// use consilience::ndarray::Array2;
///
/// // Nine groups of 20 objects on a grid.
/// let mut stream = Seed(1).stream();
/// let place = |i: usize, j: usize| if j == 0 { i / 60 } else { i / 20 % 3 };
/// let x = Array2::from_shape_fn((180, 2), |(i, j)| 8.0 * place(i, j) as f64 + stream.normal());
/// let table = SilhouetteNumber::new().choose(&x)?;
/// assert_eq!(table.clusters, Some(9));
///
/// let noise = Array2::from_shape_simple_fn((180, 2), || stream.normal());
/// assert_eq!(SilhouetteNumber::new().choose(&noise)?.clusters, None);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(m^2 d + m K^2) for m objects, 1,000 of them drawn at random where there are more, and K
/// numbers that are tried, O(m K d) for each whose silhouette is high, and O(n d) for the
/// scale. Memory O(m (d + K)), and 4 m^2 bytes for more than 32 features.
///
/// # Errors
/// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) and
/// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) for bad features; objects
/// with features that are missing, which are NaN, are left out.
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for sparse
/// features, which are best reduced first, a largest number below 2 and fewer than 4 objects to
/// draw; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Rousseeuw, "Silhouettes", 1987; Kaufman, Rousseeuw, "Finding Groups in Data", 1990, Chapter 2
/// (the limit of 0.5). Hennig, "Dissolution point and isolation robustness", 2008, and his package
/// fpc (stability of single clusters, and its limits). Both together are ours.
#[doc(alias = "silhouette")]
#[doc(alias = "silhouette_score")]
#[doc(alias = "choose_k")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SilhouetteNumber {
    scale: Scale,
    largest: Option<usize>,
    objects: usize,
    seed: Seed,
    budget: MemoryBudget,
}

/// The numbers of clusters that were tried on features, and which of them is believed.
///
/// From [`SilhouetteNumber::choose`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SilhouetteTable {
    /// One row per number of clusters, ascending from 2; none where there are too few objects.
    pub rows: Vec<SilhouetteRow>,
    /// The number of clusters, where it is believed.
    pub clusters: Option<usize>,
}

/// One number of clusters.
///
/// Part of a [`SilhouetteTable`], from [`SilhouetteNumber::choose`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SilhouetteRow {
    /// k.
    pub clusters: usize,
    /// Mean silhouette of the objects, from -1 to 1; that of an object alone in its cluster is 0.
    pub silhouette: f64,
    /// How stable its least stable cluster is: the mean Jaccard index with what is found on halves
    /// of the objects, at most 1, and 0 for one of fewer than 4 distinct objects. `None` where it
    /// was not looked at.
    pub stability: Option<f64>,
}

impl Default for SilhouetteNumber {
    fn default() -> Self {
        Self::new()
    }
}

impl SilhouetteNumber {
    /// On features as they are, with default settings.
    pub fn new() -> Self {
        SilhouetteNumber {
            scale: Scale::None,
            largest: None,
            objects: 1_000,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// How features are brought to a common scale. Default [`Scale::None`].
        pub fn scale(mut self, scale: Scale) { self.scale = scale }

        /// The largest number of clusters that is tried. Default twice the square root of the
        /// number of objects that are looked at; at least 2. No more than half as many as there
        /// are distinct objects are tried.
        pub fn up_to(mut self, largest: usize) { self.largest = Some(largest) }

        /// How many objects are drawn where there are more. Default 1,000; at least 4.
        pub fn objects(mut self, objects: usize) { self.objects = objects }

        /// Seed of the draws and of the halves. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory distances or means may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The table alone.
    ///
    /// # Errors
    /// As [`SilhouetteNumber`].
    pub fn choose<'a>(&self, features: impl Into<Features<'a>>) -> Result<SilhouetteTable> {
        Ok(self.fit(features, &())?.output)
    }

    /// The table with a report; its note says what was found.
    ///
    /// # Errors
    /// As [`SilhouetteNumber`]; [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn fit<'a>(
        &self,
        features: impl Into<Features<'a>>,
        observer: &dyn Observer,
    ) -> Result<Fit<SilhouetteTable>> {
        let features = features.into();
        let largest = self.largest.unwrap_or(usize::MAX);
        ensure!(largest >= 2, invalid("up to {largest} clusters; expected at least 2"));
        let objects = self.objects;
        ensure!(objects >= 4, invalid("{objects} objects to draw; expected at least 4"));
        observer.check()?;
        let mut report = Report::default();
        let x = report.stage("objects", || Ok::<_, Error>(self.drawn(features)?.1))?;
        let table = report.stage("silhouettes", || self.table(&x, observer))?;
        report.notes.extend(table.said());
        Ok(Fit::new(table, report))
    }

    /// The objects that are looked at, by their numbers and on the scale of all of them.
    fn drawn(&self, features: Features<'_>) -> Result<(Vec<usize>, Array2<f64>)> {
        Missing::Member.check(&features)?;
        let mut stream = self.seed.derive("silhouette objects", 0).stream();
        let (rows, x) = with_rows!(features.dense()?, |x| {
            let whole: Vec<usize> = (0..x.nrows()).filter(|&i| is_whole(x, i)).collect();
            let drawn = stream.sample(whole.len(), self.objects);
            let rows: Vec<usize> = drawn.into_iter().map(|at| whole[at]).collect();
            let x = self.scale.rows(x, &rows);
            (rows, x)
        });
        Ok((rows, unit_table(&Dense::from(x.view()))))
    }

    /// So many clusters of the objects that were looked at, all others at the nearest mean, where
    /// these have a clearly higher mean silhouette than given ones: those of members that divide a
    /// large cluster rather than part small ones. Never where features have holes.
    ///
    /// # Errors
    /// As [`SilhouetteNumber`]; [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    #[doc(hidden)]
    pub fn clearer(
        &self,
        features: Features<'_>,
        clusters: usize,
        than: &Partition,
        observer: &dyn Observer,
    ) -> Result<Option<Partition>> {
        let (rows, x) = self.drawn(features)?;
        let given = than.select(&rows)?;
        let all: Vec<usize> = (0..features.n_objects()).collect();
        let whole = with_rows!(features.dense()?, |x| all.iter().all(|&i| is_whole(x, i)));
        if !whole || !given.is_complete() {
            return Ok(None);
        }
        let own = partition(&self.tree(x.clone(), observer)?.cut(clusters)?)?;
        let silhouette = |p: &Partition| -> Result<f64> {
            Ok(row(&distances_to(&x, p, observer)?, p, p).silhouette)
        };
        if silhouette(&own)? < silhouette(&given)? + CLEARLY {
            return Ok(None);
        }
        self.budget.check_table("scaled features", all.len(), features.n_features(), 16)?;
        // Means on the scale of all objects, whose unit may be another.
        let scaled = with_rows!(features.dense()?, |x| self.scale.rows(x, &all));
        let scaled = unit_table(&Dense::from(scaled.view()));
        let (seen, every) = (scaled.select(Axis(0), &rows), (0..rows.len()).collect::<Vec<_>>());
        let means = means(&seen, &every, &own);
        partition(&assign(scaled.view(), means.view(), true)).map(Some)
    }

    fn table(&self, x: &Array2<f64>, observer: &dyn Observer) -> Result<SilhouetteTable> {
        let m = x.nrows();
        let Distinct { weights, kind, .. } = Distinct::new(x.clone());
        let root = (2.0 * (m as f64).sqrt()) as usize;
        let largest = self.largest.unwrap_or(root).min(weights.len() / 2);
        if largest < 2 {
            return Ok(SilhouetteTable { rows: Vec::new(), clusters: None });
        }
        self.budget.check_table("silhouettes", m, largest, size_of::<f64>())?;
        let tree = self.tree(x.clone(), observer)?;
        let rows = silhouettes(x, &tree, largest, observer)?;
        let mut table = SilhouetteTable { rows, clusters: None };
        let best = table.rows.iter().map(|row| row.silhouette).fold(f64::MIN, f64::max);
        let high = |row: &SilhouetteRow| row.silhouette >= asked(row.clusters).max(best - GAP);
        if !table.rows.iter().any(high) {
            return Ok(table);
        }
        let halves = self.halves(x, &kind, observer)?;
        for row in table.rows.iter_mut().rev().filter(|row| high(row)) {
            observer.check()?;
            let clusters = partition(&tree.cut(row.clusters)?)?;
            let stability =
                if holds_few(&clusters, &kind) { 0.0 } else { stability(x, &clusters, &halves)? };
            row.stability = Some(stability);
            if stability >= STABLE {
                // Where the last number is as good, more may be.
                table.clusters = Some(row.clusters).filter(|&k| k < largest);
                break;
            }
        }
        Ok(table)
    }

    fn tree(&self, x: Array2<f64>, observer: &dyn Observer) -> Result<Tree> {
        let mut report = Report::default();
        Tree::new(x, Linkage::Ward, self.budget, &mut report, observer)
    }

    /// Random halves of the objects with their trees. Equal objects are in one half: in both they
    /// would be found again wherever a tree is cut.
    fn halves(&self, x: &Array2<f64>, kind: &[u32], observer: &dyn Observer) -> Result<Vec<Half>> {
        let kinds = kind.iter().max().map_or(0, |&last| last as usize + 1);
        let mut halves = Vec::new();
        for split in 0..SPLITS {
            let mut first = vec![false; kinds];
            first[..kinds / 2].fill(true);
            self.seed.derive("silhouette halves", split).stream().shuffle(&mut first);
            for half in [true, false] {
                let of_half = |&i: &usize| first[kind[i] as usize] == half;
                let rows: Vec<usize> = (0..x.nrows()).filter(of_half).collect();
                let tree = self.tree(x.select(Axis(0), &rows), observer)?;
                halves.push(Half { rows, tree });
            }
        }
        Ok(halves)
    }
}

/// Half of the objects.
struct Half {
    rows: Vec<usize>,
    tree: Tree,
}

/// Whether a cluster has fewer distinct objects than can be expected to be two in each half.
fn holds_few(clusters: &Partition, kind: &[u32]) -> bool {
    let mut kinds = vec![Vec::new(); clusters.n_clusters()];
    for (label, kind) in clusters.iter().zip(kind) {
        let Some(label) = label else { continue };
        if kinds[label].len() < FEWEST && !kinds[label].contains(kind) {
            kinds[label].push(*kind);
        }
    }
    kinds.iter().any(|kinds| kinds.len() < FEWEST)
}

/// How stable the least stable cluster is: its mean Jaccard index with the cluster most like it,
/// where all objects are labelled by the clusters of a half.
fn stability(x: &Array2<f64>, clusters: &Partition, halves: &[Half]) -> Result<f64> {
    let mut alike = vec![0.0; clusters.n_clusters()];
    for Half { rows, tree } in halves {
        let found = partition(&tree.cut(clusters.n_clusters())?)?;
        let found = partition(&assign(x.view(), means(x, rows, &found).view(), true))?;
        let table = Contingency::new(clusters, &found)?;
        let mut best = vec![0.0f64; alike.len()];
        for (own, other, common) in table.cells() {
            let either = table.row_sums()[own] + table.column_sums()[other] - common;
            best[own] = best[own].max(common as f64 / either as f64);
        }
        alike.iter_mut().zip(best).for_each(|(sum, b)| *sum += b / halves.len() as f64);
    }
    Ok(alike.into_iter().fold(f64::INFINITY, f64::min))
}

impl SilhouetteTable {
    /// What was found, in a sentence.
    fn said(&self) -> Option<String> {
        const UNSAID: &str = "the features alone do not say how many clusters";
        let stable = |row: &&SilhouetteRow| row.stability.is_some_and(|s| s >= STABLE);
        if let Some(SilhouetteRow { clusters, silhouette, .. }) = self.rows.iter().find(stable) {
            return Some(if self.clusters.is_some() {
                format!(
                    "{clusters} clusters by the features: mean silhouette {silhouette:.2}, and \
                     halves of the objects have the same ones"
                )
            } else {
                format!(
                    "{UNSAID}: {clusters}, the most that were tried, have a mean silhouette of \
                     {silhouette:.2}, and halves of the objects have the same ones"
                )
            });
        }
        let looked = self.rows.iter().filter(|row| row.stability.is_some());
        let most = looked.max_by(|a, b| a.stability.partial_cmp(&b.stability).unwrap_or(Equal));
        if let Some(SilhouetteRow { clusters, stability: Some(stability), .. }) = most {
            return Some(format!(
                "{UNSAID}: halves of the objects have other ones (with {clusters} Jaccard index \
                 {stability:.2}; {STABLE} is asked for)"
            ));
        }
        let silhouettes = self.rows.iter().map(|row| row.silhouette);
        let SilhouetteRow { clusters, silhouette, .. } =
            self.rows.get(first_largest(silhouettes, 1.0))?;
        Some(format!(
            "{UNSAID}: the mean silhouette is at most {silhouette:.2}, with {clusters} ({} is \
             asked for)",
            asked(*clusters)
        ))
    }
}

/// The silhouette that is asked of so many clusters.
fn asked(clusters: usize) -> f64 {
    if clusters == 2 { STRONG } else { REASONABLE }
}

fn is_whole<F: Float>(x: ArrayView2<'_, F>, i: usize) -> bool {
    x.row(i).iter().all(|v| !v.to_f64().is_nan())
}

/// The mean silhouette of each cut, from two clusters to `largest`.
fn silhouettes(
    x: &Array2<f64>,
    tree: &Tree,
    largest: usize,
    observer: &dyn Observer,
) -> Result<Vec<SilhouetteRow>> {
    let finest = partition(&tree.cut(largest)?)?;
    let sums = distances_to(x, &finest, observer)?;
    (2..=largest)
        .map(|k| {
            observer.check()?;
            Ok(row(&sums, &finest, &partition(&tree.cut(k)?)?))
        })
        .collect()
}

/// Of each object the sum of its distances to the objects of each cluster.
fn distances_to(
    x: &Array2<f64>,
    clusters: &Partition,
    observer: &dyn Observer,
) -> Result<Vec<Vec<f64>>> {
    let (columns, stop) = (columns(x.view())?, Stop::new(observer));
    let labels = clusters.to_signed();
    let of = |i: usize| {
        let mut sums = vec![0.0; clusters.n_clusters()];
        if stop.asked() {
            return sums;
        }
        let point = x.row(i).to_vec();
        let mut squares = vec![0.0; x.nrows()];
        Squares { columns: &columns, point: &point, from: 0, out: &mut squares }.run();
        for (&label, square) in labels.iter().zip(squares) {
            sums[label as usize] += square.sqrt();
        }
        sums
    };
    let sums = (0..x.nrows()).into_par_iter().map(of).collect();
    stop.check()?;
    Ok(sums)
}

/// The mean silhouette of clusters that the finest ones, of which the sums are, were joined to.
fn row(sums: &[Vec<f64>], finest: &Partition, clusters: &Partition) -> SilhouetteRow {
    let (k, sizes) = (clusters.n_clusters(), clusters.sizes());
    let (fine, coarse) = (finest.to_signed(), clusters.to_signed());
    let mut joined = vec![0; finest.n_clusters()];
    fine.iter().zip(&coarse).for_each(|(&f, &c)| joined[f as usize] = c as usize);
    let silhouette = |(sums, &own): (&Vec<f64>, &i64)| {
        let mut far = vec![0.0; k];
        joined.iter().zip(sums).for_each(|(&c, sum)| far[c] += sum);
        let own = own as usize;
        if sizes[own] == 1 {
            return 0.0;
        }
        let inner = far[own] / (sizes[own] - 1) as f64;
        let others = (0..k).filter(|&c| c != own).map(|c| far[c] / sizes[c] as f64);
        let outer = others.fold(f64::INFINITY, f64::min);
        let larger = inner.max(outer);
        if larger > 0.0 { (outer - inner) / larger } else { 0.0 }
    };
    let total: f64 = sums.iter().zip(&coarse).map(silhouette).sum();
    SilhouetteRow { clusters: k, silhouette: total / sums.len() as f64, stability: None }
}

/// The mean of each cluster of these rows.
fn means(x: &Array2<f64>, rows: &[usize], clusters: &Partition) -> Array2<f64> {
    let mut means = Array2::zeros((clusters.n_clusters(), x.ncols()));
    let sizes = clusters.sizes();
    for (&row, label) in rows.iter().zip(clusters.iter()) {
        if let Some(label) = label {
            means.row_mut(label).scaled_add(1.0 / sizes[label] as f64, &x.row(row));
        }
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::CancelFrom;
    use consilience_core::ErrorKind;

    /// So many groups of `each` objects at corners of a grid of width `far`, with spread 1.
    fn grid(groups: usize, each: usize, far: f64, seed: u64) -> Array2<f64> {
        let (side, mut stream) = ((groups as f64).sqrt().ceil() as usize, Seed(seed).stream());
        Array2::from_shape_fn((groups * each, 2), |(i, j)| {
            let at = if j == 0 { i / each / side } else { i / each % side };
            far * at as f64 + stream.normal()
        })
    }

    /// The mean silhouette by its definition.
    fn naive(x: &Array2<f64>, labels: &[u32]) -> f64 {
        let far = |i: usize, j: usize| (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum().sqrt();
        let n = x.nrows();
        let of = |i: usize| {
            let mean = |c: u32| {
                let others = (0..n).filter(|&j| j != i && labels[j] == c);
                let all: Vec<f64> = others.map(|j| far(i, j)).collect();
                (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
            };
            let Some(a) = mean(labels[i]) else { return 0.0 };
            let others = labels.iter().filter(|&&c| c != labels[i]);
            let b = others.filter_map(|&c| mean(c)).fold(f64::INFINITY, f64::min);
            if a.max(b) > 0.0 { (b - a) / a.max(b) } else { 0.0 }
        };
        (0..n).map(of).sum::<f64>() / n as f64
    }

    #[test]
    fn every_row_is_the_definition() {
        for (seed, ties) in [(1, false), (2, true), (3, false)] {
            let mut stream = Seed(seed).stream();
            let x = Array2::from_shape_simple_fn((41, 3), || {
                if ties { stream.below(3) as f64 } else { stream.normal() }
            });
            let found = SilhouetteNumber::new().choose(&x).unwrap();
            assert_eq!(found.rows.len(), 11.min(Distinct::new(x.clone()).len() / 2 - 1));
            let number = SilhouetteNumber::new();
            let x = unit_table(&Features::from(&x).dense().unwrap());
            let tree = number.tree(x.clone(), &()).unwrap();
            for row in &found.rows {
                let expected = naive(&x, &tree.cut(row.clusters).unwrap());
                assert!((row.silhouette - expected).abs() < 1e-12, "{row:?} for {expected}");
            }
        }
    }

    #[test]
    fn separated_groups_are_counted_and_nothing_else_is() {
        // Of 60 draws of each 56 or more are right.
        for groups in [2, 5, 25] {
            let number = |seed| {
                SilhouetteNumber::new().choose(&grid(groups, 20, 7.0, seed)).unwrap().clusters
            };
            let right = (0..10).filter(|&seed| number(seed) == Some(groups)).count();
            assert!(right >= 8, "{right} of 10 draws of {groups} groups");
        }
        for seed in 0..3 {
            let mut stream = Seed(100 + seed).stream();
            let angle = Array2::from_shape_simple_fn((400, 1), || stream.uniform() * 6.3);
            let ring = Array2::from_shape_fn((400, 2), |(i, j)| {
                let a: f64 = angle[[i, 0]];
                (if j == 0 { a.cos() } else { a.sin() }) + 0.02 * stream.normal()
            });
            let tails = Array2::from_shape_simple_fn((400, 2), || stream.normal().powi(3));
            let line = Array2::from_shape_simple_fn((400, 1), || stream.uniform());
            let plane = Array2::from_shape_simple_fn((400, 2), || stream.uniform());
            for (name, x) in [("ring", ring), ("tails", tails), ("line", line), ("plane", plane)] {
                let found = SilhouetteNumber::new().choose(&x).unwrap();
                assert_eq!(found.clusters, None, "{name}: {:?}", found.rows);
            }
        }
    }

    /// Five groups of five distinct objects, each there four times.
    #[test]
    fn equal_objects_are_no_clusters_of_their_own() {
        let at = |i: usize, j: usize| (i / 20 * 9) as f64 + (i * (j + 2) % 5) as f64 * 0.2;
        let x = Array2::from_shape_fn((100, 3), |(i, j)| at(i, j));
        let found = SilhouetteNumber::new().choose(&x).unwrap();
        assert!(found.clusters.is_none_or(|k| k == 5), "{:?}", found.rows);
        // Answers from 1 to 5 to two questions.
        for seed in 0..4 {
            let mut stream = Seed(seed).stream();
            let x = Array2::from_shape_simple_fn((300, 2), || stream.below(5) as f64);
            assert_eq!(SilhouetteNumber::new().choose(&x).unwrap().clusters, None);
        }
    }

    /// What has edges is cut at the same place on both halves.
    #[test]
    fn two_intervals_and_two_lumps_are_two() {
        for seed in 0..6 {
            let mut stream = Seed(seed).stream();
            let interval =
                Array2::from_shape_fn((300, 1), |(i, _)| (4 * (i % 2)) as f64 + stream.uniform());
            let lumps = Array2::from_shape_fn((100, 2), |(i, j)| {
                (14 * (i % 2) * (1 - j)) as f64 + stream.normal()
            });
            for x in [interval, lumps] {
                let found = SilhouetteNumber::new().seed(Seed(seed)).choose(&x).unwrap();
                assert_eq!(found.clusters, Some(2), "{:?}", found.rows);
            }
        }
    }

    /// Members that cut a large cluster in two; all others are labelled as those that were drawn.
    #[test]
    fn clusters_of_a_far_higher_silhouette_are_clearer() {
        let mut stream = Seed(1).stream();
        let size = [900, 30, 30, 30];
        let class: Vec<usize> = (0..4).flat_map(|c| vec![c; size[c]]).collect();
        let x = Array2::from_shape_fn((990, 2), |(i, j)| {
            10.0 * [class[i] / 2, class[i] % 2][j] as f64 + stream.normal()
        });
        let of = |f: &dyn Fn(usize) -> usize| {
            Partition::from_labels(&(0..990).map(f).collect::<Vec<_>>()).unwrap()
        };
        let truth = of(&|i| class[i]);
        let cut = of(&|i| if class[i] == 0 { usize::from(x[[i, 0]] > 0.0) } else { 2 + i / 930 });
        for number in [SilhouetteNumber::new(), SilhouetteNumber::new().objects(500)] {
            let clearer = |than: &Partition| number.clearer((&x).into(), 4, than, &()).unwrap();
            assert_eq!(clearer(&cut), Some(truth.clone()));
            assert_eq!(clearer(&truth), None);
        }
    }

    #[test]
    fn what_is_found_is_said() {
        let note = |x: &Array2<f64>, number: SilhouetteNumber| {
            number.fit(x, &()).unwrap().report.notes.join("; ")
        };
        let (x, number) = (grid(4, 30, 9.0, 1), SilhouetteNumber::new());
        assert!(note(&x, number).starts_with("4 clusters by the features: mean silhouette 0."));
        assert!(note(&x, number.up_to(4)).contains("the most that were tried"));
        let x = Array2::from_shape_fn((60, 1), |(i, _)| i as f64);
        assert!(note(&x, number).contains("halves of the objects have other ones"));
        let mut stream = Seed(1).stream();
        let x = Array2::from_shape_simple_fn((90, 6), || stream.normal());
        assert!(note(&x, number).contains("the mean silhouette is at most"));
    }

    /// The number does not depend on the unit, holes cost only the objects that have them, and of
    /// many objects some are drawn.
    #[test]
    fn units_holes_and_many_objects() {
        let x = grid(9, 20, 8.0, 3);
        let number = SilhouetteNumber::new();
        let found = number.choose(&x).unwrap();
        for unit in [1e-160, 3.0, 1e160] {
            let other = number.choose(&(&x * unit)).unwrap();
            assert_eq!(other.clusters, Some(9), "{unit}");
        }
        let mut holes = x.clone();
        (0..180).step_by(7).for_each(|i| holes[[i, i % 2]] = f64::NAN);
        let kept: Vec<usize> = (0..180).filter(|i| i % 7 > 0).collect();
        let without = number.choose(&x.select(Axis(0), &kept)).unwrap();
        assert_eq!(number.choose(&holes).unwrap(), without);
        assert_eq!(without.clusters, found.clusters);
        let many = grid(9, 400, 8.0, 4);
        assert_eq!(number.choose(&many).unwrap().clusters, Some(9));
        let scaled = many.clone() * ndarray::array![[1.0, 1e-6]];
        assert_ne!(number.choose(&scaled).unwrap().clusters, Some(9));
        assert_eq!(number.scale(Scale::ZScore).choose(&scaled).unwrap().clusters, Some(9));
    }

    #[test]
    fn whoever_watches_can_stop_it() {
        let x = grid(9, 20, 8.0, 1);
        for asked in [0, 3, 40] {
            let error = SilhouetteNumber::new().fit(&x, &CancelFrom::new(asked)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled);
        }
    }

    #[test]
    fn bad_input_is_refused_and_few_objects_say_nothing() {
        let kind = |x: &Array2<f64>, number: SilhouetteNumber| {
            number.choose(x).map(|table| table.clusters).map_err(|e| e.kind())
        };
        let (number, x) = (SilhouetteNumber::new(), grid(3, 20, 9.0, 1));
        assert_eq!(kind(&x, number.up_to(1)), Err(ErrorKind::InvalidParameter));
        assert_eq!(kind(&x, number.objects(3)), Err(ErrorKind::InvalidParameter));
        let budget = MemoryBudget::bytes(100);
        assert_eq!(kind(&x, number.memory_budget(budget)), Err(ErrorKind::TooLarge));
        assert_eq!(kind(&Array2::zeros((0, 2)), number), Err(ErrorKind::Empty));
        let infinite = Array2::from_elem((9, 2), f64::INFINITY);
        assert_eq!(kind(&infinite, number), Err(ErrorKind::NonFinite));
        for few in [Array2::zeros((9, 2)), Array2::zeros((1, 1)), x.select(Axis(0), &[0, 1, 2])] {
            assert_eq!(kind(&few, number), Ok(None));
        }
        let missing = Array2::from_elem((9, 2), f64::NAN);
        assert_eq!(kind(&missing, number), Err(ErrorKind::NonFinite));
        let one_each = Array2::from_shape_fn((9, 2), |(i, j)| [f64::NAN, 1.0][(i + j) % 2]);
        assert_eq!(kind(&one_each, number), Ok(None));
    }
}
