//! What SDGCA starts from: the co-association weighted by certainty, must-links and cannot-links.

use consilience_core::{
    Error, MemoryBudget, Microclusters, Observer, Report, Result, Similarity, SimilarityGraph,
};
use consilience_graph::{ClusterIncidence, ClusterOverlaps, CountRow, EvidenceWeights};
use ndarray::Array2;
use rayon::prelude::*;

use crate::EnhancedCoAssociation;
use crate::co_association::confidence::own_objects;

/// Weights below this would vanish when multiplied.
const LEAST: f64 = 1e-100;
/// The dissimilarity from which on two objects cannot belong together, on the grid.
const CANNOT_LINK: f64 = 0.8;
/// Dissimilarities are compared on a grid: what is equal but for the order of its sums is equal.
const UNIT: f64 = 1.0 / (1u64 << 32) as f64;

/// N: clusters weigh exp(-H / (lambda log2 K)), with H the mean entropy of the members inside one
/// and K the number of clusters of its own member; over the largest entry.
pub(super) fn normalized(
    nodes: &Microclusters,
    incidence: &ClusterIncidence,
    lambda: f64,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<SimilarityGraph> {
    incidence.check_overlaps(budget)?;
    let entropy = ClusterOverlaps::of(incidence, observer)?.uncertainty();
    let weight = |(c, h): (usize, f64)| {
        let clusters = incidence.clusters_of_member(incidence.member_of(c)).len() as f64;
        let weight = if h == 0.0 { 1.0 } else { (-h / (lambda * clusters.log2())).exp() };
        weight.max(LEAST)
    };
    let clusters = entropy.into_iter().enumerate().map(weight).collect();
    let members = EvidenceWeights::equal(incidence).members;
    let weights = EvidenceWeights::new(clusters, members);
    let graph = weights.co_association(nodes, incidence, budget, observer)?;
    let (grouping, mut n) = graph.into_parts();
    let largest = n.iter().fold(0.0f64, |m, &x| m.max(x));
    if largest > 0.0 {
        n.mapv_inplace(|x| x / largest);
    }
    own_objects(nodes, &mut n);
    observer.check()?;
    SimilarityGraph::new_observed(grouping, n, observer)
}

/// Must-links as positive, cannot-links as negative numbers, 0 where there are neither; and the
/// must-link of an object with itself.
pub(super) fn targets(
    nodes: &Microclusters,
    n: &Array2<f64>,
    must_link: f64,
    steps: usize,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<(Array2<f64>, f64)> {
    let alike = EnhancedCoAssociation::default().steps(steps).memory_budget(budget);
    let alike = alike.between(nodes, &mut Report::default(), observer)?;
    let (_, mut targets) = alike.into_parts();
    let count = n.nrows();
    let scratch = CountRow::new(nodes)?;
    let cannot_link = (CANNOT_LINK / UNIT).round() * UNIT;
    let rows: Vec<_> = targets.outer_iter_mut().enumerate().collect();
    // The targets before they are rescaled, and the smallest of all.
    let least = rows.into_par_iter().map_init(
        || scratch.clone(),
        |counts, (i, mut row)| {
            if i % 64 == 0 {
                observer.check()?;
            }
            counts.fill(nodes, i);
            let mut least = f64::INFINITY;
            for j in 0..count {
                let must = if counts.ratio(j) >= must_link { n[[i, j]] } else { 0.0 };
                least = least.min(must);
                let apart = ((1.0 - row[j]) / UNIT).round() * UNIT;
                let cannot = i != j && counts.both()[j] > 0 && apart >= cannot_link;
                row[j] = if cannot { -apart } else { must };
            }
            Ok::<f64, Error>(least)
        },
    );
    let least = least.collect::<Result<Vec<f64>>>()?.into_iter().fold(f64::INFINITY, f64::min);
    targets.mapv_inplace(|t| if t > 0.0 { rescaled(t, least) } else { t });
    Ok((targets, if must_link <= 1.0 { rescaled(1.0, least) } else { 0.0 }))
}

/// From the smallest must-link to 1 onto 0.8 to 1; the smallest itself is none.
fn rescaled(must: f64, least: f64) -> f64 {
    if least >= 1.0 {
        1.0
    } else if must - least < 1e-12 {
        0.0
    } else {
        (must - least) / (1.0 - least) / 5.0 + 0.8
    }
}
