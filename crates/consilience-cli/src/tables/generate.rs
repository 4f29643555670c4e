//! `consilience generate`: base clusterers and scales.

use std::ops::RangeInclusive;

use consilience::core::{BaseClusterer, Named};
use consilience::generate::{
    Agglomerative, FuzzyCMeans, GaussianMixture, KMeans, KernelKMeans, MiniBatchKMeans, Missing,
    Rpcl, Scale, Spectral, SphericalKMeans, USpec,
};

use crate::choices::{Choice, Meaning, by_name, choice, count, flag, number, one_of};
use crate::failure::{Failure, Outcome};

type Made = Box<dyn BaseClusterer>;

const RESTARTS: Meaning = ["random starts, of which the best is kept", "1", "1 to 10000"];
const ITERATIONS: Meaning = ["iterations at most", "100", "at least 1"];
const OF_A_START: Meaning = ["iterations of a start at most", "100", "at least 1"];

/// `--method`.
pub(crate) static METHODS: [Choice<Made>; 10] = [
    choice!("kmeans",
        [
            "k-means: clusters about their means, from random starts",
            "Lloyd, IEEE Trans. Information Theory 28(2), 1982; Arthur & Vassilvitskii, SODA 2007",
        ],
        boxed, |_| KMeans::new(),
        restarts: count => KMeans::restarts; RESTARTS,
        max_iterations: count => KMeans::max_iterations; OF_A_START,
        tolerance: number => KMeans::tolerance;
            [
                "stops where the summed squared movement of the centres is at most this times \
                 the mean variance of the features",
                "1e-4",
                "at least 0",
            ],
    ),
    choice!("minibatch",
        [
            "k-means whose centres follow small samples; for very many objects",
            "Sculley, WWW 2010",
        ],
        boxed, |_| MiniBatchKMeans::new(),
        batch: count => MiniBatchKMeans::batch;
            ["objects of a batch", "1024", "at least 1"],
        batches: count => MiniBatchKMeans::batches;
            ["how many batches", "100", "1 to 1000000"],
    ),
    choice!("spherical-kmeans",
        [
            "k-means by directions; for texts and other counts",
            "Dhillon & Modha, Machine Learning 42, 2001",
        ],
        boxed, |_| SphericalKMeans::new(),
        restarts: count => SphericalKMeans::restarts; RESTARTS,
        max_iterations: count => SphericalKMeans::max_iterations; OF_A_START,
        tolerance: number => SphericalKMeans::tolerance;
            ["as of kmeans, of features at length 1", "1e-4", "at least 0"],
    ),
    choice!("kernel-kmeans",
        [
            "k-means under a Gaussian kernel, with centres in the span of landmarks",
            "Chitta, Jin, Havens & Jain, KDD 2011",
        ],
        boxed, |_| KernelKMeans::new(),
        landmarks: count => KernelKMeans::landmarks;
            [
                "objects that stand for all, raised to twice the number of clusters",
                "100",
                "at least 1",
            ],
        width: number => KernelKMeans::width;
            ["kernel width, as a multiple of the median squared distance", "1", "above 0"],
        restarts: count => KernelKMeans::restarts; RESTARTS,
    ),
    choice!("rpcl",
        [
            "competitive learning that drives spare units away: K clusters or fewer",
            "Xu, Krzyzak & Oja, IEEE Trans. Neural Networks 4(4), 1993",
        ],
        boxed, |_| Rpcl::new(),
        learning_rate: number => Rpcl::learning_rate;
            ["first rate at which the winner moves", "0.05", "above 0, at most 1"],
        penalty_rate: number => Rpcl::penalty_rate;
            [
                "first rate at which the rival is pushed away",
                "0.002",
                "at least 0, below learning_rate",
            ],
        presentations: count => Rpcl::presentations;
            [
                "how many objects are presented, drawn with repetition",
                "50 for each object, at most 100000",
                "1 to 1e9",
            ],
        random_start: flag => Rpcl::random_start;
            [
                "units start at objects drawn at random, as published, not by k-means++",
                "false",
                "true, false",
            ],
    ),
    choice!("gaussian-mixture",
        [
            "Gaussians with diagonal covariances, by expectation and maximisation",
            "Dempster, Laird & Rubin, JRSS B 39, 1977",
        ],
        boxed, |_| GaussianMixture::new(),
        max_iterations: count => GaussianMixture::max_iterations; ITERATIONS,
        tolerance: number => GaussianMixture::tolerance;
            [
                "stops where the mean log-likelihood of an object rises by less",
                "1e-4",
                "at least 0",
            ],
        variance_floor: number => GaussianMixture::variance_floor;
            [
                "added to every variance, as a share of the mean variance of the features",
                "1e-4",
                "above 0",
            ],
    ),
    choice!("fuzzy-c-means",
        [
            "k-means in which objects belong to all clusters, more to the near ones",
            "Bezdek, 1981",
        ],
        boxed, |_| FuzzyCMeans::new(),
        fuzzifier: number => FuzzyCMeans::fuzzifier;
            ["memberships are the softer the larger it is", "2", "above 1, at most 100"],
        max_iterations: count => FuzzyCMeans::max_iterations; ITERATIONS,
        tolerance: number => FuzzyCMeans::tolerance;
            ["stops where the objective falls by less than this share of it", "1e-4", "at least 0"],
    ),
    choice!("spectral",
        [
            "k-means on eigenvectors of the similarities; for rings, arcs and bands",
            "Ng, Jordan & Weiss, NIPS 2001; Zelnik-Manor & Perona, 2004; Chen & Cai, AAAI 2011",
        ],
        boxed, |_| Spectral::new(),
        neighbours: count => Spectral::neighbours;
            ["the neighbour whose distance is the scale of an object", "7", "at least 1"],
        nearest: count => Spectral::nearest;
            [
                "nearest objects whose similarities are used, 0: all or landmarks'",
                "0",
                "at least 0",
            ],
        landmarks: count => Spectral::landmarks;
            [
                "objects that stand for all, of more distinct ones than exact_objects",
                "300",
                "at least 1",
            ],
        exact_objects: count => Spectral::exact_objects;
            [
                "distinct objects up to which all similarities are used; time grows with the cube",
                "1000",
                "at least 1",
            ],
        restarts: count => Spectral::restarts;
            ["runs of the k-means on the eigenvectors", "5", "1 to 10000"],
    ),
    choice!("agglomerative",
        [
            "joins the two nearest clusters until K are left",
            "Muellner, 2011",
        ],
        boxed, |_| Agglomerative::default(),
        linkage: by_name => |_, linkage| Agglomerative::new(linkage);
            ["how clusters merge", "average", "single, average, complete, ward, centroid, median"],
    ),
    choice!("uspec",
        [
            "spectral clustering by representatives, in linear time",
            "Huang, Wang, Wu, Lai & Kwoh, IEEE TKDE 32(6), 2020",
        ],
        boxed, |_| USpec::new(),
        representatives: count => USpec::representatives;
            [
                "representatives at most; lowered to a tenth of the objects, but not below 50",
                "1000",
                "1 to 65536",
            ],
        neighbours: count => USpec::neighbours;
            ["nearest representatives that describe an object", "5", "at least 1"],
        regularization: number => USpec::regularization;
            [
                "weight of a link between every two representatives, all together as a share of \
                 their mean row sum",
                "0.01",
                "at least 0; 0 as published",
            ],
        restarts: count => USpec::restarts;
            ["runs of the k-means on the eigenvectors", "3", "1 to 10000"],
    ),
];

/// Methods that take sparse features as they are.
pub(crate) const SPARSE: [&str; 5] =
    ["kmeans", "minibatch", "spherical-kmeans", "kernel-kmeans", "uspec"];

/// Methods whose members may be memberships.
pub(crate) const SOFT: [&str; 2] = ["gaussian-mixture", "fuzzy-c-means"];

fn boxed<C: BaseClusterer + 'static>(clusterer: C) -> Made {
    Box::new(clusterer)
}

/// `--scale`.
pub(crate) fn scale(name: &str) -> Outcome<Scale> {
    one_of("--scale", name, Scale::NAMES)
}

/// `--missing`; only members of an ensemble can leave objects out.
pub(crate) fn missing(name: &str, by_member: bool) -> Outcome<Missing> {
    let known = if by_member { 5 } else { 4 };
    one_of("--missing", name, &Missing::NAMES[..known])
}

/// `2..50` or `2..=50`, both ends included, or a single number.
pub(crate) fn cluster_range(option: &str, text: &str) -> Outcome<RangeInclusive<usize>> {
    let (low, high) = match text.split_once("..") {
        Some((low, high)) => (low, high.strip_prefix('=').unwrap_or(high)),
        None => (text, text),
    };
    match (low.trim().parse(), high.trim().parse()) {
        (Ok(low), Ok(high)) if low <= high => Ok(low..=high),
        _ => Err(Failure::Bad(format!(
            "{option} {text}: expected a range such as 2..50, or one number"
        ))),
    }
}
