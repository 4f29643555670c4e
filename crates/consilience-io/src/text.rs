//! Text as the CSV readers take it: UTF-8 without a byte order mark, in records of bounded length.

use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::rc::Rc;

use consilience_core::Result;

use crate::compressed::{Unpacked, check_once};
use crate::fault::{ensure_format, system};

/// Bytes of one record at most: whatever is longer is no table, and would not fit in memory.
const RECORD: u64 = 64 << 20;
/// Bytes that are looked at before the text is read.
const START: u64 = 4096;

/// Text whose reader says where its records end.
pub(crate) struct Text<R: Read> {
    start: Cursor<Vec<u8>>,
    rest: Unpacked<R>,
    progress: Progress,
}

/// Bytes read since the last record ended.
#[derive(Clone, Default)]
pub(crate) struct Progress(Rc<Cell<u64>>);

impl Progress {
    /// A record ends here.
    pub(crate) fn record(&self) {
        self.0.set(0);
    }
}

impl<R: Read> Text<R> {
    /// Looks at the first bytes, which say whether this is text at all.
    pub(crate) fn open(mut file: R) -> Result<Self> {
        let mut packed = Vec::new();
        file.by_ref().take(START).read_to_end(&mut packed).map_err(system)?;
        let mut rest = Unpacked::open(packed, file)?;
        let mut start = Vec::new();
        rest.by_ref().take(START).read_to_end(&mut start).map_err(system)?;
        check_once(&start)?;
        let wide = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
        ensure_format!(!wide, "text in UTF-16; expected UTF-8");
        ensure_format!(!start.contains(&0), "no text: it holds zero bytes; expected UTF-8");
        if start.starts_with(b"\xef\xbb\xbf") {
            start.drain(..3);
        }
        Ok(Text { start: Cursor::new(start), rest, progress: Progress::default() })
    }

    /// What the reader of the records tells when one ends.
    pub(crate) fn progress(&self) -> Progress {
        self.progress.clone()
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut count = self.start.read(buffer)?;
        if count == 0 {
            count = self.rest.read(buffer)?;
        }
        let total = self.progress.0.get().saturating_add(count as u64);
        self.progress.0.set(total);
        if total > RECORD {
            let text = format!(
                "no end of the row within {RECORD} bytes; expected a table with one row per line"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(count)
    }
}
