use consilience_core::{Observer, Result, Status};
use consilience_num::simplex::project_simplex;

use super::outcome::{Outcome, check_step};
use crate::weights::Weights;

/// Weights shrink by the errors of a member, held back by the weights of one batch before.
///
/// There is no constant to choose, and weights never jump; it is slower to forget a bad member than
/// [`AdditiveUpdate`](crate::AdditiveUpdate).
///
/// ```text
/// gamma_t = Projection((1 - 2 step) gamma_(t-1) + 2 step gamma_(t-2) - step e o gamma_(t-1)),
/// e_u = weighted share of the batch that member u puts wrong
/// ```
///
/// For step <= 1/3 nothing in the brackets is negative; the safe default is 1/4.
///
/// ```
/// use consilience::{Ensemble, Pair};
/// use consilience::simplex::{MultiplicativeUpdate, WeightUpdaterSetup};
/// use consilience::ndarray::array;
///
/// let ensemble = Ensemble::from_array(array![[0, 0], [0, 1], [1, 0], [1, 1]].view())?;
/// let setup = WeightUpdaterSetup::new(2).rule(MultiplicativeUpdate::default());
/// let mut updater = setup.updater(ensemble)?;
/// updater.update(&[Pair::must_link(0, 1), Pair::cannot_link(0, 2)])?;
/// // Member 1 puts both wrong and loses a quarter of 1/2, of which the projection gives half to
/// // each.
/// assert!((updater.weights()[1] - 0.4375).abs() < 1e-9);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// As [`AdditiveUpdate`](crate::AdditiveUpdate).
///
/// # References
/// Yi 2014, Eq. 6.12 with `lambda = p` and `eta = step / p`; `gamma_(-1) = gamma_0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultiplicativeUpdate {
    pub(crate) step: f64,
    pub(crate) balance: bool,
}

impl Default for MultiplicativeUpdate {
    /// Step 1/4, balanced.
    fn default() -> Self {
        MultiplicativeUpdate { step: 0.25, balance: true }
    }
}

impl MultiplicativeUpdate {
    consilience_core::setters! {
        /// How far a batch may move the weights, by its share of errors. Default 1/4; above 0, at
        /// most 1/2.
        pub fn step(mut self, step: f64) { self.step = step }

        /// Default true; as [`ExactUpdate::balance`](crate::ExactUpdate::balance).
        pub fn balance(mut self, balance: bool) { self.balance = balance }
    }

    pub(super) fn check(&self) -> Result<()> {
        check_step(self.step, 0.5)
    }

    pub(super) fn apply(
        &self,
        errors: &[f64],
        now: &Weights,
        earlier: &Weights,
        observer: &dyn Observer,
    ) -> Result<Outcome> {
        observer.check()?;
        let mut gamma = now.gamma();
        for ((g, before), e) in gamma.iter_mut().zip(earlier.gamma()).zip(errors) {
            *g = (1.0 - 2.0 * self.step - self.step * e) * *g + 2.0 * self.step * before;
        }
        project_simplex(&mut gamma);
        Ok(Outcome { gamma, status: Status::Solved, iterations: 1, lower: None })
    }
}
