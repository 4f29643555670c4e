//! Projection onto the probability simplex.

/// Replaces `x` by the nearest point of the probability simplex `{p : p_i >= 0, sum p_i = 1}`.
///
/// For turning any real vector into a distribution over clusters, as projected gradient methods
/// need after each step. It is not a normalisation: `[0.2, 0.2]` becomes `[0.5, 0.5]`, but
/// `[2, 0.5]` becomes `[1, 0]`.
///
/// The Euclidean projection is
///
/// ```text
/// p_i = max(x_i - theta, 0),    theta = (x_(1) + ... + x_(r) - 1) / r,
/// ```
///
/// where `x_(1) >= x_(2) >= ...` are the sorted entries and r is the largest index with
/// `x_(r) > (x_(1) + ... + x_(r) - 1) / r`. The differences to the largest entry are what is
/// computed with, so entries of any finite size do no harm; the result is divided by its sum, so
/// that this differs from 1 by rounding only. A permutation of the entries permutes the result;
/// equal entries stay equal.
///
/// Returns whether `x` was finite. A vector with a NaN or an infinity is left as it is, and so is
/// the empty vector, which has no distribution (`false` too).
///
/// ```
/// use consilience::num::simplex::project_simplex;
///
/// let mut x = [0.9, 0.5, -0.3];
/// assert!(project_simplex(&mut x));
/// assert!((x[0] - 0.7).abs() < 1e-15 && (x[1] - 0.3).abs() < 1e-15);
/// assert_eq!(x[2], 0.0);
///
/// let mut huge = [1e300, 1e300, -1e300];
/// assert!(project_simplex(&mut huge));
/// assert_eq!(huge, [0.5, 0.5, 0.0]);
///
/// assert!(!project_simplex(&mut [1.0, f64::NAN]));
/// ```
///
/// # Complexity
/// `O(m log m)` time for m entries, and memory for those within 1 of the largest.
///
/// # References
/// M. Held, P. Wolfe and H. P. Crowder, *Validation of subgradient optimization*, Mathematical
/// Programming 6, 1974, for the sorted form.
pub fn project_simplex(x: &mut [f64]) -> bool {
    if x.is_empty() || x.iter().any(|v| !v.is_finite()) {
        return false;
    }
    let largest = x.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
    // theta >= x_(1) - 1, so entries further below are 0. Overflow to -infinity lands on the right
    // side.
    let mut near: Vec<f64> = x.iter().map(|v| v - largest).filter(|&d| d > -1.0).collect();
    near.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut theta = -1.0;
    let mut sum = 0.0;
    for (i, &d) in near.iter().enumerate() {
        sum += d;
        let candidate = (sum - 1.0) / (i + 1) as f64;
        if d <= candidate {
            break;
        }
        theta = candidate;
    }
    for v in x.iter_mut() {
        *v = (*v - largest - theta).max(0.0);
    }
    // In sorted order, so that a permutation of the entries cannot change the bits, and
    // compensated, so that the rounding of 100,000 additions does not end up in the result.
    let (mut total, mut lost) = (0.0, 0.0);
    for &d in &near {
        let term = (d - theta).max(0.0) - lost;
        let sum = total + term;
        lost = (sum - total) - term;
        total = sum;
    }
    x.iter_mut().for_each(|v| *v /= total);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;

    /// Vectors of all lengths and scales; every third has ties, every fifth few large entries.
    fn vectors() -> Vec<Vec<f64>> {
        let mut stream = Seed(1).stream();
        (0..600)
            .map(|case| {
                let m = 1 + case as usize % 37;
                let scale = 10f64.powi(case % 9 - 4);
                (0..m)
                    .map(|i| {
                        let v = (2.0 * stream.uniform() - 1.0) * scale;
                        let v =
                            if case % 3 == 0 { (v / scale * 2.0).round() * scale / 2.0 } else { v };
                        if case % 5 == 0 && i % 4 == 0 { v + 1.0 } else { v }
                    })
                    .collect()
            })
            .collect()
    }

    fn projected(x: &[f64]) -> Vec<f64> {
        let mut p = x.to_vec();
        assert!(project_simplex(&mut p));
        p
    }

    fn distance(x: &[f64], y: &[f64]) -> f64 {
        x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn feasible_and_idempotent() {
        for x in vectors() {
            let p = projected(&x);
            assert!(p.iter().all(|v| (0.0..=1.0).contains(v)));
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            let again = projected(&p);
            assert!(distance(&p, &again) < 1e-14);
        }
    }

    #[test]
    fn satisfies_the_optimality_conditions() {
        // x_i - p_i = theta where p_i > 0, and x_i <= theta elsewhere.
        for x in vectors() {
            let p = projected(&x);
            let size = x.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
            let used: Vec<usize> = (0..x.len()).filter(|&i| p[i] > 0.0).collect();
            let theta = used.iter().map(|&i| x[i] - p[i]).sum::<f64>() / used.len() as f64;
            for i in 0..x.len() {
                if p[i] > 0.0 {
                    assert!((x[i] - p[i] - theta).abs() < 1e-13 * size);
                } else {
                    assert!(x[i] <= theta + 1e-13 * size);
                }
            }
        }
    }

    #[test]
    fn nearer_than_random_feasible_points() {
        let mut stream = Seed(2).stream();
        for x in vectors() {
            let p = projected(&x);
            let best = distance(&x, &p);
            for _ in 0..20 {
                let mut q: Vec<f64> =
                    (0..x.len()).map(|_| -(1.0 - stream.uniform()).ln()).collect();
                let sum: f64 = q.iter().sum();
                // Points near p are the sharper rivals.
                let step = stream.uniform().powi(4);
                q.iter_mut().zip(&p).for_each(|(q, p)| *q = p + step * (*q / sum - p));
                assert!(distance(&x, &q) >= best - 1e-12 * (1.0 + best));
            }
        }
    }

    #[test]
    fn permutations_and_ties_keep_their_bits() {
        for x in vectors() {
            let mut reversed = x.clone();
            reversed.reverse();
            let mut q = projected(&reversed);
            q.reverse();
            let p = projected(&x);
            assert_eq!(p, q);
            for i in 0..x.len() {
                for j in 0..i {
                    assert!(x[i] != x[j] || p[i].to_bits() == p[j].to_bits());
                }
            }
        }
    }

    #[test]
    fn edge_cases() {
        for v in [0.0, -0.0, 1.0, -5.0, f64::MAX, f64::MIN, 1e-320] {
            assert_eq!(projected(&[v]), [1.0]);
            assert_eq!(projected(&[v, v, v, v]), [0.25; 4]);
        }
        assert_eq!(projected(&[f64::MAX, f64::MIN]), [1.0, 0.0]);
        assert_eq!(projected(&[f64::MIN, 3.0, 2.5, f64::MIN]), [0.0, 0.75, 0.25, 0.0]);
        assert_eq!(projected(&[1e16, 1e16 + 2.0]), [0.0, 1.0]);
        assert_eq!(projected(&[1.0, 0.0]), [1.0, 0.0]);
        let many = projected(&vec![7.0; 100_000]);
        assert!(many.iter().all(|&p| (p - 1e-5).abs() < 1e-19));
        assert!(!project_simplex(&mut []));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut x = [1.0, bad, 3.0];
            assert!(!project_simplex(&mut x));
            assert_eq!((x[0], x[2]), (1.0, 3.0));
        }
    }
}
