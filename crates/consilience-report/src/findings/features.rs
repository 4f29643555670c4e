use consilience_core::{Dense, Objects, Partition, Seed, with_rows};
use consilience_num::svd::{SvdOptions, truncated_svd};
use ndarray::{Array2, ArrayView2};
use serde::Serialize;

use super::name;
use crate::ClusteringReport;

/// Most rows in the projection; of more, so many objects are drawn.
pub(crate) const POINTS: usize = 2_000;
/// Most clusters whose features are listed.
const MOST_CLUSTERS: usize = 100;
/// Features that are listed of each.
const LISTED: usize = 5;
/// Differences up to this share of a feature's magnitude are those of rounding.
const ROUNDING: f64 = 1e-12;

/// What the features say. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FeatureFindings {
    /// Share of the variance in each of the two directions of the projection.
    pub explained: Vec<f64>,
    /// Objects in the plane of the first two principal components of standardized features; a row
    /// that stands for many counts as often as its objects, of more than 2,000 rows as often as it
    /// is drawn, and is there once.
    pub projection: Vec<ProjectedObject>,
    /// Whether they are only some of all.
    pub sampled: bool,
    /// Of each cluster the features that distinguish it most from all other objects, the strongest
    /// first; the first 100 clusters.
    pub effects: Vec<Vec<FeatureEffect>>,
}

/// An object in the plane. Part of [`Findings`](crate::Findings).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProjectedObject {
    /// Its number.
    pub object: usize,
    /// Its cluster.
    pub cluster: Option<usize>,
    /// First principal component.
    pub x: f64,
    /// Second principal component; 0 where there is only one.
    pub y: f64,
}

/// How a feature distinguishes a cluster. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FeatureEffect {
    /// Its number.
    pub feature: usize,
    /// Its name, or its number.
    pub name: String,
    /// Cohen's d: the difference of the means inside and outside, over the standard deviation
    /// within both; `None` where nothing varies within them, so that any difference is total.
    pub effect: Option<f64>,
    /// Mean inside.
    pub inside: f64,
    /// Mean outside.
    pub outside: f64,
}

pub(super) fn findings(
    report: &ClusteringReport<'_>,
    x: Dense<'_>,
    partition: &Partition,
) -> FeatureFindings {
    let counts = report.ensemble.counts();
    let sums = with_rows!(x, |rows| Sums::of(rows, partition, counts));
    let k = partition.n_clusters().min(MOST_CLUSTERS);
    let effects = (0..k).map(|c| sums.effects(c, &report.feature_names)).collect();
    let objects = Objects::of_ensemble(report.ensemble);
    let drawn = Drawn::of(&objects, counts, x.n_objects(), report.seed);
    let roots: Vec<f64> = drawn.counts.iter().map(|count| count.sqrt()).collect();
    let mut table = with_rows!(x, |rows| sums.standardized(rows, &drawn, objects.counted()));
    for (mut row, root) in table.rows_mut().into_iter().zip(&roots) {
        row *= *root;
    }
    let svd = truncated_svd(&table, &SvdOptions::new(2).seed(report.seed));
    let total: f64 = table.iter().map(|v| v * v).sum();
    let coordinate = |at: usize, column: usize| match svd.values.get(column) {
        Some(value) => svd.left[[at, column]] * value / roots[at],
        None => 0.0,
    };
    let projection = drawn.rows.iter().enumerate().map(|(at, &object)| ProjectedObject {
        object,
        cluster: partition.label(object),
        x: coordinate(at, 0),
        y: coordinate(at, 1),
    });
    FeatureFindings {
        explained: svd.values.iter().map(|v| v * v / total).collect(),
        projection: projection.collect(),
        sampled: x.n_objects() > POINTS,
        effects,
    }
}

/// The rows of the projection.
struct Drawn {
    /// Their rows, ascending.
    rows: Vec<usize>,
    /// How many objects each of them stands for.
    counts: Vec<f64>,
}

impl Drawn {
    /// All rows with their objects or, of many rows, those of some objects: those that are drawn
    /// where each has a row of its own.
    fn of(objects: &Objects<'_>, counts: Option<&[u64]>, n: usize, seed: Seed) -> Self {
        if n <= POINTS {
            let counts = counts.map_or_else(
                || vec![1.0; n],
                |counts| counts.iter().map(|&count| count as f64).collect(),
            );
            return Drawn { rows: (0..n).collect(), counts };
        }
        let some = seed.derive("projection", 0).stream().sample(objects.total(), POINTS);
        let rows = objects.rows_of(some.into_iter().map(|object| object as u64));
        let runs = rows.chunk_by(|a, b| a == b);
        let (rows, counts) = runs.map(|run| (run[0], run.len() as f64)).unzip();
        Drawn { rows, counts }
    }
}

/// Sums over the labelled objects of each cluster.
struct Sums {
    /// Objects of each cluster.
    sizes: Vec<f64>,
    /// The first row, which sums are taken from so that large offsets cost no digits.
    origin: Vec<f64>,
    /// Sums and sums of squares by cluster and feature.
    sum: Array2<f64>,
    square: Array2<f64>,
}

impl Sums {
    fn of<F: Copy + Into<f64>>(
        x: ArrayView2<'_, F>,
        partition: &Partition,
        counts: Option<&[u64]>,
    ) -> Self {
        let (k, d) = (partition.n_clusters(), x.ncols());
        let origin: Vec<f64> = x.row(0).iter().map(|&v| v.into()).collect();
        let mut sums = Sums {
            sizes: vec![0.0; k],
            origin,
            sum: Array2::zeros((k, d)),
            square: Array2::zeros((k, d)),
        };
        for (i, (row, label)) in x.rows().into_iter().zip(partition.iter()).enumerate() {
            let Some(c) = label else { continue };
            let count = counts.map_or(1.0, |counts| counts[i] as f64);
            sums.sizes[c] += count;
            let own = sums.sum.row_mut(c).into_iter().zip(sums.square.row_mut(c));
            for (((sum, square), &v), origin) in own.zip(row).zip(&sums.origin) {
                let v: f64 = v.into() - origin;
                *sum += count * v;
                *square += count * v * v;
            }
        }
        sums
    }

    /// Mean and variance of all labelled objects but those of some cluster.
    fn of_feature(&self, feature: usize, of: impl Fn(usize) -> bool) -> (f64, f64, f64) {
        let (mut n, mut sum, mut square) = (0.0, 0.0, 0.0);
        for c in (0..self.sizes.len()).filter(|&c| of(c)) {
            n += self.sizes[c];
            sum += self.sum[[c, feature]];
            square += self.square[[c, feature]];
        }
        let mean = if n > 0.0 { sum / n } else { 0.0 };
        // Squared deviations: rounding may leave a little below 0.
        (n, mean, (square - mean * sum).max(0.0))
    }

    fn effects(&self, cluster: usize, names: &[String]) -> Vec<FeatureEffect> {
        let mut all: Vec<FeatureEffect> = (0..self.origin.len())
            .filter_map(|feature| {
                let (n, inside, a) = self.of_feature(feature, |c| c == cluster);
                let (rest, outside, b) = self.of_feature(feature, |c| c != cluster);
                let difference = inside - outside;
                let within = ((a + b) / (n + rest - 2.0).max(1.0)).sqrt();
                // What rounding alone could have made is no variation.
                let scale = inside.abs().max(outside.abs()).max(self.origin[feature].abs());
                let varies = within > ROUNDING * scale;
                if n == 0.0 || rest == 0.0 || difference.abs() <= ROUNDING * scale {
                    return None;
                }
                Some(FeatureEffect {
                    feature,
                    name: name(names, feature),
                    effect: varies.then(|| difference / within),
                    inside: inside + self.origin[feature],
                    outside: outside + self.origin[feature],
                })
            })
            .collect();
        let strength = |e: &FeatureEffect| e.effect.map_or(f64::INFINITY, f64::abs);
        all.sort_by(|a, b| strength(b).total_cmp(&strength(a)).then(a.feature.cmp(&b.feature)));
        all.truncate(LISTED);
        all
    }

    /// The features of some objects, each with mean 0 and variance 1 over all of them; one row for
    /// each of theirs.
    fn standardized<F: Copy + Into<f64>>(
        &self,
        x: ArrayView2<'_, F>,
        drawn: &Drawn,
        counted: bool,
    ) -> Array2<f64> {
        let mut table = Array2::from_shape_fn((drawn.rows.len(), x.ncols()), |(at, feature)| {
            x[[drawn.rows[at], feature]].into() - self.origin[feature]
        });
        let n: f64 = drawn.counts.iter().sum();
        for mut column in table.columns_mut() {
            // Sums in the order that they have where no row is counted.
            let sum: f64 = match counted {
                true => column.iter().zip(&drawn.counts).map(|(v, count)| count * v).sum(),
                false => column.sum(),
            };
            let mean = sum / n;
            column -= mean;
            let squares = column.iter().zip(&drawn.counts).map(|(v, count)| count * (v * v));
            let deviation = (squares.sum::<f64>() / n).sqrt();
            let scale = column.iter().fold(mean.abs(), |m, v| m.max(v.abs()));
            if deviation > ROUNDING * scale {
                column /= deviation;
            } else {
                column.fill(0.0);
            }
        }
        table
    }
}
