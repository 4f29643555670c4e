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
}
