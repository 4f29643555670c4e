//! How many pairs lie otherwise than the clusters say, by the answers on each pair itself.

use consilience_core::{Memberships, Pace, Result, room};
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
/// Bytes for an answered pair while shares are found: its clusters and answers, its log-odds among
/// those of its two clusters and among all, and their share.
pub(crate) const PAIR: usize = 16 + 2 * 16 + 24;

/// Clusters of a pair, the smaller first, then its answers "same" and all its answers.
type Placed = [u32; 4];

/// The share of misplaced pairs within each cluster and between any two. The pairs that were
/// answered are of two kinds, those that lie as the clusters say and those that do not, and by its
/// answers each is of the second kind with some probability. Where there are few answered pairs the
/// share is drawn towards that of all pairs within clusters or between them, and that towards a
/// half: clusters that nobody compared are not sure, whatever the memberships say.
pub(crate) struct Misplaced {
    /// The likeliest cluster of each object.
    clusters: Vec<usize>,
    /// By the two clusters, the smaller first; ascending.
    shares: Vec<((usize, usize), f64)>,
    /// Where nothing was answered, within clusters and between them.
    elsewhere: [f64; 2],
    /// The largest share of each cluster's pairs.
    most: Vec<f64>,
    rates: CrowdRates,
}

impl Misplaced {
    pub(crate) fn of(
        memberships: &Memberships,
        counts: &AnswerCounts,
        rates: CrowdRates,
        pace: &mut Pace<'_>,
    ) -> Result<Self> {
        let within = |rate: f64| rate.clamp(RATES[0], RATES[1]);
        let rates = CrowdRates {
            same_together: within(rates.same_together),
            same_apart: within(rates.same_apart),
        };
        let q = memberships.values();
        let largest = |row: ArrayView1<'_, f64>| {
            (1..row.len()).fold(0, |best, c| if row[c] > row[best] { c } else { best })
        };
        let clusters = room::collected(q.rows().into_iter().map(largest))?;
        let placed = placed(&clusters, counts, pace)?;
        let blocks = || placed.chunk_by(|a, b| a[..2] == b[..2]);
        let mut elsewhere = [0.0; 2];
        for (apart, share_of) in elsewhere.iter_mut().enumerate() {
            let mut all = Vec::new();
            for block in blocks().filter(|block| apart == usize::from(block[0][0] != block[0][1])) {
                log_odds_of(block, rates, &mut all)?;
            }
            pace.work(ROUNDS * all.len())?;
            *share_of = share(&all, 0.5);
        }
        let (mut shares, mut own) = (Vec::new(), Vec::new());
        let mut most = vec![0.0_f64; q.ncols()];
        for block in blocks() {
            own.clear();
            log_odds_of(block, rates, &mut own)?;
            pace.work(ROUNDS * own.len())?;
            let [a, b] = [block[0][0], block[0][1]].map(|c| c as usize);
            let found = share(&own, elsewhere[usize::from(a != b)]);
            room::push(&mut shares, ((a, b), found))?;
            for c in [a, b] {
                most[c] = most[c].max(found);
            }
        }
        Ok(Misplaced { clusters, shares, elsewhere, most, rates })
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
        match self.shares.binary_search_by_key(&ordered(a, b), |share| share.0) {
            Ok(at) => self.shares[at].1,
            Err(_) => self.elsewhere[usize::from(a != b)],
        }
    }

    /// The probability of being together, where it is so much by the memberships. A pair in one
    /// cluster that is misplaced is apart: that makes it no likelier to be together, also where the
    /// memberships leave that below 1/2; and so the other way round.
    pub(crate) fn corrected(&self, i: usize, j: usize, together: f64, said: PairCount) -> f64 {
        let (a, b) = (self.clusters[i], self.clusters[j]);
        let wrong = posterior(self.between(a, b), log_odds(said, self.rates, a == b));
        let apart = 1.0 - together;
        let otherwise = if a == b { together.min(apart) } else { together.max(apart) };
        (1.0 - wrong) * together + wrong * otherwise
    }
}

fn ordered(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

/// Every answered pair, by its clusters and answers.
fn placed(clusters: &[usize], counts: &AnswerCounts, pace: &mut Pace<'_>) -> Result<Vec<Placed>> {
    let mut placed: Vec<Placed> = room::with_capacity(counts.n_pairs())?;
    for i in 0..clusters.len() {
        let before = placed.len();
        for (j, said) in counts.row(i).filter(|&(j, _)| j > i) {
            let (a, b) = ordered(clusters[i], clusters[j]);
            placed.push([a, b, said.same, said.answers].map(|x| x as u32));
        }
        pace.work(1 + placed.len() - before)?;
    }
    placed.sort_unstable();
    Ok(placed)
}

/// Log-odds of the pairs of two clusters, and how many have equal answers.
fn log_odds_of(block: &[Placed], rates: CrowdRates, to: &mut Vec<(f64, f64)>) -> Result<()> {
    for alike in block.chunk_by(|a, b| a == b) {
        let [a, b, same, answers] = alike[0];
        let said = PairCount { same: same as usize, answers: answers as usize };
        room::push(to, (log_odds(said, rates, a == b), alike.len() as f64))?;
    }
    Ok(())
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
    use crate::{Answers, PairAnswer};
    use consilience_core::MemoryBudget;
    use ndarray::Array2;

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

    /// Two objects whose likeliest cluster is the same, and who are together with probability 0.36
    /// by their memberships; all answers on other pairs of that cluster say that they are apart.
    #[test]
    fn a_contradicted_cluster_of_soft_memberships_is_no_likelier_together() {
        let row = [0.45, 0.3, 0.25];
        let q = Array2::from_shape_fn((8, 3), |(_, c)| row[c]);
        let rows = |same: bool| -> Vec<PairAnswer> {
            let pairs = (0..6).flat_map(|j| (0..j).map(move |i| (i, j)));
            pairs.map(|(i, j)| PairAnswer { worker: 0, i, j, same }).collect()
        };
        let together = row.iter().map(|p| p * p).sum::<f64>();
        for same in [false, true] {
            let answers = Answers::from_pairs(8, &rows(same)).unwrap();
            let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
            let memberships = Memberships::new(q.clone()).unwrap();
            let pace = &mut Pace::new(&());
            let misplaced = Misplaced::of(&memberships, &counts, RATES, pace).unwrap();
            assert_eq!(misplaced.between(0, 0) > 0.5, !same);
            for answers in 0..4 {
                let said = said(if same { answers } else { 0 }, answers);
                let corrected = misplaced.corrected(6, 7, together, said);
                assert!(
                    corrected <= together + 1e-12,
                    "{same} {answers}: {corrected} of {together}"
                );
            }
            // What the memberships say more clearly falls with what contradicts it.
            let sure = |said| misplaced.corrected(6, 7, 0.9, said);
            assert!(sure(said(0, 2)) < sure(said(0, 0)) && sure(said(0, 0)) < sure(said(2, 2)));
        }
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
