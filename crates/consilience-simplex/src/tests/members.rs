use consilience_core::{Ensemble, ErrorKind, Pair, Partition};
use ndarray::array;

use super::{links, open, world};
use crate::{AdditiveUpdate, WeightUpdater};

#[test]
fn appended_objects_are_labelled_like_equal_old_ones() {
    let (e, truth) = world(1, 40, 6, 0.2);
    let mut updater = open(&e, 3);
    updater.update(&links(&truth, 20, 1)).unwrap();
    let before = updater.labels_of(&[3, 17]).unwrap();
    let row = |i: usize| e.members().iter().map(|p| p.label(i)).collect::<Vec<_>>();
    let rows = ndarray::Array2::from_shape_vec((2, 9), [row(3), row(17)].concat()).unwrap();
    let rows = rows.mapv(|l| l.map(|l| l as u32));
    updater.append_objects(rows.view()).unwrap();
    assert_eq!(updater.labels_of(&[40, 41]).unwrap(), before);
    assert_eq!(updater.partition().unwrap().n_objects(), 42);
    // Constraints may speak of them now.
    updater.update(&[Pair::cannot_link(40, 41)]).unwrap();
    assert_eq!(
        updater.update(&[Pair::must_link(0, 42)]).unwrap_err().kind(),
        ErrorKind::OutOfRange
    );
    let state = updater.to_bytes();
    let bad = array![[0, 0, 0, 0, 0, 0, 0, 0, 9]];
    assert_eq!(updater.append_objects(bad.view()).unwrap_err().kind(), ErrorKind::OutOfRange);
    assert_eq!(
        updater.append_objects(array![[0]].view()).unwrap_err().kind(),
        ErrorKind::ShapeMismatch
    );
    assert_eq!(updater.to_bytes(), state);
}

#[test]
fn neighbours_vote_member_by_member() {
    let e = Ensemble::from_array(array![[0, 0], [1, 0], [1, -1], [2, -1]].view()).unwrap();
    let updater = WeightUpdater::new(e, 2).unwrap();
    let rows = updater.labels_by_neighbours(&[vec![0, 1, 2], vec![2, 3], vec![]]).unwrap();
    assert_eq!(rows, array![[1, 0], [1, -1], [-1, -1]]);
    let error = updater.labels_by_neighbours(&[vec![0], vec![4]]).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::OutOfRange, "new object 1: neighbour 4 of 4 objects")
    );
}

#[test]
fn members_join_aligned_and_leave_without_a_trace() {
    let (e, truth) = world(2, 60, 6, 0.1);
    let mut updater = open(&e, 3);
    updater.update(&links(&truth, 30, 1)).unwrap();
    let before = (updater.weights(), updater.partition().unwrap());
    updater.add_members(vec![truth.clone()], 0.0, &()).unwrap();
    assert_eq!((updater.weights()[9], updater.partition().unwrap()), (0.0, before.1.clone()));
    // The best member there can be: its three classes are three common clusters, and constraints
    // bring it in.
    let mut table = updater.alignment_of(9).unwrap();
    table.sort();
    assert_eq!(table, vec![Some(0), Some(1), Some(2)]);
    let gone = updater.retire_members(&[9]).unwrap();
    assert_eq!(gone, vec![truth.clone()]);
    assert_eq!((updater.weights(), updater.partition().unwrap()), before);
    updater.add_members(gone, 0.2, &()).unwrap();
    assert!((updater.weights()[9] - 0.2).abs() < 1e-9);
    // Without an error of its own it gains under the rule that looks at nothing else.
    updater.set_rule(AdditiveUpdate::default()).unwrap();
    updater.update(&links(&truth, 60, 7)).unwrap();
    assert!(updater.weights()[9] > 0.2);
    updater.retire_members(&[8, 0, 8]).unwrap();
    assert_eq!(updater.ensemble().n_members(), 8);
    assert!((updater.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn bad_members_change_nothing() {
    let (e, truth) = world(3, 30, 3, 0.0);
    let mut updater = open(&e, 3);
    let before = updater.to_bytes();
    let short = Partition::from_labels(&[0, 1]).unwrap();
    let error = updater.add_members(vec![truth.clone(), short], 0.1, &()).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::ShapeMismatch, "new member 1 of 2 objects, expected 30")
    );
    for share in [-0.1, 1.1, f64::NAN] {
        let error = updater.add_members(vec![truth.clone()], share, &()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    }
    assert_eq!(updater.retire_members(&[6]).unwrap_err().kind(), ErrorKind::OutOfRange);
    assert_eq!(updater.retire_members(&[0, 1, 2, 3, 4, 5]).unwrap_err().kind(), ErrorKind::Empty);
    assert!(updater.retire_members(&[]).unwrap().is_empty());
    updater.add_members(Vec::new(), 0.5, &()).unwrap();
    assert_eq!(updater.to_bytes(), before);
    // Where nobody with weight is left all get the same.
    updater.set_weights(&[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
    updater.retire_members(&[1]).unwrap();
    assert!(updater.weights().iter().all(|g| (g - 0.2).abs() < 1e-12));
    updater.add_members(vec![truth], 1.0, &()).unwrap();
    assert_eq!(updater.support(), [5]);
}
