//! Compressed text: gzip and zstd, told by the first bytes of a file and not by its name.

use std::io::{self, Cursor, Read, Write};

use consilience_core::Result;

use crate::fault::{malformed, system};
use crate::location::Compression;

/// The bytes that a stream begins with.
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// How bytes that begin so are compressed.
pub(crate) fn found(start: &[u8]) -> Option<Compression> {
    match start {
        _ if start.starts_with(GZIP) => Some(Compression::Gzip),
        _ if start.starts_with(ZSTD) => Some(Compression::Zstd),
        // A frame to be skipped, which parallel compressors write in front.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
        _ => None,
    }
}

/// Bytes that were looked at already, and the rest.
type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// A reader of what is in a stream that may be compressed. Nothing is kept of it: however much
/// comes out, memory holds a window of it alone.
pub(crate) enum Unpacked<R: Read> {
    Plain(Whole<R>),
    #[cfg(feature = "compression")]
    Gzip(Box<flate2::read::MultiGzDecoder<Whole<R>>>),
    #[cfg(feature = "compression")]
    Zstd(Box<zstd::stream::read::Decoder<'static, io::BufReader<Whole<R>>>>),
}

impl<R: Read> Unpacked<R> {
    /// The contents of a stream that begins with these bytes.
    pub(crate) fn open(start: Vec<u8>, rest: R) -> Result<Self> {
        let kind = found(&start);
        let whole = Cursor::new(start).chain(rest);
        match kind {
            None => Ok(Unpacked::Plain(whole)),
            #[cfg(feature = "compression")]
            Some(Compression::Gzip) => {
                Ok(Unpacked::Gzip(Box::new(flate2::read::MultiGzDecoder::new(whole))))
            }
            #[cfg(feature = "compression")]
            Some(Compression::Zstd) => {
                let decoder = zstd::stream::read::Decoder::new(whole).map_err(system)?;
                Ok(Unpacked::Zstd(Box::new(decoder)))
            }
            #[cfg(not(feature = "compression"))]
            Some(_) => Err(crate::fault::left_out("compression")),
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Unpacked::Plain(reader) => reader.read(buffer),
            #[cfg(feature = "compression")]
            Unpacked::Gzip(reader) => reader.read(buffer).map_err(|e| damaged("gzip", e)),
            #[cfg(feature = "compression")]
            Unpacked::Zstd(reader) => reader.read(buffer).map_err(|e| damaged("zstd", e)),
        }
    }
}

/// The error of a decoder, which says neither whose it is nor that the file is to blame.
#[cfg(feature = "compression")]
fn damaged(what: &str, error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::Interrupted => error,
        // The disk's own.
        _ if error.raw_os_error().is_some() => error,
        kind => io::Error::new(kind, format!("damaged {what} stream: {error}")),
    }
}

/// Writes what is compressed on its way out.
pub(crate) fn packed(
    out: &mut dyn Write,
    compression: Option<Compression>,
    write: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    match compression {
        None => write(out)?,
        #[cfg(feature = "compression")]
        Some(Compression::Gzip) => {
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            write(&mut encoder)?;
            encoder.finish().map_err(system)?;
        }
        #[cfg(feature = "compression")]
        Some(Compression::Zstd) => {
            let mut encoder = zstd::stream::write::Encoder::new(out, 0).map_err(system)?;
            write(&mut encoder)?;
            encoder.finish().map_err(system)?;
        }
        #[cfg(not(feature = "compression"))]
        Some(_) => return Err(crate::fault::left_out("compression")),
    }
    Ok(())
}

/// Refuses what is compressed a second time.
pub(crate) fn check_once(start: &[u8]) -> Result<()> {
    match found(start) {
        None => Ok(()),
        Some(_) => Err(malformed("compressed twice; expected text below the first compression")),
    }
}
