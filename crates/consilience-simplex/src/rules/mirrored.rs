use consilience_core::{Link, Pair};
use consilience_num::reduce::map_each;
use rayon::prelude::*;

use super::by_kind::by_kind;
use super::loss::PairLoss;
use super::pairs::{Votes, add_up, evaluate_votes, share_of_errors};
use super::violations::Evaluation;
use crate::kernel::{Kernel, TILE, Work, dispatch};
use crate::mirror::{Mirror, Tally};
use crate::parallel::PARALLEL_FROM;
use crate::tiles::UNLABELLED;
use crate::weights::Weights;

/// Pairs that one task counts: few enough for bytes.
const COUNTED: usize = 128;

/// A batch of constraints whose labels are read where they lie. For rules that need nothing but the
/// errors of each member; gives the same bits as [`Pairs`](super::pairs::Pairs).
pub(crate) struct MirroredPairs<'a> {
    mirror: &'a Mirror,
    kinds: [(Link, Vec<Pair>, f64); 2],
    clusters: usize,
}

impl<'a> MirroredPairs<'a> {
    /// Weighted as in [`by_kind`].
    pub(crate) fn of(
        mirror: &'a Mirror,
        clusters: usize,
        constraints: impl Iterator<Item = Pair>,
        balance: bool,
    ) -> Self {
        MirroredPairs { mirror, kinds: by_kind(constraints, balance), clusters }
    }

    /// Each member's share of errors, weighted: 0 where it puts every pair right, 1 where none.
    /// `None` where some member does not label some object.
    pub(crate) fn mean_errors(&self) -> Option<Vec<f64>> {
        let chunks: Vec<(usize, &[Pair])> = (0..2)
            .flat_map(|kind| self.kinds[kind].1.chunks(COUNTED).map(move |chunk| (kind, chunk)))
            .collect();
        let count = |at: usize| dispatch(Agreements { mirror: self.mirror, pairs: chunks[at].1 });
        let parts = match self.few() {
            true => (0..chunks.len()).map(count).collect(),
            false => map_each(chunks.len(), &count),
        };
        let mut agreements = vec![[0u32; 2]; self.mirror.members()];
        for (&(kind, _), counts) in chunks.iter().zip(parts) {
            agreements
                .iter_mut()
                .zip(counts?)
                .for_each(|(all, count)| all[kind] += u32::from(count));
        }
        Some(share_of_errors(self.kinds.each_ref().map(|k| (k.1.len(), k.2)), agreements))
    }

    /// Whether there is too little work for other threads.
    fn few(&self) -> bool {
        2 * self.mirror.members() * self.kinds.iter().map(|k| k.1.len()).sum::<usize>()
            < PARALLEL_FROM
    }

    /// Evaluates two sets of weights on the constraints.
    pub(crate) fn evaluations(&self, weights: [&Weights; 2], loss: PairLoss) -> [Evaluation; 2] {
        // Sums of both in one word: neither is larger than 32 bits.
        let [before, after] = weights.map(Weights::units);
        let both: Vec<u64> =
            before.iter().zip(after).map(|(&b, &a)| u64::from(a) << 32 | u64::from(b)).collect();
        let chunks: Vec<Chunk<'_>> = self
            .kinds
            .iter()
            .flat_map(|k| k.1.chunks(TILE).map(|chunk| (k.0, chunk, k.2)))
            .collect();
        let new = || (Tally::new(self.clusters), vec![[[[0; TILE]; 2]; 2]; self.clusters]);
        let of_chunk = |(tally, votes): &mut (Tally, Votes), chunk: &Chunk<'_>| {
            dispatch(Evaluate {
                mirror: self.mirror,
                chunk,
                both: &both,
                weights,
                loss,
                tally,
                votes,
            })
        };
        add_up(if self.few() {
            let mut work = new();
            chunks.iter().map(|chunk| of_chunk(&mut work, chunk)).collect()
        } else {
            chunks.par_iter().map_init(new, of_chunk).collect()
        })
    }
}

/// At most 64 pairs of one kind, and what one of them weighs.
type Chunk<'a> = (Link, &'a [Pair], f64);

/// How many of at most [`COUNTED`] pairs each member puts together; `None` where one is unlabelled.
struct Agreements<'a> {
    mirror: &'a Mirror,
    pairs: &'a [Pair],
}

impl Work for Agreements<'_> {
    type Output = Option<Vec<u8>>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Option<Vec<u8>> {
        let Agreements { mirror, pairs } = self;
        let mut counts = vec![0; mirror.members()];
        let mut unlabelled = 0;
        for &Pair { i, j, .. } in pairs {
            for ((count, &a), &b) in counts.iter_mut().zip(mirror.row(i)).zip(mirror.row(j)) {
                *count += u8::from(a == b);
                unlabelled |= u8::from(a.max(b) == UNLABELLED);
            }
        }
        (unlabelled == 0).then_some(counts)
    }
}

struct Evaluate<'a, 'w> {
    mirror: &'a Mirror,
    chunk: &'a Chunk<'a>,
    /// Units of both weights in one word.
    both: &'a [u64],
    weights: [&'a Weights; 2],
    loss: PairLoss,
    tally: &'w mut Tally,
    votes: &'w mut Votes,
}

impl Work for Evaluate<'_, '_> {
    type Output = [Evaluation; 2];

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> [Evaluation; 2] {
        let Evaluate { mirror, chunk: &(link, pairs, weight), both, weights, loss, tally, votes } =
            self;
        for (t, &Pair { i, j, .. }) in pairs.iter().enumerate() {
            for (votes, sums) in
                votes.iter_mut().zip(tally.count([mirror.row(i), mirror.row(j)], both))
            {
                for (side, sum) in sums.into_iter().enumerate() {
                    votes[0][side][t] = sum as u32;
                    votes[1][side][t] = (sum >> 32) as u32;
                }
            }
        }
        // What the last chunk of a kind leaves of the one before.
        votes.iter_mut().flatten().flatten().for_each(|votes| votes[pairs.len()..].fill(0));
        evaluate_votes(votes, weights, link, pairs.len(), weight, loss)
    }
}
