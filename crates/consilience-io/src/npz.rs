//! NumPy's `.npz`: a zip archive of `.npy` arrays, of which one is chosen by name.

use std::io::{self, BufWriter, Read, Seek, Write};

use ndarray::ArrayView2;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use consilience_core::{Error, Observer, Result};

use crate::allowance::Allowance;
use crate::fault::{listed, malformed, system, unreadable, within};
use crate::ids::ObjectIds;
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
    let name = chosen(&names, array)?;
    let mut entry = archive
        .by_name(&format!("{name}.npy"))
        .map_err(|error| unreadable(error, &format!("array {name:?} is damaged")))?;
    let length = entry.size();
    let allowance = allowance.clone();
    read(Stream { reader: &mut entry, length: Some(length), observer, allowance }).map_err(
        |error| {
            if names.len() > 1 { within(format!("array {name:?}"))(error) } else { error }
        },
    )
}

/// The array to read among those of some names: the one that is asked for, or the only one beside
/// one of ids.
pub(crate) fn chosen<'n>(names: &'n [String], array: Option<&str>) -> Result<&'n str> {
    // Ids come along with another array.
    let tables: Vec<&String> = names.iter().filter(|name| !is_ids(name)).collect();
    match (array, names) {
        (_, []) => Err(malformed("an archive without arrays")),
        (Some(array), _) => names
            .iter()
            .find(|name| *name == array)
            .map(String::as_str)
            .ok_or_else(|| malformed(format!("no array {array:?} among {}", listed(names)))),
        (None, [only]) => Ok(only),
        (None, _) if tables.len() == 1 => Ok(tables[0]),
        (None, _) => Err(malformed(format!(
            "several arrays: {}; choose one as FILE.npz:{}",
            listed(names),
            tables.first().map_or(&names[0], |first| first)
        ))),
    }
}

/// The bytes of a small array, its header among them.
pub(crate) fn bytes<R: Read + Seek>(file: R, array: &str, most: u64) -> Result<Vec<u8>> {
    let mut archive = open(file)?;
    let entry = archive
        .by_name(&format!("{array}.npy"))
        .map_err(|error| malformed(format!("array {array:?} is damaged: {error}")))?;
    let mut bytes = Vec::new();
    entry.take(most).read_to_end(&mut bytes).map_err(system)?;
    Ok(bytes)
}

/// Whether an array of that name holds the ids of the objects.
pub(crate) fn is_ids(name: &str) -> bool {
    name.eq_ignore_ascii_case("id") || name.eq_ignore_ascii_case("ids")
}

/// The array of ids, beside the one that is read.
pub(crate) fn ids_beside(names: Vec<String>, array: Option<&str>) -> Option<String> {
    let beside = names.len() > 1 && !array.is_some_and(is_ids);
    names.into_iter().find(|name| beside && is_ids(name))
}

fn open<R: Read + Seek>(file: R) -> Result<ZipArchive<R>> {
    ZipArchive::new(file).map_err(|error| unreadable(error, "not a readable .npz archive"))
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

/// Writes labels as an array, and the ids of the objects as another.
pub(crate) fn write_labels(
    out: Sink,
    array: &str,
    labels: &Labelled<'_>,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
) -> Result<()> {
    write(out, array, npy::label_bytes(labels), ids, observer, |out| {
        npy::write_labels(out, labels, observer)
    })
}

/// Writes a table of float64, and the ids of the objects beside it.
pub(crate) fn write_floats(
    out: Sink,
    array: &str,
    table: ArrayView2<'_, f64>,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
) -> Result<()> {
    let bytes = table.len() as u64 * 8 + 256;
    write(out, array, bytes, ids, observer, |out| npy::write_floats(out, table))
}

fn write(
    out: Sink,
    array: &str,
    bytes: u64,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
    contents: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let is_large = |bytes: u64| bytes > u64::from(u32::MAX);
    let mut archive = Archive::new(out);
    if let Some(ids) = ids {
        let width = npy::text_width(ids.iter());
        let bytes = (width as u64).saturating_mul(ids.n_objects() as u64) + 256;
        archive.add("id", is_large(bytes), |out| npy::write_ids(out, ids, observer))?;
    }
    archive.add(array, is_large(bytes), contents)?;
    archive.finish()
}

/// An archive that is written; the contents of its arrays stop where the file has failed.
pub(crate) struct Archive {
    zip: ZipWriter<BufWriter<Sink>>,
    failure: Failure,
}

impl Archive {
    pub(crate) fn new(out: Sink) -> Self {
        let (out, failure) = out.silent();
        Archive { zip: ZipWriter::new(BufWriter::with_capacity(1 << 18, out)), failure }
    }

    /// Writes one more array, which is `large` where it may have more bytes than 32 bits count.
    pub(crate) fn add(
        &mut self,
        name: &str,
        large: bool,
        contents: impl FnOnce(&mut dyn Write) -> Result<()>,
    ) -> Result<()> {
        // No time stamp (the default is 1980): the same arrays give the same file.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .large_file(large);
        self.zip.start_file(format!("{name}.npy"), options).map_err(wrong)?;
        let mut entry = BufWriter::with_capacity(1 << 16, self);
        contents(&mut entry)?;
        entry.flush().map_err(system)
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.zip.finish().map_err(wrong)?.flush().map_err(system)
    }
}

impl Write for Archive {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.failure.check()?;
        self.zip.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.zip.flush()
    }
}

fn wrong(error: zip::result::ZipError) -> Error {
    malformed(error.to_string())
}
