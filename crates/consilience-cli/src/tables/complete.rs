//! `consilience complete`: clustering by matrix completion.

use consilience::completion::{
    Basis, CompletionSolver, LossWeight, Mccc, Penalty, Rdml, RobustCompletion,
};

use super::Ask;
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
        basis: basis => Mccc::basis,
        eigenvectors | k: count => Mccc::eigenvectors,
        loss_weight | c: loss_weight => Mccc::loss_weight,
        solver: solver => Mccc::solver,
        semidefinite: flag => Mccc::semidefinite,
        tolerance: number => Mccc::tolerance,
        max_iterations: count => Mccc::max_iterations,
        restarts: count => Mccc::restarts,
    ),
    choice!("rdml", Completer::Rdml,
        |ask: &Ask| Rdml::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
        smoothing | lambda: number => Rdml::smoothing,
        standardize: flag => Rdml::standardize,
        restarts: count => Rdml::restarts,
    ),
];

/// A method that starts from answers about some of the objects.
pub(crate) struct FromAnswers {
    pub(crate) rdml: Rdml,
    pub(crate) completion: RobustCompletion,
    /// Shares of "same" up to which a pair is known to be apart, from which on together.
    pub(crate) apart: f64,
    pub(crate) together: f64,
    /// With keywords two objects are the same that share so many of them.
    pub(crate) shared: usize,
}

/// `--method` with `--answers`.
pub(crate) static ANSWERED: [Choice<FromAnswers, Ask>; 1] = [choice!(
    "rdml", |value| value, FromAnswers::new,
    smoothing | lambda: number => |of: FromAnswers, x| of.map_rdml(|rdml| rdml.smoothing(x)),
    standardize: flag => |of: FromAnswers, x| of.map_rdml(|rdml| rdml.standardize(x)),
    restarts: count => |of: FromAnswers, n| of.map_rdml(|rdml| rdml.restarts(n)),
    c: number => FromAnswers::factor,
    d0: number => |of, apart| FromAnswers { apart, ..of },
    d1: number => |of, together| FromAnswers { together, ..of },
    shared: count => |of, shared| FromAnswers { shared, ..of },
)];

impl FromAnswers {
    fn new(ask: &Ask) -> Self {
        FromAnswers {
            rdml: Rdml::new(ask.clusters).seed(ask.seed).memory_budget(ask.budget),
            completion: RobustCompletion::new().seed(ask.seed).memory_budget(ask.budget),
            apart: 0.0,
            together: 0.9,
            shared: 1,
        }
    }

    fn map_rdml(self, change: impl FnOnce(Rdml) -> Rdml) -> Self {
        FromAnswers { rdml: change(self.rdml.clone()), ..self }
    }

    fn factor(self, c: f64) -> Self {
        FromAnswers { completion: self.completion.penalty(Penalty::Scaled(c)), ..self }
    }
}

fn basis(params: &Params<'_>, name: &str) -> Outcome<Option<Basis>> {
    let all = [Basis::HeldOut, Basis::Singular, Basis::Neighbours, Basis::StandardizedNeighbours];
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
