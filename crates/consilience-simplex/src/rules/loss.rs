use consilience_core::Link;

/// What a violated constraint costs.
///
/// Chosen by [`ExactUpdate::loss`](crate::ExactUpdate::loss).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PairLoss {
    /// The papers': `|F_i - F_j|^2` for a must-link, `|F_i + F_j|^2` for a cannot-link. Convex, so
    /// that the optimum is global and certified; but both also fall where the rows blur towards
    /// uniform.
    #[default]
    Squared,
    /// `1 - F_i.F_j` for a must-link, `F_i.F_j` for a cannot-link: the probability that a draw from
    /// the memberships violates it. It does not fall towards uniform rows. It is not convex: what
    /// is found is a stationary point.
    Probability,
}

consilience_core::names! {
    name "loss" PairLoss: "squared" => Squared, "probability" => Probability
}

impl PairLoss {
    /// Sum over pairs whose rows are the two halves of each row of F (r x 2 pairs).
    pub(crate) fn value(self, link: Link, f: &[f64], pairs: usize) -> f64 {
        let sum: f64 = self.quadratic(link, f, pairs);
        match (self, link) {
            (PairLoss::Probability, Link::Must) => pairs as f64 + sum,
            _ => sum,
        }
    }

    /// The part of [`PairLoss::value`] of second degree: for a difference of two F, what the loss
    /// deviates from its tangent.
    pub(crate) fn quadratic(self, link: Link, f: &[f64], pairs: usize) -> f64 {
        let sign = sign(link);
        f.chunks(2 * pairs)
            .map(|row| {
                let (a, b) = row.split_at(pairs);
                let sides = a.iter().zip(b);
                match self {
                    PairLoss::Squared => {
                        sides.map(|(a, b)| (a + sign * b) * (a + sign * b)).sum::<f64>()
                    }
                    PairLoss::Probability => sides.map(|(a, b)| sign * a * b).sum(),
                }
            })
            .sum()
    }

    /// The derivatives of one pair's loss by both rows.
    pub(crate) fn derivatives(self, link: Link, a: &[f64], b: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut rows: Vec<f64> = a.iter().zip(b).flat_map(|(&a, &b)| [a, b]).collect();
        self.differentiate(link, &mut rows, 1, 1.0);
        (
            rows.iter().step_by(2).copied().collect(),
            rows.iter().skip(1).step_by(2).copied().collect(),
        )
    }

    /// Replaces F by the derivative of the weighted sum.
    pub(crate) fn differentiate(self, link: Link, f: &mut [f64], pairs: usize, weight: f64) {
        let sign = sign(link);
        for row in f.chunks_mut(2 * pairs) {
            let (a, b) = row.split_at_mut(pairs);
            for (a, b) in a.iter_mut().zip(b) {
                (*a, *b) = match self {
                    PairLoss::Squared => {
                        let s = 2.0 * weight * (*a + sign * *b);
                        (s, sign * s)
                    }
                    PairLoss::Probability => (weight * sign * *b, weight * sign * *a),
                };
            }
        }
    }
}

/// Of the second object of a pair beside the first.
pub(super) fn sign(link: Link) -> f64 {
    match link {
        Link::Must => -1.0,
        Link::Cannot => 1.0,
    }
}
