//! Clusters from the log-odds of single pairs, for clusters that are many and small.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use consilience_core::{Observer, Result};
use rustc_hash::FxHashMap;

use crate::dawid_skene::Posterior;

/// Bytes for an answered pair, and for an object, while clusters are merged: the pair's place among
/// the neighbours of both objects, in maps that may be half empty, its offer and its log-odds.
pub(crate) const PAIR: usize = 160;
/// Merges between two checks of the observer.
const CHECKED_EVERY: usize = 256;

/// What the merging came to.
pub(crate) struct Agglomerated {
    /// At most k clusters, numbered by their first object.
    pub(crate) labels: Vec<u32>,
    /// Clusters that were left when no merge had positive log-odds any more.
    pub(crate) supported: usize,
}

/// Merges the two clusters of highest summed log-odds until k are left. A pair that nobody answered
/// is together with the odds `1 : k - 1` of two objects drawn from k clusters of like size.
///
/// Clusters between which nobody answered are candidates as well; ties go to answered pairs, then
/// to the smaller clusters, then to the lower numbers. O(m log m) for m answered pairs, but for
/// hubs: a merge walks the neighbours of both clusters, and O(n) more for a merge that goes against
/// the answers. Memory at most [`PAIR`] bytes for each answered pair and each object.
pub(crate) fn agglomerate(
    posterior: &Posterior,
    k: usize,
    observer: &dyn Observer,
) -> Result<Agglomerated> {
    let n = posterior.n;
    let mut clusters = Merging::new(posterior, ((k.max(2) - 1) as f64).ln());
    let mut supported = None;
    for left in (k.max(1) + 1..=n).rev() {
        if (n - left).is_multiple_of(CHECKED_EVERY) {
            observer.check()?;
        }
        let Some((score, a, b)) = clusters.best() else { break };
        if score <= 0.0 && supported.is_none() {
            supported = Some(left);
        }
        clusters.merge(a, b);
    }
    Ok(Agglomerated { labels: clusters.labels(), supported: supported.unwrap_or(k.min(n)) })
}

/// Merges the two clusters of highest summed log-odds as long as these are above 0; pairs that
/// nobody answered say nothing. As [`agglomerate`] otherwise.
pub(crate) fn while_likely(posterior: &Posterior, observer: &dyn Observer) -> Result<Vec<u32>> {
    let mut clusters = Merging::new(posterior, 0.0);
    let mut merges = 0;
    while let Some((_, a, b)) = clusters.best().filter(|&(score, ..)| score > 0.0) {
        if merges % CHECKED_EVERY == 0 {
            observer.check()?;
        }
        clusters.merge(a, b);
        merges += 1;
    }
    Ok(clusters.labels())
}

/// A merge on offer: higher scores first, then lower numbers.
#[derive(Clone, Copy)]
struct Offer {
    score: f64,
    pair: Reverse<(u32, u32)>,
    /// How often either cluster had been merged when this was computed.
    versions: (u32, u32),
}

impl Offer {
    /// Whether neither cluster has been merged since.
    fn holds(&self, version: &[u32]) -> bool {
        let Reverse((a, b)) = self.pair;
        self.versions == (version[a as usize], version[b as usize])
    }
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score
            .total_cmp(&other.score)
            .then(self.pair.cmp(&other.pair))
            .then(self.versions.cmp(&other.versions))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Offer {}

/// The objects that each was compared with, as clusters of one.
fn neighbours(posterior: &Posterior) -> Vec<FxHashMap<u32, (f64, f64)>> {
    let mut degrees = vec![0usize; posterior.n];
    for &(i, j, _) in &posterior.pairs {
        degrees[i as usize] += 1;
        degrees[j as usize] += 1;
    }
    let room = |&degree: &usize| FxHashMap::with_capacity_and_hasher(degree, Default::default());
    let mut neighbours: Vec<FxHashMap<u32, (f64, f64)>> = degrees.iter().map(room).collect();
    for &(i, j, odds) in &posterior.pairs {
        neighbours[i as usize].insert(j, (odds, 1.0));
        neighbours[j as usize].insert(i, (odds, 1.0));
    }
    neighbours
}

struct Merging {
    /// Of each live cluster: summed log-odds of the answered pairs with others, and their number.
    /// Nothing depends on the order in which they are walked.
    neighbours: Vec<FxHashMap<u32, (f64, f64)>>,
    parent: Vec<u32>,
    size: Vec<u32>,
    version: Vec<u32>,
    /// Of each live cluster, with those that were its neighbours when it came to be: of two
    /// clusters the later one has the offer that holds. Few of them are ever looked at, so that one
    /// heap of all would mostly be moved about.
    offers: Vec<BinaryHeap<Offer>>,
    /// The best offer of each cluster, and whose it is.
    best: BinaryHeap<(Offer, u32)>,
    by_size: BTreeSet<(u32, u32)>,
    /// Of each cluster the smallest that nobody compared with it, and the versions of both. As long
    /// as neither is merged no other takes its place: a cluster of two is larger than either.
    stranger: Vec<Option<(u32, (u32, u32))>>,
    /// What a pair that nobody answered takes off.
    unanswered: f64,
}

impl Merging {
    fn new(posterior: &Posterior, unanswered: f64) -> Self {
        let n = posterior.n;
        let mut out = Merging {
            neighbours: neighbours(posterior),
            parent: (0..n as u32).collect(),
            size: vec![1; n],
            version: vec![0; n],
            offers: Vec::new(),
            best: BinaryHeap::with_capacity(n),
            by_size: (0..n as u32).map(|i| (1, i)).collect(),
            stranger: vec![None; n],
            unanswered,
        };
        let mut offers = vec![Vec::new(); n];
        for &(i, j, odds) in &posterior.pairs {
            offers[i as usize].push(out.offer(i, j, (odds, 1.0)));
        }
        out.offers = offers.into_iter().map(BinaryHeap::from).collect();
        (0..n as u32).for_each(|i| out.promote(i));
        out
    }

    fn offer(&self, a: u32, b: u32, (odds, answered): (f64, f64)) -> Offer {
        let (a, b) = (a.min(b), a.max(b));
        let pairs = f64::from(self.size[a as usize]) * f64::from(self.size[b as usize]);
        Offer {
            score: odds - self.unanswered * (pairs - answered),
            pair: Reverse((a, b)),
            versions: (self.version[a as usize], self.version[b as usize]),
        }
    }

    /// Puts the best offer of a cluster that holds among those of the others.
    fn promote(&mut self, owner: u32) {
        let offers = &mut self.offers[owner as usize];
        while let Some(&offer) = offers.peek() {
            if offer.holds(&self.version) {
                self.best.push((offer, owner));
                break;
            }
            offers.pop();
        }
    }

    /// The best merge; `None` with one cluster left.
    fn best(&mut self) -> Option<(f64, u32, u32)> {
        let answered = loop {
            let Some(&(offer, owner)) = self.best.peek() else { break None };
            let Reverse((a, b)) = offer.pair;
            if offer.holds(&self.version) {
                break Some((offer.score, a, b));
            }
            self.best.pop();
            let then = if owner == a { offer.versions.0 } else { offer.versions.1 };
            // Else it has been merged since, and its new best is there already.
            if then == self.version[owner as usize] {
                self.promote(owner);
            }
        };
        let mut smallest = self.by_size.iter().map(|&(s, _)| f64::from(s));
        let pairs = smallest.next()? * smallest.next()?;
        match answered {
            // No other merge takes less off.
            Some(best) if best.0 >= -self.unanswered * pairs => Some(best),
            Some(best) => self.unanswered().filter(|other| other.0 > best.0).or(Some(best)),
            None => self.unanswered(),
        }
    }

    /// The best merge of two clusters between which nobody answered: those of which the product of
    /// the sizes is least.
    fn unanswered(&mut self) -> Option<(f64, u32, u32)> {
        let live = self.by_size.len();
        let mut least: Option<(f64, u32, u32)> = None;
        for &(s, a) in &self.by_size {
            let s = f64::from(s);
            // All further pairs are of clusters at least as large.
            if least.is_some_and(|(product, ..)| product <= s * s) {
                break;
            }
            let others = &self.neighbours[a as usize];
            if others.len() + 1 == live {
                continue;
            }
            let version = |c: u32| self.version[c as usize];
            let known = self.stranger[a as usize]
                .filter(|&(b, versions)| versions == (version(a), version(b)));
            let Some(b) = known.map(|(b, _)| b).or_else(|| {
                let mut all = self.by_size.iter().map(|&(_, b)| b);
                all.find(|b| *b != a && !others.contains_key(b))
            }) else {
                continue;
            };
            self.stranger[a as usize] = Some((b, (version(a), version(b))));
            let product = s * f64::from(self.size[b as usize]);
            if least.is_none_or(|(least, ..)| product < least) {
                least = Some((product, a.min(b), a.max(b)));
            }
        }
        least.map(|(product, a, b)| (-self.unanswered * product, a, b))
    }

    fn merge(&mut self, a: u32, b: u32) {
        let longer = self.neighbours[a as usize].len() >= self.neighbours[b as usize].len();
        let (a, b) = if longer { (a, b) } else { (b, a) };
        self.by_size.remove(&(self.size[a as usize], a));
        self.by_size.remove(&(self.size[b as usize], b));
        self.size[a as usize] += self.size[b as usize];
        self.by_size.insert((self.size[a as usize], a));
        self.parent[b as usize] = a;
        // Offers with the cluster that is gone never fit again, since versions of live clusters
        // only grow.
        self.version[b as usize] = u32::MAX;
        self.version[a as usize] += 1;
        let gone = std::mem::take(&mut self.neighbours[b as usize]);
        self.neighbours[a as usize].remove(&b);
        for (c, (odds, answered)) in gone {
            if c == a {
                continue;
            }
            self.neighbours[c as usize].remove(&b);
            let sum = self.neighbours[a as usize].entry(c).or_insert((0.0, 0.0));
            *sum = (sum.0 + odds, sum.1 + answered);
            let sum = *sum;
            self.neighbours[c as usize].insert(a, sum);
        }
        let near = self.neighbours[a as usize].iter();
        let offers: Vec<Offer> = near.map(|(&c, &sum)| self.offer(a, c, sum)).collect();
        self.offers[b as usize] = BinaryHeap::new();
        self.offers[a as usize] = offers.into();
        self.promote(a);
    }

    /// Compact labels of all objects.
    fn labels(&self) -> Vec<u32> {
        let mut number = BTreeMap::new();
        let root = |i: usize| {
            let mut at = i as u32;
            while self.parent[at as usize] != at {
                at = self.parent[at as usize];
            }
            at
        };
        (0..self.parent.len())
            .map(|i| {
                let next = number.len() as u32;
                *number.entry(root(i)).or_insert(next)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;

    fn posterior(n: usize, pairs: Vec<(u32, u32, f64)>) -> Posterior {
        Posterior { n, pairs, iterations: 0, converged: true }
    }

    /// The same by trying every two clusters at every step.
    fn naive(posterior: &Posterior, k: usize) -> Vec<u32> {
        let unanswered = ((k.max(2) - 1) as f64).ln();
        let mut labels: Vec<usize> = (0..posterior.n).collect();
        let score = |labels: &[usize], a: usize, b: usize| {
            let size = |c: usize| labels.iter().filter(|&&l| l == c).count() as f64;
            let (mut odds, mut answered) = (0.0, 0.0);
            for &(i, j, x) in &posterior.pairs {
                let (s, t) = (labels[i as usize], labels[j as usize]);
                if (s, t) == (a, b) || (s, t) == (b, a) {
                    odds += x;
                    answered += 1.0;
                }
            }
            (odds - unanswered * (size(a) * size(b) - answered), answered > 0.0)
        };
        loop {
            let mut live = labels.clone();
            live.sort_unstable();
            live.dedup();
            if live.len() <= k {
                let place = |l: &usize| live.iter().position(|x| x == l).unwrap() as u32;
                return labels.iter().map(place).collect();
            }
            let mut best = (f64::NEG_INFINITY, 0, 0);
            for (at, &b) in live.iter().enumerate() {
                for &a in &live[..at] {
                    let (s, _) = score(&labels, a, b);
                    if s > best.0 {
                        best = (s, a, b);
                    }
                }
            }
            labels.iter_mut().filter(|l| **l == best.2).for_each(|l| *l = best.1);
        }
    }

    #[test]
    fn equals_the_definition() {
        // Every pair answered, so that the two smallest clusters are never a shortcut; no ties.
        for seed in 0..20 {
            let mut stream = Seed(seed).stream();
            let mut pairs = Vec::new();
            for i in 0..14u32 {
                for j in i + 1..14 {
                    pairs.push((
                        i,
                        j,
                        stream.uniform() * 4.0 - if i % 4 == j % 4 { 1.0 } else { 3.0 },
                    ));
                }
            }
            let posterior = posterior(14, pairs);
            for k in [1, 3, 4, 9, 14] {
                let fast = agglomerate(&posterior, k, &()).unwrap().labels;
                let slow = naive(&posterior, k);
                let same = |l: &[u32], i: usize, j: usize| l[i] == l[j];
                assert!(
                    (0..14).all(|i| (0..14).all(|j| same(&fast, i, j) == same(&slow, i, j))),
                    "{seed} {k}"
                );
            }
        }
    }

    /// The highest summed log-odds of two clusters.
    fn highest(posterior: &Posterior, labels: &[u32], unanswered: f64) -> f64 {
        let k = labels.iter().max().map_or(0, |&c| c as usize + 1);
        let mut size = vec![0.0; k];
        labels.iter().for_each(|&c| size[c as usize] += 1.0);
        let mut best = f64::NEG_INFINITY;
        for b in 0..k {
            for a in 0..b {
                let mut sum = -unanswered * size[a] * size[b];
                for &(i, j, odds) in &posterior.pairs {
                    let pair = (labels[i as usize] as usize, labels[j as usize] as usize);
                    if pair == (a, b) || pair == (b, a) {
                        sum += odds + unanswered;
                    }
                }
                best = best.max(sum);
            }
        }
        best
    }

    #[test]
    fn every_merge_is_the_best_where_few_pairs_are_answered() {
        for seed in 0..60 {
            let mut stream = Seed(seed).stream();
            let share = stream.uniform();
            let mut pairs = Vec::new();
            for j in 0..13u32 {
                for i in 0..j {
                    if stream.uniform() < share {
                        pairs.push((i, j, stream.uniform() * 9.0 - 6.0));
                    }
                }
            }
            let posterior = posterior(13, pairs);
            let unanswered = 0.3 * (seed % 5) as f64;
            let mut clusters = Merging::new(&posterior, unanswered);
            for _ in 1..13 {
                let (score, a, b) = clusters.best().unwrap();
                let highest = highest(&posterior, &clusters.labels(), unanswered);
                assert!((score - highest).abs() < 1e-9, "{seed}: {score}, {highest}");
                clusters.merge(a, b);
            }
            assert!(clusters.best().is_none());
        }
    }

    #[test]
    fn what_nobody_answered_counts_against_a_merge() {
        // A chain 0 - 1 - 2 - 3 of which the middle is weakest, and two pairs nobody compared with
        // it.
        let chain = vec![(0, 1, 3.0), (1, 2, 1.0), (2, 3, 3.0), (4, 5, 0.5), (6, 7, 0.2)];
        let found = agglomerate(&posterior(8, chain), 4, &()).unwrap();
        assert_eq!(found.labels, [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(found.supported, 4);
        let two = agglomerate(&posterior(4, vec![(0, 1, 1.0)]), 2, &()).unwrap();
        assert_eq!((two.labels, two.supported), (vec![0, 0, 1, 1], 3));
    }
}
