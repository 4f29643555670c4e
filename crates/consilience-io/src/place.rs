//! Where an output goes, and the temporary file that it is written to first.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use consilience_core::{Error, Result};

use crate::fault::{system, within};

/// Symbolic links that are followed to a file that does not exist, as many as Linux follows.
const LINKS: usize = 40;
/// Bytes of a file's name that are repeated in the name of its temporary file: the whole has to
/// stay below the 255 bytes that file systems allow.
const NAME: usize = 200;
/// What an unfinished file is at least, in seconds since the last write, before another run removes
/// it; a file that is still written to is locked besides.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Where the contents of an output go in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A regular file, or none yet: it is replaced as a whole. No symbolic link.
    File(PathBuf),
    /// A device or a pipe: it stays what it is, and the contents are written to it.
    Stream(PathBuf),
    /// Standard output, likewise.
    Standard,
}

impl Target {
    /// What is at a path, behind symbolic links.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(unwritable("is a folder, expected a file to write")),
            Ok(found) if !found.is_file() => Ok(Target::Stream(path.to_path_buf())),
            Ok(found) => {
                if found.permissions().readonly() {
                    return Err(unwritable("is read-only; expected a file that may be replaced"));
                }
                // Whoever may not write to the file may not replace it either.
                OpenOptions::new().write(true).open(path).map_err(system)?;
                Ok(Target::File(fs::canonicalize(path).map_err(system)?))
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Self::new_file(path)
            }
            Err(error) => Err(within("cannot be written")(system(error))),
        }
    }

    /// A file that does not exist yet; a symbolic link to nothing stays, and its target is made.
    fn new_file(path: &Path) -> Result<Self> {
        let mut place = path.to_path_buf();
        for _ in 0..LINKS {
            let Ok(target) = fs::read_link(&place) else { break };
            place = folder_of(&place).join(target);
        }
        let Some(name) = place.file_name() else {
            return Err(unwritable("no name of a file to write"));
        };
        let folder = folder_of(&place);
        match fs::canonicalize(folder) {
            Ok(real) if real.is_dir() => Ok(Target::File(real.join(name))),
            _ => Err(unwritable(format!("there is no folder {} to write to", folder.display()))),
        }
    }

    /// The regular file, where it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Target::File(path) => Some(path),
            Target::Stream(_) | Target::Standard => None,
        }
    }

    /// What is there now, where it is a regular file.
    fn existing(&self) -> Option<Metadata> {
        fs::metadata(self.file()?).ok()
    }

    /// A new empty file to write to, of a name that nobody else has, beside the place; of streams
    /// among the system's temporary files. It is locked while it is open.
    pub(crate) fn temporary(&self) -> Result<(PathBuf, File)> {
        let (folder, name) = match self {
            Target::File(path) => (folder_of(path).to_path_buf(), path.file_name()),
            Target::Stream(path) => (std::env::temp_dir(), path.file_name()),
            Target::Standard => (std::env::temp_dir(), None),
        };
        let name = shortened(name.unwrap_or_default().to_string_lossy().as_ref(), NAME).to_owned();
        remove_abandoned(&folder, &name);
        loop {
            let path = folder.join(hidden(&name, random()));
            match self.create(&path) {
                Ok(file) => {
                    // Where there are no locks nothing of ours is taken for abandoned either.
                    let _ = file.try_lock();
                    return Ok((path, file));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(within("cannot be written")(system(error))),
            }
        }
    }

    /// A new file that nobody may read who may not read what it replaces.
    fn create(&self, path: &Path) -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
            let private = (!matches!(self, Target::File(_))).then_some(0o600);
            let old = self.existing().map(|old| old.permissions().mode() & 0o777);
            if let Some(mode) = private.or(old) {
                options.mode(mode);
            }
        }
        options.open(path)
    }

    /// Gives a file the owner and the permissions of what it is to replace.
    pub(crate) fn adopt(&self, file: &File) -> std::io::Result<()> {
        let Some(old) = self.existing() else { return Ok(()) };
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let new = file.metadata()?;
            if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
                // Only the superuser may give files away.
                let _ = fchown(file, Some(old.uid()), Some(old.gid()));
            }
        }
        file.set_permissions(old.permissions())
    }
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The first bytes of a name, as many whole characters as fit.
pub(crate) fn shortened(name: &str, bytes: usize) -> &str {
    let mut end = bytes.min(name.len());
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

fn hidden(name: &str, number: u64) -> OsString {
    format!(".{name}.{number:016x}.tmp").into()
}

/// Removes what runs that were killed left behind for files of that name.
fn remove_abandoned(folder: &Path, name: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let found = entry.file_name();
        let number = found
            .to_str()
            .and_then(|found| found.strip_prefix('.')?.strip_prefix(name)?.strip_prefix('.'))
            .and_then(|rest| rest.strip_suffix(".tmp").or(rest.strip_suffix(".old")));
        if number.is_some_and(|n| n.len() == 16 && n.bytes().all(|b| b.is_ascii_hexdigit())) {
            remove_if_abandoned(&entry.path());
        }
    }
}

fn remove_if_abandoned(path: &Path) {
    let old = |found: &Metadata| {
        found.is_file()
            && found.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED))
    };
    if fs::symlink_metadata(path).is_ok_and(|found| old(&found))
        && let Ok(file) = File::open(path)
        && file.try_lock().is_ok()
    {
        let _ = fs::remove_file(path);
    }
}

/// A number that no other process draws: the keys of the standard library's hash maps come from the
/// operating system.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

pub(crate) fn unwritable(message: impl Into<String>) -> Error {
    Error::new(consilience_core::ErrorKind::Io, message)
}
