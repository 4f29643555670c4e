use consilience_conformance::{Planted, planted};
use consilience_core::scores::adjusted_rand;
use consilience_core::{
    Constraints, Ensemble, ErrorKind, Link, MemoryBudget, Pair, Partition, Seed, Status,
};
use consilience_simplex::stored::{Reader, Writer};
use ndarray::Array2;

use super::{StopAt, on_pool, renamed, rows_of};
use crate::reference::inner_products;
use crate::{ConsensusMetric, Embedding, LinkTrust, MetricReport, MetricRule, ReadOutMethod};

pub(super) type Stream = Vec<Pair>;

/// Random links that hold in `truth`; objects that it does not label are left alone.
pub(super) fn links(truth: &Partition, count: usize, seed: Seed) -> Constraints {
    let n = truth.n_objects();
    let (mut links, mut draw) = (Constraints::new(n).unwrap(), seed.derive("links", 0).stream());
    for _ in 0..count {
        let (i, j) = (draw.below(n), draw.below(n));
        if let (Some(a), Some(b)) = (truth.label(i), truth.label(j)) {
            links.add(i, j, if a == b { Link::Must } else { Link::Cannot }).unwrap();
        }
    }
    links
}

pub(super) fn listed(links: &Constraints) -> Stream {
    links.iter().collect()
}

pub(super) fn followed(
    rule: &MetricRule,
    ensemble: &Ensemble,
    links: &Constraints,
) -> ConsensusMetric {
    in_batches(rule, ensemble, links, usize::MAX)
}

/// After so many links at a time.
pub(super) fn in_batches(
    rule: &MetricRule,
    ensemble: &Ensemble,
    links: &Constraints,
    size: usize,
) -> ConsensusMetric {
    let mut metric = rule.open(ensemble, &()).unwrap();
    for batch in listed(links).chunks(size) {
        metric.follow(ensemble, batch, &()).unwrap();
    }
    metric
}

pub(super) fn read(
    metric: &ConsensusMetric,
    ensemble: &Ensemble,
    links: &Constraints,
) -> Partition {
    metric.partition(ensemble, links, &()).unwrap().output
}

/// Objects that can be grouped in two ways, a and b; more members group by a, each with errors.
pub(super) fn two_ways(seed: u64, n: usize) -> (Ensemble, Partition, Partition) {
    let mut draw = Seed(seed).stream();
    let (a, b): (Vec<usize>, Vec<usize>) = (0..n).map(|_| (draw.below(3), draw.below(3))).unzip();
    let members = (0..20)
        .map(|u| {
            let by = if u < 13 { &a } else { &b };
            let labels: Vec<usize> =
                by.iter().map(|&l| if draw.below(5) == 0 { draw.below(3) } else { l }).collect();
            Partition::from_labels(&labels).unwrap()
        })
        .collect();
    let of = |l: &[usize]| Partition::from_labels(l).unwrap();
    (Ensemble::new(members).unwrap(), of(&a), of(&b))
}

#[test]
fn positions_are_those_of_the_definition() {
    for (seed, missing, power) in [(1, 0.0, 1.0), (2, 0.3, 1.0), (3, 0.5, 2.0), (4, 0.0, 0.5)] {
        let Planted { ensemble, .. } = planted(Seed(seed), &[9, 6, 4], 4, 0.3, missing).unwrap();
        // Objects twice: microclusters count with their sizes.
        let twice: Vec<usize> = (0..38).map(|i| i / 2).collect();
        let ensemble = ensemble.select_objects(&twice).unwrap();
        for weights in [vec![1.0; 4], vec![2.0, 0.0, 0.5, 1.0]] {
            let embedding = Embedding::new(99)
                .power(power)
                .weights(&weights)
                .fit(&ensemble, &())
                .unwrap()
                .output;
            let expected = inner_products(&ensemble, &weights, power);
            let place = |i| embedding.position(&ensemble, i).unwrap();
            for i in 0..38 {
                for j in 0..38 {
                    let found = place(i).zip(place(j)).map_or(0.0, |(x, y)| x.dot(&y));
                    assert!(
                        (found - expected[[i, j]]).abs() < 1e-6,
                        "seed {seed}: {found} {}",
                        expected[[i, j]]
                    );
                }
            }
        }
    }
}

#[test]
fn a_weight_is_that_many_members() {
    let e = planted(Seed(7), &[20, 15, 9], 3, 0.2, 0.1).unwrap().ensemble;
    let thrice = e.select(&[0, 1, 1, 1, 2]).unwrap();
    let a = Embedding::new(9).weights(&[1.0, 3.0, 1.0]).fit(&e, &()).unwrap().output;
    let b = Embedding::new(9).fit(&thrice, &()).unwrap().output;
    for (i, j) in [(0, 1), (3, 30), (22, 40)] {
        let inner = |e: &crate::ConsensusEmbedding, w: &Ensemble| {
            e.position(w, i).unwrap().unwrap().dot(&e.position(w, j).unwrap().unwrap())
        };
        assert!((inner(&a, &e) - inner(&b, &thrice)).abs() < 1e-9);
    }
}

/// The problem has one solution, whatever the batches.
#[test]
fn batches_end_where_all_links_at_once_do() {
    let (e, _, truth) = two_ways(3, 150);
    let all = links(&truth, 60, Seed(3));
    let rule = MetricRule::new(3).tolerance(1e-12).max_iterations(5_000);
    let at_once = followed(&rule, &e, &all);
    let by_batch = in_batches(&rule, &e, &all, 7);
    let (a, b) = (at_once.metric(), by_batch.metric());
    let size = a.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert!((&a - &b).iter().all(|d| d.abs() < 1e-4 * size));
    assert_eq!(read(&at_once, &e, &all), read(&by_batch, &e, &all));
}

#[test]
fn links_decide_between_two_ways() {
    for seed in 0..4 {
        let (e, frequent, meant) = two_ways(seed, 400);
        let plain =
            read(&MetricRule::new(3).open(&e, &()).unwrap(), &e, &Constraints::new(400).unwrap());
        assert!(adjusted_rand(&plain, &meant).unwrap() < 0.1);
        assert!(adjusted_rand(&plain, &frequent).unwrap() > 0.6);
        let known = links(&meant, 200, Seed(seed));
        let metric = followed(&MetricRule::new(3), &e, &known);
        let fit = metric.read_out(&e, &known, &()).unwrap();
        assert_ne!(fit.output.method(), ReadOutMethod::Plain);
        let found = fit.output.partition(&e, &()).unwrap();
        let score = adjusted_rand(&found, &meant).unwrap();
        assert!(score > 0.75, "seed {seed}: {score}");
    }
}

#[test]
fn more_links_do_not_make_it_worse() {
    let mut mean = [0.0; 4];
    for seed in 0..6 {
        let (e, _, meant) = two_ways(20 + seed, 300);
        let all = links(&meant, 400, Seed(seed));
        let mut metric = MetricRule::new(3).open(&e, &()).unwrap();
        let mut known = Constraints::new(300).unwrap();
        for (mean, tier) in mean.iter_mut().zip([0, 50, 150, all.len()]) {
            let new: Stream = all.iter().take(tier).skip(known.len()).collect();
            new.iter().for_each(|&Pair { i, j, link: l }| known.add(i, j, l).unwrap());
            metric.follow(&e, &new, &()).unwrap();
            *mean += adjusted_rand(&read(&metric, &e, &known), &meant).unwrap() / 6.0;
        }
    }
    assert!(mean.windows(2).all(|w| w[1] > w[0] - 0.01) && mean[3] > mean[0] + 0.6, "{mean:?}");
}

/// Three classes of 60 objects, and four objects that every member holds apart from all others.
fn with_odd_objects(seed: u64) -> (Ensemble, Partition) {
    let mut draw = Seed(seed).stream();
    let mut label = |i: usize| match i {
        180.. => 3,
        _ if draw.uniform() < 0.2 => draw.below(3),
        _ => i % 3,
    };
    let mut member = || -> Vec<usize> { (0..184).map(&mut label).collect() };
    let members = (0..15).map(|_| Partition::from_labels(&member()).unwrap()).collect();
    let truth = Partition::from_fn(184, |i| Some(i as u64 % 3)).unwrap();
    (Ensemble::new(members).unwrap(), truth)
}

/// Odd objects are farther from all others than any two classes from each other: the least inertia
/// gives them a centre and joins two classes.
#[test]
fn no_centre_is_lost_to_a_few_odd_objects() {
    for seed in [2, 5, 7] {
        let (e, truth) = with_odd_objects(seed);
        let metric = followed(&MetricRule::new(3), &e, &links(&truth, 60, Seed(seed)));
        let by = |method| {
            let read = metric.read_out_by(method, &e, &()).unwrap();
            adjusted_rand(&read.partition(&e, &()).unwrap(), &truth).unwrap()
        };
        let (plain, learned) = (by(ReadOutMethod::Plain), by(ReadOutMethod::Metric));
        assert!(plain > 0.9 && learned > 0.9, "seed {seed}: {plain} {learned}");
    }
}

/// The folds do not know where the metric of all links ends.
#[test]
fn what_breaks_more_links_than_the_plain_consensus_is_not_read_out() {
    for seed in [1, 3] {
        let (e, truth) = with_odd_objects(seed);
        let known = links(&truth, 60, Seed(seed));
        let mut metric = followed(&MetricRule::new(3), &e, &known);
        let fit = metric.read_out(&e, &known, &()).unwrap();
        assert_eq!(fit.output.method(), ReadOutMethod::Plain);
        let note = "metric breaks more links than the plain consensus";
        assert!(fit.report.notes.iter().any(|n| n == note), "{:?}", fit.report.notes);
        // Without cross-validation it is read out anyway.
        metric.rule.cross_validated = false;
        let asked = metric.read_out(&e, &known, &()).unwrap().output;
        assert_eq!(asked.method(), ReadOutMethod::Metric);
        let broken = |read: &crate::MetricReadOut| read.broken(&e, &listed(&known));
        assert!(broken(&asked) > broken(&fit.output), "seed {seed}");
    }
}

#[test]
fn links_at_random_are_not_followed() {
    let (mut lost, mut plainly) = (0.0, 0);
    for seed in 0..8 {
        let world = planted(Seed(seed), &[80, 60, 40, 20], 12, 0.25, 0.0).unwrap();
        let mut wrong = Constraints::new(200).unwrap();
        let mut draw = Seed(90 + seed).stream();
        while wrong.len() < 60 {
            let link = if draw.below(4) == 0 { Link::Must } else { Link::Cannot };
            let _ = wrong.add(draw.below(200), draw.below(200), link);
        }
        let plain = MetricRule::new(4).open(&world.ensemble, &()).unwrap();
        let nothing = Constraints::new(200).unwrap();
        let metric = followed(&MetricRule::new(4), &world.ensemble, &wrong);
        let reading = metric.read_out(&world.ensemble, &wrong, &()).unwrap().output.method();
        plainly += usize::from(reading == ReadOutMethod::Plain);
        // Linked objects go where they were said to go: the others count.
        let free: Vec<usize> = (0..200)
            .filter(|&i| wrong.iter().all(|Pair { i: a, j: b, .. }| a != i && b != i))
            .collect();
        let score = |p: Partition| {
            adjusted_rand(&p.select(&free).unwrap(), &world.truth.select(&free).unwrap()).unwrap()
        };
        let (before, after) = (
            score(read(&plain, &world.ensemble, &nothing)),
            score(read(&metric, &world.ensemble, &wrong)),
        );
        lost += (before - after) / 8.0;
    }
    assert!(lost < 0.02 && plainly >= 6, "{lost} {plainly}");
}

#[test]
fn labels_and_threads_change_no_bit() {
    let world = planted(Seed(5), &[40, 30, 20], 8, 0.3, 0.1).unwrap();
    let known = links(&world.truth, 80, Seed(5));
    let rule = MetricRule::new(3);
    let run = |e: &Ensemble| {
        let metric = followed(&rule, e, &known);
        (metric.to_bytes(), read(&metric, e, &known))
    };
    let expected = run(&world.ensemble);
    assert!(run(&renamed(&world.ensemble)) == expected);
    for threads in [1, 2, 3] {
        assert!(on_pool(threads, || run(&world.ensemble)) == expected, "{threads} threads");
    }
}

#[test]
fn members_and_objects_in_another_order() {
    let (e, _, meant) = two_ways(9, 240);
    let known = links(&meant, 150, Seed(9));
    let rule = MetricRule::new(3);
    let found = read(&followed(&rule, &e, &known), &e, &known);
    let turned = e.select(&(0..20).rev().collect::<Vec<_>>()).unwrap();
    assert_eq!(read(&followed(&rule, &turned, &known), &turned, &known), found);
    let mut order: Vec<usize> = (0..240).collect();
    Seed(4).stream().shuffle(&mut order);
    let moved = e.select_objects(&order).unwrap();
    let mut place = vec![0; 240];
    order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
    let mut renumbered = Constraints::new(240).unwrap();
    known.iter().for_each(|Pair { i, j, link: l }| renumbered.add(place[i], place[j], l).unwrap());
    let again = read(&followed(&rule, &moved, &renumbered), &moved, &renumbered);
    // Other objects set the bounds and start k-means.
    assert!(adjusted_rand(&again, &found.select(&order).unwrap()).unwrap() > 0.95);
}

#[test]
fn linked_sets_stay_together_and_apart() {
    let world = planted(Seed(6), &[50, 40, 30], 6, 0.4, 0.0).unwrap();
    let known = links(&world.truth, 150, Seed(6));
    let found =
        read(&followed(&MetricRule::new(3), &world.ensemble, &known), &world.ensemble, &known);
    let broken = |kind| {
        let of_kind = known.iter().filter(|l| l.link == kind);
        of_kind
            .filter(|&Pair { i, j, .. }| (found.label(i) == found.label(j)) != (kind == Link::Must))
            .count()
    };
    assert_eq!(broken(Link::Must), 0);
    assert!(broken(Link::Cannot) <= 2, "{}", broken(Link::Cannot));
}

#[test]
fn asked_objects_are_those_of_the_partition() {
    let world = planted(Seed(8), &[50, 40, 30], 6, 0.3, 0.3).unwrap();
    let known = links(&world.truth, 60, Seed(8));
    let metric = followed(&MetricRule::new(3), &world.ensemble, &known);
    let read = metric.read_out(&world.ensemble, &known, &()).unwrap().output;
    let whole = read.partition(&world.ensemble, &()).unwrap();
    let asked = read.labels(&world.ensemble, &(0..120).collect::<Vec<_>>()).unwrap();
    let named = Partition::from_fn(120, |i| asked[i].map(|l| l as u64)).unwrap();
    assert_eq!(named, whole);
    assert_eq!(read.labels(&world.ensemble, &[120]).unwrap_err().kind(), ErrorKind::OutOfRange);
}

#[test]
fn stored_and_resumed_with_the_same_bits() {
    let (e, _, meant) = two_ways(11, 200);
    let all = links(&meant, 120, Seed(11));
    let rule = MetricRule::new(3);
    let mut metric = rule.open(&e, &()).unwrap();
    let mut known = Constraints::new(200).unwrap();
    for (t, batch) in listed(&all).chunks(40).enumerate() {
        batch.iter().for_each(|&Pair { i, j, link: l }| known.add(i, j, l).unwrap());
        metric.follow(&e, batch, &()).unwrap();
        let bytes = metric.to_bytes();
        let resumed = ConsensusMetric::from_bytes(&bytes, &rule, &e, &listed(&known), &()).unwrap();
        assert!(resumed == metric, "after batch {t}");
        for end in [0, 7, bytes.len() / 2, bytes.len() - 1] {
            let cut = ConsensusMetric::from_bytes(&bytes[..end], &rule, &e, &listed(&known), &())
                .unwrap_err();
            assert_eq!(cut.kind(), ErrorKind::Corrupt);
        }
        let mut long = bytes.clone();
        long.push(0);
        assert!(ConsensusMetric::from_bytes(&long, &rule, &e, &listed(&known), &()).is_err());
        let mut odd = bytes;
        let at = odd.len() - 8;
        odd[at..].copy_from_slice(&f64::NAN.to_le_bytes());
        let kind =
            ConsensusMetric::from_bytes(&odd, &rule, &e, &listed(&known), &()).unwrap_err().kind();
        assert_eq!(kind, ErrorKind::Corrupt);
        metric = resumed;
    }
    assert!(in_batches(&rule, &e, &all, 40) == metric);
}

#[test]
fn small_and_odd_worlds() {
    let one = Ensemble::from_array(ndarray::array![[0, 0]].view()).unwrap();
    let none = Constraints::new(1).unwrap();
    let metric = MetricRule::new(1).open(&one, &()).unwrap();
    assert_eq!(read(&metric, &one, &none).to_signed(), [0]);
    // No object has a label; the last two have none.
    let unlabelled = Ensemble::from_array(ndarray::array![[-1], [-1]].view()).unwrap();
    let mut known = Constraints::new(2).unwrap();
    known.add(0, 1, Link::Must).unwrap();
    let metric = followed(&MetricRule::new(2), &unlabelled, &known);
    assert_eq!(read(&metric, &unlabelled, &known).to_signed(), [-1, -1]);
    let some = Ensemble::from_array(
        ndarray::array![[0, 0], [0, -1], [1, 1], [1, 1], [-1, -1], [-1, -1]].view(),
    )
    .unwrap();
    let mut known = Constraints::new(6).unwrap();
    for Pair { i, j, link, .. } in [
        Pair::must_link(0, 4),
        Pair::cannot_link(4, 5),
        Pair::cannot_link(0, 2),
        Pair::must_link(2, 3),
    ] {
        known.add(i, j, link).unwrap();
    }
    let metric = followed(&MetricRule::new(2), &some, &known);
    assert_eq!(read(&metric, &some, &known).to_signed(), [0, 0, 1, 1, -1, -1]);
    // Fewer kinds of objects than clusters, more dimensions than there are.
    let few = Ensemble::from_array(ndarray::array![[0, 0], [0, 0], [1, 1], [1, 1]].view()).unwrap();
    let mut known = Constraints::new(4).unwrap();
    known.add(0, 1, Link::Must).unwrap();
    known.add(0, 2, Link::Cannot).unwrap();
    let metric = followed(&MetricRule::new(4).dimensions(500), &few, &known);
    let fit = metric.partition(&few, &known, &()).unwrap();
    assert_eq!(fit.output.to_signed(), [0, 0, 1, 1]);
    assert!(metric.embedding().n_dimensions() <= 2);
    // All equal.
    let equal = Ensemble::from_array(Array2::<i32>::zeros((5, 3)).view()).unwrap();
    let mut known = Constraints::new(5).unwrap();
    known.add(0, 1, Link::Cannot).unwrap();
    let metric = followed(&MetricRule::new(2), &equal, &known);
    assert_eq!(read(&metric, &equal, &known).n_clusters(), 1);
}

#[test]
fn errors_change_nothing() {
    let world = planted(Seed(2), &[10, 8], 4, 0.2, 0.0).unwrap();
    let (e, known) = (&world.ensemble, links(&world.truth, 20, Seed(2)));
    let rule = MetricRule::new(2);
    let mut metric = followed(&rule, e, &known);
    let before = metric.clone();
    assert_eq!(metric.follow(e, &[], &()).unwrap().links, 0);
    assert!(metric == before);
    let kind = |r: consilience_core::Result<MetricReport>| r.unwrap_err().kind();
    assert_eq!(
        kind(metric.follow(e, &[Pair::must_link(0, 1), Pair::must_link(0, 18)], &())),
        ErrorKind::OutOfRange
    );
    let stop = StopAt::question(0);
    assert_eq!(kind(metric.follow(e, &[Pair::must_link(0, 1)], &stop)), ErrorKind::Cancelled);
    let other = e.select(&[0, 1]).unwrap();
    assert_eq!(
        kind(metric.follow(&other, &[Pair::must_link(0, 1)], &())),
        ErrorKind::ShapeMismatch
    );
    let plain = || Array2::zeros((18, 0));
    assert_eq!(kind(metric.grow(e, &[0], plain(), &known, &())), ErrorKind::ShapeMismatch);
    let wide = e.select(&[0, 1, 2, 3, 0]).unwrap();
    assert_eq!(kind(metric.grow(&wide, &[5], plain(), &known, &())), ErrorKind::OutOfRange);
    for odd in [Array2::zeros((17, 1)), Array2::from_elem((18, 1), f32::NAN)] {
        assert_eq!(kind(metric.grow(&wide, &[0], odd, &known, &())), ErrorKind::ShapeMismatch);
    }
    assert_eq!(
        kind(metric.grow(&wide, &[0], plain(), &Constraints::new(18).unwrap(), &())),
        ErrorKind::InvalidParameter
    );
    assert!(metric == before);
    assert_eq!(metric.partition(e, &known, &stop).unwrap_err().kind(), ErrorKind::Cancelled);
    for bad in [
        MetricRule::new(0),
        MetricRule::new(19),
        rule.clone().dimensions(0),
        rule.clone().power(f64::NAN),
        rule.clone().slack(0.0),
        rule.clone().folds(1),
        rule.clone().restarts(0),
        rule.clone().tolerance(0.0),
        rule.clone().max_iterations(0),
    ] {
        assert_eq!(bad.open(e, &()).unwrap_err().kind(), ErrorKind::InvalidParameter, "{bad:?}");
    }
    for bad in [vec![1.0], vec![1.0, 1.0, 1.0, -1.0], vec![f64::NAN; 4], vec![0.0; 4]] {
        assert!(Embedding::new(3).weights(&bad).fit(e, &()).is_err(), "{bad:?}");
    }
}

/// Members that none of the first makes: grown ones must be believed, and resumed with the same
/// bits.
#[test]
fn grown_members_join_where_they_know_more() {
    let world = planted(Seed(13), &[60, 50, 40], 10, 0.9, 0.0).unwrap();
    let known = links(&world.truth, 200, Seed(13));
    let rule = MetricRule::new(3);
    let mut metric = followed(&rule, &world.ensemble, &known);
    let good = planted(Seed(13), &[60, 50, 40], 10, 0.1, 0.0).unwrap();
    assert_eq!(good.truth, world.truth);
    let mut all = world.ensemble.members().to_vec();
    all.extend(good.ensemble.members().iter().cloned());
    let joined = Ensemble::new(all).unwrap();
    let left_out: Vec<usize> = (0..10).map(|u| u % 5).collect();
    metric.grow(&joined, &left_out, Array2::zeros((joined.n_objects(), 0)), &known, &()).unwrap();
    let fit = metric.read_out(&joined, &known, &()).unwrap().output;
    assert_eq!(fit.method(), ReadOutMethod::MetricGrown);
    let score = adjusted_rand(&fit.partition(&joined, &()).unwrap(), &world.truth).unwrap();
    assert!(score > 0.9, "{score}");
    let resumed =
        ConsensusMetric::from_bytes(&metric.to_bytes(), &rule, &joined, &listed(&known), &())
            .unwrap();
    assert!(resumed == metric);
    // Grown again from nothing: as before.
    metric.grow(&world.ensemble, &[], Array2::zeros((150, 0)), &known, &()).unwrap();
    assert!(metric == followed(&rule, &world.ensemble, &known));
}

/// No member knows, but features do: all objects and a few asked ones are labelled by both, stored
/// ones too.
#[test]
fn features_are_coordinates_beside_the_positions() {
    let world = planted(Seed(14), &[60, 50, 40], 15, 0.8, 0.1).unwrap();
    let known = links(&world.truth, 200, Seed(14));
    let rule = MetricRule::new(3);
    let base = world.ensemble.select(&(0..10).collect::<Vec<_>>()).unwrap();
    let mut draw = Seed(15).stream();
    let own = |i: usize, f| if world.truth.label(i) == Some(f) { 5.0 } else { 0.0 };
    let features =
        Array2::from_shape_fn((150, 4), |(i, f)| own(i, f) as f32 + draw.normal() as f32);
    let left_out: Vec<usize> = (0..5).collect();
    let read = |features: Array2<f32>| {
        let mut metric = followed(&rule, &base, &known);
        metric.grow(&world.ensemble, &left_out, features, &known, &()).unwrap();
        let fit = metric.read_out_by(ReadOutMethod::MetricGrown, &world.ensemble, &()).unwrap();
        (metric, fit.partition(&world.ensemble, &()).unwrap(), fit)
    };
    let (metric, found, fit) = read(features.clone());
    let score = |p: &Partition| adjusted_rand(p, &world.truth).unwrap();
    let (with, without) = (score(&found), score(&read(Array2::zeros((150, 0))).1));
    assert!(with > 0.95 && without < 0.9, "{with} {without}");
    let asked = fit.labels(&world.ensemble, &(0..150).collect::<Vec<_>>()).unwrap();
    assert_eq!(Partition::from_fn(150, |i| asked[i].map(|l| l as u64)).unwrap(), found);
    // Their unit does not matter, but for rounding.
    assert_eq!(score(&read(features.mapv(|v| 1024.0 * v)).1), with);
    let bytes = metric.to_bytes();
    let resumed = |bytes: &[u8]| {
        ConsensusMetric::from_bytes(bytes, &rule, &world.ensemble, &listed(&known), &())
    };
    assert!(resumed(&bytes).unwrap() == metric);
    let first = 8 * (4 + left_out.len());
    for (at, bad) in [(first, u64::MAX.to_le_bytes()), (first + 8, [0xff; 8])] {
        let mut odd = bytes.clone();
        odd[at..at + 8].copy_from_slice(&bad);
        assert_eq!(resumed(&odd).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

/// A row with a count is so many objects one after the other, beyond those that the bounds of the
/// metric are taken from too.
#[test]
fn bounds_are_those_of_all_objects_of_rows_with_counts() {
    for n in [60, 900] {
        let (rows, ..) = two_ways(3, n);
        let counts: Vec<u64> = (0..n as u64).map(|i| 1 + i % 3).collect();
        let all = rows.select_objects(&rows_of(&counts)).unwrap();
        let counted = rows.with_counts(counts).unwrap();
        let metric = |ensemble: &Ensemble| MetricRule::new(3).open(ensemble, &()).unwrap();
        assert_eq!(metric(&all).base.metric, metric(&counted).base.metric);
    }
}

/// Whatever opened it, and after it was stored.
#[test]
fn a_metric_at_its_cap_says_so_itself() {
    let (e, _, meant) = two_ways(12, 200);
    let known = links(&meant, 80, Seed(12));
    let rule = MetricRule::new(3).cross_validated(false).tolerance(1e-12);
    let told = |metric: &ConsensusMetric, known: &Constraints| {
        let report = metric.read_out(&e, known, &()).unwrap().report;
        let note = |note: &String| note.contains("stopped at max_iterations, 1,");
        (report.status, report.notes.iter().any(note))
    };
    let capped = rule.clone().max_iterations(1);
    let nothing = Constraints::new(200).unwrap();
    assert_eq!(told(&capped.open(&e, &()).unwrap(), &nothing), (Status::Solved, false));
    let mut metric = followed(&capped, &e, &known);
    assert_eq!(told(&metric, &known), (Status::MaxIterations, true));
    let resumed =
        |bytes: &[u8]| ConsensusMetric::from_bytes(bytes, &capped, &e, &listed(&known), &());
    let mut bytes = metric.to_bytes();
    assert_eq!(told(&resumed(&bytes).unwrap(), &known), (Status::MaxIterations, true));
    bytes[16] = 4;
    assert_eq!(resumed(&bytes).unwrap_err().kind(), ErrorKind::Corrupt);
    // Solved with features beside it, where the other metric was not: what is read out says how it
    // ended, and the note is there for the other.
    metric.rule = rule.tolerance(1e-2).max_iterations(10_000);
    let x = Array2::from_shape_fn((200, 2), |(i, j)| {
        if meant.label(i) == Some(j) { 1.0 } else { 0.01 * (i % 7) as f32 }
    });
    metric.grow(&e, &[], x, &known, &()).unwrap();
    let read = metric.read_out(&e, &known, &()).unwrap();
    assert_eq!(read.output.method(), ReadOutMethod::MetricGrown);
    assert_eq!(read.report.status, Status::Solved);
    assert_eq!(metric.capped, [true, false]);
    metric.grow(&e, &[], Array2::zeros((200, 0)), &known, &()).unwrap();
    assert_eq!(metric.read_out(&e, &known, &()).unwrap().report.status, Status::MaxIterations);
}

/// Two copies of every metric and of the vectors that there were, one of new vectors; each link is
/// in five of six metrics.
#[test]
fn metrics_ask_for_what_they_take() {
    let (e, _, meant) = two_ways(13, 120);
    let known = listed(&links(&meant, 60, Seed(13)));
    let (first, rest) = known.split_at(40);
    let mut metric = MetricRule::new(3).open(&e, &()).unwrap();
    let q = metric.base.metric.n_dimensions();
    let mut before = 0;
    for batch in [first, rest] {
        let needed = 8 * q * (12 * q + 5 * (2 * before + batch.len()));
        metric.budget = MemoryBudget::bytes(needed as u64 - 1);
        let error = metric.follow(&e, batch, &()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        metric.budget = MemoryBudget::bytes(needed as u64);
        metric.follow(&e, batch, &()).unwrap();
        before += batch.len();
    }
}

/// Features beside the positions are of the objects that there were, and grown metrics of the links
/// in the order that they came.
#[test]
fn other_objects_and_links_than_followed_are_refused() {
    let world = planted(Seed(16), &[12, 10], 5, 0.2, 0.0).unwrap();
    let (e, known) = (&world.ensemble, links(&world.truth, 20, Seed(16)));
    let own = |(i, f)| f64::from(u8::from(world.truth.label(i) == Some(f)));
    let x = Array2::from_shape_fn((22, 2), own);
    let mut metric = MetricRule::new(2).cross_validated(false).open(e, &()).unwrap();
    let mut more = e.clone();
    more.append(Array2::from_elem((3, 5), 0).view()).unwrap();
    // Without features new objects have positions.
    let read = metric.read_out(&more, &Constraints::new(25).unwrap(), &()).unwrap().output;
    assert_eq!(read.partition(&more, &()).unwrap().n_objects(), 25);
    metric.lay_beside(e, x.view().into(), &Constraints::new(22).unwrap(), &()).unwrap();
    metric.follow(e, &listed(&known), &()).unwrap();
    let read = metric.read_out(e, &known, &()).unwrap().output;
    assert_eq!(read.method(), ReadOutMethod::MetricGrown);
    let refused = ErrorKind::ShapeMismatch;
    assert_eq!(read.partition(&more, &()).unwrap_err().kind(), refused);
    assert_eq!(read.labels(&more, &[23]).unwrap_err().kind(), refused);
    assert_eq!(metric.follow(&more, &[Pair::must_link(0, 23)], &()).unwrap_err().kind(), refused);
    assert_eq!(metric.read_out(&more, &known, &()).unwrap_err().kind(), refused);
    let mut reversed = Constraints::new(22).unwrap();
    listed(&known).iter().rev().for_each(|p| reversed.add(p.i, p.j, p.link).unwrap());
    let grown = |metric: &mut ConsensusMetric, links: &Constraints| {
        metric.grow(e, &[], Array2::zeros((22, 0)), links, &()).map_err(|error| error.kind())
    };
    assert_eq!(grown(&mut metric, &reversed).unwrap_err(), ErrorKind::InvalidParameter);
    assert!(grown(&mut metric, &known).is_ok());
}

/// The plain consensus compares all clusters with each other.
#[test]
fn embeddings_of_many_clusters_are_asked_of_the_budget() {
    let label = |(i, u): (usize, usize)| ((i * (2 * u + 3) + i / 7) % 40) as u32;
    let e = Ensemble::from_array(Array2::from_shape_fn((600, 30), label).view()).unwrap();
    let open = |bytes| MetricRule::new(3).open_within(&e, MemoryBudget::bytes(bytes), &());
    assert_eq!(open(2_000_000).unwrap_err().kind(), ErrorKind::TooLarge);
    assert_eq!(open(100_000_000).unwrap().n_members(), 30);
}

/// Links of `truth`, of which every tenth says the opposite where those before do not forbid it.
fn partly_wrong(truth: &Partition, count: usize, seed: Seed) -> Constraints {
    let n = truth.n_objects();
    let (mut links, mut draw) = (Constraints::new(n).unwrap(), seed.derive("wrong", 0).stream());
    for t in 0..count {
        let (i, j) = (draw.below(n), draw.below(n));
        let together = (truth.label(i) == truth.label(j)) != (t % 10 == 0);
        let _ = links.add(i, j, if together { Link::Must } else { Link::Cannot });
    }
    links
}

/// Few wrong must-links tie whole classes together: they are set aside, and told. Where links hold,
/// every must-link does.
#[test]
fn wrong_links_are_set_aside_unless_they_hold() {
    let (mut weighed, mut held) = (0.0, 0.0);
    for seed in 0..4 {
        let world = planted(Seed(40 + seed), &[60, 50, 40], 9, 0.25, 0.0).unwrap();
        let (e, known) = (&world.ensemble, partly_wrong(&world.truth, 260, Seed(seed)));
        let score = |found: &Partition| adjusted_rand(found, &world.truth).unwrap() / 4.0;
        let metric = followed(&MetricRule::new(3), e, &known);
        let read = metric.read_out(e, &known, &()).unwrap();
        let found = read.output.partition(e, &()).unwrap();
        weighed += score(&found);
        let broken: Stream = listed(&known)
            .into_iter()
            .filter(|l| (found.label(l.i) == found.label(l.j)) != (l.link == Link::Must))
            .collect();
        assert_eq!(read.output.links_set_aside(), broken);
        let told = format!("{} of {} links set aside", broken.len(), known.len());
        assert!(read.report.notes.iter().any(|note| note.starts_with(&told)), "{told}");
        let metric = followed(&MetricRule::new(3).links(LinkTrust::Hold), e, &known);
        let read = metric.read_out(e, &known, &()).unwrap().output;
        let found = read.partition(e, &()).unwrap();
        held += score(&found);
        assert!(read.links_set_aside().is_empty());
        for l in known.iter().filter(|l| l.link == Link::Must) {
            assert_eq!(found.label(l.i), found.label(l.j));
        }
    }
    assert!(weighed > 0.9 && held < 0.7, "{weighed} {held}");
}

/// Right links are taken at their word, by members that err and by a metric that has to be learned;
/// where seldom one is not, hardly anything is lost.
#[test]
fn right_links_hold_where_links_are_weighed() {
    let (mut runs, mut equal, mut lost) = (0, 0, 0.0);
    for seed in 0..4 {
        let world = planted(Seed(60 + seed), &[60, 50, 40], 7, 0.4, 0.1).unwrap();
        let (other, _, meant) = two_ways(60 + seed, 200);
        for (e, truth) in [(&world.ensemble, &world.truth), (&other, &meant)] {
            for count in [30, 120, 300] {
                let known = links(truth, count, Seed(seed));
                let by = |trust| {
                    let rule = MetricRule::new(3).links(trust);
                    read(&followed(&rule, e, &known), e, &known)
                };
                let (weighed, held) = (by(LinkTrust::Weigh), by(LinkTrust::Hold));
                let score = |found: &Partition| adjusted_rand(found, truth).unwrap();
                runs += 1;
                equal += usize::from(weighed == held);
                lost += score(&held) - score(&weighed);
            }
        }
    }
    lost /= runs as f64;
    assert!(equal + 2 >= runs && lost < 0.005, "{equal} of {runs}, {lost}");
}

/// A state says how links are taken; one from before that has the same bytes as the default.
#[test]
fn a_rule_in_bytes_knows_how_links_are_taken() {
    for trust in [LinkTrust::Hold, LinkTrust::Weigh] {
        for validated in [true, false] {
            let rule = MetricRule::new(3).links(trust).cross_validated(validated);
            let mut out = Writer::default();
            rule.write(&mut out);
            let mut bytes = out.into_bytes();
            assert_eq!(MetricRule::read(&mut Reader::new(&bytes)).unwrap(), rule);
            assert_eq!(bytes[40] > 1, trust == LinkTrust::Hold);
            bytes[40] = 4;
            let error = MetricRule::read(&mut Reader::new(&bytes)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
        }
    }
}
