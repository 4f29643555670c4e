//! `consilience complete`: clustering by matrix completion.

use consilience::completion::{Basis, LossWeight, Mccc, Rdml, Smoothing};
use consilience::crowd::SemiCrowd;

use super::Ask;
use super::crowd::{APART, SHARED, TOGETHER, penalty};
use crate::choices::{Choice, Meaning, Params, by_name, choice, count, flag, number};
use crate::failure::{Failure, Outcome};

/// A method of the library.
pub(crate) enum Completer {
    Mccc(Mccc),
    Rdml(Rdml),
}

const PUBLISHED: Meaning =
    ["the form of the thesis; what is said beside it changes single parts", "false", "true, false"];
const SMOOTHING: Meaning = [
    "added to every direction, as a share of the whole variance of the features",
    "0.01",
    "above 0",
];
const PER_OBJECT: Meaning = [
    "the same as the thesis counts it: for each object of the sample",
    "not used: smoothing",
    "above 0",
];
const STANDARDIZE: Meaning = [
    "features are standardized first, not taken as they are",
    "true; false behind a truncated SVD (--svd, sparse features)",
    "true, false",
];
/// With answers.
const FRAME: Meaning = [
    STANDARDIZE[0],
    "true; false behind a truncated SVD, and where that keeps more of the answers about objects \
     left out, by their standard errors",
    STANDARDIZE[2],
];
const CUT: Meaning =
    ["what divides the objects by the learned similarity", "k-means", "k-means, shi-malik"];
const RESTARTS: Meaning = ["starts of the k-means", "10", "1 to 10000"];

/// `--method`.
pub(crate) static METHODS: [Choice<Completer, Ask>; 2] = [
    choice!("mccc",
        [
            "the similarity of all objects, completed from links and features",
            "Yi, Zhang, Jin, Qian & Jain, ICML 2013; Yi, PhD thesis, 2014, Chapter 5",
        ],
        Completer::Mccc,
        |ask: &Ask| Mccc::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        published: flag => |mccc: Mccc, asked| if asked { mccc.published() } else { mccc };
            PUBLISHED,
        basis: basis => Mccc::basis;
            [
                "where the coordinates of the objects come from; the units of columns matter to \
                 neighbours, which held-out may choose, and to raw-singular",
                "held-out",
                "held-out, singular, neighbours, standardized-neighbours, raw-singular",
            ],
        eigenvectors | k: count => Mccc::eigenvectors;
            [
                "columns of the basis at most",
                "25, 50 or 100, by held-out constraints",
                "at least 1",
            ],
        loss_weight | c: loss_weight => Mccc::loss_weight;
            [
                "weight of the errors, or the rule that finds it",
                "held-out",
                "held-out, balanced, or a number above 0",
            ],
        solver: by_name => Mccc::solver;
            ["how the last problem is solved", "accelerated", "accelerated, stochastic"],
        semidefinite: flag => Mccc::semidefinite;
            ["the similarity must be positive semidefinite", "true", "true, false"],
        read_out: by_name => Mccc::read_out;
            ["what the k-means sees of the completed similarity", "scaled", "scaled, leading"],
        tolerance: number => Mccc::tolerance;
            ["relative duality gap at which the solver stops", "1e-6", "above 0"],
        max_iterations: count => Mccc::max_iterations;
            ["iterations of the solver at most", "500", "at least 1"],
        restarts: count => Mccc::restarts; RESTARTS,
    ),
    choice!("rdml",
        [
            "a metric that robust regression learns from links of some objects",
            "Yi, Jin, Jain, Yang & Jain, NIPS 2012; Yi, PhD thesis, 2014, Chapter 4",
        ],
        Completer::Rdml,
        |ask: &Ask| Rdml::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        published: flag => |rdml: Rdml, asked| if asked { rdml.published() } else { rdml };
            PUBLISHED,
        smoothing | lambda: number => Rdml::smoothing; SMOOTHING,
        smoothing_per_object: per_object => Rdml::smoothing; PER_OBJECT,
        standardize: flag => Rdml::standardize; STANDARDIZE,
        cut: by_name => Rdml::cut; CUT,
        restarts: count => Rdml::restarts; RESTARTS,
    ),
];

/// A method that starts from answers about some of the objects.
pub(crate) struct FromAnswers {
    pub(crate) crowd: SemiCrowd,
    rdml: Rdml,
    /// Shares of "same" up to which a pair is known to be apart, from which on together.
    apart: f64,
    together: f64,
    /// With keywords two objects are the same that share so many of them.
    pub(crate) shared: usize,
}

/// `--method` with `--answers`.
pub(crate) static ANSWERED: [Choice<FromAnswers, Ask>; 1] = [choice!("rdml",
    [
        "answers about some objects are completed, and a metric is learned from the pairs",
        "Yi, Jin, Jain, Yang & Jain, NIPS 2012; Yi, PhD thesis, 2014, Chapter 4",
    ],
    FromAnswers::made, FromAnswers::new,
    published: flag => FromAnswers::published; PUBLISHED,
    smoothing | lambda: number => metric(Rdml::smoothing); SMOOTHING,
    smoothing_per_object: per_object => metric(Rdml::smoothing); PER_OBJECT,
    standardize: flag => FromAnswers::standardize; FRAME,
    cut: by_name => metric(Rdml::cut); CUT,
    restarts: count => metric(Rdml::restarts); RESTARTS,
    c | error_weight: number => |of, _| of;
        ["weight of the errors in the completion of the answers", "3", "above 0"],
    penalty: penalty => |of: FromAnswers, rule| FromAnswers { crowd: of.crowd.penalty(rule), ..of };
        ["in place of c, the rule that finds it", "not used: c", "recovery, held-out, balance"],
    d0 | apart_below: number => |of, apart| FromAnswers { apart, ..of }; APART,
    d1 | together_above: number => |of, together| FromAnswers { together, ..of };
        [TOGETHER[0], "0.9; 0.8 with published=true", TOGETHER[2]],
    shared: count => |of, shared| FromAnswers { shared, ..of }; SHARED,
)];

impl FromAnswers {
    fn new(ask: &Ask) -> Self {
        FromAnswers {
            crowd: SemiCrowd::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
            rdml: Rdml::new(ask.clusters),
            apart: 0.0,
            together: 0.9,
            shared: 1,
        }
    }

    fn published(self, asked: bool) -> Self {
        if !asked {
            return self;
        }
        let (crowd, rdml) = (self.crowd.published(), self.rdml.published());
        FromAnswers { crowd, rdml, together: 0.8, ..self }
    }

    fn made(self) -> Self {
        let crowd = self.crowd.thresholds(self.apart, self.together).metric(self.rdml.clone());
        FromAnswers { crowd, ..self }
    }

    /// Features on a scale that is named are not tried on the other.
    fn standardize(self, on: bool) -> Self {
        let (crowd, rdml) = (self.crowd.compare_scales(false), self.rdml.standardize(on));
        FromAnswers { crowd, rdml, ..self }
    }
}

/// Sets something of the metric.
fn metric<T>(set: fn(Rdml, T) -> Rdml) -> impl Fn(FromAnswers, T) -> FromAnswers {
    move |of, value| FromAnswers { rdml: set(of.rdml, value), ..of }
}

/// lambda as the thesis counts it.
fn per_object(params: &Params<'_>, name: &str) -> Outcome<Option<Smoothing>> {
    let given = number(params, name)?;
    ensure!(
        given.is_none() || number(params, "smoothing")?.is_none(),
        "--param smoothing and {name}: expected one"
    );
    Ok(given.map(Smoothing::PerObject))
}

fn basis(params: &Params<'_>, name: &str) -> Outcome<Option<Basis>> {
    let all = [
        Basis::HeldOut,
        Basis::Singular,
        Basis::Neighbours,
        Basis::StandardizedNeighbours,
        Basis::RawSingular,
    ];
    let mut names = all.map(|basis| (basis.name(), basis)).to_vec();
    names.push(("standardised-neighbours", Basis::StandardizedNeighbours));
    params.one_of(name, &names)
}

/// How the weight of the errors is found, or the weight itself.
fn loss_weight(params: &Params<'_>, name: &str) -> Outcome<Option<LossWeight>> {
    let rules = [("held-out", LossWeight::HeldOut), ("balanced", LossWeight::Balanced)];
    match number(params, name) {
        Ok(number) => Ok(number.map(LossWeight::Fixed)),
        Err(_) => params.one_of(name, &rules).map_err(|failure| match failure {
            Failure::Bad(message) => Failure::Bad(format!("{message}, or a number")),
            other => other,
        }),
    }
}
