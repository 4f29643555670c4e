//! The table in DESIGN.md holds: which crate may call which, and what may show in the public
//! interface.

use std::path::PathBuf;

use workspace::{PROGRAM, Package, packages, sources};

mod workspace;

/// Every crate and the crates that it may call. `*` is every other crate but the program.
const ARROWS: [(&str, &[&str]); 22] = [
    ("consilience-core", &[]),
    ("consilience-num", &["consilience-core"]),
    ("consilience-generate", &["consilience-core", "consilience-num"]),
    ("consilience-graph", &["consilience-core", "consilience-num"]),
    ("consilience-consensus", &["consilience-graph", "consilience-core", "consilience-num"]),
    ("consilience-bregman", &["consilience-graph", "consilience-core", "consilience-num"]),
    (
        "consilience-trust",
        &[
            "consilience-consensus",
            "consilience-walk",
            "consilience-graph",
            "consilience-core",
            "consilience-num",
        ],
    ),
    (
        "consilience-report",
        &[
            "consilience-trust",
            "consilience-consensus",
            "consilience-walk",
            "consilience-graph",
            "consilience-core",
            "consilience-num",
        ],
    ),
    (
        "consilience-model",
        &[
            "consilience-trust",
            "consilience-follow",
            "consilience-constrained",
            "consilience-completion",
            "consilience-metric",
            "consilience-generate",
            "consilience-core",
            "consilience-num",
        ],
    ),
    ("consilience-simplex", &["consilience-core", "consilience-num"]),
    (
        "consilience-follow",
        &[
            "consilience-simplex",
            "consilience-completion",
            "consilience-metric",
            "consilience-walk",
            "consilience-graph",
            "consilience-core",
            "consilience-num",
        ],
    ),
    ("consilience-metric", &["consilience-core", "consilience-num"]),
    ("consilience-constrained", &["consilience-metric", "consilience-core", "consilience-num"]),
    ("consilience-walk", &["consilience-graph", "consilience-core", "consilience-num"]),
    ("consilience-completion", &["consilience-graph", "consilience-core", "consilience-num"]),
    ("consilience-crowd", &["consilience-completion", "consilience-core", "consilience-num"]),
    ("consilience-io", &["consilience-core"]),
    ("consilience", &["*"]),
    ("consilience-conformance", &["consilience-core"]),
    ("consilience-cli", &["consilience"]),
    ("consilience-tests", &["*"]),
    ("consilience-tests-dense", &["consilience-core", "consilience-num"]),
];

/// The facade: the examples in the documentation of every crate are written for it.
const FACADE: &str = "consilience";

/// Crates that must compile and pass their tests without any other but the facade (for examples).
const LEAVES: [&str; 1] = ["consilience-core"];

/// The only foreign crates in the public interface.
const PUBLIC: [&str; 3] = ["ndarray", "rand", "sprs"];

/// The seal of `num::Float`: public for the compiler, in a private module, so that nobody can name
/// it.
const SEAL: &str = "pub trait Lanes:";

/// Dependencies that the table does not have, each as a sentence.
fn forbidden(packages: &[Package]) -> Vec<String> {
    let own = |name: &str| packages.iter().any(|p| p.name == name);
    let mut out = Vec::new();
    for package in packages {
        let name = package.name.as_str();
        let Some((_, allowed)) = ARROWS.iter().find(|(crate_name, _)| *crate_name == name) else {
            out.push(format!("{name} is not in the table of DESIGN.md"));
            continue;
        };
        for (other, kind) in package.dependencies.iter().filter(|(other, _)| own(other)) {
            let ok = if kind == "dev" {
                // Tests may look anywhere, but a leaf's only at itself.
                !LEAVES.contains(&name) || other == name || other == FACADE
            } else {
                allowed.contains(&other.as_str()) || (allowed.contains(&"*") && other != PROGRAM)
            };
            if !ok {
                out.push(format!("{name} -> {other} ({kind})"));
            }
        }
    }
    out
}

#[test]
fn no_arrow_beyond_the_picture() {
    let packages = packages();
    assert!(packages.len() >= 6, "cargo metadata lists {} packages", packages.len());
    assert_eq!(forbidden(&packages), Vec::<String>::new());
}

#[test]
fn a_wrong_arrow_would_be_seen() {
    let package = |name: &str, to: &str, kind: &str| Package {
        name: name.into(),
        folder: PathBuf::new(),
        dependencies: vec![(to.into(), kind.into()), ("ndarray".into(), "normal".into())],
        published: true,
        manifest: Default::default(),
    };
    let drawn = [
        package("consilience-num", "consilience-core", "normal"),
        package("consilience-core", "consilience-num", "dev"),
        package("consilience-core", "consilience-core", "dev"),
        package("consilience-generate", "consilience-graph", "normal"),
        package("consilience-graph", "consilience-walk", "dev"),
        package("consilience-walk", "consilience-graph", "normal"),
        package("consilience", "consilience-walk", "normal"),
        package("consilience-cli", "consilience-core", "normal"),
        package("consilience-shed", "consilience-core", "normal"),
    ];
    assert_eq!(
        forbidden(&drawn),
        [
            "consilience-core -> consilience-num (dev)",
            "consilience-generate -> consilience-graph (normal)",
            "consilience-cli -> consilience-core (normal)",
            "consilience-shed is not in the table of DESIGN.md",
        ]
    );
}

/// Words of a piece of source, with `::` left in them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).filter(|w| !w.is_empty())
}

/// Code without comments and without the tests at the end of the file.
fn code(source: &str) -> String {
    let body = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    // The name of a feature, which may be that of a crate, is no type.
    let told = body.lines().filter(|l| !l.trim_start().starts_with("#[cfg(feature"));
    told.map(|l| l.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Names that a file takes from one of the crates by `use`, up to the renamed ones.
fn imported<'a>(code: &'a str, crates: &[String]) -> Vec<&'a str> {
    code.split(';')
        .filter_map(|statement| statement.rsplit_once("use ").map(|(_, path)| path))
        .filter(|path| crates.iter().any(|c| path.starts_with(&format!("{c}::"))))
        .flat_map(|path| {
            words(path).flat_map(|w| w.rsplit("::")).filter(|w| !w.is_empty() && *w != "as")
        })
        .collect()
}

/// What every public item shows: signatures, fields, aliases, re-exports, enums and traits whole.
fn public(code: &str) -> Vec<&str> {
    let starts = code.match_indices("pub ").map(|(at, _)| at);
    let word = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    starts.filter(|&at| word(at)).map(|at| &code[at..at + shown(&code[at..])]).collect()
}

/// Where the shown part of a public item ends. A `<` that is no bracket makes it too long, never
/// too short.
fn shown(item: &str) -> usize {
    let is = |kinds: &[&str]| kinds.iter().any(|k| item["pub ".len()..].starts_with(k));
    let (whole, fields, value) =
        (is(&["enum ", "trait ", "use "]), is(&["struct "]), is(&["const ", "static "]));
    let (mut depth, mut before) = (0, ' ');
    for (at, c) in item.char_indices() {
        let ends = match c {
            // A struct's public fields are items of their own.
            '(' if depth == 0 && fields => true,
            '{' if depth == 0 && !whole => true,
            '=' if depth == 0 && value => true,
            ';' | ',' => depth == 0,
            '(' | '[' | '{' | '<' => {
                depth += 1;
                false
            }
            '>' if before == '-' || before == '=' => false,
            ')' | ']' | '}' | '>' => {
                depth -= 1;
                depth < 0 || (depth == 0 && whole && c == '}')
            }
            _ => false,
        };
        if ends {
            return at;
        }
        before = c;
    }
    item.len()
}

/// Public items of a source file that name something of these crates.
fn leaks(source: &str, crates: &[String]) -> Vec<String> {
    let code = code(source);
    let imported = imported(&code, crates);
    let foreign = |word: &str| {
        let first = word.split("::").next().unwrap_or_default();
        imported.contains(&first) || crates.iter().any(|c| c == first)
    };
    public(&code).into_iter().filter(|item| words(item).any(foreign)).map(str::to_string).collect()
}

/// Cheap, and it reads only text: it sees the types in public signatures, fields, aliases, traits
/// and re-exports (`unreachable_pub` makes sure that `pub` means public), not what a macro writes,
/// nor foreign traits implemented for our types.
#[test]
fn ndarray_and_sprs_are_the_only_foreign_crates_in_public() {
    let packages = packages();
    let own = |name: &str| packages.iter().any(|p| p.name == name);
    for package in packages.iter().filter(|p| p.published && p.name != PROGRAM) {
        let foreign: Vec<String> = package
            .dependencies
            .iter()
            .filter(|(name, kind)| {
                kind == "normal" && !PUBLIC.contains(&name.as_str()) && !own(name)
            })
            .map(|(name, _)| name.replace('-', "_"))
            .collect();
        let files = sources(&package.folder.join("src"));
        assert!(!files.is_empty());
        for file in files {
            let mut found = leaks(&std::fs::read_to_string(&file).unwrap(), &foreign);
            found.retain(|item| !item.starts_with(SEAL));
            assert!(found.is_empty(), "{}: {found:#?}", file.display());
        }
    }
}

#[test]
fn a_foreign_type_in_public_would_be_seen() {
    let source = "
        use faer::linalg::{Mat, solve};
        use rayon::prelude::*;
        use ndarray::Array2;
        /// Mat in a comment is fine.
        pub struct A { hidden: Mat, pub map: HashMap<u8, u8>, pub shown: Vec<Mat> }
        pub struct B(Mat, pub u8);
        pub const SHIFTED: usize = 1 << 16;
        pub fn fine(x: Array2<f64>) -> usize { Mat::zeros(x) }
        pub(crate) fn inside() -> Mat { todo!() }
        pub fn leak(
            x: Vec<u8>, y: &Mat,
        ) -> u8 { 0 }
        pub fn path() -> rayon::ThreadPool { todo!() }
        pub trait T { fn a(&self) { } fn b(&self) -> Mat; }
        pub enum E { F64(Array2<f64>), Own { of: Mat } }
        pub type Alias = Mat;
        pub use faer::sparse;
        #[cfg(test)]\nmod tests { pub fn leak() -> Mat { todo!() } }
    ";
    let crates = ["faer".to_string(), "rayon".to_string()];
    let found = leaks(&source.replace("\n        #[cfg(test)]", "\n#[cfg(test)]"), &crates);
    let said = [
        "pub shown",
        "pub fn leak",
        "pub fn path",
        "pub trait T",
        "pub enum E",
        "pub type Alias",
        "pub use faer",
    ];
    assert_eq!(found.len(), said.len(), "{found:#?}");
    for (found, said) in found.iter().zip(said) {
        assert!(found.starts_with(said), "{found}");
    }
}
