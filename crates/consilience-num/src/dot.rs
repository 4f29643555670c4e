//! The inner product.

/// Sums that run beside each other.
const LANES: usize = 8;

/// `sum_i a_i b_i`, added up in eight sums that run beside each other, in an order that depends on
/// the length alone: the same bits on every machine and at any number of threads. What one slice
/// has beyond the other does not count.
///
/// ```
/// use consilience::num::dot;
///
/// assert_eq!(dot(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 32.0);
/// assert_eq!(dot(&[], &[]), 0.0);
/// ```
#[doc(alias = "inner product")]
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (a[..n].chunks_exact(LANES), b[..n].chunks_exact(LANES));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; LANES];
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_plain_sum_at_every_length() {
        for n in 0..40 {
            let a: Vec<f64> = (0..n).map(|i| f64::from(i) - 7.0).collect();
            let b: Vec<f64> = (0..n).map(|i| f64::from(i * i % 11)).collect();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&a, &b), plain, "{n}");
        }
    }

    #[test]
    fn the_order_of_additions_is_the_documented_one() {
        let a: Vec<f64> = (0..21).map(|i| 10f64.powi(i % 17 - 8)).collect();
        let b: Vec<f64> = (0..21).map(|i| (f64::from(i) * 0.731).sin()).collect();
        let lane = |l: usize| a[l] * b[l] + a[l + 8] * b[l + 8];
        let rest: f64 = (16..21).map(|i| a[i] * b[i]).sum();
        let expected = (0..8).map(lane).sum::<f64>() + rest;
        assert_eq!(dot(&a, &b).to_bits(), expected.to_bits());
    }

    #[test]
    fn what_one_slice_has_more_does_not_count() {
        assert_eq!(dot(&[1.0, 2.0], &[3.0]), 3.0);
    }
}
