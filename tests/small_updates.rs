//! Every batch of up to three links between five objects: taken whole where some clustering
//! satisfies all of them and refused whole where none does, whatever their order.

use std::collections::BTreeMap;

use consilience::follow::Updater;
use consilience::simplex::{
    AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, UpdateRule, WeightUpdater,
};
use consilience::{Ensemble, ErrorKind, Link, Pair, Partition};
use rayon::prelude::*;

const OBJECTS: usize = 5;

fn ensemble() -> Ensemble {
    let members = [[0, 0, 1, 1, 2], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1], [0, 1, 2, 2, -1]];
    Ensemble::new(members.iter().map(|m| Partition::from_labels(m).unwrap()).collect()).unwrap()
}

/// Every link that there is.
fn links() -> Vec<Pair> {
    let pairs = (0..OBJECTS).flat_map(|i| (0..i).map(move |j| (j, i)));
    pairs.flat_map(|(i, j)| [Pair::must_link(i, j), Pair::cannot_link(i, j)]).collect()
}

/// Every ordered batch of up to three of them, with repetitions.
fn batches() -> Vec<Vec<Pair>> {
    let mut all = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..3 {
        let longer = |batch: &Vec<Pair>| {
            let batch = batch.clone();
            links().into_iter().map(move |link| [batch.clone(), vec![link]].concat())
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// Whether some labels of the objects satisfy every link: all of them are tried.
fn satisfiable(links: &[Pair]) -> bool {
    (0..OBJECTS.pow(OBJECTS as u32)).any(|code| {
        let label = |i: usize| code / OBJECTS.pow(i as u32) % OBJECTS;
        links.iter().all(|p| (label(p.i) == label(p.j)) == (p.link == Link::Must))
    })
}

/// What is the same for every order of a batch.
fn sorted(batch: &[Pair]) -> Vec<(usize, usize, bool)> {
    let mut links: Vec<_> = batch.iter().map(|p| (p.i, p.j, p.link == Link::Must)).collect();
    links.sort_unstable();
    links
}

/// Tries every batch: `update` takes one to a fresh state and returns the state, the weights and
/// the labels that come out, or the error and the state that is left.
fn every_batch(
    name: &str,
    before: &[u8],
    update: impl Fn(&[Pair]) -> (Option<ErrorKind>, Vec<u8>, Vec<u64>, Vec<i64>) + Sync,
) {
    let all = batches();
    assert_eq!(all.len(), 1 + 20 + 400 + 8000);
    let found: Vec<_> = all.par_iter().map(|batch| update(batch)).collect();
    let mut of_links = BTreeMap::new();
    let (mut taken, mut refused) = (0, 0);
    for (batch, (error, state, weights, labels)) in all.iter().zip(found) {
        match error {
            None => {
                assert!(satisfiable(batch), "{name}: took {batch:?}");
                taken += 1;
            }
            Some(kind) => {
                assert_eq!(kind, ErrorKind::Contradiction, "{name}: {batch:?}");
                assert!(!satisfiable(batch), "{name}: refused {batch:?}");
                assert!(state == before, "{name}: {batch:?} has left something");
                refused += 1;
            }
        }
        let first = of_links.entry(sorted(batch)).or_insert((weights.clone(), labels.clone()));
        assert_eq!(first.0, weights, "{name}: weights by the order of {batch:?}");
        assert_eq!(first.1, labels, "{name}: labels by the order of {batch:?}");
    }
    println!("{name}: {taken} batches taken, {refused} refused");
    assert!(taken > 4000 && refused > 400, "{name}");
}

#[test]
fn weights() {
    let rules = [
        ("exact", UpdateRule::from(ExactUpdate::default())),
        ("additive", AdditiveUpdate::default().into()),
        ("multiplicative", MultiplicativeUpdate::default().into()),
    ];
    for (name, rule) in rules {
        let mut fresh = WeightUpdater::new(ensemble(), 3).unwrap();
        fresh.set_rule(rule).unwrap();
        every_batch(name, &fresh.to_bytes(), |batch| {
            let mut updater = fresh.clone();
            let error = updater.update(batch).err().map(|error| error.kind());
            let weights = updater.weights().iter().map(|w| w.to_bits()).collect();
            (error, updater.to_bytes(), weights, updater.partition().unwrap().to_signed())
        });
    }
}

#[test]
fn updaters() {
    let fresh = Updater::new(ensemble(), 3).unwrap();
    every_batch("updater", &fresh.to_bytes(), |batch| {
        let mut updater = fresh.clone();
        let error = updater.update(batch).err().map(|error| error.kind());
        let weights = updater.by_weights().weights().iter().map(|w| w.to_bits()).collect();
        // The state first: reading labels out opens a metric, and it belongs to the state.
        let state = updater.to_bytes();
        (error, state, weights, updater.partition().unwrap().to_signed())
    });
}
