use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use consilience_core::Result;

use crate::fault::{system, within};
use crate::output::unfinished;
use crate::place::{Target, folder_of, shortened, unwritable};

/// Keeps other processes that ask for the same lock away from a file which is read, changed and
/// replaced.
///
/// The lock is a file of its own beside the other, since a file that is replaced takes its lock
/// with it. It is free again when the value is dropped, and when the process ends in whatever way.
///
/// ```
/// use consilience::io::FileLock;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("pool.state");
/// let lock = FileLock::try_new(&path)?.expect("nobody else has it");
/// assert!(FileLock::try_new(&path)?.is_none());
/// drop(lock);
/// assert!(FileLock::try_new(&path)?.is_some());
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Debug)]
pub struct FileLock {
    path: PathBuf,
    /// Open as long as the lock is held.
    _file: File,
}

impl FileLock {
    /// The lock of the file at that path, which need not exist; `None` while somebody else has it.
    /// On a file system without locks every call gets one.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience_core::ErrorKind::Io) where no file can be made beside it, and
    /// for a device or a pipe.
    pub fn try_new(path: impl AsRef<Path>) -> Result<Option<Self>> {
        let path = path.as_ref();
        Self::attempt(path).map_err(within(path.display()))
    }

    fn attempt(path: &Path) -> Result<Option<Self>> {
        let Target::File(place) = Target::of(path)? else {
            return Err(unwritable("is a device or a pipe; expected a file that can be replaced"));
        };
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let path = folder_of(&place).join(format!(".{}.lock", shortened(&name, 200)));
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let file = options.open(&path).map_err(system).map_err(within("cannot be locked"))?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(_)) | Ok(()) => {}
            }
            // Whoever had it before removes it: then this is the lock of a file without a name.
            if is_at(&file, &path) {
                unfinished::add(&path, None)?;
                return Ok(Some(FileLock { path, _file: file }));
            }
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(open), Ok(there)) = (file.metadata(), std::fs::metadata(path)) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

impl Drop for FileLock {
    fn drop(&mut self) {
        unfinished::forget(&self.path);
        // Removed while it is still locked; elsewhere an open file cannot be removed, and stays.
        #[cfg(unix)]
        let _ = std::fs::remove_file(&self.path);
    }
}
