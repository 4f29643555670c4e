//! The exponential of many numbers.

use pulp::{Arch, NullaryFnOnce};

/// Replaces every number by its exponential.
///
/// Computed side by side in vectors, from sums and products without fused operations: the same
/// bits on every machine and at any place, within 2 units in the last place of the true value.
///
/// ```
/// use consilience::num::exp_all;
///
/// let mut x = [0.0, 1.0, -1e9, f64::INFINITY];
/// exp_all(&mut x);
/// assert_eq!((x[0], x[2], x[3]), (1.0, 0.0, f64::INFINITY));
/// assert!((x[1] - std::f64::consts::E).abs() < 1e-15);
/// ```
///
/// # Complexity
/// O(n); about a nanosecond for each number where four or more fit a vector.
pub fn exp_all(x: &mut [f64]) {
    Arch::new().dispatch(All(x));
}

struct All<'a>(&'a mut [f64]);

impl NullaryFnOnce for All<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for x in self.0 {
            *x = exp(*x);
        }
    }
}

/// Adding it leaves the nearest whole number in the last digits: 1.5 * 2^52.
const WHOLE: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has so few digits that its products with exponents are exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
/// Beyond, all exponentials are 0, and infinite.
const ENDS: [f64; 2] = [-750.0, 710.0];
/// The coefficients 1 / i! for i = 13, 12, ..., 2: at |r| <= ln 2 / 2 what is left out is below
/// 1e-17.
const COEFFICIENTS: [f64; 12] = coefficients();

const fn coefficients() -> [f64; 12] {
    let (mut out, mut factorial, mut i) = ([0.0; 12], 1.0, 0);
    while i < 12 {
        factorial *= (i + 2) as f64;
        out[11 - i] = 1.0 / factorial;
        i += 1;
    }
    out
}

/// `2^k e^r` with `x = k ln 2 + r`, without branches.
#[inline(always)]
fn exp(x: f64) -> f64 {
    // Comparisons that a NaN passes through.
    let x = if x < ENDS[0] { ENDS[0] } else { x };
    let x = if x > ENDS[1] { ENDS[1] } else { x };
    let shifted = x * std::f64::consts::LOG2_E + WHOLE;
    let k = shifted - WHOLE;
    let r = (x - k * LN_2[0]) - k * LN_2[1];
    let mut sum = COEFFICIENTS[0];
    for c in &COEFFICIENTS[1..] {
        sum = sum * r + c;
    }
    let e = 1.0 + (r + r * r * sum);
    // In two steps: 2^k itself need not be a number where the result is one.
    let k = shifted.to_bits().wrapping_sub(WHOLE.to_bits()).wrapping_add(2048);
    let half = k >> 1;
    let power = |k: u64| f64::from_bits(k.wrapping_sub(1) << 52);
    e * power(half) * power(k.wrapping_sub(half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;

    fn of(x: f64) -> f64 {
        let mut x = [x];
        exp_all(&mut x);
        x[0]
    }

    #[test]
    fn within_two_units_of_the_last_place() {
        let mut stream = Seed(3).stream();
        for (width, centre) in [(1e-3, 0.0), (1.0, 0.0), (20.0, 0.0), (708.0, 0.0), (30.0, 690.0)] {
            let all: Vec<f64> = (0..20_000)
                .map(|_| centre + width * (2.0 * stream.uniform() - 1.0))
                .filter(|&x| x < 709.0)
                .collect();
            let mut found = all.clone();
            exp_all(&mut found);
            for (x, e) in all.iter().zip(found) {
                let apart = e.to_bits().abs_diff(x.exp().to_bits());
                assert!(apart <= 2, "{x}: {e} for {}", x.exp());
            }
        }
    }

    #[test]
    fn the_ends_of_the_number_range() {
        assert_eq!(of(0.0), 1.0);
        assert_eq!(of(-0.0), 1.0);
        for x in [709.8, 1e4, 1e300, f64::INFINITY] {
            assert_eq!(of(x), f64::INFINITY);
        }
        for x in [-746.0, -1e4, -1e300, f64::NEG_INFINITY] {
            assert_eq!(of(x).to_bits(), 0);
        }
        assert!(of(f64::NAN).is_nan() && of(-f64::NAN).is_nan());
        assert!((of(709.78) / 709.78f64.exp() - 1.0).abs() < 1e-15);
        // Below the normal numbers: to the last place that they have.
        for i in 0..400 {
            let x = -708.0 - f64::from(i) * 0.1;
            assert!(of(x).to_bits().abs_diff(x.exp().to_bits()) <= 2, "{x}");
        }
    }

    /// Whatever a number stands beside.
    #[test]
    fn the_same_bits_at_any_place() {
        let mut stream = Seed(4).stream();
        let all: Vec<f64> = (0..67).map(|_| 40.0 * stream.normal()).collect();
        for len in 0..all.len() {
            let mut found = all[..len].to_vec();
            exp_all(&mut found);
            for (x, e) in all.iter().zip(found) {
                assert_eq!(e.to_bits(), exp(*x).to_bits(), "{x} of {len}");
            }
        }
    }
}
