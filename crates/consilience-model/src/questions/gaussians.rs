//! Clusters as Gaussians of one scatter, where the features look like as many of these.
//!
//! A tree joins what is near, and cuts a cloud of points where chance left a gap. Where clusters
//! are round and overlap, their centres and their common scatter tell more.

use consilience_core::{Observer, Result, Seed};
use consilience_num::eigen::symmetric_eigen;
use consilience_num::kmeans::{self, KMeansOptions};
use ndarray::{Array1, Array2, ArrayView2, Axis, Zip};

use super::Questioner;
use super::evidence::Evidence;
use super::space::{SHRINKAGE, means, one_hot};

/// Objects that numbers of Gaussians are compared on, at most.
const COMPARED: usize = 2_000;
/// Objects for each Gaussian at least, on the mean.
const LEAST_OBJECTS: usize = 3;
/// Most clusters that are compared with two and three times as many.
const MOST_CLUSTERS: usize = 50;
/// Starts of k-means that Gaussians begin with.
const STARTS: usize = 5;
/// Iterations at most, and the change of memberships below which they end.
const ITERATIONS: usize = 100;
const STILL: f64 = 1e-4;
/// How far memberships go in an iteration where answers join them: all at once they may change
/// places for ever.
const DAMPING: f64 = 0.5;
/// Turns in which workers are judged by the clusters.
const TURNS: usize = 2;
/// How much more probable answers must be, in logarithms, under the clusters of the tree.
const MARGIN: f64 = 5.0;
/// Bytes for an object and a cluster.
pub(super) const ENTRY: usize = 40;

/// What follows from the answers: two objects and their log-odds of belonging together.
type Link = (usize, usize, f64);

/// Memberships, and a bound of the log-likelihood of the objects.
struct Fitted {
    q: Array2<f64>,
    bound: f64,
}

/// The objects, and their scatter.
struct Objects<'a> {
    x: ArrayView2<'a, f64>,
    total: Array2<f64>,
}

impl<'a> Objects<'a> {
    fn of(x: ArrayView2<'a, f64>) -> Self {
        Objects { x, total: x.t().dot(&x) / x.nrows() as f64 }
    }

    /// The best of k-means' clusters, as Gaussians; `None` where objects are equal.
    fn alone(&self, k: usize, seed: Seed, observer: &dyn Observer) -> Result<Option<Fitted>> {
        let options = KMeansOptions::new(k).restarts(STARTS).seed(seed);
        let found = kmeans::fit(self.x, None, &options, observer)?;
        if found.centres.nrows() < k {
            return Ok(None);
        }
        self.fitted(one_hot(&found.assignment, k), &[], observer)
    }

    /// Gaussians of one scatter from memberships on, by expectation and maximisation; those of
    /// linked objects in the mean field of each other. O(n p k) time for an iteration.
    fn fitted(
        &self,
        mut q: Array2<f64>,
        links: &[Link],
        observer: &dyn Observer,
    ) -> Result<Option<Fitted>> {
        let mut bound = f64::NEG_INFINITY;
        for _ in 0..ITERATIONS {
            observer.check()?;
            let Some((scores, constant)) = self.scores(&q) else { return Ok(None) };
            let mut next = scores.clone();
            for &(i, j, odds) in links {
                for (to, from) in [(i, j), (j, i)] {
                    next.row_mut(to).scaled_add(odds, &q.row(from));
                }
            }
            next.rows_mut().into_iter().for_each(soft_max);
            if !links.is_empty() {
                next.zip_mut_with(&q, |next, &q| *next = DAMPING * *next + (1.0 - DAMPING) * q);
            }
            let mut change = 0.0f64;
            Zip::from(&next).and(&q).for_each(|a, b| change = change.max((a - b).abs()));
            q = next;
            bound = constant;
            Zip::from(&q).and(&scores).for_each(|&q, &score| {
                bound += if q > 0.0 { q * (score - q.ln()) } else { 0.0 };
            });
            if change < STILL {
                break;
            }
        }
        Ok(Some(Fitted { q, bound }))
    }

    /// Logarithms of shares times densities, but for what is common to all clusters of an object,
    /// whose sum over the objects comes beside them. `None` where there is no scatter.
    fn scores(&self, q: &Array2<f64>) -> Option<(Array2<f64>, f64)> {
        let (n, p) = (self.x.nrows() as f64, self.x.ncols());
        let (centres, sizes) = means(self.x, q);
        let mut scaled = centres.clone();
        for (mut row, size) in scaled.rows_mut().into_iter().zip(&sizes) {
            row *= (size / n).sqrt();
        }
        let mut within = &self.total - &scaled.t().dot(&scaled);
        let mean = within.diag().sum() / p as f64;
        let spread = self.total.diag().sum() / p as f64;
        if !(mean > 1e-9 * spread) {
            return None;
        }
        let shrinkage = (p as f64 / n).clamp(SHRINKAGE.0, SHRINKAGE.1);
        within *= 1.0 - shrinkage;
        within.diag_mut().mapv_inplace(|v| v + shrinkage * mean);
        let eigen = symmetric_eigen(within.view())?;
        let mut inverse = eigen.vectors.clone();
        for (mut column, value) in inverse.columns_mut().into_iter().zip(&eigen.values) {
            column /= value.max(1e-9 * mean);
        }
        let inverse = inverse.dot(&eigen.vectors.t());
        let turned = centres.dot(&inverse);
        let mut scores = self.x.dot(&turned.t());
        let offsets: Array1<f64> = (0..centres.nrows())
            .map(|c| (sizes[c] / n).ln() - 0.5 * turned.row(c).dot(&centres.row(c)))
            .collect();
        scores += &offsets;
        let volume: f64 = eigen.values.iter().map(|v| v.max(1e-9 * mean).ln()).sum();
        let square = (&inverse * &self.total).sum();
        Some((scores, -0.5 * n * (volume + square)))
    }

    /// What the Bayesian information criterion of so many Gaussians is, but for what is common to
    /// all numbers: less is better.
    fn criterion(&self, k: usize, seed: Seed, observer: &dyn Observer) -> Result<Option<f64>> {
        let parameters = k as f64 * (self.x.ncols() + 1) as f64;
        let found = self.alone(k, seed, observer)?;
        let of = |f: Fitted| parameters * (self.x.nrows() as f64).ln() - 2.0 * f.bound;
        Ok(found.map(of))
    }
}

/// Whether the objects look like k Gaussians of one scatter: by the Bayesian information criterion
/// no larger number, up to three times as many, explains them better. Where they are fewer, classes
/// overlap.
pub(super) fn explain(
    x: ArrayView2<'_, f64>,
    k: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<bool> {
    let n = x.nrows();
    let seed = seed.derive("gaussians", 0);
    let rows = seed.stream().sample(n, n.min(COMPARED));
    let mut numbers = vec![2 * k, k + k.div_ceil(2), 3 * k, k + 1];
    numbers.retain(|g| LEAST_OBJECTS * g <= rows.len());
    if !(2..MOST_CLUSTERS).contains(&k) || numbers.is_empty() {
        return Ok(false);
    }
    let sample = x.select(Axis(0), &rows);
    let objects = Objects::of(sample.view());
    let Some(own) = objects.criterion(k, seed, observer)? else { return Ok(false) };
    for number in numbers {
        let other = objects.criterion(number, seed, observer)?;
        if other.is_none_or(|other| other < own) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// In place from logarithms to shares of 1.
fn soft_max(mut row: ndarray::ArrayViewMut1<'_, f64>) {
    let most = row.fold(f64::NEG_INFINITY, |m, &v| m.max(v));
    row.mapv_inplace(|v| (v - most).exp());
    let sum = row.sum();
    row /= sum;
}

/// The most probable cluster of each object, the first of equals.
pub(super) fn best(q: &Array2<f64>) -> Vec<u32> {
    let best = |row: ndarray::ArrayView1<'_, f64>| {
        (1..row.len()).fold(0, |b, c| if row[c] > row[b] { c } else { b }) as u32
    };
    q.rows().into_iter().map(best).collect()
}

impl Questioner {
    /// Memberships in Gaussians by features and answers, from k-means' clusters or those of the
    /// tree, whichever are the more probable in the end; `None` where answers are clearly more
    /// probable under the tree's.
    pub(super) fn by_gaussians(&self, tree: &[u32]) -> Option<Array2<f64>> {
        let components = self.space.components();
        let objects = Objects::of(components);
        let (k, seed) = (self.clusters, self.options.seed.derive("gaussians", 0));
        let alone = objects.alone(k, seed, &()).ok()??;
        let starts = [alone.q, one_hot(tree, k)];
        let found = starts.into_iter().filter_map(|start| self.joined(&objects, start));
        // The first of equals.
        let (_, q, evidence) = found.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
        let same = |labels: &[u32], i: usize, j: usize| (labels[i] == labels[j], 1.0);
        let labels = best(&q);
        let own = evidence.log_posterior(&self.evidence, |i, j| same(&labels, i, j));
        let others = self.evidence.log_posterior(&evidence, |i, j| same(tree, i, j));
        (own + MARGIN >= others).then_some(q)
    }

    /// Memberships by features and answers from a start on, how probable all is, and what workers
    /// do by these clusters.
    fn joined(
        &self,
        objects: &Objects<'_>,
        start: Array2<f64>,
    ) -> Option<(f64, Array2<f64>, Evidence)> {
        let mut evidence = self.evidence.clone();
        evidence.begin_again();
        let mut fitted = Fitted { q: start, bound: 0.0 };
        for _ in 0..TURNS {
            let of = |(&(i, j), asked)| (i, j, evidence.of(asked, 1.0));
            let links: Vec<Link> = evidence.asked.iter().map(of).collect();
            fitted = objects.fitted(fitted.q, &links, &()).ok()??;
            let q = &fitted.q;
            let together = evidence.asked.keys().map(|&(i, j)| q.row(i).dot(&q.row(j)));
            let together: Vec<f64> = together.collect();
            evidence.judge(&together);
        }
        let labels = best(&fitted.q);
        let of = |i: usize, j: usize| (labels[i] == labels[j], 1.0);
        let value = fitted.bound + evidence.log_posterior(&self.evidence, of);
        Some((value, fitted.q, evidence))
    }
}

#[cfg(test)]
mod tests {
    use consilience_core::Partition;
    use consilience_core::scores::adjusted_rand;

    use super::*;
    use crate::{Answer, QuestionerOptions};

    /// Five unequal clouds around the corners of a square and its middle, `gap` deviations from
    /// side to side.
    fn clouds(n: usize, gap: f64, seed: u64) -> (Array2<f64>, Vec<usize>) {
        let mut draw = Seed(seed).derive("clouds", 0).stream();
        let classes: Vec<usize> = (0..n).map(|i| [0, 0, 0, 1, 1, 2, 2, 3, 4][i % 9]).collect();
        let place = |c: usize, j: usize| match c {
            4 => 0.5 * gap,
            corner => (corner >> j & 1) as f64 * gap,
        };
        let x = Array2::from_shape_fn((n, 2), |(i, j)| place(classes[i], j) + draw.normal());
        (x, classes)
    }

    fn ari(found: &Partition, classes: &[usize]) -> f64 {
        adjusted_rand(found, &Partition::from_labels(classes).unwrap()).unwrap()
    }

    /// Each object's density of every cluster, written down from the definition.
    #[test]
    fn scores_are_those_of_gaussians() {
        let (x, classes) = clouds(45, 4.0, 1);
        let labels: Vec<u32> = classes.iter().map(|&c| c as u32).collect();
        let x = &x - &x.mean_axis(Axis(0)).unwrap();
        let q = one_hot(&labels, 5);
        let (scores, constant) = Objects::of(x.view()).scores(&q).unwrap();
        let (centres, sizes) = means(x.view(), &q);
        let mut s = [[0.0f64; 2]; 2];
        for (i, &c) in classes.iter().enumerate() {
            for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                s[a][b] += (x[[i, a]] - centres[[c, a]]) * (x[[i, b]] - centres[[c, b]]) / 45.0;
            }
        }
        let share = (2.0f64 / 45.0).clamp(SHRINKAGE.0, SHRINKAGE.1);
        let mean = 0.5 * (s[0][0] + s[1][1]);
        s.iter_mut().flatten().for_each(|v| *v *= 1.0 - share);
        (s[0][0], s[1][1]) = (s[0][0] + share * mean, s[1][1] + share * mean);
        let volume = s[0][0] * s[1][1] - s[0][1] * s[1][0];
        let mut naive = 0.0;
        for i in 0..45 {
            let log = |c: usize| {
                let d = [x[[i, 0]] - centres[[c, 0]], x[[i, 1]] - centres[[c, 1]]];
                let turned =
                    s[1][1] * d[0] * d[0] - 2.0 * s[0][1] * d[0] * d[1] + s[0][0] * d[1] * d[1];
                (sizes[c] / 45.0).ln() - 0.5 * (volume.ln() + turned / volume)
            };
            naive += log(classes[i]);
            let by = |c: usize| scores[[i, c]] - scores[[i, 0]];
            (1..5).for_each(|c| assert!((by(c) - (log(c) - log(0))).abs() < 1e-9));
        }
        let own: f64 = classes.iter().enumerate().map(|(i, &c)| scores[[i, c]]).sum();
        assert!((own + constant - naive).abs() < 1e-8 * naive.abs());
    }

    #[test]
    fn round_clouds_look_like_gaussians_and_classes_of_several_do_not() {
        for seed in 0..4 {
            for gap in [3.0, 8.0] {
                let x = clouds(270, gap, seed).0;
                let x = &x - &x.mean_axis(Axis(0)).unwrap();
                assert!(explain(x.view(), 5, Seed(seed), &()).unwrap(), "{seed} {gap}");
            }
            let x = clouds(270, 8.0, seed).0;
            let x = &x - &x.mean_axis(Axis(0)).unwrap();
            assert!(!explain(x.view(), 2, Seed(seed), &()).unwrap(), "{seed}");
        }
        let equal = Array2::zeros((40, 3));
        assert!(!explain(equal.view(), 4, Seed(0), &()).unwrap());
    }

    /// The tree cuts where chance left a gap, and answers about two objects cannot put that right.
    #[test]
    fn answers_move_the_borders_of_clouds_that_overlap() {
        let [mut tree, mut before, mut after] = [0.0; 3];
        for seed in 0..4 {
            let (x, classes) = clouds(270, 3.0, seed);
            let mut questioner = QuestionerOptions::new(5).seed(Seed(seed)).start(&x).unwrap();
            assert!(questioner.round);
            before += ari(&questioner.partition().unwrap(), &classes) / 4.0;
            for _ in 0..6 {
                let asked = questioner.propose(20);
                let said = asked.iter().map(|q| {
                    let (i, j) = (q.objects[0], q.objects[1]);
                    Answer::pair(0, i, j, classes[i] == classes[j])
                });
                questioner.answer(&said.collect::<Vec<_>>()).unwrap();
            }
            after += ari(&questioner.partition().unwrap(), &classes) / 4.0;
            assert!(questioner.confidence().iter().all(|p| (0.0..=1.0).contains(p)));
            let of = best(&questioner.by_tree());
            tree += ari(&Partition::from_labels(&of).unwrap(), &classes) / 4.0;
        }
        assert!(after > before + 0.02 && after > tree + 0.05, "{tree} {before} {after}");
    }
}
