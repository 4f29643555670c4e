//! `consilience crowd`: methods over answers.

use consilience::crowd::{BlockModel, CrowdClustering, CrowdMethod, PenaltyChoice, PositionModel};
use consilience::{Clusters, MemoryBudget, Seed};

use crate::args::Count;
use crate::choices::{Choice, Meaning, Param, Params, choice, count, flag, number};
use crate::failure::{Failure, Outcome};
use crate::memory;

/// What the user asks of a method beside its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Ask {
    clusters: Clusters,
    seed: Seed,
    budget: MemoryBudget,
}

impl Ask {
    /// So many clusters, or as many as the answers ask for, in as much memory as there is.
    pub(crate) fn new(clusters: Count, seed: u64) -> Self {
        let clusters = match clusters {
            Count::Fixed(k) => Clusters::Fixed(k),
            Count::Auto => Clusters::Auto,
        };
        Ask { clusters, seed: Seed(seed), budget: memory::budget() }
    }
}

pub(super) const SHARED: Meaning = [
    "with answers by keyword: two objects are the same that share so many of them",
    "1",
    "at least 1",
];
const ALTERNATIVE: Meaning =
    ["looks for workers who group by another criterion", "true", "true, false"];
pub(super) const APART: Meaning = [
    "pairs that at most this share of answers calls the same are known to be apart",
    "0",
    "at least 0, below d1",
];
pub(super) const TOGETHER: Meaning = [
    "pairs that at least this share of answers calls the same are known to be together",
    "0.9",
    "above d0, at most 1",
];
const ERROR_WEIGHT: Meaning = ["weight of the errors", "found by the rule penalty", "above 0"];
const PENALTY: Meaning =
    ["the rule that finds c where it is not given", "recovery", "recovery, held-out, balance"];
const RESTARTS: Meaning = ["random starts, of which the best is kept", "12", "1 to 10000"];
const PSEUDO_COUNT: Meaning = [
    "answers of the crowd that are added to a worker's own before rates are computed",
    "20",
    "at least 1e-6",
];
const RATES_BY_CLUSTER: Meaning =
    ["clusters differ in how readily their objects are called the same", "true", "true, false"];
const TOLERANCE: Meaning = ["stops where no membership changes by more", "1e-4", "above 0"];
const MAX_ITERATIONS: Meaning = ["iterations of a start at most", "300", "at least 1"];

/// `--method`. `shared` is a parameter of the answers, not of the method: with keywords two objects
/// are the same that share so many of them.
pub(crate) static METHODS: [Choice<Crowd, Ask>; 10] = [
    choice!("auto", Crowd::made, |ask: &Ask| Crowd::new(CrowdMethod::Auto, ask),
        shared: count => Crowd::shared; SHARED,
        alternative | second_answer: flag => Crowd::alternative; ALTERNATIVE,
    ),
    choice!("block", Crowd::made, |ask: &Ask| Crowd::new(CrowdMethod::Block, ask),
        shared: count => Crowd::shared; SHARED,
        alternative | second_answer: flag => Crowd::alternative; ALTERNATIVE,
        restarts: count => |crowd: Crowd, n| crowd.with_model(|model| model.restarts(n)); RESTARTS,
        pseudo_count: number => |crowd: Crowd, x| crowd.with_model(|model| model.pseudo_count(x));
            PSEUDO_COUNT,
        rates_by_cluster: flag => |crowd: Crowd, x| {
            crowd.with_model(|model| model.rates_by_cluster(x))
        }; RATES_BY_CLUSTER,
        rates_between_clusters: flag => |crowd: Crowd, x| {
            crowd.with_model(|model| model.rates_between_clusters(x))
        };
            ["pairs of clusters differ in how readily they are confused", "true", "true, false"],
        tolerance: number => |crowd: Crowd, x| crowd.with_model(|model| model.tolerance(x));
            TOLERANCE,
        max_iterations: count => |crowd: Crowd, n| {
            crowd.with_model(|model| model.max_iterations(n))
        }; MAX_ITERATIONS,
    ),
    choice!("block-by-worker", Crowd::made, |ask: &Ask| Crowd::new(CrowdMethod::BlockByWorker, ask),
        shared: count => Crowd::shared; SHARED,
        alternative | second_answer: flag => Crowd::alternative; ALTERNATIVE,
        restarts: count => |crowd: Crowd, n| crowd.with_model(|model| model.restarts(n)); RESTARTS,
        pseudo_count: number => |crowd: Crowd, x| crowd.with_model(|model| model.pseudo_count(x));
            PSEUDO_COUNT,
        rates_by_cluster: flag => |crowd: Crowd, x| {
            crowd.with_model(|model| model.rates_by_cluster(x))
        }; RATES_BY_CLUSTER,
        tolerance: number => |crowd: Crowd, x| crowd.with_model(|model| model.tolerance(x));
            TOLERANCE,
        max_iterations: count => |crowd: Crowd, n| {
            crowd.with_model(|model| model.max_iterations(n))
        }; MAX_ITERATIONS,
    ),
    choice!("latent-class", Crowd::made, |ask: &Ask| Crowd::new(CrowdMethod::LatentClass, ask),
        shared: count => Crowd::shared; SHARED,
        alternative | second_answer: flag => Crowd::alternative; ALTERNATIVE,
        restarts: count => |crowd: Crowd, n| crowd.with_model(|model| model.restarts(n)); RESTARTS,
        tolerance: number => |crowd: Crowd, x| crowd.with_model(|model| model.tolerance(x));
            TOLERANCE,
        max_iterations: count => |crowd: Crowd, n| {
            crowd.with_model(|model| model.max_iterations(n))
        }; MAX_ITERATIONS,
    ),
    choice!("bayesian", Crowd::made, |ask: &Ask| Crowd::new(CrowdMethod::Bayesian, ask),
        shared: count => Crowd::shared; SHARED,
        alternative | second_answer: flag => Crowd::alternative; ALTERNATIVE,
        dimensions: count => |crowd: Crowd, n| crowd.with_positions(|model| model.dimensions(n));
            ["dimensions of the positions", "4", "1 to 16"],
        components: count => |crowd: Crowd, n| crowd.with_positions(|model| model.components(n));
            ["components of the mixture at most; only with --clusters auto", "20", "1 to 1000"],
        restarts: count => |crowd: Crowd, n| crowd.with_positions(|model| model.restarts(n));
            [
                "starts; with --clusters auto a third of them, rounded up, for the number of \
                 clusters that the search ends with, one fewer and one more, up to 100,000 pair \
                 answers",
                "6",
                "1 to 10000",
            ],
        tolerance: number => |crowd: Crowd, x| crowd.with_positions(|model| model.tolerance(x));
            ["stops where no membership changes by more", "1e-3", "above 0"],
        max_iterations: count => |crowd: Crowd, n| {
            crowd.with_positions(|model| model.max_iterations(n))
        };
            ["rounds of a start at most", "200", "at least 1"],
    ),
    Choice {
        name: "rmc",
        params: &[
            Param { names: &["shared"], meaning: SHARED },
            Param { names: &["c", "error_weight"], meaning: ERROR_WEIGHT },
            Param { names: &["d0", "apart_below"], meaning: APART },
            Param { names: &["d1", "together_above"], meaning: TOGETHER },
            Param { names: &["penalty"], meaning: PENALTY },
            Param { names: &["alternative", "second_answer"], meaning: ALTERNATIVE },
        ],
        make: completion,
    },
    choice!("log-odds", Crowd::made, |ask: &Ask| Crowd::new(CrowdMethod::LogOdds, ask),
        shared: count => Crowd::shared; SHARED,
        alternative | second_answer: flag => Crowd::alternative; ALTERNATIVE,
    ),
    choice!("spectral", Crowd::made, |ask: &Ask| Crowd::new(CrowdMethod::Spectral, ask),
        shared: count => Crowd::shared; SHARED,
        alternative | second_answer: flag => Crowd::alternative; ALTERNATIVE,
    ),
    choice!("dawid-skene", Crowd::made, |ask: &Ask| Crowd::new(CrowdMethod::DawidSkene, ask),
        shared: count => Crowd::shared; SHARED,
        alternative | second_answer: flag => Crowd::alternative; ALTERNATIVE,
    ),
    choice!("pairs", Crowd::made, |ask: &Ask| Crowd::new(CrowdMethod::Pairs, ask),
        shared: count => Crowd::shared; SHARED,
        alternative | second_answer: flag => Crowd::alternative; ALTERNATIVE,
    ),
];

/// A method over answers, and how answers by keyword are read.
pub(crate) struct Crowd {
    pub(crate) clustering: CrowdClustering,
    pub(crate) shared: usize,
    model: BlockModel,
    positions: PositionModel,
}

impl Crowd {
    fn new(method: CrowdMethod, ask: &Ask) -> Self {
        Crowd {
            clustering: CrowdClustering::new(ask.clusters)
                .method(method)
                .seed(ask.seed)
                .memory_budget(ask.budget),
            shared: 1,
            // The number of clusters is the clustering's.
            model: BlockModel::new(1),
            positions: PositionModel::new(ask.clusters),
        }
    }

    fn shared(mut self, shared: usize) -> Self {
        self.shared = shared;
        self
    }

    fn alternative(mut self, look: bool) -> Self {
        self.clustering = self.clustering.alternative(look);
        self
    }

    fn with_model(mut self, set: impl FnOnce(BlockModel) -> BlockModel) -> Self {
        self.model = set(self.model);
        self
    }

    fn with_positions(mut self, set: impl FnOnce(PositionModel) -> PositionModel) -> Self {
        self.positions = set(self.positions);
        self
    }

    fn made(mut self) -> Self {
        self.clustering = self.clustering.block_model(self.model).position_model(self.positions);
        self
    }
}

/// Robust matrix completion: `c` is the factor of the errors' weight, or `penalty` a rule that
/// finds it; `d0` and `d1` are the shares of answers up to which pairs are apart, from which they
/// are together.
fn completion(ask: &Ask, params: &Params<'_>) -> Outcome<Crowd> {
    let mut crowd = Crowd::new(CrowdMethod::Rmc, ask);
    if let Some(shared) = params.count("shared")? {
        crowd = crowd.shared(shared);
    }
    if let Some(look) = flag(params, "alternative")? {
        crowd = crowd.alternative(look);
    }
    if let Some(penalty) = penalty(params, "penalty")? {
        crowd.clustering = crowd.clustering.penalty(penalty);
    }
    if let (d0, d1) = (params.number("d0")?, params.number("d1")?)
        && (d0.is_some() || d1.is_some())
    {
        crowd.clustering = crowd.clustering.thresholds(d0.unwrap_or(0.0), d1.unwrap_or(0.9));
    }
    Ok(crowd)
}

/// How the weight of the errors is found: the factor `c`, or the rule of that name.
pub(crate) fn penalty(params: &Params<'_>, name: &str) -> Outcome<Option<PenaltyChoice>> {
    let rules = [
        ("recovery", PenaltyChoice::Recovery),
        ("held-out", PenaltyChoice::HeldOut),
        ("balance", PenaltyChoice::Balance),
    ];
    match (params.number("c")?, params.one_of(name, &rules)?) {
        (Some(_), Some(_)) => {
            Err(Failure::bad(format!("--param c and {name}: a factor and a rule; expected one")))
        }
        (Some(c), None) => Ok(Some(PenaltyChoice::Factor(c))),
        (None, rule) => Ok(rule),
    }
}
