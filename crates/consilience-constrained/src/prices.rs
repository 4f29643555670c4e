//! What the methods with prices on violated links share.

use consilience_core::{Dense, MemoryBudget, Pair, Result, SideInformation, ensure};

use crate::frame::{CHUNK, begins_twice};

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

/// Refuses what is held at the same time at most: the features, the sums of some of them and the
/// means of labelled sets; centres, three times; so many tables of sets in clusters; and the sets
/// that are apart, as many as are listed.
pub(crate) fn check_room(
    budget: MemoryBudget,
    features: &Dense<'_>,
    side: &SideInformation,
    clusters: usize,
    tables: usize,
    apart: usize,
) -> Result<()> {
    let (n, d) = (features.n_objects(), features.n_features());
    let sets = side.labelled_sets().len();
    // What the first start found is kept beside the second.
    let kept = usize::from(begins_twice(side, clusters));
    // Chunks are summed side by side, eight for each thread, over the groups that are in them.
    let summed = clusters.min(CHUNK).saturating_mul(8 * rayon::current_num_threads());
    let tables = [
        (n.saturating_add(n.min(summed)) + sets + (3 + kept) * clusters, d),
        (sets.saturating_mul(tables), clusters),
        (n, 3 + kept),
        // Of both sets of a pair; lists grow by doubling.
        (apart, 4),
    ];
    budget.check_tables("features and labelled sets in clusters", &tables, 8)
}
