use std::ops::Range;

use consilience_core::Microclusters;
use consilience_core::scores::Contingency;
use consilience_core::{
    Ensemble, Error, ErrorKind, Fit, LabelInt, Memberships, MemoryBudget, Observer, Partition,
    RawLabel, Report, Result, Seed, Status,
};
use consilience_num::assignment::max_assignment;
use consilience_num::kmeans::{KMeansOptions, RowSource, fit_source};
use consilience_walk::Diffusion;
use ndarray::Array2;
use rayon::prelude::*;

use crate::kernel::{TILE, dispatch};
use crate::tally::Votes;
use crate::tiles::{self, Tiles, WORTH};
use crate::updater::Updater;
use crate::winners::{self, CountTile};

/// Blocks of one parallel task.
const BLOCKS: usize = 16;
/// Objects asked for whose labels are copied out at a time.
const ASKED: usize = 4096;
/// Rows that the centres of k-means are found on; the others go to the nearest.
const KMEANS_ROWS: usize = 200_000;
const KMEANS_RESTARTS: usize = 10;

impl Updater {
    pub(crate) fn check_member(&self, member: usize) -> Result<()> {
        let m = self.ensemble.n_members();
        if member >= m {
            return Err(Error::out_of_range(format!("member {member} of {m}")));
        }
        Ok(())
    }

    fn check_objects(&self, objects: &[usize]) -> Result<()> {
        let n = self.ensemble.n_objects();
        match objects.iter().find(|&&i| i >= n) {
            Some(i) => Err(Error::out_of_range(format!("object {i} of {n}"))),
            None => Ok(()),
        }
    }

    /// The hard clustering of all objects: each in the common cluster of its largest membership,
    /// the lowest of equals; unlabelled where no member with weight labels it.
    ///
    /// As every [`Partition`] it numbers clusters by their first object; [`Updater::labels_of`]
    /// tells the numbers of common clusters, which stay the same from update to update.
    ///
    /// # Complexity
    /// O(n (s + r)) for a support of s members, whose columns alone are read, in parallel; two
    /// bytes per object.
    pub fn partition(&self) -> Result<Partition> {
        Ok(self.round()?.0)
    }

    /// The rounded clustering, and the common cluster of each of its clusters.
    pub(crate) fn round(&self) -> Result<(Partition, Vec<u16>)> {
        fn numbered<L: LabelInt + RawLabel>(labels: &[L]) -> Result<(Partition, Vec<u16>)> {
            let key = |i: usize| labels[i].key().filter(|_| !labels[i].is_missing());
            let p = Partition::from_fn(labels.len(), key)?;
            let mut numbers = vec![None; p.n_clusters()];
            let mut missing = numbers.len();
            for (i, &l) in labels.iter().enumerate() {
                if missing == 0 {
                    break;
                }
                if let Some(slot) =
                    p.label(i).map(|c| &mut numbers[c]).filter(|slot| slot.is_none())
                {
                    *slot = Some(l.index() as u16);
                    missing -= 1;
                }
            }
            Ok((p, numbers.into_iter().flatten().collect()))
        }
        if self.n_clusters() < u8::MAX as usize {
            numbered(&self.winners::<u8>())
        } else {
            numbered(&self.winners::<u16>())
        }
    }

    fn winners<L: LabelInt>(&self) -> Vec<L> {
        if self.n_clusters() <= tiles::MOST {
            return winners::winners(self);
        }
        let support = self.support();
        let width = Votes::width(self.n_clusters());
        let mut labels = vec![L::MISSING; self.ensemble.n_objects()];
        labels.par_chunks_mut(BLOCKS * width).enumerate().for_each_init(
            || Votes::new(self, &support),
            |votes, (chunk, out)| {
                for (b, out) in out.chunks_mut(width).enumerate() {
                    votes.count((chunk * BLOCKS + b) * width, out.len());
                    votes.winners(out);
                }
            },
        );
        labels
    }

    /// The common clusters of a few objects, `None` where no member with weight labels one.
    ///
    /// ```
    /// use consilience_core::Ensemble;
    /// use consilience_simplex::Updater;
    /// use ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0, 1], [0, 1], [1, 0], [-1, -1]].view())?;
    /// let updater = Updater::new(ensemble, 2)?;
    /// let labels = updater.labels_of(&[2, 1, 3])?;
    /// assert_ne!(labels[0], labels[1]);
    /// assert_eq!(labels[2], None);
    /// # Ok::<(), consilience_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] for an object that does not exist.
    ///
    /// # Complexity
    /// O(m + r) per object, whose labels lie side by side; beyond 300 MB of labels O(s + r) for a
    /// support of s members, each a miss of the caches. No other object is touched.
    pub fn labels_of(&self, objects: &[usize]) -> Result<Vec<Option<usize>>> {
        self.check_objects(objects)?;
        let votes = self.votes_of(objects);
        let label = |row: &[u32]| {
            let best = (1..row.len()).fold(0, |b, c| if row[c] > row[b] { c } else { b });
            (row[best] > 0).then_some(best)
        };
        Ok(votes.chunks(self.n_clusters()).map(label).collect())
    }

    /// Votes of a few objects in units of weight, one row of r each.
    pub(crate) fn votes_of(&self, objects: &[usize]) -> Vec<u32> {
        let (r, support) = (self.n_clusters(), self.support());
        if let Some(mirror) = &self.mirror {
            return mirror.votes(objects, r, self.weights.units());
        }
        let objects: Vec<u32> = objects.iter().map(|&i| i as u32).collect();
        if r <= tiles::MOST {
            return self.votes_by_tiles(&support, objects);
        }
        let mut votes = vec![0u32; objects.len() * r];
        votes.par_chunks_mut(256 * r).zip(objects.par_chunks(256)).for_each(|(votes, objects)| {
            let mut labels = vec![0u16; objects.len()];
            for &u in &support {
                self.alignment.gather(&self.ensemble, u, objects, &mut labels);
                let weight = self.weights.units()[u];
                for (row, &l) in votes.chunks_mut(r).zip(&labels) {
                    if let Some(sum) = row.get_mut(l as usize) {
                        *sum += weight;
                    }
                }
            }
        });
        votes
    }

    fn votes_by_tiles(&self, support: &[usize], mut objects: Vec<u32>) -> Vec<u32> {
        let (r, n) = (self.n_clusters(), objects.len());
        let units: Vec<u32> = support.iter().map(|&u| self.weights.units()[u]).collect();
        objects.resize(n.next_multiple_of(TILE), objects.last().copied().unwrap_or_default());
        let mut votes = vec![0u32; n * r];
        let chunk = |(votes, objects): (&mut [u32], &[u32])| {
            let tiles = Tiles::gathered(&self.ensemble, &self.alignment, support, objects);
            let count = |(tile, rows): (usize, &mut [u32])| {
                dispatch(CountTile { tiles: &tiles, tile, units: &units, clusters: r, rows })
            };
            if support.len() * n < WORTH {
                votes.chunks_mut(TILE * r).enumerate().for_each(count);
            } else {
                votes.par_chunks_mut(TILE * r).enumerate().for_each(count);
            }
        };
        let mut all =
            || votes.par_chunks_mut(ASKED * r).zip(objects.par_chunks(ASKED)).for_each(chunk);
        if support.len() * n < WORTH {
            all();
        } else {
            // To the other threads once, and not for every step.
            rayon::join(all, || ());
        }
        votes
    }

    /// The soft memberships of all objects in the common clusters, `F_i = sum_u gamma_u P_u(i)`
    /// over the members that label the object; their share of the weight is its evidence. Uniform
    /// with evidence 0 where there are none.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] beyond 8 GiB.
    ///
    /// # Complexity
    /// O(n (s + r)) for a support of s members, in parallel; 8 n r bytes.
    pub fn memberships(&self) -> Result<Memberships> {
        let (n, r) = (self.ensemble.n_objects(), self.n_clusters());
        MemoryBudget::default().check_table("memberships", n, r + 1, 8)?;
        let support = self.support();
        let width = Votes::width(r);
        let mut values = vec![0.0; n * r];
        let mut evidence = vec![0.0; n];
        values
            .par_chunks_mut(width * r)
            .zip(evidence.par_chunks_mut(width))
            .enumerate()
            .for_each_init(
                || Votes::new(self, &support),
                |votes, (block, (values, evidence))| {
                    votes.count(block * width, evidence.len());
                    for c in 0..r {
                        for (row, &v) in values.chunks_mut(r).zip(votes.row(c, evidence.len())) {
                            row[c] = f64::from(v);
                        }
                    }
                    self.normalise(values, evidence);
                },
            );
        memberships(values, evidence, r)
    }

    /// The soft memberships of a few objects; see [`Updater::memberships`].
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] for an object that does not exist, [`ErrorKind::Empty`] for none.
    ///
    /// # Complexity
    /// O(m + r) per object, whose labels lie side by side; beyond 300 MB of labels O(s + r) for a
    /// support of s members, each a miss of the caches. No other object is touched.
    pub fn memberships_of(&self, objects: &[usize]) -> Result<Memberships> {
        self.check_objects(objects)?;
        let mut values: Vec<f64> = self.votes_of(objects).into_iter().map(f64::from).collect();
        let mut evidence = vec![0.0; objects.len()];
        self.normalise(&mut values, &mut evidence);
        memberships(values, evidence, self.n_clusters())
    }

    /// Rows of votes to memberships and evidence.
    fn normalise(&self, values: &mut [f64], evidence: &mut [f64]) {
        let r = self.n_clusters();
        for (row, evidence) in values.chunks_mut(r).zip(evidence) {
            let sum: f64 = row.iter().sum();
            *evidence = sum / self.weights.total() as f64;
            row.iter_mut().for_each(|v| *v = if sum > 0.0 { *v / sum } else { 1.0 / r as f64 });
        }
    }

    /// The hard clustering by k-means on the rows of F: objects of like memberships stay together
    /// even where none is large. The papers' other read-out; slower than [`Updater::partition`] and
    /// mostly better.
    ///
    /// Ten k-means++ starts on at most 200,000 rows drawn evenly; the other rows go to the nearest
    /// centre. Fewer than r clusters come out where fewer rows differ, and the report says so. The
    /// rows are never stored.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`].
    ///
    /// # Complexity
    /// O(n (s + r^2)) and k-means on 200,000 rows of r numbers.
    pub fn partition_by_kmeans(
        &self,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let r = self.n_clusters();
        let support = self.support();
        let source = Rows { updater: self, support: &support };
        let seed = seed.derive("simplex k-means", 0);
        let options = KMeansOptions::new(r).restarts(KMEANS_RESTARTS).seed(seed);
        let found = fit_source(&source, &options, KMEANS_ROWS, observer)?;
        let known = self.winners::<u16>();
        let partition = Partition::from_fn(known.len(), |i| {
            (known[i] != u16::MISSING).then(|| u64::from(found.assignment[i]))
        })?;
        let mut report = Report::default();
        report.iterations = found.iterations;
        report.objective = Some(found.inertia);
        if !found.converged {
            report.status = Status::MaxIterations;
        }
        report.expect_clusters(
            r,
            partition.n_clusters(),
            "the ensemble distinguishes no more objects",
        );
        Ok(Fit::new(partition, report))
    }

    /// The hard clustering without any alignment: the diffusion consensus ([`Diffusion`]) of the
    /// members with weight, each counted by it, into k clusters.
    ///
    /// Use it where members have other numbers of clusters than r: the common labelling loses their
    /// finer distinctions, the co-association of objects keeps them.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] for k outside `1..=n`, [`ErrorKind::Cancelled`].
    ///
    /// # Complexity
    /// O(n s) for the microclusters of a support of s members, then as [`Diffusion`]; a copy of the
    /// labels of the support unless that is all members.
    pub fn consensus(
        &self,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        self.ensemble.check_clusters(clusters)?;
        let support = self.support();
        let chosen;
        let ensemble: &Ensemble = if support.len() == self.ensemble.n_members() {
            &self.ensemble
        } else {
            chosen = self.ensemble.select(&support)?;
            &chosen
        };
        let mut report = Report::default();
        let microclusters =
            report.stage("microclusters", || Microclusters::observed(ensemble, observer))?;
        report.microclusters = Some(microclusters.n_nodes());
        let cluster_of_node = if microclusters.n_nodes() == 0 {
            Vec::new()
        } else {
            let gamma = self.gamma();
            let weights: Vec<f64> = support.iter().map(|&u| gamma[u]).collect();
            let diffusion = Diffusion::new(clusters).seed(seed);
            let fit = report.stage("partition", || {
                diffusion.solve_weighted(&microclusters, &weights, observer)
            })?;
            report.status = fit.report.status;
            report.notes.extend(fit.report.notes);
            fit.output
        };
        let partition = microclusters.grouping().expand(&cluster_of_node)?;
        report.expect_clusters(
            clusters,
            partition.n_clusters(),
            "the ensemble distinguishes no more objects",
        );
        Ok(Fit::new(partition, report))
    }

    /// The objects whose label is another than in an earlier read-out; see [`relabelled`].
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] for a clustering of more objects than there are now.
    ///
    /// # Complexity
    /// As [`Updater::partition`].
    pub fn changed_since(&self, before: &Partition) -> Result<Vec<usize>> {
        relabelled(before, &self.partition()?)
    }
}

/// The objects that are in another cluster than before, ascending, after matching the clusters of
/// both so that as many as possible stay. Objects that came since count where they are labelled.
///
/// ```
/// use consilience_core::Partition;
/// use consilience_simplex::relabelled;
///
/// let before = Partition::from_labels(&[0, 0, 1, 1, 1])?;
/// let after = Partition::from_labels(&[0, 1, 1, 1, 1, -1, 1])?;
/// assert_eq!(relabelled(&before, &after)?, vec![1, 6]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::ShapeMismatch`] where `before` has more objects than `after`.
///
/// # Complexity
/// O(n + k^3).
pub fn relabelled(before: &Partition, after: &Partition) -> Result<Vec<usize>> {
    let (old, new) = (before.n_objects(), after.n_objects());
    if old > new {
        return Err(Error::shape(format!("{old} objects before, {new} after")));
    }
    let (a, b) = (before.n_clusters(), after.n_clusters());
    MemoryBudget::default().check_table("overlaps of clusters", a, b, 24)?;
    let mut shared = Array2::<f64>::zeros((a, b));
    let common;
    let start = if old == new {
        after
    } else {
        common = Partition::from_fn(old, |i| after.label(i).map(|l| l as u64))?;
        &common
    };
    match Contingency::new(before, start) {
        // The clusters of the first objects have the same numbers as those of all.
        Ok(cells) => cells.cells().for_each(|(i, j, count)| shared[[i, j]] = count as f64),
        Err(e) if e.kind() == ErrorKind::Empty => {}
        Err(e) => return Err(e),
    }
    let matched = max_assignment(shared.view());
    let was = |i: usize| if i < old { before.label(i) } else { None };
    let changed = |&i: &usize| match (was(i), after.label(i)) {
        (None, now) => now.is_some(),
        (Some(was), now) => now.is_none() || matched[was] != now,
    };
    Ok((0..new).filter(changed).collect())
}

fn memberships(values: Vec<f64>, evidence: Vec<f64>, r: usize) -> Result<Memberships> {
    let values = Array2::from_shape_vec((evidence.len(), r), values)
        .map_err(|e| Error::shape(e.to_string()))?;
    Memberships::with_evidence(values, evidence)
}

/// The rows of F, written down when k-means asks for them.
struct Rows<'a> {
    updater: &'a Updater,
    support: &'a [usize],
}

impl RowSource for Rows<'_> {
    fn n_rows(&self) -> usize {
        self.updater.ensemble.n_objects()
    }

    fn n_columns(&self) -> usize {
        self.updater.n_clusters()
    }

    fn write(&self, rows: Range<usize>, out: &mut [f32]) {
        let r = self.updater.n_clusters();
        let width = Votes::width(r);
        let mut votes = Votes::new(self.updater, self.support);
        for (first, out) in rows.step_by(width).zip(out.chunks_mut(width * r)) {
            let n = out.len() / r;
            votes.count(first, n);
            for (t, row) in out.chunks_mut(r).enumerate() {
                let sum: f64 = (0..r).map(|c| f64::from(votes.row(c, n)[t])).sum();
                for (c, o) in row.iter_mut().enumerate() {
                    let share = f64::from(votes.row(c, n)[t]) / sum;
                    *o = if sum > 0.0 { share as f32 } else { 1.0 / r as f32 };
                }
            }
        }
    }
}
