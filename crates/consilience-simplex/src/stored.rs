//! States in bytes: building blocks for types that keep an updater in theirs.
//!
//! All numbers are little-endian. An [`Envelope`] puts magic, version, length and a hash around a
//! body, so that flipped and missing bytes are found.
//!
//! ```
//! use consilience::ErrorKind;
//! use consilience::simplex::stored::{Envelope, Reader, Writer};
//!
//! let envelope = Envelope { magic: *b"EXAMPLE ", version: 1 };
//! let mut body = Writer::default();
//! body.u64(7);
//! let mut bytes = envelope.seal(&body.into_bytes());
//! assert_eq!(Reader::new(envelope.open(&bytes)?).u64()?, 7);
//! bytes[20] ^= 1;
//! assert_eq!(envelope.open(&bytes).unwrap_err().kind(), ErrorKind::Corrupt);
//! # Ok::<(), consilience::Error>(())
//! ```

use consilience_core::{Error, ErrorKind, Link, Pair, Result, ensure};

/// Magic, version and length of what follows.
const HEAD: usize = 20;
/// The hash at the end.
const TAIL: usize = 8;

/// What lies around the body of a stored state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The first bytes, which say what the state is of.
    pub magic: [u8; 8],
    /// Version of the body.
    pub version: u32,
}

impl Envelope {
    /// A body with head and hash.
    pub fn seal(&self, body: &[u8]) -> Vec<u8> {
        let mut out = Writer::default();
        out.bytes(&self.magic);
        out.u32(self.version);
        out.u64(body.len() as u64);
        out.bytes(body);
        let mut bytes = out.into_bytes();
        let hash = hash(&bytes);
        bytes.extend(hash.to_le_bytes());
        bytes
    }

    /// The body, after its head and hash have been checked.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for bytes that [`seal`](Envelope::seal) did not write,
    /// [`ErrorKind::InvalidParameter`] for another version.
    pub fn open<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8]> {
        if bytes.len() < HEAD + TAIL || bytes[..8] != self.magic {
            return Err(corrupt("it does not begin as one"));
        }
        let (whole, tail) = bytes.split_at(bytes.len() - TAIL);
        let mut head = Reader::new(&whole[8..HEAD]);
        let (version, length) = (head.u32()?, head.u64()?);
        let body = &whole[HEAD..];
        if length != body.len() as u64 {
            return Err(corrupt(format!("{} bytes of {length}", body.len())));
        }
        if tail != hash(whole).to_le_bytes() {
            return Err(corrupt("its hash differs"));
        }
        ensure!(
            version == self.version,
            invalid("a stored state of version {version}; expected {}", self.version)
        );
        Ok(body)
    }
}

/// The error of a state that is damaged in this way; [`Envelope::open`] returns it.
pub fn corrupt(what: impl AsRef<str>) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the stored state is damaged: {}", what.as_ref()))
}

/// Four independent chains of words. Each step is a bijection of the word, so one changed byte
/// always changes the hash; it protects from accidents, not from forgers.
///
/// ```
/// use consilience::simplex::stored::hash;
///
/// assert_ne!(hash(b"one"), hash(b"two"));
/// ```
pub fn hash(bytes: &[u8]) -> u64 {
    let step = |h: u64, word: [u8; 8]| {
        (h ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    };
    let mut lanes = [1u64, 2, 3, 4];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane = step(*lane, *word);
        }
    }
    for part in rest.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        lanes[0] = step(lanes[0], word);
    }
    lanes.into_iter().fold(mix(bytes.len() as u64), |h, lane| mix(h ^ lane))
}

/// Finaliser of SplitMix64.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Writes a link.
///
/// ```
/// use consilience::Pair;
/// use consilience::simplex::stored::{Reader, Writer, read_link, write_link};
///
/// let mut out = Writer::default();
/// write_link(Pair::must_link(3, 5), &mut out);
/// assert_eq!(read_link(&mut Reader::new(&out.into_bytes()))?, Pair::must_link(3, 5));
/// # Ok::<(), consilience::Error>(())
/// ```
pub fn write_link(Pair { i, j, link }: Pair, out: &mut Writer) {
    out.u32(i as u32);
    out.u32(j as u32);
    out.bytes(&[u8::from(link == Link::Must)]);
}

/// The link that [`write_link`] wrote, whose objects may not exist.
///
/// # Errors
/// [`ErrorKind::Corrupt`].
pub fn read_link(bytes: &mut Reader<'_>) -> Result<Pair> {
    let (i, j) = (bytes.u32()? as usize, bytes.u32()? as usize);
    let link = if bytes.u8()? == 0 { Link::Cannot } else { Link::Must };
    Ok(Pair::new(i, j, link))
}

/// Writes numbers one after the other.
#[derive(Clone, Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    /// Four bytes.
    pub fn u32(&mut self, x: u32) {
        self.bytes(&x.to_le_bytes());
    }

    /// Eight bytes.
    pub fn u64(&mut self, x: u64) {
        self.bytes(&x.to_le_bytes());
    }

    /// The bits of a number.
    pub fn f64(&mut self, x: f64) {
        self.u64(x.to_bits());
    }
}

/// Reads what a [`Writer`] wrote. Every method fails with [`ErrorKind::Corrupt`] where the bytes
/// end too early.
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// A reader of all these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    /// Number of bytes that are left.
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// The next bytes as they are.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`].
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        self.0.split_off(..count).ok_or_else(|| corrupt("it ends too early"))
    }

    /// The next bytes, of a fixed number.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`].
    pub fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (now, later) =
            self.0.split_first_chunk::<N>().ok_or_else(|| corrupt("it ends too early"))?;
        self.0 = later;
        Ok(*now)
    }

    /// One byte.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`].
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.take::<1>()?[0])
    }

    /// Two bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`].
    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.take()?))
    }

    /// Four bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`].
    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    /// Eight bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`].
    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    /// A count.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`], also for one beyond this machine's.
    pub fn size(&mut self) -> Result<usize> {
        let x = self.u64()?;
        usize::try_from(x).map_err(|_| corrupt(format!("a count of {x}")))
    }

    /// A number by its bits.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`].
    pub fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.u64()?))
    }

    /// A finite number.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`].
    pub fn finite(&mut self) -> Result<f64> {
        let value = self.f64()?;
        if !value.is_finite() {
            return Err(corrupt(format!("{value} where a finite number is expected")));
        }
        Ok(value)
    }
}
