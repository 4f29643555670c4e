//! Probabilistic consensus clustering: options, runs, results.

use std::sync::Arc;

use consilience_core::{
    Accepts, Clusters, Ensemble, Error, Fit, Grouping, Memberships, MemoryBudget, Microclusters,
    NodeConsensus, NodeMemberships, Observer, Partition, Report, Result, Seed, Status,
    check_restarts, ensure,
};
use ndarray::Array2;

use crate::point::{self, Point, Problem};
use crate::summary::largest_columns;
use crate::{
    Divergence, KullbackLeibler, PairEvidence, Start, check_divergence, line_search, newton,
};

/// Up to this many microclusters [`Pairs::Auto`] takes all pairs.
const ALL: usize = 10_000;
/// Pairs that [`Pairs::Auto`] samples beyond.
const SAMPLE: f64 = 2e7;
/// Upper bound of [`Clusters::Survival`].
const SURVIVAL_BOUND: usize = 20;
/// Default of the most Newton sweeps.
const SWEEPS: usize = 1000;
/// Sweeps of the trial run of each start, where there are several.
const TRIAL: usize = 20;

/// Which pairs of microclusters the consensus is fitted to.
///
/// Chosen by [`Pcc::pairs`].
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

/// How the optimum is found. Both solvers lower the same objective in every step and stop by the
/// same gap.
///
/// Chosen by [`Pcc::solver`].
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

consilience_core::names! {
    name "solver" Solver: "newton" => Newton, "line-search" => LineSearch
}

/// What [`Pcc::fit_evidence`] found.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::SolutionFields", into = "crate::stored::SolutionFields")
)]
#[non_exhaustive]
pub struct Solution {
    /// Memberships of the nodes; those that are in no pair are uniform with evidence 0.
    pub memberships: Memberships,
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
/// where only an upper bound of the number of clusters is known: clusters that do not lower the
/// objective lose their objects. Best on ensembles whose members have few clusters each; where many
/// members split every class into many pieces, `EvidenceAccumulation` and `Pta` find the classes
/// better (docs/pcc.md has the numbers).
///
/// ```text
/// minimize f(Y) = sum_{i<j} N_ij d(c_ij / N_ij, y_i'y_j)   over distributions y_i on K clusters
/// ```
///
/// With the Kullback-Leibler divergence, the default, that is maximum likelihood under binomial
/// counts. Objects with equal labels form microclusters and share their y; the pairs inside count
/// with `c = N`, so that f is exactly that of all objects.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition, Seed};
/// use consilience::bregman::{Pcc, surviving_clusters};
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
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// With P pairs (n~^2 / 2 where all are taken): O(P M) byte operations for the counts, then O(P
/// K^2) per Newton sweep, of which some dozens are usual, or O(l max(K, log K n)) per step of the
/// line search with l partners per object. Memory 2 to 4 bytes per cell of an n~ x n~ square, or 40
/// bytes per sampled pair, 88 with memberships or weights.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for K outside
/// `1..=n` or a criterion other than survival, a tolerance that is not above 0, restarts outside
/// `1..=10000`, no iterations, a share outside `(0, 1]`, a start with more clusters than K, and a
/// divergence that is not convex in its second argument;
/// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for a start of another
/// number of objects; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the
/// memory budget; [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo, Pelillo 2015, "Probabilistic consensus
/// clustering using evidence accumulation", Eq. 1-9 and Algorithm 1 ([`Solver::LineSearch`]). Ours:
/// the Newton solver, the exact treatment of microclusters, and stopping by a relative gap instead
/// of an absolute one.
#[doc(alias = "PCC")]
#[doc(alias = "PPC")]
#[derive(Clone, Debug)]
pub struct Pcc {
    clusters: Clusters,
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
    /// PCC into at most so many clusters, by the Kullback-Leibler divergence.
    ///
    /// [`Clusters::Survival`], which is also what [`Clusters::Auto`] means, takes as many as
    /// survive of 20, or of as many as the largest member has where those are fewer. Where members
    /// split the classes into many pieces all of these survive: then the number is better given.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Pcc {
            clusters: clusters.into(),
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

    /// The upper bound for these members.
    fn bound(&self, nodes: &Microclusters) -> usize {
        let largest = nodes.rows().iter().map(Partition::n_clusters).max().unwrap_or(1);
        self.clusters.fixed().unwrap_or(SURVIVAL_BOUND.min(largest.max(1)))
    }

    consilience_core::setters! {
        /// How a deviation from an observed frequency counts. Default [`KullbackLeibler`].
        pub fn divergence(mut self, divergence: impl Divergence + 'static) {
            self.divergence = Arc::new(divergence)
        }

        /// Which pairs the memberships are fitted to. Default [`Pairs::Auto`].
        pub fn pairs(mut self, pairs: Pairs) { self.pairs = pairs }

        /// Perturbed starts, of which the one of least objective after a trial is followed to the
        /// end; a given start is the only one. Default 4; 1 to 10000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Seed of the starts and of the sample of pairs. Default 0.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// The relative optimality gap (see [`Solution::gap`]) at which to stop. Default 1e-4;
        /// above 0.
        pub fn tolerance(mut self, gap: f64) { self.tolerance = gap }

        /// Most iterations: sweeps over all objects of [`Solver::Newton`], or steps of
        /// [`Solver::LineSearch`]. Default 1000 sweeps, or n~ K steps as in the paper; at least 1.
        pub fn max_iterations(mut self, iterations: usize) {
            self.max_iterations = Some(iterations)
        }

        /// Where to start. Default [`Start::Perturbed`].
        pub fn start(mut self, start: Start) { self.start = start }

        /// How the optimum is found. Default [`Solver::Newton`].
        pub fn solver(mut self, solver: Solver) { self.solver = solver }

        /// Whether objects with equal labels share their memberships. Default true; otherwise every
        /// object has its own, and there are as many more pairs.
        pub fn collapse(mut self, collapse: bool) { self.collapse = collapse }

        /// How much memory pair counts and memberships may take each. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// Memberships for pair counts from anywhere, as [`PairEvidence`] has them.
    ///
    /// # Errors
    /// As [`Pcc::fit_evidence`].
    pub fn solution(&self, evidence: &PairEvidence) -> Result<Solution> {
        Ok(self.fit_evidence(evidence, &())?.output)
    }

    /// As [`Pcc::solution`], with progress, cancellation and a report. A given start is one of the
    /// nodes of `evidence`.
    ///
    /// # Errors
    /// As [`Pcc`], with the number of nodes for n.
    pub fn fit_evidence(
        &self,
        evidence: &PairEvidence,
        observer: &dyn Observer,
    ) -> Result<Fit<Solution>> {
        self.check()?;
        let n = evidence.n_nodes();
        let k = self.clusters.fixed().unwrap_or(SURVIVAL_BOUND.min(n));
        ensure!((1..=n).contains(&k), invalid("{k} clusters of {n} nodes; expected 1..={n}"));
        let mut report = Report::default();
        report.microclusters = Some(n);
        let run = Run { pcc: self, evidence, grouping: None, clusters: k, observer };
        let found = run.solve(&mut report)?;
        let known = |i| if evidence.alone(i) { 0.0 } else { evidence.own()[i] };
        let memberships = Memberships::with_evidence(found.values, (0..n).map(known).collect())?;
        let solution = Solution { memberships, objective: found.objective, gap: found.gap };
        Ok(Fit::new(solution, report))
    }

    fn check(&self) -> Result<()> {
        match self.clusters {
            Clusters::Fixed(_) | Clusters::Auto | Clusters::Survival => {}
            other => return Err(other.refuse("PCC", "an upper bound or the clusters that survive")),
        }
        ensure!(
            self.tolerance > 0.0 && self.tolerance.is_finite(),
            invalid("tolerance {}; expected a number above 0", self.tolerance)
        );
        check_restarts(self.restarts)?;
        ensure!(self.max_iterations != Some(0), invalid("max_iterations 0; expected at least 1"));
        if let Pairs::Sampled { share } = self.pairs {
            let fits = share > 0.0 && share <= 1.0;
            ensure!(fits, invalid("share {share} of the pairs; expected above 0, at most 1"));
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
            _ => return PairEvidence::all_observed(microclusters, self.budget, observer),
        };
        let seed = self.seed.derive("pairs", 0);
        PairEvidence::sampled_observed(microclusters, share.min(1.0), seed, self.budget, observer)
    }

    /// Notes for the user: which objects the sample of pairs left out, and how many clusters are
    /// left.
    fn remark(
        &self,
        nodes: &Microclusters,
        found: &NodeMemberships,
        report: &mut Report,
    ) -> Result<()> {
        let k = found.values.ncols();
        let evidence = found.evidence.as_deref().unwrap_or_default();
        let sizes = nodes.sizes().iter().zip(evidence);
        let missed: u64 = sizes.filter(|(_, e)| **e == 0.0).map(|(&s, _)| s).sum();
        if missed > 0 {
            report
                .notes
                .push(format!("{missed} objects are in no sampled pair: uniform, evidence 0"));
        }
        let left = largest_columns(found.values.view(), evidence).len();
        if left < k {
            report.notes.push(format!("{left} of {k} clusters survive"));
        }
        if !self.collapse {
            let distinct = Microclusters::of(&nodes.to_ensemble()?)?.n_nodes();
            report.expect_clusters(k, distinct, "the ensemble distinguishes no more objects");
        }
        Ok(())
    }
}

impl NodeConsensus for Pcc {
    type Output = Memberships;

    fn name(&self) -> &str {
        "pcc"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn is_upper_bound(&self) -> bool {
        true
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self, ensemble: &Ensemble) -> Result<()> {
        self.check()?;
        let k = self.clusters.fixed().unwrap_or(SURVIVAL_BOUND);
        self.budget.check_table("memberships", ensemble.n_objects(), k, 8)
    }

    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        let nodes = if self.collapse {
            Microclusters::observed(ensemble, observer)?
        } else {
            Microclusters::each_object(ensemble)?
        };
        // Whole counts add up alike in any order of the members, expected ones in this.
        Ok(if nodes.is_plain() { nodes } else { nodes.sorted_members() })
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<NodeMemberships> {
        let clusters = self.bound(nodes);
        let evidence = report.stage("pair counts", || self.evidence(nodes, observer))?;
        if self.pairs == Pairs::Auto && !evidence.is_dense() {
            report.notes.push(format!(
                "a sample of {} pairs between {} microclusters; pairs sets the share",
                evidence.n_pairs(),
                nodes.n_nodes()
            ));
        }
        let grouping = Some(nodes.grouping());
        let run = Run { pcc: self, evidence: &evidence, grouping, clusters, observer };
        let mut inner = Report::default();
        let solved = report.stage("memberships", || run.solve(&mut inner))?;
        report.adopt(inner);
        // What a sample happens to leave out has no evidence; what all pairs have no weight for is
        // still labelled.
        let n = nodes.n_nodes();
        let missed = |g: usize| n > 1 && !evidence.is_dense() && evidence.alone(g);
        let known = |g| if missed(g) { 0.0 } else { evidence.own()[g] };
        let known = (0..n).map(known).collect();
        let found = NodeMemberships { values: solved.values, evidence: Some(known) };
        self.remark(nodes, &found, report)?;
        Ok(found)
    }
}

/// The memberships found, in the order of the solver's clusters.
struct Solved {
    values: Array2<f64>,
    objective: f64,
    gap: f64,
}

/// One fit to pair counts.
struct Run<'a> {
    pcc: &'a Pcc,
    evidence: &'a PairEvidence,
    /// The objects of the nodes, where there are any.
    grouping: Option<&'a Grouping>,
    clusters: usize,
    observer: &'a dyn Observer,
}

impl Run<'_> {
    fn problem(&self) -> Problem<'_> {
        Problem {
            evidence: self.evidence,
            divergence: &*self.pcc.divergence,
            clusters: self.clusters,
        }
    }

    /// Follows the best start to the end.
    fn solve(&self, report: &mut Report) -> Result<Solved> {
        let Run { pcc, clusters, observer, .. } = *self;
        let n = self.evidence.n_nodes();
        // Of the best start and the one that is tried, by rows and, where all pairs are held, by
        // columns as well; and as it is drawn.
        let entry = if self.evidence.is_dense() { 40 } else { 24 };
        pcc.budget.check_table("memberships", n, clusters, entry)?;
        let mut point = self.best_start()?;
        let problem = self.problem();
        let converged;
        (report.iterations, converged) = match pcc.solver {
            Solver::Newton => {
                let most = pcc.max_iterations.unwrap_or(SWEEPS);
                newton::solve(&problem, &mut point, pcc.tolerance, most, observer)?
            }
            Solver::LineSearch => {
                let most = pcc.max_iterations.unwrap_or(n.saturating_mul(clusters));
                line_search::solve(&problem, &mut point, pcc.tolerance, most, observer)?
            }
        };
        if !converged {
            report.status = Status::MaxIterations;
        }
        let (objective, gap) = point::assess(&problem, &point, observer)?;
        report.objective = objective.is_finite().then_some(objective);
        let asked = pcc.tolerance;
        report.notes.push(format!("relative KKT gap {gap:.2e}, {asked:.2e} asked for"));
        Ok(Solved { values: point.into_array(), objective, gap })
    }

    /// The start whose trial run ends lowest: where that ended, or where it began for the line
    /// search.
    fn best_start(&self) -> Result<Point> {
        let pcc = self.pcc;
        let tries = if pcc.start == Start::Perturbed { pcc.restarts } else { 1 };
        if tries == 1 {
            self.observer.check()?;
            return self.start(0);
        }
        let problem = self.problem();
        let trial = TRIAL.min(pcc.max_iterations.unwrap_or(SWEEPS));
        let mut best: Option<(f64, Point)> = None;
        for restart in 0..tries {
            self.observer.check()?;
            let mut point = self.start(restart)?;
            newton::solve(&problem, &mut point, pcc.tolerance, trial, self.observer)?;
            let objective = point::objective(&problem, &point, self.observer)?;
            if best.as_ref().is_none_or(|b| objective < b.0) {
                let line_search = pcc.solver == Solver::LineSearch;
                best = Some((objective, if line_search { self.start(restart)? } else { point }));
            }
        }
        match best {
            Some((_, point)) => Ok(point),
            None => Err(Error::invalid("0 restarts; expected 1..=10000")),
        }
    }

    fn start(&self, restart: usize) -> Result<Point> {
        let (n, k) = (self.evidence.n_nodes(), self.clusters);
        let seed = self.pcc.seed.derive("start", restart as u64);
        let mut y = self.pcc.start.of_nodes(self.grouping, n, k, seed)?;
        for i in (0..n).filter(|&i| self.evidence.alone(i)) {
            y.row_mut(i).fill(1.0 / k as f64);
        }
        Point::new(y.view(), self.evidence.is_dense())
    }
}
