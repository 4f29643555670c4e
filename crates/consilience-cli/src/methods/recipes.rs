//! How the library's values are made from what the user asks.

use consilience::{
    CoAssociation, ConnectedTriples, Cspa, Diffusion, Divergence, EcmcAl, EcpcsHc, EcpcsMc,
    EvidenceAccumulation, GpMgla, Hbgf, Hgpa, LeafWeights, LeastSquares, LinkBased, Linkage,
    LocallyWeighted, Lwea, Lwgp, Mcla, MixtureModel, Pcc, Penalty, ProbabilityTrajectories, Pta,
    Ptgp, Qmi, RandomWalker, Recommended, SimRank, Usenc, Voting, Weac, WeightedCoAssociation,
};

use super::{Ask, Function, Tree};
use crate::failure::Outcome;

/// Sets what the user gave: each parameter by the setter of its name.
macro_rules! tuned {
    ($ask:expr, $value:expr $(, $kind:ident $name:ident)*) => {{
        #[allow(unused_mut)]
        let mut value = $value;
        $(
            if let Some(given) = $ask.params.$kind(stringify!($name))? {
                value = value.$name(given);
            }
        )*
        value
    }};
}

pub(super) fn pta(ask: &Ask<'_>, linkage: Linkage) -> Outcome<Function> {
    let pta = ask.clusters.map_or_else(Pta::by_lifetime, Pta::new).linkage(linkage);
    Function::hard(tuned!(ask, pta, count elite_neighbours, count walk_length))
}

pub(super) fn trajectories(ask: &Ask<'_>, linkage: Linkage) -> Outcome<Tree> {
    let walks =
        tuned!(ask, ProbabilityTrajectories::default(), count elite_neighbours, count walk_length);
    Ok(Tree { similarity: Box::new(walks), linkage, weights: LeafWeights::Nodes })
}

pub(super) fn ptgp(ask: &Ask<'_>) -> Outcome<Function> {
    let ptgp = ask.clusters.map_or_else(Ptgp::by_eigengap, Ptgp::new).seed(ask.seed);
    Function::hard(tuned!(ask, ptgp, count elite_neighbours, count walk_length, count restarts))
}

pub(super) fn eac(ask: &Ask<'_>, linkage: Linkage) -> Outcome<Function> {
    let eac =
        ask.clusters.map_or_else(EvidenceAccumulation::by_lifetime, EvidenceAccumulation::new);
    Function::hard(eac.linkage(linkage))
}

pub(super) fn co_association(linkage: Linkage) -> Outcome<Tree> {
    Ok(Tree {
        similarity: Box::new(CoAssociation::default()),
        linkage,
        weights: LeafWeights::Objects,
    })
}

pub(super) fn weac(ask: &Ask<'_>) -> Outcome<Function> {
    Function::hard(tuned!(ask, ask.clusters.map_or_else(Weac::by_lifetime, Weac::new), number beta))
}

pub(super) fn crowd(ask: &Ask<'_>) -> Outcome<Tree> {
    let similarity = Box::new(tuned!(ask, WeightedCoAssociation::default(), number beta));
    Ok(Tree { similarity, linkage: Linkage::Average, weights: LeafWeights::Objects })
}

pub(super) fn ecmc(ask: &Ask<'_>) -> Outcome<Function> {
    let mut ecmc = EcmcAl::new(ask.required()?).seed(ask.seed);
    if let Some(c) = ask.params.number("c")? {
        ecmc = ecmc.penalty(Penalty::Scaled(c));
    }
    if let (d0, d1) = (ask.params.number("d0")?, ask.params.number("d1")?)
        && (d0.is_some() || d1.is_some())
    {
        ecmc = ecmc.thresholds(d0.unwrap_or(0.1), d1.unwrap_or(0.6));
    }
    Function::hard(ecmc)
}

pub(super) fn gp_mgla(ask: &Ask<'_>) -> Outcome<Function> {
    let gp_mgla = ask.clusters.map_or_else(GpMgla::by_eigengap, GpMgla::new);
    Function::hard(tuned!(ask, gp_mgla, number alpha, number beta))
}

pub(super) fn cspa(ask: &Ask<'_>) -> Outcome<Function> {
    let cspa = ask.clusters.map_or_else(Cspa::by_eigengap, Cspa::new).seed(ask.seed);
    Function::hard(tuned!(ask, cspa, count restarts))
}

pub(super) fn hgpa(ask: &Ask<'_>) -> Outcome<Function> {
    let hgpa = ask.clusters.map_or_else(Hgpa::by_eigengap, Hgpa::new).seed(ask.seed);
    Function::hard(tuned!(ask, hgpa, count restarts))
}

pub(super) fn mcla(ask: &Ask<'_>) -> Outcome<Function> {
    let mcla = ask.clusters.map_or_else(Mcla::by_eigengap, Mcla::new).seed(ask.seed);
    Function::hard(tuned!(ask, mcla, count restarts))
}

pub(super) fn hbgf(ask: &Ask<'_>) -> Outcome<Function> {
    let hbgf = ask.clusters.map_or_else(Hbgf::by_eigengap, Hbgf::new).seed(ask.seed);
    Function::hard(tuned!(ask, hbgf, count restarts))
}

pub(super) fn mm(ask: &Ask<'_>) -> Outcome<Function> {
    Function::soft(
        tuned!(ask, MixtureModel::new(ask.required()?).seed(ask.seed), count restarts).soft(),
    )
}

pub(super) fn qmi(ask: &Ask<'_>) -> Outcome<Function> {
    Function::hard(tuned!(ask, Qmi::new(ask.required()?).seed(ask.seed), count restarts))
}

pub(super) fn voting(ask: &Ask<'_>) -> Outcome<Function> {
    Function::hard(Voting::new(ask.required()?).seed(ask.seed))
}

pub(super) fn least_squares(ask: &Ask<'_>) -> Outcome<Function> {
    Function::soft(LeastSquares::new(ask.required()?).seed(ask.seed))
}

pub(super) fn links(ask: &Ask<'_>, make: fn(usize) -> LinkBased) -> Outcome<Function> {
    let links = ask.clusters.map_or_else(|| make(1).by_lifetime(), make);
    Function::hard(tuned!(ask, links, number decay))
}

pub(super) fn triples(ask: &Ask<'_>) -> Outcome<Tree> {
    let similarity = Box::new(tuned!(ask, ConnectedTriples::new(), number decay));
    Ok(Tree { similarity, linkage: Linkage::Average, weights: LeafWeights::Objects })
}

pub(super) fn simrank(ask: &Ask<'_>) -> Outcome<Tree> {
    let similarity = Box::new(tuned!(ask, SimRank::new(), number decay));
    Ok(Tree { similarity, linkage: Linkage::Average, weights: LeafWeights::Objects })
}

pub(super) fn srw(ask: &Ask<'_>) -> Outcome<Function> {
    let walker = ask.clusters.map_or_else(RandomWalker::by_lifetime, RandomWalker::new);
    Function::soft(tuned!(ask, walker, number beta, count neighbours).soft())
}

pub(super) fn lwea(ask: &Ask<'_>) -> Outcome<Function> {
    Function::hard(
        tuned!(ask, ask.clusters.map_or_else(Lwea::by_lifetime, Lwea::new), number theta),
    )
}

pub(super) fn locally_weighted(ask: &Ask<'_>) -> Outcome<Tree> {
    let similarity = Box::new(tuned!(ask, LocallyWeighted::default(), number theta));
    Ok(Tree { similarity, linkage: Linkage::Average, weights: LeafWeights::Objects })
}

pub(super) fn lwgp(ask: &Ask<'_>) -> Outcome<Function> {
    let lwgp = ask.clusters.map_or_else(Lwgp::by_eigengap, Lwgp::new).seed(ask.seed);
    Function::hard(tuned!(ask, lwgp, number theta, count restarts))
}

pub(super) fn ecpcs_hc(ask: &Ask<'_>) -> Outcome<Function> {
    Function::hard(
        tuned!(ask, ask.clusters.map_or_else(EcpcsHc::by_lifetime, EcpcsHc::new), count steps),
    )
}

pub(super) fn ecpcs_mc(ask: &Ask<'_>) -> Outcome<Function> {
    let ecpcs = ask.clusters.map_or_else(EcpcsMc::by_eigengap, EcpcsMc::new).seed(ask.seed);
    Function::hard(tuned!(ask, ecpcs, count steps, count restarts))
}

pub(super) fn usenc(ask: &Ask<'_>) -> Outcome<Function> {
    Function::hard(tuned!(ask, Usenc::new(ask.required()?).seed(ask.seed), count restarts))
}

pub(super) fn diffusion(ask: &Ask<'_>) -> Outcome<Function> {
    let diffusion = ask.clusters.map_or_else(Diffusion::by_eigengap, Diffusion::new).seed(ask.seed);
    Function::hard(tuned!(ask, diffusion, number theta, count steps, count restarts))
}

pub(super) fn pcc(ask: &Ask<'_>, divergence: impl Divergence + 'static) -> Outcome<Function> {
    let pcc =
        ask.clusters.map_or_else(Pcc::by_survival, Pcc::new).divergence(divergence).seed(ask.seed);
    Function::soft(tuned!(ask, pcc, count restarts, number tolerance, count max_iterations))
}

pub(super) fn auto(ask: &Ask<'_>) -> Outcome<Function> {
    Function::hard(
        ask.clusters.map_or_else(Recommended::choose_clusters, Recommended::new).seed(ask.seed),
    )
}
