//! Robust completion of a symmetric matrix: low rank plus sparse errors.

mod entries;
mod observed;
mod solver;
mod subspace;
mod tall;
#[cfg(test)]
mod tests;
mod thresholds;
mod whole;

use consilience_core::{
    Error, Fit, MemoryBudget, Observer, Report, Result, Seed, Status, ensure, room,
};
use ndarray::Array2;

pub use observed::ObservedPairs;
pub use thresholds::Thresholds;

use solver::Warm;

/// Bytes that the solver takes for each known entry, and those of a copy without the objects of
/// which nothing is known.
const ENTRY: usize = 60;
const COPIED: usize = 12;

/// The weight C of the errors against the rank.
///
/// ```
/// use consilience::completion::{Penalty, RobustCompletion};
///
/// let _believing = RobustCompletion::new().penalty(Penalty::Scaled(3.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Penalty {
    /// `C = c / sqrt(n p)`, n being the number of objects that something is known of and p the
    /// share of known entries among these: the same c suits problems of any size. From about 1
    /// (many errors are forgiven) to 10 (the known entries are believed).
    Scaled(f64),
    /// C itself.
    Absolute(f64),
}

/// Completes a symmetric matrix of which some entries are known and some of those are wrong.
///
/// Use it where the truth has a low rank and few entries are wrong. For the answers of a crowd
/// whose workers differ a model of the workers does better. It solves
///
/// ```text
/// min |A|_* + C |E|_1   subject to  P(A + E) = P(A~)
/// ```
///
/// over symmetric A, P being the restriction to the known entries, by an augmented Lagrangian
/// method in primal-dual form. A is kept as a product of thin factors and E and the multipliers on
/// the known entries only; a matrix of n x n is stored where that costs less time, for 1,200
/// objects at most. It stops at a certified relative duality gap and never earlier, since
/// unfinished solutions can be clustered very differently from finished ones. An object of which
/// nothing is known has a row of 0, and changes nothing for the others.
///
/// ```
/// use consilience::completion::{ObservedPairs, Penalty, RobustCompletion};
///
/// // Two blocks of six, one entry wrong, the corner (0, 5) unknown.
/// let mut known = Vec::new();
/// for i in 0..12 {
///     for j in 0..=i {
///         let same = (i < 6) == (j < 6);
///         if (i, j) != (5, 0) {
///             known.push((i, j, f64::from(u8::from(same != ((i, j) == (9, 1))))));
///         }
///     }
/// }
/// let completion = RobustCompletion::new()
///     .penalty(Penalty::Scaled(1.0))
///     .tolerance(1e-9)
///     .fit(&ObservedPairs::new(12, &known)?, &())?
///     .output;
/// assert_eq!(completion.rank(), 2);
/// assert!((completion.entry(0, 5) - 1.0).abs() < 1e-5 && completion.entry(9, 1).abs() < 1e-5);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// An iteration is O((m + n r) r) for m known entries and rank r; some hundred iterations. Memory
/// 60 m + 56 n r bytes. On the way r may be far above the rank of the optimum, and it rises with n
/// where few entries are known: 3,000 objects of 20 known entries each take half a minute (rank
/// 111), 10,000 take minutes. Up to 1,200 objects, where half of the entries are known or
/// `10 m r > n^3`, an iteration decomposes the whole matrix: O(n^3) and 56 n^2 bytes more; 20 to
/// 100 iterations, mostly all but the last few in single precision.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for bad options,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget,
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Yi 2014, Eq. 3.5; Lin, Chen, Ma 2010 (augmented Lagrangian, with a growing penalty, which may
/// stop short of the optimum); the form with fixed products of steps is that of Chambolle, Pock
/// 2011.
#[doc(alias = "RMC")]
#[doc(alias = "RPCA")]
#[doc(alias = "matrix completion")]
#[derive(Clone, Copy, Debug)]
pub struct RobustCompletion {
    penalty: Penalty,
    tolerance: f64,
    max_iterations: usize,
    max_rank: Option<usize>,
    seed: Seed,
    budget: MemoryBudget,
}

impl Default for RobustCompletion {
    fn default() -> Self {
        Self::new()
    }
}

/// A completed matrix `A = U diag(values) U'`, with what it cost.
///
/// From [`RobustCompletion`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Completion {
    /// Eigenvalues, the largest magnitude first.
    pub values: Vec<f64>,
    /// Eigenvectors as columns, n x rank.
    pub vectors: Array2<f64>,
    /// C as used.
    pub penalty: f64,
    /// |A|_* + C |E|_1.
    pub objective: f64,
    /// |A|_*.
    pub nuclear_norm: f64,
    /// C |E|_1.
    pub error_cost: f64,
    /// Certified relative gap: the objective is within this share of the optimum.
    pub gap: f64,
    /// Where another completion of the same entries may start.
    last: Option<Warm>,
}

impl RobustCompletion {
    /// The default options.
    pub fn new() -> Self {
        RobustCompletion {
            penalty: Penalty::Scaled(1.3),
            tolerance: 1e-3,
            max_iterations: 3_000,
            max_rank: None,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// The weight of the errors. Default `Penalty::Scaled(1.3)`, at which planted clusterings
        /// are recovered; above 0.
        #[doc(alias = "lambda")]
        pub fn penalty(mut self, penalty: Penalty) { self.penalty = penalty }

        /// Stops at this relative duality gap. Default 1e-3; above 0.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Most iterations. Default 3,000; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Stops already at a gap of 3 % where A has a higher rank than this by then, with
        /// [`Status::MaxIterations`]: for callers who ask whether a low rank explains the entries
        /// at all. Default `None`.
        pub fn max_rank(mut self, rank: Option<usize>) { self.max_rank = rank }

        /// Seed of the first basis; the optimum does not depend on it. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory may be taken. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    pub(crate) fn check(&self) -> Result<()> {
        let (name, c) = match self.penalty {
            Penalty::Scaled(c) => ("penalty factor", c),
            Penalty::Absolute(c) => ("penalty", c),
        };
        for (name, value) in [(name, c), ("tolerance", self.tolerance)] {
            if !(value > 0.0) || value.is_infinite() {
                return Err(Error::invalid(format!("{name} {value}; expected a number above 0")));
            }
        }
        ensure!(self.max_iterations > 0, invalid("at most 0 iterations; expected at least 1"));
        Ok(())
    }

    /// The completed matrix alone.
    ///
    /// # Errors
    /// As [`RobustCompletion`].
    pub fn complete(&self, observed: &ObservedPairs) -> Result<Completion> {
        Ok(self.fit(observed, &())?.output)
    }

    /// Completes the matrix; progress goes to the observer, which may also cancel. Not reaching the
    /// gap is no error but [`Status::MaxIterations`].
    ///
    /// # Errors
    /// As [`RobustCompletion`].
    pub fn fit(
        &self,
        observed: &ObservedPairs,
        observer: &dyn Observer,
    ) -> Result<Fit<Completion>> {
        self.run(observed, None, observer)
    }

    /// Completes the matrix, starting from where the completion of the same entries at another
    /// penalty ended: fewer iterations, the same optimum. A completion of other entries is no
    /// start.
    ///
    /// ```
    /// use consilience::completion::{ObservedPairs, Penalty, RobustCompletion};
    ///
    /// let known = ObservedPairs::new(3, &[(0, 1, 1.0), (1, 2, 0.0), (2, 2, 1.0)])?;
    /// let strict = RobustCompletion::new().penalty(Penalty::Scaled(3.0));
    /// let first = RobustCompletion::new().complete(&known)?;
    /// let next = strict.fit_from(&known, &first, &())?.output;
    /// let alone = strict.complete(&known)?;
    /// assert!((next.objective - alone.objective).abs() <= 1e-3 * alone.objective);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`RobustCompletion`].
    #[doc(alias = "warm start")]
    pub fn fit_from(
        &self,
        observed: &ObservedPairs,
        previous: &Completion,
        observer: &dyn Observer,
    ) -> Result<Fit<Completion>> {
        self.run(observed, previous.last.as_ref(), observer)
    }

    fn run(
        &self,
        observed: &ObservedPairs,
        start: Option<&Warm>,
        observer: &dyn Observer,
    ) -> Result<Fit<Completion>> {
        self.check()?;
        self.budget.check_table("known entries", observed.n_entries(), 1, ENTRY)?;
        observer.check()?;
        let Some(objects) = observed.known_objects()? else {
            return self.solve(observed, start, observer);
        };
        self.budget.check_table("known entries", observed.n_entries(), 1, ENTRY + COPIED)?;
        let n = observed.n_objects();
        let mut fit = self.solve(&observed.of_objects(&objects)?, start, observer)?;
        let own = fit.output.vectors;
        self.budget.check_table("completed matrix", n, own.ncols(), 8)?;
        let mut vectors = room::table(n, own.ncols())?;
        for (row, &i) in own.rows().into_iter().zip(&objects) {
            vectors.row_mut(i as usize).assign(&row);
        }
        fit.output.vectors = vectors;
        Ok(fit)
    }

    /// The same where something is known of every object.
    fn solve(
        &self,
        observed: &ObservedPairs,
        start: Option<&Warm>,
        observer: &dyn Observer,
    ) -> Result<Fit<Completion>> {
        let mut report = Report::default();
        let problem = solver::Problem {
            observed,
            penalty: self.absolute_penalty(observed),
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            whole: self.budget.allows_table(solver::of_whole(observed), 1, 8),
            budget: self.budget,
            most_rank: self.max_rank.unwrap_or(usize::MAX),
            seed: self.seed,
            start,
        };
        let found = report.stage("completion", || solver::solve(&problem, observer))?;
        let objective = found.nuclear + found.l1;
        let gap =
            if objective > 0.0 { ((objective - found.dual) / objective).max(0.0) } else { 0.0 };
        report.iterations = found.iterations;
        report.objective = Some(objective);
        report.error_bound = Some(gap);
        if !found.converged {
            report.status = Status::MaxIterations;
        }
        let mut vectors = found.vectors;
        if let Some(sizes) = &observed.sizes {
            for (mut row, s) in vectors.rows_mut().into_iter().zip(sizes) {
                row /= s.sqrt();
            }
        }
        let completion = Completion {
            values: found.values,
            vectors,
            penalty: problem.penalty,
            objective,
            nuclear_norm: found.nuclear,
            error_cost: found.l1,
            gap,
            last: found.last,
        };
        Ok(Fit::new(completion, report))
    }

    /// C for these entries.
    fn absolute_penalty(&self, observed: &ObservedPairs) -> f64 {
        match self.penalty {
            Penalty::Absolute(c) => c,
            // Without entries there is nothing to weigh.
            Penalty::Scaled(c) => {
                c / (observed.weight() * observed.density()).sqrt().max(f64::MIN_POSITIVE)
            }
        }
    }
}

impl Completion {
    /// Rank of A.
    pub fn rank(&self) -> usize {
        self.values.len()
    }

    /// One entry of A. Panics for an object that does not exist, as indexing does.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        (0..self.rank()).map(|c| self.values[c] * self.vectors[[i, c]] * self.vectors[[j, c]]).sum()
    }

    /// The sum of all entries, `1'A1`: the sum of squared cluster sizes where A is a clustering.
    ///
    /// # References
    /// Yi 2014, Sect. 3.3.2.
    pub fn total(&self) -> f64 {
        self.vectors.columns().into_iter().zip(&self.values).map(|(u, v)| v * u.sum().powi(2)).sum()
    }

    /// An embedding of the objects in which to cluster them (n x at most k): the eigenvectors of
    /// the k largest eigenvalues above 0, times these.
    pub fn embedding(&self, k: usize) -> Array2<f64> {
        let mut order: Vec<usize> = (0..self.rank()).filter(|&c| self.values[c] > 0.0).collect();
        order.sort_by(|&a, &b| self.values[b].total_cmp(&self.values[a]).then(a.cmp(&b)));
        order.truncate(k);
        Array2::from_shape_fn((self.vectors.nrows(), order.len()), |(i, c)| {
            self.vectors[[i, order[c]]] * self.values[order[c]]
        })
    }
}
