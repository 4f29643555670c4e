use std::path::{Path, PathBuf};

use consilience_core::Result;

use crate::fault::malformed;

/// The formats of files.
///
/// A file has that of its ending; [`Input::in_memory`](crate::Input::in_memory) takes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One NumPy array, `.npy`.
    Npy,
    /// A zip archive of NumPy arrays, `.npz`.
    Npz,
    /// Comma-separated text, `.csv`, or separated by tabs, `.tsv`; plain or compressed.
    Csv,
    /// Apache Parquet, `.parquet`.
    Parquet,
    /// An Arrow IPC file, `.arrow` or, as Feather's second version, `.feather`.
    Arrow,
    /// Matrix Market text, `.mtx`, plain or compressed; for reading alone.
    MatrixMarket,
    /// Text of svmlight or libsvm, `.svmlight`, `.libsvm` or `.svm`, plain or compressed; for
    /// reading alone.
    Svmlight,
}

/// How text is compressed.
///
/// Readers find out from the contents; what is written is compressed as its ending says, which a
/// [`Location`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// gzip, `.gz` behind the ending, as in `.csv.gz`.
    Gzip,
    /// zstd, `.zst` behind the ending, as in `.csv.zst`.
    Zstd,
}

/// Where a table is: a file, its format by its ending, and inside an archive an array.
///
/// ```
/// use consilience::io::{Compression, Format, Location};
///
/// let place = Location::parse("runs/pool.npz:labels")?;
/// assert_eq!(place.path.to_str(), Some("runs/pool.npz"));
/// assert_eq!((place.format, place.array.as_deref()), (Format::Npz, Some("labels")));
/// let place = Location::parse("runs/pool.csv.gz")?;
/// assert_eq!((place.format, place.compression), (Format::Csv, Some(Compression::Gzip)));
/// assert!(Location::parse("pool.txt").is_err());
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// Its format, from its ending.
    pub format: Format,
    /// The array in an archive, where one is named.
    pub array: Option<String>,
    /// How it is compressed, by its ending.
    pub compression: Option<Compression>,
}

impl Location {
    /// What is no file, but has a form.
    pub(crate) fn of_stream(name: &Path, format: Format) -> Self {
        Location { path: name.to_path_buf(), format, array: None, compression: None }
    }

    /// Takes `pool.npz:labels` apart and looks at the ending.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for an ending other than `.npy`,
    /// `.npz`, `.parquet`, `.arrow`, `.feather` and, plain or with `.gz` or `.zst` behind it,
    /// `.csv`, `.tsv`, `.mtx`, `.svmlight`, `.libsvm` and `.svm`.
    pub fn parse(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut file = path.to_path_buf();
        let mut array = None;
        if let Some(text) = path.to_str()
            && let Some(at) = text.to_ascii_lowercase().rfind(".npz:")
        {
            let (name, rest) = text.split_at(at + ".npz".len());
            file = PathBuf::from(name);
            array = Some(rest[1..].to_owned()).filter(|name| !name.is_empty());
        }
        let compression = match ending(&file).as_deref() {
            Some("gz") => Some(Compression::Gzip),
            Some("zst") => Some(Compression::Zstd),
            _ => None,
        };
        let inner = if compression.is_some() { file.with_extension("") } else { file.clone() };
        let format = match (ending(&inner).as_deref(), compression) {
            (Some("csv" | "tsv"), _) => Format::Csv,
            (Some("mtx"), _) => Format::MatrixMarket,
            (Some("svmlight" | "libsvm" | "svm"), _) => Format::Svmlight,
            (Some("npy"), None) => Format::Npy,
            (Some("npz"), None) => Format::Npz,
            (Some("parquet"), None) => Format::Parquet,
            (Some("arrow" | "feather"), None) => Format::Arrow,
            _ => {
                return Err(malformed(format!(
                    "{}: unknown ending; expected .npy, .npz, .parquet, .arrow, .feather, .csv, \
                     .tsv, or for reading alone .mtx, .svmlight, .libsvm or .svm; these texts \
                     also as .csv.gz, .csv.zst and so on",
                    path.display()
                )));
            }
        };
        Ok(Location { path: file, format, array, compression })
    }

    /// Whether the columns of text are separated by tabs, as the ending says.
    pub(crate) fn tabs(&self) -> bool {
        let plain = self.path.with_extension("");
        let text = if self.compression.is_some() { &plain } else { &self.path };
        self.format == Format::Csv && ending(text).as_deref() == Some("tsv")
    }
}

/// What stands behind the last dot, in small letters.
fn ending(path: &Path) -> Option<String> {
    path.extension().map(|e| e.to_string_lossy().to_lowercase())
}

impl Format {
    /// The format of a file by what it begins with; text where it is none of the others.
    pub(crate) fn of_content(content: &[u8]) -> Self {
        match content {
            _ if content.starts_with(b"\x93NUMPY") => Format::Npy,
            _ if content.starts_with(b"PK\x03\x04") => Format::Npz,
            _ if content.starts_with(b"PAR1") => Format::Parquet,
            _ if content.starts_with(b"%%MatrixMarket") => Format::MatrixMarket,
            _ if content.starts_with(b"ARROW1") || content.starts_with(b"FEA1") => Format::Arrow,
            _ => Format::Csv,
        }
    }

    /// The error of a build without this format.
    pub(crate) fn left_out(self) -> consilience_core::Error {
        crate::fault::left_out(match self {
            Format::Npy | Format::Npz => "npy",
            Format::Csv | Format::MatrixMarket | Format::Svmlight => "csv",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
        })
    }
}
