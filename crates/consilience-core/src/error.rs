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
/// ```
/// use consilience::{ErrorKind, Partition};
///
/// let error = Partition::from_labels::<u8>(&[]).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Empty);
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
        Error(Box::new(Inner { kind, message: message.into() }))
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}
