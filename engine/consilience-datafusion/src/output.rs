use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use consilience::{Error, ErrorKind, Observer, Result};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;

use crate::fault::{arrow, parquet, system, within};
use crate::location::{ENDING, Location, is_public};
use crate::remote::folder::ALIVE;
use crate::store::publication::{self, Publication};
use crate::table::{Table, exists, rows_of};

/// How often, and how long apart, a folder is removed into which others still write.
const LOOKS: usize = 60;
const PAUSE: Duration = Duration::from_millis(50);
/// Rows of a row group.
const GROUP: usize = 1 << 20;

/// What is not complete yet, and has to go when the process ends.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what every [`Output`] has written that is neither committed nor dropped: for programs
/// that end at a signal, without running destructors.
pub fn remove_unfinished() {
    for path in unfinished().iter() {
        remove(path);
    }
    publication::withdraw_all();
}

/// Something that is removed when this is dropped, or by [`remove_unfinished`].
#[derive(Debug)]
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    pub(crate) fn new(path: PathBuf) -> Self {
        unfinished().push(path.clone());
        Unfinished(path)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        remove(&self.0);
        unfinished().retain(|path| *path != self.0);
    }
}

/// Removes what is there. Another machine may be about to put something into a folder: it looks
/// whether the job is still there first, and soon.
fn remove(path: &Path) {
    if !path.is_dir() {
        let _ = fs::remove_file(path);
        return;
    }
    let _ = fs::remove_file(path.join(ALIVE));
    for _ in 0..LOOKS {
        let gone = fs::remove_dir_all(path);
        if gone.is_ok() || gone.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Where one Parquet file is written for each file of a table, with as many rows in the same order:
/// a folder of files of the same names, or a file where the table is a single file.
///
/// Everything is written beside its place and appears at once, by [`Output::commit`]. Dropped
/// without that it leaves nothing.
///
/// In an object store, `s3://bucket/key`, nothing can be renamed: files are written here, sent by
/// [`Output::finish`] as parts that nobody sees, and appear one after the other at the commit.
/// Meanwhile the object `_unfinished` lies beside them, and such a folder is neither read nor
/// written by any other [`Table`] or [`Output`].
#[derive(Debug)]
pub struct Output {
    place: PathBuf,
    store: Option<Publication>,
    temporary: PathBuf,
    /// After a commit there is nothing of that name any more.
    _unfinished: Unfinished,
    folder: bool,
    /// For each file of the table its name in the folder, and its rows.
    files: Vec<(PathBuf, u64)>,
    written: usize,
    finished: bool,
}

impl Output {
    /// A place for what is written about a table: a name that ends in `.parquet` for a table of a
    /// single file, the name of a folder, which is new or empty, for all others.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] where nothing can be written there, [`ErrorKind::InvalidParameter`] for a
    /// folder that holds something, and for a file of the table itself.
    pub fn new(place: impl AsRef<Path>, table: &Table) -> Result<Self> {
        Self::through(place, table, std::env::temp_dir())
    }

    /// The same, with a folder of this machine in which files for an object store wait until they
    /// are sent. Default the system's folder for temporary files.
    ///
    /// # Errors
    /// As [`Output::new`].
    pub fn through(
        place: impl AsRef<Path>,
        table: &Table,
        folder: impl AsRef<Path>,
    ) -> Result<Self> {
        let place = place.as_ref();
        let wrong = |what: &str| Err(Error::invalid(format!("{}: {what}", place.display())));
        let is_file = place.extension().is_some_and(|ending| ending == "parquet");
        if is_file && table.n_files() > 1 {
            return wrong("a file for a table of several; expected the name of a folder");
        }
        let location = Location::parse(place)?;
        if table.files().iter().any(|file| file.place.is(&location)) {
            return wrong("is a file of the table; expected another one");
        }
        let (store, temporary) = match location {
            Location::Object(object) => {
                let temporary = temporary(folder.as_ref(), object.name())?;
                (Some(Publication::new(object, !is_file)?), temporary)
            }
            Location::Path(_) => {
                check_free(place, is_file)?;
                let Some(name) = place.file_name().and_then(|name| name.to_str()) else {
                    return wrong("expected a name");
                };
                (None, temporary(folder_of(place), name)?)
            }
        };
        // Whatever the files are called that are read: a folder is read by this ending.
        let name = |file: &Location| match file.name().ends_with(ENDING) {
            true => file.name().to_owned(),
            false => format!("{}{ENDING}", file.name()),
        };
        if let Some(store) = &store {
            table.files().iter().try_for_each(|file| store.check_name(&name(&file.place)))?;
        }
        let files = table.files().iter();
        let files: Vec<(PathBuf, u64)> =
            files.map(|file| (PathBuf::from(name(&file.place)), file.rows)).collect();
        if !is_file {
            let mut names: Vec<&Path> = files.iter().map(|(name, _)| name.as_path()).collect();
            names.sort_unstable();
            if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
                return wrong(&format!("two files would be called {}", twice[0].display()));
            }
            let hidden = |name: &&&Path| !name.to_str().is_some_and(is_public);
            if let Some(hidden) = names.iter().find(hidden) {
                return wrong(&format!(
                    "a file would be called {}, which no table takes; expected files whose names \
                     begin otherwise",
                    hidden.display()
                ));
            }
        }
        // Made before it is ours to clean up: what another run has made stays.
        let made = match is_file {
            false => fs::create_dir(&temporary),
            true => File::create_new(&temporary).map(drop),
        };
        made.map_err(system).map_err(within(place.display()))?;
        Ok(Output {
            place: place.to_path_buf(),
            store,
            _unfinished: Unfinished::new(temporary.clone()),
            temporary,
            folder: !is_file,
            files,
            written: 0,
            finished: false,
        })
    }

    /// Where it is going to be.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// What is written so far, as a table: to be looked at before it is committed.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn written(&self) -> Result<Table> {
        Table::open(&self.temporary)
    }

    /// Begins the next file.
    fn next(&mut self, fields: Vec<Field>) -> Result<FileWriter> {
        let Some((name, rows)) = self.files.get(self.written) else {
            let what = "more rows than the table has";
            return Err(within(self.place.display())(Error::new(ErrorKind::Corrupt, what)));
        };
        let path = self.path(name);
        self.written += 1;
        let shown = if self.folder { self.place.join(name) } else { self.place.clone() };
        FileWriter::new(path, fields, *rows)
            .map(|file| FileWriter { shown: shown.clone(), ..file })
            .map_err(within(shown.display()))
    }

    /// A folder on the file system that it is put together on.
    pub(crate) fn beside<'a>(&'a self, shared: &'a Path) -> &'a Path {
        if self.store.is_some() { shared } else { folder_of(&self.place) }
    }

    /// Takes the next file as it lies elsewhere.
    pub(crate) fn adopt(&mut self, file: &Path) -> Result<()> {
        let place = within(self.place.display());
        let Some((name, _)) = self.files.get(self.written) else {
            return Err(place(Error::new(ErrorKind::Corrupt, "more files than the table has")));
        };
        let path = self.path(name);
        match fs::rename(file, &path) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                fs::copy(file, &path).map(drop)
            }
            done => done,
        }
        .map_err(system)
        .map_err(place)?;
        self.written += 1;
        Ok(())
    }

    /// Does what may still fail before everything is put in its place: looks into every footer, and
    /// brings names to the disk, or all bytes to the object store. A commit does it unless it was
    /// done before.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] where a file is missing or holds another number of rows,
    /// [`ErrorKind::Io`], in an object store also where another run writes to the same place.
    pub fn finish(&mut self) -> Result<()> {
        self.finish_observed(&())
    }

    /// The same; the observer may cancel while bytes are sent.
    ///
    /// # Errors
    /// As [`Output::finish`], and where the observer cancels.
    pub fn finish_observed(&mut self, observer: &dyn Observer) -> Result<()> {
        if self.finished {
            return Ok(());
        }
        let place = within(self.place.display());
        let corrupt = |what: String| place(Error::new(ErrorKind::Corrupt, what));
        if self.written != self.files.len() {
            return Err(corrupt(format!("{} of {} files written", self.written, self.files.len())));
        }
        for (name, rows) in &self.files {
            let found = rows_of(&self.path(name)).map_err(&place)?;
            if found != *rows {
                let name = name.display();
                return Err(corrupt(format!("{found} rows written to {name}; expected {rows}")));
            }
        }
        if let Some(store) = &self.store {
            let named = |(name, _): &(PathBuf, u64)| (name.display().to_string(), self.path(name));
            store.send(self.files.iter().map(named).collect(), observer)?;
        } else if self.folder {
            let _ = sync(&self.temporary);
        }
        self.finished = true;
        Ok(())
    }

    /// Puts everything in its place at once.
    ///
    /// # Errors
    /// As [`Output::finish`].
    pub fn commit(mut self) -> Result<()> {
        self.finish()?;
        if let Some(store) = self.store.take() {
            return store.publish();
        }
        let place = within(self.place.display());
        fs::rename(&self.temporary, &self.place).map_err(system).map_err(&place)?;
        // The name is in its place by now: a folder that cannot be synchronized changes nothing.
        let _ = sync(folder_of(&self.place));
        Ok(())
    }

    fn path(&self, name: &Path) -> PathBuf {
        if self.folder { self.temporary.join(name) } else { self.temporary.clone() }
    }
}

fn sync(folder: &Path) -> std::io::Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all())
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses what would be overwritten.
fn check_free(place: &Path, is_file: bool) -> Result<()> {
    let wrong = |what: &str| Err(Error::invalid(format!("{}: {what}", place.display())));
    if place.is_dir() {
        let mut held = fs::read_dir(place).map_err(system).map_err(within(place.display()))?;
        if is_file || held.next().is_some() {
            return wrong("is a folder that holds something; expected a new one");
        }
    } else if !is_file && exists(place) {
        return wrong("is a file; expected the name of a folder, or one ending in .parquet");
    }
    Ok(())
}

/// A hidden name in a folder that nobody has.
fn temporary(folder: &Path, name: &str) -> Result<PathBuf> {
    let process = std::process::id();
    let free = (0..10_000)
        .map(|n| folder.join(format!(".{name}.consilience-{process}-{n}")))
        .find(|path| !exists(path));
    free.ok_or_else(|| Error::new(ErrorKind::Io, format!("{}: no free name", folder.display())))
}

/// Rows on their way into the files of an [`Output`], one after the other.
pub(crate) struct Rows<'a> {
    output: &'a mut Output,
    fields: Vec<Field>,
    open: Option<FileWriter>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(output: &'a mut Output, fields: Vec<Field>) -> Self {
        Rows { output, fields, open: None }
    }

    /// Adds rows, which belong to one file.
    pub(crate) fn write(&mut self, columns: Vec<ArrayRef>) -> Result<()> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => {
                self.skip_empty()?;
                self.output.next(self.fields.clone())?
            }
        };
        open.write(columns)?;
        if open.is_complete() {
            return open.finish();
        }
        self.open = Some(open);
        Ok(())
    }

    /// Files without rows have nobody who would write them.
    fn skip_empty(&mut self) -> Result<()> {
        while self.output.files.get(self.output.written).is_some_and(|(_, rows)| *rows == 0) {
            self.output.next(self.fields.clone())?.finish()?;
        }
        Ok(())
    }

    /// Ends after the last rows.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.skip_empty()
    }
}

/// One file of an [`Output`].
pub(crate) struct FileWriter {
    writer: ArrowWriter<File>,
    schema: SchemaRef,
    /// What the user calls it.
    shown: PathBuf,
    rows: u64,
    expected: u64,
}

impl FileWriter {
    /// A file for so many rows.
    pub(crate) fn new(path: PathBuf, fields: Vec<Field>, expected: u64) -> Result<Self> {
        // Ids come first, and keep their name.
        if let Some((ids, rest)) = fields.split_first()
            && rest.iter().any(|field| field.name() == ids.name())
        {
            return Err(Error::invalid(format!(
                "ids called {}, as a column that is written; expected another name",
                ids.name()
            )));
        }
        let schema = Arc::new(Schema::new(fields));
        let file = File::create(&path).map_err(system)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(GROUP))
            .set_created_by("consilience".to_owned())
            .build();
        let writer =
            ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(parquet)?;
        Ok(FileWriter { writer, schema, shown: path, rows: 0, expected })
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, columns: Vec<ArrayRef>) -> Result<()> {
        let place = within(self.shown.display());
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(arrow);
        let batch = batch.map_err(&place)?;
        self.rows += batch.num_rows() as u64;
        self.writer.write(&batch).map_err(parquet).map_err(&place)
    }

    /// Whether all rows are written.
    fn is_complete(&self) -> bool {
        self.rows >= self.expected
    }

    /// Writes the footer and brings everything to the disk.
    pub(crate) fn finish(self) -> Result<()> {
        let shown = self.shown.clone();
        self.close()?.sync_all().map_err(system).map_err(within(shown.display()))
    }

    /// Writes the footer.
    pub(crate) fn close(self) -> Result<File> {
        self.writer.into_inner().map_err(parquet).map_err(within(self.shown.display()))
    }
}
