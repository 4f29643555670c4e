use super::matching::assign;
#[cfg(any(doc, test))]
use crate::ErrorKind;
use crate::{Memberships, MemoryBudget, Result, ensure, room};

/// Jensen-Shannon divergence in bits between two soft clusterings, under the best matching of
/// clusters.
///
/// The soft counterpart of `1 - accuracy`: 0 for equal memberships up to the order of clusters, at
/// most 1, and lower is better. Between hard memberships it is exactly the fraction of objects that
/// disagree. The numbers of clusters may differ (empty ones are added). Objects with evidence 0 in
/// either are left out.
///
/// `J(Y, Z) = min_P (1/n) sum_i D_JS(y_i || P z_i)` over permutations `P`, with
/// `D_JS(u || v) = (KL(u || w) + KL(v || w)) / 2`, `w = (u + v) / 2` and logarithms to base 2.
///
/// ```
/// use consilience::{Memberships, scores};
/// use consilience::ndarray::array;
/// let y = Memberships::new(array![[0.9, 0.1], [0.2, 0.8]])?;
/// let swapped = Memberships::new(array![[0.1, 0.9], [0.8, 0.2]])?;
/// assert_eq!(scores::jensen_shannon(&y, &swapped)?, 0.0);
/// let z = Memberships::new(array![[1.0, 0.0], [0.0, 1.0]])?;
/// let j = scores::jensen_shannon(&y, &z)?;
/// assert!(0.0 < j && j < 0.1);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n k_a k_b + max(k_a, k_b)^3) time, O(max(k_a, k_b)^2) memory: the divergence is a sum over
/// clusters, so the best matching is an assignment problem.
///
/// # Errors
/// [`ErrorKind::ShapeMismatch`] with both lengths where they differ, [`ErrorKind::Empty`] where no
/// object has evidence in both, [`ErrorKind::TooLarge`] beyond 8192 clusters.
///
/// # References
/// Lourenço et al. (2015), Probabilistic consensus clustering using evidence accumulation, Machine
/// Learning 98:331-357, section 7 (J); Lin (1991), IEEE Trans. Information Theory 37:145-151.
#[doc(alias = "J")]
pub fn jensen_shannon(a: &Memberships, b: &Memberships) -> Result<f64> {
    jensen_shannon_within(a, b, MemoryBudget::default())
}

/// As [`jensen_shannon`], for a given memory budget: it matches clusters in a table of all their
/// pairs, 8 bytes each.
///
/// ```
/// use consilience::{ErrorKind, Memberships, MemoryBudget, scores};
/// use consilience::ndarray::array;
/// let y = Memberships::new(array![[0.9, 0.1], [0.2, 0.8]])?;
/// let within = |bytes| scores::jensen_shannon_within(&y, &y, MemoryBudget::bytes(bytes));
/// assert_eq!(within(32)?, 0.0);
/// assert_eq!(within(31).unwrap_err().kind(), ErrorKind::TooLarge);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// As [`jensen_shannon`].
///
/// # Errors
/// As [`jensen_shannon`]; [`ErrorKind::TooLarge`] beyond the budget.
pub fn jensen_shannon_within(
    a: &Memberships,
    b: &Memberships,
    budget: MemoryBudget,
) -> Result<f64> {
    let (n, m) = (a.n_objects(), b.n_objects());
    ensure!(n == m, shape("memberships of {n} and of {m} objects cannot be compared"));
    let k = a.n_clusters().max(b.n_clusters());
    super::matching::check_table("jensen_shannon", k, k)?;
    budget.check_square("jensen_shannon: pairs of clusters", k, 8)?;
    let known: Vec<usize> =
        (0..a.n_objects()).filter(|&i| a.evidence()[i] > 0.0 && b.evidence()[i] > 0.0).collect();
    ensure!(
        !known.is_empty(),
        empty("none of {} objects has evidence in both memberships", a.n_objects())
    );
    let mut cost = room::table::<f64>(k, k)?;
    let (y, z) = (a.values(), b.values());
    for &i in &known {
        for c in 0..k {
            let u = if c < y.ncols() { y[[i, c]] } else { 0.0 };
            for l in 0..k {
                let v = if l < z.ncols() { z[[i, l]] } else { 0.0 };
                cost[[c, l]] += share(u, v);
            }
        }
    }
    let cost = cost.into_raw_vec_and_offset().0;
    let assigned = assign(k, k, &cost)?;
    let total: f64 = assigned.iter().enumerate().map(|(c, &l)| cost[c * k + l]).sum();
    Ok((total / known.len() as f64).clamp(0.0, 1.0))
}

/// What one cluster adds to the divergence of one object: `(u log2(u/w) + v log2(v/w)) / 2`, never
/// negative.
fn share(u: f64, v: f64) -> f64 {
    if u == v {
        return 0.0;
    }
    if u == 0.0 || v == 0.0 {
        return 0.5 * (u + v);
    }
    let w = 0.5 * (u + v);
    (0.5 * (u * (u / w).log2() + v * (v / w).log2())).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Partition, Seed, scores};
    use ndarray::{Array2, array};

    fn random_memberships(n: usize, k: usize, seed: u64) -> Memberships {
        let mut s = Seed(seed).stream();
        let mut values = Array2::from_shape_fn((n, k), |_| s.uniform().powi(3));
        for mut row in values.rows_mut() {
            let sum = row.sum();
            row /= sum;
        }
        Memberships::new(values).unwrap()
    }

    /// The definition, over all permutations of padded rows.
    fn naive(a: &Memberships, b: &Memberships) -> f64 {
        let k = a.n_clusters().max(b.n_clusters());
        let mut order: Vec<usize> = (0..k).collect();
        let mut best = f64::INFINITY;
        permutations(&mut order, 0, &mut |p| {
            let mut sum = 0.0;
            for i in 0..a.n_objects() {
                let at = |m: &Memberships, c: usize| {
                    if c < m.n_clusters() { m.values()[[i, c]] } else { 0.0 }
                };
                let kl = |u: f64, w: f64| if u > 0.0 { u * (u / w).log2() } else { 0.0 };
                for c in 0..k {
                    let (u, v) = (at(a, c), at(b, p[c]));
                    sum += 0.5 * (kl(u, 0.5 * (u + v)) + kl(v, 0.5 * (u + v)));
                }
            }
            best = best.min(sum / a.n_objects() as f64);
        });
        best
    }

    fn permutations(order: &mut Vec<usize>, from: usize, visit: &mut dyn FnMut(&[usize])) {
        if from == order.len() {
            return visit(order);
        }
        for i in from..order.len() {
            order.swap(from, i);
            permutations(order, from + 1, visit);
            order.swap(from, i);
        }
    }

    #[test]
    fn matching_equals_the_best_permutation() {
        for (round, (ka, kb)) in [(1, 1), (2, 2), (4, 4), (2, 5), (5, 3)].into_iter().enumerate() {
            let a = random_memberships(20, ka, round as u64);
            let b = random_memberships(20, kb, 100 + round as u64);
            let (fast, slow) = (jensen_shannon(&a, &b).unwrap(), naive(&a, &b));
            assert!((fast - slow).abs() < 1e-12, "{fast} {slow}");
            assert!((fast - jensen_shannon(&b, &a).unwrap()).abs() < 1e-12);
        }
    }

    #[test]
    fn hard_memberships_give_one_minus_accuracy() {
        let p = Partition::from_labels(&[0, 0, 1, 1, 2, -1]).unwrap();
        let q = Partition::from_labels(&[1, 1, 1, 0, 0, 0]).unwrap();
        let j = jensen_shannon(&Memberships::from(&p), &Memberships::from(&q)).unwrap();
        assert!((j - (1.0 - scores::accuracy(&p, &q).unwrap())).abs() < 1e-15);
    }

    #[test]
    fn worked_by_hand() {
        // (1, 0) against (1/2, 1/2): w = (3/4, 1/4), J = (log2(4/3) + log2(2/3) / 2 + 1/2) / 2.
        let a = Memberships::new(array![[1.0, 0.0]]).unwrap();
        let b = Memberships::new(array![[0.5, 0.5]]).unwrap();
        let expected = 0.5 * ((4.0f64 / 3.0).log2() + 0.5 * (2.0f64 / 3.0).log2() + 0.5);
        assert!((jensen_shannon(&a, &b).unwrap() - expected).abs() < 1e-15);
    }

    #[test]
    fn bad_pairs_are_told() {
        let a = Memberships::new(array![[1.0, 0.0]]).unwrap();
        let b = Memberships::new(array![[1.0, 0.0], [0.0, 1.0]]).unwrap();
        assert_eq!(jensen_shannon(&a, &b).unwrap_err().kind(), ErrorKind::ShapeMismatch);
        let none = Memberships::with_evidence(array![[0.5, 0.5]], vec![0.0]).unwrap();
        assert_eq!(jensen_shannon(&a, &none).unwrap_err().kind(), ErrorKind::Empty);
    }
}
