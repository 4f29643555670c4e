use consilience_conformance::{CancelFrom, planted};
use consilience_core::{Ensemble, ErrorKind, Link, MemoryBudget, Pair, Partition, Seed, Status};
use ndarray::Array2;

use super::{Means, rows_of};
use crate::{
    AdditiveUpdate, ExactUpdate, MemberGrowth, MetricRule, MultiplicativeUpdate, ReadOutMethod,
    UpdateRule, Updater, UpdaterSetup,
};

fn batch(truth: &Partition, count: usize, seed: u64) -> Vec<Pair> {
    let (mut draw, n) = (Seed(seed).stream(), truth.n_objects());
    (0..count)
        .map(|_| (draw.below(n), draw.below(n)))
        .map(|(i, j)| {
            let same = truth.label(i) == truth.label(j);
            Pair::new(i, j, if same { Link::Must } else { Link::Cannot })
        })
        .collect()
}

/// Wherever a read-out is cancelled, the updater is as before.
#[test]
fn a_cancelled_read_out_leaves_no_trace() {
    let world = planted(Seed(3), &[50, 40, 30], 8, 0.5, 0.1).unwrap();
    let mut updater = Updater::new(world.ensemble, 3).unwrap();
    updater.update(&batch(&world.truth, 40, 1)).unwrap();
    let before = updater.to_bytes();
    let all = CancelFrom::new(usize::MAX);
    updater.clone().read_out(&all).unwrap();
    // The last questions come after the metric was opened.
    for query in (0..all.asked()).step_by(1 + all.asked() / 20).chain([all.asked() - 1]) {
        let error = updater.read_out(&CancelFrom::new(query)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{query}");
        assert!(updater.metric().is_none() && updater.to_bytes() == before, "{query}");
    }
    // A metric that was open stays.
    updater.open_metric(&()).unwrap();
    let open = updater.to_bytes();
    assert!(updater.read_out(&CancelFrom::new(0)).is_err() && updater.to_bytes() == open);
}

/// The links of a batch in another order, and each with its objects the other way round, lead to
/// the same state and labels to the last bit.
#[test]
fn the_order_of_a_batch_changes_nothing() {
    let world = planted(Seed(3), &[50, 40, 30], 8, 0.5, 0.1).unwrap();
    let mut draw = Seed(4).stream();
    let x = Array2::from_shape_fn((120, 3), |(i, j)| {
        f64::from(u8::from(world.truth.label(i) == Some(j))) + 0.4 * draw.normal()
    });
    let links = batch(&world.truth, 60, 1);
    let mut other: Vec<Pair> = links.iter().map(|p| Pair::new(p.j, p.i, p.link)).collect();
    draw.shuffle(&mut other);
    let rules: [UpdateRule; 3] = [
        ExactUpdate::default().into(),
        AdditiveUpdate::default().into(),
        MultiplicativeUpdate::default().into(),
    ];
    for rule in rules {
        let [one, two] = [&links, &other].map(|links| {
            let setup = UpdaterSetup::new(3).rule(rule.clone());
            let mut updater = setup.updater(world.ensemble.clone()).unwrap();
            let report = updater.update(links).unwrap();
            let growth = MemberGrowth::new(Means).members(10);
            updater.grow(x.view().into(), &growth, 0.2, &()).unwrap();
            let read = updater.read_out(&()).unwrap().output;
            (report, updater.to_bytes(), read.partition(updater.ensemble(), &()).unwrap())
        });
        assert!(one == two, "{rule:?}");
    }
}

/// An updater that goes on, one that is stored and resumed before every batch, growth between them.
#[test]
fn stored_and_resumed_with_metric_and_grown_members() {
    let world = planted(Seed(3), &[50, 40, 30], 8, 0.5, 0.1).unwrap();
    let mut draw = Seed(4).stream();
    let x = Array2::from_shape_fn((120, 3), |(i, j)| {
        f64::from(u8::from(world.truth.label(i) == Some(j))) + 0.4 * draw.normal()
    });
    let mut on = Updater::new(world.ensemble.clone(), 3).unwrap();
    let mut stored = on.clone();
    let growth = MemberGrowth::new(Means).members(10);
    for tier in 0..3 {
        let new = batch(&world.truth, 40, tier);
        // Grown members come out of the state; an ensemble that has them already is as good.
        let ensemble = if tier == 2 { stored.ensemble().clone() } else { world.ensemble.clone() };
        stored = Updater::from_bytes(&stored.to_bytes(), ensemble).unwrap();
        assert_eq!(stored.ensemble(), on.ensemble());
        for u in [&mut on, &mut stored] {
            u.update(&new).unwrap();
            if tier != 1 {
                u.grow(x.view().into(), &growth, 0.2, &()).unwrap();
                assert_eq!(u.ensemble().n_members(), 18);
            }
        }
        let (a, b) = (on.read_out(&()).unwrap().output, stored.read_out(&()).unwrap().output);
        assert_eq!(
            a.partition(on.ensemble(), &()).unwrap(),
            b.partition(stored.ensemble(), &()).unwrap()
        );
        assert!(
            a.cross_validation() == b.cross_validation()
                && a.cross_validation().metric_grown.is_some()
        );
        assert!(on.to_bytes() == stored.to_bytes(), "tier {tier}");
    }
    // Only the grown members that it has, or none.
    let mut members = on.ensemble().members().to_vec();
    members[17] = members[0].clone();
    let other = Ensemble::new(members).unwrap();
    let error = Updater::from_bytes(&on.to_bytes(), other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    // They leave where objects or other members come or go, and come back.
    for change in 0..3 {
        let mut changed = on.clone();
        let mut wide = x.clone();
        match change {
            0 => {
                // What they would say is not asked for, and an error leaves them.
                let bytes = changed.to_bytes();
                let error =
                    changed.append_objects(Array2::from_elem((2, 18), 0).view()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::ShapeMismatch);
                assert!(changed.to_bytes() == bytes);
                let rows = changed.labels_by_neighbours(&[vec![0, 1], vec![2]]).unwrap();
                changed.append_objects(rows.view()).unwrap();
                wide = ndarray::concatenate![ndarray::Axis(0), wide, Array2::zeros((2, 3))];
            }
            1 => changed.add_members(vec![world.truth.clone()], 0.1, &()).unwrap(),
            _ => assert_eq!(changed.retire_members(&[2]).unwrap().len(), 1),
        }
        let left = [8, 9, 7][change];
        assert_eq!(
            (changed.ensemble().n_members(), changed.by_weights().weights().len()),
            (left, left)
        );
        let plain = changed.ensemble().clone();
        changed.grow(wide.view().into(), &growth, 0.2, &()).unwrap();
        assert_eq!(changed.ensemble().n_members(), left + 10);
        let bytes = changed.to_bytes();
        assert!(Updater::from_bytes(&bytes, plain).unwrap().to_bytes() == bytes);
    }
    let few = x.slice(ndarray::s![..100, ..]);
    let before = on.to_bytes();
    assert_eq!(
        on.grow(few.into(), &growth, 0.2, &()).unwrap_err().kind(),
        ErrorKind::ShapeMismatch
    );
    assert!(on.to_bytes() == before);
    let mut short = on.to_bytes();
    short.truncate(short.len() - 20);
    assert_eq!(
        Updater::from_bytes(&short, on.ensemble().clone()).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}

/// An updater with five grown members beside six, which they have left half of the weight.
fn grown() -> (Ensemble, Updater) {
    let world = planted(Seed(6), &[30, 30], 6, 0.3, 0.0).unwrap();
    let x = Array2::from_shape_fn((60, 2), |(i, j)| {
        f64::from(u8::from(world.truth.label(i) == Some(j))) + 0.01 * (i % 7) as f64
    });
    let mut updater = Updater::new(world.ensemble.clone(), 2).unwrap();
    updater.update(&batch(&world.truth, 30, 1)).unwrap();
    let growth = MemberGrowth::new(Means).members(5);
    updater.grow(x.view().into(), &growth, 0.5, &()).unwrap();
    assert_eq!(updater.ensemble().n_members(), 11);
    (world.ensemble, updater)
}

#[test]
fn new_members_get_the_share_that_is_asked_for() {
    let (base, mut updater) = grown();
    let bytes = updater.to_bytes();
    let short = Partition::from_labels(&[0, 1]).unwrap();
    assert!(updater.add_members(vec![short], 0.2, &()).is_err());
    assert!(updater.to_bytes() == bytes);
    updater.add_members(vec![base.members()[0].clone()], 0.2, &()).unwrap();
    let weights = updater.by_weights().weights();
    assert_eq!(weights.len(), 7);
    assert!((weights[6] - 0.2).abs() < 1e-6, "{weights:?}");
}

#[test]
fn another_rule_lets_grown_members_leave() {
    let (base, mut updater) = grown();
    let bytes = updater.to_bytes();
    assert!(updater.set_metric_rule(MetricRule::new(61)).is_err());
    assert!(updater.to_bytes() == bytes);
    updater.set_metric_rule(MetricRule::new(3)).unwrap();
    assert_eq!(updater.ensemble(), &base);
    let weights = updater.by_weights().weights();
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-6 && weights.len() == 6);
    // What is stored goes over the members that there were at first.
    let bytes = updater.to_bytes();
    assert!(Updater::from_bytes(&bytes, base).unwrap().to_bytes() == bytes);
    assert_eq!(updater.read_out(&()).unwrap().output.n_clusters(), 3);
}

#[test]
fn objects_and_members_come_and_go() {
    let world = planted(Seed(5), &[30, 20], 6, 0.2, 0.0).unwrap();
    let mut updater = Updater::new(world.ensemble.clone(), 2).unwrap();
    updater.update(&batch(&world.truth, 30, 1)).unwrap();
    updater.read_out(&()).unwrap();
    assert_eq!(updater.metric().unwrap().n_links(), updater.constraints().len());
    let bytes = updater.to_bytes();
    // A batch that contradicts leaves the metric as it was; so does a repeated one.
    let Pair { i, j, link } = updater.constraints().iter().next().unwrap();
    let other = if link == Link::Must { Link::Cannot } else { Link::Must };
    assert_eq!(
        updater.update(&[Pair::new(i, j, other)]).unwrap_err().kind(),
        ErrorKind::Contradiction
    );
    updater.update(&[Pair::new(i, j, link)]).unwrap();
    assert!(updater.to_bytes() == bytes);
    updater.append_objects(Array2::from_elem((2, 6), 0).view()).unwrap();
    let read = updater.read_out(&()).unwrap().output;
    let found = read.partition(updater.ensemble(), &()).unwrap();
    assert_eq!((found.n_objects(), found.label(50)), (52, found.label(51)));
    updater.retire_members(&[0, 3]).unwrap();
    let read = updater.read_out(&()).unwrap().output;
    assert_eq!(read.partition(updater.ensemble(), &()).unwrap().n_objects(), 52);
    assert_ne!(read.method(), ReadOutMethod::MetricGrown);
    assert!(updater.set_metric_rule(MetricRule::new(2).slack(-1.0)).is_err());
    assert!(updater.set_metric_rule(MetricRule::new(53)).is_err());
    updater.set_metric_rule(MetricRule::new(3)).unwrap();
    assert_eq!(updater.read_out(&()).unwrap().output.n_clusters(), 3);
}

/// Opened after the links came, and open while they come.
#[test]
fn a_metric_that_is_not_solved_is_told() {
    let world = planted(Seed(7), &[30, 30, 30], 8, 0.5, 0.0).unwrap();
    let rule = MetricRule::new(3).cross_validated(false).tolerance(1e-12).max_iterations(1);
    let setup = UpdaterSetup::new(3).metric_rule(rule.clone());
    let mut updater = setup.updater(world.ensemble.clone()).unwrap();
    let told = |note: &String| note.contains("stopped at max_iterations, 1,");
    for seed in 0..2 {
        updater.update(&batch(&world.truth, 40, seed)).unwrap();
        let report = updater.read_out(&()).unwrap().report;
        assert_eq!(report.status, Status::MaxIterations);
        assert!(report.notes.iter().any(told), "{:?}", report.notes);
    }
    let mut resumed = Updater::from_bytes(&updater.to_bytes(), world.ensemble.clone()).unwrap();
    let report = resumed.read_out(&()).unwrap().report;
    assert_eq!((report.status, report.notes.iter().any(told)), (Status::MaxIterations, true));
    updater.set_metric_rule(rule.tolerance(1e-3).max_iterations(10_000)).unwrap();
    let report = updater.read_out(&()).unwrap().report;
    assert_eq!((report.status, report.notes.iter().any(told)), (Status::Solved, false));
}

#[test]
fn metrics_ask_their_budget() {
    let world = planted(Seed(8), &[20, 20], 6, 0.3, 0.0).unwrap();
    let mut updater = Updater::new(world.ensemble.clone(), 2).unwrap();
    updater.set_memory_budget(MemoryBudget::bytes(100));
    assert_eq!(updater.read_out(&()).unwrap_err().kind(), ErrorKind::TooLarge);
    updater.set_memory_budget(MemoryBudget::default());
    updater.read_out(&()).unwrap();
}

/// The consensus that a reference is made by takes tables of its clusters; the labels of its
/// objects and the alignment to it take less.
#[test]
fn a_reference_that_is_made_asks_its_budget() {
    let world = planted(Seed(9), &[30, 30, 30], 8, 0.4, 0.0).unwrap();
    let open = |bytes: u64| {
        let setup = UpdaterSetup::new(6).memory_budget(MemoryBudget::bytes(bytes));
        setup.updater(world.ensemble.clone())
    };
    assert_eq!(open(9_000).unwrap_err().kind(), ErrorKind::TooLarge);
    open(1 << 20).unwrap();
}

/// What the alignment is made from, of rows with counts as of their objects.
#[test]
fn objects_of_the_reference_are_told() {
    let world = planted(Seed(9), &[30, 30, 30], 8, 0.4, 0.0).unwrap();
    let counts: Vec<u64> = (0..90).map(|i| 1 + i % 4).collect();
    let repeated = world.ensemble.select_objects(&rows_of(&counts)).unwrap();
    let counted = world.ensemble.with_counts(counts).unwrap();
    // Members have three to five clusters: of six there is no medoid.
    for (k, what) in [(3, "the medoid is chosen on 50 of"), (6, "the reference is made from 50 of")]
    {
        let setup = UpdaterSetup::new(k).reference_objects(50);
        let [rows, objects] = [&counted, &repeated].map(|e| setup.updater((*e).clone()).unwrap());
        assert!(rows.notes()[0].starts_with(what), "{:?}", rows.notes());
        assert_eq!(rows.notes(), objects.notes());
        // Of a row the consensus labels all objects, of these one by one those that it was made of.
        for u in (0..8).filter(|_| k == 3) {
            let of = |updater: &Updater| updater.by_weights().alignment_of(u).unwrap();
            assert_eq!(of(&rows), of(&objects), "member {u}");
        }
        assert!(UpdaterSetup::new(k).updater(counted.clone()).unwrap().notes().is_empty());
    }
}
