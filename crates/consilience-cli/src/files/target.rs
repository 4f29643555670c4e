//! Output files: written beside their place, then renamed into it, so that nobody ever sees half a
//! file.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::Location;
use crate::failure::{Failure, Outcome};

/// Temporary files of this process, for the second Ctrl-C, which runs no destructors.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes what was being written when the program is told to end at once.
pub(crate) fn remove_unfinished() {
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = fs::remove_file(path);
    }
}

/// An output file before it is complete; dropped without [`Target::commit`] it leaves nothing.
pub(crate) struct Target {
    /// What the user called it; its ending says the form.
    named: PathBuf,
    /// The file itself: no array of an archive, no symbolic link.
    place: PathBuf,
    temporary: PathBuf,
    file: Option<File>,
}

impl Target {
    /// A table. Opens the temporary file; called before the long computation: a place that cannot
    /// be written is told at once, not an hour later.
    pub(crate) fn table(path: &Path) -> Outcome<Self> {
        let place = Location::parse(path)?.path;
        Self::open(path, place).map_err(|failure| failure.within(path.display()))
    }

    /// A picture, likewise.
    pub(crate) fn picture(path: &Path) -> Outcome<Self> {
        if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("svg")) {
            return Err(Failure::bad(format!("{}: unknown ending; expected .svg", path.display())));
        }
        Self::open(path, path.to_path_buf()).map_err(|failure| failure.within(path.display()))
    }

    /// A file of any name and contents, likewise.
    pub(crate) fn file(path: &Path) -> Outcome<Self> {
        Self::open(path, path.to_path_buf()).map_err(|failure| failure.within(path.display()))
    }

    fn open(named: &Path, mut place: PathBuf) -> Outcome<Self> {
        // Through a symbolic link to the file behind it, as any other program would write.
        if let Ok(real) = fs::canonicalize(&place) {
            place = real;
        }
        let path = &place;
        if path.is_dir() {
            return Err(Failure::bad("is a folder, expected a file to write"));
        }
        let Some(name) = path.file_name() else {
            return Err(Failure::bad("no name of a file to write"));
        };
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(Failure::bad(format!(
                "there is no folder {} to write to",
                folder.display()
            )));
        }
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.tmp", std::process::id()));
        let temporary = folder.join(hidden);
        let created = OpenOptions::new().write(true).create_new(true).open(&temporary);
        let file = created.map_err(|error| match error.kind() {
            // The name holds our process id.
            ErrorKind::AlreadyExists => {
                Failure::bad("is written twice by this command; expected two files")
            }
            _ => Failure::from(error).within("cannot be written"),
        })?;
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(temporary.clone());
        Ok(Target { named: named.to_path_buf(), place, temporary, file: Some(file) })
    }

    /// What the user called it.
    pub(super) fn named(&self) -> &Path {
        &self.named
    }

    /// Writes everything there is to it.
    pub(crate) fn write(&mut self, contents: impl AsRef<[u8]>) -> Outcome<()> {
        let mut out = self.writer()?;
        let written = out.write_all(contents.as_ref()).and_then(|()| out.flush());
        written.map_err(|error| Failure::from(error).within(self.named.display()))
    }

    /// The temporary file, ready to be written from its beginning.
    pub(super) fn writer(&mut self) -> Outcome<BufWriter<File>> {
        let file = self.file.take().ok_or_else(|| Failure::bad("written twice"))?;
        Ok(BufWriter::with_capacity(1 << 18, file))
    }

    /// Puts the complete file in its place.
    pub(crate) fn commit(self) -> Outcome<()> {
        fs::rename(&self.temporary, &self.place)
            .map_err(|error| Failure::from(error).within(self.place.display()))
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // After a commit there is nothing of that name any more.
        let _ = fs::remove_file(&self.temporary);
        UNFINISHED
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|path| *path != self.temporary);
    }
}
