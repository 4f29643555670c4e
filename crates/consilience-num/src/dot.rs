/// The inner product of two slices in eight sums that are joined in a fixed order, so that the
/// compiler may use vector registers and the bits stay the same.
///
/// Of slices of unequal length the shorter counts.
///
/// ```
/// use consilience_num::dot;
///
/// assert_eq!(dot(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 32.0);
/// ```
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let length = a.len().min(b.len());
    let mut sums = [0.0; 8];
    let (heads, tails) = (a[..length].chunks_exact(8), b[..length].chunks_exact(8));
    let rest: f64 = heads.remainder().iter().zip(tails.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in heads.zip(tails) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + rest
}
