//! The methods that are compared, and what each makes of the features before links are known.

use std::fmt;
use std::sync::Arc;

use consilience_completion::{CompletionBasis, LossWeight, Mccc};
use consilience_constrained::{MpckMeans, PckMeans, SeededKMeans, UnderMetric};
use consilience_core::{
    Assign, Clustering, ConstrainedClusterer, Constraints, Ensemble, Error, Features, Fit, Link,
    MemoryBudget, Observer, Pair, Partition, Report, Result, Seed, SideInformation, check_answer,
};
use consilience_follow::{ConsensusMetric, LinkTrust, MetricRule};
use consilience_generate::{Generator, KMeans};
use consilience_metric::{Itml, LinearMap, MetricLearner, Rca, TruncatedSvd};
use ndarray::{Array2, Axis};

use crate::ConsensusModel;
use crate::prototypes::Prototypes;

/// Starts of plain k-means.
const STARTS: u64 = 10;
/// Sweeps of ITML over the links: beyond these the clusterings hardly change.
const SWEEPS: usize = 30;
/// With more features than this ITML sees their leading components.
const COMPONENTS: usize = 60;
/// Members of the updater's ensemble, and the most clusters that one has.
const MEMBERS: usize = 20;
const MOST_CLUSTERS: usize = 100;
/// Relative duality gap and starts of k-means of MCCC's fits that judge.
const TRIAL_TOLERANCE: f64 = 3e-3;
const TRIAL_STARTS: usize = 4;
/// Links of a kind that the updater follows at most where labels were given.
const MOST_LINKS: usize = 2_000;
/// Iterations of k-means that costs are estimated by.
const ITERATIONS: f64 = 20.0;

/// A method to compare.
pub(super) enum Candidate {
    Plain,
    Standardized,
    PckMeans,
    MpckMeans,
    Itml,
    Mccc,
    Updater,
    /// The caller's own.
    Given(Box<dyn ConstrainedClusterer>),
    /// A name that there is no candidate of.
    Unknown(String),
}

/// What is to be clustered.
pub(super) struct Problem<'a> {
    pub(super) x: &'a Array2<f64>,
    pub(super) clusters: usize,
    pub(super) seed: Seed,
    pub(super) budget: MemoryBudget,
}

/// A candidate that has seen the features, and no link yet.
pub(super) trait Fitted: Sync {
    /// Whether links change anything.
    fn uses_links(&self) -> bool {
        true
    }

    /// Takes all links, to choose what is too costly to choose for every fold.
    fn settle(&mut self, _: &SideInformation, _: &dyn Observer) -> Result<()> {
        Ok(())
    }

    /// The clustering, which labels new objects.
    fn fit(&self, side: &SideInformation, observer: &dyn Observer) -> Result<Fit<Clustering>>;

    /// The labels alone.
    fn labels(&self, side: &SideInformation, observer: &dyn Observer) -> Result<Partition> {
        Ok(self.fit(side, observer)?.output.partition)
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Candidate({:?})", self.name())
    }
}

impl Candidate {
    /// The default ones, plain k-means first.
    pub(super) fn all() -> Vec<Candidate> {
        use Candidate::{Itml, Mccc, MpckMeans, PckMeans, Plain, Standardized, Updater};
        vec![Plain, Standardized, PckMeans, MpckMeans, Itml, Mccc, Updater]
    }

    /// Plain k-means and the default ones of these names, in the default order, then the caller's
    /// own of those that there were.
    pub(super) fn named(names: &[&str], before: Vec<Candidate>) -> Vec<Candidate> {
        let mut all = Self::all();
        let known = |name: &&&str| !all.iter().any(|candidate| candidate.name() == **name);
        let unknown: Vec<_> =
            names.iter().filter(known).map(|name| Self::Unknown((*name).to_owned())).collect();
        all.retain(|c| matches!(c, Candidate::Plain) || names.contains(&c.name()));
        all.extend(unknown);
        all.extend(before.into_iter().filter(|c| matches!(c, Candidate::Given(_))));
        all
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Candidate::Plain => "kmeans",
            Candidate::Standardized => "kmeans-standardized",
            Candidate::PckMeans => "pck-means",
            Candidate::MpckMeans => "mpck-means",
            Candidate::Itml => "itml",
            Candidate::Mccc => "mccc",
            Candidate::Updater => "updater",
            Candidate::Given(method) => method.name(),
            Candidate::Unknown(name) => name,
        }
    }

    /// Whether it is known to use no link, before it is prepared.
    pub(super) fn sees_no_link(&self) -> bool {
        matches!(self, Candidate::Plain | Candidate::Standardized)
    }

    pub(super) fn check(&self) -> Result<()> {
        match self {
            Candidate::Unknown(name) => Err(unknown(name)),
            _ => Ok(()),
        }
    }

    /// Multiplications of one fit, roughly.
    pub(super) fn cost(&self, problem: &Problem<'_>, links: usize) -> f64 {
        let (n, d) = (problem.x.nrows() as f64, problem.x.ncols() as f64);
        let (k, links) = (problem.clusters as f64, links as f64);
        let sweep = ITERATIONS * n * d * k;
        match self {
            Candidate::Plain | Candidate::Standardized => STARTS as f64 * sweep / 2.0,
            Candidate::PckMeans | Candidate::Given(_) => sweep,
            Candidate::MpckMeans => 4.0 * sweep,
            Candidate::Itml => {
                let used = d.min(COMPONENTS as f64);
                SWEEPS as f64 * links * used * used + STARTS as f64 * ITERATIONS * n * used * k
            }
            Candidate::Mccc => n * n.min(20_000.0) * d / 3.0,
            Candidate::Updater => {
                MEMBERS as f64 * ITERATIONS * n * d / 2.0 * most_clusters(problem.x.nrows()) as f64
                    / 2.0
            }
            Candidate::Unknown(_) => 0.0,
        }
    }

    /// Whatever does not depend on the links.
    pub(super) fn prepare<'a>(
        &'a self,
        problem: &Problem<'a>,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Fitted + 'a>> {
        let (x, k, seed) = (problem.x, problem.clusters, problem.seed);
        let on_features = |uses_links, method| -> Box<dyn Fitted + 'a> {
            Box::new(OnFeatures { x, uses_links, method })
        };
        let plain = Plain { clusters: k, seed };
        Ok(match self {
            Candidate::Plain => on_features(!self.sees_no_link(), Box::new(plain)),
            Candidate::Standardized => {
                let standardized = Standardized(problem.budget);
                on_features(!self.sees_no_link(), Box::new(UnderMetric::new(standardized, plain)))
            }
            Candidate::PckMeans => {
                let method = PckMeans::new(k).seed(seed).memory_budget(problem.budget);
                on_features(true, Box::new(method))
            }
            Candidate::MpckMeans => {
                let method = MpckMeans::new(k).seed(seed).memory_budget(problem.budget);
                on_features(true, Box::new(method))
            }
            Candidate::Itml => {
                on_features(true, Box::new(UnderMetric::new(OnComponents::of(problem)?, plain)))
            }
            Candidate::Mccc => {
                let method = Mccc::new(k).seed(seed).memory_budget(problem.budget);
                let basis = method.prepare(x, observer)?;
                Box::new(Completed { basis, method, settled: None, plain: false })
            }
            Candidate::Updater => Box::new(Followed::open(problem, observer)?),
            Candidate::Given(method) => on_features(true, Box::new(Borrowed(method.as_ref()))),
            Candidate::Unknown(name) => return Err(unknown(name)),
        })
    }
}

/// That there is no candidate of this name.
pub(super) fn unknown(name: &str) -> Error {
    let known: Vec<String> = Candidate::all().iter().map(|c| c.name().to_owned()).collect();
    Error::invalid(format!("candidate {name:?}: unknown; expected {}", known.join(", ")))
}

fn most_clusters(n: usize) -> usize {
    (((n as f64).sqrt() / 2.0) as usize).clamp(2, MOST_CLUSTERS)
}

/// A method that starts from the features every time.
struct OnFeatures<'a> {
    x: &'a Array2<f64>,
    uses_links: bool,
    method: Box<dyn ConstrainedClusterer + 'a>,
}

impl Fitted for OnFeatures<'_> {
    fn uses_links(&self) -> bool {
        self.uses_links
    }

    fn fit(&self, side: &SideInformation, observer: &dyn Observer) -> Result<Fit<Clustering>> {
        let found = self.method.fit(self.x.into(), side, observer)?;
        let labels = found.output.partition.n_objects();
        check_answer(self.method.name(), "labels", labels, self.x.nrows())?;
        Ok(found)
    }
}

/// The caller's own method, which stays where it is.
struct Borrowed<'a>(&'a dyn ConstrainedClusterer);

impl ConstrainedClusterer for Borrowed<'_> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        self.0.fit(features, side, observer)
    }
}

/// The best of several starts of k-means, whatever is known.
struct Plain {
    clusters: usize,
    seed: Seed,
}

impl ConstrainedClusterer for Plain {
    fn name(&self) -> &'static str {
        "kmeans"
    }

    fn fit(
        &self,
        features: Features<'_>,
        _: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let nothing = SideInformation::none(features.n_objects());
        let mut best: Option<Fit<Clustering>> = None;
        for start in 0..STARTS {
            let seed = self.seed.derive("start", start);
            let kmeans = SeededKMeans::new(self.clusters).restarts(1).seed(seed);
            let found = kmeans.fit(features, &nothing, observer)?;
            let better = |best: &Fit<Clustering>| found.report.objective < best.report.objective;
            if best.as_ref().is_none_or(better) {
                best = Some(found);
            }
        }
        best.ok_or_else(|| Error::empty("no start of k-means"))
    }
}

/// Features over their deviations.
struct Standardized(MemoryBudget);

impl MetricLearner for Standardized {
    fn name(&self) -> &'static str {
        "standardized"
    }

    fn fit(
        &self,
        features: Features<'_>,
        _: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<LinearMap>> {
        let nothing = SideInformation::none(features.n_objects());
        let found = Rca::new().memory_budget(self.0).fit(features, &nothing, observer)?;
        Ok(Fit::new(found.output, Report::default()))
    }
}

/// ITML, with many features on their leading components.
struct OnComponents {
    /// From features to components; `None` where there are few features.
    components: Option<LinearMap>,
    budget: MemoryBudget,
}

impl OnComponents {
    fn of(problem: &Problem<'_>) -> Result<Self> {
        let (x, seed, budget) = (problem.x, problem.seed, problem.budget);
        if x.ncols() <= COMPONENTS {
            return Ok(OnComponents { components: None, budget });
        }
        let standard = Standardized(budget).learn(x.into(), &SideInformation::none(x.nrows()))?;
        let mut z = standard.apply(x)?;
        let mean = z.sum_axis(Axis(0)) / z.nrows() as f64;
        z -= &mean;
        let leading = TruncatedSvd::new(COMPONENTS).seed(seed).learn(&z)?;
        let mut map = leading.matrix();
        // Nothing was learned, so it is diagonal: no square of very many features.
        match standard.diagonal() {
            Some(factors) => map *= &factors,
            None => map = map.dot(&standard.matrix()),
        }
        Ok(OnComponents { components: Some(LinearMap::from_matrix(map)?), budget })
    }
}

impl MetricLearner for OnComponents {
    fn name(&self) -> &'static str {
        "itml"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<LinearMap>> {
        let learner = Itml::new().max_iterations(SWEEPS).memory_budget(self.budget);
        let Some(components) = &self.components else {
            return learner.fit(features, side, observer);
        };
        let y = components.apply(features)?;
        // Components have one unit, and their proportions say which matter.
        let learned = learner.standardize(false).fit((&y).into(), side, observer)?;
        let map = LinearMap::from_matrix(learned.output.matrix().dot(&components.matrix()))?;
        Ok(Fit::new(map, learned.report))
    }
}

/// MCCC with its bases made.
struct Completed {
    method: Mccc,
    basis: CompletionBasis,
    settled: Option<Settled>,
    /// Whether all links chose plain spectral clustering, which sees none.
    plain: bool,
}

/// What all links chose.
struct Settled {
    /// Basis and number of columns.
    method: Mccc,
    /// The weight of one link.
    weight: f64,
    links: f64,
}

impl Fitted for Completed {
    fn settle(&mut self, side: &SideInformation, observer: &dyn Observer) -> Result<()> {
        let found = self.method.fit_prepared(&self.basis, side, observer)?.output.similarity;
        self.plain = found.loss_weight().is_none();
        let chosen = (found.basis(), found.eigenvectors(), found.loss_weight());
        if let (Some(basis), Some(columns), Some(weight)) = chosen {
            // Clusters do not change below this tolerance.
            let method = self
                .method
                .clone()
                .basis(basis)
                .eigenvectors(columns)
                .tolerance(TRIAL_TOLERANCE)
                .restarts(TRIAL_STARTS);
            self.settled = Some(Settled { method, weight, links: links(side) });
        }
        Ok(())
    }

    fn fit(&self, side: &SideInformation, observer: &dyn Observer) -> Result<Fit<Clustering>> {
        let found = self.method.fit_prepared(&self.basis, side, observer)?;
        Ok(Fit::new(found.output.clustering, found.report))
    }

    fn labels(&self, side: &SideInformation, observer: &dyn Observer) -> Result<Partition> {
        let nothing = SideInformation::none(side.n_objects());
        let side = if self.plain { &nothing } else { side };
        let method = match &self.settled {
            // Fewer links, of which each counts more: as much in all.
            Some(Settled { method, weight, links: all }) => {
                let weight = weight * all / links(side).max(1.0);
                method.clone().loss_weight(LossWeight::Fixed(weight))
            }
            None => self.method.clone(),
        };
        Ok(method.fit_prepared(&self.basis, side, observer)?.output.clustering.partition)
    }
}

/// How many links MCCC sees.
fn links(side: &SideInformation) -> f64 {
    match side.stated() {
        Some(stated) => stated.len() as f64,
        None => side.n_must_links().saturating_add(side.n_cannot_links()) as f64,
    }
}

/// An ensemble, its embedding and the features beside it.
struct Followed<'a> {
    x: &'a Array2<f64>,
    generator: Generator,
    ensemble: Ensemble,
    metric: ConsensusMetric,
    /// Objects whose components were taken, where these were not all.
    sampled: Option<usize>,
}

impl<'a> Followed<'a> {
    fn open(problem: &Problem<'a>, observer: &dyn Observer) -> Result<Self> {
        let x = problem.x;
        let n = x.nrows();
        let most = most_clusters(n).max(problem.clusters).min(n);
        let generator = Generator::new(KMeans::new())
            .members(MEMBERS)
            .clusters(most.min(2)..=most)
            .feature_fraction(0.5)
            .seed(problem.seed)
            .memory_budget(problem.budget);
        let ensemble = generator.fit(x, observer)?.output;
        // Plain clustering is a candidate of its own, and the folds are outside.
        let rule =
            MetricRule::new(problem.clusters).folds(2).cross_validated(false).seed(problem.seed);
        // Links hold here as in every method that is compared.
        let rule = rule.links(LinkTrust::Hold);
        let mut metric = rule.open_within(&ensemble, problem.budget, observer)?;
        let beside = metric.lay_beside(&ensemble, x.into(), &Constraints::new(n)?, observer)?;
        Ok(Followed { x, generator, ensemble, metric, sampled: beside.sampled })
    }

    fn read(&self, side: &SideInformation, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let mut links = Constraints::new(side.n_objects())?;
        match side.stated() {
            Some(stated) => drop(links.extend(stated)?),
            None => {
                let (must, cannot) = side.links_up_to(MOST_LINKS);
                let pairs = |links: Vec<(usize, usize)>, link: Link| {
                    links.into_iter().map(move |(i, j)| Pair::new(i, j, link)).collect::<Vec<_>>()
                };
                links.extend(&pairs(must, Link::Must))?;
                links.extend(&pairs(cannot, Link::Cannot))?;
            }
        }
        let mut metric = self.metric.clone();
        metric.follow(&self.ensemble, &links.iter().collect::<Vec<_>>(), observer)?;
        metric.partition(&self.ensemble, &links, observer)
    }
}

impl Fitted for Followed<'_> {
    fn fit(&self, side: &SideInformation, observer: &dyn Observer) -> Result<Fit<Clustering>> {
        let mut found = self.read(side, observer)?;
        if side.stated().is_none() {
            side.tell_used(MOST_LINKS, "are followed, at even distances", &mut found.report);
        }
        if let Some(sampled) = self.sampled {
            found.report.notes.push(format!(
                "the updater's components are those of {sampled} of {} objects, at even distances",
                self.x.nrows()
            ));
        }
        let views = self.generator.views(self.x)?;
        let places = Prototypes::of_members(views, self.x.view(), &self.ensemble, observer)?;
        let model = ConsensusModel::new(self.ensemble.clone(), found.output, places)?;
        let partition = model.partition();
        // Every object has a label, since every member has one for it.
        let labels: Vec<u32> =
            partition.iter().map(|label| label.unwrap_or_default() as u32).collect();
        let clusters = partition.n_clusters();
        let clustering = Clustering::new(&labels, clusters, ByVotes(Arc::new(model)))?;
        Ok(Fit::new(clustering, found.report))
    }

    fn labels(&self, side: &SideInformation, observer: &dyn Observer) -> Result<Partition> {
        Ok(self.read(side, observer)?.output)
    }
}

/// New objects join the cluster that the members' clusters hold most of.
#[derive(Debug)]
struct ByVotes(Arc<ConsensusModel>);

impl Assign for ByVotes {
    fn n_features(&self) -> usize {
        self.0.n_features()
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        self.0.assign(features)
    }
}
