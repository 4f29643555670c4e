//! The kernel of processors with AVX2 alone: sums of half a tile would not stay in their sixteen
//! registers.

use pulp::{cast, x86::V3};

use super::{Kernel, PART, TILE, Tile};

/// Bytes of a vector.
const BYTES: usize = 32;

impl Kernel for V3 {
    #[inline(always)]
    fn count_16<'a, const R: usize>(
        self,
        tiles: impl Iterator<Item = (&'a Tile, u16)> + Clone,
        first: usize,
    ) -> [[u16; TILE]; R] {
        let (a, a2) = (self.avx, self.avx2);
        let mut sums = [[0; TILE]; R];
        for part in 0..TILE / PART {
            let mut now = [a._mm256_setzero_si256(); R];
            for (tile, weight) in tiles.clone() {
                let labels: &[u8; PART] = &tile.0.as_chunks().0[part];
                let labels = a2._mm256_cvtepu8_epi16(cast(*labels));
                let weight = a._mm256_set1_epi16(weight as i16);
                for (c, sum) in now.iter_mut().enumerate() {
                    let cluster = a._mm256_set1_epi16((first + c) as i16);
                    let same = a2._mm256_cmpeq_epi16(labels, cluster);
                    *sum = a2._mm256_add_epi16(*sum, a2._mm256_and_si256(same, weight));
                }
            }
            for (sums, now) in sums.iter_mut().zip(now) {
                sums.as_chunks_mut::<PART>().0[part] = cast(now);
            }
        }
        sums
    }

    #[inline(always)]
    fn translate(self, table: &[u8; 256], rows: usize, labels: &[u8; TILE]) -> [u8; TILE] {
        let (a, a2) = (self.avx, self.avx2);
        let mut out = [0; TILE];
        for (out, labels) in out.as_chunks_mut().0.iter_mut().zip(labels.as_chunks::<BYTES>().0) {
            let labels = cast(*labels);
            let mut found = a._mm256_set1_epi8(-1);
            for (q, row) in table.as_chunks::<16>().0[..rows].iter().enumerate() {
                let within = a2._mm256_xor_si256(labels, a._mm256_set1_epi8((q << 4) as i8));
                let low = a2._mm256_min_epu8(within, a._mm256_set1_epi8(15));
                let here = a2._mm256_cmpeq_epi8(within, low);
                let row = a2._mm256_broadcastsi128_si256(cast(*row));
                found = a2._mm256_blendv_epi8(found, a2._mm256_shuffle_epi8(row, within), here);
            }
            *out = cast::<_, [u8; BYTES]>(found);
        }
        out
    }
}
