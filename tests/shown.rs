//! Every public item is shown in use: by an example of its own, by one on the page of its module,
//! or by a link to an item that has one.

use std::collections::HashSet;

use workspace::{PROGRAM, packages, sources};

mod workspace;

/// Packages whose items are for those who test, or may change in any version.
const APART: [&str; 3] = [PROGRAM, "consilience-conformance", "consilience-num"];

/// What so many items speak of that a link to it shows nothing.
const EVERYWHERE: [&str; 8] =
    ["Error", "ErrorKind", "Result", "Observer", "Partition", "Ensemble", "Memberships", "Seed"];

/// A public struct, enum, trait, free function or macro.
#[derive(Debug, PartialEq)]
struct Item {
    name: String,
    /// Whether its documentation, or that of its module, has an example.
    example: bool,
    /// What its documentation links to before the first heading.
    links: Vec<String>,
}

/// Lines of documentation without their slashes: examples, and the sentences before any heading.
fn split<'a>(doc: impl Iterator<Item = &'a str>) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut examples, mut sentences) = (Vec::new(), Vec::new());
    // The language of the block that a line is in.
    let mut block: Option<&str> = None;
    let mut heading = false;
    for line in doc.map(str::trim) {
        match (line.strip_prefix("```"), block) {
            (Some(language), None) => block = Some(language),
            (Some(_), Some(_)) => block = None,
            (None, Some("text" | "toml" | "console")) => {}
            (None, Some(_)) => examples.push(line),
            (None, None) => {
                heading |= line.starts_with("# ");
                if !heading {
                    sentences.push(line);
                }
            }
        }
    }
    (examples, sentences)
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty())
}

/// The names in links such as ``[`Pcc::solver`]`` and ``[walk](crate::Walk)``.
fn links(sentence: &str) -> Vec<String> {
    let mut out = Vec::new();
    for part in sentence.split('[').skip(1) {
        let (label, rest) = part.split_once(']').unwrap_or((part, ""));
        let target = rest.strip_prefix('(').and_then(|r| r.split_once(')')).map(|(t, _)| t);
        if target.is_some() || label.starts_with('`') {
            out.extend(words(target.unwrap_or(label)).map(String::from));
        }
    }
    out
}

/// The name that a line without indentation declares for everybody.
fn declared<'a>(line: &'a str, attributes: &[&str]) -> Option<&'a str> {
    if attributes.iter().any(|a| a.contains("doc(hidden)")) {
        return None;
    }
    let exported = attributes.iter().any(|a| a.contains("macro_export"));
    let rest = match line.strip_prefix("macro_rules! ") {
        Some(rest) if exported => rest,
        Some(_) => return None,
        None => {
            let rest = line.strip_prefix("pub ")?;
            let rest = rest.strip_prefix("const fn ").or_else(|| {
                let kinds = ["struct ", "enum ", "trait ", "fn "];
                kinds.iter().find_map(|kind| rest.strip_prefix(kind))
            });
            rest?
        }
    };
    words(rest).next()
}

/// The public items of a source file.
fn items(source: &str) -> Vec<Item> {
    let page = source.lines().filter_map(|l| l.strip_prefix("//!"));
    let page: HashSet<&str> = split(page).0.into_iter().flat_map(words).collect();
    let mut out = Vec::new();
    // Documentation and attributes above the line.
    let mut above: Vec<&str> = Vec::new();
    for line in source.lines() {
        let attribute = !above.is_empty() && (line.starts_with("    ") || line.starts_with(")]"));
        if line.starts_with("///") || line.starts_with("#[") || attribute {
            above.push(line);
            continue;
        }
        if let Some(name) = declared(line, &above) {
            let doc = above.iter().filter_map(|l| l.strip_prefix("///"));
            let (examples, sentences) = split(doc);
            out.push(Item {
                name: name.to_string(),
                example: !examples.is_empty() || page.contains(name),
                links: links(&sentences.join(" ")),
            });
        }
        above.clear();
    }
    out
}

/// Names of the items that nothing shows in use.
fn unshown(items: &[Item]) -> Vec<&str> {
    let with: HashSet<&str> = items.iter().filter(|i| i.example).map(|i| i.name.as_str()).collect();
    let shows = |link: &String| {
        let link = link.as_str();
        with.contains(link) && !EVERYWHERE.contains(&link)
    };
    let shown = |item: &&Item| item.example || item.links.iter().any(shows);
    items.iter().filter(|i| !shown(i)).map(|i| i.name.as_str()).collect()
}

#[test]
fn every_public_item_is_shown_in_use() {
    let mut found = Vec::new();
    for package in packages().iter().filter(|p| p.published && !APART.contains(&p.name.as_str())) {
        for file in sources(&package.folder.join("src")) {
            found.extend(items(&std::fs::read_to_string(file).unwrap()));
        }
    }
    assert!(found.len() > 200, "only {} items were found", found.len());
    let unshown = unshown(&found);
    assert!(
        unshown.is_empty(),
        "{} of {} items have no example, nor a link to an item that has one: {}",
        unshown.len(),
        found.len(),
        unshown.join(", ")
    );
}

#[test]
fn an_item_without_an_example_would_be_seen() {
    let source = "
//! ```
//! let page = OnThePage;
//! ```
/// Shown.
///
/// ```
/// assert!(true);
/// ```
#[derive(
    Debug,
)]
pub struct Shown;
/// A formula is no example.
///
/// ```text
/// a = b
/// ```
pub fn formula(x: u8) {}
/// Part of [`Shown::all`].
pub enum Linked {}
/// As a [list](crate::Shown) has it.
pub trait Named {}
/// Nothing.
///
/// # Errors
/// As [`Shown`] says.
pub struct Late;
pub struct OnThePage;
/// From an [`Ensemble`].
pub const fn everywhere() {}
#[doc(hidden)]
pub fn hidden() {}
#[macro_export]
macro_rules! bare {
}
macro_rules! own {
}
pub(crate) fn inside() {}
    /// A method.
    pub fn method(&self) {}
/// The members.
///
/// ```
/// let ensemble = 1;
/// ```
pub struct Ensemble;
";
    let found = items(source);
    assert_eq!(found.len(), 9);
    assert_eq!(unshown(&found), ["formula", "Late", "everywhere", "bare"]);
}
