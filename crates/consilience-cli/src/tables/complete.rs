//! `consilience complete`: clustering by matrix completion.

use consilience::completion::{Basis, CompletionSolver, LossWeight, Mccc, Rdml};

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
    choice!("mccc", Completer::Mccc, |ask: &Ask| Mccc::new(ask.clusters).seed(ask.seed),
        basis: basis => Mccc::basis,
        eigenvectors | k: count => Mccc::eigenvectors,
        loss_weight | c: loss_weight => Mccc::loss_weight,
        solver: solver => Mccc::solver,
        semidefinite: flag => Mccc::semidefinite,
        tolerance: number => Mccc::tolerance,
        max_iterations: count => Mccc::max_iterations,
        restarts: count => Mccc::restarts,
    ),
    choice!("rdml", Completer::Rdml, |ask: &Ask| Rdml::new(ask.clusters).seed(ask.seed),
        smoothing | lambda: number => Rdml::smoothing,
        standardize: flag => Rdml::standardize,
        restarts: count => Rdml::restarts,
    ),
];

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
