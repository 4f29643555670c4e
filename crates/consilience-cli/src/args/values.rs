//! Values of options that are neither numbers nor text.

use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::ValueEnum;
use consilience::Clusters;

/// A number of clusters, or the wish that one be found.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    /// So many.
    Fixed(usize),
    /// As many as is recommended.
    Auto,
}

impl From<Count> for Clusters {
    fn from(count: Count) -> Self {
        match count {
            Count::Fixed(k) => Clusters::Fixed(k),
            Count::Auto => Clusters::Auto,
        }
    }
}

impl FromStr for Count {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Count::Auto),
            _ => text.parse().map(Count::Fixed).map_err(|_| "expected a whole number or auto"),
        }
    }
}

/// How many clusters a report is about.
#[derive(Clone)]
pub(crate) enum Numbers {
    /// So many.
    Fixed(usize),
    /// One of these.
    Range(RangeInclusive<usize>),
    /// As many as is recommended.
    Auto,
}

impl FromStr for Numbers {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.trim().parse().ok();
        match text.split_once("..") {
            _ if text == "auto" => Some(Numbers::Auto),
            Some((least, most)) => {
                number(least).zip(number(most)).map(|(a, b)| Numbers::Range(a..=b))
            }
            None => number(text).map(Numbers::Fixed),
        }
        .ok_or("expected a whole number, a range such as 2..20, or auto")
    }
}

/// The pictures.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// How often objects are together, in an order that puts clusters side by side (VAT)
    CoAssociation,
    /// The tree of a method that agglomerates
    Dendrogram,
    /// The share of pairs that are together at most so often (consensus CDF)
    Cdf,
    /// Soft memberships, one row per object
    Memberships,
    /// Clusters, and how far they overlap in soft memberships
    ClusterGraph,
}
