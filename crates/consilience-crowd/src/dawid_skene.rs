//! Dawid and Skene's latent truth, a pair being together or apart.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use consilience_core::{Observer, Report, Result, Status};
use consilience_num::eigen::Shifted;
use consilience_num::sparse::Csr;
use rayon::prelude::*;

use crate::answers::Answers;
use crate::likelihood::{logistic, logit};
use crate::said::{Said, symmetric};

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
/// Pairs of one task at least, and tasks whose sums are added up.
const TASK: usize = 1 << 12;
const PARTS: usize = 16;
/// Steps of the power method, which signs are read from and which ends where no entry moves by
/// more; and what is added to the eigenvalues, which are from about -1/4 to 1/4, so that a negative
/// one is not the largest.
const STEPS: usize = 40;
const SETTLED: f64 = 1e-4;
const SHIFT: f64 = 0.1;
/// Standard errors from which on a worker has a whole vote on who is the right way round, and by
/// which a worker has to disagree with the others to be turned.
const WHOLE: f64 = 3.0;
const CONTRADICTS: f64 = 2.0;

/// How likely each answered pair is together.
pub(crate) struct Posterior {
    /// Number of answered objects.
    pub(crate) n: usize,
    /// Distinct pairs, i < j as places in the answered objects, ascending, and the log-odds of
    /// together.
    pub(crate) pairs: Vec<(u32, u32, f64)>,
    pub(crate) iterations: usize,
    pub(crate) converged: bool,
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
    Ok(fitted(&Said::of(answers)?, answers, k, observer)?.0)
}

/// The same of answers that are side by side already, and the log-odds of together before them.
fn fitted(
    said: &Said,
    answers: &Answers,
    k: usize,
    observer: &dyn Observer,
) -> Result<(Posterior, f64)> {
    let mut first = pool(said, 1.0 / k as f64, observer)?;
    let mean = same(&said.answers) as f64 / said.answers.len().max(1) as f64;
    first.reconcile(mean, 1.0 / k as f64);
    let few: Vec<usize> = said.each().map(|pair| pair.len()).filter(|&n| n < ENOUGH).collect();
    let few = (few.len() as f64 + 2.0, few.iter().sum::<usize>() as f64 + 2.0);
    let mut times = vec![0.0; 2 * answers.n_workers()];
    said.answers.iter().for_each(|&answer| times[answer as usize] += 1.0);

    let mut now = first;
    let mut rates = vec![(first.together, first.apart); answers.n_workers()];
    let mut together = vec![0.0; said.pairs.len()];
    let mut iterations = 0;
    let converged = loop {
        observer.check()?;
        observer.progress("dawid-skene", iterations, MAX_ITERATIONS);
        let (prior, evidence) = (logit(now.share), evidence(&rates));
        let (change, expected) = renew(said, &mut together, (prior, &evidence[..]), rates.len());
        iterations += 1;
        if change < TOLERANCE || iterations == MAX_ITERATIONS {
            break change < TOLERANCE;
        }
        let Expected { own, all, share, known } = expected;
        let (pairs_before, answers_before) = few;
        now.share = (share + pairs_before * first.share) / (known + pairs_before);
        let weight = answers_before * first.share;
        now.together = (all[0] + weight * first.together) / (all[1] + weight);
        let weight = answers_before * (1.0 - first.share);
        now.apart = (all[2] + weight * first.apart) / (all[3] + weight);
        let of_workers = own.chunks_exact(2).zip(times.chunks_exact(2));
        for (rate, (together, times)) in rates.iter_mut().zip(of_workers) {
            let [all, times_all] = [together, times].map(|of| of[0] + of[1]);
            *rate = (
                (together[1] + PSEUDO * now.together) / (all + PSEUDO),
                (times[1] - together[1] + PSEUDO * now.apart) / (times_all - all + PSEUDO),
            );
        }
    };
    let (prior, evidence) = (logit(now.share), evidence(&rates));
    let odds = |(&(i, j), on): (&(u32, u32), &[u32])| (i, j, log_odds(on, prior, &evidence));
    let posterior = Posterior {
        n: answers.answered().len(),
        pairs: said.pairs.iter().zip(said.each()).map(odds).collect(),
        iterations,
        converged,
    };
    Ok((posterior, prior))
}

/// New probabilities of together from the log-odds before any answer and what each answer adds, the
/// largest change of one, and what they let expect: in one pass, as each pass reads all answers.
fn renew(
    said: &Said,
    together: &mut [f64],
    (prior, evidence): (f64, &[f64]),
    workers: usize,
) -> (f64, Expected) {
    // As many parts on any machine.
    let length = together.len().div_ceil(PARTS).max(TASK);
    let of_part = |(part, together): (usize, &mut [f64])| {
        let (mut change, mut expected) = (0.0, Expected::none(workers));
        for (pair, t) in (part * length..).zip(together) {
            let on = said.on(pair);
            let before = std::mem::replace(t, logistic(log_odds(on, prior, evidence)));
            change = f64::max(change, (*t - before).abs());
            expected.add(on, *t);
        }
        (change, expected)
    };
    let parts: Vec<(f64, Expected)> =
        together.par_chunks_mut(length).enumerate().map(of_part).collect();
    let none = (0.0, Expected::none(workers));
    parts
        .into_iter()
        .fold(none, |(change, all), (of_part, part)| (f64::max(change, of_part), all.and(part)))
}

/// Expected answers on pairs together, of each worker and kind (the others are on pairs apart); and
/// of the pairs with enough answers "same" and all, together and apart, how many pairs are
/// together, and how many there are.
struct Expected {
    own: Vec<f64>,
    all: [f64; 4],
    share: f64,
    known: f64,
}

impl Expected {
    fn none(workers: usize) -> Self {
        Expected { own: vec![0.0; 2 * workers], all: [0.0; 4], share: 0.0, known: 0.0 }
    }

    /// One pair, together with probability t.
    fn add(&mut self, pair: &[u32], t: f64) {
        pair.iter().for_each(|&answer| self.own[answer as usize] += t);
        if pair.len() >= ENOUGH {
            let (same, all) = (same(pair) as f64, pair.len() as f64);
            let of_pair = [t * same, t * all, (1.0 - t) * same, (1.0 - t) * all];
            self.all.iter_mut().zip(of_pair).for_each(|(sum, x)| *sum += x);
            self.share += t;
            self.known += 1.0;
        }
    }

    fn and(mut self, other: Self) -> Self {
        self.own.iter_mut().zip(&other.own).for_each(|(a, b)| *a += b);
        self.all.iter_mut().zip(&other.all).for_each(|(a, b)| *a += b);
        self.share += other.share;
        self.known += other.known;
        self
    }
}

impl Posterior {
    pub(crate) fn describe(&self, report: &mut Report) {
        report.iterations = self.iterations;
        if !self.converged {
            report.status = Status::MaxIterations;
        }
    }

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

/// The answers, those of workers who contradict the others being turned round: "same" for "apart".
///
/// All workers as one answer the wrong way round where a few who do have given most of the answers,
/// and their fit then takes pairs apart for pairs together. One worker has one vote here, however
/// many the answers.
pub(crate) struct Turned<'a> {
    answers: &'a Answers,
    said: Said,
    /// Share of the answers that are turned.
    pub(crate) share: f64,
}

impl<'a> Turned<'a> {
    pub(crate) fn of(answers: &'a Answers, observer: &dyn Observer) -> Result<Self> {
        let mut said = Said::of(answers)?;
        let agreement = agreement(&said, answers.n_workers(), observer)?;
        let mut turned = 0usize;
        for answer in &mut said.answers {
            if agreement[(*answer / 2) as usize] < -CONTRADICTS {
                *answer ^= 1;
                turned += 1;
            }
        }
        let share = turned as f64 / said.answers.len().max(1) as f64;
        Ok(Turned { answers, said, share })
    }

    /// What the answers on every pair of answered objects add to the log-odds of together.
    pub(crate) fn log_odds(&self, k: usize, observer: &dyn Observer) -> Result<Csr> {
        let (posterior, prior) = fitted(&self.said, self.answers, k, observer)?;
        let of_answers = posterior.pairs.iter().map(|&(i, j, odds)| (i, j, odds - prior));
        symmetric(posterior.n, of_answers)
    }
}

/// What the answers on every pair of answered objects add to the log-odds of together, workers
/// having the given probabilities of "same" together and apart.
pub(crate) fn sums(answers: &Answers, rates: &[(f64, f64)]) -> Result<Csr> {
    let (said, evidence) = (Said::of(answers)?, evidence(rates));
    let odds = |(&(i, j), on): (&(u32, u32), &[u32])| (i, j, log_odds(on, 0.0, &evidence));
    symmetric(answers.answered().len(), said.pairs.iter().zip(said.each()).map(odds))
}

/// By how many standard errors each worker agrees with the others on the pairs that they share, the
/// others being counted as far as they agree with each other; negative where a worker contradicts
/// them. As many workers as possible are on the positive side.
///
/// With `d` for how far an answer is above the worker's mean, the sum of `d_w d_v` over the pairs
/// that w and v share is in expectation a product of a number of w, which is negative for those who
/// answer the wrong way round, one of v, and the number of pairs. So the leading eigenvector of
/// these sums, off the diagonal and scaled by how much each worker shares, has the signs. A step of
/// the power method is O(answers).
fn agreement(said: &Said, workers: usize, observer: &dyn Observer) -> Result<Vec<f64>> {
    let who = |answer: u32| (answer / 2) as usize;
    let [mut same, mut all, mut shared] = [(); 3].map(|()| vec![0.0_f64; workers]);
    // Answers on a pair are sorted by worker.
    let by_worker = |a: &u32, b: &u32| a / 2 == b / 2;
    for pair in said.each() {
        for own in pair.chunk_by(by_worker) {
            for &answer in own {
                same[who(answer)] += f64::from(answer % 2);
                all[who(answer)] += 1.0;
                shared[who(answer)] += (pair.len() - own.len()) as f64;
            }
        }
    }
    let mean: Vec<f64> = same.iter().zip(&all).map(|(s, a)| s / f64::max(*a, 1.0)).collect();
    let above = |answer: u32| f64::from(answer % 2) - mean[who(answer)];
    let scale: Vec<f64> = shared.iter().map(|s: &f64| 1.0 / s.max(1.0).sqrt()).collect();
    // Of every answer its product with those of other workers on the pair, times x of these.
    let with_others = |x: &[f64], sum: &mut dyn FnMut(usize, f64)| {
        let x: Vec<f64> = x.iter().zip(&scale).map(|(x, s)| x * s).collect();
        let part = |answer: u32| above(answer) * x[who(answer)];
        let parts = |answers: &[u32]| answers.iter().map(|&answer| part(answer)).sum::<f64>();
        for pair in said.each() {
            let total = parts(pair);
            for own in pair.chunk_by(by_worker).filter(|own| own.len() < pair.len()) {
                let others = total - parts(own);
                own.iter().for_each(|&a| sum(who(a), above(a) * others));
            }
        }
    };
    let mut x: Vec<f64> = shared.iter().map(|s: &f64| s.sqrt()).collect();
    let mut before = vec![0.0; workers];
    for _ in 0..STEPS {
        observer.check()?;
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        x.iter_mut().for_each(|x| *x /= norm);
        if x.iter().zip(&before).all(|(x, b): (&f64, &f64)| (x - b).abs() < SETTLED) {
            break;
        }
        let mut next: Vec<f64> = x.iter().map(|x| SHIFT * x).collect();
        with_others(&x, &mut |w: usize, product: f64| next[w] += scale[w] * product);
        before = std::mem::replace(&mut x, next);
    }
    let mut sums = vec![(0.0_f64, 0.0_f64); workers];
    with_others(&x, &mut |w: usize, product: f64| {
        sums[w].0 += product;
        sums[w].1 += product * product;
    });
    let errors =
        |&(sum, squares): &(f64, f64)| if squares > 0.0 { sum / squares.sqrt() } else { 0.0 };
    let own: Vec<f64> = sums.iter().map(errors).collect();
    let vote: f64 = own.iter().map(|z: &f64| z.clamp(-WHOLE, WHOLE)).sum();
    Ok(if vote < 0.0 { own.iter().map(|z| -z).collect() } else { own })
}

/// How many answers are "same".
fn same(answers: &[u32]) -> usize {
    answers.iter().filter(|&answer| answer % 2 == 1).count()
}

/// What an answer "apart" and what an answer "same" of each worker adds to the log-odds.
fn evidence(rates: &[(f64, f64)]) -> Vec<f64> {
    rates.iter().flat_map(|&(p, r)| [((1.0 - p) / (1.0 - r)).ln(), (p / r).ln()]).collect()
}

fn log_odds(pair: &[u32], prior: f64, evidence: &[f64]) -> f64 {
    pair.iter().fold(prior, |odds, &answer| odds + evidence[answer as usize])
}

/// All workers as one: two binomials over the pairs with at least two answers, from the majority
/// vote. A few answers that are better than chance are added for those that are missing.
fn pool(said: &Said, expected: f64, observer: &dyn Observer) -> Result<Pool> {
    // Pairs of as many answers, as many of them "same", are one: the ridge takes thousands of
    // steps.
    let mut alike: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for pair in said.each().filter(|pair| pair.len() > 1) {
        *alike.entry((same(pair), pair.len())).or_default() += 1.0;
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
    for iteration in 0..POOL_ITERATIONS {
        observer.check()?;
        observer.progress("the crowd as one", iteration, POOL_ITERATIONS);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_model::crowd;
    use crate::{CrowdClustering, CrowdMethod};

    /// Answers next to chance: probabilities go on moving, little by little.
    #[test]
    fn a_fit_that_is_stopped_says_so() {
        let ended = |wrong: f64| {
            let rows = crowd(3, 100, 80, (1, 30), wrong, 0, 1);
            let answers = Answers::from_groupings(100, &rows).unwrap();
            [CrowdMethod::DawidSkene, CrowdMethod::Pairs].map(|method| {
                let crowd = CrowdClustering::new(3).method(method).alternative(false);
                let report = crowd.fit(&answers, &()).unwrap().report;
                (report.status, report.iterations == MAX_ITERATIONS)
            })
        };
        assert_eq!(ended(0.9), [(Status::MaxIterations, true); 2]);
        assert_eq!(ended(0.1), [(Status::Solved, false); 2]);
    }

    /// Pairs enough for several parts.
    #[test]
    fn one_pass_equals_the_definition() {
        let answers = Answers::from_groupings(200, &crowd(4, 200, 9, (1, 90), 0.2, 0, 2)).unwrap();
        let said = Said::of(&answers).unwrap();
        assert!(said.pairs.len() > 2 * TASK);
        let rates: Vec<(f64, f64)> = (0..9).map(|w| (0.9 - 0.05 * f64::from(w), 0.2)).collect();
        let mut together = vec![0.5; said.pairs.len()];
        let (change, expected) = renew(&said, &mut together, (-1.0, &evidence(&rates)), 9);
        let (mut own, mut known, mut most) = (vec![0.0; 18], 0.0, 0.0_f64);
        for (on, &t) in said.each().zip(&together) {
            let odds = on.iter().fold(-1.0, |odds, &answer| {
                let (p, r) = rates[answer as usize / 2];
                odds + if answer % 2 == 1 { (p / r).ln() } else { ((1.0 - p) / (1.0 - r)).ln() }
            });
            assert!((logistic(odds) - t).abs() < 1e-12);
            on.iter().for_each(|&answer| own[answer as usize] += t);
            known += f64::from(u8::from(on.len() >= ENOUGH));
            most = most.max((t - 0.5).abs());
        }
        assert!((change - most).abs() < 1e-12 && expected.known == known && known > 0.0);
        assert!(own.iter().zip(&expected.own).all(|(x, y): (&f64, &f64)| (x - y).abs() < 1e-9));
    }
}
