//! Agglomeration by definition: the similarity of two clusters from all pairs of their leaves, anew
//! at every step.

use crate::numbers::{Matrix, numbered};
use crate::worlds::Random;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Linkage {
    Average,
    Complete,
    Single,
}

/// Labels of the leaves at k clusters, and the similarities at which the last merges happened
/// (from k clusters down to one).
pub(crate) struct Cut {
    pub(crate) labels: Vec<usize>,
    pub(crate) merges: Vec<f64>,
}

/// The cut into k; none where another way of breaking ties (merges within 1e-9 of the best) leads
/// to another one.
pub(crate) fn cut(similarity: &Matrix, linkage: Linkage, k: usize) -> Option<Cut> {
    let first = agglomerate(similarity, linkage, k, &mut Random::new(0));
    for seed in 1..8 {
        let other = agglomerate(similarity, linkage, k, &mut Random::new(seed));
        let apart = first.merges.iter().zip(&other.merges).any(|(a, b)| (a - b).abs() > 1e-9);
        if other.labels != first.labels || apart {
            return None;
        }
    }
    Some(first)
}

fn agglomerate(similarity: &Matrix, linkage: Linkage, k: usize, random: &mut Random) -> Cut {
    let n = similarity.len();
    let mut clusters: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
    let (mut labels, mut merges) = (Vec::new(), Vec::new());
    while clusters.len() > 1 {
        if clusters.len() == k {
            let of = |i: usize| clusters.iter().position(|c| c.contains(&i)).unwrap_or(0);
            labels = numbered(&(0..n).map(of).collect::<Vec<_>>());
        }
        let mut pairs = Vec::new();
        for b in 0..clusters.len() {
            for a in 0..b {
                pairs.push((alike(similarity, linkage, &clusters[a], &clusters[b]), a, b));
            }
        }
        let best = pairs.iter().fold(f64::NEG_INFINITY, |m, p| m.max(p.0));
        let equal: Vec<_> = pairs.iter().filter(|p| p.0 >= best - 1e-9).collect();
        let &&(height, a, b) = &equal[random.below(equal.len())];
        if clusters.len() <= k {
            merges.push(height);
        }
        let taken = clusters.remove(b);
        clusters[a].extend(taken);
    }
    Cut { labels, merges }
}

fn alike(similarity: &Matrix, linkage: Linkage, a: &[usize], b: &[usize]) -> f64 {
    let pairs = a.iter().flat_map(|&i| b.iter().map(move |&j| similarity[i][j]));
    match linkage {
        Linkage::Average => pairs.sum::<f64>() / (a.len() * b.len()) as f64,
        Linkage::Complete => pairs.fold(f64::INFINITY, f64::min),
        Linkage::Single => pairs.fold(f64::NEG_INFINITY, f64::max),
    }
}
