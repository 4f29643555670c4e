//! What the answers say of the pairs, of the workers, and of how far distances can be trusted.

use std::collections::BTreeMap;

use super::question::WorkerAccuracy;
use super::tree::{Odds, sigmoid};

/// What a worker is taken to do before any answer: "same" of two objects that belong together, and
/// of two that do not; and how many answers that counts as, for the crowd and for a worker.
const EXPECTED: (f64, f64) = (0.85, 0.15);
const CROWD_PRIOR: f64 = 40.0;
const WORKER_PRIOR: f64 = 10.0;
/// Rates stay this far from 0 and 1.
const MARGIN: f64 = 0.01;
/// Correlation of a worker's repeated answers before any was seen, and the pairs of answers that
/// this counts as.
const REPEATED: (f64, f64) = (0.5, 3.0);
/// Rounds of estimation after a batch of answers.
const ROUNDS: usize = 6;
/// Precision of what is known of the odds beforehand: at the first cut, and of the slope. The prior
/// of the slope is weak since features may say little: under a strong one clusters by distance are
/// the more probable whatever the answers are.
const CUT_PRECISION: f64 = 0.25;
const SLOPE_PRECISION: f64 = 10.0;
/// Most that the odds at the first cut, and the slope, move in a round.
const MOST_STEP: (f64, f64) = (0.5, 0.2);
/// The slope is at least this.
const LEAST_SLOPE: f64 = 1.0;
/// Log-odds of two objects of one cell, before answers.
const ONE_CELL: f64 = 2.0;

/// One answer about a pair; a pair of a group weighs less than one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vote {
    pub(super) worker: usize,
    pub(super) same: bool,
    pub(super) weight: f64,
}

/// A pair of objects that has been answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// How alike their nodes were when it was asked first; `None` within a cell.
    pub(super) likeness: Option<f64>,
    /// Log-odds by answers about other pairs, as of the last tree.
    pub(super) elsewhere: f64,
    /// In the order of workers.
    votes: Vec<Vote>,
}

/// Rates of "same" of a worker.
#[derive(Clone, Copy, Debug)]
struct Rates {
    together: f64,
    apart: f64,
    /// Correlation of repeated answers.
    repeated: f64,
}

/// What each of a worker's answers to one question counts, where these are correlated by rho.
fn share(votes: &[Vote], rho: f64) -> f64 {
    1.0 / (1.0 + (votes.len() as f64 - 1.0) * rho)
}

/// Answers, and what is estimated from them.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    /// By the smaller and the larger object.
    pub(super) asked: BTreeMap<(usize, usize), Asked>,
    /// Votes of all pairs.
    pub(super) votes: usize,
    /// The workers' own numbers, and their places.
    workers: BTreeMap<usize, usize>,
    rates: Vec<Rates>,
    crowd: (f64, f64),
    counts: Vec<f64>,
    /// Log-odds by distance, now and at the start; the likeness at the first cut.
    pub(super) odds: Odds,
    first: Odds,
    cut: f64,
}

impl Evidence {
    pub(super) fn new(odds: Odds) -> Self {
        let cut = -odds.offset / odds.slope;
        Evidence {
            asked: BTreeMap::new(),
            votes: 0,
            workers: BTreeMap::new(),
            rates: Vec::new(),
            crowd: EXPECTED,
            counts: Vec::new(),
            odds,
            first: odds,
            cut,
        }
    }

    pub(super) fn add(&mut self, pair: (usize, usize), vote: Vote, likeness: Option<f64>) {
        let next = self.workers.len();
        let w = *self.workers.entry(vote.worker).or_insert(next);
        if w == next {
            let (together, apart) = self.crowd;
            self.rates.push(Rates { together, apart, repeated: REPEATED.0 });
            self.counts.push(0.0);
        }
        self.counts[w] += vote.weight;
        self.votes += 1;
        let new = Asked { likeness, ..Asked::default() };
        let votes = &mut self.asked.entry(pair).or_insert(new).votes;
        let at = votes.partition_point(|v| v.worker <= w);
        votes.insert(at, Vote { worker: w, ..vote });
    }

    /// How often the pair has been answered.
    pub(super) fn times(&self, pair: (usize, usize)) -> usize {
        self.asked.get(&pair).map_or(0, |asked| asked.votes.len())
    }

    /// Log-odds of belonging together by the answers about the pair. A worker's n answers to one
    /// question count as `n / (1 + (n - 1) rho)`. `purity` is the probability that what is asked
    /// about stands for what the answer is used for.
    pub(super) fn of(&self, asked: &Asked, purity: f64) -> f64 {
        let mut total = 0.0;
        for votes in asked.votes.chunk_by(|a, b| a.worker == b.worker) {
            let rates = self.rates[votes[0].worker];
            let (p, r) = (rates.together, rates.apart);
            let (p, r) = (purity * p + (1.0 - purity) * r, r);
            let share = share(votes, rates.repeated);
            let of = |same: bool| if same { (p / r).ln() } else { ((1.0 - p) / (1.0 - r)).ln() };
            total += share * votes.iter().map(|v| v.weight * of(v.same)).sum::<f64>();
        }
        total
    }

    /// How much a further answer about a pair counts that has been answered so often.
    pub(super) fn fresh(&self, times: usize) -> f64 {
        let rho = match self.rates.len() {
            0 => REPEATED.0,
            n => self.rates.iter().map(|r| r.repeated).sum::<f64>() / n as f64,
        };
        let independent = |n: f64| n / (1.0 + (n - 1.0).max(0.0) * rho);
        independent(times as f64 + 1.0) - independent(times as f64)
    }

    /// The crowd's rates of "same" of objects that belong together, and of others.
    pub(super) fn crowd(&self) -> (f64, f64) {
        self.crowd
    }

    /// Estimates rates, correlations and odds by distance, each given the others.
    pub(super) fn estimate(&mut self) {
        for _ in 0..ROUNDS {
            let together: Vec<f64> = self
                .asked
                .values()
                .map(|asked| sigmoid(self.before(asked) + self.of(asked, 1.0)))
                .collect();
            self.judge(&together);
            self.step_odds();
        }
    }

    /// Estimates rates and correlations where it is known how probably each pair is together.
    pub(super) fn judge(&mut self, together: &[f64]) {
        self.estimate_rates(together);
        self.estimate_repeats(together);
    }

    /// Rates and odds as before any answer, no pair following from others.
    pub(super) fn begin_again(&mut self) {
        self.crowd = EXPECTED;
        let (together, apart) = self.crowd;
        self.rates.fill(Rates { together, apart, repeated: REPEATED.0 });
        self.odds = self.first;
        self.asked.values_mut().for_each(|asked| asked.elsewhere = 0.0);
    }

    /// As [`begin_again`](Evidence::begin_again), where other odds are known before any answer.
    pub(super) fn begin_with(&mut self, odds: Odds) {
        (self.first, self.cut) = (odds, -odds.offset / odds.slope);
        self.begin_again();
    }

    /// How probable answers, rates and odds are, in logarithms but for a constant, given which
    /// pairs are together and how purely. Repeated answers weigh by the smaller of the correlations
    /// here and there: both are compared by one measure, and clusters that answers contradict make
    /// these look correlated.
    pub(super) fn log_posterior(
        &self,
        there: &Evidence,
        of: impl Fn(usize, usize) -> (bool, f64),
    ) -> f64 {
        let mut sum = 0.0;
        for (&(i, j), asked) in &self.asked {
            let (together, purity) = of(i, j);
            for votes in asked.votes.chunk_by(|a, b| a.worker == b.worker) {
                let worker = votes[0].worker;
                let Rates { together: p, apart: r, repeated } = self.rates[worker];
                let repeated = repeated.min(there.rates[worker].repeated);
                let same = if together { purity * p + (1.0 - purity) * r } else { r };
                let share = share(votes, repeated);
                let of = |v: &Vote| v.weight * if v.same { same } else { 1.0 - same }.ln();
                sum += share * votes.iter().map(of).sum::<f64>();
            }
        }
        let prior = |rate: f64, expected: f64| {
            expected * (rate / expected).ln()
                + (1.0 - expected) * ((1.0 - rate) / (1.0 - expected)).ln()
        };
        let (together, apart) = self.crowd;
        sum += CROWD_PRIOR * (prior(together, EXPECTED.0) + prior(apart, EXPECTED.1));
        for rates in &self.rates {
            sum += WORKER_PRIOR * (prior(rates.together, together) + prior(rates.apart, apart));
        }
        let Odds { offset, slope, .. } = self.odds;
        let at_cut = offset - self.first.offset + self.cut * (slope - self.first.slope);
        let steeper = slope - self.first.slope;
        sum - 0.5 * (CUT_PRECISION * at_cut * at_cut + SLOPE_PRECISION * steeper * steeper)
    }

    /// How probable the answers about each pair are by all that is known but these, in logarithms.
    pub(super) fn foreseen(&self) -> f64 {
        let of = |asked: &Asked| {
            let together = sigmoid(self.before(asked));
            let mut apart = 0.0;
            for votes in asked.votes.chunk_by(|a, b| a.worker == b.worker) {
                let Rates { apart: r, repeated, .. } = self.rates[votes[0].worker];
                let of = |v: &Vote| v.weight * if v.same { r } else { 1.0 - r }.ln();
                apart += share(votes, repeated) * votes.iter().map(of).sum::<f64>();
            }
            apart + (together * self.of(asked, 1.0).exp() + 1.0 - together).ln()
        };
        self.asked.values().map(of).sum()
    }

    /// Log-odds of the pair without its own answers.
    fn before(&self, asked: &Asked) -> f64 {
        asked.likeness.map_or(ONE_CELL, |l| self.odds.of(l)) + asked.elsewhere
    }

    fn estimate_rates(&mut self, together: &[f64]) {
        // Same and all, of pairs together and apart.
        let mut counts = vec![[0.0f64; 4]; self.rates.len()];
        for (asked, &t) in self.asked.values().zip(together) {
            for votes in asked.votes.chunk_by(|a, b| a.worker == b.worker) {
                let worker = votes[0].worker;
                let share = share(votes, self.rates[worker].repeated);
                for vote in votes {
                    let (weight, same) = (share * vote.weight, f64::from(u8::from(vote.same)));
                    let add = [t * same, t, (1.0 - t) * same, 1.0 - t];
                    counts[worker].iter_mut().zip(add).for_each(|(c, a)| *c += weight * a);
                }
            }
        }
        let mut all = [0.0; 4];
        for count in &counts {
            all.iter_mut().zip(count).for_each(|(a, c)| *a += c);
        }
        let rate = |same: f64, of: f64, prior: f64, strength: f64| {
            ((same + strength * prior) / (of + strength)).clamp(MARGIN, 1.0 - MARGIN)
        };
        self.crowd = (
            rate(all[0], all[1], EXPECTED.0, CROWD_PRIOR),
            rate(all[2], all[3], EXPECTED.1, CROWD_PRIOR),
        );
        for (rates, count) in self.rates.iter_mut().zip(&counts) {
            rates.together = rate(count[0], count[1], self.crowd.0, WORKER_PRIOR);
            rates.apart = rate(count[2], count[3], self.crowd.1, WORKER_PRIOR);
        }
    }

    /// How much oftener a worker's repeated answers agree than answers of such rates would.
    fn estimate_repeats(&mut self, together: &[f64]) {
        let mut sums = vec![(0.0f64, 0.0f64); self.rates.len()];
        for (asked, &t) in self.asked.values().zip(together) {
            for votes in asked.votes.chunk_by(|a, b| a.worker == b.worker) {
                let (n, same) = (votes.len(), votes.iter().filter(|v| v.same).count());
                if n < 2 {
                    continue;
                }
                let pairs = |n: usize| (n * n.saturating_sub(1) / 2) as f64;
                let agree = (pairs(same) + pairs(n - same)) / pairs(n);
                let rates = self.rates[votes[0].worker];
                let alone = |p: f64| p * p + (1.0 - p) * (1.0 - p);
                let expected = t * alone(rates.together) + (1.0 - t) * alone(rates.apart);
                let sum = &mut sums[votes[0].worker];
                sum.0 += (n - 1) as f64 * (agree - expected);
                sum.1 += (n - 1) as f64 * (1.0 - expected);
            }
        }
        for (rates, (excess, possible)) in self.rates.iter_mut().zip(sums) {
            // The prior's pairs of answers have a chance of 0.3 to differ.
            let strength = 0.3 * REPEATED.1;
            let rho = (excess + strength * REPEATED.0) / (possible + strength);
            rates.repeated = rho.clamp(0.0, 1.0);
        }
    }

    /// A Newton step for the odds by distance: a logistic regression on what the answers make of
    /// each pair, with a prior on the odds at the first cut and on the slope.
    fn step_odds(&mut self) {
        let Odds { offset, slope, .. } = self.odds;
        let at_cut = offset - self.first.offset + self.cut * (slope - self.first.slope);
        let mut gradient = [
            -CUT_PRECISION * at_cut,
            -SLOPE_PRECISION * (slope - self.first.slope) - CUT_PRECISION * at_cut * self.cut,
        ];
        let (mut aa, mut ab) = (CUT_PRECISION, CUT_PRECISION * self.cut);
        let mut bb = SLOPE_PRECISION + CUT_PRECISION * self.cut * self.cut;
        for asked in self.asked.values() {
            let Some(x) = asked.likeness else { continue };
            let (p, change) = self.odds.change(x);
            let known = self.odds.of(x) + asked.elsewhere + self.of(asked, 1.0);
            let variance = p * (1.0 - p);
            let error = (sigmoid(known) - p) * change / variance;
            gradient[0] += error;
            gradient[1] += error * x;
            let weight = change * change / variance;
            aa += weight;
            ab += weight * x;
            bb += weight * x * x;
        }
        let determinant = aa * bb - ab * ab;
        if determinant > 0.0 {
            let steep = (aa * gradient[1] - ab * gradient[0]) / determinant;
            let step = (bb * gradient[0] - ab * gradient[1]) / determinant + self.cut * steep;
            // Where all is sure already a full step may lead anywhere.
            let slope = (slope + steep.clamp(-MOST_STEP.1, MOST_STEP.1)).max(LEAST_SLOPE);
            let at_cut =
                offset + self.cut * self.odds.slope + step.clamp(-MOST_STEP.0, MOST_STEP.0);
            self.odds = Odds { offset: at_cut - self.cut * slope, slope, ..self.odds };
        }
    }

    /// What is known of the workers, by their own numbers.
    pub(super) fn table(&self) -> Vec<WorkerAccuracy> {
        let of = |(&worker, &w): (&usize, &usize)| WorkerAccuracy {
            worker,
            answers: self.counts[w],
            same_together: self.rates[w].together,
            same_apart: self.rates[w].apart,
            repeat_correlation: self.rates[w].repeated,
        };
        self.workers.iter().map(of).collect()
    }
}
