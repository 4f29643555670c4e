//! What a cell of text says as a label.

use std::fmt::{Display, Write};

use crate::fault::{excerpt, malformed};
use crate::table::Cell;

/// A label as a file holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label<'a> {
    /// Unlabelled.
    None,
    /// Unlabelled, by a word such as `NA` that could also have been meant as a name.
    Word,
    /// A whole number.
    Number(u64),
    /// A name.
    Text(&'a str),
}

impl From<Option<u64>> for Label<'_> {
    fn from(key: Option<u64>) -> Self {
        key.map_or(Label::None, Label::Number)
    }
}

/// The words by which statistical programs write that there is no value.
pub(crate) const NO_VALUE: [&str; 7] = ["NA", "N/A", "<NA>", "#N/A", "null", "NULL", "?"];

pub(crate) fn says_nothing(text: &str) -> bool {
    NO_VALUE.contains(&text)
}

/// Whole numbers below are floats of double precision, each of its own.
pub(crate) const EXACT: f64 = 9_007_199_254_740_992.0;

pub(crate) fn number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Whether a text is a number but for a comma in place of the decimal point, or groups of
/// thousands.
pub(crate) fn has_decimal_comma(text: &str) -> bool {
    let says = |text: &str| number(text.as_bytes()).is_some();
    let text = text.trim();
    text.contains(',')
        && (says(&text.replacen(',', ".", 1))
            || ungrouped(text, ',').is_some_and(|text| says(&text))
            || ungrouped(text, '.').is_some_and(|text| says(&text.replacen(',', ".", 1))))
}

/// A number without what stands between its groups of three digits; `None` for other groups.
fn ungrouped(text: &str, between: char) -> Option<String> {
    let end = text.find(if between == ',' { '.' } else { ',' }).unwrap_or(text.len());
    let (whole, rest) = text.split_at(end);
    let mut groups = whole.split(between);
    let first = groups.next()?.trim_start_matches(['-', '+']);
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let fits = (1..=3).contains(&first.len())
        && digits(first)
        && groups.all(|group| group.len() == 3 && digits(group));
    fits.then(|| whole.replace(between, "") + rest)
}

/// Whether more than half of some texts say numbers.
pub(crate) fn mostly_numbers<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let counts = texts.fold((0usize, 0usize), |(all, numbers), text| {
        let is_one = number(text.trim().as_bytes()).is_some() || has_decimal_comma(text);
        (all + 1, numbers + usize::from(is_one))
    });
    2 * counts.1 > counts.0
}

/// Whether a cell holds a name, for those who tell headers from data.
pub(crate) fn is_text(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    !cell.is_empty() && number(cell).is_none()
}

/// A label from a cell without white space around it.
pub(crate) fn label(text: &[u8]) -> Result<Label<'_>, String> {
    if text.is_empty() {
        return Ok(Label::None);
    }
    // Short plain digits are nearly all there is.
    if text.len() < 19 && text.iter().all(u8::is_ascii_digit) {
        let key = text.iter().fold(0, |sum, d| sum * 10 + u64::from(d - b'0'));
        return Ok(Label::Number(key));
    }
    let Ok(text) = std::str::from_utf8(text) else {
        let lossy = excerpt(&String::from_utf8_lossy(text));
        return Err(format!("{lossy:?} is no label; expected text in UTF-8"));
    };
    if let Ok(whole) = text.parse::<i128>() {
        return match u64::try_from(whole) {
            Ok(key) => Ok(Label::Number(key)),
            Err(_) if whole < 0 => Ok(Label::None),
            Err(_) => Err(format!("label {whole} is too large; expected less than 2^64")),
        };
    }
    match text.parse::<f64>() {
        Ok(float) => float.label().map(Label::from),
        Err(_) if says_nothing(text) => Ok(Label::Word),
        Err(_) => Ok(Label::Text(text)),
    }
}

/// A category from a cell without white space around it: every text is one, and negative numbers
/// are too.
pub(crate) fn category(text: &[u8]) -> Result<Label<'_>, String> {
    match label(text) {
        Ok(Label::None) | Err(_)
            if !text.is_empty() && number(text).is_none_or(|x| !x.is_nan()) =>
        {
            let text = std::str::from_utf8(text);
            text.map(Label::Text).map_err(|_| "no UTF-8; expected a category".to_owned())
        }
        _ if text == b"?" => Ok(Label::None),
        other => other,
    }
}

/// What a text says as a label; for programs that read text by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum TextLabel<'a> {
    /// Unlabelled.
    None,
    /// A whole number.
    Number(u64),
    /// A name.
    Name(&'a str),
}

/// What a text says as a label, as in every file that is read.
#[doc(hidden)]
pub fn text_label(text: &str) -> consilience_core::Result<TextLabel<'_>> {
    match label(text.trim_ascii().as_bytes()) {
        Ok(Label::None | Label::Word) => Ok(TextLabel::None),
        Ok(Label::Number(key)) => Ok(TextLabel::Number(key)),
        Ok(Label::Text(name)) => Ok(TextLabel::Name(name)),
        Err(what) => Err(malformed(what)),
    }
}

/// A category from a number, the same as from its digits; `text` is where these are put.
pub(crate) fn number_category(x: impl Display, text: &mut String) -> Result<Label<'_>, String> {
    text.clear();
    // Writing to a string does not fail.
    let _ = write!(text, "{x}");
    category(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them_are_told() {
        for text in ["1,5", "-1,5", "1.234,5", "1,234,567", "-12,345.6", "1.234.567,0", " 3,5e2 "] {
            assert!(has_decimal_comma(text), "{text}");
        }
        for text in ["1.5", "a,b", "1,2,3", "12,34,567.8", "1.23,4.5", ",", "1.2.3", "p1,5"] {
            assert!(!has_decimal_comma(text), "{text}");
        }
    }

    #[test]
    fn labels_in_text() {
        assert_eq!(label(b"1099511627776"), Ok(Label::Number(1 << 40)));
        assert_eq!(label(b"18446744073709551615"), Ok(Label::Number(u64::MAX)));
        assert_eq!(label(b"3.0"), Ok(Label::Number(3)));
        assert_eq!(label(b"-2"), Ok(Label::None));
        assert_eq!(label(b"nan"), Ok(Label::None));
        assert_eq!(label(b"NA"), Ok(Label::Word));
        assert_eq!(label(b"na"), Ok(Label::Text("na")));
        assert_eq!(label("Träger 3".as_bytes()), Ok(Label::Text("Träger 3")));
        assert!(label(b"3.5").is_err());
        assert!(label(b"inf").is_err());
        assert!(label(b"\xe4").is_err());
        assert!(label(b"18446744073709551616").is_err());
        assert_eq!(category(b"-1"), Ok(Label::Text("-1")));
        assert_eq!(category(b"0.5"), Ok(Label::Text("0.5")));
        assert_eq!(category(b"red"), Ok(Label::Text("red")));
        let mut text = String::new();
        assert_eq!(number_category(-1, &mut text), Ok(Label::Text("-1")));
        assert_eq!(number_category(3.0, &mut text), Ok(Label::Number(3)));
        assert_eq!(number_category(0.5, &mut text), Ok(Label::Text("0.5")));
        assert_eq!(number_category(f64::NAN, &mut text), Ok(Label::None));
        for nothing in ["", "nan", "?"] {
            assert_eq!(category(nothing.as_bytes()), Ok(Label::None), "{nothing}");
        }
    }
}
