//! The labels once more, object by object.

use consilience_core::{Ensemble, MemoryBudget};
use rayon::prelude::*;

use crate::alignment::Alignment;
use crate::kernel::{Kernel, TILE, Tile, Work, dispatch};
use crate::parallel::PARALLEL_FROM;
use crate::tiles::{self, Tiles, Translation, UNLABELLED, has_unlabelled};
use crate::transpose::transposed;

/// Objects of one task: their labels by 300 members stay in the second nearest cache.
const BLOCK: usize = 8 * TILE;
/// Objects of one task when only some are asked for.
const OBJECTS_PER_TASK: usize = 128;

/// Numbers of common clusters, one byte each and [`UNLABELLED`] for none, all members of an object
/// side by side.
///
/// The columns of an ensemble are good for reading all objects. For a few objects they cost one
/// cache miss per label, these rows one per 64 members.
#[derive(Clone, Debug)]
pub(crate) struct Mirror {
    /// Where it would be larger there is none.
    budget: MemoryBudget,
    members: usize,
    values: Vec<u8>,
}

impl Mirror {
    /// `None` where it would be too large, or clusters too many for bytes.
    ///
    /// # Complexity
    /// O(n m), in parallel.
    pub(crate) fn of(
        ensemble: &Ensemble,
        alignment: &Alignment,
        budget: MemoryBudget,
    ) -> Option<Self> {
        let members = ensemble.n_members();
        let mut mirror = Mirror { budget, members, values: Vec::new() };
        mirror.extend(ensemble, alignment).then_some(mirror)
    }

    /// Takes objects in that came since; says whether there is room for them.
    pub(crate) fn extend(&mut self, ensemble: &Ensemble, alignment: &Alignment) -> bool {
        let (n, m) = (ensemble.n_objects(), self.members);
        let more = n.saturating_mul(m).saturating_sub(self.values.len());
        let fits = self.budget.allows_table(n, m, 1);
        let room = |values: &mut Vec<u8>| {
            values.try_reserve(more).or_else(|_| values.try_reserve_exact(more)).is_ok()
        };
        let fits = fits && room(&mut self.values);
        if !fits || alignment.clusters() > tiles::MAX_CLUSTERS {
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
        if objects.len() * self.members < PARALLEL_FROM {
            count(&mut new(), (&mut votes, objects));
        } else {
            let chunks = votes
                .par_chunks_mut(OBJECTS_PER_TASK * clusters)
                .zip(objects.par_chunks(OBJECTS_PER_TASK));
            chunks.for_each_init(new, count);
        }
        votes
    }

    /// The labels of some objects, whose number is a multiple of [`TILE`], by all members.
    pub(crate) fn tiles(&self, objects: &[u32]) -> Tiles {
        let mut tiles = Tiles::new(self.members, objects.len() / TILE);
        let per_member = tiles.per_member().max(1);
        let parallel = self.members * objects.len() >= PARALLEL_FROM;
        let objects = objects.as_chunks().0;
        tiles.fill(parallel, TILE * per_member, &|block, rows| {
            dispatch(Turn { mirror: self, objects, first: block * TILE, rows })
        });
        tiles
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
                if first + u < m { copied.row(first + u)[tile].0 } else { [UNLABELLED; TILE] }
            };
            for (row, labels) in rows.chunks_mut(m).zip(&transposed(member)) {
                let row = &mut row[first..m.min(first + TILE)];
                row.copy_from_slice(&labels.0[..row.len()]);
            }
        }
    }
}

/// From labels object by object to those of 64 members at most.
struct Turn<'a, 't> {
    mirror: &'a Mirror,
    objects: &'a [[u32; TILE]],
    first: usize,
    /// The tiles of one member after the other.
    rows: &'t mut [Tile],
}

impl Work for Turn<'_, '_> {
    /// Whether there are gaps.
    type Output = bool;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> bool {
        let Turn { mirror, objects, first, rows } = self;
        let per_member = objects.len();
        let mut gaps = false;
        for (t, objects) in objects.iter().enumerate() {
            let object = |i: usize| {
                let labels = &mirror.row(objects[i] as usize)[first..];
                labels.first_chunk().copied().unwrap_or_else(|| {
                    let mut last = [UNLABELLED; TILE];
                    last[..labels.len()].copy_from_slice(labels);
                    last
                })
            };
            for (row, tile) in rows.chunks_mut(per_member).zip(&transposed(object)) {
                row[t] = *tile;
                gaps |= has_unlabelled(tile);
            }
        }
        gaps
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
        // The sums of unlabelled objects are not read and never set back.
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
