//! Stored states, with heads and hashes made right again, so that what is inside is read.

use consilience::follow::Updater;
use consilience::ndarray::array;
use consilience::simplex::WeightUpdater;
use consilience::simplex::stored::Envelope;
use consilience::{Ensemble, Pair};

use super::driver::Target;

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
        let mut updater = Updater::from_bytes(&envelope.seal(body), ensemble())?;
        // It goes on, or says why not.
        let _ = updater.update(&[Pair::must_link(4, 5)]);
        let _ = updater.partition();
        Ok(())
    };
    Target::new("updaters", valid, read).attack(4_000);
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
        let mut updater = WeightUpdater::from_bytes(&envelope.seal(body), ensemble())?;
        let sum: f64 = updater.weights().iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "weights that sum to {sum}");
        let _ = updater.update(&[Pair::must_link(4, 5)]);
        Ok(())
    };
    Target::new("weights", valid, read).attack(4_000);
}
