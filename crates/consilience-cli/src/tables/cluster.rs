//! `consilience cluster`: clusterers and metric learners.

use consilience::MemoryBudget;
use consilience::constrained::{
    Ccskl, CopKMeans, Fpc, MpckMeans, Nnc, PckMeans, Pmmc, SeededKMeans,
};
use consilience::core::ConstrainedClusterer;
use consilience::metric::{Dca, Itml, Lmnn, MetricLearner, Mmc, Rca, RsdDiagonal, RsdFull};
use consilience::model::LinkedClustering;

use super::Ask;
use crate::choices::{Choice, choice, count, flag, number, span, text};

type Made = Box<dyn ConstrainedClusterer>;
/// None leaves distances as they are.
pub(super) type Learner = Option<Box<dyn MetricLearner>>;

/// `--method`.
pub(crate) static METHODS: [Choice<Made, Ask>; 9] = [
    choice!("fpc", boxed, |ask: &Ask| Fpc::new(ask.clusters).seed(ask.seed),
        first: count => Fpc::first,
    ),
    choice!("nnc", boxed, |ask: &Ask| Nnc::new(ask.clusters)
        .seed(ask.seed)
        .memory_budget(ask.budget)),
    choice!("kmeans", boxed, |ask: &Ask| SeededKMeans::new(ask.clusters).seed(ask.seed),
        max_iterations: count => SeededKMeans::max_iterations,
    ),
    choice!("constrained-kmeans", boxed,
        |ask: &Ask| SeededKMeans::constrained(ask.clusters).seed(ask.seed),
        max_iterations: count => SeededKMeans::max_iterations,
    ),
    choice!("cop-kmeans", boxed, |ask: &Ask| CopKMeans::new(ask.clusters).seed(ask.seed),
        max_iterations: count => CopKMeans::max_iterations,
        search_limit: count => CopKMeans::search_limit,
    ),
    choice!("pck-means", boxed, |ask: &Ask| PckMeans::new(ask.clusters).seed(ask.seed),
        weight: number => PckMeans::weight,
        max_iterations: count => PckMeans::max_iterations,
    ),
    choice!("mpck-means", boxed,
        |ask: &Ask| MpckMeans::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        per_cluster: flag => MpckMeans::per_cluster,
        full: flag => MpckMeans::full,
        weight: number => MpckMeans::weight,
        prior: number => MpckMeans::prior,
        max_iterations: count => MpckMeans::max_iterations,
        max_pairs: count => MpckMeans::max_pairs,
    ),
    choice!("ccskl", boxed,
        |ask: &Ask| Ccskl::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        neighbours: count => Ccskl::neighbours,
        eigenvectors: count => Ccskl::eigenvectors,
        max_pairs: count => Ccskl::max_pairs,
        restarts: count => Ccskl::restarts,
    ),
    choice!("pmmc", boxed,
        |ask: &Ask| Pmmc::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        decay: number => Pmmc::decay,
        link_weight: number => Pmmc::link_weight,
        balance: number => Pmmc::balance,
        max_iterations: count => Pmmc::max_iterations,
        max_pairs: count => Pmmc::max_pairs,
    ),
];

/// `--method auto`.
pub(crate) static AUTO: [Choice<LinkedClustering, Ask>; 1] = [choice!(
    "auto", |method| method,
    |ask: &Ask| LinkedClustering::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
    candidates: text => |method: LinkedClustering, names: String| {
        method.only(&names.split(',').collect::<Vec<_>>())
    },
    folds: count => LinkedClustering::folds,
    least_links: count => LinkedClustering::least_links,
    caution: number => LinkedClustering::caution,
    sample: count => LinkedClustering::sample,
    cost_limit: number => LinkedClustering::cost_limit,
)];

/// Methods that take sparse features as they are.
pub(crate) const SPARSE: [&str; 2] = ["fpc", "nnc"];

/// What `--method consensus` makes its ensemble by, and combines it with.
pub(crate) struct Making {
    pub(crate) generator: String,
    pub(crate) members: usize,
    pub(crate) range: Option<String>,
    pub(crate) scale: String,
    pub(crate) feature_fraction: f64,
    pub(crate) object_fraction: f64,
    pub(crate) projection: Option<usize>,
    pub(crate) function: String,
}

impl Making {
    fn usual() -> Self {
        Making {
            generator: "kmeans".to_owned(),
            members: 20,
            range: None,
            scale: "none".to_owned(),
            feature_fraction: 1.0,
            object_fraction: 1.0,
            projection: None,
            function: "auto".to_owned(),
        }
    }
}

/// `--method consensus`.
pub(crate) static CONSENSUS: [Choice<Making>; 1] = [choice!(
    "consensus", |making| making, |&()| Making::usual(),
    generator: text => |making, generator| Making { generator, ..making },
    members: count => |making, members| Making { members, ..making },
    range: text => |making, range| Making { range: Some(range), ..making },
    scale: text => |making, scale| Making { scale, ..making },
    feature_fraction: number => |making, share| Making { feature_fraction: share, ..making },
    object_fraction: number => |making, share| Making { object_fraction: share, ..making },
    projection: count => |making, dimensions| Making { projection: Some(dimensions), ..making },
    function: text => |making, function| Making { function, ..making },
)];

/// `--metric`.
pub(crate) static METRICS: [Choice<Learner, MemoryBudget>; 8] = [
    choice!("euclidean", |()| None, |_: &MemoryBudget| ()),
    choice!("rsd-diagonal", learner,
        |&budget: &MemoryBudget| RsdDiagonal::new().memory_budget(budget),
        bound: number => RsdDiagonal::bound,
        max_iterations: count => RsdDiagonal::max_iterations,
    ),
    choice!("rsd-full", learner, |&budget: &MemoryBudget| RsdFull::new().memory_budget(budget),
        bound: number => RsdFull::bound,
        tolerance: number => RsdFull::tolerance,
        max_iterations: count => RsdFull::max_iterations,
    ),
    choice!("mmc", learner, |&budget: &MemoryBudget| Mmc::new().memory_budget(budget),
        diagonal: flag => Mmc::diagonal,
        shrinkage: number => Mmc::shrinkage,
        standardize: flag => Mmc::standardize,
        tolerance: number => Mmc::tolerance,
        max_iterations: count => Mmc::max_iterations,
        max_pairs: count => Mmc::max_pairs,
    ),
    choice!("itml", learner, |&budget: &MemoryBudget| Itml::new().memory_budget(budget),
        slack: number => Itml::slack,
        bounds: span => |itml: Itml, (near, far)| itml.bounds(near, far),
        quantiles: span => |itml: Itml, (near, far)| itml.quantiles(near, far),
        standardize: flag => Itml::standardize,
        tolerance: number => Itml::tolerance,
        max_iterations: count => Itml::max_iterations,
        max_pairs: count => Itml::max_pairs,
    ),
    choice!("rca", learner, |&budget: &MemoryBudget| Rca::new().memory_budget(budget),
        shrinkage: number => Rca::shrinkage,
        standardize: flag => Rca::standardize,
    ),
    choice!("dca", learner, |&budget: &MemoryBudget| Dca::new().memory_budget(budget),
        shrinkage: number => Dca::shrinkage,
        standardize: flag => Dca::standardize,
        dimensions: count => Dca::dimensions,
    ),
    choice!("lmnn", learner, |&budget: &MemoryBudget| Lmnn::new().memory_budget(budget),
        neighbours: count => Lmnn::neighbours,
        pull: number => Lmnn::pull,
        regularization: number => Lmnn::regularization,
        standardize: flag => Lmnn::standardize,
        tolerance: number => Lmnn::tolerance,
        max_iterations: count => Lmnn::max_iterations,
    ),
];

fn boxed<C: ConstrainedClusterer + 'static>(clusterer: C) -> Made {
    Box::new(clusterer)
}

fn learner<L: MetricLearner + 'static>(learner: L) -> Learner {
    Some(Box::new(learner))
}
