use std::fmt;

/// The result of every fallible call in consilience.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of thing went wrong; the [`Error`] itself says what, where and what was expected.
///
/// ```
/// use consilience::{Error, ErrorKind, Partition};
///
/// /// What a program may do about an error.
/// fn advice(error: &Error) -> &'static str {
///     match error.kind() {
///         ErrorKind::ShapeMismatch => "are the tables about the same objects?",
///         ErrorKind::TooLarge => "take a method without a matrix, or a larger memory budget",
///         _ => "",
///     }
/// }
///
/// let error = consilience::Ensemble::new(vec![
///     Partition::from_labels(&[0, 1])?,
///     Partition::from_labels(&[0, 1, 1])?,
/// ]).unwrap_err();
/// println!("{error}; {}", advice(&error));
/// assert_eq!(error.kind(), ErrorKind::ShapeMismatch);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No objects, no features, no base clusterings: there is nothing to work on.
    Empty,
    /// A NaN or an infinity where a finite number is needed.
    NonFinite,
    /// A parameter outside its range, for instance `k = 0` or `k > n`.
    InvalidParameter,
    /// Two inputs that belong together differ in length.
    ShapeMismatch,
    /// An object, member or cluster number that does not exist.
    OutOfRange,
    /// Constraints that no clustering can satisfy.
    Contradiction,
    /// The result would need more memory than the budget, or a count would overflow.
    TooLarge,
    /// Stored bytes that are not what they claim to be.
    Corrupt,
    /// A file that cannot be opened, read or written.
    Io,
    /// Contents of a file that are not of the form expected there.
    Format,
    /// The observer asked to stop.
    Cancelled,
}

/// An error with a [kind](ErrorKind) and a message that holds the offending values and their place.
///
/// A number that would be written with very many digits is in the form 1e308 in the message,
/// whoever makes it.
///
/// ```
/// use consilience::{Error, ErrorKind, Partition};
///
/// let error = Partition::from_labels::<u8>(&[]).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Empty);
/// let error = Error::invalid(format!("weight {}; expected 0 to 1", 1e308));
/// assert_eq!(error.message(), "weight 1e308; expected 0 to 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// An error of the given kind; the message names values, place and what was expected.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, message: readable(message.into()) }))
    }

    /// The kind, for matching.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without the kind.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// [`ErrorKind::Empty`].
    pub fn empty(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Empty, message)
    }

    /// [`ErrorKind::InvalidParameter`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidParameter, message)
    }

    /// [`ErrorKind::ShapeMismatch`].
    pub fn shape(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ShapeMismatch, message)
    }

    /// [`ErrorKind::OutOfRange`].
    pub fn out_of_range(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::OutOfRange, message)
    }

    /// [`ErrorKind::TooLarge`].
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TooLarge, message)
    }

    /// [`ErrorKind::NonFinite`] for one entry of a matrix.
    pub fn non_finite(what: &str, row: usize, column: usize, value: f64) -> Self {
        Self::new(
            ErrorKind::NonFinite,
            format!("{what}: {value} at row {row}, column {column}; every entry must be finite"),
        )
    }

    /// [`ErrorKind::Cancelled`].
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "cancelled by the observer")
    }
}

/// Words from so many characters on are looked at: no count and no number near 1 has as many.
const LONG: usize = 25;

/// The message with its numbers of very many digits in the form 1e308. In one place, since every
/// message holds values that somebody gave.
fn readable(message: String) -> String {
    let long = |word: &str| word.len() >= LONG && word.ends_with(|c: char| !c.is_alphabetic());
    if !message.split(' ').any(long) {
        return message;
    }
    let words: Vec<String> = message.split(' ').map(short).collect();
    words.join(" ")
}

/// A word, or the number in it in its short form.
fn short(word: &str) -> String {
    let digit = |c: char| c.is_ascii_digit();
    let start = word.find(|c| digit(c) || c == '-').unwrap_or(0);
    let end = word.rfind(digit).map_or(0, |at| at + 1);
    // What stands in quotes is a text that somebody gave, not a number of ours.
    let quoted = word.contains('"');
    match word.get(start..end).map(|number| (number.len(), number.parse::<f64>())) {
        Some((LONG.., Ok(value))) if value.is_finite() && !quoted => {
            format!("{}{value:e}{}", &word[..start], &word[end..])
        }
        _ => word.to_owned(),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_very_many_digits_are_short() {
        let said = |message: String| Error::invalid(message).message().to_owned();
        assert_eq!(said(format!("value {}; expected 1", -1e308)), "value -1e308; expected 1");
        assert_eq!(said(format!("({}, {:?})", 5e-324, 0.5)), "(5e-324, 0.5)");
        assert_eq!(said(format!("a = {}", f64::MAX)), "a = 1.7976931348623157e308");
        assert_eq!(said(format!("[{}..={}]", 0, 1e300)), format!("[0..={}]", 1e300));
        // What is no such number stays: near 1, counts, words, text in quotes.
        for plain in [
            format!("{} of {}", 0.1 + 0.2, u64::MAX),
            format!("column {:?} of a.csv", "1".repeat(60)),
            format!("{}  two\nlines {}", "é".repeat(30), "x".repeat(40)),
            format!("{}-{}", "1".repeat(20), "2".repeat(20)),
        ] {
            assert_eq!(said(plain.clone()), plain);
        }
    }
}
