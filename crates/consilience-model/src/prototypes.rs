//! How one member places objects: by the nearest of a few prototypes.

use consilience_core::{Ensemble, Error, Observer, Partition, Result, Seed, Watch};
use consilience_generate::View;
use consilience_num::kmeans::{KMeansOptions, assign, fit};
use consilience_num::reduce::{map_together, try_map_each};
use ndarray::{Array2, ArrayView2, Axis};

/// Share of the objects that prototypes must give back to their clusters to be enough.
const ENOUGH: f64 = 0.99;
/// Prototypes per cluster, on average, where the mean is not enough; then four times as many, ...
const FIRST: usize = 4;
/// ... up to so many in all. A member that saw no more objects may keep all of them.
const MOST: usize = 4096;
/// Objects per prototype that the prototypes of a large cluster are made from.
const SAMPLE: usize = 64;
/// Objects whose nearest prototypes one task finds.
const TOGETHER: usize = 64;
/// Steps of the k-means that spreads the prototypes of a cluster: they need not be optimal.
const STEPS: usize = 8;

/// A member's view, and prototypes in it with the cluster that each stands for.
///
/// The means of the clusters where objects are nearest to the mean of their own, as in k-means;
/// several per cluster where they are not, and the objects themselves in the end.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::PrototypesFields", into = "crate::stored::PrototypesFields")
)]
pub(crate) struct Prototypes {
    pub(crate) view: View,
    /// A power of two that brings the largest feature seen to 1, so that squares stay in range.
    pub(crate) unit: f64,
    /// Prototypes in rows, times the unit.
    pub(crate) rows: Array2<f64>,
    /// The cluster of each.
    pub(crate) cluster: Vec<u32>,
    /// For each cluster the largest squared distance of an object to its prototype.
    pub(crate) reach: Vec<f64>,
}

impl Prototypes {
    /// Those of every member.
    pub(crate) fn of_members(
        views: Vec<View>,
        x: ArrayView2<'_, f64>,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Vec<Self>> {
        let mut watch = Watch::new(observer, "prototypes", views.len());
        let mut places = Vec::with_capacity(views.len());
        for (u, (view, member)) in views.into_iter().zip(ensemble.members()).enumerate() {
            watch.step(u)?;
            places.push(Self::learn(view, x, member, observer)?);
        }
        watch.finish()?;
        Ok(places)
    }

    fn learn(
        view: View,
        x: ArrayView2<'_, f64>,
        member: &Partition,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let seen: Vec<(usize, u32)> =
            (0..x.nrows()).filter_map(|i| member.label(i).map(|c| (i, c as u32))).collect();
        if seen.is_empty() {
            return Err(Error::empty("a member that labels no object places none"));
        }
        let rows = view.rows(x.select(Axis(0), &seen.iter().map(|s| s.0).collect::<Vec<_>>()));
        let largest = rows.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let unit = match largest > 0.0 {
            true => 2f64.powi((-largest.log2().ceil()).clamp(-1022.0, 1022.0) as i32),
            false => 1.0,
        };
        let labelled = Labelled {
            rows: rows.mapv_into(|v| v * unit),
            labels: seen.into_iter().map(|s| s.1).collect(),
            clusters: member.n_clusters(),
        };
        let (rows, cluster) = labelled.prototypes(observer)?;
        let reach = labelled.reach(&rows, &cluster);
        Ok(Prototypes { view, unit, rows, cluster, reach })
    }

    /// The cluster of every row of features, and its distance to the prototype as a multiple of
    /// the cluster's reach.
    pub(crate) fn place(&self, x: ArrayView2<'_, f64>, clusters: &mut [u32], far: &mut [f64]) {
        // What overflows is as far out as numbers go.
        let within = |v: f64| if v.is_nan() { f64::MAX } else { v.clamp(f64::MIN, f64::MAX) };
        let seen = self.view.rows(x.to_owned()).mapv_into(|v| within(v * self.unit));
        let nearest = assign(seen.view(), self.rows.view(), false);
        let found = clusters.iter_mut().zip(far).zip(seen.rows()).zip(nearest);
        for (((cluster, far), row), p) in found {
            let p = p as usize;
            *cluster = self.cluster[p];
            let square = square(row.iter(), self.rows.row(p).iter());
            *far = (square / self.reach[*cluster as usize]).sqrt();
        }
    }
}

/// The objects that a member saw, as it saw them, in clusters.
struct Labelled {
    rows: Array2<f64>,
    labels: Vec<u32>,
    clusters: usize,
}

impl Labelled {
    /// As few prototypes as give enough objects back to their clusters, with the cluster of each.
    fn prototypes(&self, observer: &dyn Observer) -> Result<(Array2<f64>, Vec<u32>)> {
        let n = self.rows.nrows();
        let mut found = (self.means(), (0..self.clusters as u32).collect::<Vec<_>>());
        let mut per_cluster = FIRST;
        while self.given_back(&found) < ENOUGH {
            observer.check()?;
            let count = self.clusters.saturating_mul(per_cluster).min(MOST.max(self.clusters));
            if n <= MOST && count >= n / 2 {
                return Ok((self.rows.clone(), self.labels.clone()));
            }
            found = self.spread(count, observer)?;
            if count >= MOST {
                break;
            }
            per_cluster *= 4;
        }
        Ok(found)
    }

    fn means(&self) -> Array2<f64> {
        let mut means = Array2::<f64>::zeros((self.clusters, self.rows.ncols()));
        let mut sizes = vec![0.0; self.clusters];
        for (row, &c) in self.rows.rows().into_iter().zip(&self.labels) {
            means.row_mut(c as usize).zip_mut_with(&row, |m, v| *m += v);
            sizes[c as usize] += 1.0;
        }
        for (mut mean, size) in means.rows_mut().into_iter().zip(&sizes) {
            mean /= *size;
        }
        means
    }

    /// Share of the objects whose nearest prototype is of their own cluster.
    fn given_back(&self, (rows, cluster): &(Array2<f64>, Vec<u32>)) -> f64 {
        let nearest = assign(self.rows.view(), rows.view(), rayon::current_num_threads() > 1);
        let right =
            nearest.iter().zip(&self.labels).filter(|&(&p, &c)| cluster[p as usize] == c).count();
        right as f64 / self.labels.len() as f64
    }

    /// About `count` prototypes, for each cluster as its size says, spread by k-means inside of it.
    fn spread(&self, count: usize, observer: &dyn Observer) -> Result<(Array2<f64>, Vec<u32>)> {
        let mut of_cluster = vec![Vec::new(); self.clusters];
        for (i, &c) in self.labels.iter().enumerate() {
            of_cluster[c as usize].push(i);
        }
        let share = count as f64 / self.labels.len() as f64;
        let prototypes = |c: usize| -> Result<Array2<f64>> {
            let seed = Seed(c as u64).derive("prototypes", count as u64);
            let mut objects = of_cluster[c].clone();
            let wanted = ((objects.len() as f64 * share).ceil() as usize).max(1);
            if objects.len() > wanted * SAMPLE {
                let chosen = seed.stream().sample(objects.len(), wanted * SAMPLE);
                objects = chosen.into_iter().map(|p| objects[p]).collect();
            }
            let rows = self.rows.select(Axis(0), &objects);
            let options =
                KMeansOptions::new(wanted).max_iterations(STEPS).seed(seed).parallel(false);
            Ok(fit(rows.view(), None, &options, observer)?.centres)
        };
        let parts = try_map_each(self.clusters, &prototypes)?;
        let mut cluster = Vec::new();
        for (c, part) in parts.iter().enumerate() {
            cluster.resize(cluster.len() + part.nrows(), c as u32);
        }
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        let rows = ndarray::concatenate(Axis(0), &views)
            .map_err(|_| Error::shape("prototypes of clusters that see other features"))?;
        Ok((rows, cluster))
    }

    /// For each cluster the largest squared distance of an object to the nearest prototype of the
    /// cluster that is not the object itself. Clusters without spread, single objects for
    /// instance, reach as far as the median cluster.
    fn reach(&self, rows: &Array2<f64>, cluster: &[u32]) -> Vec<f64> {
        let mut own = vec![Vec::new(); self.clusters];
        for (p, &c) in cluster.iter().enumerate() {
            own[c as usize].push(p);
        }
        let own: Vec<Array2<f64>> = own.iter().map(|own| rows.select(Axis(0), own)).collect();
        let squares = map_together(self.labels.len(), TOGETHER, |i| {
            let away = |p: ndarray::ArrayView1<'_, f64>| square(self.rows.row(i).iter(), p.iter());
            let others = own[self.labels[i] as usize].rows().into_iter().map(away);
            let least = others.filter(|&d| d > 0.0).fold(f64::INFINITY, f64::min);
            if least.is_finite() { least } else { 0.0 }
        });
        let mut reach = vec![0.0f64; self.clusters];
        for (&c, &square) in self.labels.iter().zip(&squares) {
            reach[c as usize] = reach[c as usize].max(square);
        }
        let mut sorted: Vec<f64> = reach.iter().copied().filter(|&r| r > 0.0).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        // Nothing varies at all: every other place is infinitely far.
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(f64::MIN_POSITIVE);
        reach.iter().map(|&r| if r > 0.0 { r } else { median }).collect()
    }
}

fn square<'a>(a: impl Iterator<Item = &'a f64>, b: impl Iterator<Item = &'a f64>) -> f64 {
    a.zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
