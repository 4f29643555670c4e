//! C, k and the basis without the truth.

use consilience_core::{MemoryBudget, Observer, OnlyCancels, Result, Seed};
use consilience_num::kmeans::{KMeansOptions, fit};
use ndarray::{ArrayView2, Axis, s};
use rayon::prelude::*;

use super::coordinates::Coordinates;
use super::sampling::Sampling;
use super::solve::{Rules, Spectrum, least_weight, positive_root, solve};
use crate::known_pairs::KnownPairs;
use crate::product::product;

/// The weights that are tried, in units of the least that gives an M other than 0.
pub(super) const PATH: [f64; 5] = [3.0, 10.0, 30.0, 100.0, 300.0];
/// Of these, the ones at which bases and numbers of columns are compared; the rest only for the
/// best of them.
const COMPARED: [f64; 2] = [10.0, 30.0];
/// Parts that the constraints are cut into, each held out once.
const FOLDS: usize = 3;
/// Relative duality gap on the path: the clusters do not change any more.
const TOLERANCE: f64 = 3e-3;
/// Iterations at each weight of the path, which starts where the one before ended.
const ITERATIONS: usize = 40;
/// Bytes that a trial takes for each pair: it, where it is in the sampling, and what the solver
/// sees of it.
pub(super) const OF_PAIR: usize = 100;
/// Starts of the k-means that judges.
const RESTARTS: usize = 4;

/// One combination that is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    /// Number of the coordinates.
    pub coordinates: usize,
    /// Columns used of them.
    pub k: usize,
}

/// The best combination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choice {
    pub candidate: Candidate,
    /// C in units of the least weight.
    pub multiple: f64,
    /// Mean of the shares of must-links and of cannot-links, held out, that the clusters keep.
    pub kept: f64,
}

/// Held-out links of either kind, and how many of them the clusters keep.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    kept: [usize; 2],
    all: [usize; 2],
}

impl Tally {
    /// Counts a link between two objects that are in one cluster or not.
    fn add(&mut self, together: bool, target: f64) {
        let kind = usize::from(target == 1.0);
        self.all[kind] += 1;
        self.kept[kind] += usize::from(together == (target == 1.0));
    }

    fn plus(mut self, other: Tally) -> Tally {
        for kind in 0..2 {
            self.kept[kind] += other.kept[kind];
            self.all[kind] += other.all[kind];
        }
        self
    }

    fn rate(&self) -> f64 {
        (0..2).map(|kind| self.kept[kind] as f64 / self.all[kind].max(1) as f64).sum::<f64>() / 2.0
    }
}

/// What every trial shares.
struct Trials<'a> {
    coordinates: &'a [&'a Coordinates],
    pairs: &'a KnownPairs,
    /// The part of every pair.
    fold: Vec<u8>,
    /// All objects that occur, ascending.
    objects: Vec<usize>,
    judge: Judge,
    observer: &'a dyn Observer,
}

/// The options of the method that the trials need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    pub clusters: usize,
    pub semidefinite: bool,
    pub seed: Seed,
    pub budget: MemoryBudget,
}

impl Judge {
    /// The clusters of k-means on rows.
    fn clusters_of(
        &self,
        rows: ArrayView2<'_, f64>,
        parallel: bool,
        observer: &dyn Observer,
    ) -> Result<Vec<u32>> {
        let options = KMeansOptions::new(self.clusters)
            .restarts(RESTARTS)
            .seed(self.seed.derive("k-means", 1))
            .tolerance(1e-4)
            .parallel(parallel);
        Ok(fit(rows, None, &options, &OnlyCancels(observer))?.assignment)
    }
}

/// Fits to all but a part of the constraints and counts which of that part the clusters keep. The
/// best mean share wins: first among the candidates at two weights, then among all weights for the
/// best of them; of equals the candidate that comes first, then the lower weight. `None` with fewer
/// than 6 links of either kind.
pub(super) fn held_out(
    coordinates: &[&Coordinates],
    candidates: &[Candidate],
    pairs: &KnownPairs,
    judge: Judge,
    observer: &dyn Observer,
) -> Result<Option<Choice>> {
    if pairs.kinds().are_few() {
        return Ok(None);
    }
    let mut objects: Vec<usize> = pairs.links().iter().flat_map(|l| [l.0, l.1]).collect();
    objects.sort_unstable();
    objects.dedup();
    let fold = folds(pairs, judge.seed);
    let trials = Trials { coordinates, pairs, fold, objects, judge, observer };
    let mut best = None;
    if candidates.len() > 1 {
        best = trials.compare(candidates, &COMPARED)?;
    }
    let last = best.map_or(candidates[0], |b: Choice| b.candidate);
    trials.compare(&[last], &PATH)
}

/// The mean of the shares of must-links and of cannot-links that plain spectral clustering in the
/// leading columns keeps, which sees none of them.
pub(super) fn kept_by_plain(
    coordinates: &Coordinates,
    pairs: &KnownPairs,
    judge: Judge,
    observer: &dyn Observer,
) -> Result<f64> {
    let z = &coordinates.z;
    let rows = &z.slice(s![.., ..judge.clusters.min(z.ncols())]) * (z.nrows() as f64).sqrt();
    let labels = judge.clusters_of(rows.view(), true, observer)?;
    let mut tally = Tally::default();
    pairs.links().iter().for_each(|&(i, j, target)| tally.add(labels[i] == labels[j], target));
    Ok(tally.rate())
}

/// The part of every pair: must-links and cannot-links are shared out evenly.
fn folds(pairs: &KnownPairs, seed: Seed) -> Vec<u8> {
    let mut fold = vec![0; pairs.links().len()];
    for kind in [1.0, 0.0] {
        let mut own: Vec<usize> =
            (0..fold.len()).filter(|&p| (pairs.links()[p].2 == 1.0) == (kind == 1.0)).collect();
        seed.derive("held out", kind as u64).stream().shuffle(&mut own);
        own.into_iter().enumerate().for_each(|(at, p)| fold[p] = (at % FOLDS) as u8);
    }
    fold
}

impl Trials<'_> {
    /// The best of the candidates at the best of the weights, which ascend.
    fn compare(&self, candidates: &[Candidate], weights: &[f64]) -> Result<Option<Choice>> {
        let tasks: Vec<(usize, usize)> =
            (0..candidates.len()).flat_map(|c| (0..FOLDS).map(move |f| (c, f))).collect();
        // As many at a time as have room for what each makes of the pairs.
        let pairs = self.pairs.links().len();
        let fits = |&trials: &usize| self.judge.budget.allows_table(pairs, trials, OF_PAIR);
        let abreast = (1..=tasks.len()).rev().find(fits).unwrap_or(1);
        let mut parts: Vec<Vec<Tally>> = Vec::with_capacity(tasks.len());
        for some in tasks.chunks(abreast) {
            let some = some.par_iter().with_max_len(1);
            let found = some.map(|&(c, f)| self.tallies(candidates[c], weights, f as u8));
            parts.extend(found.collect::<Result<Vec<_>>>()?);
        }
        let mut best: Option<Choice> = None;
        for (c, &candidate) in candidates.iter().enumerate() {
            for (at, &multiple) in weights.iter().enumerate() {
                let tally =
                    (0..FOLDS).fold(Tally::default(), |t, f| t.plus(parts[c * FOLDS + f][at]));
                let kept = tally.rate();
                if best.is_none_or(|b| kept > b.kept) {
                    best = Some(Choice { candidate, multiple, kept });
                }
            }
        }
        Ok(best)
    }

    /// What is kept of part `out` at every weight, each from where the one before ended.
    fn tallies(&self, candidate: Candidate, weights: &[f64], out: u8) -> Result<Vec<Tally>> {
        let z = self.coordinates[candidate.coordinates].z.slice(s![.., ..candidate.k]);
        let links = |held: bool| {
            let chosen =
                self.pairs.links().iter().zip(&self.fold).filter(|e| (*e.1 == out) == held);
            chosen.map(|e| *e.0).collect::<Vec<_>>()
        };
        let held = links(true);
        let scale = (z.nrows() as f64).sqrt();
        let rows = z.select(Axis(0), &self.objects) * scale;
        let sampling = Sampling::new(z, scale, &KnownPairs::from_links(links(false)));
        let least = least_weight(&sampling, self.judge.semidefinite);
        let mut spectrum = Spectrum::zero(sampling.order());
        let mut tallies = Vec::with_capacity(weights.len());
        for multiple in weights {
            let rules = Rules {
                c: multiple * least,
                semidefinite: self.judge.semidefinite,
                tolerance: TOLERANCE,
                max_iterations: ITERATIONS,
            };
            if rules.c.is_finite() {
                spectrum = solve(&sampling, &rules, spectrum, self.observer)?.m;
            }
            let labels = self.clusters_of(rows.view(), &spectrum)?;
            let label = |i: usize| self.objects.binary_search(&i).ok().map(|at| labels[at]);
            let mut tally = Tally::default();
            held.iter().for_each(|&(i, j, target)| tally.add(label(i) == label(j), target));
            tallies.push(tally);
        }
        Ok(tallies)
    }

    fn clusters_of(&self, rows: ArrayView2<'_, f64>, m: &Spectrum) -> Result<Vec<u32>> {
        let root = positive_root(m);
        if root.ncols() == 0 {
            return Ok(vec![0; rows.nrows()]);
        }
        self.judge.clusters_of(product(rows, root.view()).view(), false, self.observer)
    }
}

#[cfg(test)]
mod tests {
    use consilience_core::SideInformation;

    use crate::mccc::Mccc;
    use crate::mccc::tests::{blobs, random_pairs, side};

    /// Links are enough to hold some out, and of those the best completion keeps fewer than plain
    /// clusters, which have seen none, keep of all.
    #[test]
    fn plain_clusters_are_taken_where_they_keep_more() {
        let taken = (0..6).filter(|&seed| {
            let (x, truth) = blobs(150, 3, 6, 6.0, seed);
            let of = |side| Mccc::new(3).fit_completed(x.view(), &side, &()).unwrap();
            let found = of(side(&random_pairs(&truth, 40, seed + 90)));
            let told = found.report.notes.concat();
            let plain = told.contains("are kept without any of them");
            assert!(plain || told.contains("held-out constraints chose"), "{told}");
            let unseen = of(SideInformation::none(150)).output.clustering.partition;
            assert!(!plain || found.output.clustering.partition == unseen, "{seed}");
            assert_eq!(found.output.similarity.loss_weight().is_none(), plain);
            plain
        });
        assert!(taken.count() > 0);
    }
}
