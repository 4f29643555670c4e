//! The errors of files.

use std::fmt::Display;
use std::io;

use consilience_core::{Error, ErrorKind, Result, number_of};

/// Contents that are not what they should be: what, where, and what was expected.
pub(crate) fn malformed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Format, message)
}

/// Returns [`malformed`] with a formatted message unless a condition holds.
macro_rules! ensure_format {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::fault::malformed(format!($($message)+)));
        }
    };
}
pub(crate) use ensure_format;

/// Refuses a table without rows or columns.
pub(crate) fn check_not_empty(rows: usize, columns: usize) -> Result<()> {
    ensure_format!(
        rows > 0 && columns > 0,
        "a table of {} and {}; expected at least one of each",
        number_of(rows as u64, "row"),
        number_of(columns as u64, "column")
    );
    Ok(())
}

/// A format that this build does not have.
pub(crate) fn left_out(feature: &str) -> Error {
    Error::new(
        ErrorKind::Format,
        format!(
            "this build cannot read or write it; expected the feature {feature} of consilience-io"
        ),
    )
}

/// A failing system call, in plain words where it is a common one.
pub(crate) fn system(error: io::Error) -> Error {
    let text = match error.kind() {
        // The standard texts end in "(os error 2)", which helps nobody.
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder, expected a file".to_owned(),
        io::ErrorKind::UnexpectedEof => {
            return malformed("truncated: it ends in the middle of its contents");
        }
        io::ErrorKind::InvalidData => return malformed(error.to_string()),
        io::ErrorKind::OutOfMemory => {
            return Error::new(ErrorKind::TooLarge, "what it holds does not fit in memory");
        }
        io::ErrorKind::StorageFull => "no space left".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_owned()
        }
    };
    Error::new(ErrorKind::Io, text)
}

/// An error of a format: the one of the system, where there is one beneath it, and else contents
/// that are not what they should be.
pub(crate) fn unreadable(error: impl std::error::Error + 'static, what: &str) -> Error {
    let mut beneath: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(cause) = beneath {
        let code = cause.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
        if let Some(code) = code {
            return system(io::Error::from_raw_os_error(code));
        }
        beneath = cause.source();
    }
    malformed(format!("{what}: {error}"))
}

/// The same error with its place in front: `pool.csv: row 3, column 1: ...`.
pub(crate) fn within(place: impl Display) -> impl FnOnce(Error) -> Error {
    move |error| match error.kind() {
        ErrorKind::Cancelled => error,
        kind => Error::new(kind, format!("{place}: {}", error.message())),
    }
}

/// Names for a message: the first of them, and how many more there are.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    first(20, names.iter().map(|name| excerpt(name.as_ref())), names.len(), "more")
}

/// The first `most` of so many texts, and how many `more` there are.
pub(crate) fn first(
    most: usize,
    texts: impl Iterator<Item = String>,
    count: usize,
    more: &str,
) -> String {
    let shown: Vec<String> = texts.take(most).collect();
    match count.saturating_sub(most) {
        0 => shown.join(", "),
        left => format!("{} and {left} {more}", shown.join(", ")),
    }
}

/// The beginning of a text that may be long.
pub(crate) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.chars().count() <= SHOWN {
        text.to_owned()
    } else {
        text.chars().take(SHOWN).chain(['…']).collect()
    }
}
