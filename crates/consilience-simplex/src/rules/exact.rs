use consilience_core::{Error, Result};

use super::loss::PairLoss;

/// The weights that solve the problem of a batch, to a certified gap.
///
/// Use it where the hull of the members is to be searched as the papers mean it, and where the
/// answer should not depend on step sizes. A weight per member can only re-weigh members, not say
/// which of their distinctions matter: on ensembles of many classes constraints move it little.
///
/// With F(gamma) the memberships, the weights minimise over the simplex
///
/// ```text
/// f(gamma) = sum_must w_M loss(F_i, F_j) + sum_cannot w_C loss(F_i, F_j) + lambda |gamma - gamma_(t-1)|^2,
/// ```
///
/// the [`PairLoss`] of the papers being `|F_i - F_j|^2` and `|F_i + F_j|^2`. A member that does not
/// label an object is taken to say what the others say of it under `gamma_(t-1)`, which keeps F
/// linear in gamma.
///
/// ```
/// use consilience_core::{Ensemble, Pair};
/// use consilience_simplex::{ExactUpdate, WeightUpdaterSetup};
/// use ndarray::array;
///
/// let ensemble = Ensemble::from_array(array![[0, 0], [0, 1], [1, 0], [1, 1]].view())?;
/// let mut updater = WeightUpdaterSetup::new(2).rule(ExactUpdate::default().gap(1e-9)).updater(ensemble)?;
/// let report = updater.update(&[Pair::must_link(0, 1), Pair::cannot_link(0, 2)])?;
/// assert!(report.gap.is_some_and(|gap| gap <= 1e-9));
/// // With b the weight of member 1: 2 b^2 + 2 + 2 b^2 + 4 (b - 1/2)^2 is least at b = 1/4.
/// assert!((updater.weights()[1] - 0.25).abs() < 1e-4);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(p (m + r)) time per iteration for p constraints and O(p (m + r)) memory: the derivative by
/// member u needs only the two labels that u gives a pair. No m x m matrix, nothing in n.
///
/// # References
/// Yi, Zhang, Yang, Liu, Wang 2015, Eq. 8 to 10; Yi 2014, Eq. 6.9 with lambda the number of
/// constraints. The papers take single gradient steps of a size to be chosen; here the gradient is
/// accelerated (Nesterov 1983, with the restarts of O'Donoghue, Candes 2015), its step found by the
/// curvature, and it stops at a gap certified by the strong convexity of the last term. Missing
/// labels, balance and [`PairLoss::Probability`] are ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactUpdate {
    pub(crate) loss: PairLoss,
    pub(crate) balance: bool,
    pub(crate) lambda: Option<f64>,
    pub(crate) gap: f64,
    pub(crate) max_iterations: usize,
}

impl Default for ExactUpdate {
    /// Squared loss, balanced, lambda the number of constraints, gap 1e-6, at most 1,000
    /// iterations.
    fn default() -> Self {
        ExactUpdate {
            loss: PairLoss::Squared,
            balance: true,
            lambda: None,
            gap: 1e-6,
            max_iterations: 1000,
        }
    }
}

impl ExactUpdate {
    /// What a violated constraint costs; the papers' squares unless said otherwise.
    pub fn loss(mut self, loss: PairLoss) -> Self {
        self.loss = loss;
        self
    }

    /// Whether the must-links and the cannot-links of a batch weigh as much as each other, so that
    /// the rarer kind is labelled; true unless said otherwise, false as in the papers.
    pub fn balance(mut self, balance: bool) -> Self {
        self.balance = balance;
        self
    }

    /// How strongly to hold on to the weights before; the number of new constraints of each batch
    /// unless said otherwise.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.lambda = Some(lambda);
        self
    }

    /// The relative gap to stop at: (objective - lower bound) over the objective, or over a
    /// thousandth per constraint where that is more. 1e-6 unless said otherwise.
    pub fn gap(mut self, gap: f64) -> Self {
        self.gap = gap;
        self
    }

    /// Most iterations of one update; 1,000 unless said otherwise.
    pub fn max_iterations(mut self, iterations: usize) -> Self {
        self.max_iterations = iterations;
        self
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(self.gap >= 0.0) {
            return Err(Error::invalid(format!("gap {}; expected >= 0", self.gap)));
        }
        match self.lambda {
            Some(l) if !(0.0..=1e100).contains(&l) => {
                Err(Error::invalid(format!("lambda {l}; expected 0 to 1e100")))
            }
            _ => Ok(()),
        }
    }
}
