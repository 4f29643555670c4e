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
    /// Comma-separated text, `.csv`.
    Csv,
    /// Apache Parquet, `.parquet`.
    Parquet,
}

/// Where a table is: a file, its format by its ending, and inside an archive an array.
///
/// ```
/// use consilience::io::{Format, Location};
///
/// let place = Location::parse("runs/pool.npz:labels")?;
/// assert_eq!(place.path.to_str(), Some("runs/pool.npz"));
/// assert_eq!((place.format, place.array.as_deref()), (Format::Npz, Some("labels")));
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
}

impl Location {
    /// Takes `pool.npz:labels` apart and looks at the ending.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for an ending other than `.npy`,
    /// `.npz`, `.csv` and `.parquet`.
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
        let ending = file.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let format = match ending.as_deref() {
            Some("npy") => Format::Npy,
            Some("npz") => Format::Npz,
            Some("csv") => Format::Csv,
            Some("parquet") => Format::Parquet,
            _ => {
                return Err(malformed(format!(
                    "{}: unknown ending; expected .npy, .npz, .csv or .parquet",
                    path.display()
                )));
            }
        };
        Ok(Location { path: file, format, array })
    }
}

impl Format {
    /// The error of a build without this format.
    pub(crate) fn left_out(self) -> consilience_core::Error {
        crate::fault::left_out(match self {
            Format::Npy | Format::Npz => "npy",
            Format::Csv => "csv",
            Format::Parquet => "parquet",
        })
    }
}
