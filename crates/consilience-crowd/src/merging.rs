//! Clusters from the log-odds of single pairs, for clusters that are many and small.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use consilience_core::{Observer, Pace, Result};
use rustc_hash::FxHashMap;

use crate::dawid_skene::Posterior;

/// Bytes for an answered pair, and for an object, while clusters are merged: the pair's place among
/// the neighbours of both objects, in maps that may be half empty, its offers and its log-odds.
pub(crate) const PAIR: usize = 192;
/// Units of work of looking at an entry of a map.
const ENTRY: usize = 8;

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
/// to the smaller clusters, then to the lower numbers. O(m log^2 m) for m answered pairs: a merge
/// walks the neighbours of the cluster that has fewer. O(n) more for a merge that goes against the
/// answers, and an offer is computed anew whenever it comes first and unanswered pairs have come to
/// it. Memory at most [`PAIR`] bytes for each answered pair and each object.
pub(crate) fn agglomerate(
    posterior: &Posterior,
    k: usize,
    observer: &dyn Observer,
) -> Result<Agglomerated> {
    let (n, mut pace) = (posterior.n, Pace::new(observer));
    let mut clusters = Merging::new(posterior, ((k.max(2) - 1) as f64).ln());
    let mut supported = None;
    for left in (k.max(1) + 1..=n).rev() {
        pace.work(std::mem::take(&mut clusters.work))?;
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
    let mut pace = Pace::new(observer);
    let mut clusters = Merging::new(posterior, 0.0);
    while let Some((_, a, b)) = clusters.best().filter(|&(score, ..)| score > 0.0) {
        pace.work(std::mem::take(&mut clusters.work))?;
        clusters.merge(a, b);
    }
    Ok(clusters.labels())
}

/// A merge on offer: higher scores first, then lower numbers.
#[derive(Clone, Copy)]
struct Offer {
    score: f64,
    pair: Reverse<(u32, u32)>,
    /// Answered pairs between the two when this was computed. Merges only add to them, so that of
    /// two offers on a pair the one with more is the later one.
    answered: f64,
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score
            .total_cmp(&other.score)
            .then(self.pair.cmp(&other.pair))
            .then(self.answered.total_cmp(&other.answered))
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
    /// Of each live cluster. One of two clusters has the offer on them that was computed last,
    /// whose score is theirs, or higher where either has grown since by objects that nobody
    /// compared with the other. Few of them are ever looked at, so that one heap of all would
    /// mostly be moved about.
    offers: Vec<BinaryHeap<Offer>>,
    /// The best offer of each cluster, whose it is, and the how manieth of that cluster: the last
    /// one counts.
    best: BinaryHeap<(Offer, u32, u32)>,
    promoted: Vec<u32>,
    by_size: BTreeSet<(u32, u32)>,
    /// Of each cluster the smallest that nobody compared with it, and the versions of both. As long
    /// as neither is merged no other takes its place: a cluster of two is larger than either.
    stranger: Vec<Option<(u32, (u32, u32))>>,
    /// What a pair that nobody answered takes off.
    unanswered: f64,
    /// Work since it was last asked for.
    work: usize,
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
            promoted: vec![0; n],
            by_size: (0..n as u32).map(|i| (1, i)).collect(),
            stranger: vec![None; n],
            unanswered,
            work: ENTRY * (n + 2 * posterior.pairs.len()),
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
            answered,
        }
    }

    /// What an offer is now; `None` where there is a later one on its clusters, or one of them is
    /// gone.
    fn now(&self, offer: Offer) -> Option<Offer> {
        let Reverse((a, b)) = offer.pair;
        let &sum = self.neighbours[a as usize].get(&b)?;
        (sum.1 == offer.answered).then(|| self.offer(a, b, sum))
    }

    /// Puts the best offer of a cluster among those of the others, for what it was when it was
    /// computed.
    fn promote(&mut self, owner: u32) {
        let at = owner as usize;
        self.promoted[at] += 1;
        while let Some(&offer) = self.offers[at].peek() {
            self.work += ENTRY;
            if self.now(offer).is_some() {
                self.best.push((offer, owner, self.promoted[at]));
                break;
            }
            self.offers[at].pop();
        }
    }

    /// The best merge; `None` with one cluster left.
    fn best(&mut self) -> Option<(f64, u32, u32)> {
        let answered = loop {
            let Some(&(offer, owner, promoted)) = self.best.peek() else { break None };
            let last = promoted == self.promoted[owner as usize];
            let now = self.now(offer);
            if last && now == Some(offer) {
                let Reverse((a, b)) = offer.pair;
                break Some((offer.score, a, b));
            }
            self.work += ENTRY;
            self.best.pop();
            if last {
                // It is the first of that cluster's.
                self.offers[owner as usize].pop();
                self.offers[owner as usize].extend(now);
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
        let mut looked = 0;
        for &(s, a) in &self.by_size {
            let s = f64::from(s);
            looked += 1;
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
                let mut all = self.by_size.iter().map(|&(_, b)| b).inspect(|_| looked += 1);
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
        self.work += ENTRY * looked;
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
        // Versions of live clusters only grow.
        self.version[b as usize] = u32::MAX;
        self.version[a as usize] += 1;
        let gone = std::mem::take(&mut self.neighbours[b as usize]);
        self.offers[b as usize] = BinaryHeap::new();
        self.neighbours[a as usize].remove(&b);
        self.work += ENTRY * (1 + gone.len());
        let mut new = Vec::with_capacity(gone.len());
        for (c, (odds, answered)) in gone {
            if c == a {
                continue;
            }
            self.neighbours[c as usize].remove(&b);
            let sum = self.neighbours[a as usize].entry(c).or_insert((0.0, 0.0));
            *sum = (sum.0 + odds, sum.1 + answered);
            let sum = *sum;
            self.neighbours[c as usize].insert(a, sum);
            new.push(self.offer(a, c, sum));
        }
        self.put(a, new);
        self.promote(a);
    }

    /// Adds offers to those of a cluster. Those that are no more leave before there is more room,
    /// and there is a quarter to spare, so that they are looked through once for so many new ones.
    fn put(&mut self, owner: u32, new: Vec<Offer>) {
        let mut offers = std::mem::take(&mut self.offers[owner as usize]);
        if offers.capacity() < offers.len() + new.len() {
            self.work += ENTRY * offers.len();
            offers.retain(|&offer| self.now(offer).is_some());
            let wanted = offers.len() + new.len();
            if offers.capacity() < wanted + wanted / 4 {
                offers.reserve_exact(new.len() + wanted / 4);
            }
        }
        offers.extend(new);
        self.offers[owner as usize] = offers;
    }

    /// Compact labels of all objects.
    fn labels(&mut self) -> Vec<u32> {
        let mut number = BTreeMap::new();
        (0..self.parent.len())
            .map(|i| {
                let next = number.len() as u32;
                *number.entry(self.root(i)).or_insert(next)
            })
            .collect()
    }

    /// The cluster that stands for an object's; ways to it become half as long each time.
    fn root(&mut self, mut at: usize) -> usize {
        loop {
            let up = self.parent[at] as usize;
            if up == at {
                return at;
            }
            self.parent[at] = self.parent[up];
            at = self.parent[at] as usize;
        }
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

    /// One cluster grows object by object, and is the neighbour of most others.
    #[test]
    fn a_growing_cluster_is_not_looked_through_at_every_merge() {
        let (n, each) = (2_000u32, 10);
        let mut stream = Seed(3).stream();
        let mut pairs = BTreeMap::new();
        for i in 0..n {
            for _ in 0..each {
                let j = (i + 1 + stream.below(n as usize - 1) as u32) % n;
                pairs.insert((i.min(j), i.max(j)), 1.0 + stream.uniform());
            }
        }
        let pairs: Vec<_> = pairs.into_iter().map(|((i, j), odds)| (i, j, odds)).collect();
        let posterior = posterior(n as usize, pairs);
        let entries = posterior.pairs.len();
        let mut clusters = Merging::new(&posterior, 0.0);
        let (mut work, mut merges) = (0, 0);
        while let Some((_, a, b)) = clusters.best().filter(|&(score, ..)| score > 0.0) {
            clusters.merge(a, b);
            merges += 1;
            work += std::mem::take(&mut clusters.work);
        }
        assert_eq!(merges, n - 1);
        assert!(work < 20 * ENTRY * entries, "{} of {entries}", work / ENTRY);
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
