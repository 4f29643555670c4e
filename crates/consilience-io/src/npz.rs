//! NumPy's `.npz`: a zip archive of `.npy` arrays, of which one is chosen by name.

use std::io::{self, BufWriter, Read, Seek, Write};

use ndarray::ArrayView2;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use consilience_core::{Observer, Result};

use crate::allowance::Allowance;
use crate::fault::{listed, malformed, system, within};
use crate::labelled::Labelled;
use crate::npy::{self, Stream};
use crate::sink::{Failure, Sink};

/// Reads one array: the named one, or the only one.
pub(crate) fn read<R: Read + Seek, T>(
    file: R,
    array: Option<&str>,
    observer: &dyn Observer,
    allowance: &Allowance,
    read: impl FnOnce(Stream<'_>) -> Result<T>,
) -> Result<T> {
    let mut archive = open(file)?;
    let names = arrays(&archive);
    let name = match (array, &names[..]) {
        (_, []) => return Err(malformed("an archive without arrays")),
        (Some(name), _) if names.iter().any(|n| n == name) => name,
        (Some(name), _) => {
            return Err(malformed(format!("no array {name:?} among {}", listed(&names))));
        }
        (None, [only]) => only,
        (None, _) => {
            return Err(malformed(format!(
                "several arrays: {}; choose one as FILE.npz:{}",
                listed(&names),
                names[0]
            )));
        }
    };
    let mut entry = archive
        .by_name(&format!("{name}.npy"))
        .map_err(|error| malformed(format!("array {name:?} is damaged: {error}")))?;
    let length = entry.size();
    let allowance = allowance.clone();
    read(Stream { reader: &mut entry, length: Some(length), observer, allowance }).map_err(
        |error| {
            if names.len() > 1 { within(format!("array {name:?}"))(error) } else { error }
        },
    )
}

fn open<R: Read + Seek>(file: R) -> Result<ZipArchive<R>> {
    ZipArchive::new(file)
        .map_err(|error| malformed(format!("not a readable .npz archive: {error}")))
}

fn arrays<R: Read + Seek>(archive: &ZipArchive<R>) -> Vec<String> {
    archive
        .file_names()
        .filter_map(|name| Some(name.ok()?.strip_suffix(".npy")?.to_owned()))
        .collect()
}

/// The names of the arrays.
pub(crate) fn names(file: impl Read + Seek) -> Result<Vec<String>> {
    Ok(arrays(&open(file)?))
}

/// Writes labels as the only array.
pub(crate) fn write_labels(
    out: Sink,
    array: &str,
    labels: &Labelled<'_>,
    observer: &dyn Observer,
) -> Result<()> {
    write(out, array, npy::label_bytes(labels), |out| npy::write_labels(out, labels, observer))
}

/// Writes a table of float64 as the only array.
pub(crate) fn write_floats(out: Sink, array: &str, table: ArrayView2<'_, f64>) -> Result<()> {
    write(out, array, table.len() as u64 * 8 + 256, |out| npy::write_floats(out, table))
}

fn write(
    out: Sink,
    array: &str,
    bytes: u64,
    contents: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let wrong = |error: zip::result::ZipError| malformed(error.to_string());
    let (out, failure) = out.silent();
    let mut archive = ZipWriter::new(BufWriter::with_capacity(1 << 18, out));
    // No time stamp (the default is 1980): the same labels give the same file.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(bytes > u64::from(u32::MAX));
    archive.start_file(format!("{array}.npy"), options).map_err(wrong)?;
    let mut entry = BufWriter::with_capacity(1 << 16, Entry { archive: &mut archive, failure });
    contents(&mut entry)?;
    entry.flush().map_err(system)?;
    drop(entry);
    archive.finish().map_err(wrong)?.flush().map_err(system)?;
    Ok(())
}

/// The contents of an array on their way into the archive, which stop where the file has failed.
pub(crate) struct Entry<'a> {
    pub(crate) archive: &'a mut ZipWriter<BufWriter<Sink>>,
    pub(crate) failure: Failure,
}

impl Write for Entry<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.failure.check()?;
        self.archive.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.archive.flush()
    }
}
