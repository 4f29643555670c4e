//! What the tests of the workspace itself read: its packages and its source files.
// Every test compiles this module anew and uses only a part of it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The program is no library: what it uses shows nowhere.
pub(crate) const PROGRAM: &str = "consilience-cli";

/// A package of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// (name, kind), where the kind is "normal", "dev" or "build".
    pub(crate) dependencies: Vec<(String, String)>,
    /// Whether it may be published.
    pub(crate) published: bool,
    /// All that cargo says about it.
    pub(crate) manifest: Value,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The answer of `cargo metadata`, which never asks the network, or what it complains about.
pub(crate) fn metadata(arguments: &[&str]) -> Result<Value, String> {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap();
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    Ok(serde_json::from_slice(&out.stdout).unwrap())
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_string()
}

pub(crate) fn packages() -> Vec<Package> {
    let metadata = metadata(&["--no-deps"]).unwrap();
    let dependency =
        |d: &Value| (text(&d["name"]), d["kind"].as_str().unwrap_or("normal").to_string());
    let package = |p: &Value| Package {
        name: text(&p["name"]),
        folder: Path::new(p["manifest_path"].as_str().unwrap()).parent().unwrap().to_path_buf(),
        dependencies: p["dependencies"].as_array().unwrap().iter().map(dependency).collect(),
        published: p["publish"].is_null(),
        manifest: p.clone(),
    };
    metadata["packages"].as_array().unwrap().iter().map(package).collect()
}

/// All Rust files under a folder, but for what cargo builds.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    walk(folder, &mut |path| {
        if path.extension().is_some_and(|e| e == "rs") {
            out.push(path.to_path_buf());
        }
    });
    out
}

/// Visits every file and every link under a folder, but for what cargo builds.
pub(crate) fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_symlink() || !path.is_dir() {
            visit(&path);
        } else if !path.ends_with("target") {
            walk(&path, visit);
        }
    }
}
