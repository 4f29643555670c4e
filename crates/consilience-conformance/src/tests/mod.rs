//! The suite passes honest toys and catches, law by law, each way of being wrong.

mod base;
mod consensus;
mod hierarchy;
mod nodes;
mod numbering;
mod partitioner;
mod similar;
mod soft;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::*;
use consilience_core::{Seed, SparseMemberships};
use ndarray::{Array2, Axis};

/// What a law says against an implementation; `None` where it holds.
fn verdict(law: impl FnOnce()) -> Option<String> {
    let cause = catch_unwind(AssertUnwindSafe(law)).err()?;
    Some(cause.downcast_ref::<String>().cloned().unwrap_or_else(|| "no message".into()))
}

/// The law must say this against the implementation.
fn must_catch(name: &str, flaw: &dyn std::fmt::Debug, says: &str, law: impl FnOnce()) {
    match verdict(law) {
        None => panic!("{flaw:?} got through \"{name}\""),
        Some(said) => {
            let expected = format!("law broken: {name}: ");
            assert!(said.starts_with(&expected) && said.contains(says), "{flaw:?}: {said}");
        }
    }
}

/// Every law of a suite catches what breaks it: a case is a law, a flaw, and what is said against
/// it.
fn must_catch_all<L, F: std::fmt::Debug + Copy>(
    laws: &[(&str, L)],
    cases: &[(&str, F, &str)],
    run: impl Fn(&L, &str, F),
) {
    for &(name, flaw, says) in cases {
        let Some((_, law)) = laws.iter().find(|l| l.0 == name) else { panic!("no law {name}") };
        must_catch(name, &flaw, says, || run(law, name, flaw));
    }
    for (name, _) in laws {
        assert!(cases.iter().any(|c| c.0 == *name), "no implementation that breaks \"{name}\"");
    }
}

#[test]
fn small_worlds_are_all_and_different() {
    // Bell numbers 1, 2, 5, 15, 52, 203, one object more for "unlabelled".
    for (objects, bell) in [(1, 2), (2, 5), (3, 15), (4, 52), (5, 203)] {
        let worlds: Vec<Ensemble> = small_worlds(objects, 1).collect();
        assert_eq!(worlds.len(), bell);
        for (i, w) in worlds.iter().enumerate() {
            assert!(!worlds[..i].contains(w), "{w:?}");
        }
    }
    assert_eq!(small_worlds(5, 2).count(), 41_209);
    assert_eq!(small_worlds(2, 3).count(), 125);
    assert_eq!(small_worlds(0, 2).count(), 0);
    assert_eq!(small_worlds(3, 0).count(), 0);
    // Each set of members once, and all of them.
    let sets: Vec<Ensemble> = small_worlds(3, 3).in_one_order().collect();
    assert_eq!(sets.len(), 15 * 16 * 17 / 6);
    let sorted = |e: &Ensemble| {
        let mut members: Vec<_> = e.members().iter().map(Partition::to_signed).collect();
        members.sort_unstable();
        members
    };
    let distinct = |worlds: &mut dyn Iterator<Item = Ensemble>| {
        worlds.map(|e| sorted(&e)).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(distinct(&mut sets.into_iter()), distinct(&mut small_worlds(3, 3)));
}

/// Why there is no law about names: members under other labels, and memberships with their columns
/// in another order, are equal members.
#[test]
fn labels_are_names() {
    let names: [fn(u64) -> u64; 3] = [
        |l| 99 - l,
        |l| 3 + 17 * l,
        |l| u64::MAX - (l + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 60),
    ];
    for (at, name) in names.into_iter().enumerate() {
        for ensemble in worlds::planted_ensembles(at as u64) {
            let rename = |m: &Partition| {
                Partition::from_fn(m.n_objects(), |i| Some(name(m.label(i)? as u64))).unwrap()
            };
            let renamed = Ensemble::new(ensemble.members().iter().map(rename).collect()).unwrap();
            assert_eq!(renamed, ensemble);
            for member in ensemble.members() {
                let (n, k) = (member.n_objects(), member.n_clusters());
                let mut values = Array2::zeros((n, k));
                for (i, label) in member.iter().enumerate() {
                    let Some(label) = label else { continue };
                    let away = (i * 7 % 6) as f64 / 16.0;
                    values[[i, label]] += 1.0 - away;
                    values[[i, (label + 1 + i % (k - 1)) % k]] += away;
                }
                let backwards = values.select(Axis(1), &(0..k).rev().collect::<Vec<_>>());
                let of =
                    |values: &Array2<f64>| SparseMemberships::from_array(values.view()).unwrap();
                assert_eq!(of(&backwards), of(&values));
            }
        }
    }
}

#[test]
fn planted_ensembles_are_what_they_claim() {
    let sizes = [25, 17, 11, 8];
    let clean = planted(Seed(1), &sizes, 4, 0.0, 0.0).unwrap();
    assert!(clean.ensemble.members().iter().all(|m| *m == clean.truth));
    let mut found = clean.truth.sizes();
    found.sort_unstable();
    assert_eq!(found, [8, 11, 17, 25]);
    let sparse = planted(Seed(2), &sizes, 5, 0.1, 0.9).unwrap();
    assert!((0..61).all(|i| worlds::heard(&sparse.ensemble, i)));
    assert!(!sparse.ensemble.is_complete());
    assert_eq!(
        planted(Seed(2), &[], 5, 0.1, 0.9).unwrap_err().kind(),
        consilience_core::ErrorKind::Empty
    );
    assert_eq!(
        planted(Seed(2), &[3], 0, 0.1, 0.9).unwrap_err().kind(),
        consilience_core::ErrorKind::Empty
    );
}

#[test]
fn soft_methods_go_through_as_hard_ones() {
    struct Half;
    impl ConsensusFunction for Half {
        type Output = Memberships;

        fn name(&self) -> &str {
            "half"
        }
        fn fit(&self, ensemble: &Ensemble, _: &dyn Observer) -> Result<Fit<Memberships>> {
            Ok(Fit::new(
                Memberships::from(&ensemble.members()[0]),
                consilience_core::Report::default(),
            ))
        }
    }
    let ensemble = worlds::members(&[&[0, 1, -1, 1]]);
    assert_eq!(Hard(Half).consensus(&ensemble).unwrap(), ensemble.members()[0]);
}
