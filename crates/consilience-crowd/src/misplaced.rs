//! How many pairs lie otherwise than the clusters say, by the answers on each pair itself.

use std::collections::BTreeMap;

use consilience_core::Memberships;
use ndarray::ArrayView1;

use crate::answer_counts::{AnswerCounts, PairCount};
use crate::crowd_rates::CrowdRates;

/// Answers on one pair depend on each other: they are drawn from an urn that holds so many answers
/// at the crowd's rate, and every one that was given is put into it. Two of them are correlated by
/// 1 / (1 + URN).
const URN: f64 = 2.0;
/// Rates that answers on a pair are read with: no answer is beyond doubt.
const RATES: [f64; 2] = [0.01, 0.99];
/// Pairs that a prior share counts as.
const PRIOR: f64 = 1.0;
/// Rounds in which a share is found.
const ROUNDS: usize = 30;

/// The share of misplaced pairs within each cluster and between any two. The pairs that were
/// answered are of two kinds, those that lie as the clusters say and those that do not, and by its
/// answers each is of the second kind with some probability. Where there are few answered pairs the
/// share is drawn towards that of all pairs within clusters or between them, and that towards a
/// half: clusters that nobody compared are not sure, whatever the memberships say.
pub(crate) struct Misplaced {
    /// The likeliest cluster of each object.
    clusters: Vec<usize>,
    /// By the two clusters, the smaller first.
    shares: BTreeMap<(usize, usize), f64>,
    /// Where nothing was answered, within clusters and between them.
    elsewhere: [f64; 2],
    /// The largest share of each cluster's pairs.
    most: Vec<f64>,
    rates: CrowdRates,
}

impl Misplaced {
    pub(crate) fn of(memberships: &Memberships, counts: &AnswerCounts, rates: CrowdRates) -> Self {
        let within = |rate: f64| rate.clamp(RATES[0], RATES[1]);
        let rates = CrowdRates {
            same_together: within(rates.same_together),
            same_apart: within(rates.same_apart),
        };
        let q = memberships.values();
        let largest = |row: ArrayView1<'_, f64>| {
            (1..row.len()).fold(0, |best, c| if row[c] > row[best] { c } else { best })
        };
        let clusters: Vec<usize> = q.rows().into_iter().map(largest).collect();
        // Pairs of equal answers by their clusters.
        let mut alike = BTreeMap::<(usize, usize), BTreeMap<(usize, usize), f64>>::new();
        for i in 0..clusters.len() {
            for (j, said) in counts.row(i).filter(|&(j, _)| j > i) {
                let of = alike.entry(ordered(clusters[i], clusters[j])).or_default();
                *of.entry((said.same, said.answers)).or_default() += 1.0;
            }
        }
        let said = |(a, b): (usize, usize), of: &BTreeMap<(usize, usize), f64>| {
            let odds = |(&(same, answers), &pairs): (&(usize, usize), &f64)| {
                (log_odds(PairCount { same, answers }, rates, a == b), pairs)
            };
            of.iter().map(odds).collect::<Vec<(f64, f64)>>()
        };
        let elsewhere = [true, false].map(|within| {
            let blocks = alike.iter().filter(|((a, b), _)| (a == b) == within);
            share(&blocks.flat_map(|(&at, of)| said(at, of)).collect::<Vec<_>>(), 0.5)
        });
        let mut shares = BTreeMap::new();
        let mut most = vec![0.0_f64; q.ncols()];
        for (&(a, b), of) in &alike {
            let found = share(&said((a, b), of), elsewhere[usize::from(a != b)]);
            shares.insert((a, b), found);
            for c in [a, b] {
                most[c] = most[c].max(found);
            }
        }
        Misplaced { clusters, shares, elsewhere, most, rates }
    }

    /// The likeliest cluster of an object.
    pub(crate) fn cluster(&self, i: usize) -> usize {
        self.clusters[i]
    }

    /// The largest share of misplaced pairs that an object's cluster has, with itself or another.
    pub(crate) fn of_cluster(&self, i: usize) -> f64 {
        self.most[self.clusters[i]]
    }

    /// The share of pairs of objects of two clusters.
    pub(crate) fn between(&self, a: usize, b: usize) -> f64 {
        let elsewhere = self.elsewhere[usize::from(a != b)];
        self.shares.get(&ordered(a, b)).copied().unwrap_or(elsewhere)
    }

    /// The probability of being together, where it is so much by the clusters.
    pub(crate) fn corrected(&self, i: usize, j: usize, together: f64, said: PairCount) -> f64 {
        let share = self.between(self.clusters[i], self.clusters[j]);
        let wrong = posterior(share, log_odds(said, self.rates, together >= 0.5));
        (1.0 - wrong) * together + wrong * (1.0 - together)
    }
}

fn ordered(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

/// The rates of the next answer on a pair that has some: those of the urn.
pub(crate) fn repeated(rates: CrowdRates, said: PairCount) -> CrowdRates {
    let rate = |p: f64| (URN * p + said.same as f64) / (URN + said.answers as f64);
    CrowdRates { same_together: rate(rates.same_together), same_apart: rate(rates.same_apart) }
}

/// Logarithm of how much more probable a pair's answers are where it does not lie as it was placed.
fn log_odds(said: PairCount, rates: CrowdRates, together: bool) -> f64 {
    let (p, r) = (rates.same_together, rates.same_apart);
    let drawn = |times: usize, apart: f64, together: f64| -> f64 {
        let ratio = |t: f64| (URN * apart + t) / (URN * together + t);
        (0..times).map(|t| ratio(t as f64).ln()).sum()
    };
    let odds = drawn(said.same, r, p) + drawn(said.answers - said.same, 1.0 - r, 1.0 - p);
    if together { odds } else { -odds }
}

fn posterior(share: f64, log_odds: f64) -> f64 {
    let odds = share / (1.0 - share) * log_odds.exp();
    if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 }
}

/// The share of misplaced pairs, of log-odds and how many pairs have them, by expectation and
/// maximization.
fn share(pairs: &[(f64, f64)], prior: f64) -> f64 {
    let all: f64 = pairs.iter().map(|pair| pair.1).sum();
    let mut share = 0.5;
    for _ in 0..ROUNDS {
        let wrong: f64 = pairs.iter().map(|&(odds, n)| n * posterior(share, odds)).sum();
        share = (PRIOR * prior + wrong) / (PRIOR + all);
    }
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: CrowdRates = CrowdRates { same_together: 0.8, same_apart: 0.1 };

    fn said(same: usize, answers: usize) -> PairCount {
        PairCount { same, answers }
    }

    #[test]
    fn every_answer_on_a_pair_leaves_less_to_the_next() {
        let mut before = f64::INFINITY;
        for answers in 0..20 {
            let rates = repeated(RATES, said(answers / 2, answers));
            let gap = rates.same_together - rates.same_apart;
            assert!(gap > 0.0 && gap < before, "{answers}");
            before = gap;
        }
        assert!((log_odds(said(1, 1), RATES, true) - (0.1_f64 / 0.8).ln()).abs() < 1e-12);
        let twice = log_odds(said(2, 2), RATES, true);
        assert!((twice - (0.1 / 0.8 * 1.2 / 2.6_f64).ln()).abs() < 1e-12, "{twice}");
        assert_eq!(log_odds(said(3, 5), RATES, false), -log_odds(said(3, 5), RATES, true));
    }

    /// What the crowd's errors explain is not misplaced, what is answered alike again and again is.
    #[test]
    fn shares_are_those_that_errors_do_not_explain() {
        let odds = |same, answers| log_odds(said(same, answers), RATES, true);
        let single = [(odds(1, 1), 80.0), (odds(0, 1), 20.0)];
        assert!(share(&single, 0.5) < 0.05);
        let repeated = [(odds(6, 6), 80.0), (odds(0, 6), 20.0)];
        assert!((share(&repeated, 0.5) - 0.2).abs() < 0.05);
        assert_eq!(share(&[], 0.5), 0.5);
    }
}
