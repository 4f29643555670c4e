use consilience_core::Link;

/// What a clustering or a metric says about links that it has not seen.
///
/// ```text
/// score = phi + (2 AUC - 1)
/// ```
///
/// Two correlations with "must-link", both 0 for links at random and 1 at best: phi is that of
/// "same cluster", 2 AUC - 1 (Somers' D) that of the order of the distances. phi sees where the
/// clusters are cut, AUC is less coarse where must-links are few.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LinkEvidence {
    /// Correlation of "same cluster" and "must-link", -1 to 1; 0 where either never varies.
    pub phi: f64,
    /// Chance that a must-link is shorter than a cannot-link, ties half; 1/2 where one kind is
    /// missing.
    pub auc: f64,
    /// Links that were judged.
    pub links: usize,
}

impl LinkEvidence {
    /// phi + 2 AUC - 1: what decides.
    pub fn score(&self) -> f64 {
        self.phi + 2.0 * self.auc - 1.0
    }
}

/// How one link looks to a read-out: its number, whether its objects share a cluster, their squared
/// distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub link: usize,
    pub same: bool,
    pub square: f64,
    pub kind: Link,
}

/// LinkEvidence, and how much each link moves its score.
pub(super) struct Weighed {
    pub evidence: LinkEvidence,
    /// Influence of each of all links on the score; their sum of squares over their number squared
    /// is its variance.
    influence: Vec<f64>,
    /// Standard errors of phi and 2 AUC - 1, added, where links have nothing to do with the
    /// clustering.
    chance: f64,
}

/// Links at random have a score of 0; where neither the plain nor a learned clustering is this many
/// standard errors above it, they have nothing to do with the ensemble and the plain one is read
/// out.
const CHANCE: f64 = 1.5;
/// What has grown members has the benefit of the doubt for this many standard errors of the
/// difference: a link is judged by the few of them that were made without it, from fewer links.
const DOUBT: f64 = 1.0;

impl Weighed {
    /// The evidence of what was seen of `links` links.
    pub(super) fn of(seen: &[Seen], links: usize) -> Self {
        let n = seen.len() as f64;
        let mut influence = vec![0.0; links];
        let must = |s: &Seen| s.kind == Link::Must;
        let share = |count: usize| count as f64 / n.max(1.0);
        let x = share(seen.iter().filter(|s| s.same).count());
        let y = share(seen.iter().filter(|s| must(s)).count());
        let xy = share(seen.iter().filter(|s| s.same && must(s)).count());
        let (dx, dy) = ((x * (1.0 - x)).sqrt(), (y * (1.0 - y)).sqrt());
        let mut phi = 0.0;
        if dx > 0.0 && dy > 0.0 {
            phi = (xy - x * y) / (dx * dy);
            for s in seen {
                let u = (f64::from(u8::from(s.same)) - x) / dx;
                let v = (f64::from(u8::from(must(s))) - y) / dy;
                influence[s.link] += u * v - 0.5 * phi * (u * u + v * v);
            }
        }
        let auc = auc(seen, y, &mut influence);
        let (must, cannot) = (n * y, n * (1.0 - y));
        let chance = if must > 0.0 && cannot > 0.0 {
            n.sqrt().recip() + 2.0 * ((n + 1.0) / (12.0 * must * cannot)).sqrt()
        } else {
            f64::INFINITY
        };
        Weighed { evidence: LinkEvidence { phi, auc, links: seen.len() }, influence, chance }
    }

    /// Standard error of the difference of two scores over the same links.
    fn error(&self, other: &Self) -> f64 {
        let n = self.influence.len().max(1) as f64;
        let squares: f64 =
            self.influence.iter().zip(&other.influence).map(|(a, b)| (a - b) * (a - b)).sum();
        squares.sqrt() / n
    }
}

/// Chance that a must-link is shorter than a cannot-link; `share` is that of must-links.
fn auc(seen: &[Seen], share: f64, influence: &mut [f64]) -> f64 {
    let mut sorted: Vec<&Seen> = seen.iter().collect();
    sorted.sort_by(|x, y| x.square.total_cmp(&y.square));
    let must = sorted.iter().filter(|s| s.kind == Link::Must).count() as f64;
    let cannot = sorted.len() as f64 - must;
    if must == 0.0 || cannot == 0.0 {
        return 0.5;
    }
    // For each link the share of the other kind that it beats, ties half.
    let (mut shorter, mut longer, mut wins) = (0.0, cannot, 0.0);
    let mut beaten = Vec::with_capacity(sorted.len());
    for ties in sorted.chunk_by(|x, y| x.square == y.square) {
        let m = ties.iter().filter(|s| s.kind == Link::Must).count() as f64;
        let c = ties.len() as f64 - m;
        longer -= c;
        wins += m * (longer + 0.5 * c);
        for s in ties {
            let share = if s.kind == Link::Must {
                (longer + 0.5 * c) / cannot
            } else {
                (shorter + 0.5 * m) / must
            };
            beaten.push((s.link, s.kind, share));
        }
        shorter += m;
    }
    let auc = wins / (must * cannot);
    for (link, kind, beats) in beaten {
        influence[link] +=
            2.0 * (beats - auc) / if kind == Link::Must { share } else { 1.0 - share };
    }
    auc
}

/// Which clustering is read out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reading {
    /// The plain consensus: k-means on the directions of the first k dimensions under cluster
    /// weights, nearly that of [`Lwgp`](consilience_graph::Lwgp).
    #[default]
    Plain,
    /// The plain consensus of all members, those grown from the links among them.
    Joined,
    /// k-means under the learned metric.
    Metric,
    /// The same with the grown members.
    Grown,
}

impl Reading {
    /// The name that the program prints.
    pub fn name(self) -> &'static str {
        match self {
            Reading::Plain => "plain",
            Reading::Joined => "joined",
            Reading::Metric => "metric",
            Reading::Grown => "grown",
        }
    }
}

/// The evidence for each possible reading, and the one it speaks for.
///
/// Joined, metric and grown in turn take the place of the best so far: the metric by a better
/// score, what has grown members unless it is worse by a standard error. Where a score is not well
/// above chance (0), and neither is that of the plain consensus, it does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
    /// What is read out.
    pub reading: Reading,
    /// The plain consensus, which sees no links.
    pub plain: LinkEvidence,
    /// The plain consensus with grown members, each link judged by members made without it; `None`
    /// where nothing was grown.
    pub joined: Option<LinkEvidence>,
    /// Standard error of the difference of its score to the plain one.
    pub joined_error: f64,
    /// The metric; each link is judged by one that was learned without it.
    pub metric: LinkEvidence,
    /// Standard error of the difference of its score to the best so far.
    pub metric_error: f64,
    /// The metric with grown members, each link judged by members and a metric made without it.
    pub grown: Option<LinkEvidence>,
    /// Standard error of the difference of its score to the best so far.
    pub grown_error: f64,
}

impl Judgement {
    /// `grown` has what was seen of the plain consensus with grown members, and of the metric with
    /// them.
    pub(super) fn of(
        plain: &Weighed,
        metric: &Weighed,
        grown: Option<(&Weighed, &Weighed)>,
    ) -> Self {
        let beyond_chance = |e: &Weighed| e.evidence.score() > CHANCE * e.chance;
        let (mut reading, mut best) = (Reading::Plain, plain);
        let mut challenge = |next, learned, doubt| {
            let error = Weighed::error(learned, best);
            let sensible = beyond_chance(learned) || beyond_chance(plain);
            if sensible && learned.evidence.score() > best.evidence.score() - doubt * error {
                (reading, best) = (next, learned);
            }
            error
        };
        let joined_error =
            grown.map_or(0.0, |(joined, _)| challenge(Reading::Joined, joined, DOUBT));
        let metric_error = challenge(Reading::Metric, metric, 0.0);
        let grown_error = grown.map_or(0.0, |(_, grown)| challenge(Reading::Grown, grown, DOUBT));
        Judgement {
            reading,
            plain: plain.evidence,
            joined: grown.map(|(joined, _)| joined.evidence),
            joined_error,
            metric: metric.evidence,
            metric_error,
            grown: grown.map(|(_, grown)| grown.evidence),
            grown_error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, most: usize) -> Vec<Seen> {
        let mut s = consilience_core::Seed(seed).stream();
        (0..s.below(most))
            .map(|link| {
                let kind = if s.below(2) == 0 { Link::Must } else { Link::Cannot };
                Seen { link, same: s.below(2) == 0, square: s.below(5) as f64, kind }
            })
            .collect()
    }

    /// phi and AUC straight from their definitions.
    fn reference(seen: &[Seen]) -> (f64, f64) {
        let (mut wins, mut pairs) = (0.0, 0.0);
        for m in seen.iter().filter(|s| s.kind == Link::Must) {
            for c in seen.iter().filter(|s| s.kind == Link::Cannot) {
                pairs += 1.0;
                wins += if m.square < c.square {
                    1.0
                } else if m.square == c.square {
                    0.5
                } else {
                    0.0
                };
            }
        }
        let count =
            |same, kind| seen.iter().filter(|s| s.same == same && s.kind == kind).count() as f64;
        let (a, b) = (count(true, Link::Must), count(true, Link::Cannot));
        let (c, d) = (count(false, Link::Must), count(false, Link::Cannot));
        let size = ((a + b) * (c + d) * (a + c) * (b + d)).sqrt();
        (
            if size > 0.0 { (a * d - b * c) / size } else { 0.0 },
            if pairs > 0.0 { wins / pairs } else { 0.5 },
        )
    }

    #[test]
    fn equals_the_definitions() {
        for seed in 0..100 {
            let seen = drawn(seed, 14);
            let found = Weighed::of(&seen, seen.len()).evidence;
            let (phi, auc) = reference(&seen);
            assert!(
                (found.phi - phi).abs() < 1e-12 && (found.auc - auc).abs() < 1e-12,
                "seed {seed}"
            );
        }
        assert_eq!(Weighed::of(&[], 0).evidence.score(), 0.0);
    }

    /// The standard error is that of the jackknife, nearly.
    #[test]
    fn the_error_is_the_jackknifes() {
        for seed in 0..10 {
            let mut seen = drawn(seed, 2);
            let mut s = consilience_core::Seed(100 + seed).stream();
            seen.clear();
            for link in 0..300 {
                let kind = if s.below(3) == 0 { Link::Must } else { Link::Cannot };
                let same = s.below(4) == 0 || (kind == Link::Must && s.below(2) == 0);
                seen.push(Seen {
                    link,
                    same,
                    square: s.uniform() + f64::from(u8::from(same)),
                    kind,
                });
            }
            let nothing = Weighed {
                evidence: LinkEvidence::default(),
                influence: vec![0.0; 300],
                chance: 0.0,
            };
            let found = Weighed::of(&seen, 300).error(&nothing);
            let scores: Vec<f64> = (0..300)
                .map(|out| {
                    let rest: Vec<Seen> = seen.iter().filter(|s| s.link != out).copied().collect();
                    let (phi, auc) = reference(&rest);
                    phi + 2.0 * auc - 1.0
                })
                .collect();
            let mean = scores.iter().sum::<f64>() / 300.0;
            let jackknife =
                (299.0 / 300.0 * scores.iter().map(|v| (v - mean).powi(2)).sum::<f64>()).sqrt();
            assert!((found / jackknife - 1.0).abs() < 0.02, "seed {seed}: {found} {jackknife}");
        }
    }
}
