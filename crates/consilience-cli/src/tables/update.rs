//! `consilience update`: rules that follow constraints, and the growth of members.

use consilience::follow::{
    AdditiveUpdate, ExactUpdate, MapLearner, MemberGrowth, MetricRule, MultiplicativeUpdate,
    UpdateRule,
};
use consilience::generate::KMeans;

use super::Ask;
use super::cluster::{Learner, METRICS};
use crate::choices::{Choice, Meaning, Params, by_name, choice, count, find, flag, number, text};
use crate::failure::Outcome;
use crate::memory;

/// How a consensus follows constraints.
pub(crate) enum Rule {
    /// By a metric or a completed similarity; the weights follow by the default rule.
    Metric(MetricRule),
    /// By the weights of the members.
    Weights(UpdateRule),
}

const POWER: Meaning =
    ["power of the singular values in the embedding", "1", "above 0, at most 100"];
const FOLDS: Meaning = ["folds of the links in cross-validation", "5", "2 to 10000"];
const RESTARTS: Meaning = ["starts of the k-means of a read-out", "5", "1 to 10000"];
const CROSS_VALIDATED: Meaning = [
    "the better of metric and plain consensus on held-out links is taken, not always the metric",
    "true",
    "true, false",
];
const CAUTION: Meaning = [
    "standard errors better than the plain consensus that what is learned must be; only with \
     cross_validated=true",
    "0.25",
    "at least 0",
];
const LINKS: Meaning = [
    "whether must-links hold in any case, or links that contradict members, features and the other \
     links are set aside",
    "weigh",
    "hold, weigh",
];
const BALANCE: Meaning =
    ["must-links and cannot-links of a batch weigh as much as each other", "true", "true, false"];

/// `--rule`.
pub(crate) static RULES: [Choice<Rule, Ask>; 5] = [
    choice!("metric",
        [
            "a metric on the consensus, learned from the links",
            "no paper: consilience::follow::MetricRule describes it",
        ],
        Rule::Metric, |ask: &Ask| MetricRule::new(ask.clusters).seed(ask.seed),
        dimensions: count => MetricRule::dimensions;
            [
                "dimensions of the embedding",
                "30, and twice the number of clusters at least",
                "1 to 10000",
            ],
        power: number => MetricRule::power; POWER,
        slack: number => MetricRule::slack;
            [
                "how much a violated link costs against a metric far from the identity",
                "1",
                "above 0",
            ],
        folds: count => MetricRule::folds; FOLDS,
        restarts: count => MetricRule::restarts; RESTARTS,
        cross_validated | guarded: flag => MetricRule::cross_validated; CROSS_VALIDATED,
        caution: if_validated => MetricRule::caution; CAUTION,
        links: by_name => MetricRule::links; LINKS,
        tolerance: number => MetricRule::tolerance;
            [
                "stops where a sweep changes the dual variables by at most this share of their sum",
                "1e-3",
                "above 0",
            ],
        max_iterations: count => MetricRule::max_iterations;
            ["sweeps over the links of a batch at most", "100", "1 to 10000"],
    ),
    choice!("completion",
        [
            "the similarity of all objects, completed from links and members",
            "Yi, Zhang, Jin, Qian & Jain, ICML 2013, on members",
        ],
        Rule::Metric,
        |ask: &Ask| MetricRule::new(ask.clusters).seed(ask.seed).learner(MapLearner::Completion),
        dimensions: count => MetricRule::dimensions;
            [
                "dimensions of the embedding",
                "50, and twice the number of clusters at least",
                "1 to 10000",
            ],
        power: number => MetricRule::power; POWER,
        folds: count => MetricRule::folds; FOLDS,
        restarts: count => MetricRule::restarts; RESTARTS,
        cross_validated: flag => MetricRule::cross_validated; CROSS_VALIDATED,
        caution: if_validated => MetricRule::caution; CAUTION,
        links: by_name => MetricRule::links; LINKS,
    ),
    choice!("exact",
        [
            "weights of members that solve the problem of a batch",
            "Yi, Zhang, Yang, Liu & Wang, KDD 2015",
        ],
        weights, |_: &Ask| ExactUpdate::default(),
        loss: by_name => ExactUpdate::loss;
            [
                "what a violated link costs; squared as in the papers",
                "squared",
                "squared, probability",
            ],
        balance: flag => ExactUpdate::balance; BALANCE,
        regularization | hold | lambda: number => ExactUpdate::regularization;
            [
                "how strongly the weights before hold the new ones back",
                "the number of new links of each batch",
                "0 to 1e100",
            ],
        gap: number => ExactUpdate::gap;
            ["relative gap to stop at", "1e-6", "at least 0"],
        max_iterations: count => ExactUpdate::max_iterations;
            ["iterations of an update at most", "1000", "0 to 100000; 0 leaves the weights"],
    ),
    choice!("additive",
        [
            "weights of members moved by one additive step",
            "Yi, Zhang, Yang, Liu & Wang, KDD 2015",
        ],
        weights, |_: &Ask| AdditiveUpdate::default(),
        step: number => AdditiveUpdate::step;
            [
                "how far a batch may move the weights, in units of 1 over the number of members",
                "1",
                "above 0, at most 1e6",
            ],
        balance: flag => AdditiveUpdate::balance; BALANCE,
    ),
    choice!("multiplicative",
        [
            "weights of members moved by one multiplicative step",
            "Yi, PhD thesis, Michigan State University, 2014, Chapter 6",
        ],
        weights, |_: &Ask| MultiplicativeUpdate::default(),
        step: number => MultiplicativeUpdate::step;
            [
                "how far a batch may move the weights, by its share of errors",
                "0.25",
                "above 0, at most 0.5",
            ],
        balance: flag => MultiplicativeUpdate::balance; BALANCE,
    ),
];

/// What grows members from `--features`.
pub(crate) static GROWTH: Choice<MemberGrowth, Ask> = choice!("growth",
    [
        "further members from the features, under a metric learned from the links",
        "no paper: consilience::follow::MemberGrowth describes it",
    ],
    |growth| growth, |ask: &Ask| MemberGrowth::new(KMeans::new()).seed(ask.seed),
    grown_members: count => MemberGrowth::members;
        ["number of members that are grown", "25", "1 to 100000"],
    grown_folds: count => MemberGrowth::folds;
        ["folds of the links; as many as folds", "5", "at least 2"],
    sample: count => MemberGrowth::sample;
        [
            "objects that a member is made from at most",
            "10000, and three for each cluster at least",
            "at least the largest number of clusters of a member",
        ],
    components: count => MemberGrowth::components;
        [
            "features that are seen at most; of more, so many leading principal components",
            "60",
            "at least 1",
        ],
    learner: learner => |growth: MemberGrowth, learner: Learner| match learner {
        Some(learner) => growth.learner(learner),
        None => growth,
    };
        [
            "what learns the metric of the features",
            "itml",
            "itml, mmc, rca, dca, lmnn, rsd-diagonal, rsd-full",
        ],
);

fn weights(rule: impl Into<UpdateRule>) -> Rule {
    Rule::Weights(rule.into())
}

/// What learns the metric that members are grown by; none is the default, by its name.
fn learner(params: &Params<'_>, name: &str) -> Outcome<Option<Learner>> {
    let Some(named) = text(params, name)? else { return Ok(None) };
    if named == "itml" {
        return Ok(Some(None));
    }
    // The first leaves distances as they are.
    let metric = find("--param learner", &named, &METRICS[1..])?;
    Ok(Some(metric.build(&memory::budget(), &[])?))
}

/// A number that cross-validation alone looks at.
fn if_validated(params: &Params<'_>, name: &str) -> Outcome<Option<f64>> {
    let given = number(params, name)?;
    let idle = given.is_some() && flag(params, "cross_validated")? == Some(false);
    ensure!(!idle, "--param {name}: only with cross_validated=true");
    Ok(given)
}
