//! The fast ways of counting against naive counting and against the general one.

use consilience_core::{Ensemble, Link, Partition, Seed};
use ndarray::Array2;
use proptest::prelude::*;

use super::{links, on_pool, open, world};
use crate::kernel::{ACROSS, APART, Kernel, Plain, TILE, TOGETHER, Tile, Work, dispatch, passes};
use crate::mirror::Mirror;
use crate::rules::block::{Batch, evaluate, mean_errors};
use crate::rules::gram::Gram;
use crate::rules::mirrored::MirroredPairs;
use crate::rules::pairs::Pairs;
use crate::rules::solve::{Part, Problem};
use crate::tiles::Tiles;
use crate::weights::Weights;
use crate::{
    AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, PairLoss, UpdateRule, WeightUpdater,
};

/// Votes of each object in units of weight, straight from the tables.
fn naive_votes(updater: &WeightUpdater) -> Vec<Vec<u64>> {
    let n = updater.ensemble().n_objects();
    let mut votes = vec![vec![0; updater.n_clusters()]; n];
    for (u, member) in updater.ensemble().members().iter().enumerate() {
        let table = updater.alignment_of(u).unwrap();
        for (i, votes) in votes.iter_mut().enumerate() {
            if let Some(c) = member.label(i).and_then(|l| table[l]) {
                votes[c] += u64::from(updater.weights.units()[u]);
            }
        }
    }
    votes
}

fn naive_winner(votes: &[u64]) -> Option<usize> {
    let most = *votes.iter().max().unwrap();
    (most > 0).then(|| votes.iter().position(|&v| v == most).unwrap())
}

fn assert_equals_naive(updater: &WeightUpdater) {
    let n = updater.ensemble().n_objects();
    let naive = naive_votes(updater);
    let winners: Vec<Option<usize>> = naive.iter().map(|votes| naive_winner(votes)).collect();
    let all: Vec<usize> = (0..n).collect();
    assert_eq!(updater.labels_of(&all).unwrap(), winners);
    let wanted = Partition::from_fn(n, |i| winners[i].map(|l| l as u64)).unwrap();
    assert_eq!(updater.partition().unwrap(), wanted);
    let (_, numbers) = updater.round().unwrap();
    for i in 0..n {
        assert_eq!(wanted.label(i).map(|l| usize::from(numbers[l])), winners[i]);
    }
    let backwards: Vec<usize> = (0..n).rev().step_by(3).collect();
    for updater in [updater, &without_mirror(updater)] {
        let votes = updater.votes_of(&backwards);
        for (row, &i) in votes.chunks(updater.n_clusters()).zip(&backwards) {
            assert!(row.iter().zip(&naive[i]).all(|(&a, &b)| u64::from(a) == b), "{i}");
        }
    }
}

/// The same as if the ensemble were too large for one.
fn without_mirror(updater: &WeightUpdater) -> WeightUpdater {
    WeightUpdater { mirror: None, ..updater.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Members of 1 to 40 clusters, gaps, weights of 0, equal ones, ones that nearly tie, and any.
    #[test]
    fn labels_equal_naive_counting(
        seed in any::<u64>(),
        n in 41usize..400,
        members in 1usize..14,
        clusters in 1usize..41,
        gaps in prop_oneof![Just(0.0), Just(0.1), Just(0.9)],
        kind in 0u8..4,
    ) {
        let mut s = Seed(seed).stream();
        let e: Vec<Partition> = (0..members)
            .map(|_| {
                let k = 1 + s.below(40);
                let labels: Vec<Option<u64>> =
                    (0..n).map(|_| (s.uniform() >= gaps).then(|| s.below(k) as u64)).collect();
                Partition::from_fn(n, |i| labels[i]).unwrap()
            })
            .collect();
        let mut updater = open(&Ensemble::new(e).unwrap(), clusters);
        let mut units: Vec<u32> = (0..members)
            .map(|_| match kind {
                0 => 3 * s.below(3) as u32,
                1 => 1 << 28 | s.below(3) as u32,
                2 => (1 << 27) + (s.below(1 << 16) as u32),
                _ => s.below(1 << 28) as u32 >> s.below(28),
            })
            .collect();
        units[0] += u32::from(units.iter().all(|&u| u == 0));
        updater.weights = Weights::from_units(units);
        assert_equals_naive(&updater);
    }
}

/// Columns of one, two and four bytes, more objects than one task takes, and nearly all of them
/// undecided.
#[test]
fn wide_columns_and_narrow_decisions_equal_naive_counting() {
    let n = 66_000;
    let mut s = Seed(5).stream();
    let mut members: Vec<Partition> = [n, 300, 40, 3]
        .map(|k| Partition::from_fn(n, |i| (i % 5 > 0).then(|| (i * 7919 % k) as u64)).unwrap())
        .into();
    for _ in 0..24 {
        let labels: Vec<u64> = (0..n).map(|_| s.below(3) as u64).collect();
        members.push(Partition::from_fn(n, |i| (i % 97 > 0).then_some(labels[i])).unwrap());
    }
    let mut updater = open(&Ensemble::new(members).unwrap(), 3);
    for spread in [1, 2, 70_000] {
        let units = (0..28).map(|_| (1 << 26) + s.below(spread) as u32).collect();
        updater.weights = Weights::from_units(units);
        let labels = on_pool(1, || updater.partition().unwrap());
        assert_eq!(on_pool(3, || updater.partition().unwrap()), labels);
        assert_equals_naive(&updater);
    }
}

/// Batches of any length in both ways: errors, loss, violations and the gradient.
#[test]
fn pairs_equal_blocks() {
    for (seed, count) in [(0, 1), (1, 63), (2, 64), (3, 130), (4, 700)] {
        let (e, truth) = world(seed, 90, 9, 0.0);
        let mut updater = open(&e, 4);
        updater.set_weights(&(0..12).map(|u| (u % 4) as f64).collect::<Vec<_>>()).unwrap();
        let after =
            Weights::given(&(0..12).map(|u| 1.0 + (u % 5) as f64).collect::<Vec<_>>(), 12).unwrap();
        let (before, r) = (updater.weights.clone(), updater.n_clusters());
        let all = links(&truth, count, seed);
        let musts: Vec<_> = all.iter().copied().filter(|l| l.link == Link::Must).collect();
        for batch in [all, musts].into_iter().filter(|b| !b.is_empty()) {
            let mirror = updater.mirror.as_ref().unwrap();
            let members: Vec<usize> = (0..12).collect();
            let labels = |objects: &[u32]| {
                let tiles =
                    Tiles::gathered(&updater.ensemble, &updater.alignment, &members, objects);
                let turned = mirror.tiles(objects);
                assert!(
                    (0..12).all(|u| tiles.row(u) == turned.row(u)) && tiles.gaps() == turned.gaps()
                );
                tiles
            };
            let pairs = Pairs::of(labels, r, batch.iter().copied(), true);
            assert!(!pairs.gaps());
            let mirrored = MirroredPairs::of(mirror, r, batch.iter().copied(), true);
            let general =
                Batch::of(&updater.ensemble, &updater.alignment, batch.iter().copied(), true);
            let blocks = general.blocks(r, &before);
            let copied = pairs.batch();
            let pairs = pairs.filled();
            close(&pairs.mean_errors(), &mean_errors(&blocks, 12));
            assert_eq!(mirrored.mean_errors().unwrap(), pairs.mean_errors());
            close(&pairs.mean_errors(), &mean_errors(&copied.blocks(r, &before), 12));
            for loss in [PairLoss::Squared, PairLoss::Probability] {
                let wanted = [None, Some(&after)].map(|w| evaluate(&blocks, w, loss));
                let [by_tiles, by_rows] = [
                    pairs.evaluations([&before, &after], loss),
                    mirrored.evaluations([&before, &after], loss),
                ];
                assert_eq!(
                    by_rows.map(|s| (s.violations, s.loss)),
                    by_tiles.map(|s| (s.violations, s.loss))
                );
                for (a, b) in by_tiles.iter().zip(&wanted) {
                    assert_eq!(
                        (a.violations.must, a.violations.cannot),
                        (b.violations.must, b.violations.cannot)
                    );
                    close(&[a.loss, a.violations.expected], &[b.loss, b.violations.expected]);
                }
                let anchor = before.gamma();
                let minimise = |parts: &[Part<'_>]| {
                    let problem = Problem { parts, anchor: &anchor, lambda: 1.0, floor: 0.0 };
                    problem.minimise(&anchor, 0.0, 1, &()).unwrap()
                };
                let by_blocks: Vec<Part<'_>> =
                    blocks.iter().map(|b| Part::Pairs(b, loss)).collect();
                let (a, b) =
                    (minimise(&[Part::Gram(Gram::of(&pairs, loss))]), minimise(&by_blocks));
                close(&a.gamma, &b.gamma);
                assert_eq!(a.lower.is_some(), loss == PairLoss::Squared);
                close(a.lower.as_slice(), b.lower.as_slice());
            }
        }
    }
}

/// More members than one tile has, objects that come in pieces, members that come and go, and gaps.
#[test]
fn the_mirror_shows_what_members_say() {
    let row = |updater: &WeightUpdater, i: usize| -> Vec<u8> {
        let label = |u: usize| updater.ensemble().members()[u].label(i);
        let common = |u: usize| label(u).and_then(|l| updater.alignment_of(u).unwrap()[l]);
        (0..updater.ensemble().n_members())
            .map(|u| common(u).map_or(u8::MAX, |c| c as u8))
            .collect()
    };
    let check = |updater: &WeightUpdater| {
        let mirror: &Mirror = updater.mirror.as_ref().unwrap();
        for i in 0..updater.ensemble().n_objects() {
            assert_eq!(mirror.row(i), row(updater, i), "{i}");
        }
    };
    for (n, members, gaps) in [(1, 1, 0.0), (63, 130, 0.0), (600, 61, 0.2), (1100, 3, 0.1)] {
        let mut s = Seed(n as u64).stream();
        let mut labels = |n: usize| -> Vec<Option<u64>> {
            (0..n).map(|_| (s.uniform() >= gaps).then(|| s.below(n.min(5)) as u64)).collect()
        };
        let mut member = || {
            let labels = labels(n);
            Partition::from_fn(n, |i| labels[i]).unwrap()
        };
        let all: Vec<Partition> = (0..members).map(|_| member()).collect();
        let mut updater = open(&Ensemble::new(all).unwrap(), n.min(4));
        check(&updater);
        let clone = updater.clone();
        updater
            .append_objects(Array2::from_shape_fn((70, members), |(i, _)| i as i64 % 2 - 1).view())
            .unwrap();
        check(&updater);
        check(&clone);
        updater
            .add_members(
                vec![Partition::from_fn(n + 70, |i| Some(i as u64 % 3)).unwrap()],
                0.1,
                &(),
            )
            .unwrap();
        check(&updater);
        updater.retire_members(&[0]).unwrap();
        check(&updater);
        check(&WeightUpdater::from_bytes(&updater.to_bytes(), updater.ensemble().clone()).unwrap());
    }
}

/// Batch by batch the same bits, with gaps and without.
#[test]
fn updates_with_and_without_a_mirror_are_equal() {
    for (seed, missing) in [(0, 0.0), (1, 0.05)] {
        let (e, truth) = world(seed, 400, 70, missing);
        for rule in [
            UpdateRule::from(AdditiveUpdate::default()),
            MultiplicativeUpdate::default().into(),
            ExactUpdate::default().into(),
        ] {
            let mut with = open(&e, 4);
            with.set_rule(rule).unwrap();
            let mut without = without_mirror(&with);
            for (batch, count) in [3, 1000, 130].into_iter().enumerate() {
                let batch = links(&truth, count, batch as u64);
                assert_eq!(with.update(&batch).unwrap(), without.update(&batch).unwrap());
                assert_eq!(with.weights(), without.weights());
            }
            assert_eq!(with.violations(), without.violations());
        }
    }
}

fn close(a: &[f64], b: &[f64]) {
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs().max(1.0)), "{a:?} {b:?}");
}

/// Everything that a kernel does, on the same random tiles.
struct Everything<'a> {
    tiles: &'a [Tile],
    weights: &'a [u32],
    clusters: usize,
}

type Done = (Vec<[u16; TILE]>, Vec<[[u32; 16]; 2]>, Vec<[u8; TILE]>, Vec<u32>);

impl Work for Everything<'_> {
    type Output = Done;

    fn run<K: Kernel>(self, kernel: K) -> Done {
        let Everything { tiles, weights, clusters } = self;
        let (mut short, mut long) = (Vec::new(), Vec::new());
        passes!(clusters, |first, R| {
            let narrow = tiles.iter().zip(weights.iter().map(|&w| (w >> 22) as u16));
            short.extend(kernel.count_16::<R>(narrow, first).into_iter().take(clusters - first));
            let both = tiles.iter().zip(weights.iter().map(|&w| [w, w / 3]));
            let [a, b] = kernel.count_32::<R, 2>(both, 2, first);
            long.extend(a.into_iter().zip(b).map(|(a, b)| [a, b]).take(clusters - first));
        });
        let table: [u8; 256] =
            std::array::from_fn(|l| if l < 16 * 3 { (l * 89 % 251) as u8 } else { 255 });
        let one_row: [u8; 256] = std::array::from_fn(|l| if l < 16 { 15 - l as u8 } else { 255 });
        let translated = tiles
            .iter()
            .flat_map(|t| [kernel.translate(&table, 3, &t.0), kernel.translate(&one_row, 1, &t.0)])
            .collect();
        let sides: Vec<[Tile; 2]> = tiles.chunks_exact(2).map(|s| [s[0], s[1]]).collect();
        let (mine, other) = sides.split_at(sides.len() / 2);
        let counts = vec![
            kernel.agreements(&tiles[0], &tiles[1]),
            kernel.between::<APART>(mine, other),
            kernel.between::<TOGETHER>(mine, other),
            kernel.between::<ACROSS>(mine, other),
        ];
        (short, long, translated, counts)
    }
}

#[test]
fn vectors_equal_loops() {
    let mut s = Seed(9).stream();
    for clusters in [1usize, 2, 5, 10, 12, 13, 40] {
        let mut label = |k: usize| if s.below(20) == 0 { 255 } else { s.below(k) as u8 };
        // Enough of them that counts do not fit one byte.
        let tiles: Vec<Tile> = (0..200)
            .map(|t| Tile(std::array::from_fn(|_| label(1 + (t + clusters) % 70))))
            .collect();
        let weights: Vec<u32> =
            (0..200).map(|u| (u * 2_654_435_761u64 % (1 << 24)) as u32).collect();
        let work = || Everything { tiles: &tiles, weights: &weights, clusters };
        let (short, long, translated, counts) = dispatch(work());
        assert_eq!(work().run(Plain), (short.clone(), long.clone(), translated, counts.clone()));
        // Where there are wider vectors the dispatch does not come here.
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = pulp::x86::V3::try_new() {
            assert_eq!(work().run(v3), work().run(Plain));
        }
        for c in 0..clusters {
            let votes = |i: usize, weight: &dyn Fn(u32) -> u32| -> u32 {
                let said = tiles.iter().zip(&weights).filter(|(t, _)| usize::from(t.0[i]) == c);
                said.map(|(_, &w)| weight(w)).sum()
            };
            for i in 0..TILE {
                assert_eq!(u32::from(short[c][i]), votes(i, &|w| w >> 22));
            }
            for i in 0..16 {
                assert_eq!(
                    long[c].map(|l| l[i]),
                    [votes(32 + i, &|w| w), votes(32 + i, &|w| w / 3)]
                );
            }
        }
        let (mine, other) = tiles.split_at(100);
        let same = |x: &Tile, y: &Tile| x.0.iter().zip(&y.0).filter(|(x, y)| x == y).count() as u32;
        let (mut like, mut across) = (0, 0);
        for (m, o) in mine.chunks(2).zip(other.chunks(2)) {
            like += same(&m[0], &o[0]) + same(&m[1], &o[1]);
            across += same(&m[0], &o[1]) + same(&m[1], &o[0]);
        }
        let apart = 50 * 2 * TILE as u32 + like - across;
        assert_eq!(counts, [same(&tiles[0], &tiles[1]), apart, like + across, across]);
    }
}
