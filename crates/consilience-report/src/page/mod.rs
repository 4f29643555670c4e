//! The page of some findings: HTML with everything inside.

mod markup;
mod sections;

use crate::Findings;
use crate::escape::{escape, in_script};
use markup::Page;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The sections, by their ids.
const SECTIONS: [(&str, &str); 6] = [
    ("answer", "The answer"),
    ("number", "How many clusters"),
    ("methods", "Which method"),
    ("members", "The base clusterings"),
    ("clusters", "Clusters and objects"),
    ("reproduce", "How to repeat this"),
];

/// The whole page.
pub(crate) fn html(findings: &Findings) -> String {
    let mut page = Page::default();
    let title = escape(&findings.title);
    page.raw("<!DOCTYPE html>");
    page.raw("<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    // Nothing from elsewhere, whatever a name may hold.
    page.raw(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">",
    );
    page.raw(&format!("<meta name=\"generator\" content=\"consilience {}\">", findings.version));
    page.raw("<link rel=\"icon\" href=\"data:,\">");
    page.raw(&format!("<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>"));
    page.raw("<a class=\"skip\" href=\"#answer\">To the answer</a>");
    page.raw(&format!("<header>\n<h1>{title}</h1>"));
    page.raw(&format!("<p class=\"soft\">{}</p>", escape(&sections::what(findings))));
    page.raw("<nav aria-label=\"Sections\"><ul>");
    for (id, name) in SECTIONS {
        page.raw(&format!("<li><a href=\"#{id}\">{name}</a></li>"));
    }
    page.raw("</ul></nav>\n</header>\n<main>");
    sections::answer(&mut page, findings);
    sections::number(&mut page, findings);
    sections::methods(&mut page, findings);
    sections::members(&mut page, findings);
    sections::clusters(&mut page, findings);
    sections::reproduce(&mut page, findings);
    page.raw("</main>");
    page.raw(&format!("<footer><p>Made by consilience {}.</p></footer>", findings.version));
    let numbers = in_script(&findings.json());
    page.raw(&format!("<script type=\"application/json\" id=\"findings\">{numbers}</script>"));
    page.raw(&format!("<script>\n{SCRIPT}</script>\n</body>\n</html>"));
    page.0
}

/// The number and name of a section.
fn heading(id: &str) -> &'static str {
    SECTIONS.iter().find(|s| s.0 == id).map_or("", |s| s.1)
}
