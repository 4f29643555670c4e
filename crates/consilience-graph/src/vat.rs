use consilience_core::{Observer, Result, SimilarityGraph};

/// An order of the nodes in which clusters stand side by side: visual assessment of tendency (VAT).
///
/// A similarity matrix whose rows and columns are put in this order shows its clusters as blocks
/// along the diagonal, so a picture of it tells how many there are and how sharp they are, before
/// any clustering. The first node is one of the least similar pair; then comes, again and again,
/// the node most similar to any that is already in place, as in Prim's algorithm for the minimum
/// spanning tree. Of equals the first.
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::graph::{CoAssociation, vat_order};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 1, 0, 1, 0])?,
///     Partition::from_labels(&[0, 1, 2, 1, 0])?,
///     Partition::from_labels(&[0, 1, 0, 2, 2])?,
/// ])?;
/// let graph = CoAssociation::default().similarity(&ensemble)?;
/// assert_eq!(vat_order(&graph, &())?, [0, 2, 4, 3, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(nodes^2) time, O(nodes) memory beside the graph.
///
/// # Errors
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled) where the observer asked for
/// it.
///
/// # References
/// Bezdek, Hathaway 2002, "VAT: a tool for visual assessment of (cluster) tendency".
#[doc(alias = "visual assessment of tendency")]
pub fn vat_order(graph: &SimilarityGraph, observer: &dyn Observer) -> Result<Vec<usize>> {
    let weights = graph.weights();
    let n = weights.nrows();
    if n == 0 {
        return Ok(Vec::new());
    }
    let mut first = (0, f64::INFINITY);
    for i in 0..n {
        observer.check()?;
        let least = weights.row(i).iter().skip(i + 1).copied().fold(f64::INFINITY, f64::min);
        if least < first.1 {
            first = (i, least);
        }
    }
    // How similar each node outside is to the most similar one in place; a node in place has none.
    let mut nearness = vec![f64::NEG_INFINITY; n];
    let mut placed = vec![false; n];
    let mut order = Vec::with_capacity(n);
    let mut next = first.0;
    loop {
        observer.check()?;
        placed[next] = true;
        order.push(next);
        let row = weights.row(next);
        let mut best = None;
        for j in (0..n).filter(|&j| !placed[j]) {
            nearness[j] = nearness[j].max(row[j]);
            if best.is_none_or(|b: usize| nearness[j] > nearness[b]) {
                best = Some(j);
            }
        }
        match best {
            Some(j) => next = j,
            None => return Ok(order),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CoAssociation;
    use consilience_conformance::{planted, small_worlds};
    use consilience_core::{Seed, Similarity};

    #[test]
    fn clusters_stand_side_by_side() {
        let planted = planted(Seed(3), &[30, 20, 10], 8, 0.0, 0.1).unwrap();
        let graph = CoAssociation::default().similarity(&planted.ensemble).unwrap();
        let order = vat_order(&graph, &()).unwrap();
        let truth: Vec<usize> = order
            .iter()
            .map(|&node| {
                let object =
                    graph.grouping().of_object().iter().position(|&g| g as usize == node).unwrap();
                planted.truth.label(object).unwrap()
            })
            .collect();
        let changes = truth.windows(2).filter(|w| w[0] != w[1]).count();
        assert_eq!(changes, 2, "{truth:?}");
    }

    /// Every step takes a node that no other beats, and each node comes once.
    #[test]
    fn each_step_is_the_nearest() {
        for ensemble in small_worlds(4, 2) {
            let graph = CoAssociation::default().similarity(&ensemble).unwrap();
            let order = vat_order(&graph, &()).unwrap();
            let w = graph.weights();
            let n = w.nrows();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..n).collect::<Vec<_>>());
            let near = |placed: &[usize], j: usize| {
                placed.iter().map(|&i| w[[i, j]]).fold(f64::MIN, f64::max)
            };
            for t in 1..n {
                let (placed, rest) = order.split_at(t);
                let chosen = near(placed, rest[0]);
                assert!(rest.iter().all(|&j| near(placed, j) <= chosen));
            }
            if n > 1 {
                let least = |i: usize| {
                    (0..n).filter(|&j| j != i).map(|j| w[[i, j]]).fold(f64::MAX, f64::min)
                };
                let overall = (0..n).map(least).fold(f64::MAX, f64::min);
                assert_eq!(least(order[0]), overall);
            }
        }
    }
}
