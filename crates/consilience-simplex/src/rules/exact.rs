use consilience_core::{Error, Result, ensure};

use super::loss::PairLoss;

/// More would take hours where rounding keeps the gap from closing.
const MOST_ITERATIONS: usize = 100_000;

/// The weights that solve the problem of a batch, to a certified gap.
///
/// Use it for the papers' problem itself, without step sizes. It can only give whole members more
/// or less weight: where there are many classes, links change the clustering little.
///
/// With F(gamma) the memberships, the weights minimise over the simplex
///
/// ```text
/// f(gamma) = sum_must w_M loss(F_i, F_j) + sum_cannot w_C loss(F_i, F_j)
///            + lambda |gamma - gamma_(t-1)|^2,
/// ```
///
/// the [`PairLoss`] of the papers being `|F_i - F_j|^2` and `|F_i + F_j|^2`. A member that does not
/// label an object is taken to say what the others say of it under `gamma_(t-1)`, which keeps F
/// linear in gamma.
///
/// ```
/// use consilience::{Ensemble, Pair};
/// use consilience::simplex::{ExactUpdate, WeightUpdaterSetup};
/// use consilience::ndarray::array;
///
/// let ensemble = Ensemble::from_array(array![[0, 0], [0, 1], [1, 0], [1, 1]].view())?;
/// let setup = WeightUpdaterSetup::new(2).rule(ExactUpdate::default().gap(1e-9));
/// let mut updater = setup.updater(ensemble)?;
/// let report = updater.update(&[Pair::must_link(0, 1), Pair::cannot_link(0, 2)])?;
/// assert!(report.gap.is_some_and(|gap| gap <= 1e-9));
/// // With b the weight of member 1: 2 b^2 + 2 + 2 b^2 + 4 (b - 1/2)^2 is least at b = 1/4.
/// assert!((updater.weights()[1] - 0.25).abs() < 1e-4);
/// # Ok::<(), consilience::Error>(())
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
    consilience_core::setters! {
        /// What a violated link costs. Default [`PairLoss::Squared`], as in the papers.
        pub fn loss(mut self, loss: PairLoss) { self.loss = loss }

        /// Whether the must-links and the cannot-links of a batch weigh as much as each other, so
        /// that the rarer kind counts. Default true; false as in the papers.
        pub fn balance(mut self, balance: bool) { self.balance = balance }

        /// How strongly the weights before hold the new ones back: lambda in the formula. Default
        /// the number of new links of each batch; 0 to 1e100.
        #[doc(alias = "lambda")]
        pub fn regularization(mut self, lambda: f64) { self.lambda = Some(lambda) }

        /// The relative gap to stop at: (objective - lower bound) over the objective, or over a
        /// thousandth per link where that is more. Default 1e-6; at least 0.
        pub fn gap(mut self, gap: f64) { self.gap = gap }

        /// Most iterations of one update. Default 1,000; at most 100,000, and 0 leaves the weights.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }
    }

    pub(super) fn check(&self) -> Result<()> {
        ensure!(self.gap >= 0.0, invalid("gap {}; expected >= 0", self.gap));
        ensure!(
            self.max_iterations <= MOST_ITERATIONS,
            invalid("{} iterations; expected 0..={MOST_ITERATIONS}", self.max_iterations)
        );
        match self.lambda {
            Some(l) if !(0.0..=1e100).contains(&l) => {
                Err(Error::invalid(format!("regularization {l}; expected 0 to 1e100")))
            }
            _ => Ok(()),
        }
    }
}
