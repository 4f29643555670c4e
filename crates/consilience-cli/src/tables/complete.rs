//! `consilience complete`: clustering by matrix completion.

use consilience::completion::{
    Basis, CompletionSolver, Eigenvectors, LossWeight, Mccc, Rdml, SimilarityCut, Smoothing,
};
use consilience::crowd::SemiCrowd;

use super::Ask;
use super::crowd::penalty;
use crate::choices::{Choice, Params, choice, count, flag, number};
use crate::failure::{Failure, Outcome};

/// A method of the library.
pub(crate) enum Completer {
    Mccc(Mccc),
    Rdml(Rdml),
}

/// `--method`.
pub(crate) static METHODS: [Choice<Completer, Ask>; 2] = [
    choice!("mccc", Completer::Mccc,
        |ask: &Ask| Mccc::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        published: flag => |mccc: Mccc, asked| if asked { mccc.published() } else { mccc },
        basis: basis => Mccc::basis,
        eigenvectors | k: count => Mccc::eigenvectors,
        loss_weight | c: loss_weight => Mccc::loss_weight,
        solver: solver => Mccc::solver,
        semidefinite: flag => Mccc::semidefinite,
        read_out: read_out => Mccc::read_out,
        tolerance: number => Mccc::tolerance,
        max_iterations: count => Mccc::max_iterations,
        restarts: count => Mccc::restarts,
    ),
    choice!("rdml", Completer::Rdml,
        |ask: &Ask| Rdml::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        published: flag => |rdml: Rdml, asked| if asked { rdml.published() } else { rdml },
        smoothing | lambda: number => Rdml::smoothing,
        smoothing_per_object: per_object => Rdml::smoothing,
        standardize: flag => Rdml::standardize,
        cut: cut => Rdml::cut,
        restarts: count => Rdml::restarts,
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
pub(crate) static ANSWERED: [Choice<FromAnswers, Ask>; 1] = [choice!(
    "rdml", FromAnswers::made, FromAnswers::new,
    published: flag => FromAnswers::published,
    smoothing | lambda: number => |of: FromAnswers, x| of.map_rdml(|rdml| rdml.smoothing(x)),
    smoothing_per_object: per_object => |of: FromAnswers, x| of.map_rdml(|r| r.smoothing(x)),
    standardize: flag => |of: FromAnswers, x| of.map_rdml(|rdml| rdml.standardize(x)),
    cut: cut => |of: FromAnswers, x| of.map_rdml(|rdml| rdml.cut(x)),
    restarts: count => |of: FromAnswers, n| of.map_rdml(|rdml| rdml.restarts(n)),
    c | error_weight: number => |of, _| of,
    penalty: penalty => |of: FromAnswers, rule| FromAnswers { crowd: of.crowd.penalty(rule), ..of },
    d0 | apart_below: number => |of, apart| FromAnswers { apart, ..of },
    d1 | together_above: number => |of, together| FromAnswers { together, ..of },
    shared: count => |of, shared| FromAnswers { shared, ..of },
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

    fn map_rdml(self, change: impl FnOnce(Rdml) -> Rdml) -> Self {
        FromAnswers { rdml: change(self.rdml.clone()), ..self }
    }

    fn made(self) -> Self {
        let crowd = self.crowd.thresholds(self.apart, self.together).metric(self.rdml.clone());
        FromAnswers { crowd, ..self }
    }
}

/// lambda as the thesis counts it.
fn per_object(params: &Params<'_>, name: &str) -> Outcome<Option<Smoothing>> {
    if params.number("smoothing")?.is_some() && params.number(name)?.is_some() {
        return Err(Failure::bad(format!("--param smoothing and {name}: expected one")));
    }
    Ok(params.number(name)?.map(Smoothing::PerObject))
}

fn cut(params: &Params<'_>, name: &str) -> Outcome<Option<SimilarityCut>> {
    let cuts = [("k-means", SimilarityCut::KMeans), ("shi-malik", SimilarityCut::ShiMalik)];
    params.one_of(name, &cuts)
}

fn read_out(params: &Params<'_>, name: &str) -> Outcome<Option<Eigenvectors>> {
    let names = [("scaled", Eigenvectors::Scaled), ("leading", Eigenvectors::Leading)];
    params.one_of(name, &names)
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
    match params.number(name) {
        Ok(number) => Ok(number.map(LossWeight::Fixed)),
        Err(_) => params.one_of(name, &rules).map_err(|failure| match failure {
            Failure::Bad(message) => Failure::Bad(format!("{message}, or a number")),
            other => other,
        }),
    }
}

fn solver(params: &Params<'_>, name: &str) -> Outcome<Option<CompletionSolver>> {
    params.one_of(
        name,
        &[
            ("accelerated", CompletionSolver::Accelerated),
            ("stochastic", CompletionSolver::Stochastic),
        ],
    )
}
