//! Counting equal entries, many at a time.

use pulp::{Arch, NullaryFnOnce};

/// Adds 1 to `counts[i]` wherever `items[i]` equals `item` (or differs from it, where `equal` is
/// false). The counters wrap after 255 additions, which the caller prevents.
///
/// ```
/// let mut counts = [0; 4];
/// consilience::num::tally::tally(&mut counts, &[7u16, 2, 7, 9], 7, true);
/// assert_eq!(counts, [1, 0, 1, 0]);
/// consilience::num::tally::tally(&mut counts, &[7u16, 2, 7, 9], 9, false);
/// assert_eq!(counts, [2, 1, 2, 0]);
/// ```
///
/// # Complexity
/// O(n), some dozens of entries per instruction.
pub fn tally<T: Copy + Eq>(counts: &mut [u8], items: &[T], item: T, equal: bool) {
    Arch::new().dispatch(Tally { counts, items, item, equal });
}

struct Tally<'a, T> {
    counts: &'a mut [u8],
    items: &'a [T],
    item: T,
    equal: bool,
}

impl<T: Copy + Eq> NullaryFnOnce for Tally<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Tally { counts, items, item, equal } = self;
        if equal {
            for (c, &x) in counts.iter_mut().zip(items) {
                *c = c.wrapping_add(u8::from(x == item));
            }
        } else {
            for (c, &x) in counts.iter_mut().zip(items) {
                *c = c.wrapping_add(u8::from(x != item));
            }
        }
    }
}

/// How many counts are at least `least`.
///
/// ```
/// assert_eq!(consilience::num::tally::reaching(&[3, 0, 2, 7], 2), 3);
/// ```
///
/// # Complexity
/// O(n), some dozens of counts per instruction.
pub fn reaching(counts: &[u16], least: u16) -> usize {
    Arch::new().dispatch(Reaching { counts, least })
}

/// Where counts are at least `least`, ascending.
///
/// ```
/// assert_eq!(consilience::num::tally::places_reaching(&[3, 0, 2, 7], 3), [0, 3]);
/// ```
///
/// # Complexity
/// As [`reaching`], where few do.
pub fn places_reaching(counts: &[u16], least: u16) -> Vec<u32> {
    Arch::new().dispatch(PlacesReaching { counts, least })
}

struct Reaching<'a> {
    counts: &'a [u16],
    least: u16,
}

impl NullaryFnOnce for Reaching<'_> {
    type Output = usize;

    #[inline(always)]
    fn call(self) -> usize {
        // Sums of so few fit the narrow type, many of which fit a register.
        let of_chunk =
            |chunk: &[u16]| chunk.iter().map(|&c| u16::from(c >= self.least)).sum::<u16>();
        self.counts.chunks(1 << 15).map(|chunk| usize::from(of_chunk(chunk))).sum()
    }
}

struct PlacesReaching<'a> {
    counts: &'a [u16],
    least: u16,
}

impl NullaryFnOnce for PlacesReaching<'_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn call(self) -> Vec<u32> {
        const BLOCK: usize = 128;
        let mut places = Vec::new();
        for (b, block) in self.counts.chunks(BLOCK).enumerate() {
            if block.iter().fold(0, |most, &c| most.max(c)) < self.least {
                continue;
            }
            for (at, &c) in block.iter().enumerate() {
                if c >= self.least {
                    places.push((b * BLOCK + at) as u32);
                }
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_one_at_a_time() {
        for n in [0, 1, 5, 64, 100, 517] {
            let items: Vec<u8> = (0..n).map(|i| (i * i % 7) as u8).collect();
            for equal in [true, false] {
                let mut counts: Vec<u8> = (0..n).map(|i| (i % 3) as u8).collect();
                tally(&mut counts, &items, 4, equal);
                for i in 0..n {
                    let more = u8::from((items[i] == 4) == equal);
                    assert_eq!(counts[i], (i % 3) as u8 + more, "{n} {i}");
                }
            }
        }
    }

    #[test]
    fn reaching_counts_are_those_of_one_at_a_time() {
        for n in [0, 1, 127, 128, 129, 40_000] {
            let counts: Vec<u16> = (0..n).map(|i| (i * i % 11) as u16).collect();
            for least in [0, 1, 5, 9, 10, u16::MAX] {
                let places: Vec<u32> =
                    (0..n as u32).filter(|&i| counts[i as usize] >= least).collect();
                assert_eq!(reaching(&counts, least), places.len(), "{n} {least}");
                assert_eq!(places_reaching(&counts, least), places, "{n} {least}");
            }
        }
    }
}
