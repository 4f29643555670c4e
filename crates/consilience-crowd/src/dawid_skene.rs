//! Dawid and Skene's latent truth, a pair being together or apart.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use consilience_core::{Observer, Result};
use consilience_num::eigen::Shifted;
use consilience_num::sparse::Csr;

use crate::answers::Answers;
use crate::likelihood::{logistic, logit};

const MAX_ITERATIONS: usize = 200;
const TOLERANCE: f64 = 1e-6;
/// The same for the pool, whose share of pairs together creeps.
const POOL_ITERATIONS: usize = 5_000;
const POOL_TOLERANCE: f64 = 1e-9;
/// Answers that the pool's rates count as in every worker's.
const PSEUDO: f64 = 20.0;
/// Pairs that the share 1 / k counts as.
const SHARE: f64 = 500.0;
/// Answers from which on a pair distinguishes the share of pairs together from the rates.
const ENOUGH: usize = 3;

/// One answer on a pair: places in the answered objects, the worker's place, whether "same".
type Said = (u32, u32, u32, bool);

/// How likely each answered pair is together.
pub(crate) struct Posterior {
    /// Number of answered objects.
    pub(crate) n: usize,
    /// Distinct pairs, i < j as places in the answered objects, ascending, and the log-odds of
    /// together.
    pub(crate) pairs: Vec<(u32, u32, f64)>,
    pub(crate) iterations: usize,
}

/// Share of pairs together, and probabilities of "same" together and apart.
#[derive(Clone, Copy)]
struct Pool {
    share: f64,
    together: f64,
    apart: f64,
}

impl Pool {
    /// Brings the pool in line with the share of "same" in all answers. Pairs that were asked about
    /// again may mostly be of one kind and say little about the other; with at least the expected
    /// share of pairs together, pairs apart cannot be called the same more often than `most`.
    fn reconcile(&mut self, mean: f64, expected: f64) {
        let most = (mean - expected * self.together) / (1.0 - expected).max(f64::MIN_POSITIVE);
        if most > 0.0 && most < self.apart {
            self.apart = most;
            self.share = self.share.min(expected);
        }
    }
}

/// Expectation-maximisation over pairs as independent items.
///
/// With one answer a pair the likelihood has a ridge: a crowd that is right and one that calls few
/// of many pairs together the same explain the answers equally, and with workers' rates free the
/// whole fit slides along it. So the pool's rates come first, from all workers as one and the pairs
/// answered at least twice, the share of pairs together being held near 1 / k. Workers are shrunk
/// to the pool; share and pool are fitted further only to the pairs with three answers or more,
/// each pair with fewer counting as one more at the first pool.
pub(crate) fn posterior(answers: &Answers, k: usize, observer: &dyn Observer) -> Result<Posterior> {
    let said = pair_answers(answers);
    let pairs: Vec<&[Said]> = said.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).collect();
    let mut first = pool(&pairs, 1.0 / k as f64, observer)?;
    let mean = said.iter().filter(|a| a.3).count() as f64 / said.len().max(1) as f64;
    first.reconcile(mean, 1.0 / k as f64);
    let few: Vec<usize> = pairs.iter().map(|p| p.len()).filter(|&n| n < ENOUGH).collect();
    let few = (few.len() as f64 + 2.0, few.iter().sum::<usize>() as f64 + 2.0);

    let mut now = first;
    let mut rates = vec![(first.together, first.apart); answers.n_workers()];
    let mut together = vec![0.0; pairs.len()];
    let mut iterations = 0;
    loop {
        observer.check()?;
        let mut change: f64 = 0.0;
        let (prior, evidence) = (logit(now.share), evidence(&rates));
        for (pair, t) in pairs.iter().zip(&mut together) {
            let new = logistic(log_odds(pair, prior, &evidence));
            change = change.max((new - *t).abs());
            *t = new;
        }
        iterations += 1;
        if change < TOLERANCE || iterations == MAX_ITERATIONS {
            break;
        }
        let Expected { own, all, share, known } = Expected::new(&pairs, &together, rates.len());
        let (pairs_before, answers_before) = few;
        now.share = (share + pairs_before * first.share) / (known + pairs_before);
        let weight = answers_before * first.share;
        now.together = (all[0] + weight * first.together) / (all[1] + weight);
        let weight = answers_before * (1.0 - first.share);
        now.apart = (all[2] + weight * first.apart) / (all[3] + weight);
        for (rate, c) in rates.iter_mut().zip(&own) {
            *rate = (
                (c[0] + PSEUDO * now.together) / (c[1] + PSEUDO),
                (c[2] + PSEUDO * now.apart) / (c[3] + PSEUDO),
            );
        }
    }
    let (prior, evidence) = (logit(now.share), evidence(&rates));
    let odds = |pair: &&[Said]| (pair[0].0, pair[0].1, log_odds(pair, prior, &evidence));
    Ok(Posterior {
        n: answers.answered().len(),
        pairs: pairs.iter().map(odds).collect(),
        iterations,
    })
}

/// Expected "same" and all answers, on pairs together and apart: of each worker, and of the pairs
/// with enough answers; how many of those are together, and how many there are.
struct Expected {
    own: Vec<[f64; 4]>,
    all: [f64; 4],
    share: f64,
    known: f64,
}

impl Expected {
    fn new(pairs: &[&[Said]], together: &[f64], workers: usize) -> Self {
        let mut out =
            Expected { own: vec![[0.0; 4]; workers], all: [0.0; 4], share: 0.0, known: 0.0 };
        for (pair, &t) in pairs.iter().zip(together) {
            let enough = pair.len() >= ENOUGH;
            if enough {
                out.share += t;
                out.known += 1.0;
            }
            for &(_, _, w, same) in *pair {
                let said = f64::from(u8::from(same));
                for (e, x) in [t * said, t, (1.0 - t) * said, 1.0 - t].into_iter().enumerate() {
                    out.own[w as usize][e] += x;
                    if enough {
                        out.all[e] += x;
                    }
                }
            }
        }
        out
    }
}

impl Posterior {
    /// The probabilities: 1 on the diagonal, their mean where nobody answered.
    pub(crate) fn matrix(&self) -> Shifted {
        let total: f64 = self.pairs.iter().map(|p| logistic(p.2)).sum();
        let mean = if self.pairs.is_empty() { 0.0 } else { total / self.pairs.len() as f64 };
        let mut rows: Vec<Vec<(u32, f64)>> =
            (0..self.n as u32).map(|i| vec![(i, 1.0 - mean)]).collect();
        for &(i, j, odds) in &self.pairs {
            rows[i as usize].push((j, logistic(odds) - mean));
            rows[j as usize].push((i, logistic(odds) - mean));
        }
        for row in &mut rows {
            row.sort_unstable_by_key(|e| e.0);
        }
        Shifted::new(Csr::from_rows(self.n, rows), mean)
    }
}

/// Every pair answer, the answers on a pair side by side.
fn pair_answers(answers: &Answers) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::with_capacity(answers.n_pair_answers());
    let mut labelled: Vec<(u32, usize)> = Vec::new();
    for task in answers.tasks() {
        labelled.clear();
        let groups = task.groups().enumerate();
        labelled.extend(groups.flat_map(|(g, items)| items.iter().map(move |&i| (i, g))));
        for (at, &(i, g)) in labelled.iter().enumerate() {
            let rest = labelled[at + 1..].iter();
            said.extend(rest.map(|&(j, h)| (i.min(j), i.max(j), task.worker as u32, g == h)));
        }
    }
    said.sort_unstable();
    said
}

/// What an answer "apart" and what an answer "same" of each worker adds to the log-odds.
fn evidence(rates: &[(f64, f64)]) -> Vec<[f64; 2]> {
    rates.iter().map(|&(p, r)| [((1.0 - p) / (1.0 - r)).ln(), (p / r).ln()]).collect()
}

fn log_odds(pair: &[Said], prior: f64, evidence: &[[f64; 2]]) -> f64 {
    pair.iter().fold(prior, |odds, &(_, _, w, same)| odds + evidence[w as usize][usize::from(same)])
}

/// All workers as one: two binomials over the pairs with at least two answers, from the majority
/// vote. A few answers that are better than chance are added for those that are missing.
fn pool(pairs: &[&[Said]], expected: f64, observer: &dyn Observer) -> Result<Pool> {
    // Pairs of as many answers, as many of them "same", are one: the ridge takes thousands of
    // steps.
    let mut alike: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for pair in pairs.iter().filter(|p| p.len() > 1) {
        *alike.entry((pair.iter().filter(|a| a.3).count(), pair.len())).or_default() += 1.0;
    }
    let counts: Vec<(f64, f64, f64)> =
        alike.into_iter().map(|((same, all), times)| (same as f64, all as f64, times)).collect();
    let vote = |&(same, all, _): &(f64, f64, f64)| match (2.0 * same).total_cmp(&all) {
        Ordering::Less => 0.1,
        Ordering::Equal => 0.5,
        Ordering::Greater => 0.9,
    };
    let mut together: Vec<f64> = counts.iter().map(vote).collect();
    let known: f64 = counts.iter().map(|c| c.2).sum();
    let expected = expected.clamp(1e-6, 0.5);
    let mut pool = Pool { share: expected, together: 0.5, apart: 0.5 };
    for _ in 0..POOL_ITERATIONS {
        observer.check()?;
        let mut share = SHARE * expected;
        let (mut yes, mut in_all, mut yes_apart, mut apart) = (2.0, 3.0, 1.0, 3.0);
        for (&(same, all, times), t) in counts.iter().zip(&together) {
            share += times * t;
            yes += times * t * same;
            in_all += times * t * all;
            yes_apart += times * (1.0 - t) * same;
            apart += times * (1.0 - t) * all;
        }
        share /= known + SHARE;
        let moved = (share - pool.share).abs();
        pool = Pool { share, together: yes / in_all, apart: yes_apart / apart };
        let (p, r) = (pool.together, pool.apart);
        for (&(same, all, _), t) in counts.iter().zip(&mut together) {
            *t = logistic(
                logit(share) + same * (p / r).ln() + (all - same) * ((1.0 - p) / (1.0 - r)).ln(),
            );
        }
        if moved < POOL_TOLERANCE {
            break;
        }
    }
    // A pool that answers the wrong way round has taken the clusters for each other.
    if pool.together <= pool.apart {
        (pool.together, pool.apart) = (pool.apart, pool.together);
    }
    Ok(pool)
}
