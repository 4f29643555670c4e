use std::borrow::Cow;
use std::ops::Range;

use consilience_core::{
    Error, Fit, LabelInt, Memberships, Observer, Partition, RawLabel, Report, Result, Seed, Status,
    ensure, room,
};
use consilience_num::kmeans::{KMeansOptions, RowSource, fit_source};
use consilience_num::reduce::{each_chunk, each_chunk_if, each_chunk_pair};
use ndarray::Array2;

use crate::kernel::{TILE, dispatch};
use crate::parallel::{PARALLEL_FROM, in_pool};
use crate::relabelled::relabelled_within;
use crate::tally::Votes;
use crate::tiles::{self, Tiles};
use crate::weight_updater::WeightUpdater;
use crate::weighted_members::WeightedMembers;
use crate::winners::{self, CountTile};

/// Blocks of one parallel task.
const BLOCKS: usize = 16;
/// Objects whose labels are copied out at a time.
const OBJECTS_PER_TASK: usize = 4096;
/// Rows that the centres of k-means are found on at most; the others go to the nearest centre.
const KMEANS_ROWS: usize = 200_000;
const KMEANS_RESTARTS: usize = 10;

impl WeightUpdater {
    fn check_objects(&self, objects: &[usize]) -> Result<()> {
        let n = self.ensemble.n_objects();
        match objects.iter().find(|&&i| i >= n) {
            Some(i) => Err(Error::out_of_range(format!("object {i} of {n}"))),
            None => Ok(()),
        }
    }

    /// The clustering by the weights: each object in the common cluster of its largest membership,
    /// the lowest of equals; unlabelled where no member with weight labels it.
    ///
    /// As every [`Partition`] it numbers clusters by their first object;
    /// [`WeightUpdater::labels_of`] gives the numbers of common clusters, which stay the same from
    /// update to update.
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
        if self.n_clusters() <= tiles::MAX_CLUSTERS {
            return winners::winners(self.weighted());
        }
        let support = self.support();
        let width = Votes::width(self.n_clusters());
        let mut labels = vec![L::MISSING; self.ensemble.n_objects()];
        each_chunk(&mut labels, BLOCKS * width, &|chunk, out| {
            let mut votes = Votes::new(self.weighted(), &support);
            for (b, out) in out.chunks_mut(width).enumerate() {
                votes.count((chunk * BLOCKS + b) * width, out.len());
                votes.winners(out);
            }
        });
        labels
    }

    /// The common clusters of a few objects, `None` where no member with weight labels one.
    ///
    /// ```
    /// use consilience::Ensemble;
    /// use consilience::simplex::WeightUpdater;
    /// use consilience::ndarray::array;
    ///
    /// let ensemble = Ensemble::from_array(array![[0, 1], [0, 1], [1, 0], [-1, -1]].view())?;
    /// let updater = WeightUpdater::new(ensemble, 2)?;
    /// let labels = updater.labels_of(&[2, 1, 3])?;
    /// assert_ne!(labels[0], labels[1]);
    /// assert_eq!(labels[2], None);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist.
    ///
    /// # Complexity
    /// O(m + r) per object, whose labels lie side by side; without the second copy of the labels
    /// O(s + r) for a support of s members, each a miss of the caches. No other object is touched.
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
        if r <= tiles::MAX_CLUSTERS {
            return self.votes_by_tiles(&support, objects);
        }
        let mut votes = vec![0u32; objects.len() * r];
        each_chunk(&mut votes, 256 * r, &|c, votes| {
            let mut labels = vec![0u16; votes.len() / r];
            let objects = &objects[256 * c..][..labels.len()];
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
        let parallel = support.len() * n >= PARALLEL_FROM;
        let mut all = || {
            each_chunk(&mut votes, OBJECTS_PER_TASK * r, &|c, votes| {
                let objects = &objects[c * OBJECTS_PER_TASK..];
                let objects = &objects[..objects.len().min(OBJECTS_PER_TASK)];
                let tiles = Tiles::gathered(&self.ensemble, &self.alignment, support, objects);
                each_chunk_if(parallel, votes, TILE * r, &|tile, rows| {
                    dispatch(CountTile { tiles: &tiles, tile, units: &units, clusters: r, rows });
                });
            })
        };
        if parallel {
            in_pool(all);
        } else {
            all();
        }
        votes
    }

    /// The soft memberships of all objects, `F_i = sum_u gamma_u P_u(i)` over the members that
    /// label the object; their share of the weight is its evidence. Uniform with evidence 0 where
    /// there are none.
    ///
    /// As in all [`Memberships`], columns are numbered by the first object that belongs to them
    /// most, not as the common clusters of [`WeightUpdater::labels_of`].
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
    ///
    /// # Complexity
    /// O(n (s + r)) for a support of s members, in parallel; 8 n r bytes.
    pub fn memberships(&self) -> Result<Memberships> {
        let (n, r) = (self.ensemble.n_objects(), self.n_clusters());
        self.budgets.work.check_table("memberships", n, r + 1, 8)?;
        let support = self.support();
        let width = Votes::width(r);
        let mut values = room::zeros(n * r)?;
        let mut evidence = room::zeros(n)?;
        let of_block = |block: usize, values: &mut [f64], evidence: &mut [f64]| {
            let mut votes = Votes::new(self.weighted(), &support);
            votes.count(block * width, evidence.len());
            for c in 0..r {
                for (row, &v) in values.chunks_mut(r).zip(votes.row(c, evidence.len())) {
                    row[c] = f64::from(v);
                }
            }
            self.normalise(values, evidence);
        };
        each_chunk_pair(&mut values, width * r, &mut evidence, width, &of_block);
        memberships(values, evidence, r)
    }

    /// The soft memberships of a few objects; see [`WeightUpdater::memberships`].
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist, [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) for none.
    ///
    /// # Complexity
    /// O(m + r) per object, whose labels lie side by side; without the second copy of the labels
    /// O(s + r) for a support of s members, each a miss of the caches. No other object is touched.
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

    /// The clustering by k-means on the rows of F: objects of similar memberships stay together
    /// even where none is large. The papers' other read-out; slower than
    /// [`WeightUpdater::partition`] and mostly better.
    ///
    /// Ten k-means++ starts on at most 200,000 rows drawn evenly; the other rows go to the nearest
    /// centre, and the report says so ([`WeightUpdater::partition_by_kmeans_on`] takes another
    /// number). Rows that no member with weight labels stay unlabelled and take no part. Fewer than
    /// r clusters come out where fewer rows differ, and the report says so. The rows are never
    /// stored. A row that stands for several objects weighs as much as they do.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    ///
    /// # Complexity
    /// O(n (s + r^2)) and k-means on 200,000 rows of r numbers.
    pub fn partition_by_kmeans(
        &self,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        self.partition_by_kmeans_on(KMEANS_ROWS, seed, observer)
    }

    /// As [`WeightUpdater::partition_by_kmeans`], with the centres found on at most so many rows.
    ///
    /// ```
    /// use consilience::ndarray::array;
    /// use consilience::simplex::WeightUpdater;
    /// use consilience::{Ensemble, Seed};
    ///
    /// let ensemble =
    ///     Ensemble::from_array(array![[0, 0], [0, 0], [0, 0], [1, 1], [1, 1], [1, 1]].view())?;
    /// let updater = WeightUpdater::new(ensemble, 2)?;
    /// let found = updater.partition_by_kmeans_on(4, Seed(0), &())?;
    /// assert_eq!(found.output.sizes(), [3, 3]);
    /// assert!(found.report.notes[0].contains("on 4 of 6 rows"));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled);
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for fewer
    /// rows than clusters.
    pub fn partition_by_kmeans_on(
        &self,
        rows: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let r = self.n_clusters();
        ensure!(rows >= r, invalid("{rows} rows for the centres of {r} clusters"));
        let support = self.support();
        let mut labels = self.winners::<u16>();
        let source = Rows::labelled(self.weighted(), &support, &labels)?;
        let mut report = Report::default();
        let mut why = "the ensemble distinguishes no more objects";
        // Where nobody labels anything, there is no row to find centres on.
        if source.n_rows() > 0 {
            let seed = seed.derive("simplex k-means", 0);
            let options = KMeansOptions::new(r).restarts(KMEANS_RESTARTS).seed(seed);
            let found = fit_source(&source, &options, rows, observer)?;
            let labelled = labels.iter_mut().filter(|l| **l != u16::MISSING);
            labelled.zip(&found.assignment).for_each(|(l, &c)| *l = c as u16);
            report.iterations = found.iterations;
            report.objective = Some(found.inertia);
            if rows < source.n_rows() {
                let told = format!("centres found on {rows} of {} rows", source.n_rows());
                report.notes.push(told);
                if found.centres.nrows() == r {
                    why = "a centre of the drawn rows is nearest to none of all";
                }
            }
            if !found.converged {
                report.status = Status::MaxIterations;
            }
        }
        let partition = Partition::from_fn(labels.len(), |i| {
            (labels[i] != u16::MISSING).then(|| u64::from(labels[i]))
        })?;
        report.expect_clusters(r, partition.n_clusters(), why);
        Ok(Fit::new(partition, report))
    }

    /// The objects whose label is another than in an earlier read-out; see
    /// [`relabelled`](crate::relabelled).
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for a clustering of
    /// more objects than there are now.
    ///
    /// # Complexity
    /// As [`WeightUpdater::partition`].
    pub fn changed_since(&self, before: &Partition) -> Result<Vec<usize>> {
        relabelled_within(before, &self.partition()?, self.budgets.work)
    }
}

fn memberships(values: Vec<f64>, evidence: Vec<f64>, r: usize) -> Result<Memberships> {
    let values = Array2::from_shape_vec((evidence.len(), r), values)
        .map_err(|e| Error::shape(e.to_string()))?;
    Memberships::with_evidence(values, evidence)
}

/// The rows of F, written down when k-means asks for them.
struct Rows<'a> {
    members: WeightedMembers<'a>,
    support: &'a [usize],
    /// The rows that a member with weight labels, where these are not all: the others are equal,
    /// and would be given a centre for themselves.
    labelled: Option<Vec<u32>>,
    /// How many objects each of them stands for.
    counts: Option<Cow<'a, [u64]>>,
}

impl<'a> Rows<'a> {
    /// Those that have a winner.
    fn labelled(
        members: WeightedMembers<'a>,
        support: &'a [usize],
        winners: &[u16],
    ) -> Result<Self> {
        let counts = members.ensemble.counts();
        if !winners.contains(&u16::MISSING) {
            let counts = counts.map(Cow::Borrowed);
            return Ok(Rows { members, support, labelled: None, counts });
        }
        let known = winners.iter().enumerate().filter(|(_, l)| **l != u16::MISSING);
        let labelled = room::collected(known.map(|(i, _)| i as u32))?;
        let counts = match counts {
            Some(all) => {
                let own = labelled.iter().map(|&i| all[i as usize]);
                Some(Cow::Owned(room::collected(own)?))
            }
            None => None,
        };
        Ok(Rows { members, support, labelled: Some(labelled), counts })
    }

    /// The rows of some objects, ascending.
    fn write_some(&self, mut objects: &[u32], mut out: &mut [f32]) {
        let r = self.members.n_clusters();
        let width = Votes::width(r);
        let mut votes = Votes::new(self.members, self.support);
        while let Some(&first) = objects.first() {
            let first = first as usize;
            // As many as lie within one block.
            let count = objects.partition_point(|&i| (i as usize) < first + width);
            let (now, later) = objects.split_at(count);
            let n = now[count - 1] as usize + 1 - first;
            votes.count(first, n);
            let (rows, behind) = out.split_at_mut(count * r);
            for (&i, row) in now.iter().zip(rows.chunks_mut(r)) {
                let vote = |c: usize| f64::from(votes.row(c, n)[i as usize - first]);
                let sum: f64 = (0..r).map(vote).sum();
                for (c, o) in row.iter_mut().enumerate() {
                    *o = if sum > 0.0 { (vote(c) / sum) as f32 } else { 1.0 / r as f32 };
                }
            }
            objects = later;
            out = behind;
        }
    }
}

impl RowSource for Rows<'_> {
    fn n_rows(&self) -> usize {
        self.labelled.as_ref().map_or(self.members.ensemble.n_objects(), Vec::len)
    }

    fn n_columns(&self) -> usize {
        self.members.n_clusters()
    }

    fn counts(&self) -> Option<&[u64]> {
        self.counts.as_deref()
    }

    fn write(&self, rows: Range<usize>, out: &mut [f32]) {
        match &self.labelled {
            Some(labelled) => self.write_some(&labelled[rows], out),
            None => self.write_some(&rows.map(|i| i as u32).collect::<Vec<_>>(), out),
        }
    }
}
