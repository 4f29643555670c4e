//! In how many of some sets each place is, 64 places to a word.

use consilience_core::{Result, room};
use pulp::{Arch, NullaryFnOnce};

/// Words of one block: what the widest registers hold.
const LANES: usize = 8;
/// Places of one block.
const BLOCK: usize = LANES * u64::BITS as usize;

type Words = [u64; LANES];

/// Sets of places, a bit per place and set.
///
/// ```
/// use consilience::num::sets::{PlaceCounts, PlaceSets};
///
/// let mut sets = PlaceSets::new(600, 3)?;
/// sets.insert(0, 7);
/// sets.insert(1, 7);
/// sets.insert(2, 599);
/// let mut counts = PlaceCounts::new(&sets, 3)?;
/// counts.fill(&sets, &[0, 1, 2]);
/// assert_eq!((counts.get(7), counts.get(599), counts.get(8)), (2, 1, 0));
/// assert_eq!((counts.reaching(1), counts.reaching(2)), (2, 1));
/// let mut places = Vec::new();
/// counts.each_reaching(1, |place, count| places.push((place, count)));
/// assert_eq!(places, [(7, 2), (599, 1)]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlaceSets {
    blocks: usize,
    words: Vec<Words>,
}

impl PlaceSets {
    /// Empty sets of `places` places.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where there is no memory for
    /// an eighth of a byte per set and place.
    pub fn new(places: usize, sets: usize) -> Result<Self> {
        let blocks = places.div_ceil(BLOCK);
        Ok(PlaceSets { blocks, words: room::filled(blocks.saturating_mul(sets), [0; LANES])? })
    }

    /// Bytes of so many sets of so many places.
    pub fn bytes(places: usize, sets: usize) -> usize {
        places.div_ceil(BLOCK).saturating_mul(sets).saturating_mul(size_of::<Words>())
    }

    /// Puts a place into a set. Panics for a set or a place that does not exist.
    pub fn insert(&mut self, set: usize, place: usize) {
        let (block, bit) = (place / BLOCK, place % BLOCK);
        assert!(block < self.blocks, "place {place}");
        self.words[set * self.blocks + block][bit / 64] |= 1 << (bit % 64);
    }
}

/// In how many of the chosen sets each place is. A word holds one binary digit of 64 counts, so
/// that adding a set to some hundreds of counts takes a few instructions per digit.
#[derive(Clone, Debug)]
pub struct PlaceCounts {
    digits: usize,
    /// Block by block, the digits of its places, low ones first.
    words: Vec<Words>,
}

impl PlaceCounts {
    /// Counts of the places of `sets`, for at most `most` sets chosen at a time.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where there is no memory for
    /// them.
    pub fn new(sets: &PlaceSets, most: usize) -> Result<Self> {
        let digits = (usize::BITS - most.leading_zeros()).max(1) as usize;
        Ok(PlaceCounts { digits, words: room::filled(sets.blocks * digits, [0; LANES])? })
    }

    /// Counts anew, over the sets that are `chosen`. Panics for more sets than foreseen.
    ///
    /// # Complexity
    /// O(sets digits) instructions for some hundreds of places.
    pub fn fill(&mut self, sets: &PlaceSets, chosen: &[u32]) {
        assert!(chosen.len() >> self.digits == 0, "{} sets", chosen.len());
        Arch::new().dispatch(Fill { counts: self, sets, chosen });
    }

    /// The count of one place.
    pub fn get(&self, place: usize) -> usize {
        let (block, bit) = (place / BLOCK, place % BLOCK);
        let digits = &self.words[block * self.digits..(block + 1) * self.digits];
        let digit = |(d, words): (usize, &Words)| (words[bit / 64] >> (bit % 64) & 1) << d;
        digits.iter().enumerate().map(digit).sum::<u64>() as usize
    }

    /// How many places are in at least `least` of the sets, which is 1 or more.
    pub fn reaching(&self, least: usize) -> usize {
        Arch::new().dispatch(Reaching { counts: self, least })
    }

    /// Calls `with` for each place that is in at least `least` of the sets, which is 1 or more, and
    /// its count; places ascending.
    pub fn each_reaching(&self, least: usize, mut with: impl FnMut(u32, usize)) {
        for (block, digits) in self.words.chunks_exact(self.digits).enumerate() {
            let reached = at_least(digits, least);
            for (w, &word) in reached.iter().enumerate() {
                let first = (block * BLOCK + w * 64) as u32;
                let mut left = word;
                while left > 0 {
                    let bit = left.trailing_zeros();
                    let digit = |(d, words): (usize, &Words)| (words[w] >> bit & 1) << d;
                    let count = digits.iter().enumerate().map(digit).sum::<u64>();
                    with(first + bit, count as usize);
                    left &= left - 1;
                }
            }
        }
    }
}

/// Where counts with these digits are at least `least`.
#[inline(always)]
fn at_least(digits: &[Words], least: usize) -> Words {
    if least >> digits.len() > 0 {
        return [0; LANES];
    }
    let (mut more, mut equal) = ([0; LANES], [u64::MAX; LANES]);
    for (d, words) in digits.iter().enumerate().rev() {
        let is_set = if least >> d & 1 == 1 { u64::MAX } else { 0 };
        for ((more, equal), word) in more.iter_mut().zip(&mut equal).zip(words) {
            *more |= *equal & word & !is_set;
            *equal &= !(word ^ is_set);
        }
    }
    for (more, equal) in more.iter_mut().zip(equal) {
        *more |= equal;
    }
    more
}

struct Fill<'a> {
    counts: &'a mut PlaceCounts,
    sets: &'a PlaceSets,
    chosen: &'a [u32],
}

impl NullaryFnOnce for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Fill { counts, sets, chosen } = self;
        for (block, digits) in counts.words.chunks_exact_mut(counts.digits).enumerate() {
            digits.fill([0; LANES]);
            for (before, &set) in chosen.iter().enumerate() {
                let mut carry = sets.words[set as usize * sets.blocks + block];
                // The sum of so many sets has no further digits.
                let last = (usize::BITS - (before + 1).leading_zeros()) as usize;
                for words in &mut digits[..last] {
                    for (word, carry) in words.iter_mut().zip(&mut carry) {
                        let next = *word & *carry;
                        *word ^= *carry;
                        *carry = next;
                    }
                }
            }
        }
    }
}

struct Reaching<'a> {
    counts: &'a PlaceCounts,
    least: usize,
}

impl NullaryFnOnce for Reaching<'_> {
    type Output = usize;

    #[inline(always)]
    fn call(self) -> usize {
        // Loops, since the closures of iterators would be compiled for any processor.
        let mut sums = [0; LANES];
        for digits in self.counts.words.chunks_exact(self.counts.digits) {
            let reached = at_least(digits, self.least);
            for (sum, word) in sums.iter_mut().zip(reached) {
                *sum += u64::from(word.count_ones());
            }
        }
        sums.iter().sum::<u64>() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_one_at_a_time() {
        for (n, m) in [(1, 1), (64, 3), (511, 4), (512, 15), (513, 16), (3000, 300)] {
            let holds = |set: usize, place: usize| (set * set + 7 * place) % (set + 3) < 2;
            let mut sets = PlaceSets::new(n, m + 1).unwrap();
            for set in 0..=m {
                (0..n).filter(|&i| holds(set, i)).for_each(|i| sets.insert(set, i));
            }
            let mut counts = PlaceCounts::new(&sets, m).unwrap();
            // The second time after other sets, of which nothing may be left.
            for chosen in [(1..=m as u32).collect::<Vec<_>>(), vec![0], vec![]] {
                counts.fill(&sets, &chosen);
                let count = |i: usize| chosen.iter().filter(|&&s| holds(s as usize, i)).count();
                assert!((0..n).all(|i| counts.get(i) == count(i)), "{n} {m}");
                for least in (1..=m + 1).chain([1 << 20]) {
                    let all = (0..n as u32).map(|i| (i, count(i as usize)));
                    let expected: Vec<_> = all.filter(|&(_, c)| c >= least).collect();
                    let mut places = Vec::new();
                    counts.each_reaching(least, |place, count| places.push((place, count)));
                    assert_eq!(places, expected, "{n} {m} {least}");
                    assert_eq!(counts.reaching(least), places.len(), "{n} {m} {least}");
                }
            }
        }
    }
}
