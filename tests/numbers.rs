//! Extreme numbers, as tables of laws: what a change of the input leaves as it is, for every method
//! of the catalogue, every generator, every metric learner and every constrained clusterer.
//!
//! docs/guarantees.md shows the tables. `CONSILIENCE_NUMBERS_WORLDS=100 cargo test -p
//! consilience-tests --test numbers` tries them on more worlds.

#[path = "numbers/features.rs"]
mod features;
#[path = "numbers/labels.rs"]
mod labels;
#[path = "numbers/learners.rs"]
mod learners;
#[path = "numbers/methods.rs"]
mod methods;

/// Worlds for each law: so many where nothing else is said, in the variable
/// `CONSILIENCE_NUMBERS_WORLDS`.
fn worlds(usual: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("CONSILIENCE_NUMBERS_WORLDS").ok();
    0..asked.map_or(usual, |n| n.parse().expect("CONSILIENCE_NUMBERS_WORLDS is a number"))
}

/// Whom a law does not hold for, and why.
type Exceptions = &'static [(&'static str, &'static str)];

/// In the reason of an exception that keeps the law on some processors: sums are rounded otherwise
/// where vectors are wider.
const BY_ROUNDING: &str = "rounding decides";

/// Holds a method against a law: kept on every world, or broken on some by an exception, so that no
/// exception stays when its reason has gone.
fn hold(law: &str, method: &str, exceptions: Exceptions, broken: &[String]) {
    match exceptions.iter().find(|(name, _)| *name == method) {
        None => assert!(broken.is_empty(), "{law}: {method}: {}", broken.join("; ")),
        Some((_, why)) => {
            let may_hold = why.contains(BY_ROUNDING);
            assert!(may_hold || !broken.is_empty(), "{law}: {method} is no exception ({why})");
            println!("{law}: not {method}, since {why}: {} worlds", broken.len());
        }
    }
}
