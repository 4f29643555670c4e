use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use consilience_core::{Accepts, Observer, Result, ensure};
use ndarray::ArrayView2;

#[cfg(feature = "arrow")]
use crate::arrow;
use crate::fault::{ensure_format, excerpt, malformed, system, within};
use crate::ids::ObjectIds;
use crate::labelled::Labelled;
use crate::location::{Format, Location};
#[cfg(feature = "parquet")]
use crate::parquet;
use crate::place::{Target, folder_of};
use crate::sink::{Failure, Sink, written_twice};
#[cfg(feature = "csv")]
use crate::{compressed::packed, csv};
#[cfg(feature = "npy")]
use crate::{mixed, npy, npz};

/// The files that have to go when the process ends before they are complete.
pub(crate) mod unfinished {
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use consilience_core::Result;

    use crate::place::unwritable;

    struct Entry {
        temporary: PathBuf,
        /// What it is to replace.
        place: Option<PathBuf>,
    }

    static FILES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

    fn files() -> MutexGuard<'static, Vec<Entry>> {
        FILES.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a file, unless another one of this process is to be put in the same place.
    pub(crate) fn add(temporary: &Path, place: Option<&Path>) -> Result<()> {
        let mut files = files();
        if place.is_some() && files.iter().any(|entry| entry.place.as_deref() == place) {
            return Err(unwritable("is written twice at the same time; expected two files"));
        }
        let (temporary, place) = (temporary.to_path_buf(), place.map(Path::to_path_buf));
        files.push(Entry { temporary, place });
        Ok(())
    }

    pub(crate) fn forget(temporary: &Path) {
        files().retain(|entry| entry.temporary != temporary);
    }

    pub(super) fn remove() {
        for entry in files().iter() {
            let _ = std::fs::remove_file(&entry.temporary);
        }
    }
}

/// Removes the temporary files of every [`OutputFile`] that is neither committed nor dropped, and
/// the [`FileLock`](crate::FileLock)s: for programs that end at a signal, without running
/// destructors.
pub fn remove_unfinished() {
    unfinished::remove();
}

/// A file that appears only when it is complete: it is written beside its place and renamed by
/// [`OutputFile::commit`]. Dropped without that it leaves nothing, and what was there before stays.
///
/// A file that is replaced hands its permissions on. A symbolic link stays, and the file behind it
/// is replaced. A device or a pipe stays too: it gets the contents when they are complete.
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
    /// What the caller named it.
    named: PathBuf,
    /// The form of a table.
    location: Option<Location>,
    target: Target,
    temporary: PathBuf,
    file: File,
    /// What the objects of a table are called.
    ids: Option<ObjectIds>,
    written: bool,
    finished: bool,
    /// A disk that is full after so many bytes.
    #[cfg(test)]
    room: Option<u64>,
}

impl OutputFile {
    /// A file for a table, in the format of its ending; `pool.npz:labels` names the array.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for an unknown ending, or an
    /// array whose name would be a path,
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io) where no file can be made there.
    pub fn table(path: impl AsRef<Path>) -> Result<Self> {
        let location = Location::parse(&path)?;
        let open = || {
            check_array(location.array.as_deref().unwrap_or_default())?;
            if matches!(location.format, Format::MatrixMarket | Format::Svmlight) {
                return Err(malformed("sparse text is for reading alone; expected .csv or .npz"));
            }
            check_alone(&location)?;
            let mut file = Self::open(path.as_ref(), Target::of(&location.path)?)?;
            file.location = Some(location.clone());
            Ok(file)
        };
        open().map_err(within(path.as_ref().display()))
    }

    /// A table on standard output, which gets it as a whole when it is complete.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io) where there is no room for a temporary
    /// file.
    pub fn standard_output(format: Format) -> Result<Self> {
        let named = Path::new("standard output");
        let mut file = Self::open(named, Target::Standard).map_err(within(named.display()))?;
        file.location = Some(Location::of_stream(named, format));
        Ok(file)
    }

    /// A file of any name and contents.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io) where no file can be made there.
    pub fn any(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let open = || Self::open(path, Target::of(path)?);
        open().map_err(within(path.display()))
    }

    fn open(named: &Path, target: Target) -> Result<Self> {
        let (temporary, file) = target.temporary()?;
        let output = OutputFile {
            named: named.to_path_buf(),
            location: None,
            target,
            temporary,
            file,
            ids: None,
            written: false,
            finished: false,
            #[cfg(test)]
            room: None,
        };
        // From here on dropping it removes the temporary file.
        unfinished::add(&output.temporary, output.target.file())?;
        Ok(output)
    }

    /// What the objects of the table are called: the first column `id` of the file, or in an
    /// archive an array `id`. An `.npy` file has no place for them.
    ///
    /// ```
    /// use consilience::Partition;
    /// use consilience::io::{Labelled, ObjectIds, OutputFile};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("labels.csv");
    /// let cells = [Some("cat"), Some("dog"), None].map(|cell| cell.map(String::from));
    /// let (partition, names) = Partition::from_values(cells)?;
    /// let mut file = OutputFile::table(&path)?;
    /// file.set_ids(ObjectIds::new(["p1", "p2", "p3"])?);
    /// file.write_labels(Labelled::Named(&partition, &names), &())?;
    /// file.commit()?;
    /// assert_eq!(std::fs::read_to_string(&path).unwrap(), "id,label\np1,cat\np2,dog\np3,\n");
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn set_ids(&mut self, ids: impl Into<Option<ObjectIds>>) {
        self.ids = ids.into();
    }

    /// Writes everything there is to it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io).
    pub fn write(&mut self, contents: impl AsRef<[u8]>) -> Result<()> {
        let (mut out, _) = self.writer().map_err(within(self.named.display()))?;
        let written = out.write_all(contents.as_ref());
        written.map_err(|error| within(self.named.display())(system(error)))
    }

    /// Writes clusterings, one column each.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io),
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn write_labels(&mut self, labels: Labelled<'_>, observer: &dyn Observer) -> Result<()> {
        if let Labelled::Named(partition, names) = labels {
            let (found, clusters) = (names.len(), partition.n_clusters());
            ensure!(found == clusters, shape("{found} names for {clusters} clusters"));
        }
        self.check_ids(labels.rows())?;
        let ids = self.ids.clone();
        self.formatted(|location, out| labels_to(out, location, &labels, ids.as_ref(), observer))
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
        self.check_ids(table.nrows())?;
        let ids = self.ids.clone();
        self.formatted(|location, out| numbers_to(out, location, table, ids.as_ref(), observer))
    }

    fn check_ids(&self, rows: usize) -> Result<()> {
        let ids = self.ids.as_ref().map_or(rows, ObjectIds::n_objects);
        ensure!(ids == rows, shape("{ids} ids for {rows} rows"));
        Ok(())
    }

    /// Writes in the format of the name.
    fn formatted(&mut self, write: impl FnOnce(&Location, Sink) -> Result<()>) -> Result<()> {
        let location = match &self.location {
            Some(location) => location.clone(),
            None => Location::parse(&self.named)?,
        };
        let place = within(location.path.display());
        let written =
            self.writer().and_then(|(out, failure)| failure.instead(write(&location, out)));
        written.map_err(place)
    }

    /// The temporary file, ready to be written from its beginning.
    fn writer(&mut self) -> Result<(Sink, Failure)> {
        if std::mem::replace(&mut self.written, true) {
            return Err(written_twice());
        }
        let (sink, failure) = Sink::new(self.file.try_clone().map_err(system)?);
        #[cfg(test)]
        let sink = sink.with_room(self.room);
        Ok((sink, failure))
    }

    /// Does what may still fail before the file is put in its place: brings it to the disk, or,
    /// where the place is a device or a pipe, writes the contents there. A commit does it unless it
    /// was done before.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io).
    pub fn finish(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.finished, true) {
            return Ok(());
        }
        let finish = || match &self.target {
            Target::File(_) => {
                self.target.adopt(&self.file)?;
                self.file.sync_all()
            }
            Target::Standard => {
                (&self.file).rewind()?;
                let mut stream = io::stdout().lock();
                match io::copy(&mut &self.file, &mut stream).and_then(|_| stream.flush()) {
                    // Whoever reads it and leaves has what was wanted of it.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    copied => copied,
                }
            }
            Target::Stream(place) => {
                (&self.file).rewind()?;
                let mut stream = fs::OpenOptions::new().write(true).open(place)?;
                io::copy(&mut &self.file, &mut stream)?;
                stream.flush()
            }
        };
        finish().map_err(|error| within(self.named.display())(system(error)))
    }

    /// Puts the complete file in its place.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io).
    pub fn commit(mut self) -> Result<()> {
        self.finish()?;
        self.rename()?;
        self.sync_folder();
        Ok(())
    }

    fn rename(&self) -> Result<()> {
        let Some(place) = self.target.file() else { return Ok(()) };
        fs::rename(&self.temporary, place)
            .map_err(|error| within(self.named.display())(system(error)))
    }

    /// Brings the new name to the disk. The file is in its place by now: where a folder cannot be
    /// synchronized, that is all there is to say.
    fn sync_folder(&self) {
        if let Some(place) = self.target.file() {
            let _ = File::open(folder_of(place)).and_then(|folder| folder.sync_all());
        }
    }

    /// Puts several complete files in their places, all of them or none: where one cannot be, the
    /// others are what they were before.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io).
    pub fn commit_all(mut files: Vec<OutputFile>) -> Result<()> {
        for file in &mut files {
            file.finish()?;
        }
        let mut undo: Vec<Earlier> = Vec::new();
        for file in &files {
            undo.extend(Earlier::of(file));
            if let Err(error) = file.rename() {
                // The last one is still as it was.
                undo.pop().into_iter().for_each(Earlier::forget);
                undo.into_iter().rev().for_each(Earlier::restore);
                return Err(error);
            }
        }
        undo.into_iter().for_each(Earlier::forget);
        files.iter().for_each(OutputFile::sync_folder);
        Ok(())
    }
}

/// Refuses to name an array of an archive that has others: the file is replaced as a whole.
fn check_alone(location: &Location) -> Result<()> {
    #[cfg(feature = "npy")]
    if let (Format::Npz, Some(array)) = (location.format, &location.array)
        && let Ok(file) = File::open(&location.path)
        && let Ok(mut others) = npz::names(io::BufReader::new(file))
    {
        others.retain(|name| name != array && !npz::is_ids(name));
        ensure_format!(
            others.is_empty(),
            "the archive holds other arrays, which would be lost: {}; expected another file",
            crate::fault::listed(&others)
        );
    }
    Ok(())
}

/// Refuses names of arrays that whoever unpacks the archive could take for a path, and that of the
/// ids.
fn check_array(name: &str) -> Result<()> {
    let bad = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    #[cfg(feature = "npy")]
    ensure_format!(!npz::is_ids(name), "array {name:?} is for the ids; expected another name");
    ensure_format!(
        name != "." && name != ".." && !name.contains(bad) && name.len() <= 1000,
        "array {:?}; expected a name without /, \\ and :",
        excerpt(name)
    );
    Ok(())
}

fn labels_to(
    sink: Sink,
    location: &Location,
    labels: &Labelled<'_>,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
) -> Result<()> {
    if let Labelled::All(ensemble) = labels {
        let npz = location.format == Format::Npz;
        let (file, accepts) = match npz {
            true => ("a file", Accepts::MEMBERSHIPS),
            false => ("a file other than .npz", Accepts::LABELS),
        };
        ensemble.check_accepted(file, accepts)?;
        ensemble.check_uncounted(
            "a file of members",
            "write them to a file of their own, which Input::counts reads, and the ensemble \
             with counts of 1 here",
        )?;
        #[cfg(feature = "npy")]
        if ensemble.is_soft() {
            ensure_format!(
                location.array.is_none(),
                "members that give memberships have an array each; expected a file without the \
                 name of an array"
            );
            return mixed::write(sink, ensemble, ids, observer);
        }
    }
    #[cfg(feature = "npy")]
    if location.format == Format::Npz {
        let array = location.array.as_deref().unwrap_or("labels");
        return npz::write_labels(sink, array, labels, ids, observer);
    }
    let mut out = BufWriter::with_capacity(1 << 18, sink);
    match location.format {
        #[cfg(feature = "npy")]
        Format::Npy => npy::write_labels(&mut out, labels, observer)?,
        #[cfg(feature = "csv")]
        Format::Csv => packed(&mut out, location.compression, |out| {
            csv::write_labels(out, location, labels, ids, observer)
        })?,
        #[cfg(feature = "arrow")]
        Format::Arrow => arrow::write_labels(&mut out, labels, ids, observer)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::write_labels(&mut out, labels, ids, observer)?,
        other => return Err(other.left_out()),
    }
    out.flush().map_err(system)
}

fn numbers_to(
    sink: Sink,
    location: &Location,
    table: ArrayView2<'_, f64>,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
) -> Result<()> {
    #[cfg(feature = "npy")]
    if location.format == Format::Npz {
        let array = location.array.as_deref().unwrap_or("memberships");
        return npz::write_floats(sink, array, table, ids, observer);
    }
    let mut out = BufWriter::with_capacity(1 << 18, sink);
    match location.format {
        #[cfg(feature = "npy")]
        Format::Npy => npy::write_floats(&mut out, table)?,
        #[cfg(feature = "csv")]
        Format::Csv => packed(&mut out, location.compression, |out| {
            csv::write_floats(out, location, table, ids)
        })?,
        #[cfg(feature = "arrow")]
        Format::Arrow => arrow::write_floats(&mut out, table, ids, observer)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::write_floats(&mut out, table, ids, observer)?,
        other => return Err(other.left_out()),
    }
    out.flush().map_err(system)
}

/// What was at the place of an output before.
struct Earlier {
    place: PathBuf,
    /// A second name of the old file; none where there was no file, or none could be given.
    kept: Option<PathBuf>,
    existed: bool,
}

impl Earlier {
    /// `None` for what is no regular file: nothing is put in its place.
    fn of(file: &OutputFile) -> Option<Self> {
        let place = file.target.file()?.to_path_buf();
        let kept = file.temporary.with_extension("old");
        let linked = fs::hard_link(&place, &kept).is_ok();
        let existed = place.exists();
        Some(Earlier { place, kept: linked.then_some(kept), existed })
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

impl Drop for OutputFile {
    fn drop(&mut self) {
        // After a commit there is nothing of that name any more.
        let _ = fs::remove_file(&self.temporary);
        unfinished::forget(&self.temporary);
    }
}

#[cfg(test)]
mod tests;
