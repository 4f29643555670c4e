//! A model as bytes: a first line that says what it is, a checksum, and the fields.

use consilience_core::{Error, ErrorKind, Result};

use crate::ConsensusModel;
use crate::stored::FirstFields;

/// The first line. A later format has another number.
const MAGIC: &[u8] = b"consilience model 2\n";
/// That of models without names of their features, which are read all the same.
const FIRST: &[u8] = b"consilience model 1\n";
/// Bytes of the checksum.
const CHECKSUM: usize = 4;

impl ConsensusModel {
    /// The model as bytes, which [`from_bytes`](ConsensusModel::from_bytes) reads: they hold the
    /// labels of the objects at the fit, not their features.
    ///
    /// ```
    /// # #[cfg(feature = "serde")] {
    /// use consilience::model::{ConsensusClustering, ConsensusModel};
    /// use consilience::ndarray::Array2;
    ///
    /// let x = Array2::from_shape_fn((40, 1), |(i, _)| (i / 20 * 10) as f64 + (i % 20) as f64 * 0.1);
    /// let model = ConsensusClustering::new(2).cluster(&x)?;
    /// let mut bytes = model.to_bytes()?;
    /// assert_eq!(ConsensusModel::from_bytes(&bytes)?.place(&x)?, model.place(&x)?);
    /// bytes[60] ^= 1;
    /// assert!(ConsensusModel::from_bytes(&bytes).is_err());
    /// # }
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for a model that cannot be written, of which there should be none.
    #[doc(alias = "save")]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let fields = postcard::to_stdvec(self)
            .map_err(|e| corrupt(format!("a model that cannot be written: {e}")))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(crc32fast::hash(&fields).to_le_bytes());
        bytes.extend(fields);
        Ok(bytes)
    }

    /// The model that [`to_bytes`](ConsensusModel::to_bytes) wrote.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for bytes that are no model, of another version, or damaged.
    #[doc(alias = "load")]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let first = bytes.strip_prefix(FIRST);
        let Some(rest) = bytes.strip_prefix(MAGIC).or(first) else {
            return Err(corrupt("not a consilience model of this version".to_owned()));
        };
        let Some((checksum, fields)) = rest.split_first_chunk::<CHECKSUM>() else {
            return Err(corrupt("a model that ends too soon".to_owned()));
        };
        if u32::from_le_bytes(*checksum) != crc32fast::hash(fields) {
            return Err(corrupt("a damaged model: its checksum is wrong".to_owned()));
        }
        let read = match first {
            None => postcard::take_from_bytes(fields),
            Some(_) => postcard::take_from_bytes::<FirstFields>(fields)
                .and_then(|(fields, rest)| Ok((Self::try_from(fields).map_err(refused)?, rest))),
        };
        match read {
            Ok((model, [])) => Ok(model),
            Ok((_, rest)) => Err(corrupt(format!("{} bytes after the model", rest.len()))),
            Err(e) => Err(corrupt(format!("a damaged model: {e}"))),
        }
    }
}

/// What the other versions get from serde.
fn refused(_: Error) -> postcard::Error {
    postcard::Error::SerdeDeCustom
}

fn corrupt(message: String) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}
