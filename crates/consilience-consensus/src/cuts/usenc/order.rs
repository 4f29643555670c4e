//! An order of clusters, and objects that are drawn, that depend on neither the order of the
//! objects nor that of the members.

use std::ops::Range;

use consilience_core::{Seed, mix};
use ndarray::Array2;
use rayon::prelude::*;

use super::{Labels, NONE};

/// Links and labels that are looked at, beside so many rounds over all links, before clusters that
/// are left alike are ordered by their first objects.
const EFFORT: usize = 1 << 24;
const ROUNDS: usize = 8;
/// Objects that are handed out at once.
const ROWS: usize = 1 << 14;
/// Buckets of hashes per drawn object, and most of them.
const BUCKETS: usize = 4;
const MOST_BUCKETS: usize = 1 << 20;

/// The clusters in canonical order: colours are refined by links, then by objects, until nothing
/// more is told apart; where clusters are left alike, the first of one set of them is told apart,
/// and so on. `Microclusters::canonical` is the same on nodes.
pub(super) fn canonical(labels: &Labels<'_>, links: &Array2<f64>) -> Vec<usize> {
    let mut colours = Colours {
        labels,
        links,
        clusters: links.diag().iter().map(|w| mix(w.to_bits())).collect(),
        distinct: 0,
        looked_at: 0,
    };
    loop {
        colours.refine();
        if colours.looked_at > EFFORT + ROUNDS * links.len() {
            break;
        }
        let Some(alike) = colours.first_alike() else { break };
        colours.clusters[alike] = mix(colours.clusters[alike] ^ 1);
        colours.distinct += 1;
    }
    let mut order: Vec<usize> = (0..labels.clusters).collect();
    order.sort_unstable_by_key(|&c| (colours.clusters[c], c));
    order
}

/// Colours are hashes: sums of mixed colours do not depend on the order of what is added. Two that
/// collide are taken for alike, which costs a round and never the order.
struct Colours<'a> {
    labels: &'a Labels<'a>,
    links: &'a Array2<f64>,
    clusters: Vec<u64>,
    /// How many clusters are told apart.
    distinct: usize,
    /// How many links and labels were looked at so far.
    looked_at: usize,
}

impl Colours<'_> {
    /// Refines until no round tells more clusters apart.
    fn refine(&mut self) {
        loop {
            while self.told(Self::by_links) {}
            if self.distinct == self.clusters.len() || !self.told(Self::by_objects) {
                return;
            }
        }
    }

    /// Whether a round tells more clusters apart.
    fn told(&mut self, round: fn(&mut Self)) -> bool {
        round(self);
        let mut colours = self.clusters.clone();
        colours.sort_unstable();
        colours.dedup();
        let before = std::mem::replace(&mut self.distinct, colours.len());
        self.distinct > before && self.distinct < self.clusters.len()
    }

    /// Clusters by those that they share objects with and by the others of their member.
    fn by_links(&mut self) {
        let p = self.clusters.len();
        self.looked_at += p * p;
        let colours = &self.clusters;
        let linked = |c: usize| {
            let links = self.links.row(c);
            let with = links.iter().zip(colours).filter(|(w, _)| **w != 0.0);
            with.fold(colours[c], |sum, (w, d)| sum.wrapping_add(mix(w.to_bits() ^ mix(*d))))
        };
        let sums: Vec<u64> = (0..p).into_par_iter().map(linked).collect();
        self.clusters = self.with_members(&sums);
    }

    /// Clusters by their objects, which are told apart by all their clusters.
    fn by_objects(&mut self) {
        self.looked_at += 2 * self.labels.objects * self.labels.first.len();
        let none = || vec![0u64; self.clusters.len()];
        let sums = pieces(self.labels.objects)
            .fold(none, |mut sums, objects| {
                self.labels.each(objects, |_, row| {
                    let object = hash(row, &self.clusters);
                    for &c in row.iter().filter(|c| **c != NONE) {
                        sums[c as usize] = sums[c as usize].wrapping_add(object);
                    }
                });
                sums
            })
            .reduce(none, |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a = a.wrapping_add(b));
                a
            });
        self.clusters = self.with_members(&sums);
    }

    fn with_members(&self, sums: &[u64]) -> Vec<u64> {
        let mut out = Vec::with_capacity(sums.len());
        for own in self.labels.ranges().map(|range| &sums[range]) {
            let whole = own.iter().fold(0u64, |sum, &c| sum.wrapping_add(mix(c)));
            out.extend(own.iter().map(|c| mix(c ^ mix(whole))));
        }
        out
    }

    /// The first cluster of the least colour that several have.
    fn first_alike(&self) -> Option<usize> {
        let mut sorted = self.clusters.clone();
        sorted.sort_unstable();
        let least = sorted.windows(2).find(|w| w[0] == w[1])?[0];
        self.clusters.iter().position(|&c| c == least)
    }
}

/// Draws one object from each of `most` equal stretches of the objects that have labels, or all of
/// them: these lie in the order of the hashes of their labels, so that equal objects lie side by
/// side and what is drawn follows from the rows of labels alone, up to which of equal objects it
/// is.
///
/// Two passes over the labels, no sorting of all objects, and memory for some of their hashes.
pub(super) fn drawn(labels: &Labels<'_>, colours: &[u64], most: usize, seed: Seed) -> Vec<usize> {
    let objects = labels.objects;
    let buckets = (BUCKETS * most.min(objects)).next_power_of_two().min(MOST_BUCKETS);
    let bucket = |hash: u64| ((u128::from(hash) * buckets as u128) >> 64) as usize;
    let none = || vec![0usize; buckets];
    let counts = pieces(objects)
        .fold(none, |mut counts, objects| {
            labels.each(objects, |_, row| {
                if is_labelled(row) {
                    counts[bucket(hash(row, colours))] += 1;
                }
            });
            counts
        })
        .reduce(none, |mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        });
    let n: usize = counts.iter().sum();
    let most = most.min(n);
    let mut stream = seed.derive("rows", 0).stream();
    let stretch = |s: usize| (s as u128 * n as u128 / most as u128) as usize;
    let ranks: Vec<usize> =
        (0..most).map(|s| stretch(s) + stream.below(stretch(s + 1) - stretch(s))).collect();
    // Objects before each bucket; buckets that nothing is drawn from are left out.
    let mut ends = Vec::with_capacity(buckets);
    let (mut wanted, mut next, mut sum) = (vec![false; buckets], 0, 0);
    for (wanted, count) in wanted.iter_mut().zip(counts) {
        sum += count;
        while ranks.get(next).is_some_and(|&r| r < sum) {
            (*wanted, next) = (true, next + 1);
        }
        ends.push(sum);
    }
    let rows = gathered(labels, colours, |hash| wanted[bucket(hash)]);
    let mut out = Vec::with_capacity(most);
    let (mut now, mut before) = (usize::MAX, 0);
    for row in rows {
        let at = bucket(row.hash);
        if at != now {
            (now, before) = (at, at.checked_sub(1).map_or(0, |b| ends[b]));
        }
        before += row.count;
        while ranks.get(out.len()).is_some_and(|&r| r < before) {
            out.push(row.first);
        }
    }
    out
}

/// Objects of one hash.
struct Row {
    hash: u64,
    first: usize,
    count: usize,
}

/// The rows of labels whose hash is wanted, by hash.
fn gathered(labels: &Labels<'_>, colours: &[u64], wanted: impl Fn(u64) -> bool + Sync) -> Vec<Row> {
    let piece = |objects: Range<usize>| {
        let mut rows = Vec::new();
        labels.each(objects, |i, row| {
            let hash = hash(row, colours);
            if wanted(hash) && is_labelled(row) {
                rows.push(Row { hash, first: i, count: 1 });
            }
        });
        merged(rows)
    };
    merged(pieces(labels.objects).flat_map_iter(piece).collect())
}

fn merged(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_unstable_by_key(|row| (row.hash, row.first));
    rows.dedup_by(|row, kept| {
        let same = row.hash == kept.hash;
        kept.count += if same { row.count } else { 0 };
        same
    });
    rows
}

fn pieces(n: usize) -> impl IndexedParallelIterator<Item = Range<usize>> {
    (0..n.div_ceil(ROWS)).into_par_iter().map(move |p| p * ROWS..n.min((p + 1) * ROWS))
}

/// Whether any member labels an object.
#[inline(always)]
fn is_labelled(row: &[u32]) -> bool {
    row.iter().any(|c| *c != NONE)
}

/// The hash of an object by the colours of its clusters.
#[inline(always)]
fn hash(row: &[u32], colours: &[u64]) -> u64 {
    let labelled = row.iter().filter(|c| **c != NONE);
    mix(labelled.fold(0, |sum: u64, &c| sum.wrapping_add(colours[c as usize])))
}
