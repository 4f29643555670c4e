use consilience_core::{Observer, Result, Status};
use consilience_num::simplex::project_simplex;

use super::outcome::{Outcome, check_step};
use crate::weights::Weights;

/// Longer steps leave nothing but the best member.
const LONGEST: f64 = 1e6;

/// Weights fall in proportion to the errors of a member, then go back to the simplex.
///
/// Use it where an update must cost next to nothing: one pass over the labels of the pairs.
/// [`ExactUpdate`](crate::ExactUpdate) uses the memberships that members form together, this each
/// member alone.
///
/// ```text
/// gamma_t = Projection(gamma_(t-1) - (step / m) e),
/// e_u = weighted share of the batch that member u puts wrong
/// ```
///
/// A member that does not label an object gets the errors of the memberships there. The safe
/// default, step 1, takes the whole start weight 1/m from a member that puts every pair wrong.
///
/// ```
/// use consilience::{Ensemble, Pair};
/// use consilience::simplex::{AdditiveUpdate, WeightUpdaterSetup};
/// use consilience::ndarray::array;
///
/// let ensemble = Ensemble::from_array(array![[0, 0], [0, 1], [1, 0], [1, 1]].view())?;
/// let setup = WeightUpdaterSetup::new(2).rule(AdditiveUpdate::default().step(0.5));
/// let mut updater = setup.updater(ensemble)?;
/// updater.update(&[Pair::must_link(0, 1), Pair::cannot_link(0, 2)])?;
/// // Member 0 puts both right, member 1 both wrong: it loses 1/4, of which the projection gives
/// // half to each.
/// assert!((updater.weights()[0] - 0.625).abs() < 1e-9);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(p m) time and memory for p constraints, and O(m log m) for the projection.
///
/// # References
/// Yi, Zhang, Yang, Liu, Wang 2015, Eq. 11. Its iteration with step eta has its fixed point at
/// `Projection(gamma_(t-1) - C / (2 lambda) sum e)` whatever eta is, which is computed at once
/// here: of C, lambda and eta one number remains, `step = C m p / (2 lambda)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdditiveUpdate {
    pub(crate) step: f64,
    pub(crate) balance: bool,
}

impl Default for AdditiveUpdate {
    /// Step 1, balanced.
    fn default() -> Self {
        AdditiveUpdate { step: 1.0, balance: true }
    }
}

impl AdditiveUpdate {
    consilience_core::setters! {
        /// How far a batch may move the weights, in units of 1/m. Default 1; above 0, at most
        /// 1e6.
        pub fn step(mut self, step: f64) { self.step = step }

        /// Default true; as [`ExactUpdate::balance`](crate::ExactUpdate::balance).
        pub fn balance(mut self, balance: bool) { self.balance = balance }
    }

    pub(super) fn check(&self) -> Result<()> {
        check_step(self.step, LONGEST)
    }

    pub(super) fn apply(
        &self,
        errors: &[f64],
        now: &Weights,
        observer: &dyn Observer,
    ) -> Result<Outcome> {
        observer.check()?;
        let mut gamma = now.gamma();
        let step = self.step / gamma.len() as f64;
        gamma.iter_mut().zip(errors).for_each(|(g, e)| *g -= step * e);
        project_simplex(&mut gamma);
        Ok(Outcome { gamma, status: Status::Solved, iterations: 1, lower: None })
    }
}
