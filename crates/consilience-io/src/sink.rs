//! The writer under all formats: it remembers why it failed.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use consilience_core::{Error, Result};

use crate::fault::system;

/// A file being written. The first failure is kept, with the kind that the formats' own errors
/// lose; from then on everything written is dropped without another error.
pub(crate) struct Sink {
    file: File,
    failure: Failure,
    /// Whether the first failure is no error either.
    silent: bool,
    /// Where the next byte goes, and how many there are; after a failure in a file that would be.
    at: u64,
    end: u64,
    /// How many more bytes there is room for: a full disk, for tests.
    #[cfg(test)]
    room: Option<u64>,
}

/// Why a sink failed, if it did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    /// The reason in place of what the format made of it.
    pub(crate) fn instead(&self, written: Result<()>) -> Result<()> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(system(error)),
            None => written,
        }
    }

    fn keep(&self, error: io::Error) -> io::Error {
        let copy = io::Error::new(error.kind(), error.to_string());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        copy
    }

    /// An error where there was one.
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.happened() { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    fn happened(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl Sink {
    /// A sink into an open file, and where its failure will stand.
    pub(crate) fn new(file: File) -> (Self, Failure) {
        let failure = Failure::default();
        let sink = Sink {
            file,
            failure: failure.clone(),
            silent: false,
            at: 0,
            end: 0,
            #[cfg(test)]
            room: None,
        };
        (sink, failure)
    }

    /// The same without a single error: for encoders that try again to close their archive, and
    /// complain, when they are dropped. Whoever uses it asks the failure whether to go on.
    pub(crate) fn silent(mut self) -> (Self, Failure) {
        self.silent = true;
        let failure = self.failure.clone();
        (self, failure)
    }

    #[cfg(test)]
    pub(crate) fn with_room(mut self, room: Option<u64>) -> Self {
        self.room = room;
        self
    }

    fn file(&mut self, bytes: usize) -> io::Result<&mut File> {
        #[cfg(test)]
        if let Some(room) = &mut self.room {
            match room.checked_sub(bytes as u64) {
                Some(left) => *room = left,
                None => return Err(io::ErrorKind::StorageFull.into()),
            }
        }
        let _ = bytes;
        Ok(&mut self.file)
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self.failure.happened() {
            true => Ok(bytes.len()),
            false => self.file(bytes.len()).and_then(|file| file.write(bytes)),
        };
        match written {
            Ok(count) => {
                self.at += count as u64;
                self.end = self.end.max(self.at);
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let error = self.failure.keep(error);
                if self.silent { self.write(bytes) } else { Err(error) }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // Nothing is held back here.
        Ok(())
    }
}

impl Seek for Sink {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        if !self.failure.happened()
            && let Err(error) = self.file.seek(SeekFrom::Start(self.at))
        {
            let error = self.failure.keep(error);
            if !self.silent {
                return Err(error);
            }
        }
        Ok(self.at)
    }
}

/// The error of a file that was written before.
pub(crate) fn written_twice() -> Error {
    Error::new(consilience_core::ErrorKind::Io, "written twice")
}
