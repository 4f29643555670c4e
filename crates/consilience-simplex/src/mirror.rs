//! The labels once more, object by object.

use consilience_core::Ensemble;
use rayon::prelude::*;

use crate::align::Alignment;
use crate::kernel::{Kernel, TILE, Tile, Work, dispatch};
use crate::tiles::{self, Tiles, Translation, WORTH};

/// Bytes of the largest mirror. Beyond it there is none, and single objects are looked up column by
/// column.
const MOST_BYTES: usize = 300_000_000;
/// Objects of one task: their labels by 300 members stay in the second nearest cache.
const BLOCK: usize = 8 * TILE;
/// Objects of one task when only some are asked for.
const ASKED: usize = 128;

/// Numbers of common clusters, one byte each and [`SILENT`](tiles::SILENT) for none, all members of
/// an object side by side.
///
/// The columns of an ensemble serve those who read everything. Who wants a few objects misses every
/// cache once per label there, and here once per 64 members.
#[derive(Clone, Debug)]
pub(crate) struct Mirror {
    members: usize,
    values: Vec<u8>,
}

impl Mirror {
    /// `None` where it would be too large, or clusters too many for bytes.
    ///
    /// # Complexity
    /// O(n m), in parallel.
    pub(crate) fn of(ensemble: &Ensemble, alignment: &Alignment) -> Option<Self> {
        let members = ensemble.n_members();
        let mut mirror = Mirror { members, values: Vec::new() };
        mirror.extend(ensemble, alignment).then_some(mirror)
    }

    /// Takes objects in that came since; says whether there is room for them.
    pub(crate) fn extend(&mut self, ensemble: &Ensemble, alignment: &Alignment) -> bool {
        let (n, m) = (ensemble.n_objects(), self.members);
        if n.saturating_mul(m) > MOST_BYTES || alignment.clusters() > tiles::MOST {
            return false;
        }
        let known = self.values.len() / m;
        let members: Vec<Translation<'_>> =
            (0..m).map(|u| Translation::of(ensemble, alignment, u)).collect();
        self.values.resize(n * m, 0);
        let blocks = self.values[known * m..].par_chunks_mut(BLOCK * m).enumerate();
        blocks.for_each_init(
            || Tiles::new(m, BLOCK / TILE),
            |copied, (block, out)| {
                let first = known + block * BLOCK;
                copied.copy(&members, first..first + out.len() / m);
                for (tile, rows) in out.chunks_mut(TILE * m).enumerate() {
                    dispatch(Reflect { copied, tile, rows });
                }
            },
        );
        true
    }

    /// What all members say of one object.
    #[inline(always)]
    pub(crate) fn row(&self, object: usize) -> &[u8] {
        &self.values[object * self.members..][..self.members]
    }

    /// Votes of some objects, one row of `clusters` each.
    pub(crate) fn votes(&self, objects: &[usize], clusters: usize, units: &[u32]) -> Vec<u32> {
        let weights: Vec<u64> = units.iter().map(|&u| u.into()).collect();
        let mut votes = vec![0u32; objects.len() * clusters];
        let count = |tally: &mut Tally, (votes, objects): (&mut [u32], &[usize])| {
            for (votes, objects) in votes.chunks_mut(2 * clusters).zip(objects.chunks(2)) {
                let both = [objects[0], objects[objects.len() - 1]];
                for (c, sums) in tally.count(both.map(|i| self.row(i)), &weights).enumerate() {
                    votes
                        .iter_mut()
                        .skip(c)
                        .step_by(clusters)
                        .zip(sums)
                        .for_each(|(v, sum)| *v = sum as u32);
                }
            }
        };
        let new = || Tally::new(clusters);
        if objects.len() * self.members < WORTH {
            count(&mut new(), (&mut votes, objects));
        } else {
            let chunks = votes.par_chunks_mut(ASKED * clusters).zip(objects.par_chunks(ASKED));
            chunks.for_each_init(new, count);
        }
        votes
    }

    pub(crate) fn members(&self) -> usize {
        self.members
    }
}

/// From labels member by member to labels object by object.
struct Reflect<'a, 'r> {
    copied: &'a Tiles,
    tile: usize,
    /// Of the first objects of the tile.
    rows: &'r mut [u8],
}

impl Work for Reflect<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let Reflect { copied, tile, rows } = self;
        let m = copied.members();
        for first in (0..m).step_by(TILE) {
            let member = |u: usize| {
                if first + u < m { copied.row(first + u)[tile].0 } else { [tiles::SILENT; TILE] }
            };
            for (row, labels) in rows.chunks_mut(m).zip(&transposed(member)) {
                let row = &mut row[first..m.min(first + TILE)];
                row.copy_from_slice(&labels.0[..row.len()]);
            }
        }
    }
}

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

/// Adds up weights by label, for two objects at a time.
pub(crate) struct Tally {
    clusters: usize,
    /// For each label eight sums of either object: members that agree do not wait for each other.
    sums: Box<[[[u64; 8]; 2]; 256]>,
}

impl Tally {
    pub(crate) fn new(clusters: usize) -> Self {
        Tally { clusters, sums: Box::new([[[0; 8]; 2]; 256]) }
    }

    /// The sums of the members' weights for each cluster.
    #[inline(always)]
    pub(crate) fn count(
        &mut self,
        rows: [&[u8]; 2],
        weights: &[u64],
    ) -> impl Iterator<Item = [u64; 2]> + '_ {
        let Tally { clusters, sums } = self;
        sums[..*clusters].fill([[0; 8]; 2]);
        // Nobody's sums are never set back.
        let mut add = |side: usize, label: u8, at: usize, weight: u64| {
            let sum = &mut sums[usize::from(label)][side][at];
            *sum = sum.wrapping_add(weight);
        };
        let ([(a, last_a), (b, last_b)], (eights, rest)) =
            (rows.map(<[u8]>::as_chunks::<8>), weights.as_chunks::<8>());
        for ((a, b), weights) in a.iter().zip(b).zip(eights) {
            // Taken out of a word, since what costs is reading and writing memory.
            let (a, b) = (u64::from_le_bytes(*a), u64::from_le_bytes(*b));
            for (at, &weight) in weights.iter().enumerate() {
                add(0, (a >> (8 * at)) as u8, at, weight);
                add(1, (b >> (8 * at)) as u8, at, weight);
            }
        }
        for ((&a, &b), &weight) in last_a.iter().zip(last_b).zip(rest) {
            add(0, a, 0, weight);
            add(1, b, 0, weight);
        }
        sums[..*clusters].iter().map(|sides| sides.map(|eight| eight.iter().sum()))
    }
}
