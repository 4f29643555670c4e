//! 64 x 64 bytes, rows for columns.

use crate::kernel::{TILE, Tile};

/// 64 rows of 64 bytes as columns.
#[inline(always)]
pub(crate) fn transposed(row: impl Fn(usize) -> [u8; TILE]) -> [Tile; TILE] {
    let mut out = [Tile([0; TILE]); TILE];
    for group in 0..TILE / 8 {
        // Eight rows in words of eight bytes: each word of the eight goes with its like.
        let mut words: [[u64; 8]; 8] = std::array::from_fn(|r| {
            let row = row(8 * group + r);
            std::array::from_fn(|w| u64::from_le_bytes(row.as_chunks().0[w]))
        });
        exchange::<1>(&mut words, 0x00ff_00ff_00ff_00ff);
        exchange::<2>(&mut words, 0x0000_ffff_0000_ffff);
        exchange::<4>(&mut words, 0x0000_0000_ffff_ffff);
        for (i, words) in words.iter().enumerate() {
            for (w, word) in words.iter().enumerate() {
                out[8 * w + i].0.as_chunks_mut().0[group] = word.to_le_bytes();
            }
        }
    }
    out
}

/// One step of the transposition of 8 x 8 bytes: the upper ones of a row for the lower ones of the
/// row `STEP` further on.
#[inline(always)]
fn exchange<const STEP: usize>(rows: &mut [[u64; 8]; 8], lower: u64) {
    for a in (0..8).filter(|a| a & STEP == 0) {
        for w in 0..8 {
            let (x, y) = (rows[a][w], rows[a + STEP][w]);
            let differ = (x >> (8 * STEP) ^ y) & lower;
            rows[a][w] = x ^ differ << (8 * STEP);
            rows[a + STEP][w] = y ^ differ;
        }
    }
}
