//! How the methods are made from settings.

use super::method::Recipe;
use super::{AnyConsensus, Settings};
use crate::bregman::{Divergence, Pairs, Pcc};
use crate::completion::{EcmcAl, Penalty};
use crate::consensus::*;
use crate::graph::CutMethod;
use crate::trust::Recommended;
use crate::walk::*;
use crate::{Error, Linkage, Result};

/// Sets what was given: each parameter by the setter of its name.
macro_rules! tuned {
    ($settings:expr, $value:expr $(, $kind:ident $name:ident)*) => {{
        #[allow(unused_mut)]
        let mut value = $value;
        $(
            if let Some(given) = $settings.$kind(stringify!($name))? {
                value = value.$name(given);
            }
        )*
        value
    }};
}

/// The same for a new one, within the memory budget.
macro_rules! budgeted {
    ($s:expr, $type:ident $($tuning:tt)*) => {
        tuned!($s, $type::new($s.clusters).memory_budget($s.budget) $($tuning)*)
    };
}

/// The same for one that draws.
macro_rules! seeded {
    ($s:expr, $type:ident $($tuning:tt)*) => {
        tuned!($s, $type::new($s.clusters).seed($s.seed).memory_budget($s.budget) $($tuning)*)
    };
}

/// The recipe of a method from an expression of its [`AnyConsensus`], and whether it grows a
/// dendrogram.
macro_rules! recipe {
    ($name:ident, $tree:expr, |$s:ident| $make:expr) => {
        pub(super) const $name: Recipe = Recipe { make: |$s| Ok($make), tree: $tree };
    };
}

/// A hard method that grows a dendrogram.
macro_rules! tree {
    ($name:ident, |$s:ident| $make:expr) => {
        recipe!($name, Some(|$s| Ok(Box::new($make))), |$s| AnyConsensus::hard($make));
    };
}

/// A hard method.
macro_rules! hard {
    ($name:ident, |$s:ident| $make:expr) => {
        recipe!($name, None, |$s| AnyConsensus::hard($make));
    };
}

/// A cut of a graph.
macro_rules! cut {
    ($name:ident, $type:ident) => {
        hard!($name, |s| {
            starts_of_cut(s)?;
            seeded!(s, $type, count restarts, word cut_method)
        });
    };
}

/// A soft method.
macro_rules! soft {
    ($name:ident, |$s:ident| $make:expr) => {
        recipe!($name, None, |$s| AnyConsensus::soft($make));
    };
}

/// Sets what methods on walks have in common.
macro_rules! walking {
    ($s:expr, $value:expr) => {{
        let plain = $value;
        let published = $s.flag("published")?.unwrap_or(false);
        let value = if published { plain.published() } else { plain };
        tuned!(
            $s,
            value,
            count elite_neighbours,
            count walk_length,
            word measure,
            word solver
        )
    }};
}

fn walks(s: &Settings, linkage: Linkage) -> Result<Pta> {
    Ok(walking!(s, Pta::new(s.clusters).linkage(linkage).memory_budget(s.budget)))
}

fn evidence(s: &Settings, linkage: Linkage) -> EvidenceAccumulation {
    EvidenceAccumulation::new(s.clusters).linkage(linkage).memory_budget(s.budget)
}

fn links(s: &Settings, of: LinkBased) -> Result<LinkBased> {
    let of = of.memory_budget(s.budget);
    Ok(tuned!(s, of, number decay, word linkage))
}

/// Refuses random starts for a cut that has none to choose from.
fn starts_of_cut(s: &Settings) -> Result<()> {
    let cut: CutMethod = s.word("cut_method")?.unwrap_or_default();
    if s.count("restarts")?.is_some() && cut != CutMethod::Spectral {
        return Err(Error::invalid("restarts: only with cut_method=spectral"));
    }
    Ok(())
}

/// Fewest objects of a region where it is not said.
const REGION: usize = 5;

fn walker(s: &Settings) -> Result<RandomWalker> {
    let walker = RandomWalker::new(s.clusters).memory_budget(s.budget);
    let least = s.count("region")?;
    let agreed = SeedRule::Agreement { least: least.unwrap_or(REGION) };
    let rules = [("supported", SeedRule::Supported), ("agreement", agreed)];
    let rule = s.among("seeds", &rules)?.unwrap_or_default();
    // The default says nothing new.
    if least.is_some_and(|least| least != REGION) && rule != agreed {
        return Err(Error::invalid("region: only with seeds=agreement"));
    }
    Ok(tuned!(s, walker.seeds(rule), number link_preference, count neighbours))
}

fn completed(s: &Settings) -> Result<EcmcAl> {
    let mut ecmc = seeded!(s, EcmcAl, flag entries, word linkage);
    if let Some(c) = s.number("c")? {
        ecmc = ecmc.penalty(Penalty::Scaled(c));
    }
    match (s.number("d0")?, s.number("d1")?) {
        (Some(low), Some(high)) => Ok(ecmc.thresholds(low, high)),
        (None, None) => Ok(ecmc),
        _ => Err(Error::invalid("d0 or d1 alone; expected both, or none of the two")),
    }
}

fn probabilistic(s: &Settings, divergence: impl Divergence + 'static) -> Result<Pcc> {
    let mut pcc = seeded!(
        s,
        Pcc,
        count restarts,
        number tolerance,
        count max_iterations,
        word solver,
        flag collapse
    )
    .divergence(divergence);
    if let Some(share) = s.number("pairs")? {
        pcc = pcc.pairs(if share == 1.0 { Pairs::All } else { Pairs::Sampled { share } });
    }
    Ok(pcc)
}

tree!(PTA_AL, |s| walks(s, Linkage::Average)?);
tree!(PTA_CL, |s| walks(s, Linkage::Complete)?);
tree!(PTA_SL, |s| walks(s, Linkage::Single)?);
tree!(EAC_AL, |s| tuned!(s, evidence(s, Linkage::Average), word linkage));
tree!(EAC_CL, |s| evidence(s, Linkage::Complete));
tree!(EAC_SL, |s| evidence(s, Linkage::Single));
tree!(EAC_WARD, |s| evidence(s, Linkage::Ward));
hard!(PTGP, |s| tuned!(s, walking!(s, seeded!(s, Ptgp)), count restarts, count dense_limit));
tree!(WEAC, |s| budgeted!(s, Weac, number agreement_exponent, word linkage));
tree!(LWEA, |s| budgeted!(s, Lwea, number entropy_scale, word linkage));
tree!(EC_CMS, |s| budgeted!(
    s,
    EcCms,
    number confidence,
    number largest_share,
    number error_penalty,
    number entropy_scale,
    number tolerance,
    count max_iterations,
    count largest_component,
    word linkage
));
tree!(SDGCA, |s| budgeted!(
    s,
    Sdgca,
    number entropy_scale,
    number confidence,
    number must_link,
    count steps,
    number tolerance,
    count max_iterations,
    count largest_component,
    word linkage
));
tree!(ECPCS_HC, |s| budgeted!(s, EcpcsHc, count steps, word linkage));
tree!(WCT, |s| links(s, LinkBased::wct(s.clusters))?);
tree!(SRS, |s| tuned!(s, links(s, LinkBased::srs(s.clusters))?, count iterations));
tree!(ECMC, |s| completed(s)?);
hard!(GP_MGLA, |s| budgeted!(s, GpMgla, number object_link_weight, number agreement_exponent));
cut!(CSPA, Cspa);
cut!(HGPA, Hgpa);
cut!(MCLA, Mcla);
hard!(HBGF, |s| seeded!(s, Hbgf, count restarts));
hard!(LWGP, |s| seeded!(s, Lwgp, number entropy_scale, count restarts));
hard!(ECPCS_MC, |s| seeded!(s, EcpcsMc, count steps, count restarts));
hard!(USENC, |s| seeded!(s, USenc, count restarts));
hard!(DIFFUSION, |s| seeded!(
    s,
    Diffusion,
    number entropy_scale,
    count steps,
    count width,
    count restarts
));
soft!(MIXTURE, |s| {
    let mixture = seeded!(
        s,
        MixtureModel,
        flag random_starts,
        count restarts,
        number tolerance,
        count max_iterations
    );
    mixture.soft()
});
hard!(QMI, |s| seeded!(s, Qmi, count restarts));
hard!(VOTING, |s| seeded!(s, Voting, count max_iterations));
soft!(LEAST_SQUARES, |s| seeded!(s, LeastSquares, count max_iterations));
soft!(WALKER, |s| walker(s)?.soft());
recipe!(PCC_KL, None, |s| {
    AnyConsensus::counted(probabilistic(s, crate::bregman::KullbackLeibler)?, s.clusters)
});
recipe!(PCC_L2, None, |s| {
    AnyConsensus::counted(probabilistic(s, crate::bregman::SquaredEuclidean)?, s.clusters)
});
hard!(AUTO, |s| seeded!(s, Recommended, count dense_limit, count linkage_limit));
