//! Pages: sections of theirs can be written anew alone.

use std::ops::Range;

/// Where the section with this heading line stands. A section goes from its heading `## ...` to the
/// next, a table of a section from `### ...` to the next of either.
pub(crate) fn place(page: &str, heading: &str) -> Option<Range<usize>> {
    let line = format!("{heading}\n");
    let from = if page.starts_with(&line) { 0 } else { page.find(&format!("\n{line}"))? + 1 };
    let ends = if heading.starts_with("###") { vec!["\n## ", "\n### "] } else { vec!["\n## "] };
    let next = ends.iter().filter_map(|end| page[from + 3..].find(end));
    let to = next.min().map_or(page.len(), |at| from + 3 + at + 1);
    Some(from..to)
}

#[test]
fn sections_are_found_alone() {
    let page = "# Page\n\n## One\n\nold\n\n### Part\n\n## Two\n\nkept\n";
    let found = |heading: &str| place(page, heading).map(|at| &page[at]);
    assert_eq!(found("## One"), Some("## One\n\nold\n\n### Part\n\n"));
    assert_eq!(found("### Part"), Some("### Part\n\n"));
    assert_eq!(found("## Two"), Some("## Two\n\nkept\n"));
    assert_eq!(found("## Three"), None);
}
