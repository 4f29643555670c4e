use std::convert::Infallible;

use rand::distr::Uniform;
use rand::seq::{SliceRandom, index};
use rand::{Rng, RngExt, SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// The only source of randomness: the same seed gives the same bits, on any machine of the same
/// kind and at any number of threads.
///
/// Work that runs in parallel takes its numbers from [derived](Seed::derive) seeds, one per purpose
/// and item, never from a shared generator.
///
/// ```
/// use consilience::Seed;
///
/// let member = Seed(7).derive("member", 3);
/// assert_eq!(member, Seed(7).derive("member", 3));
/// assert_ne!(member, Seed(7).derive("member", 4));
/// assert_eq!(member.stream().next_u64(), member.stream().next_u64());
/// ```
#[doc(alias = "random_state")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Seed(pub u64);

impl Seed {
    /// An independent seed for one purpose and one item of it.
    pub fn derive(self, purpose: &str, item: u64) -> Seed {
        let mut h = mix(self.0 ^ 0x9e37_79b9_7f4a_7c15);
        for byte in purpose.bytes() {
            h = mix(h ^ u64::from(byte));
        }
        Seed(mix(h ^ mix(item.wrapping_add(0x2545_f491_4f6c_dd1d))))
    }

    /// The stream of random numbers of this seed.
    pub fn stream(self) -> Stream {
        Stream(ChaCha8Rng::seed_from_u64(self.0))
    }
}

/// Finaliser of SplitMix64: a bijection of the 64-bit words whose output bits all depend on all
/// input bits.
#[doc(hidden)]
#[inline(always)]
pub fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of random numbers: ChaCha with 8 rounds, whose output never changes.
///
/// It is a generator of the crate `rand`, so every distribution of `rand` and `rand_distr` can be
/// drawn from it. The methods here are the draws that clustering needs most, as `rand` makes them:
/// the numbers that they return may change where `rand` changes its algorithms, which the change
/// log would say.
///
/// ```
/// use consilience::Seed;
/// use rand::RngExt;
///
/// let mut stream = Seed(7).stream();
/// let die = stream.random_range(1..=6);
/// assert!((1..=6).contains(&die));
/// assert!(stream.below(6) < 6);
/// ```
#[doc(alias = "rng")]
#[doc(alias = "generator")]
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

impl Stream {
    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `[0, 1)`, a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// Uniform in `0..n`; 0 for `n = 0`.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { self.0.random_range(0..n) }
    }

    /// Standard normal.
    #[doc(alias = "gaussian")]
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// A uniformly random order of the slice.
    #[doc(alias = "permutation")]
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        items.shuffle(&mut self.0);
    }

    /// `count` distinct numbers of `0..n` in ascending order; all of them where `count >= n`.
    pub fn sample(&mut self, n: usize, count: usize) -> Vec<usize> {
        if count >= n {
            return (0..n).collect();
        }
        let mut chosen = index::sample(&mut self.0, n, count).into_vec();
        chosen.sort_unstable();
        chosen
    }

    /// An index drawn with probability proportional to its weight; `None` where no weight is above
    /// 0, or one is negative or not finite.
    pub fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        // As rand's `WeightedIndex` draws, without its list of the sums.
        let mut total = 0.0;
        for &weight in weights {
            if !(weight >= 0.0) {
                return None;
            }
            total += weight;
        }
        let drawn = Uniform::new(0.0, total).ok()?.sample(&mut self.0);
        let mut sum = 0.0;
        let above = |weight: &f64| {
            sum += weight;
            sum > drawn
        };
        Some(weights.iter().position(above).unwrap_or(weights.len() - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_pinned() {
        // A change here changes every result of every user: it belongs in the change log.
        let mut s = Seed(0).derive("member", 1).stream();
        let seen: Vec<u64> = (0..2).map(|_| s.next_u64()).collect();
        assert_eq!(seen, PINNED);
    }

    #[test]
    fn weights_draw_what_rand_draws() {
        use rand::distr::weighted::WeightedIndex;
        let (mut ours, mut weights) = (Seed(5).stream(), Vec::new());
        for round in 0..2_000 {
            let n = ours.below(9);
            weights.clear();
            weights.extend((0..n).map(|_| match ours.below(3) {
                0 => 0.0,
                1 => ours.uniform() * 10f64.powi(ours.below(40) as i32 - 20),
                _ => ours.below(3) as f64,
            }));
            if round % 9 == 0 {
                weights.push([f64::NAN, -1.0, f64::INFINITY, -0.0][round % 4]);
            }
            let mut theirs = ours.clone();
            let expected = WeightedIndex::new(&weights).ok().map(|w| w.sample(&mut theirs.0));
            assert_eq!(ours.weighted(&weights), expected, "{weights:?}");
            assert_eq!(ours.next_u64(), theirs.next_u64());
        }
    }

    #[test]
    fn draws_are_pinned() {
        // These move where rand or rand_distr changes an algorithm: a change for the change log.
        let mut s = Seed(0).derive("draws", 1).stream();
        let below: Vec<usize> = (0..4).map(|_| s.below(1000)).collect();
        let large = s.below(1 << 40);
        let uniform = [s.uniform(), s.uniform()];
        let normal = [s.normal(), s.normal()];
        let mut order: Vec<usize> = (0..8).collect();
        s.shuffle(&mut order);
        let (few, many) = (s.sample(1000, 3), s.sample(10, 7));
        let weighted: Vec<_> = (0..6).map(|_| s.weighted(&[0.5, 0.0, 2.0, 1.0])).collect();
        assert_eq!(below, [659, 400, 605, 667]);
        assert_eq!(large, 1_001_153_427_172);
        assert_eq!(uniform, [0.42547595468998034, 0.787074251802944]);
        assert_eq!(normal, [0.8472226225297435, -0.928143849820671]);
        assert_eq!(order, [7, 1, 3, 2, 6, 0, 4, 5]);
        assert_eq!(few, [539, 741, 880]);
        assert_eq!(many, [0, 1, 4, 5, 6, 7, 8]);
        assert_eq!(weighted, [2, 2, 2, 3, 0, 0].map(Some));
    }

    #[test]
    fn a_stream_is_a_generator_of_rand() {
        let (mut own, mut theirs) = (Seed(3).stream(), ChaCha8Rng::seed_from_u64(3));
        let mut bytes = [[0u8; 11]; 2];
        own.fill_bytes(&mut bytes[0]);
        theirs.fill_bytes(&mut bytes[1]);
        assert_eq!(bytes[0], bytes[1]);
        assert_eq!(own.next_u32(), theirs.next_u32());
        assert_eq!(own.random_range(-3.0..5.0), theirs.random_range(-3.0..5.0));
    }

    const PINNED: [u64; 2] = [14_066_825_978_677_475_693, 17_132_936_101_234_678_344];

    #[test]
    fn draws_are_in_range_and_even() {
        let mut s = Seed(1).stream();
        let mut seen = [0usize; 7];
        for _ in 0..7000 {
            seen[s.below(7)] += 1;
        }
        assert!(seen.iter().all(|&c| (850..1150).contains(&c)), "{seen:?}");
        let mean = (0..20_000).map(|_| s.uniform()).sum::<f64>() / 20_000.0;
        assert!((mean - 0.5).abs() < 0.01);
        let (mut m, mut v) = (0.0, 0.0);
        for _ in 0..20_000 {
            let x = s.normal();
            m += x / 20_000.0;
            v += x * x / 20_000.0;
        }
        assert!(m.abs() < 0.03 && (v - 1.0).abs() < 0.05, "{m} {v}");
    }

    #[test]
    fn samples_are_sorted_distinct_and_complete() {
        let mut s = Seed(2).stream();
        let some = s.sample(100, 17);
        assert_eq!(some.len(), 17);
        assert!(some.windows(2).all(|w| w[0] < w[1]));
        assert_eq!(s.sample(3, 9), vec![0, 1, 2]);
        assert_eq!(s.weighted(&[0.0, 0.0]), None);
        assert_eq!(s.weighted(&[0.0, 2.0, 0.0]), Some(1));
        for bad in [&[][..], &[-1.0, 2.0], &[f64::NAN, 1.0], &[1.0, f64::INFINITY]] {
            assert_eq!(s.weighted(bad), None);
        }
        assert_eq!((s.below(0), s.below(1)), (0, 0));
    }
}
