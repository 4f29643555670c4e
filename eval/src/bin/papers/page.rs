//! The page: its head, and its sections, each of which can be written anew alone.

/// What stands before the first section.
pub(crate) const HEAD: &str = "\
# What reproduces, and what does not

Which published tables does the library reproduce, which not, and why? For readers who compare with
the papers: their tables and figures run again, with the figure of the paper beside ours; the last
section sums up. Written by

```console
cargo run --release --manifest-path eval/Cargo.toml --bin papers -- docs/reproduction.md
```

or one section of it, with so many seeds or draws:
`... --bin papers -- docs/reproduction.md --only pcc 10`.

A cell is *paper / ours*, and the difference behind it where it is .02 or more. The papers' draws
are not known: ours are drawn from a seed, so means over draws differ by chance; ± is twice the
standard error of ours. Sets are those at hand; where a copy differs from the paper's, the section
says so. NMI is by the larger entropy on the pools of Huang, Lai, Wang 2016, and by the arithmetic
mean of the entropies in all other sections. The thesis is Yi 2014.

";

/// The page with one section in the place of the one of the same heading line, or before `last`
/// where there is none. A section goes from its heading `## ...` to the next, a table of a section
/// from `### ...` to the next of either.
pub(crate) fn with_section(page: &str, heading: &str, section: &str, last: &str) -> String {
    let start = |heading: &str| {
        let line = format!("{heading}\n");
        if page.starts_with(&line) {
            Some(0)
        } else {
            page.find(&format!("\n{line}")).map(|at| at + 1)
        }
    };
    match start(heading) {
        Some(from) => {
            let mut to = page.len();
            for end in
                if heading.starts_with("###") { vec!["\n## ", "\n### "] } else { vec!["\n## "] }
            {
                to = page[from + 3..].find(end).map_or(to, |at| to.min(from + 3 + at + 1));
            }
            [&page[..from], section, &page[to..]].concat()
        }
        None => {
            let at = start(last).unwrap_or(page.len());
            [&page[..at], section, &page[at..]].concat()
        }
    }
}

#[test]
fn sections_are_replaced_alone() {
    let page = "# Page\n\n## One\n\nold\n\n### Part\n\n## Two\n\nkept\n";
    let new = with_section(page, "## One", "## One\n\nnew\n\n", "## Two");
    assert_eq!(new, "# Page\n\n## One\n\nnew\n\n## Two\n\nkept\n");
    let more = with_section(&new, "## Three", "## Three\n\n", "## Two");
    assert_eq!(more, "# Page\n\n## One\n\nnew\n\n## Three\n\n## Two\n\nkept\n");
    assert_eq!(with_section(page, "## Two", "## Two\n", "## Two"), page.replace("\nkept\n", ""));
    let table = with_section(page, "### Part", "### Part\n\nrows\n\n", "## Two");
    assert_eq!(table, page.replace("### Part\n\n", "### Part\n\nrows\n\n"));
}
