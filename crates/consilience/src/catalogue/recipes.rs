//! How the methods are made from settings.

use super::{AnyConsensus, Settings};
use crate::bregman::{Divergence, Pairs, Pcc, Solver};
use crate::completion::{EcmcAl, Penalty};
use crate::consensus::*;
use crate::graph::CutMethod;
use crate::trust::Recommended;
use crate::walk::*;
use crate::{Hierarchy, Linkage, Result};

const LINKAGES: &[(&str, Linkage)] = &[
    ("average", Linkage::Average),
    ("complete", Linkage::Complete),
    ("single", Linkage::Single),
    ("ward", Linkage::Ward),
];

const SOLVERS: &[(&str, Solver)] =
    &[("newton", Solver::Newton), ("line-search", Solver::LineSearch)];

#[cfg(feature = "metis")]
const CUTS: &[(&str, CutMethod)] =
    &[("spectral", CutMethod::Spectral), ("metis", CutMethod::Metis)];
#[cfg(not(feature = "metis"))]
const CUTS: &[(&str, CutMethod)] = &[("spectral", CutMethod::Spectral)];

/// Sets what was given: each parameter by the setter of its name.
macro_rules! tuned {
    ($settings:expr, $value:expr $(, $kind:ident $name:ident $(by $words:expr)?)*) => {{
        #[allow(unused_mut)]
        let mut value = $value;
        $(
            if let Some(given) = $settings.$kind(stringify!($name) $(, $words)?)? {
                value = value.$name(given);
            }
        )*
        value
    }};
}

/// A function that makes the method of an expression, as a hard, a soft one, or a hierarchy.
macro_rules! recipe {
    ($name:ident, $tree:ident, |$s:ident| $make:expr) => {
        pub(super) fn $name($s: &Settings) -> Result<AnyConsensus> {
            Ok(AnyConsensus::hard($make))
        }

        pub(super) fn $tree($s: &Settings) -> Result<Box<dyn Hierarchy>> {
            Ok(Box::new($make))
        }
    };
    ($name:ident, |$s:ident| $make:expr) => {
        pub(super) fn $name($s: &Settings) -> Result<AnyConsensus> {
            Ok(AnyConsensus::hard($make))
        }
    };
    (soft $name:ident, |$s:ident| $make:expr) => {
        pub(super) fn $name($s: &Settings) -> Result<AnyConsensus> {
            Ok(AnyConsensus::soft($make))
        }
    };
}

fn walks(s: &Settings, linkage: Linkage) -> Result<Pta> {
    let pta = Pta::new(s.clusters).linkage(linkage).memory_budget(s.budget);
    Ok(tuned!(s, pta, count elite_neighbours, count walk_length))
}

fn evidence(s: &Settings, linkage: Linkage) -> EvidenceAccumulation {
    EvidenceAccumulation::new(s.clusters).linkage(linkage).memory_budget(s.budget)
}

fn links(s: &Settings, of: LinkBased) -> Result<LinkBased> {
    let of = of.memory_budget(s.budget);
    Ok(tuned!(s, of, number decay, word linkage by LINKAGES))
}

fn completed(s: &Settings) -> Result<EcmcAl> {
    let mut ecmc = EcmcAl::new(s.clusters).seed(s.seed).memory_budget(s.budget);
    if let Some(c) = s.number("c")? {
        ecmc = ecmc.penalty(Penalty::Scaled(c));
    }
    let (low, high) = (s.number("d0")?, s.number("d1")?);
    if low.is_some() || high.is_some() {
        ecmc = ecmc.thresholds(low.unwrap_or(0.1), high.unwrap_or(0.6));
    }
    Ok(tuned!(s, ecmc, word linkage by LINKAGES))
}

fn probabilistic(s: &Settings, divergence: impl Divergence + 'static) -> Result<Pcc> {
    let pcc = Pcc::new(s.clusters).divergence(divergence).seed(s.seed).memory_budget(s.budget);
    let mut pcc = tuned!(
        s,
        pcc,
        count restarts,
        number tolerance,
        count max_iterations,
        word solver by SOLVERS
    );
    if let Some(share) = s.number("pairs")? {
        pcc = pcc.pairs(if share == 1.0 { Pairs::All } else { Pairs::Sampled { share } });
    }
    Ok(pcc)
}

recipe!(pta_al, pta_al_tree, |s| walks(s, Linkage::Average)?);
recipe!(pta_cl, pta_cl_tree, |s| walks(s, Linkage::Complete)?);
recipe!(pta_sl, pta_sl_tree, |s| walks(s, Linkage::Single)?);
recipe!(eac_al, eac_al_tree, |s| evidence(s, Linkage::Average));
recipe!(eac_cl, eac_cl_tree, |s| evidence(s, Linkage::Complete));
recipe!(eac_sl, eac_sl_tree, |s| evidence(s, Linkage::Single));
recipe!(eac_ward, eac_ward_tree, |s| evidence(s, Linkage::Ward));
recipe!(ptgp, |s| {
    let ptgp = Ptgp::new(s.clusters).seed(s.seed).memory_budget(s.budget);
    tuned!(s, ptgp, count elite_neighbours, count walk_length, count restarts)
});
recipe!(weac, weac_tree, |s| tuned!(
    s,
    Weac::new(s.clusters).memory_budget(s.budget),
    number agreement_exponent,
    word linkage by LINKAGES
));
recipe!(lwea, lwea_tree, |s| tuned!(
    s,
    Lwea::new(s.clusters).memory_budget(s.budget),
    number entropy_scale,
    word linkage by LINKAGES
));
recipe!(ecpcs_hc, ecpcs_hc_tree, |s| tuned!(
    s,
    EcpcsHc::new(s.clusters).memory_budget(s.budget),
    count steps,
    word linkage by LINKAGES
));
recipe!(wct, wct_tree, |s| links(s, LinkBased::wct(s.clusters))?);
recipe!(srs, srs_tree, |s| links(s, LinkBased::srs(s.clusters))?);
recipe!(ecmc, ecmc_tree, |s| completed(s)?);
recipe!(gp_mgla, |s| tuned!(
    s,
    GpMgla::new(s.clusters).memory_budget(s.budget),
    number object_link_weight,
    number agreement_exponent
));
recipe!(cspa, |s| tuned!(
    s,
    Cspa::new(s.clusters).seed(s.seed).memory_budget(s.budget),
    count restarts,
    word cut_method by CUTS
));
recipe!(hgpa, |s| tuned!(
    s,
    Hgpa::new(s.clusters).seed(s.seed).memory_budget(s.budget),
    count restarts,
    word cut_method by CUTS
));
recipe!(mcla, |s| tuned!(
    s,
    Mcla::new(s.clusters).seed(s.seed).memory_budget(s.budget),
    count restarts,
    word cut_method by CUTS
));
recipe!(hbgf, |s| tuned!(s, Hbgf::new(s.clusters).seed(s.seed), count restarts));
recipe!(lwgp, |s| tuned!(
    s,
    Lwgp::new(s.clusters).seed(s.seed),
    number entropy_scale,
    count restarts
));
recipe!(ecpcs_mc, |s| tuned!(
    s,
    EcpcsMc::new(s.clusters).seed(s.seed).memory_budget(s.budget),
    count steps,
    count restarts
));
recipe!(usenc, |s| tuned!(s, USenc::new(s.clusters).seed(s.seed), count restarts));
recipe!(diffusion, |s| tuned!(
    s,
    Diffusion::new(s.clusters).seed(s.seed),
    number entropy_scale,
    count steps,
    count width,
    count restarts
));
recipe!(soft mixture, |s| {
    let mixture = MixtureModel::new(s.clusters).seed(s.seed).memory_budget(s.budget);
    tuned!(s, mixture, count restarts, number tolerance, count max_iterations).soft()
});
recipe!(qmi, |s| tuned!(
    s,
    Qmi::new(s.clusters).seed(s.seed).memory_budget(s.budget),
    count restarts
));
recipe!(voting, |s| Voting::new(s.clusters).seed(s.seed));
recipe!(soft least_squares, |s| LeastSquares::new(s.clusters).seed(s.seed));
recipe!(soft walker, |s| {
    let walker = RandomWalker::new(s.clusters).memory_budget(s.budget);
    tuned!(s, walker, number link_preference, count neighbours).soft()
});
recipe!(soft pcc_kl, |s| probabilistic(s, crate::bregman::KullbackLeibler)?);
recipe!(soft pcc_l2, |s| probabilistic(s, crate::bregman::SquaredEuclidean)?);
recipe!(auto, |s| Recommended::new(s.clusters).seed(s.seed).memory_budget(s.budget));
