//! Errors of DataFusion, Arrow and the system, as errors of the library.

use std::fmt::Display;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use consilience::{Error, ErrorKind, Result};
use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::object_store;
use datafusion::parquet::errors::ParquetError;

/// The error with the place in front.
pub(crate) fn within(place: impl Display) -> impl Fn(Error) -> Error {
    move |error| match error.kind() {
        ErrorKind::Cancelled => error,
        kind => Error::new(kind, format!("{place}: {}", error.message())),
    }
}

/// What the system answered.
pub(crate) fn system(error: io::Error) -> Error {
    if let Some(own) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return own.clone();
    }
    let text = match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::StorageFull => "no space left".to_owned(),
        io::ErrorKind::FileTooLarge => "the file may not grow any further".to_owned(),
        _ => error.to_string(),
    };
    Error::new(ErrorKind::Io, text)
}

/// What the reader or writer of Parquet answered.
pub(crate) fn parquet(error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => system(*error),
            Err(inner) => match inner.downcast::<Error>() {
                Ok(own) => *own,
                Err(other) => match other.downcast() {
                    Ok(error) => stored(*error),
                    Err(other) => unreadable(other),
                },
            },
        },
        other => unreadable(other),
    }
}

fn unreadable(error: impl Display) -> Error {
    Error::new(ErrorKind::Format, format!("not a readable Parquet file: {error}"))
}

/// What Arrow answered.
pub(crate) fn arrow(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => system(error),
        ArrowError::ExternalError(inner) => match inner.downcast::<ParquetError>() {
            Ok(error) => parquet(*error),
            Err(other) => unreadable(other),
        },
        other => unreadable(other),
    }
}

/// What is said of a file that is not what it was.
pub(crate) const CHANGED: &str = "changed while it was read";

/// What an object store answered.
pub(crate) fn stored(error: object_store::Error) -> Error {
    answered(&error)
}

fn answered(error: &object_store::Error) -> Error {
    use object_store::Error as Store;
    let text = match error {
        Store::NotFound { .. } => "no such object".to_owned(),
        Store::Precondition { .. } => CHANGED.to_owned(),
        Store::PermissionDenied { .. } => "the object store denies permission".to_owned(),
        Store::Unauthenticated { .. } => "the object store does not accept who asks".to_owned(),
        Store::AlreadyExists { .. } => "is there already".to_owned(),
        other => {
            // What went wrong stands innermost, around it what was tried.
            let mut why: &dyn std::error::Error = other;
            while let Some(deeper) = why.source() {
                why = deeper;
            }
            format!("the object store cannot be asked: {}", told(&why.to_string()))
        }
    };
    Error::new(ErrorKind::Io, text)
}

/// Of an answer as XML nothing but its code: the rest may repeat what was sent, secrets too.
fn told(answer: &str) -> &str {
    let code = answer.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    match code {
        Some((code, _)) => code,
        None => answer.split('<').next().unwrap_or_default().trim_end_matches([' ', ':']),
    }
}

/// What a query answered.
pub(crate) fn query(error: DataFusionError) -> Error {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(what) => {
            let first = what.lines().next().unwrap_or_default();
            Error::too_large(format!("the memory is too small to group the rows: {first}"))
        }
        DataFusionError::IoError(error) => system(io::Error::new(error.kind(), error.to_string())),
        DataFusionError::ObjectStore(error) => match error.as_ref() {
            object_store::Error::NotFound { path, .. } => Error::new(
                ErrorKind::Io,
                format!("/{}: no such file", path.trim_start_matches('/')),
            ),
            other => answered(other),
        },
        DataFusionError::ParquetError(error) => match error.as_ref() {
            ParquetError::External(inner) => match inner.downcast_ref() {
                Some(error) => answered(error),
                None => unreadable(error),
            },
            _ => unreadable(error),
        },
        DataFusionError::External(inner) => match inner.downcast_ref::<Error>() {
            Some(error) => error.clone(),
            None => unreadable(inner),
        },
        other => Error::new(ErrorKind::Format, format!("the query failed: {other}")),
    }
}

/// Readers are written for sound files: some damage that they do not expect makes them panic.
pub(crate) fn shielded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
        Err(match text.contains("within a runtime") {
            true => Error::invalid(
                "called within an asynchronous runtime; expected a thread of its own, as \
                 spawn_blocking gives it",
            ),
            false => Error::new(ErrorKind::Format, "damaged Parquet file"),
        })
    })
}
