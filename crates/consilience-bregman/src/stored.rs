//! What the feature `serde` writes and reads.

use consilience_core::{Error, Memberships, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::Solution;

/// A [`Solution`].
#[derive(Serialize, Deserialize)]
pub(crate) struct SolutionFields {
    memberships: Memberships,
    /// None where it is infinite, which JSON cannot say.
    objective: Option<f64>,
    gap: Option<f64>,
}

impl From<Solution> for SolutionFields {
    fn from(solution: Solution) -> Self {
        let Solution { memberships, objective, gap } = solution;
        let known = |value: f64| Some(value).filter(|v| v.is_finite());
        SolutionFields { memberships, objective: known(objective), gap: known(gap) }
    }
}

impl TryFrom<SolutionFields> for Solution {
    type Error = Error;

    fn try_from(fields: SolutionFields) -> Result<Self> {
        let objective = fields.objective.unwrap_or(f64::INFINITY);
        ensure!(!objective.is_nan(), invalid("an objective that is no number"));
        let gap = fields.gap.unwrap_or(f64::INFINITY);
        ensure!(gap >= 0.0, invalid("an optimality gap of {gap}; expected at least 0"));
        Ok(Solution { memberships: fields.memberships, objective, gap })
    }
}
