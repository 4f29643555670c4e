//! Damaged files, damaged states and odd ensembles: an error or a lawful result, never a panic.
//!
//! The same inputs on every run, and before them the small files in `eval/corpus/`, where they are.
//! `CONSILIENCE_FUZZ_INPUTS=10000000 cargo test --release -p consilience-tests --test fuzz` takes
//! more of them for each target, `CONSILIENCE_FUZZ_SECONDS=1.5` as many as fit in that time, and
//! `CONSILIENCE_FUZZ_CORPUS=write` writes the corpus anew: of the inputs with the rarest answers
//! the shortest.

#[path = "fuzz/driver.rs"]
mod driver;
#[path = "fuzz/methods.rs"]
mod methods;
#[path = "fuzz/readers.rs"]
mod readers;
#[path = "fuzz/states.rs"]
mod states;
#[cfg(feature = "serde")]
#[path = "fuzz/stored.rs"]
mod stored;
#[path = "fuzz/tables.rs"]
mod tables;
