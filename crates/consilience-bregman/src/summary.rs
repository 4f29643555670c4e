//! What soft memberships say beyond a partition.

use consilience_core::{Dense, Features, Memberships, Result, ensure};
use ndarray::{Array2, ArrayView2};

/// The clusters that survive: those that are the largest membership of some object, ascending.
///
/// K is only an upper bound in probabilistic consensus: clusters may end without any object. Since
/// columns are numbered by the first object that belongs to them most, those that survive usually
/// come first, in order.
///
/// ```
/// use consilience::Memberships;
/// use consilience::bregman::surviving_clusters;
/// use consilience::ndarray::array;
///
/// let soft = Memberships::new(array![[0.7, 0.1, 0.2], [0.1, 0.1, 0.8]])?;
/// assert_eq!(surviving_clusters(&soft), [0, 1]);
/// assert_eq!(soft.values()[[1, 1]], 0.8);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n K).
pub fn surviving_clusters(memberships: &Memberships) -> Vec<usize> {
    largest_columns(memberships.values(), memberships.evidence())
}

/// The columns that are the largest of some row with evidence, ascending.
pub(crate) fn largest_columns(values: ArrayView2<'_, f64>, evidence: &[f64]) -> Vec<usize> {
    let mut found = vec![false; values.ncols()];
    for (row, &evidence) in values.rows().into_iter().zip(evidence) {
        if evidence > 0.0 {
            found[(1..row.len()).fold(0, |b, c| if row[c] > row[b] { c } else { b })] = true;
        }
    }
    (0..found.len()).filter(|&c| found[c]).collect()
}

/// How much of each cluster is shared with each other: the K x K matrix
///
/// ```text
/// m_ij = sum_l y_il y_jl / sum_l y_il,
/// ```
///
/// the expected number of common objects over the expected size of cluster i. Entries of Y below
/// `threshold` are dropped first (the largest of a row always stays) and the rows rescaled to sum
/// 1, so that only clear overlaps are left. Row i sums to 1 with its diagonal; it is 0 for a
/// cluster without objects. Not symmetric: a small cluster inside a large one shares more of
/// itself. Objects without evidence are left out.
///
/// ```
/// use consilience::Memberships;
/// use consilience::bregman::cluster_relations;
/// use consilience::ndarray::array;
///
/// let soft = Memberships::new(array![[1.0, 0.0], [0.6, 0.4], [0.99, 0.01]])?;
/// let m = cluster_relations(&soft, 0.05)?;
/// assert!((m[[0, 1]] - 0.24 / 2.6).abs() < 1e-12);
/// assert!((m[[1, 0]] - 0.24 / 0.4).abs() < 1e-12);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n K^2).
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a threshold
/// outside `[0, 1)`.
///
/// # References
/// Lourenço et al. 2015, Section 7.
pub fn cluster_relations(memberships: &Memberships, threshold: f64) -> Result<Array2<f64>> {
    ensure!(
        (0.0..1.0).contains(&threshold),
        invalid("threshold {threshold}; expected at least 0 and below 1")
    );
    let k = memberships.n_clusters();
    let mut shared = Array2::<f64>::zeros((k, k));
    let mut mass = vec![0.0; k];
    let mut kept: Vec<(usize, f64)> = Vec::new();
    for (row, &evidence) in memberships.values().rows().into_iter().zip(memberships.evidence()) {
        if evidence == 0.0 {
            continue;
        }
        let best = (1..k).fold(0, |b, c| if row[c] > row[b] { c } else { b });
        kept.clear();
        kept.extend(
            row.iter()
                .copied()
                .enumerate()
                .filter(|&(c, y)| c == best || (y >= threshold && y > 0.0)),
        );
        let sum: f64 = kept.iter().map(|e| e.1).sum();
        for &(c, y) in &kept {
            mass[c] += y / sum;
            for &(l, z) in &kept {
                shared[[c, l]] += y / sum * (z / sum);
            }
        }
    }
    for (mut row, &mass) in shared.rows_mut().into_iter().zip(&mass) {
        if mass > 0.0 {
            row /= mass;
        }
    }
    Ok(shared)
}

/// The centre of each cluster, K x d: the mean of the objects' features, weighted by their
/// memberships.
///
/// `x_k = sum_i y_ki x_i / sum_i y_ki`. Row j is the centre of column j of the memberships, which
/// is label j of [`Memberships::hard`]. A cluster without objects gets the mean of all objects.
/// Objects without evidence are left out where any has some.
///
/// ```
/// use consilience::Memberships;
/// use consilience::bregman::centroids;
/// use consilience::ndarray::array;
///
/// let soft = Memberships::new(array![[1.0, 0.0], [0.5, 0.5]])?;
/// let x = array![[0.0, 3.0], [9.0, 0.0]];
/// assert_eq!(centroids(&soft, x.view().into())?, array![[3.0, 2.0], [9.0, 0.0]]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n K d).
///
/// # Errors
/// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for features of another
/// number of objects, [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) and
/// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) for bad features.
///
/// # References
/// Lourenço et al. 2015, Section 7.
pub fn centroids(memberships: &Memberships, features: Features<'_>) -> Result<Array2<f64>> {
    let features = features.dense()?;
    features.check()?;
    let (n, d) = (features.n_objects(), features.n_features());
    ensure!(
        memberships.n_objects() == n,
        shape("features of {n} objects, memberships of {}", memberships.n_objects())
    );
    let at = |i: usize, j: usize| match features {
        Dense::F32(x) => f64::from(x[[i, j]]),
        Dense::F64(x) => x[[i, j]],
    };
    let k = memberships.n_clusters();
    let any = memberships.evidence().iter().any(|&e| e > 0.0);
    // Running means: no sum that could overflow.
    let (mut centres, mut mass) = (Array2::<f64>::zeros((k + 1, d)), vec![0.0; k + 1]);
    for (i, row) in memberships.values().rows().into_iter().enumerate() {
        if any && memberships.evidence()[i] == 0.0 {
            continue;
        }
        for c in 0..=k {
            let weight = if c < k { row[c] } else { 1.0 };
            if weight > 0.0 {
                mass[c] += weight;
                let share = weight / mass[c];
                for j in 0..d {
                    let old = centres[[c, j]];
                    centres[[c, j]] = (1.0 - share) * old + share * at(i, j);
                }
            }
        }
    }
    Ok(Array2::from_shape_fn((k, d), |(c, j)| centres[[if mass[c] > 0.0 { c } else { k }, j]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{ErrorKind, Seed};
    use ndarray::array;

    #[test]
    fn relations_without_threshold_are_the_formula() {
        let mut random = Seed(3).stream();
        let mut y = Array2::from_shape_simple_fn((30, 4), || random.uniform().powi(2));
        for mut row in y.rows_mut() {
            let sum = row.sum();
            row /= sum;
        }
        let soft = Memberships::new(y).unwrap();
        let (m, y) = (cluster_relations(&soft, 0.0).unwrap(), soft.values());
        for i in 0..4 {
            for j in 0..4 {
                let expected = y.column(i).dot(&y.column(j)) / y.column(i).sum();
                assert!((m[[i, j]] - expected).abs() < 1e-12);
            }
            assert!((m.row(i).sum() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn empty_clusters_and_unlabelled_objects() {
        let soft = Memberships::with_evidence(
            array![[1.0, 0.0], [0.9, 0.1], [0.5, 0.5]],
            vec![1.0, 2.0, 0.0],
        )
        .unwrap();
        let m = cluster_relations(&soft, 0.2).unwrap();
        assert_eq!(m, array![[1.0, 0.0], [0.0, 0.0]]);
        assert_eq!(surviving_clusters(&soft), [0]);
        let x = array![[1.0f32], [3.0], [100.0]];
        let certain = Memberships::new(array![[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]).unwrap();
        let c = centroids(&certain, x.view().into()).unwrap();
        assert!((c[[1, 0]] - 104.0 / 3.0).abs() < 1e-12 && c[[0, 0]] == c[[1, 0]]);
        assert_eq!(centroids(&soft, x.view().into()).unwrap()[[1, 0]], 3.0);
        for delta in [-0.1, 1.0, f64::NAN] {
            assert_eq!(
                cluster_relations(&soft, delta).unwrap_err().kind(),
                ErrorKind::InvalidParameter
            );
        }
        let short = array![[1.0]];
        assert_eq!(
            centroids(&soft, short.view().into()).unwrap_err().kind(),
            ErrorKind::ShapeMismatch
        );
    }
}
