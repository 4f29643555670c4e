//! Weighted votes of the members for a block of objects.

use consilience_core::{LabelInt, LabelSlice, with_labels};
use pulp::{Arch, NullaryFnOnce};

use crate::weighted_members::WeightedMembers;

/// Members of up to this many clusters are compared with each of them, a vector of objects at a
/// time; of others each label is looked up.
const COMPARED: usize = 24;
/// Sums of a block stay in the nearest cache up to this many.
const SUMS: usize = 8192;

/// Votes for the objects `first..first + n`: r + 1 rows of which the last
/// counts the members that do not label the object.
pub(crate) struct Votes<'a> {
    members: WeightedMembers<'a>,
    support: &'a [usize],
    width: usize,
    /// r + 1 rows of votes and one of labels, widened, or of the votes of the winners.
    buffer: Vec<u32>,
    /// Where in the buffer a cache line begins: vectors that straddle two cost twice.
    start: usize,
}

impl<'a> Votes<'a> {
    /// Objects of one block for r clusters.
    pub(crate) fn width(clusters: usize) -> usize {
        (SUMS / (clusters + 1)).clamp(64, 1024) & !63
    }

    pub(crate) fn new(members: WeightedMembers<'a>, support: &'a [usize]) -> Self {
        let r = members.n_clusters();
        let width = Self::width(r);
        let buffer = vec![0u32; (r + 2) * width + 16];
        let start = buffer.as_ptr().align_offset(64).min(16);
        Votes { members, support, width, buffer, start }
    }

    /// Counts the votes for at most [`Votes::width`] objects.
    pub(crate) fn count(&mut self, first: usize, n: usize) {
        let Votes { members, support, width, buffer, start } = self;
        let (wide, sums) = buffer[*start..].split_at_mut(*width);
        Arch::new().dispatch(Count {
            members: *members,
            support,
            width: *width,
            sums,
            wide,
            first,
            n,
        });
    }

    /// Votes for one common cluster, in units of weight.
    pub(crate) fn row(&self, cluster: usize, n: usize) -> &[u32] {
        &self.buffer[self.start + (cluster + 1) * self.width..][..n]
    }

    /// The common cluster with most votes, the first of equals; the largest value where there is
    /// none.
    pub(crate) fn winners<L: LabelInt>(&mut self, out: &mut [L]) {
        let Votes { members, width, buffer, start, .. } = self;
        let (wide, sums) = buffer[*start..].split_at_mut(*width);
        Arch::new().dispatch(Winners {
            sums,
            width: *width,
            clusters: members.n_clusters(),
            best: wide,
            out,
        });
    }
}

struct Count<'a, 'u> {
    members: WeightedMembers<'u>,
    support: &'u [usize],
    width: usize,
    sums: &'a mut [u32],
    wide: &'a mut [u32],
    first: usize,
    n: usize,
}

impl NullaryFnOnce for Count<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Count { members, support, width, sums, wide, first, n } = self;
        sums.fill(0);
        for &u in support {
            let table = members.alignment.table(u);
            let weight = members.weights.units()[u];
            match members.ensemble.members()[u].labels() {
                LabelSlice::U8(labels) if table.len() <= COMPARED + 1 => {
                    compare(sums, width, wide, &labels[first..first + n], table, weight);
                }
                labels => {
                    with_labels!(labels, |l| look_up(
                        sums,
                        width,
                        &l[first..first + n],
                        table,
                        weight
                    ))
                }
            }
        }
    }
}

#[inline(always)]
fn compare<L: LabelInt>(
    sums: &mut [u32],
    width: usize,
    wide: &mut [u32],
    labels: &[L],
    table: &[u16],
    weight: u32,
) {
    // Widening costs as much as comparing: once per member, not once per cluster.
    let wide = &mut wide[..labels.len()];
    for (w, &l) in wide.iter_mut().zip(labels) {
        *w = l.index() as u32;
    }
    for (c, &to) in (0u32..).zip(&table[..table.len() - 1]) {
        let row = &mut sums[to as usize * width..][..wide.len()];
        for (sum, &l) in row.iter_mut().zip(&*wide) {
            *sum += if l == c { weight } else { 0 };
        }
    }
}

#[inline(always)]
fn look_up<L: LabelInt>(sums: &mut [u32], width: usize, labels: &[L], table: &[u16], weight: u32) {
    let last = table.len() - 1;
    for (t, l) in labels.iter().enumerate() {
        sums[table[l.index().min(last)] as usize * width + t] += weight;
    }
}

struct Winners<'a, L> {
    sums: &'a [u32],
    width: usize,
    clusters: usize,
    best: &'a mut [u32],
    out: &'a mut [L],
}

impl<L: LabelInt> NullaryFnOnce for Winners<'_, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Winners { sums, width, clusters, best, out } = self;
        let best = &mut best[..out.len()];
        best.fill(0);
        out.fill(L::MISSING);
        for c in 0..clusters {
            let label = L::from_index(c);
            let row = &sums[c * width..][..out.len()];
            for ((out, best), &sum) in out.iter_mut().zip(best.iter_mut()).zip(row) {
                let more = sum > *best;
                *best = if more { sum } else { *best };
                *out = if more { label } else { *out };
            }
        }
    }
}

/// Votes on a few objects whose labels lie side by side and are those of the common clusters
/// already; r rows.
pub(crate) fn count_aligned<'a>(
    labels: impl Fn(usize) -> &'a [u16],
    weights: &[u32],
    clusters: usize,
    n: usize,
) -> Vec<u32> {
    let mut sums = vec![0; (clusters + 1) * n];
    Arch::new().dispatch(CountAligned { labels, weights, clusters, n, sums: &mut sums });
    sums.truncate(clusters * n);
    sums
}

struct CountAligned<'s, F> {
    labels: F,
    weights: &'s [u32],
    clusters: usize,
    n: usize,
    sums: &'s mut [u32],
}

impl<'a, F: Fn(usize) -> &'a [u16]> NullaryFnOnce for CountAligned<'_, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let CountAligned { labels, weights, clusters, n, sums } = self;
        let table: Vec<u16> = (0..=clusters as u16).collect();
        let mut wide = vec![0; n];
        for (u, &weight) in weights.iter().enumerate().filter(|(_, w)| **w > 0) {
            if clusters <= COMPARED {
                compare(sums, n, &mut wide, labels(u), &table, weight);
            } else {
                look_up(sums, n, labels(u), &table, weight);
            }
        }
    }
}
