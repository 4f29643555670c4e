use consilience_core::{Ensemble, ErrorKind, Memberships, MemoryBudget, Partition};
use ndarray::array;

use super::world;
use crate::{AlignmentReference, InitialWeights, WeightUpdater, WeightUpdaterSetup};

#[test]
fn a_given_reference_names_the_clusters() {
    let (e, truth) = world(1, 60, 6, 0.0);
    let setup = WeightUpdaterSetup::new(3).reference(AlignmentReference::Given(truth.clone()));
    let updater = setup.updater(e.clone()).unwrap();
    let right = (0..60).filter(|&i| updater.labels_of(&[i]).unwrap()[0] == truth.label(i)).count();
    assert!(right > 50, "{right}");
    for u in 0..e.n_members() {
        let table = updater.alignment_of(u).unwrap();
        let mut used: Vec<_> = table.iter().flatten().collect();
        used.sort();
        used.dedup();
        // One to one as far as it goes.
        assert_eq!(used.len(), table.len().min(3), "member {u}: {table:?}");
    }
}

#[test]
fn weights_closest_to_a_clustering() {
    let (e, _) = world(2, 80, 6, 0.1);
    let from =
        |e: &Ensemble, start| WeightUpdaterSetup::new(3).start(start).updater(e.clone()).unwrap();
    // Closest to a mixture of members 0 and 2 are the weights of that mixture.
    let closest = |e: &Ensemble| {
        let mixture = InitialWeights::Given(vec![0.7, 0., 0.3, 0., 0., 0., 0., 0., 0.]);
        let mixed = from(e, mixture).memberships().unwrap();
        from(e, InitialWeights::ClosestMemberships(mixed)).weights()
    };
    let complete = world(2, 80, 6, 0.0).0;
    let gamma = closest(&complete);
    assert!((gamma[0] - 0.7).abs() < 1e-3 && (gamma[2] - 0.3).abs() < 1e-3, "{gamma:?}");
    // With gaps nearly so.
    let gamma = closest(&e);
    assert!(gamma[0] > 0.4 && gamma[2] > 0.1, "{gamma:?}");
    let three = complete.members().iter().position(|p| p.n_clusters() == 3).unwrap();
    let start = InitialWeights::Closest(complete.members()[three].clone());
    assert!(from(&complete, start).weights()[three] > 0.99);
}

#[test]
fn bad_starts_are_refused() {
    let e = Ensemble::from_array(array![[0, 1], [1, 1], [1, 0]].view()).unwrap();
    let kind =
        |start| WeightUpdaterSetup::new(2).start(start).updater(e.clone()).unwrap_err().kind();
    assert_eq!(kind(InitialWeights::Given(vec![1.0])), ErrorKind::ShapeMismatch);
    assert_eq!(kind(InitialWeights::Given(vec![1.0, f64::NAN])), ErrorKind::NonFinite);
    assert_eq!(kind(InitialWeights::Given(vec![0.0, 0.0])), ErrorKind::InvalidParameter);
    let p = Partition::from_labels(&[0, 1]).unwrap();
    assert_eq!(kind(InitialWeights::Closest(p.clone())), ErrorKind::ShapeMismatch);
    assert_eq!(
        kind(InitialWeights::ClosestMemberships(Memberships::from(&p))),
        ErrorKind::ShapeMismatch
    );
    let many = InitialWeights::Closest(Partition::from_labels(&[0, 1, 2]).unwrap());
    let small = WeightUpdaterSetup::new(2).memory_budget(MemoryBudget::bytes(100)).start(many);
    let refused = small.updater(e.clone()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
    assert!(refused.message().contains("clusters of the start"), "{refused}");
    // More clusters than there are common ones, and none at all, are no errors.
    for labels in [[0, 1, 2], [-1, -1, -1]] {
        let start = InitialWeights::Closest(Partition::from_labels(&labels).unwrap());
        assert!(WeightUpdaterSetup::new(2).start(start).updater(e.clone()).is_ok());
    }
}

/// Three rows may stand for more objects than a list of them has room for.
#[test]
fn as_many_evenly_spaced_objects_as_there_is_room_for() {
    let e = Ensemble::from_array(array![[0, 1], [1, 1], [1, 0]].view()).unwrap();
    let e = e.with_counts(vec![2_000_000_000; 3]).unwrap();
    let setup = WeightUpdaterSetup::new(2);
    let start = InitialWeights::Closest(Partition::from_labels(&[0, 1, 1]).unwrap());
    for many in [
        setup.clone().reference_objects(usize::MAX),
        setup.clone().start(start.clone()).start_objects(usize::MAX),
    ] {
        assert_eq!(many.updater(e.clone()).unwrap_err().kind(), ErrorKind::TooLarge);
    }
    assert!(setup.start(start).updater(e).is_ok());
}

#[test]
fn more_objects_than_numbers_for_them_do_not_join() {
    let e = Ensemble::from_array(array![[0], [1]].view()).unwrap();
    let mut updater =
        WeightUpdater::new(e.with_counts(vec![(1 << 53) - 1, 1]).unwrap(), 2).unwrap();
    let error = updater.append_objects(array![[0]].view()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfRange);
    assert_eq!(updater.ensemble().n_objects(), 2);
}

#[test]
fn permuted_members_get_permuted_weights() {
    let (e, truth) = world(3, 60, 6, 0.1);
    let order = [8, 3, 0, 5, 1, 7, 2, 6, 4];
    let batch = super::links(&truth, 30, 1);
    let mut a = super::open(&e, 3);
    let mut b = super::open(&e.select(&order).unwrap(), 3);
    a.update(&batch).unwrap();
    b.update(&batch).unwrap();
    let (x, y) = (a.weights(), b.weights());
    assert!(order.iter().zip(&y).all(|(&u, g)| (x[u] - g).abs() < 1e-5), "{x:?} {y:?}");
    assert_eq!(a.partition().unwrap(), b.partition().unwrap());
}
