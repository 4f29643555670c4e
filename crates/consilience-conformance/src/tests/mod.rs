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
use consilience_core::Seed;

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
