//! The common cluster of each object.

use consilience_core::LabelInt;
use rayon::prelude::*;

use crate::kernel::{Kernel, PART, TILE, Work, dispatch, passes};
use crate::tiles::{Tiles, Translation};
use crate::weighted_members::WeightedMembers;

/// Labels that one task copies out: they stay in the second nearest cache.
const LABELS: usize = 3 << 17;
/// Most tiles of a task.
const TILES: usize = 128;
/// A tile of more undecided objects is counted again as a whole.
const UNDECIDED: usize = 24;
/// Where weights of 16 bits decide less than this many of their units apart, they are no use.
const MOST_SLACK: u64 = 4096;

/// Weights in 16 bits: their sums are half as long to add, and decide nearly all objects.
struct Narrow {
    units: Vec<u16>,
    /// A cluster that is ahead by more in these units is ahead; `None` where the sums are exact.
    slack: Option<u16>,
}

impl Narrow {
    /// Multiples of one number are exact. Others lose less than one unit each in the division, so
    /// that the largest lead that may be none is what all of them lose together.
    fn of(units: &[u32]) -> Option<Self> {
        let total: u64 = units.iter().map(|&u| u64::from(u)).sum();
        let common = units.iter().fold(0, |a, &b| common_divisor(a, b)).max(1);
        let most = u64::from(u16::MAX);
        let exact = total / u64::from(common) <= most;
        let unit = if exact { u64::from(common) } else { total.div_ceil(most) };
        let narrow: Vec<u16> = units.iter().map(|&u| (u64::from(u) / unit) as u16).collect();
        let kept: u64 = narrow.iter().map(|&u| u64::from(u) * unit).sum();
        let slack = (total - kept) / unit;
        (slack <= MOST_SLACK)
            .then_some(Narrow { units: narrow, slack: (!exact).then_some(slack as u16) })
    }
}

fn common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Labels of all objects by the members with weight, of at most
/// [`MAX_CLUSTERS`](crate::tiles::MAX_CLUSTERS) common clusters.
pub(crate) fn winners<L: LabelInt>(of: WeightedMembers<'_>) -> Vec<L> {
    let support = of.weights.support();
    let units: Vec<u32> = support.iter().map(|&u| of.weights.units()[u]).collect();
    let narrow = Narrow::of(&units);
    let members: Vec<Translation<'_>> =
        support.iter().map(|&u| Translation::of(of.ensemble, of.alignment, u)).collect();
    let clusters = of.n_clusters();
    let tiles = (LABELS / TILE / support.len()).clamp(1, TILES);
    let mut labels = vec![L::MISSING; of.ensemble.n_objects()];
    labels.par_chunks_mut(tiles * TILE).enumerate().for_each_init(
        || Tiles::new(members.len(), tiles),
        |copied, (block, out)| {
            let first = block * tiles * TILE;
            copied.copy(&members, first..first + out.len());
            dispatch(Decide {
                tiles: copied,
                units: &units,
                narrow: narrow.as_ref(),
                clusters,
                out,
            });
        },
    );
    labels
}

/// Decides for the objects of some tiles.
struct Decide<'a, L> {
    tiles: &'a Tiles,
    units: &'a [u32],
    narrow: Option<&'a Narrow>,
    clusters: usize,
    out: &'a mut [L],
}

impl<L: LabelInt> Work for Decide<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Decide { tiles, units, narrow, clusters, out } = self;
        let mut short = vec![[0u16; TILE]; clusters];
        let mut long = vec![[0u32; TILE]; clusters];
        for (t, out) in out.chunks_mut(TILE).enumerate() {
            let mut undecided = [0; TILE];
            let mut count = TILE;
            if let Some(narrow) = narrow {
                passes!(clusters, |first, R| {
                    let weighted = tiles.column(t).zip(narrow.units.iter().copied());
                    let sums = kernel.count_16::<R>(weighted, first);
                    let n = R.min(clusters - first);
                    short[first..first + n].copy_from_slice(&sums[..n]);
                });
                let (label, best, second) = lead(&short);
                write(out, &label, &best);
                count = 0;
                if let Some(slack) = narrow.slack {
                    for i in 0..out.len() {
                        undecided[count] = i;
                        count += usize::from(best[i] - second[i] <= slack);
                    }
                }
            }
            if count > UNDECIDED {
                count_tile(kernel, tiles, t, units, &mut long);
                let (label, best, _) = lead(&long);
                write(out, &label, &best);
            } else {
                for &i in &undecided[..count] {
                    let mut votes = [0u32; 256];
                    for (tile, &unit) in tiles.column(t).zip(units) {
                        votes[tile.0[i] as usize] += unit;
                    }
                    let best =
                        (1..clusters).fold(0, |b, c| if votes[c] > votes[b] { c } else { b });
                    out[i] = if votes[best] > 0 { L::from_index(best) } else { L::MISSING };
                }
            }
        }
    }
}

/// Exact votes for a tile.
#[inline(always)]
fn count_tile<K: Kernel>(
    kernel: K,
    tiles: &Tiles,
    tile: usize,
    units: &[u32],
    votes: &mut [[u32; TILE]],
) {
    let clusters = votes.len();
    for part in 0..TILE / PART {
        passes!(clusters, |first, R| {
            let weighted = tiles.column(tile).zip(units.iter().map(|&u| [u]));
            let [sums] = kernel.count_32::<R, 1>(weighted, part, first);
            for (votes, sums) in votes[first..].iter_mut().zip(&sums) {
                votes.as_chunks_mut::<PART>().0[part] = *sums;
            }
        });
    }
}

/// Exact votes for the objects of a tile, each its row of clusters.
pub(crate) struct CountTile<'a, 'r> {
    pub(crate) tiles: &'a Tiles,
    pub(crate) tile: usize,
    pub(crate) units: &'a [u32],
    pub(crate) clusters: usize,
    /// Of the first objects of the tile.
    pub(crate) rows: &'r mut [u32],
}

impl Work for CountTile<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let CountTile { tiles, tile, units, clusters, rows } = self;
        let mut votes = vec![[0u32; TILE]; clusters];
        count_tile(kernel, tiles, tile, units, &mut votes);
        for (t, row) in rows.chunks_mut(clusters).enumerate() {
            row.iter_mut().zip(&votes).for_each(|(to, votes)| *to = votes[t]);
        }
    }
}

/// For each object the cluster with most votes, the first of equals, its votes and those of the
/// next.
#[inline(always)]
fn lead<T: Copy + Ord + Default + From<u8>>(
    votes: &[[T; TILE]],
) -> ([T; TILE], [T; TILE], [T; TILE]) {
    let (mut label, mut best, mut second) =
        ([T::default(); TILE], [T::default(); TILE], [T::default(); TILE]);
    for (c, votes) in votes.iter().enumerate() {
        let c = T::from(c as u8);
        for i in 0..TILE {
            let (vote, before) = (votes[i], best[i]);
            let less = vote.min(before);
            label[i] = if vote > before { c } else { label[i] };
            second[i] = second[i].max(less);
            best[i] = before.max(vote);
        }
    }
    (label, best, second)
}

#[inline(always)]
fn write<L: LabelInt, T: Copy + Default + PartialEq + Into<u32>>(
    out: &mut [L],
    label: &[T; TILE],
    best: &[T; TILE],
) {
    for ((out, &label), best) in out.iter_mut().zip(label).zip(best) {
        *out =
            if *best == T::default() { L::MISSING } else { L::from_index(label.into() as usize) };
    }
}
