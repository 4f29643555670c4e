//! Clusters that grow from one object, for a start.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use consilience_core::{Observer, Result, Seed};
use consilience_num::sparse::Csr;
use rayon::prelude::*;

use crate::spectral;

/// Objects that clusters grow from, each alone.
const FIRST: usize = 8;
/// An object without a label.
const NONE: u32 = u32::MAX;

/// At most k clusters, k being 2 or more, from the log-odds of together of every answered pair: of
/// several that are grown, and of a spectral clustering, those with the highest sum of log-odds
/// inside clusters, the first of equals.
///
/// Clusters grow object by object. The next is always the one whose place is surest: whose summed
/// log-odds with the cluster it fits best are furthest above those with the second best, a new
/// cluster having log-odds of 0. So only neighbours have to have been compared. The answered
/// objects that clusters grow from are spread evenly over their order. Each takes O(m (k + log m))
/// for m answered pairs.
pub(super) fn labels(
    odds: &Csr,
    k: usize,
    seed: Seed,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let n = odds.n_rows();
    let count = FIRST.min(n);
    let grow = |s: usize| -> Result<Vec<u32>> {
        observer.check()?;
        Ok(Growth::of(odds, k).run(s * n / count))
    };
    let mut all: Vec<Vec<u32>> = (0..count).into_par_iter().map(grow).collect::<Result<_>>()?;
    all.push(spectral::cluster(odds, k, seed, observer)?);
    let sums: Vec<f64> = all.iter().map(|labels| inside(odds, labels)).collect();
    let best = (1..all.len()).fold(0, |b, l| if sums[l] > sums[b] { l } else { b });
    Ok(all.swap_remove(best))
}

/// Summed log-odds inside clusters, each pair from both sides.
fn inside(odds: &Csr, labels: &[u32]) -> f64 {
    let of = |i: usize| {
        let (others, odds) = odds.row(i);
        let own = others.iter().zip(odds).filter(|&(&j, _)| labels[j as usize] == labels[i]);
        own.map(|(_, x)| x).sum::<f64>()
    };
    (0..labels.len()).map(of).sum()
}

/// An object that waits for its cluster: the surest first, of equals the first.
struct Waiting {
    sure: f64,
    object: Reverse<usize>,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sure.total_cmp(&other.sure).then(self.object.cmp(&other.object))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

struct Growth<'a> {
    odds: &'a Csr,
    k: usize,
    /// The first so many clusters have objects.
    open: usize,
    labels: Vec<u32>,
    /// Summed log-odds of every object with the objects of every cluster: n x k.
    sums: Vec<f64>,
    /// How sure the place of every object is.
    sure: Vec<f64>,
    /// May hold what was true of an object before.
    waiting: BinaryHeap<Waiting>,
}

impl<'a> Growth<'a> {
    fn of(odds: &'a Csr, k: usize) -> Self {
        let n = odds.n_rows();
        Growth {
            odds,
            k,
            open: 0,
            labels: vec![NONE; n],
            sums: vec![0.0; n * k],
            sure: vec![0.0; n],
            waiting: BinaryHeap::new(),
        }
    }

    fn run(mut self, first: usize) -> Vec<u32> {
        self.place(first);
        while let Some(Waiting { sure, object: Reverse(i) }) = self.waiting.pop() {
            if self.labels[i] == NONE && sure.total_cmp(&self.sure[i]).is_eq() {
                self.place(i);
            }
        }
        self.labels
    }

    /// The log-odds with the open clusters and, if there is one, with a new one.
    fn choices(&self, i: usize) -> &[f64] {
        &self.sums[i * self.k..][..(self.open + 1).min(self.k)]
    }

    /// Puts an object where it fits best, the first of equals.
    fn place(&mut self, i: usize) {
        let choices = self.choices(i);
        let c = (1..choices.len()).fold(0, |b, c| if choices[c] > choices[b] { c } else { b });
        self.labels[i] = c as u32;
        let odds = self.odds;
        let (others, odds) = odds.row(i);
        for (&j, x) in others.iter().zip(odds) {
            self.sums[j as usize * self.k + c] += x;
        }
        if c == self.open {
            // One choice more for everybody.
            self.open += 1;
            (0..self.labels.len()).for_each(|j| self.wait(j));
        } else {
            others.iter().for_each(|&j| self.wait(j as usize));
        }
    }

    fn wait(&mut self, i: usize) {
        if self.labels[i] != NONE {
            return;
        }
        let [mut best, mut second] = [f64::NEG_INFINITY; 2];
        for &x in self.choices(i) {
            (best, second) = if x > best { (x, best) } else { (best, second.max(x)) };
        }
        self.sure[i] = best - second;
        self.waiting.push(Waiting { sure: best - second, object: Reverse(i) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A symmetric matrix from pairs.
    fn matrix(n: usize, pairs: &[(u32, u32, f64)]) -> Csr {
        let mut rows = vec![Vec::new(); n];
        for &(i, j, x) in pairs {
            rows[i as usize].push((j, x));
            rows[j as usize].push((i, x));
        }
        rows.iter_mut().for_each(|row| row.sort_unstable_by_key(|e| e.0));
        Csr::from_rows(n, rows)
    }

    /// The same object by object from the definition.
    fn naive(odds: &Csr, k: usize, first: usize) -> Vec<u32> {
        let n = odds.n_rows();
        let mut labels = vec![NONE; n];
        let mut open = 0;
        let mut next = Some(first);
        while let Some(i) = next {
            let sums = |i: usize, open: usize, labels: &[u32]| -> Vec<f64> {
                let (others, x) = odds.row(i);
                let with = |c: usize| {
                    let own = others.iter().zip(x);
                    let own = own.filter(|&(&j, _)| labels[j as usize] == c as u32);
                    own.map(|(_, x)| x).sum()
                };
                (0..k.min(open + 1)).map(with).collect()
            };
            let own = sums(i, open, &labels);
            let c = (1..own.len()).fold(0, |b, c| if own[c] > own[b] { c } else { b });
            labels[i] = c as u32;
            open = open.max(c + 1);
            next = None;
            let mut most = f64::NEG_INFINITY;
            for j in (0..n).filter(|&j| labels[j] == NONE) {
                let mut own = sums(j, open, &labels);
                own.sort_unstable_by(|a, b| b.total_cmp(a));
                if own[0] - own[1] > most {
                    (most, next) = (own[0] - own[1], Some(j));
                }
            }
        }
        labels
    }

    #[test]
    fn the_surest_is_next() {
        for seed in 0..40 {
            let mut stream = Seed(seed).stream();
            let mut pairs = Vec::new();
            for i in 0..15u32 {
                for j in i + 1..15 {
                    if stream.uniform() < 0.4 {
                        // Multiples of a power of two: sums are exact in any order, and many equal.
                        let x = stream.below(9) as f64 * 0.25;
                        pairs.push((i, j, if i % 3 == j % 3 { x } else { -x }));
                    }
                }
            }
            let odds = matrix(15, &pairs);
            for k in [2, 3, 5, 15] {
                for first in [0, 7] {
                    let grown = Growth::of(&odds, k).run(first);
                    assert_eq!(grown, naive(&odds, k, first), "{seed} {k} {first}");
                }
            }
        }
    }

    /// Neighbours on a line say all, and two lines that nobody compared share the clusters.
    #[test]
    fn a_line_is_followed_to_its_end() {
        let near = |i: u32| (1..4).map(move |step| (i, i + step));
        let pairs: Vec<(u32, u32, f64)> = (0..60)
            .flat_map(near)
            .filter(|&(i, j)| j < 60 && (i < 30) == (j < 30))
            .map(|(i, j)| (i, j, if i % 3 == j % 3 { 2.0 } else { -1.0 }))
            .collect();
        let found = labels(&matrix(60, &pairs), 3, Seed(0), &()).unwrap();
        for half in [0..30, 30..60usize] {
            for i in half.clone() {
                for j in half.clone() {
                    assert_eq!(found[i] == found[j], i % 3 == j % 3, "{i} {j}");
                }
            }
        }
    }
}
