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
            Err(other) => unreadable(other),
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
            other => Error::new(ErrorKind::Io, other.to_string()),
        },
        DataFusionError::ParquetError(error) => unreadable(error),
        DataFusionError::External(inner) => match inner.downcast_ref::<Error>() {
            Some(error) => error.clone(),
            None => unreadable(inner),
        },
        other => Error::new(ErrorKind::Format, format!("the query failed: {other}")),
    }
}

/// Readers are written for sound files: some damage that they do not expect makes them panic.
pub(crate) fn shielded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(Error::new(ErrorKind::Format, "damaged Parquet file")))
}
