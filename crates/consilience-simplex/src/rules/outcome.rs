use consilience_core::{Error, Result, Status};

/// What a rule makes of a batch.
pub(crate) struct Outcome {
    pub(crate) gamma: Vec<f64>,
    pub(crate) status: Status,
    pub(crate) iterations: usize,
    /// Certified lower bound of the objective, where there is one.
    pub(crate) lower: Option<f64>,
}

/// Refuses a step size out of range.
pub(super) fn check_step(step: f64, most: f64) -> Result<()> {
    if !(step > 0.0) || !(step <= most) {
        return Err(Error::invalid(format!("step {step}; expected above 0 and at most {most}")));
    }
    Ok(())
}
