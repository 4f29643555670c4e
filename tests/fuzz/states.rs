//! Stored states, with heads and hashes made right again, so that what is inside is read.

use consilience::follow::Updater;
use consilience::ndarray::array;
use consilience::simplex::WeightUpdater;
use consilience::simplex::stored::Envelope;
use consilience::{Ensemble, Pair};

use super::driver::{Target, inputs};

fn ensemble() -> Ensemble {
    Ensemble::from_array(
        array![[0, 0, 1], [0, 0, 1], [0, 1, -1], [1, 1, 0], [1, 1, 0], [1, 2, 0]].view(),
    )
    .unwrap()
}

/// Magic and version of a state, and its body.
fn opened(bytes: &[u8]) -> (Envelope, Vec<u8>) {
    let magic = bytes[..8].try_into().unwrap();
    let version = u32::from_le_bytes(bytes[8..12].try_into().unwrap());
    let envelope = Envelope { magic, version };
    let body = envelope.open(bytes).unwrap().to_vec();
    (envelope, body)
}

#[test]
fn updaters_survive() {
    let pairs = [Pair::must_link(0, 1), Pair::cannot_link(0, 4), Pair::must_link(2, 3)];
    let fresh = Updater::new(ensemble(), 2).unwrap();
    let mut used = Updater::new(ensemble(), 2).unwrap();
    used.update(&pairs).unwrap();
    let (envelope, empty) = opened(&fresh.to_bytes());
    let valid = vec![empty, opened(&used.to_bytes()).1];
    let read = |body: &[u8]| {
        let Ok(mut updater) = Updater::from_bytes(&envelope.seal(body), ensemble()) else {
            return false;
        };
        // It goes on, or says why not.
        let _ = updater.update(&[Pair::must_link(4, 5)]);
        let _ = updater.partition();
        true
    };
    Target { name: "updaters", valid, read: Box::new(read) }.attack(inputs(4_000));
}

#[test]
fn weights_survive() {
    let pairs = [Pair::must_link(0, 1), Pair::cannot_link(0, 4)];
    let fresh = WeightUpdater::new(ensemble(), 2).unwrap();
    let mut used = WeightUpdater::new(ensemble(), 2).unwrap();
    used.update(&pairs).unwrap();
    let (envelope, empty) = opened(&fresh.to_bytes());
    let valid = vec![empty, opened(&used.to_bytes()).1];
    let read = |body: &[u8]| {
        let Ok(mut updater) = WeightUpdater::from_bytes(&envelope.seal(body), ensemble()) else {
            return false;
        };
        let sum: f64 = updater.weights().iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "weights that sum to {sum}");
        let _ = updater.update(&[Pair::must_link(4, 5)]);
        true
    };
    Target { name: "weights", valid, read: Box::new(read) }.attack(inputs(4_000));
}

#[cfg(feature = "serde")]
#[test]
fn models_survive() {
    use consilience::model::{ConsensusClustering, ConsensusModel};
    use consilience::ndarray::Array2;

    let x = Array2::from_shape_fn((30, 2), |(i, j)| (i / 15 * 8 + i * (j + 3) % 7) as f64);
    let model = ConsensusClustering::new(2).cluster(&x).unwrap();
    let valid = vec![postcard::to_stdvec(&model).unwrap()];
    let read = |bytes: &[u8]| {
        let Ok(model) = postcard::from_bytes::<ConsensusModel>(bytes) else {
            return false;
        };
        if model.n_features() == 2 {
            let placed = model.place(&x).expect("a model that was accepted places objects");
            assert_eq!(placed.labels.len(), 30);
        }
        true
    };
    Target { name: "models", valid, read: Box::new(read) }.attack(inputs(4_000));
}
