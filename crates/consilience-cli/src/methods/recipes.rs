//! How the library's values are made from what the user asks.

use consilience::bregman::{Divergence, Pcc};
use consilience::completion::{EcmcAl, Penalty};
use consilience::consensus::{
    ConnectedTriples, Cspa, EcpcsHc, EcpcsMc, EvidenceAccumulation, GpMgla, Hbgf, Hgpa,
    LeastSquares, LinkBased, LocallyWeighted, Lwea, Lwgp, Mcla, MixtureModel, Qmi, SimRank, USenc,
    Voting, Weac, WeightedCoAssociation,
};
use consilience::graph::{CoAssociation, LeafWeights};
use consilience::trust::Recommended;
use consilience::walk::{Diffusion, ProbabilityTrajectories, Pta, Ptgp, RandomWalker};
use consilience::{Clusters, Linkage};

use super::{Ask, Function, Tree};
use crate::failure::Outcome;

/// How many clusters: as many as asked, else by the method's own criterion.
fn clusters(ask: &Ask<'_>) -> Clusters {
    ask.clusters.map_or(Clusters::Auto, Clusters::Fixed)
}

/// Sets what the user gave: each parameter by the setter of its name, or by the one named.
macro_rules! tuned {
    ($ask:expr, $value:expr $(, $kind:ident $name:ident $(=> $setter:ident)?)*) => {{
        #[allow(unused_mut)]
        let mut value = $value;
        $(
            if let Some(given) = $ask.params.$kind(stringify!($name))? {
                value = set!(value, given, $name $(, $setter)?);
            }
        )*
        value
    }};
}

macro_rules! set {
    ($value:expr, $given:expr, $name:ident) => {
        $value.$name($given)
    };
    ($value:expr, $given:expr, $name:ident, $setter:ident) => {
        $value.$setter($given)
    };
}

pub(super) fn pta(ask: &Ask<'_>, linkage: Linkage) -> Outcome<Function> {
    let pta = Pta::new(clusters(ask)).linkage(linkage);
    Function::hard(tuned!(ask, pta, count elite_neighbours, count walk_length))
}

pub(super) fn trajectories(ask: &Ask<'_>, linkage: Linkage) -> Outcome<Tree> {
    let walks =
        tuned!(ask, ProbabilityTrajectories::default(), count elite_neighbours, count walk_length);
    Ok(Tree { similarity: Box::new(walks), linkage, weights: LeafWeights::Nodes })
}

pub(super) fn ptgp(ask: &Ask<'_>) -> Outcome<Function> {
    let ptgp = Ptgp::new(clusters(ask)).seed(ask.seed);
    Function::hard(tuned!(ask, ptgp, count elite_neighbours, count walk_length, count restarts))
}

pub(super) fn eac(ask: &Ask<'_>, linkage: Linkage) -> Outcome<Function> {
    let eac = EvidenceAccumulation::new(clusters(ask));
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
    Function::hard(tuned!(ask, Weac::new(clusters(ask)), number beta => agreement_exponent))
}

pub(super) fn crowd(ask: &Ask<'_>) -> Outcome<Tree> {
    let similarity =
        Box::new(tuned!(ask, WeightedCoAssociation::default(), number beta => agreement_exponent));
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
    let gp_mgla = GpMgla::new(clusters(ask));
    Function::hard(
        tuned!(ask, gp_mgla, number alpha => object_link_weight, number beta => agreement_exponent),
    )
}

pub(super) fn cspa(ask: &Ask<'_>) -> Outcome<Function> {
    let cspa = Cspa::new(clusters(ask)).seed(ask.seed);
    Function::hard(tuned!(ask, cspa, count restarts))
}

pub(super) fn hgpa(ask: &Ask<'_>) -> Outcome<Function> {
    let hgpa = Hgpa::new(clusters(ask)).seed(ask.seed);
    Function::hard(tuned!(ask, hgpa, count restarts))
}

pub(super) fn mcla(ask: &Ask<'_>) -> Outcome<Function> {
    let mcla = Mcla::new(clusters(ask)).seed(ask.seed);
    Function::hard(tuned!(ask, mcla, count restarts))
}

pub(super) fn hbgf(ask: &Ask<'_>) -> Outcome<Function> {
    let hbgf = Hbgf::new(clusters(ask)).seed(ask.seed);
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

pub(super) fn links(ask: &Ask<'_>, make: fn(Clusters) -> LinkBased) -> Outcome<Function> {
    let links = make(clusters(ask));
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
    let walker = RandomWalker::new(clusters(ask));
    Function::soft(tuned!(ask, walker, number beta => link_preference, count neighbours).soft())
}

pub(super) fn lwea(ask: &Ask<'_>) -> Outcome<Function> {
    Function::hard(tuned!(ask, Lwea::new(clusters(ask)), number theta => entropy_scale))
}

pub(super) fn locally_weighted(ask: &Ask<'_>) -> Outcome<Tree> {
    let similarity =
        Box::new(tuned!(ask, LocallyWeighted::default(), number theta => entropy_scale));
    Ok(Tree { similarity, linkage: Linkage::Average, weights: LeafWeights::Objects })
}

pub(super) fn lwgp(ask: &Ask<'_>) -> Outcome<Function> {
    let lwgp = Lwgp::new(clusters(ask)).seed(ask.seed);
    Function::hard(tuned!(ask, lwgp, number theta => entropy_scale, count restarts))
}

pub(super) fn ecpcs_hc(ask: &Ask<'_>) -> Outcome<Function> {
    Function::hard(tuned!(ask, EcpcsHc::new(clusters(ask)), count steps))
}

pub(super) fn ecpcs_mc(ask: &Ask<'_>) -> Outcome<Function> {
    let ecpcs = EcpcsMc::new(clusters(ask)).seed(ask.seed);
    Function::hard(tuned!(ask, ecpcs, count steps, count restarts))
}

pub(super) fn usenc(ask: &Ask<'_>) -> Outcome<Function> {
    Function::hard(tuned!(ask, USenc::new(ask.required()?).seed(ask.seed), count restarts))
}

pub(super) fn diffusion(ask: &Ask<'_>) -> Outcome<Function> {
    let diffusion = Diffusion::new(clusters(ask)).seed(ask.seed);
    Function::hard(
        tuned!(ask, diffusion, number theta => entropy_scale, count steps, count restarts),
    )
}

pub(super) fn pcc(ask: &Ask<'_>, divergence: impl Divergence + 'static) -> Outcome<Function> {
    let pcc = Pcc::new(clusters(ask)).divergence(divergence).seed(ask.seed);
    Function::soft(tuned!(ask, pcc, count restarts, number tolerance, count max_iterations))
}

pub(super) fn auto(ask: &Ask<'_>) -> Outcome<Function> {
    Function::hard(Recommended::new(clusters(ask)).seed(ask.seed))
}
