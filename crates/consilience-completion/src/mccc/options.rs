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
    /// balanced, too). The thesis sums the entries of the completed matrix; here those of the
    /// similarity that the clusters found mean are summed.
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
    /// The thesis's Algorithm 1, stochastic subgradient steps on a matrix of rank r that stays
    /// factored: an iteration is O((m k + p) r + k r^2 + r^3) for p constraints over m objects, and
    /// nothing is k x k. Slow to a low accuracy; it seldom reaches the tolerance, and the status
    /// says so.
    ///
    /// The step lengths, which the thesis leaves open, fall like `1 / sqrt(1 + t / 20)`; the best
    /// iterate is taken; and the threshold of 1 in its line 15 is applied once, to the result.
    Stochastic,
}

consilience_core::names! {
    name "solver" CompletionSolver: "accelerated" => Accelerated, "stochastic" => Stochastic
}

/// What the k-means of [`Mccc`](crate::Mccc) sees of the completed similarity.
///
/// ```
/// use consilience::completion::{Eigenvectors, Mccc};
///
/// assert_eq!(Eigenvectors::default(), Eigenvectors::Scaled);
/// assert_ne!(Mccc::new(3), Mccc::new(3).read_out(Eigenvectors::Leading));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Eigenvectors {
    /// All eigenvectors whose eigenvalues are above 0, times the roots of these: distances are
    /// those of the completed similarity.
    #[default]
    Scaled,
    /// As in the thesis: the eigenvectors of the r largest eigenvalues, for r clusters, each of
    /// length 1.
    Leading,
}

consilience_core::names! {
    name "eigenvectors" Eigenvectors: "scaled" => Scaled, "leading" => Leading
}
