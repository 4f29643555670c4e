//! Bayesian crowdclustering.

mod fitting;
mod layout;
mod mixture;
mod objects;
mod prior;
#[cfg(test)]
mod reference;
mod search;
mod small;
mod state;
#[cfg(test)]
mod tests;
mod trials;
mod workers;

use consilience_core::{
    Clusters, Error, Fit, Memberships, MemoryBudget, Observer, Partition, Report, Result, Seed,
    ensure,
};
use ndarray::Array2;

pub(crate) use fitting::{FittedPositions, TOO_MANY, about, fit};
use fitting::{rows_read, states_kept};

use crate::answer_counts::AnswerCounts;
use crate::answers::Answers;
use crate::best::abreast;
use crate::block_model::FEWER_CLUSTERS;
use crate::cluster_count::ClusterCount;
use crate::{memberships, spectral};

/// Spectral clusterings that are computed at the same time: of one number of clusters, or of three,
/// and where more fit, of several numbers.
const LEAST_SPECTRAL: usize = 3;
const MOST_SPECTRAL: usize = 12;
/// Numbers that the places of a worker's tables take, and what the system adds to each.
const OF_TABLES: usize = 28;

/// Bayesian crowdclustering: objects have positions that each worker compares in their own way.
///
/// Use it where objects lie between clusters, or to compare with: it has positions in which
/// likeness is gradual, and a posterior of the number of clusters, which may be too large. Where k
/// is known prefer [`BlockModel`](crate::BlockModel) (docs/crowds.md).
///
/// Object i lies at x_i in D dimensions, worker j answers "same" on a and b with probability
///
/// ```text
/// logistic(x_a' W_j x_b + tau_j),   W_j symmetric,
/// ```
///
/// and the x_i come from a Dirichlet process mixture of Gaussians: sticks Beta(1, alpha), means and
/// precisions Normal-Wishart, alpha Gamma. All is fitted by variational Bayes with the bound of
/// Jaakkola and Jordan on the logistic function: Gaussian factors of every x_i and of every
/// (W_j, tau_j), with whole covariances; Normal-Wishart factors of the components; Beta and Gamma
/// factors of sticks and alpha; probabilities of components for every object. Each update is the
/// best while all others stay, so that the bound never falls.
///
/// (W_j, tau_j) are Gaussian around what the crowd has in common, which has a Gaussian factor, with
/// precisions that have Gamma factors: workers who gave one answer or few are read as the crowd is.
///
/// Starts are the spectral clusterings of [`BlockModel`](crate::BlockModel) and perturbations of
/// them, with positions that the answers between the clusters ask for. Where the number of clusters
/// is not given, they are spectral clusterings into 1 to 20; with up to 100,000 pair answers, more
/// follow around the number that these end with (`restarts`); then components are merged as long as
/// the bound rises. The highest bound wins. Starts differ by some nats, and so may what other seeds
/// find: the probabilities of the number are over the best fit that was found of each.
///
/// ```
/// use consilience::Clusters;
/// use consilience::crowd::{Answers, GroupAnswer, PositionModel};
///
/// // Twelve workers sort 30 objects into three kinds, half of them in each of two tasks.
/// let mut rows = Vec::new();
/// for worker in 0..12 {
///     for item in 0..30 {
///         let task = (item / 3 + worker) % 2;
///         rows.push(GroupAnswer { worker, task, item, group: item % 3 });
///     }
/// }
/// let answers = Answers::from_groupings(30, &rows)?;
/// let found = PositionModel::new(Clusters::Auto).fit(&answers, &())?.output;
/// println!("{:?} {:?}", found.partition.sizes(), found.cluster_count);
/// assert_eq!(found.positions.dim(), (30, 4));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// A round is O(a D^2 + rows D^4 + n T D^2) for a pair answers and T components, rows being the
/// (worker, task, item) triples. With more than three million pair answers, tasks of more than 90
/// items are cut at random into parts of at most 30, three times: a is at most 45 times the rows.
/// A worker takes 8 (D^4 / 2 + ...) bytes, 2.3 KB at D = 4, an object 8 (D^2 + T), for every start
/// in flight and for a third of all starts, which go on; an answered pair 24, and 120 to 560 while
/// spectral clusterings are made. Starts run on all threads.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, a number of clusters that is neither fixed nor automatic, or bad options,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget,
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Gomes, Welinder, Krause, Perona 2011, "Crowdclustering"; Jaakkola, Jordan 2000; Blei, Jordan
/// 2006 for the truncated mixture. There every worker's W has a prior of its own around 0; what the
/// crowd has in common is ours, and so are the starts.
#[doc(alias = "Bayesian crowdclustering")]
#[doc(alias = "crowdclustering")]
#[doc(alias = "Dirichlet process")]
#[doc(alias = "variational Bayes")]
#[derive(Clone, Copy, Debug)]
pub struct PositionModel {
    clusters: Clusters,
    dimensions: usize,
    components: usize,
    restarts: usize,
    tolerance: f64,
    max_iterations: usize,
    seed: Seed,
    budget: MemoryBudget,
}

/// What [`PositionModel`] found. Label j of the partition and column j of the memberships are the
/// same cluster.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PositionModelResult {
    /// The most probable component of each object; unlabelled where nobody compared it.
    pub partition: Partition,
    /// Probabilities of components, to the power of 2 / (s + 2) where s items were sorted at a time
    /// as in [`CrowdResult`](crate::CrowdResult); evidence is the number of pair answers on the
    /// object. Surer than they should be all the same: the posterior is a product.
    pub memberships: Memberships,
    /// The expected position of each object: n x D; 0 where nobody compared it.
    pub positions: Array2<f64>,
    /// How many clusters hold objects.
    pub cluster_count: ClusterCount,
    /// The bound on the log-probability (nats) of all answers that were read: those of long tasks
    /// are read in part where there are more than three million. A fit ends when its memberships
    /// are at rest; the bound may then still rise, by more the more answers there are, and the
    /// report says by how much in one more round where that is a nat or more.
    pub evidence_bound: f64,
}

impl PositionModel {
    /// A model of so many clusters at most, or of as many as the answers ask for
    /// ([`Clusters::Auto`]).
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        PositionModel {
            clusters: clusters.into(),
            dimensions: 4,
            components: 20,
            restarts: 6,
            tolerance: 1e-3,
            max_iterations: 200,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// Dimensions D of the positions. Default 4; 1 to 16.
        pub fn dimensions(mut self, dimensions: usize) { self.dimensions = dimensions }

        /// Components at which the mixture is truncated where the number of clusters is automatic.
        /// Default 20; 1 to 1000.
        #[doc(alias = "truncation")]
        pub fn components(mut self, components: usize) { self.components = components }

        /// Starts. Default 6; 1 to 10000. With more than a million pair answers to read the four
        /// computed ones alone are taken. Where the number of clusters is automatic, these are
        /// further starts, beside those into 1 to 20: a third of them, rounded up, for the number
        /// of clusters that those end with, for one fewer and for one more; with more than 100,000
        /// pair answers there are none.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Stops where no membership changes by more in a round. Default 1e-3; above 0. It is the
        /// same for any number of answers; bounds, which grow with these, are not at rest by then.
        pub fn tolerance(mut self, tolerance: f64) { self.tolerance = tolerance }

        /// Most rounds of a start. Default 200; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Seed of the starts. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory may be taken. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The clustering alone.
    ///
    /// # Errors
    /// As [`PositionModel`].
    pub fn cluster(&self, answers: &Answers) -> Result<Partition> {
        Ok(self.fit(answers, &())?.output.partition)
    }

    /// Fits the model; progress goes to the observer, which may also cancel.
    ///
    /// # Errors
    /// As [`PositionModel`].
    pub fn fit(
        &self,
        answers: &Answers,
        observer: &dyn Observer,
    ) -> Result<Fit<PositionModelResult>> {
        let clusters = self.check(answers)?;
        self.check_memory(answers)?;
        observer.check()?;
        let mut report = Report::default();
        let counts = report.stage("pair counts", || AnswerCounts::of(answers, self.budget))?;
        let fitted =
            report.stage("positions", || fit(self, clusters, answers, &counts, observer))?;
        fitted.describe(&mut report);
        let fitted = if clusters.is_none() { fitted.without_empty() } else { fitted };
        let (memberships, _) =
            memberships::of_all(answers, memberships::weighed(answers, fitted.q)?)?;
        let mut positions = Array2::zeros((answers.n_objects(), self.dimensions));
        for (row, &i) in fitted.positions.rows().into_iter().zip(answers.answered()) {
            positions.row_mut(i as usize).assign(&row);
        }
        let result = PositionModelResult {
            partition: memberships.hard()?,
            memberships,
            positions,
            cluster_count: fitted.count,
            evidence_bound: fitted.bound,
        };
        if let Some(k) = clusters {
            report.expect_clusters(k, result.partition.n_clusters(), FEWER_CLUSTERS);
        }
        Ok(Fit::new(result, report))
    }

    /// The options, apart from what memory they would take; the number of clusters, if it is given.
    pub(crate) fn check(&self, answers: &Answers) -> Result<Option<usize>> {
        let n = answers.n_objects();
        match self.clusters {
            Clusters::Auto => {}
            Clusters::Fixed(k) => {
                ensure!(
                    (1..=n).contains(&k),
                    invalid("{k} clusters of {n} objects; expected 1..={n}")
                );
            }
            other => {
                return Err(other.refuse("a crowd", "a number or auto"));
            }
        }
        for (name, value, most) in [
            ("dimensions", self.dimensions, 16),
            ("components", self.components, 1000),
            ("starts", self.restarts, 10_000),
            ("iterations", self.max_iterations, usize::MAX),
        ] {
            ensure!((1..=most).contains(&value), invalid("{value} {name}; expected 1..={most}"));
        }
        if !(self.tolerance > 0.0) || self.tolerance.is_infinite() {
            let given = self.tolerance;
            return Err(Error::invalid(format!("tolerance {given}; expected a number above 0")));
        }
        Ok(self.clusters.fixed())
    }

    /// Whether the fit would stay inside the memory budget, one start after the other.
    pub(crate) fn check_memory(&self, answers: &Answers) -> Result<()> {
        let what = "pair counts, and positions of workers and objects";
        self.budget.check_tables(what, &self.tables(answers, 1), 8)?;
        let (t, tables) = (self.truncation(answers), self.spectral(answers, LEAST_SPECTRAL));
        self.budget.check_tables("pair counts and eigenvectors of the answers", &tables, 8)?;
        self.budget.check_table("answers between clusters", t, t, 32)
    }

    /// How many starts are on their way at the same time.
    pub(super) fn abreast(&self, answers: &Answers) -> usize {
        let fits = |&starts: &usize| self.budget.allows_tables(&self.tables(answers, starts), 8);
        abreast(usize::MAX, fits)
    }

    /// For how many numbers of clusters eigenvectors are found at the same time.
    pub(super) fn spectral_abreast(&self, answers: &Answers) -> usize {
        let fits = |&n: &usize| self.budget.allows_tables(&self.spectral(answers, n), 8);
        (LEAST_SPECTRAL..=MOST_SPECTRAL).rev().find(fits).unwrap_or(LEAST_SPECTRAL)
    }

    /// Components at most.
    fn truncation(&self, answers: &Answers) -> usize {
        let most = self.clusters.fixed().unwrap_or(self.components);
        most.min(answers.answered().len()).max(1)
    }

    /// What so many starts on their way take memory for: rows and columns of numbers.
    fn tables(&self, answers: &Answers, starts: usize) -> [(usize, usize); 4] {
        let (n, d) = (answers.answered().len(), self.dimensions);
        let p = d * (d + 1) / 2;
        let (t, given) = (self.truncation(answers), self.clusters.fixed().is_some());
        let states = states_kept(self, given, t).saturating_add(starts);
        // Five tables of a worker, and what goes with them.
        let worker = (p + 1) * (p + 2) + p * p + 2 * d * d + OF_TABLES;
        let object = states.saturating_mul(t.saturating_add(p + d + 1));
        // The best memberships of each number of clusters; these are few.
        let best = t.saturating_mul(if given { 1 } else { t.min(24) });
        [
            (answers.n_workers(), worker.saturating_mul(states)),
            (n, object.saturating_add(best).saturating_add(d)),
            // The pair counts stay; the answers that are read, and a copy where tasks are cut.
            (answers.most_pairs(), spectral::COUNTED),
            (rows_read(answers), 4),
        ]
    }

    /// And for the eigenvectors of so many matrices.
    fn spectral(&self, answers: &Answers, matrices: usize) -> [(usize, usize); 4] {
        let k = self.clusters.fixed().unwrap_or_else(|| self.truncation(answers).min(20));
        spectral::tables(answers, k, matrices)
    }

    /// The same options for another number of clusters.
    pub(crate) fn of(mut self, clusters: Clusters) -> Self {
        self.clusters = clusters;
        self
    }
}
