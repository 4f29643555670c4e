//! How weights follow constraints.

mod additive;
pub(crate) mod block;
mod exact;
pub(crate) mod gram;
mod loss;
pub(crate) mod mirrored;
mod multiplicative;
pub(crate) mod pairs;
pub(crate) mod solve;

use consilience_core::{Error, Observer, Result, Status};
use rayon::prelude::*;

use crate::weights::Weights;
use block::Block;
use solve::Problem;

pub use additive::AdditiveUpdate;
pub use block::Violations;
pub use exact::ExactUpdate;
pub use loss::PairLoss;
pub use multiplicative::MultiplicativeUpdate;

/// How the weights of the members follow a batch of constraints.
///
/// All rules see only the new constraints and the labels of their objects, so a batch of p
/// constraints costs O(p (m + r)) per pass whatever n is. [`ExactUpdate`] solves the problem of the
/// papers to a certified gap; [`AdditiveUpdate`] and [`MultiplicativeUpdate`] are the papers'
/// cheaper relaxations.
///
/// ```
/// use consilience_simplex::{AdditiveUpdate, ExactUpdate, UpdateRule};
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

/// What a rule makes of a batch.
pub(crate) struct Outcome {
    pub(crate) gamma: Vec<f64>,
    pub(crate) status: Status,
    pub(crate) iterations: usize,
    /// Certified lower bound of the objective, where there is one.
    pub(crate) lower: Option<f64>,
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
                let found =
                    problem.minimise(problem.anchor, rule.gap, rule.max_iterations, observer)?;
                // Only a convex problem has a lower bound.
                let lower = (rule.loss == PairLoss::Squared).then_some(found.lower);
                Ok(Outcome {
                    gamma: found.gamma,
                    status: found.status,
                    iterations: found.iterations,
                    lower,
                })
            }
            UpdateRule::Additive(rule) => rule.apply(&errors(), now, observer),
            UpdateRule::Multiplicative(rule) => rule.apply(&errors(), now, earlier, observer),
        }
    }
}

/// Each member's share of errors, weighted: 0 where it puts every pair right, 1 where none.
pub(crate) fn mean_errors(blocks: &[Block<'_>], members: usize) -> Vec<f64> {
    let parts: Vec<Vec<f64>> = blocks
        .par_iter()
        .map(|b| {
            let mut errors = vec![0.0; members];
            b.errors(&mut errors);
            errors
        })
        .collect();
    let mut mean = vec![0.0; members];
    let total: f64 = blocks.iter().map(|b| b.weight * b.pairs() as f64).sum();
    for (part, block) in parts.iter().zip(blocks) {
        mean.iter_mut().zip(part).for_each(|(m, e)| *m += block.weight * e / total);
    }
    mean
}

fn check_step(step: f64, most: f64) -> Result<()> {
    if !(step > 0.0) || !(step <= most) {
        return Err(Error::invalid(format!("step {step}; expected above 0 and at most {most}")));
    }
    Ok(())
}
