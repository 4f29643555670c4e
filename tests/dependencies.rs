//! What we depend on: licences that ask no more than to be named, and few crates in two versions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use workspace::{metadata, root};

mod workspace;

/// `deny.toml` allows the same.
const LICENCES: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that the lock file has in several versions, and why.
const SEVERAL: [(&str, &str); 15] = [
    ("embedded-io", "postcard, in tests only, knows two; neither is compiled"),
    ("equator", "assertions inside faer and its kernels, each at its own version"),
    ("equator-macro", "with equator"),
    ("getrandom", "const-random and ahash, under parquet, stay behind rand and tempfile"),
    ("ndarray", "an older one, in tests only: the guide shows how its arrays come in"),
    ("num-bigint", "py_literal of ndarray-npy, in tests only, stays behind parquet"),
    ("r-efi", "with getrandom; not compiled here"),
    ("rand", "ndarray-linalg, behind the feature lapack, stays behind"),
    ("rand_chacha", "with rand"),
    ("rand_core", "with rand"),
    ("syn", "three generations of derive macros; compile time only"),
    ("thiserror", "dirs under openblas-src, behind openblas-system, stays behind lax"),
    ("thiserror-impl", "with thiserror"),
    ("windows-sys", "atomic-wait under faer stays behind; not compiled here"),
    ("zip", "ndarray-npy, in tests only, stays behind the program's"),
];

/// Whether a licence expression leaves us a choice that is allowed: OR binds less than AND, and
/// parentheses bind most. Old manifests write `/` for OR.
fn allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let any = parts(expression.trim(), " OR ");
    if any.len() > 1 {
        return any.into_iter().any(allowed);
    }
    let all = parts(expression.trim(), " AND ");
    if all.len() > 1 {
        return all.into_iter().all(allowed);
    }
    match expression.trim().strip_prefix('(').and_then(|e| e.strip_suffix(')')) {
        Some(inner) => allowed(inner),
        None => LICENCES.contains(&expression.trim()),
    }
}

/// Splits at a word outside parentheses.
fn parts<'a>(expression: &'a str, word: &str) -> Vec<&'a str> {
    let (mut depth, mut start, mut out) = (0, 0, Vec::new());
    for (at, c) in expression.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && at >= start && expression[at..].starts_with(word) => {
                out.push(expression[start..at].trim());
                start = at + word.len();
            }
            _ => {}
        }
    }
    out.push(expression[start..].trim());
    out
}

/// All packages that were ever downloaded for us: with all features where those are at hand, else
/// what a plain build on this machine needs. Never asks the network.
fn dependencies() -> Vec<Value> {
    let host = || {
        let out = std::process::Command::new("rustc").arg("-vV").output().unwrap();
        let said = String::from_utf8(out.stdout).unwrap();
        said.lines().find_map(|l| l.strip_prefix("host: ")).unwrap().to_string()
    };
    let here = ["--filter-platform", &host()];
    let found = metadata(&["--all-features"])
        .or_else(|_| metadata(&[&here[..], &["--all-features"]].concat()))
        .or_else(|_| metadata(&here));
    found.unwrap()["packages"].as_array().unwrap().clone()
}

#[test]
fn every_licence_is_allowed() {
    let packages = dependencies();
    assert!(packages.len() > 50);
    let refused: Vec<String> = packages
        .iter()
        .filter(|p| !p["license"].as_str().is_some_and(allowed))
        .map(|p| format!("{} {}: {}", p["name"], p["version"], p["license"]))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn a_licence_with_conditions_would_be_seen() {
    for good in ["MIT", "GPL-3.0 OR MIT", "MIT/Apache-2.0", "(GPL-3.0 OR MIT) AND Zlib"] {
        assert!(allowed(good), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Zlib) AND LGPL-3.0", ""] {
        assert!(!allowed(bad), "{bad}");
    }
}

#[test]
fn only_these_crates_come_in_several_versions() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let mut versions = BTreeMap::<&str, BTreeSet<&str>>::new();
    for package in lock.split("[[package]]").skip(1) {
        let field = |name: &str| {
            let value = package.split_once(&format!("{name} = \"")).unwrap().1;
            value.split('"').next().unwrap()
        };
        versions.entry(field("name")).or_default().insert(field("version"));
    }
    assert!(versions.len() > 50);
    let several: BTreeSet<&str> =
        versions.iter().filter(|(_, v)| v.len() > 1).map(|(n, _)| *n).collect();
    let known: BTreeSet<&str> = SEVERAL.iter().map(|(name, _)| *name).collect();
    let new: Vec<_> = several.difference(&known).map(|n| (n, &versions[n])).collect();
    assert!(new.is_empty(), "in several versions, without a reason: {new:?}");
    let gone: Vec<_> = known.difference(&several).collect();
    assert!(gone.is_empty(), "no longer in several versions: {gone:?}");
}
