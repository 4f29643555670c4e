//! Where data lies that is not part of the project.

use std::path::PathBuf;

/// A folder of reference data (`pools`, `features`, `crowd`): in `$CONSILIENCE_DATA`, else in
/// `../shared/data` beside the checkout. It need not exist.
// `tests/` and `eval/` both lie one level below the root, and both compile this file.
pub(crate) fn folder(name: &str) -> PathBuf {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data"));
    std::env::var_os("CONSILIENCE_DATA").map_or_else(beside, PathBuf::from).join(name)
}
