//! `consilience cluster`: clusterers and metric learners.

use consilience::MemoryBudget;
use consilience::constrained::{
    Ccskl, CopKMeans, Fpc, MpckMeans, Nnc, PckMeans, Pmmc, SeededKMeans,
};
use consilience::core::ConstrainedClusterer;
use consilience::metric::{Dca, Itml, Lmnn, MetricLearner, Mmc, Rca, RsdDiagonal, RsdFull};
use consilience::model::LinkedClustering;

use super::Ask;
use crate::choices::{Choice, Meaning, Params, choice, count, flag, number, span, text};
use crate::failure::Outcome;

type Made = Box<dyn ConstrainedClusterer>;
/// None leaves distances as they are.
pub(super) type Learner = Option<Box<dyn MetricLearner>>;

const BOUND: Meaning = [
    "largest mean squared distance of two random objects, in units of the farthest must-link",
    "100",
    "above 0",
];
const STANDARDIZE: Meaning = [
    "each feature is divided by its own deviation first, not all by one number",
    "true; false behind a truncated SVD (--svd, sparse features)",
    "true, false",
];
const STARTS: Meaning = [
    "starts where labels are of fewer classes than there are clusters; the best is kept",
    "10",
    "1 to 10000",
];
const ITERATIONS: Meaning = ["iterations at most", "100", "at least 1"];
const MAX_LINKS: Meaning =
    ["links of either kind at most; of more, as many at even distances", "20000", "at least 1"];
const MAX_PAIRS: Meaning =
    ["pairs of either kind at most; of more, as many at even distances", "20000", "at least 1"];

/// `--method`.
pub(crate) static METHODS: [Choice<Made, Ask>; 9] = [
    choice!("fpc",
        [
            "farthest-point clustering: the next centre is the object farthest from those so far",
            "Gonzalez, Theoretical Computer Science 38, 1985; Yang et al., 2015",
        ],
        boxed, |ask: &Ask| Fpc::new(ask.clusters).seed(ask.seed),
        first: count => Fpc::first;
            [
                "the object that is the first centre",
                "one drawn at random",
                "0 to the number of objects, less 1",
            ],
    ),
    choice!(
        "nnc",
        [
            "nearest neighbours: objects join the labelled set whose farthest member is nearest",
            "Yang et al., 2015",
        ],
        boxed,
        |ask: &Ask| Nnc::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget)
    ),
    choice!("kmeans",
        [
            "k-means, from the means of labelled sets where there are any",
            "Basu, Banerjee & Mooney, ICML 2002",
        ],
        boxed, |ask: &Ask| SeededKMeans::new(ask.clusters).seed(ask.seed),
        restarts: count => SeededKMeans::restarts; STARTS,
        max_iterations: count => SeededKMeans::max_iterations; ITERATIONS,
    ),
    choice!("constrained-kmeans",
        [
            "k-means that holds labelled objects in the clusters of their labels",
            "Basu, Banerjee & Mooney, ICML 2002",
        ],
        boxed,
        |ask: &Ask| SeededKMeans::constrained(ask.clusters).seed(ask.seed),
        restarts: count => SeededKMeans::restarts; STARTS,
        max_iterations: count => SeededKMeans::max_iterations; ITERATIONS,
    ),
    choice!("cop-kmeans",
        [
            "k-means that breaks no link",
            "Wagstaff, Cardie, Rogers & Schroedl, ICML 2001",
        ],
        boxed,
        |ask: &Ask| CopKMeans::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        max_iterations: count => CopKMeans::max_iterations; ITERATIONS,
        search_limit: count => CopKMeans::search_limit;
            ["steps of the search for a first assignment at most", "1000000", "at least 1"],
    ),
    choice!("pck-means",
        [
            "k-means with a price for each broken link",
            "Basu, Banerjee & Mooney, SDM 2004",
        ],
        boxed,
        |ask: &Ask| PckMeans::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        weight: number => PckMeans::weight;
            [
                "price of a violated link, in squared units of the features",
                "the mean squared distance of the objects to their mean",
                "at least 0",
            ],
        max_iterations: count => PckMeans::max_iterations; ITERATIONS,
    ),
    choice!("mpck-means",
        [
            "k-means with a price for each broken link, which learns a metric as well",
            "Bilenko, Basu & Mooney, ICML 2004",
        ],
        boxed,
        |ask: &Ask| MpckMeans::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        per_cluster: flag => MpckMeans::per_cluster;
            ["every cluster has a metric of its own", "false", "true, false"],
        full: flag => MpckMeans::full;
            ["metrics are full matrices, not one weight for each feature", "false", "true, false"],
        weight: number => MpckMeans::weight;
            ["price of a violated link, relative to its squared length", "1", "at least 0"],
        prior: number => MpckMeans::prior;
            [
                "how many objects the variances of all features count as in every metric",
                "10",
                "above 0",
            ],
        max_iterations: count => MpckMeans::max_iterations; ITERATIONS,
        max_pairs: count => MpckMeans::max_pairs; MAX_LINKS,
    ),
    choice!("ccskl",
        [
            "a kernel on eigenvectors of the neighbour graph, fitted to the links",
            "Li & Liu, ICCV 2009",
        ],
        boxed,
        |ask: &Ask| Ccskl::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        neighbours: count => Ccskl::neighbours;
            ["neighbours of an object in the graph", "20", "at least 1"],
        eigenvectors: count => Ccskl::eigenvectors;
            ["eigenvectors of the graph, raised to the number of clusters", "20", "at least 1"],
        max_pairs: count => Ccskl::max_pairs;
            [
                "links of either kind that the kernel is fitted to at most, at even distances",
                "100000",
                "at least 1",
            ],
        restarts: count => Ccskl::restarts;
            ["runs of the k-means on the eigenvectors", "10", "1 to 10000"],
    ),
    choice!("pmmc",
        [
            "clusters with large margins between them, and a price for each broken link",
            "Zeng & Cheung, IEEE TKDE 24(5), 2012",
        ],
        boxed,
        |ask: &Ask| Pmmc::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        decay: number => Pmmc::decay;
            ["how strongly scores are kept small", "0.01", "at least 0"],
        link_weight: number => Pmmc::link_weight;
            ["what all links together count beside all objects", "1", "at least 0"],
        balance: number => Pmmc::balance;
            ["largest difference between two offsets", "0.5", "at least 0"],
        max_iterations: count => Pmmc::max_iterations;
            ["iterations at most", "200", "at least 1"],
        max_pairs: count => Pmmc::max_pairs; MAX_LINKS,
    ),
];

/// `--method auto`.
pub(crate) static AUTO: [Choice<LinkedClustering, Ask>; 1] = [choice!("auto",
    [
        "of k-means, PCK-Means, MPCK-Means, ITML, MCCC and the updater, what foretells links best",
        "no paper: consilience::model::LinkedClustering describes it",
    ],
    |method| method,
    |ask: &Ask| LinkedClustering::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
    candidates: text => |method: LinkedClustering, names: String| {
        method.only(&names.split(',').collect::<Vec<_>>())
    };
        [
            "methods to choose among, with commas between; kmeans is in any case",
            "all of them",
            "kmeans-standardized, pck-means, mpck-means, itml, mccc, updater",
        ],
    folds: count => LinkedClustering::folds;
        ["parts of the linked objects, each left out once", "5", "2 to 1000"],
    least_links: count => LinkedClustering::least_links;
        [
            "with fewer links only the two kinds of kmeans are judged, which use none",
            "10",
            "at least 1",
        ],
    caution: number => LinkedClustering::caution;
        [
            "standard errors that are taken off the gain of a candidate over kmeans",
            "0.5",
            "at least 0",
        ],
    sample: count => LinkedClustering::sample;
        [
            "objects that candidates are judged on at most, all linked ones among them",
            "10000",
            "at least 1",
        ],
    cost_limit: number => LinkedClustering::cost_limit;
        ["multiplications of a candidate, with all its folds, at most", "1e12", "above 0"],
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
pub(crate) static CONSENSUS: [Choice<Making>; 1] = [choice!("consensus",
    [
        "members from the features, and the consensus of them; takes no links",
        "no paper: generate and consensus in one",
    ],
    |making| making, |&()| Making::usual(),
    generator: text => |making, generator| Making { generator, ..making };
        [
            "what makes the members; its own parameters are generator.NAME, see generate --list",
            "kmeans",
            "any --method of generate",
        ],
    members: count => |making, members| Making { members, ..making };
        ["number of base clusterings", "20", "1 to 1000000"],
    range: text => |making, range| Making { range: Some(range), ..making };
        [
            "number of clusters of a member, drawn from it",
            "2 to the root of the number of objects, to 50 at most, and to 10 or half of them \
             where they are fewer than 100; with --clusters K, K to 2 K where that would end below \
             2 K",
            "A..B",
        ],
    scale: text => |making, scale| Making { scale, ..making };
        [
            "how the features are scaled first; with --categorical the numbers alone, before \
             categories come beside them",
            "none",
            "none, minmax, zscore",
        ],
    feature_fraction: number => |making, share| Making { feature_fraction: share, ..making };
        ["share of the features that each member sees", "1", "above 0, at most 1"],
    object_fraction: number => |making, share| Making { object_fraction: share, ..making };
        ["share of the objects that each member labels", "1", "above 0, at most 1"],
    projection: count => |making, dimensions| Making { projection: Some(dimensions), ..making };
        [
            "dimensions of a random projection of what each member sees",
            "no projection",
            "at least 1",
        ],
    function: text => |making, function| Making { function, ..making };
        [
            "what combines them; its own parameters are function.NAME, see consensus --list",
            "auto",
            "any --method of consensus",
        ],
)];

/// `--metric`.
pub(crate) static METRICS: [Choice<Learner, MemoryBudget>; 8] = [
    choice!(
        "euclidean",
        ["distances as they are", "no paper: nothing is learned"],
        |()| None,
        |_: &MemoryBudget| ()
    ),
    choice!("rsd-diagonal",
        [
            "weights of features with the largest ratio of split to diameter of the links",
            "Yang et al., 2015",
        ],
        learner,
        |&budget: &MemoryBudget| RsdDiagonal::new().memory_budget(budget),
        bound: number => RsdDiagonal::bound; BOUND,
        max_iterations: count => RsdDiagonal::max_iterations;
            ["rounds in which pairs are generated at most", "10000", "at least 1"],
    ),
    choice!("rsd-full",
        [
            "a full matrix with the largest ratio of split to diameter of the links",
            "Yang et al., 2015",
        ],
        learner, |&budget: &MemoryBudget| RsdFull::new().memory_budget(budget),
        bound: number => RsdFull::bound; BOUND,
        tolerance: number => RsdFull::tolerance;
            ["gap between the scale and its upper bound at which to stop", "1e-6", "above 0"],
        max_iterations: count => RsdFull::max_iterations;
            ["centres of the barrier method at most, over all rounds", "2000", "at least 1"],
    ),
    choice!("mmc",
        [
            "must-links short in all, cannot-links as long as possible",
            "Xing, Ng, Jordan & Russell, NIPS 15, 2003",
        ],
        learner, |&budget: &MemoryBudget| Mmc::new().memory_budget(budget),
        diagonal: flag => Mmc::diagonal;
            ["one weight for each feature is learned, not a matrix", "false", "true, false"],
        shrinkage: number => Mmc::shrinkage;
            [
                "share of the identity in the scatter of must-links, of which at least 0.001 is \
                 taken",
                "0.1",
                "0 to 1",
            ],
        standardize: flag => Mmc::standardize; STANDARDIZE,
        tolerance: number => Mmc::tolerance;
            ["stops where at most this share of the objective is left to gain", "1e-3", "above 0"],
        max_iterations: count => Mmc::max_iterations;
            ["iterations at most", "1000", "at least 1"],
        max_pairs: count => Mmc::max_pairs; MAX_PAIRS,
    ),
    choice!("itml",
        [
            "as near to the Euclidean metric, by information, as bounds on the links allow",
            "Davis, Kulis, Jain, Sra & Dhillon, ICML 2007",
        ],
        learner, |&budget: &MemoryBudget| Itml::new().memory_budget(budget),
        slack: number => Itml::slack;
            ["how much a violated pair counts against the distance from the prior", "1", "above 0"],
        bounds: span => |itml: Itml, (near, far)| itml.bounds(near, far);
            [
                "squared distances that must-links stay below and cannot-links above",
                "the quantiles",
                "NEAR..FAR with 0 < NEAR < FAR",
            ],
        quantiles: quantiles => |itml: Itml, (near, far)| itml.quantiles(near, far);
            [
                "in place of bounds, quantiles of the squared distances among linked objects",
                "0.05..0.95",
                "NEAR..FAR with 0 <= NEAR < FAR <= 1",
            ],
        standardize: flag => Itml::standardize; STANDARDIZE,
        tolerance: number => Itml::tolerance;
            [
                "stops where a sweep changes the dual variables by at most this share of their sum",
                "1e-3",
                "above 0",
            ],
        max_iterations: count => Itml::max_iterations;
            ["sweeps over the pairs at most", "1000", "at least 1"],
        max_pairs: count => Itml::max_pairs; MAX_PAIRS,
    ),
    choice!("rca",
        [
            "whitens the scatter within linked sets",
            "Bar-Hillel, Hertz, Shental & Weinshall, JMLR 6, 2005",
        ],
        learner, |&budget: &MemoryBudget| Rca::new().memory_budget(budget),
        shrinkage: number => Rca::shrinkage;
            [
                "share of the identity, of which at least 0.001 is taken",
                "found from the data",
                "0 to 1",
            ],
        standardize: flag => Rca::standardize; STANDARDIZE,
    ),
    choice!("dca",
        [
            "directions in which linked sets differ most, against the scatter within them",
            "Hoi, Liu, Lyu & Ma, CVPR 2006",
        ],
        learner, |&budget: &MemoryBudget| Dca::new().memory_budget(budget),
        shrinkage: number => Dca::shrinkage;
            ["share of the identity in the scatter within sets", "found from the data", "0 to 1"],
        standardize: flag => Dca::standardize; STANDARDIZE,
        dimensions: count => Dca::dimensions;
            [
                "directions that are kept at most, those where sets differ most",
                "all of them",
                "at least 1",
            ],
    ),
    choice!("lmnn",
        [
            "neighbours of one set nearer than those of others, by a margin",
            "Weinberger & Saul, JMLR 10, 2009",
        ],
        learner, |&budget: &MemoryBudget| Lmnn::new().memory_budget(budget),
        neighbours: count => Lmnn::neighbours;
            ["targets of an object; of a smaller set, all there are", "3", "at least 1"],
        pull: number => Lmnn::pull;
            [
                "share of pulling targets closer, against pushing impostors away",
                "0.5",
                "0 to 1, both left out",
            ],
        regularization: number => Lmnn::regularization;
            ["how strongly the map is held at where it starts", "0", "at least 0"],
        standardize: flag => Lmnn::standardize; STANDARDIZE,
        tolerance: number => Lmnn::tolerance;
            [
                "stops where ten iterations lower the objective by no more than this share of it",
                "1e-4",
                "above 0",
            ],
        max_iterations: count => Lmnn::max_iterations;
            ["iterations at most", "500", "at least 1"],
    ),
];

/// The bounds by quantiles, where they are not given themselves.
fn quantiles(params: &Params<'_>, name: &str) -> Outcome<Option<(f64, f64)>> {
    let given = span(params, name)?;
    let both = given.is_some() && span(params, "bounds")?.is_some();
    ensure!(!both, "--param bounds and quantiles: expected one");
    Ok(given)
}

fn boxed<C: ConstrainedClusterer + 'static>(clusterer: C) -> Made {
    Box::new(clusterer)
}

fn learner<L: MetricLearner + 'static>(learner: L) -> Learner {
    Some(Box::new(learner))
}
