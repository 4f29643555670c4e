use consilience_core::Link;

/// How far a clustering is from some constraints.
///
/// ```
/// use consilience::simplex::Violations;
///
/// let none = Violations::default();
/// assert_eq!((none.total(), none.expected), (0, 0.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Violations {
    /// Must-links whose objects are in different clusters.
    pub must: usize,
    /// Cannot-links whose objects are in one cluster.
    pub cannot: usize,
    /// `sum_must (1 - F_i.F_j) + sum_cannot F_i.F_j`: how many constraints a draw from the
    /// memberships violates on average.
    pub expected: f64,
}

impl Violations {
    /// Of so many pairs of one kind, of which some are wrong; `together` is how many a draw from
    /// the memberships puts together on average.
    #[inline(always)]
    pub(super) fn of(link: Link, pairs: usize, wrong: usize, together: f64) -> Self {
        match link {
            Link::Must => Violations { must: wrong, cannot: 0, expected: pairs as f64 - together },
            Link::Cannot => Violations { must: 0, cannot: wrong, expected: together },
        }
    }

    /// Violated constraints of both kinds.
    pub fn total(&self) -> usize {
        self.must + self.cannot
    }
}

/// What some weights violate of a batch, and its weighted loss under them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evaluation {
    pub(crate) violations: Violations,
    pub(crate) loss: f64,
}

impl Evaluation {
    pub(crate) fn add(&mut self, other: Evaluation) {
        self.violations.must += other.violations.must;
        self.violations.cannot += other.violations.cannot;
        self.violations.expected += other.violations.expected;
        self.loss += other.loss;
    }
}
