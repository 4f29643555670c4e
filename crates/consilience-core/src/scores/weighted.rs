use super::Normalizer;
use crate::Partition;

/// Tables up to this many entries are counted in a dense array.
const DENSE: usize = 1 << 20;

/// Normalized mutual information of two partitions of weighted nodes: that of the objects, where a
/// node weighs as many objects as it holds. `None` where no node is labelled in both.
///
/// For comparing clusterings of microclusters without expanding them; on objects use
/// [`normalized_mutual_information`](super::normalized_mutual_information), whose conventions this
/// follows: 1 where both are a single cluster, 0 where only one is.
///
/// ```
/// use consilience::{Partition, scores::{Normalizer, weighted_nmi}};
///
/// let a = Partition::from_labels(&[0, 1, 1])?;
/// let b = Partition::from_labels(&[0, 0, 1])?;
/// // The middle node is empty of objects: the two agree.
/// assert!((weighted_nmi(&a, &b, &[5.0, 0.0, 3.0], Normalizer::Max).unwrap() - 1.0).abs() < 1e-12);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~ + k_a k_b) for small tables, O(n~ log n~) otherwise.
pub fn weighted_nmi(a: &Partition, b: &Partition, weights: &[f64], by: Normalizer) -> Option<f64> {
    let cells = cells(a, b, weights);
    let mut sums = (vec![0.0; a.n_clusters()], vec![0.0; b.n_clusters()]);
    for &(i, j, w) in &cells {
        sums.0[i] += w;
        sums.1[j] += w;
    }
    nmi_of_cells(&sums.0, &sums.1, cells.into_iter(), by)
}

/// The same of a table: its sums over rows and columns, and its cells above 0 row by row.
#[doc(hidden)]
pub fn nmi_of_cells(
    rows: &[f64],
    columns: &[f64],
    cells: impl Iterator<Item = (usize, usize, f64)>,
    by: Normalizer,
) -> Option<f64> {
    let n: f64 = rows.iter().sum();
    if !(n > 0.0) {
        return None;
    }
    let occupied = |sums: &[f64]| sums.iter().filter(|&&s| s > 0.0).count();
    if occupied(rows) == 1 && occupied(columns) == 1 {
        return Some(1.0);
    }
    let entropy = |sums: &[f64]| -> f64 {
        sums.iter().filter(|&&s| s > 0.0).map(|&s| s / n * (n / s).ln()).sum()
    };
    let (first, second) = (entropy(rows), entropy(columns));
    let mutual: f64 = cells.map(|(i, j, w)| w / n * (n * w / (rows[i] * columns[j])).ln()).sum();
    let mutual = mutual.clamp(0.0, first.min(second));
    Some(if mutual > 0.0 { (mutual / by.of(first, second)).min(1.0) } else { 0.0 })
}

/// Weight of each pair of clusters that shares any, in order.
fn cells(a: &Partition, b: &Partition, weights: &[f64]) -> Vec<(usize, usize, f64)> {
    let (ka, kb) = (a.n_clusters(), b.n_clusters());
    let labelled = a.iter().zip(b.iter()).zip(weights).filter_map(|((a, b), &w)| Some((a?, b?, w)));
    if ka.saturating_mul(kb) <= DENSE {
        let mut table = vec![0.0; ka * kb];
        labelled.for_each(|(i, j, w)| table[i * kb + j] += w);
        let cells = table.into_iter().enumerate().filter(|&(_, w)| w > 0.0);
        return cells.map(|(at, w)| (at / kb, at % kb, w)).collect();
    }
    let mut cells: Vec<(usize, usize, f64)> = labelled.filter(|c| c.2 > 0.0).collect();
    cells.sort_by_key(|&(i, j, _)| (i, j));
    cells.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seed, scores};

    #[test]
    fn equals_the_score_of_the_objects() {
        let mut s = Seed(1).stream();
        for (nodes, k) in [(1, 1), (7, 3), (40, 5), (3000, 1500)] {
            let mut draw = |k: usize| -> Partition {
                let labels: Vec<i64> = (0..nodes).map(|_| s.below(k + 1) as i64 - 1).collect();
                Partition::from_labels(&labels).unwrap()
            };
            let (a, b) = (draw(k), draw(k + 1));
            let sizes: Vec<usize> = (0..nodes).map(|i| 1 + i * 7 % 4).collect();
            let objects: Vec<usize> =
                (0..nodes).flat_map(|i| std::iter::repeat_n(i, sizes[i])).collect();
            let weights: Vec<f64> = sizes.iter().map(|&s| s as f64).collect();
            for by in [Normalizer::Max, Normalizer::Sqrt, Normalizer::Arithmetic, Normalizer::Min] {
                let (x, y) = (a.select(&objects).unwrap(), b.select(&objects).unwrap());
                match (
                    scores::normalized_mutual_information(&x, &y, by),
                    weighted_nmi(&a, &b, &weights, by),
                ) {
                    (Ok(theirs), Some(ours)) => {
                        assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}")
                    }
                    (Err(_), None) => {}
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}
