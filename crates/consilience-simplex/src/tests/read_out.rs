use consilience_core::scores::adjusted_rand;
use consilience_core::{Ensemble, ErrorKind, Memberships, Partition, Seed};
use ndarray::{Array2, array};

use super::{links, open, world};
use crate::reference::memberships;
use crate::{AlignmentReference, WeightUpdater, WeightUpdaterSetup, relabelled};

/// Columns of memberships are numbered by their first objects, those of F as common clusters.
fn assert_equal_but_for_order(soft: &Memberships, f: &Array2<f64>, evidence: &[f64]) {
    let (naive, _) = Memberships::numbered(f.clone(), evidence.to_vec()).unwrap();
    let sums = |m: &Memberships| {
        let mut sums: Vec<f64> =
            m.values().columns().into_iter().map(|c| c.iter().map(|v| v * v).sum()).collect();
        sums.sort_by(f64::total_cmp);
        sums
    };
    // Rounding may decide which column an object belongs to most, where two are equal.
    let equal = (&soft.values() - &naive.values()).iter().all(|d| d.abs() < 1e-12);
    let permuted = sums(soft).iter().zip(sums(&naive)).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(equal || permuted);
}

/// The hard clustering of the memberships is the partition, but for objects that belong to two
/// clusters equally.
pub(super) fn assert_hard_where_clear(soft: &Memberships, p: &Partition) {
    let clear: Vec<usize> = (0..p.n_objects())
        .filter(|&i| {
            let mut row = soft.row(i).to_vec();
            row.sort_by(f64::total_cmp);
            row.len() < 2 || row[row.len() - 1] > row[row.len() - 2]
        })
        .collect();
    if clear.is_empty() {
        return;
    }
    let hard = soft.hard().unwrap();
    assert_eq!(hard.select(&clear).unwrap(), p.select(&clear).unwrap());
}

#[test]
fn memberships_and_labels_equal_the_naive_ones() {
    for seed in 0..10 {
        for missing in [0.0, 0.4] {
            let (e, truth) = world(seed, 90, 8, missing);
            let mut updater = open(&e, 3);
            updater.update(&links(&truth, 20, seed)).unwrap();
            let (f, evidence) = memberships(&updater);
            let soft = updater.memberships().unwrap();
            assert_equal_but_for_order(&soft, &f, &evidence);
            assert!(soft.evidence().iter().zip(&evidence).all(|(a, b)| (a - b).abs() < 1e-12));
            let all: Vec<usize> = (0..90).collect();
            assert_eq!(updater.memberships_of(&all).unwrap(), soft);
            let labels = updater.labels_of(&all).unwrap();
            let p = updater.partition().unwrap();
            assert_eq!(Partition::from_fn(90, |i| labels[i].map(|l| l as u64)).unwrap(), p);
            assert_hard_where_clear(&soft, &p);
            for (i, label) in labels.iter().enumerate() {
                match label {
                    Some(l) => assert!(f.row(i).iter().all(|v| f[[i, *l]] > v - 1e-12)),
                    None => assert_eq!(evidence[i], 0.0),
                }
            }
        }
    }
}

/// Members of all widths, more clusters than are compared one by one, and more objects than one
/// block.
#[test]
fn wide_members_and_many_blocks() {
    let n = 3000;
    let e = Ensemble::new(
        [3u64, 10, 24, 25, 254, 300, 2000]
            .iter()
            .map(|&k| {
                Partition::from_fn(n, |i| (i % 11 != 5).then(|| (i as u64 * 7919 + k) % k)).unwrap()
            })
            .collect(),
    )
    .unwrap();
    for clusters in [1, 3, 10, 300] {
        let mut updater = open(&e, clusters);
        updater.set_weights(&[0.3, 0.0, 1.7, 1.1, 0.2, 0.9, 0.4]).unwrap();
        let all: Vec<usize> = (0..n).collect();
        let labels = updater.labels_of(&all).unwrap();
        let p = updater.partition().unwrap();
        assert_eq!(Partition::from_fn(n, |i| labels[i].map(|l| l as u64)).unwrap(), p);
        let (f, evidence) = memberships(&updater);
        let soft = updater.memberships().unwrap();
        assert_equal_but_for_order(&soft, &f, &evidence);
        assert!((0..n).all(|i| labels[i].is_some() == (i % 11 != 5)));
    }
}

#[test]
fn ties_do_not_depend_on_the_order_of_members() {
    // Three members of equal weight, three answers for object 3: the lowest common cluster wins,
    // whoever says it.
    let table = array![[0, 0, 0], [1, 1, 1], [2, 2, 2], [0, 1, 2], [0, 0, 0], [1, 1, 1], [2, 2, 2]];
    let e = Ensemble::from_array(table.view()).unwrap();
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut updater = WeightUpdater::new(e.select(&order).unwrap(), 3).unwrap();
        assert_eq!(updater.partition().unwrap().to_signed()[3], 0);
        updater.set_weights(&[0.1, 0.1, 0.1]).unwrap();
        assert_eq!(updater.partition().unwrap().to_signed()[3], 0);
    }
}

#[test]
fn only_members_with_weight_count() {
    let (e, _) = world(7, 60, 4, 0.0);
    let mut updater = open(&e, 3);
    updater.set_weights(&[0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0]).unwrap();
    assert_eq!(updater.support(), [1, 3]);
    let all: Vec<usize> = (0..60).collect();
    for (i, label) in updater.labels_of(&all).unwrap().into_iter().enumerate() {
        let said = |u: usize| updater.alignment_of(u).unwrap()[e.members()[u].label(i).unwrap()];
        assert_eq!(label, said(1));
    }
}

#[test]
fn partition_and_kmeans_find_planted_classes() {
    let world = consilience_conformance::planted(Seed(3), &[60, 50, 40], 15, 0.2, 0.05).unwrap();
    let updater = open(&world.ensemble, 3);
    let rounded = updater.partition().unwrap();
    let kmeans = updater.partition_by_kmeans(Seed(0), &()).unwrap();
    for p in [&rounded, &kmeans.output] {
        assert!(adjusted_rand(p, &world.truth).unwrap() > 0.9);
    }
    assert!(updater.changed_since(&rounded).unwrap().is_empty());
}

#[test]
fn k_means_leaves_unlabelled_objects_and_reports_few_clusters() {
    let e = Ensemble::from_array(array![[0, 0], [-1, -1], [0, 0], [1, 1]].view()).unwrap();
    let fit = WeightUpdater::new(e, 3).unwrap().partition_by_kmeans(Seed(0), &()).unwrap();
    assert_eq!(fit.output.to_signed(), vec![0, -1, 0, 1]);
    assert!(fit.report.clusters_missing.is_some());
}

#[test]
fn changes_are_found_whatever_the_clusters_are_called() {
    let before = Partition::from_labels(&[0, 0, 0, 1, 1, 2, -1]).unwrap();
    let after = Partition::from_labels(&[5, 5, 3, 3, 3, -1, 5, 3]).unwrap();
    assert_eq!(relabelled(&before, &after).unwrap(), vec![2, 5, 6, 7]);
    assert_eq!(relabelled(&before, &before).unwrap(), Vec::<usize>::new());
    assert_eq!(relabelled(&after, &before).unwrap_err().kind(), ErrorKind::ShapeMismatch);
    let none = Partition::from_labels(&[-1, -1]).unwrap();
    assert_eq!(relabelled(&none, &before).unwrap().len(), 6);
}

#[test]
fn asked_objects_are_checked() {
    let e = Ensemble::from_array(Array2::<i32>::zeros((3, 1)).view()).unwrap();
    let updater = WeightUpdater::new(e, 1).unwrap();
    assert_eq!(updater.labels_of(&[3]).unwrap_err().kind(), ErrorKind::OutOfRange);
    assert_eq!(updater.memberships_of(&[9]).unwrap_err().kind(), ErrorKind::OutOfRange);
    assert_eq!(updater.memberships_of(&[]).unwrap_err().kind(), ErrorKind::Empty);
    assert!(updater.labels_of(&[]).unwrap().is_empty());
    assert_eq!(updater.alignment_of(1).unwrap_err().kind(), ErrorKind::OutOfRange);
}

/// Rows that nobody labels, many or one that stands for many, change nothing for the others.
#[test]
fn k_means_spends_no_centre_on_unlabelled_objects() {
    let world = consilience_conformance::planted(Seed(5), &[40, 35, 25], 9, 0.2, 0.1).unwrap();
    let own = |i: usize| world.ensemble.members().iter().any(|m| m.label(i).is_some());
    let known: Vec<usize> = (0..100).filter(|&i| own(i)).collect();
    // Before the others, between them and behind them.
    let mut of = Vec::new();
    for &i in &known {
        of.extend(std::iter::repeat_n(None, if i % 3 == 0 { 5 } else { 0 }));
        of.push(Some(i));
    }
    of.extend(std::iter::repeat_n(None, 3_000));
    let spread = |p: &Partition| {
        Partition::from_fn(of.len(), |t| of[t].and_then(|i| p.label(i)).map(|l| l as u64)).unwrap()
    };
    let setup =
        |truth: Partition| WeightUpdaterSetup::new(3).reference(AlignmentReference::Given(truth));
    let alone = world.ensemble.select_objects(&known).unwrap();
    let alone = setup(world.truth.select(&known).unwrap()).updater(alone).unwrap();
    let all = Ensemble::new(world.ensemble.members().iter().map(spread).collect()).unwrap();
    let counts: Vec<u64> = of.iter().map(|i| if i.is_none() { 1_000_000 } else { 1 }).collect();
    let counted = all.clone().with_counts(counts).unwrap();
    let labelled: Vec<usize> = (0..of.len()).filter(|&t| of[t].is_some()).collect();
    for ensemble in [all, counted] {
        let updater = setup(spread(&world.truth)).updater(ensemble).unwrap();
        for most in [200_000, 20] {
            let kmeans = |u: &WeightUpdater| u.partition_by_kmeans_on(most, Seed(2), &()).unwrap();
            let (found, expected) = (kmeans(&updater), kmeans(&alone));
            assert_eq!(found.output.select(&labelled).unwrap(), expected.output, "{most} rows");
            assert_eq!(found.output.n_labelled(), labelled.len());
            assert_eq!(found.report.notes, expected.report.notes);
            assert_eq!(found.report.clusters_missing, None);
        }
    }
    let none = Ensemble::from_array(array![[-1, -1], [-1, -1]].view()).unwrap();
    let found = WeightUpdater::new(none, 2).unwrap().partition_by_kmeans(Seed(0), &()).unwrap();
    assert_eq!((found.output.n_labelled(), found.report.clusters_missing), (0, Some(2)));
}
