//! What readers of Parquet read from: a file, or an object by ranges of its bytes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use consilience::{Error, ErrorKind, Result};
use datafusion::parquet::errors::{ParquetError, Result as ParquetResult};
use datafusion::parquet::file::reader::{ChunkReader, Length};

use crate::store::Object;

/// Ranges that are closer than this are fetched as one.
const GAP: u64 = 256 << 10;
/// What is fetched at once at most before anything is read.
const WHOLE: u64 = 16 << 20;
/// Bytes fetched beyond those that are asked for.
const AHEAD: u64 = 1 << 20;
/// Bytes at the end of an object that are fetched for its footer.
const TAIL: u64 = 64 << 10;

/// A file or an object.
pub(crate) enum Source {
    File(File),
    Object(ObjectReader),
}

/// Reads an object, and holds some of it.
#[derive(Clone)]
pub(crate) struct ObjectReader {
    inner: Arc<Inner>,
}

struct Inner {
    object: Object,
    bytes: u64,
    version: Option<String>,
    held: Mutex<Held>,
}

/// The pieces of an object that were fetched last.
struct Held {
    blocks: VecDeque<(u64, Bytes)>,
    most: usize,
}

impl Held {
    /// The bytes from there on, as far as they are held in one piece.
    fn find(&self, start: u64) -> Option<Bytes> {
        let holds =
            |(first, bytes): &&(u64, Bytes)| (*first..first + bytes.len() as u64).contains(&start);
        let (first, bytes) = self.blocks.iter().rev().find(holds)?;
        Some(bytes.slice((start - first) as usize..))
    }

    fn add(&mut self, start: u64, bytes: Bytes) {
        if self.blocks.len() >= self.most {
            self.blocks.pop_front();
        }
        self.blocks.push_back((start, bytes));
    }
}

impl ObjectReader {
    /// The object as it is now.
    pub(crate) fn open(object: &Object) -> Result<Self> {
        let (tail, meta) = object.tail(TAIL)?;
        let reader = Self::of(object.clone(), meta.size, meta.e_tag);
        reader.inner.held().add(meta.size - (tail.len() as u64).min(meta.size), tail);
        Ok(reader)
    }

    /// An object that was opened before, as it was then.
    pub(crate) fn of(object: Object, bytes: u64, version: Option<String>) -> Self {
        let held = Mutex::new(Held { blocks: VecDeque::new(), most: 1 });
        ObjectReader { inner: Arc::new(Inner { object, bytes, version, held }) }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.inner.bytes
    }

    pub(crate) fn version(&self) -> Option<String> {
        self.inner.version.clone()
    }

    /// Gets ready for columns with these bytes, and fetches them where most of them is going to be
    /// read, unless that is too much to be held at once.
    pub(crate) fn prepare(&self, columns: Vec<Range<u64>>, most: bool) -> Result<()> {
        self.inner.held().most = columns.len().max(1);
        let ranges = joined(columns);
        if let Some(last) = ranges.last().filter(|last| last.end > self.bytes()) {
            let what = format!("columns up to byte {} of {}", last.end, self.bytes());
            return Err(Error::new(ErrorKind::Format, what));
        }
        let whole = ranges.iter().map(|range| range.end - range.start).sum::<u64>() <= WHOLE;
        if !most || !whole {
            return Ok(());
        }
        let starts: Vec<u64> = ranges.iter().map(|range| range.start).collect();
        let fetched = self.inner.object.ranges(ranges, self.version())?;
        let mut held = self.inner.held();
        held.most += starts.len();
        starts.into_iter().zip(fetched).for_each(|(start, bytes)| held.add(start, bytes));
        Ok(())
    }
}

/// Ranges in order, those that lie close together as one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut all: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start <= last.end + GAP => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

impl Inner {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At least so many bytes from there on.
    fn get(&self, start: u64, length: u64) -> Result<Bytes> {
        let found = self.held().find(start).filter(|bytes| bytes.len() as u64 >= length);
        if let Some(bytes) = found {
            return Ok(bytes);
        }
        if start.checked_add(length).is_none_or(|end| end > self.bytes) {
            let what = format!("bytes {start} and {length} more of {}", self.bytes);
            return Err(Error::new(ErrorKind::Format, what));
        }
        let end = (start + length.max(AHEAD)).min(self.bytes);
        let wanted = std::iter::once(start..end).collect();
        let bytes = self.object.ranges(wanted, self.version.clone())?.swap_remove(0);
        self.held().add(start, bytes.clone());
        Ok(bytes)
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        match self {
            Source::File(file) => file.len(),
            Source::Object(object) => object.bytes(),
        }
    }
}

impl ChunkReader for Source {
    type T = Chunk;

    fn get_read(&self, start: u64) -> ParquetResult<Chunk> {
        Ok(match self {
            Source::File(file) => Chunk::File(file.get_read(start)?),
            Source::Object(object) => {
                Chunk::Object(Rest { inner: object.inner.clone(), at: start, held: Bytes::new() })
            }
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        match self {
            Source::File(file) => file.get_bytes(start, length),
            Source::Object(object) => {
                let found = object.inner.get(start, length as u64);
                let found = found.map_err(|error| ParquetError::External(Box::new(error)))?;
                Ok(found.slice(..length))
            }
        }
    }
}

/// What is read one after the other.
pub(crate) enum Chunk {
    File(BufReader<File>),
    Object(Rest),
}

/// The rest of an object.
pub(crate) struct Rest {
    inner: Arc<Inner>,
    at: u64,
    /// What comes next.
    held: Bytes,
}

impl Read for Chunk {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Chunk::File(file) => file.read(into),
            Chunk::Object(rest) => rest.read(into),
        }
    }
}

impl Read for Rest {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.held.is_empty() && self.at < self.inner.bytes {
            self.held = self.inner.get(self.at, 1).map_err(io::Error::other)?;
        }
        let next = self.held.split_to(into.len().min(self.held.len()));
        into[..next.len()].copy_from_slice(&next);
        self.at += next.len() as u64;
        Ok(next.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_ranges_are_one() {
        let far = 10 * GAP;
        let ranges = vec![far..far + 5, 100..200, 0..50, 150..160];
        assert_eq!(joined(ranges), [0..200, far..far + 5]);
        assert_eq!(joined(Vec::new()), []);
    }

    #[test]
    fn the_last_pieces_are_held() {
        let mut held = Held { blocks: VecDeque::new(), most: 2 };
        held.add(0, Bytes::from_static(b"abc"));
        held.add(10, Bytes::from_static(b"klm"));
        assert_eq!(held.find(1).unwrap(), "bc");
        assert_eq!(held.find(3), None);
        held.add(20, Bytes::from_static(b"u"));
        assert_eq!((held.find(1), held.find(12)), (None, Some(Bytes::from_static(b"m"))));
    }
}
