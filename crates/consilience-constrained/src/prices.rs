//! What the methods with prices on violated links share.

use consilience_core::{Pair, Result, SideInformation, ensure};

/// Sweeps over the labelled objects between two updates of the centres.
pub(crate) const SWEEPS: usize = 20;

/// The least cost, `favourite` among equals, then the lowest.
pub(crate) fn cheapest(costs: &[f64], favourite: usize) -> usize {
    (0..costs.len()).fold(favourite, |best, h| if costs[h] < costs[best] { h } else { best })
}

/// Whether a move lowers the cost by more than rounding.
pub(crate) fn pays(new: f64, old: f64) -> bool {
    new < old - 1e-12 * old.abs()
}

/// Refuses weights that are no price.
pub(crate) fn check_weight(weight: f64) -> Result<()> {
    ensure!(weight >= 0.0 && weight.is_finite(), invalid("weight {weight}; expected at least 0"));
    Ok(())
}

/// Must-links, then cannot-links, at most `limit` of a kind.
pub(crate) fn linked_pairs(side: &SideInformation, limit: usize) -> Vec<Pair> {
    let (must, cannot) = side.links_up_to(limit);
    let must = must.into_iter().map(|(i, j)| Pair::must_link(i, j));
    must.chain(cannot.into_iter().map(|(i, j)| Pair::cannot_link(i, j))).collect()
}
