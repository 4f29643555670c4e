use consilience_core::Link;

/// How well a clustering, or a metric, agrees with links that it was made without.
///
/// ```text
/// score = phi + (2 AUC - 1)
/// ```
///
/// Two correlations with "must-link", both 0 for links at random and 1 at best: phi is that of
/// "same cluster", 2 AUC - 1 (Somers' D) that of the order of the distances. phi depends on where
/// the clusters end; AUC is less coarse where must-links are few.
///
/// Part of [`CrossValidation`](crate::CrossValidation), by which an [`Updater`](crate::Updater)
/// chooses its read-out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LinkEvidence {
    /// Correlation of "same cluster" and "must-link", -1 to 1; 0 where either never varies.
    pub phi: f64,
    /// Chance that a must-link is shorter than a cannot-link, ties half; 1/2 where one kind is
    /// missing.
    pub auc: f64,
    /// Number of links.
    pub links: usize,
}

impl LinkEvidence {
    /// `phi + 2 AUC - 1`, by which clusterings are compared.
    pub fn score(&self) -> f64 {
        self.phi + 2.0 * self.auc - 1.0
    }
}

/// A held-out link: its number, whether its objects share a cluster, their squared distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldOutLink {
    pub(crate) link: usize,
    pub(crate) same: bool,
    pub(crate) square: f64,
    pub(crate) kind: Link,
}

/// The evidence of held-out links, and how much each of them moves its score.
pub(crate) struct ScoredLinks {
    pub(crate) evidence: LinkEvidence,
    /// Influence of each of all links on the score; their sum of squares over their number squared
    /// is its variance.
    influence: Vec<f64>,
    /// Standard errors of phi and 2 AUC - 1, added, where links have nothing to do with the
    /// clustering.
    pub(crate) chance: f64,
}

impl ScoredLinks {
    /// The evidence of those of `links` links that could be scored.
    pub(crate) fn of(held_out: &[HeldOutLink], links: usize) -> Self {
        let n = held_out.len() as f64;
        let mut influence = vec![0.0; links];
        let must = |s: &HeldOutLink| s.kind == Link::Must;
        let share = |count: usize| count as f64 / n.max(1.0);
        let x = share(held_out.iter().filter(|s| s.same).count());
        let y = share(held_out.iter().filter(|s| must(s)).count());
        let xy = share(held_out.iter().filter(|s| s.same && must(s)).count());
        let (dx, dy) = ((x * (1.0 - x)).sqrt(), (y * (1.0 - y)).sqrt());
        let mut phi = 0.0;
        if dx > 0.0 && dy > 0.0 {
            phi = (xy - x * y) / (dx * dy);
            for s in held_out {
                let u = (f64::from(u8::from(s.same)) - x) / dx;
                let v = (f64::from(u8::from(must(s))) - y) / dy;
                influence[s.link] += u * v - 0.5 * phi * (u * u + v * v);
            }
        }
        let auc = auc(held_out, y, &mut influence);
        let (must, cannot) = (n * y, n * (1.0 - y));
        let chance = if must > 0.0 && cannot > 0.0 {
            n.sqrt().recip() + 2.0 * ((n + 1.0) / (12.0 * must * cannot)).sqrt()
        } else {
            f64::INFINITY
        };
        ScoredLinks {
            evidence: LinkEvidence { phi, auc, links: held_out.len() },
            influence,
            chance,
        }
    }

    /// Standard error of the difference of two scores over the same links.
    pub(crate) fn error(&self, other: &Self) -> f64 {
        // Links that nobody could score have no influence, and do not count.
        let n = self.evidence.links.max(other.evidence.links).max(1) as f64;
        let squares: f64 =
            self.influence.iter().zip(&other.influence).map(|(a, b)| (a - b) * (a - b)).sum();
        squares.sqrt() / n
    }
}

/// Chance that a must-link is shorter than a cannot-link; `share` is that of must-links.
fn auc(held_out: &[HeldOutLink], share: f64, influence: &mut [f64]) -> f64 {
    let mut sorted: Vec<&HeldOutLink> = held_out.iter().collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64) -> Vec<HeldOutLink> {
        let mut s = consilience_core::Seed(seed).stream();
        (0..s.below(14))
            .map(|link| {
                let kind = if s.below(2) == 0 { Link::Must } else { Link::Cannot };
                HeldOutLink { link, same: s.below(2) == 0, square: s.below(5) as f64, kind }
            })
            .collect()
    }

    /// phi and AUC straight from their definitions.
    fn reference(held_out: &[HeldOutLink]) -> (f64, f64) {
        let (mut wins, mut pairs) = (0.0, 0.0);
        for m in held_out.iter().filter(|s| s.kind == Link::Must) {
            for c in held_out.iter().filter(|s| s.kind == Link::Cannot) {
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
        let count = |same, kind| {
            held_out.iter().filter(|s| s.same == same && s.kind == kind).count() as f64
        };
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
            let held_out = drawn(seed);
            let found = ScoredLinks::of(&held_out, held_out.len()).evidence;
            let (phi, auc) = reference(&held_out);
            assert!(
                (found.phi - phi).abs() < 1e-12 && (found.auc - auc).abs() < 1e-12,
                "seed {seed}"
            );
        }
        assert_eq!(ScoredLinks::of(&[], 0).evidence.score(), 0.0);
    }

    /// The standard error is that of the jackknife, nearly.
    #[test]
    fn the_error_is_the_jackknifes() {
        for seed in 0..10 {
            let mut held_out = Vec::new();
            let mut s = consilience_core::Seed(100 + seed).stream();
            for link in 0..300 {
                let kind = if s.below(3) == 0 { Link::Must } else { Link::Cannot };
                let same = s.below(4) == 0 || (kind == Link::Must && s.below(2) == 0);
                held_out.push(HeldOutLink {
                    link,
                    same,
                    square: s.uniform() + f64::from(u8::from(same)),
                    kind,
                });
            }
            let nothing = ScoredLinks {
                evidence: LinkEvidence::default(),
                influence: vec![0.0; 300],
                chance: 0.0,
            };
            let found = ScoredLinks::of(&held_out, 300).error(&nothing);
            let scores: Vec<f64> = (0..300)
                .map(|out| {
                    let rest: Vec<HeldOutLink> =
                        held_out.iter().filter(|s| s.link != out).copied().collect();
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
