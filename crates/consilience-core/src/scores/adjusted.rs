use std::collections::BTreeMap;

use super::{Contingency, information::Information};
use crate::{Partition, Result};

/// Adjusted mutual information: mutual information corrected for chance, 1 for equal partitions and
/// 0 on average for random ones.
///
/// Use it where classes are unbalanced or results differ in their number of clusters; with many
/// clusters per object it is the score to trust. For balanced classes
/// [`adjusted_rand`](super::adjusted_rand) is as good and quicker. May be slightly negative.
/// Objects unlabelled in either are left out.
///
/// `(I(A;B) - E) / ((H(A) + H(B)) / 2 - E)`, the arithmetic normaliser of scikit-learn's default,
/// where `E` is the expected mutual information over all pairs of partitions with the same cluster
/// sizes. 1 where both are a single cluster, 0 where only one is.
///
/// ```
/// use consilience::{Partition, scores};
/// let a = Partition::from_labels(&[0, 0, 1, 1])?;
/// let b = Partition::from_labels(&[0, 1, 0, 1])?;
/// assert_eq!(scores::adjusted_mutual_information(&a, &a)?, 1.0);
/// // Of the 3 ways to pair two clusters of two, one gives ln 2 and two give 0: E = ln(2) / 3.
/// assert!((scores::adjusted_mutual_information(&a, &b)? + 0.5).abs() < 1e-12);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time and, for the expectation, O(d_a d_b s): d distinct cluster sizes on each
/// side (at most sqrt(2 n)) and s about eight standard deviations of an overlap, often few. Memory
/// as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Vinh, Epps & Bailey (2010), Information theoretic measures for clusterings comparison, JMLR
/// 11:2837-2854, equation 24a for `E`. We walk each hypergeometric distribution outwards from its
/// mode by the ratio of neighbours, in place of log-factorials, and average `x ln(x/m) - x + m`
/// with `m` the mean overlap, which has the same expectation as `x ln(x/m)` and no negative terms:
/// nothing cancels, and the accuracy does not fall with n.
#[doc(alias = "AMI")]
pub fn adjusted_mutual_information(a: &Partition, b: &Partition) -> Result<f64> {
    let table = Contingency::new(a, b)?;
    Ok(adjusted(&table, &Information::new(&table)))
}

/// Adjusted mutual information from what [`Scores`](super::Scores) has at hand.
pub(super) fn adjusted(table: &Contingency, information: &Information) -> f64 {
    if table.same_grouping() {
        return 1.0;
    }
    if table.occupied_rows() == 1 || table.occupied_columns() == 1 {
        return 0.0;
    }
    let n = table.n_objects();
    if [table.occupied_rows(), table.occupied_columns()].contains(&(n as usize)) {
        // Against single objects the mutual information is H of the other partition, whatever it
        // is.
        return 0.0;
    }
    let expected = expected_mutual_information(table.row_sums(), table.column_sums(), n);
    // Positive: E is an average of values below the normaliser, not all of them equal to it.
    let room = (0.5 * (information.first + information.second) - expected).max(f64::EPSILON);
    (information.mutual - expected) / room
}

/// `E[I(A;B)]` in nats over all pairs of partitions of `n` objects with these cluster sizes.
fn expected_mutual_information(rows: &[u64], columns: &[u64], n: u64) -> f64 {
    let (rows, columns) = (multiplicities(rows), multiplicities(columns));
    let mut sum = 0.0;
    for (&a, &times_a) in &rows {
        for (&b, &times_b) in &columns {
            sum += (times_a * times_b) as f64 * expected_excess(a, b, n);
        }
    }
    sum / n as f64
}

/// How often each size above 0 occurs.
fn multiplicities(sizes: &[u64]) -> BTreeMap<u64, u64> {
    let mut map = BTreeMap::new();
    for &s in sizes.iter().filter(|&&s| s > 0) {
        *map.entry(s).or_insert(0) += 1;
    }
    map
}

/// `E[x ln(x/m) - x + m]` for the overlap `x` of two random sets of `a` and `b` among `n` objects,
/// `m = a b / n`.
///
/// # Complexity
/// O(sqrt(m)) up to m = 10^7, O(1) beyond.
fn expected_excess(a: u64, b: u64, n: u64) -> f64 {
    /// A mean from which on the terms that [`excess_by_moments`] leaves out, of relative size
    /// 1 / m^2, add nothing to a double.
    const LARGE: f64 = 1e7;
    let mean = (u128::from(a) * u128::from(b)) as f64 / n as f64;
    if mean < LARGE {
        excess_by_sum(a, b, n, mean)
    } else {
        excess_by_moments(a as f64, b as f64, n as f64, mean)
    }
}

fn excess_by_sum(a: u64, b: u64, n: u64, mean: f64) -> f64 {
    /// A weight, relative to the mode's, that adds nothing to a double: the distribution is
    /// log-concave, so what lies beyond falls at least as fast.
    const NEGLIGIBLE: f64 = 1e-25;
    let excess = |x: u64| {
        if x == 0 {
            return mean;
        }
        let x = x as f64;
        let t = (x - mean) / mean;
        // (1 + t) ln(1 + t) - t, whose leading terms cancel for small t.
        let g = if t.abs() < 1e-3 {
            t * t * (1.0 / 2.0 - t * (1.0 / 6.0 - t * (1.0 / 12.0 - t * (1.0 / 20.0 - t / 30.0))))
        } else {
            (x / mean) * (x / mean).ln() - t
        };
        mean * g
    };
    let (low, high) = ((a + b).saturating_sub(n), a.min(b));
    let mode = (u128::from(a + 1) * u128::from(b + 1) / u128::from(n + 2)) as u64;
    let mode = mode.clamp(low, high);
    let (mut total, mut sum) = (1.0, excess(mode));
    let mut weight = 1.0;
    for x in mode..high {
        // n - a - b + x + 1, ordered so that it never falls below 0.
        let rest = n + x + 1 - a - b;
        weight *= (a - x) as f64 * (b - x) as f64 / ((x + 1) as f64 * rest as f64);
        total += weight;
        sum += weight * excess(x + 1);
        if weight < NEGLIGIBLE {
            break;
        }
    }
    weight = 1.0;
    for x in (low + 1..=mode).rev() {
        weight *= x as f64 * (n + x - a - b) as f64 / ((a - x + 1) as f64 * (b - x + 1) as f64);
        total += weight;
        sum += weight * excess(x - 1);
        if weight < NEGLIGIBLE {
            break;
        }
    }
    sum / total
}

/// The same by the series `m ((1 + t) ln(1 + t) - t) = m (t^2/2 - t^3/6 + t^4/12 - ...)` in
/// `t = (x - m)/m`, with the central moments of the hypergeometric distribution.
fn excess_by_moments(a: f64, b: f64, n: f64, mean: f64) -> f64 {
    let variance = mean * ((n - a) / n) * ((n - b) / (n - 1.0));
    let third = variance * ((n - 2.0 * a) / n) * ((n - 2.0 * b) / (n - 2.0));
    // Up to terms that are smaller by another factor of the variance.
    let fourth = 3.0 * variance * variance;
    variance / (2.0 * mean) - third / (6.0 * mean * mean) + fourth / (12.0 * mean.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Straight from equation 24a, with factorials.
    fn expected_naive(rows: &[u64], columns: &[u64], n: u64) -> f64 {
        let ln_factorial = |m: u64| (2..=m).map(|v| (v as f64).ln()).sum::<f64>();
        let mut sum = 0.0;
        for &a in rows {
            for &b in columns {
                for x in (a + b).saturating_sub(n).max(1)..=a.min(b) {
                    let p = ln_factorial(a)
                        + ln_factorial(b)
                        + ln_factorial(n - a)
                        + ln_factorial(n - b)
                        - ln_factorial(n)
                        - ln_factorial(x)
                        - ln_factorial(a - x)
                        - ln_factorial(b - x)
                        - ln_factorial(n + x - a - b);
                    sum += x as f64 / n as f64 * ((n * x) as f64 / (a * b) as f64).ln() * p.exp();
                }
            }
        }
        sum
    }

    #[test]
    fn expectation_equals_the_formula_with_factorials() {
        let cases: [(&[u64], &[u64]); 6] = [
            (&[2, 2], &[2, 2]),
            (&[1, 1, 3], &[5]),
            (&[7, 1, 1, 1], &[9, 1]),
            (&[30, 30, 40], &[50, 50]),
            (&[99, 1], &[98, 2]),
            (&[100, 200, 0, 300], &[1, 599]),
        ];
        for (rows, columns) in cases {
            let n = rows.iter().sum();
            let (fast, naive) =
                (expected_mutual_information(rows, columns, n), expected_naive(rows, columns, n));
            assert!((fast - naive).abs() < 1e-12, "{rows:?} {columns:?}: {fast} {naive}");
        }
        assert!((expected_mutual_information(&[2, 2], &[2, 2], 4) - 2f64.ln() / 3.0).abs() < 1e-15);
    }

    #[test]
    fn moments_equal_the_sum() {
        for (a, b, n) in [
            (30_000_000, 40_000_000, 100_000_000),
            (99_000_000, 30_000_000, 100_000_000),
            (20_000_000_000, 30_000_000_000, 40_000_000_000),
            (900_000_000_000, 200_000_000_000, 1_000_000_000_000u64),
        ] {
            let mean = (u128::from(a) * u128::from(b)) as f64 / n as f64;
            let (sum, series) = (
                excess_by_sum(a, b, n, mean),
                excess_by_moments(a as f64, b as f64, n as f64, mean),
            );
            // The second and the third term of the series are of relative size 1e-7 and less.
            assert!((series / sum - 1.0).abs() < 1e-10, "{a} {b} {n}: {series} {sum}");
        }
    }

    #[test]
    fn billions_of_objects_are_quick_and_near_the_asymptote() {
        // For large n the expectation tends to (k_a - 1)(k_b - 1) / (2 n).
        let n = 4_000_000_000u64;
        let e = expected_mutual_information(&[n / 2, n / 2], &[n / 4, n / 4, n / 2], n);
        assert!((e * 2.0 * n as f64 / 2.0 - 1.0).abs() < 1e-6, "{e}");
    }
}
