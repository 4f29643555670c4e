//! `consilience cluster`: clusterers and metric learners.

use consilience::{
    Ccskl, ConstrainedClusterer, CopKMeans, Dca, Fpc, Itml, Lmnn, MetricLearner, Mmc, MpckMeans,
    Nnc, PckMeans, Pmmc, Rca, RsdDiagonal, RsdFull, SeededKMeans,
};

use super::Ask;
use crate::choices::{Choice, choice, count, flag, number};

type Made = Box<dyn ConstrainedClusterer>;
/// None leaves distances as they are.
type Learner = Option<Box<dyn MetricLearner>>;

/// `--method`.
pub(crate) static METHODS: [Choice<Made, Ask>; 8] = [
    choice!("fpc", boxed, |_: &Ask| Fpc::new(),
        first: count => Fpc::first,
    ),
    choice!("nnc", boxed, |_: &Ask| Nnc::new()),
    choice!("kmeans", boxed, |_: &Ask| SeededKMeans::new(),
        max_iterations: count => SeededKMeans::max_iterations,
    ),
    choice!("cop-kmeans", boxed, |_: &Ask| CopKMeans::new(),
        max_iterations: count => CopKMeans::max_iterations,
        search_limit: count => CopKMeans::search_limit,
    ),
    choice!("pck-means", boxed, |_: &Ask| PckMeans::new(),
        weight: number => PckMeans::weight,
        max_iterations: count => PckMeans::max_iterations,
    ),
    choice!("mpck-means", boxed, |_: &Ask| MpckMeans::new(),
        per_cluster: flag => MpckMeans::per_cluster,
        full: flag => MpckMeans::full,
        weight: number => MpckMeans::weight,
        prior: number => MpckMeans::prior,
        max_iterations: count => MpckMeans::max_iterations,
        max_pairs: count => MpckMeans::max_pairs,
    ),
    choice!("ccskl", boxed, |_: &Ask| Ccskl::new(),
        neighbours: count => Ccskl::neighbours,
        eigenvectors: count => Ccskl::eigenvectors,
        restarts: count => Ccskl::restarts,
    ),
    choice!("pmmc", boxed, |_: &Ask| Pmmc::new(),
        decay: number => Pmmc::decay,
        link_weight: number => Pmmc::link_weight,
        balance: number => Pmmc::balance,
        max_iterations: count => Pmmc::max_iterations,
    ),
];

/// `--metric`.
pub(crate) static METRICS: [Choice<Learner>; 8] = [
    choice!("euclidean", |()| None, |_| ()),
    choice!("rsd-diagonal", learner, |_| RsdDiagonal::new(),
        bound: number => RsdDiagonal::bound,
        max_rounds: count => RsdDiagonal::max_rounds,
    ),
    choice!("rsd-full", learner, |_| RsdFull::new(),
        bound: number => RsdFull::bound,
        tolerance: number => RsdFull::tolerance,
        max_iterations: count => RsdFull::max_iterations,
    ),
    choice!("mmc", learner, |_| Mmc::new(),
        diagonal: flag => Mmc::diagonal,
        shrinkage: number => Mmc::shrinkage,
        standardize: flag => Mmc::standardize,
        tolerance: number => Mmc::tolerance,
        max_iterations: count => Mmc::max_iterations,
        max_pairs: count => Mmc::max_pairs,
    ),
    choice!("itml", learner, |_| Itml::new(),
        slack: number => Itml::slack,
        standardize: flag => Itml::standardize,
        tolerance: number => Itml::tolerance,
        max_iterations: count => Itml::max_iterations,
        max_pairs: count => Itml::max_pairs,
    ),
    choice!("rca", learner, |_| Rca::new(),
        shrinkage: number => Rca::shrinkage,
        standardize: flag => Rca::standardize,
    ),
    choice!("dca", learner, |_| Dca::new(),
        shrinkage: number => Dca::shrinkage,
        standardize: flag => Dca::standardize,
        dimensions: count => Dca::dimensions,
    ),
    choice!("lmnn", learner, |_| Lmnn::new(),
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
