//! Damaged files, damaged states and odd ensembles: an error or a lawful result, never a panic.
//!
//! The same inputs on every run; `CONSILIENCE_FUZZ_INPUTS=10000000 cargo test --release -p
//! consilience-tests --test fuzz` takes more of them.

#[path = "fuzz/driver.rs"]
mod driver;
#[path = "fuzz/methods.rs"]
mod methods;
#[path = "fuzz/readers.rs"]
mod readers;
#[path = "fuzz/states.rs"]
mod states;
