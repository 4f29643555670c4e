use consilience_core::{Ensemble, ErrorKind, Partition, Seed};

use super::{links, open, world};
use crate::{
    AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, PairLoss, UpdateRule, WeightUpdater,
};

fn rules() -> [UpdateRule; 4] {
    [
        ExactUpdate::default().regularization(3.5).gap(1e-3).into(),
        ExactUpdate::default().loss(PairLoss::Probability).balance(false).max_iterations(7).into(),
        AdditiveUpdate::default().step(0.3).into(),
        MultiplicativeUpdate::default().balance(false).into(),
    ]
}

#[test]
fn going_on_gives_the_bits_of_never_having_stopped() {
    let (e, truth) = world(1, 50, 6, 0.2);
    for rule in rules() {
        let mut straight = open(&e, 3);
        straight.set_rule(rule.clone()).unwrap();
        let mut stopped = straight.clone();
        for batch in 0..4 {
            let batch = links(&truth, 15, batch);
            let report = straight.update(&batch).unwrap();
            let bytes = stopped.to_bytes();
            stopped = WeightUpdater::from_bytes(&bytes, stopped.into_ensemble()).unwrap();
            assert_eq!(stopped.rule(), &rule);
            assert_eq!(stopped.to_bytes(), bytes);
            assert_eq!(stopped.update(&batch).unwrap(), report);
            assert_eq!(stopped.to_bytes(), straight.to_bytes());
        }
        assert_eq!(stopped.weights(), straight.weights());
        assert_eq!(stopped.partition().unwrap(), straight.partition().unwrap());
        assert_eq!(
            stopped.next_questions(5, Seed(0)).unwrap(),
            straight.next_questions(5, Seed(0)).unwrap()
        );
    }
}

#[test]
fn more_batches_than_links_are_no_state() {
    let (e, truth) = world(2, 30, 4, 0.2);
    let mut updater = open(&e, 3);
    updater.update(&links(&truth, 10, 1)).unwrap();
    updater.batches = u64::MAX;
    let error = WeightUpdater::from_bytes(&updater.to_bytes(), e).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains("batches of 10 links"), "{error}");
}

#[test]
fn every_flipped_or_missing_byte_is_found() {
    let (e, truth) = world(2, 30, 4, 0.2);
    let mut updater = open(&e, 3);
    updater.update(&links(&truth, 10, 1)).unwrap();
    let bytes = updater.to_bytes();
    for at in 0..bytes.len() {
        for flip in [1u8, 0x80, 0xff] {
            let mut bad = bytes.clone();
            bad[at] ^= flip;
            let error = WeightUpdater::from_bytes(&bad, e.clone()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "byte {at}: {error}");
        }
    }
    for length in 0..bytes.len() {
        let error = WeightUpdater::from_bytes(&bytes[..length], e.clone()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{length} bytes: {error}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(WeightUpdater::from_bytes(&longer, e).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn another_ensemble_is_refused() {
    let (e, _) = world(3, 30, 4, 0.2);
    let bytes = open(&e, 3).to_bytes();
    let mut labels: Vec<Option<usize>> = e.members()[2].iter().collect();
    labels[29] = labels[29].map_or(Some(0), |_| None);
    let mut members = e.members().to_vec();
    members[2] = Partition::from_fn(30, |i| labels[i].map(|l| l as u64)).unwrap();
    let order: Vec<usize> = (0..7).rev().collect();
    let others = [
        Ensemble::new(members).unwrap(),
        e.select(&order).unwrap(),
        e.select(&[0, 1]).unwrap(),
        e.select_objects(&[0, 1, 2]).unwrap(),
    ];
    for other in others {
        let error = WeightUpdater::from_bytes(&bytes, other).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{error}");
    }
    assert!(WeightUpdater::from_bytes(&bytes, e).is_ok());
}

#[test]
fn wide_labels_are_hashed_too() {
    for k in [300u64, 70_000] {
        let of = |shift: u64| {
            let p = Partition::from_fn(80_000, |i| {
                Some(if i == 79_999 { shift } else { i as u64 % k })
            })
            .unwrap();
            Ensemble::new(vec![p]).unwrap()
        };
        let bytes = open(&of(3), 2).to_bytes();
        assert!(WeightUpdater::from_bytes(&bytes, of(3)).is_ok());
        assert_eq!(
            WeightUpdater::from_bytes(&bytes, of(4)).unwrap_err().kind(),
            ErrorKind::InvalidParameter
        );
    }
}
