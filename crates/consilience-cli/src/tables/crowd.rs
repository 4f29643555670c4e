//! `consilience crowd`: methods over answers.

use consilience::Clusters;
use consilience::crowd::{BlockModel, CrowdClustering, CrowdMethod, PenaltyChoice, PositionModel};

use super::Ask;
use crate::choices::{Choice, Meaning, Param, Params, choice, count, flag, number};
use crate::failure::{Failure, Outcome};

pub(super) const SHARED: Meaning = [
    "with answers by keyword: two objects are the same that share so many of them",
    "1",
    "at least 1",
];
const ALTERNATIVE: Meaning =
    ["looks for workers who group by another criterion", "true", "true, false"];
const COPIES: Meaning = [
    "of workers who gave the same answers to the same questions, as copies do, one is counted",
    "false",
    "true, false",
];
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

/// A row: a method with the parameters that all take, and its own.
macro_rules! crowd {
    ($name:literal, $source:expr, $method:ident $($own:tt)*) => {
        choice!(
            $name, $source, Crowd::made,
            |ask: &Ask<Clusters>| Crowd::new(CrowdMethod::$method, ask),
            shared: count => Crowd::shared; SHARED,
            copies_once: flag => Crowd::copies_once; COPIES,
            alternative | second_answer: flag => Crowd::alternative; ALTERNATIVE
            $($own)*
        )
    };
}

/// `--method`. `shared` is a parameter of the answers, not of the method: with keywords two objects
/// are the same that share so many of them.
pub(crate) static METHODS: [Choice<Crowd, Ask<Clusters>>; 11] = [
    crowd!(
        "auto",
        [
            "a block model, planted partitions or pairs, by what explains the answers best",
            "no paper: consilience::crowd::CrowdMethod describes it",
        ],
        Auto
    ),
    crowd!("block",
        [
            "clusters, and rates of each worker",
            "no paper: consilience::crowd::BlockModel describes it",
        ],
        Block,
        restarts: count => model(BlockModel::restarts); RESTARTS,
        pseudo_count: number => model(BlockModel::pseudo_count); PSEUDO_COUNT,
        rates_by_cluster: flag => model(BlockModel::rates_by_cluster); RATES_BY_CLUSTER,
        rates_between_clusters: flag => model(BlockModel::rates_between_clusters);
            ["pairs of clusters differ in how readily they are confused", "true", "true, false"],
        tolerance: number => model(BlockModel::tolerance); TOLERANCE,
        max_iterations: count => model(BlockModel::max_iterations); MAX_ITERATIONS,
    ),
    crowd!("block-by-worker",
        [
            "clusters that every worker confuses in their own way",
            "no paper: consilience::crowd::CrowdMethod describes it",
        ],
        BlockByWorker,
        restarts: count => model(BlockModel::restarts); RESTARTS,
        pseudo_count: number => model(BlockModel::pseudo_count); PSEUDO_COUNT,
        rates_by_cluster: flag => model(BlockModel::rates_by_cluster); RATES_BY_CLUSTER,
        tolerance: number => model(BlockModel::tolerance); TOLERANCE,
        max_iterations: count => model(BlockModel::max_iterations); MAX_ITERATIONS,
    ),
    crowd!("latent-class",
        [
            "in each task a cluster goes to its groups with probabilities of its own",
            "no paper: consilience::crowd::CrowdMethod describes it",
        ],
        LatentClass,
        restarts: count => model(BlockModel::restarts); RESTARTS,
        tolerance: number => model(BlockModel::tolerance); TOLERANCE,
        max_iterations: count => model(BlockModel::max_iterations); MAX_ITERATIONS,
    ),
    crowd!("bayesian",
        [
            "objects have positions, which every worker compares in their own way",
            "Gomes, Welinder, Krause & Perona, NIPS 2011",
        ],
        Bayesian,
        dimensions: count => positions(PositionModel::dimensions);
            ["dimensions of the positions", "4", "1 to 16"],
        components: count => positions(PositionModel::components);
            ["components of the mixture at most; only with --clusters auto", "20", "1 to 1000"],
        restarts: count => positions(PositionModel::restarts);
            [
                "starts; with --clusters auto a third of them, rounded up, for the number of \
                 clusters that the search ends with, one fewer and one more, up to 100,000 pair \
                 answers",
                "6",
                "1 to 10000",
            ],
        tolerance: number => positions(PositionModel::tolerance);
            ["stops where no membership changes by more", "1e-3", "above 0"],
        max_iterations: count => positions(PositionModel::max_iterations);
            ["rounds of a start at most", "200", "at least 1"],
    ),
    Choice {
        name: "rmc",
        source: [
            "robust completion of the pairs that the crowd agrees on",
            "Yi, PhD thesis, Michigan State University, 2014, Chapter 3",
        ],
        params: &[
            Param { names: &["shared"], meaning: SHARED },
            Param { names: &["copies_once"], meaning: COPIES },
            Param { names: &["c", "error_weight"], meaning: ERROR_WEIGHT },
            Param { names: &["d0", "apart_below"], meaning: APART },
            Param { names: &["d1", "together_above"], meaning: TOGETHER },
            Param { names: &["penalty"], meaning: PENALTY },
            Param { names: &["alternative", "second_answer"], meaning: ALTERNATIVE },
        ],
        make: completion,
    },
    crowd!(
        "log-odds",
        [
            "eigenvectors of the log-odds that the block model gives each pair",
            "no paper: consilience::crowd::CrowdMethod describes it",
        ],
        LogOdds
    ),
    crowd!(
        "spectral",
        [
            "eigenvectors of the mean answers",
            "no paper: consilience::crowd::CrowdMethod describes it",
        ],
        Spectral
    ),
    crowd!(
        "dawid-skene",
        [
            "pairs as items with two truths, then eigenvectors",
            "Dawid & Skene, Applied Statistics 28(1), 1979",
        ],
        DawidSkene
    ),
    crowd!(
        "pairs",
        [
            "log-odds of pairs, merged greedily; for many small clusters",
            "merging of Keuper et al., ICCV 2015, unanswered pairs otherwise",
        ],
        Pairs
    ),
    crowd!(
        "planted-partition",
        [
            "the most probable partition under one rate inside and one between",
            "Zhang & Peixoto, 2020, with rates integrated out otherwise",
        ],
        PlantedPartition
    ),
];

/// A method over answers, and how answers by keyword are read.
pub(crate) struct Crowd {
    pub(crate) clustering: CrowdClustering,
    pub(crate) shared: usize,
    /// Whether of workers who gave the same answers one is counted.
    pub(crate) copies_once: bool,
    model: BlockModel,
    positions: PositionModel,
}

impl Crowd {
    fn new(method: CrowdMethod, ask: &Ask<Clusters>) -> Self {
        Crowd {
            clustering: CrowdClustering::new(ask.clusters)
                .method(method)
                .seed(ask.seed)
                .memory_budget(ask.budget),
            shared: 1,
            copies_once: false,
            // The number of clusters is the clustering's.
            model: BlockModel::new(1),
            positions: PositionModel::new(ask.clusters),
        }
    }

    fn shared(mut self, shared: usize) -> Self {
        self.shared = shared;
        self
    }

    fn copies_once(mut self, once: bool) -> Self {
        self.copies_once = once;
        self
    }

    fn alternative(mut self, look: bool) -> Self {
        self.clustering = self.clustering.alternative(look);
        self
    }

    fn made(mut self) -> Self {
        self.clustering = self.clustering.block_model(self.model).position_model(self.positions);
        self
    }
}

/// Sets something of the block models.
fn model<T>(set: fn(BlockModel, T) -> BlockModel) -> impl Fn(Crowd, T) -> Crowd {
    move |crowd, value| Crowd { model: set(crowd.model, value), ..crowd }
}

/// Sets something of the model of positions.
fn positions<T>(set: fn(PositionModel, T) -> PositionModel) -> impl Fn(Crowd, T) -> Crowd {
    move |crowd, value| Crowd { positions: set(crowd.positions, value), ..crowd }
}

/// Robust matrix completion: `c` is the factor of the errors' weight, or `penalty` a rule that
/// finds it; `d0` and `d1` are the shares of answers up to which pairs are apart, from which they
/// are together.
fn completion(ask: &Ask<Clusters>, params: &Params<'_>) -> Outcome<Crowd> {
    let mut crowd = Crowd::new(CrowdMethod::Rmc, ask);
    if let Some(shared) = count(params, "shared")? {
        crowd = crowd.shared(shared);
    }
    if let Some(once) = flag(params, "copies_once")? {
        crowd = crowd.copies_once(once);
    }
    if let Some(look) = flag(params, "alternative")? {
        crowd = crowd.alternative(look);
    }
    if let Some(penalty) = penalty(params, "penalty")? {
        crowd.clustering = crowd.clustering.penalty(penalty);
    }
    if let (d0, d1) = (number(params, "d0")?, number(params, "d1")?)
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
    match (number(params, "c")?, params.one_of(name, &rules)?) {
        (Some(_), Some(_)) => {
            Err(Failure::bad(format!("--param c and {name}: a factor and a rule; expected one")))
        }
        (Some(c), None) => Ok(Some(PenaltyChoice::Factor(c))),
        (None, rule) => Ok(rule),
    }
}
