//! No circle inside a crate: of two files of which each names the other, neither can be read or
//! moved alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use workspace::{packages, sources};

mod workspace;

/// A module as the path to it.
type Module = Vec<String>;

/// A `use`: whether it is public, and the paths that it names.
type Use = (bool, Vec<Vec<String>>);

/// Circles that stay, each as the crate, the modules in it, and why.
const ALLOWED: [(&str, &[&str], &str); 10] = [
    (
        "consilience-core",
        &["canonical", "ensemble", "microclusters"],
        "an ensemble and its microclusters are each made of the other",
    ),
    ("consilience-core", &["scores/contingency", "scores/pair"], "a table gives its pair scores"),
    (
        "consilience-core",
        &["stored/parts", "traits/constrained"],
        "a trait of what it is stored as",
    ),
    (
        "consilience-core",
        &["traits/dense", "traits/features"],
        "tables and features become each other",
    ),
    (
        "consilience-crowd",
        &["between", "block_model/sweep", "expected_counts", "rates"],
        "expectations and rates of one model, which take turns",
    ),
    (
        "consilience-crowd",
        &["positions/mixture", "positions/objects", "positions/workers"],
        "the factors of one posterior, which take turns",
    ),
    (
        "consilience-io",
        &["answers", "arrow", "input"],
        "an input reads every form, and forms read it",
    ),
    (
        "consilience-io",
        &["label", "label_table", "table"],
        "labels, their columns and their tables",
    ),
    ("consilience-report", &["findings", "report"], "a report gives findings about itself"),
    ("consilience-cli", &["categories", "files"], "tables of files may have categories"),
];

/// The paths that a `use` names, one for each name in braces.
fn expanded(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![path.split("::").map(|s| s.trim().to_owned()).collect()];
    };
    let (before, inner) = (&tree[..open], &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())]);
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let named = parts.into_iter().filter(|part| !part.trim().is_empty());
    named.flat_map(|part| expanded(&format!("{before}{}", part.trim()))).collect()
}

/// The `use` statements of a source that begin at a margin, without those of its tests: whether it
/// is public, and its paths.
fn uses(source: &str) -> Vec<Use> {
    let code = source.split("\nmod tests {").next().unwrap_or_default();
    let mut out = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find("use ") {
        let before = rest[..at].rsplit('\n').next().unwrap_or_default().trim_start();
        let (statement, after) = rest[at + 4..].split_once(';').unwrap_or((&rest[at + 4..], ""));
        if before.is_empty() || (before.starts_with("pub") && !before.contains("//")) {
            out.push((!before.is_empty(), expanded(&statement.replace('\n', " "))));
            rest = after;
        } else {
            rest = &rest[at + 4..];
        }
    }
    out
}

/// The files of a crate, their `use` statements, and what each hands on under which name.
struct Files {
    uses: BTreeMap<Module, Vec<Use>>,
}

impl Files {
    fn of(source: &Path) -> Self {
        let mut uses_of = BTreeMap::new();
        for file in sources(source) {
            let text = std::fs::read_to_string(&file).unwrap();
            let path = file.strip_prefix(source).unwrap().with_extension("");
            let mut module: Module =
                path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            if module.iter().any(|part| part == "tests" || part == "reference") {
                continue;
            }
            if ["mod", "lib", "main"].contains(&module.last().unwrap().as_str()) {
                module.pop();
            }
            uses_of.insert(module, uses(&text));
        }
        Files { uses: uses_of }
    }

    /// The file that a path named in a module leads to, through what others hand on; `None` for
    /// other crates.
    fn target(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                (from[..from.len().saturating_sub(ups)].to_vec(), &path[ups..])
            }
            first => {
                let child: Module = from.iter().cloned().chain([first.to_owned()]).collect();
                if !self.uses.contains_key(&child) {
                    return None;
                }
                (from.clone(), path)
            }
        };
        while let [next, others @ ..] = rest {
            let child: Module = at.iter().cloned().chain([next.clone()]).collect();
            if self.uses.contains_key(&child) {
                (at, rest) = (child, others);
                continue;
            }
            let handed = self.uses.get(&at)?.iter().filter(|(public, _)| *public);
            let named = handed.flat_map(|(_, paths)| paths).find(|p| p.last() == Some(next));
            return match named {
                Some(path) if depth < 9 => self.target(&at, path, depth + 1).or(Some(at)),
                _ => Some(at),
            };
        }
        Some(at)
    }

    /// For each file those that it names by `use crate::` and `use super::`.
    fn arrows(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let named = |module: &Module, paths: &[Vec<String>]| -> Vec<Module> {
            let own = paths.iter().filter(|path| ["crate", "super"].contains(&path[0].as_str()));
            let targets = own.filter_map(|path| self.target(module, path, 0));
            targets.filter(|target| target != module).collect()
        };
        let arrows = self.uses.iter().map(|(module, uses)| {
            (module.clone(), uses.iter().flat_map(|(_, paths)| named(module, paths)).collect())
        });
        arrows.collect()
    }

    /// Sets of files that all lead to each other.
    fn circles(&self) -> BTreeSet<BTreeSet<String>> {
        let arrows = self.arrows();
        let reached = |from: &Module| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(module) = open.pop() {
                let next = arrows.get(module).into_iter().flatten();
                open.extend(next.filter(|module| seen.insert((*module).clone())));
            }
            seen
        };
        let reach: BTreeMap<&Module, BTreeSet<Module>> =
            arrows.keys().map(|module| (module, reached(module))).collect();
        let circle = |module: &&Module| -> BTreeSet<String> {
            let back = |other: &&Module| reach.get(*other).is_some_and(|r| r.contains(*module));
            reach[*module].iter().filter(back).map(|other| other.join("/")).collect()
        };
        reach.keys().map(circle).filter(|circle| !circle.is_empty()).collect()
    }
}

#[test]
fn no_circle_inside_a_crate() {
    let (mut found, mut allowed) = (Vec::new(), 0);
    for package in packages().iter().filter(|p| p.folder.join("src").is_dir()) {
        for circle in Files::of(&package.folder.join("src")).circles() {
            let known = ALLOWED.iter().any(|(name, modules, _)| {
                *name == package.name && circle.iter().eq(modules.iter().copied())
            });
            allowed += usize::from(known);
            if !known {
                found.push(format!("{}: {circle:?}", package.name));
            }
        }
    }
    assert!(found.is_empty(), "circles:\n{}", found.join("\n"));
    assert_eq!(allowed, ALLOWED.len(), "circles that are open by now are still allowed");
}

#[test]
fn a_circle_would_be_seen() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("lib.rs", "mod a;\nmod b;\npub use b::{deep::B, C as D};\npub use a::A;\n");
    write("a.rs", "use crate::B;\nuse std::fmt;\n// use crate::b;\n");
    write("b/mod.rs", "pub mod deep;\nuse deep::B;\n");
    write("b/deep.rs", "use super::super::{\n    a::{A, self},\n};\n");
    write("c.rs", "use crate::a::A;\n#[cfg(test)]\nmod tests {\n    use crate::d;\n}\n");
    write("d.rs", "use crate::c::C;\nuse super::c;\n");
    let circles = Files::of(folder.path()).circles();
    let seen: BTreeSet<String> = ["a", "b/deep"].map(str::to_owned).into();
    assert_eq!(circles, BTreeSet::from([seen]));
}
