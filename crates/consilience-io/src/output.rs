use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use consilience_core::{Error, Observer, Result};
use ndarray::ArrayView2;

#[cfg(feature = "csv")]
use crate::csv;
use crate::fault::{system, within};
use crate::labelled::Labelled;
use crate::location::{Format, Location};
#[cfg(feature = "parquet")]
use crate::parquet;
#[cfg(feature = "npy")]
use crate::{npy, npz};

/// Temporary files of this process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of every [`OutputFile`] that is neither committed nor dropped: for
/// programs that end at a signal, without running destructors.
pub fn remove_unfinished() {
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = fs::remove_file(path);
    }
}

/// A file that appears only when it is complete: it is written beside its place and renamed by
/// [`OutputFile::commit`]. Dropped without that it leaves nothing, and what was there before stays.
///
/// Open it before a long computation: the error for a place that cannot be written comes
/// at once.
/// [`write_labels`](crate::write_labels) and its like are shorter.
///
/// ```
/// use consilience::io::OutputFile;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("state.bin");
/// let mut file = OutputFile::any(&path)?;
/// file.write(b"state")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"state");
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Debug)]
pub struct OutputFile {
    /// What the caller named it; its ending says the form.
    named: PathBuf,
    /// The file itself: no array of an archive, no symbolic link.
    place: PathBuf,
    temporary: PathBuf,
    file: Option<File>,
}

impl OutputFile {
    /// A file for a table, in the format of its ending; `pool.npz:labels` names the array.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for an unknown ending,
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io) where no file can be made there.
    pub fn table(path: impl AsRef<Path>) -> Result<Self> {
        let place = Location::parse(&path)?.path;
        Self::open(path.as_ref(), place).map_err(within(path.as_ref().display()))
    }

    /// A file of any name and contents.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io) where no file can be made there.
    pub fn any(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::open(path, path.to_path_buf()).map_err(within(path.display()))
    }

    fn open(named: &Path, mut place: PathBuf) -> Result<Self> {
        // Through a symbolic link to the file behind it, as any other program would write.
        if let Ok(real) = fs::canonicalize(&place) {
            place = real;
        }
        let path = &place;
        if path.is_dir() {
            return Err(unwritable("is a folder, expected a file to write"));
        }
        let Some(name) = path.file_name() else {
            return Err(unwritable("no name of a file to write"));
        };
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(unwritable(format!("there is no folder {} to write to", folder.display())));
        }
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.tmp", std::process::id()));
        let temporary = folder.join(hidden);
        let created = OpenOptions::new().write(true).create_new(true).open(&temporary);
        let file = created.map_err(|error| match error.kind() {
            // The name holds our process id.
            ErrorKind::AlreadyExists => {
                unwritable("is written twice at the same time; expected two files")
            }
            _ => within("cannot be written")(system(error)),
        })?;
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(temporary.clone());
        Ok(OutputFile { named: named.to_path_buf(), place, temporary, file: Some(file) })
    }

    /// Writes everything there is to it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io).
    pub fn write(&mut self, contents: impl AsRef<[u8]>) -> Result<()> {
        let mut out = self.writer()?;
        let written = out.write_all(contents.as_ref()).and_then(|()| out.flush());
        written.map_err(|error| within(self.named.display())(system(error)))
    }

    /// Writes clusterings, one column each.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io),
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn write_labels(&mut self, labels: Labelled<'_>, observer: &dyn Observer) -> Result<()> {
        let location = Location::parse(&self.named)?;
        self.table_of(&location, &labels, observer).map_err(within(location.path.display()))
    }

    /// Writes a table of numbers.
    ///
    /// # Errors
    /// As [`OutputFile::write_labels`].
    pub fn write_numbers(
        &mut self,
        table: ArrayView2<'_, f64>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let location = Location::parse(&self.named)?;
        self.numbers_of(&location, table, observer).map_err(within(location.path.display()))
    }

    fn table_of(
        &mut self,
        location: &Location,
        labels: &Labelled<'_>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut out = self.writer()?;
        match location.format {
            #[cfg(feature = "npy")]
            Format::Npy => npy::write_labels(&mut out, labels, observer)?,
            #[cfg(feature = "npy")]
            Format::Npz => {
                let array = location.array.as_deref().unwrap_or("labels");
                return npz::write_labels(out, array, labels, observer);
            }
            #[cfg(feature = "csv")]
            Format::Csv => csv::write_labels(&mut out, labels, observer)?,
            #[cfg(feature = "parquet")]
            Format::Parquet => return parquet::write_labels(out, labels, observer),
            #[cfg(not(all(feature = "csv", feature = "npy", feature = "parquet")))]
            other => return Err(other.left_out()),
        }
        out.flush().map_err(system)
    }

    fn numbers_of(
        &mut self,
        location: &Location,
        table: ArrayView2<'_, f64>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut out = self.writer()?;
        match location.format {
            #[cfg(feature = "npy")]
            Format::Npy => npy::write_floats(&mut out, table)?,
            #[cfg(feature = "npy")]
            Format::Npz => {
                let array = location.array.as_deref().unwrap_or("memberships");
                return npz::write_floats(out, array, table);
            }
            #[cfg(feature = "csv")]
            Format::Csv => csv::write_floats(&mut out, table)?,
            #[cfg(feature = "parquet")]
            Format::Parquet => return parquet::write_floats(out, table, observer),
            #[cfg(not(all(feature = "csv", feature = "npy", feature = "parquet")))]
            other => return Err(other.left_out()),
        }
        out.flush().map_err(system)
    }

    /// The temporary file, ready to be written from its beginning.
    fn writer(&mut self) -> Result<BufWriter<File>> {
        let file = self.file.take().ok_or_else(|| unwritable("written twice"))?;
        Ok(BufWriter::with_capacity(1 << 18, file))
    }

    /// Puts the complete file in its place.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io).
    pub fn commit(self) -> Result<()> {
        fs::rename(&self.temporary, &self.place)
            .map_err(|error| within(self.place.display())(system(error)))
    }

    /// Puts several complete files in their places, all of them or none: where one cannot be, the
    /// others are what they were before.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io).
    pub fn commit_all(files: Vec<OutputFile>) -> Result<()> {
        let mut undo: Vec<Earlier> = Vec::new();
        for file in files {
            undo.push(Earlier::of(&file));
            if let Err(error) = file.commit() {
                // The last one is still as it was.
                undo.pop().into_iter().for_each(Earlier::forget);
                undo.into_iter().rev().for_each(Earlier::restore);
                return Err(error);
            }
        }
        undo.into_iter().for_each(Earlier::forget);
        Ok(())
    }
}

/// What was at the place of an output before.
struct Earlier {
    place: PathBuf,
    /// A second name of the old file; none where there was no file, or none could be given.
    kept: Option<PathBuf>,
    existed: bool,
}

impl Earlier {
    fn of(file: &OutputFile) -> Self {
        let kept = file.temporary.with_extension("old");
        let linked = fs::hard_link(&file.place, &kept).is_ok();
        Earlier {
            place: file.place.clone(),
            kept: linked.then_some(kept),
            existed: file.place.exists(),
        }
    }

    fn restore(self) {
        match &self.kept {
            Some(kept) => {
                let _ = fs::rename(kept, &self.place);
            }
            None if !self.existed => {
                let _ = fs::remove_file(&self.place);
            }
            None => {}
        }
    }

    fn forget(self) {
        if let Some(kept) = &self.kept {
            let _ = fs::remove_file(kept);
        }
    }
}

fn unwritable(message: impl Into<String>) -> Error {
    Error::new(consilience_core::ErrorKind::Io, message)
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // After a commit there is nothing of that name any more.
        let _ = fs::remove_file(&self.temporary);
        UNFINISHED
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|path| *path != self.temporary);
    }
}
