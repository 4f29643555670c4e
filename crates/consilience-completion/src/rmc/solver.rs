//! The loop: a primal-dual form of the augmented Lagrangian method.

use consilience_core::{MemoryBudget, Observer, Result, Seed};
use consilience_num::eigen::{TruncatedOptions, Which, try_truncated_eigen};
use consilience_num::sparse::Csr;
use ndarray::Array2;
use rayon::prelude::*;

use super::ObservedPairs;
use super::entries::Entries;
use super::subspace::{LowRankPlusSparse, Subspace};
use super::whole::{self, Whole};

/// Iterations between two looks at the duality gap.
const LOOK: usize = 5;
/// Relative gap at which the rank is known well enough to be called too high.
const SETTLED: f64 = 0.03;
/// Iterations before the step sizes are first moved; then twice as many, and so on.
const SETTLE: usize = 20;
/// Steps move at most so far at a time: an A that is still next to nothing would make them tiny.
const MOVE: f64 = 4.0;
/// Product of the steps of A and of Y. The usual bound is 1; every product below 4/3 converges (He,
/// Ma, Xu, Yuan 2022), and larger ones in fewer iterations.
const PRODUCT: f64 = 1.3;
/// After a look at the gap of steps on the whole matrix the next comes a sixteenth of the
/// iterations so far later.
const PATIENCE: usize = 16;
/// Relative gap down to which single precision is enough for steps on the whole matrix.
const ROUGH: f64 = 5e-4;
/// Error of the norm that the dual bound is divided by, as a share of the tolerance.
const NORM: f64 = 0.03;
/// The same before steps in double precision.
const ROUGH_NORM: f64 = 0.3;

/// What the solver is to do.
pub(super) struct Problem<'a> {
    pub(super) observed: &'a ObservedPairs,
    /// C.
    pub(super) penalty: f64,
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
    pub(super) seed: Seed,
    /// Whether steps on the whole matrix may be taken.
    pub(super) whole: bool,
    pub(super) budget: MemoryBudget,
    /// Where A has a higher rank than this at a gap of `SETTLED`, there is nothing to go on for.
    pub(super) most_rank: usize,
    /// Where another completion of the same pattern ended.
    pub(super) start: Option<&'a Warm>,
}

/// The last iterate, to start the next completion from.
#[derive(Clone, Debug)]
pub(super) struct Warm {
    values: Vec<f64>,
    vectors: Array2<f64>,
    y: Vec<f64>,
    tau: f64,
}

/// Where it ended. Values and vectors are of the matrix whose row i is scaled by the root of its
/// size.
pub(super) struct Solution {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Array2<f64>,
    pub(super) nuclear: f64,
    pub(super) l1: f64,
    pub(super) dual: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
    pub(super) last: Option<Warm>,
}

impl Solution {
    /// A = 0.
    fn nothing(entries: &Entries<'_>) -> Self {
        Solution {
            values: Vec::new(),
            vectors: Array2::zeros((entries.observed.n_objects(), 0)),
            nuclear: 0.0,
            l1: entries.sum(|e| entries.weights[e] * entries.data[e].abs()),
            dual: 0.0,
            iterations: 0,
            converged: false,
            last: None,
        }
    }

    /// A = 0 where it is certified without a step: by the Y that is at its bound, of the sign of
    /// the entry, on every entry other than 0. `None` where this Y certifies too little.
    ///
    /// On the way there Y grows on each entry in proportion to it, so that entries far below the
    /// largest reach their bounds long after the others.
    fn certified_nothing(
        problem: &Problem<'_>,
        entries: &Entries<'_>,
        norm: f64,
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        let y = |e: usize| match entries.data[e] {
            0.0 => 0.0,
            value => entries.weights[e].copysign(value),
        };
        let accuracy = NORM * problem.tolerance;
        let bound = spectral_norm(entries.matrix(y), accuracy, problem.seed, observer)?.max(1.0);
        let mut nothing = Solution::nothing(entries);
        nothing.dual = nothing.l1 / bound;
        if !(nothing.l1 - nothing.dual <= problem.tolerance * nothing.l1) {
            return Ok(None);
        }
        nothing.converged = true;
        let vectors = nothing.vectors.clone();
        let y = (0..entries.data.len()).map(y).collect();
        nothing.last = Some(Warm { values: Vec::new(), vectors, y, tau: norm });
        Ok(Some(nothing))
    }
}

/// Whether known entries other than 0 differ in magnitude.
fn uneven(observed: &ObservedPairs) -> bool {
    let mut magnitudes = observed.values.iter().map(|v| v.abs()).filter(|v| *v > 0.0);
    let first = magnitudes.next();
    magnitudes.any(|v| Some(v) != first)
}

/// Numbers that steps on the whole matrix take: it, its copy to decompose and its eigenvectors, A,
/// the two factors that A is made of and what decomposing takes; and those of the known entries.
pub(super) fn of_whole(observed: &ObservedPairs) -> usize {
    let n = observed.n_objects();
    let entries = observed.n_entries().saturating_mul(8);
    n.saturating_mul(n).saturating_mul(7).saturating_add(entries)
}

/// Solves the problem.
///
/// With E eliminated on the known pairs and free on the others, the augmented Lagrangian method
/// alternates
///
/// ```text
/// A <- shrink eigenvalues of  A + tau P(2 Y - Y_before)  by tau,
/// Y <- clip(Y + (P(A~) - P(A)) / tau, -C, C)
/// ```
///
/// so that the only matrices are a low rank one and a sparse one. Where that saves nothing it goes
/// on with the whole matrix ([`Whole`]). Y, scaled to spectral norm 1, is feasible for the dual:
/// the gap is a certificate.
pub(super) fn solve(problem: &Problem<'_>, observer: &dyn Observer) -> Result<Solution> {
    let entries = Entries::of(problem.observed, problem.penalty);
    let n = problem.observed.n_objects();
    let norm = spectral_norm(entries.matrix(|e| entries.data[e]), 0.1, problem.seed, observer)?;
    let mut best = Solution::nothing(&entries);
    if !(norm > 0.0) {
        best.converged = true;
        return Ok(best);
    }
    if uneven(problem.observed)
        && let Some(nothing) = Solution::certified_nothing(problem, &entries, norm, observer)?
    {
        return Ok(nothing);
    }
    let mut now = Iterate::new(problem, &entries, norm);
    let mut subspace = Subspace::new(&now.vectors, 20, problem.seed, problem.budget)?;
    let mut whole: Option<Whole> = None;
    let (mut settle, mut again) = (SETTLE, 0);
    for iteration in 1..=problem.max_iterations {
        observer.check()?;
        let width = subspace.width();
        if problem.whole && whole.is_none() && whole::pays(n, entries.data.len(), width) {
            problem.budget.check_table("whole matrix", of_whole(problem.observed), 1, 8)?;
            whole = Some(now.whole(&entries));
        }
        let last = iteration == problem.max_iterations;
        match &mut whole {
            Some(whole) => now.step_whole(&entries, whole, last)?,
            None => now.step(&entries, &mut subspace, observer)?,
        }
        let high = now.values.len() > problem.most_rank;
        let rough = whole.as_ref().is_some_and(|whole| !whole.exact);
        let enough = if high { SETTLED.max(problem.tolerance) } else { problem.tolerance };
        let enough = if rough { enough.max(ROUGH) } else { enough };
        let look = if whole.is_some() { iteration >= again } else { iteration % LOOK == 0 };
        if look && whole.is_none() {
            now.keep_in(&mut best, &entries);
        }
        // With a norm of 1 the bound is at its best: the norm, which takes longer than a step,
        // would be found for nothing where that is too little.
        if look && now.may_be_done(&entries, &best, enough) || last {
            best.iterations = iteration;
            let done = now.certify(&mut best, problem, &entries, (enough, !rough), observer)?;
            if done && !rough {
                break;
            }
            // What is certified comes from a step in double precision: the next.
            again = if done { 0 } else { iteration + 1 + iteration / PATIENCE };
            whole.iter_mut().for_each(|whole| whole.exact |= done);
        }
        observer.progress("completion", iteration, problem.max_iterations);
        // Moved ever more rarely, so that the steps settle.
        if iteration == settle && whole.is_none() {
            settle *= 2;
            now.balance(&entries);
        }
    }
    best.last = Some(Warm { values: now.values, vectors: now.vectors, y: now.y, tau: now.tau });
    Ok(best)
}

/// A, as `U diag(values) U'`, and the multipliers Y on the known entries.
struct Iterate {
    values: Vec<f64>,
    vectors: Array2<f64>,
    y: Vec<f64>,
    /// Y before the last step; in steps on the whole matrix, A before it on the known entries.
    before: Vec<f64>,
    /// A on the known entries.
    a: Vec<f64>,
    /// The step of A.
    tau: f64,
}

impl Iterate {
    /// From where another completion of the same entries ended, or from 0.
    fn new(problem: &Problem<'_>, entries: &Entries<'_>, norm: f64) -> Self {
        let (n, nnz) = (problem.observed.n_objects(), entries.data.len());
        let fits = |s: &&Warm| s.y.len() == nnz && s.vectors.nrows() == n;
        let (values, vectors, tau, y) = match problem.start.filter(fits) {
            Some(s) => {
                let y = s.y.iter().zip(&entries.weights).map(|(y, w)| y.clamp(-w, *w)).collect();
                (s.values.clone(), s.vectors.clone(), s.tau, y)
            }
            None => (Vec::new(), Array2::zeros((n, 0)), norm, vec![0.0; nnz]),
        };
        Iterate { values, vectors, before: y.clone(), y, a: vec![0.0; nnz], tau }
    }

    fn step(
        &mut self,
        entries: &Entries<'_>,
        subspace: &mut Subspace,
        observer: &dyn Observer,
    ) -> Result<()> {
        let tau = self.tau;
        let sparse = entries.matrix(|e| tau * (2.0 * self.y[e] - self.before[e]));
        let (vectors, values) = (&self.vectors, &self.values[..]);
        let beyond =
            subspace.beyond(&LowRankPlusSparse { sparse, vectors, values }, tau, observer)?;
        self.values = beyond.values.iter().map(|v| v.signum() * (v.abs() - tau)).collect();
        self.vectors = beyond.vectors;
        entries.low_rank(&self.vectors, &self.values, &mut self.a);
        std::mem::swap(&mut self.y, &mut self.before);
        let (before, a) = (&self.before, &self.a);
        self.y.par_iter_mut().enumerate().for_each(|(e, y)| {
            let w = entries.weights[e];
            *y = (before[e] + PRODUCT * (entries.data[e] - a[e]) / tau).clamp(-w, w);
        });
        Ok(())
    }

    /// The same iterate for steps on the whole matrix.
    fn whole(&mut self, entries: &Entries<'_>) -> Whole {
        let whole = Whole::new(entries, &self.values, &self.vectors, &self.y);
        self.tau = whole.tau;
        whole
    }

    fn step_whole(&mut self, entries: &Entries<'_>, whole: &mut Whole, last: bool) -> Result<()> {
        whole.exact |= last;
        let on_pattern = (&mut self.a, &mut self.before);
        if let Some((values, vectors)) = whole.step(entries, on_pattern, &mut self.y)? {
            (self.values, self.vectors) = (values, vectors);
            self.tau = whole.tau;
        }
        Ok(())
    }

    /// Looks at the gap, and says whether it is small `enough`. An A from a step that is not exact
    /// is not kept.
    fn certify(
        &self,
        best: &mut Solution,
        problem: &Problem<'_>,
        entries: &Entries<'_>,
        (enough, exact): (f64, bool),
        observer: &dyn Observer,
    ) -> Result<bool> {
        let mut primal = self.cost(entries);
        if exact {
            self.keep_in(best, entries);
            primal = (best.nuclear, best.l1);
        }
        let primal = primal.0 + primal.1;
        // Never true of what is not a number.
        let within = |dual: f64, share: f64| primal - dual <= share * primal;
        // The bound of an earlier step may do: any Y gives one.
        if !exact || !within(best.dual, enough) {
            let accuracy = enough * if exact { NORM } else { ROUGH_NORM };
            best.dual = best.dual.max(self.dual(entries, accuracy, problem.seed, observer)?);
        }
        best.converged = exact && within(best.dual, problem.tolerance);
        Ok(within(best.dual, enough))
    }

    /// Whether the gap would be small enough if Y were feasible as it is.
    fn may_be_done(&self, entries: &Entries<'_>, best: &Solution, tolerance: f64) -> bool {
        let (nuclear, l1) = self.cost(entries);
        let primal = nuclear + l1;
        let primal =
            if best.values.is_empty() { primal } else { primal.min(best.nuclear + best.l1) };
        let dual = best.dual.max(entries.sum(|e| entries.data[e] * self.y[e]));
        primal - dual <= tolerance * primal
    }

    /// |A|_* and C |E|_1.
    fn cost(&self, entries: &Entries<'_>) -> (f64, f64) {
        let nuclear = self.values.iter().map(|v| v.abs()).sum();
        (nuclear, entries.sum(|e| entries.weights[e] * (entries.data[e] - self.a[e]).abs()))
    }

    /// The bound from Y, scaled to spectral norm 1 at most.
    fn dual(
        &self,
        entries: &Entries<'_>,
        accuracy: f64,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<f64> {
        let norm = spectral_norm(entries.matrix(|e| self.y[e]), accuracy, seed, observer)?.max(1.0);
        Ok(entries.sum(|e| entries.data[e] * self.y[e]) / norm)
    }

    /// Replaces the best A by this one where it costs no more.
    fn keep_in(&self, best: &mut Solution, entries: &Entries<'_>) {
        let (nuclear, l1) = self.cost(entries);
        if nuclear + l1 <= best.nuclear + best.l1 || best.values.is_empty() {
            (best.nuclear, best.l1) = (nuclear, l1);
            (best.values, best.vectors) = (self.values.clone(), self.vectors.clone());
        }
    }

    /// Steps in proportion to what they have to travel.
    fn balance(&mut self, entries: &Entries<'_>) {
        let travelled = self.values.iter().map(|v| v * v).sum::<f64>().sqrt();
        let turned = entries.sum(|e| self.y[e] * self.y[e]).sqrt();
        if travelled > 0.0 && turned > 0.0 {
            self.tau = (travelled / turned).clamp(self.tau / MOVE, self.tau * MOVE);
        }
    }
}

/// Largest magnitude of an eigenvalue, from above by the residual.
fn spectral_norm(sparse: Csr, tolerance: f64, seed: Seed, observer: &dyn Observer) -> Result<f64> {
    let options = TruncatedOptions::new(1)
        .tolerance(tolerance)
        .block(4)
        .seed(seed.derive("completion norm", 0))
        .which(Which::LargestMagnitude);
    let top = try_truncated_eigen(&sparse, &options, observer)?;
    Ok(match (top.values.first(), top.residuals.first()) {
        (Some(v), Some(r)) => v.abs() + r,
        _ => 0.0,
    })
}
