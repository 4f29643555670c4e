//! What Gaussian mixtures and fuzzy c-means share: memberships of the objects from parameters of
//! the clusters, and sums over the objects from memberships.

use consilience_core::{
    BaseClusterer, Features, Memberships, MemoryBudget, Observer, Pace, Result, Seed,
    SparseMemberships, Stop, with_rows,
};
use consilience_num::place::Place;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

use crate::KMeans;

/// Objects per task: fixed, so that sums have the same bits at any number of threads.
const CHUNK: usize = 1024;
/// Memberships below it are taken for 0, and the others rescaled.
const LEAST: f64 = 1e-6;

/// Sums over the objects, by cluster.
pub(crate) struct Sums {
    pub weights: Vec<f64>,
    /// Clusters in rows, features in columns.
    pub first: Array2<f64>,
    pub second: Array2<f64>,
    pub objective: f64,
}

impl Sums {
    fn zeros(k: usize, d: usize) -> Self {
        let table = || Array2::zeros((k, d));
        Sums { weights: vec![0.0; k], first: table(), second: table(), objective: 0.0 }
    }

    fn add(&mut self, x: &[f64], cluster: usize, weight: f64) {
        self.weights[cluster] += weight;
        let (first, second) = (self.first.row_mut(cluster), self.second.row_mut(cluster));
        for ((f, s), &x) in first.into_iter().zip(second).zip(x) {
            *f += weight * x;
            *s += weight * (x * x);
        }
    }

    fn join(mut self, other: Self) -> Self {
        self.weights.iter_mut().zip(other.weights).for_each(|(a, b)| *a += b);
        self.first += &other.first;
        self.second += &other.second;
        self.objective += other.objective;
        self
    }
}

/// What both begin with.
pub(crate) struct Start {
    /// The features that vary (all where none does), in columns of mean 0 and a common unit, row
    /// after row in memory.
    pub x: Array2<f64>,
    /// The power of two that they were multiplied by.
    pub unit: f64,
    /// Of a k-means clustering of them.
    pub sums: Sums,
}

/// The features and a k-means clustering of them to start from.
pub(crate) fn start(
    features: Features<'_>,
    clusters: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Start> {
    let features = features.dense()?;
    features.check_clusters(clusters)?;
    let (mut x, unit): (Array2<f64>, f64) = with_rows!(features, |x| {
        let place = Place::of(x);
        (place.rows(x), place.unit)
    });
    // One that is constant says nothing, and a mean over the features must not count it.
    let differs = |&j: &usize| x.column(j).iter().any(|v| *v != x[[0, j]]);
    let varying: Vec<usize> = (0..x.ncols()).filter(differs).collect();
    if (1..x.ncols()).contains(&varying.len()) {
        x = Array2::from_shape_fn((x.nrows(), varying.len()), |(i, j)| x[[i, varying[j]]]);
    } else if !x.is_standard_layout() {
        x = x.as_standard_layout().into_owned();
    }
    if let Some(mean) = x.mean_axis(Axis(0)) {
        x -= &mean;
    }
    let found = KMeans::new().fit(x.view().into(), clusters, seed, observer)?.output;
    let sums = sums(x.view(), found.n_clusters(), observer, |i, _, shares| {
        shares.fill(0.0);
        found.label(i).into_iter().for_each(|c| shares[c] = 1.0);
        0.0
    })?;
    Ok(Start { x, unit, sums })
}

/// Sums over the objects, where `weigh(object, features, weights)` writes what an object weighs in
/// each cluster and gives what it adds to the objective.
pub(crate) fn sums(
    x: ArrayView2<'_, f64>,
    k: usize,
    observer: &dyn Observer,
    weigh: impl Fn(usize, &[f64], &mut [f64]) -> f64 + Sync,
) -> Result<Sums> {
    let ((n, d), stop) = (x.dim(), Stop::new(observer));
    let chunk = |c: usize| {
        let (mut sums, mut weights) = (Sums::zeros(k, d), vec![0.0; k]);
        let (mut pace, rows) = (Pace::new(&stop), c * CHUNK..n.min((c + 1) * CHUNK));
        for i in rows.take_while(|_| pace.work(k * d).is_ok()) {
            let Some(row) = x.row(i).to_slice() else { continue };
            sums.objective += weigh(i, row, &mut weights);
            (0..k).filter(|&c| weights[c] > 0.0).for_each(|c| sums.add(row, c, weights[c]));
        }
        sums
    };
    let chunks: Vec<Sums> = (0..n.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
    stop.check()?;
    Ok(chunks.into_iter().fold(Sums::zeros(k, d), Sums::join))
}

/// The memberships of all objects, of which `share` writes a row, and the sum of what it returns,
/// with the bits of the objective of [`sums`].
pub(crate) fn memberships(
    x: ArrayView2<'_, f64>,
    k: usize,
    budget: MemoryBudget,
    observer: &dyn Observer,
    share: impl Fn(&[f64], &mut [f64]) -> f64 + Sync,
) -> Result<(SparseMemberships, f64)> {
    budget.check_table("memberships", x.nrows(), k, 8)?;
    let (mut values, stop) = (vec![0.0; x.nrows() * k], Stop::new(observer));
    let chunk = |(chunk, rows): (usize, &mut [f64])| {
        let (mut objective, mut pace) = (0.0, Pace::new(&stop));
        let rows = rows.chunks_mut(k).zip(chunk * CHUNK..);
        for (row, i) in rows.take_while(|_| pace.work(x.ncols() * k).is_ok()) {
            let Some(x) = x.row(i).to_slice() else { continue };
            objective += share(x, row);
            row.iter_mut().for_each(|v| *v = if *v < LEAST { 0.0 } else { *v });
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|v| *v /= sum);
        }
        objective
    };
    let parts: Vec<f64> = values.par_chunks_mut(k * CHUNK).enumerate().map(chunk).collect();
    stop.check()?;
    let values = Array2::from_shape_vec((x.nrows(), k), values)
        .map_err(|e| consilience_core::Error::shape(e.to_string()))?;
    let objective = parts.into_iter().fold(0.0, |all, part| all + part);
    Ok((SparseMemberships::of(&Memberships::new(values)?)?, objective))
}

/// A base clusterer of a method with `fit_soft`.
macro_rules! soft_clusterer {
    ($method:ident, $name:literal) => {
        impl BaseClusterer for $method {
            fn name(&self) -> &'static str {
                $name
            }

            fn takes_little_memory(&self) -> bool {
                true
            }

            fn fit(
                &self,
                features: Features<'_>,
                clusters: usize,
                seed: Seed,
                observer: &dyn Observer,
            ) -> Result<Fit<Partition>> {
                let found = self.fit_soft(features, clusters, seed, observer)?;
                let (partition, mut report) = (found.output.hard()?, found.report);
                report.expect_clusters(
                    clusters,
                    partition.n_clusters(),
                    "no object belongs to the others most",
                );
                Ok(Fit::new(partition, report))
            }

            fn member(
                &self,
                features: Features<'_>,
                clusters: usize,
                seed: Seed,
                observer: &dyn Observer,
            ) -> Result<Fit<Member>> {
                let found = self.fit_soft(features, clusters, seed, observer)?;
                Ok(Fit::new(Member::Soft(found.output), found.report))
            }

            fn set_memory_budget(&mut self, budget: MemoryBudget) {
                self.budget = budget;
            }
        }
    };
}

pub(crate) use soft_clusterer;
