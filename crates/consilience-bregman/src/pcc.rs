//! Probabilistic consensus clustering: options, runs, results.

use std::sync::Arc;

use consilience_core::{
    ConsensusFunction, Ensemble, Error, Fit, Grouping, Memberships, MemoryBudget, Observer,
    Partition, Report, Result, Seed, Status,
};
use consilience_graph::Microclusters;
use ndarray::Array2;

use crate::point::{self, Point, Problem};
use crate::{
    Divergence, KullbackLeibler, PairEvidence, Start, check_divergence, line_search, newton,
    surviving_clusters,
};

/// Up to this many microclusters [`Pairs::Auto`] takes all pairs.
const ALL: usize = 10_000;
/// Pairs that [`Pairs::Auto`] samples beyond.
const SAMPLE: f64 = 2e7;
/// Upper bound of [`Pcc::by_survival`].
const MOST_BY_SURVIVAL: usize = 20;
/// Most Newton sweeps unless said otherwise.
const SWEEPS: usize = 1000;
/// Sweeps of the trial run of each start, where there are several.
const TRIAL: usize = 20;

/// Which pairs of microclusters the consensus is fitted to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Pairs {
    /// All up to 10,000 microclusters, beyond that a random sample of 20 million.
    #[default]
    Auto,
    /// All of them.
    All,
    /// Each with this probability, in `(0, 1]`.
    Sampled {
        /// Probability of a pair to be in the sample.
        share: f64,
    },
}

/// The road to the optimum. Both lower the same objective in every step and stop by the same gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Solver {
    /// Newton steps on all memberships of an object, many objects at once: far the fewer
    /// operations, in parallel, and the default.
    #[default]
    Newton,
    /// The paper's: the steepest exchange between two clusters of one object, taken from a priority
    /// queue.
    LineSearch,
}

/// What [`Pcc::solve`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Memberships of the microclusters, n~ x K.
    pub memberships: Array2<f64>,
    /// Value of the objective over all pairs of objects; infinite where K is so small that an
    /// observed event has probability 0.
    pub objective: f64,
    /// Relative optimality gap: the most that any object gains per unit of probability moved from
    /// one cluster to another, over the weight of its pairs. 0 at a KKT point.
    pub gap: f64,
}

/// Probabilistic consensus clustering (PCC): soft memberships whose inner products predict how
/// often two objects are put together.
///
/// For soft results, for overlapping clusters, for incomplete ensembles (N_ij are its weights), and
/// where the number of clusters is only known up to an upper bound: clusters that nothing needs
/// empty themselves. Best on ensembles whose members have few clusters each; where many members
/// split every class into many pieces, `EvidenceAccumulation` and `Pta` find the classes better
/// (docs/pcc.md has the numbers).
///
/// ```text
/// minimise f(Y) = sum_{i<j} N_ij d(c_ij / N_ij, y_i'y_j)   over distributions y_i on K clusters
/// ```
///
/// With the Kullback-Leibler divergence, the default, that is maximum likelihood under binomial
/// counts. Objects with equal labels form microclusters and share their y; the pairs inside count
/// with `c = N`, so that f is exactly that of all objects.
///
/// ```
/// use consilience_bregman::{surviving_clusters, Pcc};
/// use consilience_core::{ConsensusFunction, Ensemble, Partition, Seed};
///
/// // Object 3 is between the two groups.
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[5, 5, 5, 5, 2, 2, 2])?,
///     Partition::from_labels(&[1, 1, 1, 0, 0, 0, 0])?,
/// ])?;
/// let soft = Pcc::new(4).seed(Seed(1)).consensus(&ensemble)?;
/// assert_eq!(surviving_clusters(&soft).len(), 2);
/// let entropy = soft.entropy();
/// assert!(entropy[3] > 0.9 && entropy[0] < 0.1);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// With P pairs (n~^2 / 2 where all are taken): O(P M) byte operations for the counts, then O(P
/// K^2) per Newton sweep, of which some dozens are usual, or O(l max(K, log K n)) per step of the
/// line search with l partners per object. Memory 2 to 4 bytes per cell of an n~ x n~ square, or 16
/// to 28 bytes per sampled pair.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for K outside
/// `1..=n`, a tolerance that is not above 0, no restarts or iterations, a share outside `(0, 1]`, a
/// start with more clusters than K, and a divergence that is not convex in its second argument;
/// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for a start of another
/// number of objects; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the
/// memory budget; [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo, Pelillo 2015, "Probabilistic consensus
/// clustering using evidence accumulation", Eq. 1-9 and Algorithm 1 ([`Solver::LineSearch`]). Ours:
/// the Newton road, the exact treatment of microclusters, and stopping by a relative gap instead of
/// an absolute one.
#[doc(alias = "PCC")]
#[doc(alias = "PPC")]
#[derive(Clone, Debug)]
pub struct Pcc {
    clusters: usize,
    /// Whether `clusters` may be less, where no member has so many.
    by_survival: bool,
    divergence: Arc<dyn Divergence>,
    pairs: Pairs,
    restarts: usize,
    seed: Seed,
    tolerance: f64,
    max_iterations: Option<usize>,
    start: Start,
    solver: Solver,
    collapse: bool,
    budget: MemoryBudget,
}

impl Pcc {
    /// PCC into at most K clusters, by the Kullback-Leibler divergence.
    pub fn new(clusters: usize) -> Self {
        Pcc {
            clusters,
            by_survival: false,
            divergence: Arc::new(KullbackLeibler),
            pairs: Pairs::Auto,
            restarts: 4,
            seed: Seed(0),
            tolerance: 1e-4,
            max_iterations: None,
            start: Start::Perturbed,
            solver: Solver::Newton,
            collapse: true,
            budget: MemoryBudget::default(),
        }
    }

    /// PCC into as many clusters as survive of 20, or of as many as the largest member has where
    /// those are fewer. On members that split the classes into many pieces all of them survive:
    /// there the upper bound is the number of clusters, and better given.
    pub fn by_survival() -> Self {
        Pcc { by_survival: true, ..Self::new(MOST_BY_SURVIVAL) }
    }

    /// The upper bound for this ensemble.
    fn bound(&self, ensemble: &Ensemble) -> usize {
        let largest = ensemble.members().iter().map(Partition::n_clusters).max().unwrap_or(1);
        self.clusters.min(largest.max(1)).min(ensemble.n_objects())
    }

    /// What disagreeing with an observed frequency costs.
    pub fn divergence(mut self, divergence: impl Divergence + 'static) -> Self {
        self.divergence = Arc::new(divergence);
        self
    }

    /// Which pairs the memberships are fitted to.
    pub fn pairs(mut self, pairs: Pairs) -> Self {
        self.pairs = pairs;
        self
    }

    /// Perturbed starts, of which the one of least objective after a trial is followed to the end;
    /// 4 unless said otherwise. A given start is the only one.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Seed of the starts and of the sample of pairs.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// The relative optimality gap (see [`Solution::gap`]) at which to stop; 1e-4 unless said
    /// otherwise.
    pub fn tolerance(mut self, gap: f64) -> Self {
        self.tolerance = gap;
        self
    }

    /// Most iterations: sweeps over all objects of [`Solver::Newton`] (1000 unless said otherwise),
    /// or steps of [`Solver::LineSearch`] (n~ K unless said otherwise, as in the paper).
    pub fn max_iterations(mut self, iterations: usize) -> Self {
        self.max_iterations = Some(iterations);
        self
    }

    /// Where to start.
    pub fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// The road to the optimum.
    pub fn solver(mut self, solver: Solver) -> Self {
        self.solver = solver;
        self
    }

    /// Whether objects with equal labels share their memberships; on unless said otherwise. Off,
    /// every object has its own, at the price of as many more pairs.
    pub fn collapse(mut self, collapse: bool) -> Self {
        self.collapse = collapse;
        self
    }

    /// How much memory pair counts and memberships may take each.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// The lower road: memberships for pair counts from anywhere. A given start is one of the nodes
    /// of `evidence`; report and status are those of [`ConsensusFunction::fit`].
    ///
    /// # Errors
    /// As [`Pcc`], with the number of nodes for n.
    pub fn solve(&self, evidence: &PairEvidence, observer: &dyn Observer) -> Result<Fit<Solution>> {
        let n = evidence.n_nodes();
        if self.by_survival && n > 0 && self.clusters > n {
            return Pcc { clusters: n, ..self.clone() }.solve(evidence, observer);
        }
        if self.clusters == 0 || self.clusters > n {
            return Err(Error::invalid(format!(
                "{} clusters of {n} nodes; expected 1..={n}",
                self.clusters
            )));
        }
        self.check()?;
        let mut report = Report::default();
        report.microclusters = Some(n);
        let solution = self.run(evidence, None, observer, &mut report)?;
        Ok(Fit::new(solution, report))
    }

    fn check(&self) -> Result<()> {
        if !(self.tolerance > 0.0) {
            return Err(Error::invalid(format!("tolerance {}; expected above 0", self.tolerance)));
        }
        for (name, value) in
            [("restarts", Some(self.restarts)), ("max_iterations", self.max_iterations)]
        {
            if value == Some(0) {
                return Err(Error::invalid(format!("{name} 0; expected at least 1")));
            }
        }
        if let Pairs::Sampled { share } = self.pairs
            && !(share > 0.0 && share <= 1.0)
        {
            return Err(Error::invalid(format!(
                "share {share} of the pairs; expected above 0, at most 1"
            )));
        }
        check_divergence(&*self.divergence)
    }

    fn evidence(
        &self,
        microclusters: &Microclusters,
        observer: &dyn Observer,
    ) -> Result<PairEvidence> {
        let n = microclusters.n_nodes();
        let share = match self.pairs {
            Pairs::Sampled { share } => share,
            Pairs::Auto if n > ALL => SAMPLE / (0.5 * n as f64 * (n as f64 - 1.0)),
            _ => return PairEvidence::all(microclusters, self.budget, observer),
        };
        let seed = self.seed.derive("pairs", 0);
        PairEvidence::sampled(microclusters, share.min(1.0), seed, self.budget, observer)
    }

    /// Follows the best start to the end.
    fn run(
        &self,
        evidence: &PairEvidence,
        grouping: Option<&Grouping>,
        observer: &dyn Observer,
        report: &mut Report,
    ) -> Result<Solution> {
        let n = evidence.n_nodes();
        self.budget.check_table("memberships", n, self.clusters, 16)?;
        let problem = Problem { evidence, divergence: &*self.divergence, clusters: self.clusters };
        let begin = |restart: usize| {
            let seed = self.seed.derive("start", restart as u64);
            let mut y = self.start.of_nodes(grouping, n, self.clusters, seed)?;
            for i in (0..n).filter(|&i| evidence.alone(i)) {
                y.row_mut(i).fill(1.0 / self.clusters as f64);
            }
            Ok::<_, Error>(Point::new(y.view(), evidence.is_dense()))
        };
        let tries = if self.start == Start::Perturbed { self.restarts } else { 1 };
        let mut best: Option<(f64, Point)> = None;
        for restart in 0..tries {
            observer.check()?;
            let mut point = begin(restart)?;
            if tries > 1 {
                let trial = TRIAL.min(self.max_iterations.unwrap_or(SWEEPS));
                newton::solve(&problem, &mut point, self.tolerance, trial, observer)?;
                let objective = point::objective(&problem, &point);
                if best.as_ref().is_none_or(|b| objective < b.0) {
                    // The paper's road starts where the best trial did.
                    let kept =
                        if self.solver == Solver::LineSearch { begin(restart)? } else { point };
                    best = Some((objective, kept));
                }
            } else {
                best = Some((f64::INFINITY, point));
            }
        }
        let Some((_, mut point)) = best else {
            return Err(Error::invalid("restarts 0; expected at least 1"));
        };
        let converged;
        (report.iterations, converged) = match self.solver {
            Solver::Newton => {
                let most = self.max_iterations.unwrap_or(SWEEPS);
                newton::solve(&problem, &mut point, self.tolerance, most, observer)?
            }
            Solver::LineSearch => {
                let most = self.max_iterations.unwrap_or(n.saturating_mul(self.clusters));
                line_search::solve(&problem, &mut point, self.tolerance, most, observer)?
            }
        };
        if !converged {
            report.status = Status::MaxIterations;
        }
        let (objective, gap) = point::standing(&problem, &point, true);
        report.objective = objective.is_finite().then_some(objective);
        report.notes.push(format!("relative KKT gap {gap:.2e}, {:.2e} asked for", self.tolerance));
        Ok(Solution { memberships: point.into_array(), objective, gap })
    }
}

impl ConsensusFunction for Pcc {
    type Output = Memberships;

    fn name(&self) -> &str {
        "pcc"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Memberships>> {
        if self.by_survival {
            let clusters = self.bound(ensemble);
            return Pcc { clusters, by_survival: false, ..self.clone() }.fit(ensemble, observer);
        }
        ensemble.check_clusters(self.clusters)?;
        self.check()?;
        let (n, k) = (ensemble.n_objects(), self.clusters);
        self.budget.check_table("memberships", n, k, 8)?;
        let mut report = Report::default();
        let microclusters = report.stage("microclusters", || {
            if self.collapse {
                Microclusters::observed(ensemble, observer)
            } else {
                Microclusters::each_object(ensemble)
            }
        })?;
        let nodes = microclusters.n_nodes();
        report.microclusters = Some(nodes);
        let evidence = report.stage("pair counts", || self.evidence(&microclusters, observer))?;
        let mut inner = Report::default();
        let solution = report.stage("memberships", || {
            self.run(&evidence, Some(microclusters.grouping()), observer, &mut inner)
        })?;
        report.status = inner.status;
        report.iterations = inner.iterations;
        report.objective = inner.objective;
        report.notes.append(&mut inner.notes);

        // What a sample happens to leave out has no evidence; what all pairs say nothing about is
        // still labelled.
        let unheard = |g: usize| !evidence.is_dense() && evidence.alone(g);
        let mut values = Array2::from_elem((n, k), 1.0 / k as f64);
        let mut known = vec![0.0; n];
        let mut missed = 0;
        for (i, &g) in microclusters.grouping().of_object().iter().enumerate() {
            let g = g as usize;
            if g >= nodes {
                continue;
            }
            if unheard(g) && nodes > 1 {
                missed += 1;
                continue;
            }
            known[i] = f64::from(evidence.own()[g]);
            values.row_mut(i).assign(&solution.memberships.row(g));
        }
        if missed > 0 {
            report
                .notes
                .push(format!("{missed} objects are in no sampled pair: uniform, evidence 0"));
        }
        let output = Memberships::with_evidence(values, known)?;
        let left = surviving_clusters(&output).len();
        if left < k {
            report.notes.push(format!("{left} of {k} clusters survive"));
        }
        let distinct = if self.collapse {
            nodes
        } else {
            Microclusters::observed(ensemble, observer)?.n_nodes()
        };
        if distinct < k {
            report.expect_clusters(k, distinct, "the ensemble distinguishes no more objects");
        }
        Ok(Fit::new(output, report))
    }
}
