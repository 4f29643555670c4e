use consilience_core::{Link, Pair};

/// The pairs of each kind, must-links first, and what one of them weighs. With `balance`,
/// must-links and cannot-links weigh as much as each other; the weights sum to the number of
/// constraints either way.
pub(super) fn by_kind(
    constraints: impl Iterator<Item = Pair>,
    balance: bool,
) -> [(Link, Vec<Pair>, f64); 2] {
    let (must, cannot): (Vec<_>, Vec<_>) = constraints.partition(|pair| pair.link == Link::Must);
    let half = (must.len() + cannot.len()) as f64 / 2.0;
    let balanced = balance && !must.is_empty() && !cannot.is_empty();
    [(Link::Must, must), (Link::Cannot, cannot)].map(|(link, pairs)| {
        let weight = if balanced { half / pairs.len() as f64 } else { 1.0 };
        (link, pairs, weight)
    })
}
