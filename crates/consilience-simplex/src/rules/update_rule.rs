use consilience_core::{Observer, Result};

use super::additive::AdditiveUpdate;
use super::exact::ExactUpdate;
use super::loss::PairLoss;
use super::multiplicative::MultiplicativeUpdate;
use super::outcome::Outcome;
use super::solve::Problem;
use crate::weights::Weights;

/// How the weights of the members follow a batch of constraints.
///
/// All rules see only the new constraints and the labels of their objects, so a batch of p
/// constraints costs O(p (m + r)) per pass whatever n is. [`ExactUpdate`] solves the problem of the
/// papers to a certified gap; [`AdditiveUpdate`] and [`MultiplicativeUpdate`] are the papers'
/// cheaper relaxations.
///
/// ```
/// use consilience::simplex::{AdditiveUpdate, ExactUpdate, UpdateRule};
///
/// let exact: UpdateRule = ExactUpdate::default().gap(1e-8).into();
/// assert_ne!(exact, AdditiveUpdate::default().into());
/// assert_eq!(exact.name(), "exact");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum UpdateRule {
    /// The problem itself; see [`ExactUpdate`].
    Exact(ExactUpdate),
    /// Weights fall by the errors of a member; see [`AdditiveUpdate`].
    Additive(AdditiveUpdate),
    /// Weights shrink by the errors of a member; see [`MultiplicativeUpdate`].
    Multiplicative(MultiplicativeUpdate),
}

impl Default for UpdateRule {
    fn default() -> Self {
        UpdateRule::Exact(ExactUpdate::default())
    }
}

impl From<ExactUpdate> for UpdateRule {
    fn from(rule: ExactUpdate) -> Self {
        UpdateRule::Exact(rule)
    }
}

impl From<AdditiveUpdate> for UpdateRule {
    fn from(rule: AdditiveUpdate) -> Self {
        UpdateRule::Additive(rule)
    }
}

impl From<MultiplicativeUpdate> for UpdateRule {
    fn from(rule: MultiplicativeUpdate) -> Self {
        UpdateRule::Multiplicative(rule)
    }
}

impl UpdateRule {
    /// The name that the program uses.
    pub fn name(&self) -> &'static str {
        match self {
            UpdateRule::Exact(_) => "exact",
            UpdateRule::Additive(_) => "additive",
            UpdateRule::Multiplicative(_) => "multiplicative",
        }
    }

    /// Refuses parameters out of range.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            UpdateRule::Exact(rule) => rule.check(),
            UpdateRule::Additive(rule) => rule.check(),
            UpdateRule::Multiplicative(rule) => rule.check(),
        }
    }

    /// Whether must-links and cannot-links of a batch get equal weight.
    pub(crate) fn balanced(&self) -> bool {
        match self {
            UpdateRule::Exact(rule) => rule.balance,
            UpdateRule::Additive(rule) => rule.balance,
            UpdateRule::Multiplicative(rule) => rule.balance,
        }
    }

    pub(crate) fn loss(&self) -> PairLoss {
        match self {
            UpdateRule::Exact(rule) => rule.loss,
            _ => PairLoss::Squared,
        }
    }

    /// How strongly the objective of the report holds on to the weights before.
    pub(crate) fn lambda(&self, constraints: usize) -> f64 {
        match self {
            UpdateRule::Exact(rule) => rule.lambda.unwrap_or(constraints as f64),
            _ => constraints as f64,
        }
    }

    /// The weights after a batch. `now` are those before it, `earlier` those before the batch
    /// before, `errors` each member's share of errors.
    pub(crate) fn apply(
        &self,
        problem: &Problem<'_>,
        errors: impl FnOnce() -> Vec<f64>,
        now: &Weights,
        earlier: &Weights,
        observer: &dyn Observer,
    ) -> Result<Outcome> {
        match self {
            UpdateRule::Exact(rule) => {
                problem.minimise(problem.anchor, rule.gap, rule.max_iterations, observer)
            }
            UpdateRule::Additive(rule) => rule.apply(&errors(), now, observer),
            UpdateRule::Multiplicative(rule) => rule.apply(&errors(), now, earlier, observer),
        }
    }
}
