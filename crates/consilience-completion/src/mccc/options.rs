/// How [`Mccc`](crate::Mccc) finds C, the weight of the constraints against the rank (Eq. 5.8).
///
/// ```
/// use consilience::completion::{LossWeight, Mccc};
///
/// assert_eq!(LossWeight::default(), LossWeight::HeldOut);
/// assert_eq!(Mccc::new(3), Mccc::new(3).loss_weight(LossWeight::HeldOut));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum LossWeight {
    /// The weight whose clusters keep most of the constraints that were held out, in three parts;
    /// must-links and cannot-links count alike.
    #[default]
    HeldOut,
    /// The rule of the thesis: the weight with the most balanced clusters, among those whose
    /// solution has at least as many eigenvectors as there are clusters (the trivial M = 0 is
    /// balanced, too).
    Balanced,
    /// This C, for orthonormal columns of the basis as in the thesis.
    Fixed(f64),
}

/// How [`Mccc`](crate::Mccc) minimises Eq. 5.8.
///
/// ```
/// use consilience::completion::{CompletionSolver, Mccc};
///
/// assert_ne!(Mccc::new(3), Mccc::new(3).solver(CompletionSolver::Stochastic));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionSolver {
    /// Accelerated proximal gradient with restarts: exact, down to the tolerance.
    #[default]
    Accelerated,
    /// The thesis's Algorithm 1, stochastic subgradient steps on a matrix of rank r: slow to a low
    /// accuracy, here for comparison. It seldom reaches the tolerance, and the status says so.
    Stochastic,
}
