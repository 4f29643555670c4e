//! Text of users inside markup.

/// The text with every character replaced that means something in HTML or SVG, inside tags and
/// between them; control characters, which no markup may hold, become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// JSON as the text of a `<script>` element, where only `<` could end it or open a comment: in
/// JSON it occurs inside strings alone, where it may be written by its number.
pub(crate) fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_markup_is_left() {
        assert_eq!(escape("<a href='x'>\"&\u{0}"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp; ");
        assert_eq!(in_script("\"</script><!--\""), "\"\\u003c/script>\\u003c!--\"");
    }
}
