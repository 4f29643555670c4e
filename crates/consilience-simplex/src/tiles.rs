//! Labels of some objects under some members as numbers of common clusters, one byte each.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use consilience_core::{Ensemble, LabelInt, LabelSlice, with_labels};
use consilience_num::reduce::each_chunk_if;

use crate::alignment::Alignment;
use crate::kernel::{Kernel, TILE, Tile, Work, dispatch};
use crate::parallel::PARALLEL_FROM;

/// The byte of an object that a member does not label.
pub(crate) const UNLABELLED: u8 = u8::MAX;
/// With more common clusters there is none.
pub(crate) const MAX_CLUSTERS: usize = UNLABELLED as usize;

/// Members whose labels one task copies out.
const MEMBERS: usize = 16;

/// From the labels of a member to bytes.
pub(crate) struct Translation<'a> {
    labels: LabelSlice<'a>,
    table: &'a [u16],
    unlabelled: u16,
    bytes: [u8; 256],
    /// Rows of 16 entries that differ from [`UNLABELLED`]; none where the labels are the common
    /// ones already.
    rows: usize,
}

impl<'a> Translation<'a> {
    pub(crate) fn of(ensemble: &'a Ensemble, alignment: &'a Alignment, member: usize) -> Self {
        let table = alignment.table(member);
        let unlabelled = alignment.unlabelled();
        let own = &table[..table.len() - 1];
        let mut bytes = [UNLABELLED; 256];
        for (b, &c) in bytes.iter_mut().zip(own) {
            *b = byte(c, unlabelled);
        }
        let same = own.iter().enumerate().all(|(l, &c)| l == usize::from(c) && c != unlabelled);
        let rows = if same { 0 } else { own.len().div_ceil(16).min(16) };
        Translation { labels: ensemble.members()[member].labels(), table, unlabelled, bytes, rows }
    }

    #[inline(always)]
    fn look_up<L: LabelInt>(&self, label: L) -> u8 {
        // "Unlabelled" is the largest value of its type.
        byte(self.table[label.index().min(self.table.len() - 1)], self.unlabelled)
    }
}

#[inline(always)]
fn byte(cluster: u16, unlabelled: u16) -> u8 {
    if cluster == unlabelled { UNLABELLED } else { cluster as u8 }
}

/// Labels of some objects, a row of tiles for each of some members.
pub(crate) struct Tiles {
    members: usize,
    per_member: usize,
    /// Whether some member does not label some object that was gathered.
    gaps: bool,
    values: Vec<Tile>,
}

impl Tiles {
    /// Room for that many members and tiles each.
    pub(crate) fn new(members: usize, per_member: usize) -> Self {
        Tiles {
            members,
            per_member,
            gaps: false,
            values: vec![Tile([UNLABELLED; TILE]); members * per_member],
        }
    }

    /// The labels of some objects, whose number is a multiple of [`TILE`], by some members.
    pub(crate) fn gathered(
        ensemble: &Ensemble,
        alignment: &Alignment,
        members: &[usize],
        objects: &[u32],
    ) -> Self {
        let mut tiles = Self::new(members.len(), objects.len() / TILE);
        let per_member = tiles.per_member.max(1);
        let parallel = members.len() * objects.len() >= PARALLEL_FROM;
        tiles.fill(parallel, MEMBERS * per_member, &|c, rows| {
            let mut gaps = false;
            // Column by column, so that each is looked up while it is near.
            for (&u, row) in members[c * MEMBERS..].iter().zip(rows.chunks_mut(per_member)) {
                let translation = Translation::of(ensemble, alignment, u);
                gaps |= dispatch(Gather { translation, objects: objects.as_chunks().0, row });
            }
            gaps
        });
        tiles
    }

    /// Lets `part` write so many tiles at a time, those of one member after the other, and say
    /// whether there are gaps in them.
    pub(crate) fn fill(
        &mut self,
        parallel: bool,
        chunk: usize,
        part: &(dyn Fn(usize, &mut [Tile]) -> bool + Sync),
    ) {
        let gaps = AtomicBool::new(false);
        each_chunk_if(parallel, &mut self.values, chunk, &|c, tiles| {
            if part(c, tiles) {
                gaps.store(true, Ordering::Relaxed);
            }
        });
        self.gaps = gaps.into_inner();
    }

    /// Copies the labels of neighbouring objects, at most as many as there is room for.
    pub(crate) fn copy(&mut self, members: &[Translation<'_>], objects: Range<usize>) {
        for (translation, row) in members.iter().zip(self.values.chunks_mut(self.per_member.max(1)))
        {
            dispatch(Copy { translation, objects: objects.clone(), row });
        }
    }

    /// The tiles of one member, by its place among the members.
    pub(crate) fn row(&self, member: usize) -> &[Tile] {
        &self.values[member * self.per_member..][..self.per_member]
    }

    pub(crate) fn row_mut(&mut self, member: usize) -> &mut [Tile] {
        &mut self.values[member * self.per_member..][..self.per_member]
    }

    /// One tile of each member.
    #[inline(always)]
    pub(crate) fn column(&self, tile: usize) -> impl Iterator<Item = &Tile> + Clone {
        self.values.chunks_exact(self.per_member.max(1)).map(move |row| &row[tile])
    }

    pub(crate) fn members(&self) -> usize {
        self.members
    }

    /// Tiles of a member.
    pub(crate) fn per_member(&self) -> usize {
        self.per_member
    }

    /// Whether some member does not label some object that was gathered.
    pub(crate) fn gaps(&self) -> bool {
        self.gaps
    }
}

/// Whether there is an [`UNLABELLED`] byte.
#[inline(always)]
pub(crate) fn has_unlabelled(tile: &Tile) -> bool {
    tile.0.iter().fold(0, |any, &l| any | u8::from(l == UNLABELLED)) > 0
}

struct Gather<'a, 't> {
    translation: Translation<'a>,
    objects: &'a [[u32; TILE]],
    row: &'t mut [Tile],
}

impl Work for Gather<'_, '_> {
    /// Whether there are gaps.
    type Output = bool;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> bool {
        let Gather { translation, objects, row } = self;
        let mut gaps = false;
        if let LabelSlice::U8(labels) = translation.labels {
            for (tile, objects) in row.iter_mut().zip(objects) {
                for (o, &i) in tile.0.iter_mut().zip(objects) {
                    *o = labels[i as usize];
                }
                if translation.rows > 0 {
                    tile.0 = kernel.translate(&translation.bytes, translation.rows, &tile.0);
                }
                gaps |= has_unlabelled(tile);
            }
            return gaps;
        }
        with_labels!(translation.labels, |labels| {
            for (tile, objects) in row.iter_mut().zip(objects) {
                for (o, &i) in tile.0.iter_mut().zip(objects) {
                    *o = translation.look_up(labels[i as usize]);
                }
                gaps |= has_unlabelled(tile);
            }
        });
        gaps
    }
}

struct Copy<'a, 't> {
    translation: &'a Translation<'a>,
    objects: Range<usize>,
    row: &'t mut [Tile],
}

impl Work for Copy<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Copy { translation, objects, row } = self;
        if let LabelSlice::U8(labels) = translation.labels {
            let (tiles, rest) = labels[objects].as_chunks::<TILE>();
            let mut last = [UNLABELLED; TILE];
            last[..rest.len()].copy_from_slice(rest);
            let last = if rest.is_empty() { &[][..] } else { std::slice::from_ref(&last) };
            for (to, labels) in row.iter_mut().zip(tiles.iter().chain(last)) {
                to.0 = match translation.rows {
                    0 => *labels,
                    rows => kernel.translate(&translation.bytes, rows, labels),
                };
            }
            return;
        }
        with_labels!(translation.labels, |labels| {
            for (tile, labels) in row.iter_mut().zip(labels[objects].chunks(TILE)) {
                for (o, &l) in tile.0.iter_mut().zip(labels) {
                    *o = translation.look_up(l);
                }
            }
        });
    }
}
