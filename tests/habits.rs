//! Habits of the source files: how long and how wide they may grow, how long their functions, and
//! what the documentation of a setter says.

use std::path::{Path, PathBuf};

use workspace::{PROGRAM, packages, root, sources};

mod workspace;

const MOST_LINES: usize = 800;
const MOST_COLUMNS: usize = 100;
const MOST_LINES_OF_FUNCTION: usize = 60;

/// Methods `pub fn name(mut self, ..)` that set nothing with a default.
const NO_SETTERS: [&str; 3] = ["sorted_members", "map_heights", "commit"];

fn all() -> Vec<PathBuf> {
    let folders = ["crates", "tests", "benches", "eval", "engine"];
    let files: Vec<PathBuf> = folders.iter().flat_map(|f| sources(&root().join(f))).collect();
    assert!(files.len() > 50);
    files
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn no_file_is_too_long() {
    for file in all() {
        let lines = read(&file).lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines; at most {MOST_LINES}", file.display());
    }
}

/// The lines of a source that are too wide, by number from 1.
fn wide(source: &str) -> Vec<usize> {
    let mut fenced = false;
    let mut out = Vec::new();
    for (i, line) in source.lines().enumerate() {
        let text = line.trim_start();
        let comment = text.strip_prefix("///").or_else(|| text.strip_prefix("//!"));
        // Rows of tables, formulas and examples in documentation cannot be broken.
        let whole = comment.is_some_and(|c| fenced || c.trim_start().starts_with('|'));
        fenced = match comment {
            Some(c) if c.trim_start().starts_with("```") => !fenced,
            Some(_) => fenced,
            None => false,
        };
        if line.chars().count() > MOST_COLUMNS && !whole {
            out.push(i + 1);
        }
    }
    out
}

/// rustfmt leaves comments and string literals as wide as they are.
#[test]
fn no_line_is_too_wide() {
    let places = |file: PathBuf| {
        wide(&read(&file)).into_iter().map(move |line| format!("{}:{line}", file.display()))
    };
    let found: Vec<String> = all().into_iter().flat_map(places).collect();
    assert!(found.is_empty(), "beyond {MOST_COLUMNS} columns:\n{}", found.join("\n"));
}

#[test]
fn a_wide_line_would_be_seen() {
    let source = format!("{}\n{}\n// short", "é".repeat(100), "é".repeat(101));
    assert_eq!(wide(&source), [2]);
}

/// Setters of a source whose documentation does not say "Default".
fn silent_setters(source: &str) -> Vec<String> {
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("pub fn ") else { continue };
        // rustfmt breaks the arguments of a long one.
        let first = rest.split_once('(').map(|(_, a)| a.trim()).unwrap_or_default();
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let first = if first.is_empty() { next } else { first };
        if !first.starts_with("mut self") {
            continue;
        }
        let name = rest.split(['(', '<']).next().unwrap_or_default();
        let above = lines[..at].iter().rev();
        let mut doc = above.take_while(|l| l.starts_with("///") || l.starts_with("#["));
        if !doc.any(|l| l.starts_with("///") && l.contains("Default")) {
            out.push(name.to_string());
        }
    }
    out.retain(|name| !NO_SETTERS.contains(&name.as_str()));
    out
}

#[test]
fn setters_tell_their_default() {
    let mut found = Vec::new();
    for package in packages().iter().filter(|p| p.published && p.name != PROGRAM) {
        for file in sources(&package.folder.join("src")) {
            let silent = silent_setters(&read(&file));
            found.extend(silent.iter().map(|name| format!("{}: {name}", file.display())));
        }
    }
    assert!(found.is_empty(), "setters that do not tell their default:\n{}", found.join("\n"));
}

#[test]
fn a_silent_setter_would_be_seen() {
    let source = "
        /// Iterations. Default 10; at least 1.
        #[must_use]
        pub fn told(mut self, n: usize) -> Self { self }
        /// Iterations. Default elsewhere.

        /// Iterations.
        pub fn silent(mut self, n: usize) -> Self { self }
        pub fn bare<T>(
            mut self,
            of: T,
        ) -> Self { self }
        /// No setter.
        pub fn other(self) -> Self { self }
        setters! {
            /// Seed. Default 0.
            pub fn seed(mut self, seed: Seed) { self.seed = seed }

            /// Seed of the rest.
            pub fn short(mut self, seed: Seed) { self.rest = seed }
        }
    ";
    assert_eq!(silent_setters(source), ["silent", "bare", "short"]);
}

/// Phrases that tell which values a number may have.
const RANGES: [&str; 10] = [
    " to ",
    "at least",
    "at most",
    "between",
    "above",
    "below",
    "or more",
    "any number",
    "..",
    " <",
];

/// Setters of a source that take a number and whose documentation does not tell, after the default,
/// which values it may have.
fn boundless_setters(source: &str) -> Vec<String> {
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("pub fn ") else { continue };
        let signature = lines[at..].iter().take(6).copied().collect::<Vec<_>>().join(" ");
        let signature = signature.split('{').next().unwrap_or_default();
        let arguments = signature.split_once('(').map(|(_, a)| a.trim_start()).unwrap_or_default();
        let number = [": usize", ": u64", ": f64", ": RangeInclusive<usize>"];
        if !arguments.starts_with("mut self") || !number.iter().any(|n| arguments.contains(n)) {
            continue;
        }
        let above = lines[..at].iter().rev();
        let doc = above.take_while(|l| l.starts_with("///") || l.starts_with("#["));
        let doc: Vec<&str> = doc.filter_map(|l| l.strip_prefix("///")).collect();
        let doc = doc.into_iter().rev().collect::<Vec<_>>().join(" ");
        let doc = doc.split_whitespace().collect::<Vec<_>>().join(" ");
        let told = doc.split_once("Default").map(|(_, after)| after).unwrap_or_default();
        if !RANGES.iter().any(|phrase| told.contains(phrase)) {
            out.push(rest.split(['(', '<']).next().unwrap_or_default().to_string());
        }
    }
    out.retain(|name| !NO_SETTERS.contains(&name.as_str()));
    out
}

#[test]
fn setters_of_numbers_tell_their_range() {
    let mut found = Vec::new();
    for package in packages().iter().filter(|p| p.published && p.name != PROGRAM) {
        for file in sources(&package.folder.join("src")) {
            let boundless = boundless_setters(&read(&file));
            found.extend(boundless.iter().map(|name| format!("{}: {name}", file.display())));
        }
    }
    assert!(found.is_empty(), "setters that do not tell their range:\n{}", found.join("\n"));
}

#[test]
fn a_boundless_setter_would_be_seen() {
    let source = "
        setters! {
            /// Iterations, at least some. Default 10; at least 1.
            #[doc(alias = \"max_iter\")]
            pub fn told(mut self, n: usize) { self.n = n }

            /// Iterations, at least one. Default 10.
            pub fn silent(mut self, n: usize) { self.n = n }

            /// The two ends. Default
            /// 1 and 2; `near < far`.
            pub fn ends(mut self, near: f64, far: f64) { self.ends = (near, far) }
        }
        /// Sizes. Default all.
        pub fn broken(
            mut self,
            sizes: RangeInclusive<usize>,
        ) -> Self { self }
        /// No number. Default no.
        pub fn word(mut self, word: bool) -> Self { self }
    ";
    assert_eq!(boundless_setters(source), ["silent", "broken"]);
}

/// Functions of a source with more lines than allowed, by name. Tests may list as many cases as
/// they like.
fn long_functions(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines: Vec<&str> = code.lines().collect();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let (margin, text) = line.split_at(line.len() - line.trim_start().len());
        let Some((before, after)) = text.split_once("fn ") else { continue };
        let word = |w: &str| ["pub", "const", "async"].contains(&w) || w.starts_with("pub(");
        if !before.split_whitespace().all(word) {
            continue;
        }
        // rustfmt puts what closes the function, or its bare signature, at its margin.
        let ends = |l: &str| {
            let inner = l.strip_prefix(margin).filter(|l| !l.starts_with(' '));
            inner.is_some_and(|l| l.ends_with('}') || l.ends_with(';'))
        };
        let length = 1 + lines[at..].iter().position(|l| ends(l)).unwrap_or(0);
        if length > MOST_LINES_OF_FUNCTION {
            let name = after.split(['(', '<']).next().unwrap_or_default();
            out.push(format!("{name} ({length} lines)"));
        }
    }
    out
}

#[test]
fn no_function_is_too_long() {
    let mut found = Vec::new();
    for file in sources(&root().join("crates")) {
        let tests = file.iter().any(|part| part.to_str().is_some_and(|p| p.contains("tests")));
        if !tests && file.iter().any(|part| part == "src") {
            let long = long_functions(&read(&file));
            found.extend(long.iter().map(|name| format!("{}: {name}", file.display())));
        }
    }
    assert!(found.is_empty(), "beyond {MOST_LINES_OF_FUNCTION} lines:\n{}", found.join("\n"));
}

#[test]
fn a_long_function_would_be_seen() {
    let body = |lines: usize| "        work();\n".repeat(lines);
    let source = format!(
        "impl A {{\n    fn short(&self) {{\n{}    }}\n\n    pub(crate) const fn long<T>(\n        \
         x: T,\n    ) {{\n{}    }}\n\n    fn bare(&self);\n}}\n#[cfg(test)]\nmod tests {{\n    fn \
         case() {{\n{}    }}\n}}\n",
        body(58),
        body(57),
        body(99),
    );
    assert_eq!(long_functions(&source), ["long (61 lines)"]);
}
