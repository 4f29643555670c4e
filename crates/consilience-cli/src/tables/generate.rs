//! `consilience generate`: base clusterers and scales.

use std::ops::RangeInclusive;

use consilience::Linkage;
use consilience::core::BaseClusterer;
use consilience::generate::{
    Agglomerative, FuzzyCMeans, GaussianMixture, KMeans, KernelKMeans, MiniBatchKMeans, Missing,
    Rpcl, Scale, Spectral, SphericalKMeans, USpec,
};

use crate::choices::{Choice, Params, choice, count, number};
use crate::failure::{Failure, Outcome};

type Made = Box<dyn BaseClusterer>;

/// `--method`.
pub(crate) static METHODS: [Choice<Made>; 10] = [
    choice!("kmeans", boxed, |_| KMeans::new(),
        restarts: count => KMeans::restarts,
        max_iterations: count => KMeans::max_iterations,
        tolerance: number => KMeans::tolerance,
    ),
    choice!("minibatch", boxed, |_| MiniBatchKMeans::new(),
        batch: count => MiniBatchKMeans::batch,
        batches: count => MiniBatchKMeans::batches,
    ),
    choice!("spherical-kmeans", boxed, |_| SphericalKMeans::new(),
        restarts: count => SphericalKMeans::restarts,
        max_iterations: count => SphericalKMeans::max_iterations,
        tolerance: number => SphericalKMeans::tolerance,
    ),
    choice!("kernel-kmeans", boxed, |_| KernelKMeans::new(),
        landmarks: count => KernelKMeans::landmarks,
        width: number => KernelKMeans::width,
        restarts: count => KernelKMeans::restarts,
    ),
    choice!("rpcl", boxed, |_| Rpcl::new(),
        learning_rate: number => Rpcl::learning_rate,
        penalty_rate: number => Rpcl::penalty_rate,
        presentations: count => Rpcl::presentations,
    ),
    choice!("gaussian-mixture", boxed, |_| GaussianMixture::new(),
        max_iterations: count => GaussianMixture::max_iterations,
        tolerance: number => GaussianMixture::tolerance,
        variance_floor: number => GaussianMixture::variance_floor,
    ),
    choice!("fuzzy-c-means", boxed, |_| FuzzyCMeans::new(),
        fuzzifier: number => FuzzyCMeans::fuzzifier,
        max_iterations: count => FuzzyCMeans::max_iterations,
        tolerance: number => FuzzyCMeans::tolerance,
    ),
    choice!("spectral", boxed, |_| Spectral::new(),
        neighbours: count => Spectral::neighbours,
        landmarks: count => Spectral::landmarks,
        restarts: count => Spectral::restarts,
    ),
    choice!("agglomerative", boxed, |_| Agglomerative::default(),
        linkage: linkage => |_, linkage| Agglomerative::new(linkage),
    ),
    choice!("uspec", boxed, |_| USpec::new(),
        representatives: count => USpec::representatives,
        neighbours: count => USpec::neighbours,
        regularization: number => USpec::regularization,
        restarts: count => USpec::restarts,
    ),
];

/// Methods that take sparse features as they are.
pub(crate) const SPARSE: [&str; 5] =
    ["kmeans", "minibatch", "spherical-kmeans", "kernel-kmeans", "uspec"];

fn boxed<C: BaseClusterer + 'static>(clusterer: C) -> Made {
    Box::new(clusterer)
}

fn linkage(params: &Params<'_>, name: &str) -> Outcome<Option<Linkage>> {
    params.one_of(
        name,
        &[
            ("single", Linkage::Single),
            ("average", Linkage::Average),
            ("complete", Linkage::Complete),
            ("ward", Linkage::Ward),
        ],
    )
}

/// `--scale`.
pub(crate) fn scale(name: &str) -> Outcome<Scale> {
    match name {
        "none" => Ok(Scale::None),
        "minmax" => Ok(Scale::MinMax),
        "zscore" => Ok(Scale::ZScore),
        _ => Err(Failure::Bad(format!(
            "--scale {name}: unknown; expected one of none, minmax, zscore"
        ))),
    }
}

/// `--missing`; only members of an ensemble can leave objects out.
pub(crate) fn missing(name: &str, by_member: bool) -> Outcome<Missing> {
    match name {
        "error" => Ok(Missing::Refuse),
        "mean" => Ok(Missing::Mean),
        "median" => Ok(Missing::Median),
        "nearest" => Ok(Missing::Nearest),
        "member" if by_member => Ok(Missing::Member),
        _ => Err(Failure::Bad(format!(
            "--missing {name}: unknown; expected one of error, mean, median, nearest{}",
            if by_member { ", member" } else { "" }
        ))),
    }
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
