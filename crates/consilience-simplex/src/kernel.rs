//! The innermost loops on labels of one byte, in vectors of whatever width the processor has.

use pulp::NullaryFnOnce;
#[cfg(target_arch = "x86_64")]
use pulp::{
    cast,
    x86::{V3, V4},
};

#[cfg(target_arch = "x86_64")]
mod avx2;

/// Objects of one tile: the bytes of the longest vector.
pub(crate) const TILE: usize = 64;
/// Objects whose votes in 32 bits are one vector.
pub(crate) const PART: usize = 16;

/// Labels of 64 objects by one member, one byte each, where no vector straddles two cache lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Tile(pub(crate) [u8; TILE]);

/// Clusters that have their sums in registers at a time; others take another pass.
const WIDEST: usize = 12;

/// Up to this many rows of a table, comparing with each entry is faster than looking labels up.
const COMPARED: usize = 2;

/// What a processor can do with tiles, by loops where nothing better is said. All implementations
/// give the same bits.
pub(crate) trait Kernel: Copy {
    /// Votes in 16 bits for the clusters `first..first + R`: each tile counts by the weight beside
    /// it.
    #[inline(always)]
    fn count_16<'a, const R: usize>(
        self,
        tiles: impl Iterator<Item = (&'a Tile, u16)> + Clone,
        first: usize,
    ) -> [[u16; TILE]; R] {
        let mut sums = [[0; TILE]; R];
        for (tile, weight) in tiles {
            for (c, sums) in sums.iter_mut().enumerate() {
                let c = (first + c) as u8;
                for (sum, &l) in sums.iter_mut().zip(&tile.0) {
                    *sum += if l == c { weight } else { 0 };
                }
            }
        }
        sums
    }

    /// Votes in 32 bits of the objects `PART part..` of the tile, by W weights each.
    #[inline(always)]
    fn count_32<'a, const R: usize, const W: usize>(
        self,
        tiles: impl Iterator<Item = (&'a Tile, [u32; W])> + Clone,
        part: usize,
        first: usize,
    ) -> [[[u32; PART]; R]; W] {
        let mut sums = [[[0u32; PART]; R]; W];
        // Cluster by cluster: compilers keep a few sums in registers, not all of them.
        for c in 0..R {
            let cluster = (first + c) as u8;
            let mut now = [[0u32; PART]; W];
            for (tile, weights) in tiles.clone() {
                let labels: &[u8; PART] = &tile.0.as_chunks().0[part];
                for w in 0..W {
                    for t in 0..PART {
                        now[w][t] += if labels[t] == cluster { weights[w] } else { 0 };
                    }
                }
            }
            for w in 0..W {
                sums[w][c] = now[w];
            }
        }
        sums
    }

    /// Looks each label up; labels of `rows` times 16 on become 255.
    #[inline(always)]
    fn translate(self, table: &[u8; 256], rows: usize, labels: &[u8; TILE]) -> [u8; TILE] {
        let mut out = [u8::MAX; TILE];
        if rows <= COMPARED {
            for (c, &to) in table[..16 * rows].iter().enumerate().filter(|(_, to)| **to != u8::MAX)
            {
                for (o, &l) in out.iter_mut().zip(labels) {
                    *o = if l == c as u8 { to } else { *o };
                }
            }
        } else {
            for (o, &l) in out.iter_mut().zip(labels) {
                *o = table[l as usize];
            }
        }
        out
    }

    /// Number of objects on which two tiles agree.
    #[inline(always)]
    fn agreements(self, a: &Tile, b: &Tile) -> u32 {
        let mut same = [0u8; TILE];
        for ((s, a), b) in same.iter_mut().zip(&a.0).zip(&b.0) {
            *s = u8::from(a == b);
        }
        byte_sum(&same)
    }

    /// Counts [`APART`], [`TOGETHER`] or [`ACROSS`] over the pairs of two members, both sides of 64
    /// at a time.
    #[inline(always)]
    fn between<const COUNT: u8>(self, mine: &[[Tile; 2]], other: &[[Tile; 2]]) -> u32 {
        let mut total = 0;
        for (mine, other) in mine.chunks(COUNTED).zip(other.chunks(COUNTED)) {
            let mut sums = [0u8; TILE];
            for ([a, b], [c, d]) in mine.iter().zip(other) {
                for t in 0..TILE {
                    let same = u8::from(a.0[t] == c.0[t]) + u8::from(b.0[t] == d.0[t]);
                    let across = u8::from(a.0[t] == d.0[t]) + u8::from(b.0[t] == c.0[t]);
                    sums[t] += match COUNT {
                        APART => 2 + same - across,
                        TOGETHER => same + across,
                        _ => across,
                    };
                }
            }
            total += byte_sum(&sums);
        }
        total
    }
}

/// What is counted of two members' labels (a, b) and (c, d) of a pair:
/// `2 + [a = c] + [b = d] - [a = d] - [b = c]`, the sum of all four, or the last two alone. Never
/// negative.
pub(crate) const APART: u8 = 0;
pub(crate) const TOGETHER: u8 = 1;
pub(crate) const ACROSS: u8 = 2;
/// Counts of that many tiles fit bytes, also where they begin at [`BIAS`].
const COUNTED: usize = 30;
#[cfg(target_arch = "x86_64")]
const BIAS: u8 = 64;

/// Something that is done by a kernel.
pub(crate) trait Work {
    type Output;

    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

struct With<K, W>(K, W);

impl<K: Kernel, W: Work> NullaryFnOnce for With<K, W> {
    type Output = W::Output;

    #[inline(always)]
    fn call(self) -> W::Output {
        self.1.run(self.0)
    }
}

/// Does some work with the widest vectors that there are.
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(v4) = V4::try_new() {
        return v4.vectorize(With(v4, work));
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = V3::try_new() {
        return v3.vectorize(With(v3, work));
    }
    work.run(Plain)
}

/// Runs one expression for each pass over the clusters, `R` of them at a time from `first` on.
macro_rules! passes {
    (
        @ [$($width:literal)*], $widest:literal, $clusters:expr,
        |$first:ident, $r:ident| $body:expr
    ) => {{
        let width = $crate::kernel::width_of_pass($clusters);
        for $first in (0..$clusters).step_by(width) {
            match width {
                $($width => {
                    const $r: usize = $width;
                    $body
                })*
                _ => {
                    const $r: usize = $widest;
                    $body
                }
            }
        }
    }};
    ($clusters:expr, |$first:ident, $r:ident| $body:expr) => {
        $crate::kernel::passes!(@ [2 4 6 8 10], 12, $clusters, |$first, $r| $body)
    };
}
pub(crate) use passes;

/// Clusters of one pass: even, and as equal as can be.
pub(crate) fn width_of_pass(clusters: usize) -> usize {
    let passes = clusters.div_ceil(WIDEST).max(1);
    clusters.div_ceil(passes).next_multiple_of(2).max(2)
}

/// Loops.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl Kernel for Plain {}

#[cfg(target_arch = "x86_64")]
impl Kernel for V4 {
    // Of the loops of `count_16` compilers make what one would by hand.

    #[inline(always)]
    fn count_32<'a, const R: usize, const W: usize>(
        self,
        tiles: impl Iterator<Item = (&'a Tile, [u32; W])> + Clone,
        part: usize,
        first: usize,
    ) -> [[[u32; PART]; R]; W] {
        let f = self.avx512f;
        let mut sums = [[f._mm512_set1_epi8(0); R]; W];
        for (tile, weights) in tiles {
            let labels: &[u8; PART] = &tile.0.as_chunks().0[part];
            let labels = f._mm512_cvtepu8_epi32(cast(*labels));
            let weights = weights.map(|w| f._mm512_set1_epi32(w as i32));
            for c in 0..R {
                let same =
                    f._mm512_cmpeq_epi32_mask(labels, f._mm512_set1_epi32((first + c) as i32));
                for w in 0..W {
                    sums[w][c] = f._mm512_mask_add_epi32(sums[w][c], same, sums[w][c], weights[w]);
                }
            }
        }
        sums.map(|sums| sums.map(cast))
    }

    #[inline(always)]
    fn translate(self, table: &[u8; 256], rows: usize, labels: &[u8; TILE]) -> [u8; TILE] {
        let (f, bw) = (self.avx512f, self.avx512bw);
        let labels = cast(*labels);
        let mut out = f._mm512_set1_epi8(-1);
        for (q, row) in table.as_chunks::<16>().0[..rows].iter().enumerate() {
            let within = f._mm512_xor_si512(labels, f._mm512_set1_epi8((q << 4) as i8));
            let here = bw._mm512_cmplt_epu8_mask(within, f._mm512_set1_epi8(16));
            let row = f._mm512_broadcast_i32x4(cast(*row));
            out = bw._mm512_mask_shuffle_epi8(out, here, row, within);
        }
        cast(out)
    }

    #[inline(always)]
    fn agreements(self, a: &Tile, b: &Tile) -> u32 {
        self.avx512bw._mm512_cmpeq_epi8_mask(cast(a.0), cast(b.0)).count_ones()
    }

    #[inline(always)]
    fn between<const COUNT: u8>(self, mine: &[[Tile; 2]], other: &[[Tile; 2]]) -> u32 {
        let (f, bw) = (self.avx512f, self.avx512bw);
        let one = f._mm512_set1_epi8(1);
        let mut total = 0;
        for (mine, other) in mine.chunks(COUNTED).zip(other.chunks(COUNTED)) {
            let mut sums = f._mm512_set1_epi8(BIAS as i8);
            for ([a, b], [c, d]) in mine.iter().zip(other) {
                let [a, b, c, d] = [cast(a.0), cast(b.0), cast(c.0), cast(d.0)];
                if COUNT != ACROSS {
                    for (x, y) in [(a, c), (b, d)] {
                        sums = bw._mm512_mask_add_epi8(
                            sums,
                            bw._mm512_cmpeq_epi8_mask(x, y),
                            sums,
                            one,
                        );
                    }
                }
                for (x, y) in [(a, d), (b, c)] {
                    let same = bw._mm512_cmpeq_epi8_mask(x, y);
                    sums = match COUNT {
                        APART => bw._mm512_mask_sub_epi8(sums, same, sums, one),
                        _ => bw._mm512_mask_add_epi8(sums, same, sums, one),
                    };
                }
            }
            let sums: [u64; 8] = cast(bw._mm512_sad_epu8(sums, f._mm512_set1_epi8(0)));
            let always = if COUNT == APART { 2 * (TILE * mine.len()) as u32 } else { 0 };
            total += sums.iter().sum::<u64>() as u32 + always - TILE as u32 * u32::from(BIAS);
        }
        total
    }
}

/// The sum of all bytes, by sums of every second one within words: compilers make a long detour of
/// the loop.
#[inline(always)]
fn byte_sum(bytes: &[u8; TILE]) -> u32 {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    let mut quarters = 0u64;
    for &word in bytes.as_chunks::<8>().0 {
        let word = u64::from_le_bytes(word);
        quarters += (word & EVEN) + (word >> 8 & EVEN);
    }
    (quarters.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32
}
