//! Weights of members and sizes of nodes without what all have in common, so that the unit in which
//! they are given leaves no trace.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use crate::{Result, room};

/// What weights may be, in any unit: as `Ensemble::with_weights` takes them. Rounding of the
/// largest is far from half of the least then.
const WEIGHTS: RangeInclusive<f64> = 1e-9..=1e9;
/// Where the largest is put where there is no unit: multiplied, few decimals stay few.
const TOP: f64 = 1024.0;
/// Into so many parts at most the least weight is divided to find the unit: four decimals.
const PARTS: f64 = 10_000.0;
/// What weights that were multiplied by something may be off by, as a share of them.
const ROUNDED: f64 = 16.0 * f64::EPSILON;
/// The power of two in a number.
const POWER: u64 = 0x7ff0_0000_0000_0000;
/// As many objects as there may be.
const MOST_OBJECTS: f64 = (1u64 << 53) as f64;

/// Positive weights in the largest unit of which all are whole multiples, but for rounding; where
/// there is none that the least has up to [`PARTS`] of, times the power of two that brings the
/// largest to some [`TOP`]. Empty where each is 1 then, `None` where the weights are in lowest
/// terms already, or so far apart that they would leave [`WEIGHTS`].
pub(crate) fn of_weights(weights: &[f64]) -> Option<Vec<f64>> {
    if weights.is_empty() {
        return None;
    }
    let lowest = whole(weights).unwrap_or_else(|| {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let power = f64::from_bits(largest.to_bits() & POWER) / TOP;
        weights.iter().map(|w| w / power).collect()
    });
    if lowest.iter().all(|&w| w == 1.0) {
        return Some(Vec::new());
    }
    (lowest[..] != *weights && lowest.iter().all(|w| WEIGHTS.contains(w))).then_some(lowest)
}

/// The weights as whole numbers of the largest unit that allows that.
fn whole(weights: &[f64]) -> Option<Vec<f64>> {
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = weights.iter().copied().fold(0.0, f64::max);
    // Ratios do not depend on the unit but for rounding.
    let count = |weight: f64, parts: u32| weight / least * f64::from(parts);
    let is_whole = |count: f64| (count - count.round()).abs() <= ROUNDED * count;
    let most = (WEIGHTS.end() * (least / largest)).min(PARTS) as u32;
    let parts = (1..=most).find(|&parts| weights.iter().all(|&w| is_whole(count(w, parts))))?;
    Some(weights.iter().map(|&w| count(w, parts).round()).collect())
}

/// Sizes that are whole numbers, divided by the largest number that divides all of them, and that
/// number; other sizes as they are, and 1.
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) where the system has no memory left.
#[doc(hidden)]
pub fn sizes_in_lowest_terms(sizes: &[f64]) -> Result<(Cow<'_, [f64]>, f64)> {
    let whole = |size: &f64| (0.0..=MOST_OBJECTS).contains(size) && size.fract() == 0.0;
    if !sizes.iter().all(whole) {
        return Ok((Cow::Borrowed(sizes), 1.0));
    }
    let common = common_factor(sizes.iter().map(|&size| size as u64));
    if common == 1 {
        return Ok((Cow::Borrowed(sizes), 1.0));
    }
    let unit = common as f64;
    Ok((Cow::Owned(room::collected(sizes.iter().map(|size| size / unit))?), unit))
}

/// The largest number that divides all of these; 1 where all are 0.
pub(crate) fn common_factor(numbers: impl IntoIterator<Item = u64>) -> u64 {
    let mut common = 0;
    for number in numbers {
        let mut rest = number;
        while rest != 0 {
            (common, rest) = (rest, common % rest);
        }
        if common == 1 {
            break;
        }
    }
    common.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn weights_are_whole_numbers_of_their_unit() {
        assert_eq!(of_weights(&[0.1, 0.2, 0.3]), Some(vec![1.0, 2.0, 3.0]));
        assert_eq!(of_weights(&[4.0, 6.0]), Some(vec![2.0, 3.0]));
        assert_eq!(of_weights(&[1.0 / 3.0, 1.0]), Some(vec![1.0, 3.0]));
        assert_eq!(of_weights(&[1.25, 0.5]), Some(vec![5.0, 2.0]));
        for apart in [[1e-3, 1e9, 1e9], [0.5, 1e9, 1.0]] {
            assert_eq!(of_weights(&apart), Some(apart.map(|w| w / P * TOP).to_vec()));
        }
        assert_eq!(of_weights(&[1e-9, 1e9]), None);
        for equal in [1.0, 0.7, 2.0, 1e9, 1e-9] {
            assert_eq!(of_weights(&[equal; 3]), Some(vec![]));
        }
        for lowest in [&[][..], &[2.0, 3.0], &[1.0, 5.0]] {
            assert_eq!(of_weights(lowest), None);
        }
    }

    /// The power of two in 1e9.
    const P: f64 = 536_870_912.0;

    /// Weights of few decimals by any factor, any weights by a power of two.
    #[test]
    fn a_common_factor_leaves_no_trace() {
        let lowest = |weights: &[f64]| of_weights(weights).unwrap_or_else(|| weights.to_vec());
        let mut random = Seed(3).stream();
        for round in 0..2_000 {
            let n = 1 + random.below(6);
            let few = round % 2 == 0;
            let one = |random: &mut crate::Stream| {
                if few { (1 + random.below(999)) as f64 / 100.0 } else { 0.01 + random.uniform() }
            };
            let weights: Vec<f64> = (0..n).map(|_| one(&mut random)).collect();
            let factor = if few { 0.001 + 10.0 * random.uniform() } else { 0.125 };
            let times: Vec<f64> = weights.iter().map(|w| w * factor).collect();
            assert_eq!(lowest(&weights), lowest(&times), "{weights:?} {factor}");
            let (first, own) = (lowest(&weights), weights[0]);
            for (a, w) in first.iter().zip(&weights) {
                let ratio = a / first[0] * own / w;
                assert!((ratio - 1.0).abs() < 1e-14, "{weights:?} {first:?}");
            }
        }
    }

    #[test]
    fn sizes_are_divided_by_what_divides_all() {
        let sizes = |sizes: &[f64]| {
            let (lowest, unit) = sizes_in_lowest_terms(sizes).unwrap();
            (lowest.into_owned(), unit)
        };
        assert_eq!(sizes(&[6.0, 9.0, 3.0]), (vec![2.0, 3.0, 1.0], 3.0));
        assert_eq!(sizes(&[4.0, 9.0]), (vec![4.0, 9.0], 1.0));
        assert_eq!(sizes(&[2.0, 0.5]), (vec![2.0, 0.5], 1.0));
        assert_eq!(sizes(&[0.0, 8.0]), (vec![0.0, 1.0], 8.0));
        assert_eq!(sizes(&[0.0, 0.0]), (vec![0.0, 0.0], 1.0));
        assert_eq!(sizes(&[]), (vec![], 1.0));
        assert!(sizes(&[f64::NAN, 2.0]).0[0].is_nan());
    }
}
