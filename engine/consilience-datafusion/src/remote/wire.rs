//! How work and answers are written: postcard, with a checksum behind it.

use std::fs::{self, File};
use std::io::{ErrorKind as Io, Read, Write};
use std::path::{Path, PathBuf};

use consilience::{Error, ErrorKind, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::fault::{CHANGED, system, within};
use crate::location::Location;
use crate::table::{DataFile, Table};

/// Begins an answer that is an error, and one that is none.
const FAILED: u8 = 0;
const DONE: u8 = 1;

/// Bytes of a value, and their checksum.
pub(crate) fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    let mut bytes = postcard::to_stdvec(value)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot be sent: {error}")))?;
    bytes.extend(checksum(&bytes).to_le_bytes());
    Ok(bytes)
}

/// The value of such bytes.
pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let damaged = || Error::new(ErrorKind::Corrupt, "damaged message between machines");
    let (bytes, sum) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
    if checksum(bytes) != u64::from_le_bytes(*sum) {
        return Err(damaged());
    }
    postcard::from_bytes(bytes).map_err(|_| damaged())
}

/// Fowler, Noll and Vo's hash: against disks and networks, not against people.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &byte| {
        (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// An error on its way.
#[derive(Deserialize, Serialize)]
struct Told {
    kind: u8,
    message: String,
}

/// Kinds of errors by their numbers.
const KINDS: [ErrorKind; 11] = [
    ErrorKind::Empty,
    ErrorKind::NonFinite,
    ErrorKind::InvalidParameter,
    ErrorKind::ShapeMismatch,
    ErrorKind::OutOfRange,
    ErrorKind::Contradiction,
    ErrorKind::TooLarge,
    ErrorKind::Corrupt,
    ErrorKind::Io,
    ErrorKind::Format,
    ErrorKind::Cancelled,
];

/// An answer as it is written.
pub(crate) fn answer<T: Serialize>(answer: Result<T>) -> Result<Vec<u8>> {
    let (first, rest) = match answer {
        Ok(value) => (DONE, to_bytes(&value)?),
        Err(error) => {
            let kind = KINDS.iter().position(|&kind| kind == error.kind()).unwrap_or(8) as u8;
            (FAILED, to_bytes(&Told { kind, message: error.message().to_owned() })?)
        }
    };
    let mut bytes = vec![first];
    bytes.extend(rest);
    Ok(bytes)
}

/// Whether there is an answer; the error that it holds.
pub(crate) fn is_answer(path: &Path) -> Result<bool> {
    let place = within(path.display());
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == Io::NotFound => return Ok(false),
        Err(error) => return Err(place(system(error))),
    };
    let mut first = [FAILED];
    file.read_exact(&mut first).map_err(system).map_err(&place)?;
    if first == [DONE] {
        return Ok(true);
    }
    let mut bytes = first.to_vec();
    file.read_to_end(&mut bytes).map_err(system).map_err(&place)?;
    read_answer::<()>(&bytes).map(|()| true)
}

/// What was answered.
pub(crate) fn read_answer<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    match bytes.split_first() {
        Some((&DONE, bytes)) => from_bytes(bytes),
        Some((_, bytes)) => {
            let told: Told = from_bytes(bytes)?;
            let kind = KINDS.get(usize::from(told.kind)).copied().unwrap_or(ErrorKind::Io);
            Err(Error::new(kind, told.message))
        }
        None => from_bytes(bytes),
    }
}

/// Writes a file that appears at once and whole. What machines tell each other need not outlive
/// them: it is not forced to the disk.
pub(crate) fn write_at_once(path: &Path, bytes: &[u8]) -> Result<()> {
    let place = within(path.display());
    let beside = path.with_extension(unique());
    let write = || {
        let mut file = File::create_new(&beside)?;
        file.write_all(bytes)?;
        drop(file);
        fs::rename(&beside, path)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&beside);
        place(system(error))
    })
}

/// A name that no other process takes.
pub(crate) fn unique() -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// Some files of a table, to be opened again elsewhere.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct TableRef {
    files: Vec<FileRef>,
    columns: Vec<usize>,
    ids: Option<usize>,
}

/// A file, and what its footer told.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct FileRef {
    path: PathBuf,
    bytes: u64,
    /// Of an object.
    version: Option<String>,
    first: u64,
    rows: u64,
}

impl TableRef {
    /// A table, or a part of its files.
    pub(crate) fn of(table: &Table, files: &[DataFile]) -> Result<Self> {
        let files = files.iter().map(|file| {
            let path = file.place.absolute()?;
            let DataFile { bytes, first, rows, .. } = *file;
            Ok(FileRef { path, bytes, version: file.version.clone(), first, rows })
        });
        Ok(TableRef {
            files: files.collect::<Result<_>>()?,
            columns: table.positions().to_vec(),
            ids: table.id_position(),
        })
    }

    /// The same files, which must still be what they were.
    pub(crate) fn open(&self) -> Result<Table> {
        let files = self.files.iter().map(|told| {
            let place = within(told.path.display());
            let file = Location::parse(&told.path)
                .and_then(|place| DataFile::open(place, told.first))
                .map_err(&place)?;
            if (file.bytes, file.rows, &file.version) != (told.bytes, told.rows, &told.version) {
                return Err(place(Error::new(ErrorKind::Io, CHANGED)));
            }
            Ok(file)
        });
        Table::of_files(files.collect::<Result<_>>()?, self.columns.clone(), self.ids)
    }
}

/// Matrices of either precision, as numbers of double precision.
pub(crate) mod matrix {
    use consilience::ndarray::Array2;
    use consilience::num::Float;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<F: Float, S: Serializer>(
        matrix: &Array2<F>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let values: Vec<f64> = matrix.iter().map(|x| x.to_f64()).collect();
        (matrix.nrows(), matrix.ncols(), values).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, F: Float, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Array2<F>, D::Error> {
        let (rows, columns, values) = <(usize, usize, Vec<f64>)>::deserialize(deserializer)?;
        let values = values.into_iter().map(F::from_f64).collect();
        Array2::from_shape_vec((rows, columns), values).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_back() {
        let told = answer(Ok(vec![(1u32, -0.1f64), (7, f64::MIN_POSITIVE)])).unwrap();
        let back: Vec<(u32, f64)> = read_answer(&told).unwrap();
        assert_eq!(back, [(1, -0.1), (7, f64::MIN_POSITIVE)]);
        for kind in KINDS {
            let told = answer::<()>(Err(Error::new(kind, "what"))).unwrap();
            assert_eq!(read_answer::<()>(&told).unwrap_err(), Error::new(kind, "what"));
        }
    }

    #[test]
    fn every_flipped_byte_is_seen() {
        let told = answer(Ok((3u64, "text".to_owned()))).unwrap();
        for at in 0..told.len() {
            for bit in 0..8 {
                let mut damaged = told.clone();
                damaged[at] ^= 1 << bit;
                assert!(read_answer::<(u64, String)>(&damaged).is_err(), "byte {at}, bit {bit}");
            }
            assert!(read_answer::<(u64, String)>(&told[..at]).is_err(), "{at} bytes");
        }
    }
}
