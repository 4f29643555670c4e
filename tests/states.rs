//! Every byte of every kind of stored state, changed and missing: refused, each time.
//!
//! `CONSILIENCE_STATE_CHANGES=255 cargo test -p consilience-tests --test states` tries all values
//! of every byte.

use consilience::follow::{MemberGrowth, Updater};
use consilience::generate::{Generator, KMeans};
use consilience::ndarray::Array2;
use consilience::simplex::{
    AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, UpdateRule, WeightUpdater,
};
use consilience::{Ensemble, ErrorKind, Pair, Result, Seed};
use rayon::prelude::*;

const OBJECTS: usize = 48;

/// Three lumps in the plane.
fn features() -> Array2<f64> {
    let mut random = Seed(4).stream();
    Array2::from_shape_fn((OBJECTS, 2), |(i, j)| 9.0 * ((i % 3 + j) % 3) as f64 + random.normal())
}

fn ensemble() -> Ensemble {
    let members = Generator::new(KMeans::new()).members(5).clusters(3..=6).seed(Seed(1));
    members.generate(&features()).unwrap()
}

fn links() -> Vec<Pair> {
    let link = |i: usize| {
        let j = i * 7 % OBJECTS;
        if i % 3 == j % 3 { Pair::must_link(i, j) } else { Pair::cannot_link(i, j) }
    };
    (1..20).map(link).collect()
}

/// Reads what is valid, and every damaged copy, which must be refused as damaged.
fn attack<T>(name: &str, bytes: &[u8], read: impl Fn(&[u8]) -> Result<T> + Sync) {
    assert!(read(bytes).is_ok(), "{name}: refuses what is valid");
    let asked = std::env::var("CONSILIENCE_STATE_CHANGES").ok();
    let changes = asked.map_or(3, |n| n.parse().expect("CONSILIENCE_STATE_CHANGES is a number"));
    let refused = |bytes: &[u8], what: &dyn Fn() -> String| match read(bytes) {
        Ok(_) => panic!("{name}: accepts {}", what()),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}, {}: {error}", what()),
    };
    (0..bytes.len()).into_par_iter().for_each(|at| {
        // 255 is odd: its multiples are all values but 0.
        for change in (1..=changes).map(|c: u8| c.wrapping_mul(255)) {
            let mut bad = bytes.to_vec();
            bad[at] ^= change;
            refused(&bad, &|| format!("byte {at} changed by {change}"));
        }
        refused(&bytes[..at], &|| format!("{at} of {} bytes", bytes.len()));
        let mut without = bytes.to_vec();
        without.remove(at);
        refused(&without, &|| format!("a state without byte {at}"));
    });
    refused(&[bytes, &[0]].concat(), &|| "one byte more".to_owned());
    println!(
        "{name}: {} bytes, {} damaged states",
        bytes.len(),
        bytes.len() * (changes as usize + 2)
    );
}

#[test]
fn weights() {
    let rules = [
        ("exact", UpdateRule::from(ExactUpdate::default())),
        ("additive", AdditiveUpdate::default().into()),
        ("multiplicative", MultiplicativeUpdate::default().into()),
    ];
    for (name, rule) in rules {
        let mut updater = WeightUpdater::new(ensemble(), 3).unwrap();
        updater.set_rule(rule).unwrap();
        updater.update(&links()).unwrap();
        let e = ensemble();
        attack(&format!("weights, {name}"), &updater.to_bytes(), |bytes| {
            WeightUpdater::from_bytes(bytes, e.clone())
        });
    }
}

#[test]
fn updaters() {
    let e = ensemble();
    let mut updater = Updater::new(ensemble(), 3).unwrap();
    let read = |bytes: &[u8]| Updater::from_bytes(bytes, e.clone());
    attack("a new updater", &updater.to_bytes(), read);
    updater.update(&links()).unwrap();
    attack("an updater", &updater.to_bytes(), read);
}

#[test]
fn updaters_with_grown_members() {
    let e = ensemble();
    let mut updater = Updater::new(ensemble(), 3).unwrap();
    updater.update(&links()).unwrap();
    let growth = MemberGrowth::new(KMeans::new());
    updater.grow(features().view().into(), &growth, 0.0, &()).unwrap();
    assert!(updater.ensemble().n_members() > e.n_members(), "no members have grown");
    let read = |bytes: &[u8]| Updater::from_bytes(bytes, e.clone());
    attack("an updater with grown members", &updater.to_bytes(), read);
}

#[cfg(feature = "serde")]
#[test]
fn models() {
    use consilience::model::{ConsensusClustering, ConsensusModel};

    let model = ConsensusClustering::new(3)
        .generator(Generator::new(KMeans::new()).members(3))
        .cluster(&features())
        .unwrap();
    attack("a model", &model.to_bytes().unwrap(), ConsensusModel::from_bytes);
}
