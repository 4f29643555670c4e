//! Fast against naive, and every promise of the updater.

mod alignment;
mod fast;
mod members;
mod questions;
mod read_out;
mod rules;
mod snapshot;
mod updates;

use consilience_conformance::planted;
use consilience_core::{Ensemble, Link, Pair, Partition, Seed};

use crate::{AlignmentReference, WeightUpdater, WeightUpdaterSetup};

/// A planted ensemble with members of other numbers of clusters and gaps, and its classes.
pub(crate) fn world(seed: u64, n: usize, members: usize, missing: f64) -> (Ensemble, Partition) {
    let sizes = [n / 2, n / 3, n - n / 2 - n / 3];
    let mut world = planted(Seed(seed), &sizes, members, 0.3, missing).unwrap();
    let mut s = Seed(seed).derive("more members", 0).stream();
    for k in [2usize, 5, 9] {
        let gaps = missing > 0.0;
        let labels: Vec<Option<usize>> = (0..n)
            .map(|i| {
                let known = !gaps || s.uniform() >= missing;
                let class = world.truth.label(i).unwrap_or(0);
                known.then(|| {
                    if s.uniform() < 0.7 {
                        (class * k / 3 + s.below(2)).min(k - 1)
                    } else {
                        s.below(k)
                    }
                })
            })
            .collect();
        world
            .ensemble
            .push(Partition::from_fn(n, |i| labels[i].map(|l| l as u64)).unwrap())
            .unwrap();
    }
    (world.ensemble, world.truth)
}

/// Random constraints as the classes have them.
pub(crate) fn links(truth: &Partition, count: usize, seed: u64) -> Vec<Pair> {
    let mut s = Seed(seed).derive("links", 0).stream();
    let n = truth.n_objects();
    let mut links = Vec::new();
    while links.len() < count {
        let (i, j) = (s.below(n), s.below(n));
        let pair = (i.min(j), i.max(j));
        if i == j || links.iter().any(|l: &Pair| (l.i, l.j) == pair) {
            continue;
        }
        let link = if truth.label(i) == truth.label(j) { Link::Must } else { Link::Cannot };
        links.push(Pair::new(pair.0, pair.1, link));
    }
    links
}

pub(crate) fn open(ensemble: &Ensemble, clusters: usize) -> WeightUpdater {
    WeightUpdaterSetup::new(clusters)
        .reference(AlignmentReference::Medoid)
        .updater(ensemble.clone())
        .unwrap()
}

pub(crate) fn on_pool<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}
