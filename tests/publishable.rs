//! Every crate can be published: its package holds all that it needs, and says what it is.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use workspace::{Package, packages, root, sources, text, walk};

mod workspace;

/// Features that documentation is built without: they link to system libraries.
const SYSTEM: [&str; 2] = ["lapack", "openblas-system"];

fn published() -> Vec<Package> {
    let found: Vec<Package> = packages().into_iter().filter(|p| p.published).collect();
    assert!(found.len() >= 6);
    found
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().map(|a| a.iter().map(text).collect()).unwrap_or_default()
}

/// `.ci/copies` makes them anew.
#[test]
fn every_crate_has_the_licences() {
    for package in published() {
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let copy = read_to_string(package.folder.join(licence)).unwrap_or_default();
            let equal = copy == read_to_string(root().join(licence)).unwrap();
            assert!(equal, "{}: {licence} is not the root's; run .ci/copies", package.name);
        }
    }
}

#[test]
fn the_readme_of_the_facade_is_the_readme_of_the_project() {
    let read = |at: &str| read_to_string(root().join(at)).unwrap();
    let equal = read("README.md") == read("crates/consilience/README.md");
    assert!(equal, "README.md and crates/consilience/README.md differ; run .ci/copies");
}

/// Targets of Markdown links that lead to files: dead on docs.rs and in a registry.
fn relative_links(markdown: &str) -> Vec<&str> {
    let targets = markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|t| !["https://", "http://", "#"].iter().any(|s| t.starts_with(s))).collect()
}

#[test]
fn every_crate_has_a_readme_whose_links_work_everywhere() {
    let tested = read_to_string(root().join("tests/readmes.rs")).unwrap();
    for package in published() {
        let name = &package.name;
        let readme = read_to_string(package.folder.join("README.md")).unwrap_or_default();
        assert!(readme.starts_with(&format!("# {name}\n")), "{name}: README.md without its title");
        assert_eq!(relative_links(&readme), Vec::<&str>::new(), "{name}: README.md");
        // The facade includes its own.
        let include =
            tested.contains(&format!("/crates/{name}/README.md")) || name == "consilience";
        assert!(
            include || !readme.contains("```rust"),
            "{name}: add README.md to tests/readmes.rs"
        );
    }
    assert_eq!(relative_links("[a](docs/b.md) [c](#d) [e](https://f)"), ["docs/b.md"]);
}

/// What a manifest lacks.
fn missing(manifest: &Value) -> Vec<&'static str> {
    let name = text(&manifest["name"]);
    let docs = &manifest["metadata"]["docs"]["rs"];
    let features: BTreeSet<String> =
        manifest["features"].as_object().map(|f| f.keys().cloned().collect()).unwrap_or_default();
    let documented: BTreeSet<String> = list(&docs["features"]).into_iter().collect();
    let plain = |f: &&String| !SYSTEM.contains(&f.as_str()) && f.as_str() != "default";
    let docs_whole = if features.iter().any(|f| SYSTEM.contains(&f.as_str())) {
        docs["all-features"] != true && documented.iter().eq(features.iter().filter(plain))
    } else {
        docs["all-features"] == true
    };
    let checks = [
        ("a description", manifest["description"].as_str().is_some_and(|d| d.len() > 20)),
        ("a licence", manifest["license"] == "MIT OR Apache-2.0"),
        ("one to five keywords", (1..=5).contains(&list(&manifest["keywords"]).len())),
        ("categories", !list(&manifest["categories"]).is_empty()),
        ("a minimum Rust version", manifest["rust_version"].is_string()),
        ("documentation", manifest["documentation"] == format!("https://docs.rs/{name}").as_str()),
        ("[package.metadata.docs.rs] with all features but those of system libraries", docs_whole),
    ];
    checks.iter().filter(|(_, there)| !there).map(|(what, _)| *what).collect()
}

#[test]
fn every_manifest_says_what_the_crate_is() {
    let lacks = |p: Package| -> Vec<String> {
        missing(&p.manifest).iter().map(|what| format!("{} lacks {what}", p.name)).collect()
    };
    assert_eq!(published().into_iter().flat_map(lacks).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn an_incomplete_manifest_would_be_seen() {
    let mut manifest = serde_json::json!({
        "name": "x", "description": "What it is, in one line", "license": "MIT OR Apache-2.0",
        "keywords": ["clustering"], "categories": ["science"], "rust_version": "1.89",
        "documentation": "https://docs.rs/x", "features": { "io": [], "lapack": [] },
        "metadata": { "docs": { "rs": { "features": ["io"] } } },
    });
    assert_eq!(missing(&manifest), Vec::<&str>::new());
    manifest["features"] = serde_json::json!({ "io": [], "serde": [], "lapack": [] });
    manifest["keywords"] = serde_json::json!([]);
    let docs = "[package.metadata.docs.rs] with all features but those of system libraries";
    assert_eq!(missing(&manifest), ["one to five keywords", docs]);
}

/// A path without `.` and `..`, whether it exists or not.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// Files that a source includes from outside a folder.
fn outside(source: &str, file: &Path, folder: &Path) -> Vec<String> {
    let marks = ["include_str!(\"", "include_bytes!(\"", "include!(\"", "#[path = \""];
    let named = marks.iter().flat_map(|mark| source.split(mark).skip(1));
    let paths = named.filter_map(|rest| rest.split('"').next());
    let leaves = |p: &&str| !plain(&file.parent().unwrap().join(p)).starts_with(folder);
    paths.filter(leaves).map(str::to_string).collect()
}

#[test]
fn no_package_needs_a_file_outside_it() {
    for package in published() {
        for file in sources(&package.folder) {
            let source = read_to_string(&file).unwrap();
            let found = outside(&source, &file, &package.folder);
            assert_eq!(found, Vec::<String>::new(), "{}", file.display());
        }
        walk(&package.folder, &mut |file| {
            assert!(!file.is_symlink(), "{} is a symbolic link", file.display());
        });
        for target in package.manifest["targets"].as_array().unwrap() {
            let path = PathBuf::from(text(&target["src_path"]));
            assert!(plain(&path).starts_with(&package.folder), "{}", path.display());
        }
    }
    let source = "#![doc = include_str!(\"../../README.md\")] #[path = \"../b.rs\"] mod b;";
    let found = outside(source, Path::new("/x/src/lib.rs"), Path::new("/x"));
    assert_eq!(found, ["../../README.md"]);
}

/// A test or a bench that the manifest does not name would silently never run.
#[test]
fn every_test_and_every_bench_is_named_in_the_manifest() {
    let tests: Vec<_> = packages().into_iter().filter(|p| !p.published).collect();
    let targets = tests.iter().flat_map(|p| p.manifest["targets"].as_array().unwrap());
    let named: BTreeSet<PathBuf> =
        targets.map(|t| plain(Path::new(t["src_path"].as_str().unwrap()))).collect();
    for folder in ["tests", "benches"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            // What the benches share has no `main` and is none.
            let target =
                path.extension().is_some_and(|e| e == "rs") && !path.ends_with("worlds.rs");
            assert!(!target || named.contains(&path), "{} is not named", path.display());
        }
    }
}
