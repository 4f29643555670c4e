//! What keeps columns of features from being numbers: text and holes, told all at once.

use consilience_core::{Error, ErrorKind, Result};

use crate::fault::{excerpt, first, malformed};
use crate::label::has_decimal_comma;

/// How many columns a message names.
const SHOWN: usize = 20;

/// The defects of the columns of numbers of a table.
pub(crate) struct Defects {
    columns: Vec<Defect>,
}

#[derive(Clone, Default)]
struct Defect {
    /// Cells without a value, and where the first is.
    missing: usize,
    first_missing: String,
    /// Cells of text, where the first is, and what it says.
    text: usize,
    first_text: (String, String),
}

impl Defects {
    /// None yet, of so many columns.
    pub(crate) fn new(columns: usize) -> Self {
        Defects { columns: vec![Defect::default(); columns] }
    }

    /// A cell without a value.
    pub(crate) fn missing(&mut self, column: usize, place: impl FnOnce() -> String) {
        let defect = &mut self.columns[column];
        if defect.missing == 0 {
            defect.first_missing = place();
        }
        defect.missing += 1;
    }

    /// A cell of text.
    pub(crate) fn text(&mut self, column: usize, text: &str, place: impl FnOnce() -> String) {
        let defect = &mut self.columns[column];
        if defect.text == 0 {
            defect.first_text = (place(), excerpt(text));
        }
        defect.text += 1;
    }

    /// The text that another has of one of its columns.
    pub(crate) fn take(&mut self, column: usize, other: &Defects, from: usize) {
        let (own, other) = (&mut self.columns[column], &other.columns[from]);
        (own.text, own.first_text) = (other.text, other.first_text.clone());
    }

    /// Whether no cell of a column is text.
    pub(crate) fn is_number(&self, column: usize) -> bool {
        self.columns[column].text == 0
    }

    /// Refuses text and, unless they may be there, holes. `describe` says what a column is called.
    pub(crate) fn check(&self, may_miss: bool, describe: impl Fn(usize) -> String) -> Result<()> {
        let of = |count: fn(&Defect) -> usize| -> Vec<usize> {
            (0..self.columns.len()).filter(|&c| count(&self.columns[c]) > 0).collect()
        };
        let textual = of(|defect| defect.text);
        if let [only] = textual[..]
            && self.columns[only].text == 1
        {
            let (place, text) = &self.columns[only].first_text;
            let column = describe(only);
            let hint = decimal_comma(text);
            return Err(malformed(format!("{place}, {column}: {text:?}; expected a number{hint}")));
        }
        if !textual.is_empty() {
            let columns = listed(&textual, |c| {
                let (place, text) = &self.columns[c].first_text;
                format!("{} ({text:?} in {place})", describe(c))
            });
            let what = match textual.len() {
                1 => "1 column is not numeric".into(),
                many => format!("{many} columns are not numeric"),
            };
            let hints = textual.iter().map(|&c| decimal_comma(&self.columns[c].first_text.1));
            let hint = hints.max().unwrap_or_default();
            return Err(malformed(format!(
                "{what}: {columns}; expected numbers, or columns that are given as {WAYS}{hint}"
            )));
        }
        let holes = of(|defect| defect.missing);
        if may_miss || holes.is_empty() {
            return Ok(());
        }
        let columns = listed(&holes, |c| {
            let defect = &self.columns[c];
            format!("{} in {} (the first in {})", defect.missing, describe(c), defect.first_missing)
        });
        let message = format!("missing values: {columns}; expected {NUMBERS}");
        Err(Error::new(ErrorKind::NonFinite, message))
    }
}

/// What to do with columns that are no numbers. The program says the same in its own words.
pub(crate) const WAYS: &str = "id, categorical or dropped";
/// What to do with holes.
pub(crate) const NUMBERS: &str = "a number in every row, or a way to fill the holes";

/// What to say of a number with a decimal comma.
fn decimal_comma(text: &str) -> &'static str {
    match has_decimal_comma(text) {
        true => {
            "; numbers are written as 1.5 and 1234, not with a decimal comma or one of thousands"
        }
        false => "",
    }
}

fn listed(columns: &[usize], describe: impl Fn(usize) -> String) -> String {
    first(SHOWN, columns.iter().map(|&c| describe(c)), columns.len(), "columns more")
}

#[cfg(test)]
mod tests {
    use crate::{Format, Input};

    #[test]
    fn decimal_commas_are_told() {
        let said = |text: &str| {
            let input = Input::in_memory(text.as_bytes(), Format::Csv);
            input.features(&()).unwrap_err().message().to_owned()
        };
        assert!(said("a;b\n1,5;2\n2,5;3\n").contains("not with a decimal comma"));
        assert!(said("a;b\n1,5;2\n2;3\n").contains("not with a decimal comma"));
        assert!(!said("a;b\nx;2\ny;3\nx;4\n").contains("decimal"));
        assert!(!said("a;b\nx,y;2\ny;3\ny;4\n").contains("decimal"));
    }
}
