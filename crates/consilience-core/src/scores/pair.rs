use super::Contingency;
use crate::{Partition, Result};

/// Pairs of distinct objects, by whether each partition puts them together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairTable {
    /// Together in both.
    both: u128,
    /// Together in the first partition only.
    first: u128,
    /// Together in the second partition only.
    second: u128,
    /// Apart in both.
    neither: u128,
}

impl PairTable {
    /// Counts are 2^53 at most, so their products are 2^106 at most: nothing overflows.
    pub(super) fn new(table: &Contingency) -> Self {
        let pairs = |count: u64| u128::from(count) * u128::from(count.saturating_sub(1)) / 2;
        let both: u128 = table.cells().map(|(_, _, count)| pairs(count)).sum();
        let first = table.row_sums().iter().map(|&s| pairs(s)).sum::<u128>() - both;
        let second = table.column_sums().iter().map(|&s| pairs(s)).sum::<u128>() - both;
        let neither = pairs(table.n_objects()) - both - first - second;
        PairTable { both, first, second, neither }
    }

    pub(super) fn rand(&self) -> f64 {
        let agree = self.both + self.neither;
        ratio_or_one(agree, agree + self.first + self.second)
    }

    pub(super) fn adjusted_rand(&self) -> f64 {
        if self.first == 0 && self.second == 0 {
            return 1.0;
        }
        let (both, first) = (self.both, self.first);
        let (second, neither) = (self.second, self.neither);
        // Exact: the two products may agree in all their leading digits.
        let above_chance = wide_difference((both, neither), (first, second));
        let scale = wide_sum(
            (both + second, second + neither), //
            (both + first, first + neither),
        );
        2.0 * above_chance / scale
    }

    pub(super) fn precision(&self) -> f64 {
        ratio_or_one(self.both, self.both + self.first)
    }

    pub(super) fn recall(&self) -> f64 {
        ratio_or_one(self.both, self.both + self.second)
    }

    pub(super) fn f(&self) -> f64 {
        let apart = self.first as f64 + self.second as f64;
        if apart == 0.0 { 1.0 } else { 2.0 * self.both as f64 / (2.0 * self.both as f64 + apart) }
    }

    pub(super) fn fowlkes_mallows(&self) -> f64 {
        if self.both == 0 {
            return 0.0;
        }
        self.precision().sqrt() * self.recall().sqrt()
    }

    pub(super) fn jaccard(&self) -> f64 {
        ratio_or_one(self.both, self.both + self.first + self.second)
    }
}

fn ratio_or_one(part: u128, whole: u128) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// `a.0 a.1 - b.0 b.1`, rounded once, for factors below 2^127.
fn wide_difference(a: (u128, u128), b: (u128, u128)) -> f64 {
    let (first, second) = (wide_product(a), wide_product(b));
    let (sign, (larger, smaller)) =
        if first >= second { (1.0, (first, second)) } else { (-1.0, (second, first)) };
    let (low, borrow) = larger.1.overflowing_sub(smaller.1);
    sign * rounded((larger.0 - smaller.0 - u128::from(borrow), low))
}

/// `a.0 a.1 + b.0 b.1`, rounded once, for factors below 2^127.
fn wide_sum(a: (u128, u128), b: (u128, u128)) -> f64 {
    let (first, second) = (wide_product(a), wide_product(b));
    let (low, carry) = first.1.overflowing_add(second.1);
    rounded((first.0 + second.0 + u128::from(carry), low))
}

fn rounded((high, low): (u128, u128)) -> f64 {
    if high == 0 { low as f64 } else { high as f64 * 2f64.powi(128) + low as f64 }
}

/// The high and the low half of a product of two numbers below 2^127.
fn wide_product((x, y): (u128, u128)) -> (u128, u128) {
    const HALF: u128 = (1 << 64) - 1;
    let (x1, x0, y1, y0) = (x >> 64, x & HALF, y >> 64, y & HALF);
    let middle = x1 * y0 + ((x0 * y0) >> 64);
    let second = x0 * y1 + (middle & HALF);
    (x1 * y1 + (middle >> 64) + (second >> 64), (second << 64) | ((x0 * y0) & HALF))
}

/// Rand index: the fraction of pairs of objects on which two partitions agree, together or apart.
///
/// Easy to explain, but near 1 for any two partitions with many clusters; compare partitions of
/// different numbers of clusters by [`adjusted_rand`]. Objects unlabelled in either are left out.
///
/// `(N11 + N00) / (N11 + N10 + N01 + N00)`, with `N11` pairs together in both and `N00` apart in
/// both; 1 for a single object.
///
/// ```
/// use consilience::{Partition, scores};
/// let a = Partition::from_labels(&[0, 0, 1, 1])?;
/// let b = Partition::from_labels(&[0, 0, 1, 2])?;
/// assert_eq!(scores::rand(&a, &b)?, 5.0 / 6.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Rand (1971), Objective criteria for the evaluation of clustering methods, JASA 66:846-850.
pub fn rand(a: &Partition, b: &Partition) -> Result<f64> {
    Ok(PairTable::new(&Contingency::new(a, b)?).rand())
}

/// Adjusted Rand index: agreement over pairs, 1 for equal partitions and 0 on average for random
/// ones.
///
/// The usual choice for comparing a consensus with known classes of similar sizes. With very
/// unequal classes it is ruled by the large ones; see
/// [`adjusted_mutual_information`](super::adjusted_mutual_information). Negative values (not below
/// -1/2) are worse than chance. Objects unlabelled in either are left out.
///
/// `2 (N11 N00 - N10 N01) / ((N11 + N01)(N01 + N00) + (N11 + N10)(N10 + N00))`, evaluated in exact
/// integers up to the division.
///
/// ```
/// use consilience::{Partition, scores};
/// let a = Partition::from_labels(&[0, 0, 1, 1])?;
/// let b = Partition::from_labels(&[0, 1, 0, 1])?;
/// assert_eq!(scores::adjusted_rand(&a, &b)?, -0.5);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Hubert & Arabie (1985), Comparing partitions, J. Classification 2:193-218, equation 5.
#[doc(alias = "ARI")]
pub fn adjusted_rand(a: &Partition, b: &Partition) -> Result<f64> {
    Ok(Contingency::new(a, b)?.adjusted_rand())
}

/// Pairwise precision: of the pairs that the result puts together, the fraction that belongs
/// together.
///
/// Says how far to trust a must-link read off the result; many small clusters make it high, so read
/// it with [`pair_recall`]. Objects unlabelled in either are left out.
///
/// `N11 / (N11 + N10)`, with `N10` pairs together in `result` only; 1 where the result joins
/// nothing.
///
/// ```
/// use consilience::{Partition, scores};
/// let result = Partition::from_labels(&[0, 0, 0, 1])?;
/// let truth = Partition::from_labels(&[0, 0, 1, 1])?;
/// assert_eq!(scores::pair_precision(&result, &truth)?, 1.0 / 3.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Manning, Raghavan & Schütze (2008), Introduction to information retrieval, section 16.3.
pub fn pair_precision(result: &Partition, truth: &Partition) -> Result<f64> {
    Ok(PairTable::new(&Contingency::new(result, truth)?).precision())
}

/// Pairwise recall: of the pairs that belong together, the fraction that the result puts together.
///
/// A single cluster reaches 1, so read it with [`pair_precision`]. Objects unlabelled in either are
/// left out.
///
/// `N11 / (N11 + N01)`, with `N01` pairs together in `truth` only; 1 where the truth joins nothing.
///
/// ```
/// use consilience::{Partition, scores};
/// let result = Partition::from_labels(&[0, 0, 0, 1])?;
/// let truth = Partition::from_labels(&[0, 0, 1, 1])?;
/// assert_eq!(scores::pair_recall(&result, &truth)?, 0.5);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Manning, Raghavan & Schütze (2008), Introduction to information retrieval, section 16.3.
pub fn pair_recall(result: &Partition, truth: &Partition) -> Result<f64> {
    Ok(PairTable::new(&Contingency::new(result, truth)?).recall())
}

/// Pairwise F score: the harmonic mean of [`pair_precision`] and [`pair_recall`].
///
/// One number for both where pairs are what counts, as in record linkage and crowdclustering; not
/// corrected for chance. Objects unlabelled in either are left out.
///
/// `2 N11 / (2 N11 + N10 + N01)`; 1 where neither partition joins anything.
///
/// ```
/// use consilience::{Partition, scores};
/// let result = Partition::from_labels(&[0, 0, 0, 1])?;
/// let truth = Partition::from_labels(&[0, 0, 1, 1])?;
/// assert_eq!(scores::pair_f(&result, &truth)?, 0.4);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Manning, Raghavan & Schütze (2008), Introduction to information retrieval, section 16.3.
#[doc(alias = "f1")]
pub fn pair_f(result: &Partition, truth: &Partition) -> Result<f64> {
    Ok(PairTable::new(&Contingency::new(result, truth)?).f())
}

/// Fowlkes-Mallows index: the geometric mean of [`pair_precision`] and [`pair_recall`].
///
/// Common for comparing cuts of dendrograms; not corrected for chance. Objects unlabelled in either
/// are left out.
///
/// `N11 / sqrt((N11 + N10)(N11 + N01))`; 0 where no pair is together in both, even for two equal
/// partitions into single objects, as scikit-learn has it.
///
/// ```
/// use consilience::{Partition, scores};
/// let a = Partition::from_labels(&[0, 0, 0, 1])?;
/// let b = Partition::from_labels(&[0, 0, 1, 1])?;
/// assert!((scores::fowlkes_mallows(&a, &b)? - 1.0 / 6f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Fowlkes & Mallows (1983), A method for comparing two hierarchical clusterings, JASA 78:553-569.
pub fn fowlkes_mallows(a: &Partition, b: &Partition) -> Result<f64> {
    Ok(PairTable::new(&Contingency::new(a, b)?).fowlkes_mallows())
}

/// Jaccard index over pairs: of the pairs together in either partition, the fraction together in
/// both.
///
/// Like [`rand()`] without the pairs apart in both, which are most pairs where clusters are many;
/// not corrected for chance. Objects unlabelled in either are left out.
///
/// `N11 / (N11 + N10 + N01)`; 1 where neither partition joins anything.
///
/// ```
/// use consilience::{Partition, scores};
/// let a = Partition::from_labels(&[0, 0, 0, 1])?;
/// let b = Partition::from_labels(&[0, 0, 1, 1])?;
/// assert_eq!(scores::jaccard(&a, &b)?, 0.25);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n + k_a + k_b) time; memory as [`Contingency::new`].
///
/// # Errors
/// As [`Contingency::new`].
///
/// # References
/// Ben-Hur, Elisseeff & Guyon (2002), A stability based method for discovering structure in
/// clustered data, PSB 7:6-17.
pub fn jaccard(a: &Partition, b: &Partition) -> Result<f64> {
    Ok(PairTable::new(&Contingency::new(a, b)?).jaccard())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_products_equal_those_that_fit() {
        let mut s = crate::Seed(1).stream();
        for _ in 0..1000 {
            let mut draw = |bits: usize| (s.next_u64() >> (64 - bits)) as u128;
            let (a, b) = (draw(63), draw(63));
            assert_eq!(wide_product((a, b)), (0, a * b));
            // (2^64 a)(2^64 b) = 2^128 a b
            assert_eq!(wide_product((a << 64, b << 60)), ((a * b) >> 4, (a * b) << 124));
        }
    }

    #[test]
    fn pair_counts_worked_by_hand_and_at_four_billion_objects() {
        let a = Partition::from_labels(&[0, 0, 0, 1]).unwrap();
        let b = Partition::from_labels(&[0, 0, 1, 1]).unwrap();
        let pairs = PairTable::new(&Contingency::new(&a, &b).unwrap());
        assert_eq!(pairs, PairTable { both: 1, first: 2, second: 1, neither: 2 });

        // Extremes of what 2^32 objects can give: no overflow, no loss of sign.
        let quarter = (1u128 << 61) - 1;
        let even = PairTable { both: quarter, first: quarter, second: quarter, neither: quarter };
        assert_eq!(even.adjusted_rand(), 0.0);
        assert_eq!(even.rand(), 0.5);
        let slightly = PairTable { both: quarter + 1, ..even };
        assert!(slightly.adjusted_rand() > 0.0);

        // The same for 2^53 objects, whose products need 256 bits.
        let quarter = (1u128 << 103) - 1;
        let even = PairTable { both: quarter, first: quarter, second: quarter, neither: quarter };
        assert_eq!(even.adjusted_rand(), 0.0);
        let slightly = PairTable { first: quarter + 1, ..even };
        assert!(slightly.adjusted_rand() < 0.0 && slightly.adjusted_rand() > -1e-29);
    }
}
