//! Pieces of HTML.

use std::fmt::Write;

use crate::escape::escape;

/// One cell of a table.
pub(super) enum Cell {
    /// A whole number.
    Count(u64),
    /// A number with that many digits, where it is known.
    Number(Option<f64>, usize),
    /// A text.
    Text(String),
}

impl Cell {
    pub(super) fn number(value: f64) -> Self {
        Cell::Number(Some(value), 3)
    }

    pub(super) fn maybe(value: Option<f64>) -> Self {
        Cell::Number(value, 3)
    }

    /// A number of something, or nothing.
    pub(super) fn count(value: Option<usize>) -> Self {
        value.map_or(Cell::Number(None, 0), |v| Cell::Count(v as u64))
    }

    fn html(&self) -> String {
        match self {
            Cell::Count(value) => {
                format!("<td data-value=\"{value}\">{}</td>", thousands(*value))
            }
            Cell::Number(Some(value), digits) if value.is_finite() => {
                format!("<td data-value=\"{value}\">{value:.digits$}</td>")
            }
            Cell::Number(..) => "<td data-value=\"\">\u{2013}</td>".to_owned(),
            // A sentence keeps room on a narrow screen, where the table is scrolled sideways.
            Cell::Text(text) if text.chars().count() > 40 => {
                format!("<td class=\"text long\">{}</td>", escape(text))
            }
            Cell::Text(text) => format!("<td class=\"text\">{}</td>", escape(text)),
        }
    }
}

/// A whole number with thin spaces between thousands.
pub(super) fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 4 {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// A share as percent.
pub(super) fn percent(share: f64) -> String {
    let value = 100.0 * share;
    if value > 0.0 && value < 0.1 { "under 0.1 %".to_owned() } else { format!("{value:.1} %") }
}

/// A page that grows.
#[derive(Default)]
pub(super) struct Page(pub(super) String);

impl Page {
    /// Markup as it is.
    pub(super) fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
        self.0.push('\n');
    }

    /// The beginning of a section with its heading.
    pub(super) fn section(&mut self, id: &str, heading: &str) {
        let _ = writeln!(
            self.0,
            "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>",
            escape(heading)
        );
    }

    pub(super) fn end_section(&mut self) {
        self.raw("</section>");
    }

    pub(super) fn heading(&mut self, text: &str) {
        let _ = writeln!(self.0, "<h3>{}</h3>", escape(text));
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.0, "<p>{}</p>", escape(text));
    }

    /// Sentences as a list.
    pub(super) fn list(&mut self, sentences: &[String]) {
        if sentences.is_empty() {
            return;
        }
        self.raw("<ul>");
        for sentence in sentences {
            let _ = writeln!(self.0, "<li>{}</li>", escape(sentence));
        }
        self.raw("</ul>");
    }

    /// A picture with its caption. On a narrow screen a large one is scrolled sideways, by keyboard
    /// too.
    pub(super) fn figure(&mut self, svg: &str, caption: &str, what: &str) {
        // Not narrower than its text can be read.
        let width: f64 = svg
            .split_once(" width=\"")
            .and_then(|(_, rest)| rest.split('"').next()?.parse().ok())
            .unwrap_or(0.0);
        let least = width.min(480.0);
        let _ = writeln!(
            self.0,
            "<figure><div class=\"wide\" style=\"--least: {least}px\" tabindex=\"0\" \
             role=\"group\" aria-label=\"{}\">{svg}</div>\n<figcaption>{}</figcaption></figure>",
            escape(what),
            escape(caption)
        );
    }

    /// A table that can be sorted by its headings.
    pub(super) fn table(&mut self, caption: &str, heads: &[&str], rows: &[Vec<Cell>]) {
        let what = caption.split('.').next().unwrap_or_default();
        let _ = writeln!(
            self.0,
            "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">\
             <table class=\"sortable\">\n<caption><span>{}</span></caption>\n<thead><tr>",
            escape(what),
            escape(caption)
        );
        for (column, head) in heads.iter().enumerate() {
            let text =
                rows.first().is_some_and(|row| matches!(row.get(column), Some(Cell::Text(_))));
            let class = if text { " class=\"text\"" } else { "" };
            let _ = write!(self.0, "<th scope=\"col\"{class}>{}</th>", escape(head));
        }
        self.raw("</tr></thead>\n<tbody>");
        for row in rows {
            self.0.push_str("<tr>");
            row.iter().for_each(|cell| self.0.push_str(&cell.html()));
            self.raw("</tr>");
        }
        self.raw("</tbody></table></div>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(thousands(9_999), "9999");
        assert_eq!(thousands(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(percent(0.0001), "under 0.1 %");
    }
}
