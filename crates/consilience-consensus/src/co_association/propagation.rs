use consilience_core::{MemoryBudget, Observer, Result, ensure, room};
use consilience_graph::{ClusterIncidence, ClusterOverlaps};
use ndarray::Array2;

use super::confidence::product;

/// The published default of t.
pub(crate) const STEPS: usize = 20;
/// Walks have long mixed by then.
const MAX_STEPS: usize = 1000;
/// Tables of C x C numbers that are held at one time while walks are compared.
pub(crate) const TABLES: usize = 6;

pub(crate) fn check_steps(steps: usize) -> Result<()> {
    ensure!((1..=MAX_STEPS).contains(&steps), invalid("{steps} steps; expected 1..={MAX_STEPS}"));
    Ok(())
}

/// How alike the clusters of an ensemble are by where random walks lead from them: clusters without
/// a common object are alike where their neighbours are.
///
/// The walk goes from cluster to cluster in proportion to their Jaccard coefficient; two clusters
/// are compared by the cosine of their trajectories, the distributions after 1, 2, ..., t steps. A
/// cluster that shares no object with any other is like none. The diagonal is 1.
///
/// ```
/// use consilience::{Ensemble, MemoryBudget, Microclusters, Partition};
/// use consilience::consensus::propagated_cluster_similarity;
/// use consilience::graph::ClusterIncidence;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1])?,
/// ])?;
/// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?)?;
/// let s = propagated_cluster_similarity(&incidence, 20, MemoryBudget::default(), &())?;
/// assert!(s[[0, 2]] > 0.8); // the same objects
/// assert_eq!(s[[0, 1]], 0.0); // nothing in common
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~ M^2 + C^3 log t) with C clusters in the ensemble: sums of powers by doubling. 48 C^2 bytes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for steps outside
/// 1..=1000, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory
/// budget, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Huang, Wang, Peng, Lai, Kwoh 2021, "Enhanced Ensemble Clustering via Fast Propagation of
/// Cluster-Wise Similarities", Section III-B. Two members make a bipartite graph of clusters, on
/// which the published walk never compares clusters of different members: there, a walker may also
/// stay (with coefficient 1), which is ours.
pub fn propagated_cluster_similarity(
    incidence: &ClusterIncidence,
    steps: usize,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    check_steps(steps)?;
    let c = incidence.n_clusters();
    budget.check_square("similarity of clusters", c, TABLES * size_of::<f64>())?;
    let jaccard = ClusterOverlaps::of(incidence, observer)?.jaccard()?;
    let labelling =
        (0..incidence.n_members()).filter(|&u| !incidence.clusters_of_member(u).is_empty()).count();
    let stay = labelling <= 2;
    let mut p = room::table(c, c)?;
    for i in 0..c {
        let links = || jaccard.entries(i).filter(|&(j, _)| stay || j != i);
        let degree: f64 = links().map(|(_, v)| v).sum();
        links().for_each(|(j, v)| p[[i, j]] = v / degree);
    }
    drop(jaccard);
    let g = trajectories(p, steps, observer)?;
    let norm: Vec<f64> = g.diag().iter().map(|d| d.sqrt()).collect();
    room::table_of(c, c, |(i, j)| {
        // From the upper triangle, so that both halves have the same bits.
        let (a, b) = (i.min(j), i.max(j));
        if a == b {
            1.0
        } else if g[[a, b]] > 0.0 {
            (g[[a, b]] / (norm[a] * norm[b])).min(1.0)
        } else {
            0.0
        }
    })
}

/// Sum of P^t (P^t)' over t = 1, ..., steps, by doubling: of m steps G_m, G_2m = G_m + P^m G_m
/// (P^m)' and G_(m+1) = P P' + P G_m P'. All terms are non-negative: nothing cancels, and zeros
/// stay zeros. Holds [`TABLES`], P among them.
fn trajectories(p: Array2<f64>, steps: usize, observer: &dyn Observer) -> Result<Array2<f64>> {
    let first = times(&p, &turned(&p)?, observer)?;
    let (mut g, mut power) = (room::copied_table(first.view())?, room::copied_table(p.view())?);
    let bits = usize::BITS - steps.leading_zeros();
    for bit in (0..bits - 1).rev() {
        observer.check()?;
        g += &on_both_sides(&power, &g, observer)?;
        let (last, odd) = (bit == 0, steps >> bit & 1 == 1);
        if !last {
            power = times(&power, &power, observer)?;
        }
        if odd {
            g = on_both_sides(&p, &g, observer)? + &first;
            if !last {
                power = times(&power, &p, observer)?;
            }
        }
    }
    Ok(g)
}

/// A G A'. The transpose is copied anew each time and held no longer than for its product: a
/// product with a view of it would be slower, and a copy that is kept takes a table more.
fn on_both_sides(a: &Array2<f64>, g: &Array2<f64>, observer: &dyn Observer) -> Result<Array2<f64>> {
    let right = times(g, &turned(a)?, observer)?;
    times(a, &right, observer)
}

fn turned(a: &Array2<f64>) -> Result<Array2<f64>> {
    room::copied_table(a.t())
}

fn times(a: &Array2<f64>, b: &Array2<f64>, observer: &dyn Observer) -> Result<Array2<f64>> {
    let mut out = room::table(a.nrows(), b.ncols())?;
    product(out.view_mut(), a.view(), b.view(), observer)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;

    #[test]
    fn doubling_equals_the_sum_of_powers() {
        let mut s = Seed(1).stream();
        let n = 70;
        let mut p = Array2::from_shape_fn((n, n), |(i, j)| {
            if i != j && i % 2 == j % 2 && s.uniform() < 0.2 { s.uniform() } else { 0.0 }
        });
        for mut row in p.rows_mut() {
            let sum = row.sum();
            if sum > 0.0 {
                row /= sum;
            }
        }
        for steps in [1, 2, 3, 4, 5, 7, 20, 31] {
            let mut power = Array2::eye(n);
            let mut expected = Array2::<f64>::zeros((n, n));
            for _ in 0..steps {
                power = power.dot(&p);
                expected += &power.dot(&power.t());
            }
            let found = trajectories(p.clone(), steps, &()).unwrap();
            for ((at, a), b) in found.indexed_iter().zip(&expected) {
                assert!((a - b).abs() <= 1e-12 * b, "{steps} steps {at:?}: {a} {b}");
            }
        }
    }
}
